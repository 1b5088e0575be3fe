"""Notes on an agent's work: the stretches for which they are due, their sources, and notes by the agent itself.

A stretch is as long as a model's window allows. It is represented by a summary that is not stored: it covers the
messages for the notes, its sources are the blocks that get them, and its id is that of the first resulting text.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.assemble import assemble, notes_share
from ireneo.context.view import ContextOptions
from ireneo.engine.context import StoredReader, last_mark, store_made, text_id, waiting_summarizer, was_erased
from ireneo.engine.work_writing import REQUESTS_SHOWN, WORDS_PER_TOKEN, NotesJob, NotesTask, weightiest
from ireneo.engine.writing import writing_record
from ireneo.errors import BadInput, Overtaken, SummaryNotFound
from ireneo.language.topics import Voice
from ireneo.log.calls import atoms
from ireneo.log.message import Head, Message, MessageId, head_of, strings, texts
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Store, Transaction
from ireneo.prompts import NOTES_OWN
from ireneo.prompts.replies import VOICES
from ireneo.short_repr import ShortRepr
from ireneo.summaries.notes import Note, read_note, statements_of
from ireneo.summaries.steps import clip
from ireneo.summaries.summary import Line, PathReader, SectionName, Summary, SummaryId, SummaryLevel, anchor
from ireneo.summaries.work import WorkPath

STRETCH_SUMMARIZER = "stretch"
LEAST_ALONE = 2_000
"""From this many tokens on, messages without a block get notes of their own, apart from the stretch before them."""
SOURCE_TOKENS = 400_000
"""Tokens of the newest messages that an agent's own notes are checked against."""
NOTES_READ = 64
"""How many blocks before a stretch are read for their notes."""
REQUESTS_WITHIN = 400
"""How many messages before a stretch are searched for the user's requests."""


class DueStretches(Struct, frozen=True, kw_only=True):
    """The stretches of a path for which notes are due."""

    stretches: Sequence[Summary]
    """In order."""
    made: Sequence[Summary]
    """The blocks that were made in the process."""
    share: float | None
    """The room that the context leaves for notes, as a share of what they cover; None if nothing is due."""


def due_stretches(tx: Transaction, key: SessionKey, head: Head, options: ContextOptions, voice: Voice) -> DueStretches:
    """The stretches whose missing notes a context rebuilt now would show.

    `options` have the notes by hand along the path.
    """
    reader = StoredReader(tx, key, head, options, voice)
    path = WorkPath(reader, options.policy)
    marked = last_mark(tx, key, head, options) is not None
    target = int(options.budget * options.policy.low_water) if marked else options.budget
    if not options.policy.cuts:
        assemble(path, None, replace(options, budget=target))
    reading = _NotesReader(reader, {each.id: each for each in path.new_summaries})
    newest = _newest_atom(reader, head)
    # A newest message without room would be known to nobody, and a request says what the work before is asked for.
    is_long = sum(each.tokens for each in newest) > int(target * options.policy.live_share)
    end = head.position if is_long or newest[0].opens_turn else newest[0].position - 1
    due = reading.stretches(path.shown, end)
    share = notes_share(path, replace(options, budget=target), end) if due else None
    return DueStretches(stretches=due, made=path.new_summaries, share=share)


class _NotesReader:
    """Finds out for which blocks of a path notes are stored."""

    def __init__(self, reader: StoredReader, made: dict[SummaryId, Summary]) -> None:
        self._reader = reader
        self._made = made
        self.waiting = reader.waiting_notes()

    def stretches(self, shown: Sequence[Summary], end: int) -> list[Summary]:
        """The stretches below these adjacent blocks of a row for which notes are due, in order.

        Messages after the blocks, up to the position `end`, belong to the last stretch, so that a narrower context,
        which shows fewer of them verbatim, needs no further notes.
        """
        open_blocks = [block for block in shown if block.summarizer.endswith("/open")]
        canonical = [block for block in shown if not block.summarizer.endswith("/open")]
        redone = self._disputed_blocks()
        leaves = [leaf for leaf in self.leaves(canonical) if not any(_covers(block, leaf) for block in redone)]
        out = [self._make_stretch([block], block.last_position) for block in redone]
        last = max([end, *(block.last_position for block in shown)])
        run: list[Summary] = []
        for leaf in leaves:
            due = not self.is_noted(leaf)
            if run and (not due or not self._fits([*run, leaf])):
                out.append(self._make_stretch(run, run[-1].last_position))
                run = []
            if due:
                run.append(leaf)
        # Messages that wait for their block belong to what precedes them.
        begin = self._first_unnoted(max(canonical[-1].last_position if canonical else -1, self.last_noted) + 1, last)
        loose = last - begin + 1
        goes_along = run and run[-1].last_position + 1 >= begin
        if run:
            out.append(self._make_stretch(run, last if loose > 0 and goes_along else run[-1].last_position))
        if loose > 0 and open_blocks and not goes_along:
            messages = self._reader.path(begin, last)
            if sum(message.tokens for message in messages) >= LEAST_ALONE:
                out.append(self._make_stretch([], last, begin))
        return sorted(out, key=lambda each: each.first_position)

    def _first_unnoted(self, begin: int, last: int) -> int:
        """The position of the first message without a block or notes, after blocks written for a longer path."""
        found = self._reader.written_leaves(begin)
        return max([begin, *(each.last_position + 1 for each in found if each.first_position <= last)])

    @property
    def last_noted(self) -> int:
        """The last position covered by notes that wait for their blocks."""
        return max((each.last_position for each in self.waiting), default=-1)

    def _disputed_blocks(self) -> list[Summary]:
        """The blocks along the path that were disputed and not written again since, whether shown or not."""
        reader, out = self._reader, list[Summary]()
        for stretch, notes in reader.options.disputes.items():
            level, first, last = stretch.split(" ")
            if level == "story":
                continue
            kind: SummaryLevel = "goal" if level == "goal" else "turn"
            name = anchor(kind, MessageId(first), MessageId(last), reader.options.policy.summarizer)
            found = [self._made[name]] if name in self._made else reader.get([name])
            out += [
                block for block in found if not reader.get([text_id(block, [note.id for note in notes], reader.voice)])
            ]
        return out

    def is_noted(self, leaf: Summary) -> bool:
        """Whether a leaf has notes, or is rewritten anyway because of a dispute."""
        disputes = self._reader.options.disputes_of(leaf)
        there = self._reader.get([text_id(leaf, (), self._reader.voice)])
        return bool(there or disputes or self._is_known(leaf.first_position, leaf.last_position))

    def _is_known(self, first: int, last: int) -> bool:
        return any(each.first_position <= first and last <= each.last_position for each in self.waiting)

    def leaves(self, blocks: Sequence[Summary]) -> list[Summary]:
        """The leaves under adjacent blocks, in order."""
        row = list(blocks)
        while any(block.sources for block in row):
            wanted = [source for block in row for source in block.sources if source not in self._made]
            stored = {each.id: each for each in self._reader.get(wanted)}
            row = [
                leaf
                for block in row
                for leaf in (
                    [self._made.get(each) or stored[each] for each in block.sources] if block.sources else [block]
                )
            ]
        return row

    def _fits(self, leaves: Sequence[Summary]) -> bool:
        return sum(leaf.source_tokens for leaf in leaves) <= self._reader.options.policy.notes_window

    def _make_stretch(self, blocks: Sequence[Summary], last: int, first: int | None = None) -> Summary:
        if first is None:
            # The words before the first block are the reason for its work.
            first = self._stretch_start(blocks[0])
        options, voice = self._reader.options, self._reader.voice
        messages = self._reader.path(first, last)
        begin, end = messages[0], messages[-1]
        if blocks:
            name = text_id(blocks[0], options.disputes_of(blocks[0]), voice)
        else:
            name = anchor("turn", begin.id, end.id, waiting_summarizer(options.policy.summarizer, voice))
        return Summary(
            id=name,
            level="turn",
            depth=1,
            first=begin.id,
            last=end.id,
            first_position=begin.position,
            last_position=end.position,
            summarizer=STRETCH_SUMMARIZER,
            source_tokens=sum(message.tokens for message in messages),
            calls=sum(len(message.draft.calls) for message in messages),
            sources=tuple(block.id for block in blocks),
        )

    def _stretch_start(self, block: Summary) -> int:
        """The start of the stretch of a first block: after earlier notes, with the kept messages before it."""
        known = max(
            (each.last_position for each in self.waiting if each.last_position < block.last_position), default=-1
        )
        return known + 1 if known >= block.first_position else self._reader.begin_of(block)


def _newest_atom(reader: PathReader, head: Head) -> Sequence[Message]:
    return atoms(reader.path(max(head.position - LAST_ATOM, 0), head.position))[-1]


def _covers(block: Summary, leaf: Summary) -> bool:
    return block.first_position <= leaf.first_position and leaf.last_position <= block.last_position


def notes_job(tx: Transaction, key: SessionKey, stretch: Summary, options: ContextOptions, voice: Voice) -> NotesJob:
    """Read what the notes on a stretch are written from. Raises SummaryNotFound if a block was removed since."""
    options = replace(options, notes=tuple(tx.annotations.on_path(key, stretch.last)))
    blocks = tx.summaries.get(key, stretch.sources) if stretch.sources else ()
    if len(blocks) < len(stretch.sources):
        raise SummaryNotFound(f"A block of the stretch {stretch.id} was taken out of the store before it was written.")
    messages = tx.log.path(key, stretch.last, stretch.first_position, stretch.last_position)
    return _make_job(tx, key, options, voice, messages, blocks, evidence=())


def _make_job(
    tx: Transaction,
    key: SessionKey,
    options: ContextOptions,
    voice: Voice,
    messages: Sequence[Message],
    blocks: Sequence[Summary],
    evidence: Sequence[Message],
) -> NotesJob:
    policy = options.policy
    first = messages[0].position
    before = _earlier_statements(tx, key, options, voice, messages[0])
    reader = StoredReader(tx, key, head_of(messages[-1]), options, voice)
    waiting = [each for each in reader.waiting_notes() if each.last_position < first]
    begin = blocks[0].first_position if blocks else first
    taken = [(name, line) for name, line in statements_of(waiting, replaced=True) if begin <= line.position]
    earlier_words = tx.log.path(key, messages[0].id, max(first - REQUESTS_WITHIN, 0), first - 1) if first else ()
    asked = [
        each for each in earlier_words if each.role == "user" and each.draft.origin == "spoken" and each.text.strip()
    ]
    return NotesJob(
        policy=policy,
        voice=voice,
        messages=tuple(messages),
        evidence=tuple(evidence) or tuple(messages),
        blocks=tuple(blocks),
        waits=not blocks or blocks[-1].last_position < messages[-1].position,
        taken=tuple(taken),
        before=tuple(before),
        asked=tuple(asked[-REQUESTS_SHOWN:]),
        disputes=tuple(note for block in blocks for note in options.disputes.get(block.stretch, ())),
        window=policy.notes_window,
        room=options.notes_share,
    )


def _earlier_statements(
    tx: Transaction, key: SessionKey, options: ContextOptions, voice: Voice, first: Message
) -> list[tuple[SectionName, Line]]:
    if not first.position:
        return []
    (last,) = tx.log.path(key, first.id, first.position - 1, first.position - 1)
    reader = StoredReader(tx, key, head_of(last), options, voice)
    blocks = list(reader.frontier(last.position))[-NOTES_READ:]
    end = blocks[-1].last_position if blocks else -1
    waiting = [each for each in reader.waiting_notes() if each.last_position > end]
    told = [text for text in reader.texts(blocks) if text.is_written]
    return statements_of([*told, *waiting])


# The agent's own notes: asked for at the end of the running conversation, whose beginning its provider has cached.

OWN_SHARE = 1 / 48
"""The length of an agent's own notes, as a share of the messages' tokens: a token of a reply costs about five times as
much as one of a prompt."""
OWN_LEAST_WORDS, OWN_MOST_WORDS = 80, 3_000
OWN_BEFORE_TOKENS = 400
"""Tokens of the earlier notes that an agent is reminded of: open points, and the status."""
OWN_MARK = NOTES_OWN.halves[0].template.partition(".")[0]
"""The beginning of the request. In a log, it and its answer are no evidence."""
LEAST_NOTES = 0.5
"""The share of the lines of a reply that must be notes."""
NOT_TRUSTED = "What is left is not kept either, since most of the notes were struck, or all are in another language."
LAST_ATOM = 64
"""Messages read at the end of a path to find its last atom."""


class NotesTaken(ShortRepr, frozen=True, kw_only=True):
    """The result of storing an agent's own notes."""

    notes: int
    """The number of stored notes."""
    struck: int
    """How many notes were struck or lost a clause, since the messages don't support them."""
    reasons: tuple[str, ...]
    """Why, a sentence each; also of lines that are no notes."""
    first_position: int
    last_position: int
    """The messages that they cover; `last` is before `first` if all messages already had notes."""


def notes_request(tx: Transaction, key: SessionKey, branch: str, options: ContextOptions, voice: Voice) -> str:
    """The request to append to the agent's conversation. Raises BadInput if no message waits for notes."""
    job, _ = _agent_job(tx, key, branch, options, voice)
    if not job.messages:
        raise BadInput(f"All messages of session {key.session!r} have notes; ask again after the next ones.")
    begun = next((each for each in job.messages if each.text.strip()), job.messages[0])
    since = clip(" ".join(begun.text.split()), 80) if begun.position and begun.text.strip() else ""
    standing = [(name, line) for name, line in job.before if name in ("pending", "status")]
    reminded = weightiest(standing, OWN_BEFORE_TOKENS, options.count)
    told = ["\nNoted before as open, or as where things stood:", *reminded] if reminded else []
    told += [OUTDATED] if reminded else []
    return NOTES_OWN.render(
        voice=VOICES[voice],
        span=f"all that was said and done since “{since}”" if since else "all that was said and done so far",
        words=str(max(min(int(job.tokens * OWN_SHARE * WORDS_PER_TOKEN), OWN_MOST_WORDS), OWN_LEAST_WORDS)),
        before="\n".join(told),
    ).system


OUTDATED = (
    "Where one of these holds no longer, put its id behind the worth of the note that takes its place, such as "
    "state 3 [n4fa2]: …"
)


async def take_notes(
    store: Store, key: SessionKey, branch: str, options: ContextOptions, voice: Voice, reply: str
) -> NotesTaken:
    """Check an agent's answer to `notes_request`, and store what passes. Raises BadInput if it isn't such an answer."""
    lines = [line for line in reply.splitlines() if line.strip(" `\t")]
    read = [(line, read_note(line)) for line in lines]
    found = [note for _, note in read if note]
    other = [line for line, note in read if note is None]
    if len(found) < max(LEAST_NOTES * len(lines), 1):
        few = f"Only {len(found)} of the reply's {len(lines)} lines can be read as notes"
        raise BadInput(
            f"{few if found else 'The reply holds no notes'}, and nothing was stored: each line has to be a kind, a "
            "worth from 1 to 5, a colon and a statement (“found 3: …”); ask the agent again with notes_request()."
        )
    taken = await store.read(_check_notes, key, branch, options, voice, found, reply)
    no_notes = tuple(f"No note, and not stored: “{clip(' '.join(line.split()), 80)}”." for line in other)
    await store_made(store, key, taken.made, taken.erased)
    if taken.texts:
        await store.write(keep_texts, key, taken.texts, taken.erased)
    return replace(taken.result, reasons=(*taken.result.reasons, *no_notes))


class _CheckedNotes(Struct, frozen=True, kw_only=True):
    result: NotesTaken
    texts: Sequence[Summary]
    made: Sequence[Summary]
    erased: int


def keep_texts(tx: Transaction, key: SessionKey, texts: Sequence[Summary], erased: int | None) -> Sequence[Summary]:
    """Store texts that belong together; returns the new ones. Raises Overtaken if messages were erased."""
    check_not_erased(tx, key, erased)
    there = {each.id for each in tx.summaries.get(key, [each.id for each in texts])}
    tx.summaries.put(key, texts)
    return [each for each in texts if each.id not in there]


def check_not_erased(tx: Transaction, key: SessionKey, erased: int | None) -> None:
    """Raise Overtaken if more messages than `erased` of the session were erased meanwhile."""
    if was_erased(tx, key, erased):
        raise Overtaken(f"Messages of session {key.session!r} were erased while it was written; summarise again.")


def _agent_job(
    tx: Transaction, key: SessionKey, branch: str, options: ContextOptions, voice: Voice
) -> tuple[NotesJob, Sequence[Summary]]:
    """The job for an agent's own notes, on all messages after the last notes; and the blocks made in the process."""
    if options.policy.story is not None or options.policy.strategy is not None:
        raise BadInput("Notes are taken of an agent's work; a story, and what a strategy of your own tells, has none.")
    head = tx.log.head(key, branch)
    if head is None:
        raise BadInput(f"Session {key.session!r} has no message yet, so there is nothing to take notes on.")
    options = replace(options, notes=tuple(tx.annotations.on_path(key, head.id)))
    reader = StoredReader(tx, key, head, options, voice)
    path = WorkPath(reader, options.policy)
    newest = _newest_atom(reader, head)
    row = path.row(newest[0].position - 1, newest)
    reading = _NotesReader(reader, {each.id: each for each in path.new_summaries})
    leaves = reading.leaves([item for item in row if isinstance(item, Summary)])
    told = [leaf.last_position for leaf in leaves if reading.is_noted(leaf)]
    first = max([reading.last_noted, *told]) + 1
    blocks = [leaf for leaf in leaves if leaf.last_position >= first]
    messages = reader.path(first, head.position)
    evidence = reader.path(0, head.position)
    cost = 0
    begin = len(evidence)
    while begin and cost < SOURCE_TOKENS:
        begin -= 1
        cost += evidence[begin].tokens
    if not messages:
        bare = NotesJob(policy=options.policy, voice=voice, messages=(), evidence=(), blocks=(), window=0)
        return bare, path.new_summaries
    job = _make_job(tx, key, options, voice, messages, blocks, evidence=evidence[begin:])
    return job, path.new_summaries


def _check_notes(
    tx: Transaction,
    key: SessionKey,
    branch: str,
    options: ContextOptions,
    voice: Voice,
    found: Sequence[Note],
    reply: str,
) -> _CheckedNotes:
    job, made = _agent_job(tx, key, branch, options, voice)
    erased = tx.sessions.erased(key)
    asking = {each.position for each in job.evidence if _is_notes_request(each, reply)}
    job = replace(job, evidence=tuple(each for each in job.evidence if each.position not in asking))
    on = [each for each in job.messages if each.position not in asking]
    end = tx.log.head(key, branch)
    last = end.position if end else -1
    nothing = NotesTaken(notes=0, struck=0, reasons=(), first_position=last + 1, last_position=last)
    if not on:
        return _CheckedNotes(result=nothing, texts=(), made=made, erased=erased)
    known = {line.text for _, line in (*job.before, *job.taken)}
    task = NotesTask(job, options.count, among=on)
    located = task.locate([each for each in found if each.text not in known])
    judged = task.judge(located)
    writing = writing_record(task, located, judged, NOTES_OWN.name, BY_ITSELF)
    result = NotesTaken(
        notes=len(judged.notes),
        struck=judged.struck,
        reasons=judged.complaints if judged.trusted else (*judged.complaints, NOT_TRUSTED),
        first_position=job.messages[0].position,
        last_position=last,
    )
    texts = task.texts(judged, writing)[0] if judged.trusted else ()
    return _CheckedNotes(result=result, texts=texts, made=made, erased=erased)


def _is_notes_request(message: Message, reply: str) -> bool:
    """Whether a message is the request for notes or its answer `reply`, in words or in a tool call."""
    said = [*texts(message.draft.parts), *(each for call in message.draft.calls for each in strings(call.arguments))]
    return any(OWN_MARK in each or each.strip() == reply.strip() for each in said)


BY_ITSELF = "the agent itself"
"""The recorded author of an agent's own notes."""
