"""What a worker runs: a log in, what it says and teaches out, both as bytes; nothing else of a memory is there."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec

import ireneo
from ireneo.adapters import fleet
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.log_files import LogFile, file_spool
from ireneo.adapters.redact import SecretRedactor
from ireneo.compacting import tokenizer
from ireneo.engine.analysis import LogAnalysis, LogTask, analyse_log, answered
from ireneo.engine.resources import Resources, SystemClock

DECIDING = ("redact-secret", "tree-sitter", "tree-sitter-bash", "snowballstemmer", "python-dateutil", "bpe-openai")
"""Packages on whose version it depends what a log gives."""
_ONE_AT_A_TIME = Lock()
"""A worker may have several threads; one interpreter does no more with them, and a parser is one thread's."""


@cache
def build() -> Mapping[str, str]:
    """What this process runs: the release, its code, and what that rests on. Of the same, a log gives the same."""
    folder = Path(ireneo.__file__).parent
    code = hashlib.blake2b(digest_size=8)
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".toml", ".gz"}:
            code.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
            code.update(path.read_bytes())
    return {"ireneo": ireneo.__version__, "its code": code.hexdigest(), **{name: _version(name) for name in DECIDING}}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def analyse(task: bytes, *, asks: Mapping[str, str], tokens: Literal["estimate", "o200k"]) -> bytes:
    """The answer to a task of one who runs the build `asks`, and counts by `tokens`; a refusal where it is another."""
    own = build()
    if other := next((name for name in asks if asks[name] != own.get(name)), None):
        told = f"A worker runs {other} {own.get(other)}, this is {asks[other]}; install the same on each."
        return answered(LogAnalysis(did="refused", reason=told))
    resources = Resources(
        store=InMemoryStore(),
        count=tokenizer(tokens).count,
        clock=SystemClock(),
        spool=lambda: file_spool(None),
        open_log=LogFile,
        redactor=SecretRedactor,
    )
    with _ONE_AT_A_TIME:
        return answered(asyncio.run(analyse_log(resources, msgspec.json.decode(task, type=LogTask))))


def serve(*, asks: Mapping[str, str], tokens: Literal["estimate", "o200k"]) -> None:
    """Answer what comes through standard input; what is printed by accident goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # It ends when who asks does.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        fleet.serve(sys.stdin.buffer, answers, lambda task: analyse(task, asks=asks, tokens=tokens))
