"""Retiring a sealed module version: the decision first, as a Wire, then the Code Index (design: deprecation)."""

from collections.abc import Iterable

from specwright.application import scopes
from specwright.application.announce import announce, review
from specwright.application.factory import Factory
from specwright.domain.base.ids import ModuleRef
from specwright.domain.escalation.resolutions import OPERATOR
from specwright.domain.modules.code_index import CodeIndexEntry, IndexStatus
from specwright.domain.modules.deprecation import Deprecation, DeprecationRequest
from specwright.errors import RefusedError
from specwright.ports.progress import Step


def deprecate(factory: Factory, asked: DeprecationRequest) -> Deprecation:
    """Deprecate a sealed version. Its files stay; search and release no longer offer it.

    Raises:
        RefusedError: the version or its replacement is not sealed here, or is retired already.
    """
    ref = asked.module_ref
    entry = _active(factory, ref)
    if asked.replacement is not None:
        _active(factory, asked.replacement)
    scope = factory.journal.scope(scopes.deprecation(ref))
    decided = Deprecation(
        **asked.model_dump(),
        decided_at=scope.now(),
        decided_by=OPERATOR,
        consumers=[consumer.ref for consumer in consumers(factory.index.entries(), ref)],
    )
    project_id = factory.projection.project_id
    sha256 = factory.store.define(decided.to_bytes())
    announce(factory, scope, project_id, [review(project_id, "module.deprecated", sha256, ref, OPERATOR)])
    _retire(factory, decided)
    factory.progress.note(Step("deprecated", "", f"{entry.name} {ref}"))
    return decided


def finish_deprecations(factory: Factory) -> None:
    """Retire in the Code Index what the log says is deprecated, where a crash came in between.

    An entry that is gone is for `verify` to report.
    """
    for decided in factory.projection.deprecations.values():
        if factory.index.get(*ModuleRef.parse(decided.module_ref)) is not None:
            _retire(factory, decided)


def consumers(entries: Iterable[CodeIndexEntry], ref: str) -> list[CodeIndexEntry]:
    """The entries whose dependencies name a version (design: deprecation)."""
    return [entry for entry in entries if ref in entry.dependencies]


def _active(factory: Factory, ref: str) -> CodeIndexEntry:
    """The entry of a version that is in use."""
    entry = factory.index.get(*ModuleRef.parse(ref))
    if entry is None:
        raise RefusedError(f"{ref} is not sealed here", remedy="`specwright modules` lists what is")
    if entry.status is not IndexStatus.SHIPPED:
        raise RefusedError(f"{ref} is {entry.status} already", where=entry.name, remedy=entry.notes)
    return entry


def _retire(factory: Factory, decided: Deprecation) -> None:
    key = ModuleRef.parse(decided.module_ref)
    factory.index.retire(*key, decided.status, decided.replacement, decided.notice)
