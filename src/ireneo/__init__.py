"""Ireneo: the memory engine for agents and characters that run for months.

The log is the truth; everything else is a view of it that names its sources::

    import ireneo

    async with ireneo.open("memory.db") as memory:
        session = await memory.session("monday")
        await session.append({"role": "user", "content": "Why does the build fail?"})
        context = await session.context(budget=32_000, to="anthropic")

    shorter = ireneo.compact(messages, budget=32_000).messages
"""

from ireneo.context.policy import CODING, FORGE, Policy
from ireneo.context.summary import Line, Section, Summary
from ireneo.engine.append import Appended
from ireneo.engine.encode import Context, ViewRow
from ireneo.engine.expand import Expanded
from ireneo.engine.imports import Imported
from ireneo.engine.memory import Memory
from ireneo.engine.session import Session
from ireneo.errors import BadInput, IreneoError, StoreError
from ireneo.formats.chat.registry import CHAT_FORMATS, chat_format
from ireneo.formats.logs.format import Fault, LogFormat, LoggedSession
from ireneo.formats.logs.registry import LOG_FORMATS, log_format, recognise
from ireneo.log.branch import ROOT
from ireneo.log.message import Draft, Message
from ireneo.ports.store import SessionInfo
from ireneo.wiring import compact, open

__version__ = "0.1.0"

__all__ = [
    "CHAT_FORMATS",
    "CODING",
    "FORGE",
    "LOG_FORMATS",
    "ROOT",
    "Appended",
    "BadInput",
    "Context",
    "Draft",
    "Expanded",
    "Fault",
    "Imported",
    "IreneoError",
    "Line",
    "LogFormat",
    "LoggedSession",
    "Memory",
    "Message",
    "Policy",
    "Section",
    "Session",
    "SessionInfo",
    "StoreError",
    "Summary",
    "ViewRow",
    "chat_format",
    "compact",
    "log_format",
    "open",
    "recognise",
]
