"""The ports as those see them who still await each call of a transaction; gone with the last of them."""

from __future__ import annotations

from typing import Any, TypeAlias

Transaction: TypeAlias = Any
SearchPort: TypeAlias = Any
VectorsPort: TypeAlias = Any
