"""Writes build/site-source, from which mkdocs builds the site: the pages of docs/, those at the root, generated ones.

Run by `make docs`. The README becomes the front page. Links between the root and docs/ are rewritten, since on the site
all pages are in one place; links to other files of the repository become plain text.
"""

import re
import runpy
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "build" / "site-source"

PAGES_AT_THE_ROOT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
REFERENCE = {"api.md": "specwright", "wire-api.md": "agent_wire"}
"""Pages that end in the reference of a package, made from its docstrings."""

_LINK = re.compile(r"\[([^\]]*)\]\((?!https?://|#)([^)#]*)(#[^)]*)?\)")


def main() -> None:
    """Write all pages."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    for path in sorted((ROOT / "docs").rglob("*.md")):
        _write(path, path.relative_to(ROOT / "docs"))
    shutil.copytree(ROOT / "docs" / "images", SOURCE / "images")
    for name in PAGES_AT_THE_ROOT:
        _write(ROOT / name, Path(_on_the_site(name)))
    spec_map = runpy.run_path(str(ROOT / "docs" / "make_spec_map.py"))["spec_map"]
    (SOURCE / "spec-map.md").write_text(spec_map(ROOT), encoding="utf-8")
    for name, package in REFERENCE.items():
        page = SOURCE / name
        text = page.read_text(encoding="utf-8") if page.exists() else f"# `{package}`\n"
        page.write_text(f"{text}\n## Reference\n\n::: {package}\n", encoding="utf-8")


def _on_the_site(name: str) -> str:
    return "index.md" if name == "README.md" else name


def _write(path: Path, place: Path) -> None:
    """One page, with its links as they are on the site."""

    def link(match: re.Match[str]) -> str:
        text, target, anchor = match[1], (path.parent / match[2]).resolve(), match[3] or ""
        depth = "../" * (len(place.parts) - 1)
        if target.is_relative_to(ROOT / "docs") and target.suffix == ".md":
            return f"[{text}]({depth}{target.relative_to(ROOT / 'docs').as_posix()}{anchor})"
        if target.is_relative_to(ROOT / "docs" / "images"):
            return f"[{text}]({depth}images/{target.name})"
        if target.parent == ROOT and target.name in PAGES_AT_THE_ROOT:
            return f"[{text}]({depth}{_on_the_site(target.name)}{anchor})"
        return text

    page = SOURCE / place
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(_LINK.sub(link, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
