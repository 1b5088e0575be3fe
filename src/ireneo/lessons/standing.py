"""Whether a ruling tells something to a run that knows nothing of the task in which it was said."""

from __future__ import annotations

import re

from ireneo.language.files import either, topic
from ireneo.language.topics import StandingRules
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import sentences

STANDS = 2.0
"""How much has to speak for one of its sentences."""

_ABOUT = lazy_re(r"\AOn (?:changing )?[“`][^\n]{1,400}?[”`]: “")
"""What a ruling was said to, before its words."""
_GENERAL = lazy_re(lambda: rf"(?<!\w){either(topic(StandingRules).general)}", re.IGNORECASE)
_OURS = lazy_re(lambda: rf"(?<!\w){either(topic(StandingRules).ours)}", re.IGNORECASE)
_ORDERS = lazy_re(lambda: either(topic(StandingRules).orders), re.IGNORECASE)
_PROCESS = lazy_re(lambda: rf"(?<!\w){either(topic(StandingRules).process)}", re.IGNORECASE)
_TIED = lazy_re(lambda: either(topic(StandingRules).tied), re.IGNORECASE)
_VAGUE = lazy_re(lambda: either(topic(StandingRules).vague), re.IGNORECASE)

_POINTING = lazy_re(lambda: rf"(?<!\w){either(topic(StandingRules).pointing)}", re.IGNORECASE)
_BINDS = lazy_re(lambda: rf"(?<!\w){either(topic(StandingRules).binds)}", re.IGNORECASE)
_LINES = lazy_re(r"\blines? #?\d", re.IGNORECASE)


def stands_alone(ruling: str) -> bool:
    """Whether `ruling` says how work is done in general: one that was heard once is told only then."""
    said = _ABOUT.sub("", ruling, count=1)
    # Who names a line of a file reviews that file, whatever else is said beside it.
    return not _LINES.search(said) and any(_weight(sentence) >= STANDS for sentence in sentences(said))


def _weight(sentence: str) -> float:
    bare = sentence.strip(" \"“”'")
    general = 2.0 * bool(_GENERAL.search(bare)) + 2.0 * bool(_OURS.search(bare))
    orders, process = bool(_ORDERS.match(bare)), bool(_PROCESS.search(bare))
    weight = general + 1.0 * orders + 1.0 * process
    if not _BINDS.search(bare):
        return 0.0
    weight -= 1.0 * bool(_POINTING.search(bare))
    return weight - 2.0 * bool(_TIED.search(bare)) - 1.0 * bool(_VAGUE.match(bare))
