"""The play that fading is measured on: episodes as messages, and the names that people's summaries have."""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.log.message import Draft, Message, Text, message_id

COUNT = EstimatedTokenizer().count
PARTS = 6
COMMON = 0.3
_WORD = re.compile(r"[^\W\d_](?:\w|['’-](?=\w))*")
_BEGINS = re.compile(r"(?:^|[.!?:;…][\"'”’)\]]*\s+|[\"“(\[]\s*|\n)\W*$")


class Episode(Struct):
    """An episode: what was said, by whom, and the summaries that people wrote of it."""

    turns: list[tuple[str, str]]
    told: list[str]


def episodes(folder: Path, first: int, last: int) -> list[Episode]:
    """The episodes from the `first` to the `last`, counted from 1."""
    out: list[Episode] = []
    for number, line in enumerate(_lines(folder), 1):
        if number > last:
            break
        if number >= first:
            given = json.loads(line)
            turns = [(", ".join(turn["NAMES"]), " ".join(turn["UTTERANCES"])) for turn in given["turns"]]
            out.append(Episode(turns=turns, told=[chunk["chunk"] for chunk in given["aligned_c4"]]))
    return out


def _lines(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.jsonl.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            yield from lines


def messages_of(played: Sequence[Episode]) -> list[Message]:
    """Every turn as a message with its author."""
    out: list[Message] = []
    for author, text in (turn for episode in played for turn in episode.turns):
        draft = Draft(role="user", parts=(Text(text=text, author=author),))
        parent = out[-1].id if out else None
        tokens = COUNT(text)
        out.append(
            Message(
                id=message_id(parent, "user", draft.parts),
                parent=parent,
                position=len(out),
                turn=len(out) + 1,
                tokens=tokens,
                thinking_tokens=0,
                total_tokens=tokens + (out[-1].total_tokens if out else 0),
                draft=draft,
            )
        )
    return out


def needed(played: Sequence[Episode]) -> list[Counter[str]]:
    """The names in people's summaries, and how many have each: for every part of the story, the oldest first."""
    small: Counter[str] = Counter()
    large: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    for episode in played:
        small.update(word for text in episode.told for word in map(_bare, _WORD.findall(text)) if word[0].islower())
        large.update(name for text in episode.told for name in _capitalised(text))
        spread.update({name for text in episode.told for name in _capitalised(text)})
    names = {name for name in large if small[name.lower()] < large[name] and spread[name] <= COMMON * len(played)}
    out: list[Counter[str]] = []
    for part in range(PARTS):
        of_part = played[len(played) * part // PARTS : len(played) * (part + 1) // PARTS]
        each = (dict.fromkeys(_capitalised(text)) for episode in of_part for text in episode.told)
        out.append(Counter(name for found in each for name in found if name in names))
    return out


def _capitalised(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word = _bare(found[0])
        if len(word) > 2 and word[0].isupper() and not _BEGINS.search(text, max(0, found.start() - 12), found.start()):
            yield word


def _bare(word: str) -> str:
    return re.sub(r"'s$", "", word.replace("’", "'"))


def shares(text: str, names: Sequence[Counter[str]]) -> tuple[list[float], list[float]]:
    """Of the names of each part what `text` holds: by the summaries that have them, and each once."""
    there = {_bare(word).lower() for word in _WORD.findall(text)}
    said, each = [], []
    for part in names:
        held = [name for name in part if name.lower() in there]
        said.append(sum(part[name] for name in held) / max(part.total(), 1))
        each.append(len(held) / max(len(part), 1))
    return said, each
