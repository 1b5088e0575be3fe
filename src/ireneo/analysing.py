"""The function that workers run: it analyses a log; task and answer are bytes."""

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
from ireneo.adapters.log_files import LogFile
from ireneo.adapters.redact import SecretRedactor
from ireneo.compacting import tokenizer
from ireneo.engine.learn_logs import LogAnalysis, LogTask, analyse_log, encode_analysis
from ireneo.engine.resources import Resources, SystemClock
from ireneo.patterns import readable

DECIDING = ("redact-secret", "tree-sitter", "tree-sitter-bash", "PyStemmer", "python-dateutil", "bpe-openai")
"""Packages whose version affects the result of an analysis."""
_ONE_AT_A_TIME = Lock()
"""One analysis at a time: with Python's global lock more threads gain nothing, and a parser is bound to one thread."""


@cache
def build() -> Mapping[str, str]:
    """The versions of the release, its code and its dependencies; builds with equal ones analyse a log alike."""
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
    """Run a task of a process with the build `asks`, counting `tokens` its way; refuse it if this build differs."""
    own = build()
    if other := next((name for name in asks if asks[name] != own.get(name)), None):
        told = f"A worker runs {other} {own.get(other)}, this is {asks[other]}; install the same on each."
        return encode_analysis(LogAnalysis(did="refused", reason=told))
    resources = Resources(
        store=InMemoryStore(),
        count=tokenizer(tokens).count,
        clock=SystemClock(),
        open_log=LogFile,
        redactor=SecretRedactor,
    )
    with _ONE_AT_A_TIME:
        return encode_analysis(asyncio.run(analyse_log(resources, msgspec.json.decode(task, type=readable(LogTask)))))


def serve(*, asks: Mapping[str, str], tokens: Literal["estimate", "o200k"]) -> None:
    """Answer the tasks on standard input; accidental prints go to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # It ends with its parent process.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        fleet.serve(sys.stdin.buffer, answers, lambda task: analyse(task, asks=asks, tokens=tokens))
