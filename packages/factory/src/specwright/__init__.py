"""Specwright: a software factory that turns a one-page SPEC.md into an installable package, with evidence.

    open_project      drive a project from stop to stop
    judge_directory   the ship gate on one module directory
    verify_project    check that every file of a project is as it was recorded

Names are imported on first use, so that `import specwright` is fast. `agent_wire` is the event protocol; it depends
on nothing else here. docs/api.md shows each in use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ship_gate.batch import judge_directory
    from ship_gate.findings import Finding
    from ship_gate.module_directory import DirectoryVerdict
    from specwright.application.history.verify import Verification
    from specwright.application.stages.status import ProjectStatus
    from specwright.bootstrap.project import Project, open_project
    from specwright.bootstrap.verify import verify_project
    from specwright.domain.escalation import HumanResolution
    from specwright.errors import (
        AnswerError,
        BudgetError,
        BusyError,
        ChangeRaisedError,
        CorruptionError,
        DatabaseUnavailableError,
        InputError,
        InterruptedRunError,
        ModelError,
        ModelUnavailableError,
        NetworkUnavailableError,
        NoAccessError,
        NoCreditError,
        NonDeterminismError,
        RefusedError,
        ScriptError,
        SpecwrightError,
        SpecwrightErrors,
        UnreachableError,
        UntrustedError,
    )
    from specwright.settings import Settings, load_settings

__all__ = [
    "AnswerError",
    "BudgetError",
    "BusyError",
    "ChangeRaisedError",
    "CorruptionError",
    "DatabaseUnavailableError",
    "DirectoryVerdict",
    "Finding",
    "HumanResolution",
    "InputError",
    "InterruptedRunError",
    "ModelError",
    "ModelUnavailableError",
    "NetworkUnavailableError",
    "NoAccessError",
    "NoCreditError",
    "NonDeterminismError",
    "Project",
    "ProjectStatus",
    "RefusedError",
    "ScriptError",
    "Settings",
    "SpecwrightError",
    "SpecwrightErrors",
    "UnreachableError",
    "UntrustedError",
    "Verification",
    "__version__",
    "judge_directory",
    "load_settings",
    "open_project",
    "verify_project",
]

__version__ = "0.1.0"

_HOMES = {
    "ProjectStatus": "specwright.application.stages.status",
    "Verification": "specwright.application.history.verify",
    "Project": "specwright.bootstrap.project",
    "open_project": "specwright.bootstrap.project",
    "DirectoryVerdict": "ship_gate.module_directory",
    "judge_directory": "ship_gate.batch",
    "verify_project": "specwright.bootstrap.verify",
    "HumanResolution": "specwright.domain.escalation",
    "Finding": "ship_gate.findings",
    "Settings": "specwright.settings",
    "load_settings": "specwright.settings",
}
"""The module that defines each name; all other names are in `errors`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'specwright' has no attribute {name!r}")
    value = getattr(import_module(_HOMES.get(name, "specwright.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
