"""Stories written by a model: the prompt for a stretch, and the summary made from the reply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.story_judging import (
    MAX_WORTH,
    MIN_DEEP_WORDS,
    MIN_WORDS,
    SPARE_WORDS,
    StoryJudge,
    StoryPassage,
    StoryStyle,
    ToldSentence,
    count_words,
    make_self_contained,
    position_and_sources,
    refers_back,
    settle_threads,
    weighted_sentences,
)
from ireneo.engine.writing import (
    MAX_FAULTS,
    MAX_STRUCK,
    Judged,
    ShownPiece,
    WritingTask,
    as_text,
    dispute_prompt,
    fitting_indices,
    shown_pieces,
)
from ireneo.grounding.story import sentences
from ireneo.language.topics import Voice
from ireneo.log.calls import quote_instructions
from ireneo.log.message import (
    Count,
    Message,
    Result,
    Text,
    is_own_block,
    is_present,
    messages_without_recalled,
    own_name,
    short,
)
from ireneo.log.tree import Annotation
from ireneo.ports.models import Prompt
from ireneo.prompts import STORY, STORY_DEEP, STORY_OVERVIEW
from ireneo.prompts.replies import (
    ONE_STORY,
    SEVERAL_STORIES,
    AnyStoryReply,
    OverviewReply,
    StoryReply,
    ThreadSaid,
    story_parts,
    story_voice,
)
from ireneo.summaries.summary import Line, Mention, Section, Summary, Thread, Writing

ASKED_WORDS = (250, 400, 600, 800)
"""How many words a text may have, by its depth: a text that covers more may say more, and narrow contexts leave out
its least valuable sentences."""
CHARACTERS_PER_WORD, CHARACTERS_PER_TOKEN = 5.65, 3.9
"""Typical values for prose that is full of names."""
OVERVIEW_SPARE = 1.02
"""An overview is asked for slightly longer than its room; its least valuable sentences are cut, so that it fills it."""
OVERVIEW_TOKENS = 1.5
"""How many tokens a reply with an overview may cost for each token of its room: it also has names and brackets."""
MAX_OVERVIEW = 1.5
"""An overview is cut to this many times the words that were asked for."""
FEW_FAULTS = 0.05
"""The share of an overview that may be struck before the model is asked a second time."""
BEFORE_TOKENS = 700
"""The tokens of the summary before, which shows who is who."""
THREADS_TOKENS = 2_500
"""The tokens of the open threads; threads that don't fit remain open."""
KNOWN_TOKENS = 600
"""The tokens of the names from earlier summaries."""
KNOWN_NAMES = 300
NAMES_SHOWN = 12
TEXT_TOKENS = 900
"""The tokens that one text may cost in a reply with several."""
WINDOW_TOKENS = 100_000
"""The context window of a model, unless a policy says otherwise."""
MIN_ROOM = 1_000
"""The minimum number of tokens of the story in a prompt, however narrow the window."""
NOTHING = "(nothing)"

_LABELS = {"assistant": "assistant", "user": "user", "system": "setting", "tool": "tool"}
_FRAMES = ("<known>", "</known>", "<threads>", "</threads>", "<parts>", "</parts>")


class StoryJob(Struct, frozen=True, kw_only=True):
    """A summary of a story that a model is to write."""

    offline: Summary
    """The canonical summary of the stretch, written without a model."""
    messages: tuple[Message, ...] = ()
    """The messages from which the text is written; empty if it is only written from `parts`."""
    parts: tuple[Summary, ...] = ()
    """The best texts of the summaries from which the text is written, in order; empty if there are only messages."""
    before: Summary | None = None
    """The summary just before the stretch: shown to the model as known, and evidence for nothing."""
    open: tuple[Thread, ...] = ()
    """The threads that are open at the beginning of the stretch."""
    known: tuple[str, ...] = ()
    """The names in all summaries before the stretch, the weightiest first."""
    aside: tuple[Message, ...] = ()
    """Messages of earlier stretches in the same prompt, which are only evidence for names."""
    cast: tuple[str, ...] = ()
    """Names in several later stretches of the same prompt, which are evidence that somebody exists."""
    played: tuple[tuple[str, str], ...] = ()
    """Authors, each with the character that they play."""
    disputes: tuple[Annotation, ...] = ()
    """Disputes of an earlier text of this stretch; for an overview also texts of a part that were written by hand."""
    voice: Voice = "third"
    seen_by: str = ""
    """The character whose memory it is; empty for nobody's."""
    room: int = 0
    """For an overview: the tokens that its text should fill; 0 for other texts."""
    window_tokens: int = WINDOW_TOKENS
    """The model's context window, which must hold the prompt, the answer, and a second question."""

    @property
    def is_deep(self) -> bool:
        """Whether the text covers several leaves, so that threads are taken from the leaves, and not asked for."""
        return bool(self.parts) or self.offline.leaves > 1

    @property
    def asked_words(self) -> int:
        """How many words the text may have."""
        if self.room:
            return int(self.asked_characters / CHARACTERS_PER_WORD)
        return ASKED_WORDS[min(self.offline.depth, len(ASKED_WORDS)) - 1] if self.is_deep else ASKED_WORDS[0]

    @property
    def asked_characters(self) -> int:
        """For an overview: how many characters its text may have."""
        return int(self.room * OVERVIEW_SPARE * CHARACTERS_PER_TOKEN)

    @property
    def most_words(self) -> int:
        """How many words of a text that came out too long are kept."""
        return int(self.asked_words * MAX_OVERVIEW) if self.room else self.asked_words + SPARE_WORDS

    @property
    def names(self) -> list[str]:
        """The names of the offline text, the weightiest first."""
        return [mention.name for line in self.offline.lines("artifacts") for mention in line.names]


class SpokenText(Struct, frozen=True, kw_only=True):
    """One speech in a message: the speaker and the text."""

    label: str
    named: bool
    """Whether the label is somebody's name, and not only a role."""
    text: str
    present: tuple[str, ...]
    message: Message

    @property
    def head(self) -> str:
        """The label in front of the speech; a name is neutralised like any other text."""
        return sanitise(f"{' '.join(self.label.split())}:") if self.named else f"{self.label}:"


def heard_speeches(messages: Sequence[Message], character: str) -> list[SpokenText]:
    """The speeches in `messages`; with a `character`, only those that the character said or heard.

    Another tool's compaction and what memory recalled are left out, since they are evidence for nothing.
    """
    return [
        spoken
        for message in messages_without_recalled(messages)
        if message.draft.origin != "summary" or is_own_block(message.draft)
        for spoken in _speeches_of(message, character)
    ]


def _speeches_of(message: Message, character: str) -> Iterator[SpokenText]:
    # Whoever is named as present for one part heard the whole message, if the other parts name nobody.
    told = next((part.present for part in message.parts if isinstance(part, Text) and part.present is not None), None)
    speaks = next((part.author for part in message.parts if isinstance(part, Text) and part.author), None)
    for part in message.parts:
        author = part.author if isinstance(part, Text) and part.author else speaks
        present = part.present if isinstance(part, Text) and part.present is not None else told
        if character and present is not None and not is_present(character, present, author):
            continue
        if isinstance(part, Text | Result) and (text := part.text.strip()):
            label = author or ("note" if message.draft.origin == "injected" else _LABELS[message.role])
            yield SpokenText(label=label, named=bool(author), text=text, present=present or (), message=message)


def passages(
    spoken: Sequence[SpokenText], parts: Sequence[Summary], played: Mapping[str, str] = MappingProxyType({})
) -> list[StoryPassage]:
    """The passages that may support a sentence: the lines and threads of `parts`, then each speech.

    A speech is attributed to its author and to the character whom the author plays.
    """
    out = [
        StoryPassage(text=text, position=line.position, sources=line.sources)
        for part in parts
        for section in part.sections
        for line in section.lines
        if (
            text := "\n".join(
                filter(None, (line.subject, line.text, ", ".join(mention.name for mention in line.names)))
            )
        )
    ]
    for part in parts:
        for thread in part.threads.opened:
            source = (thread.source,) if thread.source else ()
            text = " ".join(filter(None, (thread.text, thread.who, thread.whom)))
            out.append(StoryPassage(text=text, position=thread.position, sources=source))
    for each in spoken:
        who = (each.label, played.get(each.label, "")) if each.named else ()
        text = "\n".join(filter(None, (*who, each.text, ", ".join(each.present))))
        out.append(StoryPassage(text=text, position=each.message.position, sources=(each.message.id,)))
    return out


def format_speeches(spoken: Sequence[SpokenText], room: int, count: Count) -> str:
    """Write the speeches in order, one on a line, shortening long ones to fit into `room` tokens."""
    return _fit_pieces([ShownPiece(each.head, each.text, each.message.id) for each in spoken], room, count)


def format_summaries(parts: Sequence[Summary], room: int, count: Count) -> str:
    """Write summaries of a story, numbered and with their names, if necessary without the least valuable sentences."""
    shown = NOTHING
    for least in range(MAX_WORTH + 1):
        told = [
            ShownPiece(f"[{number}]", f"{_heaviest_prose(part, least)}{_names_note(part)}", part.id)
            for number, part in enumerate(parts, 1)
        ]
        shown = "\n".join(f"{each.head} {_on_one_line(each.text)}" for each in told)
        if count(shown) <= room:
            return shown or NOTHING
    return _fit_pieces(told, room, count)


def _heaviest_prose(part: Summary, least: float) -> str:
    """The prose of a summary without sentences of less worth than `least`; the best one is always kept."""
    lines = [line for line in part.lines("story") if line.text]
    most = max((line.weight for line in lines), default=0.0)
    return " ".join(" ".join(line.text.split()) for line in lines if line.weight >= min(least, most))


def cut_previous_text(text: str, count: Count) -> str:
    """Cut the text of the summary before to its room; the beginning is cut off, since the end matters most."""
    while text and count(text) > BEFORE_TOKENS:
        text = text[len(text) // 8 + 1 :].partition(" ")[2]
    return sanitise(text) or NOTHING


def format_threads(threads: Sequence[Thread], count: Count) -> tuple[str, list[Thread]]:
    """Write the open threads with their short ids, those of most weight if room is short; also return these."""
    lines = list(map(_thread_line, threads))
    if count("\n".join(lines)) <= THREADS_TOKENS:
        return "\n".join(lines) or NOTHING, list(threads)
    best = sorted(range(len(threads)), key=lambda place: -threads[place].weight)
    kept = fitting_indices(lines, best, THREADS_TOKENS, count)
    return "\n".join(lines[place] for place in kept) or NOTHING, [threads[place] for place in kept]


def known_names(before: Sequence[Summary]) -> tuple[str, ...]:
    """The distinct names in the summaries before a stretch, by their total weight."""
    weights: dict[str, float] = {}
    for part in before:
        for line in part.lines("artifacts"):
            for mention in line.names:
                weights[mention.name] = weights.get(mention.name, 0.0) + mention.weight
    ranked = sorted(weights, key=lambda name: (-weights[name], name))[:KNOWN_NAMES]
    words = {name: frozenset(name.casefold().split()) for name in ranked}
    # Vera is known if Vera Lund is.
    return tuple(name for name in ranked if not any(words[name] < other for other in words.values()))


def format_known_names(names: Sequence[str], count: Count) -> str:
    """Write as many known names as there is room for."""
    plain = [" ".join(each.split()) for each in names]
    shown = fitting_indices(plain, range(len(plain)), KNOWN_TOKENS, count)
    return sanitise(", ".join(plain[place] for place in shown)) or NOTHING


def story_text(summary: Summary) -> str:
    """The prose of a story's summary, on one line."""
    return " ".join(" ".join(line.text.split()) for line in summary.lines("story") if line.text)


def sanitise(text: str) -> str:
    """Make a text harmless for a prompt: without instructions, and without tags that frame it."""
    return quote_instructions(text, _FRAMES)


def _thread_line(thread: Thread) -> str:
    people = " → ".join(filter(None, (thread.who, thread.whom)))
    text = " ".join(f"{thread.kind}{f' ({people})' if people else ''}: {thread.text}".split())
    return f"{short(thread.id)} {sanitise(text)}"


def _names_note(part: Summary) -> str:
    names = [mention.name for line in part.lines("artifacts") for mention in line.names][:NAMES_SHOWN]
    return f" (names: {', '.join(names)})" if names else ""


def _fit_pieces(told: Sequence[ShownPiece], room: int, count: Count) -> str:
    pieces = [ShownPiece(each.head, " ".join(each.text.split()), each.opener) for each in told]
    return shown_pieces(pieces, room, count, _on_one_line) or NOTHING


def _on_one_line(text: str) -> str:
    """Put a text on one line and make it harmless, so that it can't pose as another speaker."""
    return sanitise(" ".join(text.split()))


class _JudgedStory(Judged, frozen=True, kw_only=True):
    sentences: Sequence[ToldSentence]
    threads: Sequence[ThreadSaid]
    reply: StoryReply


class StoryTask(WritingTask[AnyStoryReply, StoryReply, _JudgedStory]):
    """The question for one summary of a story, and the check of its reply."""

    def __init__(self, job: StoryJob, count: Count) -> None:
        spoken = heard_speeches(job.messages, job.seen_by)
        named = not spoken or any(each.named for each in spoken)
        threads, self._shown = format_threads(job.open, count)
        before = story_text(job.before) if job.before else ""
        fields = _prompt_fields(job, job.names, named, threads, count)
        self.reply = OverviewReply if job.room else StoryReply
        if job.is_deep:
            place, text = "parts", STORY_OVERVIEW if job.room else STORY_DEEP
        else:
            place, text = "messages", STORY
            fields |= {"several": "", "reply": ONE_STORY, "task": "the new stretch"}
        if job.room:
            text = replace(text, max_tokens=text.max_tokens + int(OVERVIEW_TOKENS * job.room))
            fields["characters"] = f"{job.asked_characters:,}"
        empty = text.render(**fields, **{place: ""})
        # When an answer is asked for again, it is shown with its faults.
        room = job.window_tokens - count(empty.system) - count(empty.user) - 3 * empty.max_tokens
        fields[place] = _format_sources(job, spoken, max(room, MIN_ROOM), count)
        manner = StoryStyle(
            voice=job.voice,
            seen_by=own_name(job.seen_by),
            named=named,
            max_words=job.most_words,
            min_words=MIN_DEEP_WORDS if job.is_deep else MIN_WORDS,
        )
        self.job = job
        self.voice = job.voice
        self._prompt = text.render(**fields)
        # Text that is only shown, and names known from before, are evidence that people exist, not of what they did.
        aside = [f"{each.label} {each.text}" for each in heard_speeches(job.aside, job.seen_by)]
        named_there = (fields["before"], fields["names"], *job.known, *job.cast, fields["played"], threads)
        self._judge = StoryJudge(passages(spoken, job.parts, dict(job.played)), before, manner, named_there, aside)

    @property
    def prompt(self) -> Prompt:
        """The question."""
        return self._prompt

    def parse(self, reply: AnyStoryReply) -> StoryReply:
        """Return the reply itself; an overview opens and resolves nothing."""
        return reply if isinstance(reply, StoryReply) else StoryReply(text=reply.text, names=reply.names)

    def repair(self, answer: StoryReply) -> tuple[Prompt, StoryReply] | None:
        """The question again, with the answer and a list of its faults."""
        faults = self._judge.faults(answer)
        few = self.job.room and len(faults) <= FEW_FAULTS * len(weighted_sentences(answer))
        if not faults or (few and not self._judge.fatal_faults(answer)):
            return None
        listed = "\n".join(f"- {fault}" for fault in faults[:MAX_FAULTS])
        given = msgspec.json.encode(answer).decode()
        prompt = replace(
            self.prompt,
            user=f"{self.prompt.user}\n\nYou wrote:\n{given}\n\nThis is wrong with it:\n{listed}\n\n"
            "Write it again without these faults: leave out what the messages don't show, and change nothing else.",
        )
        return prompt, answer

    def repaired(self, rest: StoryReply, again: StoryReply) -> StoryReply:
        """Return the second reply, which is complete."""
        return again

    def judge(self, answer: StoryReply) -> _JudgedStory:
        """Strike unsupported sentences and clauses, and the threads if the text is struck."""
        suspects = self._judge.unknown_names(answer)
        said = weighted_sentences(answer)
        standing = self._surviving_sentences(answer, said, suspects)
        # A sentence with a struck clause is counted as struck.
        struck = sum(left.text != each.text for left, each in zip(standing, said, strict=True))
        kept = _most_valuable(make_self_contained(each for each in standing if each.text), self.job.most_words)
        trusted = bool(kept) and struck <= MAX_STRUCK * len(standing)
        threads: list[ThreadSaid] = []
        if not self.job.is_deep:
            if trusted:
                opened = [each for each in answer.opened if not self._judge.thread_faults(each, suspects)]
                threads = [self._judge.with_character_name(each) for each in opened]
            struck += len(answer.opened) - len(threads)
        return _JudgedStory(
            complaints=self._judge.faults(answer),
            struck=struck,
            trusted=trusted,
            sentences=kept,
            threads=threads,
            reply=answer,
        )

    def supported_share(self, answer: StoryReply) -> float:
        """The share of the reply's claims that the sources support."""
        return self._judge.supported_share(answer)

    def texts(self, judged: _JudgedStory, writing: Writing) -> tuple[Sequence[Summary], Sequence[str]]:
        """The prose that passed the check, names, threads, and what is taken over from the offline text."""
        job = self.job
        writing = replace(writing, disputes=tuple(each.id for each in job.disputes))
        text = replace(as_text(job.offline, job.disputes, job.voice), writing=writing)
        if not judged.trusted:
            return (text,), ()
        threads, left_out = job.offline.threads, list[str]()
        if not job.is_deep:
            threads, left_out = settle_threads(judged.threads, judged.reply.resolved, self._shown, self._judge.finder)
        text = replace(
            text,
            sections=_sections(job, self._judge, judged.sentences, self._judge.supported_names(judged.reply)),
            threads=threads,
            retellings=1 + max((part.retellings for part in job.parts), default=0),
            # An overview opens to what it replaces.
            sources=job.offline.sources if job.room else tuple(part.id for part in job.parts),
        )
        return (text,), left_out

    def _surviving_sentences(
        self, answer: StoryReply, said: Sequence[ToldSentence], suspects: Sequence[str]
    ) -> list[ToldSentence]:
        """The rest of each sentence after the check, possibly empty."""
        lost = fatal = bool(self._judge.fatal_faults(answer))
        out: list[ToldSentence] = []
        for each in said:
            # If the sentence before is gone, it is unclear who “she” is.
            gone = fatal or (lost and refers_back(each.text))
            left = "" if gone else self._judge.usable_part(each.text, suspects)
            lost = not left
            out.append(ToldSentence(left, each.worth))
        return out


def _prompt_fields(job: StoryJob, names: Sequence[str], named: bool, threads: str, count: Count) -> dict[str, str]:
    """The fields of a prompt apart from the stretch itself."""
    speaks = {each.label for each in heard_speeches(job.messages, job.seen_by)}
    known = {
        "voice": story_voice(job.voice, own_name(job.seen_by), named=named),
        "before": cut_previous_text(story_text(job.before) if job.before else "", count),
        "known": format_known_names(job.known, count),
        "played": _format_players([each for each in job.played if not job.messages or each[0] in speaks]),
        "names": sanitise(", ".join(" ".join(name.split()) for name in names[:NAMES_SHOWN])) or NOTHING,
        "disputes": dispute_prompt(job.disputes),
        "words": _format_asked_words(job),
    }
    return known if job.is_deep else {**known, "threads": threads}


def _format_players(played: Sequence[tuple[str, str]]) -> str:
    return (
        sanitise("; ".join(f"{' '.join(name.split())} by {' '.join(author.split())}" for author, name in played))
        or NOTHING
    )


def _format_asked_words(job: StoryJob) -> str:
    return f"{job.asked_words:,}" if job.room else f"{job.asked_words - SPARE_WORDS} to {job.asked_words}"


def stretch_prompt(jobs: Sequence[StoryJob], count: Count) -> Prompt:
    """One question for the texts of adjacent leaves, and of deeper summaries of some of these leaves.

    The leaves come first among `jobs`, in order; everything is written from messages. The reply is a `StoryReplies`.
    """
    leaves = [job for job in jobs if not job.is_deep]
    spoken = [heard_speeches(job.messages, job.seen_by) for job in leaves]
    named = any(each.named for part in spoken for each in part)
    names = list(dict.fromkeys(name for job in leaves for name in job.names[: NAMES_SHOWN // 2]))
    whole = replace(leaves[0], messages=tuple(message for job in leaves for message in job.messages))
    fields = _prompt_fields(whole, names, named, format_threads(whole.open, count)[0], count)
    numbers = {job.offline.first_position: number for number, job in enumerate(leaves, 1)}
    ends = {job.offline.last_position: number for number, job in enumerate(leaves, 1)}
    asked = [f"{number}. of part {number}: {_format_asked_words(job)} words" for number, job in enumerate(leaves, 1)]
    for number, job in enumerate(jobs[len(leaves) :], len(leaves) + 1):
        first, last = numbers[job.offline.first_position], ends[job.offline.last_position]
        asked.append(f"{number}. of parts {first} to {last} as one: {_format_asked_words(job)} words")
    fields |= {"several": story_parts(deep=len(jobs) > len(leaves)), "reply": SEVERAL_STORIES}
    fields["task"] = "\n".join(["the new stretch:", *asked])
    empty = STORY.render(**fields, messages="")
    most = STORY.max_tokens + TEXT_TOKENS * len(jobs)
    room = leaves[0].window_tokens - count(empty.system) - count(empty.user) - most
    each_room = max(room // len(leaves), MIN_ROOM)
    shown = [f"=== Part {number}\n{format_speeches(part, each_room, count)}" for number, part in enumerate(spoken, 1)]
    return replace(STORY.render(**fields, messages="\n\n".join(shown)), max_tokens=most)


def _format_sources(job: StoryJob, spoken: Sequence[SpokenText], room: int, count: Count) -> str:
    """Write the sources for the prompt: the summaries in order, then the messages that no summary covers yet."""
    if not job.parts:
        return format_speeches(spoken, room, count)
    if not spoken:
        return format_summaries(job.parts, room, count)
    # Each gets half, and the other what one leaves.
    parts = format_summaries(job.parts, max(room // 2, room - count(format_speeches(spoken, room, count))), count)
    speech = format_speeches(spoken, max(room - count(parts), 1), count)
    return "\n".join(each for each in (parts, speech) if each != NOTHING)


def _sections(
    job: StoryJob, judge: StoryJudge, kept: Sequence[ToldSentence], names: Sequence[str]
) -> tuple[Section, ...]:
    """The sections of the summary: the prose, those taken over from the offline text, and the names."""
    line = _names_line(job, names)
    out = [Section(name="story", lines=tuple(_story_lines(judge, kept, line.names)))]
    out += [section for section in job.offline.sections if section.name not in ("story", "artifacts")]
    return (*out, *([Section(name="artifacts", lines=(line,))] if line.names else []))


def _story_lines(judge: StoryJudge, kept: Sequence[ToldSentence], names: Sequence[Mention]) -> list[Line]:
    out = []
    for number, each in enumerate(kept):
        place = number / max(len(kept) - 1, 1)
        position, sources = position_and_sources(
            [rest for one in sentences(each.text) for rest in judge.finder.supporting(one, place)]
        )
        within = tuple(mention for mention in names if mention.name in each.text)
        out.append(Line(text=each.text, names=within, weight=each.worth, position=position, sources=sources))
    return out


def _most_valuable(kept: Sequence[ToldSentence], most: int) -> list[ToldSentence]:
    """Choose the most valuable sentences with at most `most` words in total, at least one, in their order."""
    best = sorted(range(len(kept)), key=lambda place: (-kept[place].worth, place))
    out: list[int] = []
    for place in best:
        most -= count_words(kept[place].text)
        if most < 0 and out:
            break
        out.append(place)
    return [kept[place] for place in sorted(out)]


def _names_line(job: StoryJob, names: Sequence[str]) -> Line:
    """The line of names: the names of the model, then names of the offline text that the model left out."""
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
