"""The clock of a module: what tests set, what a module reads of it, and sleeps that nobody waits for."""

import ast
import datetime
import subprocess
import sys

import pytest

from ship_gate.inside.observation.clock import ModuleClock
from specwright.domain.acceptance.calls import imported_names
from specwright.domain.acceptance.records import AcceptanceExample
from specwright.domain.acceptance.rules import Uses

AT = "2024-05-01T12:00:00.25+00:00"


def said(script):
    """What a program prints, whose clock is a module's."""
    head = (
        "import asyncio, datetime, time\n"
        "real = time.perf_counter\n"
        "datetime.datetime.now()\n"
        "from ship_gate.inside.observation.clock import ModuleClock, install, offer\n"
        "clock = ModuleClock()\ninstall(clock)\noffer(clock=clock)\n"
    )
    ran = subprocess.run([sys.executable, "-c", head + script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split("\n")[:-1]


def test_every_way_to_ask_for_the_time_meets_the_clock():
    """Issue 22: names that a module imports, classes derived from datetime, and what was looked up before."""
    reads = [
        "time.time()", "time.time_ns()", "time.clock_gettime(time.CLOCK_REALTIME)", "time.gmtime()[:5]", "time.monotonic()",
        "datetime.datetime.now(datetime.UTC)", "datetime.datetime.now().year", "datetime.datetime.utcnow().hour",
        "datetime.datetime.today().month", "datetime.date.today().day", "time.strftime('%Y')", "clock.now()",
        "type('D', (datetime.datetime,), {}).now(datetime.UTC).minute",
    ]  # fmt: skip
    lines = said(f"clock.set({AT!r})\n" + "".join(f"print({read})\n" for read in reads))
    moment = "2024-05-01 12:00:00.250000+00:00"
    expected = ["1714564800.25", "1714564800250000000", "1714564800.25", "(2024, 5, 1, 12, 0)", "1000.0"]
    assert lines == [*expected, moment, "2024", "12", "5", "1", "2024", moment, "0"]


def test_a_sleep_puts_the_clock_forward_and_nobody_waits():
    """Issue 22: no gate run waits in real time, neither for `sleep` nor for an event loop."""
    script = f"""
began = real()
clock.set({AT!r})
time.sleep(86400)
async def several():
    await asyncio.gather(asyncio.sleep(10), asyncio.sleep(30))
    try:
        await asyncio.wait_for(asyncio.sleep(1000), 60)
    except TimeoutError:
        print("too late")
asyncio.run(several())
print(clock.now(), clock.slept, time.monotonic() - 1000, real() - began < 60)
clock.clear()
print(clock.slept, abs(clock.now() - datetime.datetime.now(datetime.UTC)) < datetime.timedelta(minutes=1))
"""
    assert said(script) == [
        "too late",
        "2024-05-02 12:01:30.250000+00:00 [86400.0, 10.0, 20.0, 60.0] 86490.0 True",
        "[] True",
    ]


def test_a_sleep_refuses_what_the_system_refuses():
    """Issue 22: a module meets the errors that it would meet elsewhere."""
    script = """
for seconds in [-1, float("nan"), 1e30, "x"]:
    try:
        time.sleep(seconds)
    except Exception as error:
        print(type(error).__name__)
"""
    assert said(script) == ["ValueError", "ValueError", "OverflowError", "TypeError"]


def test_a_clock_goes_with_a_call_and_comes_back():
    """Issue 22: the tests' process has set it, the module's has slept; what the module's says may be anything."""
    tests, module = ModuleClock(), ModuleClock()
    tests.set(AT)
    tests.advance(5)
    module.take(tests.state())
    module.sleep(2)
    tests.follow(module.came_to())
    assert tests.slept == [2.0]
    assert tests.now() == datetime.datetime.fromisoformat(AT) + datetime.timedelta(seconds=7)
    for nonsense in [
        None,
        3,
        {"passed": -1, "slept": 5},
        {"passed": "x", "slept": ["y"]},
        {"passed": 10**30},
    ]:
        tests.follow(nonsense)
        module.take(nonsense)
    assert tests.slept == [2.0]
    module.take({})
    assert abs(module.now() - datetime.datetime.now(datetime.UTC)) < datetime.timedelta(minutes=1)


def test_a_clock_is_set_to_a_moment():
    """Issue 22: a moment has a zone, and time does not go back by itself."""
    clock = ModuleClock()
    with pytest.raises(ValueError, match="has no time zone"):
        clock.set("2024-05-01T12:00:00")
    with pytest.raises(ValueError, match="Invalid isoformat"):
        clock.set("noon")
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance(-1)
    clock.set(datetime.datetime.min.replace(tzinfo=datetime.UTC))
    assert clock.now().year == 1


def test_what_is_slept_can_be_changed_to_see_who_reads_it():
    """Issue 22: a test of nothing but pauses is one."""
    clock = ModuleClock()
    clock.set(AT)
    clock.sleep(1)
    clock.sleep(2)
    clock.alter(1, "longer")
    assert (clock.slept, clock.seconds) == ([1.0, 3.0], 4.0)
    clock.alter(1, "unslept")
    assert (clock.slept, clock.seconds) == ([1.0], 1.0)


def test_an_approved_example_may_set_the_clock():
    """Issue 22: its import is of the gate's own, and stays as it is where names come from modules or the package."""
    code = "from modules.testing import clock\nfrom product import stamp\nclock.set('2024-05-01T12:00:00+00:00')\nstamp()"
    assert Uses.of(ast.parse(code), "product").problems == []
    approved = AcceptanceExample(title="Noon", criteria=[1], code=code, gives="'12:00'")
    assert imported_names(approved) == {"stamp"}
