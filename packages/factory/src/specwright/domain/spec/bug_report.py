"""A bug report: an example that a sealed module fails, and the statement that it breaks (design: bug-reports)."""

from pydantic import Field

from ship_gate.base.ids import ModuleRefText
from ship_gate.base.record import Record, Text
from ship_gate.contract.examples_file import Example


class BugReport(Record):
    """An accepted report.

    Args:
        module_ref: The sealed version that fails the example.
        name: Of the module.
        task_id: The task that shipped it, as the spec names it.
        breaks: What it breaks: a JSON pointer into the contract, or `criterion 2` of the task.
        statement: What stands there.
        heading: Of the example.
        prose: What it shows.
        code: Its python block.
        expected: Its text block.
        observed: How the outcome differs.
    """

    module_ref: ModuleRefText
    name: Text
    task_id: Text
    breaks: str
    statement: Text
    heading: Text
    prose: Text
    code: str
    expected: str = Field(min_length=1)
    observed: Text

    @property
    def example(self) -> Example:
        """The example, as the gate runs it."""
        return Example(self.heading, self.prose, self.code, self.expected, 1)

    @property
    def broken_statement(self) -> str:
        """What it breaks, and what stands there."""
        return f"{self.breaks or 'the purpose'}: {self.statement}"

    @property
    def text(self) -> str:
        """The example as `examples.md` has it."""
        fence = "`" * 3
        return (
            f"## {self.heading}\n\n{self.prose}\n\n{fence}python\n{self.code.rstrip()}\n{fence}\n\n"
            f"{fence}text\n{self.expected}\n{fence}\n"
        )
