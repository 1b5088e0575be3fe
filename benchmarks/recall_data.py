"""The conversations and questions that the quality of recall is measured on, in two halves."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

EPISODES = (2, 3, 5, 6, 9, 14, 18, 22, 26, 30)
"""The episodes of the game that are asked about."""
MOST_TURNS = 8
"""Turns of a stretch at the most: a summary of more is no question with an answer in a place."""
WORST_ALIGNMENT = 5.0
PLAYED = {
    "TRAVIS": "Grog", "LAURA": "Vex", "LIAM": "Vax", "MARISHA": "Keyleth", "SAM": "Scanlan", "TALIESIN": "Percy",
    "ASHLEY": "Pike", "ORION": "Tiberius", "MATT": "Matt",
}  # fmt: skip
"""The summaries name characters, the transcript who plays them."""


class Said(Struct, frozen=True, kw_only=True):
    """A message."""

    role: str
    text: str
    author: str | None = None
    at: datetime | None = None


class Asked(Struct, frozen=True, kw_only=True):
    """A question, and the messages (numbered through the pool) and sessions that answer it."""

    kind: str
    text: str
    at: datetime | None
    evidence: frozenset[int]
    sessions: frozenset[int]
    second: bool
    """Of the second half: a choice must hold on both."""


class Pool(Struct, frozen=True, kw_only=True):
    """The sessions that are searched together, and what is asked of them."""

    name: str
    sessions: Sequence[Sequence[Said]]
    asked: Sequence[Asked]
    speakers: tuple[str, ...] = ()

    def messages(self) -> Iterator[tuple[int, int, Said]]:
        """Session, place in it, message."""
        for session, said in enumerate(self.sessions):
            for place, message in enumerate(said):
                yield session, place, message


def in_second_half(name: str) -> bool:
    """Half of all questions, by their names."""
    return bool(int(hashlib.md5(name.encode()).hexdigest(), 16) & 1)


def assistants(folder: Path) -> Pool:
    """LongMemEval's development half, all sessions in one; questions without an answer are left out."""
    with lzma.open(folder / "longmemeval" / "longmemeval_oracle_dev.jsonl.xz") as file:
        lines = [json.loads(line) for line in file]
    told: dict[str, list[Said]] = {}
    for line in lines:
        dates, sessions = line["haystack_dates"], line["haystack_sessions"]
        for name, date, said in zip(line["haystack_session_ids"], dates, sessions, strict=True):
            told.setdefault(name, [Said(role=m["role"], text=m["content"], at=_read(date)) for m in said])
    names = sorted(told)
    first: dict[str, int] = {}
    for name in names:
        first[name] = sum(len(told[each]) for each in names[: names.index(name)])
    asked = [
        Asked(
            kind=line["question_type"],
            text=line["question"],
            at=_read(line["question_date"]),
            evidence=frozenset(
                first[name] + place
                for name, said in zip(line["haystack_session_ids"], line["haystack_sessions"], strict=True)
                for place, message in enumerate(said)
                if message.get("has_answer")
            ),
            sessions=frozenset(names.index(name) for name in line["answer_session_ids"]),
            second=in_second_half(line["question_id"]),
        )
        for line in lines
        if not line["question_id"].endswith("_abs")
    ]
    return Pool(name="LongMemEval dev, pooled", sessions=[told[name] for name in names], asked=asked)


def games(folder: Path) -> list[Pool]:
    """Ten episodes of a game, each for itself: two sentences of its summary ask for the turns that they tell of."""
    pools = []
    with lzma.open(folder / "crd3" / "campaign1_C1E001-C1E039.jsonl.xz") as lines:
        for count, line in enumerate(lines):
            if count in EPISODES:
                pools.append(_game(json.loads(line)))
    return pools


def _game(episode: dict[str, list[dict[str, object]]]) -> Pool:
    said, place_of = [], {}
    for turn in episode["turns"]:
        place_of[turn["NUMBER"]] = len(said)
        names = turn["NAMES"] or [None]
        author = names[0] and PLAYED.get(names[0], names[0].title())
        said.append(Said(role="user", author=author, text=" ".join(turn["UTTERANCES"])))
    asked = []
    for each in episode["aligned_c2"]:
        where = each["alignment"]
        turns = range(where["TURN START"], where["TURN END"] + 1)
        evidence = frozenset(place_of[turn] for turn in turns if turn in place_of)
        if each["chunk"].strip() and 1 <= len(evidence) <= MOST_TURNS and where["ALIGNMENT SCORE"] < WORST_ALIGNMENT:
            second = in_second_half(f"{episode['episode']}{where['CHUNK ID']}")
            none = frozenset[int]()
            asked.append(
                Asked(kind="game", text=each["chunk"], at=None, evidence=evidence, sessions=none, second=second)
            )
    speakers = tuple(sorted(set(PLAYED.values())))
    return Pool(name=str(episode["episode"]), sessions=[said], asked=asked, speakers=speakers)


def _read(date: str) -> datetime:
    return datetime.strptime(re.sub(r" \(\w+\)", "", date), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
