"""Checks of a Wire by itself: its JSON Schema, and that it carries no credential (design: wire).

An event type without a schema is not accepted. Schemas leave one short free text and the extensions; the search for
credentials looks at the whole canonical body, so that it misses no field. It knows the usual forms of keys and tokens:
it catches accidents and proves nothing. Order, transitions and causes are checked in `specwright.wire.admission`.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache

from jsonschema_rs import Draft202012Validator, Registry, ValidationError

from specwright.canonical_json import JsonObject
from specwright.wire import data
from specwright.wire.rejection import Rejection
from specwright.wire.tables import Tables, default_tables

_ENVELOPE = "envelope.schema.json"


class Schemas:
    """The compiled schemas.

    Args:
        documents: File name -> JSON Schema, as `data.schemas` gives them.
        tables: Name the schema of each event type.
    """

    def __init__(self, documents: Mapping[str, JsonObject], tables: Tables) -> None:
        registry = Registry([(str(document["$id"]), document) for document in documents.values()])
        self._compiled = {
            name: Draft202012Validator(document, registry=registry, validate_formats=False)
            for name, document in documents.items()
        }
        self._by_type = {event: self._compiled[rule.schema] for event, rule in tables.events.items()}

    def check(self, wire: JsonObject) -> Rejection | None:
        """The first violation of the Wire's own schema, None if it is valid."""
        validator = self._by_type.get(str(wire.get("type")))
        if validator is None:
            unknown = Rejection("wire.unknown_type", "this event type has no schema", "/type", "schema")
            return self.check_document(_ENVELOPE, wire) or unknown
        return None if validator.is_valid(wire) else _first(validator.iter_errors(wire))

    def check_document(self, name: str, document: JsonObject) -> Rejection | None:
        """The first violation of the schema of this file name by any document."""
        validator = self._compiled[name]
        return None if validator.is_valid(document) else _first(validator.iter_errors(document))


@cache
def default_schemas() -> Schemas:
    """The schemas of Agent Wire 1.1 as they ship."""
    return Schemas(data.schemas(), default_tables())


def _first(errors: Iterable[ValidationError]) -> Rejection:
    """The first violation by pointer and keyword, whatever the validator's order."""
    pointer, keyword, message = min((_pointer(error), error.kind.name, error.message) for error in errors)
    return Rejection("wire.schema", message, pointer, "schema", keyword)


def _pointer(error: ValidationError) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in error.instance_path)


_SHAPES = (
    rb"AKIA[0-9A-Z]{16}",  # cloud access key
    rb"gh[pousr]_[A-Za-z0-9]{20,}",  # forge tokens
    rb"github_pat_[A-Za-z0-9_]{20,}",
    rb"glpat-[A-Za-z0-9_-]{16,}",
    rb"sk-[A-Za-z0-9_-]{16,}",  # model providers
    rb"hf_[A-Za-z0-9]{20,}",
    rb"AIza[A-Za-z0-9_-]{30,}",
    rb"xox[abeprs]-[A-Za-z0-9-]{10,}",  # chat
    rb"npm_[A-Za-z0-9]{30,}",  # registries
    rb"pypi-[A-Za-z0-9_-]{30,}",
    rb"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.",  # JSON Web Token
    rb"[Bb]earer [A-Za-z0-9._~+/-]{16,}",
)
_CREDENTIAL = re.compile(
    rb"(?<![A-Za-z0-9])(?:" + rb"|".join(_SHAPES) + rb")"
    rb"|-----BEGIN"  # key material
    rb"|://[^/\s:@\"]+:[^/\s@\"]+@"  # password in a URI
    rb"|(?:[Pp]assw(?:or)?d|PASSW(?:OR)?D|[Ss]ecret|SECRET|[Aa]pi[_-]?[Kk]ey|API[_-]?KEY)(?:[=:]|\":\")[^\s\"]{4,}"
)
_MARKS = (
    *("AKIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "hf_", "AIza", "xox"),
    *("npm_", "pypi-", "eyJ", "earer ", "-----BEGIN", "://", "assw", "ASSW", "ecret", "ECRET"),
    *("pi_", "pi-", "PI_", "PI-", "pikey", "piKey", "PIKEY"),
)
_HAS_MARK = Draft202012Validator({"pattern": "|".join(map(re.escape, _MARKS))})
"""Whether a text has a mark that every match of `_CREDENTIAL` has.

Most Wires have none, and the validator's engine looks for all marks at once, a hundred times faster."""


def check_credentials(body: bytes) -> Rejection | None:
    """The rejection if canonical bytes hold something that looks like a credential."""
    if not _HAS_MARK.is_valid(body.decode()) or _CREDENTIAL.search(body) is None:
        return None
    return Rejection("wire.secret", "a value looks like a credential; reference it instead", "", "admission")
