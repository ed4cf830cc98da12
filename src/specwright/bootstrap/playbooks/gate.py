"""One deliverable of a playbook before the ship gate, without a run."""

from pathlib import Path
from tempfile import TemporaryDirectory

from specwright.bootstrap.playbooks.files import modules_in
from specwright.bootstrap.verify import DirectoryVerdict, judge_directory
from specwright.domain.base.text import did_you_mean
from specwright.errors import InputError


def judge_deliverable(playbook: Path, name: str) -> DirectoryVerdict:
    """Judge a module of a playbook as it is at the end of its debate.

    Args:
        playbook: The directory.
        name: Of a module that it plans.

    Raises:
        InputError: a plan cannot be read, it has no such module, or the module has no deliverable.
    """
    modules = {module.contract.name: module for module in modules_in(playbook)}
    if name not in modules:
        raise InputError(
            f"the playbook plans no module {name!r}",
            where=str(playbook),
            remedy=f"{did_you_mean(name, modules)}planned are {', '.join(modules) or 'none'}",
        )
    if not modules[name].files():
        raise InputError(
            "the module has no deliverable yet",
            where=str(playbook / modules[name].task / name / "round-1/deliverable"),
            remedy="write implementation/, tests/ and examples.md there",
        )
    with TemporaryDirectory(prefix="specwright-") as temporary:
        for module in modules.values():
            place = Path(temporary) / module.contract.name
            for file, content in {**module.files(), "contract.json": module.contract.to_bytes()}.items():
                (place / file).parent.mkdir(parents=True, exist_ok=True)
                (place / file).write_bytes(content)
        # as in a run, the contract's docstring is put in before anything is judged
        return judge_directory(Path(temporary) / name, fix=True)
