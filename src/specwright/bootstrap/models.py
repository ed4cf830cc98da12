"""The models that the settings name: a provider's, a playbook, or a recorded journal (design: models)."""

from pathlib import Path
from typing import Any

from specwright.errors import InputError
from specwright.journal import Recording
from specwright.journal.journal import request_digest
from specwright.ports.roles import Role
from specwright.roles.models.sources import ModelSettings, ModelSource, model_sources, probe
from specwright.settings import Settings


class Recorded:
    """A recorded journal as the replay model reads it."""

    def __init__(self, recording: Recording) -> None:
        self.path = recording.path
        self.recording = recording
        self.drift: list[str] = []

    def model_answer(self, scope: str, ordinal: int) -> tuple[str, Any] | None:
        """The digest of the request and the answer at a place."""
        recorded = self.recording.model_answer(scope, ordinal)
        return (recorded.request, recorded.answer) if recorded else None

    def drifted(self, place: str) -> None:
        """Remember a drifted request."""
        self.drift.append(place)

    def digest(self, request: Any) -> str:
        """As the journal makes it."""
        return request_digest(request)


def model_sources_of(settings: Settings) -> tuple[dict[Role, ModelSource], Recorded | None]:
    """The models that the settings name; nothing is written for a wrong name.

    Raises:
        InputError: no model is named, or there is none of that name.
    """
    names = [settings.model, *settings.role_models.values()]
    recorded: Recorded | None = None
    for name in names:
        if name.startswith("replay:"):
            recorded = Recorded(Recording(Path(name.partition(":")[2])))
    if unknown := set(settings.role_models) - set(Role):
        raise InputError(f"there is no role {sorted(unknown)[0]!r}", remedy=f"roles are: {', '.join(Role)}")
    reached = ModelSettings(
        settings.model,
        dict(settings.role_models),
        settings.base_url,
        settings.timeout_seconds,
        settings.max_retries,
    )
    return model_sources(reached, recorded), recorded


def probe_model(settings: Settings) -> str:
    """Ask the default model for one word; what it takes is not journalled.

    Raises:
        SpecwrightError: it cannot be reached.
    """
    source = model_sources_of(settings)[0][Role.ARBITER]
    return probe(source)
