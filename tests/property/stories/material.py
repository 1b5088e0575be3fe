"""Stories told piece by piece; every message has a word that stands nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from hypothesis import strategies as st

from ireneo import Draft, Message, Policy
from ireneo.log.message import Call, Part, Result, Role, Text, heard_by
from ireneo.summaries.policy import StorySettings

SMALL = StorySettings(
    leaf_messages=6,
    leaf_tokens=400,
    fan_in=2,
    limit=2,
    live_messages=4,
    window_tokens=20_000,
    raw_tokens=600,
    open_threads=6,
)
"""Deep trees over a few hundred messages."""
TINY_STORY = Policy(name="story", story=SMALL, live_share=0.5)
FORMATS = ("openai", "anthropic", "gemini")
MARK = re.compile(r"zq\d+x\d+q")
"""The words that stand nowhere else."""

places = st.integers(0, 10_000)
budgets = st.sampled_from((256, 300, 420, 700, 1_200, 2_500, 6_000)) | st.integers(256, 2_000)
formats = st.sampled_from(FORMATS)


def marks(drafts: Iterable[Draft]) -> set[str]:
    """The marks of what was said in `drafts`."""
    return set(MARK.findall(str([draft.parts for draft in drafts])))


def heard(path: Sequence[Message], character: str) -> set[str]:
    """The marks of what a character was present for."""
    return marks(message.draft for message in path if heard_by(message.draft, character))


def says(role: Role, *parts: Part | str) -> Draft:
    """A message."""
    return Draft(role=role, parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts))


class Storyteller:
    """Tells one stretch; `name` is a number that stands in each of its marks."""

    def __init__(self, name: int = 1) -> None:
        self.name = name
        self.told = 0
        self.calls = 0

    def tell(self, pieces: Iterable[str]) -> list[Draft]:
        """The messages of these pieces, in order."""
        return [draft for piece in pieces for draft in PIECES[piece](self)]

    def mark(self) -> str:
        """A word that stands nowhere else."""
        self.told += 1
        return f"zq{self.name}x{self.told}q"

    def line(self, text: str) -> str:
        """`text` with a mark of its own in every sentence."""
        mark = self.mark()
        return " ".join(f"{sentence.rstrip('.')} near {mark}." for sentence in text.split(". "))

    def spoken(self, role: Role, author: str, text: str, present: tuple[str, ...] | None = None) -> Draft:
        """A message with an author."""
        return Draft(role=role, parts=(Text(text=self.line(text), author=author, present=present),))

    def call(self) -> Call:
        """A new call."""
        self.calls += 1
        return Call(id=f"call-{self.name}-{self.calls}", name="roll", arguments={"die": self.mark()})

    def result(self, call: Call) -> Draft:
        """What comes back from it."""
        return says("tool", Result(call_id=call.id, parts=(Text(text=self.line("The die shows 14")),), failed=False))


def _chat(t: Storyteller) -> list[Draft]:
    asked = says("user", t.line("Holm walked down to the harbour and looked for the old ferry"))
    return [asked, says("assistant", t.line("The ferry had left at noon. Rain came in from Marrow"))]


def _scene(t: Storyteller) -> list[Draft]:
    return [
        t.spoken("assistant", "Narrator", "The lamp in the Blue Heron goes out. Captain Orsk stands in the door"),
        t.spoken("user", "Vera", "Who sent you here tonight, Captain"),
        t.spoken("user", "Holm", "Nobody leaves this room before the letter is found"),
    ]


def _promise(t: Storyteller) -> list[Draft]:
    return [
        t.spoken("user", "Vera", "I promise you, Holm, I will bring the silver ring back to your sister"),
        t.spoken("user", "Holm", "I owe you forty guineas, Vera, and I will pay you before the feast"),
    ]


def _apart(t: Storyteller, *present: str) -> list[Draft]:
    """A scene that only some hear."""
    return [
        t.spoken("assistant", "Narrator", "They whisper behind the wall of Fort Dunmere", present),
        t.spoken("user", present[0], "I promise you that Edwin will never know about the letter", present),
    ]


def _thinks(t: Storyteller) -> list[Draft]:
    return [t.spoken("user", "Vera", "I secretly fear that Aldous lied to me about Marrow", ())]


def _tool(t: Storyteller) -> list[Draft]:
    call = t.call()
    return [says("assistant", call), t.result(call), says("assistant", t.line("The lock of the cellar opens"))]


def _parallel(t: Storyteller) -> list[Draft]:
    calls = [t.call(), t.call()]
    return [says("assistant", t.line("I roll twice"), *calls), *(t.result(call) for call in calls)]


def _late(t: Storyteller) -> list[Draft]:
    call = t.call()
    return [says("assistant", call), says("assistant", t.line("While it rolls the bell strikes")), t.result(call)]


def _wide(t: Storyteller) -> list[Draft]:
    """One atom of more messages than are read behind a leaf at first."""
    calls = [t.call() for _ in range(20)]
    return [says("assistant", *calls), *(t.result(call) for call in calls)]


def _long_turn(t: Storyteller) -> list[Draft]:
    told = [says("assistant", t.line(f"Chapter {number} of the voyage to Easterby is told")) for number in range(15)]
    return [says("user", t.line("Go on alone for a while")), *told]


def _huge(t: Storyteller) -> list[Draft]:
    text = " ".join(t.line(f"In year {number} Queen Ilse sent a fleet to Port Sel") for number in range(60))
    return [says("user", text)]


PIECES: dict[str, Callable[[Storyteller], list[Draft]]] = {
    "chat": _chat,
    "chats": lambda t: [draft for _ in range(6) for draft in _chat(t)],
    "scene": _scene,
    "promise": _promise,
    "Vera and Holm alone": lambda t: _apart(t, "Vera", "Holm"),
    "Holm and Tom alone": lambda t: _apart(t, "Holm", "Tom"),
    "Vera thinks": _thinks,
    "tool": _tool,
    "parallel": _parallel,
    "late": _late,
    "wide": _wide,
    "unanswered": lambda t: [says("assistant", t.call())],
    "long turn": _long_turn,
    "huge": _huge,
    "instruct": lambda t: [says("system", t.line("You tell a story. No ghosts may ever appear in it"))],
    "rule": lambda t: [says("user", t.line("Never write about ghosts again"))],
    "remind": lambda t: [Draft(role="user", parts=(Text(text=t.line("The reader is back")),), origin="injected")],
}
"""What can happen next in a story, by name."""
_USUAL = ("chat", "chats", "chats", "scene", "scene", "promise", "tool")

pieces = st.sampled_from(_USUAL) | st.sampled_from(_USUAL) | st.sampled_from(tuple(PIECES))


def stories(*, min_size: int = 1, max_size: int = 12) -> st.SearchStrategy[list[str]]:
    """Stories as lists of pieces."""
    return st.lists(pieces, min_size=min_size, max_size=max_size)
