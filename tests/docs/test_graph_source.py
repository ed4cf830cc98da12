"""How the graphs are put together, read from their source: one checkpointer, one call, nothing swallowed (DESIGN §5)."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphBubbleUp, GraphInterrupt, ParentCommand

import specwright.graphs
from specwright.graphs.loop_graphs import debate_graph, engineering_graph
from specwright.graphs.outer_graph import outer_graph
from specwright.graphs.project_graph import project_graph

SOURCES = sorted(Path(specwright.graphs.__file__).parent.glob("[a-z]*.py"))
ROOT, DRIVER = "outer_graph", "driver"
SIGNALS = (GraphBubbleUp, GraphInterrupt, ParentCommand)
WRAPPERS = {
    ROOT: ["outer_graph", "project_loop"],
    "project_graph": ["engineering"],
    "loop_graphs": ["held"],
    "exception_graph": ["_resolve"],
}
"""The node that wraps a subgraph, in each graph that has one below it."""


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
    for path in SOURCES:
        for call in calls(ast.parse(path.read_text("utf-8")), "compile"):
            given = {keyword.arg for keyword in call.keywords}
            assert given == ({"name", "checkpointer"} if path.stem == ROOT else {"name"})


def test_the_root_is_driven_with_every_checkpoint_on_the_disk_before_the_next_step():
    """The one place that runs the root says `durability="sync"` (D-S5-01)."""
    (driver,) = (path for path in SOURCES if path.stem == DRIVER)
    (invoked,) = calls(ast.parse(driver.read_text("utf-8")), "invoke")
    assert {k.arg: ast.literal_eval(k.value) for k in invoked.keywords} == {"durability": "sync"}


@pytest.mark.parametrize("path", [p for p in SOURCES if p.stem != DRIVER], ids=lambda path: path.stem)
def test_a_wrapper_node_invokes_its_subgraph_exactly_once(path: Path):
    """One call in one node, in no loop and no comprehension, and nothing is drawn or written before it (D-S5-01,
    F-1-02)."""
    found = {f.name: calls(f, "invoke") for f in functions(path) if calls(f, "invoke")}
    assert list(found) == WRAPPERS.get(path.stem, [])
    for name, made in found.items():
        assert len(made) == 1
        (wrapper,) = (f for f in functions(path) if f.name == name)
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
