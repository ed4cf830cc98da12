"""Keep keys and passwords of the environment out of texts and child processes."""

import os
import re
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

_KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk|key|xai|gsk|tvly|hf|ghp|github_pat)[-_][A-Za-z0-9_\-]{8,}"
    r"|\b(?:AIza[A-Za-z0-9_\-]{20,}|AKIA[A-Z0-9]{12,}|eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_.\-]+)"
    r"|(?<=Bearer )\S+|(?<=x-api-key: )\S+",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|AUTH)$|^HEDERA_", re.IGNORECASE
)
_NEEDED_BY_COMMANDS = re.compile(
    r"(?!HEDERA_|SPECWRIGHT_STUDIO_)(?:.*_API_KEY$|AWS_|AZURE_|GOOGLE_|PG|SPECWRIGHT_)"
)
_LOGIN = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_MAY_HOLD_LOGIN = re.compile(r"^PIP_|PROXY$", re.IGNORECASE)
_SHORTEST_SECRET = 6


def child_environment(*, command: bool = False) -> dict[str, str]:
    """Return the environment for a child process, without keys and passwords.

    Args:
        command: Keep the credentials of providers and the store, for a `specwright` command.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if (command and _NEEDED_BY_COMMANDS.match(name))
        or not (_SECRET_NAME.search(name) or (_LOGIN.search(value) and not _MAY_HOLD_LOGIN.search(name)))
    }


def without_secrets(text: str) -> str:
    """Mask secrets in a text: what looks like a key, the values of secret variables, and logins in URLs."""
    for name, value in os.environ.items():
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET:
            for form in _forms(value):
                text = text.replace(form, "***")
    return _LOGIN.sub("***", _KEY_LIKE.sub("***", text))


def _forms(secret: str) -> Iterator[str]:
    """Yield the encodings in which an endpoint may repeat a secret: plain, URL-quoted, hexadecimal, within base64."""
    data = secret.encode(errors="replace")
    yield from (secret, quote(secret), quote(secret, ""), quote_plus(secret), data.hex(), data.hex().upper())
    for before, first in enumerate((0, 2, 3)):
        for others in (b"+/", b"-_"):
            yield b64encode(bytes(before) + data, others)[first : (before + len(data)) * 8 // 6].decode()
