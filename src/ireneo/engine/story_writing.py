"""A story told by a model: what it is shown, what it is held to, and what becomes of its answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.story_passages import Finder, StoryPassage, content_words, place_of
from ireneo.engine.story_reply import WORTH, ToldSentence, bare_text, points_back, prose, standing_alone, told
from ireneo.engine.writing import MOST_STRUCK, Judged, ShownPiece, WritingJob, doubts, shown_pieces, ungrounded
from ireneo.grounding.neutral import instruction_like, neutralise
from ireneo.grounding.status import error_text
from ireneo.grounding.story import StorySourceIndex, sentences, standing_part, with_quotation_marks
from ireneo.grounding.voice import names_oneself, telling_faults, tells_of_itself
from ireneo.language.detect import other_language
from ireneo.language.files import topic
from ireneo.language.topics import Speech
from ireneo.log.message import (
    SHORT,
    Count,
    Message,
    Part,
    Result,
    Text,
    as_said,
    is_own_block,
    own_name,
    short,
    was_there,
)
from ireneo.patterns import lazy_re
from ireneo.prompts import STORY, STORY_DEEP
from ireneo.prompts.replies import StoryReply, ThreadSaid, Voice, story_voice
from ireneo.summaries.summary import (
    Line,
    Mention,
    Section,
    Summary,
    Thread,
    ThreadChanges,
    ThreadEnd,
    ThreadId,
    Writing,
    thread_id,
)

BEFORE_TOKENS = 700
"""What is shown of the summary before: who is who."""
THREADS_TOKENS = 2_500
"""What is shown of the open threads; those beyond stay open."""
KNOWN_TOKENS = 600
"""What is shown of the names of all that came before: whom somebody means who isn't named in a stretch."""
KNOWN_NAMES = 300
NAMES_SHOWN = 12
MOST_WORTH = 10
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
        if character and present is not None and not was_there(character, present, author):
            continue
        if text := _words(part):
            label = author or ("note" if message.draft.origin == "injected" else _LABELS[message.role])
            yield Spoken(label=label, named=bool(author), text=text, present=present or (), message=message)


def _words(part: Part) -> str:
    return part.text.strip() if isinstance(part, (Text, Result)) else ""


def passages(spoken: Sequence[Spoken], parts: Sequence[Summary]) -> list[StoryPassage]:
    """What sentences may rest on: the lines and threads of `parts`, and after them each speech."""
    out = [
        StoryPassage(text=text, position=line.position, sources=line.sources)
        for part in parts
        for section in part.sections
        for line in section.lines
        if (text := _of_line(line))
    ]
    for part in parts:
        for thread in part.threads.opened:
            source = (thread.source,) if thread.source else ()
            text = " ".join(filter(None, (thread.text, thread.who, thread.whom)))
            out.append(StoryPassage(text=text, position=thread.position, sources=source))
    for each in spoken:
        text = "\n".join(filter(None, (each.label if each.named else "", each.text, ", ".join(each.present))))
        out.append(StoryPassage(text=text, position=each.message.position, sources=(each.message.id,)))
    return out


def _of_line(line: Line) -> str:
    return "\n".join(filter(None, (line.subject, line.text, ", ".join(mention.name for mention in line.names))))


def shown_speech(spoken: Sequence[Spoken], room: int, count: Count) -> str:
    """The speeches in order, one a line, the long ones shortened until they take no more than `room` tokens."""
    return _fitted([ShownPiece(each.head, each.text, each.message.id) for each in spoken], room, count)


def shown_parts(parts: Sequence[Summary], room: int, count: Count) -> str:
    """Summaries of a story in order, numbered, each with its names; without what is worth least, where room lacks."""
    shown = NOTHING
    for least in range(MOST_WORTH + 1):
        told = [
            ShownPiece(f"[{number}]", f"{_weighty(part, least)}{_names(part)}", part.id)
            for number, part in enumerate(parts, 1)
        ]
        shown = "\n".join(f"{each.head} {_on_one_line(each.text)}" for each in told)
        if count(shown) <= room:
            return shown or NOTHING
    return _fitted(told, room, count)


def _weighty(part: Summary, least: float) -> str:
    """The prose of a summary without the sentences that are worth less, but for the one that is worth most."""
    lines = [line for line in part.lines("story") if line.text]
    most = max((line.weight for line in lines), default=0.0)
    return " ".join(" ".join(line.text.split()) for line in lines if line.weight >= min(least, most))


def shown_before(before: Summary | None, count: Count) -> str:
    """The summary that stands just before, as far as there is room: its end is what matters most."""
    text = story_text(before) if before else ""
    while text and count(text) > BEFORE_TOKENS:
        text = text[len(text) // 8 + 1 :].partition(" ")[2]
    return data(text) or NOTHING


def shown_threads(threads: Sequence[Thread], count: Count) -> tuple[str, list[Thread]]:
    """The open threads with their short ids, and which of them there was room for: the weightiest."""
    whole = "\n".join(map(_thread_line, threads))
    if count(whole) <= THREADS_TOKENS:
        return whole or NOTHING, list(threads)
    shown: set[str] = set()
    left = THREADS_TOKENS
    for thread in sorted(threads, key=lambda thread: -thread.weight):
        left -= count(_thread_line(thread)) + 1
        if left < 0:
            break
        shown.add(thread.id)
    kept = [thread for thread in threads if thread.id in shown]
    return "\n".join(map(_thread_line, kept)) or NOTHING, kept


def shown_names(names: Sequence[str]) -> str:
    """The names that the record ranks highest."""
    return data(", ".join(" ".join(name.split()) for name in names[:NAMES_SHOWN])) or NOTHING


def known_names(before: Sequence[Summary]) -> tuple[str, ...]:
    """The names of the summaries that stand before a stretch, each once, those of most weight in all of them first."""
    weights: dict[str, float] = {}
    for part in before:
        for line in part.lines("artifacts"):
            for mention in line.names:
                weights[mention.name] = weights.get(mention.name, 0.0) + mention.weight
    ranked = sorted(weights, key=lambda name: (-weights[name], name))[:KNOWN_NAMES]
    words = {name: frozenset(name.casefold().split()) for name in ranked}
    # Vera is known where Vera Lund is.
    return tuple(name for name in ranked if not any(words[name] < other for other in words.values()))


def shown_known(names: Sequence[str], count: Count) -> str:
    """As many of the names that are known as there is room for."""
    left = KNOWN_TOKENS
    shown: list[str] = []
    for name in (" ".join(each.split()) for each in names):
        left -= count(name) + 1
        if left < 0:
            break
        shown.append(name)
    return data(", ".join(shown)) or NOTHING


def story_text(summary: Summary) -> str:
    """The prose of a story's summary, on one line."""
    return " ".join(" ".join(line.text.split()) for line in summary.lines("story") if line.text)


def data(text: str) -> str:
    """`text` as it may stand in a prompt: nothing in it is an instruction, or the end of where it stands."""
    return neutralise(text, _FRAMES)


def _thread_line(thread: Thread) -> str:
    people = " → ".join(filter(None, (thread.who, thread.whom)))
    text = " ".join(f"{thread.kind}{f' ({people})' if people else ''}: {thread.text}".split())
    return f"{short(thread.id)} {data(text)}"


def _names(part: Summary) -> str:
    names = [mention.name for line in part.lines("artifacts") for mention in line.names][:NAMES_SHOWN]
    return f" (names: {', '.join(names)})" if names else ""


def _fitted(told: Sequence[ShownPiece], room: int, count: Count) -> str:
    pieces = [ShownPiece(each.head, " ".join(each.text.split()), each.opener) for each in told]
    return shown_pieces(pieces, room, count, _on_one_line) or NOTHING


def _on_one_line(text: str) -> str:
    """`text` as data on one line, so that nobody can speak in another's name."""
    return data(" ".join(text.split()))


ASKED_WORDS = (250, 400, 600, 800)
"""So many words a text may have, by its depth: what stands for much has much to say, and a narrow context leaves out
what is worth least of it."""
SPARE_WORDS = 100
"""A text that is longer by more than this is cut behind a sentence."""
_DENSE = lazy_re(r"[\u3040-\u30ff\u3400-\u9fff]")
MOST_WORDS = ASKED_WORDS[0] + SPARE_WORDS
LEAST_WORDS, LEAST_DEEP_WORDS, LEAST_SHARE = 8, 40, 0.05
"""A text of fewer words than this, and than this share of its sources, stands for nothing. Of a stretch in which little
happens a single sentence is all that there is to say; of a long one it isn't."""
RETOLD, RETOLD_HERE, RETOLD_WORDS = 0.8, 0.5, 5
"""A sentence with so much of what was known before, and no more than that of anything new, retells what was known."""
_JUDGED_WORD = lazy_re(r"[^\W_]+(?:['’-][^\W_]+)*")


class StoryManner(Struct, frozen=True, kw_only=True):
    """How a story is to be told."""

    voice: Voice
    seen_by: str
    """The character whose memory it is; empty: nobody's."""
    named: bool
    """Those who speak have names."""
    most_words: int = MOST_WORDS
    least_words: int = LEAST_WORDS


class StoryJudge:
    """What is known of the sources of a stretch, and the verdicts on what was said of it."""

    def __init__(
        self, passages: Sequence[StoryPassage], before: str, told: StoryManner, shown: Sequence[str] = ()
    ) -> None:
        """Read the sources; `before` is what was known before, which is no evidence; `shown` are texts with names."""
        self._told = told
        self._texts = [passage.text for passage in passages]
        self._before = [content_words(sentence) for sentence in sentences(before)]
        own = [told.seen_by] if told.seen_by else []
        self.finder = Finder(passages)
        self.evidence = StorySourceIndex([*self._texts, *own], names=shown)

    def faults(self, reply: StoryReply) -> list[str]:
        """All that is wrong with a reply and worth asking again for, a sentence each."""
        suspects = self.suspects(reply)
        of_text = [(each, self.of_sentence(each, suspects)) for each in prose(reply)]
        of_threads = [(each.text, self.of_thread(each, suspects)) for each in reply.opened]
        found = [f"“{text[:120]}”: {fault}" for text, faults in (*of_text, *of_threads) for fault in faults]
        return [*self.fatal(reply), *self._mendable(reply), *found]

    def fatal(self, reply: StoryReply) -> list[str]:
        """What is so wrong with a reply that nothing of it can stand."""
        text = bare_text(reply)
        size = words_in(text)
        if not size:
            return ["The text is empty."]
        if error_text(text):
            return ["The text is an error text, and no story."]
        language = other_language(_spaced(text), _spaced(self._own_words))
        if language:
            return [f"The text is in {language}, and the story is in another language."]
        if size < min(self._told.least_words, LEAST_SHARE * self._size):
            return [f"The text has {size} words, and stands for far more."]
        return []

    def of_sentence(self, text: str, suspects: Sequence[str] = ()) -> list[str]:
        """What is wrong with one sentence; nothing where it may stand."""
        found = [*self._ungrounded(text, suspects), *self._voice_faults(text)]
        if self._retells(text):
            found.append("It tells again what was known before.")
        return found

    def standing(self, text: str, suspects: Sequence[str] = ()) -> str:
        """What of one sentence may stand: it, its clauses that are not wrong, or nothing."""
        if not self.of_sentence(text, suspects):
            return text
        left = standing_part(text, lambda clause: bool(self._clause_faults(clause, suspects)))
        return left if left and not self.of_sentence(left, suspects) else ""

    def of_thread(self, thread: ThreadSaid, suspects: Sequence[str] = ()) -> list[str]:
        """What is wrong with one thread; nothing where it may stand."""
        if not words_in(thread.text):
            return ["The thread says nothing."]
        found = [*self._ungrounded(thread.text, suspects), *telling_faults(thread.text, "third", False, self._labels)]
        for name in filter(None, (thread.who, thread.whom)):
            if not self._is_person(name):
                found.append(f"The name “{name[:80]}” stands nowhere in the messages.")
        return found

    def named(self, thread: ThreadSaid) -> ThreadSaid:
        """The thread with the character's name in the place of “I”."""
        own = self._told.seen_by
        who, whom = (
            own if own and name.strip().casefold() in topic(Speech).myself else name
            for name in (thread.who, thread.whom)
        )
        return replace(thread, text=with_quotation_marks(thread.text), who=who, whom=whom)

    def names(self, reply: StoryReply) -> list[str]:
        """The names of the reply that the sources have, each once."""
        told = {" ".join(name.split()): None for name in reply.names}
        return [
            name
            for name in told
            if 0 < words_in(name) <= 8 and self.evidence.has_name(name) and not instruction_like(name)
        ]

    def suspects(self, reply: StoryReply) -> list[str]:
        """Names of the reply that stand nowhere, in small letters: each is one wherever it is."""
        listed = [*reply.names, *(name for each in reply.opened for name in (each.who, each.whom))]
        unknown = [name for name in listed if words_in(name) and not self._is_person(name)]
        for text in (*prose(reply), *(each.text for each in reply.opened)):
            unknown += [claim.text for claim in self.evidence.look(text)[1] if claim.kind == "name"]
        words = [word for name in unknown for word in _JUDGED_WORD.findall(name) if word[:1].isupper()]
        return sorted({word.casefold() for word in words if not self.evidence.has_name(word)})

    def supported(self, reply: StoryReply) -> float:
        """Of the claims of the reply, the share that the sources support; 1 where nothing can be looked up."""
        made = wrong = 0
        suspects = self.suspects(reply)
        for text in (*prose(reply), *(each.text for each in reply.opened)):
            claimed, unsupported = self.evidence.look(text, suspects)
            made, wrong = made + max(claimed, len(unsupported)), wrong + len(unsupported)
        return 1 - wrong / made if made else 1.0

    def _mendable(self, reply: StoryReply) -> list[str]:
        text, most = bare_text(reply), self._told.most_words
        size = words_in(text)
        found = [f"The text has {size} words; write at most {most - SPARE_WORDS}."] if size > most else []
        if self._told.voice == "first" and self._english and len(prose(reply)) > 2 and not tells_of_itself(text):
            found.append(f"Nobody says “I”, and it is the memory of {self._told.seen_by or 'one of them'}.")
        return found

    def _voice_faults(self, text: str) -> list[str]:
        voice, own = self._told.voice, self._told.seen_by
        found = telling_faults(text, voice, self._english, self._labels)
        if own and voice != "third" and names_oneself(text, own):
            found.append(f"It tells of {own} as of somebody else, and this is the memory of {own}.")
        return found

    def _clause_faults(self, text: str, suspects: Sequence[str]) -> list[str]:
        claimed = [claim.text for claim in self.evidence.look(text, suspects)[1]]
        return [*claimed, *self._voice_faults(text)]

    def _ungrounded(self, text: str, suspects: Sequence[str]) -> list[str]:
        wrong = self.evidence.look(text, suspects)[1]
        found = ungrounded(text, wrong, what="story", whence="stands in the messages")
        if not found and self.evidence.is_foreign(text):
            found.append("Nothing of what it says stands in the messages.")
        return found

    def _retells(self, text: str) -> bool:
        words = content_words(text)
        if len(words) < RETOLD_WORDS or not self._before:
            return False
        known = max(len(words & before) for before in self._before) / len(words)
        return known >= RETOLD and self.finder.shared(text) < RETOLD_HERE

    def _labels(self, role: str) -> bool:
        """Whether a role is only a label of the log, and nobody of the story is called so."""
        return self._told.named and not self.evidence.has_name(role)

    def _is_person(self, name: str) -> bool:
        return name.strip().casefold() in topic(Speech).myself or self.evidence.has_name(name)

    @property
    def _english(self) -> bool:
        return self.evidence.language in (None, "en")

    @cached_property
    def _size(self) -> int:
        return sum(map(words_in, self._texts))

    @cached_property
    def _own_words(self) -> str:
        return " ".join(self._texts)


def _spaced(text: str) -> str:
    """`text` with each sign of a script without spaces as a word: a few of them are enough to tell the language."""
    return _DENSE.sub(r" \g<0> ", text)


def words_in(text: str) -> int:
    """How many words `text` has; of scripts that write no spaces two signs count for one."""
    return len(_JUDGED_WORD.findall(_DENSE.sub(" ", text))) + len(_DENSE.findall(text)) // 2


# What became of threads: what a model says of them, beside what rules found.
#
# A model is better than rules at telling a promise from a figure of speech. So where its reply is trusted, its threads
# stand, and of those by rules only the ones that are surely threads. What it was shown and did not call resolved stays
# open: a thread that is carried too long costs a line, one that is closed too early is gone.


SURE = 1.5
"""A thread that rules found stands beside a model's from this weight on; a model's own of even worth weighs as much."""
ALIKE, ALIKE_BETWEEN_KINDS = 0.5, 0.75
"""With this share of the words of the shorter one, two threads are one; of different kinds only with more."""
_KIND_WORDS = content_words(
    "promise promised promises vow vowed swore sworn debt owes owed quest threat threatened lie lied"
    " secret hides hidden keeps wound wounded hurt"
    " question asked wonders whether that this with from will would have they them their"
)
"""Words that many threads of a kind have, whatever they are about."""

_NO_ID = ThreadId("")


class Followed(Struct, frozen=True, kw_only=True):
    """What became of the threads of a stretch."""

    threads: ThreadChanges
    notes: tuple[str, ...]
    """What of the reply was left out, and is no reason to ask again."""


def follow(
    said: Sequence[ThreadSaid],
    resolved: Sequence[str],
    shown: Sequence[Thread],
    offline: ThreadChanges,
    finder: Finder,
) -> Followed:
    """Settle what was `said` of threads that a stretch opens and `resolved` of those that were `shown` as open."""
    notes: list[str] = []
    opened: list[Thread] = []
    for each in said:
        thread = _thread(each, offline, finder)
        if any(alike(thread, other) for other in shown):
            notes.append(f"The thread “{thread.text}” is open already.")
        elif not any(alike(thread, other) for other in opened):
            opened.append(thread)
    opened += [
        thread for thread in offline.opened if thread.weight >= SURE and not any(alike(thread, one) for one in opened)
    ]
    ends, unknown = _closed(resolved, shown, finder)
    closed = list(ends)
    notes += [f"No open thread is called {name!r}." for name in unknown]
    seen = {thread.id for thread in shown}
    closed += [name for name in offline.closed if name not in seen]
    known = {end.id: end for end in offline.ends if end.id in closed}
    return Followed(
        threads=ThreadChanges(
            opened=tuple(sorted(opened, key=lambda thread: thread.position)),
            closed=tuple(closed),
            forgotten=offline.forgotten,
            ends=tuple({**known, **{name: end for name, end in ends.items() if end is not None}}.values()),
        ),
        notes=tuple(notes),
    )


def alike(one: Thread, other: Thread) -> bool:
    """Whether two threads are the same one in other words."""
    if one.text.casefold() == other.text.casefold():
        return True
    people, others = _people(one), _people(other)
    if people and others and not people & others:
        return False
    left = content_words(one.text) - _KIND_WORDS - people - others
    right = content_words(other.text) - _KIND_WORDS - people - others
    if not left or not right:
        return False
    needed = ALIKE if one.kind == other.kind else ALIKE_BETWEEN_KINDS
    return len(left & right) >= needed * min(len(left), len(right))


def _people(thread: Thread) -> frozenset[str]:
    return content_words(f"{thread.who} {thread.whom}")


def _thread(said: ThreadSaid, offline: ThreadChanges, finder: Finder) -> Thread:
    text, who, whom = (" ".join(each.split()) for each in (said.text, said.who, said.whom))
    rests = finder.rests(f"{text} {who} {whom}")[:1]
    source = rests[0].sources[-1] if rests and rests[0].sources else None
    position = rests[0].position if rests else 0
    # Of twice the worth it outlasts one that is newer: the room for threads is the scarcest there is.
    weight = SURE * (min(max(said.worth, 1), MOST_WORTH) / WORTH) ** 2
    found = Thread(id=_NO_ID, kind=said.kind, text=text, who=who, whom=whom, weight=weight)
    # Rules know for certain where they found it.
    known = next((other for other in offline.opened if other.source and alike(found, other)), None)
    if known is not None:
        source, position = known.source, known.position
    weight = max(weight, known.weight) if known else weight
    return replace(found, id=thread_id(said.kind, text, source), position=position, source=source, weight=weight)


def _closed(
    resolved: Sequence[str], shown: Sequence[Thread], finder: Finder
) -> tuple[dict[ThreadId, ThreadEnd | None], list[str]]:
    """The full ids of what was resolved, with what ended each where that was said, and the names of no open thread."""
    closed: dict[ThreadId, ThreadEnd | None] = {}
    unknown: list[str] = []
    for given in resolved:
        name, _, how = given.strip(" []()`'\".,").partition(" ")
        bare = name.strip(" []()`'\".,:")
        meant = [thread for thread in shown if thread.id == bare or (short(thread.id) == bare[:SHORT] == bare)]
        if len(meant) == 1:
            closed[meant[0].id] = _end(meant[0], " ".join(how.strip(" ]):—–-").split()), finder)
        elif given.strip():
            unknown.append(given)
    return closed, unknown


def _end(thread: Thread, how: str, finder: Finder) -> ThreadEnd | None:
    """What ended a thread, placed where the stretch tells it; None where that wasn't said, or is in no message."""
    rests = finder.rests(f"{how} {thread.who}")[:1] if how and not instruction_like(how) else ()
    if not rests or not rests[0].sources:
        return None
    return ThreadEnd(id=thread.id, text=how, position=rests[0].position, source=rests[0].sources[-1])


WINDOW_TOKENS = 100_000
"""What a summariser can read at a time, unless a policy says otherwise."""
LEAST_ROOM = 1_000
"""However narrow the window, so much of the story is shown."""


class StoryJob(WritingJob, frozen=True, kw_only=True):
    """A summary of a story that a model is to write."""

    messages: tuple[Message, ...] = ()
    """Those that it is written from; none where it is written from `parts` alone."""
    parts: tuple[Summary, ...] = ()
    """The best texts of the summaries that it is written from, in order; none where it is written from messages."""
    before: Summary | None = None
    """What stands just before it: shown to the model as known, and evidence for nothing."""
    open: tuple[Thread, ...] = ()
    """The threads that are open at its beginning."""
    known: tuple[str, ...] = ()
    """The names of all that stands before it, the weightiest first."""
    voice: Voice = "third"
    seen_by: str = ""
    """The character whose memory it is; empty: nobody's."""
    window_tokens: int = WINDOW_TOKENS
    """What the model can read at a time, with its answer, and asked a second time."""

    @property
    def is_deep(self) -> bool:
        """Whether it covers several leaves: then its threads are carried, and not asked for."""
        return bool(self.parts) or self.offline.leaves > 1


class StoryTask:
    """A summary of a story as it is asked for, and judged (`WritingTask`)."""

    reply = StoryReply

    def __init__(self, job: StoryJob, count: Count) -> None:
        """Read the sources."""
        spoken = heard(job.messages, job.seen_by)
        named = not spoken or any(each.named for each in spoken)
        threads, self._shown = shown_threads(job.open, count)
        fields = {
            "voice": story_voice(job.voice, own_name(job.seen_by), named=named),
            "before": shown_before(job.before, count),
            "known": shown_known(job.known, count),
            "names": shown_names(_offline_names(job)),
            "disputes": doubts(job.disputes),
            "words": f"{asked_words(job) - SPARE_WORDS} to {asked_words(job)}",
        }
        if not job.is_deep:
            fields["threads"] = threads
        place, text = ("parts", STORY_DEEP) if job.is_deep else ("messages", STORY)
        empty = text.render(**fields, **{place: ""})
        # An answer that is asked for again is shown with what is wrong with it.
        room = job.window_tokens - count(empty.system) - count(empty.user) - 3 * empty.max_tokens
        fields[place] = _story(job, spoken, max(room, LEAST_ROOM), count)
        manner = StoryManner(
            voice=job.voice,
            seen_by=own_name(job.seen_by),
            named=named,
            most_words=most_words(job),
            least_words=LEAST_DEEP_WORDS if job.is_deep else LEAST_WORDS,
        )
        before = story_text(job.before) if job.before else ""
        self.job = job
        self.prompt = text.render(**fields)
        self.critical = _offline_names(job)[:NAMES_SHOWN]
        # What it is shown of them is evidence that there are such people, and for nothing that they did.
        named_there = (fields["before"], fields["names"], fields["known"], threads)
        self._judge = StoryJudge(passages(spoken, job.parts), before, manner, named_there)

    def faults(self, answer: StoryReply) -> list[str]:
        """All that is wrong with a reply and worth asking again for."""
        return self._judge.faults(answer)

    def judge(self, answer: StoryReply) -> Judged:
        """What of a reply may stand: its sentences, and with them its threads."""
        standing = self._standing(answer)
        # A sentence of which a clause was struck is one that doesn't stand as it was said.
        struck = sum(left.text != said.text for left, said in zip(standing, told(answer), strict=True))
        kept = [each.text for each in self._kept(answer)]
        trusted = bool(kept) and struck <= MOST_STRUCK * len(standing)
        if not self.job.is_deep:
            struck += len(answer.opened) - len(self._threads(answer) if trusted else ())
        return Judged(kept=kept, struck=struck, trusted=trusted)

    def supported(self, answer: StoryReply) -> float:
        """Of the claims of the reply, the share that the sources support."""
        return self._judge.supported(answer)

    def settle(self, answer: StoryReply, judged: Judged, writing: Writing) -> tuple[Summary, Sequence[str]]:
        """The record: the prose that stands, with the names and threads, and what is carried from the offline text."""
        job, text = self.job, self.job.named(writing)
        if not judged.trusted:
            return text, ()
        followed = Followed(threads=job.offline.threads, notes=())
        if not job.is_deep:
            threads = self._threads(answer)
            followed = follow(threads, answer.resolved, self._shown, job.offline.threads, self._judge.finder)
        text = replace(
            text,
            sections=_sections(job, self._judge, self._kept(answer), self._judge.names(answer)),
            threads=followed.threads,
            retellings=1 + max((part.retellings for part in job.parts), default=0),
            sources=tuple(part.id for part in job.parts),
        )
        return text, followed.notes

    def _standing(self, answer: StoryReply) -> list[ToldSentence]:
        """What is left of each sentence of a reply; empty where nothing is."""
        suspects = self._judge.suspects(answer)
        lost = fatal = bool(self._judge.fatal(answer))
        out: list[ToldSentence] = []
        for each in told(answer):
            # Whom “she” means is not known any more where the sentence before is gone.
            gone = fatal or (lost and points_back(each.text))
            left = "" if gone else self._judge.standing(each.text, suspects)
            lost = not left
            out.append(ToldSentence(left, each.worth))
        return out

    def _kept(self, answer: StoryReply) -> list[ToldSentence]:
        kept = standing_alone(each for each in self._standing(answer) if each.text)
        return _cut(kept, most_words(self.job))

    def _threads(self, answer: StoryReply) -> list[ThreadSaid]:
        suspects = self._judge.suspects(answer)
        return [self._judge.named(each) for each in answer.opened if not self._judge.of_thread(each, suspects)]


def _story(job: StoryJob, spoken: Sequence[Spoken], room: int, count: Count) -> str:
    """What the model reads: summaries in order, and after them what no summary tells of yet."""
    if not job.parts:
        return shown_speech(spoken, room, count)
    if not spoken:
        return shown_parts(job.parts, room, count)
    # Half each, and what one leaves is the other's.
    parts = shown_parts(job.parts, max(room // 2, room - count(shown_speech(spoken, room, count))), count)
    speech = shown_speech(spoken, max(room - count(parts), 1), count)
    return "\n".join(each for each in (parts, speech) if each != NOTHING)


def asked_words(job: StoryJob) -> int:
    """How many words the text of a job may have."""
    return ASKED_WORDS[min(job.offline.depth, len(ASKED_WORDS)) - 1] if job.is_deep else ASKED_WORDS[0]


def most_words(job: StoryJob) -> int:
    """How long it may be before it is cut."""
    return asked_words(job) + SPARE_WORDS


def _sections(
    job: StoryJob, judge: StoryJudge, kept: Sequence[ToldSentence], names: Sequence[str]
) -> tuple[Section, ...]:
    """The prose, then what is carried from the offline text, then the names."""
    line = _names_line(job, names)
    out = [Section(name="story", lines=tuple(_lines(judge, kept, line.names)))]
    out += [section for section in job.offline.sections if section.name not in ("story", "artifacts")]
    return (*out, *([Section(name="artifacts", lines=(line,))] if line.names else []))


def _lines(judge: StoryJudge, kept: Sequence[ToldSentence], names: Sequence[Mention]) -> list[Line]:
    out = []
    for number, each in enumerate(kept):
        place = number / max(len(kept) - 1, 1)
        position, sources = place_of([rest for one in sentences(each.text) for rest in judge.finder.rests(one, place)])
        within = tuple(mention for mention in names if mention.name in each.text)
        out.append(Line(text=each.text, names=within, weight=each.worth, position=position, sources=sources))
    return out


def _cut(kept: Sequence[ToldSentence], most: int) -> list[ToldSentence]:
    """The sentences up to which the text is not too long; the first one in any case."""
    out: list[ToldSentence] = []
    left = most
    for each in kept:
        left -= words_in(each.text)
        if left < 0 and out:
            break
        out.append(each)
    return out


def _names_line(job: StoryJob, names: Sequence[str]) -> Line:
    """The names that a model found to matter, and after them those of the record that it left out."""
    known = job.offline.lines("artifacts")
    weights = {mention.name: mention.weight for line in known for mention in line.names}
    heaviest = max(weights.values(), default=1.0)
    mentions = [Mention(name, heaviest) for name in names]
    said = [set(name.casefold().split()) for name in names]
    mentions += [
        Mention(name, weight)
        for name, weight in weights.items()
        if not any(set(name.casefold().split()) <= words for words in said)
    ]
    sources = known[0].sources if known else tuple(message.id for message in job.messages[-1:])
    position = known[0].position if known else job.offline.last_position
    text = known[0].text if known else ""
    return Line(text=text, names=tuple(mentions), weight=1.0, position=position, sources=sources)


def _offline_names(job: StoryJob) -> list[str]:
    return [mention.name for line in job.offline.lines("artifacts") for mention in line.names]
