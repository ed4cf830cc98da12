"""A contract as the docstring and the stub of its entry point."""

import ast
import inspect
import itertools
import runpy

import pytest

from ship_gate.contract.contract import (
    Effect,
    EffectType,
    ErrorField,
    ErrorSurface,
    Input,
    MicroModuleContract,
    Modes,
    Output,
    SurfaceKind,
)
from ship_gate.contract.docstring import docstring_literal, public_names, render_docstring, render_stub


def test_a_class_of_the_stub_derives_from_what_the_contract_says():
    """D-S8.1-05: readers corrected `Exception` by hand; where nothing is said, only its own name catches it."""
    for when, base in (
        ("derives from ValueError; the text is empty", "ValueError"),
        ("a subclass of `LookupError`: nothing is there", "LookupError"),
        ("the text is empty; SlugError is a ValueError", "ValueError"),
        ("the text is empty, where ValueError would be thought of", "Exception"),
        ("it derives from SlugError", "Exception"),
    ):
        error = ErrorSurface(name="SlugError", when=when, surface=SurfaceKind.EXCEPTION)
        stub = render_stub(a_contract(error_surfaces=[error]))
        assert f'class SlugError({base}):\n    """Raised: {when}."""' in stub


def a_contract(**changes):
    """The contract of §8.1's example."""
    base = {
        "module_id": "MM-00000001",
        "name": "slugify",
        "purpose": "Turn a title into a URL slug.",
        "inputs": [
            Input(name="text", type="str", constraints=["non-empty", "at most 1000 characters"]),
            Input(name="sep", type="str", constraints=["one of '-', '_'", "defaults to '-'"]),
        ],
        "outputs": [Output(name="slug", type="str", invariants=["matches [a-z0-9_-]+"])],
        "error_surfaces": [
            ErrorSurface(name="ValueError", when="text is empty", surface=SurfaceKind.EXCEPTION),
            ErrorSurface(name="E_EMPTY", when="nothing is left", surface=SurfaceKind.CODE),
        ],
        "effects": [Effect(type=EffectType.WRITE, target="target", description="the slug")],
        "modes": Modes(sync=True, async_=False, notes="pure otherwise"),
    }
    return MicroModuleContract(**{**base, **changes})


DOCSTRING = """\
Turn a title into a URL slug.

Args:
    text:
        - non-empty
        - at most 1000 characters
    sep:
        - one of '-', '_'

Returns:
    slug:
        - matches [a-z0-9_-]+

Raises:
    ValueError: text is empty

Errors:
    - E_EMPTY [code]: nothing is left

Effects:
    - WRITE `target`: the slug

Modes:
    pure otherwise"""


def test_the_docstring_is_that_of_the_design():
    """D-S8.1-01: its sections, in their order, without those of an empty dimension; the default stands in the signature
    alone."""
    assert render_docstring(a_contract()) == DOCSTRING
    empty = {"inputs": [], "outputs": [], "error_surfaces": [], "effects": []}
    pure = a_contract(**empty, modes=Modes(sync=True, async_=False))
    assert render_docstring(pure) == "Turn a title into a URL slug."


def test_a_literal_is_read_back_as_its_text():
    """D-S8.1-01: quotes and backslashes cannot end or change a docstring."""
    texts = ['ends with "', 'has """ in it', "a \\ back\\slash", "\\", '"', "'''", "tab\\t", "\\N{DASH}"]
    for text, indent in itertools.product(texts, ("    ", "\t", "        ")):
        whole = f"{text}\n\nArgs:\n    x:\n        - {text}"
        function = ast.parse(f"def f():\n{indent}{docstring_literal(whole, indent)}\n").body[0]
        assert inspect.cleandoc(ast.get_docstring(function, clean=False)) == whole


def test_the_stub_imports_the_types_that_it_names_and_defines_the_classes(tmp_path):
    """D-S8-04: a stub can be imported; what is not Python's own is imported or defined in it."""
    contract = a_contract(
        inputs=[Input(name="due", type="date | None", constraints=["defaults to None"])],
        outputs=[
            Output(
                name="bill",
                type="Bill",
                invariants=[
                    "Bill is a frozen dataclass: total: Decimal, kind: Kind",
                    "Kind is an Enum: A='a'",
                ],
            ),
            Output(name="place", type="Path"),
        ],
        error_surfaces=[ErrorSurface(name="LedgerError", when="it is closed", surface=SurfaceKind.EXCEPTION)],
    )
    stub = tmp_path / "stub.py"
    stub.write_text(render_stub(contract), encoding="utf-8")
    names = runpy.run_path(str(stub), run_name="stub")
    assert names["__all__"] == ["slugify", "LedgerError", "Bill", "Kind"]
    assert names["LedgerError"].__bases__ == (Exception,)
    assert {"date", "Decimal", "Path", "Enum"} <= set(names)
    with pytest.raises(NotImplementedError):
        names["slugify"]()


def test_the_stub_of_both_modes_is_a_pair():
    """D-S8.1-03: sync and async together are `f` and `f_async`; async alone keeps the module's name."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)

    def kinds(**modes):
        body = ast.parse(render_stub(a_contract(modes=Modes(**modes)))).body
        return {node.name: type(node) for node in body if isinstance(node, functions)}

    assert kinds(sync=True, async_=True) == dict(zip(("slugify", "slugify_async"), functions, strict=True))
    assert kinds(sync=False, async_=True) == {"slugify": ast.AsyncFunctionDef}


def test_several_outputs_are_a_tuple_and_none_is_none():
    """D-S8.1-03, F-7-06: an added output changes the annotation."""
    for types, annotation in (([], "None"), (["str"], "str"), (["str", "int"], "tuple[str, int]")):
        outputs = [Output(name=f"o{place}", type=type_) for place, type_ in enumerate(types)]
        assert f") -> {annotation}:" in render_stub(a_contract(outputs=outputs))


def test_what_a_dependency_exports_is_imported_from_it_or_asked_for():
    """D-21-03: siblings import each other relatively; who may raise an error with fields sees no source of its module, and
    can read how it is made."""
    contract = a_contract(outputs=[Output(name="tab", type="Tab")])
    assert "from ..open_tab import Tab\n" in render_stub(contract, {"Tab": "open_tab"})
    assert "# Tab belongs to a dependency" in render_stub(contract)
    fields = [ErrorField(name="index", type="int")]
    error = ErrorSurface(surface=SurfaceKind.EXCEPTION, name="PageError", when="tab is closed", fields=fields)
    contract = a_contract(error_surfaces=[error])
    made = "from ..open_tab import PageError\n# usually made as PageError(message, index=...)\n"
    assert made in render_stub(contract, {"PageError": "open_tab"})
    assert "usually made" not in render_stub(contract)


def test_public_names_are_functions_exceptions_and_classes():
    """D-S8-19: what a caller may import."""
    contract = a_contract(
        inputs=[Input(name="tab", type="Tab")],
        error_surfaces=[ErrorSurface(name="LedgerError", when="x", surface=SurfaceKind.EXCEPTION)] * 2,
        modes=Modes(sync=True, async_=True),
    )
    assert public_names(contract) == ("slugify", "slugify_async", "LedgerError", "Tab")
