"""docs/agent-wire.md is drawn from the contracts (D33)."""

from testkit.documents import generator_of

generator = generator_of("make_wire_page")


def test_the_page_is_drawn_from_the_contracts_as_they_are():
    """Its tables are what `.venv/bin/python docs/make_wire_page.py` writes (D-33-01, W-1-05)."""
    written = generator.PAGE.read_text(encoding="utf-8")

    assert generator.page(written) == written, "run `.venv/bin/python docs/make_wire_page.py`"
