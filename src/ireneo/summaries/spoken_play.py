"""Play that is spoken at a table and written down: known by its form, with a measure of its own for what is lasting.

Players talk as themselves and as their characters in one breath, so what opens a thread in a written story opens none
here. What lasts is what matters later by its words, and says by itself of whom and what it speaks, above all what a
narrator lets somebody say.
"""

from __future__ import annotations

import math
from collections import Counter

from ireneo.language.files import topic
from ireneo.language.story_topics import Threads, Turns
from ireneo.language.word_lines import features, word_lines
from ireneo.language.words import letters
from ireneo.patterns import lazy_re
from ireneo.summaries.speech import Sentence, VoicedTexts
from ireneo.summaries.tell_story import FEW, NAMED_AS, NARRATED_FORM, SALIENCE

_TURNS = topic(Turns)

BROKEN = 0.015
"""Least share of texts that break off or note a sound, by which they were spoken."""
PLAYERS = 0.5
"""Least share of the texts of others than narrators that are by players, whom the others seldom name."""
SAYS, NAMES, SAID_BY_OTHERS, OF_THE_GAME, POINTS = 0.75, 0.2, 0.65, -0.2, -0.8
"""What adds to how lasting a sentence is: how much it matters later, each name up to `MOST_NAMES`, that a narrator lets
somebody say it, each text around it about the game up to `MOST_TALK`, and that it begins with a pronoun. Fitted to 400
sentences that readers marked."""
MOST_NAMES, MOST_TALK = 3, 2
NEAR = 4
"""Texts before and after in which talk about the game counts."""

_BREAKS = lazy_re(r"--|[—–]\W*$|[(\[][a-z ]{3,20}[)\]]")


def is_spoken_play(heard: VoicedTexts) -> bool:
    """Whether texts were spoken by several players, and not written by authors who are their characters."""
    said = Counter(author for author in heard.authors if author)
    if len(said) <= FEW or sum(_BREAKS.search(text) is not None for text in heard.texts) < BROKEN * len(heard.texts):
        return False
    named = Counter(word for text in heard.texts for word in set(letters(text)) if word[:1].isupper())
    others = [author for author in said if author not in heard.narrators]
    players = [author for author in others if named[author.split()[0].capitalize()] * NAMED_AS < said[author]]
    return sum(said[author] for author in players) >= PLAYERS * max(sum(said[author] for author in others), 1)


def lasting(sentence: Sentence, names: int, heard: VoicedTexts, place: int) -> float:
    """Return how lasting a sentence of the text at `place`, with so many names, is for a story that is played.

    What a narrator tells is of the moment, but for what somebody says in it.
    """
    text, voiced = sentence.text, sentence.voiced
    found = features(text).with_forms(NARRATED_FORM if voiced.narrated else ())
    value = SAYS * word_lines(SALIENCE)[SALIENCE].value(found) + NAMES * min(names, MOST_NAMES)
    if voiced.narrated:
        if not ('"' in text or "“" in text or voiced.text.count('"', 0, sentence.start) % 2):
            return -math.inf
        value += SAID_BY_OTHERS
    around = heard.texts[max(0, place - NEAR) : place + NEAR + 1]
    talk = sum(bool(_TURNS.table.search(low) or _TURNS.show.search(low)) for low in map(str.lower, around))
    value += OF_THE_GAME * min(talk, MOST_TALK)
    return value + (POINTS if _points(text) else 0.0)


def _points(text: str) -> bool:
    """Whether a sentence begins with a pronoun, so that it alone doesn't say of whom or what it speaks."""
    words = [word.lower() for word in letters(text)]
    known = topic(Threads)
    first = next((word for word in words if word not in known.conjunctions), "")
    return first in known.nobody or first in _TURNS.points_back
