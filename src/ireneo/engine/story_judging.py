"""Judge a model's reply about a story: which sentences and threads the shown passages support."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from ireneo.grounding.check import is_error_text, is_first_person, names_own_character, story_sentence_faults
from ireneo.grounding.story import StorySourceIndex, sentences, with_quotation_marks, without_wrong_clauses
from ireneo.language.files import cached_data, topic
from ireneo.language.story_topics import Threads, Turns
from ireneo.language.topics import Speech, Voice
from ireneo.language.words import other_language
from ireneo.log.calls import has_instruction
from ireneo.log.message import SHORT, MessageId, short
from ireneo.patterns import lazy_re
from ireneo.prompts.replies import StoryReply, ThreadSaid
from ireneo.summaries.summary import Thread, ThreadChanges, ThreadEnd, ThreadId, ThreadKind, thread_id

_TURNS = topic(Turns)


# The passages of the sources, and those that support a sentence.

MAX_RESTS = 3
NEAR = 0.6
"""A passage also counts as support if it shares at least this part of the words that the best passage shares."""
MAX_SOURCES = 6
_WORD = lazy_re(r"[^\W_]+")
_DENSE = lazy_re(r"[\u3040-\u30ff\u3400-\u9fff]")
_STEM = 6


class StoryPassage(Struct, frozen=True, kw_only=True):
    """A piece of a summary's sources, with its place."""

    text: str
    position: int
    sources: tuple[MessageId, ...]


def content_words(text: str) -> frozenset[str]:
    """The stems of content words; in a script without spaces, each pair of characters."""
    out: set[str] = set()
    for word in _WORD.findall(text):
        if _DENSE.search(word):
            out.update(word[place : place + 2] for place in range(len(word) - 1))
        elif len(word) > 3 or word[0].isupper() or word[0].isdigit():
            out.add(word.casefold()[:_STEM])
    return frozenset(out)


class PassageFinder:
    """Finds the passages, given in the order of the story, that support a text."""

    def __init__(self, passages: Sequence[StoryPassage]) -> None:
        self.passages = passages
        self._words = [content_words(passage.text) for passage in passages]
        self._spread = Counter(word for words in self._words for word in words)

    def supporting(self, text: str, place: float = 1.0) -> list[StoryPassage]:
        """The passages that share most words with `text`, the best first, and of equals the one nearest to `place`.

        `place` is from 0 (the beginning) to 1; the passage there is returned if none shares anything.
        """
        if not self.passages:
            return []
        wanted = content_words(text)
        worth = {word: math.log(1 + len(self._words) / self._spread[word]) for word in wanted if word in self._spread}
        # An exact sum, since the order of a set differs from one process to the next.
        scores = [math.fsum(worth[word] for word in words & worth.keys()) for words in self._words]
        last = max(len(scores) - 1, 1)
        order = sorted(range(len(scores)), key=lambda number: (-scores[number], abs(number / last - place)))
        best = scores[order[0]]
        if not best:
            return [self.passages[round(place * (len(self.passages) - 1))]]
        return [self.passages[number] for number in order[:MAX_RESTS] if scores[number] >= NEAR * best]


def position_and_sources(rests: Sequence[StoryPassage]) -> tuple[int, tuple[MessageId, ...]]:
    """The position of the last of these passages, and the messages that they come from, in order."""
    ordered = sorted(rests, key=lambda passage: passage.position)
    sources = dict.fromkeys(source for passage in ordered for source in passage.sources)
    return max((passage.position for passage in rests), default=0), tuple(sources)[-MAX_SOURCES:]


# The sentences of a reply, each with its worth.

WORTH = 5.0
"""The default worth of a sentence, from 1 to 10."""
MAX_WORTH = 10
MAX_JOINED = 400
"""Up to how many characters a sentence is joined to the one before it to which it refers back."""
_WORTH = lazy_re(r"(?:(?<!\s)\s++)?\[(10|[1-9])(?:/10)?\](?P<ends>[.!?…]*)")
_ENDS = ".!?…。！？"
_CLOSES = "\"'”’»」』)]*_ "


class ToldSentence(Struct, frozen=True):
    """A sentence of a model, with the worth that the model gave it."""

    text: str
    worth: float


def weighted_sentences(reply: StoryReply) -> list[ToldSentence]:
    """The sentences of a reply's text, each with its worth, which is in brackets before or after it."""
    text = with_quotation_marks(reply.text)
    marks = list(_WORTH.finditer(text))
    if not marks:
        return [ToldSentence(each, WORTH) for each in sentences(text)]
    leads = not text[: marks[0].start()].strip()
    starts = [0, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(text)]
    worths = [float(mark[1]) for mark in marks]
    worths = [WORTH, *worths] if leads else [*worths, WORTH]
    out: list[ToldSentence] = []
    held, most = "", 0.0
    for number, (start, end, worth) in enumerate(zip(starts, ends, worths, strict=True)):
        ending = marks[number]["ends"] if number < len(marks) and not leads else ""
        held, most = f"{held}{text[start:end]}{ending}", max(most, worth)
        # A bracket inside a sentence applies to the whole sentence.
        if held.rstrip(_CLOSES)[-1:] not in _ENDS and number < len(marks) and not leads:
            continue
        out += [ToldSentence(each, most) for each in sentences(held)]
        held, most = "", 0.0
    return out


def refers_back(text: str) -> bool:
    """Whether a sentence needs the one before it to be understood, such as “She told him”."""
    return bool(_TURNS.points_back.match(text))


def make_self_contained(kept: Iterable[ToldSentence]) -> list[ToldSentence]:
    """Join each sentence that refers back with the sentence before, so that any sentence may be shown alone."""
    out: list[ToldSentence] = []
    for each in kept:
        whole = f"{out[-1].text} {each.text}" if out and refers_back(each.text) else ""
        if whole and len(whole) <= MAX_JOINED:
            out[-1] = ToldSentence(whole, max(out[-1].worth, each.worth))
        else:
            out.append(each)
    return out


# The standards for a reply.

MAX_WORDS = 350
"""The maximum number of words of a leaf's text; a longer one is cut after a sentence."""
SPARE_WORDS = 100
"""A text is asked for with this many words fewer than it may have."""
MIN_WORDS, MIN_DEEP_WORDS, MIN_SHARE = 3, 12, 0.05
"""A text with fewer words than this, and than this share of its sources, replaces nothing. If little happens, a
single sentence may be enough; for a long stretch it isn't."""
CLAIMS_NAMED = 5
"""How many claims one fault names at most, so that a model that invents more gets the idea."""
_LARGE_WORD = lazy_re(r"[^\W_a-zà-ÿ][^\W_]*(?:['’-][^\W_]+)*")
_JUDGED_WORD = lazy_re(r"[^\W_]+(?:['’-][^\W_]+)*")


def count_words(text: str) -> int:
    """The number of words in `text`; in scripts without spaces two characters count as one."""
    return len(_JUDGED_WORD.findall(_DENSE.sub(" ", text))) + len(_DENSE.findall(text)) // 2


class StoryStyle(Struct, frozen=True, kw_only=True):
    """How a story is told."""

    voice: Voice
    seen_by: str
    """The character whose memory it is; empty for nobody's."""
    named: bool
    """Whether the speakers have names."""
    max_words: int = MAX_WORDS
    min_words: int = MIN_WORDS


class StoryJudge:
    """Judges a reply by its sources."""

    def __init__(
        self,
        passages: Sequence[StoryPassage],
        before: str,
        manner: StoryStyle,
        shown: Sequence[str] = (),
        earlier: Sequence[str] = (),
    ) -> None:
        """Index the sources; `shown` are texts that are evidence for names.

        `before` is what was known before; like the `earlier` texts it is only evidence for threads, whose subjects
        often began there.
        """
        self._manner = manner
        self._earlier = (before, *earlier)
        self._texts = [passage.text for passage in passages]
        self.finder = PassageFinder(passages)
        own = [manner.seen_by] if manner.seen_by else []
        self._names = (*shown, *earlier)
        self.evidence = StorySourceIndex([*self._texts, *own], names=self._names)

    def faults(self, reply: StoryReply) -> tuple[str, ...]:
        """Everything that is wrong with a reply and worth asking again for, a sentence each."""
        suspects = self.unknown_names(reply)
        checked = [(each.text, self.sentence_faults(each.text, suspects)) for each in weighted_sentences(reply)]
        checked += [(each.text, self.thread_faults(each, suspects)) for each in reply.opened]
        found = [f"“{text[:120]}”: {fault}" for text, faults in checked for fault in faults]
        return (*self.fatal_faults(reply), *self._manner_faults(reply), *found)

    def fatal_faults(self, reply: StoryReply) -> list[str]:
        """The fault that makes a whole reply unusable; empty if there is none."""
        text = _text_without_weights(reply)
        size = count_words(text)
        if not size:
            return ["The text is empty."]
        if is_error_text(text):
            return ["The text is an error text, and no story."]
        language = other_language(_space_characters(text), _space_characters(" ".join(self._texts)))
        if language:
            return [f"The text is in {language}, and the story is in another language."]
        if size < min(self._manner.min_words, MIN_SHARE * self._size):
            return [f"The text has {size} words, and stands for far more."]
        return []

    def sentence_faults(self, text: str, suspects: Sequence[str]) -> list[str]:
        """The faults of one sentence; empty if there are none."""
        return [*self._ungrounded(text, suspects), *self._voice_faults(text)]

    def usable_part(self, text: str, suspects: Sequence[str]) -> str:
        """The usable part of a sentence: all of it, its correct clauses, or nothing."""
        if not self.sentence_faults(text, suspects):
            return text

        def is_wrong(clause: str) -> bool:
            return bool(self.evidence.check_sentence(clause, suspects)[1] or self._voice_faults(clause))

        left = without_wrong_clauses(text, is_wrong)
        return left if left and not self.sentence_faults(left, suspects) else ""

    def thread_faults(self, thread: ThreadSaid, suspects: Sequence[str]) -> list[str]:
        """The faults of one thread; empty if there are none."""
        if not count_words(thread.text):
            return ["The thread says nothing."]
        if thread.kind not in get_args(ThreadKind):
            return [f"No thread is of the kind “{thread.kind}”."]
        found = self._ungrounded(thread.text, suspects)
        if found:
            found = self._ungrounded(thread.text, suspects, self._thread_sources)
        found += story_sentence_faults(thread.text, "third", False, self._labels)
        unknown = [name for name in (thread.who, thread.whom) if name and not self._is_person(name)]
        return [*found, *(f"The name “{name[:80]}” stands nowhere in the messages." for name in unknown)]

    def with_character_name(self, thread: ThreadSaid) -> ThreadSaid:
        """Replace “I” in a thread by the character's name."""
        own = self._manner.seen_by
        who, whom = (
            own if own and name.strip().casefold() in topic(Speech).myself else name
            for name in (thread.who, thread.whom)
        )
        return replace(thread, text=with_quotation_marks(thread.text), who=who, whom=whom)

    def supported_names(self, reply: StoryReply) -> list[str]:
        """The names of the reply that the sources have, each once."""
        listed = dict.fromkeys(" ".join(name.split()) for name in reply.names)
        return [
            name
            for name in listed
            if 0 < count_words(name) <= 8 and self.evidence.has_name(name) and not has_instruction(name)
        ]

    def unknown_names(self, reply: StoryReply) -> list[str]:
        """The words of names in the reply that the sources lack, in lower case: names wherever they occur."""
        listed = [*reply.names, *(name for each in reply.opened for name in (each.who, each.whom))]
        unknown = [name for name in listed if count_words(name) and not self._is_person(name)]
        for text in _statements(reply):
            unknown += [claim.text for claim in self.evidence.check_sentence(text)[1] if claim.kind == "name"]
        words = [word for name in unknown for word in _JUDGED_WORD.findall(name) if word[:1].isupper()]
        return sorted({word.casefold() for word in words if not self.evidence.has_name(word)})

    def supported_share(self, reply: StoryReply) -> float:
        """The share of the reply's claims that the sources support; 1 if nothing can be checked."""
        made = wrong = 0
        suspects = self.unknown_names(reply)
        for text in _statements(reply):
            claimed, unsupported = self.evidence.check_sentence(text, suspects)
            made, wrong = made + max(claimed, len(unsupported)), wrong + len(unsupported)
        return 1 - wrong / made if made else 1.0

    def _manner_faults(self, reply: StoryReply) -> list[str]:
        text, most = _text_without_weights(reply), self._manner.max_words
        size = count_words(text)
        found = [f"The text has {size} words; write at most {most - SPARE_WORDS}."] if size > most else []
        if (
            self._manner.voice == "first"
            and self._english
            and len(weighted_sentences(reply)) > 2
            and not is_first_person(text)
        ):
            found.append(f"Nobody says “I”, and it is the memory of {self._manner.seen_by or 'one of them'}.")
        return found

    def _voice_faults(self, text: str) -> list[str]:
        voice, own = self._manner.voice, self._manner.seen_by
        found = story_sentence_faults(text, voice, self._english, self._labels)
        if own and voice != "third" and names_own_character(text, own):
            found.append(f"It tells of {own} as of somebody else, and this is the memory of {own}.")
        return found

    @cached_property
    def _thread_sources(self) -> StorySourceIndex:
        """The sources, and everything that was written before them."""
        return StorySourceIndex([*self._texts, *self._earlier], names=self._names)

    def _ungrounded(self, text: str, suspects: Sequence[str], evidence: StorySourceIndex | None = None) -> list[str]:
        evidence = evidence or self.evidence
        if is_error_text(text):
            return ["It is an error text, and no story."]
        unsupported = evidence.check_sentence(text, suspects)[1][:CLAIMS_NAMED]
        found = [f"The {claim.kind} “{claim.text}” stands nowhere in the messages." for claim in unsupported]
        if has_instruction(text):
            found.append("It repeats an instruction that stands in the messages.")
        if not found and evidence.is_foreign(text):
            found.append("Nothing of what it says stands in the messages.")
        return found

    def _labels(self, role: str) -> bool:
        """Whether a role is only a label of the log, and not a name for somebody in the story."""
        return self._manner.named and not self.evidence.has_name(role)

    def _is_person(self, name: str) -> bool:
        # “The party” is not a name, nor is “pet” in “Anselm's pet”, whose meaning the thread gives.
        large = name if self.evidence.language == "de" else " ".join(_LARGE_WORD.findall(name))
        return name.strip().casefold() in topic(Speech).myself or self.evidence.has_name(large)

    @property
    def _english(self) -> bool:
        return self.evidence.language in (None, "en")

    @cached_property
    def _size(self) -> int:
        return sum(map(count_words, self._texts))


def _text_without_weights(reply: StoryReply) -> str:
    """The text of a reply without the worths of its sentences."""
    return _WORTH.sub(r"\g<ends>", reply.text)


def _statements(reply: StoryReply) -> list[str]:
    return [*(each.text for each in weighted_sentences(reply)), *(each.text for each in reply.opened)]


def _space_characters(text: str) -> str:
    """`text` with each character of a script without spaces as a word, so that a few of them show the language."""
    return _DENSE.sub(r" \g<0> ", text)


# The threads that a model opens and ends. One that it was shown and did not resolve remains open: carrying a thread too
# long costs a line, but one that is closed too early is gone.

TOLD_WEIGHT = 1.5
"""The weight of a thread of average worth."""
ALIKE, ALIKE_BETWEEN_KINDS = 0.5, 0.75
"""Two threads are the same if they share this part of the shorter one's words; different kinds must share more."""
_kind_words = cached_data(lambda: content_words(" ".join(topic(Threads).kind_words)))


def settle_threads(
    said: Sequence[ThreadSaid], resolved: Sequence[str], shown: Sequence[Thread], finder: PassageFinder
) -> tuple[ThreadChanges, list[str]]:
    """Settle the threads that a model `said` a stretch opens, and `resolved` among those `shown` as open.

    The second value says what was left out without being a reason to ask again.
    """
    left_out: list[str] = []
    opened: list[Thread] = []
    for each in said:
        thread = _make_thread(each, finder)
        if any(_is_same_thread(thread, other) for other in shown):
            left_out.append(f"The thread “{thread.text}” is open already.")
        elif not any(_is_same_thread(thread, other) for other in opened):
            opened.append(thread)
    ends, unknown = _match_resolved(resolved, shown, finder)
    left_out += [f"No open thread is called {name!r}." for name in unknown]
    opened.sort(key=lambda thread: thread.position)
    return ThreadChanges(opened=tuple(opened), closed=tuple(ends), ends=tuple(filter(None, ends.values()))), left_out


def _is_same_thread(one: Thread, other: Thread) -> bool:
    """Whether two threads are the same thread in other words."""
    if one.text.casefold() == other.text.casefold():
        return True
    people, others = (content_words(f"{each.who} {each.whom}") for each in (one, other))
    if people and others and not people & others:
        return False
    # Two people may each have one of a kind, or the same thing in turn; a relation is the same from both sides.
    holders = [content_words(each.who) for each in (one, other) if each.kind == "possession"]
    if len(holders) == 2 and all(holders) and not holders[0] & holders[1]:
        return False
    left, right = (content_words(each.text) - _kind_words() - people - others for each in (one, other))
    if not left or not right:
        return False
    needed = ALIKE if one.kind == other.kind else ALIKE_BETWEEN_KINDS
    return len(left & right) >= needed * min(len(left), len(right))


def _make_thread(said: ThreadSaid, finder: PassageFinder) -> Thread:
    text, who, whom = (" ".join(each.split()) for each in (said.text, said.who, said.whom))
    rests = finder.supporting(f"{text} {who} {whom}")[:1]
    source = rests[0].sources[-1] if rests and rests[0].sources else None
    # With twice the worth it is kept before a newer one, since there is very little room for threads.
    weight = TOLD_WEIGHT * (min(max(said.worth, 1), MAX_WORTH) / WORTH) ** 2
    kind: ThreadKind = next(each for each in get_args(ThreadKind) if each == said.kind)
    return Thread(
        id=thread_id(kind, text, source),
        kind=kind,
        text=text,
        who=who,
        whom=whom,
        weight=weight,
        position=rests[0].position if rests else 0,
        source=source,
    )


def _match_resolved(
    resolved: Sequence[str], shown: Sequence[Thread], finder: PassageFinder
) -> tuple[dict[ThreadId, ThreadEnd | None], list[str]]:
    """The ids of resolved threads, with what ended each if that was given; and names that match no thread."""
    closed: dict[ThreadId, ThreadEnd | None] = {}
    unknown: list[str] = []
    for given in resolved:
        name, _, how = given.strip(" []()`'\".,").partition(" ")
        bare = name.strip(" []()`'\".,:")
        meant = [thread for thread in shown if thread.id == bare or (short(thread.id) == bare[:SHORT] == bare)]
        if len(meant) == 1:
            closed[meant[0].id] = _thread_end(meant[0], " ".join(how.strip(" ]):—–-").split()), finder)
        elif given.strip():
            unknown.append(given)
    return closed, unknown


def _thread_end(thread: Thread, how: str, finder: PassageFinder) -> ThreadEnd | None:
    """The end of a thread, at the message that shows it; None if no end was given, or no message shows it."""
    rests = finder.supporting(f"{how} {thread.who}")[:1] if how and not has_instruction(how) else ()
    if not rests or not rests[0].sources:
        return None
    return ThreadEnd(id=thread.id, text=how, position=rests[0].position, source=rests[0].sources[-1])
