"""Transcripts of play at a table: recognised by their form, with their own measure for what lasts.

Players switch between themselves and their characters in one sentence, so the signs of a thread in a written story
don't work here. A lasting sentence matters later by its words, and itself says whom and what it is about; mostly it is
what a narrator lets somebody say.
"""

from __future__ import annotations

import math
from collections import Counter

from ireneo.language.files import topic
from ireneo.language.story_topics import Threads, Turns
from ireneo.language.word_lines import features, load_models
from ireneo.language.words import letters
from ireneo.patterns import lazy_re
from ireneo.summaries.speech import Sentence, VoicedTexts
from ireneo.summaries.tell_story import FEW, NAMED_AS, NARRATED_FORM, SALIENCE

_TURNS = topic(Turns)

BROKEN = 0.015
"""From this share of texts that break off or note a sound on, they were spoken."""
PLAYERS = 0.5
"""From this share of texts by players on, among those not by narrators. Others seldom name players."""
SAYS, NAMES, SAID_BY_OTHERS, OF_THE_GAME, POINTS = 0.75, 0.2, 0.65, -0.2, -0.8
"""Weights in how lasting a sentence is: its value for later; each name, up to `MOST_NAMES`; speech reported by a
narrator; each nearby text about the game, up to `MOST_TALK`; a pronoun at its beginning. Fitted to 400 labelled
sentences."""
MOST_NAMES, MOST_TALK = 3, 2
NEAR = 4
"""How many texts before and after are searched for talk about the game."""

_BREAKS = lazy_re(r"--|[—–]\W*$|[(\[][a-z ]{3,20}[)\]]")


def is_spoken_play(heard: VoicedTexts) -> bool:
    """Whether several players spoke the texts, instead of authors writing as their characters."""
    said = Counter(author for author in heard.authors if author)
    if len(said) <= FEW or sum(_BREAKS.search(text) is not None for text in heard.texts) < BROKEN * len(heard.texts):
        return False
    named = Counter(word for text in heard.texts for word in set(letters(text)) if word[:1].isupper())
    others = [author for author in said if author not in heard.narrators]
    players = [author for author in others if named[author.split()[0].capitalize()] * NAMED_AS < said[author]]
    return sum(said[author] for author in players) >= PLAYERS * max(sum(said[author] for author in others), 1)


def lasting_score(sentence: Sentence, names: int, heard: VoicedTexts, place: int) -> float:
    """Return how lasting a sentence of the text at `place`, with this many `names`, is for a story in play.

    What a narrator says is only about the moment, except what somebody says in it.
    """
    text, voiced = sentence.text, sentence.voiced
    found = features(text).with_forms(NARRATED_FORM if voiced.narrated else ())
    value = SAYS * load_models(SALIENCE)[SALIENCE].value(found) + NAMES * min(names, MOST_NAMES)
    if voiced.narrated:
        if not ('"' in text or "“" in text or voiced.text.count('"', 0, sentence.start) % 2):
            return -math.inf
        value += SAID_BY_OTHERS
    around = heard.texts[max(0, place - NEAR) : place + NEAR + 1]
    talk = sum(bool(_TURNS.table.search(low) or _TURNS.show.search(low)) for low in map(str.lower, around))
    value += OF_THE_GAME * min(talk, MOST_TALK)
    return value + (POINTS if _begins_with_pronoun(text) else 0.0)


def _begins_with_pronoun(text: str) -> bool:
    """Whether a sentence begins with a pronoun, so that it doesn't itself say whom or what it is about."""
    words = [word.lower() for word in letters(text)]
    known = topic(Threads)
    first = next((word for word in words if word not in known.conjunctions), "")
    return first in known.nobody or first in _TURNS.points_back
