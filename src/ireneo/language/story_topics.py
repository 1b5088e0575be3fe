"""The sections of a language file that are about stories: threads, cast, and turns of the plot."""

from __future__ import annotations

from ireneo.language.files import Patterns
from ireneo.language.topics import BARE, WORD_BEGINS, WORD_ENDS, WORDS, Row, Set, Topic


class Threads(Topic, frozen=True, kw_only=True):
    """What is said in the open threads of a story."""

    kind_words: Set = frozenset()  # Words that many threads of a kind share, whatever they are about


class Cast(Topic, frozen=True, kw_only=True):
    """Who the people of a story are. Patterns are case-sensitive; `x` and `y` match names."""

    people: Set = frozenset()  # Nouns for people: the head of a description
    people_endings: Row = ()  # Endings of other such nouns
    relatives: Set = frozenset()  # Words that need an owner: whose relative
    kinds: Set = frozenset()  # Words that say too little alone
    plain: Set = frozenset()  # Words that say nothing without a complement
    empty: Set = frozenset()  # Modifiers that say nothing
    determiners: Set = frozenset()  # The first word of a description
    mine: Set = frozenset()
    theirs: Set = frozenset()  # Possessive ones: the speaker's, or somebody else's
    # Words that may follow a name directly, and the article that replaces a possessive
    article: Row = ()
    tails: Set = frozenset()  # Words that begin a complement after the noun
    ends: Set = frozenset()  # Words that end the description
    is_so: Patterns = Patterns(r"{}\s+", 0)  # Between a name and a description
    named: Patterns = Patterns(",? {} $", 0)  # Between a description and a name
    called: Set = frozenset()  # A sentence with an alias contains one of these
    alias: Row = ()  # `x` is also called `y`
    own_alias: Row = ()  # The speaker is also called `y`
    introduces: Row = ()  # The speaker says that they are `x`
    plays: Row = ()  # The speaker plays `x`
    fates: Set = frozenset()  # A sentence about a fate (`dead`, `alive`) contains one of these
    states: Set = frozenset()  # Verbs that are no acts
    alike: Set = frozenset()  # Titles that one person may bear side by side: Captain Holm is Mr Holm
    dead: Row = ()
    alive: Row = ()  # `x` died, or lives again
    jests: Patterns = Patterns(r"[(\[][^()\[\]]{0,40}{}[^()\[\]]{0,40}[)\]]")  # In brackets: the line is a joke
    not_so: Patterns = Patterns(r"\b{}\b|\?")  # Anywhere: negation or uncertainty
    inside: Set = frozenset()  # Before the name of a place


class Turns(Topic, frozen=True, kw_only=True):
    """What signals turns of the plot, recaps and chatter in a story."""

    turns: Patterns = Patterns(r"\b{}\b", 0)  # Words that signal a turn of the plot
    recaps: Patterns = WORD_BEGINS  # What begins a recap of the story so far
    recap_ends: Patterns = WORDS  # What ends one
    signs: Row = ()  # Characters that signal a turn, for Chinese and Japanese
    greetings: Patterns = Patterns(r"{}\b[,.!?]*\s*")  # Greetings, fillers and assents at the beginning
    table: Patterns = Patterns(r"\b{}\b", 0)  # Words about the game and the show
    laughter: Patterns = BARE
    show: Patterns = Patterns(r"\b{}\b", 0)  # Words about a show: what is said near them is addressed to its audience
    hearer: Set = frozenset()  # Words for who is spoken to, which a recap seldom has
    points_back: Patterns = WORD_ENDS  # At the beginning: it says little without the sentence before it
    first_person: Patterns = Patterns(r"\b{}\b", 0)  # First-person pronouns; case-sensitive
    empty_signs: Row = ()  # Characters that are no part of a name
