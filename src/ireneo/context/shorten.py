"""What is larger than its share is shown head and tail, with a mark: how much is left out, and how to open it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.weigh import Count

HEAD_SHARE = 0.6
"""Of what is shown of a long text, so much is its beginning: that is where it says what it is."""
MIN_TOKENS = 24
"""A mark and a few words on either side of it."""


class Shortened(Struct, frozen=True, kw_only=True):
    """A text with its middle left out."""

    head: str
    left_out: str
    tail: str
    left_out_tokens: int
    opener: str
    """The id that opens the whole."""

    def text(self, names: Sequence[str] = ()) -> str:
        """Write it out; `names` are artifacts of what is left out that the mark mentions."""
        mention = f": {' '.join(names)}" if names else ""
        mark = f"[… {self.left_out_tokens:,} tokens left out{mention} · open with {self.opener} …]"
        return "\n".join(piece for piece in (self.head, mark, self.tail) if piece)


def shorten(text: str, tokens: int, opener: str, count: Count) -> Shortened | None:
    """Cut `text` to about `tokens` (at least 24), keeping its head and tail; None where it fits as it is."""
    size, limit = count(text), max(tokens, MIN_TOKENS)
    if size <= limit:
        return None
    room = limit - 16
    while True:
        characters = max(int(len(text) * room / size), 0)
        head = int(characters * HEAD_SHARE)
        tail = len(text) - (characters - head)
        short = Shortened(
            head=text[:head].rstrip(),
            left_out=text[head:tail],
            tail=text[tail:].lstrip() if characters > head else "",
            left_out_tokens=size - limit,
            opener=opener,
        )
        over = count(short.text()) - limit
        # Names and numbers cost more a character than the average of the text: then again with less.
        if over <= 0 or room <= 0:
            return short
        room -= over + 2
