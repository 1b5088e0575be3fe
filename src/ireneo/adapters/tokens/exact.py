"""Exact o200k token counts, through the extra `tokens`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from ireneo.errors import MissingExtra


class Backend(Protocol):
    """What is used of the compiled tokenizer."""

    def count(self, text: str) -> int:
        """Count tokens."""

    def encode(self, text: str) -> Sequence[int]:
        """Turn a text into ranks."""

    def decode(self, tokens: Sequence[int]) -> str | None:
        """Turn ranks back into a text; None where they are no whole text."""


@cache
def load_backend() -> Backend:
    """Load the compiled o200k tokenizer. Raises MissingExtra where the extra is not installed."""
    try:
        # The compiled part itself: the package's wrapper refuses texts of a million characters
        # and makes a Python object of each token, where only their number is wanted.
        bindings = import_module("bpe_openai._bindings")
    except ModuleNotFoundError as missing:
        raise MissingExtra("Exact token counts need the extra `tokens`: pip install 'ireneo[tokens]'.") from missing
    return cast(Backend, bindings.tokenizer_for_encoding("o200k_base"))


class ExactTokenizer:
    """Counts o200k tokens exactly. Raises MissingExtra where the extra is not installed."""

    name = "o200k"

    def __init__(self) -> None:
        self._backend = load_backend()

    def count(self, text: str) -> int:
        """Count the tokens of `text`."""
        try:
            return self._backend.count(text)
        except UnicodeEncodeError:
            # Half of a surrogate pair has no UTF-8; a model is sent the replacement character in its place.
            return self._backend.count(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
