"""The signature of a function as a contract can state it, and what in it no contract can say (design: adoption)."""

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from specwright.domain.adoption.report import Gap, Obstacle, Origin
from specwright.domain.contract.boundary.annotations import normal_default
from specwright.domain.contract.boundary.lazy_types import is_iterable
from specwright.domain.contract.boundary.types import literal_problem
from specwright.domain.contract.rules import ANY_NUMBER, KEYWORD_ONLY
from specwright.gate.adopt.docstrings import DocstringText
from specwright.gate.adopt.source_tree import PublicFunction, SourceTree, Target
from specwright.gate.adopt.types import ReadType, TypeReader, full_name

UNKNOWN = "Any"
"""The type of a draft's slot that nobody states; the gate refuses it, and says what to write."""

RESULT = "return"
"""What a function returns, among the names of its parameters; it is no name of one."""

WIDEST_BOUND = 1000
"""The most items that a draft states of an iterable or iterator; so many there may be before runs show fewer."""

NO_BOUND = 0
"""What stands for the bound of a slot that has none."""

_GENERIC = 'it declares type parameters, which Python 3.11 does not know; write `T = TypeVar("T")`'
_TRANSPARENT = {"functools.lru_cache", "functools.cache"}
_ENDLESS = ("Iterator", "Generator", "AsyncIterator", "AsyncGenerator", "Iterable", "AsyncIterable")


class Parameter(NamedTuple):
    """A parameter of a draft.

    Args:
        name: Its own.
        type: Of the boundary, or `UNKNOWN`.
        default: Its constant; None if it has to be given.
        origin: Whose word the type is.
        passing: How it is passed, as a contract says it; empty if plainly.
    """

    name: str
    type: str
    default: str | None
    origin: Origin
    passing: str = ""


class Signature(NamedTuple):
    """What a draft says of how a function is called.

    Args:
        parameters: In their order.
        returns: The type of what comes back; `None` if nothing does.
        returns_origin: Whose word that is.
        classes: The classes of the tree that its types name.
        gaps: What nobody states.
        obstacles: What no contract can say.
        remarks: What is stated otherwise than it is written.
        bounds: Of the items of iterables and iterators, by parameter, and by `RESULT`; `NO_BOUND` of one that is stated as
            something else for lack of a bound.
    """

    parameters: tuple[Parameter, ...]
    returns: str
    returns_origin: Origin
    classes: tuple[Target, ...]
    gaps: tuple[Gap, ...]
    obstacles: tuple[Obstacle, ...]
    remarks: tuple[str, ...]
    bounds: Mapping[str, int]


class _Reader:
    def __init__(
        self,
        tree: SourceTree,
        function: PublicFunction,
        docstring: DocstringText,
        inferred: Mapping[str, str],
        bounds: Mapping[str, int],
    ) -> None:
        self._tree = tree
        self._function = function
        self._docstring = docstring
        self._inferred = inferred
        self._types = TypeReader(tree, function.module)
        self._seen_bounds = bounds
        self.bounds: dict[str, int] = {}
        self.gaps: list[Gap] = []
        self.obstacles: list[Obstacle] = []
        self.remarks: list[str] = []
        self.classes: dict[str, Target] = {}

    def _at(self, node: ast.AST) -> str:
        return f"{self._function.module.label}:{getattr(node, 'lineno', self._function.node.lineno)}"

    def forms(self) -> None:
        """What the form of the definition says that no contract can."""
        node = self._function.node
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = full_name(self._function.module, ast.unparse(called))
            if name in _TRANSPARENT:
                self.remarks.append(f"`@{ast.unparse(decorator)}` is left out; results are not kept")
            else:
                what = (
                    f"it is decorated, `@{ast.unparse(decorator)}`; what callers meet is not what is written"
                )
                self.obstacles.append(Obstacle(what, self._at(decorator)))
        if argument := node.args.kwarg:
            what = f"`**{argument.arg}` takes any number of arguments of any name; take a dict"
            self.obstacles.append(Obstacle(what, self._at(argument)))
        if getattr(node, "type_params", []):
            self.obstacles.append(Obstacle(_GENERIC, self._at(node)))

    def parameters(self) -> Iterator[Parameter]:
        arguments = self._function.node.args
        places = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(places) - len(arguments.defaults))
        defaults += arguments.defaults
        for argument, default in zip(places, defaults, strict=True):
            yield self._parameter(argument, default)
        if arguments.vararg:
            yield self._parameter(arguments.vararg, None, ANY_NUMBER)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            yield self._parameter(argument, default, KEYWORD_ONLY)

    def _parameter(self, argument: ast.arg, default: ast.expr | None, passing: str = "") -> Parameter:
        said = self._docstring.parameters.get(argument.arg)
        origin, found = Origin.SIGNATURE, ReadType("")
        if argument.annotation is not None:
            found = self._taken(argument.arg, argument.annotation, passing)
        elif said and said.type:
            origin, found = Origin.DOCSTRING, self._types.from_words(said.type)
        self._took(found)
        literal = None if default is None else self._literal(default)
        text = found.text
        if argument.arg in self._inferred:
            origin, text, found = Origin.EXAMPLE, self._inferred[argument.arg], ReadType("")
            self.remarks.append(
                f"the type of `{argument.arg}` is that of its examples, `{text}`; nobody states it"
            )
        if text and literal == "None" and "None" not in text:
            text = f"{text} | None"
        if found.foreign:
            self.obstacles.append(
                Obstacle(f"the type of `{argument.arg}`: {found.problem}", self._at(argument))
            )
        elif not text:
            why = f": {found.problem}" if found.problem else ""
            write = f"a type for `{argument.arg}` in the signature"
            gap = Gap(f"the type of `{argument.arg}`{why}", self._at(argument), write)
            self.gaps.append(gap._replace(in_module="in contract.json at its input"))
        return Parameter(argument.arg, text or UNKNOWN, literal, origin, passing)

    def _taken(self, name: str, annotation: ast.expr, passing: str) -> ReadType:
        """The type of a parameter; an iterable that has no bound is what it can be read as."""
        is_plain = passing != ANY_NUMBER
        is_bounded = is_plain and self._seen_bounds.get(name, WIDEST_BOUND) != NO_BOUND
        found = self._types.annotation(annotation, taken=True, whole=is_plain, bounded=is_bounded)
        if is_iterable(found.text):
            self.bounds[name] = self._seen_bounds.get(name, WIDEST_BOUND)
        elif self._seen_bounds.get(name) == NO_BOUND:
            self.bounds[name] = NO_BOUND
        return found

    def _took(self, found: ReadType) -> None:
        self.classes.update({target.name: target for target in found.classes})
        if found.remark:
            self.remarks.append(found.remark)

    def _literal(self, node: ast.expr) -> str:
        text = normal_default(self._constant(node), lambda dotted: full_name(self._function.module, dotted))
        if problem := literal_problem(text):
            what = f"a default that is made when the function is defined: {problem}"
            self.obstacles.append(Obstacle(what, self._at(node)))
        return text

    def _constant(self, node: ast.expr) -> ast.expr:
        """The literal that a name of the tree stands for."""
        if isinstance(node, ast.Name) and (target := self._tree.resolve(self._function.module, node.id)):
            statements = target.module.bindings.get(target.name, [])
            value = getattr(statements[0], "value", None) if len(statements) == 1 else None
            if isinstance(value, ast.expr) and not literal_problem(ast.unparse(value)):
                return value
        return node

    def returns(self) -> tuple[str, Origin]:
        """The type of what comes back."""
        node = self._function.node
        if RESULT in self._inferred:
            text = self._inferred[RESULT]
            self.remarks.append(
                f"the type of what it returns is that of its examples, `{text}`; nobody states it"
            )
            return text, Origin.EXAMPLE
        yields = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own_nodes(node))
        if node.returns is not None:
            is_plain = not (yields and isinstance(node, ast.AsyncFunctionDef))
            found = self._types.annotation(node.returns, taken=False, whole=is_plain)
            if is_iterable(found.text):
                self.bounds[RESULT] = self._seen_bounds.get(RESULT, WIDEST_BOUND)
                return self._returned(found), Origin.SIGNATURE
            written = ast.unparse(node.returns)
            if any(part in written for part in _ENDLESS):
                what = f"it returns `{written}`; values cross by value, so return a list"
                self.obstacles.append(Obstacle(what, self._at(node)))
        if yields:
            what = "it is a generator; name what it yields, `Iterator[...]`, or return a list"
            self.obstacles.append(Obstacle(what, self._at(node)))
        if node.returns is not None:
            return self._returned(self._types.annotation(node.returns, taken=False)), Origin.SIGNATURE
        if not any(isinstance(one, ast.Return) and one.value is not None for one in own_nodes(node)):
            return "None", Origin.SOURCE
        said = next((one.type for one in self._docstring.returns if one.type), "")
        found = self._types.from_words(said) if said else ReadType("")
        return self._returned(found), Origin.DOCSTRING

    def _returned(self, found: ReadType) -> str:
        self._took(found)
        if found.text:
            return found.text
        if found.foreign:
            what = f"the type of what it returns: {found.problem}"
            self.obstacles.append(Obstacle(what, self._at(self._function.node)))
            return UNKNOWN
        why = f": {found.problem}" if found.problem else ""
        gap = Gap(
            f"the type of what it returns{why}",
            self._at(self._function.node),
            "the type after `->` in the signature",
        )
        self.gaps.append(gap._replace(in_module="in contract.json at its output"))
        return UNKNOWN


def read_signature(
    tree: SourceTree,
    function: PublicFunction,
    docstring: DocstringText,
    inferred: Mapping[str, str] = MappingProxyType({}),
    bounds: Mapping[str, int] = MappingProxyType({}),
) -> Signature:
    """Read a signature.

    Args:
        tree: Of the function's module.
        function: Whose it is.
        docstring: What it adds to the signature.
        inferred: Types that examples show of parameters, and of `RESULT`; they count before any other.
        bounds: Those of the items of iterables and iterators that runs show, by parameter, and by `RESULT`; a slot that is
            not among them gets `WIDEST_BOUND`.
    """
    reader = _Reader(tree, function, docstring, inferred, bounds)
    reader.forms()
    parameters = tuple(reader.parameters())
    returns, origin = reader.returns()
    classes = tuple(reader.classes.values())
    return Signature(
        *(parameters, returns, origin, classes),
        *((*reader.gaps,), (*reader.obstacles,), (*reader.remarks,), reader.bounds),
    )


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's body without the functions and classes within it."""
    waiting = list(ast.iter_child_nodes(node))
    while waiting:
        one = waiting.pop(0)
        yield one
        if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(one)
