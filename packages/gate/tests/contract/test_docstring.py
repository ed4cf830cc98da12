"""A contract as the docstring and the stub of its entry point."""

import ast
import inspect
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
from ship_gate.contract.docstring import (
    docstring_literal,
    public_names,
    render_docstring,
    render_stub,
)


@pytest.mark.parametrize(
    ("when", "base"),
    [
        ("derives from ValueError; the text is empty", "ValueError"),
        ("a subclass of `LookupError`: nothing is there", "LookupError"),
        ("the text is empty; SlugError is a ValueError", "ValueError"),
        ("the text is empty, where ValueError would be thought of", "Exception"),
        ("it derives from SlugError", "Exception"),
    ],
)
def test_a_class_of_the_stub_derives_from_what_the_contract_says(when: str, base: str):
    """D-S8.1-05: readers corrected `Exception` by hand; where nothing is said, only its own name catches it."""
    error = ErrorSurface(name="SlugError", when=when, surface=SurfaceKind.EXCEPTION)
    assert f"class SlugError({base}):" in render_stub(a_contract(error_surfaces=[error]))


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
    """D-S8.1-01: its sections, in their order; the default stands in the signature alone."""
    assert render_docstring(a_contract()) == DOCSTRING


def test_an_empty_dimension_has_no_section():
    """D-S8.1-01: a pure module without errors shows its inputs and outputs only."""
    text = render_docstring(
        a_contract(inputs=[], outputs=[], error_surfaces=[], effects=[], modes=Modes(sync=True, async_=False))
    )
    assert text == "Turn a title into a URL slug."


@pytest.mark.parametrize(
    "text", ['ends with "', 'has """ in it', "a \\ back\\slash", "\\", '"', "'''", "tab\\t", "\\N{DASH}"]
)
@pytest.mark.parametrize("indent", ["    ", "\t", "        "])
def test_a_literal_is_read_back_as_its_text(text, indent):
    """D-S8.1-01: quotes and backslashes cannot end or change a docstring."""
    whole = f"{text}\n\nArgs:\n    x:\n        - {text}"
    source = f"def f():\n{indent}{docstring_literal(whole, indent)}\n"
    function = ast.parse(source).body[0]
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
    """D-S8.1-03: sync and async together are `f` and `f_async`."""
    tree = ast.parse(render_stub(a_contract(modes=Modes(sync=True, async_=True))))
    kinds = {
        node.name: type(node)
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    assert kinds == {"slugify": ast.FunctionDef, "slugify_async": ast.AsyncFunctionDef}


def test_the_stub_of_the_async_mode_is_one_coroutine():
    """D-S8.1-03: async alone keeps the module's name."""
    tree = ast.parse(render_stub(a_contract(modes=Modes(sync=False, async_=True))))
    assert [type(node) for node in tree.body if getattr(node, "name", "") == "slugify"] == [
        ast.AsyncFunctionDef
    ]


@pytest.mark.parametrize(
    ("types", "annotation"), [([], "None"), (["str"], "str"), (["str", "int"], "tuple[str, int]")]
)
def test_several_outputs_are_a_tuple_and_none_is_none(types, annotation):
    """D-S8.1-03, F-7-06: an added output changes the annotation."""
    outputs = [Output(name=f"o{place}", type=type_) for place, type_ in enumerate(types)]
    assert f") -> {annotation}:" in render_stub(a_contract(outputs=outputs))


def test_a_class_of_a_dependency_is_imported_from_it_or_asked_for():
    """D-21-03: siblings import each other relatively."""
    contract = a_contract(outputs=[Output(name="tab", type="Tab")])
    assert "from ..open_tab import Tab\n" in render_stub(contract, {"Tab": "open_tab"})
    assert "# Tab belongs to a dependency" in render_stub(contract)


def test_the_stub_says_how_an_imported_error_with_fields_is_made():
    """D-21-03: a reader who may raise it sees no source of its module, and would have to guess."""
    error = ErrorSurface(
        surface=SurfaceKind.EXCEPTION,
        name="PageError",
        when="tab is closed",
        fields=[ErrorField(name="index", type="int")],
    )
    contract = a_contract(error_surfaces=[error])
    assert (
        "from ..open_tab import PageError\n# usually made as PageError(message, index=...)\n"
        in render_stub(contract, {"PageError": "open_tab"})
    )
    assert "usually made" not in render_stub(contract)


def test_public_names_are_functions_exceptions_and_classes():
    """D-S8-19: what a caller may import."""
    contract = a_contract(
        inputs=[Input(name="tab", type="Tab")],
        error_surfaces=[ErrorSurface(name="LedgerError", when="x", surface=SurfaceKind.EXCEPTION)] * 2,
        modes=Modes(sync=True, async_=True),
    )
    assert public_names(contract) == ("slugify", "slugify_async", "LedgerError", "Tab")
