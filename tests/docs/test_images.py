"""The pictures of docs/studio.md are those that `docs/make_images.py` takes."""

import re
import struct

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
def test_a_picture_has_its_size_and_says_nothing_of_where_it_was_made(name):
    """Pixels alone: no comment, no time, no name of a program (D-S9-05)."""
    data = (generator.IMAGES / f"{name}.png").read_bytes()
    _, kind, *size = _HEADER.unpack(data[: _HEADER.size])
    assert (kind, size) == (b"IHDR", [generator.WIDTH, generator.PICTURES[name].height]), REFRESH
    assert {*_chunks(data)} <= {b"IHDR", b"sRGB", b"sBIT", b"IDAT", b"IEND"}, REFRESH


def test_no_time_is_on_a_picture():
    """Times are taken off the page last (D-S9-05)."""
    asked = []

    class Shown:
        """A page that notes what is done with it."""

        def goto(self, address):
            asked.append(address)

        def evaluate(self, script):
            asked.append(script)

        def screenshot(self):
            return b"PNG"

    class Opened:
        """A browser."""

        def new_page(self, **options):
            return Shown()

    image = generator.PICTURES["studio-run"]
    assert generator.picture(Opened(), "http://127.0.0.1:1", image) == b"PNG"
    assert asked[0] == "http://127.0.0.1:1/p/tabkeeper/run"
    assert "'time'" in asked[-1]


def _chunks(data):
    place = 8
    while place < len(data):
        (size,) = struct.unpack(">I", data[place : place + 4])
        yield data[place + 4 : place + 8]
        place += size + 12
