"""A model's answer as lines of sections, in the words that a block shows."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ireneo.context.summary import SectionName
from ireneo.prompts.goal.reply import GoalReply
from ireneo.prompts.turn.reply import DeadEnd, Kept, TurnReply
from ireneo.prompts.voices import Voice

Answer = TurnReply | GoalReply

_WHO = {"first": "I", "second": "You", "third": "The agent"}


class Said(Struct, frozen=True):
    """One statement of a model, and the section that it is for."""

    section: SectionName
    text: str


def said(answer: Answer, voice: Voice) -> list[Said]:
    """Every statement of an answer, each on one line, in order."""
    listed = _turn(answer, voice) if isinstance(answer, TurnReply) else _goal(answer, voice)
    return [Said(each.section, text) for each in listed if (text := " ".join(each.text.split()))]


def _turn(answer: TurnReply, voice: Voice) -> Iterator[Said]:
    yield Said("strategy", answer.strategy)
    yield from (Said("discoveries", text) for text in answer.discoveries)
    yield from (Said("dead_ends", _dead_end(each, voice)) for each in answer.dead_ends)
    yield from (Said("worked", text) for text in answer.what_worked)
    yield from (Said("artifacts", _kept(each)) for each in answer.critical_artifacts)
    yield Said("status", _status(answer.status, answer.status_because))


def _goal(answer: GoalReply, voice: Voice) -> Iterator[Said]:
    yield Said("goal", answer.goal_arc)
    yield from (Said("achieved", text) for text in answer.achieved)
    yield from (Said("discoveries", text) for text in answer.discoveries)
    yield from (Said("dead_ends", _dead_end(each, voice)) for each in answer.dead_ends)
    yield from (Said("artifacts", _kept(each)) for each in answer.key_artifacts)
    yield Said("status", _status(answer.status, answer.status_because))


def _dead_end(each: DeadEnd, voice: Voice) -> str:
    tried = " ".join(each.tried.split()).rstrip(".")
    for opening in ("I tried ", "You tried ", "The agent tried ", "Tried "):
        tried = tried.removeprefix(opening)
    because = " ".join(each.because.split()).rstrip(".")
    reason = f"abandoned because {because}" if because else "abandoned (the reason is not verified)"
    return f"{_WHO[voice]} tried {tried} — {reason}." if tried else ""


def _kept(each: Kept) -> str:
    what = each.what.strip()
    return f"{each.name} — {what}" if what and each.name.strip() else each.name


def _status(status: str, because: str) -> str:
    return f"{status} — {because.strip()}" if because.strip() else status
