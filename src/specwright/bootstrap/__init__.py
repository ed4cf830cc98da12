"""The composition root: the only place where adapters are chosen (DESIGN §2, ADR 0040).

`reading` opens what a project has written, `asked` counts what that took of models, `proving` holds it against its
seals, `models` finds the models of the roles, `driving` puts a factory together. Each name is imported when it is
first asked for, so that a command that only reads starts without the frameworks that a run needs.

A project is a directory: SPEC.md, specwright.toml, `project/` with the task files, `state_store/` (F§7, D20), and
`.specwright/` with what its runs keep: log, journal, checkpoints, lock, last options.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specwright.bootstrap.asked import Asked, asked_so_far
    from specwright.bootstrap.driving import Adapters, Opened, Plain, open_project
    from specwright.bootstrap.models import Recorded, model_sources_of, probe_model
    from specwright.bootstrap.proving import judged_directory, sandbox_here, verified_project
    from specwright.bootstrap.reading import (
        RUNTIME,
        TOPIC,
        driven_by,
        log_findings,
        reading_project,
        stored_wires,
    )

__all__ = [
    "RUNTIME",
    "TOPIC",
    "Adapters",
    "Asked",
    "Opened",
    "Plain",
    "Recorded",
    "asked_so_far",
    "driven_by",
    "judged_directory",
    "log_findings",
    "model_sources_of",
    "open_project",
    "probe_model",
    "reading_project",
    "sandbox_here",
    "stored_wires",
    "verified_project",
]

_ROOTS = ("reading", "asked", "proving", "models", "driving")
"""The lightest first: a name is looked for no further than it must."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        for root in _ROOTS:
            module = import_module(f"{__name__}.{root}")
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
