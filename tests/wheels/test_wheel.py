"""The wheel of a release: its bytes, its contents, and what is refused (D28, D21)."""

import io
import os
import zipfile
from email.parser import BytesParser
from email.policy import default
from pathlib import Path

import pytest

from agent_wire.canonical_json import sha256
from ship_gate.contract.rules import DEFINITIONS
from ship_gate.ship_gate import SandboxedShipGate
from specwright.application.stages.release import fault_of_packager
from specwright.errors import RefusedError
from specwright.ports import BuiltWheel, ProductPackage
from specwright.wheels import FlitPackager

BUILD = FlitPackager(SandboxedShipGate()).build


def contents(wheel: BuiltWheel) -> dict[str, bytes]:
    """The archive's files."""
    with zipfile.ZipFile(io.BytesIO(wheel.content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_wheel_is_byte_equal_when_it_is_made_twice(
    product: ProductPackage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also from another directory, which stays as it is, under another umask, with another SOURCE_DATE_EPOCH, and with the
    modules in another order; the tree of each subpackage has the hash of the sealed implementation (D-21-04, D-28-01)."""
    first = BUILD(product)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    umask = os.umask(0o077)
    try:
        second = BUILD(product)
    finally:
        os.umask(umask)
    assert second == first
    assert first.sha256 == sha256(first.content)
    assert first.file_name == "text_tools-1.2.0-py3-none-any.whl"
    assert BUILD(product._replace(modules=product.modules[::-1])).content == first.content
    assert (Path.cwd(), list(tmp_path.iterdir())) == (tmp_path, [])
    for module in product.modules:
        prefix = f"{product.import_name}/{module.contract.name}/"
        packed = {k.removeprefix(prefix): v for k, v in contents(first).items() if k.startswith(prefix)}
        assert packed == dict(module.implementation)


def test_the_package_exports_the_entry_points_with_their_twins_and_classes(product: ProductPackage) -> None:
    """Of the task-facing modules, not of those that only they call (D-28-01)."""
    wheel = BUILD(product)
    assert wheel.exports == ("EmptyTitle", "save", "slugify", "slugify_async")
    assert contents(wheel)["text_tools/__init__.py"].decode() == (
        '"""Small \\"text\\" tools. For \\\\ everyone."""\n\n'
        "from .save import save\n"
        "from .slugify import EmptyTitle, slugify, slugify_async\n\n"
        '__all__ = ["EmptyTitle", "save", "slugify", "slugify_async"]\n'
        '__version__ = "1.2.0"\n'
    )
    assert contents(wheel)["text_tools/py.typed"] == b""


def test_the_metadata_names_version_python_and_requirements(product: ProductPackage) -> None:
    """Allowed third-party packages are required by the wheel, and a licence is stated (D-23-02, D-28-01, D-58-01)."""
    given = product._replace(requires=("humanize>=4.9", "attrs"), license="MIT OR Apache-2.0")
    files = contents(BUILD(given))
    metadata = BytesParser().parsebytes(files["text_tools-1.2.0.dist-info/METADATA"])
    assert metadata["Name"] == "text-tools"
    assert metadata["Version"] == "1.2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"
    assert metadata["Summary"] == 'Small "text" tools. For \\ everyone.'
    assert metadata.get_all("Requires-Dist") == ["humanize>=4.9", "attrs"]


def test_a_summary_is_cut_where_it_can_be_read(product: ProductPackage) -> None:
    """What a person wrote about the product is one printable line of metadata, in whole sentences if it can be (D-28-01)."""
    summaries = {
        "": "text-tools",
        "\x00\x7f\ud800": "text-tools",
        "ünï 𝒜 \u202e": "ünï 𝒜",
        '"""': '"""',
        "\\": "\\",
        f"It is (e.g. {'x' * 170}). Dates, all": f"It is (e.g. {'x' * 170}). Dates, all",
        f"It is (e.g. {'x' * 170}). Every date is passed; all": f"It is (e.g. {'x' * 170}).",
        f"It {'x ' * 50}, all {'x' * 99}": f"It {('x ' * 50)}…",
        f"It is {'x ' * 200}": f"It is{' x' * 97}…",
        "x" * 5000: f"{'x' * 199}…",
    }
    found = {}
    for summary in summaries:
        files = contents(BUILD(product._replace(summary=summary)))
        compile(files["text_tools/__init__.py"], "__init__.py", "exec")
        found[summary] = str(
            BytesParser(policy=default).parsebytes(files["text_tools-1.2.0.dist-info/METADATA"])["Summary"]
        )
    assert found == summaries


def test_each_name_comes_from_the_module_that_defines_it(product: ProductPackage, make_module) -> None:
    """A sibling re-exports a class; where two define one each, neither takes its name. What the spec provides is exported
    also from a module of definitions, and of an internal module nothing else. A module of the name of a twin exports its
    own entry point (D-28-01, D-53-01, D-54-01)."""
    exceptions = '__all__ = ["EmptyTitle"{}]\nclass EmptyTitle(Exception): ...\ndef {}(text): return text\n'
    again = make_module(
        "again",
        'from ..slugify import EmptyTitle\n__all__ = ["EmptyTitle", "again"]\ndef again(text): return text\n',
    )
    own = make_module("own", exceptions.format(', "own"', "own"))
    values = make_module("values", '__all__ = ["Token", "Date"]\nclass Token: ...\nclass Date: ...\n')
    modes = values.contract.modes.model_copy(update={"notes": DEFINITIONS})
    values = values._replace(contract=values.contract.model_copy(update={"modes": modes}))
    users = make_module(
        "users",
        'from ..values import Token\n__all__ = ["Token", "users"]\ndef users(text): return Token()\n',
    )
    rival = make_module(
        "slugify_async", '__all__ = ["slugify_async"]\ndef slugify_async(text): return text\n'
    )
    given = {
        "twin": (
            (rival,),
            ("slugify", "slugify_async"),
            (),
            b"import EmptyTitle, slugify\nfrom .slugify_async import slugify_async\n",
        ),
        "re-exported": ((again,), ("again", "slugify"), (), b"from .slugify import EmptyTitle"),
        "rivals": ((own,), ("own", "slugify"), (), b'["own", "slugify", "slugify_async"]'),
        "provided": ((values, users), ("slugify",), ("Token",), b"\nfrom .values import Token\n"),
        "provided and re-exported": (
            (values, users),
            ("users",),
            ("Token",),
            b"from .users import Token, users\n",
        ),
        "internal": ((values, users), ("slugify",), (), b'["EmptyTitle", "slugify", "slugify_async"]'),
    }
    wrong = {
        name: text
        for name, (modules, facing, provided, wanted) in given.items()
        for package in [
            product._replace(modules=(*product.modules, *modules), task_facing=facing, provided=provided)
        ]
        if wanted not in (text := contents(BUILD(package))["text_tools/__init__.py"])
    }
    assert not wrong


def test_a_product_that_cannot_be_packaged_is_refused_for_its_reason(
    product: ProductPackage, make_module
) -> None:
    """Names, paths and requirements are checked before anything is written; `__all__` is literal and has the entry point
    (D-21-02, D-28-01, F-15-13)."""

    def lone(source: str) -> ProductPackage:
        return product._replace(modules=(make_module("lone", source),), task_facing=("lone",))

    clean = product.modules[0]
    escape = clean._replace(implementation={**clean.implementation, "../slugify/x.py": b""})
    spoiled = {
        "does not export its entry point": lone("def lone(text): return text"),
        "lone cannot be read: `__all__`": lone("__all__ = make()"),
        "is not Python": lone("def ("),
        "no module named ghost": product._replace(task_facing=("ghost",)),
        "is not a path below": product._replace(modules=(escape, *product.modules[1:])),
        "is not a requirement": product._replace(requires=("--index-url=x",)),
        "cannot be made into a wheel": product._replace(distribution="-"),
    }
    for reason, faulty in spoiled.items():
        with pytest.raises(RefusedError, match=reason):
            BUILD(faulty)


def test_a_sealed_file_that_would_be_left_out_is_a_contradiction(product: ProductPackage) -> None:
    """The archive drops compiled files: then it does not hold what was sealed (D-21-04)."""
    clean = product.modules[0]
    compiled = clean._replace(implementation={**clean.implementation, "clean.pyc": b"x"})
    changed = product._replace(modules=(compiled, *product.modules[1:]))
    assert "clean.pyc" in fault_of_packager(BUILD(changed), changed)
