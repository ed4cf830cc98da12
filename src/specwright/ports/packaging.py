"""The packaging port: a release as an installable wheel (design: release)."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.examples_file import Example


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


class BuiltWheel(NamedTuple):
    """A wheel: its file name, its bytes with their SHA-256, and the names that its package exports."""

    file_name: str
    content: bytes
    sha256: str
    exports: tuple[str, ...]


class ExampleOutcome(NamedTuple):
    """The result of an example against the installed package; `detail` is empty if it passed.

    `module` is the name of the module that has it, or the task whose spec has it.
    """

    module: str
    heading: str
    passed: bool
    detail: str


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
        """Install a wheel into an environment of its own, import it, and run every example against it.

        A wheel that cannot be installed, imported or called is a FAIL, not an error.

        Raises:
            SpecwrightError: no environment could be made.
        """
        ...
