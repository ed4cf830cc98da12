"""What became of the drafts of a spec before its approval: each answer that sent one back, and which draft is shown (design:
approval).

The answers stand in one file beside the draft, so that neither a failed model nor a lost checkpoint loses one. What the
researcher is asked follows from them.
"""

from enum import StrEnum
from typing import Any

from pydantic import Field

from ship_gate.base.record import Record
from specwright.domain.spec.acceptance_text import edited_items

_EDITED = "SPEC.md was edited since. It now reads:"
_EXAMPLES = (
    "The person edited the examples and properties. Put theirs, which stand here marked `Yours`, into the spec to the "
    'letter, with `author` "person":'
)


class GateAction(StrEnum):
    """Why a draft is written again."""

    AMEND = "AMEND"
    """A person wants it changed: the conversation goes on."""

    REJECT = "REJECT"
    """A person wants another one: a new conversation, which knows the reasons and nothing else."""

    WITHDRAWN = "WITHDRAWN"
    """A person took the answer back after models had been asked about it: the draft before it waits on, and what comes next
    is a new conversation."""

    RESTART = "RESTART"
    """The researcher gave up, or SPEC.md was edited before there was a draft: a new conversation about all that was asked
    for."""


class GateAnswer(Record):
    """An answer that sends a draft back.

    Args:
        action: What happens next.
        text: Feedback or reasons, in a person's words; empty if the edited SPEC.md says it.
        asked: How many answers models had given about the spec before it; -1 if that was not noted.
        spec_text: SPEC.md as it was edited since the last answer; empty if it was not.
        examples: The examples and properties as the person edited them; empty if they were not.
        structured: The product spec that the edited SPEC.md is, or the draft with the edited examples; it goes to the gate
            as it is.
    """

    action: GateAction
    text: str = ""
    asked: int = -1
    spec_text: str = ""
    examples: str = ""
    structured: dict[str, Any] | None = None

    @property
    def message(self) -> str:
        """What the researcher reads of an amendment."""
        return "\n\n".join(
            part
            for part in (
                self.text,
                self.spec_text and f"{_EDITED}\n\n{self.spec_text}",
                self.examples and f"{_EXAMPLES}\n\n{edited_items(self.examples)}",
            )
            if part
        )


class DraftHistory(Record):
    """The answers so far, and the draft that is shown.

    Args:
        first_spec_text: SPEC.md as the run began with it; empty as long as no answer came with another one.
        answers: In order.
        drafted: How many of the answers the draft takes into account; -1 while there is no draft.
        shown_sha256: Of the draft that is shown.
        gave_up: The models that the researcher gave up with after the last answer; empty if it did not.
        passed_over: The SHA-256 of an edited SPEC.md that a person left out of the approval.
    """

    first_spec_text: str = ""
    answers: list[GateAnswer] = Field(default_factory=list[GateAnswer])
    drafted: int = -1
    shown_sha256: str = ""
    gave_up: str = ""
    passed_over: str = ""

    @property
    def is_drafted(self) -> bool:
        """Whether the draft takes every answer into account."""
        return self.drafted == len(self.answers)

    @property
    def is_sent_back(self) -> bool:
        """Whether a person sent it back, and the draft does not say so yet."""
        pending = self.answers[max(0, self.drafted) :]
        return any(answer.action in (GateAction.AMEND, GateAction.REJECT) for answer in pending)

    @property
    def restart(self) -> int:
        """1, and one more for each new conversation."""
        return 1 + sum(answer.action is not GateAction.AMEND for answer in self.answers)

    @property
    def reasons(self) -> list[str]:
        """Why earlier drafts were rejected."""
        rejections = (answer for answer in self.answers if answer.action is GateAction.REJECT)
        return [one.text for one in rejections if one.text]

    @property
    def feedback(self) -> list[tuple[int, str]]:
        """What the conversation goes on with: the amendments since the last rejection, each behind the number of answers
        that it takes into account. Edited examples alone ask for no answer: the last ones come with the next words."""
        found, examples = list[tuple[int, str]](), ""
        for at, answer in enumerate(self.answers[self.begun :], self.begun + 1):
            if answer.action is GateAction.AMEND and (answer.text or answer.spec_text):
                found.append((at, f"{answer.message}\n\n{examples}".strip()))
                examples = ""
            elif answer.action is GateAction.AMEND:
                examples = answer.message
        return found

    @property
    def begun(self) -> int:
        """How many of the answers the first message of the conversation takes into account: up to the last rejection."""
        numbered = enumerate(self.answers, 1)
        return max((at for at, answer in numbered if answer.action is GateAction.REJECT), default=0)

    @property
    def earlier_examples(self) -> str:
        """The examples and properties that a person edited before the conversation that is under way began; empty if none
        were."""
        texts = [answer.examples for answer in self.answers[: self.begun] if answer.examples]
        return texts[-1] if texts else ""

    @property
    def amendments(self) -> int:
        """Amendments in a row."""
        return sum(answer.action is GateAction.AMEND for answer in self.answers[self.begun :])

    @property
    def structured(self) -> dict[str, Any] | None:
        """The product spec that the last answer came with, if it takes the place of the draft."""
        last = self.answers[-1] if self.answers else GateAnswer(action=GateAction.AMEND)
        return None if last.text else last.structured

    @property
    def spec_text(self) -> str:
        """SPEC.md as it was last sent; empty if it is as the run began with it."""
        return self._last_text(len(self.answers))

    def text_after(self, answers: int) -> str:
        """SPEC.md as the conversation that is under way has it after so many answers, 0 for as it began; empty as above."""
        began = [at for at, answer in enumerate(self.answers, 1) if answer.action is not GateAction.AMEND]
        return self._last_text(max(answers, *began, 0))

    def asks_more_than(self, before: "DraftHistory") -> bool:
        """Whether the researcher is asked for an answer that it was not asked for before."""
        return (self.restart, len(self.feedback)) != (before.restart, len(before.feedback))

    def sent_back(self, answer: GateAnswer, spec_text: str) -> "DraftHistory":
        """With one more answer.

        Args:
            answer: It.
            spec_text: SPEC.md as the draft before was made from it.
        """
        first = self.first_spec_text or (spec_text if answer.spec_text else "")
        added = {"first_spec_text": first, "answers": [*self.answers, answer], "gave_up": ""}
        return self.model_copy(update=added)

    def withdrawn(self, asked: int) -> "DraftHistory":
        """Without the answers that the draft does not know. If a model has answered since the first of them, they stay on
        record and do not count.

        Args:
            asked: How many answers models have given about the spec.
        """
        kept, pending = self.answers[: self.drafted], self.answers[self.drafted :]
        if pending and pending[0].asked != asked:
            taken_back = {"action": GateAction.WITHDRAWN, "spec_text": "", "examples": "", "structured": None}
            kept += [answer.model_copy(update=taken_back) for answer in pending]
            kept.append(
                GateAnswer(action=GateAction.WITHDRAWN)
            )  # the next conversation is one that none of them had
        return self.model_copy(update={"answers": kept, "drafted": len(kept), "gave_up": ""})

    def _last_text(self, answers: int) -> str:
        texts = [answer.spec_text for answer in self.answers[:answers] if answer.spec_text]
        return texts[-1] if texts else self.first_spec_text
