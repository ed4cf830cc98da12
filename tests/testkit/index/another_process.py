"""Another process that works on an index: `python another_process.py ACTION DIRECTORY ...` (run by tests)."""

import sys
from pathlib import Path
from typing import Any

from specwright.index.sqlite_index import SqliteCodeIndex
from testkit.index_entries import entry, retirement
from testkit.word_embedder import WordEmbedder


def say(line: str) -> None:
    """Tell the test, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class _SlowEmbedder(WordEmbedder):
    """Says when it is asked, and then waits to be killed."""

    def embed(self, texts: Any):
        if len(self.asked) >= 256:
            say("half done")
            sys.stdin.read()
        return super().embed(texts)


def open_together(directory: Path, rounds: int, barrier: Any, faults: Any) -> None:
    """Open one new index after the other, each at the same moment as others do; `faults` gets what fails."""
    for number in range(rounds):
        barrier.wait(60)
        try:
            SqliteCodeIndex(directory / str(number), WordEmbedder()).close()
        except Exception as fault:
            faults.put(repr(fault))


def main() -> None:
    """Do what the command line says, printing each module id once it is in the index."""
    action, directory, *rest = sys.argv[1:]
    index = SqliteCodeIndex(Path(directory), WordEmbedder())
    if action == "add":
        first, count = map(int, rest)
        for number in range(first, first + count):
            index.add(entry(number))
            say(f"MM-{number:08x}")
    elif action == "retire":
        index.retire(retirement(f"{rest[0]}@1.0.0"))
    elif action == "reindex-slowly":
        index.reindex(_SlowEmbedder("slow", salt="other"))
    elif action == "reindex":
        index.reindex(WordEmbedder("new", salt="other"))
    index.close()


if __name__ == "__main__":
    main()
