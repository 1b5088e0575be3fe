"""What is promised of every context, as functions that fail where it doesn't hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from ireneo import Context, Message, Session, Summary, ViewRow, chat_format
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.formats.chat.format import Payload
from ireneo.log.calls import atoms
from ireneo.log.message import Result

TOKENS = EstimatedTokenizer()
STANDS_FOR_MANY = ("summary", "left out")


def stands(row: ViewRow, path: Sequence[Message]) -> tuple[int, int]:
    """The places on the path from which and to which a row reaches."""
    places = {message.id: message.position for message in path}
    return places[row.first], places[row.last]  # type: ignore[index]


def exactly_once(context: Context, path: Sequence[Message]) -> None:
    """Every message of the path stands once, in order, and each row says how many it stands for."""
    places: dict[str, int] = {message.id: message.position for message in path}
    expected = 0
    for row in context.view:
        assert row.first in places, f"{row.what} {row.id} stands for what is not on the path"
        assert places[row.first] == expected, f"{row.id} begins at {places[row.first]}, where {expected} was due"
        assert row.covers == places[row.last] - places[row.first] + 1
        assert row.what in STANDS_FOR_MANY or row.covers == 1
        expected = places[row.last] + 1
    assert expected == len(path), f"the view ends at {expected} of {len(path)}"


def in_place(context: Context, path: Sequence[Message]) -> None:
    """What the view says stands in the messages in the same order."""
    written = _words(" ".join(strings([context.system, context.messages])))
    place = 0
    for row in context.view:
        # Results may be moved behind their call by a format; summaries and users' words may not.
        message = None if row.what in STANDS_FOR_MANY else path[stands(row, path)[0]]
        if message is not None and (not message.opens_turn or message.draft.joined):
            continue
        said = _words(row.text)
        at = written.find(said, place)
        assert at >= 0, f"{row.what} {row.id} does not stand where it should: {row.text[:80]}"
        place = at + len(said)


def whole_atoms(context: Context, path: Sequence[Message]) -> None:
    """No summary covers a part of an atom, or a call without its result."""
    owner: dict[int, str] = {}
    for row in context.view:
        first, last = stands(row, path)
        owner.update((place, row.id if row.what in STANDS_FOR_MANY else "") for place in range(first, last + 1))
    for atom in atoms(path):
        owners = {owner[message.position] for message in atom}
        assert len(owners) == 1, f"the atom at {atom[0].position} is split over {owners}"
    for call, result in pairs(path):
        assert owner[call] == owner[result], f"the call at {call} is torn from its result at {result}"


def valid(context: Context) -> None:
    """The format's own validator finds nothing."""
    assert context.violations == ()
    payload = Payload(messages=context.messages, system=context.system)
    assert chat_format(context.format).validate(payload) == []


def bounded(context: Context, budget: int) -> None:
    """The context costs no more than its budget, whoever counts."""
    assert context.budget == budget
    assert context.tokens <= budget, f"{context.tokens} tokens in a budget of {budget}"
    counted = recount(context)
    assert counted <= context.tokens, f"says {context.tokens}, holds at least {counted}"


def recount(context: Context) -> int:
    """What the words of a context cost, without any frame: never more than the context itself says."""
    return sum(TOKENS.count(text) for text in strings([context.system, context.messages]))


async def user_words(session: Session, context: Context, path: Sequence[Message]) -> None:
    """What users and the system said is verbatim, or visibly shortened, or under a goal's summary."""
    for row in context.view:
        first, last = stands(row, path)
        spoken = [message for message in path[first : last + 1] if is_spoken(message)]
        if row.what == "left out":
            await left_out(session, row, path)
        elif row.what == "summary":
            assert not spoken or row.level in ("goal", "story"), f"{row.id} of level {row.level} covers a user's words"
            await quoted(session, row, path[first : last + 1])
        elif spoken:
            await _shown(session, row, spoken[0])


async def left_out(session: Session, row: ViewRow, path: Sequence[Message]) -> None:
    """A budget cut says how much it leaves out, and what it names opens."""
    assert f"[LEFT OUT] {row.covers:,} message" in row.text
    ends = re.findall(r"m_\w+", row.text)
    opened = [(await session.expand(each)).messages[0].id for each in ends]
    assert opened == ([row.first, row.last] if row.covers > 1 else [row.first])


async def _shown(session: Session, row: ViewRow, message: Message) -> None:
    if row.text == message.text and not any(isinstance(part, Result) for part in message.parts):
        return
    assert "left out" in row.text, f"{row.text[:80]!r} is not what was said, and says nothing of it"
    opener = re.search(r"open with (m_\w+)", row.text)
    assert opener, "nothing says how to open the whole"
    opened = await session.expand(opener[1])
    assert [each.id for each in opened.messages] == [message.id]
    assert opened.messages[0].parts == message.parts


async def quoted(session: Session, row: ViewRow, covered: Sequence[Message]) -> None:
    """The record opens, names what it covers, and quotes its users word by word."""
    opened = await session.expand(row.id)
    assert opened.summary is not None
    assert [message.id for message in opened.messages] == [message.id for message in covered]
    said = [_words(message.text) for message in covered if is_spoken(message)]
    for line in [*opened.summary.lines("direction"), *opened.summary.lines("constraints")]:
        quote = _words(line.text).removesuffix("…")
        assert any(quote in text for text in said), f"nobody said {quote!r}"
    for line in opened.summary.lines("goal") if row.level == "goal" else ():
        for quote in re.findall(r"“([^”]*)”", line.text):
            assert any(_words(quote).removesuffix("…") in text for text in said), f"nobody said {quote!r}"
    _rests_on(opened.summary, {message.id for message in covered})


def _rests_on(summary: Summary, covered: set[str]) -> None:  # type: ignore[type-arg]
    for section in summary.sections:
        for line in section.lines:
            assert set(line.sources) <= covered, "a line names a source that the summary does not cover"


def is_spoken(message: Message) -> bool:
    """Whether the user or the system said it, and not the harness in their place."""
    return message.role in ("user", "system") and message.draft.origin == "spoken"


def pairs(path: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """The positions of each call and of its result, where both are there: an id's nearest call that still waits."""
    waiting: dict[str, list[int]] = {}
    for message in path:
        for call in message.draft.calls:
            if not call.server:
                waiting.setdefault(call.id, []).append(message.position)
        for result in message.draft.results:
            if waiting.get(result.call_id):
                yield waiting[result.call_id].pop(), message.position


def strings(value: object) -> Iterator[str]:
    """Every text that a model reads in a payload: no picture, no id, no name of a field."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key in ("input", "args"):
                yield json.dumps(inner, ensure_ascii=False)
            elif key in ("text", "thinking", "content", "arguments", "function", "tool_calls", "parts"):
                yield from strings(inner)
            elif key == "data" and isinstance(inner, Mapping):
                # The fields of a message, and no picture.
                yield from strings(inner)
            elif key == "name" and ("input" in value or "args" in value):
                yield str(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from strings(inner)


def _words(text: str) -> str:
    return " ".join(text.split())
