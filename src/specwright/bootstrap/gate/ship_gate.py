"""The ship gate as the settings want it (design: ship-gate, module-scope)."""

import platform
from pathlib import Path

from specwright import __version__
from specwright.bootstrap.examples import PLACES
from specwright.domain.base.allowed_packages import AllowedPackage, import_names
from specwright.domain.modules.evidence import Environment
from specwright.gate.fuzz.check import FuzzBounds
from specwright.gate.sandbox.packages import allowed_packages
from specwright.gate.sandbox.plan import Limits
from specwright.gate.ship_gate import SandboxedShipGate
from specwright.settings import Settings

_MIB = 1024 * 1024
_PLAYBOOK = "playbook:"


def packages_of(settings: Settings) -> tuple[AllowedPackage, ...]:
    """The third-party packages that modules may import.

    Raises:
        InputError: one is not installed here, or in another version.
    """
    return allowed_packages(settings.packages)


def gate_of(settings: Settings) -> SandboxedShipGate:
    """The gate with the limits of the settings.

    Raises:
        InputError: a package that modules may import is not installed here.
    """
    disk = settings.gate_disk_mib * _MIB
    limits = Limits(
        memory=settings.gate_memory_mib * _MIB,
        file_size=max(disk // 4, _MIB),
        scratch_size=disk,
        output=settings.gate_output_mib * _MIB,
    )
    return SandboxedShipGate(
        settings.gate_timeout_seconds,
        import_names(packages_of(settings)),
        sandbox=settings.sandbox,
        strength=settings.gate_strength,
        fuzz=FuzzBounds(examples=settings.gate_fuzz_examples),
        limits=limits,
        shipped=uses_shipped_playbooks(settings),
    )


def uses_shipped_playbooks(settings: Settings) -> bool:
    """Whether every role is a playbook among the examples of this installation."""
    models = [settings.model, *settings.role_models.values()]
    return all(
        name.startswith(_PLAYBOOK) and _is_shipped(Path(name.removeprefix(_PLAYBOOK))) for name in models
    )


def _is_shipped(playbook: Path) -> bool:
    return any(playbook.resolve().is_relative_to(place) for place in PLACES)


def environment_of(packages: tuple[AllowedPackage, ...]) -> Environment:
    """In what modules are judged, for the evidence."""
    return Environment(
        repo_revision=f"specwright-{__version__}",
        dependency_lock_ref=", ".join(["standard-library", *(package.installed for package in packages)]),
        runner_id=f"python-{platform.python_version()}-{platform.system().lower()}-{platform.machine()}",
    )
