"""A badge for a page: how many modules pass, as an SVG that needs no server."""

from collections.abc import Sequence

from specwright.bootstrap.gate.batch import BatchResult, JudgedModule

BEGINS = '<svg xmlns="http://www.w3.org/2000/svg" width="'
"""How every badge begins."""

_LETTER, _MARGIN = 7, 10
_GREEN, _AMBER, _RED = "#2e7d32", "#b26a00", "#b71c1c"


def badge(modules: Sequence[JudgedModule]) -> str:
    """An SVG with `gate` and `12 of 12 pass`; of a source tree also how many were not judged."""
    good = sum(module.passed for module in modules)
    accepted = sum(module.result is BatchResult.ACCEPTED for module in modules)
    unsaid = accepted + sum(module.result is BatchResult.OPEN for module in modules)
    said = f"{good} of {len(modules)} pass" + (f", {unsaid} not judged" if unsaid else "")
    is_whole = good + accepted == len(modules) and (good > 0 or not modules)
    colour = _GREEN if is_whole else _RED if any(module.failed for module in modules) else _AMBER
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
