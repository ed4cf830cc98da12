"""What an agent learnt of a tree that it must not know."""

import asyncio
from collections.abc import Iterator
from typing import Any

from deepagents.backends.protocol import BackendProtocol

from testkit.storage.agents import AnsweredAttempt
from testkit.storage.trees import Hidden


def leaks(tree: Hidden, answers: list[AnsweredAttempt]) -> Iterator[str]:
    """What an agent must not learn."""
    for attempt, answer in answers:
        text = answer
        for value in map(str, attempt.arguments.values()):
            text = text.replace(value, "") if len(value) > 10 else text  # it may learn what it said itself
        if any(secret in answer for secret in tree.secrets):
            yield f"{attempt} shows the source: {answer[:200]}"
        if str(tree.root.parent) in text and str(tree.root) not in str(attempt.arguments):
            yield f"{attempt} tells where the files really are: {answer[:200]}"
        if attempt.tool in {"ls", "glob", "grep"} and any(name in text for name in tree.names):
            yield f"{attempt} names what is hidden: {answer[:200]}"


def direct(backend: BackendProtocol, name: str, *arguments: Any, asynchronous: bool) -> Any:
    """A method of a backend, or its async twin."""
    if asynchronous:
        return asyncio.run(getattr(backend, f"a{name}")(*arguments))
    return getattr(backend, name)(*arguments)
