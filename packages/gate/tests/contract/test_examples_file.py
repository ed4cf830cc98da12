"""The grammar of examples.md, what makes an example true, and which there must be."""

from ship_gate.contract.contract import Effect, ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.contract.examples import (
    Example,
    Outcome,
    coverage_faults,
    examples_in_short,
    mismatch,
    parse_examples,
    placeholder_faults,
)


def an_example(code='f("x")', expected="1", heading="One", prose="It shows one thing.\n\n"):
    """The text of one example."""
    return f"## {heading}\n\n{prose}```python\n{code}\n```\n\n```text\n{expected}\n```\n"


def parsed(*texts):
    """The examples of a file that has no faults."""
    examples, faults = parse_examples("# title\n\nintro\n\n" + "\n".join(texts))
    assert faults == ()
    return examples


def test_an_example_is_a_heading_a_sentence_and_two_blocks():
    """D-S8.1-06: the four parts, with the line of the heading; also with the line ends of another system, and where a longer
    fence holds a shorter one."""
    assert parsed(an_example()) == (Example("One", "It shows one thing.", 'f("x")', "1", 5),)
    examples, faults = parse_examples(an_example().replace("\n", "\r\n"))
    assert (len(examples), faults) == (1, ())
    text = "## One\n\nIt shows.\n\n````python\n'''\n## no heading\n```\n'''\n````\n\n```text\n1\n```\n"
    (example,) = parsed(text)
    assert example.code == "'''\n## no heading\n```\n'''"


def test_in_short_an_example_is_its_heading_its_call_and_its_result():
    """F-12-01: imports of the product and prose are left out, other imports are not; a file out of form is told as it
    stands."""
    code = 'from decimal import Decimal\nfrom modules.f import f\n\nf(Decimal("1"))'
    text = "# Examples\n\n" + an_example(code) + "\n" + an_example("f(2)", "ValueError: no", "Two")
    assert examples_in_short(text) == (
        '## One\nfrom decimal import Decimal\nf(Decimal("1"))\ngives 1\n\n## Two\nf(2)\ngives ValueError: no'
    )
    assert examples_in_short("# Examples\n\nnone yet") == "# Examples\n\nnone yet"


FAULTY = {
    "": "no example",
    "# title only\n": "no example",
    an_example(prose=""): "no sentence",
    an_example(prose="TBD\n\n"): "no sentence",
    an_example(heading=""): "heading is empty",
    an_example(expected=""): "text block is empty",
    an_example(code="def"): "not Python",
    an_example(code="x = 1"): "no expression",
    an_example(code=""): "no expression",
    an_example().replace("```python", "```py"): "['py', 'text']",
    an_example().replace("```text", "```"): "['python', '']",
    an_example() + "```text\n2\n```\n": "['python', 'text', 'text']",
    an_example().rstrip("`\n"): "unclosed",
    an_example() + an_example(): "occurs twice",
}


def test_an_example_out_of_form_is_told_with_what_to_change():
    """F-12-03, F-12-04, D-S8-21: input block, output block, prose."""
    for text, said in FAULTY.items():
        _, faults = parse_examples(text)
        assert [fault.code for fault in faults] == ["examples.form"], text
        assert said in faults[0].message


PLACEHOLDERS = [
    ('f("some_input")', "1"), ('f("...")', "1"), ("f(...)", "1"), ("f(x=...)", "1"),
    ('f("<your_value_here>")', "1"), ('f("<path to file>")', "1"), ('f("your_text")', "1"),
    ('f("TODO: a value")', "1"), ('f("a")', "..."), ('f("a")', "'...'"), ('f("a")', "<your_output>"),
    ('f("a")', "ValueError: ..."), ('f("<YOUR_VALUE_HERE>")', "1"), ('f("SOME_INPUT")', "1"), ('f("<value>")', "1"),
    ('f("placeholder")', "1"), ('f("…")', "1"), ("f([...])", "1"), ("f({'a': (1, ...)})", "1"),
    ('f("a")', "'<value>'"),
]  # fmt: skip
VALUES = [
    ('f("todo")', "'todo'"), ('f("<b>")', "None"), ('f("-")', "'-'"), ('f("some words ...")', "'...and more'"),
    ('f("none")', "'n/a'"), ("x: tuple[int, ...] = (1,)\nf(x)", "1"), ('f("<input>")', "'&lt;input&gt;'"),
    ('f("<value>1</value>")', "1"), ('f("abc", 1)', "'…'"), ('f("abc", 2, "…")', "'a…'"), ("f(a[..., 0])", "1"),
    ('f("HOME")', "1"),
]  # fmt: skip


def test_a_placeholder_is_refused():
    """F-12-05, D-19-01: concrete values only; but a to-do app may say todo, and None is a result."""
    for example in PLACEHOLDERS:
        (fault,) = placeholder_faults(parsed(an_example(*example)))
        assert fault.code == "examples.placeholder"
    assert [placeholder_faults(parsed(an_example(*example))) for example in VALUES] == [()] * len(VALUES)


NO_FILE = Outcome(errors=("FileNotFoundError", "OSError"), message="[Errno 2] x")
BAD_VALUE = Outcome(errors=("ValueError",), message="bad value")
TRUE = [
    ("1", Outcome(value="1"), True),
    ("1", Outcome(value="2"), False),
    ("'a\\nb'", Outcome(value="'a\\nb'"), True),
    ("ValueError: bad", Outcome(errors=("ValueError", "Exception"), message="bad value"), True),
    ("ValueError: good", BAD_VALUE, False),
    ("ValueError:", Outcome(errors=("ValueError",), message=""), True),
    ("ValueError: bad", Outcome(value="'ValueError: bad'"), False),
    ("ValueError: x", Outcome(errors=("UnicodeError", "ValueError"), message="x"), False),
    ("OSError: [Errno 2]", NO_FILE, True),
    ("FileNotFoundError: [", NO_FILE, True),
    ("1", Outcome(errors=("ValueError",), message="1"), False),
    ("E: a\nb", Outcome(errors=("E",), message="a\nbc"), True),
]


def test_an_example_is_true_if_it_gives_what_it_says():
    """D-S8.1-06, D-S8-18: a repr to the letter; an error by exact class and the start of its message."""
    examples = [parsed(an_example(expected=expected))[0] for expected, *_ in TRUE]
    found = [mismatch(example, one) == "" for example, (_, one, _) in zip(examples, TRUE, strict=True)]
    assert found == [true for *_, true in TRUE]


def a_contract(surfaces=(), effects=(), both=False):
    """A contract for these tests."""
    return MicroModuleContract(
        module_id="MM-00000001",
        name="f",
        purpose="Do it.",
        inputs=[Input(name="x", type="str")],
        outputs=[Output(name="y", type="int")],
        error_surfaces=[ErrorSurface(name=n, when="w", surface=s) for n, s in surfaces],
        effects=[Effect(type=t, target="x", description="d") for t in effects],
        modes=Modes(sync=True, async_=both),
    )


PLAIN = an_example()
BAD = an_example('f("")', "ValueError: empty", "Bad")
WORSE = an_example('f("-")', "ValueError: a dash", "Worse")
MISSING = an_example('f("a")', "FileNotFoundError: [Errno 2]", "Missing")
CODE = an_example('f("b")', "(1, 'E_CUT')", "Cut")
READ = an_example('f("x")\nopen("x").read()', "'x'", "Read")
TOGETHER = an_example('(f("x"), open("x").read())', "(1, 'x')", "Together")
AWAITED = an_example('import asyncio\nasyncio.run(f_async("x"))', "1", "Awaited")

COVERAGE = [
    (a_contract(), [PLAIN], True),
    (a_contract(), [BAD], False),
    (a_contract(), [an_example("1 + 1", "2")], False),
    (a_contract([("ValueError", "exception")]), [PLAIN], False),
    (a_contract([("ValueError", "exception")]), [PLAIN, BAD], True),
    (a_contract([("ValueError", "exception")] * 2), [PLAIN, BAD], False),
    (a_contract([("ValueError", "exception")] * 2), [PLAIN, BAD, WORSE], True),
    (a_contract([("OSError", "exception")]), [PLAIN, MISSING], True),
    (a_contract([("E_CUT", "code")]), [PLAIN], False),
    (a_contract([("E_CUT", "code")]), [PLAIN, CODE], True),
    (a_contract([("E_CU", "code")]), [PLAIN, CODE], False),
    (a_contract(effects=["WRITE"]), [PLAIN], False),
    (a_contract(effects=["WRITE"]), [READ], True),
    (a_contract(effects=["WRITE"]), [TOGETHER], True),
    (a_contract(effects=["WRITE", "MUTATION"]), [READ], False),
    (a_contract(effects=["WRITE", "MUTATION"]), [READ, TOGETHER], True),
    (a_contract(effects=["CALL"]), [PLAIN], True),
    (a_contract(both=True), [PLAIN], False),
    (a_contract(both=True), [PLAIN, AWAITED], True),
    (a_contract(effects=["WRITE"], both=True), [READ, AWAITED], True),
]


def test_there_is_an_example_for_each_entry_point_error_and_effect():
    """F-12-04, D-S8-21: drop each, and it is refused."""
    faults = [coverage_faults(parsed(*texts), contract) for contract, texts, _ in COVERAGE]
    assert [not found for found in faults] == [complete for *_, complete in COVERAGE]
    assert {fault.code for found in faults for fault in found} == {"examples.uncovered"}
