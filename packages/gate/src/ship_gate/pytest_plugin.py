"""The gate within pytest: one test for each module directory, which fails with the findings (design: ship-gate).

    [tool.pytest.ini_options]
    shipgate_modules = ["modules"]

or `pytest --shipgate modules`. pytest loads this module wherever this package is installed, so it imports nothing
of it before a module is judged; without the option or the setting it adds nothing but these two.

A module's own tests are not collected by pytest: they import the module as the gate lays it out, and the gate runs them.
"""

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ship_gate.batch import JudgedModule

_SETTING = "shipgate_modules"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the setting."""
    group = parser.getgroup("shipgate")
    group.addoption(
        "--shipgate",
        action="append",
        default=[],
        metavar="DIR",
        help="Judge the module directories in or below DIR; may be given several times.",
    )
    parser.addini(
        _SETTING, "Directories with module directories, each judged as one test.", "paths", default=[]
    )


def pytest_configure(config: pytest.Config) -> None:
    """Have module directories collected, if there is a place for them."""
    named: list[str] = config.getoption("--shipgate") or []
    here = config.invocation_params.dir
    places = [Path(here, name) for name in named] + [Path(place) for place in config.getini(_SETTING)]
    if not places:
        return
    for place in places:
        if not place.is_dir():
            raise pytest.UsageError(
                f"{place} is no directory; --shipgate and {_SETTING} name directories with module directories"
            )
    config.pluginmanager.register(GatePlugin([place.resolve() for place in places]), "shipgate-modules")
    whole = config.args_source is not pytest.Config.ArgsSource.ARGS
    wanted = places if whole else places[: len(named)]
    config.args += [str(place) for place in wanted if str(place) not in config.args]


class GatePlugin:
    """Collects module directories.

    Args:
        places: In or below which they are looked for.
    """

    def __init__(self, places: list[Path]) -> None:
        self._places = places

    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """A module directory in one of the places; whatever else, pytest collects as ever."""
        own = path.resolve()
        is_module = (path / "contract.json").is_file() and any(own.is_relative_to(p) for p in self._places)
        return ModuleDirectory.from_parent(parent, path=path) if is_module else None


class ModuleDirectory(pytest.Directory):
    """A module directory, of which nothing but the contract is collected."""

    def collect(self) -> Iterable[pytest.Collector]:
        """The contract."""
        yield ModuleContract.from_parent(self, path=self.path / "contract.json")


class ModuleContract(pytest.File):
    """A contract, with the gate on its module as its one test."""

    def collect(self) -> Iterable[pytest.Item]:
        """The gate."""
        yield GateItem.from_parent(self, name="gate")


class GateItem(pytest.Item):
    """The gate on a module directory."""

    def runtest(self) -> None:
        """Judge it.

        Raises:
            GateError: there are findings.
        """
        from ship_gate.batch import BatchLimits, judge_all

        directory = self.path.parent
        (module,) = judge_all([directory], BatchLimits(1, passed=self._passed()), lambda _: None)
        self.user_properties.append(("shipgate", str(module.result)))
        if module.findings:
            raise GateError(module)

    def _passed(self) -> Path | None:
        """Where the user's cache has the digest of the module as it passed; None if pytest keeps no cache.

        pytest's own cache is a folder of the repository, which could hold a digest of a module that never passed.
        """
        if getattr(self.config, "cache", None) is None:
            return None
        name = sha256(str(self.path.resolve()).encode()).hexdigest()[:16]
        try:
            caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
            file = caches.absolute() / "specwright/pytest" / f"{name}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            if self.config.getoption("cacheclear", default=False):
                file.unlink(missing_ok=True)
        except (OSError, RuntimeError):  # no home, or one that cannot be written: each run judges anew
            return None
        return file

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The findings instead of a traceback."""
        if isinstance(excinfo.value, GateError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the module is."""
        return self.path, 0, f"the gate on {self.path.parent.name}"


class GateError(Exception):
    """A module that the gate refuses.

    Args:
        module: As it was judged.
    """

    def __init__(self, module: "JudgedModule") -> None:
        lines = [f"the gate refuses {module.name}"]
        for one in module.findings:
            lines += [f"{one.code}  {one.where}", *(f"    {line}" for line in one.message.splitlines())]
            lines += [f"    do: {one.remedy}"] if one.remedy else []
        super().__init__("\n".join([*lines, "`shipgate explain CODE` says more of a finding"]))
