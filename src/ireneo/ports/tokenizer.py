"""What the engine needs of a tokenizer."""

from __future__ import annotations

from typing import Protocol


class Tokenizer(Protocol):
    """Counts what a text costs a model to read."""

    name: str

    def count(self, text: str) -> int:
        """Count the tokens of `text`."""
