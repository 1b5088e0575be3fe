"""The sections of a language file on what people say about themselves: facts, relative times, attributes."""

from __future__ import annotations

from msgspec import Struct, field

from ireneo.language.files import Patterns
from ireneo.language.topics import BARE, WORDS, Map, Row, Set, Topic

OPENS_CLAUSE = Patterns(r"\W{0,9}+{}")


class Predication(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A predicate that sets an attribute, or ends its value."""

    pattern: str  # Matched at the start of the verb's base form and what follows it; with the group `value`
    attribute: str = ""  # Empty if it is about a thing rather than an attribute
    # The tenses in which it applies, of `present past perfect progressive future used`; empty for all but future
    # and past
    tense: str = ""
    ends: bool = False  # It ends the value
    list: bool = False  # The value may be a list
    reacts: bool = False  # Only where the same sentence, or the next, tells how a body `reacts`
    value: str = ""  # The value if the pattern has no group for it


class Facts(Topic, frozen=True, kw_only=True):
    """How people state facts about themselves and theirs, sentence by sentence and clause by clause."""

    pastimes: Set = frozenset()  # Words for pastimes, and those one spends them with: for what a statement is worth
    joke: Patterns = BARE  # Anywhere in a sentence: it isn't meant
    takes_back: Patterns = BARE  # A sentence of its own that takes back the one before: "just kidding"
    in_breath: Patterns = BARE  # Within a sentence: what stands right before it was wrong, and what follows is right
    not_that: Patterns = BARE  # Right before a known value: it is wrong
    but_that: Row = ()  # Between a wrong value and the right one
    not_mine: Row = ()  # Anywhere: somebody, `name`, is not what the speaker had called them, `word`
    told_wrong: Patterns = BARE  # Anywhere: what the speaker said before was wrong, and what is right follows
    muddled: Patterns = BARE  # Anywhere: somebody got things mixed up in what they said
    articles: Row = ()  # Before a noun
    hyperbole: Patterns = BARE  # Anywhere: nobody means it so
    supposed: Patterns = BARE  # Anywhere in a clause: it is assumed, wished or doubted
    asks_for_story: Patterns = BARE  # Anywhere in a message: it asks for something to be made up
    framed: Patterns = BARE  # Anywhere in a sentence: it and what follows belong to a story, a play or a dream
    unreal: Patterns = BARE  # Anywhere in a clause: what follows it in its sentence is a wish, a threat, or made up
    # At the beginning of a clause: a condition, so that what depends on it is hypothetical
    condition: Patterns = OPENS_CLAUSE
    reported: Patterns = BARE  # Anywhere in a clause: somebody else says it
    authority: Patterns = OPENS_CLAUSE  # At the beginning of a clause: an authority on health, who is believed
    played: Patterns = BARE  # Anywhere in a message: it is role play
    fiction: Patterns = BARE  # Anywhere in a message: the people in it are invented
    of_books: Patterns = BARE  # Anywhere in a sentence: a work of fiction is read, bought or recommended
    handed_over: Patterns = BARE  # Anywhere in a message: it contains a text to be edited or translated
    asks_within: Patterns = BARE  # After a comma: a request begins
    asks: Patterns = OPENS_CLAUSE  # At the beginning of a clause: a question or request
    of_occasions: Patterns = BARE  # Anywhere in a message: verses are wanted for real people, on a day of theirs
    arrives: Row = ()  # A clause: somebody is now at a place, `value`, to which they meant to move
    # At the beginning of what follows a comma in a question: a subject and a finite verb
    tells_by_asking: Patterns = OPENS_CLAUSE  # At the beginning of a question: what follows is a statement
    leads: Row = ()  # Filler words before a clause
    hangs: Patterns = OPENS_CLAUSE  # At the beginning of a part of a sentence: it belongs to the clause that follows
    subordinate: Patterns = OPENS_CLAUSE  # The same: a clause with its own subject and verb
    breaks: Row = ()  # Between two clauses, if a subject follows
    openers: Row = ()  # At the beginning of a clause that could be a sentence
    adverbs: Set = frozenset()  # Words between the parts of a verb
    verbs: Set = frozenset()  # Verbs of facts and events, besides those with irregular forms
    idle: Set = frozenset()  # Verbs of thought and speech, which state no facts
    points: Patterns = BARE  # Anywhere in a clause: it refers to something outside of it
    idle_anywhere: Patterns = BARE  # Anywhere in a clause: it is about the conversation itself
    affirms: Patterns = OPENS_CLAUSE  # At the beginning of an answer: yes
    denies: Patterns = OPENS_CLAUSE  # The same: no
    offers: Patterns = BARE  # In an assistant's question: it offers to do something, or asks how somebody is
    wants_to_know: Patterns = BARE  # Anywhere in a question: it asks for more than yes or no
    address: Patterns = BARE  # Anywhere: it addresses the assistant
    own: Patterns = BARE  # Anywhere: it is about the speaker, or people and things of theirs
    ailments: Patterns = BARE  # Anywhere: an illness or injury, which the speaker has
    changed: Patterns = BARE  # Anywhere: something has changed
    happened: Patterns = BARE  # Anywhere: it happened, and is over
    lasts: Patterns = BARE  # Anywhere: what happened has a lasting result
    professions: Patterns = BARE  # At the beginning: what somebody does for a living, without an article
    begins: Set = frozenset()  # Verbs whose past states a lasting result: who bought a thing has it
    introduces: Patterns = BARE  # At the beginning of a clause: the speaker's `name`; `sure` if it is unambiguous
    coming: Patterns = BARE  # Anywhere: it is in the future
    will_be: Patterns = BARE  # Anywhere in a clause: somebody is going to do it
    to_come: Patterns = BARE  # The same, if the clause names a day in the future
    not_planned: Patterns = BARE  # Anywhere in a clause: somebody is not going to do what they had planned
    stays: Patterns = BARE  # Anywhere: somebody stays where they are
    calls_off: Patterns = BARE  # Anywhere: a plan was abandoned
    house_move: Patterns = BARE  # Anywhere: the move that was planned
    joins: Row = ()  # Anywhere: somebody begins to work at `value`
    just_now: Patterns = BARE  # Anywhere: it began right before it was said
    of_others: Patterns = Patterns(flags=0)  # At the beginning: `name` does, or did, something. Case-sensitive.
    becomes: Row = ()  # After an attribute: it is, or has become, `value`
    # Somebody's name: `word` is one of `relations`, `name` the name; `{relation}` stands for any of them. `only_is`: it
    # may not be a name. Case-sensitive.
    relative: Patterns = Patterns(flags=0)
    # Anywhere in a sentence: somebody's relative whose name must follow, and no thing for them: no "give my cat Milk"
    in_passing: Patterns = Patterns(flags=0)
    # Anywhere: `word` for children or animals, and their `names`. Case-sensitive.
    members: Patterns = Patterns(flags=0)
    either: Patterns = WORDS  # In a value: one of two, unknown which
    limits: Patterns = WORDS  # After a value: it is true under a condition
    dependent: Patterns = Patterns(r"\b{}\s+$")  # Right before a subject: the clause says when something else is true
    article: Patterns = Patterns(r"{}\s+")  # Words that are stripped from the beginning of a value
    relations: Map = field(default_factory=dict)  # For each code, words for relatives, friends and pets
    he: Set = frozenset()  # The `relations` that "he" refers to
    she: Set = frozenset()  # The `relations` that "she" refers to
    states: Set = frozenset()  # Participles that express a state: "married"
    no_attribute: Set = frozenset()  # Nouns that are nobody's attribute: "my question is"
    dated: Set = frozenset()  # Things whose time may change: an appointment
    measured: Set = frozenset()  # Things that are measured, with another value each time
    says: tuple[Predication, ...] = ()
    forbids: Patterns = BARE  # Anywhere in a rule: what is forbidden
    of_boss: Patterns = BARE  # Anywhere: it is about the speaker's boss
    promoted: Patterns = BARE  # Anywhere: somebody with new work has it with the same employer
    ends: Patterns = BARE  # Anywhere: something has ended or was replaced
    over_what: Row = ()  # Anywhere: `what` has ended, or `who` has died. Both may match too many words.
    back: Patterns = BARE  # Anywhere: what had ended is true again
    fresh: Patterns = BARE  # Anywhere: it is new
    besides: Patterns = BARE  # Anywhere: it is true in addition to what was said before
    reacts: Patterns = BARE  # Anywhere: a reaction of the body to something that it doesn't tolerate
    reached: Patterns = BARE  # Anywhere: what was expected has happened
    joint: Patterns = BARE  # Anywhere: it includes the speaker
    called_too: Row = ()  # Synonyms for a relation, separated by blanks
    phrase_ends: Set = frozenset()  # Words that end the phrase for what has ended, unless it begins with them
    moves: Patterns = BARE  # Anywhere: somebody moves house, or from one place to another
    speaker: Set = frozenset()  # Subjects that are the speaker
    owners: Set = frozenset()  # Possessives and definite articles before a thing
    elliptic: Patterns = BARE  # At the end of a clause: what it says is only known from the one before it
    applies: Patterns = BARE  # What was only asked or supposed before it is so of the speaker: "which I am"
    lasts_until: Patterns = BARE  # Anywhere: it holds up to a time
    lasts_for: Row = ()  # Anywhere: it holds for `number` of `unit` from now on
    lasted: Patterns = BARE  # Anywhere: it is past or recurs, so that such a time is no end
    goes_on: Patterns = BARE  # Anywhere in a clause in the perfect: it is still true
    for_good: Patterns = BARE  # Anywhere: it is true for years
    for_now: Patterns = BARE  # Anywhere: it is only true that day or week
    trails: Patterns = BARE  # After a value: from here on the speaker says something else
    refers: Patterns = BARE  # At the beginning of a sentence: it refers to the sentence before
    depends: Patterns = BARE  # The same at the beginning of a clause
    apart: Patterns = BARE  # Words that exclude each other for the same person, whatever else is said
    grades: Row = ()  # With `nth` and `of`: in which year of something one is
    clocks: Row = ()  # With `clock`: a time of day in words
    passing: Patterns = BARE  # Anywhere: it was temporary
    momentary: Patterns = BARE  # Anywhere: it is so at this moment, and no longer the next day
    instead: Patterns = BARE  # Anywhere: something replaces another
    # For each thing of which one has one at a time, patterns that say that it has changed
    changes_of: Map = field(default_factory=dict)
    tells_of: Map = field(default_factory=dict)  # By such a thing, patterns that say which one it is
    # For each measurement of oneself that is stated again whenever it changes, patterns of it with its figure
    series: Map = field(default_factory=dict)
    for_a_visit: Patterns = BARE  # Anywhere: somebody is there only for some days
    only: Patterns = BARE  # Anywhere: it is only this one of several times or days
    # Synonyms for a measurement, separated by blanks, besides the units of `numbers`
    measures: Row = ()
    often: Patterns = BARE  # Anywhere: a frequency or share of time
    opposites: Row = ()  # Words that exclude each other at a time, separated by blanks
    over: Patterns = BARE  # Anywhere: what is said of somebody is no longer true
    rules: Patterns = OPENS_CLAUSE  # At the beginning of a sentence: how the assistant should behave
    manners: Patterns = BARE  # Anywhere in a clause: in what form answers are, or what an assistant does
    standing: Patterns = BARE  # Anywhere in a request: it is meant for all answers, or for all of a kind
    wants_so: Patterns = (
        OPENS_CLAUSE  # At the beginning of a clause: the speaker wants it so, or addresses the assistant
    )
    of_one_text: Patterns = BARE  # Anywhere in a request: it is about one text that is being written
    tongues: Patterns = BARE  # Anywhere in a rule: the language of answers
    choices: Map = field(default_factory=dict)  # By matter and choice ("length short"), patterns for it in a rule
    of_a_kind: Patterns = BARE  # Anywhere in a rule: it is about some kind of answers only
    put_right: Patterns = BARE  # Anywhere: another figure replaces the one that was said right before
    laughs: Patterns = BARE  # Anywhere: the speaker laughs
    boasts: Patterns = BARE  # Anywhere in a sentence with laughter: it isn't meant
    generic: Set = frozenset()  # Words that many memories have in common
    steps: Patterns = BARE  # Anywhere in a sentence: how the speaker does something
    failed: Patterns = BARE  # Anywhere in a sentence: what was tried and failed
    value_ends: Patterns = BARE  # After a value: what follows is no part of it
    no_value: Set = frozenset()  # Words that no value begins with


class Phrasing(Topic, frozen=True, kw_only=True):
    """How statements are put together: patterns by which they are taken apart and compared."""

    complete: Patterns = BARE  # Anywhere in a part of a list: it has a verb or a subject of its own
    mine: Patterns = WORDS  # The speaker as a subject, or before a noun
    begins: Row = ()  # Behind an "and": the speaker begins another clause
    here: Patterns = Patterns(r"^{}\b\s*")  # At the beginning of what follows a name: it has no meaning of its own
    # The first of two subjects, with the "and" between them. Case-sensitive.
    together: Patterns = Patterns("(?:^|, |[.;:] ){} $", 0)
    before_dates: Patterns = Patterns("^{} ")  # At the beginning of a value: a date follows
    which: Set = frozenset()  # Words of an attribute's name that say which of several it is
    owned: Row = ()  # A subject that is a thing, `what`, and somebody's, `whose`
    about_mine: Row = ()  # At the beginning: `what` belongs to the speaker, and `said` is stated about it
    about_owned: Row = ()  # At the beginning: `what` belongs to somebody, `whose`, and `said` is stated about it
    second_verb: Patterns = Patterns(flags=0)  # A clause, `first`, about `who`, and a second `verb` of the same subject
    alone: Patterns = Patterns(flags=0)  # At the beginning of a clause without a subject: a verb in the first person
    speaker: Patterns = BARE  # The speaker as a subject, at the beginning
    group: Set = frozenset()  # Subjects that are the speaker, or the speaker with others
    first_forms: Set = frozenset()
    third_forms: Set = frozenset()  # Irregular verbs in the first and third person
    pronoun: Row = ()  # At the beginning: a pronoun, `word`, with a verb that may be `short`, and what is `next`
    may_be_name: Row = ()  # Anywhere: what may be a `name`. Case-sensitive.
    states_behind: Set = frozenset()  # Words after a shortened "has" that aren't past participles
    reported: Row = ()  # Before the quotation in a memory that quotes the user
    long_ago: Row = ()  # Behind that, if it was said too long ago to be relied on
    of_work: Patterns = Patterns(r"\b{}\s(?P<place>[^,.;:!?]{2,60})")  # Before a place of work
    no_work: Set = frozenset()  # What people are who have no employer
    as_what: Patterns = Patterns("{}$")  # Before somebody's job, if the verb says that it is work
    is_what: Patterns = Patterns("{}$")  # The same, with the verb, if the verb alone doesn't say so
    works: Row = ()  # The verb that says so, before a place of work
    asked: Patterns = Patterns(flags=0)  # The question in a memory that quotes an answer
    clock: Row = ()  # Behind a number: it is a time of day
    ordinals: Row = ()  # Endings of ordinal numbers in figures
    definite: Row = ()  # Articles before one of several numbered things
    called: Row = ()  # Before the name of somebody the speaker knows
    over: Patterns = Patterns(r"\b(\d{2,3}) ?(?:{}|/) ?(\d{2,3})\b")  # Between the two numbers of a blood pressure
    was: Patterns = BARE  # What something was before a change


class Moments(Topic, frozen=True, kw_only=True):
    """Times relative to now, and how they are written. Patterns, except for `on`, `kept` and `since`."""

    days: Map = field(default_factory=dict)  # For each number of days from today
    day_parts: Row = ()  # Parts of a day, after it
    last: Row = ()
    this: Row = ()
    next: Row = ()
    units: Map = field(default_factory=dict)  # By `week`, `weekend`, `month` and `year`
    ago: Row = ()
    ahead: Row = ()  # With `{count}` and `{unit}`: a time in the future
    on: Row = ()  # Before a day or a month
    kept: Row = ()  # Words before a time that stay as they are
    since: Row = ()  # The words of `kept` that mean from then on
    ahead_of: Set = frozenset()
    behind: Set = frozenset()  # The words of `kept` before times in the future, and in the past
    # The words of `kept` before times in the future or past, whatever the verb's tense
    either_side: Set = frozenset()
    # By `day`, `week`, `weekend`, `month`, `year`, `around`: how it is written; `{}` is the date
    written: Map = field(default_factory=dict)


class Attributes(Topic, frozen=True, kw_only=True):
    """The names of attributes, by code."""

    names: Map = field(default_factory=dict)  # Words or, with a `*` before, what a name may end with
    # For the kind of value of an attribute (`set`, `series`): the last words of names that have no code
    heads: Map = field(default_factory=dict)
    bare: Set = frozenset()  # Words for one's own things that need no article: "flat is in Leith"
    favourites: Row = ()  # At the beginning of the name of an attribute: it is what one likes most
    one_in_the_plural: Set = frozenset()  # Plurals that name one value, and singulars that end like a plural
