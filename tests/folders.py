"""Folders for what is temporary: all of a run in one, which is gone when the run ends, also one that is broken off."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

OF_RUN = "IRENEO_TESTS_FOLDER"
"""The variable that tells workers, and all that they start, the folder of the run."""
MAY_STAY = ("ireneo-new-", "ireneo-postgres-", "data-", "one.pem", "runtime-", "dask-", "pymp-", ".ses")
"""What lies in the folder of a run until it ends, and what other packages leave there: for sockets, and when a test
kills their processes."""


def folder_of_process(prefix: str) -> Path:
    """A new folder, which is deleted when this process ends, behind all that is registered after it."""
    made = Path(tempfile.mkdtemp(prefix=prefix))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def folder_of_run() -> Path:
    """The folder of this run, made by the first process that asks; from then on all that is temporary is put there.

    pytest's own folders stay where they are, since what a test that failed wrote is still to be looked at.
    """
    known = os.environ.get(OF_RUN)
    if known:
        return Path(known)
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    made = folder_of_process("ireneo-tests-")
    os.environ[OF_RUN] = os.environ["TMPDIR"] = str(made)
    tempfile.tempdir = None
    if sys.platform != "win32":
        # Whoever is told to end deletes it too, as after Ctrl-C.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    return made


def own_data_folder() -> None:
    """A place of its own for the databases of this process: a command that names none means the user's own one."""
    made = folder_of_run() / f"data-{os.getpid()}"
    made.mkdir()
    os.environ["XDG_DATA_HOME"] = str(made)


def left_behind(folder: Path) -> list[str]:
    """What lies in the folder of a run that is over, and should have been deleted."""
    return sorted(each.name for each in folder.iterdir() if not each.name.startswith(MAY_STAY))
