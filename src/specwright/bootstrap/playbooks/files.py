"""The files of a playbook as its run will read them: plans by task, the rounds of each module, the module that they end
in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from specwright import canonical_json
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.plan.micro_plan import KnownModules, assign
from specwright.errors import InputError

_CACHE = "__pycache__"


class PlaybookModule(NamedTuple):
    """A module of a playbook.

    Args:
        task: The spec's id of its task.
        contract: By the last plan of the task.
        rounds: Its folders, in the order of the debate.
    """

    task: str
    contract: MicroModuleContract
    rounds: tuple[Path, ...]

    def files(self) -> dict[str, bytes]:
        """The module at the end of its debate: each round changes files of the one before."""
        return {
            path.relative_to(folder / "deliverable").as_posix(): path.read_bytes()
            for folder in self.rounds
            for path in sorted((folder / "deliverable").rglob("*"))
            if path.is_file() and _CACHE not in path.parts
        }


def read_object(path: Path) -> dict[str, Any]:
    """A JSON object.

    Raises:
        InputError: there is none.
    """
    try:
        value = canonical_json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError("the file is missing", where=str(path)) from error
    except (OSError, ValueError) as error:
        raise InputError(f"the file cannot be read: {error}", where=str(path)) from error
    if not isinstance(value, dict):
        raise InputError("the file is not a JSON object", where=str(path))
    return cast(dict[str, Any], value)


def last_plan(task: Path) -> Path:
    """The plan that the modules of a task are written for."""
    amended = task / "planner-amended.json"
    revised = sorted(task.glob("planner-[0-9]*.json"), key=lambda path: (len(path.name), path.name))
    return next(iter([path for path in [amended] if path.is_file()] + revised[::-1]), task / "planner.json")


def rounds_of(module: Path) -> list[Path]:
    """The folders of a debate: rounds by number, then the amendments."""
    numbered = {
        int(number): path
        for path in module.glob("round-*")
        if path.is_dir() and (number := path.name.removeprefix("round-")).isdecimal()
    }
    amended = [module / "amended"] if (module / "amended").is_dir() else []
    return [path for _, path in sorted(numbered.items())] + amended


def modules_in(playbook: Path) -> list[PlaybookModule]:
    """Every new module that a playbook plans, with the contracts that its run will write.

    Raises:
        InputError: a plan cannot be read.
    """
    plans = [(task, _plan(last_plan(task))) for task in sorted(playbook.glob("TSK-*")) if task.is_dir()]
    names = [module.name for _, plan in plans for module in plan.modules]
    refs = {name: f"MM-{number:08x}@1.0.0" for number, name in enumerate(dict.fromkeys(names), 1)}
    return list(_with_contracts(plans, refs))


def _with_contracts(plans: list[tuple[Path, PlanAnswer]], refs: dict[str, str]) -> Iterator[PlaybookModule]:
    known = KnownModules(refs, frozenset(refs.values()))
    for task, plan in plans:
        _, contracts = assign(plan, "MP-00000001", "T-00000001@1.0.0", known, lambda: "MM-00000000", refs)
        for name, contract in contracts.items():
            yield PlaybookModule(task.name, contract, tuple(rounds_of(task / name)))


def _plan(path: Path) -> PlanAnswer:
    try:
        return PlanAnswer.model_validate(read_object(path).get("plan"))
    except ValidationError as error:
        raise InputError(
            "the plan is not valid",
            where=str(path),
            remedy="`specwright playbook check` lists what is wrong with it",
        ) from error
