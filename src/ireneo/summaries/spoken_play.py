"""Transcripts of play at a table, which are recognised by their form.

Players switch between themselves and their characters in one sentence, so the signs of a thread in a written story
don't work here.
"""

from __future__ import annotations

from collections import Counter

from ireneo.language.words import letters
from ireneo.patterns import lazy_re
from ireneo.summaries.speech import VoicedTexts
from ireneo.summaries.tell_story import FEW, NAMED_AS

BROKEN = 0.015
"""From this share of texts that break off or note a sound on, they were spoken."""
PLAYERS = 0.5
"""From this share of texts by players on, among those not by narrators. Others seldom name players."""
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
