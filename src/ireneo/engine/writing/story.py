"""Write the text of one summary of a story with a model: ask, check, ask once more with what was wrong, and settle."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.summary import Line, Mention, Section, Summary, Writing
from ireneo.context.thread import Thread
from ireneo.context.weigh import Count
from ireneo.engine.texts import text_family, text_id
from ireneo.engine.writing.asked import MOST_STRUCK, Asked, Written, ask_twice, doubts
from ireneo.engine.writing.story_finder import place_of
from ireneo.engine.writing.story_judge import MOST_WORDS, StoryJudge, Told, prose, words_in
from ireneo.engine.writing.story_sources import (
    NAMES_SHOWN,
    NOTHING,
    Spoken,
    heard,
    passages,
    shown_before,
    shown_names,
    shown_parts,
    shown_speech,
    shown_threads,
    story_text,
)
from ireneo.engine.writing.story_threads import Followed, follow
from ireneo.grounding.check import recall
from ireneo.log.annotation import Annotation
from ireneo.log.message import Message
from ireneo.ports.llm import LanguageModel, Prompt
from ireneo.prompts import STORY, STORY_DEEP
from ireneo.prompts.story.reply import StoryReply
from ireneo.prompts.story.voices import story_voice
from ireneo.prompts.voices import Voice

WINDOW_TOKENS = 100_000
"""What a summariser can read at a time, unless a policy says otherwise."""
LEAST_ROOM = 1_000
"""However narrow the window, so much of the story is shown."""


class StoryJob(Struct, frozen=True, kw_only=True):
    """A summary of a story that a model is to write."""

    offline: Summary
    """The canonical summary of the stretch, as the rules give it."""
    messages: tuple[Message, ...] = ()
    """Those that it is written from; none where it is written from `parts` alone."""
    parts: tuple[Summary, ...] = ()
    """The best texts of the summaries that it is written from, in order; none where it is written from messages."""
    before: Summary | None = None
    """What stands just before it: shown to the model as known, and evidence for nothing."""
    open: tuple[Thread, ...] = ()
    """The threads that are open at its beginning."""
    disputes: tuple[Annotation, ...] = ()
    voice: Voice = "third"
    seen_by: str = ""
    """The character whose memory it is; empty: nobody's."""

    @property
    def is_deep(self) -> bool:
        """Whether it covers several leaves: then its threads are carried, and not asked for."""
        return bool(self.parts) or self.offline.leaves > 1


class _Asking(Struct, frozen=True, kw_only=True):
    """A job, made ready: the question, what of the threads it shows, and who judges the answer."""

    prompt: Prompt
    shown: list[Thread]
    judge: StoryJudge


async def write_story(job: StoryJob, model: LanguageModel, count: Count, window_tokens: int = WINDOW_TOKENS) -> Written:
    """Ask `model` for the text of a summary of a story, in at most `window_tokens` at a time. Raises ModelError."""
    asking = _asking(job, count, window_tokens)
    judge = asking.judge
    asked = await ask_twice(model, asking.prompt, StoryReply, judge.faults)
    reply = asked.last
    suspects = judge.suspects(reply)
    told = prose(reply)
    kept = [] if judge.fatal(reply) else [each for each in told if not judge.of_sentence(each, suspects)]
    trusted = bool(kept) and (len(told) - len(kept)) <= MOST_STRUCK * len(told)
    threads = [judge.named(each) for each in reply.opened if trusted and not judge.of_thread(each, suspects)]
    struck = len(told) - len(kept) + (0 if job.is_deep else len(reply.opened) - len(threads))
    writing = _writing(job, asking, asked, trusted=trusted, struck=struck, kept=" ".join(kept))
    verdict = asked.verdict(trusted=trusted, struck=struck)
    if not trusted:
        return Written(text=_named(job, writing), verdict=verdict, faults=asked.faults)
    followed = Followed(threads=job.offline.threads, notes=())
    if not job.is_deep:
        followed = follow(threads, reply.resolved, asking.shown, job.offline.threads, judge.finder)
    text = replace(
        _named(job, writing),
        sections=_sections(job, judge, _cut(kept), judge.names(reply)),
        threads=followed.threads,
        retellings=1 + max((part.retellings for part in job.parts), default=0),
        sources=tuple(part.id for part in job.parts),
    )
    return Written(text=text, verdict=verdict, faults=(*asked.faults, *followed.notes))


def ask_for_story(job: StoryJob, count: Count, window_tokens: int = WINDOW_TOKENS) -> Prompt:
    """The prompt for a job: with its answer, and asked a second time, it stays within `window_tokens`."""
    return _asking(job, count, window_tokens).prompt


def _asking(job: StoryJob, count: Count, window_tokens: int) -> _Asking:
    spoken = heard(job.messages, job.seen_by)
    named = not spoken or any(each.named for each in spoken)
    threads, shown = shown_threads(job.open, count)
    fields = {
        "voice": story_voice(job.voice, job.seen_by, named=named),
        "before": shown_before(job.before, count),
        "names": shown_names(_offline_names(job)),
        "disputes": doubts(job.disputes),
    }
    if not job.is_deep:
        fields["threads"] = threads
    place, text = ("parts", STORY_DEEP) if job.is_deep else ("messages", STORY)
    empty = text.render(**fields, **{place: ""})
    # An answer that is asked for again is shown with what is wrong with it.
    room = window_tokens - count(empty.system) - count(empty.user) - 3 * empty.max_tokens
    fields[place] = _story(job, spoken, max(room, LEAST_ROOM), count)
    told = Told(voice=job.voice, seen_by=job.seen_by, named=named)
    before = story_text(job.before) if job.before else ""
    judge = StoryJudge(passages(spoken, job.parts), before, told)
    return _Asking(prompt=text.render(**fields), shown=shown, judge=judge)


def _story(job: StoryJob, spoken: Sequence[Spoken], room: int, count: Count) -> str:
    """What the model reads: summaries in order, and after them what no summary tells of yet."""
    if not job.parts:
        return shown_speech(spoken, room, count)
    if not spoken:
        return shown_parts(job.parts, room, count)
    # Half each, and what one leaves is the other's.
    parts = shown_parts(job.parts, max(room // 2, room - count(shown_speech(spoken, room, count))), count)
    speech = shown_speech(spoken, max(room - count(parts), 1), count)
    return "\n".join(each for each in (parts, speech) if each != NOTHING)


def _writing(
    job: StoryJob, asking: _Asking, asked: Asked[StoryReply], *, trusted: bool, struck: int, kept: str
) -> Writing:
    return Writing(
        prompt=f"{asking.prompt.name}/{job.voice}",
        model=asked.model,
        tokens_in=asked.tokens_in,
        tokens_out=asked.tokens_out,
        supported=round(asking.judge.supported(asked.first), 4),
        recall=round(recall(_offline_names(job)[:NAMES_SHOWN], kept), 4),
        repaired=asked.repaired,
        trusted=trusted,
        struck=struck,
        disputes=tuple(each.id for each in job.disputes),
    )


def _named(job: StoryJob, writing: Writing) -> Summary:
    """The offline text under the name of a model's."""
    return replace(
        job.offline,
        id=text_id(job.offline, writing.disputes, job.voice),
        family=text_family(job.offline, writing.disputes, job.voice),
        writing=writing,
    )


def _sections(job: StoryJob, judge: StoryJudge, kept: Sequence[str], names: Sequence[str]) -> tuple[Section, ...]:
    """The prose, then what is carried from the offline text, then the names."""
    line = _names_line(job, names)
    out = [Section(name="story", lines=tuple(_lines(judge, kept, line.names)))]
    out += [section for section in job.offline.sections if section.name not in ("story", "artifacts")]
    return (*out, *([Section(name="artifacts", lines=(line,))] if line.names else []))


def _lines(judge: StoryJudge, kept: Sequence[str], names: Sequence[Mention]) -> list[Line]:
    out = []
    for number, text in enumerate(kept):
        position, sources = place_of(judge.finder.rests(text, number / max(len(kept) - 1, 1)))
        within = tuple(mention for mention in names if mention.name in text)
        out.append(Line(text=text, names=within, position=position, sources=sources))
    return out


def _cut(kept: Sequence[str]) -> list[str]:
    """The sentences up to which the text is not too long; the first one in any case."""
    out: list[str] = []
    left = MOST_WORDS
    for text in kept:
        left -= words_in(text)
        if left < 0 and out:
            break
        out.append(text)
    return out


def _names_line(job: StoryJob, names: Sequence[str]) -> Line:
    """The names that a model found to matter, and after them those of the record that it left out."""
    known = job.offline.lines("artifacts")
    weights = {mention.name: mention.weight for line in known for mention in line.names}
    heaviest = max(weights.values(), default=1.0)
    mentions = [Mention(name, heaviest) for name in names]
    said = [set(name.casefold().split()) for name in names]
    mentions += [
        Mention(name, weight)
        for name, weight in weights.items()
        if not any(set(name.casefold().split()) <= words for words in said)
    ]
    sources = known[0].sources if known else tuple(message.id for message in job.messages[-1:])
    position = known[0].position if known else job.offline.last_position
    text = known[0].text if known else ""
    return Line(text=text, names=tuple(mentions), weight=1.0, position=position, sources=sources)


def _offline_names(job: StoryJob) -> list[str]:
    return [mention.name for line in job.offline.lines("artifacts") for mention in line.names]
