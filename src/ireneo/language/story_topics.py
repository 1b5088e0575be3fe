"""What a language's file may hold of stories: what opens a thread and ends it, who is who, what carries the story."""

from __future__ import annotations

from msgspec import Struct

from ireneo.language.topics import Row, Set, Topic


class Opening(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What opens a thread of a story.

    In its pattern, the groups `who` and `whom` are the words that say whose thread it is and with whom: "I" and "we"
    are whoever speaks, "you" is who is spoken to, a name is a name, and any other word is nobody in particular.
    """

    kind: str
    # Of each set, one word stands in whatever the pattern matches: bars between words, ampersands between sets
    words: str
    pattern: str
    weight: float = 1.0  # How much such a thread matters, against the others
    says: int = 0  # So many words that say something must stand in the sentence besides the cue's own
    told: bool = True  # Whether it opens a thread in a narrator's prose, too, and not only where somebody speaks
    named: bool = False  # Whether somebody or something must be named in what is carried, or a relative
    maybe: bool = False  # Whether an "if" belongs to it
    point: bool = False  # Whether what it is about stands in the next sentence, which then comes along
    next: str = ""  # What that sentence must hold, as a pattern


class Ending(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What says that a thread of some kinds has come to its end."""

    kinds: str
    words: str
    pattern: str
    # Whether it says so of itself: then who says it to whom is enough to tell which, where only one fits
    by_people: bool = False
    death: bool = False  # Whether somebody is dead with it, whose name is the group `who`


class Threads(Topic, frozen=True, kw_only=True):
    """Promises, debts, quests, secrets and the other threads of a story: by what they are known, and their ends."""

    opens: tuple[Opening, ...] = ()
    ends: tuple[Ending, ...] = ()
    backed: Row = ()  # A sentence that says of the one before it that it was a promise
    backed_words: Set = frozenset()
    means_to: Row = ()  # Somebody says what they will do
    demand: Row = ()  # Somebody asks for a promise
    demand_words: Set = frozenset()
    consent: Row = ()  # At the beginning: somebody gives the promise that was asked for
    answers: Row = ()  # One of these stands in what answers a question about somebody
    fate: Row = ()  # What becomes of people
    place: Row = ()  # Where people go, and are found
    why: Row = ()
    asks_fate: Row = ()
    asks_place: Row = ()  # How a question asks for a reason, a fate, a place
    reason: Row = ()
    may_be: Row = ()  # What is only supposed
    reply: Row = ()  # How an answer begins
    conjunctions: Set = frozenset()  # Before a clause in which a long sentence may be shown from its middle
    speaker: Set = frozenset()
    hearer: Set = frozenset()
    nobody: Set = frozenset()  # Words for whoever speaks, whoever is spoken to, and nobody in particular
    table: Row = ()  # Words of those who play or show a story, not of those in it
    show: Row = ()  # Words of a show: what is said near them is said to those who watch
    joke: Row = ()
    not_so: Row = ()  # What is only supposed, or asked
    trifle: Row = ()  # What is promised or owed in passing, and forgotten as soon
    denies: Row = ()  # Right before a cue: what follows is denied
    undone: Row = ()  # Before a deed: it is meant, wished or feared, and not done
    passive: Row = ()  # Right before a deed that is done to whom it is said of
    have: Row = ()  # The auxiliaries of the perfect, with the blank or apostrophe before them
    kind_words: Set = frozenset()  # Words that many threads of a kind have, whatever they are about
    unchanged: Set = frozenset()  # Verbs whose past is written as they are
    kin: Row = ()  # Relatives, who are as good as named
    someone: Set = frozenset()  # Right behind a deed: it was done to whom or what was meant
    # Verbs of what is done to the living: what has one of them is over once that person is dead
    lethal: Set = frozenset()
    idle: Set = frozenset()  # Verbs of no deed: with them something is spoken or thought of, and not done
    empty: Set = frozenset()  # Words that say nothing of what a sentence is about, besides the stop list


class Cast(Topic, frozen=True, kw_only=True):
    """Who somebody in a story is, and where it plays. In a pattern, `x` and `y` are names; they heed case."""

    people: Set = frozenset()  # What somebody may be: the noun that such a phrase ends in
    people_endings: Row = ()  # What other such nouns end with
    relatives: Set = frozenset()  # Those of them that say nothing without whose relative it is
    kinds: Set = frozenset()  # Those of them that say too little alone, without a word before or behind them
    plain: Set = frozenset()  # Those that say nothing of whom it is of, unless it is said from where or of what
    empty: Set = frozenset()  # What may stand before such a noun and says nothing either
    determiners: Set = frozenset()  # What such a phrase begins with
    mine: Set = frozenset()
    theirs: Set = frozenset()  # Those of them that say whose it is: the speaker's, or another's
    definite: Set = frozenset()
    # Those of them that stand between a name and what somebody is, and the one that may stand for any other
    article: Row = ()
    tails: Set = frozenset()  # What may go on behind the noun
    relative: Set = frozenset()  # What begins a clause behind it
    ends: Set = frozenset()  # What ends such a phrase there
    is_so: Row = ()  # Between a name and what they are
    they_are: Row = ()  # The same behind a sentence on one alone, without the name
    named: Row = ()  # Between what they are and the name
    called: Set = frozenset()  # Words without one of which a sentence gives nobody another name
    alias: Row = ()  # `x` is also called `y`
    own_alias: Row = ()  # Who speaks is also called `y`
    their_alias: Row = ()  # Who was spoken of is also called `y`
    your_alias: Row = ()  # Who is spoken to is also called `y`
    introduces: Row = ()  # Who speaks says that they are `x`
    plays: Row = ()  # Who speaks plays `x`
    fates: Set = frozenset()  # Words without one of which a sentence says nothing of the following
    states: Set = frozenset()  # Verbs by which nobody does anything
    wives: Set = frozenset()  # Titles before a name that is another's: Mrs Joe is not Joe
    narrator: Row = ()  # What who tells the story in the first person is called
    dead: Row = ()
    alive: Row = ()
    gone: Row = ()  # `x` died, lives again, or went away
    jests: Row = ()  # In brackets in a line: nothing of it is meant
    not_so: Row = ()  # Anywhere: it isn't so, or nobody says that it is
    places: Set = frozenset()  # Where somebody may be
    arrives: Row = ()  # Before the place where those whom the story is of come to
    inside: Set = frozenset()  # Before the name of a place


class Turns(Topic, frozen=True, kw_only=True):
    """What a sentence does in a story."""

    turns: Row = ()  # A turn of it that is worth keeping
    recaps: Row = ()  # What begins a recap that somebody gives of the story so far
    recap_ends: Row = ()  # What ends one
    signs: Row = ()  # The same, as signs
    greetings: Row = ()  # Greetings, fillers and assents at the beginning
    table: Row = ()  # The game and the show
    laughter: Row = ()
    points_back: Row = ()  # At the beginning: it says little without the sentence before it
    first_person: Row = ()  # Who speaks of themselves; it heeds case
    empty_signs: Row = ()  # Signs that are no part of a name
