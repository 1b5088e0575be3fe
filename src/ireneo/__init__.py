"""Ireneo: the memory engine for agents and characters that run for months.

The log is the truth; everything else is a view of it that names its sources::

    import ireneo

    async with ireneo.open("memory.db") as memory:
        session = await memory.session("monday")
        await session.append({"role": "user", "content": "Why does the build fail?"})
        context = await session.context(budget=32_000, to="anthropic")

    shorter = ireneo.compact(messages, budget=32_000).messages
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ireneo import sync
    from ireneo.compacting import compact
    from ireneo.engine.annotations import Pin
    from ireneo.engine.encode import Context, ViewRow
    from ireneo.engine.expand import Expanded
    from ireneo.engine.memory import Memory
    from ireneo.engine.models import Limits
    from ireneo.engine.session import Session
    from ireneo.engine.tree import Tree
    from ireneo.engine.work import WorkResult
    from ireneo.errors import (
        BadInput,
        BadReply,
        BudgetTooSmall,
        EmbedderError,
        IreneoError,
        MemoryNotFound,
        MessageNotFound,
        MissingExtra,
        ModelError,
        ModelRefused,
        ModelTimeout,
        ModelUnavailable,
        NewerDatabase,
        NotADatabase,
        NotFound,
        NothingToKeep,
        ReadOnlyStore,
        SessionNotFound,
        SpendingLimit,
        StoreBusy,
        StoreError,
        SummaryNotFound,
        UnknownFormat,
        Unreachable,
        UnreadableLog,
    )
    from ireneo.formats.chat.format import CHAT_FORMATS, chat_format
    from ireneo.formats.logs.format import LOG_FORMATS, LogFormat, LoggedSession, log_format, recognise
    from ireneo.log.message import Call, Draft, Message, Result, Text
    from ireneo.ports.store import SessionInfo
    from ireneo.summaries.policy import CODING, FORGE, STORY, Policy, Prices
    from ireneo.summaries.summary import Summary
    from ireneo.wiring import copy, migrate, models, open

__version__ = "0.1.0"

__all__ = [
    "CHAT_FORMATS",
    "CODING",
    "FORGE",
    "LOG_FORMATS",
    "STORY",
    "BadInput",
    "BadReply",
    "BudgetTooSmall",
    "Call",
    "Context",
    "Draft",
    "EmbedderError",
    "Expanded",
    "IreneoError",
    "Limits",
    "LogFormat",
    "LoggedSession",
    "Memory",
    "MemoryNotFound",
    "Message",
    "MessageNotFound",
    "MissingExtra",
    "ModelError",
    "ModelRefused",
    "ModelTimeout",
    "ModelUnavailable",
    "NewerDatabase",
    "NotADatabase",
    "NotFound",
    "NothingToKeep",
    "Pin",
    "Policy",
    "Prices",
    "ReadOnlyStore",
    "Result",
    "Session",
    "SessionInfo",
    "SessionNotFound",
    "SpendingLimit",
    "StoreBusy",
    "StoreError",
    "Summary",
    "SummaryNotFound",
    "Text",
    "Tree",
    "UnknownFormat",
    "Unreachable",
    "UnreadableLog",
    "ViewRow",
    "WorkResult",
    "chat_format",
    "compact",
    "copy",
    "log_format",
    "migrate",
    "models",
    "open",
    "recognise",
    "sync",
]

_NAMES = {
    "ireneo.compacting": "compact",
    "ireneo.engine.annotations": "Pin",
    "ireneo.engine.encode": "Context ViewRow",
    "ireneo.engine.expand": "Expanded",
    "ireneo.engine.memory": "Memory",
    "ireneo.engine.models": "Limits",
    "ireneo.engine.session": "Session",
    "ireneo.engine.tree": "Tree",
    "ireneo.engine.work": "WorkResult",
    "ireneo.errors": (
        "BadInput BadReply BudgetTooSmall EmbedderError IreneoError MemoryNotFound MessageNotFound "
        "MissingExtra ModelError ModelRefused ModelTimeout ModelUnavailable NewerDatabase NotADatabase "
        "NothingToKeep NotFound ReadOnlyStore SessionNotFound SpendingLimit StoreBusy StoreError SummaryNotFound "
        "UnknownFormat Unreachable UnreadableLog"
    ),
    "ireneo.formats.chat.format": "chat_format CHAT_FORMATS",
    "ireneo.formats.logs.format": "log_format LOG_FORMATS LogFormat LoggedSession recognise",
    "ireneo.log.message": "Call Draft Message Result Text",
    "ireneo.ports.store": "SessionInfo",
    "ireneo.summaries.policy": "CODING FORGE Policy Prices STORY",
    "ireneo.summaries.summary": "Summary",
    "ireneo.wiring": "copy migrate models open",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
"""The module that defines each public name."""

if not TYPE_CHECKING:
    # A public name is loaded when it is first used, so that a program that only imports Ireneo, or a command line that
    # only prints its help, doesn't wait for all of it.
    def __getattr__(name: str) -> object:
        """Load a public name."""
        from importlib import import_module

        if name == "sync":
            return import_module("ireneo.sync")
        if name not in _HOMES:
            raise AttributeError(f"module 'ireneo' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value

    def __dir__() -> list[str]:
        """List the public names."""
        return [*__all__, "__version__"]
