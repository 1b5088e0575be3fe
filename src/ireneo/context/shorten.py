"""What is larger than its share is shown head and tail, with a mark: how much is left out, and how to open it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.weigh import Count

HEAD_SHARE = 0.6
"""Of what is shown of a long text, so much is its beginning: that is where it says what it is."""
MIN_TOKENS = 24
"""A mark and a few words on either side of it."""
MARK_TOKENS = 16
"""What a mark costs, about."""


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
    """Cut `text` to about `tokens` (at least 24), keeping its head and tail; None where it fits as it is.

    What is left out costs more than the mark that says so: else the text stands as it is, a little over.
    """
    size, limit = count(text), max(tokens, MIN_TOKENS)
    if size <= limit:
        return None
    room = limit - MARK_TOKENS
    while True:
        short = _cut(text, room / size, opener, size, count)
        said = count(short.text())
        # Names and numbers cost more a character than the average of the text: then again with less.
        if said <= limit or room <= 0:
            return short if said < size else None
        room -= said - limit + 2


def _cut(text: str, share: float, opener: str, size: int, count: Count) -> Shortened:
    """Keep that share of the characters of `text`, which costs `size` tokens."""
    characters = max(int(len(text) * share), 0)
    end = int(characters * HEAD_SHARE)
    begin = len(text) - (characters - end)
    head, tail = text[:end].rstrip(), text[begin:].lstrip() if characters > end else ""
    return Shortened(
        head=head,
        left_out=text[end:begin],
        tail=tail,
        left_out_tokens=max(size - count(head) - count(tail), 1),
        opener=opener,
    )
