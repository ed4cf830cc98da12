"""A product that asks hosts, with a command and an HTTP API: what a weather service says of a place."""

import textwrap

from ship_gate.contract.contract import Effect, EffectType, ErrorSurface, SurfaceKind
from specwright.domain.interfaces.document import ProductHead, functions_of, interface_document
from specwright.domain.interfaces.guide import interface_guide
from specwright.domain.interfaces.records import Interfaces
from specwright.ports.packaging import ApprovedSession, ProductModule, ProductPackage
from testkit.interfaces.notebook import EXAMPLE, contract

__all__ = ["CONSOLE", "HTTP", "weather"]

_WEATHER = '''
from __future__ import annotations

import time
from datetime import datetime
from http.client import HTTPException
from urllib.request import urlopen

__all__ = ["weather"]


def weather(place: str, now: datetime) -> str:
    """Say what the weather is."""
    for pause in (30, 60):
        try:
            with urlopen(f"https://weather.example/{place}", timeout=5) as answer:
                return f"{answer.read().decode()} at {now:%H:%M}"
        except TimeoutError:
            time.sleep(pause)
        except HTTPException as error:
            raise OSError(f"no answer: {error!r}") from error
    raise TimeoutError("the service is slow")
'''

CONSOLE = textwrap.dedent(
    """\
    $ hosts
    https://weather.example/rome 200
      | sunny
    https://weather.example/rome 200
      | rain
    https://weather.example/oslo 200 after 9 s
    https://weather.example/cork malformed
    https://weather.example/pisa 404
    $ clock 2026-03-09T12:00:00Z
    $ weather rome
    sunny at 12:00
    [asks] GET https://weather.example/rome
    $ weather oslo
    [stderr] weather: the service is slow
    [asks] GET https://weather.example/oslo
    [asks] GET https://weather.example/oslo
    [exit 4]
    $ weather rome
    rain at 12:01
    $ weather pisa
    [stderr] weather: HTTP Error 404
    [exit 3]
    $ weather cork
    [stderr] weather: no answer: BadStatusLine(
    [exit 3]
    $ hosts
    https://other.example/ 200
    $ weather rome
    [stderr] weather: <urlopen error [Errno -2] Name or service not known>
    [asks nothing]
    [exit 3]
    """
)

HTTP = textwrap.dedent(
    """\
    HOSTS
    https://weather.example/rome 200
      | sunny
    https://weather.example/oslo 503

    GET /weather?place=rome

    200

    GET /weather?place=oslo

    422
    {"error": "OSError", "message": "HTTP Error 503"}

    GET /weather?place=bonn

    422
    {"error": "OSError", "message": "HTTP Error 404"}
    """
)

_INTERFACES = Interfaces.model_validate(
    {
        "command": {
            "name": "weather",
            "calls": "weather",
            "parameters": [{"parameter": "now", "default": "now"}],
            "errors": {"TimeoutError": 4, "*": 3},
        },
        "http": {
            "name": "weather-http",
            "routes": [{"calls": "weather", "method": "GET", "defaults": {"now": "now"}}],
        },
    }
)


def weather(*consoles: str, http: str = HTTP, command_only: bool = False) -> ProductPackage:
    """The product.

    Args:
        consoles: The sessions of its command that were approved of TSK-001; that above if there are none.
        http: The session of its API, as well.
        command_only: Without an API.
    """
    made = contract(
        "weather",
        "Say what the weather is.",
        [("place", "str"), ("now", "datetime")],
        ("said", "str"),
        ("OSError", "the service does not say it"),
    )
    asks = Effect(
        type=EffectType.CALL, target="https://weather.example", description="asks it, waits at most 5 seconds"
    )
    slow = ErrorSurface(name="TimeoutError", when="the service is slow", surface=SurfaceKind.EXCEPTION)
    made = made.model_copy(update={"effects": [asks], "error_surfaces": [slow, *made.error_surfaces]})
    interfaces = _INTERFACES.model_copy(update={"http": None}) if command_only else _INTERFACES
    sessions = [
        ApprovedSession("TSK-001", f"criterion {place}, Called", one)
        for place, one in enumerate(consoles or (CONSOLE,), 1)
    ]
    if not command_only:
        sessions.append(ApprovedSession("TSK-001", "criterion 1, Asked", "", http))
    head = ProductHead("weather", "weather", "1.0.0", "The weather.")
    return ProductPackage(
        "weather",
        "weather",
        "1.0.0",
        "The weather.",
        (ProductModule(made, {"__init__.py": _WEATHER.encode()}, EXAMPLE),),
        ("weather",),
        interface=interface_document(interfaces, [made], head),
        guide=interface_guide(interfaces, functions_of(interfaces, [made]), "weather"),
        sessions=tuple(sessions),
    )
