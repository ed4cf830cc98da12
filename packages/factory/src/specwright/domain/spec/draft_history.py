"""The history of a spec's drafts before approval: each answer that sent one back, and the draft that is shown
(design: approval).

The answers are in a file beside the draft, so that neither a failed model nor a lost checkpoint can lose one. The
researcher's requests are derived from them.
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
    """The reason to write a new draft."""

    AMEND = "AMEND"
    """A person asks for changes: the conversation continues."""

    REJECT = "REJECT"
    """A person rejects the draft: a new conversation gets only the reasons."""

    WITHDRAWN = "WITHDRAWN"
    """A person withdrew the answer after a model was asked about it: the previous draft waits again, and the next answer
    starts a new conversation."""

    RESTART = "RESTART"
    """The researcher gave up, or SPEC.md was edited before the first draft: a new conversation gets all requests so far."""


class GateAnswer(Record):
    """An answer that sends a draft back.

    Args:
        action: The kind of answer.
        text: The person's feedback or reasons; empty if only SPEC.md was edited.
        asked: The number of model answers about the spec at that time; -1 if unknown.
        spec_text: The edited SPEC.md; empty if unchanged since the last answer.
        examples: The edited examples and properties; empty if unchanged.
        structured: A product spec that becomes the draft without the researcher: the edited SPEC.md itself, or the draft
            with the edited examples.
    """

    action: GateAction
    text: str = ""
    asked: int = -1
    spec_text: str = ""
    examples: str = ""
    structured: dict[str, Any] | None = None

    @property
    def message(self) -> str:
        """The researcher's message about an amendment."""
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
        first_spec_text: The SPEC.md at the start of the run; empty until an answer comes with an edited one.
        answers: The answers, in order.
        drafted: The number of answers that the draft takes into account; -1 if there is no draft.
        shown_sha256: The hash of the draft that is shown.
        gave_up: The models with which the researcher gave up after the last answer; empty if it did not.
        passed_over: The SHA-256 of an edited SPEC.md that a person excluded from the approval.
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
        """Whether a person sent the draft back and the next one is not written yet."""
        pending = self.answers[max(0, self.drafted) :]
        return any(answer.action in (GateAction.AMEND, GateAction.REJECT) for answer in pending)

    @property
    def restart(self) -> int:
        """The number of the conversation, from 1."""
        return 1 + sum(answer.action is not GateAction.AMEND for answer in self.answers)

    @property
    def reasons(self) -> list[str]:
        """The reasons for which earlier drafts were rejected."""
        rejections = (answer for answer in self.answers if answer.action is GateAction.REJECT)
        return [one.text for one in rejections if one.text]

    @property
    def feedback(self) -> list[tuple[int, str]]:
        """The amendments since the last rejection, each with the number of answers that it takes into account. An amendment
        that only edits examples needs no answer of the researcher; its examples are sent with the next one."""
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
        """The number of answers before the present conversation began."""
        numbered = enumerate(self.answers, 1)
        return max((at for at, answer in numbered if answer.action is GateAction.REJECT), default=0)

    @property
    def earlier_examples(self) -> str:
        """The examples and properties that a person edited before the present conversation; empty if there are none."""
        texts = [answer.examples for answer in self.answers[: self.begun] if answer.examples]
        return texts[-1] if texts else ""

    @property
    def amendments(self) -> int:
        """The number of consecutive amendments."""
        return sum(answer.action is GateAction.AMEND for answer in self.answers[self.begun :])

    @property
    def structured(self) -> dict[str, Any] | None:
        """The product spec of the last answer that replaces the draft, if any."""
        last = self.answers[-1] if self.answers else GateAnswer(action=GateAction.AMEND)
        return None if last.text else last.structured

    @property
    def spec_text(self) -> str:
        """The last SPEC.md of an answer; empty if it never changed."""
        return self._last_text(len(self.answers))

    def text_after(self, answers: int) -> str:
        """Return SPEC.md in the present conversation after a number of answers, 0 for its start; empty if it never
        changed."""
        began = [at for at, answer in enumerate(self.answers, 1) if answer.action is not GateAction.AMEND]
        return self._last_text(max(answers, *began, 0))

    def asks_more_than(self, before: "DraftHistory") -> bool:
        """Whether the researcher must answer something new compared to an earlier history."""
        return (self.restart, len(self.feedback)) != (before.restart, len(before.feedback))

    def sent_back(self, answer: GateAnswer, spec_text: str) -> "DraftHistory":
        """Return the history with one more answer.

        Args:
            answer: The answer.
            spec_text: The SPEC.md from which the previous draft was made.
        """
        first = self.first_spec_text or (spec_text if answer.spec_text else "")
        added = {"first_spec_text": first, "answers": [*self.answers, answer], "gave_up": ""}
        return self.model_copy(update=added)

    def withdrawn(self, asked: int) -> "DraftHistory":
        """Return the history without the answers that the draft does not take into account. If a model has answered since
        the first of them, they stay on record as WITHDRAWN.

        Args:
            asked: The number of model answers about the spec.
        """
        kept, pending = self.answers[: self.drafted], self.answers[self.drafted :]
        if pending and pending[0].asked != asked:
            taken_back = {"action": GateAction.WITHDRAWN, "spec_text": "", "examples": "", "structured": None}
            kept += [answer.model_copy(update=taken_back) for answer in pending]
            # one more, so that the next conversation has an unused number
            kept.append(GateAnswer(action=GateAction.WITHDRAWN))
        return self.model_copy(update={"answers": kept, "drafted": len(kept), "gave_up": ""})

    def _last_text(self, answers: int) -> str:
        texts = [answer.spec_text for answer in self.answers[:answers] if answer.spec_text]
        return texts[-1] if texts else self.first_spec_text
