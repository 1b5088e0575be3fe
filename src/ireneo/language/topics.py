"""What a language's file may hold: a struct a section, a field each list of words or patterns.

Patterns are searched without regard to case unless a field says otherwise, and take time linear in the text.
"""

from __future__ import annotations

from msgspec import Struct

Row = tuple[str, ...]
Set = frozenset[str]
Map = dict[str, Row]


class Topic(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A section of a language's file."""


class Words(Topic, frozen=True, kw_only=True):
    """The words of every text."""

    name: Row = ()
    """What the language is called, in English."""
    telling: Set = frozenset()
    """The commonest words, which hardly stand in a text of another language: by them a text's language is told."""
    stop: Set = frozenset()
    """What stands in every other sentence, and so tells none of them apart. The one stop list."""
    irregular: Row = ()
    """A word and its forms that a stemmer can't lead back to it; none that mostly is another word."""
    nouns_large: Set = frozenset()
    """Where all nouns are written large: more of the commonest words, to tell the language of short texts by."""
    nouns_small: Set = frozenset()
    """Where only names are: the same."""


class Sentences(Topic, frozen=True, kw_only=True):
    """Where a full stop ends no sentence."""

    abbreviations: Row = ()
    """Written as they are, without the last full stop; one of several parts with a blank between them."""
    ordinal_before: Set = frozenset()
    """A figure with a full stop behind one of these is an ordinal number."""
    ordinal_after: Set = frozenset()
    """So is one before one of these."""


class Times(Topic, frozen=True, kw_only=True):
    """How a time is told. In a pattern, `{month}`, `{day}`, `{year}`, `{count}` and `{unit}` are what is read."""

    months: Row = ()
    """All twelve in order, each with its forms, the full name first."""
    doubtful: Set = frozenset()
    """Months that are as often another word, which is written small."""
    led: Set = frozenset()
    """Months that are as often a name: they are months behind a word that leads them alone."""
    weekdays: Row = ()
    """All seven in order, from Monday on."""
    seasons: Map = {}
    """By `spring`, `summer`, `autumn` and `winter`."""
    counts: Map = {}
    """By the figure, numbers in words and what counts loosely."""
    units: Map = {}
    """By `day`, `week`, `month` and `year`."""
    which: Map = {}
    """By `last`, `this` and `next`: what stands before a unit, a season, a weekday."""
    names: Map = {}
    """By `today`, `yesterday`, `day_before`, `night`, `week`, `weekend`, `month` and `year`."""
    day_dates: Row = ()
    """Patterns of a date to the day."""
    month_dates: Row = ()
    """Patterns of a month of a year."""
    season_of_year: Row = ()
    """What may stand between a season, or a month, and its year."""
    ago: Row = ()
    """Patterns of a time so long ago."""
    past: Row = ()
    """Patterns of a stretch up to now."""
    leads: Set = frozenset()
    """Before a year or a doubtful month: it is one."""
    joins: Set = frozenset()
    """Between two months of one year."""
    before: Row = ()
    until: Row = ()
    after: Row = ()
    since: Row = ()
    """What stands before a time and turns it: all before it, all to its end, all after it, all from its beginning."""
    articles: Set = frozenset()
    """What may stand between these and the time."""
    end_of: Row = ()
    """The same, where the end of the time is meant."""


class Numbers(Topic, frozen=True, kw_only=True):
    """Numbers and units."""

    units: Map = {}
    """By the name under which a unit is compared, how it is written."""
    cardinals: Row = ()
    """From two to nineteen."""
    ordinals: Row = ()
    """From third to nineteenth."""
    tens: Row = ()
    """From twenty to ninety."""
    tenths: Row = ()
    """Their ordinals."""
    dozens: Set = frozenset()
    inside: Map = {}
    """By the figure: numbers only behind a ten, as in twenty-one."""
    large: Map = {}
    """By the figure: a hundred, a thousand and the like."""
    together: Row = ()
    """Where a number is one word: from one to nineteen, as they stand in longer ones."""
    together_tens: Row = ()
    """From twenty to ninety, there."""
    together_and: Row = ()
    """What stands between ones and tens, there."""
    together_large: Map = {}
    """By the figure, there."""


class Constraints(Topic, frozen=True, kw_only=True):
    """How people bind an assistant for good, and lift that; a clause begins behind a comma or a conjunction."""

    lead: Row = ()
    """What may stand before the word that binds, at the beginning of a clause."""
    conjunctions: Set = frozenset()
    """Words between two clauses."""
    scope: Row = ()
    """How far something reaches: such a sentence holds beyond the task at hand, whatever else it says."""
    wide: Row = ()
    """How far something reaches, where it binds; told of what happens, it binds nothing."""
    never: Row = ()
    """At the beginning of a clause: what must always be so, or never."""
    bound: Row = ()
    """Anywhere: what must stay as it is, is forbidden, or needs a permission."""
    must: Row = ()
    """Anywhere: what has to be so, often for this once."""
    hint: Row = ()
    """Anywhere: a hint of a rule, which makes one only of a short sentence."""
    tells: Row = ()
    """Somebody did something: what else such a sentence hints at is a part of the story."""
    forbid: Row = ()
    """At the beginning of a clause: what is not to be done, or holds for all of a kind."""
    keep: Row = ()
    """At the beginning of a clause: what is to stay as it is."""
    use: Row = ()
    """At the beginning of a clause: how something is to be done; often for this once."""
    lift: Row = ()
    """Anywhere: what may lift a constraint that was set before."""
    empty: Set = frozenset()
    """Words that say nothing of what a constraint is about, besides the stop list."""
