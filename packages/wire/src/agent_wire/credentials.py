"""Patterns of credentials, which no Wire may contain (design: wire).

A pattern matches either the prefix that an issuer gives its keys, or a name such as `password` followed by a value. This
catches accidents and proves nothing: a key without a known prefix or name looks like any hash. The table omits patterns
that a hash, a ULID or a path could match by chance. Every pattern is valid both in Python's `re` and in Rust's engine, which
searches for all of them at once in linear time.
"""

import re
from collections.abc import Mapping

from jsonschema_rs import Draft202012Validator, RegexOptions

from agent_wire.errors import Rejection

_HEX, _WORD = "[0-9a-f]", "[A-Za-z0-9_-]"
_TOKEN_START = "(?:^|[^A-Za-z0-9])"  # noqa: S105 - a pattern
_NAMES = (
    "passw(?:or)?d|passphrase|secret|credentials?|api[_-]?key|(?:access|account|auth|private|shared|signing|encryption)"
    "[_-]?key|access[_-]?token|auth[_-]?token|refresh[_-]?token|id[_-]?token|client[_-]?secret|connection[_-]?string"
)
_SHORT_NAMES = "pwd|pass|pin|token"
_VALUE = r"(?:\\?[\"'])?[ ]*(?:=>|:=|[:=])[ ]*(?:\\?[\"'])?[^\s\"'\\\[\]{},;:=]"
"""An optional quote, a separator, an optional quote and the first character of the value, in text or JSON."""

TOKENS: Mapping[str, str] = {
    "an AWS key": "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    "an Alibaba Cloud key": "LTAI[A-Za-z0-9]{12,}",
    "an Azure client secret": "[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
    "an Azure shared access signature": r"sig=[A-Za-z0-9%]{30,}",
    "a Google key": "AIza[A-Za-z0-9_-]{30,}",
    "a Google OAuth secret": "(?:GOCSPX-[A-Za-z0-9_-]{20,}|ya29[.][A-Za-z0-9_-]{20,})",
    "a DigitalOcean token": f"do[opr]_v1_{_HEX}{{40,}}",
    "a GitHub token": "(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    "a GitLab token": f"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|oas)-{_WORD}{{16,}}",
    "a model provider's key": f"(?:sk-{_WORD}{{16,}}|gsk_[A-Za-z0-9]{{20,}}|xai-[A-Za-z0-9]{{20,}}|r8_[A-Za-z0-9]{{20,}}"
    "|pplx-[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,})",
    "a Stripe key": "(?:[sr]k_(?:live|test)_[A-Za-z0-9]{8,}|whsec_[A-Za-z0-9+/=]{16,})",
    "a Square token": f"(?:sq0(?:atp|csp)-{_WORD}{{20,}}|EAAA{_WORD}{{56,}})",
    "a Shopify token": f"shp(?:at|ca|pa|ss)_{_HEX}{{32}}",
    "a Vault token": "hv[bsr][.][A-Za-z0-9_-]{16,}",
    "a Terraform token": "[A-Za-z0-9]{14}[.]atlasv1[.][A-Za-z0-9_-]{20,}",
    "a Doppler token": "dp[.](?:pt|st|ct|sa|scim|audit)[.][A-Za-z0-9._-]{16,}",
    "a Slack token": "(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})",
    "a webhook": "(?:hooks[.]slack[.]com/(?:services|workflows|triggers)/[A-Za-z0-9/]{8,}"
    "|discord(?:app)?[.]com/api/webhooks/[0-9]{6,}/[A-Za-z0-9_-]{8,}"
    "|webhook[.]office[.]com/webhookb2/[A-Za-z0-9@/-]{8,}|hooks[.]zapier[.]com/hooks/catch/[0-9]+/[A-Za-z0-9]{4,})",
    "a Telegram bot's token": f"[0-9]{{8,10}}:AA{_WORD}{{30,}}",
    "a Discord bot's token": "[MNO][A-Za-z0-9_-]{23,27}[.][A-Za-z0-9_-]{6}[.][A-Za-z0-9_-]{27,}",
    "a Twilio key": f"SK{_HEX}{{32}}",
    "a mail service's key": f"(?:SG[.]{_WORD}{{16,}}[.]{_WORD}{{16,}}|key-{_HEX}{{32}}|{_HEX}{{32}}-us[0-9]{{1,2}}"
    f"|xkeysib-{_HEX}{{32,}})",
    "a package registry's token": "(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|rubygems_[0-9a-f]{40,}"
    "|dckr_pat_[A-Za-z0-9_-]{20,}|cio[A-Za-z0-9]{32})",
    "a database service's key": f"(?:sb_secret_{_WORD}{{16,}}|sbp_{_HEX}{{32,}}|pscale_(?:tkn|pw|oauth)_{_WORD}{{20,}})",
    "a Databricks token": f"dapi{_HEX}{{32}}",
    "a monitoring service's key": "(?:gls[ac]_[A-Za-z0-9_]{20,}|glc_[A-Za-z0-9+/=]{20,}|NRAK-[A-Z0-9]{20,}"
    "|sntry[su]_[A-Za-z0-9+/=_-]{20,})",
    "a developer service's key": f"(?:lin_api_[A-Za-z0-9]{{20,}}|ntn_[A-Za-z0-9]{{20,}}|PMAK-{_HEX}{{20,}}-{_HEX}{{20,}}"
    f"|pul-{_HEX}{{40}}|figd_{_WORD}{{20,}}|tskey-[a-z]+-[A-Za-z0-9-]{{10,}}|pat[A-Za-z0-9]{{14}}[.]{_HEX}{{64}}"
    f"|FlyV1 fm[0-9]_[A-Za-z0-9+/=]{{16,}}|ATATT3[A-Za-z0-9_=-]{{20,}})",
    "a JSON Web Token": f"eyJ{_WORD}{{8,}}[.]{_WORD}{{8,}}[.]",
    "a bearer token": "(?i:bearer) [A-Za-z0-9._~+/-]{16,}",
    "basic credentials": "(?i:authorization)(?:\\\\?[\"'])? ?[:=] ?(?:\\\\?[\"'])?(?i:basic) [A-Za-z0-9+/=]{4,}",
    "an age key": "AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    "a DER key": "(?:MI[A-Za-z0-9+/]{4}IBAAK[BC]|MI[A-Za-z0-9+/]{4}IBADANBgkqhkiG9w0BAQ"
    "|MI[A-Za-z0-9+/]{2}AgEAMB[AM]GByqGSM49|MH[A-Za-z0-9+/]CAQEE|MI[A-Za-z0-9+/]{2}AgEBB[A-Z]|MC4CAQAwBQYDK2V"
    "|MI[A-Za-z0-9+/]{6}BgkqhkiG9w0BBQ|MI[A-Za-z0-9+/]{2}M[A-Za-z0-9+/]{2}GCSqGSIb3DQEFD|b3BlbnNzaC1rZXktdjE)"
    "[A-Za-z0-9+/]{16,}",
    "a DER key in hex": f"(?i:30(?:{_HEX}{{2}}|81{_HEX}{{2}}|82{_HEX}{{4}})"
    f"(?:02010030{_HEX}{{2}}06|0201000282|0201000281|020100300d06092a86|02010104[2-4]|305[0-9a-f]06092a864886f70d0105)"
    f"{_HEX}{{16,}})",
}
"""Formats of issued keys. A match must not follow a letter or digit."""

ANYWHERE: Mapping[str, str] = {
    "key material": "-----BEGIN|PuTTY-User-Key-File",
    "a password in a URI": r"://[^/\s:@\"]*:[^/\s@\"]+@",
    "a value named as a secret": f"(?i:{_NAMES}){_VALUE}",
    "a value named as a secret ": f"(?:^|[^A-Za-z])(?i:{_SHORT_NAMES}){_VALUE}[^\\s\"'\\\\]{{3,}}",
}
"""Patterns that may also match in the middle of a word."""

FORMS: Mapping[str, str] = {name: _TOKEN_START + f"(?:{form})" for name, form in TOKENS.items()} | ANYWHERE

_HAS_NONE = Draft202012Validator(
    {"not": {"pattern": "|".join(f"(?:{form})" for form in FORMS.values())}}, pattern_options=RegexOptions()
)


def check_credentials(body: bytes) -> Rejection | None:
    """Reject canonical bytes that contain something like a credential; the message names its kind, not its value."""
    text = body.decode()
    if _HAS_NONE.is_valid(text):
        return None
    form = next((name.strip() for name, pattern in FORMS.items() if re.search(pattern, text)), "a credential")
    return Rejection("wire.secret", f"a value looks like {form}; reference it instead", "", "admission")
