"""Specwright: a software factory that turns a one-page SPEC.md into an installable package, with evidence.

    open_project      drive a project from stop to stop
    judge_directory   the ship gate on one module directory
    verify_project    is every file of a project what was written?

Everything is imported when it is first used, so that `import specwright` is light. `agent_wire` is the event
protocol, which needs nothing of the rest. docs/api.md shows each in use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specwright.application.stages.status import ProjectStatus
    from specwright.application.verify.project import Verification
    from specwright.application.verify.sealed_version import VerifyFinding
    from specwright.bootstrap.project import Project, open_project
    from specwright.bootstrap.verify import DirectoryVerdict, judge_directory, verify_project
    from specwright.domain.escalation.resolutions import HumanResolution
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
    )
    from specwright.ports.gate import Finding
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
    "Verification",
    "VerifyFinding",
    "__version__",
    "judge_directory",
    "load_settings",
    "open_project",
    "verify_project",
]

__version__ = "0.1.0"

_HOMES = {
    "ProjectStatus": "application.stages.status",
    "Verification": "application.verify.project",
    "VerifyFinding": "application.verify.sealed_version",
    "Project": "bootstrap.project",
    "open_project": "bootstrap.project",
    "DirectoryVerdict": "bootstrap.verify",
    "judge_directory": "bootstrap.verify",
    "verify_project": "bootstrap.verify",
    "HumanResolution": "domain.escalation.resolutions",
    "Finding": "ports.gate",
    "Settings": "settings",
    "load_settings": "settings",
}
"""The module of a name; the other names are those of `errors`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'specwright' has no attribute {name!r}")
    value = getattr(import_module(f"specwright.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
