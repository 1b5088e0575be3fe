"""A small story, written by hand: a narrator, three characters, some chatter, and turns that matter."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.log.message import Draft, Message, Text, message_id
from ireneo.summaries.summary import Section, Summary, Writing, anchor

SCENES: tuple[tuple[tuple[str, str], ...], ...] = (
    (
        (
            "Narrator",
            "Rain hammers the quay of Port Sel. The ferry from Marrow is six hours late, and the inn is full.",
        ),
        ("Vera", "Evening! Is there a room left?"),
        ("Aldous", "For a friend of Captain Orsk there is always a room at the Blue Heron."),
        ("Tom", "Haha, nice hat."),
        ("Narrator", "Aldous slides a brass key across the counter. The number on it has been scratched out by hand."),
        ("Vera", "I will pay you back before the Lantern Feast, Aldous. I promise."),
        ("Tom", "I rolled a 14, plus 3 for perception."),
        ("Narrator", "In the cellar Tom discovers a drowned man, and on his finger the ring of House Tavarin."),
    ),
    (
        ("Tom", "Guys, we should really tell Captain Orsk about the body."),
        ("Vera", "No. Nobody tells Orsk anything before I know who killed him."),
        ("Narrator", "Captain Orsk arrives with two guards, and a letter that bears the seal of Queen Ilse."),
        ("Aldous", "I have never seen that man in my life, Captain, I swear it on the Heron."),
        ("Vera", "Okay, okay."),
        ("Narrator", "Aldous is arrested. As they lead him out he whispers one word to Vera: Marrow."),
        ("Vera", "I lied about the letter. My brother Edwin wrote it, and Aldous knew."),
        ("Tom", "You what?"),
    ),
    (
        ("Narrator", "At dawn the three of them leave Port Sel on the smugglers' boat of old Mother Quill."),
        ("Tom", "I give Mother Quill the ring, so that she takes us past the chain of Fort Dunmere."),
        (
            "Narrator",
            "The guns of Fort Dunmere open fire. Mother Quill is struck by a splinter and dies at the tiller.",
        ),
        ("Vera", "She had a daughter in Marrow. Somebody has to tell her."),
        ("Tom", "Then I will. I owe her that much."),
        ("Narrator", "By noon the cliffs of Marrow rise from the sea, and on the highest of them stands Edwin."),
        ("Vera", "Lol, of course he does."),
        ("Narrator", "Edwin Tavarin confesses that the drowned man was his father, and that he did not drown."),
    ),
)


def story() -> list[Message]:
    """Its messages, in order."""
    out: list[Message] = []
    for author, text in (said for scene in SCENES for said in scene):
        role = "assistant" if author == "Narrator" else "user"
        draft = Draft(role=role, parts=(Text(text=text, author=author),))
        parent = out[-1].id if out else None
        out.append(
            Message(
                id=message_id(parent, role, draft.parts),
                parent=parent,
                position=len(out),
                turn=len(out) + 1,
                tokens=0,
                thinking_tokens=0,
                total_tokens=0,
                draft=draft,
            )
        )
    return out


def story_record(
    messages: Sequence[Message],
    sections: tuple[Section, ...],
    *,
    depth: int = 1,
    retellings: int = 1,
    writing: Writing | None = None,
) -> Summary:
    """The record of a node over these messages."""
    first, last = messages[0], messages[-1]
    return Summary(
        id=anchor("story", first.id, last.id, "golden"),
        level="story",
        depth=depth,
        first=first.id,
        last=last.id,
        first_position=first.position,
        last_position=last.position,
        summarizer="golden",
        source_tokens=0,
        sections=sections,
        retellings=retellings,
        writing=writing,
    )
