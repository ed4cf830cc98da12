"""What a provider's client raises, told as one message: who refused, and what to do.

The clients' own classes differ by provider and are told apart by status code and by the names of their bases, so
that no provider needs to be imported.
"""

from specwright.errors import InputError, ModelUnavailableError, SpecwrightError

__all__ = ["translated"]

_UNREACHABLE = {"APIConnectionError", "ConnectError", "ConnectionError", "TransportError"}
_UNREADABLE = {"ValueError", "TypeError", "LookupError", "AttributeError"}
_TIMED_OUT = {"APITimeoutError", "TimeoutException", "TimeoutError"}


def translated(error: Exception) -> SpecwrightError:
    """The error that a person sees for a failed model call."""
    names = {base.__name__ for base in type(error).__mro__}
    status = getattr(error, "status_code", None)
    said = _first_line(error)
    if names & _TIMED_OUT:
        return ModelUnavailableError(
            "the model did not answer in time",
            where=said,
            remedy="raise `timeout_seconds` in specwright.toml, or run again",
        )
    if names & _UNREACHABLE:
        return ModelUnavailableError(
            "the model's endpoint cannot be reached",
            where=said,
            remedy="check --base-url and that the server runs; `specwright doctor` tells more; then run again",
        )
    if status in (401, 403):
        return InputError("the endpoint refuses the key", where=said, remedy="set the provider's API key")
    if status == 404:
        return InputError(
            "the endpoint does not know this model",
            where=said,
            remedy="check the name after the colon in --model",
        )
    if status is None and names & _UNREADABLE:
        return ModelUnavailableError(
            "the endpoint's answer is none that its protocol knows",
            where=f"{type(error).__name__}: {said}",
            remedy="check --base-url (for most servers it ends in /v1) and what listens there",
        )
    return ModelUnavailableError(
        "the model call failed", where=f"{type(error).__name__}: {said}", remedy="run again to go on"
    )


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    said = (text[0] if text else type(error).__name__)[:300]
    address = _address(error)
    return f"{address}: {said}" if address else said


def _address(error: Exception) -> str:
    """The address that was asked, where the client's error still knows it; without anything that could be a secret."""
    url = str(getattr(getattr(error, "request", None), "url", ""))
    return url.partition("?")[0].rpartition("@")[2]
