"""Decide by its words alone whether a ruling from a single run applies beyond its task.

Most of what users order concerns one task, and readers of lessons refuse such orders whatever their form. They accept
rulings whose words extend to other work: those that apply at any time, everywhere or on each occasion of a kind; those
about what the speaker's team does; and those about a whole kind of things that developers make.
"""

from __future__ import annotations

from ireneo.language.files import topic
from ireneo.language.topics import Binding, Forms, Rulings, SaidOnce, Wishes
from ireneo.language.words import common_words
from ireneo.lessons.binding import (
    calls_pointless,
    is_pasted,
    rules_all_work,
    says_where_kind_belongs,
    split_clauses,
)
from ireneo.lessons.explanations import names_code
from ireneo.lessons.rule_weights import ABOUT, WORD, is_about_task
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import sentences

_BINDING = topic(Binding)
_FORMS = topic(Forms)
_RULINGS = topic(Rulings)
_SAYS = topic(SaidOnce)
_WISHES = topic(Wishes)

LONGEST = 45
"""The maximum number of words of a sentence that is shown; a longer one is a list without punctuation."""
HEADINGS = 0.3
"""The share of capitalised words from which a text is a list of headings."""
LOUD = 30
"""From this many letters on a ruling in capitals is anger, not a program's short rule."""
LEAST = 2
"""The minimum number of content words of a ruling, without praise and blame."""
SHORT = 30
"""The maximum number of words of a sentence that chooses a tool; a longer one says what the tool is for."""
CLOSE = 4
"""How many words after the verb may contain the tool."""


_ESCAPED = lazy_re(r"(?<![\w\\:`])\\{1,4}n(?![\w`])")
"""An escaped line end: text with one was pasted from a file or a log."""
_NAMES = lazy_re(r"[A-Z][a-z]+")


def applies_beyond_task(ruling: str) -> bool:
    """Whether the words of a ruling show that it applies beyond its task."""
    about = ABOUT.match(ruling)
    if about is not None and about[0].endswith("`: “") and not about[0].startswith("On changing"):
        return True  # The heading names the refused call, so the ruling is clear.
    own = ruling[about.end() :] if about is not None else ruling
    told = [each.strip(" \"“”'") for each in sentences(own)]
    if _SAYS.spoken.search(own) or _ESCAPED.search(own) or _is_praise_request(own) or _is_shouted(own):
        return False
    if about is not None:
        # An answer, or the correction of an edit, mostly needs the text before it.
        return any(_is_lasting_order(each) for each in told)
    return any(_sentence_applies_beyond(each) for each in told)


def is_of_work(ruling: str, *, conceded: bool) -> bool:
    """Whether a ruling is about how work is done, not about what is made; or corrects where something belongs."""
    if ABOUT.match(ruling) is not None or _SAYS.spoken.search(ruling) or _SAYS.narrow.search(ruling):
        return False
    told = [each for each in sentences(ruling) if not is_about_task(each)]
    told = [each for each in told if not each.endswith("?") or _RULINGS.polite.match(each)]
    # Where one function belongs is a step of its task.
    return any(
        _RULINGS.process.search(each) or (conceded and _RULINGS.places.search(each) and not names_code(each))
        for each in told
    )


def _is_lasting_order(sentence: str) -> bool:
    """Whether a sentence orders something from now on, or every time."""
    return not _is_question(sentence) and _SAYS.lasts.search(sentence) is not None and not _SAYS.narrow.search(sentence)


def _sentence_applies_beyond(sentence: str) -> bool:
    if len(sentence.split()) > LONGEST or _is_heading(sentence):
        return False
    if is_about_project(sentence):
        return True
    if _is_question(sentence):
        return False
    if _FORMS.matters.search(sentence) or (_FORMS.staged.search(sentence) and not _WISHES.accepted.match(sentence)):
        return True
    parts = split_clauses(sentence)
    if _SAYS.points.match(sentence):
        return False
    if _is_lasting_order(sentence):
        return True
    if any(
        _FORMS.runs_itself.match(part) or _FORMS.upkeep.match(part) or calls_pointless(part)
        for part in (sentence, *parts)
    ):
        return True
    if _SAYS.builds.match(sentence):
        return _BINDING.each_time.search(sentence) is not None
    if _SAYS.narrow.search(sentence):
        return False
    if any(_SAYS.habits.match(part) for part in (sentence, *parts)):
        return True
    purpose = _SAYS.purposes.search(sentence)
    if _SAYS.wide.search(sentence[: purpose.start()] if purpose is not None else sentence):
        return True
    return (
        any(_SAYS.occasions.match(part) for part in (sentence, *parts))
        or rules_all_work(sentence)
        or says_where_kind_belongs(sentence)
    )


def is_about_project(sentence: str) -> bool:
    """Whether a sentence is about the project as a whole: its tools, its style, what must be left alone."""
    asked = sentence.endswith((":", "?")) or sentence.startswith("(") or len(sentence.split()) > SHORT
    stands = any(form.search(sentence) for form in (_SAYS.written_in, _SAYS.stays))
    return not (asked or is_pasted(sentence)) and (
        stands or bool(_SAYS.outright.match(sentence)) or chooses_tool(sentence)
    )


def chooses_tool(sentence: str) -> bool:
    """Whether a sentence says which tools, or kinds of tools, are used here or aren't: “use uv, not pip”."""
    if "**" in sentence or _SAYS.for_one.search(sentence):
        return False
    for clause in (sentence, *split_clauses(sentence)):
        if (found := _SAYS.chooses.match(clause)) is None:
            continue
        rest = clause[found.end() :].strip()
        words = [word.lower().strip(".'’") for word in WORD.findall(rest)[:CLOSE]]
        if not _SAYS.one_thing.match(rest) and any(
            each in _SAYS.tools for word in words for each in (word, *word.split("/"))
        ):
            return True
    return False


def _is_question(sentence: str) -> bool:
    """Whether a sentence is a question, and no polite order."""
    asks = sentence.endswith("?") or _SAYS.asks.match(sentence)
    return bool(asks) and not any(_RULINGS.polite.match(part) for part in split_clauses(sentence))


def _is_shouted(ruling: str) -> bool:
    """Whether most of a ruling is in capitals, which shows anger; a word or two in capitals are emphasis."""
    letters = [each for each in ruling if each.isalpha()]
    return len(letters) > LOUD and sum(each.isupper() for each in letters) > len(letters) / 2


def _is_praise_request(ruling: str) -> bool:
    """Whether a ruling only asks for good work."""
    empty = common_words() | _SAYS.praises
    return len({word for word in WORD.findall(ruling.lower()) if word not in empty and len(word) > 1}) < LEAST


def _is_heading(sentence: str) -> bool:
    """Whether a sentence is a list of headings on one line."""
    words = sentence.split()
    return len(words) > LONGEST // 3 and len(_NAMES.findall(sentence)) > HEADINGS * len(words)
