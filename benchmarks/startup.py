"""How fast the command line answers when nothing is asked of the factory (DESIGN §11: `--help` under 0.25 s).

Prints the median of ten runs of `specwright --help` beside `python -c pass` on the same interpreter, and their
ratio. Run it on its own: the figure is wall-clock time and a busy machine doubles it. It asserts nothing.
"""

import statistics
import subprocess
import sys
import time

RUNS = 10
TARGET_SECONDS = 0.25
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "specwright --help": ["-c", "from specwright.cli.main import run; run()", "--help"],
    "specwright --version": ["-c", "from specwright.cli.main import run; run()", "--version"],
}


def seconds(arguments: list[str]) -> float:
    """The wall-clock time of one process."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> None:
    """Measure, alternating so that a change of load meets all alike."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for arguments in COMMANDS.values():
        seconds(arguments)  # bytecode is compiled and the disk is warm
    for _ in range(RUNS):
        for name, arguments in COMMANDS.items():
            times[name].append(seconds(arguments))
    bare = statistics.median(times["python -c pass"])
    for name, measured in times.items():
        median = statistics.median(measured)
        print(
            f"{name:<22} median {median * 1000:6.1f} ms  best {min(measured) * 1000:6.1f}  x{median / bare:.1f}"
        )
    print(f"target: specwright --help under {TARGET_SECONDS * 1000:.0f} ms")


if __name__ == "__main__":
    main()
