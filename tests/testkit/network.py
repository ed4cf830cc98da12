"""Hosts on this machine: network namespaces, each with a line of its own to the services, which can be cut.

Needs root and iproute2. Where there is neither, such tests are skipped; SPECWRIGHT_REQUIRE_SERVICES=1 makes that a failure.
"""

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest

__all__ = ["Host", "hosts"]


class Host(NamedTuple):
    """A network namespace.

    Args:
        name: Of the namespace.
        line: This machine's end of its line.
        address: Of the host.
    """

    name: str
    line: str
    address: str

    @property
    def enter(self) -> tuple[str, ...]:
        """What comes before a command that is to run on the host."""
        return ("ip", "netns", "exec", self.name)

    def cut(self) -> None:
        """Cut the line: nobody is told, packets get lost."""
        _ip("link", "set", self.line, "down")

    def mend(self) -> None:
        """Mend the line."""
        _ip("link", "set", self.line, "up")


@contextmanager
def hosts(number: int) -> Iterator[tuple[str, list[Host]]]:
    """An address of this machine, and hosts that reach it and nothing else."""
    _require()
    net, tag = secrets.randbelow(200) + 20, secrets.token_hex(2)
    services, names = f"10.{net}.255.1", [f"sw{tag}h{count}" for count in range(number)]
    _ip("addr", "add", f"{services}/32", "dev", "lo")
    try:
        yield services, [_host(name, f"10.{net}.{count}", services) for count, name in enumerate(names)]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)
        _ip("addr", "del", f"{services}/32", "dev", "lo")


def _host(name: str, net: str, services: str) -> Host:
    line = f"{name}r"
    _ip("netns", "add", name)
    _ip("link", "add", line, "type", "veth", "peer", "name", "eth0", "netns", name)
    _ip("addr", "add", f"{net}.1/30", "dev", line)
    _ip("link", "set", line, "up")
    for words in (
        ("link", "set", "lo", "up"),
        ("addr", "add", f"{net}.2/30", "dev", "eth0"),
        ("link", "set", "eth0", "up"),
        ("route", "add", services, "via", f"{net}.1"),
    ):
        _ip("-netns", name, *words)
    return Host(name, line, f"{net}.2")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def _require() -> None:
    missing = "root" if os.getuid() else "" if shutil.which("ip") else "iproute2"
    if not missing:
        probe = f"sw{secrets.token_hex(3)}"
        trial = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
        missing = trial.stderr.strip() if trial.returncode else ""
        if not missing:
            _ip("netns", "delete", probe)
    if missing:
        assert os.environ.get("SPECWRIGHT_REQUIRE_SERVICES") != "1", f"no network namespaces: {missing}"
        pytest.skip(f"needs network namespaces: {missing}")
