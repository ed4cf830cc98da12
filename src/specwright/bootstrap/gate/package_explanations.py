"""What findings mean that only the judgement of a source tree has, and how a docstring states what is judged (design:
package)."""

from collections.abc import Mapping

from specwright.domain.adoption.package_verdict import INEXPRESSIBLE, MISSING, REFUTED, UNSTATED
from specwright.gate.explanations import Explanation
from specwright.gate.findings import Severity

DOCSTRING = "docstring"
"""Not a code: how a docstring states what the gate reads."""

PACKAGE_EXPLANATIONS: Mapping[str, tuple[Severity, Explanation]] = {
    MISSING: (
        Severity.REFUSED,
        Explanation(
            "Something that has to be there is not: a type, an example, a test, an error under `Raises`. Or a call raises "
            "an error that nothing states, or a test could not be used.",
            "What nobody states or shows is not known of the function, so the gate cannot vouch for it.",
            (
                "Write what the message names, at its place in the source or its tests.",
                "`explain docstring` shows where types, limits, errors and examples stand in a docstring.",
            ),
        ),
    ),
    REFUTED: (
        Severity.REFUSED,
        Explanation(
            "A run showed that something which the source says is not so: a documented example gives something else, a "
            "test fails, or a value of another type than the stated one comes back.",
            "Readers rely on what a docstring and an annotation say.",
            ("Decide which is right, the function or what is said of it, and correct the other one.",),
        ),
    ),
    UNSTATED: (
        Severity.REFUSED,
        Explanation(
            "The docstring and the README give no example of the function, and name no error that it raises.",
            "Then little is shown although nothing fails: that the types are right, that nothing else is touched, that no "
            "undeclared error comes out, and that the tests notice small faults. Saying nothing must not be the shortest "
            "way to a verdict.",
            (
                "Write an example into the docstring; `explain docstring` shows where. It is run.",
                "Write under `Raises` which errors come out and when; each needs a test and an example.",
            ),
        ),
    ),
    INEXPRESSIBLE: (
        Severity.NOT_EXECUTED,
        Explanation(
            "The function was not judged: it takes or returns what cannot be copied from one process to another (what "
            "crosses the boundary are values of plain types and of classes that are nothing but their fields), or it is a "
            "generator, is decorated, or uses what the gate does not run.",
            "The gate runs a function in a process of its own and passes values in and out. Of what it cannot run it knows "
            "nothing, so the verdict of the package is PARTIAL.",
            (
                "Change what the message names, if a plainer form does as well: a list in place of a generator, a check in "
                "the function in place of one in the class.",
                "If it is to stay as it is, accept it in pyproject.toml, with a reason that a reader can judge: "
                '`[tool.specwright.not-judged]` and below it `"package.module.function" = "it is a generator"`. The report '
                "names it then, and the verdict can be PASS.",
            ),
        ),
    ),
    DOCSTRING: (
        Severity.REFUSED,
        Explanation(
            "How a docstring states what `gate --package` reads; Google's form, NumPy's and reST's are "
            "read as well:\n\n"
            "    def share(total: int, people: int = 1) -> int:\n"
            '        """The whole units that each of some people gets.\n\n'
            "        Args:\n"
            "            total: What is shared, at least 0.\n"
            "            people: Between 1 and 100.\n\n"
            "        Returns:\n"
            "            The units of each.\n\n"
            "        Raises:\n"
            "            ValueError: total is below 0, or people is not between 1 and 100.\n\n"
            "        Examples:\n"
            "            >>> share(7, 2)\n"
            "            3\n"
            "            >>> share(7, 0)\n"
            "            Traceback (most recent call last):\n"
            "            ValueError: people is not between 1 and 100\n"
            '        """',
            "The first line is the purpose. Types come from the signature, defaults too.",
            (
                "A limit of a parameter (`at least`, `at most`, `between`, `up to`, `must`, `non-empty`, `positive`, `one "
                "of`, `less than`) needs the error that a breach meets: one under `Raises` that names the parameter.",
                "Each error under `Raises` needs a test, `with pytest.raises(...)` around the one call, and comes out of "
                "an example.",
                "Examples are doctests, in the docstring of the function, its module or package, or in the README. Each is "
                "run and must be true; of an error the class and the message are compared.",
                "Tests stand in `tests` beside the package or beside `src`. One is used if it needs nothing of the package "
                "but this function, its classes and its errors.",
            ),
        ),
    ),
}
"""By what `explain` is asked for."""
