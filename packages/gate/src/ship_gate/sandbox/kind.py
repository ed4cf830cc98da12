"""Which sandbox this machine can offer, found by trying it (design: ship-gate).

bubblewrap first: it hides what Landlock only forbids. Never silently none: without either, whoever wants to run a
candidate reads what to install, or has to say so by the setting `sandbox = "none"`, which no module directory can.
"""

import functools
import logging
import math
import os
import platform
import select
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Self

from ship_gate.errors import InputError, ShipGateError
from ship_gate.inside.frames import LENGTHS
from ship_gate.sandbox.process import Limits, Plan, SandboxKind, bubblewrap_path, start

_LOG = logging.getLogger("ship_gate")
_READY_SECONDS = 30.0
_MACHINES = ("x86_64", "aarch64")


class AvailableSandbox(NamedTuple):
    """The best kind that works here, and why it is this one: what the others lack."""

    kind: SandboxKind
    reason: str


class Sandbox(NamedTuple):
    """In what candidates run.

    Args:
        kind: Of `chosen_sandbox`.
        packages: Third-party packages that a module may import (design: contracts).
        limits: Of each process.
    """

    kind: SandboxKind
    packages: frozenset[str] = frozenset()
    limits: Limits = Limits()

    @classmethod
    def best(cls) -> Self:
        """The best that this machine offers.

        Raises:
            ShipGateError: it offers none.
        """
        return cls(chosen_sandbox("auto"))

    def within(self, seconds: float) -> Self:
        """With processor time that wall-clock time uses up first."""
        return self._replace(limits=self.limits._replace(cpu_seconds=math.ceil(seconds) + 5))


UNCONFINED = "sandbox: none; the code ran unconfined"
"""The label of a verdict without a sandbox, for whoever reads the evidence."""


def available_sandbox(system: str = sys.platform) -> AvailableSandbox:
    """Try the kinds in their order; the answer stands for this process's life."""
    return _available(system, platform.machine())


def find_sandbox(system: str, machine: str, fault: Callable[[SandboxKind], str]) -> AvailableSandbox:
    """The first kind that works on a machine.

    Args:
        system: As `sys.platform` names it.
        machine: As `platform.machine` names it.
        fault: Why a kind does not work there; empty if it does.
    """
    if system != "linux":
        return AvailableSandbox(SandboxKind.NONE, f"{system} offers no sandbox that is supported")
    if machine not in _MACHINES:
        return AvailableSandbox(SandboxKind.NONE, f"there is no filter of system calls for {machine}")
    faults: list[str] = []
    for kind in (SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK):
        if not (problem := fault(kind)):
            return AvailableSandbox(kind, "; ".join([*faults, f"{kind} works"]))
        faults.append(problem)
    return AvailableSandbox(SandboxKind.NONE, "; ".join(faults))


def chosen_sandbox(
    setting: str,
    available: AvailableSandbox | None = None,
    *,
    system: str = sys.platform,
    shipped: bool = False,
) -> SandboxKind:
    """The kind that a setting means on this machine.

    Args:
        setting: "auto", or the name of a kind.
        available: What the machine offers; it is tried if not given.
        system: As `sys.platform` names it.
        shipped: Whether only code runs that came with Specwright; where no sandbox can be, it may run without.

    Raises:
        InputError: there is no such setting.
        ShipGateError: the machine cannot offer it; the remedy names the options.
    """
    if setting == SandboxKind.NONE:
        _LOG.warning(
            'sandbox = "none": code written by models runs on this machine with your rights, unconfined; '
            "it can read, change and send whatever you can"
        )
        return SandboxKind.NONE
    if setting not in {"auto", *SandboxKind}:
        raise InputError(
            f"there is no sandbox {setting!r}",
            where="sandbox",
            remedy=f"write auto, {', '.join(SandboxKind)}",
        )
    if setting == "auto":
        available = available or available_sandbox(system)
        kind, reason = available
    else:
        kind = SandboxKind(setting)
        reason = fault_of(kind)
        kind = SandboxKind.NONE if reason else kind
    if kind is SandboxKind.NONE and setting == "auto" and shipped and system != "linux":
        _LOG.warning("%s; the playbook that ships with Specwright runs unconfined", reason)
        return kind
    if kind is SandboxKind.NONE:
        raise ShipGateError(
            f"there is no sandbox to run the module in: {reason}", where="gate", remedy=_remedy(system)
        )
    return kind


def _remedy(system: str) -> str:
    if system == "linux":
        what = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap) where user namespaces are allowed, "
        what += "or use Linux 6.2 or newer with Landlock on"
    else:
        what = "run it in a Linux container or virtual machine (WSL 2 on Windows) with bubblewrap installed"
    accepted = 'SPECWRIGHT_SANDBOX=none, or sandbox = "none" in a project that you trust,'
    return f"{what}; or set {accepted} if you accept that the code runs unconfined"


@functools.cache
def _available(system: str, machine: str) -> AvailableSandbox:
    return find_sandbox(system, machine, fault_of)


@functools.cache
def fault_of(kind: SandboxKind) -> str:
    """Why a kind does not work here; empty if it does."""
    if sys.platform != "linux":
        return f"{kind} needs Linux"
    if kind is SandboxKind.BUBBLEWRAP and bubblewrap_path() is None:
        return "bubblewrap is not installed"
    if kind is SandboxKind.LANDLOCK:
        from ship_gate.inside.confine import LEAST_LANDLOCK, landlock_version

        if (version := landlock_version()) < LEAST_LANDLOCK:
            return f"Landlock is off or too old (version {max(version, 0)}, {LEAST_LANDLOCK} is needed)"
    fault = _trial_fault(kind)
    return f"{kind} does not start: {fault}" if fault else ""


def _trial_fault(kind: SandboxKind) -> str:
    """Start a process that does nothing; what went wrong, empty if nothing did."""
    # under another name than a workspace's: the next workspace would remove it, since nobody holds its lock
    with tempfile.TemporaryDirectory(prefix="try-sandbox-") as folder:
        place = Path(folder).resolve()
        plan = Plan("module_host", place, more={"lib": folder})
        try:
            child = start(plan, kind)
        except ShipGateError as error:
            return error.what
        try:
            if select.select([child.reads], [], [], _READY_SECONDS)[0] and os.read(child.reads, LENGTHS.size):
                return ""
            printed = os.read(child.prints, 4096) if select.select([child.prints], [], [], 1)[0] else b""
            return printed.decode(errors="replace").strip()[-300:] or "it ended at once"
        finally:
            child.stop()
