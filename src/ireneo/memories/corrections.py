"""Read corrections of earlier statements: "scrap that, not a teacher: a paramedic", "Hull? No, Bath".

The wrong words are in an earlier sentence, of the same message or of a memory. That sentence is repeated with the right
words instead; the wrong ones are withdrawn, and the correction itself states nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import CAPITAL, any_of, cached_data, topic
from ireneo.language.spoken import Facts, Phrasing
from ireneo.language.times import month_numbers
from ireneo.language.topics import Grammar
from ireneo.language.words import sentences, terms
from ireneo.log.message import MessageId
from ireneo.memories.cues import all_cues, cue_patterns, has_cue
from ireneo.memories.earnest import without_code_and_quotes
from ireneo.memories.ended_values import ALLERGIES
from ireneo.memories.facts import cardinality_of
from ireneo.memories.persons import names_by_relation
from ireneo.memories.record import Record
from ireneo.memories.wording import unquoted_words
from ireneo.patterns import lazy_re

_WORDS = lazy_re(r"[^\W_]+(?:['’.&-][^\W_]+)*")
_LONGEST = 90
"""The maximum number of characters of a correction; a longer text says more than that."""
_PAUSE = lazy_re(r"(?:[,;:]|\s[–—-])\s")
_DASH = lazy_re(r" [–—-]{1,3} ")
_UMLAUTS = str.maketrans("äöü", "aou")
_SHORT, _ENDING = 4, 2
_EDGES = " .,;:!?–—-…"
_DAY = lazy_re(
    lambda: (
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?={any_of(sorted(month_numbers()))}\b)"
        rf"|\b{any_of(sorted(month_numbers()))} (?P<behind>\d{{1,2}})\b"
    ),
    re.I,
)
_MERE_DAY = lazy_re(r"(?:\w+ ){0,2}(?P<day>\d{1,2})(?:st|nd|rd|th)?\W*", re.I)
_SPEAKER = lazy_re(lambda: any_of(topic(Grammar).speakers | topic(Phrasing).group), re.I)
_VOWEL = lazy_re(r"[aeiou]", re.I)


class CorrectedMemory(Struct, frozen=True, kw_only=True):
    """A memory that a correction changes."""

    record: Record
    text: str
    """The text with the right words; in a quotation they are in brackets, since they were not said there."""
    value: str
    quote: str
    """The words of the correction."""


class _Correction(Struct, frozen=True, kw_only=True):
    was: str
    """The wrong words; empty if they are not named."""
    now: str
    who: str = ""
    """The person that it is about, if named."""
    restated: str = ""
    """The right sentence, if the correction states it: "Ida is allergic to hazelnuts"."""
    denies: bool = False
    """Whether the right words follow a denial, so that only the value of an allergy is meant."""
    behind: str = ""
    """The preposition before the right words, if they replace what follows the same preposition."""
    quote: str = ""


class CorrectedMessage(Struct, frozen=True, kw_only=True):
    """A message without its corrections."""

    text: str
    """The text with the right words in place of the wrong ones."""
    words: tuple[str, ...] = ()
    """The right words in it, which were not said there."""
    memories: tuple[CorrectedMemory, ...] = ()
    """The earlier memories that it corrects."""

    def mark_corrections(self, quotation: str) -> str:
        """Put brackets around the words in a quotation of the message that were not said there."""
        for each in self.words:
            quotation = quotation.replace(each, f"[{each}]", 1)
        return quotation


def read_corrections(text: str, known: Sequence[Record], recent: Set[MessageId]) -> CorrectedMessage:
    """Read the corrections of a message.

    Only memories of the `recent` messages can be meant, or those that have the wrong words as their value.
    """
    said = list(sentences(without_code_and_quotes(text), small_opens=True))
    kept: list[str] = []
    found: list[CorrectedMemory] = []
    words: list[str] = []
    names = set(names_by_relation(known).values())
    at = 0
    while at < len(said):
        step = 1
        for step, correction in (*_denials(said[at : at + 3]), *_corrections(said[at : at + 2])):
            if correction.denies and correction.now in names:
                # "It's Tom" identifies somebody.
                continue
            between = said[at + 1 : at + step - 1]
            if (place := _sentence_of(correction, kept)) is not None:
                kept[place] = _replace_words(kept[place], correction)
                words.append(correction.now)
                kept += between
            elif righted := list(_corrected_memories(correction, known, recent)):
                found += righted
                kept += between
            elif correction.restated:
                # No wrong statement is known: one thing isn't true, and the other is.
                kept += [said[at], *between, correction.restated]
                words.append(correction.now)
            else:
                continue
            break
        else:
            kept.append(said[at])
            step = 1
        at += step
    text = text if kept == said else " ".join(kept)
    return CorrectedMessage(text=text, words=tuple(words), memories=tuple(found))


def _denials(said: Sequence[str]) -> Iterator[tuple[int, _Correction]]:
    """Denials that are followed by what is true, also in the next sentence: "not allergic to eggs. It's milk"."""
    first, _ = _without_leads(said[0])
    pauses = [(1, first[: each.start()], first[each.end() :]) for each in _PAUSE.finditer(first)]
    later = [(place + 1, first, said[place]) for place in range(1, len(said))]
    for step, denial, behind in (*pauses, *later):
        denied = next((hit for row in cue_patterns("not_that") if (hit := row.fullmatch(denial))), None)
        told = _without_leads(behind)[0] if denied else ""
        right = next((hit for row in cue_patterns("but_that") if told and (hit := row.fullmatch(told))), None)
        if denied is None or right is None or len(_WORDS.findall(right["now"])) > _FEW:
            continue
        parts = {**denied.groupdict(), **right.groupdict()}
        who = (parts.get("who") or "").strip()
        yield (
            step,
            _Correction(
                was=denied["was"].strip(_EDGES),
                now=without_article(right["now"].strip(_EDGES)),
                who="" if (topic(Facts).refers.fullmatch(who) is not None) else who,
                restated=_true_half(parts),
                denies=True,
                quote=" ".join(dict.fromkeys((said[0], said[step - 1]))).rstrip("."),
            ),
        )


def denied_allergy(sentence: str) -> tuple[str, str]:
    """Who is not allergic (the speaker as "user") and the allergen, if a sentence says only that; else empty."""
    words, _ = _without_leads(sentence)
    found = next((hit for row in cue_patterns("not_that") if (hit := row.fullmatch(words))), None)
    if found is None or not found.groupdict().get("who"):
        return "", ""
    who = found["who"].strip().rpartition(" ")[2]
    return "user" if _SPEAKER.fullmatch(who) else who, found["was"]


def _corrections(said: Sequence[str]) -> Iterator[tuple[int, _Correction]]:
    """The corrections in single sentences, or in two together, with the number of sentences."""
    for step in range(len(said), 0, -1):
        whole = " ".join(said[:step]).strip()
        if step > 1 and not (said[0].rstrip().endswith("?") or len(_WORDS.findall(said[0])) <= _FEW):
            continue
        words, taken_back = _without_leads(whole)
        if not words or len(words) > _LONGEST:
            continue
        aside = _DASH.split(words)[0] if len(_DASH.findall(words)) == 1 else words
        for pattern in cue_patterns("corrects"):
            # "No, to York": the words before it are part of it.
            hit = pattern.fullmatch(words) or pattern.fullmatch(whole.rstrip(".!")) or pattern.fullmatch(aside)
            parts = hit.groupdict() if hit else {}
            if hit is None or (not (parts.get("was") or parts.get("behind")) and not (taken_back or parts.get("sure"))):
                continue
            # "Birte – I had mistyped it": after a dash comes the explanation.
            now = hit["now"] if parts.get("behind") else _DASH.split(hit["now"], maxsplit=1)[0]
            if not parts.get("behind") and len(_WORDS.findall(now)) > _FEW:
                continue
            yield (
                step,
                _Correction(
                    was=(parts.get("was") or "").strip(_EDGES),
                    now=now.strip(_EDGES),
                    who=(parts.get("who") or "").strip(),
                    restated=_true_half(parts),
                    behind=(parts.get("behind") or "").casefold(),
                    quote=whole.rstrip("."),
                ),
            )
            return


def _true_half(parts: Mapping[str, str | None]) -> str:
    """Return only the true half of a sentence that says what isn't true and what is."""
    if not parts.get("state"):
        return ""
    be = (parts["be"] or "").strip().casefold().replace("’", "'")
    be = {"'s": "is", "'m": "am", "'re": "are"}.get(be, be)
    return f"{parts['who']} {be} {parts['state']} {parts['now']}{parts.get('end') or ''}."


_FEW = 6
"""The maximum number of words that can replace others."""


def _without_leads(sentence: str) -> tuple[str, bool]:
    """Remove introductory words from a sentence, and say whether they take back what was said before."""
    taken_back, before = False, ""
    while sentence != before:
        before = sentence
        for rows in all_cues().values():
            if found := rows.takes_back.match(sentence):
                rest = sentence[found.end() :].lstrip(" ,;:.!–—-")
                taken_back, sentence = True, rest
            if taken_back and (found := rows.looks_up.match(sentence)):
                sentence = sentence[found.end() :].lstrip(" ,;:.!–—-")
            found = rows.leads.match(sentence)
            if found and sentence[found.end() :].strip():
                sentence = sentence[found.end() :].lstrip(" ,;:.–—-")
    return sentence.strip().rstrip(".!"), taken_back


def _sentence_of(correction: _Correction, kept: Sequence[str]) -> int | None:
    """The sentence of the message that contains the wrong words."""
    for place in range(len(kept) - 1, -1, -1):
        if kept[place].rstrip().endswith("?") or _find_wrong_words(kept[place], correction) is None:
            continue
        if not correction.denies or has_cue("allergic", kept[place]) or has_cue("reacts", kept[place]):
            return place
    return None


def _find_wrong_words(text: str, correction: _Correction) -> tuple[int, int] | None:
    """The position of the wrong words in a text, possibly with an article."""
    if correction.behind:
        found = re.search(rf"\b{re.escape(correction.behind)} (?={CAPITAL})", text)
        return (found.start(), len(text)) if found else None
    core = without_article(correction.was)
    found = re.search(rf"(?:\b{any_of(_articles())} )?(?<!\w){re.escape(core)}(?!\w)", text, re.I) if core else None
    return found.span() if found else None


def _replace_words(text: str, correction: _Correction, *, mark: str = "{}") -> str:
    """Replace the wrong words in a text by the right ones."""
    place = _find_wrong_words(text, correction)
    if place is None:
        return text
    start, end = place
    wrong, right = text[start:end], correction.now
    if not correction.behind and wrong != without_article(wrong) and right == without_article(right):
        article = wrong[: len(wrong) - len(without_article(wrong))]
        if article.casefold() in ("a ", "an "):
            article = "an " if _VOWEL.match(right) else "a "
        right = f"{article}{right}"
    elif (
        not correction.behind
        and wrong == without_article(wrong)
        and (re.match(r"(?:an?|eine?[nrms]?) ", right, re.I) is not None)
    ):
        right = without_article(right)
    return f"{text[:start]}{mark.format(right)}{text[end:]}"


def _corrected_memories(
    correction: _Correction, known: Sequence[Record], recent: Set[MessageId]
) -> Iterator[CorrectedMemory]:
    """The memories that a correction changes: those of the newest message that contains the wrong words."""
    if correction.behind:
        return
    if correction.who:
        known = list(_memories_of_person(correction, known))
    held = [each for each in known if each.holds and each.origin == "user" and not recent.isdisjoint(each.sources)]
    if not correction.was:
        # If the wrong word isn't named, the only slot of the previous message is meant.
        last = max(held, key=lambda each: each.recorded, default=None)
        told = [each for each in held if last and set(each.sources) == set(last.sources)]
        slots = [each for each in told if each.value and cardinality_of(each.attribute) == "one"]
        now = correction.now
        if not slots and (day := _MERE_DAY.fullmatch(correction.now)):
            yield from _corrected_day(day["day"], correction.quote, told)
            return
        if len(slots) != 1 or not (now[:1].isupper() or now[:1].isdigit() or now != without_article(now)):
            return
        correction = _Correction(was=slots[0].value, now=correction.now, quote=correction.quote)
        held = slots
    core = without_article(correction.was).casefold()
    if correction.denies:
        held = [
            each for each in known if each.holds and each.attribute in ALLERGIES and _is_same_value(each.value, core)
        ]
        if len({each.subject for each in held}) != 1:
            return
        correction = replace(correction, was=held[0].value)
    meant = [each for each in held if _find_wrong_words(unquoted_words(each.text), correction)]
    # The value about somebody with a name may say more: "a tortoise called Nero".
    slots = [each for each in known if each.holds and each.attribute and core]
    valued = [each for each in slots if each.value.casefold() == core]
    meant = meant or valued or [each for each in slots if correction.who and _find_wrong_words(each.value, correction)]
    newest = max((each.recorded for each in meant), default=None)
    messages = {name for each in meant if each.recorded == newest for name in each.sources}
    for each in meant:
        if messages and messages.isdisjoint(each.sources):
            continue
        if each.value and not _find_wrong_words(each.value, correction):
            # With work in two places only one may be wrong.
            continue
        own = unquoted_words(each.text)
        right = _replace_words(own, correction, mark="[{}]" if own != each.text else "{}")
        value = without_article(_replace_words(each.value, correction))
        yield CorrectedMemory(record=each, text=each.text.replace(own, right), value=value, quote=correction.quote)


def _is_same_value(value: str, words: str) -> bool:
    """Whether words are a value, or its singular or plural."""
    if not words:
        return False
    one, other = (each.casefold().translate(_UMLAUTS) for each in (value, words))
    # "Erdnussallergie" names "Erdnüsse".
    alike = len(other) >= _SHORT and one.startswith(other) and len(one) - len(other) <= _ENDING
    return alike or one == other or set(terms(value)) == set(terms(words))


def _memories_of_person(correction: _Correction, known: Sequence[Record]) -> Iterator[Record]:
    """The memories of the person that a correction names; for the speaker, all that don't name somebody else."""
    others = set(names_by_relation(known).values())
    name = correction.who.split(" ")[-1]
    speaks = _SPEAKER.fullmatch(correction.who) is not None
    for each in known:
        if (each.subject not in others) if speaks else (each.subject == name or name in unquoted_words(each.text)):
            yield each


def _corrected_day(day: str, quote: str, told: Sequence[Record]) -> Iterator[CorrectedMemory]:
    """The quotation that names one day of a month, changed to another day: "no wait, it's the 21st"."""
    for each in told:
        own = unquoted_words(each.text)
        days = list(_DAY.finditer(own))
        name = "day" if days and days[0]["day"] else "behind"
        if own != each.text and len(days) == 1 and days[0][name] != day:
            right = f"{own[: days[0].start(name)]}[{day}]{own[days[0].end(name) :]}"
            yield CorrectedMemory(record=each, text=each.text.replace(own, right), value=each.value, quote=quote)


def without_article(words: str) -> str:
    """Words without the article before them."""
    found = re.match(rf"{any_of(_articles())} ", words, re.I)
    return words[found.end() :] if found else words


@cached_data
def _articles() -> tuple[str, ...]:
    return tuple(dict.fromkeys(topic(Facts).articles))
