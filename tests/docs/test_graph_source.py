"""How the graphs are put together, read from their source: one checkpointer, one call, nothing swallowed (DESIGN §5)."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphBubbleUp, GraphInterrupt, ParentCommand

import specwright.graphs
from specwright.graphs.graphs import debate_graph, engineering_graph, outer_graph, project_graph

SOURCES = sorted(Path(specwright.graphs.__file__).parent.glob("[a-z]*.py"))
GRAPHS = Path(specwright.graphs.__file__).with_name("graphs.py")
ROOT, DRIVER = "outer_graph", "_advance"
SIGNALS = (GraphBubbleUp, GraphInterrupt, ParentCommand)
WRAPPERS = ["held", "_resolve", "outer_graph", "engineering", "project_loop"]
"""The functions that invoke a subgraph, in the order of the file."""


def calls(tree: ast.AST, method: str) -> list[ast.Call]:
    """The calls of a method, whatever it is called on."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method
    ]


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    """The functions and methods of a file."""
    return (n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.FunctionDef))


def swallowed(path: Path) -> list[str]:
    """The handlers that would catch a signal of the graphs."""
    module = importlib.import_module(f"specwright.graphs.{path.stem}")
    return [
        f"{path.name}:{handler.lineno}"
        for handler in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(handler, ast.ExceptHandler) and catches(handler, vars(module))
    ]


def catches(handler: ast.ExceptHandler, names: dict[str, Any]) -> bool:
    """Whether a handler takes a halt or an interrupt for an error."""
    if handler.type is None:
        return True
    caught = eval(compile(ast.Expression(handler.type), "handler", "eval"), names)
    return any(issubclass(signal, caught) for signal in SIGNALS)


def test_one_checkpointer_is_on_the_root_and_the_subgraphs_compile_plain():
    """Each graph below inherits it; none has one of its own, none has been told to have none (D-S5-01,
    F-1-02, D-10-02)."""
    nothing, saver = cast(Any, None), InMemorySaver()
    assert outer_graph(nothing, saver).checkpointer is saver
    for below in (project_graph, engineering_graph, debate_graph):
        assert below(nothing).checkpointer is None
    compiled = {
        (function.name, keyword.arg)
        for path in SOURCES
        for function in functions(path)
        for call in calls(function, "compile")
        for keyword in call.keywords
        if keyword.arg != "name"
    }
    assert compiled == {(ROOT, "checkpointer")}


def test_the_root_is_driven_with_every_checkpoint_on_the_disk_before_the_next_step():
    """The one place that runs the root says `durability="sync"` (D-S5-01)."""
    (driver,) = (function for function in functions(GRAPHS) if function.name == DRIVER)
    (invoked,) = calls(driver, "invoke")
    assert {k.arg: ast.literal_eval(k.value) for k in invoked.keywords} == {"durability": "sync"}


def test_a_wrapper_node_invokes_its_subgraph_exactly_once():
    """One call in one node, in no loop and no comprehension, and nothing is drawn or written before it (D-S5-01,
    F-1-02)."""
    found = {
        f.name: (f, calls(f, "invoke")) for path in SOURCES for f in functions(path) if calls(f, "invoke")
    }
    assert list(found) == [*WRAPPERS, DRIVER]
    for wrapper, made in (found[name] for name in WRAPPERS):
        assert len(made) == 1
        loops = (ast.For, ast.While, ast.comprehension)
        assert not [node for node in ast.walk(wrapper) if isinstance(node, loops) and calls(node, "invoke")]
        before = [statement for statement in wrapper.body if statement.lineno < made[0].lineno]
        assert not [call for statement in before for call in calls(statement, "scope")]


def test_no_handler_takes_a_halt_or_an_interrupt_for_an_error():
    """What is caught in the graphs are errors of ours, each by its class; one that takes too much would be noticed
    (D-S5-04)."""
    for path in SOURCES:
        assert swallowed(path) == []
        assert "suppress(" not in path.read_text("utf-8"), path
    for broad in ("", " Exception", " (ValueError, BaseException)", " GraphBubbleUp"):
        tried: Any = ast.parse(f"try:\n    sub()\nexcept{broad}:\n    pass\n").body[0]
        assert catches(tried.handlers[0], {"GraphBubbleUp": GraphBubbleUp}), broad
