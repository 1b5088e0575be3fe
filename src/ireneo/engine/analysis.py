"""Read, redact and analyse a log without its store: what a worker does, from a task to an answer, both as bytes.

It runs what learning runs, over a store in memory that is empty and dies with it. So what it gives is what would have
been stored, and depends on nothing but the log. What it can't do as well as who has the store, it leaves to them: a log
with a fault, which is told as it is found, one that is very large, and one that is stored while it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from typing import Literal

import msgspec
from msgspec import Struct

from ireneo.engine.imports import NamedSession, name_session, sessions_of
from ireneo.engine.learn import SessionRead, due_runs, read_session
from ireneo.engine.resources import Resources
from ireneo.errors import BadInput
from ireneo.formats.logs.format import LinearFormat
from ireneo.formats.logs.registry import CONVERSATIONS, log_format
from ireneo.ports.files import LogSource

LARGEST = 1 << 25
"""Bytes of a log, as it lies there and unpacked, that a worker takes; what is larger is stored while it is read."""
_SPACE = "analysed"


class LogTask(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A log that is to be analysed."""

    path: str
    """Where it lies, for who shares the disk; empty where it came in otherwise."""
    digest: str
    """What it is told by: another file at the same path is not meant."""
    data: bytes | None = None
    """Its bytes, for who doesn't share the disk."""
    format: str
    name: str
    """What its sessions are called that have no id of their own."""
    keep_secrets: bool


class LogAnalysis(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a log says and teaches, without its secrets."""

    did: Literal["analysed", "send", "here", "refused", "known"]
    """``send``: the bytes are wanted; ``here``: who has the store is to read it; ``refused``: for a `reason`;
    ``known``: it was learned from before, which no worker knows."""
    reason: str = ""
    sessions: tuple[NamedSession, ...] = ()
    reads: dict[str, SessionRead] = {}
    """By the session's name."""


def answered(analysis: LogAnalysis) -> bytes:
    """The answer as it is sent."""
    try:
        return msgspec.json.encode(analysis)
    except (UnicodeError, msgspec.MsgspecError, OverflowError, TypeError):
        # What can't be written so, such as half of a pair of code units, is not sent; a store has its own way with it.
        return msgspec.json.encode(LogAnalysis(did="here"))


async def analyse_log(resources: Resources, task: LogTask) -> LogAnalysis:
    """Analyse a log in the empty store of `resources`."""
    try:
        log = resources.open_log(task.path if task.data is None else BytesIO(task.data))
    except BadInput:
        return LogAnalysis(did="send" if task.data is None else "here")
    with closing(log):
        if task.data is None and log.digest() != task.digest:
            return LogAnalysis(did="send")
        try:
            sessions = await _sessions(resources, task, log)
        except BadInput:
            sessions = []
        if not sessions or log.damage or log.left_out:
            return LogAnalysis(did="here")
    store = resources.store
    reads = {}
    for due in await store.read(due_runs, _SPACE, [each.key.session for each in sessions]):
        reads[due.info.key.session] = await read_session(resources, due)
    return LogAnalysis(did="analysed", sessions=tuple(sessions), reads=reads)


async def _sessions(resources: Resources, task: LogTask, file: LogSource) -> list[NamedSession]:
    log = log_format(task.format)
    if isinstance(log, LinearFormat):
        return []
    out = []
    with resources.spool() as spool:
        for logged in sessions_of(log, _up_to(LARGEST, file), task.name, spool):
            cleaning = resources.cleaning(task.keep_secrets)
            source = f"{log.name}:{cleaning.text(task.name)}"
            follows = log.name in CONVERSATIONS
            out.append(
                await name_session(resources.store, _SPACE, logged, source, resources.count, cleaning, follows=follows)
            )
    return out


def _up_to(most: int, file: LogSource) -> Iterator[bytes]:
    for line in file.lines():
        most -= len(line)
        if most < 0:
            raise BadInput("It is too large to be sent.")
        yield line
