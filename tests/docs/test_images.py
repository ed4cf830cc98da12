"""The pictures of docs/studio.md are those that `docs/make_images.py` takes."""

import re
import struct
from typing import Any

import pytest

from testkit.documents import generator_of
from testkit.paths import ROOT

generator = generator_of("make_images")
REFRESH = "run `.venv/bin/python docs/make_images.py`"
_HEADER = struct.Struct(">8s4x4sII")


def test_each_picture_is_made_and_shown():
    """None is left of a page that is gone, and none is missing (D-S9-05)."""
    shown = re.findall(r"\(images/([\w-]+)\.png", (ROOT / "docs/studio.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(generator.PICTURES)
    assert {path.name for path in generator.IMAGES.iterdir()} == {f"{name}.png" for name in shown}, REFRESH


@pytest.mark.parametrize("name", generator.PICTURES)
def test_a_picture_has_its_size_and_says_nothing_of_where_it_was_made(name: Any):
    """Pixels alone: no comment, no time, no name of a program (D-S9-05)."""
    data = (generator.IMAGES / f"{name}.png").read_bytes()
    _, kind, *size = _HEADER.unpack(data[: _HEADER.size])
    assert (kind, size) == (b"IHDR", [generator.WIDTH, generator.PICTURES[name].height]), REFRESH
    assert {*_chunks(data)} <= {b"IHDR", b"sRGB", b"sBIT", b"IDAT", b"IEND"}, REFRESH


def _chunks(data: Any):
    place = 8
    while place < len(data):
        (size,) = struct.unpack(">I", data[place : place + 4])
        yield data[place + 4 : place + 8]
        place += size + 12
