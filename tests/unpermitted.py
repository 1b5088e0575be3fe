"""Run a process to which permissions apply, even where the tests run as root."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
"""By these root reads and writes whatever it likes; without them it is held to the permissions of what it owns."""


def _drop() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "the capability can't be dropped")


def start(arguments: Sequence[str]) -> subprocess.Popen[str]:
    """Run Python with `arguments` as one to whom permissions apply."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        preexec_fn=_drop if is_root else None,
    )


def run(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    process = start(arguments)
    try:
        out, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@cache
def _applies(folder: str) -> bool:
    place = Path(folder, "closed")
    place.mkdir(exist_ok=True)
    place.chmod(0o555)
    try:
        done = run(["-c", "import sys; open(sys.argv[1], 'w')", str(place / "file")])
        return done.returncode != 0 and "PermissionError" in done.stderr
    except (OSError, subprocess.SubprocessError):
        return False
    finally:
        place.chmod(0o755)


def need_permissions(folder: Path) -> None:
    """Skip a test where no process can be run to which permissions apply."""
    if not _applies(str(folder)):
        pytest.skip("permissions apply to no process here")
