"""The errors that Ireneo raises.

    IreneoError
    ├── BadInput                 what was handed in can't be used (the command line ends with 2)
    │   ├── UnknownFormat
    │   ├── UnreadableLog
    │   ├── BudgetTooSmall
    │   ├── MissingExtra
    │   ├── NothingToKeep
    │   └── NotFound
    │       ├── SessionNotFound
    │       ├── MessageNotFound
    │       ├── SummaryNotFound
    │       └── MemoryNotFound
    ├── ModelError               a model did not answer as asked; what it was asked for is done without it
    │   ├── ModelTimeout
    │   ├── ModelUnavailable
    │   ├── ModelRefused
    │   ├── BadReply
    │   ├── EmbedderError
    │   └── SpendingLimit
    ├── Overtaken                another worker has the work already; never leaves the engine
    └── StoreError               the store can't do what was asked
        ├── NotADatabase
        ├── NewerDatabase
        ├── Unreachable
        ├── ReadOnlyStore
        └── StoreBusy

Each docstring is the message that is shown when none is given. Where a message names a verb in backticks, as in
"`sessions` lists those there are", that is the method of `ireneo.Memory`, and `format` or `to` is a parameter. The
command line shows its own command or option instead, and the MCP server leaves it out if it has no such tool.
"""

from __future__ import annotations


class IreneoError(Exception):
    """Ireneo could not do what was asked."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or " ".join((type(self).__doc__ or "").split()))


class BadInput(IreneoError):
    """What was handed in can't be used."""


class UnknownFormat(BadInput):
    """The format is not one that Ireneo reads; `LOG_FORMATS` and `CHAT_FORMATS` hold those there are."""


class UnreadableLog(BadInput):
    """The log holds no message that could be read."""

    def __init__(self, message: str | None = None) -> None:
        # Its parts are put together from places and faults, none of which ends the sentence.
        super().__init__(message and f"{message.rstrip('.')}.")


class BudgetTooSmall(BadInput):
    """The budget is under 256 tokens; give at least that much, since less holds no message and its frame."""


class NothingToKeep(BadInput):
    """The model finds nothing here that is true and useful later; give its kind, and it is kept as it is."""


class MissingExtra(BadInput):
    """This needs an extra that is not installed: pip install 'ireneo[tokens]'."""


class NotFound(BadInput):
    """What was asked for is not there."""


class SessionNotFound(NotFound):
    """There is no such session in this space; `sessions` lists those there are."""

    @classmethod
    def named(cls, session: str, space: str) -> SessionNotFound:
        """Make the error for a session that is not in `space`."""
        return cls(f"There is no session {session!r} in space {space!r}; `sessions` lists those there are.")


class MessageNotFound(NotFound):
    """There is no such message in this session."""


class SummaryNotFound(NotFound):
    """There is no such summary in this session."""


class MemoryNotFound(NotFound):
    """There is no such memory in this space; `memories` lists those there are."""

    @classmethod
    def named(cls, memory: str, space: str) -> MemoryNotFound:
        """Make the error for a memory that is not in `space`."""
        return cls(f"There is no memory {memory!r} in space {space!r}; `memories` lists those there are.")


class StoreError(IreneoError):
    """The store can't do what was asked."""


class NotADatabase(StoreError, BadInput):
    """The file is not an Ireneo database; name another file, or a new one."""


class NewerDatabase(StoreError, BadInput):
    """The database was written by a newer Ireneo; upgrade with `pip install -U ireneo`."""


class Unreachable(StoreError, BadInput):
    """The file can't be reached; check that its folder exists, and the permissions of both."""


class ReadOnlyStore(StoreError):
    """The database may not be written to; check its permissions and those of its folder."""


class StoreBusy(StoreError):
    """Another process kept the database locked for too long; try again, or look for one that hangs."""


class Overtaken(IreneoError):
    """Another worker has done this work or is at it; leave it to them."""


class ModelError(IreneoError):
    """The model did not answer as asked."""

    def __init__(self, message: str | None = None, *, calls: int = 0, tokens: int = 0) -> None:
        super().__init__(message)
        self.calls = calls
        """How many requests were sent all the same, and may be billed."""
        self.tokens = tokens
        """The tokens that the provider reported for them."""


class ModelTimeout(ModelError):
    """The model did not answer in time."""


class ModelUnavailable(ModelError):
    """The model can't be reached, or turns requests away."""


class ModelRefused(ModelError):
    """The model refused to answer."""


class BadReply(ModelError):
    """The model's answer is not what was asked for."""


class EmbedderError(ModelError):
    """The embedder did not answer as asked; until it does, recall searches by words alone."""


class SpendingLimit(ModelError):
    """The limit on calls or tokens is reached; no model is called until the limit is raised or the day is over."""
