"""The contract's docstring goes into the source, and nothing else of it changes."""

import ast
import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ship_gate.contract.contract import Input, MicroModuleContract, Modes, Output
from ship_gate.contract.docstring import docstring_literal, render_docstring
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.source.files import SourceError
from ship_gate.source.splice import splice

PAIR = Modes(sync=True, async_=True)


def a_contract(modes=None, purpose="Double a number."):
    """A contract for these tests."""
    return MicroModuleContract(
        module_id="MM-00000001",
        name="double",
        purpose=purpose,
        inputs=[Input(name="x", type="int", constraints=["even"])],
        outputs=[Output(name="y", type="int")],
        error_surfaces=[],
        effects=[],
        modes=modes or Modes(sync=True, async_=False),
    )


LITERAL = docstring_literal(render_docstring(a_contract()))

SOURCES = {
    "no docstring": (
        "def double(x: int) -> int:\n    return 2 * x\n",
        "def double(x: int) -> int:\n    §\n    return 2 * x\n",
    ),
    "a docstring": (
        'def double(x):\n    """Other."""\n    return 2 * x',
        "def double(x):\n    §\n    return 2 * x",
    ),
    "a raw docstring": (
        "def double(x):\n    r'''Ot\\her.'''\n    return x\n",
        "def double(x):\n    §\n    return x\n",
    ),
    "joined texts": (
        'def double(x):\n    ("a"\n     "b")\n    return x\n',
        "def double(x):\n    §\n    return x\n",
    ),
    "a docstring alone": ('def double(x): "Other."\n', "def double(x): §\n"),
    "a docstring and more on its line": (
        'def double(x):\n    "O"; return x\n',
        "def double(x):\n    §; return x\n",
    ),
    "a body on the line": ("def double(x): return 2 * x\n", "def double(x):\n    §\n    return 2 * x\n"),
    "statements on the line": (
        "def double(x):  y = x; return y\n",
        "def double(x):\n    §\n    y = x; return y\n",
    ),
    "comments": (
        "# é\n\ndef double(  x ) :  # odd\n    # first\n\n    return 2*x   # last\n\n\n# end",
        "# é\n\ndef double(  x ) :  # odd\n    # first\n\n    §\n    return 2*x   # last\n\n\n# end",
    ),
    "a decorated first statement": (
        "def double(x):\n    @print\n    def f(): ...\n    return f\n",
        "def double(x):\n    §\n    @print\n    def f(): ...\n    return f\n",
    ),
    "text before it on the line": (
        "é = 1; é\ndef double(x):\n    return 'é'\n",
        "é = 1; é\ndef double(x):\n    §\n    return 'é'\n",
    ),
    "a string that is no docstring": (
        "def double(x):\n    b'x'\n    return x\n",
        "def double(x):\n    §\n    b'x'\n    return x\n",
    ),
    "another function's docstring": (
        'def other():\n    """Stays."""\n\ndef double(x):\n    return x\n',
        'def other():\n    """Stays."""\n\ndef double(x):\n    §\n    return x\n',
    ),
}


@pytest.mark.parametrize("shape", SOURCES)
def test_the_docstring_is_put_in_its_place_and_the_rest_stays_byte_for_byte(shape):
    """D-S8-03: replaced or inserted, however the function is written."""
    source, expected = SOURCES[shape]
    assert splice(source.encode(), a_contract()).decode() == expected.replace("§", LITERAL)


@pytest.mark.parametrize("shape", SOURCES)
def test_splicing_again_changes_nothing(shape):
    """D-S8-03: a sealed file is its own splice."""
    once = splice(SOURCES[shape][0].encode(), a_contract())
    assert splice(once, a_contract()) == once


def test_a_docstring_that_says_the_same_stays_as_it_is_written():
    """D-S8-15: `specwright gate DIR` compares the files, and layout is no drift."""
    text = render_docstring(a_contract()).replace("\n", "\n      ")
    source = f"def double(x):\n      r'''{text}'''\n      return x\n".encode()
    assert splice(source, a_contract()) == source


def test_both_twins_get_the_docstring():
    """D-S8-03, D-S8.1-03: `f` and `f_async`."""
    source = b"async def double_async(x):\n\treturn double(x)\n\ndef double(x): return x\n"
    tree = ast.parse(splice(source, a_contract(PAIR)))
    texts = [inspect.cleandoc(ast.get_docstring(node, clean=False)) for node in tree.body]
    assert texts == [render_docstring(a_contract(PAIR))] * 2


def test_windows_line_ends_and_a_byte_order_mark_are_kept():
    """D-S8-03: byte for byte, whatever system wrote it."""
    source = b"\xef\xbb\xbfx = 1\r\ndef double(x):\r\n    return x\r\n"
    spliced = splice(source, a_contract())
    assert spliced.startswith(b'\xef\xbb\xbfx = 1\r\ndef double(x):\r\n    """Double')
    assert spliced.count(b"\n") == spliced.count(b"\r\n")
    assert spliced.endswith(b'"""\r\n    return x\r\n')


def test_a_source_without_the_function_stays_as_it_is():
    """D-S8-03: that the entry point is missing is told by the surface."""
    assert splice(b"x = 1\n", a_contract()) == b"x = 1\n"


def test_a_place_where_no_docstring_can_stand_is_told():
    """D-S8-03: nothing is shipped that is another program."""
    with pytest.raises(SourceError) as caught:
        splice(b"def double(x):\\\n  return x\n", a_contract())
    assert caught.value.finding.code == "surface.docstring"


def test_the_gate_hands_out_a_source_with_the_docstring_of_another_contract():
    """D-S8-03, D-10-05: for those who go on from it; as it is where the docstring has no place."""
    source, gate = b"def double(x):\n    return x\n", SandboxedShipGate()
    given_out = gate.documented(splice(source, a_contract()), a_contract(purpose="Double it again."))
    assert given_out == splice(source, a_contract(purpose="Double it again."))
    placeless = b"def double(x):\\\n  return x\n"
    assert gate.documented(placeless, a_contract()) == placeless


@given(purpose=st.text(st.characters(categories=("L", "N", "P", "S")), min_size=3))
def test_every_purpose_is_read_back_from_where_it_was_put(purpose):
    """D-S8.1-01: quotes, backslashes and letters of any script."""
    contract = a_contract().model_copy(update={"purpose": purpose})
    function = ast.parse(splice(b"def double(x):\n    return x\n", contract)).body[0]
    assert inspect.cleandoc(ast.get_docstring(function, clean=False)) == render_docstring(contract)
