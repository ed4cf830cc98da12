"""The functions of a product as its servers call them: one after the other unless they have no effects."""

import functools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import anyio
import anyio.to_thread
from pydantic import BaseModel, Field

from .calls import Function, ServerOptions, log_fault
from .models import Models
from .results import json_text, json_value

__all__ = ["Outcome", "Served", "served"]

_AT_A_TIME = 8


class Outcome(NamedTuple):
    """What became of a call.

    Args:
        text: The result as JSON, or the message of an error. That of an error that no contract declares has the id under
            which stderr has the traceback.
        outputs: As JSON has them, by name; None if it failed.
        error: The name of the declared error; empty if there is none.
    """

    text: str
    outputs: dict[str, Any] | None
    error: str = ""


class Served:
    """A route or a tool.

    Args:
        use: What the document says of it.
        stated: What it says of the function.
        options: Parameters that no request gives.
        limiters: Of the calls at one time, of functions with effects and of those without.
    """

    def __init__(
        self,
        use: Mapping[str, Any],
        stated: Mapping[str, Any],
        options: ServerOptions,
        limiters: Sequence[anyio.CapacityLimiter],
    ) -> None:
        self.use = use
        self.function = Function(use["calls"], stated)
        self._models = Models(self.function.types, stated["classes"])
        self.errors: Mapping[str, str] = stated["errors"]
        self._outputs: Mapping[str, str] = stated["outputs"]
        self._options, self._limiter = options, limiters[self.function.is_pure]

    def arguments(self, place: str) -> type[BaseModel]:
        """The model of the parameters that come from a place of a request."""
        fields = [
            (one["name"], one["type"], one["needed"], one["about"])
            for one in self.use["parameters"]
            if one["place"] == place
        ]
        return self._models.object_of(f"{self.function.name}_{place}", fields)

    def outputs(self) -> type[BaseModel]:
        """The model of what it returns, as an object of its outputs."""
        fields = [(name, kind, True, "") for name, kind in self._outputs.items()]
        return self._models.object_of(f"{self.function.name}_outputs", fields)

    def result(self) -> Any:
        """The type of what it returns as `results` prints it: of one output its value."""
        if len(self._outputs) > 1:
            return self.outputs()
        (field,) = self.outputs().model_fields.values() or (None,)
        return Annotated[field.annotation, *field.metadata, Field()] if field else None

    async def call(self, values: Mapping[str, Any]) -> Outcome:
        """Call the function in a thread; a client that leaves does not wait for it.

        Args:
            values: Those that the request has, by parameter.
        """
        found: dict[str, Any] = {}
        for one in self.use["parameters"]:
            name, kind = one["name"], one["type"]
            if one["place"] == "server":
                found[name] = self._options.value(self.function, name, kind)
            elif one["default"]:
                found[name] = self.function.default(kind, one["default"])
        return await anyio.to_thread.run_sync(
            functools.partial(_called, self.function, {**found, **values}),
            limiter=self._limiter,
            abandon_on_cancel=True,
        )


def _called(function: Function, arguments: Mapping[str, Any]) -> Outcome:
    """What became of it; a result that is nested too deeply to be written is a fault of the function."""
    try:
        outputs = function.call(arguments)
        found = {name: json_value(value) for name, value in outputs.items()}
        return Outcome(json_text(outputs) if outputs else "null", found)
    except (Exception, SystemExit) as error:  # what the function raises, declared or not
        if name := function.declared(error):
            return Outcome(str(error), None, name)
        return Outcome(f"a fault of the server; its log has the id {log_fault()}", None)


def served(stated: Mapping[str, Any], kind: str, options: Mapping[str, str] | None) -> list[Served]:
    """What a server calls, in its order.

    Args:
        stated: The interfaces of the product.
        kind: `http` or `mcp`.
        options: Words for the parameters that no request gives, where they are not the defaults.

    Raises:
        ValueProblem: one of these is no value of its type.
    """
    functions = {name: Function(name, one) for name, one in stated["functions"].items()}
    of_server = ServerOptions(stated[kind]["options"], functions, options)
    # functions without effects may run beside each other; nothing shows that of others
    limiters = (anyio.CapacityLimiter(1), anyio.CapacityLimiter(_AT_A_TIME))
    return [
        Served(one, stated["functions"][one["calls"]], of_server, limiters) for one in stated[kind]["uses"]
    ]
