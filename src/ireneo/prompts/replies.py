"""Prompts and replies of models: versioned texts, voices, and the typed replies."""

from __future__ import annotations

from functools import cached_property
from pkgutil import get_data
from string import Template
from types import MappingProxyType
from typing import Annotated, Literal, TypeAlias, get_args

from msgspec import Meta, Struct

from ireneo.language.topics import Voice
from ireneo.ports.models import Prompt, Task
from ireneo.summaries.summary import ThreadKind

_CUT = "\n---\n"


class PromptText(Struct, frozen=True, kw_only=True, dict=True):
    """One version of a task's prompt: ``<task>/<name>.md``, its two halves separated by a line of three dashes."""

    task: Task
    version: int
    max_tokens: int
    """The limit of the reply."""
    text: str = ""
    """The name of the text where a task has several; empty for the task's own."""

    @property
    def name(self) -> str:
        """The prompt and its version, such as ``turn-1`` or ``story-deep-1``."""
        return "-".join(filter(None, (self.task, self.text, str(self.version))))

    @cached_property
    def halves(self) -> tuple[Template, Template]:
        """The system prompt and the user prompt, as templates."""
        data = get_data(__package__, f"{self.task}/{self.name}.md")
        assert data is not None, self.name
        system, _, user = data.decode("utf-8").partition(_CUT)
        return Template(system.strip()), Template(user.strip())

    def render(self, **fields: str) -> Prompt:
        """Fill in the fields, whose text is not searched for placeholders. Raises KeyError for a missing field."""
        system, user = self.halves
        return Prompt(
            task=self.task,
            name=self.name,
            system=system.substitute(fields),
            user=user.substitute(fields),
            max_tokens=self.max_tokens,
        )


VOICES: MappingProxyType[Voice, str] = MappingProxyType(
    {
        "first": (
            "Where you tell who did something, write in the first person, past tense: “I ran X, the result was Y”. "
            "These are the agent's own notes of its own work: never “the assistant” or “you did”. What the user wants "
            "stays the user's: “The user wants …”."
        ),
        "second": (
            "Where you tell who did something, write in the second person, past tense: “You ran X, the result was Y”; "
            "never “I”. What the user wants stays the user's: “The user wants …”."
        ),
        "third": (
            "Where you tell who did something, write in the third person, past tense: “The agent ran X, the result was "
            "Y”; never “I” or “you”. What the user wants stays the user's: “The user wants …”."
        ),
    }
)
"""What the prompts say about the voice."""


_NAMED = "Call people by their names, never “the user”, “the assistant” or “the player”."
_UNNAMED = "Call people by the names that the text gives them; where it gives none, “the user” and “the assistant”."


def story_voice(voice: Voice, seen_by: str, *, named: bool) -> str:
    """What the prompts of stories say about the voice.

    `seen_by` is the character whose memory it is, if it is one's; `named` tells whether those who speak have names.
    """
    people = _NAMED if named else _UNNAMED
    if voice == "third":
        whose = f" Tell only what {seen_by} was present for." if seen_by else ""
        return f"Write in the third person; no “I”, “we” or “you” outside quotation marks. {people}{whose}"
    who = seen_by or "the one whose memory this is"
    if voice == "second":
        return f"Write in the second person: {who} is “you”, never “I”. Tell only what {who} was present for. {people}"
    return (
        f"You are {who}, and this is your own memory: “I” is {who}, and nobody else. Tell only what you were present "
        f"for, did, said, saw and were told; of yourself never by your name. {people}"
    )


ONE_STORY = "an object with"
SEVERAL_STORIES = "a list `texts` with an object for each text that is asked for, with its `number` and"


def story_parts(*, deep: bool) -> str:
    """The instruction to write one text for each part; with `deep`, also texts that cover several parts each."""
    over = (
        "Where a text over several parts is asked for as well, it will stand for them when they are long past: keep "
        "the turning points of all of them, as densely as a chronicle: one sentence of some twenty words for each "
        "scene that matters, with who did it, by what means, for what price or reason, and how it ended. Leave its "
        "`opened` and `resolved` empty."
    )
    parts = (
        "The stretch comes in several parts. Write a text for each part, which tells what happens in this part alone, "
        "names people anew, and gives away nothing that only a later part shows: the later parts help you to see what "
        "matters, no more. A thread belongs to the part that opens it, and is left out where a later part ends it."
    )
    return f"\n{parts}{f' {over}' if deep else ''}\n"


class NotesReply(Struct, frozen=True, kw_only=True):
    """The notes on a stretch of an agent's work, a line each."""

    notes: Annotated[list[Annotated[str, Meta(max_length=1_200)]], Meta(max_length=400)]
    """Each note is a kind, a worth, the numbers of its messages in brackets, and one statement."""


Name = Annotated[str, Meta(max_length=120)]


class ThreadSaid(Struct, frozen=True, kw_only=True):
    """A thread that a model found: a promise, a debt, a quest and the rest, which has not come to its end yet."""

    kind: Annotated[str, Meta(max_length=40, extra_json_schema={"enum": sorted({*get_args(ThreadKind)} - {"open"})})]
    """Another kind is a fault of this thread alone, not of the whole reply."""
    text: Annotated[str, Meta(max_length=400)]
    """One sentence that can be understood by itself."""
    who: Name = ""
    whom: Name = ""
    worth: float = 5.0
    """How much depends on it, 1 to 10."""


class StoryReply(Struct, frozen=True, kw_only=True):
    """The prose that stands for a stretch of a story, and what became of threads in it."""

    text: Annotated[str, Meta(max_length=8_000)]
    names: Annotated[list[Name], Meta(max_length=32)] = []
    """People, places and things that matter, as the story spells them."""
    opened: Annotated[list[ThreadSaid], Meta(max_length=16)] = []
    resolved: Annotated[list[Annotated[str, Meta(max_length=300)]], Meta(max_length=40)] = []
    """The short ids of the threads that ended here, each with what ended it."""


class OverviewReply(Struct, frozen=True, kw_only=True):
    """The account of a whole story."""

    text: Annotated[str, Meta(max_length=60_000)]
    names: Annotated[list[Name], Meta(max_length=32)] = []


AnyStoryReply: TypeAlias = StoryReply | OverviewReply


class NumberedStory(StoryReply, frozen=True, kw_only=True):
    """One of several texts that were asked for together."""

    number: int
    """The number under which it was asked for, from 1 on."""


class StoryReplies(Struct, frozen=True, kw_only=True):
    """The texts that stand for the adjacent parts of a stretch of a story."""

    texts: Annotated[list[NumberedStory], Meta(max_length=32)]


Word = Annotated[str, Meta(max_length=120)]


class FactSaid(Struct, frozen=True, kw_only=True):
    """One fact that somebody said."""

    message: int
    """The number of the message that states it."""
    quote: Annotated[str, Meta(max_length=400)]
    """The words of the message that state it."""
    text: Annotated[str, Meta(max_length=600)]
    """One sentence that can be understood alone."""
    kind: Literal["fact", "plan", "event", "howto", "failure"] = "fact"
    subject: Word = ""
    attribute: Word = ""
    value: Annotated[str, Meta(max_length=300)] = ""
    """For a fact or a plan: whom it is about, which of their attributes, and its value."""
    several: bool = False
    """Whether the attribute has several values at the same time, of which this is one."""
    since: Word = ""
    until: Word = ""
    """A day, month or year; anything else is ignored."""
    over: bool = False
    """Whether it has ended."""
    replaces: Annotated[list[Word], Meta(max_length=12)] = []
    """The numbers of the known facts that are no longer true because of it."""


class FactsReply(Struct, frozen=True, kw_only=True):
    """What a stretch of a conversation tells; nothing, where it tells nothing that lasts."""

    facts: Annotated[list[FactSaid], Meta(max_length=80)]


class ConclusionSaid(Struct, frozen=True, kw_only=True):
    """One conclusion."""

    text: Annotated[str, Meta(max_length=600)]
    episodes: Annotated[list[int], Meta(max_length=40)]
    """The numbers of the episodes that it rests on."""
    kind: Literal["semantic", "procedural"] = "semantic"
    subject: Word = ""
    attribute: Word = ""
    """For a fact: whom or what it is about, and which attribute."""
    task_type: Word = ""
    name: Word = ""
    """For a procedure: its type of task, and its own name."""


class ReflectReply(Struct, frozen=True, kw_only=True):
    """What lasts of the episodes; nothing where nothing does."""

    conclusions: Annotated[list[ConclusionSaid], Meta(max_length=6)] = []


LessonKind = Literal["ruling", "trap", "practice", "fact"]
Short = Annotated[str, Meta(max_length=300)]


class LessonSaid(Struct, frozen=True, kw_only=True):
    """One lesson."""

    kind: LessonKind
    lesson: Annotated[str, Meta(max_length=600)]
    """One line that can be acted on without further context."""
    why: Annotated[str, Meta(max_length=600)] = ""
    """The sentence of the user or agent that gives the reason, verbatim."""
    messages: Annotated[list[int], Meta(max_length=24)] = []
    """The numbers of the messages that are evidence for it."""
    trap: Short = ""
    """The command or path that fails."""
    way_out: Short = ""
    """What to do instead, in words."""
    way: Short = ""
    """The command, flag or path that works instead."""
    not_when: Short = ""
    """When it does not apply."""
    worth: Annotated[int, Meta(ge=1, le=5)] = 3


class Again(Struct, frozen=True, kw_only=True):
    """A lesson that was known, and of which the run shows something."""

    lesson: int
    """Its number."""
    messages: Annotated[list[int], Meta(max_length=24)]


class LessonsReply(Struct, frozen=True, kw_only=True):
    """What a run teaches; nothing, where it teaches nothing."""

    lessons: Annotated[list[LessonSaid], Meta(max_length=12)] = []
    confirmed: Annotated[list[Again], Meta(max_length=40)] = []
    """Known lessons that this run confirms."""
    contradicted: Annotated[list[Again], Meta(max_length=40)] = []
    """Known lessons that this run contradicts."""
    worthless: Annotated[list[Annotated[str, Meta(max_length=4)]], Meta(max_length=40)] = []
    """The letters of lessons drawn by rules that are wrong or say nothing."""


class LessonMended(LessonSaid, frozen=True, kw_only=True):
    """A lesson in narrower words."""

    number: int


class LessonDropped(Struct, frozen=True, kw_only=True):
    """A lesson that does not stand, or that is known."""

    lesson: int
    known: int = 0
    """The number of the known lesson that says the same; 0 for none."""
    why: Short = ""


class LessonsLook(Struct, frozen=True, kw_only=True):
    """What a second look at lessons shows; nothing, where all of them stand."""

    dropped: Annotated[list[LessonDropped], Meta(max_length=12)] = []
    mended: Annotated[list[LessonMended], Meta(max_length=12)] = []
