"""The ship gate as the settings of a project want it, and where it runs (design: ship-gate, module-scope)."""

import platform
from pathlib import Path

from ship_gate.base.allowed_packages import AllowedPackage
from ship_gate.ship_gate import SandboxedShipGate, gate_of
from specwright import __version__
from specwright.bootstrap.examples import EXAMPLES
from specwright.domain.modules.evidence import Environment
from specwright.settings import Settings

_PLAYBOOK = "playbook:"


def project_gate(settings: Settings) -> SandboxedShipGate:
    """The gate with the limits of a project.

    Raises:
        InputError: a package that modules may import is not installed here.
    """
    return gate_of(settings, shipped=uses_shipped_playbooks(settings))


def uses_shipped_playbooks(settings: Settings) -> bool:
    """Whether every role is a playbook among the examples of this installation."""
    models = [settings.model, *settings.role_models.values()]
    return all(
        name.startswith(_PLAYBOOK) and _is_shipped(Path(name.removeprefix(_PLAYBOOK))) for name in models
    )


def _is_shipped(playbook: Path) -> bool:
    return playbook.resolve().is_relative_to(EXAMPLES)


def environment_of(packages: tuple[AllowedPackage, ...]) -> Environment:
    """In what modules are judged, for the evidence."""
    return Environment(
        repo_revision=f"specwright-{__version__}",
        dependency_lock_ref=", ".join(["standard-library", *(package.installed for package in packages)]),
        runner_id=f"python-{platform.python_version()}-{platform.system().lower()}-{platform.machine()}",
    )
