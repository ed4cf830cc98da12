"""What the gate finds in libraries that were written in one go, and that their own tests do not (issue: D-50-03).

Six libraries stand in `tests/gate/corpus/libraries`, each written from its SPEC.md in one go with tests, nothing run; and
forty faults, each an exact replacement in one of them. In `mended` beside each lies what somebody wrote who read the gate's
findings on the library, and neither the faults nor the other libraries: tests, examples in a README, and the source where
the gate had shown it wrong. Asked of each fault:

    own tests   does plain pytest fail on the library's own tests?
    gate        does the gate say of a function with the fault that it is wrong, for something that it did not say without?
    mended      do the tests of the mended library fail, or, if they pass, is a function with the fault not SHOWN any more?

Run by hand:

    python docs/measure_libraries.py [LIBRARY ...]
"""

import runpy
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from specwright.bootstrap.gate.batch import BatchLimits
from specwright.bootstrap.gate.package import judge_package
from specwright.domain.adoption.package_verdict import FunctionResult, FunctionVerdict

LIBRARIES = Path(__file__).parents[1] / "tests/gate/corpus/libraries"
MENDED = "mended"


def judged(library: Path, functions: Sequence[str] = ()) -> dict[str, FunctionVerdict]:
    """What the gate says of functions, by their names."""
    package = judge_package(library, BatchLimits(), functions=functions)
    return {one.name.rpartition(".")[2]: one for one in package.verdict.functions}


def tests_pass(library: Path) -> bool:
    """Whether a library's tests pass under plain pytest."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        ".",
        "tests",
    ]
    done = subprocess.run(
        [*command, "--import-mode=prepend", "-o", "pythonpath=."], cwd=library, capture_output=True
    )
    return done.returncode == 0


def copies(name: str, folder: Path) -> tuple[Path, Path]:
    """A library as it was written, and mended."""
    plain, mended = folder / "plain", folder / "mended"
    shutil.copytree(LIBRARIES / name, plain, ignore=shutil.ignore_patterns(MENDED, "__pycache__"))
    shutil.copytree(plain, mended)
    shutil.copytree(LIBRARIES / name / MENDED, mended, dirs_exist_ok=True)
    return plain, mended


def with_fault(library: Path, name: str, old: str, new: str) -> str:
    """Put a fault into a library; gives the source without it."""
    source = library / name / "__init__.py"
    text = source.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"{old!r} stands {text.count(old)} times in {source}")
    source.write_text(text.replace(old, new), encoding="utf-8")
    return text


def is_found(clean: Mapping[str, FunctionVerdict], faulty: Mapping[str, FunctionVerdict]) -> bool:
    """Whether something is wrong with a function that was not without the fault."""
    return any(
        {(one.code, one.message) for one in verdict.wrong}
        - {(one.code, one.message) for one in clean[name].wrong}
        for name, verdict in faulty.items()
    )


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def measure(name: str, faults: Sequence[tuple[str, str, str, str]]) -> Counter[str]:
    """Measure a library, and print a line for each of its functions and faults."""
    sums = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        plain, mended = copies(name, Path(folder))
        clean, shown = judged(plain), judged(mended)
        for function, one in clean.items():
            why = "; ".join(finding.message for finding in (*one.wrong, *one.unshown)).replace("\n", " ")
            _say(f"{function}: {one.result}, mended {shown[function].result} | {why[:300]}")
        sums["functions"] += len(clean)
        sums["SHOWN"] += sum(one.result is FunctionResult.SHOWN for one in clean.values())
        sums["WRONG"] += sum(one.result is FunctionResult.WRONG for one in clean.values())
        sums["SHOWN mended"] += sum(one.result is FunctionResult.SHOWN for one in shown.values())
        for _, old, new, what in faults:
            functions = [one for one in what.partition(":")[0].split(", ") if one in clean]
            text = with_fault(plain, name, old, new)
            own, verdicts = not tests_pass(plain), judged(plain, functions)
            gate = is_found(clean, verdicts)
            (plain / name / "__init__.py").write_text(text, encoding="utf-8")
            text = with_fault(mended, name, old, new)
            by_tests = not tests_pass(mended)
            after = {} if by_tests else judged(mended, functions)
            by_gate = any(one.result is not FunctionResult.SHOWN for one in after.values())
            (mended / name / "__init__.py").write_text(text, encoding="utf-8")
            sums["faults"] += 1
            sums["own tests"] += own
            sums["gate"] += gate
            sums["own tests or gate"] += own or gate
            sums["SHOWN with the fault"] += {one.result for one in verdicts.values()} == {
                FunctionResult.SHOWN
            }
            sums["mended tests"] += by_tests
            sums["mended"] += by_tests or by_gate
            results = ", ".join(sorted({str(one.result) for one in verdicts.values()}))
            found = "its tests find it" if by_tests else "the gate finds it" if by_gate else "MISSED"
            _say(
                f"  {what}: own tests {'find' if own else 'miss'} it; gate {results}, {'for it' if gate else 'as before'}; "
                f"mended, {found}"
            )
    _say(f"{name}: {dict(sums)}")
    return sums


def main(names: Sequence[str]) -> None:
    """Measure libraries and print the sums."""
    faults = runpy.run_path(str(LIBRARIES / "faults.py"))["FAULTS"]
    chosen = names or sorted(folder.name for folder in LIBRARIES.iterdir() if (folder / MENDED).is_dir())
    sums = Counter[str]()
    for name in chosen:
        sums += measure(name, [fault for fault in faults if fault[0] == name])
    _say(f"all: {dict(sums)}")


if __name__ == "__main__":
    main(sys.argv[1:])
