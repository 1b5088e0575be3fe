"""The cast of a story over all of its summaries: identities, players, fates, and the current setting.

Each leaf stores its findings (`ireneo.summaries.find_cast`) in its section "cast": for each name how often it acts, who
answers when it is called, and explicit statements. A deeper summary holds the sums of those below it, up to a limit.
Identities are resolved over the summaries that a context shows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

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
FATES = ("dead", "alive", "gone")
FACTS = ("is", "alias", "full", "where", *FATES)
OF_TEXT = frozenset({"is", "alias", "full"})
"""Kinds of statements that are counted once for each text; of other kinds only the newest statement is used."""
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
"""After this many acts following a death somebody is alive after all."""
SEEN, OFTEN = 2, 5
"""How many leaves and acts, or acts alone, make somebody part of the cast."""
PRESENT = 2
"""How many of the newest summaries are searched for the current setting."""
ALONE = 2
"""A further description must have more words than this."""
LONGEST_NAME = 4
"""The maximum number of words of a name that is shown."""
PASSING = 0.05
"""The least weight, as a share of the main character's, at which somebody without a description is shown."""
MAIN = 24
"""The maximum number of people shown."""
PROMINENT = 12
"""The maximum number of people who are shown only by name, if nobody plays anybody."""
OFTEN_NAMED = 20, 3
"""How often, and in how many leaves, somebody without acts must be named to be part of the cast: storytellers seldom
act."""
LEAST_PARTS = 2
"""A name must have more words than this for its parts to be two names of one person."""


def cast_section(stretches: Sequence[Sequence[Line]], most: tuple[int, int]) -> Section | None:
    """Return the section "cast" with the sums over adjacent `stretches`; `most` limits names and statements."""
    people: dict[str, list[Line]] = defaultdict(list)
    facts: dict[tuple[str, str, str], Line] = {}
    for lines in stretches:
        # Acts first: a fate in the same stretch comes after them.
        for line in lines:
            if line.verbs[0][0] not in FACTS:
                people[line.subject].append(line)
                if (fate := facts.get(("fate", line.subject, ""))) is not None:
                    facts["fate", line.subject, ""] = _with_later_acts(fate, _activity(dict(line.verbs)))
        for line in lines:
            if (kind := line.verbs[0][0]) in FACTS:
                same = line.text.casefold() if kind in OF_TEXT else ""
                key = ("fate" if kind in FATES else kind, line.subject, same)
                facts[key] = _join_statements(facts[key], line) if key in facts else _with_count_weight(line)
    described = {line.subject for line in facts.values() if line.weight >= SURE and line.verbs[0][0] != "full"}
    summed = [_sum_counts(each) for each in people.values()]
    summed.sort(key=lambda line: (-line.weight - DESCRIBED * (line.subject in described), line.subject))
    kept = summed[: most[0]]
    worth = {line.subject: line.weight for line in kept}
    said = sorted(facts.values(), key=lambda line: (line.verbs[0][0], line.subject, -line.weight, line.text))
    out: list[Line] = []
    of_one: Counter[tuple[str, str]] = Counter()
    for line in said:
        of_one[line.verbs[0][0], line.subject] += 1
        if of_one[line.verbs[0][0], line.subject] <= STATEMENTS:
            out.append(line)
    # Aliases, fates and places are kept longer than descriptions, and statements about those who act most longer than
    # others.
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


def _with_count_weight(line: Line) -> Line:
    return _cast_line(line, line.verbs, float(line.verbs[0][1]))


def _join_statements(before: Line, line: Line) -> Line:
    """Join two statements of one kind; for places and fates the newer one wins."""
    kind, times = line.verbs[0]
    if kind not in OF_TEXT and kind != before.verbs[0][0]:
        return _with_count_weight(line)
    times += before.verbs[0][1]
    return _cast_line(line, ((kind, times), *line.verbs[1:]), float(times))


def _with_later_acts(fate: Line, acts: int) -> Line:
    (kind, times), *after = fate.verbs
    acts += after[0][1] if after else 0
    return _cast_line(fate, ((kind, times), ("after", acts)), fate.weight) if acts else fate


def _cast_line(line: Line, verbs: tuple[tuple[str, int], ...], weight: float) -> Line:
    return Line(
        subject=line.subject, text=line.text, verbs=verbs, weight=weight, position=line.position, sources=line.sources
    )


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
    where: str = ""
    narrator: str = ""
    """The author who narrates to the players."""


def known_cast(nodes: Sequence[Summary]) -> KnownCast:
    """Return the cast after adjacent summaries of a story."""
    section = cast_section([node.lines("cast") for node in nodes], (10_000, 10_000))
    if section is None:
        return KnownCast()
    cast = _CastResolver(section.lines, sum(node.leaves for node in nodes))
    people = sorted(cast.people(), key=lambda each: (-each.weight, each.name))
    newest = [line for node in nodes[-PRESENT:] for line in node.lines("cast") if line.verbs[0][0] == "where"]
    where = max(newest, key=_position_key, default=None)
    return KnownCast(people=tuple(people), narrator=cast.narrator, where=where.text if where else "")


def aliases(nodes: Sequence[Summary]) -> dict[str, str]:
    """Map every name and alias that the summaries know to the person's main name."""
    return {name: each.name for each in reversed(known_cast(nodes).people) for name in each.names}


def _position_key(line: Line) -> int:
    return line.position


class _CastResolver:
    """Resolves the cast from the lines of all summaries of a path."""

    def __init__(self, lines: Sequence[Line], leaves: int) -> None:
        self._leaves = leaves
        self._named = {line.subject: line for line in lines if line.verbs[0][0] not in FACTS}
        self._counts = {name: Counter(dict(line.verbs)) for name, line in self._named.items()}
        self._facts = [line for line in lines if line.verbs[0][0] in FACTS]
        self._full: Counter[str] = Counter()
        for line in self._facts:
            if line.verbs[0][0] == "full":
                # Each of its words was counted for it.
                self._full[line.text] = max(self._full[line.text], line.verbs[0][1])
        self._speaking = {name for name, counts in self._counts.items() if counts["speaks"] or counts["tells"]}
        self._characters = self._players_by_character()
        self._players = {author: name for name, author in reversed(self._characters.items())}

    @property
    def narrator(self) -> str:
        """The author who narrates to players; empty if there is none."""
        telling = [name for name, counts in self._counts.items() if counts["tells"] > counts["speaks"]]
        return max(telling, key=lambda name: self._counts[name]["tells"]) if telling and self._players else ""

    def people(self) -> Iterator[CastMember]:
        """Yield the people of the story."""
        for names in self._group_names():
            if (found := self._build_person(names)) is not None:
                yield found

    def _players_by_character(self) -> dict[str, str]:
        """Map each character's name to the author who answers when it is called."""
        own = self._self_played_counts()
        # Characters of a game within one evening aren't part of the cast.
        least = min(PLAYED_LEAVES, self._leaves // PLAYED_LEAVES)
        claims: list[tuple[float, str, str]] = []
        for name, line in self._named.items():
            answers = sum(mention.weight for mention in line.names if mention.weight > 0)
            for mention in line.names:
                spoke = self._counts.get(mention.name, Counter())
                if (
                    mention.weight >= max(PLAYED, PLAYED_SHARE * answers, own[mention.name])
                    and spoke["speaks"] > spoke["tells"]
                    and name not in self._speaking
                    and self._counts[name]["leaves"] >= least
                    and not set(bare_name(mention.name)) & set(bare_name(name))
                ):
                    claims.append((mention.weight, name, mention.name))
        out: dict[str, str] = {}
        for _, name, author in sorted(claims, reverse=True):
            same = [other for other, player in out.items() if player == author]
            if all(set(bare_name(other)) & set(bare_name(name)) for other in same):
                out.setdefault(name, author)
        return out

    def _self_played_counts(self) -> Counter[str]:
        """Count how often each author acts or answers under their own name, and so is a character themselves."""
        own: Counter[str] = Counter()
        for author in self._speaking:
            for name, counts in self._counts.items():
                if bare_name(name)[:1] == bare_name(author)[:1]:
                    answers = sum(each.weight for each in self._named[name].names if each.name == author)
                    own[author] += counts["acts"] + SAID * counts["said"] + max(int(answers), 0)
        return own

    def _group_names(self) -> list[list[str]]:
        """Group the names by person."""
        linked = [
            (self._players.get(line.subject, line.subject), line.text)
            for line in self._facts
            if line.verbs[0][0] == "alias" and (line.subject in self._players or not self._is_player(line.subject))
        ]
        told = [*(line.subject for line in self._facts if line.subject), *self._full]
        names = [
            name
            for name in dict.fromkeys([*self._named, *told, *(each for pair in linked for each in pair)])
            if bare_name(name)
        ]
        parent = {name: name for name in names}

        def find_root(name: str) -> str:
            while parent[name] != name:
                name = parent[name]
            return name

        speaking = {name: {name} & self._speaking for name in names}
        for one, other in linked:
            if one in parent and other in parent:
                speaking[find_root(one)] |= speaking[find_root(other)]
                parent[find_root(other)] = find_root(one)
        for one, other in self._same_person_pairs(names):
            first, second = find_root(one), find_root(other)
            # Two who speak are two people, even if one bears the name of the other's family.
            if first != second and all(
                self._is_form(a, b) or self._is_form(b, a) for a in speaking[first] for b in speaking[second]
            ):
                speaking[first] |= speaking[second]
                parent[second] = first
        groups: dict[str, list[str]] = defaultdict(list)
        for name in names:
            groups[find_root(name)].append(name)
        new = {other for _, other in linked}
        return [
            sorted(group, key=lambda name: (-self._name_weight(name), name in new, name)) for group in groups.values()
        ]

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
        yield from self._combined_name_pairs(same)
        for words, forms in same.items():
            titles = {title for name in forms if (title := _title(name))}
            alone = [name for name in forms if not _title(name)]
            # Mr Holm and Mrs Holm are two people, and a bare "Holm" is ambiguous.
            if len(titles) > 1 or (titles & topic(Cast).wives and alone):
                by_title: dict[str, list[str]] = defaultdict(list)
                for name in forms:
                    by_title[_title(name)].append(name)
                for each in by_title.values():
                    yield from ((each[0], other) for other in each[1:])
                yield from self._title_pairs(by_title)
                continue
            yield from ((forms[0], other) for other in forms[1:])
            yield from self._short_forms(words, forms, longer, same)

    def _combined_name_pairs(self, same: Mapping[tuple[str, ...], Sequence[str]]) -> Iterator[tuple[str, str]]:
        """Pair the two names that a longer one combines: Long John and Silver, in Long John Silver."""
        for words, forms in same.items():
            if len(words) > LEAST_PARTS and sum(self._full[each] for each in forms) >= SURE:
                yield from ((forms[0], same[part][0]) for part in (words[:-1], words[-1:]) if part in same)

    def _title_pairs(self, by_title: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
        """Pair the name without a title with the person who has it and is named by far the most."""
        weights = {title: sum(map(self._name_weight, names)) for title, names in by_title.items() if title}
        best = max(sorted(weights.keys() - topic(Cast).wives), key=lambda title: weights[title], default="")
        if best and "" in by_title and weights[best] >= 3 * (sum(weights.values()) - weights[best]):
            yield by_title[best][0], by_title[""][0]

    def _short_forms(
        self,
        words: tuple[str, ...],
        forms: Sequence[str],
        longer: Mapping[str, set[tuple[str, ...]]],
        same: Mapping[tuple[str, ...], Sequence[str]],
    ) -> Iterator[tuple[str, str]]:
        """Pair a single name with the longer name that contains it, if only one does, or one far outweighs others."""
        if len(words) != 1 or not forms:
            return
        found = sorted(longer.get(words[0], ()), key=lambda each: (-sum(map(self._name_weight, same[each])), each))
        if not found or any(
            sum(map(self._name_weight, same[each])) * 3 > sum(map(self._name_weight, same[found[0]]))
            for each in found[1:]
        ):
            return
        of_long, of_short = ({_title(name) for name in each} - {""} for each in (same[found[0]], forms))
        if not (of_long and of_short and of_long != of_short):
            yield forms[0], same[found[0]][0]

    def _name_weight(self, name: str) -> float:
        """Return how much a name is used; one known only as a longer form weighs little."""
        return self._named[name].weight if name in self._named else self._full[name] / 100

    def _is_player(self, name: str) -> bool:
        return bool(self._players) and name in self._speaking

    def _build_person(self, names: Sequence[str]) -> CastMember | None:
        """Build the person who has these names; None if they name no person of the story."""
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
        is_so = self._descriptions([line for line in facts if line.verbs[0][0] == "is"], self._words_of_names(names))
        fate = self._fate([line for line in facts if line.verbs[0][0] in FATES], names)
        seen = max((self._counts[name]["leaves"] for name in names if name in self._counts), default=0)
        recurs = seen >= min(SEEN, self._leaves)
        # A description is also evidence of a person.
        often = counts["named"] >= OFTEN_NAMED[0] and seen >= OFTEN_NAMED[1] and not counts["inside"] + counts["thing"]
        if not (recurs and (is_so or fate)) and not often and (acting < SEEN or not (recurs or acting >= OFTEN)):
            return None
        if counts["inside"] * 2 > acting or counts["thing"] > acting + counts["named"] / 2:
            return None
        player = next((self._characters[name] for name in names if name in self._characters), "")
        # The name under which somebody speaks is kept, whatever else they are called.
        name = next((each for each in names if each in self._speaking), names[0])
        full = self._longest_form(name, names)
        own = self._words_of_names([each for each in names if self._is_form(name, each)])
        return CastMember(
            name=name,
            names=tuple(names),
            full=full,
            aliases=self._other_names(names, own),
            player=player,
            is_so=tuple(is_so),
            fate=fate,
            weight=acting + NAMED * counts["named"] + PLAYING * self._counts.get(player, Counter())["speaks"],
        )

    def _fate(self, told: Sequence[Line], names: Sequence[str]) -> str:
        """Return the last certain fate of somebody who doesn't act any more under any name.

        A player's character stays alive, whatever was said.
        """
        line = max(told, key=_position_key, default=None)
        if any(name in self._characters for name in names):
            return ""
        if line is None or line.weight < SURE or line.verbs[0][0] == "alive":
            return ""
        others = [name for name in names if name != line.subject and name in self._named]
        acts = dict(line.verbs).get("after", 0) + sum(
            _activity(self._counts[name]) for name in others if self._named[name].position > line.position
        )
        # A character may be lying.
        teller = self._players.get(line.text, line.text)
        return f"{line.verbs[0][0]}{f' (says {teller})' if teller else ''}" if acts < ACTS_ON else ""

    def _other_names(self, names: Sequence[str], own: set[str]) -> tuple[str, ...]:
        """Return the names that share no word with the shown name or with each other."""
        out: list[str] = []
        words = set(own)
        for each in names:
            if not words & self._words_of_names([each]):
                words |= self._words_of_names([each])
                out.append(each)
        return tuple(out)

    def _words_of_names(self, names: Sequence[str]) -> set[str]:
        return {form for name in names for word in bare_name(name) for form in (word, word.partition("'")[0])}

    def _is_form(self, name: str, other: str) -> bool:
        words = {form for word in bare_name(other) for form in (word, word.partition("'")[0])}
        return set(bare_name(name)) <= words

    def _longest_form(self, name: str, names: Sequence[str]) -> str:
        """Return the longest plausible form of a name."""
        own = bare_name(name)
        known = [
            other
            for other in names
            if self._is_form(name, other)
            and len(other.split()) <= LONGEST_NAME
            and (other == name or self._full[other] >= (SURE if bare_name(other)[0].startswith(own[0]) else SURE + 2))
        ]
        return max(known, key=lambda each: (len(bare_name(each)), self._full[each], self._name_weight(each), each))

    def _descriptions(self, told: Sequence[Line], forms: set[str]) -> list[str]:
        """Return the most frequent descriptions of somebody: at most one as a relative, and others."""
        of_kin: list[str] = []
        other: list[str] = []
        for line in sorted(told, key=lambda line: (-line.weight, line.position, line.text)):
            if line.weight < SURE:
                continue
            owner, of, rest = line.text.partition("’s ")
            if of and owner[:1].isupper() and self._is_player(owner):
                owner = self._players.get(owner, "")
            text = f"{owner}{of}{rest}"
            said = {word.casefold() for word in text.split()} - topic(Names).none
            itself = bool(of) and set(bare_name(owner)) <= forms
            if (
                owner
                and not itself
                and said - forms
                and not any(said & set(each.casefold().split()) for each in (*of_kin, *other))
            ):
                (of_kin if of else other).append(text)
        further = [text for text in other[1:] if len(text.split()) > ALONE]
        return [*other[:1], *of_kin[:1], *further][:2]


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
    """Return the lines about the cast and the setting, the most active people first, within `room` tokens."""
    left = room - count(HEADING) - 1
    present: list[str] = []
    for label, text in (("Narrator", known.narrator), ("Where", known.where)):
        said = f"{label}: {text}"
        if text and count(said) + 1 <= left:
            present.append(said)
            left -= count(said) + 1
    lines = prominent = _most_active(known)
    if prominent and count(prominent[0]) + 1 <= left:
        left -= count(prominent[0]) + 1
    else:
        lines = []
    for each in known.people:
        said = render_person(each) if each.weight > PASSING * known.people[0].weight or each.is_so else ""
        if said and len(lines) < MAIN and count(said) + 1 <= left:
            lines.append(said)
            left -= count(said) + 1
    return [*([HEADING, *lines] if lines else ()), *present] if lines or known.where else []


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


def _most_active(known: KnownCast) -> list[str]:
    """Return a line with the most active people about whom nothing else is known; empty if some are played.

    The players' characters have lines of their own.
    """
    if any(each.player for each in known.people):
        return []
    usual = known.people[min(1, len(known.people) - 1)].weight if known.people else 0.0
    names = [
        each.name if _title(each.name) else each.full
        for each in known.people[:PROMINENT]
        if not render_person(each) and each.weight > PASSING * usual
    ]
    return [f"- {', '.join(names)}"] if len(names) > 1 else []


def render_person(person: CastMember) -> str:
    """Return a line about somebody; empty if only the name is known."""
    notes = [f"played by {person.player}"] if person.player else []
    notes += [f"also {name}" for name in person.aliases]
    said = "; ".join([*person.is_so, *([person.fate] if person.fate else [])])
    if not (notes or said):
        return ""
    noted = f" ({', '.join(notes)})" if notes else ""
    return f"- {person.full}{noted}{f': {said}' if said else ''}"
