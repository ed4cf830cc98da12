"""The JSON Schemas that an implementer may look up: of debate records, contracts, plans and evidence (F§3.4, F§9.7)."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from specwright import canonical_json
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import Adjudication, Challenge, Proposal
from specwright.domain.micro_plan import MicroPlan
from specwright.domain.record import Record
from specwright.domain.reuse import ReuseSearchReport
from specwright.domain.ship import ShipEvidence

__all__ = ["harness_schemas"]

_SCHEMAS: tuple[type[Record], ...] = (
    Proposal,
    Challenge,
    Adjudication,
    MicroModuleContract,
    MicroPlan,
    ShipEvidence,
    ReuseSearchReport,
)
_CITES = re.compile(r"§|\bD\d")


@lru_cache
def harness_schemas() -> Mapping[str, bytes]:
    """The seven schemas by the names of their records."""
    return {
        schema.__name__: canonical_json.pretty(_readable(schema.model_json_schema(by_alias=True)))
        for schema in _SCHEMAS
    }


def _readable(value: Any) -> Any:
    """Without descriptions that cite what its reader cannot open."""
    if isinstance(value, list):
        return [_readable(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        key: _readable(item)
        for key, item in cast("dict[str, Any]", value).items()
        if not (key == "description" and isinstance(item, str) and _CITES.search(item))
    }
