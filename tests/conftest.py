"""What every test runs under: the number of examples where a property test names none, and no place of the user's."""

from __future__ import annotations

import os
import tempfile

from hypothesis import settings

from tests.examples import times

settings.register_profile("ireneo", settings(), max_examples=times(30), deadline=None)
settings.load_profile("ireneo")

# A command that names no database means the user's own one: what a test forgets to name must not land there.
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="ireneo-tests-")
