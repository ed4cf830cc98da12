"""A badge for a page: how many modules pass, as an SVG that needs no server."""

from collections.abc import Sequence

from ship_gate.batch import JudgedModule

BEGINS = '<svg xmlns="http://www.w3.org/2000/svg" width="'
"""How every badge begins."""

_LETTER, _MARGIN = 7, 10
_GREEN, _RED = "#2e7d32", "#b71c1c"


def badge(modules: Sequence[JudgedModule]) -> str:
    """An SVG with `gate` and `12 of 12 pass`."""
    good = sum(module.passed for module in modules)
    said = f"{good} of {len(modules)} pass"
    colour = _GREEN if good == len(modules) else _RED
    left, right = _width("gate"), _width(said)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="gate: {said}"><title>gate: {said}</title>'
        f'<rect width="{left}" height="20" fill="#424242"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2:g}" y="14">gate</text><text x="{left + right / 2:g}" y="14">{said}</text></g></svg>\n'
    )


def _width(text: str) -> int:
    return _LETTER * len(text) + _MARGIN
