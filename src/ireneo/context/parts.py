"""Parts of a message in less room: long texts head and tail with a mark, outputs as one line, media as a marker."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.log.message import (
    CALL_TOKENS,
    MESSAGE_TOKENS,
    Call,
    Count,
    Draft,
    Media,
    Message,
    Part,
    Result,
    Text,
    Thinking,
    as_read,
    short,
    weigh,
)
from ireneo.summaries.steps import understand
from ireneo.summaries.summary import Line
from ireneo.summaries.tell_work import MAX_NAMES, SEEN, WRITTEN, NameTally

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


MASK_TOKENS = 60
"""A shorter output costs no more than the line that would stand for it, and stays."""
MASKED_ARGUMENT_TOKENS = 160
"""What is left of a long argument (a file's content, a patch) of a call whose output is masked."""


class Fitted(Struct, frozen=True, kw_only=True):
    """A message in less room, and the names that its marks could mention."""

    build: Callable[[Sequence[str]], Draft]
    """Writes the draft with these names mentioned."""
    line: Line | None
    """The names of what is left out, as a line; None where nothing is."""
    whole: bool
    """Nothing was left out."""


def fit(message: Message, tokens: int, count: Count) -> Fitted:
    """Show `message` in about `tokens`, its thinking left out: long parts head and tail."""
    opener = short(message.id)
    parts = [part for part in message.parts if not isinstance(part, Thinking)]
    sizes = [weigh((part,), count)[0] - MESSAGE_TOKENS for part in parts]
    shares = share(sizes, max(tokens - MESSAGE_TOKENS, 0), floor=12)
    return _fitted(message, _fit_parts(parts, sizes, shares, opener, count))


def mask(message: Message, calls: Mapping[str, Call], count: Count) -> Fitted:
    """Show `message` with its outputs as one line each and long arguments shortened; `calls` are those it answers."""
    opener = short(message.id)
    pieces: list[_Piece] = []
    for part in message.parts:
        if isinstance(part, Result):
            pieces.append(_mask_result(part, calls.get(part.call_id), opener, count))
        elif isinstance(part, Call):
            pieces.append(_fit_part(part, MASKED_ARGUMENT_TOKENS, opener, count))
        elif not isinstance(part, Thinking):
            pieces.append(_Piece(part))
    return _fitted(message, pieces)


def share(sizes: Sequence[int], room: int, *, floor: int) -> list[int]:
    """Share `room` out over texts of these sizes: short ones whole, the long ones alike, none under `floor`."""
    shares = [0] * len(sizes)
    left, waiting = room, sorted(range(len(sizes)), key=lambda place: sizes[place])
    for number, place in enumerate(waiting):
        fair = max(left // (len(waiting) - number), floor)
        shares[place] = min(sizes[place], fair)
        left -= shares[place]
    return shares


def without_thinking(draft: Draft) -> Draft:
    """The draft without its thinking, which its provider rejects after a change before it."""
    return _edited(draft, tuple(part for part in draft.parts if not isinstance(part, Thinking)))


class _Piece:
    """A part, or what stands for it: how it is written with some names, and which names those could be."""

    def __init__(self, part: Part, write: Callable[[Sequence[str]], Part] | None = None, left_out: str = "") -> None:
        self.write = write or (lambda names: part)
        self.left_out = left_out
        self.changed = write is not None
        self.weight = WRITTEN["write"] if isinstance(part, Call) else SEEN


def _fitted(message: Message, pieces: Sequence[_Piece]) -> Fitted:
    tally = NameTally()
    for piece in pieces:
        tally.add(piece.left_out, piece.weight)
    changed = [place for place, piece in enumerate(pieces) if piece.changed]
    fullest = max(changed, key=lambda place: len(pieces[place].left_out), default=None)

    def build(names: Sequence[str]) -> Draft:
        parts = (piece.write(names if place == fullest else ()) for place, piece in enumerate(pieces))
        return _edited(message.draft, tuple(parts))

    line = Line(names=tally.mentions(limit=4 * MAX_NAMES), position=message.position, sources=(message.id,))
    return Fitted(build=build, line=line if changed else None, whole=not changed)


def _fit_parts(
    parts: Sequence[Part], sizes: Sequence[int], rooms: Sequence[int], opener: str, count: Count
) -> list[_Piece]:
    """Each part in its room; one that fits there as a whole is not looked into."""
    return [
        _Piece(part) if size <= room else _fit_part(part, room, opener, count)
        for part, size, room in zip(parts, sizes, rooms, strict=True)
    ]


def _fit_part(part: Part, tokens: int, opener: str, count: Count) -> _Piece:
    if isinstance(part, Text):
        return _fit_text(part, tokens, opener, count)
    if isinstance(part, Call):
        return _fit_call(part, tokens - CALL_TOKENS, opener, count)
    if isinstance(part, Result):
        return _fit_result(part, tokens - CALL_TOKENS, opener, count)
    if isinstance(part, Media) and weigh((part,), count)[0] - MESSAGE_TOKENS > tokens:
        marker = Text(text=f"[{part.media_type} left out · open with {opener}]")
        return _Piece(part, lambda names: marker, "")
    return _Piece(part)


def _fit_text(part: Text, tokens: int, opener: str, count: Count) -> _Piece:
    name = count(as_read(part)) - count(part.text) if part.author else 0
    cut = shorten(part.text, tokens - name, opener, count)
    if cut is None:
        return _Piece(part)
    return _Piece(part, lambda names: replace(part, text=cut.text(names)), cut.left_out)


def _fit_call(call: Call, tokens: int, opener: str, count: Count) -> _Piece:
    """Shorten the long texts among a call's arguments; the rest of it stays, so that it is still the call."""
    if isinstance(call.arguments, str):
        raw = shorten(call.arguments, tokens, opener, count)
        if raw is None:
            return _Piece(call)
        return _Piece(call, lambda names: _with_arguments(call, raw.text(names)), raw.left_out)
    long = {key: value for key, value in call.arguments.items() if isinstance(value, str)}
    shares = share([count(value) for value in long.values()], max(tokens, 0), floor=12)
    cuts: dict[str, Shortened] = {}
    for (key, value), room in zip(long.items(), shares, strict=True):
        if cut := shorten(value, room, opener, count):
            cuts[key] = cut
    if not cuts:
        return _Piece(call)
    arguments = call.arguments
    fullest = max(cuts, key=lambda key: len(cuts[key].left_out))

    def write(names: Sequence[str]) -> Part:
        texts = {key: cut.text(names if key == fullest else ()) for key, cut in cuts.items()}
        return _with_arguments(call, {**arguments, **texts})

    left_out = "\n".join(json.dumps(cut.left_out, ensure_ascii=False) for cut in cuts.values())
    return _Piece(call, write, left_out)


def _fit_result(result: Result, tokens: int, opener: str, count: Count) -> _Piece:
    sizes = [weigh((part,), count)[0] - MESSAGE_TOKENS for part in result.parts]
    shares = share(sizes, max(tokens, 0), floor=12)
    pieces = _fit_parts(result.parts, sizes, shares, opener, count)
    if not any(piece.changed for piece in pieces):
        return _Piece(result)
    fullest = max(range(len(pieces)), key=lambda place: len(pieces[place].left_out))

    def write(names: Sequence[str]) -> Part:
        inner = [piece.write(names if place == fullest else ()) for place, piece in enumerate(pieces)]
        return _with_parts(result, [part for part in inner if isinstance(part, (Text, Media))])

    return _Piece(result, write, "\n".join(piece.left_out for piece in pieces))


def _mask_result(result: Result, call: Call | None, opener: str, count: Count) -> _Piece:
    size = count(result.text)
    media = [part for part in result.parts if not isinstance(part, Text)]
    if size < MASK_TOKENS and not media:
        return _Piece(result)
    action = understand(call) if call else None
    facts = [f"{result.text.count(chr(10)) + 1} lines, {size:,} tokens"]
    facts += [part.media_type for part in media if isinstance(part, Media)]
    facts += ["failed"] if result.failed else []
    what = f"{action.kind} {action.subject}" if action else "output"

    def write(names: Sequence[str]) -> Part:
        mention = f": {' '.join(names)}" if names else ""
        mark = f"[{what} · {', '.join(facts)}{mention} · open with {opener}]"
        return _with_parts(result, [Text(text=mark)])

    return _Piece(result, write, result.text)


def _with_arguments(call: Call, arguments: dict[str, object] | str) -> Call:
    return Call(id=call.id, name=call.name, arguments=arguments, server=call.server)


def _with_parts(result: Result, parts: Sequence[Text | Media]) -> Result:
    return Result(call_id=result.call_id, parts=tuple(parts), failed=result.failed, name=result.name)


def _edited(draft: Draft, parts: tuple[Part, ...]) -> Draft:
    """Put `parts` in the place of a draft's own; the provider's payload no longer stands for it."""
    return Draft(
        role=draft.role,
        parts=parts,
        origin=draft.origin,
        at=draft.at,
        source_id=draft.source_id,
        joined=draft.joined,
    )
