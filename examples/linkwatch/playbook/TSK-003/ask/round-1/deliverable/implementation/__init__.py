"""Send one request to a web server, and say what came back."""

import http.client
import ssl
from dataclasses import dataclass
from socket import gaierror
from urllib.parse import quote, urlsplit

__all__ = ["Answer", "ask"]

_PLAIN = "!$%&'()*+,/:;=?@[]~"


@dataclass(frozen=True)
class Answer:
    """What a server answered; without a status, why it did not."""

    status: int | None
    location: str = ""
    reason: str = ""


def ask(url: str, method: str, headers: dict[str, str], timeout_seconds: float = 10.0) -> Answer:
    if method not in ("HEAD", "GET"):
        raise ValueError(f"the method {method!r} is neither HEAD nor GET")
    if not 0 < timeout_seconds <= 60:
        raise ValueError("the timeout is not above 0 and at most 60 seconds")
    try:
        return _ask(url, method, headers, timeout_seconds)
    except gaierror:
        return Answer(None, reason="no such host")
    except ConnectionRefusedError:
        return Answer(None, reason="refused")
    except TimeoutError:
        return Answer(None, reason="timeout")
    except ssl.SSLCertVerificationError:
        return Answer(None, reason="certificate")
    except (ValueError, http.client.InvalidURL) as error:
        return Answer(None, reason=f"cannot be asked: {error}")
    except (OSError, http.client.HTTPException):
        return Answer(None, reason="no answer")


def _ask(url: str, method: str, headers: dict[str, str], timeout_seconds: float) -> Answer:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it is no address of the web")
    secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=timeout_seconds)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request(method, quote(target, safe=_PLAIN), headers=headers)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers.get("Location", ""))
    finally:
        connection.close()
