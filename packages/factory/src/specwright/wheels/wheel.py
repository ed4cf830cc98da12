"""A product as one pure-Python wheel, with the same bytes wherever it is made (design: release).

The sealed files go in unchanged, each module as a subpackage. The package's `__init__.py`, `py.typed` and the metadata
are written here. flit_core makes the archive and its records, without a subprocess or a change of the working directory.

The shell of a product with interfaces is `<package>/_shell`: modules of this package as they are, and `interface.json`.

The package exports everything in the literal `__all__` of each task-facing module: the entry point, its `_async` twin,
and the exception and output classes that its contract names. Of other modules it exports what the spec provides. The
sources are read, not imported.
"""

import io
import json
import re
import tempfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from flit_core.wheel import WheelBuilder

from agent_wire import canonical_json
from ship_gate.base.text import one_line
from ship_gate.contract.docstring import entry_points
from ship_gate.source.files import SourceError, TopLevel, parse_source, read_top_level
from specwright.errors import RefusedError
from specwright.files import write_files
from specwright.ports import BuiltWheel, ProductModule, ProductPackage
from specwright.wheels import shell

# the earliest time of a zip archive; SOURCE_DATE_EPOCH would have to be set for the whole process
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)
_SUMMARY_LENGTH = 200
_CUTS = tuple(
    rf".{{1,{_SUMMARY_LENGTH - 1}}}{end}" for end in (r"[.!?](?= [^a-z])", "(?=[,;:] )", "(?= )", "")
)
"""Where a long summary ends: after a sentence, else a clause, else a word, else anywhere."""

Exports: TypeAlias = Mapping[str, str]
"""The module of each exported name, sorted by name."""


def build_wheel(product: ProductPackage) -> BuiltWheel:
    """Make the wheel of a product.

    Raises:
        RefusedError: a path that leaves its directory, an unknown task-facing
            module, or names and requirements that the wheel format does not take.
    """
    _check(product)
    exports = exports_of(product)
    with tempfile.TemporaryDirectory(prefix="specwright-wheel-") as stage:
        written = {"pyproject.toml": _pyproject(product).encode(), "README.md": readme(product).encode()}
        write_files(Path(stage), written | package_files(product, exports))
        file_name, content = _archive(Path(stage), product)
    return BuiltWheel(file_name, content, canonical_json.sha256(content), tuple(exports))


def _check(product: ProductPackage) -> None:
    for module in product.modules:
        for path in module.implementation:
            parts = PurePosixPath(path).parts
            if path != "/".join(parts) or path.startswith("/") or ".." in parts:
                raise RefusedError(
                    f"{path!r} is not a path below a module's directory", where=module.contract.ref
                )
    for requirement in product.requires:
        if not requirement[:1].isalnum():
            raise RefusedError(f"{requirement!r} is not a requirement on a package", where="requires")


def package_files(product: ProductPackage, exports: Exports) -> dict[str, bytes]:
    """The files of the package, by their paths below the folder that holds it."""
    package = product.import_name
    files = {
        f"{package}/__init__.py": _init(product, exports).encode(),
        f"{package}/py.typed": b"",
    }
    for module in product.modules:
        for path, data in module.implementation.items():
            files[f"{package}/{module.contract.name}/{path}"] = data
    return files | (_shell(product) if product.interface else {})


def _shell(product: ProductPackage) -> dict[str, bytes]:
    """The shell, which no module of a product can be: their names begin with a letter."""
    folder = f"{product.import_name}/_shell"
    sources = [file for file in resources.files(shell).iterdir() if file.name.endswith(".py")]
    stated = product.interface or {}
    main = {f"{product.import_name}/__main__.py": _MAIN} if "command" in stated else {}
    unused = {name for name, kinds in _SERVER_MODULES.items() if not kinds & set(stated)}
    return {
        **{f"{folder}/{file.name}": file.read_bytes() for file in sources if file.name not in unused},
        f"{folder}/interface.json": canonical_json.pretty(product.interface),
        **main,
    }


_SERVER_MODULES = {
    "http_api.py": {"http"},
    "mcp_server.py": {"mcp"},
    **{name: {"http", "mcp"} for name in ("models.py", "served.py", "servers.py")},
}
"""Go in only with one of these interfaces."""

SERVER_PACKAGES = {"fastapi": ">=0.165", "mcp": ">=2.3,<3", "uvicorn": ">=0.54"}
"""What the servers of a product are made with, each with its versions."""

_PROGRAMS = {"command": "command:main", "http": "servers:http", "mcp": "servers:mcp"}
"""The function of the shell that is the program of an interface."""


_MAIN = b'''"""The command of this product, as `python -m` calls it."""

import sys

from ._shell.command import main

if __name__ == "__main__":
    sys.exit(main())
'''


def _pyproject(product: ProductPackage) -> str:
    return (
        '[build-system]\nrequires = ["flit_core"]\nbuild-backend = "flit_core.buildapi"\n\n'
        f'{project_table(product)}[tool.flit.module]\nname = "{product.import_name}"\n'
    )


def project_table(product: ProductPackage) -> str:
    """The metadata in the form of `pyproject.toml`."""
    project = {
        "name": product.distribution,
        "version": product.version,
        "description": _summary(product),
        "readme": "README.md",
        "requires-python": ">=3.11",
        **({"license": product.license} if product.license else {}),
        "dependencies": list(product.requires),
    }
    # JSON strings and lists are TOML ones as long as no character is left that only JSON takes bare (DEL)
    table = "\n".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in project.items())
    return f"[project]\n{table}\n\n{_extras(product)}{_scripts(product)}"


def _extras(product: ProductPackage) -> str:
    """What its servers need; the wheel itself needs nothing for them."""
    if not {"http", "mcp"} & set(product.interface or {}):
        return ""
    needs = [f"{name}{versions}" for name, versions in SERVER_PACKAGES.items()]
    return f"[project.optional-dependencies]\ninterfaces = {json.dumps(needs)}\n\n"


def programs_of(product: ProductPackage) -> dict[str, str]:
    """The programs that are installed, each with its function of the shell."""
    stated = product.interface or {}
    return {stated[kind]["name"]: function for kind, function in _PROGRAMS.items() if kind in stated}


def _scripts(product: ProductPackage) -> str:
    lines = [
        f'{json.dumps(name)} = "{product.import_name}._shell.{function}"\n'
        for name, function in programs_of(product).items()
    ]
    return "".join(["[project.scripts]\n", *lines, "\n"]) if lines else ""


def _summary(product: ProductPackage) -> str:
    """One printable line: the metadata format allows no more."""
    line = one_line(product.summary) or product.distribution
    if len(line) <= _SUMMARY_LENGTH:
        return line
    (begun, *_) = (found[0] for cut in _CUTS if (found := re.match(cut, line)))
    return begun if begun[-1] in ".!?" else f"{begun}…"


def readme(product: ProductPackage) -> str:
    """What the product is, how its interfaces are used, and what each version changed."""
    lines = [f"# {product.distribution}", "", one_line(product.summary) or product.distribution, ""]
    purposes = {module.contract.name: module.contract.purpose for module in product.modules}
    lines += [f"- `{product.import_name}.{name}`: {purposes[name]}" for name in product.task_facing]
    lines += ["", product.guide] if product.guide else []
    return "\n".join([*lines, "", *([product.notes] if product.notes else [])])


def _init(product: ProductPackage, exports: Exports) -> str:
    docstring = _summary(product).replace("\\", "\\\\").replace('"', '\\"')
    lines = [f'"""{docstring}"""', ""]
    by_module = {module: [one for one in exports if exports[one] == module] for module in exports.values()}
    lines += [f"from .{module} import {', '.join(names)}" for module, names in sorted(by_module.items())]
    quoted = ", ".join(json.dumps(name) for name in exports)
    lines += ["", f"__all__ = [{quoted}]", f"__version__ = {json.dumps(product.version)}", ""]
    return "\n".join(lines)


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


def exports_of(product: ProductPackage) -> Exports:
    """The names that the package re-exports: all of task-facing modules, and what the spec provides of any module.

    A module's entry point has precedence over other exports of its name. A class that several modules export comes from
    the one that defines it; if that is not exactly one, only the subpackages export it.

    Raises:
        RefusedError: a task-facing module is not in the product, or does not export its entry point.
    """
    by_name = {module.contract.name: module for module in product.modules}
    if unknown := [name for name in product.task_facing if name not in by_name]:
        raise RefusedError(
            f"the product has no module named {', '.join(unknown)}",
            remedy="release the modules that the tasks are called by",
        )
    sources = {name: _read(by_name[name]) for name in product.task_facing}
    names = {name for source in sources.values() for name in source.exports}
    owners = {name: _owner(name, sources) for name in names}
    if others := [name for name in product.provided if owners.get(name) is None]:
        sources = {name: _read(module) for name, module in by_name.items()}
        owners |= {name: _owner(name, sources) for name in others}
    return {name: owner for name, owner in sorted(owners.items()) if owner is not None}


def _owner(name: str, sources: Mapping[str, TopLevel]) -> str | None:
    if name in sources and name in sources[name].exports:
        return name
    exporting = [module for module, source in sources.items() if name in source.exports]
    if len(exporting) == 1:
        return exporting[0]
    defining = [module for module in exporting if name in sources[module].classes]
    return defining[0] if len(defining) == 1 else None


def _read(module: ProductModule) -> TopLevel:
    name = module.contract.name
    try:
        tree = parse_source(module.implementation.get("__init__.py", b""), "__init__.py")
        found = read_top_level(tree, "__init__.py")
    except SourceError as error:
        raise RefusedError(f"{name} cannot be read: {error}", where=module.contract.ref) from error
    if entry_points(module.contract) and name not in found.exports:
        raise RefusedError(f"{name} does not export its entry point", where=module.contract.ref)
    return found
