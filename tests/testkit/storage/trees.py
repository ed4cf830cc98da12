"""Directories with something to hide in them, and every way that is known to get at it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from deepagents.backends import CompositeBackend
from deepagents.backends.protocol import BackendProtocol

from ship_gate.base.record import Record
from specwright.domain.artifacts import Permission, shown
from specwright.ports import Assignment, Place, Role
from specwright.roles.agent.workspace import Workspace
from specwright.storage.context_pack import ContextPackBackend
from testkit.storage.agents import Attempt

__all__ = ["HIDDEN", "NAME", "PRIVATE", "Hidden", "attempts", "pack", "tree_of"]

SECRET = "canary = 'only the sealed source says this'"
PRIVATE = "canary = 'nobody but its owner reads this'"
HIDDEN = "_hidden_rules"
"""Part of the name of every file that must not be named."""

NAME = "shorten"

MODULE = {
    "contract.json": '{"name": "shorten"}',
    "examples.md": "## Shorten\n",
    "ship.json": '{"ship_id": "SHIP-00000000"}',
    "metadata.json": '{"name": "shorten", "version": "1.0.0", "status": "SHIPPED"}',
    "summary.md": "- it shortens\n",
    "implementation/__init__.py": f"{SECRET}\n",
    f"implementation/{HIDDEN}.py": f"{SECRET}\n",
    f"implementation/.{HIDDEN}": f"{SECRET}\n",
    f"tests/test{HIDDEN}.py": f"{SECRET}\n",
    f"tests/{HIDDEN}.json": '{"canary": "only the sealed source says this"}',
}
"""A module with everything that a permission can show or hide."""


class Hidden(NamedTuple):
    """A tree that an agent looks at.

    Args:
        backend: The agent's.
        root: The real directory.
        base: The module's directory as the agent names it.
        readable: What may be read of the module, by its path below it.
        secrets: Texts that must not come out.
        names: Parts of names that must not come out.
    """

    backend: CompositeBackend
    root: Path
    base: str
    readable: tuple[str, ...]
    secrets: tuple[str, ...] = (SECRET, PRIVATE)
    names: tuple[str, ...] = (HIDDEN, "elsewhere")

    @property
    def guarded(self) -> BackendProtocol:
        """The backend without the route to the agent's own state, which exists only while an agent runs."""
        return self.backend.default

    @property
    def protected(self) -> dict[str, bytes]:
        """What must be the same afterwards: all that was there before."""
        return tree_of(self.root)


def tree_of(root: Path) -> dict[str, bytes]:
    """Every regular file by its path."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def pack(directory: Path, permission: Permission) -> Hidden:
    """The workspace of a role whose directory, by a fault of the first line, holds a whole module.

    The manifest shows the module at one permission. Links and other traps are planted where it may look.
    """
    readable = tuple(name for name in MODULE if shown(permission, name))
    place = Place("TSK-001", 1, "other", "round-1", Role.PROPOSER)
    dependencies = {f"dependencies/{NAME}/{name}": MODULE[name].encode() for name in readable}
    assignment = Assignment(
        place,
        Record,
        "",
        {"task.md": b"# Task\n", **dependencies},
        ("implementation/", "tests/", "examples.md"),
    )
    workspace = Workspace(directory / "work", assignment, ContextPackBackend)
    _write(workspace.root / "dependencies" / NAME, MODULE)
    _write(workspace.root, {"elsewhere/notes.md": PRIVATE})
    module = workspace.root / "dependencies" / NAME
    whole = permission is Permission.FULL
    linked = workspace.root / "elsewhere/notes.md" if whole else module / f"implementation/{HIDDEN}.py"
    _traps(workspace.root / "implementation", module, directory, linked)
    seen = Hidden(workspace.backend(), workspace.root, f"/dependencies/{NAME}", readable)
    return seen._replace(secrets=(PRIVATE,), names=("elsewhere",)) if whole else seen


def _write(base: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)


def _traps(place: Path, module: Path, outside: Path, linked: Path) -> None:
    """Links of every kind to what must not be seen."""
    place.mkdir(parents=True, exist_ok=True)
    (outside / "outside").mkdir()
    (outside / "outside" / "notes.md").write_text(PRIVATE)
    (place / "file-link.py").symlink_to(module / "implementation/__init__.py")
    (place / "directory-link").symlink_to(module / "implementation")
    (place / "module-link").symlink_to(module)
    (place / "outside-link.md").symlink_to(outside / "outside" / "notes.md")
    (place / "outside-directory").symlink_to(outside / "outside")
    (place / "loop").symlink_to(place / "loop")
    (place / "nowhere").symlink_to(outside / "not-there")
    os.link(linked, place / "hard-link.py")
    os.link(outside / "outside" / "notes.md", place / "hard-outside.md")
    os.mkfifo(place / "pipe.py")


def attempts(tree: Hidden, traps: str) -> Iterator[Attempt]:
    """Every call that might see or change what is hidden.

    Args:
        traps: The directory with the links, as the agent names it.
    """
    for path in _paths(tree, traps):
        yield Attempt("read_file", {"file_path": path})
        yield Attempt("write_file", {"file_path": path, "content": "overwritten"})
        yield Attempt(
            "edit_file", {"file_path": path, "old_string": "canary", "new_string": "x", "replace_all": True}
        )
        yield Attempt("delete", {"file_path": path})
        yield Attempt("ls", {"path": path})
    source = f"{tree.base}/implementation/__init__.py"
    for offset, limit in ((-1, 10), (0, -5), (10**12, 1), (0, 0), (0, 10**12)):
        yield Attempt("read_file", {"file_path": source, "offset": offset, "limit": limit})
        yield Attempt(
            "read_file", {"file_path": f"{tree.base}/contract.json", "offset": offset, "limit": limit}
        )
    for where in (
        None,
        "/",
        tree.base,
        f"{tree.base}/implementation",
        traps,
        f"{traps}/directory-link",
        "/.offloaded",
    ):
        for pattern in _PATTERNS:
            yield Attempt("glob", {"pattern": pattern.format(base=tree.base), "path": where})
        for mode in ("content", "files_with_matches", "count"):
            yield Attempt("grep", {"pattern": "canary", "path": where, "output_mode": mode})
        for glob in ("**/*", "*.py", "**/.*", "{implementation,tests}/**", "../**", "[", "{" * 40):
            yield Attempt("grep", {"pattern": "canary", "path": where, "glob": glob})
    yield Attempt("execute", {"command": f"cat {tree.root}/*"})
    yield Attempt("execute", {"command": "ls -R /", "timeout": 5})


_PATTERNS = (
    "*", "**", "**/*", "**/.*", "*.py", "**/*.py", "{{implementation,tests}}/**", "[i]mplementation/*",
    "?mplementation/*", "/implementation/**", "{base}/implementation/**", "../**", "**/../**", "~/**",
    "implementation/../implementation/*", "[", "{{{{{{", "\0", "*" * 200, "{base}//implementation//*",
)  # fmt: skip


def _paths(tree: Hidden, traps: str) -> Iterator[str]:
    source = f"{tree.base}/implementation/__init__.py"
    yield from (
        source,
        f"{tree.base}/implementation",
        f"{tree.base}/tests",
        f"{tree.base}/tests/test{HIDDEN}.py",
    )
    yield from (
        f"{tree.base}/implementation/.{HIDDEN}",
        f"{tree.base}/implementation/new.py",
        f"{tree.base}/new.md",
    )
    yield from (tree.base, tree.base.rpartition("/")[0], f"{tree.base}/", f"{source}/", f"{source}/x")
    for spell in _SPELLINGS:
        yield spell(source)
    yield from (
        f"{tree.root}{source}",
        str(tree.root),
        f"file://{tree.root}",
        "/etc/hostname",
        "/",
        "",
        ".",
        "..",
    )
    yield from ("~", "/~root", "~/x", "/../../etc/hostname", "/code_index/index.db", "/elsewhere/notes.md")
    yield from (
        f"/{'x' * 300}",
        f"/{'y/' * 3000}",
        "/\ud800",
        "/new\nline",
        "C:\\windows",
        "\\\\server\\share",
    )
    yield from (f"{traps}/{name}" for name in _TRAPS)
    yield from (f"{traps}/directory-link/__init__.py", f"{traps}/outside-directory/notes.md")
    yield from (f"{traps}/module-link/implementation/__init__.py", f"{traps}/module-link/tests")


_TRAPS = (
    "file-link.py", "directory-link", "module-link", "outside-link.md", "outside-directory", "loop", "nowhere",
    "hard-link.py", "hard-outside.md", "pipe.py",
)  # fmt: skip

_SPELLINGS: tuple[Callable[[str], str], ...] = (
    lambda path: f"/{path}",
    lambda path: f"/.{path}",
    lambda path: path.lstrip("/"),
    lambda path: path.replace("/", "//"),
    lambda path: path.replace("/", "/./"),
    lambda path: path.replace("/", "\\"),
    lambda path: path.replace("/implementation/", "/implementation/../implementation/"),
    lambda path: path.replace("/implementation/", "/tests/../implementation/"),
    lambda path: path.replace("implementation", "%69mplementation"),
    lambda path: path.replace("/", "%2F"),
    lambda path: f"/project/..{path}",
    lambda path: f"/%2e%2e{path}",
    lambda path: f"{path}\0",
    lambda path: f"{path}\0.md",
    lambda path: path.upper(),
    lambda path: path.replace("implementation", "Implementation"),
    lambda path: path.replace("implementation", "ımplementation"),
    lambda path: path.replace("implementation", "implementation "),
    lambda path: path.replace("implementation", "implementation."),
    lambda path: path.replace("/", "\u2215"),
    lambda path: path.replace("__init__.py", "__init__.py:stream"),
    lambda path: path.replace("/implementation/", "/impl*/"),
    lambda path: path.replace(
        "implementation", "\uff49mplementation"
    ),  # the same letters once they are normalised
    lambda path: path.replace("implementation", "implemen\u00adtation"),
    lambda path: path.replace("implementation", "implementation\u200d"),
    lambda path: path.replace("implementation", "\u202eimplementation"),
    lambda path: path.replace("/implementation/", "/\u2024\u2024/implementation/"),
    lambda path: path.replace("/implementation/", "/implementation/./"),
    lambda path: path.replace("/implementation/", "/....//implementation/"),
    lambda path: path.replace("/", "%5C"),
    lambda path: path.replace("/implementation/", "/%c0%ae%c0%ae/implementation/"),
    lambda path: f"{path}/.",
    lambda path: f" {path}",
    lambda path: f"{path}\n",
    lambda path: f"`{path}`",
    lambda path: f"${{PWD}}{path}",
)
