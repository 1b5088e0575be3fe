"""Make a draft of a text to be remembered: validated, with its kind, slot, time and trust."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Literal, TypedDict, get_args

from msgspec import Struct
from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.language.files import any_of, of_language, topic
from ireneo.language.moments import moments
from ireneo.language.spoken import Facts
from ireneo.language.topics import Kinds
from ireneo.language.words import language_of_sentence, past_forms, sentences
from ireneo.log.message import MessageId
from ireneo.memories.cues import cues
from ireneo.memories.earnest import BULLET, is_earnest
from ireneo.memories.extract import extract_facts, single_fact
from ireneo.memories.facts import cardinality_of
from ireneo.memories.kinds import KINDS
from ireneo.memories.quoting import SaidFact
from ireneo.memories.record import TRUST, Kind, MemoryDraft, MemoryId, Source, slot
from ireneo.memories.wording import distinctive_words, unquoted_words
from ireneo.patterns import lazy_re

_ENGLISH = of_language(Kinds, "en")

# The kind of a text, by rules alone: the question that should find it decides. "What must I not repeat?" is tried
# first, then "how is it done?", then "what happened?"; a text that answers none of them is a statement. English only; a
# text in another language is a statement, unless a caller says otherwise.


LONGEST = 2_000
"""How many characters of a text are read."""


class KindGuess(Struct, frozen=True, kw_only=True):
    """The presumed kind of a text; only a plain statement has a slot."""

    kind: Kind
    subject: str = ""
    attribute: str = ""
    value: str = ""
    against: bool = False
    """Whether it says that something is no longer true."""
    earnest: bool = True
    """Whether it is stated, not supposed, joked or quoted."""


_NUMBERED = lazy_re(lambda: rf"^[^\S\n]*(?:\d{{1,2}}[.)]|{_step_pattern()} \d{{1,2}}\b[.:)]?)\s+\S", re.I | re.M)
_INLINE_NUMBERS = lazy_re(
    lambda: rf"(?:^|\s)(?:{_step_pattern()} |\()?1[.):] \S.{{1,400}}\s(?:{_step_pattern()} |\()?2[.):] \S", re.S | re.I
)
_WORD = lazy_re(r"[a-z]+(?:'[a-z]+)?")


def _step_pattern() -> str:
    return any_of(_ENGLISH.step)


@lru_cache(256)
def classify(text: str, speaker: str = "") -> KindGuess:
    """The kind of `text`, and its slot if it has one; `speaker` is who "I" is, if known.

    Cached: a text is classified for its draft, for its parts, and again for each of them.
    """
    looked_at = text[:LONGEST].replace("’", "'").strip()
    if _ENGLISH.failed.search(looked_at):
        return KindGuess(kind="failure")
    if len(_NUMBERED.findall(looked_at)) >= 2 or _INLINE_NUMBERS.search(looked_at) or _ENGLISH.steps.search(looked_at):
        return KindGuess(kind="procedural")
    if fact := single_fact(looked_at, speaker):
        return _guess_of(fact)
    if not is_earnest(looked_at):
        return KindGuess(kind="episodic", earnest=False)
    return KindGuess(kind="episodic" if _is_past_event(looked_at) else "semantic")


class StatedPart(Struct, frozen=True, kw_only=True):
    """A statement in a text, to be remembered by itself."""

    text: str
    guess: KindGuess


def stated_parts(text: str, speaker: str = "") -> list[StatedPart]:
    """The statements of a text that each fill a slot, and the text between them, in order.

    Sentences are kept verbatim. A sentence that fills several slots is split into clauses; if that leaves something
    out, the sentence is a part as well. If the text fills at most one slot, it is the only part.
    """
    text = text.strip()
    whole = [StatedPart(text=text, guess=classify(text, speaker))]
    if whole[0].guess.kind in ("failure", "procedural") or len(text) > LONGEST:
        return whole
    read = extract_facts(text.replace("’", "'"), speaker=speaker, at=None, anyone=True)
    told = [fact for fact in read if fact.attribute or not fact.against]
    spans = list(_sentence_spans(text))
    facts = _facts_by_sentence([text[start:end] for start, end in spans], told)
    if facts is None:
        return whole
    doubtful = _ambiguous_slots(told)
    parts: list[StatedPart] = []
    # The start of the last sentence that is clear alone, the end of the one before, and whether the last part fills no
    # slot.
    begun, last, rest = 0, 0, False
    for (start, end), here in zip(spans, facts, strict=True):
        sentence, between = text[start:end], text[last:start]
        slots = [] if doubtful & {_slot_of(fact) for fact in here} else _filled_slots(here, speaker)
        last = end
        if not slots and parts and rest:
            parts[-1] = _slotless_part(text[begun:end], speaker)
        elif not slots and parts and _refers_back(sentence):
            parts[-1] = replace(parts[-1], text=f"{parts[-1].text}{between}{sentence}")
        elif len(slots) == 1 and not _refers_back(sentence) and not _replaces_old_fact(here, slots[0]):
            parts.append(StatedPart(text=sentence, guess=_guess_of(slots[0])))
            begun, rest = start, False
        else:
            parts += [StatedPart(text=_as_sentence(unquoted_words(fact.text)), guess=_guess_of(fact)) for fact in slots]
            begun, rest = (
                start,
                not slots
                or not distinctive_words(sentence)
                <= {word for fact in here if fact.attribute for word in distinctive_words(unquoted_words(fact.text))},
            )
            if rest:
                parts.append(_slotless_part(sentence, speaker))
    return parts if len(parts) > 1 or (parts and distinctive_words(parts[0].text) != distinctive_words(text)) else whole


def _replaces_old_fact(facts: Sequence[SaidFact], news: SaidFact) -> bool:
    """Whether a sentence has a clause about something no longer true: "Eve left Lyon, she lives in Oslo now"."""
    return any(fact.against and _slot_of(fact) == _slot_of(news) and fact.quote != news.quote for fact in facts)


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each sentence, without repetitions; a line break also ends one."""
    at = 0
    known = set[str]()
    for line in text.splitlines():
        for sentence in sentences(BULLET.sub("", line), small_opens=True):
            start = text.index(sentence, at)
            at = start + len(sentence)
            if sentence not in known:
                yield start, at
            known.add(sentence)


def _facts_by_sentence(said: Sequence[str], facts: Sequence[SaidFact]) -> list[list[SaidFact]] | None:
    plain = [" ".join(sentence.replace("’", "'").split()) for sentence in said]
    out: list[list[SaidFact]] = [[] for _ in said]
    at = 0
    for fact in facts:
        here = next((n for n in (*range(at, len(said)), *range(at)) if fact.quote in plain[n]), None)
        if here is None:
            return None
        at = here
        out[here].append(fact)
    return out


def _slot_of(fact: SaidFact) -> str:
    return slot(fact.subject, fact.attribute)


def _ambiguous_slots(facts: Sequence[SaidFact]) -> set[str]:
    """The single-value slots for which a text gives two values, so that it is unclear which one is true."""
    values: dict[str, set[str]] = {}
    for fact in facts:
        if fact.attribute and not fact.against and cardinality_of(fact.attribute) == "one":
            values.setdefault(_slot_of(fact), set()).add(fact.value.casefold())
    return {name for name, said in values.items() if len(said) > 1}


def _filled_slots(facts: Sequence[SaidFact], speaker: str) -> list[SaidFact]:
    """The slots that a sentence fills; somebody who quits one job for another has the other."""
    slots = [fact for fact in facts if fact.attribute and fact.attribute != "manner"]
    slots = [fact for fact in slots if fact.subject != "user" or speaker]
    news = {_slot_of(fact) for fact in slots if not fact.against}
    return [fact for fact in slots if not (fact.against and _slot_of(fact) in news)]


def _refers_back(sentence: str) -> bool:
    """Whether a sentence can't be understood without the one before it."""
    rows = cues(language_of_sentence(sentence))
    return bool(rows.refers.match(sentence) or rows.points.match(sentence) or rows.depends.match(sentence))


def _slotless_part(text: str, speaker: str) -> StatedPart:
    guess = classify(text, speaker)
    return StatedPart(text=text, guess=KindGuess(kind=guess.kind, earnest=guess.earnest))


def _guess_of(fact: SaidFact) -> KindGuess:
    is_user = fact.subject.casefold() in topic(Facts).speaker
    subject = "user" if is_user else fact.subject
    return KindGuess(kind="semantic", subject=subject, attribute=fact.attribute, value=fact.value, against=fact.against)


def _as_sentence(words: str) -> str:
    told = words[0].upper() + words[1:]
    return told if told[-1] in ".!?…" else f"{told}."


def _is_past_event(text: str) -> bool:
    """Whether the first verb is in the past and expresses an event."""
    known, words = _ENGLISH, _WORD.findall(text.lower())
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if word in known.present and not (word == "may" and _ENGLISH.times.search(f"{before} may")):
            return False
        if word in known.be_past:
            following = words[at + 1 : at + 3]
            if not known.born.isdisjoint(following):
                return False
            return (
                word in known.got
                or bool(_ENGLISH.times.search(text) or _ENGLISH.had.search(text))
                or any(_is_past(each) for each in following)
            )
        if word in known.did or (_is_past(word) and at and before not in known.before_name):
            return True
    return False


def _is_past(word: str) -> bool:
    if word in _ENGLISH.no_past or word.endswith("s"):
        return False
    return word in past_forms() or (len(word) > 3 and word.endswith("ed"))


MOST_BYTES = 65_536
"""The maximum number of bytes of a memory's text in UTF-8."""
MOST_NAME = 1_000
"""The maximum number of characters of a subject, attribute, value, task type, name, session, project or signature."""

MOST_LABELS = 50

_KINDS: tuple[str, ...] = get_args(Kind)
_SOURCES: tuple[str, ...] = get_args(Source)


class MemoryDetails(TypedDict, total=False):
    """Optional details of a text to be remembered."""

    kind: Kind
    """Found by rules if it is not given."""
    at: datetime
    """When it happened, or since when it is true."""
    until: datetime
    """When it stopped being true."""
    recorded: datetime
    """When it was recorded, if not now, for memories from elsewhere."""
    subject: str
    attribute: str
    value: str
    task_type: str
    name: str
    signature: str
    conditions: dict[str, str]
    origin: Source
    trust: float
    salience: float
    confidence: float
    messages: Sequence[str]
    summaries: Sequence[str]
    memories: Sequence[str]
    session: str
    project: str
    """The project that it belongs to, ``*`` for all; by default that of its session."""
    labels: Sequence[str]
    """The caller's own words by which it can be found."""
    pinned: bool
    against: bool
    """Whether it contradicts its subject: the approach worked after all, it isn't true."""
    adds: bool
    """Whether the slot has several values at a time, such as "allergy", and this is one more; by default the
    attribute's name decides."""


_ONLY_OF: dict[Literal["until", "signature"], tuple[Kind, ...]] = {
    "until": tuple(name for name, kind in KINDS.items() if kind.lasts),
    "signature": ("failure",),
}
"""Details that only some kinds use: others would store and never read them."""
_FIELDS = tuple(MemoryDetails.__annotations__)


def memory_draft(text: str, details: MemoryDetails, now: datetime) -> MemoryDraft:
    """The draft of a text with these details; `now` is the current time.

    Raises BadInput for details that can't be used, in a sentence that says what to do.
    """
    _check_fields(details)
    _check_text(text)
    for name in ("at", "until", "recorded"):
        check_time(name, details.get(name))
    for name in ("trust", "salience", "confidence"):
        _check_share(name, details.get(name))
    for name in ("subject", "attribute", "value", "task_type", "name", "signature", "session", "project"):
        _check_name(name, details.get(name, ""))
    for name in ("messages", "summaries", "memories"):
        _check_ids(name, details.get(name, ()))
    check_labels(details.get("labels", ()))
    _check_conditions(details.get("conditions", {}))
    _check_choice("kind", details.get("kind"), _KINDS)
    _check_choice("origin", details.get("origin"), _SOURCES)
    return _build_draft(text.strip(), details, details.get("recorded") or now)


def _build_draft(text: str, details: MemoryDetails, recorded: datetime) -> MemoryDraft:
    origin = details.get("origin", "user")
    guess = _guess_with_details(text, details, origin)
    _check_applicable(details, guess.kind)
    at, until = details.get("at"), details.get("until")
    if at and until and until < at:
        raise BadInput(f"`until` ({until:%Y-%m-%d}) is before `at` ({at:%Y-%m-%d}); give the later time as `until`.")
    return MemoryDraft(
        text=text,
        kind=guess.kind,
        # If only the end is known, it is also used as the time, whenever it began.
        at=at or (until if until and until < recorded else _time_in_text(text, guess.kind, recorded)),
        recorded=recorded,
        until=until,
        origin=origin,
        trust=float(details.get("trust", TRUST[origin])),
        salience=float(details.get("salience", 0.5)),
        confidence=float(details.get("confidence", 0.8 if guess.earnest else 0.3)),
        subject=guess.subject,
        attribute=guess.attribute,
        value=guess.value,
        task_type=details.get("task_type", "").strip(),
        name=details.get("name", "").strip(),
        signature=details.get("signature", "").strip(),
        conditions=dict(details.get("conditions", {})),
        against=bool(details.get("against", guess.against)),
        # A text that contradicts something says what is wrong with it.
        why=text if details.get("against", guess.against) else "",
        adds=_adds_value(details, guess.attribute),
        session=details.get("session", ""),
        project=details.get("project", ""),
        labels=tuple(dict.fromkeys(each.strip() for each in details.get("labels", ()))),
        messages=tuple(MessageId(each) for each in dict.fromkeys(details.get("messages", ()))),
        summaries=tuple(dict.fromkeys(details.get("summaries", ()))),
        memories=tuple(MemoryId(each) for each in dict.fromkeys(details.get("memories", ()))),
        pinned=bool(details.get("pinned", False)),
    )


def part_draft(whole: MemoryDraft, part: StatedPart, details: MemoryDetails) -> MemoryDraft:
    """The draft of a part of a text: the details of the whole, with the slot and the time of the part."""
    guess = part.guess
    timed = "at" in details or whole.until is not None
    return replace(
        whole,
        text=part.text,
        kind=guess.kind,
        at=whole.at if timed else _time_in_text(part.text, guess.kind, whole.recorded),
        confidence=float(details.get("confidence", 0.8 if guess.earnest else 0.3)),
        subject=guess.subject,
        attribute=guess.attribute,
        value=guess.value,
        against=guess.against,
        why=part.text if guess.against else "",
    )


def _time_in_text(text: str, kind: Kind, now: datetime) -> datetime:
    """When something happened, or since when it is true, by the first past time in a text; else `now`."""
    times = moments(text[:LONGEST], now, language_of_sentence(text), ahead=False)
    past = [each for each in times if each.at.date() < now.date() and (not KINDS[kind].lasts or each.since)]
    return past[0].at if past else now


def _check_applicable(details: MemoryDetails, kind: Kind) -> None:
    """Raise BadInput for details that make no sense for the memory's kind."""
    for name, kinds in _ONLY_OF.items():
        if details.get(name) and kind not in kinds:
            raise BadInput(
                f"`{name}` says something of a {' or '.join(kinds)} memory, and this one is {kind}; "
                f"leave it out, or say of which `kind` it is."
            )


def _guess_with_details(text: str, details: MemoryDetails, origin: Source) -> KindGuess:
    """The kind and the slot; details take precedence over what the text says."""
    kind = details.get("kind") or _kind_by_details(details)
    slot = KindGuess(
        kind=kind or "semantic",
        subject=details.get("subject", "").strip(),
        attribute=details.get("attribute", "").strip(),
        value=details.get("value", "").strip(),
    )
    if kind and kind != "semantic":
        return slot
    # "My" refers to the speaker; unless that is the user, it is unknown who it is.
    found = classify(text, "user" if origin == "user" else "")
    if not (slot.subject or slot.attribute or slot.value):
        return slot if kind and found.kind != kind else found
    if not kind and found.kind != "semantic":
        return found
    return _complete_slot(slot, found)


def _adds_value(details: MemoryDetails, attribute: str) -> bool:
    """Whether the slot is said to hold several values; that needs an attribute."""
    adds = bool(details.get("adds", False))
    if adds and not attribute:
        raise BadInput("`adds` says that an attribute holds several values; give `subject` and `attribute` with it.")
    return adds


def _complete_slot(slot: KindGuess, found: KindGuess) -> KindGuess:
    """The given slot, completed from the text if that is about the same subject.

    So it makes no difference whether a fact's slot was given or read.
    """
    if slot.value or not slot.subject or found.subject.casefold() != slot.subject.casefold():
        return slot
    return replace(slot, attribute=slot.attribute or found.attribute, value=found.value)


def _kind_by_details(details: MemoryDetails) -> Kind | None:
    """The kind that one of the given details requires, if any does."""
    if details.get("signature") or details.get("conditions"):
        return "failure"
    if details.get("attribute") or details.get("value"):
        return "semantic"
    return "procedural" if details.get("task_type") or details.get("name") else None


def _check_fields(details: MemoryDetails) -> None:
    unknown = [str(name) for name in details if name not in _FIELDS]
    if unknown:
        raise BadInput(f"Nothing called {unknown[0]!r} can be said of a memory; take one of {', '.join(_FIELDS)}.")


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise BadInput(f"The text to remember is {type(text).__name__}; give a string.")
    if not any(each.isprintable() and not each.isspace() for each in text):
        raise BadInput("The text to remember is empty; say what is to be remembered.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise BadInput("The text to remember has half a surrogate pair in it; give valid Unicode.") from error
    if size > MOST_BYTES:
        raise BadInput(
            f"The text to remember takes {size:,} bytes, and a memory holds {MOST_BYTES:,}; "
            "append it to a session, and remember what follows from it."
        )


def check_time(name: str, value: object) -> None:
    """Raise BadInput for a value that is not a time, or has no zone."""
    if value is None:
        return
    if not isinstance(value, datetime):
        raise BadInput(f"`{name}` is {type(value).__name__}; give a datetime with a zone.")
    if value.utcoffset() is None:
        raise BadInput(f"`{name}` ({value:%Y-%m-%d %H:%M}) has no zone; give it one, such as `tzinfo=timezone.utc`.")


def _check_share(name: str, value: object) -> None:
    if value is None:
        return
    # Written so that NaN is refused as well.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadInput(f"`{name}` is {value!r}; give a number from 0 to 1.")


def _check_name(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise BadInput(f"`{name}` is {type(value).__name__}; give a string.")
    if len(value) > MOST_NAME:
        raise BadInput(f"`{name}` has {len(value):,} characters; give at most {MOST_NAME:,}.")
    if "\x1f" in value or _is_broken(value):
        raise BadInput(f"`{name}` has a character in it that can't be stored; leave it out.")


def _is_broken(text: str) -> bool:
    """Whether it contains half a surrogate pair, which can't be encoded."""
    return not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text)


def _check_ids(name: str, value: object) -> None:
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(each, str) for each in value):
        raise BadInput(f"`{name}` must be a list of ids; give [{value!r}] if it is one.")
    if any(map(_is_broken, value)):
        raise BadInput(f"`{name}` has half a surrogate pair in it; give ids as they were shown.")


def check_labels(value: object) -> None:
    """Raise BadInput unless it is a list of labels."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(each, str) for each in value):
        raise BadInput(f"`labels` must be a list of words; give [{value!r}] if it is one.")
    if len(value) > MOST_LABELS:
        raise BadInput(f"A memory bears at most {MOST_LABELS} labels; these are {len(value)}.")
    for each in value:
        _check_name("labels", each)
        if not each.strip():
            raise BadInput("A label is empty; leave it out.")


def _check_conditions(value: object) -> None:
    if not isinstance(value, dict) or not all(
        isinstance(name, str) and isinstance(held, str) for name, held in value.items()
    ):
        raise BadInput("`conditions` must be names with texts; give them such as {'python': '3.12'}.")
    texts = [text for each in value.items() for text in each]
    if any(map(_is_broken, texts)):
        raise BadInput("`conditions` has half a surrogate pair in it; give valid Unicode.")
    size = sum(len(text.encode()) for text in texts)
    if size > MOST_BYTES:
        raise BadInput(
            f"`conditions` takes {size:,} bytes, and a memory holds {MOST_BYTES:,}; give hashes of what is large."
        )


def _check_choice(name: str, value: object, known: Sequence[str]) -> None:
    if value is not None and value not in known:
        raise BadInput(f"`{name}` is {value!r}; give one of {', '.join(known)}.")
