"""A small story, written by hand, with something of all that a summary can tell, and records as rules give them."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.log.message import Draft, Message, MessageId, Origin, Result, Role, Text, message_id
from ireneo.summaries.summary import (
    Line,
    Mention,
    Section,
    Summary,
    Thread,
    ThreadChanges,
    ThreadKind,
    anchor,
    thread_id,
)

SUMMARIZER = "offline-1/story/150-20000-4"


def quarters(text: str) -> int:
    """Four characters a token."""
    return (len(text) + 3) // 4


def say(
    author: str | None,
    text: str,
    *,
    present: Sequence[str] | None = None,
    role: Role = "user",
    origin: Origin = "spoken",
) -> Draft:
    part = Text(text=text, author=author, present=None if present is None else tuple(present))
    return Draft(role=role, parts=(part,), origin=origin)


def logged(drafts: Sequence[Draft]) -> tuple[Message, ...]:
    """The drafts as the messages of one path."""
    out: list[Message] = []
    parent: MessageId | None = None
    for position, draft in enumerate(drafts):
        size = sum(quarters(part.text) for part in draft.parts if isinstance(part, (Text, Result)))
        name = message_id(parent, draft.role, draft.parts)
        out.append(
            Message(
                id=name,
                parent=parent,
                position=position,
                turn=position + 1,
                tokens=size,
                thinking_tokens=0,
                total_tokens=(out[-1].total_tokens if out else 0) + size,
                draft=draft,
            )
        )
        parent = name
    return tuple(out)


STORY = logged(
    [
        say("Narrator", "Rain came down over Port Alder. In the lighthouse Vera Lund waited for Holm."),
        say("Holm", "*He hangs up his coat.* You sent for me. If this is about the forty guineas, I have no money."),
        say(
            "Vera",
            "It is about the letter. I told you that it burned in the fire of 1851. That was a lie. I gave it to the "
            "harbour master, because he promised to leave my brother out of the trial.",
        ),
        say("Holm", "Three years you let me look for it! My sister hanged for want of that letter, Vera."),
        say("Narrator", "Holm struck the table with his left hand, and the lamp fell. The glass cut Vera's wrist."),
        say("Vera", "I know. I will go to the court at Easterby before the month is out and say so. I swear it, Holm."),
        say("Holm", "Then swear it on this.", present=("Vera",)),
        say("Narrator", "He laid his sister's silver ring on the table, and she put her bleeding hand on it."),
        say(None, "(ooc: brb, dinner. Roll for the stairs? 14 on a d20)", role="assistant"),
        say(
            "Narrator",
            "When she had gone down the stairs, Holm took a pistol out of the drawer. Nobody but the keeper, Old Tam, "
            "saw him load it.",
            present=("Holm", "Tam"),
        ),
        say("Tam", "Whom is that for, Mr Holm?", present=("Holm",)),
        say("Holm", "For the harbour master. Not a word to Vera, Tam.", present=("Tam",)),
    ]
)


def thread(kind: ThreadKind, text: str, who: str, whom: str, at: int = 0, weight: float = 1.0) -> Thread:
    source = STORY[at].id
    return Thread(
        id=thread_id(kind, text, source),
        kind=kind,
        text=text,
        who=who,
        whom=whom,
        weight=weight,
        position=at,
        source=source,
    )


OWED = thread("debt", "Holm owes Vera forty guineas for the boat.", "Holm", "Vera")
WHERE = thread("question", "What became of the letter of Holm's sister?", "Holm", "")
OPEN = (OWED, WHERE)


def record(
    messages: Sequence[Message] = STORY,
    *,
    summarizer: str = SUMMARIZER,
    depth: int = 1,
    leaves: int = 1,
    text: str = "Holm struck the table with his left hand, and the lamp fell.",
    names: Sequence[str] = ("Vera", "Holm", "Port Alder", "Tam", "Easterby"),
    threads: ThreadChanges | None = None,
) -> Summary:
    """A record of a stretch as rules might give it."""
    first, last = messages[0], messages[-1]
    mentions = tuple(Mention(name, float(10 - place)) for place, name in enumerate(names))
    line = Line(text=text, position=first.position + 4, sources=(messages[min(4, len(messages) - 1)].id,))
    return Summary(
        id=anchor("story", first.id, last.id, summarizer),
        level="story",
        depth=depth,
        first=first.id,
        last=last.id,
        first_position=first.position,
        last_position=last.position,
        summarizer=summarizer,
        source_tokens=sum(message.tokens for message in messages),
        sections=(
            Section(name="story", lines=(line,)),
            Section(name="constraints", lines=(Line(text="No ghosts in this story.", weight=3.0),)),
            Section(name="artifacts", lines=(Line(names=mentions, position=last.position, sources=(last.id,)),)),
        ),
        leaves=leaves,
        retellings=1,
        threads=threads or ThreadChanges(),
    )


GOOD: dict[str, object] = {
    "text": (
        "In the lighthouse of Port Alder Vera Lund told Holm that she had lied about the letter: it had not burned in "
        "the fire of 1851. She had given it to the harbour master, who had promised to leave her brother out of the "
        "trial. Holm told her that his sister had hanged for want of that letter, struck the table, and the glass of "
        "the lamp cut Vera's wrist. She swore on his sister's silver ring to go to the court at Easterby before the "
        "month was out. When she had gone, Holm loaded a pistol for the harbour master, and Old Tam saw it."
    ),
    "names": ["Vera Lund", "Holm", "the harbour master", "Old Tam", "Port Alder"],
    "opened": [
        {
            "kind": "promise",
            "text": "Vera swore to Holm to go to the court at Easterby and say that she had lied about the letter.",
            "who": "Vera",
            "whom": "Holm",
        },
        {
            "kind": "secret",
            "text": "Holm loaded a pistol for the harbour master, and told Tam to say no word of it to Vera.",
            "who": "Holm",
            "whom": "Vera",
        },
    ],
    "resolved": [WHERE.id[:9]],
}
"""What a model would say that read the story well."""
