"""The JSON Schemas that an implementer may look up: of debate records, contracts, plans and evidence (design:
engineering, role-access)."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from specwright import canonical_json
from specwright.domain.base.record import Record
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.debate.debate import Adjudication, Challenge, Proposal
from specwright.domain.modules.evidence import ShipEvidence
from specwright.domain.plan.micro_plan import MicroPlan, ReuseSearchReport

_SCHEMAS: tuple[type[Record], ...] = (
    Proposal,
    Challenge,
    Adjudication,
    MicroModuleContract,
    MicroPlan,
    ShipEvidence,
    ReuseSearchReport,
)
_CITES = re.compile(r"\bdesign(?::|\.md)")


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
