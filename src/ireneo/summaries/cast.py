"""The cast of a story over all of its summaries: identities, players, and fates.

Each leaf stores its findings (`ireneo.summaries.find_cast`) in its section "cast": for each name how often it acts, who
answers when it is called, and explicit statements. A deeper summary holds the sums of those below it, up to a limit.
Identities are resolved over the summaries that a context shows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import topic
from ireneo.language.story_topics import Cast
from ireneo.language.topics import Names, Speech
from ireneo.summaries.summary import Line, Mention, Section, Summary

LEAF_LINES = 20, 30
DEEP_LINES = 40, 80
"""The maximum number of names in a deeper summary, and most statements about them."""
STATEMENTS = 6
"""The maximum number of statements of one kind about one name."""
ANSWERING = 4
"""The maximum number of authors stored who answer to a name."""
FATES = ("dead", "alive")
FACTS = ("is", "alias", *FATES)
SAID = 2
"""Weight of speaking against acting."""
PLAYED, PLAYED_SHARE = 4.0, 0.5
"""The least answers, and the least share of all answers, by which a name is an author's character."""
PLAYED_LEAVES = 4
"""In how many leaves, or parts of them, a character of an author must be named."""
PLAYING, NAMED = 0.1, 0.2
"""The weights of a player's line and of being named, compared to acting."""
DESCRIBED = 5.0
"""A bonus, in acts, for a name that has a description."""
SURE = 2
"""The least weight of a statement that is shown; a statement made once, perhaps in jest, has 1."""
ACTS_ON = 5
"""After this many acts in stretches that follow a death somebody is alive after all."""
SEEN, OFTEN = 2, 5
"""How many leaves and acts, or acts alone, make somebody part of the cast."""
LONGEST_NAME = 4
"""The maximum number of words of a name that is shown."""
PASSING, LEADING = 0.05, 0.3
"""The least weights, as shares of the main character's, at which somebody without a description is shown, or named."""
MAIN = 24
"""The maximum number of people shown."""


def cast_section(stretches: Sequence[Sequence[Line]], most: tuple[int, int]) -> Section | None:
    """Return the section "cast" with the sums over adjacent `stretches`; `most` limits names and statements."""
    people: dict[str, list[Line]] = defaultdict(list)
    facts: dict[tuple[str, str, str], Line] = {}
    for line in (line for lines in stretches for line in lines):
        kind, times = line.verbs[0]
        fate = ("", line.subject, "")
        if kind not in FACTS:
            people[line.subject].append(line)
            if fate in facts:
                # A stretch's names come before its statements, so these acts follow the fate.
                told, *after = facts[fate].verbs
                acts = _activity(dict(line.verbs)) + (after[0][1] if after else 0)
                facts[fate] = replace(facts[fate], verbs=(told, ("after", acts)))
            continue
        # Of fates the newest holds.
        key = fate if kind in FATES else (kind, line.subject, line.text.casefold())
        times += facts[key].verbs[0][1] if key in facts and kind == facts[key].verbs[0][0] else 0
        facts[key] = replace(line, verbs=((kind, times), *line.verbs[1:]), weight=float(times))
    described = {line.subject for line in facts.values() if line.weight >= SURE}
    summed = [_sum_counts(each) for each in people.values()]
    summed.sort(key=lambda line: (-line.weight - DESCRIBED * (line.subject in described), line.subject))
    kept = summed[: most[0]]
    worth = {line.subject: line.weight for line in kept}
    out: list[Line] = []
    of_one: Counter[tuple[str, str]] = Counter()
    for line in sorted(facts.values(), key=lambda line: (line.verbs, line.subject, -line.weight, line.text)):
        of_one[line.verbs[0][0], line.subject] += 1
        if of_one[line.verbs[0][0], line.subject] <= STATEMENTS:
            out.append(line)
    # Aliases and fates are kept longer than descriptions, and statements about those who act most longer than others.
    out.sort(key=lambda line: (line.verbs[0][0] == "is", -worth.get(line.subject, 0.0) - line.weight, -line.position))
    lines = (*kept, *out[: most[1]])
    return Section(name="cast", lines=lines) if lines else None


def person_line(name: str, counts: Mapping[str, int], answers: Mapping[str, int], position: int) -> Line:
    """Build the line of a name: how often it acts, speaks and so on, and who answers when it is called."""
    ranked = sorted(((who, times) for who, times in answers.items() if times), key=lambda each: (-each[1], each[0]))
    kept = ranked if len(ranked) <= 2 * ANSWERING else [*ranked[:ANSWERING], *ranked[-ANSWERING:]]
    return Line(
        subject=name,
        verbs=tuple(sorted(counts.items())),
        names=tuple(Mention(who, float(times)) for who, times in kept),
        weight=round(_activity(counts) + 0.1 * counts.get("named", 0) + 0.01 * sum(times > 0 for _, times in kept), 2),
        position=position,
    )


def _activity(counts: Mapping[str, int]) -> int:
    return counts.get("acts", 0) + SAID * counts.get("said", 0) + counts.get("speaks", 0) + counts.get("tells", 0)


def _sum_counts(lines: Sequence[Line]) -> Line:
    counts: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for line in lines:
        counts.update(dict(line.verbs))
        answers.update({mention.name: int(mention.weight) for mention in line.names})
    return person_line(lines[0].subject, counts, answers, max(line.position for line in lines))


# Resolving identities: which names belong to one person.


class CastMember(Struct, kw_only=True):
    """A person in a story."""

    name: str
    """The name under which they speak, or by which they are called most."""
    names: tuple[str, ...]
    """All names, the commonest first."""
    full: str = ""
    """The longest form of the name."""
    aliases: tuple[str, ...] = ()
    """Names of the person that share no word with the name."""
    player: str = ""
    is_so: tuple[str, ...] = ()
    fate: str = ""
    weight: float = 0.0


class KnownCast(Struct, kw_only=True):
    """The cast as far as the summaries know it."""

    people: tuple[CastMember, ...] = ()
    """The most active first."""
    narrator: str = ""
    """The author who narrates to the players."""


def known_cast(nodes: Sequence[Summary], joined: Sequence[tuple[str, str]] = ()) -> KnownCast:
    """Return the cast after adjacent summaries of a story, with pairs of names that were joined by hand."""
    by_hand = [Line(subject=one, text=other, verbs=(("alias", SURE),)) for one, other in joined]
    section = cast_section([*(node.lines("cast") for node in nodes), by_hand], (10_000, 10_000))
    if section is None:
        return KnownCast()
    leaves = sum(node.leaves for node in nodes)
    cast = _CastResolver(section.lines, leaves)
    found = filter(None, map(cast.person, cast.names_by_person()))
    people = sorted(found, key=lambda each: (-each.weight, each.name))
    # Within one leaf nobody recurs, so who is named in passing is left out.
    least = PASSING * people[0].weight if people and leaves < SEEN else 0.0
    people = [each for each in people if each.weight > least or each.fate]
    return KnownCast(people=tuple(people), narrator=cast.narrator)


def aliases(nodes: Sequence[Summary]) -> dict[str, str]:
    """Map every name and alias that the summaries know to the person's main name."""
    return {name: each.name for each in reversed(known_cast(nodes).people) for name in each.names}


class _CastResolver:
    """Resolves the cast from the lines of all summaries of a path."""

    def __init__(self, lines: Sequence[Line], leaves: int) -> None:
        self._leaves = leaves
        self._named = {line.subject: line for line in lines if line.verbs[0][0] not in FACTS}
        self._counts = {name: Counter(dict(line.verbs)) for name, line in self._named.items()}
        self._facts = [line for line in lines if line.verbs[0][0] in FACTS]
        self._speaking = {name for name, counts in self._counts.items() if counts["speaks"] or counts["tells"]}
        self._characters = self._players_by_character()
        self._players = {author: name for name, author in reversed(self._characters.items())}

    @property
    def narrator(self) -> str:
        """The author who narrates to players; empty if there is none."""
        telling = [name for name, counts in self._counts.items() if counts["tells"] > counts["speaks"]]
        return max(telling, key=lambda name: self._counts[name]["tells"]) if telling and self._players else ""

    def _players_by_character(self) -> dict[str, str]:
        """Map each character's name to the author who answers when it is called."""
        # Characters of a game within one evening aren't part of the cast.
        least = min(PLAYED_LEAVES, self._leaves // PLAYED_LEAVES)
        claims: list[tuple[float, str, str]] = []
        for name, line in self._named.items():
            answers = sum(mention.weight for mention in line.names if mention.weight > 0)
            for mention in line.names:
                spoke = self._counts.get(mention.name, Counter())
                if (
                    mention.weight >= max(PLAYED, PLAYED_SHARE * answers)
                    and spoke["speaks"] > spoke["tells"]
                    and name not in self._speaking
                    and self._counts[name]["leaves"] >= least
                    and not set(bare_name(mention.name)) & set(bare_name(name))
                    # Who is called by the own name, as often as by this one, is no player.
                    and self._times_called(name) >= self._times_called(mention.name)
                ):
                    claims.append((mention.weight, name, mention.name))
        out: dict[str, str] = {}
        for _, name, author in sorted(claims, reverse=True):
            same = [other for other, player in out.items() if player == author]
            if all(set(bare_name(other)) & set(bare_name(name)) for other in same):
                out.setdefault(name, author)
        return out

    def _times_called(self, who: str) -> int:
        """Count how often somebody acts or is named, by any name that shares a word with this one."""
        words = set(bare_name(who))
        return sum(each["acts"] + each["named"] for name, each in self._counts.items() if words & set(bare_name(name)))

    def names_by_person(self) -> list[list[str]]:
        """Group the names by person, the commonest first."""
        linked = [
            (self._players.get(line.subject, line.subject), line.text)
            for line in self._facts
            if line.verbs[0][0] == "alias" and (line.subject in self._players or not self._is_player(line.subject))
        ]
        told = [*self._named, *(line.subject for line in self._facts), *(each for pair in linked for each in pair)]
        names = [name for name in dict.fromkeys(told) if bare_name(name)]
        group = {name: [name] for name in names}

        def join(one: str, other: str) -> None:
            if group[one] is not group[other]:
                group[one] += group[other]
                for name in group[other]:
                    group[name] = group[one]

        for one, other in linked:
            if one in group and other in group:
                join(one, other)
        for one, other in self._same_person_pairs(names):
            # Two who speak are two people, even if one bears the name of the other's family.
            first, second = (self._speaking.intersection(group[name]) for name in (one, other))
            if all(_is_form(a, b) or _is_form(b, a) for a in first for b in second):
                join(one, other)
        new = {other for _, other in linked}
        distinct = {id(each): each for each in group.values()}.values()
        return [sorted(each, key=lambda name: (-self._weight(name), name in new, name)) for each in distinct]

    def _same_person_pairs(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield pairs of names that are forms of each other: with a title, with a family name, or shortened."""
        same: dict[tuple[str, ...], list[str]] = defaultdict(list)
        longer: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for name in names:
            words = bare_name(name)
            same[words].append(name)
            short = words[0].partition("'")[0]
            if len(words) > 1:
                longer[words[0]].add(words)
                longer[words[-1]].add(words)
            elif short != words[0] and len(short) > 2:
                longer[short].add(words)
        weights = {words: sum(map(self._weight, forms)) for words, forms in same.items()}
        for words, forms in same.items():
            titles = {title for name in forms if (title := _title(name))}
            # Mr Holm and Mrs Holm are two people, and a bare "Holm" is ambiguous.
            if len(titles) > 1:
                by_title = {_title(name): name for name in forms}
                yield from ((by_title[_title(name)], name) for name in forms)
                continue
            yield from ((forms[0], other) for other in forms[1:])
            # A single name is short for the longer one that contains it, if only one does, or one far outweighs others.
            found = sorted(longer.get(words[0], ()), key=lambda each: (-weights[each], each)) if len(words) == 1 else []
            if found and all(weights[each] * 3 <= weights[found[0]] for each in found[1:]):
                of_long = {title for name in same[found[0]] if (title := _title(name))}
                if not (of_long and titles and of_long != titles):
                    yield forms[0], same[found[0]][0]

    def _weight(self, name: str) -> float:
        """Return how much a name is used."""
        return self._named[name].weight if name in self._named else 0.0

    def _is_player(self, name: str) -> bool:
        return bool(self._players) and name in self._speaking

    def person(self, names: Sequence[str]) -> CastMember | None:
        """Return the person who has these names; None if they name no person of the story."""
        counts: Counter[str] = sum((self._counts.get(name, Counter()) for name in names), Counter())
        real = {bare_name(author)[:1] for author in self._players}
        if any(self._is_player(name) or (self._players and bare_name(name)[:1] in real) for name in names):
            return None
        # Without players, whoever narrates may be a character as well, of whom the narration speaks.
        tells = counts["tells"] > counts["speaks"] and (self._players or counts["acts"] + counts["said"] < OFTEN)
        if any(name.casefold() in topic(Speech).narrators for name in names) or tells:
            return None
        acting = _activity(counts)
        facts = [line for line in self._facts if line.subject in names]
        is_so = self._descriptions([line for line in facts if line.verbs[0][0] == "is"], _words_of(names))
        fate = self._fate([line for line in facts if line.verbs[0][0] in FATES], names)
        seen = max((self._counts[name]["leaves"] for name in names if name in self._counts), default=0)
        recurs = seen >= min(SEEN, self._leaves)
        # A description is also evidence of a person.
        if acting < OFTEN and not (recurs and (acting >= SEEN or is_so or fate)):
            return None
        if counts["inside"] * 2 > acting or counts["thing"] > acting + counts["named"] / 2:
            return None
        player = next((self._characters[name] for name in names if name in self._characters), "")
        # The name under which somebody speaks is kept, whatever else they are called.
        name = next((each for each in names if each in self._speaking), names[0])
        forms = [each for each in names if _is_form(name, each)]
        begun = [each for each in forms if bare_name(each)[0].startswith(bare_name(name)[0])]
        full = max(begun, key=lambda each: (len(each.split()) <= LONGEST_NAME, len(bare_name(each)), len(each)))
        return CastMember(
            name=name,
            names=tuple(names),
            full=full,
            aliases=_other_names(names, _words_of(forms)),
            player=player,
            is_so=tuple(is_so),
            fate=fate,
            weight=acting + NAMED * counts["named"] + PLAYING * self._counts.get(player, Counter())["speaks"],
        )

    def _fate(self, told: Sequence[Line], names: Sequence[str]) -> str:
        """Return the last certain fate of somebody who doesn't act any more under any name.

        A player's character stays alive, whatever was said.
        """
        line = max(told, key=lambda line: line.position, default=None)
        if line is None or line.weight < SURE or line.verbs[0][0] == "alive":
            return ""
        others = [name for name in names if name != line.subject and name in self._named]
        acts = sum(_activity(self._counts[name]) for name in others if self._named[name].position > line.position)
        acts += dict(line.verbs).get("after", 0)
        if acts >= ACTS_ON or any(name in self._characters for name in names):
            return ""
        # A character may be lying.
        teller = self._players.get(line.text, line.text)
        return f"dead (says {teller})" if teller else "dead"

    def _descriptions(self, told: Sequence[Line], forms: set[str]) -> list[str]:
        """Return the most frequent descriptions of somebody, at most two that share no word."""
        out: list[str] = []
        for line in sorted(told, key=lambda line: (-line.weight, line.position, line.text)):
            owner, of, rest = line.text.partition("’s ")
            if of and self._is_player(owner):
                owner = self._players.get(owner, "")
            text = f"{owner}{of}{rest}"
            said = {word.casefold() for word in text.split()} - topic(Names).none
            itself = bool(of) and set(bare_name(owner)) <= forms
            repeats = any(said & set(each.casefold().split()) for each in out)
            if line.weight >= SURE and owner and not itself and said - forms and not repeats:
                out.append(text)
        return out[:2]


def _words_of(names: Sequence[str]) -> set[str]:
    """Return the lower-case words of names, also without what follows an apostrophe."""
    return {form for name in names for word in bare_name(name) for form in (word, word.partition("'")[0])}


def _is_form(name: str, other: str) -> bool:
    """Whether `other` contains all words of `name`."""
    return set(bare_name(name)) <= _words_of([other])


def _other_names(names: Sequence[str], words: set[str]) -> tuple[str, ...]:
    """Return the names that share no word with `words` or with each other."""
    out: list[str] = []
    for each in names:
        if words.isdisjoint(_words_of([each])):
            words = words | _words_of([each])
            out.append(each)
    return tuple(out)


def bare_name(name: str) -> tuple[str, ...]:
    """Return the lower-case words of a name, without titles and particles."""
    words = [word.rstrip(".").casefold().replace("’", "'").removesuffix("'s") for word in name.split()]
    return tuple(word for word in words if word and word not in topic(Names).titles | topic(Names).particles)


def _title(name: str) -> str:
    """Return the title of a name; titles that one person may have at once count as the same title."""
    first = name.partition(" ")[0].rstrip(".").casefold().replace("’", "'")
    if first in topic(Cast).alike:
        return min(topic(Cast).alike)
    return first if first in topic(Names).titles else ""


HEADING = "Who is who:"


def render_cast(known: KnownCast, room: int, count: Callable[[str], int]) -> list[str]:
    """Return the lines about the cast, the most active people first, within `room` tokens.

    The main characters of whom only the name is known are named together.
    """
    most = known.people[0].weight if known.people else 0.0
    told = [render_person(each) for each in known.people if each.weight > PASSING * most or each.is_so]
    bare = [each.full for each in known.people if each.weight > LEADING * most and not render_person(each)]
    told = [f"- {', '.join(bare)}" if len(bare) > 2 or any(" " in name for name in bare) else "", *told]
    last = f"Narrator: {known.narrator}" if known.narrator else ""
    room -= count(HEADING) + 1 + (count(last) + 1 if last else 0)
    out: list[str] = []
    for line in [each for each in told if each][:MAIN]:
        if count(line) < room:
            out.append(line)
            room -= count(line) + 1
    return [HEADING, *out, *filter(None, [last])] if out else []


def render_players(known: KnownCast, room: int, count: Callable[[str], int]) -> list[str]:
    """Return who plays whom and who has other names, which a model's prose doesn't say."""
    least = PASSING * known.people[0].weight if known.people else 0.0
    played = [f"{each.name} by {each.player}" for each in known.people if each.player and each.weight > least]
    # Not "all others by" the narrator: at a table there are players whose characters nobody named.
    told = f"; told by {known.narrator}" if known.narrator else ""
    lines = [f"Played: {', '.join(played)}{told}"] if played else []
    lines += [f"- {each.full}, also {', '.join(each.aliases)}" for each in known.people[:MAIN] if each.aliases]
    out: list[str] = []
    for line in lines:
        room -= count(line) + 1
        out += [line] if room >= 0 else []
    return out


def render_person(person: CastMember) -> str:
    """Return a line about somebody; empty if only the name is known."""
    notes = [f"played by {person.player}"] if person.player else []
    notes += [f"also {name}" for name in person.aliases]
    said = "; ".join([*person.is_so, *([person.fate] if person.fate else [])])
    if not (notes or said):
        return ""
    noted = f" ({', '.join(notes)})" if notes else ""
    return f"- {person.full}{noted}{f': {said}' if said else ''}"
