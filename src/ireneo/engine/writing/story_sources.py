"""What a model is shown of a story, within its window, and what its sentences are held to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ireneo.context.parts import share
from ireneo.context.shorten import shorten
from ireneo.context.summary import Line, Summary
from ireneo.context.thread import Thread
from ireneo.context.weigh import Count
from ireneo.grounding.neutral import neutralise
from ireneo.log.echo import as_said
from ireneo.log.ids import short
from ireneo.log.message import Message, MessageId, Part, Result, Text, is_own_block

BEFORE_TOKENS = 700
"""What is shown of the summary before: who is who."""
THREADS_TOKENS = 2_500
"""What is shown of the open threads; those beyond stay open."""
LEAST_TOKENS = 40
"""No speech is shortened to less."""
NAMES_SHOWN = 12
NOTHING = "(nothing)"

_LABELS = {"assistant": "assistant", "user": "user", "system": "setting", "tool": "tool"}
_FRAMES = ("<known>", "</known>", "<threads>", "</threads>", "<parts>", "</parts>")


class Spoken(Struct, frozen=True, kw_only=True):
    """One speech of a message: who speaks, and what is said."""

    label: str
    named: bool
    """The label is somebody's name, and not only a role."""
    text: str
    present: tuple[str, ...]
    message: Message

    @property
    def head(self) -> str:
        """What the speech begins with. A name is data as well."""
        return data(f"{' '.join(self.label.split())}:") if self.named else f"{self.label}:"


class Passage(Struct, frozen=True, kw_only=True):
    """A piece of what a summary is written from, and where it stands."""

    text: str
    position: int
    sources: tuple[MessageId, ...]


def heard(messages: Sequence[Message], character: str) -> list[Spoken]:
    """What is said in `messages`; of what somebody remembers, only what that `character` said or was there to hear.

    Another tool's compaction and what memory recalled are left out, since they are evidence for nothing.
    """
    return [
        spoken
        for message in as_said(messages)
        if message.draft.origin != "summary" or is_own_block(message.draft)
        for spoken in _of_message(message, character)
    ]


def _of_message(message: Message, character: str) -> Iterator[Spoken]:
    # What is not said of one part holds for the whole message.
    told = next((part.present for part in message.parts if isinstance(part, Text) and part.present is not None), None)
    speaks = next((part.author for part in message.parts if isinstance(part, Text) and part.author), None)
    for part in message.parts:
        author = part.author if isinstance(part, Text) and part.author else speaks
        present = part.present if isinstance(part, Text) and part.present is not None else told
        if character and present is not None and character not in (*present, author):
            continue
        if text := _words(part):
            label = author or ("note" if message.draft.origin == "injected" else _LABELS[message.role])
            yield Spoken(label=label, named=bool(author), text=text, present=present or (), message=message)


def _words(part: Part) -> str:
    return part.text.strip() if isinstance(part, (Text, Result)) else ""


def passages(spoken: Sequence[Spoken], parts: Sequence[Summary]) -> list[Passage]:
    """What sentences may rest on: the lines and threads of `parts`, and after them each speech."""
    out = [
        Passage(text=text, position=line.position, sources=line.sources)
        for part in parts
        for section in part.sections
        for line in section.lines
        if (text := _of_line(line))
    ]
    for part in parts:
        for thread in part.threads.opened:
            source = (thread.source,) if thread.source else ()
            text = " ".join(filter(None, (thread.text, thread.who, thread.whom)))
            out.append(Passage(text=text, position=thread.position, sources=source))
    for each in spoken:
        text = "\n".join(filter(None, (each.label if each.named else "", each.text, ", ".join(each.present))))
        out.append(Passage(text=text, position=each.message.position, sources=(each.message.id,)))
    return out


def _of_line(line: Line) -> str:
    return "\n".join(filter(None, (line.subject, line.text, ", ".join(mention.name for mention in line.names))))


def shown_speech(spoken: Sequence[Spoken], room: int, count: Count) -> str:
    """The speeches in order, one a line, the long ones shortened until they take no more than `room` tokens."""
    return _fitted([(each.head, each.text, each.message.id) for each in spoken], room, count)


def shown_parts(parts: Sequence[Summary], room: int, count: Count) -> str:
    """Summaries of a story in order, numbered, each with its names."""
    told = [(f"[{number}]", f"{story_text(part)}{_names(part)}", part.id) for number, part in enumerate(parts, 1)]
    return _fitted(told, room, count)


def shown_before(before: Summary | None, count: Count) -> str:
    """The summary that stands just before, as far as there is room: its end is what matters most."""
    text = story_text(before) if before else ""
    while text and count(text) > BEFORE_TOKENS:
        text = text[len(text) // 8 + 1 :].partition(" ")[2]
    return data(text) or NOTHING


def shown_threads(threads: Sequence[Thread], count: Count) -> tuple[str, list[Thread]]:
    """The open threads with their short ids, and which of them there was room for: the weightiest."""
    whole = "\n".join(map(_thread, threads))
    if count(whole) <= THREADS_TOKENS:
        return whole or NOTHING, list(threads)
    shown: set[str] = set()
    left = THREADS_TOKENS
    for thread in sorted(threads, key=lambda thread: -thread.weight):
        left -= count(_thread(thread)) + 1
        if left < 0:
            break
        shown.add(thread.id)
    kept = [thread for thread in threads if thread.id in shown]
    return "\n".join(map(_thread, kept)) or NOTHING, kept


def shown_names(names: Sequence[str]) -> str:
    """The names that the record ranks highest."""
    return data(", ".join(" ".join(name.split()) for name in names[:NAMES_SHOWN])) or NOTHING


def story_text(summary: Summary) -> str:
    """The prose of a story's summary, on one line."""
    return " ".join(" ".join(line.text.split()) for line in summary.lines("story") if line.text)


def data(text: str) -> str:
    """`text` as it may stand in a prompt: nothing in it is an instruction, or the end of where it stands."""
    return neutralise(text, _FRAMES)


def _thread(thread: Thread) -> str:
    people = " → ".join(filter(None, (thread.who, thread.whom)))
    text = " ".join(f"{thread.kind}{f' ({people})' if people else ''}: {thread.text}".split())
    return f"{short(thread.id)} {data(text)}"


def _names(part: Summary) -> str:
    names = [mention.name for line in part.lines("artifacts") for mention in line.names][:NAMES_SHOWN]
    return f" (names: {', '.join(names)})" if names else ""


def _fitted(told: Sequence[tuple[str, str, str]], room: int, count: Count) -> str:
    """Each head with its text on one line, so that nobody can speak in another's name; the last is what opens it.

    As they are where `room` tokens hold them together: what each costs alone doesn't add up to what they cost.
    """
    if not told:
        return NOTHING
    said = [(head, " ".join(text.split()), opener) for head, text, opener in told]
    whole = "\n".join(f"{head} {data(text)}" for head, text, _ in said)
    if count(whole) <= room:
        return whole
    left = room - sum(count(head) + 1 for head, _, _ in said)
    rooms = share([count(text) for _, text, _ in said], max(left, 0), floor=LEAST_TOKENS)
    lines = []
    for (head, text, opener), tokens in zip(said, rooms, strict=True):
        cut = shorten(text, tokens, short(opener), count)
        lines.append(f"{head} {data(' '.join(cut.text().split()) if cut else text)}")
    whole = "\n".join(lines)
    # Of very many speeches even a few words each are too much.
    cut = shorten(whole, room, short(told[0][2]), count)
    return cut.text() if cut else whole
