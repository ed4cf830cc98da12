"""The models that the settings name: a provider's, a playbook, or a recorded journal (design: models)."""

from pathlib import Path

from specwright.errors import InputError
from specwright.journal import Recording
from specwright.ports.roles import Role
from specwright.roles.models.sources import ModelSource, model_sources, probe
from specwright.settings import Settings


def model_sources_of(settings: Settings) -> tuple[dict[Role, ModelSource], Recording | None]:
    """The models that the settings name; nothing is written for a wrong name.

    Raises:
        InputError: no model is named, or there is none of that name.
    """
    names = [settings.model, *settings.role_models.values()]
    recorded: Recording | None = None
    for name in names:
        if name.startswith("replay:"):
            recorded = Recording(Path(name.partition(":")[2]))
    if unknown := set(settings.role_models) - set(Role):
        raise InputError(f"there is no role {sorted(unknown)[0]!r}", remedy=f"roles are: {', '.join(Role)}")
    return model_sources(settings, recorded), recorded


def probe_model(settings: Settings) -> str:
    """Ask the default model for one word; what it takes is not journalled.

    Raises:
        SpecwrightError: it cannot be reached.
    """
    source = model_sources_of(settings)[0][Role.ARBITER]
    return probe(source)
