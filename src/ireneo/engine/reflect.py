"""Reflect on what happened: draw lasting conclusions, and reconsider those whose sources changed.

Read, plan, ask a model at most once outside any transaction, check, and write in one transaction. The episodes without
a reflection determine what is due, so the second of two concurrent reflections finds it done.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.models import Models
from ireneo.engine.reading import first_unshown
from ireneo.engine.remember import Remembered, settle_drafts
from ireneo.engine.resources import Resources
from ireneo.engine.scope import Scope, ScopeLimits
from ireneo.errors import BadInput, ModelError
from ireneo.grounding.check import is_error_text
from ireneo.language.files import topic
from ireneo.language.times import day_words
from ireneo.language.topics import Outcomes
from ireneo.language.words import other_language, sentences, terms
from ireneo.lessons.lessons import projects_of
from ireneo.log.calls import has_instruction, quote_instructions
from ireneo.memories.record import NAMES, TRUST, MemoryDraft, MemoryId, Record
from ireneo.memories.reflect import (
    EPISODES_DUE,
    MOST_CONCLUSIONS,
    Conclusion,
    check_conclusion,
    conclude,
    distinct_events,
    reflection_due,
    value_changes,
    withdrawal_reason,
)
from ireneo.ports.memories import MemoryFilter
from ireneo.ports.models import Prompt, Usage
from ireneo.ports.store import Transaction
from ireneo.prompts import REFLECT
from ireneo.prompts.replies import ConclusionSaid, ReflectReply
from ireneo.summaries.steps import clip

_SAYS = topic(Outcomes)

_SHOWN = 80
"""How many characters of a rejected conclusion are shown with the reason."""


class Conclusions(Struct, frozen=True, kw_only=True):
    """The conclusions that were drawn."""

    drawn: tuple[Conclusion, ...]
    refused: tuple[str, ...] = ()
    """Why others were rejected, a sentence each."""
    usage: Usage = Usage(calls=0)


def conclude_offline(
    episodes: Sequence[Record], new: frozenset[MemoryId], histories: Sequence[Sequence[Record]] = ()
) -> Conclusions:
    """Conclusions from patterns that recur in `episodes`, some of them `new`, and from changes in `histories`."""
    known = {each.id: each for told in (episodes, *histories) for each in told}
    return _sound_conclusions([(each, "") for each in (*conclude(episodes, new), *value_changes(histories))], known)


def _prompt(episodes: Sequence[Record], concluded: Sequence[str]) -> Prompt:
    told = "\n".join(f"[{number}] {_episode_line(episode)}" for number, episode in enumerate(episodes, start=1))
    known = "\n".join(f"- {_prompt_text(text)}" for text in concluded)
    return REFLECT.render(episodes=told, known=known or "(nothing)")


def _read_reply(reply: ReflectReply, episodes: Sequence[Record]) -> Conclusions:
    drawn = [_parse_conclusion(each, episodes) for each in reply.conclusions]
    return _sound_conclusions(drawn, {episode.id: episode for episode in episodes})


def unsupported_reason(conclusion: Conclusion, cited: Sequence[Record]) -> str:
    """Why a conclusion does not follow from the episodes that it cites; "" if it does.

    Each of its names, paths, numbers and quotations must occur in them, or count them.
    """
    text = conclusion.text
    if is_error_text(text):
        return "It is an error text, and no conclusion."
    if has_instruction(text):
        return "It repeats an instruction."
    texts = [episode.text for episode in cited]
    counts = {len(cited), len(distinct_events(cited)), *conclusion.counted}
    days = (day_words(episode.when.astimezone(UTC).date()) for episode in cited if episode.when)
    given = [*texts, *(f"{count} times" for count in sorted(counts)), *days]
    if claim := first_unshown(text, given, counts):
        return f"The {claim.kind} “{claim.text[:_SHOWN]}” stands in none of its episodes."
    if undone := _denying_sentence(text, texts):
        return f"“{undone[:_SHOWN]}” did not come about, and is no instance of it."
    language = other_language(text, " ".join(texts))
    return f"It is in {language}, and its episodes are in another language." if language else ""


def _denying_sentence(text: str, told: Sequence[str]) -> str:
    """The sentence of an episode which shows that an event that was counted did not happen; "" if there is none."""
    if not _SAYS.often.search(text) or _SAYS.undone.search(text) or _SAYS.fails.search(text):
        return ""
    said = set(terms(text))
    for each in told:
        shared = [(len(said & set(terms(sentence))), sentence) for sentence in sentences(each)]
        most = max((number for number, _ in shared), default=0)
        nearest = [sentence for number, sentence in shared if number == most]
        if most and all(_SAYS.undone.search(sentence) for sentence in nearest):
            return nearest[0]
    return ""


def _sound_conclusions(drawn: Sequence[tuple[Conclusion, str]], known: Mapping[MemoryId, Record]) -> Conclusions:
    """At most three sound conclusions, and why the others were rejected."""
    kept: list[Conclusion] = []
    refused: list[str] = []
    for conclusion, wrong in drawn:
        why = wrong or check_conclusion(conclusion, known)
        why = why or unsupported_reason(conclusion, [known[name] for name in conclusion.memories])
        if not why and len(kept) == MOST_CONCLUSIONS:
            why = f"There are {MOST_CONCLUSIONS} already."
        if why:
            refused.append(f"“{conclusion.text.strip()[:_SHOWN]}”: {why}")
        else:
            kept.append(_with_slot(conclusion, known))
    return Conclusions(drawn=tuple(kept), refused=tuple(refused))


def _parse_conclusion(drawn: ConclusionSaid, episodes: Sequence[Record]) -> tuple[Conclusion, str]:
    """A model's conclusion, and what is wrong with its citations."""
    wrong = [number for number in drawn.episodes if not 1 <= number <= len(episodes)]
    cited = tuple(dict.fromkeys(episodes[number - 1].id for number in drawn.episodes if number not in wrong))
    why = f"It cites episode {wrong[0]}, which there is not." if wrong else ""
    conclusion = Conclusion(
        text=" ".join(drawn.text.split()),
        kind=drawn.kind,
        memories=cited,
        subject=drawn.subject.strip(),
        attribute=drawn.attribute.strip(),
        task_type=drawn.task_type.strip(),
        name=drawn.name.strip(),
    )
    return conclusion, why


def _with_slot(conclusion: Conclusion, known: Mapping[MemoryId, Record]) -> Conclusion:
    """The conclusion, without its slot unless its episodes mention the subject."""
    said = {term for name in conclusion.memories for term in terms(known[name].text)}
    about = terms(conclusion.subject)
    if conclusion.attribute and about and said.issuperset(about):
        return conclusion
    return replace(conclusion, subject="", attribute="", value="")


def _episode_line(episode: Record) -> str:
    session = f" · {episode.sessions[0][:40]}" if episode.sessions else ""
    day = episode.when.astimezone(UTC).date().isoformat() if episode.when else "undated"
    return f"{day}{_prompt_text(session)}: {_prompt_text(clip(episode.text, 600))}"


def _prompt_text(text: str) -> str:
    """A text on one line, with nothing that a model could take for an instruction."""
    return quote_instructions(" ".join(text.split()) if text.strip() else "", ("</episodes>", "</known>"))


STALE = MemoryFilter(states=("active",), stale=True)


def reconsider_stale(tx: Transaction, space: str, now: datetime) -> list[Remembered]:
    """Settle every stale conclusion, with the reason, in this write transaction."""
    out: list[Remembered] = []
    for record in tx.memories.list(space, STALE):
        cited = tuple(dict.fromkeys(name for piece in record.evidence for name in piece.memories))
        # Archived sources are still valid.
        found = tx.memories.get(space, cited)
        holding = {each.id: each for each in found if each.state == "active"}
        conclusion = Conclusion(text=record.text, memories=cited)
        why = withdrawal_reason(conclusion, holding) or unsupported_reason(conclusion, list(holding.values()))
        left = tuple(name for name in cited if name in holding)
        for settled in settle_drafts(tx, space, [_regrounded_draft(record, left, now, why)]):
            if settled.did == "ignored":
                continue
            reason = f"It was given up: {why}" if why else f"{len(left)} of its {len(cited)} sources still carry it."
            out.append(replace(settled, reason=reason))
    return out


def _regrounded_draft(record: Record, left: tuple[MemoryId, ...], now: datetime, why: str) -> MemoryDraft:
    return MemoryDraft(
        text=record.text,
        kind=record.kind,
        at=record.at,
        recorded=now,
        origin="derived",
        trust=record.trust,
        confidence=record.confidence,
        salience=record.salience,
        against=bool(why),
        why=why,
        memories=() if why else left,
        **{name: getattr(record, name) for name in NAMES},
    )


BATCH = 48
"""How many episodes one reflection reads, the newest: some 5,000 tokens for a model."""
COUNTED = 400
"""How many of the newest episodes of earlier reflections still count for what recurs."""
TOLD = 24
"""How many known conclusions are shown to a model."""
CONFIDENCE, MOST_CONFIDENCE = 0.5, 0.9
"""The confidence of a conclusion from two events, and the most that further events add up to."""

_EPISODES = MemoryFilter(kind="episodic", states=("active",), archived=False)
_UNREFLECTED = replace(_EPISODES, unreflected=True)
_CHANGED = MemoryFilter(kind="semantic", states=("superseded",), archived=False, unreflected=True)
"""Statements that are no longer true: the change is an event."""

_LOG = logging.getLogger("ireneo")


class ReflectionResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a reflection."""

    conclusions: tuple[Remembered, ...] = ()
    episodes: int = 0
    """New episodes that were reflected on."""
    refused: tuple[str, ...] = ()
    """Rejected conclusions, with the reason."""
    reconsidered: tuple[Remembered, ...] = ()
    """Conclusions whose sources changed, with the outcome: confirmed or given up."""
    failed: str = ""
    """Why the model failed; only recurring patterns were then concluded."""
    tokens_in: int = 0
    tokens_out: int = 0


class _ReflectionInput(Struct, frozen=True, kw_only=True):
    new: tuple[Record, ...]
    """Episodes and changes that were not reflected on."""
    earlier: tuple[Record, ...] = ()
    concluded: tuple[str, ...] = ()
    project: str = ""
    """The project of all of it; empty if it has none."""
    histories: tuple[tuple[Record, ...], ...] = ()
    """The values over time of each slot that changed."""

    @property
    def material(self) -> list[Record]:
        """The material shown to a model: the new episodes, and all values of the slots that changed."""
        found = {each.id: each for each in self.new} | {each.id: each for held in self.histories for each in held}
        return sorted(found.values(), key=lambda each: (each.at, each.id))


def is_due(tx: Transaction, space: str) -> bool:
    """Whether to reflect: enough new episodes, or a stale conclusion."""
    new = [*tx.memories.list(space, _UNREFLECTED, EPISODES_DUE), *_ended_statements(tx, space, EPISODES_DUE)]
    return reflection_due(new) or bool(tx.memories.list(space, STALE, 1))


def _ended_statements(tx: Transaction, space: str, most: int) -> list[Record]:
    """Statements from messages that are no longer true."""
    return [each for each in tx.memories.list(space, _CHANGED, most) if _is_user_statement(each)]


def _is_user_statement(record: Record) -> bool:
    return record.origin == "user" and all(piece.messages for piece in record.evidence)


def _history(tx: Transaction, space: str, key: str, here: Callable[[Sequence[Record]], list[Record]]) -> list[Record]:
    """The values of a slot in order, each true until the next one."""
    held = [
        each for each in here(tx.memories.of_key(space, "semantic", key)) if each.periods and _is_user_statement(each)
    ]
    return sorted(held, key=lambda each: (each.at, each.id))


async def reflect(resources: Resources, space: str, *, force: bool = False) -> ReflectionResult:
    """Reflect once, if it is due; with `force` if there is any new episode.

    If the model fails, that is reported, and only what recurs is concluded.
    """
    read = await resources.store.read(_read_input, space, force=force)
    drawn, failed = Conclusions(drawn=()), ""
    if read.new:
        drawn, failed = await _draw_conclusions(resources.models_for_space(space), read)
    return await resources.store.write(_store_conclusions, resources, space, read, drawn, failed)


def _read_input(tx: Transaction, space: str, *, force: bool) -> _ReflectionInput:
    new = [*tx.memories.list(space, _UNREFLECTED, BATCH), *_ended_statements(tx, space, BATCH)]
    if not (reflection_due(new) or force):
        return _ReflectionInput(new=())
    # Conclusions are drawn for one project at a time: that of the newest episodes first.
    project = _first_project(tx, space, new)
    here = _project_filter(tx, space, project)
    batch = sorted(here(new), key=lambda episode: (episode.at, episode.id))
    known = here(tx.memories.list(space, _EPISODES, len(new) + COUNTED))
    earlier = [episode for episode in known if episode.reflected is not None][:COUNTED]
    listed = tx.memories.list(space, MemoryFilter(kind="semantic", states=("active",), archived=False), COUNTED)
    facts = here(listed)
    concluded = [fact.text for fact in facts if fact.origin == "derived"][:TOLD]
    keys = dict.fromkeys(each.key for each in batch if each.kind == "semantic")
    histories = tuple(tuple(_history(tx, space, key, here)) for key in keys)
    return _ReflectionInput(
        project=project,
        new=tuple(batch),
        earlier=tuple(earlier),
        concluded=tuple(concluded),
        histories=tuple(filter(None, histories)),
    )


def _first_project(tx: Transaction, space: str, records: Sequence[Record]) -> str:
    """The project of the first record that has one, by its evidence or its sessions."""
    there = tx.sessions.projects(space, [name for each in records for name in each.sessions])
    for record in records:
        named = projects_of(record) or {there[name] for name in record.sessions if name in there}
        if named:
            return min(named)
    return ""


def _project_filter(tx: Transaction, space: str, project: str) -> Callable[[Sequence[Record]], list[Record]]:
    """A filter that removes the memories of other projects."""
    scope = Scope(tx, space, ScopeLimits(project=project, undone=True))

    def visible_here(records: Sequence[Record]) -> list[Record]:
        seen = scope.seen(records)
        return [record for record, as_seen in zip(records, seen, strict=True) if as_seen is not None]

    return visible_here


async def _draw_conclusions(models: Models, read: _ReflectionInput) -> tuple[Conclusions, str]:
    """The model's conclusions and its failure; without a model, or if no conclusion is sound, what recurs."""
    failed, usage = "", Usage(calls=0)
    refused: tuple[str, ...] = ()
    model = models.for_task("reflect")
    told = read.material
    if model is not None and len(await asyncio.to_thread(distinct_events, told)) > 1:
        try:
            prompt = await asyncio.to_thread(_prompt, told, read.concluded)
            reply = await model.ask(prompt, ReflectReply)
            asked = replace(await asyncio.to_thread(_read_reply, reply.value, told), usage=reply.usage)
        except ModelError as error:
            _LOG.warning("%s What recurs is concluded without it.", error)
            failed = str(error)
        else:
            if asked.drawn:
                return asked, ""
            refused, usage = asked.refused, asked.usage
    episodes = [each for each in read.new if each.kind == "episodic"]
    new = frozenset(episode.id for episode in episodes)
    offline = await asyncio.to_thread(conclude_offline, [*episodes, *read.earlier], new, read.histories)
    return Conclusions(drawn=offline.drawn, refused=(*refused, *offline.refused), usage=usage), failed


def _store_conclusions(
    tx: Transaction, resources: Resources, space: str, read: _ReflectionInput, drawn: Conclusions, failed: str
) -> ReflectionResult:
    """Settle the conclusions, mark their episodes and reconsider stale ones, unless another process was quicker."""
    now = resources.clock.now()
    known = {each.id: each for each in (*read.material, *read.earlier)}
    again = tx.memories.get(space, [episode.id for episode in read.new])
    cited = list(dict.fromkeys(name for each in drawn.drawn for name in each.memories))
    # Superseded memories are still events.
    stands = {each.id for each in tx.memories.get(space, cited) if each.holds or each.state == "superseded"}
    overtaken = len(again) < len(read.new) or any(episode.reflected for episode in again)
    settled: Sequence[Remembered] = ()
    if not overtaken:
        sound = [each for each in drawn.drawn if stands.issuperset(each.memories)]
        settled = _settle_conclusions(tx, space, [_conclusion_draft(each, known, now, read.project) for each in sound])
        marked = tx.memories.get(space, [episode.id for episode in read.new])
        tx.memories.put(space, [replace(episode, reflected=now) for episode in marked])
    changed = reconsider_stale(tx, space, now)
    return ReflectionResult(
        conclusions=tuple(settled),
        episodes=0 if overtaken else len(read.new),
        refused=drawn.refused,
        reconsidered=tuple(changed),
        failed=failed,
        tokens_in=drawn.usage.tokens_in,
        tokens_out=drawn.usage.tokens_out,
    )


def _settle_conclusions(tx: Transaction, space: str, drafts: Sequence[MemoryDraft]) -> list[Remembered]:
    """Settle conclusions, except those whose messages were pruned."""
    out: list[Remembered] = []
    for draft in drafts:
        try:
            out += settle_drafts(tx, space, [draft])
        except BadInput as gone:
            _LOG.info("A conclusion was not kept: %s", gone)
    return out


def _conclusion_draft(
    conclusion: Conclusion, known: dict[MemoryId, Record], now: datetime, project: str
) -> MemoryDraft:
    """A conclusion as the draft of a memory, with its episodes as evidence, and with their project."""
    cited = [known[name] for name in conclusion.memories]
    told = len(distinct_events(cited))
    # The conclusion rests on the statements of values, whether or not they still hold.
    values = [each for each in cited if each.kind == "semantic"]
    sessions = {name for each in values for name in each.sessions}
    times = [episode.when for episode in cited if episode.when is not None]
    return MemoryDraft(
        text=conclusion.text,
        kind=conclusion.kind,
        at=max(times, default=now),
        recorded=now,
        origin="derived",
        trust=TRUST["derived"],
        confidence=min(MOST_CONFIDENCE, CONFIDENCE + 0.05 * (told - 2)),
        subject=conclusion.subject,
        attribute=conclusion.attribute,
        value=conclusion.value,
        task_type=conclusion.task_type,
        name=conclusion.name,
        memories=tuple(each.id for each in cited if each.kind != "semantic"),
        messages=tuple(dict.fromkeys(name for each in values for piece in each.evidence for name in piece.messages)),
        session=sessions.pop() if len(sessions) == 1 else "",
        project=project,
    )
