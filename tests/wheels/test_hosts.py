"""A wheel that asks hosts, on trial: its examples script these, and nothing of that is in the wheel."""

import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest

from ship_gate.contract.contract import Effect, EffectType, ErrorSurface, SurfaceKind
from ship_gate.contract.examples import Example
from ship_gate.contract.independent_tests import Property
from specwright.ports import ApprovedExample, ApprovedProperty, ProductModule, ProductPackage
from specwright.wheels.wheel import build_wheel
from testkit.wheels.packaged import exercised

PAGE = '''
"""Ask for a page."""
import time
from urllib.request import urlopen

__all__ = ["page_of"]


def page_of(text: str) -> str:
    """Ask for a page, an hour later."""
    time.sleep(3600)
    with urlopen(text, timeout=5) as answer:
        return answer.read().decode("ascii")
'''
EXAMPLES = """
## A page

It is what the host answers.

```python
from modules.page_of import page_of
from modules.testing import web
web.serve("https://a.example/", body="text", delay=4)
page_of("https://a.example/"), [(one.method, one.url, one.at) for one in web.requests]
```

```text
('text', [('GET', 'https://a.example/', 3600.0)])
```

## Nobody

There is no other host.

```python
from modules.page_of import page_of
page_of("https://b.example/")
```

```text
OSError: <urlopen error [Errno -2] Name or service not known>
```
"""
APPROVED = """from pages import page_of
from modules.testing import web
web.serve("https://a.example/x", status={status})
page_of("https://a.example/x")"""


@pytest.fixture
def asking(product: ProductPackage, make_module: Callable[..., ProductModule]) -> ProductPackage:
    """A product of one module that asks hosts."""
    made = make_module("page_of", PAGE, EXAMPLES)
    contract = made.contract.model_copy(
        update={
            "effects": [
                Effect(
                    type=EffectType.CALL, target="https://*", description="asks it, waits at most 5 seconds"
                )
            ],
            "error_surfaces": [
                ErrorSurface(name="OSError", when="no answer comes", surface=SurfaceKind.EXCEPTION)
            ],
        }
    )
    return product._replace(
        distribution="pages",
        import_name="pages",
        modules=(made._replace(contract=contract),),
        task_facing=("page_of",),
    )


def test_examples_of_an_installed_package_script_its_hosts(asking: ProductPackage):
    """D-44-06, D-28-02: at the release too, without waiting; an approved example imports the script beside the package."""
    approved = Example(
        "criterion 1, Gone", "Gone", APPROVED.format(status=404), "HTTPError: HTTP Error 404: Not Found", 1
    )
    report = exercised(asking._replace(approved=(ApprovedExample("TSK-001", approved),)))
    assert report.detail.endswith("exported names: 1, examples run: 3, 1 of them approved.")
    assert report.result == "PASS"


@pytest.mark.slow
def test_a_property_of_an_installed_package_meets_no_network(asking: ProductPackage):
    """D-44-02, D-41-01: what nobody scripted cannot be reached."""
    code = 'from pages import page_of\npage_of(f"https://{name}.example/") == ""'
    one = Property("criterion 1, Nobody", code, {"name": "int"}, ("URLError",))
    report = exercised(asking._replace(properties=(ApprovedProperty("TSK-001", one),)))
    assert report.result == "PASS", report.detail


def test_nothing_of_the_script_is_in_the_wheel(asking: ProductPackage):
    """D-44-02: at use nothing is wrapped."""
    with zipfile.ZipFile(BytesIO(build_wheel(asking).content)) as wheel:
        names = wheel.namelist()
    assert any(name.endswith("page_of/__init__.py") for name in names)
    assert not [name for name in names if "testing" in name or "web" in name]
