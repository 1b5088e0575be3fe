"""Find sentences in which an agent or a user explains a failure: its cause, or a rule for later runs.

Only sentences about tools, configuration or environment are used, if they name a flag, a variable, a settings file or a
command. Those that explain the code at hand, plan or guess are no lesson for another run.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ireneo.language.files import any_of, topic
from ireneo.language.topics import Explaining, Words
from ireneo.language.words import sentences
from ireneo.log.calls import has_instruction
from ireneo.log.message import Message, MessageId, Text, Thinking
from ireneo.patterns import lazy_re
from ireneo.summaries.statements import gives_reason, is_intent, is_request, prose

_SAYS = topic(Explaining)

LONGEST_WHY = 240
"""How many characters of a sentence are quoted at most."""
LEAST_WORDS = 5

_FLAG = lazy_re(r"(?<![\w/.-])--?[A-Za-z][\w-]*(?:=[\w./-]+)?")
_VARIABLE = lazy_re(r"(?<![\w$])\$?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{3,}(?==\w))\b")
SETTING = lazy_re(
    r"(?<![\w.@/-])(?:[\w.@-]{1,80}/){0,6}(?:\.[a-z][\w-]*rc|\.(?:gitignore|gitattributes|dockerignore|env|npmrc|nvmrc|editorconfig"
    r"|tool-versions)(?:\.\w+)?|(?:Make|Docker|Rake|Gem|Just|Proc|Vagrant|Jenkins)file|[Jj]ustfile|CMakeLists\.txt"
    r"|go\.(?:mod|sum|work)|[\w.@-]{0,80}[\w@-]\.(?:ya?ml|toml|ini|cfg|conf|lock|env|properties|gradle|nix|plist)"
    r"|(?:package|tsconfig|composer|lerna|turbo|nx|deno|biome|settings|launch)[\w.-]{0,40}\.jsonc?|requirements[\w-]{0,40}\.txt)"
    r"(?![\w-])"
)
_CODE = lazy_re(
    r"\w\([^()\s]{0,60}\)|(?<![\w-])[a-z][a-z0-9]{0,60}[A-Z]|(?<![\w-])[A-Z][a-z]{1,60}[A-Z]|(?<![\w-])[a-z]\w{0,60}\.[A-Z]"
    r"|(?<![\w.-])_{1,2}[a-z]\w*|(?<![\w/-])[\w/-]{1,120}\.(?:py|go|js|jsx|ts|tsx|rs|rb|java|c|h|cpp|cs|php|swift|kt|pony)\b(?::\d+)?"
    r"|(?<![\w-])[a-z]+(?:_[a-z0-9]+)+(?![\w-])|:=|==|->|=>"
)
"""Names in code: a sentence with one is about the work at hand."""
_CONTENT = lazy_re(r"[^\W\d_][\w-]{3,40}|\d{3,6}")
_ACCIDENT = lazy_re(
    r"/tmp/|/var/|/Users/|/home/|/testbed|\b[0-9a-f]{7,40}\b|\b\d{6,}\b|#\d+|\b[Ll]ines? \d+|\bPR\b|https?://|[✅❌⚠]"
)
_HEDGES = lazy_re(lambda: rf"(?<!\w){any_of(_SAYS.hedges)}(?!\w)", re.IGNORECASE)


class Reason(Struct, frozen=True, kw_only=True):
    """A sentence of the agent or the user."""

    text: str
    message: MessageId
    position: int
    user: bool = False
    firm: bool = True
    """Whether it gives a cause or a rule; a plain statement is only a reason if it names the remedy."""


class RunSentences:
    """The sentences of a run that may give a cause; messages are read when they are first needed."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = [each for each in messages if each.role == "assistant" or _by_user(each)]
        self._places = [each.position for each in self._messages]
        self._read: dict[int, tuple[Reason, ...]] = {}

    def between(self, first: int, last: int) -> Iterator[Reason]:
        """The sentences of the messages from position `first` to `last`, inclusive."""
        for at in range(bisect_left(self._places, first), len(self._messages)):
            if self._places[at] > last:
                return
            if at not in self._read:
                self._read[at] = tuple(_sentences(self._messages[at]))
            yield from self._read[at]


def _by_user(message: Message) -> bool:
    return message.role == "user" and message.draft.origin == "spoken" and not message.draft.results


def _sentences(message: Message) -> Iterator[Reason]:
    user = message.role == "user"
    parts = [part.text for part in message.parts if isinstance(part, Text | Thinking) and part.text]
    for said in dict.fromkeys(one for part in parts for each in prose(part) for one in _explaining_parts(each, user)):
        firm = explains(said, user=user)
        if firm or (not user and _is_statement(said)):
            yield Reason(text=said, message=message.id, position=message.position, user=user, firm=firm)


def _explaining_parts(said: str, user: bool) -> list[str]:
    """The parts of a passage that explain something by themselves; the whole passage if none does."""
    alone = [bare for each in sentences(said) if explains(bare := _without_label(each), user=user)]
    return alone or [_without_label(said)]


def _without_label(said: str) -> str:
    """A sentence without its opening label or exclamation."""
    return _SAYS.openings.sub("", said).rstrip()


def explains(said: str, *, user: bool = False) -> bool:
    """Whether a sentence gives a cause or a rule, and doesn't ask, guess, plan or report what was done.

    A `user` may give a rule in the form of a plan or report, since it is said to the agent.
    """
    if user:
        return _is_sure(said) and is_rule(said)
    if is_intent(said):
        return bool(_SAYS.takes.search(said)) and _is_sure(said) and not _SAYS.tells.search(said)
    return _is_statement(said) and (is_rule(said) or gives_reason(said))


def _is_sure(said: str) -> bool:
    """Whether a sentence can be quoted: short, not about one case, and neither a question nor a guess."""
    if not said.isprintable() or len(said) > LONGEST_WHY or len(said.split()) < LEAST_WORDS or has_instruction(said):
        return False
    if said.endswith((":", "…", "?")) or is_request(said) or _HEDGES.search(said):
        return False
    return not (_ACCIDENT.search(said) or said.count(";") > 1)


def _is_statement(said: str) -> bool:
    """Whether a sentence states how something is, and doesn't plan or report what was done."""
    return _is_sure(said) and not _SAYS.tells.search(said) and not is_intent(said)


def names_code(said: str) -> bool:
    """Whether a sentence names code, besides flags, variables and settings files."""
    return bool(_CODE.search(SETTING.sub(" ", _VARIABLE.sub(" ", _FLAG.sub(" ", said)))))


def names_thing(said: str, name: str) -> bool:
    """Whether a sentence contains `name` as a whole word."""
    at = said.find(name)
    while at >= 0:
        before, behind = said[at - 1 : at], said[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before in ("-", "_", "/")) and not (behind.isalnum() or behind in ("-", "_")):
            return True
        at = said.find(name, at + 1)
    return False


def shared_words(said: str, shown: str) -> frozenset[str]:
    """The words that a sentence shares with a command or an output, without stop words."""
    common = topic(Words).stop
    told = {word for word in _CONTENT.findall(said.lower()) if word not in common}
    return frozenset(told & set(_CONTENT.findall(shown.lower())))


def is_rule(said: str) -> bool:
    """Whether a sentence says what is required, or what works and what doesn't."""
    return bool(_SAYS.rules.search(said))
