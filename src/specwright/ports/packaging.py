"""The packaging port: a release as an installable wheel (design: release)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from specwright.domain.acceptance.calls import Property
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.examples_file import Example, Outcome
from specwright.ports.gate import TriedProperty


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

    def try_property(self, installed: InstalledProduct, place: str, one: Property) -> TriedProperty:
        """Look for values that make a property false."""
        ...


class ExampleOutcome(NamedTuple):
    """The result of an example or a property against the installed package; `detail` is empty if it passed.

    `module` is the name of the module that has it, or the task whose spec has it.
    """

    module: str
    heading: str
    passed: bool
    detail: str
    kind: Literal["example", "property"] = "example"


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
