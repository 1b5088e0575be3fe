"""What the engine needs of whoever takes secrets out of texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Redactor(Protocol):
    """Takes the secrets out of the texts of one message, which are handed to it in their order.

    It remembers what it found, so that a password that was named once is found again where it stands bare; equal
    texts in an equal order give equal texts. Each message has a redactor of its own: what becomes of it then depends
    on nothing but itself, so that it has one id through whichever door it comes.
    """

    def redact(self, text: str, name: str = "") -> str:
        """`text` with a mark such as ``[REDACTED password]`` for each secret; the very same object where it has none.

        `name` is what the text stands under, where that may give it away: a key of an object, an option of a command.
        """

    def redact_record(self, text: str, name: str = "") -> str:
        """The same for what a provider or a log wrote beside a message.

        No id comes of it, so it may go by what was looked through in other messages: a log writes a whole file down
        again with each edit.
        """

    def know(self, secrets: Mapping[str, str]) -> None:
        """Take these for found, each with its kind: they are looked for where they stand bare."""

    @property
    def secrets(self) -> Mapping[str, str]:
        """The secrets that were found so far, each with its kind."""
