"""The schema of language files: a struct for each section, a field for each list of words or patterns.

Patterns are case-insensitive unless a field says otherwise, and must run in time linear in the text.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ireneo.language.files import Patterns

Row = tuple[str, ...]
Set = frozenset[str]
Map = dict[str, Row]

BARE = Patterns()
"""How patterns are matched: these as they are, most of them where a text begins."""
WORDS = Patterns(r"\b{}\b")
WORD_BEGINS, WORD_ENDS = Patterns(r"\b{}"), Patterns(r"{}\b")
UNDOTTED = Patterns(r"(?<![\w.]){}")
"""Where a word begins, or a sign, but not within a name such as `main.go`."""
WHOLE = Patterns(r"(?<!\w){}(?!\w)")
"""Words, and what begins or ends with a sign."""


class Topic(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A section of a language file."""


class Words(Topic, frozen=True, kw_only=True):
    """The words of every text."""

    name: Row = ()  # What the language is called, in English
    # Very common words that are rare in other languages: used to detect the language of a text
    telling: Set = frozenset()
    stop: Set = frozenset()  # The stop list
    irregular: Row = ()  # A verb and its irregular past forms, which a stemmer misses; none that is mostly another word
    other_forms: Row = ()  # The same for words and forms that are no past: "child children"
    articles: Set = frozenset()  # Words that never change the meaning of a text
    contractions: Map = {}  # What a short form stands for
    contracted: Map = {}  # What the ending of a short form stands for
    endings: Row = ()  # Suffixes that are stripped for matching, the longest first
    families: Set = frozenset()  # Endings of stems by which words of one family differ
    inflections: Row = ()  # Forms of a word around its stem (`*`), in languages whose words an index doesn't stem
    # In languages that capitalise all nouns: more common words, to detect the language of short texts
    nouns_large: Set = frozenset()
    nouns_small: Set = frozenset()  # The same in languages that capitalise only names
    # In languages that capitalise all nouns: a noun after one of these, without an article, is mostly a name
    before_names: Set = frozenset()
    no_names: Set = frozenset()
    no_name_endings: Row = ()  # The commonest nouns that are no names there, and endings of others
    inflected: Row = ()  # Endings of words before a noun
    signs: Row = ()  # Anywhere in a sentence: it shows that the sentence is in this language
    # "It's nuts that I'm allergic to": a pattern with the groups `what` and `said`, which are put in the opposite order
    cleft: Row = ()
    reorders: tuple[tuple[str, str], ...] = ()  # Unusual or shortened word orders, and the order that rules expect


class Grammar(Topic, frozen=True, kw_only=True):
    """How verbs and pronouns are formed, to parse clauses and to rewrite them in the third person."""

    be: Set = frozenset()
    be_past: Set = frozenset()
    have: Set = frozenset()
    do: Set = frozenset()  # The forms of the auxiliaries
    modals: Set = frozenset()  # Auxiliaries that one form stands for all persons
    able: Set = frozenset()
    obliged: Set = frozenset()  # Auxiliaries for ability and obligation
    future: Set = frozenset()  # Auxiliaries of the future
    conditional: Set = frozenset()  # Auxiliaries for what is only imagined
    before_to: Set = frozenset()  # Auxiliaries if an infinitive follows
    after_have: Set = frozenset()
    after_do: Set = frozenset()  # Words besides verbs that follow these as auxiliaries
    negations: Set = frozenset()
    after_no: Set = frozenset()  # After a "no": something has ended
    no_longer: Patterns = BARE  # Anywhere in a negated clause: something has ended
    pronouns: Set = frozenset()  # Personal pronouns as a subject
    speakers: Set = frozenset()  # Of these, the ones that include the speaker
    determiners: Set = frozenset()  # Words before a noun as a subject
    before_nouns: Set = frozenset()  # No verb follows one of these
    contractions: Map = {}  # What short forms stand for, by the form
    endings: Map = {}  # What the ending of a contracted pronoun stands for
    bare_subjects: Set = frozenset()  # Contracted pronouns without an apostrophe
    no_adverbs: Set = frozenset()  # Words that only end like an adverb
    elided: Set = frozenset()  # Words that begin a clause without subject and verb: "allergic to nuts"
    # Between two statements about one subject; with the groups `who` and `word`, the verb
    next_statement: Patterns = BARE
    second_verb: Patterns = Patterns(
        flags=0
    )  # Between two verbs of one subject: `verb`, perhaps in the present by `now`
    conjunctions: Row = ()
    asides: Row = ()  # Between two verbs of one subject, and between that and the second verb
    past: Map = {}  # For each verb, past forms that are not in `Words.irregular`
    past_as_base: Set = frozenset()  # Verbs of which the past is the base form
    double_consonant: Set = frozenset()
    single_consonant: Set = frozenset()  # Verbs that double the last consonant, or not, against the rule
    third_subjects: Map = {}  # For each subject of the first person, that of the third
    third_others: Map = {}  # The same by other pronouns
    owns: Set = frozenset()
    objects: Set = frozenset()  # Of these, the ones that are possessive, and those that are objects
    plurals: Map = {}  # For each verb after "I", its form after "they"
    third_endings: Map = {}  # For each ending of a contracted pronoun, the verb in the third person
    third_verbs: Map = {}  # For each verb, its irregular third person
    unchanged_in_third: Set = frozenset()  # Verbs that are the same in the third person, besides `modals`


class Connectives(Topic, frozen=True, kw_only=True):
    """Words between several things or clauses that are listed. Patterns."""

    additions: Row = ()  # One and the other
    choices: Patterns = WORD_ENDS  # One or the other
    contrasts: Row = ()  # One, but another
    oneself: Row = ()  # The speaker, as the last of several people


class WordForms(Topic, frozen=True, kw_only=True):
    """What a single word shows about the form of its sentence, for linear models over words."""

    shows: Map = {}  # For each form, the words that show it
    capitals: Set = frozenset()  # Words that are capitalised and are no name


class Sentences(Topic, frozen=True, kw_only=True):
    """Where a full stop doesn't end a sentence."""

    # As they are written, without the last full stop; a blank separates several parts
    abbreviations: Row = ()
    ordinal_before: Set = frozenset()  # A figure with a full stop after one of these is an ordinal number
    ordinal_after: Set = frozenset()  # So is one before one of these


class Times(Topic, frozen=True, kw_only=True):
    """Words for times. In patterns, `{month}`, `{day}`, `{year}`, `{count}` and `{unit}` are the parts to read."""

    months: Row = ()  # All twelve in order, each with its forms, the full name first
    doubtful: Set = frozenset()  # Months that are as often another word, in lower case
    led: Set = frozenset()  # Months that are as often a name: they need one of `leads` before them
    weekdays: Row = ()  # All seven in order, from Monday on
    seasons: Map = {}  # By `spring`, `summer`, `autumn` and `winter`
    counts: Map = {}  # For each figure, numbers in words, also vague ones
    units: Map = {}  # By `day`, `week`, `month` and `year`
    which: Map = {}  # By `last`, `this` and `next`: words before a unit, a season, or a weekday
    names: Map = {}  # By `today`, `yesterday`, `day_before`, `night`, `week`, `weekend`, `month` and `year`
    day_dates: Row = ()  # Patterns of a date to the day
    month_dates: Row = ()  # Patterns of a month of a year
    season_of_year: Row = ()  # Words between a season or month and its year
    ago: Row = ()  # Patterns of a time some units ago
    past: Row = ()  # Patterns of a period up to now
    leads: Set = frozenset()  # Words that confirm a year or a doubtful month after them
    joins: Set = frozenset()  # Between two months of one year
    # Words before a time, which mean …
    before: Row = ()  # everything before it
    until: Row = ()  # everything up to its end
    after: Row = ()  # everything after it
    since: Row = ()  # everything from its beginning on
    articles: Set = frozenset()  # Words that may be between these and the time
    end_of: Row = ()  # The same, meaning the end of the time


class Numbers(Topic, frozen=True, kw_only=True):
    """Numbers and units."""

    units: Map = {}  # For each canonical name of a unit, how it is written
    lines: Row = ()  # Words before a line number
    joins: Row = ()  # Between two line numbers
    one: Set = frozenset()  # The number one, also where it may be an article
    cardinals: Row = ()  # From two to nineteen
    ordinals: Row = ()  # From third to nineteenth
    tens: Row = ()  # From twenty to ninety
    tenths: Row = ()  # Their ordinals
    dozens: Set = frozenset()
    inside: Map = {}  # For each figure: numbers that only follow a ten, as in twenty-one
    large: Map = {}  # For each figure: a hundred, a thousand and the like
    together: Row = ()  # In languages that write a number as one word: the parts from one to nineteen
    together_tens: Row = ()  # The same from twenty to ninety
    together_and: Row = ()  # The same between ones and tens
    together_ends: Row = ()  # Endings of ordinals there
    together_large: Map = {}  # For each figure, the same for hundreds and more


class OwnWords(Topic, frozen=True, kw_only=True):
    """What distinguishes users' own words from what they quote or paste."""

    persons: Patterns = Patterns(r"\s*{}\b")  # Pronouns of the first and second person
    begging: Row = ()
    announced_below: Patterns = WORD_BEGINS  # At the end of a line: somebody else's words follow
    announces: Patterns = WORDS  # In a line that ends in a colon: somebody else's words follow
    reviews: Patterns = WORD_BEGINS  # Anywhere: a reviewer comments on code, addressing nobody
    reports: Patterns = WORD_ENDS  # Headings of the parts of a bug report
    steps: Patterns = WORDS  # In a line before a list: its items are tasks to do once
    options: Patterns = WORDS  # In a question before a list: its items are options
    chooses: Row = ()  # Before the number of a chosen option
    chosen: Row = ()  # After such a number
    refers_to: Row = ()  # Before the numbers of items that a message is about
    points: Row = ()  # What such items are called
    own_tags: Patterns = BARE  # In the name of a tag: its content is the user's own
    task_parts: Patterns = BARE  # In the name of a tag or heading of a prompt: the task stands there
    # In a story, after a bracket or at the beginning of a line: what follows is said out of character
    asides: Row = ()


class Constraints(Topic, frozen=True, kw_only=True):
    """How people set lasting constraints for an assistant, and lift them; a comma or conjunction begins a clause."""

    lead: Row = ()  # At the beginning of a clause, before the word that binds
    conjunctions: Set = frozenset()  # Words between two clauses
    turns: Row = ()  # Words that separate a question from a rule
    asks: Patterns = BARE  # At the beginning: a question or request, with or without a question mark
    asks_not: Patterns = BARE  # At the beginning: a question that asks not to do something
    consents: Patterns = BARE  # At the end of an order: asks whether the listener will follow it
    hedges: Patterns = BARE  # At the beginning: the speaker may be wrong, or says what they feel for the listener
    stressed: Patterns = Patterns(r"\b{}\b", 0)  # Anywhere, in capitals: obligation
    scope: Patterns = WORDS  # Anywhere: the sentence holds beyond the task at hand, whatever else it says
    wide: Patterns = WORDS  # Words of scope that matter only in a sentence that binds
    never: Patterns = BARE  # At the beginning of a clause: always or never
    forbid: Patterns = (
        BARE  # At the beginning of a clause: something is forbidden, unwanted, or holds for all of a kind
    )
    keep: Patterns = BARE  # At the beginning of a clause: something is to stay as it is, or is preferred
    # At the beginning, in a ban without a verb: it is a conclusion or true for the moment, not a ban
    plans: Patterns = BARE
    rests: Patterns = BARE  # At the beginning of a clause: what remains true of what the clause before it denies
    # At the beginning of a clause: how something is to be done; lasting only in a short or firm sentence
    use: Patterns = BARE
    nothing: Patterns = BARE  # A whole sentence: a ban without a verb
    changes: Patterns = (
        BARE  # At the beginning of a sentence: a change at hand; what it is to heed is done with as well
    )
    mends: Patterns = BARE  # Anywhere: what is said before it is a defect to fix now
    bound: Patterns = WORDS  # Anywhere: something must not change, is forbidden, or needs permission
    must: Patterns = WORDS  # Anywhere: obligation
    should: Patterns = WORDS  # Anywhere: weak obligation; lasting only if also `firm`
    firm: Patterns = WORDS  # Anywhere: makes a sentence general or firm
    guess: Patterns = WORDS  # A word of obligation that expresses a guess or wish
    once: Patterns = WORDS  # Something is to be done now, once
    limited: Patterns = WORDS  # Anywhere: the sentence says itself that it holds only once
    scenes: Patterns = WORDS  # Anywhere: a hypothetical scenario, which forbids nothing
    conditions: Set = frozenset()  # Before a conditional clause, whose subject is not that of what follows
    continues: Set = frozenset()  # At the beginning of a conditional sentence: it is part of the constraint before it
    goes_on: Patterns = BARE  # At the beginning of a sentence: a limit, reason or detail of the constraint before it
    turns_to: Patterns = BARE  # The same after a ban: what is wanted instead
    # Before a word that binds: a subject, which makes the clause a statement about somebody
    subject: Patterns = WORDS
    tells: Patterns = WORDS  # The sentence reports what happened
    orders: Patterns = BARE  # At the beginning of a clause, in a system prompt: a lasting order
    limits: Patterns = WORDS  # Anywhere, in a system prompt: what is allowed, and how far
    points_back: Patterns = WORDS  # Words that refer to something named before
    choices: Patterns = BARE  # In a question: the answer is a lasting decision, not the next step
    lift: Patterns = WORD_BEGINS  # Anywhere: may lift an earlier constraint
    frees: Patterns = WORD_BEGINS  # Anywhere: it frees from something, and binds nothing by itself
    stops_it: Patterns = WORD_BEGINS  # Anywhere: it cancels what was said before, which it only refers to
    replaces: Patterns = WORD_BEGINS  # Anywhere: replaces one thing by another, and so may lift a constraint as well
    empty: Set = frozenset()  # Function words besides the stop list


class Forms(Topic, frozen=True, kw_only=True):
    """The forms of sentences that bind later work, besides the words of `Constraints`."""

    fillers: Patterns = BARE  # At the beginning of a clause: words without meaning
    joins: Row = ()  # Between two clauses that may have one subject
    splits: Row = ()  # Between two clauses with different subjects
    acts: Set = frozenset()  # Verbs; one at the beginning of a clause orders something
    finite: Patterns = BARE  # After such a word: it is a noun there, not an order
    reaches: Patterns = BARE  # The same, before an order: it holds from now on
    for_good: Patterns = WORDS  # At the end of an order: the same
    decides: Patterns = BARE  # At the beginning of a clause: what is chosen, given up or not needed
    recalls: Patterns = BARE  # At the beginning of a sentence: it repeats an agreement
    reminds: Patterns = BARE  # Anywhere: a fact is to be kept in mind
    corrects: Patterns = BARE  # At the beginning of a clause: what the agent keeps doing, or was told before
    runs_itself: Patterns = BARE  # At the beginning of a clause: a part of all work that the speaker does themselves
    itself: Patterns = BARE  # The same, for anything that the speaker does
    shares: Patterns = BARE  # The same, for what the listener does
    narrows: Patterns = BARE  # The same, in an order: it concerns one part only
    staged: Patterns = UNDOTTED  # Anywhere: how finished the work is as a whole, or who uses it
    owns: Patterns = WORDS  # Anywhere: where something belongs, or who is responsible for it
    practice: Patterns = BARE  # At the beginning of a clause: how the speaker's team works
    kinds: Patterns = BARE  # At the beginning of a sentence: how all things of a kind are, or what they do
    upkeep: Patterns = BARE  # The same: what must be kept up to date in all work
    likes: Patterns = BARE  # At the beginning of a clause: what kind of work or things the speaker likes or dislikes
    matters: Patterns = UNDOTTED  # Anywhere: what matters to the speaker in all work
    keeps_to: Patterns = (
        BARE  # At the beginning of a question or of what is weighed: to keep to something for all of a kind
    )
    tells: Patterns = WORDS  # Anywhere: what a program does or did


class Rulings(Topic, frozen=True, kw_only=True):
    """How users tell an agent what holds in later work: besides `Constraints`, how they correct it."""

    bans: Patterns = BARE  # At the beginning of a clause: something is not to be done
    customs: Patterns = UNDOTTED  # Anywhere: where something belongs, or what the team always or never does
    points: Patterns = UNDOTTED  # Anywhere: a word that points at one thing
    for_now: Patterns = UNDOTTED  # Anywhere: it concerns only the present moment
    negates: Patterns = WORDS  # Anywhere: negation
    # In a note: the user forbids, wants, or confirmed something
    told_ban: Patterns = WORDS
    told_wish: Patterns = WORDS
    told_yes: Patterns = WORDS
    told_saved: Patterns = WORDS  # In a note: all that was changed is committed
    keeps: Patterns = WORDS  # Anywhere in a user's sentence: something stays
    removes: Patterns = WORDS  # Anywhere: something is removed or replaced
    agrees: Patterns = Patterns(r"(?:^|[.!?,;\n] ?){}\b")  # Anywhere a clause begins: it agrees, or praises
    any_work: Patterns = UNDOTTED  # Anywhere: what all work on a project includes, such as its commits
    # Before a word that could be a verb, but isn't one there
    before_names: Patterns = Patterns(r"\b{}\s+(?P<name>[^\W\d_]{3,})\b")
    process: Patterns = UNDOTTED  # Anywhere: parts of any work, whatever the task: commits, tests, reviews, documents
    temper: Row = ()  # At the beginning or end: insults and curses, which rule nothing
    fillers: Patterns = Patterns(r"\A{}+(?=\w)")  # At the beginning: words without meaning before a rule
    tags: Patterns = BARE  # At the end: a tag question
    reasons: Patterns = BARE  # At the beginning of a sentence, or after a comma: it gives a reason
    refused: Row = ()  # Before something not to be used, changed or run
    folders: Row = ()  # Before the name of a folder whose files are not to be changed
    goes_on: Row = ()  # After it: a reason or a limit
    chosen: Row = ()  # Before something to be used or run
    changing: Set = frozenset()  # Verbs that mean the same where something is not to be changed
    plain: Set = frozenset()  # Words that say nothing about the subject of a ruling, besides the stop list
    # At the beginning of a message: written by a program in the user's place, or a pasted plan
    harness: Patterns = BARE


class Wishes(Topic, frozen=True, kw_only=True):
    """What users ask for after the work is done, and what should be done unasked."""

    uttered: Map = {}  # By kind, patterns of the wish, anywhere
    unasked: Map = {}  # By kind, how a lesson about it begins
    accepted: Patterns = BARE  # At the beginning of a message: an offer is accepted
    unwanted: Patterns = UNDOTTED  # Anywhere: what follows is not wanted
    wondered: Patterns = UNDOTTED  # Anywhere in a question: it asks for a reason, or is about others
    of_commands: Set = frozenset()  # The kinds that need the name of a command
    anytime: Set = frozenset()  # The kinds that are informative even if they open a task
    added: Set = frozenset()  # The kinds that ask for something more, and don't count where it is unwanted


class Kinds(Topic, frozen=True, kw_only=True):
    """What decides the kind of a memory."""

    failed: Patterns = BARE
    steps: Patterns = BARE  # How something is done
    times: Patterns = BARE  # When something was
    had: Patterns = BARE  # Something lasted and is over: an event, not a fact
    present: Set = frozenset()  # Verbs that state facts
    no_past: Set = frozenset()  # Words that only look like a past tense
    be_past: Set = frozenset()  # Past forms of be, have and get
    got: Set = frozenset()  # Of these, the ones that express events only
    did: Set = frozenset()
    born: Set = frozenset()  # After a past form of be: a fact, not an event
    step: Row = ()  # Before the number of a step
    before_name: Set = frozenset()  # After one of these, a past form is no verb


class Questions(Topic, frozen=True, kw_only=True):
    """What a question asks about, and about whom."""

    asker: Set = frozenset()
    answerer: Set = frozenset()  # Words for the one who asks, and for the one who is asked
    oneself: Set = frozenset()  # The words for the one who asks that are not possessive
    begging: Patterns = WORDS  # Phrases that address the one who is asked without asking about them
    when: Patterns = WORDS
    how_many: Patterns = WORDS
    before: Row = ()  # It asks about what was before something, which follows
    past: Patterns = WORDS  # It asks about the past, which may differ from now
    newest: Patterns = WORDS  # It asks for the current or latest state
    frame: Set = frozenset()  # Words about the question itself, or about the kind of answer
    time_words: Patterns = WORDS  # Words for times in an answer
    figures: Set = frozenset()  # Numbers in words, in an answer
    motion: Patterns = WORDS  # Ends with a verb that only says that somebody goes somewhere, or to do something
    small_talk: Patterns = Patterns(r"\W*(?:{}\b\W*)*+")  # The whole message is small talk, which answers nothing


class Senses(Topic, frozen=True, kw_only=True):
    """What questions ask for, by the codes of attributes if there are any."""

    asks: Map = {}  # For each code, patterns of questions for it
    tells: Map = {}  # For each code, words of an answer to it


class Passwords(Topic, frozen=True, kw_only=True):
    """How a password is stated in a sentence."""

    called: Set = frozenset()  # Its names; longer words with these endings count as well
    purpose: Row = ()  # After the name: before its purpose
    says: Row = ()  # Between the name or purpose and the password
    serves: Row = ()  # Between a password and its name


class Persons(Topic, frozen=True, kw_only=True):
    """How people are referred to without a name."""

    she: Set = frozenset()
    he: Set = frozenset()
    they: Set = frozenset()  # Pronouns
    objects: Set = frozenset()  # Those of them that never mean the subject of their own clause
    agents: Row = ()  # Endings of nouns for people by what they do: potter, harpist
    ours: Row = ()  # Before a noun for somebody whom everybody in the talk knows
    short: Row = ()  # Endings of short names: Bernie
    before_places: Row = ()  # Right before a name that is no person's
    does: Row = ()  # Right behind the name of somebody who does something
    roles: Set = frozenset()  # Relations between people; a name after one of these is that person's
    female: Set = frozenset()
    male: Set = frozenset()  # Roles and other nouns that determine the pronoun
    same: Map = {}  # For each role, other roles of the same person, and groups that include the person
    owned: Row = ()  # Before a role: whose it is
    definite: Set = frozenset()  # Before a noun: somebody or something spoken of before
    called: Row = ()  # Between a role and a name, or a name and a role: they are the same person
    known_as: Row = ()  # Between a name and another one of the same person
    named: Row = ()  # Before the name by which somebody calls another person
    calling: Set = frozenset()  # A clause with one of these and a name may contain another one of the same person
    speakers: Set = frozenset()  # Words for the speakers of any conversation, by which nobody can be identified


class Serving(Topic, frozen=True, kw_only=True):
    """Which memories serve a goal, by the areas of life that both are about."""

    plain: Set = frozenset()  # Words of any goal that say nothing about its subject
    routine: Set = frozenset()  # Words of all work in a project, which tell nothing of what one run was about
    standing: Patterns = BARE  # Rules for how the assistant should answer, whatever is asked
    of_texts: Patterns = BARE  # A goal or a rule about texts to be sent or published
    writes: Patterns = BARE  # A goal of writing; answers are written as well, so it says nothing in a rule
    of_answers: Patterns = BARE  # A rule about answers
    of_explanations: Patterns = BARE  # A goal or a rule about explaining how something works or is done
    occasions: Map = {}  # For each area, words of rules for answers in it
    standing_words: Set = frozenset()  # Words by which such rules are found
    # At the beginning of a sentence: a request that states nothing, unless it names one of `persons`
    requests: Row = ()
    persons: Row = ()
    unreal: Patterns = BARE  # It is only imagined, or part of a story
    shared: Set = frozenset()  # The areas in which facts about people around the user matter
    limits: Set = frozenset()  # Words for what somebody must avoid, however far a goal is from it
    not_eaten: Set = frozenset()  # What somebody may be allergic to, and isn't food
    alone: Set = frozenset()  # The areas to which a text belongs by one word
    limited: Set = frozenset()  # Those to which it does if it says what is to be avoided
    asked: Patterns = BARE  # At the beginning: the goal is a question
    asks: Map = {}  # For each area of life, words of goals in it
    tells: Map = {}  # For each area, further words of facts that matter in it
    slots: Map = {}  # For each area, the attributes whose facts matter in it as soon as a goal names the attribute
    fills: Map = {}  # For each area, the attributes whose facts always matter in it


class Names(Topic, frozen=True, kw_only=True):
    """What decides whether a capitalised word is a name."""

    none: Set = frozenset()  # Never a name by itself, capitalised or not
    large: Set = frozenset()  # Capitalised for stress, by custom or as a term; case-sensitive
    # Products, languages and technical terms that say nothing by themselves; case-sensitive
    terms: Set = frozenset()
    plain_endings: Row = ()  # Endings of common words that names rarely have
    openers: Set = frozenset()  # Words that begin sentences of a story and are no names, even if missing in the sources
    particles: Set = frozenset()  # Words between two parts of a name
    abbreviated: Set = frozenset()  # Titles with a full stop; case-sensitive
    titles: Set = frozenset()  # Titles before a name
    # After one of these, a word that the sources write in lower case may be capitalised: the Captain
    before_titles: Set = frozenset()
    # In languages that capitalise nouns: words before a noun that names mostly lack
    determiners: Set = frozenset()
    noun_endings: Row = ()  # Endings of nouns there that are no names
    does: Patterns = Patterns("{}$", 0)  # After the name of somebody who does something
    verbs: Set = frozenset()  # Verbs there that have none of `verb_endings`
    verb_endings: Row = ()  # Endings of verbs there, and of adverbs before them
    explained: Patterns = Patterns(flags=0)  # After a name: Holm, the keeper, …
    beside: Set = frozenset()  # Between two names
    listed: Set = frozenset()  # Before the last of several
    participles: Row = ()  # Endings of participles, which are no names: “Frightened, Vera and Holm fled”
    inflected: Row = ()  # Endings of articles and adjectives, which names mostly lack
    two: Patterns = WORDS  # Words that count people who were named, and claim no number


class Headings(Topic, frozen=True, kw_only=True):
    """Headings in a story or a play, and what distinguishes them from the names of speakers."""

    chapters: Row = ()  # Before the number of a chapter
    divisions: Row = ()  # Before the number of another division; nothing follows but a title
    alone: Row = ()  # Headings without a number
    numbers: Row = ()  # Numbers in words, besides figures and Roman numerals
    no_speakers: Set = frozenset()  # The first of the words before a colon that name no speaker
    small: Set = frozenset()  # Words of a name that are written in lower case


class Speech(Topic, frozen=True, kw_only=True):
    """Who speaks in a story."""

    said: Set = frozenset()
    titles: Set = frozenset()  # Before a speaker's name; case-sensitive
    # Pronouns and other words that begin a sentence; case-sensitive
    pronouns: Set = frozenset()
    narrators: Set = frozenset()  # Narrators, who are not part of the story
    selves: Set = frozenset()  # Words for oneself
    myself: Set = frozenset()  # Words for oneself that may replace a name
    labels: Set = frozenset()  # Labels before a colon that are nobody's name


class Prose(Topic, frozen=True, kw_only=True):
    """What agents say about their work."""

    lead: Row = ()  # Before a stated intent, at the beginning of a sentence
    intent: Row = ()  # The sentence says what will be done
    empty: Patterns = Patterns(
        "^{}[.!:]*$"
    )  # At the beginning: it only says that something was understood, seen or done
    agreement: Patterns = Patterns(
        "^{}[?？]$"
    )  # Whole questions without their mark: they only ask whether it is right so
    refers: Patterns = Patterns(r"^{}\b")  # At the beginning: it refers to the previous sentence
    nameless: Row = ()  # At the beginning: a subject that only the previous sentence names, with its verb
    praise: Patterns = Patterns(r"^[✅✓✔👍☑️\s]*{}(?!\w)")  # At the beginning: it only praises
    places: Patterns = Patterns(r"\b{} \d+(?: ?[-–,/&] ?\d+)*")  # Before a line number: no value, as it moves
    for_user: Patterns = Patterns(r"^{}(?!\w)")  # At the beginning: it tells the user what to do now
    unsure: Row = ()  # At the beginning: a subject of which the sentence only supposes something
    numbered: Patterns = Patterns(r"\b{}\s(?:[1-9]|[A-F])\b")  # What choices are called before their numbers or letters
    reason: Row = ()  # Words and phrases, not patterns: a reason or consequence
    because: Row = ()  # The same, and enough in a sentence about what will be done
    # Words and phrases, not patterns: a contrast, restriction or unexpected result
    contrast: Row = ()
    decision: Row = ()  # Words and phrases, not patterns: a choice, proposal or postponement
    changed: Row = ()  # Words and phrases, not patterns: what was changed, or what something does now
    removal: Row = ()  # Words and phrases, not patterns: something is to be taken out or replaced
    outcome: Row = ()  # Words and phrases, not patterns: how something ended
    offer: Row = ()  # Words and phrases, not patterns: a question or an offer
    passes: Patterns = Patterns(r"\b{}(?!\w)")  # Anywhere: the checks that were run passed
    takes_back: Patterns = WHOLE  # Anywhere: what the speaker said before is false


class Explaining(Topic, frozen=True, kw_only=True):
    """What marks a sentence as giving a cause or a general rule. Patterns of whole words."""

    rules: Patterns = WHOLE  # It says what must be so, what works or not, or what replaces something
    takes: Patterns = WHOLE  # It says what the speaker must use: a plan that is also a rule
    openings: Patterns = Patterns("^(?:[A-Z]{4,20}: |{}[,.!:]? +)+")  # At the beginning, before the sentence itself
    hedges: Patterns = Patterns(r"\b{}(?!\w)")  # It only guesses
    tells: Patterns = WHOLE  # It is about the work at hand: what was done, is planned, or is in the code
    stands: Patterns = WHOLE  # It states a custom of the project


class Warned(Topic, frozen=True, kw_only=True):
    """How people report a failure, for the guard. Patterns of whole words."""

    bans: Patterns = Patterns(r"^{}(?!\w)")  # At the beginning of a clause: what follows must not be done
    runs: Row = ()  # Before a command: it is run
    ends: Patterns = Patterns("^{}$")  # A word that is none of a command, which opens a clause without marks
    acts: Patterns = Patterns(r"^{}(?!\w|\.\w)")  # Where it applies: to several at the same time
    instead: Patterns = WHOLE  # Anywhere: it says what to do
    joins: Patterns = Patterns(r"^{},?\s+")  # Before a clause that continues
    reasons: Patterns = Patterns(r"^{}(?!\w)")  # At the beginning of a clause: it gives a reason
    fails: Patterns = WHOLE  # Anywhere: something goes wrong
    needs: Patterns = WHOLE  # Anywhere: something has to be there
    unnamed: Patterns = WHOLE  # Anywhere: something that is run is forbidden, whether or not its command is named
    changes: Patterns = Patterns(r"(?<![\w-]){}(?!\w)")  # Anywhere: what is named is a file that is changed
    in_place_of: Row = ()  # Before a command: something else replaces it
    ahead_of: Row = ()  # Before a command: what is named before it must be done first
    right: Patterns = WHOLE  # Anywhere: what is named is the right way
    since: Row = ()  # After a comma: a reason follows
    always: Row = ()  # Before what is to be done each time
    through: Row = ()  # Before a program by which something was done
    verbs: Map = {}  # For each command, verbs that mean it
    done: Row = ()  # A verb of what was done, in forms that are no order
    was: Row = ()  # Before such a verb: its object stands in front
    fine: Patterns = WHOLE  # Anywhere: what is named in addition to the failure works
    where: Row = ()  # Before the place, environment or branch to which it applies
    the: Row = ()  # Between these two
    whole: Patterns = Patterns(r"(?<![\w-]){}(?![\w-])")  # It applies to the whole, not to a part that is named
    refers: Row = ()  # It applies at a place that was named before
    single: Patterns = WHOLE  # It applies to a file by itself
    root: Row = ()  # It applies at the root
    together: Patterns = Patterns(r"(?<![\w-]){}(?![\w-])")  # It applies to several at the same time
    lacks: Map = {}  # Before something that was missing, by the word that demands it


Voice = Literal["first", "second", "third"]
"""Who speaks in a summary: "I ran …", "You ran …", "The agent ran …"."""


class Voices(Topic, frozen=True, kw_only=True):
    """Who speaks to whom in a text, and what a summary must not say outside quotation marks."""

    agent: Row = ()  # It speaks of the agent in the third person
    you: Row = ()  # It says “you” for who did something
    oneself: Row = ()  # It says “I”; case-sensitive
    own: Patterns = Patterns(r"(?<![\w'’]){}(?![\w])", 0)  # The same in stories
    together: Row = ()  # It says “we”
    reader: Row = ()  # Any word for a reader
    offers: Row = ()  # It offers something to a reader
    refusals: Row = ()  # It apologises or refuses
    refuses: Patterns = Patterns(r"\A[\s\W]{0,12}{}")  # The same, at the beginning of a reply
    comments: Row = ()  # It comments on a story instead of telling it
    article: Row = ()
    roles: Row = ()  # After an article: the name of a role in a log
    named: Patterns = Patterns(r"\b{}\s+$", 0)  # Before the name with which somebody introduces themselves


class Clauses(Topic, frozen=True, kw_only=True):
    """How the clauses of a sentence are connected."""

    joins: Row = ()  # Before a clause that could be a sentence by itself
    subjects: Row = ()  # At the beginning of such a clause
    begins: Row = ()  # At the beginning of a clause that depends on the one before
    limits: Row = ()  # At the beginning of a condition or exception, without which the rest means something else
    leads: Patterns = Patterns(r"\W*{}\b")  # At the beginning of a part that only introduces the next clause
    refers: Patterns = Patterns(r"\W*{}\b")  # Words that refer to the clause before
    relatives: Patterns = Patterns(r",\s++{}\b[^,;]*,(?=\s)", 0)  # At the beginning of a relative clause, after a comma


class Verdicts(Topic, frozen=True, kw_only=True):
    """What a status line says about an outcome."""

    status: Row = ()  # Labels of a status line
    good: Patterns = WORDS
    bad: Patterns = WORDS
    unsure: Patterns = WORDS  # Denied, wished for, about an earlier time or a part: no clear verdict
    conjunctions: Set = frozenset()
    complete: Row = ()
    partial: Row = ()
    all: Patterns = BARE  # It applies to everything, or to the one thing in question
    everything: Patterns = BARE  # It applies to everything


class Instructions(Topic, frozen=True, kw_only=True):
    """Wordings of instructions to a model. A blank matches any white space, also as escaped in JSON."""

    worded: Row = ()
    addressed: Row = ()  # It speaks to a model; here a blank is a blank
    orders: Patterns = WORDS  # It requests something, or says what must be so
    supposes: Patterns = UNDOTTED  # It is a guess


class Outcomes(Topic, frozen=True, kw_only=True):
    """The outcome of an intention."""

    undone: Patterns = WORDS  # It did not happen: it was only wished or planned, cancelled, or not done
    fails: Patterns = WORDS  # It happened and failed
    often: Patterns = WORDS  # It says how often something happens


class Tasks(Topic, frozen=True, kw_only=True):
    """What people ask an agent for."""

    agrees: Set = frozenset()  # Words of messages that only let the agent go on
    # At the beginning of a message: it answers a question of the agent
    answers: Patterns = Patterns(r"^(?:{}|(?:\W*\d\W*|[a-d])(?:\b|$))")
    waits: Patterns = Patterns(r"\?|{}")  # Anywhere at the end of an agent's message: it waits for an answer
