"""What went wrong with a request, as our errors, and whether asking again may help."""

from __future__ import annotations

import httpx2
from msgspec import Struct
from pydantic_ai import exceptions as theirs

from ireneo.adapters.llm.words import shown
from ireneo.errors import BadInput, BadReply, IreneoError, ModelError, ModelRefused, ModelUnavailable

FAULTS = (
    theirs.AgentRunError,
    theirs.UserError,
    httpx2.HTTPError,
    BadReply,
    # An answer that is JSON, but nothing that the provider would send, trips the code that takes it apart.
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    AssertionError,
    RecursionError,
)
"""What a request raises."""

_TOO_MANY, _TIMED_OUT, _SERVER_FAULT = 429, 408, 500
_TURNED_AWAY = (401, 403)


class Failure(Struct, frozen=True, kw_only=True):
    """What a request that failed means."""

    kind: type[IreneoError]
    message: str
    again: bool = False
    """Whether the same request may go through later."""
    wait_seconds: float = 0.0
    """What the provider asked for."""


def failure_of(error: BaseException, name: str, keys: tuple[str, ...]) -> Failure:
    """What `error` means, for the model `name`; none of `keys` is ever shown."""
    ours = _ours(error)
    if ours is not None:
        return Failure(kind=BadReply, message=f"The answer of {name} {ours}.")
    if isinstance(error, theirs.ModelHTTPError):
        return _of_status(error, name, keys)
    if isinstance(error, theirs.ModelConnectionError | httpx2.HTTPError):
        said = shown(str(error.__cause__ or error), keys)
        return Failure(kind=ModelUnavailable, message=f"{name} can't be reached: {said}", again=True)
    if isinstance(error, theirs.ContentFilterError):
        return Failure(kind=ModelRefused, message=f"{name} refused to answer: its filter stopped it.")
    if isinstance(error, theirs.UserError):
        return Failure(kind=BadInput, message=f"{name} can't be asked: {shown(str(error), keys)}")
    return Failure(kind=BadReply, message=f"The answer of {name} is not one that its provider would send.")


def _ours(error: BaseException) -> BadReply | None:
    """Our own error, where the libraries wrapped it."""
    at: BaseException | None = error
    while at is not None and not isinstance(at, BadReply):
        # Not the context: that may be an earlier answer, which the caller is just dealing with.
        at = at.__cause__
    return at


def _of_status(error: theirs.ModelHTTPError, name: str, keys: tuple[str, ...]) -> Failure:
    status = error.status_code
    if status in _TURNED_AWAY:
        # What is said here may quote the key.
        return Failure(kind=ModelUnavailable, message=f"{name} turned the key away ({status}); check it.")
    said = shown(_words(error.body), keys)
    if isinstance(error, theirs.ModelQuotaExceededError):
        return Failure(kind=ModelUnavailable, message=f"{name} has no quota left ({status}): {said}")
    if status in (_TOO_MANY, _TIMED_OUT) or status >= _SERVER_FAULT:
        what = "is asked too often" if status == _TOO_MANY else "is out of order"
        return Failure(
            kind=ModelUnavailable,
            message=f"{name} {what} ({status}): {said}",
            again=True,
            wait_seconds=error.retry_after or 0.0,
        )
    if isinstance(error, theirs.ModelNotFoundError):
        message = f"{name} is not to be found ({status}); check the model's name and the base_url: {said}"
        return Failure(kind=ModelUnavailable, message=message)
    return Failure(kind=ModelUnavailable, message=f"{name} turned the request away ({status}): {said}")


def _words(body: object) -> str:
    """The provider's message in the body of an error, wherever it stands."""
    for key in ("error", "message"):
        if isinstance(body, dict) and key in body:
            body = body[key]
    return body if isinstance(body, str) else "" if body is None else str(body)


def raised(failure: Failure, calls: int, tokens: int) -> IreneoError:
    """The error to raise for `failure`."""
    if issubclass(failure.kind, ModelError):
        return failure.kind(failure.message, calls=calls, tokens=tokens)
    return failure.kind(failure.message)
