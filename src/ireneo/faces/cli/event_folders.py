"""Folders in which an agent keeps a run as one file for each event: read as one log, an event a line.

OpenHands' SDK writes `events/event-00001-<id>.json` and so on beside a `base_state.json`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from io import BufferedIOBase
from pathlib import Path
from typing import cast

from ireneo.patterns import lazy_re

HELD_BYTES = 1 << 24
"""So much of a folder is held; what is more lies in a temporary file without a name."""
_EVENT = lazy_re(r"event-\d+-[^/]*\.json")


def event_files(folder: Path) -> list[Path]:
    """The events in `folder` in order; none where it is no such folder."""
    if folder.name != "events":
        return []
    return sorted((path for path in folder.iterdir() if _is_event(path)), key=_number)


def runs_among(files: Iterable[Path]) -> list[Path]:
    """`files`, each folder of events among them standing as one, in the place of its first event."""
    return list(dict.fromkeys(path.parent if _is_event(path) else path for path in files))


def joined(folder: Path) -> BufferedIOBase:
    """All events of `folder`, one a line; one that is broken is a broken line. Raises OSError."""
    file = tempfile.SpooledTemporaryFile(max_size=HELD_BYTES)  # noqa: SIM115
    for path in event_files(folder):
        # No string in JSON has a line's end in it, so that what is between them can stand on one line.
        file.write(path.read_bytes().replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")
    file.seek(0)
    return cast("BufferedIOBase", file)


def _is_event(path: Path) -> bool:
    return path.parent.name == "events" and _EVENT.fullmatch(path.name) is not None and path.is_file()


def _number(path: Path) -> tuple[int, str]:
    return int(path.name.split("-")[1]), path.name
