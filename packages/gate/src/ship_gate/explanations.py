"""What each finding means, why the gate refuses it, and what to do, for whoever meets its code for the first time
(design: ship-gate).

The remedy in `findings` is a line beside a finding; this is the paragraph behind it, for people and coding agents.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ship_gate.findings import FindingCode as Code


class Explanation(NamedTuple):
    """A finding, explained.

    Args:
        means: What was observed.
        why: Why that refuses the module.
        steps: What to do, the usual case first.
    """

    means: str
    why: str
    steps: tuple[str, ...]


EXPLANATIONS: Mapping[Code, Explanation] = {
    # the contract and the files
    Code.CONTRACT_INVALID: Explanation(
        "contract.json is no JSON, or lacks a field that a contract has, or has one with a wrong value.",
        "Everything else is judged by the contract, so nothing can be judged without one.",
        (
            "Correct the field that the message names; the message gives its path in the file.",
            "Compare with a contract that passes, or with docs/design.md#contracts.",
        ),
    ),
    Code.CONTRACT_RULE: Explanation(
        "The contract can be read but breaks a rule: of names, types, texts, errors, effects or dependencies.",
        "Signature and docstring are made from the contract and read back; what breaks a rule would not come back the same.",
        ("Change the statement that the message names; the message says what a contract may say there.",),
    ),
    Code.DOCSTRING_DRIFT: Explanation(
        "The docstring of the entry point in implementation/__init__.py is not the one that the contract gives.",
        "Readers call a function by its docstring. It is generated, so that it cannot promise what the contract does not.",
        (
            "Have it written: `shipgate judge DIR --fix`.",
            "If the docstring is what you meant, change contract.json instead, then have it written.",
        ),
    ),
    Code.FILES_MISSING: Explanation(
        "A file that every module directory holds is not there.",
        "A module is its implementation, its tests with what they show, and examples that are run.",
        (
            "Add it: implementation/__init__.py, tests/obligations.json or examples.md.",
            "An empty implementation goes through no stage; write the function with the contract's name.",
        ),
    ),
    Code.FILES_UNEXPECTED: Explanation(
        "A file has no place in a module directory: a link, compiled code, an odd path, or an unknown file.",
        "What is not read by the gate must not ship, and a link leads out of the directory.",
        (
            "Remove or rename it; further Python files belong in implementation/, tests are called tests/test_*.py.",
            "Put data that the function needs into a Python file of implementation/.",
        ),
    ),
    Code.FILES_CONTRACT: Explanation(
        "The proposal holds a contract.json that is not the locked contract.",
        "The contract was agreed before the implementation, and a proposal does not change it.",
        (
            "Leave contract.json out of the proposal, or put the locked one there.",
            "If the contract is at fault, say so to whoever locked it.",
        ),
    ),
    Code.FILES_SIZE: Explanation(
        "There are too many files, or one is larger than 1 MiB.",
        "A module is one function that a reviewer can read.",
        ("Split the module, or make tables smaller; nothing else is judged until then.",),
    ),
    # the source
    Code.SOURCE_UNREADABLE: Explanation(
        "A Python file is no valid Python in UTF-8.",
        "Source that cannot be parsed cannot be checked.",
        ("Correct the syntax at the place that the finding names.",),
    ),
    Code.SOURCE_IMPORT: Explanation(
        "The implementation imports something outside the module's scope.",
        "A module stands alone: Python's library, its own files, declared dependencies and the packages of the settings.",
        (
            "Write the code without that import.",
            "If it is another module, declare it in `dependencies` of contract.json.",
            "If it is a third-party package that all modules may use, name it in the setting `packages` of specwright.toml.",
        ),
    ),
    Code.SOURCE_SIZE: Explanation(
        "The implementation has more statements than one reader can judge.",
        "Whoever challenges, rules on or uses a module reads all of it; what is larger is believed instead of read.",
        (
            "Take a part that the message names, and give it a contract and a directory of its own.",
            "List it in `dependencies` of contract.json, and call it.",
            "If no part stands alone, the contract asks for too much: split it by its outputs.",
        ),
    ),
    Code.STATIC_EFFECT: Explanation(
        "The source uses a name that has an effect (files, clock, randomness, environment, input, printing) and the "
        "contract declares no such effect.",
        "Whoever calls the function relies on its effects being the declared ones.",
        (
            "Take the value as an argument: the time, a generator of random numbers, the text of the file.",
            "If the effect is what the function is for, declare it in `effects` of contract.json.",
        ),
    ),
    Code.STATIC_REFUSED: Explanation(
        "The source uses something that no contract can declare: sockets, processes, threads, native code, or Python's "
        "own machinery; or it asks hosts, and the contract names none.",
        "The gate could not observe what it does, so it would vouch for something that it has not seen.",
        (
            "Remove it; pass values in and out, and do the rest in the code around the module.",
            "If it asks hosts over HTTP, name them in `effects` of contract.json: CALL `https://api.example.org`.",
        ),
    ),
    Code.STATIC_DYNAMIC: Explanation(
        "The source makes code or names at run time: eval, exec, computed imports or attributes.",
        "No check of the source can see what such code does, so nothing of the module is executed.",
        (
            "Write it out: a dict from name to function in place of getattr with a computed name, a literal import, "
            "ast.literal_eval in place of eval.",
        ),
    ),
    Code.STATIC_RAISE: Explanation(
        "An exception can leave the entry point that the contract does not declare.",
        "Callers handle the declared errors; another one is a crash to them.",
        (
            "Catch it and raise a declared error, or return what the contract says.",
            "If callers should see it, declare it in `error_surfaces` with when it is raised.",
        ),
    ),
    # what a module did when it was run
    Code.EFFECTS_UNDECLARED: Explanation(
        "While tests, examples or drawn inputs called it, the module did something that its contract does not declare.",
        "This was observed, not read in the source: it happens.",
        (
            "Remove the effect, or take the value as an input; the message names what was done.",
            "If it is meant, declare it in `effects` of contract.json.",
        ),
    ),
    Code.EFFECTS_REFUSED: Explanation(
        "While it was called, the module did something that no contract can declare, as opening a socket, or asked a host "
        "that its contract does not name, without a timeout, or without a check of certificates.",
        "It was stopped by the sandbox; at a user's it would not be.",
        (
            "Remove it.",
            "Ask the hosts that the effects name, follow no redirect to another, and give each connection a timeout.",
        ),
    ),
    Code.EFFECTS_CODE: Explanation(
        "After import, code, defaults, annotations or docstring of an entry point are not what the source says.",
        "What is reviewed must be what is called.",
        (
            "Define the function plainly: no wrapper, no assignment to its attributes, no replacement at import.",
        ),
    ),
    Code.EFFECTS_STATE: Explanation(
        "A call changed state of the module that outlives it: a global, a default argument, a field of a shared object.",
        "The result of the next call may then depend on the calls before.",
        (
            "Make the state local, or take it as an argument and return the new one.",
            "For a cache use functools.cache or lru_cache; a memo by hand is refused.",
        ),
    ),
    # the public surface
    Code.SURFACE_EXPORTS: Explanation(
        "`__all__` is missing, is written more than once, or is no literal list of names.",
        "It says what the module gives to others, so it is read from the source.",
        ('Write it once at the top level: __all__ = ["name", "NameError"].',),
    ),
    Code.SURFACE_ENTRY_POINT: Explanation(
        "The function with the contract's name is missing, decorated, defined twice, or not in `__all__`.",
        "It is the one function that the module is.",
        (
            "Define it once at the top level of implementation/__init__.py, undecorated, and name it in `__all__`.",
        ),
    ),
    Code.SURFACE_PARAMETERS: Explanation(
        "A parameter of the entry point has no annotation, or is positional-only or `**`, which a contract does not have.",
        "Contract and signature are compared parameter by parameter.",
        (
            "Give each parameter of the contract its name, its type and, where the contract states one, its default.",
        ),
    ),
    Code.SURFACE_TWINS: Explanation(
        "The contract has a sync and an async mode, and `f` and `f_async` differ, or one of them is missing.",
        "Both are promised with the same inputs, outputs and errors.",
        ("Give both the same parameters, annotations and docstring, or correct `modes` of the contract.",),
    ),
    Code.SURFACE_DOCSTRING: Explanation(
        "The docstring cannot be read back as the contract's.",
        "It is generated from the contract and compared with it.",
        ("Have it written: `shipgate judge DIR --fix`.",),
    ),
    Code.SURFACE_CLASS: Explanation(
        "An exported class has methods, bases or fields that a boundary type cannot have.",
        "Its values are taken apart and put together again between caller and module.",
        (
            "Make it a dataclass, NamedTuple, TypedDict, Enum or Exception with annotated fields only.",
            "Keep behaviour in functions.",
        ),
    ),
    Code.SURFACE_NAME: Explanation(
        "A name that the surface uses is bound twice, or to something else than the contract means.",
        "A reader of the signature would take it for another thing.",
        ("Rename the local name; leave Python's own names alone.",),
    ),
    Code.SURFACE_STAR_IMPORT: Explanation(
        "The implementation has a star import.",
        "It hides which names the module has.",
        ("Name each import.",),
    ),
    Code.SURFACE_MISMATCH: Explanation(
        "The signature, as it is read from the source, is not the contract's.",
        "The interface was agreed; callers and tests are written for it.",
        (
            "Restore name, parameters, types, defaults and return type as contract.json states them.",
            "If the interface is to change, change contract.json with it: it is then another version.",
        ),
    ),
    Code.SURFACE_DIVERGED: Explanation(
        "A part of the interface (inputs, outputs, error surfaces, effects, modes) differs between source and contract.",
        "The fingerprint of both has to be the same.",
        (
            "The message shows both sides; change the source to the contract's, or the contract if it is wrong.",
        ),
    ),
    # the tests, read without running them
    Code.TESTS_IMPORT: Explanation(
        "A test imports something else than the module's public names, Python's library, pytest or hypothesis.",
        "Tests show what callers can see.",
        ("Import from modules.NAME what `__all__` has, and test through it.",),
    ),
    Code.TESTS_TRICK: Explanation(
        "A test uses what can make it pass without looking: skips, expected failures, patches, hooks, stand-ins.",
        "A test has to run as it reads.",
        (
            "Call the module with real arguments; use tmp_path for files and pytest.mark.parametrize for cases.",
        ),
    ),
    Code.TESTS_INTERNALS: Explanation(
        "A test reaches behind the public names: attributes with underscores, frames, the class of a value.",
        "It would hold the module to how it is written, or could tell that it is being tested.",
        ("Compare what a call returned, raised or wrote.",),
    ),
    Code.TESTS_BROAD: Explanation(
        "A test expects Exception or BaseException, or a class above the declared error.",
        "It is content with a crash.",
        ("Name the declared error: with pytest.raises(TheError, match=...).",),
    ),
    Code.TESTS_SLEEP: Explanation(
        "A test waits for time to pass.",
        "It shows nothing that the return of the call does not, and fails on a busy machine.",
        ("Assert what the call left behind when it returned.",),
    ),
    Code.TESTS_CONSTANT: Explanation(
        "An assertion cannot fail, as `assert True` or one that compares a value with itself.",
        "It shows nothing.",
        ("Compare the result with the value that you expect, written out.",),
    ),
    # the obligations
    Code.OBLIGATIONS_UNREADABLE: Explanation(
        "tests/obligations.json is no JSON object from test names to lists of pointers.",
        "It says which test shows which statement of the contract.",
        (
            'Write for each test the pointers into contract.json that it shows: {"test_name": ["/outputs/0/invariants/0"]}; '
            'the pointer "" is the purpose, the plain good case.',
        ),
    ),
    Code.OBLIGATIONS_UNKNOWN_TEST: Explanation(
        "tests/obligations.json names a test that is not there.",
        "A claim needs a test.",
        ("Correct the name, or remove the entry.",),
    ),
    Code.OBLIGATIONS_AMBIGUOUS_TEST: Explanation(
        "tests/obligations.json names a test that two files have.",
        "It is not clear which one makes the claim.",
        ("Name it with its file: test_a.py::test_name.",),
    ),
    Code.OBLIGATIONS_UNKNOWN_POINTER: Explanation(
        "A pointer in tests/obligations.json leads to nothing in the contract, or to no obligation.",
        "The claim is about nothing.",
        (
            "Point at a constraint (/inputs/0/constraints/0), an invariant (/outputs/0/invariants/0), an error "
            '(/error_surfaces/0), an effect (/effects/0), or "" for the purpose. Counting begins with 0.',
        ),
    ),
    Code.OBLIGATIONS_UNCOVERED: Explanation(
        "No test claims a statement of the contract.",
        "A statement that nothing shows is a promise without evidence.",
        (
            "Write a test that fails if the statement is broken, and add its pointer to tests/obligations.json.",
            "If an existing test shows it, add the pointer to that test.",
            "If no test could ever show it, the statement does not belong in the contract.",
        ),
    ),
    Code.OBLIGATIONS_UNSEEN: Explanation(
        "A test claims a statement, but passes as well when the module's answer is changed in just that.",
        "The claim is not true: the test does not look at what the statement is about.",
        (
            "Assert the value itself, not only its type or length; for an error, let pytest.raises name its class.",
            "For an effect on files, read the file after the call and compare its contents.",
            "For several invariants of one output give each an assertion of its own.",
        ),
    ),
    # the run of the tests
    Code.TESTS_NONE: Explanation(
        "There is no test function in tests/test_*.py.",
        "Without tests there is nothing to observe.",
        ("Write plain functions named test_... that call the module.",),
    ),
    Code.TESTS_FAILED: Explanation(
        "A test failed when it was run in the sandbox.",
        "Module and test disagree; one of them is wrong.",
        (
            "Read the message: it has the assertion with both values.",
            "Correct the module; if the contract says otherwise than the test, correct the test.",
        ),
    ),
    Code.TESTS_UNCOLLECTED: Explanation(
        "A file of tests or the module could not be imported.",
        "None of its tests could be run.",
        ("Read the error in the message; import the module as `from modules.NAME import NAME`.",),
    ),
    Code.TESTS_NAMES: Explanation(
        "Two tests have one name, a test is a method, or what was collected is not what the source names.",
        "Each test is followed by its name.",
        ("Give each test a name of its own, as a plain function at the top level of its file.",),
    ),
    Code.TESTS_INCOMPLETE: Explanation(
        "Not every test was executed.",
        "Something ended the process before the last test.",
        ("Remove what ends it: exit, os._exit, a signal, endless recursion.",),
    ),
    Code.TESTS_TIMEOUT: Explanation(
        "A test, or the whole run, did not end in time.",
        "A call that hangs is a fault, and a slow suite is not run.",
        (
            "Find the loop that does not end for the input of the test that the finding names.",
            "Use smaller inputs; the limit is the setting gate_timeout_seconds.",
        ),
    ),
    Code.TESTS_OUTPUT: Explanation(
        "Tests or module printed or sent more than a run may.",
        "Output is bounded, so that a run cannot fill the disk.",
        ("Print less; compare large results by parts.",),
    ),
    Code.TESTS_DISK: Explanation(
        "Tests or module wrote more, or larger, files than a run may.",
        "Disk space is bounded.",
        ("Write fewer or smaller files.",),
    ),
    Code.TESTS_BOUNDARY: Explanation(
        "A value that a test gave, or that the module returned, cannot cross between caller and module.",
        "Only boundary types are compared exactly: plain values, containers, dataclasses, enums, dates, paths and the like.",
        (
            "Return one of the types that the contract states, not a function or an object with behaviour.",
            "Take and yield no more items than the contract states, with `itertools.islice`; call a callable as it says.",
            "In a test, pass plain values instead of objects of its own classes.",
        ),
    ),
    Code.TESTS_ARGUMENT_CHANGED: Explanation(
        "The module changed an argument that a test gave it.",
        "The caller's list or dict is the caller's.",
        ("Work on a copy: list(values), dict(mapping), dataclasses.replace(record).",),
    ),
    Code.TESTS_UNCALLED: Explanation(
        "A test passed without calling the module.",
        "It shows nothing of the module.",
        ("Call the module in it, or remove the test.",),
    ),
    Code.TESTS_FORGED: Explanation(
        "The process of the tests sent a report that does not hold together.",
        "Something tampered with the test runner.",
        ("Remove hooks, plugins and everything else that touches pytest, the interpreter or the process.",),
    ),
    Code.TESTS_SURROUNDINGS: Explanation(
        "The module answered otherwise when its surroundings were others: package name, caller, time zone, hash seed, "
        "locale, a running event loop.",
        "At a user's the surroundings are others.",
        (
            "The message names what it depends on. Sort sets before they are returned, give encoding='utf-8' to open, "
            "use time zones that are passed in, do not call asyncio.run in a loop.",
        ),
    ),
    Code.TESTS_VACUOUS: Explanation(
        "The test passes whatever its calls return, raise or write.",
        "It cannot fail, so that it passed says nothing.",
        ("Assert what a call returned, raised or wrote, against a value that you write out.",),
    ),
    # the examples
    Code.EXAMPLES_FORM: Explanation(
        "examples.md does not have the form that can be run.",
        "Every example is executed, so that readers are told what is true.",
        (
            "For each example: a heading `## ...`, a sentence, a `python` block that imports from modules.NAME and ends in "
            "one call, and a `text` block with the repr of the result, or `ErrorName: message`.",
        ),
    ),
    Code.EXAMPLES_PLACEHOLDER: Explanation(
        "An example holds a placeholder, as `...` or TODO.",
        "It tells a reader nothing.",
        ("Write a real call with its real result.",),
    ),
    Code.EXAMPLES_UNCOVERED: Explanation(
        "The examples lack a case that they should show: a good one, or an error that the contract declares.",
        "Readers copy examples.",
        ("Add an example of the case that the message names.",),
    ),
    Code.EXAMPLES_FALSE: Explanation(
        "An example was run, and something else came out than it says.",
        "Example or module is wrong.",
        ("The message has both values; correct the one that the contract does not support.",),
    ),
    Code.EXAMPLES_BROKEN: Explanation(
        "An example did not end: it hung, ended its process, or could not be loaded.",
        "A reader who copies it has the same happen.",
        ("Run it by itself; correct the example or the module.",),
    ),
    Code.EXAMPLES_ARGUMENT_CHANGED: Explanation(
        "In an example the module changed an argument that it was given.",
        "The caller's list or dict is the caller's.",
        ("Work on a copy of the argument.",),
    ),
    # what the tests are worth, and what they do not show
    Code.STRENGTH_WEAK: Explanation(
        "Of small faults that were put into the module, the tests notice too few.",
        "A fault that somebody makes later would go unnoticed in the same way.",
        (
            "The message lists the faults by line. For each, write a test whose result differs with the fault: values at "
            "the edge of a comparison, both branches of a condition, more than one element.",
            "Where no test can tell the difference, the code is not needed: delete it or make it plainer.",
        ),
    ),
    Code.STRENGTH_FUNCTION: Explanation(
        "Of one function's planted faults the tests notice too few, though the module as a whole has enough.",
        "That function is as good as untested.",
        ("Write tests that reach it through the entry point and fail on the faults that the message lists.",),
    ),
    Code.STRENGTH_UNSTABLE: Explanation(
        "A test passed once and failed once on the same code.",
        "Its verdict depends on chance, order, time or what an earlier test left.",
        ("Fix the seed, sort what has no order, and make each test set up what it needs.",),
    ),
    Code.STRENGTH_SLOW: Explanation(
        "The tests are too slow to be run once for each planted fault.",
        "Their strength cannot be measured.",
        ("Draw fewer examples, use smaller inputs; a suite of a second or less is right.",),
    ),
    Code.FUZZ_COUNTEREXAMPLE: Explanation(
        "For an input that the contract allows, the module did what the contract does not: another error, another type, an "
        "answer that differs the second time.",
        "Somebody will call it with that input.",
        (
            "The message has the call and what came of it. Handle the input, or raise a declared error.",
            "If the input should not be allowed, declare an error for it and raise it; in a docstring, `Raises:` is enough. "
            "A constraint alone keeps no input away: the function must refuse what breaks it.",
            "Constraints that say a limit and nothing else are read as limits, and both sides are tried: `at least 1`, "
            "`at most 1000 characters`, `between 0 and 100`, `non-empty`, `one of 'a', 'b'`. A name in front of them is "
            "part of another sentence, which the fuzz does not read.",
            "Then add the call as a test.",
        ),
    ),
    Code.FALSIFYING_FAILED: Explanation(
        "A falsifying test that was kept with the module fails.",
        "An earlier version withstood it, or a reviewer wrote it to show a fault.",
        ("Correct the module; these tests are not to be changed.",),
    ),
    Code.ACCEPTANCE_FAILED: Explanation(
        "An example that a person approved with the spec gives something else.",
        "It is what the person asked for.",
        ("Correct the module; where the example contradicts the contract, the person has to be asked.",),
    ),
    Code.ACCEPTANCE_PROPERTY: Explanation(
        "A property that a person approved with the spec does not hold for the values in the message.",
        "It is what the person asked for, for all values.",
        ("Correct the module for these values, and add them as a test.",),
    ),
    Code.REPORTED_FAILED: Explanation(
        "The example of a bug report fails.",
        "The bug is still there, or is there again.",
        ("Correct the module; the example stays with it for good.",),
    ),
}
"""One for each code."""


def explained(code: str) -> Explanation | None:
    """The explanation of a code; None if the gate has no such code."""
    return next((found for one, found in EXPLANATIONS.items() if str(one) == code), None)
