"""A product as one pure-Python wheel, byte-equal wherever it is made (D28).

The sealed files go in unchanged, each module as a subpackage (D21); what is written here is the package's
`__init__.py`, `py.typed` and the metadata. flit_core makes the archive and its records; no build runs in a
subprocess and the working directory stays where it is.
"""

import io
import json
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from flit_core.wheel import WheelBuilder

from specwright import canonical_json
from specwright.domain.ship import tree_sha256
from specwright.errors import CorruptionError, RefusedError
from specwright.packaging.exports import Exports, exports_of
from specwright.ports.packaging import BuiltWheel, ProductModule, ProductPackage

__all__ = ["build_wheel", "sealed_tree"]

# the first moment that a zip archive can hold; SOURCE_DATE_EPOCH would have to be set for the whole process
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)
_SUMMARY_LENGTH = 200


def build_wheel(product: ProductPackage) -> BuiltWheel:
    """Make the wheel of a product.

    Raises:
        RefusedError: two modules of one name, a path that leaves its directory, an unknown task-facing
            module, or names and requirements that the wheel format does not take.
        CorruptionError: the sealed files in the archive are not those that were given.
    """
    _check(product)
    exports = exports_of(product.modules, product.task_facing)
    with tempfile.TemporaryDirectory(prefix="specwright-wheel-") as stage:
        _write(Path(stage), _files(product, exports))
        file_name, content = _archive(Path(stage), product)
    _check_sealed(content, product)
    return BuiltWheel(file_name, content, canonical_json.sha256(content), tuple(exports))


def _check(product: ProductPackage) -> None:
    names = [module.contract.name for module in product.modules]
    if len(set(names)) != len(names):
        raise RefusedError("two modules of the product have one name", where=", ".join(sorted(names)))
    for module in product.modules:
        for path in module.implementation:
            parts = PurePosixPath(path).parts
            if path != "/".join(parts) or path.startswith("/") or ".." in parts:
                raise RefusedError(
                    f"{path!r} is no path below a module's directory", where=module.contract.ref
                )
    for requirement in product.requires:
        if not requirement[:1].isalnum():
            raise RefusedError(f"{requirement!r} is not a requirement on a package", where="requires")


def _files(product: ProductPackage, exports: Exports) -> dict[str, bytes]:
    package = product.import_name
    files = {
        "pyproject.toml": _pyproject(product).encode(),
        "README.md": _readme(product).encode(),
        f"{package}/__init__.py": _init(product, exports).encode(),
        f"{package}/py.typed": b"",
    }
    for module in product.modules:
        for path, data in module.implementation.items():
            files[f"{package}/{module.contract.name}/{path}"] = data
    return files


def _pyproject(product: ProductPackage) -> str:
    project = {
        "name": product.distribution,
        "version": product.version,
        "description": _summary(product),
        "readme": "README.md",
        "requires-python": ">=3.11",
        "dependencies": list(product.requires),
    }
    # JSON strings and lists are TOML ones as long as no character is left that only JSON takes bare (DEL)
    table = "\n".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in project.items())
    return (
        '[build-system]\nrequires = ["flit_core"]\nbuild-backend = "flit_core.buildapi"\n\n'
        f'[project]\n{table}\n\n[tool.flit.module]\nname = "{product.import_name}"\n'
    )


def _summary(product: ProductPackage) -> str:
    """One printable line: the metadata format has no place for more."""
    printable = "".join(character if character.isprintable() else " " for character in product.summary)
    return " ".join(printable.split())[:_SUMMARY_LENGTH].rstrip() or product.distribution


def _readme(product: ProductPackage) -> str:
    lines = [f"# {product.distribution}", "", _summary(product), ""]
    purposes = {module.contract.name: module.contract.purpose for module in product.modules}
    lines += [f"- `{product.import_name}.{name}`: {purposes[name]}" for name in product.task_facing]
    return "\n".join([*lines, ""])


def _init(product: ProductPackage, exports: Exports) -> str:
    docstring = _summary(product).replace("\\", "\\\\").replace('"', '\\"')
    by_module: dict[str, list[str]] = {}
    for name, module in exports.items():
        by_module.setdefault(module, []).append(name)
    lines = [f'"""{docstring}"""', ""]
    lines += [f"from .{module} import {', '.join(names)}" for module, names in sorted(by_module.items())]
    quoted = ", ".join(json.dumps(name) for name in exports)
    lines += ["", f"__all__ = [{quoted}]", f"__version__ = {json.dumps(product.version)}", ""]
    return "\n".join(lines)


def _write(stage: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        target = stage / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _archive(stage: Path, product: ProductPackage) -> tuple[str, bytes]:
    target = io.BytesIO()
    try:
        builder = WheelBuilder.from_ini_path(stage / "pyproject.toml", target)
        builder.source_time_stamp = _TIMESTAMP
        builder.build()
    except ValueError as error:  # flit_core's ConfigError, and its refusals of names and versions
        raise RefusedError(
            f"{product.distribution} {product.version} cannot be made into a wheel: {error}",
            remedy="change the title or the version of the spec, or the allowed packages",
        ) from error
    return builder.wheel_filename, target.getvalue()


def _check_sealed(content: bytes, product: ProductPackage) -> None:
    for module in product.modules:
        if tree_sha256(sealed_tree(content, product.import_name, module)) != tree_sha256(
            module.implementation
        ):
            raise CorruptionError(
                "the wheel does not hold the sealed files as they are",
                where=module.contract.ref,
                remedy="run `specwright verify`; compiled files have no place in a sealed implementation",
            )


def sealed_tree(content: bytes, import_name: str, module: ProductModule) -> dict[str, bytes]:
    """A module's files as a wheel holds them, by their path below the module's subpackage (D21)."""
    prefix = f"{import_name}/{module.contract.name}/"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {
            name.removeprefix(prefix): archive.read(name)
            for name in archive.namelist()
            if name.startswith(prefix)
        }
