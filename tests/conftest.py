"""What every test runs under: the number of examples where a property test names none, and no place of the user's."""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path

import certifi
import pytest
from hypothesis import settings

from tests.examples import times

settings.register_profile("ireneo", settings(), max_examples=times(30), deadline=None)
settings.load_profile("ireneo")

# A command that names no database means the user's own one: what a test forgets to name must not land there.
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="ireneo-tests-")


def one_certificate() -> Path:
    """A file with the first of the certificates that clients trust: to load all takes each new client 50 ms."""
    path = Path(tempfile.mkdtemp(prefix="ireneo-tests-")) / "one.pem"
    first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
    path.write_text(first + end, encoding="utf-8")
    return path


# Every server that a test speaks to is on this machine, and none of them uses TLS.
os.environ["SSL_CERT_FILE"] = str(one_certificate())


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what was imported to itself: to look through it again and again takes a fifth of the time of all tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
