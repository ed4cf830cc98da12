"""Ctrl-C, a closed terminal, `kill`: the run ends at once, says that it can go on, and returns 130 (design: command-line).

What was answered is journalled and fsynced, so nothing need be unwound. If unwinding blocks all the same, in a
worker thread or a client library, the process ends without it.
"""

import os
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from specwright.cli.output import complain
from specwright.errors import InterruptedRunError

_GRACE_SECONDS = 3.0


@contextmanager
def interruptible(go_on: str, *, as_json: bool) -> Generator[None]:
    """Turn the first such signal into an error that says how to go on, and the second into the end.

    What the caller had ignored stays ignored, as `nohup` wants it; only Ctrl-C is always heard.

    Args:
        go_on: The command that goes on.
        as_json: Whether the error is also printed as JSON, if the process has to end without unwinding.

    Raises:
        InterruptedRunError: a signal came.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals never come here
        return
    error = InterruptedRunError(
        "interrupted; nothing is lost, every answer so far is kept", remedy=f"go on with `{go_on}`"
    )

    def give_up(number: int = 0, frame: FrameType | None = None) -> NoReturn:
        complain(error, as_json=as_json)
        if sys.stderr.isatty():
            os.write(2, b"\x1b[?25h")  # the live line hides the cursor
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(error.exit_code)

    timer = threading.Timer(_GRACE_SECONDS, give_up)
    timer.daemon = True

    def interrupted(number: int, frame: FrameType | None) -> NoReturn:
        for one in before:
            signal.signal(one, give_up)
        timer.start()
        raise KeyboardInterrupt

    before = {one: signal.signal(one, interrupted) for one in _handled_signals()}
    try:
        yield
    except KeyboardInterrupt:
        raise error from None
    finally:
        timer.cancel()
        for one, handler in before.items():
            signal.signal(one, handler)


def _handled_signals() -> list[signal.Signals]:
    """The signals that this platform has and the caller did not ignore."""
    others = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    return [signal.SIGINT, *(one for one in others if signal.getsignal(one) is not signal.SIG_IGN)]
