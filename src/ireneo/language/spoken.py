"""The sections of a language file on what people say about themselves: facts, relative times, attributes."""

from __future__ import annotations

from msgspec import Struct, field

from ireneo.language.topics import Map, Row, Set, Topic


class Predication(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A predicate that sets an attribute, or ends its value."""

    pattern: str  # Matched at the start of the verb's base form and what follows it; with the group `value`
    attribute: str = ""  # Empty if it is about a thing rather than an attribute
    # The tenses in which it applies, of `present past perfect progressive future used`; empty for all but future
    # and past
    tense: str = ""
    ends: bool = False  # It ends the value
    list: bool = False  # The value may be a list
    value: str = ""  # The value if the pattern has no group for it


class Facts(Topic, frozen=True, kw_only=True):
    """How people state facts about themselves and theirs, sentence by sentence and clause by clause."""

    joke: Row = ()  # Anywhere in a sentence: it isn't meant
    takes_back: Row = ()  # A sentence of its own that takes back the one before: "just kidding"
    hyperbole: Row = ()  # Anywhere: nobody means it so
    supposed: Row = ()  # Anywhere in a clause: it is supposed, wished or doubted
    condition: Row = ()  # At the beginning of a clause: what hangs on it is supposed too
    reported: Row = ()  # Anywhere in a clause: somebody else says so
    authority: Row = ()  # At the beginning of a clause: who says so is to be believed, of health
    played: Row = ()  # Anywhere in a message: what is said is said in play
    fiction: Row = ()  # Anywhere in a message: others in it are made up
    handed_over: Row = ()  # Anywhere in a message: a text to be worked on comes with it
    asks_within: Row = ()  # Behind a comma: a request begins
    asks: Row = ()  # At the beginning of a clause: it asks for something
    leads: Row = ()  # Before a clause, and no part of it
    hangs: Row = ()  # At the beginning of a part of a sentence: it hangs on the clause that follows
    breaks: Row = ()  # Between two clauses, where a subject follows
    openers: Row = ()  # What a clause begins with that could stand alone
    adverbs: Set = frozenset()  # What may stand between the words of a verb
    verbs: Set = frozenset()  # Verbs that tell of the world, besides those with irregular forms
    idle: Set = frozenset()  # Verbs that tell nothing of the world
    idle_states: Row = ()  # At the beginning of a predicate: a mood, a wish, small talk
    points: Row = ()  # Anywhere in a clause: it points at something outside of it
    idle_anywhere: Row = ()  # Anywhere in a clause: it is talk about the talk
    address: Row = ()  # Anywhere: it is said to the assistant, of the assistant
    own: Row = ()  # Anywhere: it speaks of the speaker and theirs
    ailments: Row = ()  # Anywhere: an illness or an injury, which who names it has
    changed: Row = ()  # Anywhere: something is other than it was
    happened: Row = ()  # Anywhere: it happened, and is over
    lasts: Row = ()  # Anywhere: what happened is so since
    professions: Row = ()  # At the beginning: what somebody does for a living, without an article
    begins: Set = frozenset()  # Verbs of which the past says what is so since: who bought a thing has it
    introduces: Row = ()  # At the beginning of a clause: the speaker's `name`; `sure` where nothing else could be meant
    coming: Row = ()  # Anywhere: it lies ahead
    of_others: Row = ()  # At the beginning: `name` does, or did, something. Heeds case.
    becomes: Row = ()  # Behind what is somebody's: it is, or has become, `value`
    # Somebody's name: `word` is one of `relations`, `name` the name; `RELATION` stands for any of them.
    # `only_is`: it may be no name. Heeds case.
    relative: Row = ()
    either: Row = ()  # In a value: it is one of two, and not known which
    limits: Row = ()  # Behind a value: it holds under a condition
    article: Row = ()  # What a value doesn't begin with, and goes without
    relations: Map = field(default_factory=dict)  # By a code, words for people and animals that are somebody's
    he: Set = frozenset()  # Words for people and animals that are somebody's, of whom one says "he"
    she: Set = frozenset()  # The same of whom one says "she"
    states: Set = frozenset()  # Words formed as what was done that tell how somebody is: "married"
    no_attribute: Set = frozenset()  # What is no attribute of anybody: "my question is"
    dated: Set = frozenset()  # What has a time that may change: an appointment
    measured: Set = frozenset()  # What is measured, and has another value each time
    says: tuple[Predication, ...] = ()
    ends: Row = ()  # Anywhere: something is over, or another in its place
    over_what: Row = ()  # Anywhere: `what` is over, or `who` is no more. Both may hold more than is meant.
    back: Row = ()  # Anywhere: what was over is so again
    fresh: Row = ()  # Anywhere: it is so now, and was not before
    besides: Row = ()  # Anywhere: what it says is so beside what was said before
    renewed: Row = ()  # Anywhere: `what` is another one now
    recovered: Row = ()  # Anywhere: somebody is well again
    awaited: Row = ()  # Anywhere: something is waited or prepared for
    reached: Row = ()  # Anywhere: what was waited or prepared for is there
    joint: Row = ()  # Anywhere: the speaker is among those of whom it speaks
    called_too: Row = ()  # Words for the same relation, blanks between
    counted: Row = ()  # Anywhere: it says how many there are, and not how many of them something happened to
    light: Set = frozenset()  # Verbs that say something only together with what follows
    phrase_ends: Set = frozenset()  # Words at which what was named as being over ends, unless it begins with them
    moves: Row = ()  # Anywhere: somebody moves house, or from one place to another
    places: Set = frozenset()  # Words at the beginning of what says where something is
    takes_place: Set = frozenset()  # Verbs that say of a thing no more than where or when it is
    held: Set = frozenset()  # Verbs that say of a thing that somebody has it, or goes by it
    speaker: Set = frozenset()  # Subjects that are the speaker
    owners: Set = frozenset()  # Words before a thing that say whose it is, or that it is known
    asides: Set = frozenset()  # Words between a verb and what it says, that change nothing of it
    thing_ends: Set = frozenset()  # Words at which the name of a thing ends
    trails: Row = ()  # Behind a value: from here on the speaker says something else
    tells_more: Row = ()  # At the beginning of a piece: it tells more of whom or what stands before it
    refers: Row = ()  # At the beginning of a sentence: it speaks of whom, or what, stands before it
    depends: Row = ()  # Besides, at the beginning of a clause: it hangs on the one before it
    apart: Row = ()  # Such words of which one excludes the other of the same person, whatever else is said
    grades: Row = ()  # With `nth` and `of`: in which year of something one is
    clocks: Row = ()  # With `clock`: a time of day in words
    passing: Row = ()  # Anywhere: it was so for a while
    instead: Row = ()  # Anywhere: something comes in the place of another
    # By a thing of which one has one at a time, patterns of what says that it is another now; where there are
    # none, those of `tells_of` say so together with one of `fresh`
    changes_of: Map = field(default_factory=dict)
    tells_of: Map = field(default_factory=dict)  # By such a thing, patterns of what says which it is
    # Words for the same measure of things of one's life, blanks between, besides the units of `numbers`
    measures: Row = ()
    often: Row = ()  # Anywhere: how often, or how much of a time
    opposites: Row = ()  # Words of which one is so at a time, blanks between
    over: Row = ()  # Anywhere: what is said of somebody is so no longer
    rules: Row = ()  # At the beginning of a sentence: how the assistant is to be
    tongues: Row = ()  # Anywhere in a rule: the language in which it wants answers
    over_it: Row = ()  # Anywhere: what was told of last is over
    laughs: Row = ()  # Anywhere: who says so laughs
    boasts: Row = ()  # Anywhere in a sentence that laughs: it isn't meant
    generic: Set = frozenset()  # Words that many memories have in common and that tell none apart
    steps: Row = ()  # Anywhere in a sentence: how the speaker does something
    failed: Row = ()  # Anywhere in a sentence: what was tried and failed
    value_ends: Row = ()  # Before what no longer belongs to a value
    no_value: Set = frozenset()  # What no value begins with


class Phrasing(Topic, frozen=True, kw_only=True):
    """How statements are put together: patterns by which they are taken apart and compared."""

    complete: Row = ()  # Anywhere in a part of a list: it has a verb or a subject of its own
    mine: Row = ()  # The speaker as a subject, or before a noun
    begins: Row = ()  # Behind an "and": the speaker begins another clause
    here: Row = ()  # At the beginning of what follows a name: it says nothing
    before_dates: Row = ()  # At the beginning of a value: a date follows
    which: Set = frozenset()  # Words of an attribute's name that say which of several it is
    owned: Row = ()  # A subject that is a thing, `what`, and somebody's, `whose`
    about_mine: Row = ()  # At the beginning: `what` is the speaker's, and `said` of it
    about_owned: Row = ()  # At the beginning: `what` is somebody's, `whose`, and `said` of it
    second_verb: Row = ()  # A clause, `first`, of `who`, and another `verb` of the same subject
    alone: Row = ()  # At the beginning of a clause without a subject: a verb in the first person
    speaker: Row = ()  # The speaker as a subject, at the beginning
    group: Set = frozenset()  # Subjects that are the speaker, or the speaker with others
    first_forms: Set = frozenset()
    third_forms: Set = frozenset()  # Irregular verbs in the first and third person
    pronoun: Row = ()  # At the beginning: a pronoun, `word`, with a verb that may be `short`, and what is `next`
    may_be_name: Row = ()  # Anywhere: what may be a `name`. Heeds case.
    states_behind: Set = frozenset()  # Words behind a shortened "has" that are no verb in the past
    reported: Row = ()  # Before the quotation in a memory that quotes the user
    clock: Row = ()  # Behind a number: it is a time of day
    ordinals: Row = ()  # Endings of ordinal numbers in figures
    definite: Row = ()  # Articles before one of several numbered things
    called: Row = ()  # Somebody of the speaker's, before the name
    over: Row = ()  # Between the two numbers of a blood pressure
    employed: Row = ()  # Before an employer
    was: Row = ()  # What something was before a change


class Moments(Topic, frozen=True, kw_only=True):
    """Times relative to now, and how they are written out. Patterns, except for `on`, `kept` and `since`."""

    days: Map = field(default_factory=dict)  # By a number of days from today
    day_parts: Row = ()  # The part of a day, behind it
    last: Row = ()
    this: Row = ()
    next: Row = ()
    units: Map = field(default_factory=dict)  # By `week`, `weekend`, `month` and `year`
    ago: Row = ()
    ahead: Row = ()  # With `{count}` and `{unit}`
    on: Row = ()  # Before a day or a month
    kept: Row = ()  # What stays as it is before a time
    since: Row = ()  # Of these, what says that it lasts from then on
    ahead_of: Set = frozenset()
    behind: Set = frozenset()  # Of these, what says on which side of now a time lies
    # Of these, those behind which a time may lie on either side, whatever the verb's tense
    either_side: Set = frozenset()
    # By `day`, `week`, `weekend`, `month`, `year`, `around`: how it is written; `{}` is the date
    written: Map = field(default_factory=dict)


class Attributes(Topic, frozen=True, kw_only=True):
    """The names of attributes, by code."""

    names: Map = field(default_factory=dict)  # Words or, with a `*` before, what a name may end with
    # By how values of it hold (`set`, `series`): the last words of names that have no code
    heads: Map = field(default_factory=dict)
    bare: Set = frozenset()  # Words for things of one's own that are said without an article: "flat is in Leith"
    favourites: Row = ()  # What the name of an attribute begins with that says what one likes most
    one_in_the_plural: Set = frozenset()  # Plurals that name one value
