"""What files beside a log say of its runs: whether a run was solved, its reward, what was learned in it.

An index holds entries for many logs, `index.jsonl` or the report of a benchmark; an entry belongs to a run by the name
of its file or by its id. A file such as `metadata.json` describes the one log in its folder.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

Label: TypeAlias = Mapping[str, object]

INDEXES = tuple("index.jsonl index.json labels.jsonl labels.json results.json results_summary.json report.json".split())
ABOUT = ("metadata.json", "result.json")
LEVELS = 3
"""Folders that are searched for an index: that of the log, and those around it."""
LARGEST_BYTES = 1 << 25
_IDS = ("session_id", "instance_id", "trial_name", "id")
_VERDICTS = {"resolved_ids": True, "unresolved_ids": False}
"""Lists of the runs that were solved, and that were not."""
_LOG = logging.getLogger("ireneo")


def label_beside(log: Path, session: str) -> Label | None:
    """What the files beside `log` say of its run `session`; None where they say nothing."""
    place = log.absolute()
    if place.name in (*INDEXES, *ABOUT):
        return None
    for document in _documents(place):
        for entry in _entries(document, session):
            if _is_of(entry, place, session):
                return entry
    return _described(place, session)


def has_labels(log: Path) -> bool:
    """Whether there are files beside `log` that may say something of its runs."""
    place = log.absolute()
    indexes = (folder / name for folder in place.parents[:LEVELS] for name in INDEXES)
    return any(path.is_file() for path in (*indexes, *_descriptions(place)))


def _documents(log: Path) -> Iterator[object]:
    for folder in log.parents[:LEVELS]:
        for name in INDEXES:
            yield from _read(folder / name)


def _entries(document: object, session: str) -> Iterator[Label]:
    """The entries of an index, or of a report that lists the runs by id."""
    if isinstance(document, list):
        yield from (each for each in document if isinstance(each, dict))
    elif isinstance(document, dict):
        if isinstance(own := document.get(session), dict):
            yield {"id": session, **own}
        for key, verdict in _VERDICTS.items():
            listed = document.get(key)
            if isinstance(listed, list) and session in listed:
                yield {"id": session, "resolved": verdict}


def _is_of(entry: Label, log: Path, session: str) -> bool:
    if isinstance(known := entry.get("session_id"), str):
        return known == session  # A file may hold other sessions beside the one that it is named after.
    file = entry.get("file")
    named = isinstance(file, str) and Path(file).name == log.name
    return named or any(entry.get(key) == session for key in _IDS)


def _described(log: Path, session: str) -> Label | None:
    """What describes the one log in its folder."""
    for path in _descriptions(log):
        for document in _read(path):
            given = [document[key] for key in _IDS[:2] if key in document] if isinstance(document, dict) else [None]
            if isinstance(document, dict) and (not given or session in given):
                return document
    return None


def _descriptions(log: Path) -> list[Path]:
    """The files that may describe a log; a harness keeps an agent's log in a folder of its own below."""
    folders = [log.parent, *([log.parent.parent] if log.parent.name == "agent" else [])]
    return [folder / name for folder in folders for name in ABOUT]


def _read(path: Path) -> tuple[object, ...]:
    """The document in a file, as the only one; none if there is no such file, or it can't be read."""
    try:
        about = path.stat()
    except OSError:
        return ()
    return _parsed(path, about.st_mtime_ns) if about.st_size <= LARGEST_BYTES and path.is_file() else ()


@lru_cache(maxsize=16)
def _parsed(path: Path, changed: int) -> tuple[object, ...]:
    """A folder of many logs has one index: it is read once."""
    try:
        text = path.read_text("utf-8")
        if path.suffix == ".jsonl":
            return ([json.loads(line) for line in text.splitlines() if line.strip()],)
        return (json.loads(text),)
    except (OSError, ValueError, RecursionError) as fault:
        _LOG.warning("%s can't be read, and says nothing of the logs beside it: %s", path, fault)
        return ()
