"""Character.AI's chats, as tools for its users save them: lists of `turns`, or the older `histories` with `msgs`.

Of a turn the candidate that was chosen stands, and the others are kept as branches. The service's pages come newest
first, so turns are put in the order of their times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from ireneo.formats.logs.conversation import SpokenTree, uttered
from ireneo.formats.logs.documents import documents
from ireneo.formats.logs.format import LogFault, LoggedSession, UniqueNames, line_fault, with_faults
from ireneo.formats.values import mapping, moment, objects, string, without
from ireneo.log.message import Role
from ireneo.patterns import lazy_re

FORMAT = "character-ai"
_TURNS = lazy_re(rb'"turn_key"\s*:\s*\{')
_HISTORIES = lazy_re(rb'"msgs"\s*:\s*\[')
_HUMAN = lazy_re(rb'"(?:src__)?is_human"\s*:')
_EARLY = datetime.min.replace(tzinfo=UTC)


class CharacterAI:
    """Reads a chat's turns, and all chats of a character."""

    name = FORMAT
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` holds turns with candidates, or histories of messages."""
        if sample.lstrip()[:1] not in (b"{", b"["):
            return False
        if _TURNS.search(sample):
            return True
        return b'"histories"' in sample and bool(_HISTORIES.search(sample) and _HUMAN.search(sample))

    @with_faults
    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | LogFault]:
        """Read the chats of a file; one without an id is called `name`."""
        names = UniqueNames()
        for document in documents(lines):
            yield from document.faults
            found = list(_chats(document.value)) if document.value is not None else []
            if document.value is not None and not found:
                yield line_fault(document.number, "holds no chat with `turns` or `msgs`; it was left out.")
            for id, listed, about in found:
                tree = SpokenTree(FORMAT, *([about] if about else []))
                faults = list(_read(tree, listed, document.number))
                session = tree.session(names.give(id or name), faults)
                yield from [session] if session else faults


def _chats(value: object) -> Iterator[tuple[str | None, Sequence[dict[str, object]], Mapping[str, object]]]:
    """The chats that a value holds: each with its id, what was said in it, and what is noted about it."""
    if isinstance(value, list):
        if any("turn_key" in each for each in objects(value)):
            yield _id_of(objects(value)), objects(value), {}
            return
        for each in value:
            yield from _chats(each)
    elif isinstance(value, dict):
        for key in ("turns", "msgs"):
            if isinstance(listed := value.get(key), list):
                id = string(value.get("external_id")) or string(value.get("chat_id")) or _id_of(objects(listed))
                yield id, objects(listed), without(value, key)
                return
        for key, inner in value.items():
            if key in ("histories", "chats", "history", "chat"):
                yield from _chats(inner)


def _id_of(turns: Sequence[Mapping[str, object]]) -> str | None:
    return next((id for turn in turns if (id := string(mapping(turn.get("turn_key")).get("chat_id")))), None)


def _read(tree: SpokenTree, listed: Sequence[dict[str, object]], number: int) -> Iterator[LogFault]:
    if any("candidates" in each for each in listed):
        # Those of one time stay in the order in which they came.
        listed = sorted(listed, key=lambda turn: moment(turn.get("create_time")) or _EARLY)
        for turn in listed:
            if not _say_turn(tree, turn):
                yield line_fault(number, "holds a turn without a text; it was left out.")
        return
    for each in listed:
        source = mapping(each.get("src"))
        human = each.get("src__is_human", source.get("is_human"))
        author = string(each.get("src__name")) or string(source.get("name"))
        text = string(each.get("text"))
        if text is None:
            yield line_fault(number, "holds a message without a text; it was left out.")
            continue
        at, id = moment(each.get("created")), string(each.get("uuid"))
        draft = uttered(_role(human), text, author=author, at=at, id=id)
        (tree.instead if each.get("is_alternative") else tree.say)(draft, without(each, "text"))


def _say_turn(tree: SpokenTree, turn: dict[str, object]) -> bool:
    author = mapping(turn.get("author"))
    candidates = [each for each in objects(turn.get("candidates")) if string(each.get("raw_content"))]
    chosen = next((each for each in candidates if each.get("candidate_id") == turn.get("primary_candidate_id")), None)
    chosen = chosen or next(reversed(candidates), None)
    for each in [] if chosen is None else [chosen, *(each for each in candidates if each is not chosen)]:
        draft = uttered(
            _role(author.get("is_human")),
            string(each.get("raw_content")) or "",
            author=string(author.get("name")),
            at=moment(each.get("create_time")) or moment(turn.get("create_time")),
            id=string(each.get("candidate_id")),
        )
        if each is chosen:
            tree.say(draft, without(turn, "candidates"))
        else:
            tree.instead(draft, without(each, "raw_content"))
    return chosen is not None


def _role(human: object) -> Role:
    return "user" if human else "assistant"
