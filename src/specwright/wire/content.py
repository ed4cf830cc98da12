"""The content boundary at the producer: no credential in a Wire (W HCS Content Boundary, D30).

Schemas leave one short free text and the extensions; this looks at the whole canonical body, so that no field
is forgotten. It knows the usual shapes of keys and tokens; it is a net for accidents, not a proof.
"""

import re

from jsonschema_rs import Draft202012Validator

from specwright.wire.rejection import Rejection

__all__ = ["secret_fault"]

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
_SECRET = re.compile(
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
_SUSPECT = Draft202012Validator({"pattern": "|".join(map(re.escape, _MARKS))})
"""Whether a text holds a mark that every match of `_SECRET` has.

Most Wires hold none, and the validator's engine looks for all marks at once, a hundred times faster."""


def secret_fault(body: bytes) -> Rejection | None:
    """The rejection if canonical bytes hold something that looks like a credential."""
    if not _SUSPECT.is_valid(body.decode()) or _SECRET.search(body) is None:
        return None
    return Rejection("wire.secret", "a value looks like a credential; reference it instead", "", "admission")
