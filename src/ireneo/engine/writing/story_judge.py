"""Hold what a model said of a story against what it was written from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from ireneo.engine.writing.story_finder import Finder, content_words
from ireneo.engine.writing.story_sources import Passage
from ireneo.grounding.error_text import error_text
from ireneo.grounding.language import other_language
from ireneo.grounding.neutral import instruction_like
from ireneo.grounding.sentences import sentences
from ireneo.grounding.story import StoryEvidence, with_quotation_marks
from ireneo.grounding.telling import names_oneself, telling_faults, tells_of_itself
from ireneo.patterns import lazy_re
from ireneo.prompts.story.reply import StoryReply, ThreadSaid
from ireneo.prompts.voices import Voice

MOST_WORDS = 350
"""A text is asked for of up to 250 words; one that is longer than this is cut behind a sentence."""
LEAST_WORDS, LEAST_SHARE = 40, 0.05
"""A text of fewer words than this, and than this share of its sources, stands for nothing."""
TOLD = 5
"""Claims that one fault names; a model that invents more gets the idea."""
RETOLD, RETOLD_HERE, RETOLD_WORDS = 0.8, 0.5, 5
"""A sentence with so much of what was known before, and no more than that of anything new, retells what was known."""
_DENSE = lazy_re(r"[\u3040-\u30ff\u3400-\u9fff]")
_WORD = lazy_re(r"[^\W_]+(?:['’-][^\W_]+)*")
_MYSELF = frozenset({"i", "me", "myself", "ich", "mich", "mir", "je", "moi", "yo"})


class Told(Struct, frozen=True, kw_only=True):
    """How a story is to be told."""

    voice: Voice
    seen_by: str
    """The character whose memory it is; empty: nobody's."""
    named: bool
    """Those who speak have names."""


class StoryJudge:
    """What is known of the sources of a stretch, and the verdicts on what was said of it."""

    def __init__(self, passages: Sequence[Passage], before: str, told: Told) -> None:
        """Read the sources; `before` is what was known before, which is no evidence."""
        self._told = told
        self._texts = [passage.text for passage in passages]
        self._before = [content_words(sentence) for sentence in sentences(before)]
        own = [told.seen_by] if told.seen_by else []
        self.finder = Finder(passages)
        self.evidence = StoryEvidence([*self._texts, *own])

    def faults(self, reply: StoryReply) -> list[str]:
        """All that is wrong with a reply and worth asking again for, a sentence each."""
        suspects = self.suspects(reply)
        of_text = [(each, self.of_sentence(each, suspects)) for each in prose(reply)]
        of_threads = [(each.text, self.of_thread(each, suspects)) for each in reply.opened]
        found = [f"“{text[:120]}”: {fault}" for text, faults in (*of_text, *of_threads) for fault in faults]
        return [*self.fatal(reply), *self._mendable(reply), *found]

    def fatal(self, reply: StoryReply) -> list[str]:
        """What is so wrong with a reply that nothing of it can stand."""
        size = words_in(reply.text)
        if not size:
            return ["The text is empty."]
        if error_text(reply.text):
            return ["The text is an error text, and no story."]
        language = other_language(_spaced(reply.text), _spaced(self._own_words))
        if language:
            return [f"The text is in {language}, and the story is in another language."]
        if size < min(LEAST_WORDS, LEAST_SHARE * self._size):
            return [f"The text has {size} words, and stands for far more."]
        return []

    def of_sentence(self, text: str, suspects: Sequence[str] = ()) -> list[str]:
        """What is wrong with one sentence; nothing where it may stand."""
        voice, own = self._told.voice, self._told.seen_by
        found = [*self._ungrounded(text, suspects), *telling_faults(text, voice, self._english, self._labels)]
        if own and voice != "third" and names_oneself(text, own):
            found.append(f"It tells of {own} as of somebody else, and this is the memory of {own}.")
        if self._retells(text):
            found.append("It tells again what was known before.")
        return found

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
        who, whom = (own if own and name.strip().casefold() in _MYSELF else name for name in (thread.who, thread.whom))
        return ThreadSaid(kind=thread.kind, text=with_quotation_marks(thread.text), who=who, whom=whom)

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
        words = [word for name in unknown for word in _WORD.findall(name) if word[:1].isupper()]
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
        size = words_in(reply.text)
        found = [f"The text has {size} words; write at most 250."] if size > MOST_WORDS else []
        if self._told.voice == "first" and self._english and len(prose(reply)) > 2 and not tells_of_itself(reply.text):
            found.append(f"Nobody says “I”, and it is the memory of {self._told.seen_by or 'one of them'}.")
        return found

    def _ungrounded(self, text: str, suspects: Sequence[str]) -> list[str]:
        if error_text(text):
            return ["It is an error text, and no story."]
        wrong = self.evidence.look(text, suspects)[1]
        found = [f"The {claim.kind} “{claim.text}” stands nowhere in the messages." for claim in wrong[:TOLD]]
        if instruction_like(text):
            found.append("It repeats an instruction that stands in the messages.")
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
        return name.strip().casefold() in _MYSELF or self.evidence.has_name(name)

    @property
    def _english(self) -> bool:
        return self.evidence.language in (None, "English")

    @cached_property
    def _size(self) -> int:
        return sum(map(words_in, self._texts))

    @cached_property
    def _own_words(self) -> str:
        return " ".join(self._texts)


def prose(reply: StoryReply) -> list[str]:
    """The sentences of a reply's text."""
    return sentences(with_quotation_marks(reply.text))


def _spaced(text: str) -> str:
    """`text` with each sign of a script without spaces as a word: a few of them are enough to tell the language."""
    return _DENSE.sub(r" \g<0> ", text)


def words_in(text: str) -> int:
    """How many words `text` has; of scripts that write no spaces two signs count for one."""
    return len(_WORD.findall(_DENSE.sub(" ", text))) + len(_DENSE.findall(text)) // 2
