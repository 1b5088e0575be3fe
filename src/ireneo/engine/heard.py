"""What users said, which notes on them are held against: rulings, bans, confirmations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from ireneo.language.files import topic
from ireneo.language.topics import Rulings
from ireneo.language.words import artifacts, common_words, language_of_sentence, terms
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.summaries.own_words import own_words, user_words_in_result

_RULINGS = topic(Rulings)
_LABELS = frozenset({"user"})
"""Terms that say who rules, and nothing of what is ruled."""
RULED_SHARE = 0.4
"""The minimum share of the words of a clause of a ruling that one exchange with the user must have."""
NEAR_SHARE, ABOUT, AGREED_SHARE = 0.34, 0.75, 0.6
"""The minimum share of the words of a clause that a user's sentence on the same thing has, and of the nearest one's
share; and of what the user confirmed, in the message that agrees or before it."""
SHORT = 12
"""A message of at most this many words is one statement."""
NOT_RULED = "No message of the user, and none that the user answered, speaks of that."
OPPOSED = "What the user said of that is no ban."
ENDED = "The user said the opposite of that."
NOT_CONFIRMED = "No message of the user says so of what the agent did or proposed."
_CLAUSE = lazy_re(r"[;,:.]\s+|\s[–—-]\s|[()\"“”]")
_APPROVED = lazy_re(r"\s*(?:The )?[Uu]ser has (?:approved|answered)\b")
"""How a client begins the result of a question or plan that the user answered or approved."""
_QUOTED = lazy_re(r"[\"“„«][^\"“”„«»]*[\"”“»]")


class _UserSentence(Struct, frozen=True, gc=False):
    """A sentence of a user."""

    words: frozenset[str]
    names: frozenset[str]
    clauses: tuple[tuple[frozenset[str], bool, bool], ...]
    """Of each clause its words, whether it keeps something, and whether it denies, forbids or replaces something."""

    def about(self, words: set[str]) -> tuple[bool, bool]:
        """Whether the clauses with any of these words keep, and whether they end something."""
        told = [(keeps, ends) for said, keeps, ends in self.clauses if not words.isdisjoint(said)]
        return any(keeps for keeps, _ in told), any(ends for _, ends in told)


class Heard:
    """What users and systems said, each with the agent's words before and after it."""

    def __init__(self, messages: Sequence[Message], asked: Sequence[Message], notes: Iterable[str]) -> None:
        """`asked` are earlier requests of the user, `notes` earlier notes."""
        self._messages, self._asked, self._notes = messages, asked, tuple(notes)

    def is_spoken_of(self, ruling: str) -> bool:
        """Whether any clause of a ruling has words of an exchange with the user; also if they can't be compared."""
        if not self._exchanges or not self._is_comparable(ruling):
            return True
        for clause in _CLAUSE.split(ruling):
            words = set(terms(clause)) - _LABELS
            if words and max(len(words & said) for said in self._exchanges) >= RULED_SHARE * len(words):
                return True
        return False

    def faults(self, text: str) -> list[str]:
        """Why a sentence or clause says of the user what they didn't say; empty if they may have.

        A ban needs the user's own words that deny, forbid or replace something of what it is about, a confirmation
        words that agree after the agent's on it. What the user wants to be kept they didn't only remove.
        """
        bare = _QUOTED.sub(" ", text)
        if not self._is_comparable(bare):
            return []
        parts = _CLAUSE.split(bare)
        return [why for clause, behind in pairwise([*parts, ""]) if (why := self._fault(clause, behind))]

    def _fault(self, clause: str, behind: str) -> str:
        banned, wished = _RULINGS.told_ban.search(clause), _RULINGS.told_wish.search(clause)
        confirmed = _RULINGS.told_yes.search(clause)
        told = banned or confirmed or wished
        if told is None:
            return ""
        about = clause.replace(told[0], " ")
        # "The user confirmed, that …" says it in the next clause.
        about = about if _content(about) else f"{about} {behind}"
        if confirmed and not banned:
            return "" if self._is_confirmed(about) else NOT_CONFIRMED
        # Who doesn't want something removed wants it kept.
        stays = _RULINGS.removes if banned else _RULINGS.keeps
        kept = stays.search(about) is not None
        near = self._stances(stays.sub(" ", about)) if banned or kept else []
        ended = any(ends for _, ends in near)
        if kept:
            return ENDED if ended and not any(keeps for keeps, _ in near) else ""
        return OPPOSED if near and not ended else ""

    def _stances(self, clause: str) -> list[tuple[bool, bool]]:
        """Whether the user's sentences with most of a clause's words, or one of its names, keep or end it, for each."""
        words, names = _content(clause), set(artifacts(clause))
        shares = [
            max(len(words & said.words) / max(len(words), 1), 0.5 * (not names.isdisjoint(said.names)))
            for said in self._said
        ]
        least = max(NEAR_SHARE, ABOUT * max(shares, default=0.0))
        return [said.about(words) for said, share in zip(self._said, shares, strict=True) if share >= least]

    def _is_confirmed(self, confirmed: str) -> bool:
        """Whether the user said these words without a denial, or agreed to them; to anything if there is hardly any."""
        words = _content(confirmed)
        least = AGREED_SHARE * len(words) if len(words) > 1 else 0
        said = [each.words for each in self._said if not each.about(words)[1]] if least else []
        return any(len(words & around) >= least for around in (*self._agreements, *said))

    @cached_property
    def _agreements(self) -> list[set[str]]:
        """The words of each message of the user that agrees, and of what the agent said before."""
        out: list[set[str]] = []
        before = ""
        for message in self._messages:
            said, results = _words_of_user(message), [result.text for result in message.draft.results]
            chosen = [text for text in results if _APPROVED.match(text)]
            if before and (chosen or any(map(_RULINGS.agrees.search, said))):
                out.append(set(terms("\n".join([before, *said, *chosen]))))
            if message.role == "assistant" and message.text.strip():
                before = message.text
        return out

    @cached_property
    def _said(self) -> list[_UserSentence]:
        spoken = (
            each for each in (*self._asked, *self._messages) if each.role != "user" or each.draft.origin == "spoken"
        )
        texts = dict.fromkeys(text for message in spoken for text in _words_of_user(message))
        # "Colours? No." is one statement.
        short = [text for text in texts if len(text.split()) <= SHORT]
        long = [said.text for text in texts if text not in short for said in own_words(text)]
        return [_read_sentence(text) for text in (*short, *long)]

    @cached_property
    def _exchanges(self) -> list[set[str]]:
        """The words of each exchange with the user, of earlier requests, and of earlier notes."""
        asked = (message.text for message in self._asked)
        return [set(terms(text)) for text in (*_exchanges(self._messages), *asked, *self._notes) if text.strip()]

    def _is_comparable(self, text: str) -> bool:
        return language_of_sentence(text) == self._users_language

    @cached_property
    def _users_language(self) -> str:
        said = [message.text for message in (*self._messages, *self._asked) if message.role == "user"]
        return language_of_sentence(" ".join(filter(str.strip, said)))


def _content(clause: str) -> set[str]:
    """The terms of a clause that say what it is about."""
    said = " ".join(word for word in clause.split() if word.strip(".,").casefold() not in common_words())
    return set(terms(said)) - _LABELS


def _words_of_user(message: Message) -> list[str]:
    """What a user or a system says in a message, or in refusals and answers in its results."""
    said = [words for result in message.draft.results for words, _ in user_words_in_result(result)]
    return said + [message.text] * (message.role in ("user", "system"))


def _exchanges(messages: Iterable[Message]) -> Iterator[str]:
    """What users and systems said, each with the agent's words before and after it, which it may only point at."""
    before, heard = "", ""
    for message in messages:
        said = _words_of_user(message)
        if any(said):
            yield heard
            heard = "\n".join([before, *said])
        elif message.role == "assistant" and message.text.strip():
            yield f"{heard}\n{message.text}" if heard else ""
            before, heard = message.text, ""
    yield heard


def _read_sentence(text: str) -> _UserSentence:
    return _UserSentence(
        words=frozenset(terms(text)),
        names=frozenset(artifacts(text)),
        clauses=tuple(
            (
                frozenset(terms(clause)),
                _RULINGS.keeps.search(clause) is not None,
                any(each.search(clause) for each in (_RULINGS.negates, _RULINGS.removes)),
            )
            for clause in _CLAUSE.split(text)
        ),
    )
