"""A module that asks hosts by httpx: contract and files."""

import json

__all__ = ["CONTRACT", "FILES"]

CONTRACT = {
    "module_id": "MM-0000000f",
    "name": "page_of",
    "purpose": "Ask for a page.",
    "inputs": [{"name": "address", "type": "str", "constraints": []}],
    "outputs": [{"name": "text", "type": "str", "invariants": ["the body of the answer"]}],
    "error_surfaces": [
        {
            "name": "Unreachable",
            "when": "no host answers, or its answer cannot be used",
            "surface": "exception",
        },
        {"name": "ValueError", "when": "address is no address of a host", "surface": "exception"},
    ],
    "effects": [
        {
            "type": "CALL",
            "target": "https://*, http://*",
            "description": "asks it, waits at most 5 seconds, follows at most 3 redirects",
        }
    ],
    "modes": {"sync": True, "async": False},
}

_SOURCE = '''"""Ask for a page."""
import httpx

__all__ = ["Unreachable", "page_of"]

_MOST = 100_000


class Unreachable(Exception):
    """No host answers, or its answer cannot be used."""


def page_of(address: str) -> str:
    """Ask for a page.

    Args:
        address

    Returns:
        text:
            - the body of the answer

    Raises:
        Unreachable: no host answers, or its answer cannot be used
        ValueError: address is no address of a host
    """
    try:
        with httpx.Client(timeout=5, follow_redirects=True, max_redirects=3) as client:
            with client.stream("GET", address) as answer:
                answer.raise_for_status()
                body = bytearray()
                for part in answer.iter_bytes():
                    body += part
                    if len(body) > _MOST:
                        raise Unreachable("its answer is too large")
                return body.decode("utf-8", "replace")
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, UnicodeError) as error:
        raise ValueError("address is no address of a host") from error
    except httpx.HTTPError as error:
        raise Unreachable(str(error)) from error
'''

_TESTS = """import pytest
from modules.page_of import Unreachable, page_of
from modules.testing import web

def test_page():
    web.serve("https://a.example/x", body="text")
    assert page_of("https://a.example/x") == "text"
    assert [(one.method, one.url) for one in web.requests] == [("GET", "https://a.example/x")]

def test_redirects():
    web.serve("https://a.example/x", status=301, headers={"Location": "/y"})
    web.serve("https://a.example/y", body="there")
    assert page_of("https://a.example/x") == "there"

@pytest.mark.parametrize("how", ["no such host", "refused", "certificate", "timeout", "reset", "cut off", "malformed"])
def test_failures(how):
    web.fail("https://a.example/", how)
    with pytest.raises(Unreachable):
        page_of("https://a.example/")

def test_loop():
    web.serve("https://a.example/", status=302, headers={"Location": "/"})
    with pytest.raises(Unreachable, match="redirects"):
        page_of("https://a.example/")

def test_large():
    web.serve("https://a.example/", body="x" * 100_001)
    with pytest.raises(Unreachable, match="too large"):
        page_of("https://a.example/")

def test_limits():
    web.serve("https://a.example/", body="x" * 100_000)
    assert len(page_of("https://a.example/")) == 100_000
    web.serve("https://s.example/", delay=5)
    assert page_of("https://s.example/") == ""
    web.serve("https://t.example/", delay=5.5)
    with pytest.raises(Unreachable):
        page_of("https://t.example/")
    for place in range(3):
        web.serve(f"https://r.example/{place}", status=302, headers={"Location": f"/{place + 1}"})
    web.serve("https://r.example/3", body="last")
    assert page_of("https://r.example/0") == "last"
    with pytest.raises(Unreachable):
        web.serve("https://r.example/-1", status=302, headers={"Location": "/0"})
        page_of("https://r.example/-1")

def test_status():
    web.serve("https://a.example/", status=500)
    with pytest.raises(Unreachable):
        page_of("https://a.example/")

def test_none():
    with pytest.raises(ValueError, match="no address"):
        page_of("nowhere")
"""

_EXAMPLES = """## A page

Its body.

```python
from modules.page_of import page_of
from modules.testing import web
web.serve("https://a.example/", body="text")
page_of("https://a.example/")
```

```text
'text'
```

## Nobody

No host.

```python
from modules.page_of import page_of
page_of("https://b.example/")
```

```text
Unreachable: [Errno -2] Name or service not known
```

## Wrong

No address.

```python
from modules.page_of import page_of
page_of("b")
```

```text
ValueError: address is no address of a host
```
"""

_CLAIMS = {
    "test_page": ["", "/effects/0"],
    "test_redirects": ["/outputs/0/invariants/0"],
    "test_failures": ["/error_surfaces/0"],
    "test_none": ["/error_surfaces/1"],
}

FILES = {
    "implementation/__init__.py": _SOURCE,
    "tests/test_page_of.py": _TESTS,
    "tests/obligations.json": json.dumps(_CLAIMS),
    "examples.md": _EXAMPLES,
}
