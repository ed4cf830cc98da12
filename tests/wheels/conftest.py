"""Products to package: a small sound one, and a way to spoil it."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from ship_gate.contract.contract import MicroModuleContract
from specwright.ports import ProductModule, ProductPackage
from testkit.interfaces.notebook import EXAMPLE

MakeModule: TypeAlias = Callable[..., ProductModule]

CLEAN = '''
__all__ = ["clean"]

def clean(text: str) -> str:
    """Strip a text."""
    return text.strip()
'''

SLUGIFY = '''
import asyncio

from ..clean import clean

__all__ = ["EmptyTitle", "slugify", "slugify_async"]

class EmptyTitle(ValueError):
    """Nothing is left."""

def slugify(text: str, sep: str = "-") -> str:
    """Turn a title into a slug."""
    words = clean(text).lower().split()
    if not words:
        raise EmptyTitle("text is empty, give it a word")
    return sep.join(words)

async def slugify_async(text: str, sep: str = "-") -> str:
    """The same, awaited."""
    await asyncio.sleep(0)
    return slugify(text, sep)
'''

SAVE = '''
from pathlib import Path

__all__ = ["save"]

def save(path: str, text: str) -> None:
    """Write a text."""
    Path(path).write_text(text)
'''

CLEAN_EXAMPLES = """
## Blanks

They go.

```python
from modules.clean import clean
clean('  a ')
```

```text
'a'
```
"""

SLUGIFY_EXAMPLES = """
## A title

Words are joined.

```python
from modules.slugify import slugify

slugify(' Hello World ')
```

```text
'hello-world'
```

## Awaited

The same, awaited.

```python
import asyncio
from modules.slugify import slugify_async
asyncio.run(slugify_async('A b', sep='_'))
```

```text
'a_b'
```

## Nothing

There must be a word.

```python
from modules.slugify import slugify
slugify('')
```

```text
EmptyTitle: text is empty
```
"""

SAVE_EXAMPLES = """
## A file

It is written where it was asked for, and nothing else is there.

```python
from pathlib import Path
from modules.save import save
print('noise')
save('out.txt', 'x')
sorted(p.name for p in Path().iterdir()), Path('out.txt').read_text()
```

```text
(['out.txt'], 'x')
```
"""


def _contract(name: str) -> MicroModuleContract:
    return MicroModuleContract.model_validate(
        {
            "module_id": f"MM-{sum(name.encode()):08x}",
            "name": name,
            "purpose": f"Does what {name} says.",
            "inputs": [{"name": "text", "type": "str"}],
            "outputs": [],
            "error_surfaces": [],
            "effects": [],
            "modes": {"sync": True, "async": False},
        }
    )


def _module(name: str, source: str, examples: str = EXAMPLE) -> ProductModule:
    return ProductModule(_contract(name), {"__init__.py": source.encode()}, examples)


@pytest.fixture
def make_module() -> MakeModule:
    """`(name, source, examples)` to a module."""
    return _module


@pytest.fixture
def product() -> ProductPackage:
    """Three modules, two of them called by tasks; one is used by another."""
    return ProductPackage(
        distribution="text-tools",
        import_name="text_tools",
        version="1.2.0",
        summary='Small "text" tools.\nFor \\ everyone.',
        modules=(
            _module("clean", CLEAN, CLEAN_EXAMPLES),
            _module("slugify", SLUGIFY, SLUGIFY_EXAMPLES),
            _module("save", SAVE, SAVE_EXAMPLES),
        ),
        task_facing=("slugify", "save"),
    )
