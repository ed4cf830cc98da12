"""The release: the four integration gates, and one wheel that was installed and tried (design: release)."""

from collections.abc import Sequence

from specwright.application import scopes
from specwright.application.announce import announce, review
from specwright.application.criteria import unshown_in_release
from specwright.application.factory import Factory, ProjectView
from specwright.application.store import layout
from specwright.application.store.file_hashes import note_hashes
from specwright.application.store.log_ends import note_release_end
from specwright.application.tasks import project_state
from specwright.domain.base.allowed_packages import required_by
from specwright.domain.base.graph import reachable
from specwright.domain.base.slugs import slugify
from specwright.domain.modules.release import (
    ProductResult,
    ReleaseManifest,
    Result,
    failure_report,
    import_name,
    release_manifest,
)
from specwright.domain.modules.release_gates import ReleaseModule, check_release_set, release_module
from specwright.domain.tasks.project_state import TaskStatus
from specwright.errors import CorruptionError, RefusedError
from specwright.ports.packaging import BuiltWheel, ProductModule, ProductPackage
from specwright.ports.progress import Step


def release_all(factory: Factory, again: int = 0) -> ReleaseManifest:
    """Release everything that the finished project shipped; `again` counts later releases by a person."""
    return _release(factory, _with_dependencies(factory, _shipped(factory)), scopes.release(again))


def release_some(factory: Factory, refs: Sequence[str], again: int) -> ReleaseManifest:
    """Release the given modules.

    Raises:
        RefusedError: one of them is not shipped (design: release).
    """
    shipped = set(_with_dependencies(factory, _shipped(factory)))
    if unknown := [ref for ref in refs if ref not in shipped]:
        raise RefusedError(
            f"only shipped modules can be released, these are not: {', '.join(unknown)}",
            remedy="`specwright modules` lists what is shipped",
        )
    return _release(factory, list(refs), scopes.release(again))


def last_release(factory: ProjectView) -> ReleaseManifest | None:
    """The newest release that the log knows."""
    if not factory.projection.releases:
        return None
    path = layout.manifest(factory.projection.releases[-1])
    return ReleaseManifest.from_bytes(factory.store.read(path), path)


def _release(factory: Factory, refs: list[str], scope_name: str) -> ReleaseManifest:
    scope = factory.journal.scope(scope_name)
    release_id, now = f"REL-{scope.hex8()}", scope.now()
    spec = factory.projection.spec
    if spec is None:
        raise CorruptionError("no approved spec is in the log")
    index = {entry.ref: entry for entry in factory.index.entries()}
    modules = [
        release_module(factory.modules.contract(ref), factory.modules.evidence(ref), index) for ref in refs
    ]
    check_release_set(modules)
    product, wheel = _product(factory, modules)
    unshown = unshown_in_release(factory, scope, _tasks_of(factory, refs))
    manifest = release_manifest(release_id, now, spec.spec_version, modules, product, unshown)
    if wheel is not None:
        factory.store.publish(layout.wheel(release_id, wheel.file_name), wheel.content)
    if report := failure_report(manifest, modules):
        path, data = layout.failure_report(release_id), report.encode()
        factory.store.publish(path, data)
        note_hashes(scope, {path: data})
    factory.store.publish(layout.manifest(release_id), manifest.to_bytes())
    sha256 = factory.store.define(manifest.to_bytes())
    project_id = factory.projection.project_id
    announce(factory, scope, project_id, [review(project_id, "release.made", sha256, release_id)])
    note_release_end(factory.store, factory.log, release_id)
    factory.progress.note(
        Step("released", "", f"{release_id}: {manifest.overall_result}, product {product.result}")
    )
    return manifest


def _product(factory: Factory, modules: Sequence[ReleaseModule]) -> tuple[ProductResult, BuiltWheel | None]:
    try:
        package = _package(factory, modules)
        wheel = factory.packager.build(package)
    except RefusedError as error:
        return ProductResult.without_wheel(error.what), None
    factory.progress.note(Step("wheel", "", f"trying {wheel.file_name} in an environment of its own"))
    report = factory.packager.exercise(wheel, package)
    result = ProductResult(
        wheel=wheel.file_name, sha256=wheel.sha256, result=Result(report.result), detail=report.detail
    )
    return result, wheel


def _package(factory: Factory, modules: Sequence[ReleaseModule]) -> ProductPackage:
    spec = factory.projection.spec
    assert spec is not None
    distribution = slugify(spec.title)
    facing = {entry.module_ref for entry in project_state(factory).tasks.values()}
    names = tuple(m.contract.name for m in modules if m.ref in facing)
    product = tuple(_module(factory, m) for m in modules)
    sources = [data for m in product for path, data in m.implementation.items() if path.endswith(".py")]
    return ProductPackage(
        distribution=distribution,
        import_name=import_name(distribution),
        version=spec.spec_version,
        summary=spec.description,
        modules=product,
        task_facing=names or tuple(m.contract.name for m in modules),
        requires=required_by(factory.packages, sources),
    )


def _module(factory: Factory, module: ReleaseModule) -> ProductModule:
    files = factory.modules.files(module.ref)
    implementation = {
        path.removeprefix("implementation/"): data
        for path, data in files.items()
        if path.startswith("implementation/")
    }
    return ProductModule(module.contract, implementation, files["examples.md"].decode())


def _shipped(factory: Factory) -> list[str]:
    state = project_state(factory)
    entries = sorted(state.tasks.values(), key=lambda entry: entry.declaration_order)
    refs = [ref for entry in entries if entry.status is TaskStatus.SHIPPED for ref in entry.module_refs]
    return list(dict.fromkeys(refs))


def _tasks_of(factory: Factory, refs: Sequence[str]) -> list[str]:
    """The tasks that shipped any of some modules."""
    tasks = project_state(factory).tasks
    return [task_id for task_id, entry in tasks.items() if set(entry.module_refs) & set(refs)]


def _with_dependencies(factory: Factory, refs: list[str]) -> list[str]:
    """The modules and whatever they call, each once, what is called after its first caller."""
    called = reachable(refs, lambda ref: [d.ref for d in factory.modules.contract(ref).dependencies])
    return [*refs, *called]
