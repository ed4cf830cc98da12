"""What differs between two releases: the spec in words, the contracts of modules, and the code (design: release)."""

import zipfile
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from io import BytesIO
from itertools import islice

from ship_gate.base.ids import ModuleRef
from ship_gate.base.record import Record
from ship_gate.contract.contract_text import contract_changes, contract_text
from specwright.application.change import product_specs
from specwright.application.factory import ProjectView
from specwright.application.spec_pages import spec_patch
from specwright.application.stages.release import release_of
from specwright.application.store import layout
from specwright.bounded_read import read_member
from specwright.domain.modules.release import ReleaseManifest
from specwright.errors import CorruptionError, InputError

_LONGEST = 512 * 1024
"""Bytes of a file that is compared line by line: the time for it grows with the square of its lines."""


class ChangedModule(Record):
    """A module that is another in the later release: its versions, and its contract as a patch. Empty is the version before
    of one that is new, and the version after of one that is gone."""

    name: str
    before: str
    after: str
    contract: list[str]

    @property
    def step(self) -> str:
        """From which version to which one."""
        return f"{self.name} {self.before or 'new'} -> {self.after or 'removed'}"


def last_of_each_version(view: ProjectView) -> dict[str, ReleaseManifest]:
    """The newest release of each version that has a wheel, of the whole product rather than of a part, oldest first."""
    found: dict[str, ReleaseManifest] = {}
    for number in range(len(view.projection.releases)):
        made, version = release_of(view, number), ""
        if made.succeeded and made.product.wheel:
            version = made.spec_version
        if version and (version not in found or len(made.modules) >= len(found[version].modules)):
            found[version] = made
    return found


def compared(view: ProjectView, old: str = "", new: str = "") -> tuple[ReleaseManifest, ReleaseManifest]:
    """Two releases by their versions: by default the newest, and the one before it.

    Raises:
        InputError: there are no two, or none of a version.
    """
    made = last_of_each_version(view)
    versions = [*made]
    if unknown := [one for one in (old, new) if one and one not in made]:
        known = f"these are: {', '.join(versions)}" if versions else "nothing is released yet"
        raise InputError(f"version {unknown[0]} is not released", remedy=known)
    new = new or (versions[-1] if versions else "")
    earlier = versions[: versions.index(new)] if new else []
    if not (old or earlier):
        raise InputError(
            f"there is no release before {new}" if new else "nothing is released yet",
            remedy="`specwright change` makes the next version; at its gate `specwright status` shows what differs",
        )
    return made[old or earlier[-1]], made[new]


def spec_changes(view: ProjectView, old: ReleaseManifest, new: ReleaseManifest) -> list[str]:
    """How the specs of two releases differ, as a patch."""
    specs = {spec.spec_version: spec for spec in product_specs(view)}
    return spec_patch(specs[old.spec_version], specs[new.spec_version])


def changed_modules(view: ProjectView, old: ReleaseManifest, new: ReleaseManifest) -> Iterator[ChangedModule]:
    """The modules that differ, in the order of the later release."""
    was, now = (
        {
            ModuleRef.parse(one.module_ref).module_id: view.modules.contract(one.module_ref)
            for one in made.modules
        }
        for made in (old, new)
    )
    for module_id in dict.fromkeys((*now, *was)):
        before, after = was.get(module_id), now.get(module_id)
        if before and after:
            lines = contract_changes(before, after)
        else:
            text = contract_text(after or before or now[module_id]).splitlines()[1:]
            lines = [f"{'+' if after else '-'} {line}" for line in text]
        if before != after:
            yield ChangedModule(
                name=(after or before or now[module_id]).name,
                before=before.module_version if before else "",
                after=after.module_version if after else "",
                contract=lines,
            )


def source_changes(view: ProjectView, old: ReleaseManifest, new: ReleaseManifest) -> list[str]:
    """How the code of two wheels differs, as a unified diff that `patch -p1` takes in a tree of the earlier one."""
    was, now = (code_of(view, made) for made in (old, new))
    return [
        line
        for path in sorted(was.keys() | now.keys())
        if was.get(path) != now.get(path)
        for line in _file_changes(path, was.get(path), now.get(path))
    ]


def _file_changes(path: str, was: bytes | None, now: bytes | None) -> Iterator[str]:
    before, after = "/dev/null" if was is None else f"a/{path}", "/dev/null" if now is None else f"b/{path}"
    try:
        old, new = ((data or b"").decode() for data in (was, now))
    except UnicodeDecodeError:
        old = new = ""
    if not (old or new) or max(map(len, (old, new))) > _LONGEST:
        yield f"Files {before} and {after} differ"
        return
    yield from unified_diff(_lines(old), _lines(new), before, after, lineterm="")


def _lines(text: str) -> list[str]:
    """The lines of a file; a last one without a line end says so, as in any patch."""
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
        return lines
    return lines[:-1]


def code_of(view: ProjectView, made: ReleaseManifest) -> Mapping[str, bytes]:
    """The files of a release's wheel without its metadata, by their paths.

    Raises:
        CorruptionError: the wheel is not the one that was released.
    """
    path = layout.release_file(made.release_id, str(made.product.wheel))
    try:
        with zipfile.ZipFile(BytesIO(view.store.read(path))) as wheel:
            names = (name for name in wheel.namelist() if ".dist-info/" not in name)
            return {name: read_member(wheel, name) for name in islice(names, _MOST_FILES)}
    except zipfile.BadZipFile as error:
        raise damaged_wheel(path) from error


def damaged_wheel(path: str) -> CorruptionError:
    """The error of a wheel that is not the one that was released."""
    remedy = "release again: `specwright release`"
    return CorruptionError("the released wheel is damaged", where=path, remedy=remedy)


_MOST_FILES = 10_000
