"""Measures `specwright adopt` on functions of well-known packages: the tables in docs/adopting.md.

    uv pip install --target SITE inflection humanize python-slugify ...     (the names in PACKAGES)
    .venv/bin/python docs/measure_adopt.py SITE RESULTS.json

Each function is adopted and its draft judged as it is; those of `WRITTEN` once more with what somebody wrote for them.
Nothing of the packages is kept. RESULTS.json holds what was measured already, so that a run that was cut short goes on.
"""

import importlib.metadata
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specwright import canonical_json
from specwright.bootstrap.gate.adoption import adopt_source
from specwright.bootstrap.verify import judge_directory

PACKAGES = {
    "inflection": "camelize dasherize humanize ordinal ordinalize parameterize pluralize tableize titleize underscore",
    "humanize": "number:ordinal number:intcomma number:intword number:apnumber number:fractional number:scientific"
    " number:metric filesize:naturalsize time:naturaldelta lists:natural_list",
    "slugify": "slugify:slugify slugify:smart_truncate",
    "text_unidecode": "unidecode",
    "isodate": "isodates:parse_date isotime:parse_time isoduration:parse_duration",
    "packaging": "utils:canonicalize_name utils:is_normalized_name utils:canonicalize_version"
    " licenses:canonicalize_license_expression",
    "toolz": "itertoolz:isdistinct itertoolz:frequencies dicttoolz:get_in",
    "more_itertools": "more:ilen recipes:all_equal recipes:nth_combination more:first",
    "wcwidth": "wcswidth align:ljust escape_sequences:strip_sequences",
    "idna": "encode core:ulabel core:check_bidi",
    "stringcase": "camelcase snakecase spinalcase titlecase alphanumcase",
    "textdistance": "utils:find_ngrams",
    "webcolors": "name_to_hex hex_to_name normalize_hex rgb_to_hex",
    "titlecase": "titlecase",
    "base58": "b58encode_int b58decode_int",
    "bech32": "bech32_polymod bech32_encode convertbits",
    "luhn": "checksum verify",
    "stdnum": "luhn:checksum isbn:validate iban:validate ean:calc_check_digit verhoeff:checksum",
    "boltons": "strutils:camel2under strutils:pluralize iterutils:chunked",
    "semver": "max_ver",
    "natsort": "natsorted",
    "roman": "toRoman",
    "validators": "url:url",
}
"""Import names, and functions as `module:function` below them; without a module, of the package itself."""

REFUTED = ("examples.false", "examples.broken", "tests.failed", "surface.", "docstring.", "contract.invalid")
"""The findings that say that something which a draft states is not so."""

_RAISES = """

## {call} is refused

{when}.

```python
from modules.{name} import {name}
{call}
```

```text
{error}:
```
"""

WRITTEN: dict[str, dict[str, Any]] = {
    "packaging.utils:canonicalize_name": {
        "tests": """\
import pytest

from modules.canonicalize_name import InvalidName, canonicalize_name


@pytest.mark.parametrize("name", ["", "-a", "a-", "a b", "é", "_"])
def test_a_name_that_is_none_is_refused_if_asked(name: str) -> None:
    with pytest.raises(InvalidName):
        canonicalize_name(name, validate=True)


@pytest.mark.parametrize(
    ("name", "expected"), [("A__b..c", "a-b-c"), ("7", "7"), ("X", "x"), ("a-_-b", "a-b"), ("a_b.c", "a-b-c")]
)
def test_a_name_has_one_form(name: str, expected: str) -> None:
    assert canonicalize_name(name, validate=True) == expected
    assert canonicalize_name(name) == expected


def test_nothing_is_checked_unless_asked() -> None:
    assert canonicalize_name("_A_") == "-a-"
""",
        "claims": {
            "test_a_name_that_is_none_is_refused_if_asked": ["/error_surfaces/0"],
            "test_a_name_has_one_form": [""],
            "test_nothing_is_checked_unless_asked": ["/inputs/1/constraints/0"],
        },
        "examples": _RAISES.replace("import {name}", "import InvalidName, {name}").format(
            name="canonicalize_name",
            call="canonicalize_name('-a', validate=True)",
            when="It begins with a hyphen",
            error="InvalidName",
        ),
    },
    "bech32:bech32_polymod": {
        "tests": """\
from modules.bech32_polymod import bech32_polymod


def test_the_checksum_of_a_valid_code_is_one() -> None:
    code = "a12uel5l"  # of BIP 173
    letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    expanded = [ord("a") >> 5, 0, ord("a") & 31]
    assert bech32_polymod(expanded + [letters.index(one) for one in code[2:]]) == 1


def test_nothing_has_the_checksum_that_it_begins_with() -> None:
    assert bech32_polymod([]) == 1
    assert bech32_polymod([0, 1]) == 1025
""",
        "claims": {
            "test_the_checksum_of_a_valid_code_is_one": [""],
            "test_nothing_has_the_checksum_that_it_begins_with": [""],
        },
    },
    "stdnum.ean:calc_check_digit": {
        "contract": {
            "error_surfaces": [
                {
                    "name": "ValueError",
                    "when": "number holds something else than digits",
                    "surface": "exception",
                }
            ]
        },
        "tests": """\
import pytest

from modules.calc_check_digit import calc_check_digit


@pytest.mark.parametrize(
    ("number", "digit"), [("400638133393", "1"), ("501234567890", "0"), ("7351353", "7"), ("", "0"), ("1", "7")]
)
def test_it_completes_the_number(number: str, digit: str) -> None:
    assert calc_check_digit(number) == digit


def test_letters_are_refused() -> None:
    with pytest.raises(ValueError):
        calc_check_digit("40x")
""",
        "claims": {"test_it_completes_the_number": [""], "test_letters_are_refused": ["/error_surfaces/0"]},
        "examples": _RAISES.format(
            name="calc_check_digit",
            call="calc_check_digit('4x')",
            when="A letter is no digit",
            error="ValueError",
        ),
    },
    "inflection:camelize": {
        "contract": {
            "error_surfaces": [
                {
                    "name": "IndexError",
                    "when": "string is empty and uppercase_first_letter is False",
                    "surface": "exception",
                }
            ]
        },
        "tests": """\
import pytest

from modules.camelize import camelize


def test_nothing_has_no_first_letter() -> None:
    assert camelize("") == ""
    with pytest.raises(IndexError):
        camelize("", False)


def test_the_first_letter_stays_small_if_asked() -> None:
    assert camelize("Device_type", False) == "deviceType"
    assert camelize("Device_type", True) == "DeviceType"
""",
        "claims": {
            "test_nothing_has_no_first_letter": ["/error_surfaces/0"],
            "test_the_first_letter_stays_small_if_asked": [""],
        },
        "examples": _RAISES.format(
            name="camelize", call="camelize('', False)", when="There is no first letter", error="IndexError"
        ),
    },
    "webcolors:name_to_hex": {
        "tests": """\
import pytest

from modules.name_to_hex import name_to_hex


def test_a_name_that_the_list_lacks_is_refused() -> None:
    with pytest.raises(ValueError):
        name_to_hex("goldenrod", spec="html4")


@pytest.mark.parametrize("spec", ["css4", "", "HTML4"])
def test_a_list_that_is_none_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="is not a supported specification for color name lookups"):
        name_to_hex("white", spec=spec)


@pytest.mark.parametrize("spec", ["html4", "css2", "css21", "css3"])
def test_the_lists_agree_on_the_oldest_names(spec: str) -> None:
    assert name_to_hex("NAVY", spec=spec) == "#000080"
    assert name_to_hex("aqua", spec) == "#00ffff"
    assert name_to_hex("yellow", spec) == "#ffff00"


def test_the_longest_list_has_both_its_ends() -> None:
    assert [name_to_hex("aliceblue"), name_to_hex("yellowgreen")] == ["#f0f8ff", "#9acd32"]


def test_orange_came_later() -> None:
    assert name_to_hex("orange", "css21") == "#ffa500"
    assert name_to_hex("orange") == "#ffa500"
""",
        "claims": {
            "test_a_name_that_the_list_lacks_is_refused": ["/error_surfaces/0"],
            "test_the_lists_agree_on_the_oldest_names": [""],
            "test_the_longest_list_has_both_its_ends": [""],
            "test_orange_came_later": ["/inputs/1/constraints/0"],
        },
    },
}
"""By function what somebody wrote: a `contract` changed in its fields, `tests`, `claims`, `examples`."""


def functions() -> Iterator[str]:
    """The sources, `package.module:function`."""
    for package, names in PACKAGES.items():
        for name in names.split():
            module, _, function = name.rpartition(":")
            yield f"{package}{'.' if module else ''}{module}:{function}"


def measure(source: str, site: str) -> dict[str, Any]:
    """What came of one function."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        (record,) = adopt_source(source, Path(folder) / "out", search=[site], jobs=1).functions
        found: dict[str, Any] = {
            "status": str(record.status),
            "seconds": round(time.monotonic() - began, 1),
            "statements": dict(Counter(str(one.evidence) for one in record.statements if one.pointer)),
            "gaps": [one.what for one in record.gaps],
            "obstacles": [f"{one.what} ({one.where})" for one in record.obstacles],
            "examples": record.examples,
            "tests": record.tests,
        }
        if record.directory:
            directory = Path(record.directory)
            found["before"] = findings(directory)
            if written := WRITTEN.get(source):
                write(directory, written)
                found["after"] = findings(directory)
        return found


def findings(directory: Path) -> list[str]:
    """The findings of the gate, by code; none if it passes."""
    return sorted(f"{one.code}: {one.message[:300]}" for one in judge_directory(directory, fix=True).findings)


def write(directory: Path, written: dict[str, Any]) -> None:
    """Put what somebody wrote into a module directory."""
    contract = json.loads((directory / "contract.json").read_bytes())
    contract |= written.get("contract", {})
    (directory / "contract.json").write_bytes(canonical_json.pretty(contract))
    claims = json.loads((directory / "tests/obligations.json").read_bytes())
    claims |= written.get("claims", {})
    (directory / "tests/obligations.json").write_bytes(canonical_json.pretty(claims))
    if "tests" in written:
        (directory / "tests/test_written.py").write_text(written["tests"], encoding="utf-8")
    with (directory / "examples.md").open("a", encoding="utf-8") as examples:
        examples.write(written.get("examples", ""))


def table(results: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The table by package, and the counts."""
    yield (
        "| package | functions | complete | lack something | cannot be expressed | statements: run, read, claimed "
        "| refuted | pass the gate as drafted |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    whole = Counter[str]()
    for package in PACKAGES:
        own = [one for source, one in results.items() if source.partition(":")[0].split(".")[0] == package]
        counts = Counter(one["status"] for one in own)
        said = Counter[str]()
        for one in own:
            said += Counter(one["statements"])
        refuted = sum(code.startswith(REFUTED) for one in own for code in one.get("before", ()))
        passed = sum(one.get("before") == [] for one in own)
        row = [len(own), *(counts[name] for name in ("COMPLETE", "INCOMPLETE", "INEXPRESSIBLE"))]
        shown = ", ".join(str(said[name]) for name in ("run", "read", "claimed"))
        yield f"| {package} | {' | '.join(map(str, row))} | {shown} | {refuted} | {passed} |"
        whole += Counter(dict(zip(("n", "c", "i", "x"), row, strict=True))) + said
        whole += Counter({"refuted": refuted, "passed": passed})
    cells = [whole[name] for name in ("n", "c", "i", "x")]
    shown = ", ".join(str(whole[name]) for name in ("run", "read", "claimed"))
    yield f"| all | {' | '.join(map(str, cells))} | {shown} | {whole['refuted']} | {whole['passed']} |"


def written_table(results: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The functions for which somebody wrote what was missing."""
    yield "| function | findings of the draft | after somebody wrote tests, and errors that nobody had stated |"
    yield "|---|---|---|"
    for source in WRITTEN:
        before = Counter(one.partition(":")[0] for one in results[source]["before"])
        after = Counter(one.partition(":")[0] for one in results[source]["after"])
        yield f"| `{source}` | {_counted(before)} | {_counted(after) or 'PASS'} |"


def _counted(codes: Counter[str]) -> str:
    return ", ".join(f"{code} {number}" if number > 1 else code for code, number in sorted(codes.items()))


def versions(site: str) -> str:
    """The packages with their versions."""
    return ", ".join(sorted(f"{d.name} {d.version}" for d in importlib.metadata.distributions(path=[site])))


def main() -> None:
    """Measure what is left, and print the tables."""
    site, path = sys.argv[1], Path(sys.argv[2])
    results: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.exists() else {}
    for source in functions():
        if source not in results:
            results[source] = measure(source, site)
            path.write_text(json.dumps(results, indent=1))
            sys.stderr.write(f"{source} {results[source]['status']}\n")
    lines = [versions(site), "", *table(results), "", *written_table(results)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
