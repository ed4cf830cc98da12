"""Counts what there is to read in each package, and refuses growth.

    python tools/size.py            prints the figures, compares them with tools/size.json, exits 1 if a package is larger
    python tools/size.py --record   writes the figures to tools/size.json; larger ones need a decision record

Code is lines without blanks, comments and docstrings. Left out: what is not Python, and what git does not track.
"""

import ast
import io
import json
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "tools" / "size.json"

_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """The lines of a source that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                lines.difference_update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(lines)


def place(path: str) -> str:
    """What a file is counted with: `docs`, `tests`, `packages/wire`, `packages/wire/tests`."""
    parts = path.split("/")
    if parts[0] != "packages":
        return parts[0]
    return "/".join(parts[:3]) if parts[2] == "tests" else "/".join(parts[:2])


def figures(root: Path) -> dict[str, dict[str, int]]:
    """Files, lines and lines of code for each place."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=root, capture_output=True, text=True, check=True)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path in listed.stdout.splitlines():
        if not (root / path).is_file():
            continue
        text = (root / path).read_text(encoding="utf-8")
        try:
            code = code_lines(text)
        except (SyntaxError, tokenize.TokenError):
            continue  # a test's broken module
        counts[place(path)].update(files=1, lines=text.count("\n"), code=code)
    return {name: dict(count) for name, count in sorted(counts.items())}


def grown(found: dict[str, dict[str, int]], recorded: dict[str, int]) -> list[str]:
    """The packages with more code than was recorded, a line each."""
    return [
        f"{name} has {found[name]['code']:,} lines of code, {found[name]['code'] - most:,} more than at the last merge"
        for name, most in recorded.items()
        if name in found and found[name]["code"] > most
    ]


def main(arguments: list[str]) -> int:
    """Print, and compare or record."""
    found = figures(ROOT)
    for name, row in found.items():
        print(f"{name:22}{row['files']:>5} files {row['lines']:>8,} lines {row['code']:>8,} code")
    sources = {n: row["code"] for n, row in found.items() if n.count("/") == 1}
    print(f"{'all packages':22}{'':>27}{sum(sources.values()):>8,} code")
    if "--record" in arguments:
        RECORD.write_text(json.dumps(sources, indent=2) + "\n", encoding="utf-8")
        return 0
    larger = grown(found, json.loads(RECORD.read_text(encoding="utf-8")))
    for line in larger:
        print(f"{line}: remove as much, or record the figure with a decision record that says what it buys")
    return 1 if larger else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
