"""A story and a small pyramid over it, made by hand: what is looked at is what is stored, whoever planned it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.log.message import Draft, Head, Message, Role, Text, chain, count_parts, head_of
from ireneo.log.tree import MAIN, SessionKey
from ireneo.ports.store import Store, Transaction
from ireneo.summaries.policy import STORY
from ireneo.summaries.summary import Line, Section, Summary, Thread, ThreadChanges, ThreadKind, anchor, thread_id

KEY = SessionKey("default", "night-ferry")
COUNT = EstimatedTokenizer().count
SUMMARIZER = STORY.summarizer
NAMES = ("Mara", "Tobias", "Ilse")


def drafts(size: int, word: str = "The ferry was late") -> list[Draft]:
    """A talk of three."""
    out = []
    for number in range(size):
        author = NAMES[number % 3]
        role: Role = "user" if number % 2 == 0 else "assistant"
        out.append(Draft(role=role, parts=(Text(text=f"{word}, part {number}.", author=author),)))
    return out


def tell(
    tx: Transaction, told: Sequence[Draft], *, branch: str = MAIN, after: Head | None = None, key: SessionKey = KEY
) -> list[Message]:
    """Append inside a transaction, and move the branch there."""
    tx.sessions.create(key, "chat:night-ferry.txt")
    head = after or tx.log.head(key, branch)
    messages = chain(head, told, lambda parts: count_parts(parts, COUNT))
    tx.log.insert(key, messages)
    tx.log.move(key, branch, messages[-1].id)
    return messages


def thread(
    message: Message, text: str, kind: ThreadKind = "promise", who: str = "Mara", whom: str = "Tobias"
) -> Thread:
    """A thread that is opened at a message."""
    return Thread(
        id=thread_id(kind, text, message.id),
        kind=kind,
        text=text,
        who=who,
        whom=whom,
        position=message.position,
        source=message.id,
    )


def leaf(messages: Sequence[Message], threads: ThreadChanges | None = None, summarizer: str = SUMMARIZER) -> Summary:
    """A leaf over adjacent messages."""
    first, last = messages[0], messages[-1]
    text = f"Between {first.position + 1} and {last.position + 1} the ferry crossed, and nobody spoke of the letter."
    return Summary(
        id=anchor("story", first.id, last.id, summarizer),
        level="story",
        depth=1,
        first=first.id,
        last=last.id,
        first_position=first.position,
        last_position=last.position,
        summarizer=summarizer,
        source_tokens=sum(message.tokens for message in messages),
        sections=(Section(name="story", lines=(Line(text=text), Line(text="Rain came."))),),
        leaves=1,
        retellings=1,
        threads=threads or ThreadChanges(),
    )


def deeper(children: Sequence[Summary], threads: ThreadChanges | None = None) -> Summary:
    """The summary above adjacent ones."""
    first, last = children[0], children[-1]
    line = Line(text=f"In {sum(child.leaves for child in children)} parts the crossing went on.")
    return replace(
        first,
        id=anchor("story", first.first, last.last, first.summarizer),
        depth=first.depth + 1,
        last=last.last,
        last_position=last.last_position,
        source_tokens=sum(child.source_tokens for child in children),
        sections=(Section(name="story", lines=(line,)),),
        sources=tuple(child.id for child in children),
        leaves=sum(child.leaves for child in children),
        retellings=1 + max(child.retellings for child in children),
        threads=threads or ThreadChanges(),
    )


def pyramid(messages: Sequence[Message], size: int, leaves: int, merged: Sequence[int]) -> list[Summary]:
    """So many leaves of `size` messages; of each depth the first `merged` times four are under a deeper one."""
    rows = [[leaf(messages[start : start + size]) for start in range(0, leaves * size, size)]]
    for times in merged:
        row = rows[-1]
        rows.append([deeper(row[place : place + 4]) for place in range(0, times * 4, 4)])
    return [each for row in rows for each in row]


async def told_story(store: Store, *, size: int = 60, leaf_size: int = 4, leaves: int = 11) -> list[Message]:
    """A story of `size` messages with two deeper summaries, a fork inside what is summarised, and one at the end."""

    def change(tx: Transaction) -> list[Message]:
        m = tell(tx, drafts(size))
        summaries = pyramid(m, leaf_size, leaves, [2])
        opened = thread(m[7], "“I will bring your letter back.”")
        asked = thread(m[40], "Who lit the lamp?", "question", "Ilse", "")
        done = thread(m[2], "He owes her a coin.", "debt", "Tobias", "Mara")
        place = {each.id: each for each in summaries}
        deep, last = summaries[leaves], summaries[leaves - 1]
        place[deep.id] = replace(deep, threads=ThreadChanges(opened=(done, opened)))
        place[last.id] = replace(last, threads=ThreadChanges(opened=(asked,), closed=(done.id,)))
        tx.summaries.put(KEY, list(place.values()))
        aside = tell(tx, drafts(6, "Another night"), branch="another-night", after=head_of(m[21]))
        tell(tx, drafts(2, "A third one"), branch="third", after=head_of(aside[2]))
        tx.log.move(KEY, "mark", m[-1].id)
        return m

    return await store.write(change)
