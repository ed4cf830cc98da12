"""The packaging port: a release as an installable wheel (design: release)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.examples_file import Example, Outcome
from ship_gate.contract.properties import Property
from ship_gate.verdict import TriedProperty


class ProductModule(NamedTuple):
    """A sealed module.

    `implementation` maps posix paths below the version's `implementation/` (`__init__.py`) to their bytes;
    `examples` is the text of its `examples.md`.
    """

    contract: MicroModuleContract
    implementation: Mapping[str, bytes]
    examples: str


class ApprovedExample(NamedTuple):
    """An example of the approved spec, as a user of the package calls it.

    Args:
        task_id: Of the task whose criteria it shows, `TSK-001`.
        example: With the criteria in its heading.
    """

    task_id: str
    example: Example


class ApprovedProperty(NamedTuple):
    """A property of the approved spec, over calls as a user of the package makes them.

    Args:
        task_id: Of the task whose criteria it shows, `TSK-001`.
        property: With the criteria in its heading.
    """

    task_id: str
    property: Property


class ProductPackage(NamedTuple):
    """The content of one wheel.

    Args:
        distribution: The name for installation: the slug of the spec's title.
        import_name: The name for imports.
        version: `spec_version`.
        summary: Cut to one line.
        modules: One version per module, one module per name.
        task_facing: The names of the modules whose entry points the package exports.
        requires: Requirements on third-party packages (design: module-scope).
        notes: What each version added, changed and removed, as Markdown.
        approved: The examples that the person approved; they do not go into the wheel.
        properties: What the person approved for all values.
        interface: The document that the shell of the product reads; None of a product without one.
        guide: How its interfaces are used, as Markdown.
    """

    distribution: str
    import_name: str
    version: str
    summary: str
    modules: tuple[ProductModule, ...]
    task_facing: tuple[str, ...]
    requires: tuple[str, ...] = ()
    notes: str = ""
    approved: tuple[ApprovedExample, ...] = ()
    properties: tuple[ApprovedProperty, ...] = ()
    interface: Mapping[str, Any] | None = None
    guide: str = ""


class BuiltWheel(NamedTuple):
    """A wheel: its file name, its bytes with their SHA-256, and the names that its package exports."""

    file_name: str
    content: bytes
    sha256: str
    exports: tuple[str, ...]


class InstalledProduct(NamedTuple):
    """A product whose wheel is installed.

    Args:
        site: The folder that it is imported from.
        scratch: Where it is tried, each time in a folder of its own.
        product: Itself.
    """

    site: Path
    scratch: Path
    product: ProductPackage


class ImportedPackage(NamedTuple):
    """What an imported package says of itself.

    Args:
        file: That it was loaded from.
        version: By its `__version__`.
        installed_version: By its metadata.
        exports: Its names, and whether each is callable.
    """

    file: str
    version: str
    installed_version: str
    exports: Mapping[str, bool]


class CommandEnd(NamedTuple):
    """How a call of a command ended.

    Args:
        code: The exit code.
        stdout: What it printed.
        stderr: What it complained of.
        interrupted: Whether Ctrl-C came.
    """

    code: int
    stdout: bytes
    stderr: bytes
    interrupted: bool


class HttpRequest(NamedTuple):
    """A request to a product's HTTP API, with its path and query; a body is JSON."""

    method: str
    target: str
    body: bytes | None = None


class HttpAnswer(NamedTuple):
    """What came back."""

    status: int
    body: bytes


class ToolCalls(NamedTuple):
    """Calls of all tools of a product's MCP server.

    Args:
        revision: Of the protocol that the client speaks.
        arguments: Of each call.
    """

    revision: str
    arguments: Mapping[str, Any]


class ToolErrors(NamedTuple):
    """What became of calls of tools.

    Args:
        revision: Of the protocol that was agreed on.
        errors: Of each tool, by name; empty if there was none.
    """

    revision: str
    errors: Mapping[str, str]


class NoReportError(Exception):
    """A process that tried a product was stopped, or ended without a usable report."""


class ProductTrials(Protocol):
    """Runs an installed product where it can do no harm, each time in a process of its own."""

    def imported(self, installed: InstalledProduct, seconds: float) -> ImportedPackage | Outcome:
        """Import the package; an error of the import is the outcome.

        Raises:
            NoReportError: there was none.
        """
        ...

    def outcome(self, installed: InstalledProduct, place: str, code: str, seconds: float) -> Outcome:
        """Execute an example; one that imports from `modules` imports from the package instead.

        Args:
            installed: The product.
            place: The name of this job's folder.
            code: Of the example.
            seconds: For all of it.

        Raises:
            NoReportError: there was none.
        """
        ...

    def run_command(
        self,
        installed: InstalledProduct,
        place: str,
        arguments: Sequence[str],
        seconds: float,
        *,
        interrupted: bool = False,
    ) -> CommandEnd:
        """Call the product's command.

        Args:
            installed: The product.
            place: The name of the job's folder.
            arguments: After the name of the command.
            seconds: For all of it.
            interrupted: Whether Ctrl-C comes as the shell starts.

        Raises:
            NoReportError: it was stopped, or ended without a report.
        """
        ...

    def ask_api(
        self, installed: InstalledProduct, place: str, requests: Sequence[HttpRequest], seconds: float
    ) -> list[HttpAnswer]:
        """Send requests to the product's HTTP API, one after the other.

        Raises:
            NoReportError: it cannot be started, was stopped, or ended without a report.
        """
        ...

    def call_tools(
        self, installed: InstalledProduct, place: str, calls: ToolCalls, seconds: float
    ) -> ToolErrors:
        """Call the tools of the product's MCP server.

        Raises:
            NoReportError: as above.
        """
        ...

    def try_property(self, installed: InstalledProduct, place: str, one: Property) -> TriedProperty:
        """Look for values that make a property false."""
        ...


class ExampleOutcome(NamedTuple):
    """The result of an example, a property or a use of an interface against the installed package; `detail` is empty if it
    passed.

    `module` is the name of the module that has it, the task whose spec has it, or the program.
    """

    module: str
    heading: str
    passed: bool
    detail: str
    kind: Literal["example", "property", "command", "http", "mcp"] = "example"


class ExerciseReport(NamedTuple):
    """The result of trying the installed wheel; `detail` is a sentence or two for the manifest."""

    result: Literal["PASS", "FAIL"]
    detail: str
    examples: tuple[ExampleOutcome, ...]


class Packager(Protocol):
    """Makes the wheel of a product and tests it."""

    def build(self, product: ProductPackage) -> BuiltWheel:
        """Make the wheel; the same product gives the same bytes anywhere.

        Raises:
            RefusedError: this product cannot be packaged.
        """
        ...

    def exercise(self, wheel: BuiltWheel, product: ProductPackage) -> ExerciseReport:
        """Install a wheel into an environment of its own, import it, and run every example and property against it.

        A wheel that cannot be installed, imported or called is a FAIL, not an error.

        Raises:
            SpecwrightError: no environment could be made, or there is no sandbox.
        """
        ...
