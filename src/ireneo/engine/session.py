"""`Session`: the methods on one branch of a conversation or a run. And `Scratchpad`: those on the state of a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypedDict, Unpack, overload

from msgspec.structs import replace

from ireneo.context.view import ContextOptions
from ireneo.engine import annotations as noting
from ireneo.engine import context as cutting
from ireneo.engine import expand as expanding
from ireneo.engine import notes as own_notes
from ireneo.engine import tree as trees
from ireneo.engine.annotations import Pin, StoryThread, carry
from ireneo.engine.append import Appended, Given
from ireneo.engine.append import append as append_given
from ireneo.engine.arguments import validate_methods
from ireneo.engine.context import ContextCache
from ireneo.engine.encode import AnthropicContext, Context, OpenAIContext, ResponsesContext, gives_objects, with_objects
from ireneo.engine.expand import Expanded, Tool
from ireneo.engine.expand import tools as tools_of
from ireneo.engine.learn import Diary, read_diary, write_entry
from ireneo.engine.models import Worker
from ireneo.engine.named import memory_named
from ireneo.engine.notes import NotesTaken
from ireneo.engine.remember import Remembered, settle_drafts
from ireneo.engine.reports import OnProgress, SummariseReport, WorkReport, run_steps, work_report
from ireneo.engine.resources import Resources
from ireneo.engine.scope import (
    Scope,
    ScopeLimits,
    all_names,
    character_asked,
    check_pad,
    check_project,
    is_visible_project,
    open_projects,
    project_asked,
    stated_project,
)
from ireneo.engine.tree import Tree
from ireneo.engine.work import ANSWERS, FAILURES_IN_A_ROW, SummaryWork, TextWriter, WorkResult
from ireneo.errors import BadInput, SessionNotFound
from ireneo.formats.chat.format import DEFAULT_FORMAT, FormatName, ThinkingRule, chat_format, chat_format_of
from ireneo.language.topics import Voice
from ireneo.lessons.write_diary import AgentNotes, lines_of
from ireneo.log.message import Head, Message, MessageId
from ireneo.log.tree import MAIN, Annotation, SessionKey
from ireneo.memories.intake import MemoryDetails, memory_draft
from ireneo.memories.record import MemoryDraft, Record
from ireneo.memories.scratchpad import Pad, PlanStep, check_task, to_plan_steps, validate_pad
from ireneo.ports.store import Pruned, Transaction
from ireneo.summaries.policy import Policy, Prices, preset, preset_of

MAX_TEXTS = 1_000_000
"""How many texts one `summarise` lets a model write at most: more than are ever due."""


class ContextSettings(TypedDict, total=False):
    """The options of `Session.context` besides budget and format."""

    preset: str | Policy | None
    prices: str | Prices | None
    explain: bool
    rebuild: bool
    viewpoint: str
    thinking: ThinkingRule | None


@validate_methods
class Session:
    """A conversation or a run, on one of its branches; made by `Memory.session`.

    A session is a tree of messages, and a branch is a named pointer to one of them. Unless they say otherwise, the
    methods are about the path from the root to that message.
    """

    def __init__(
        self, resources: Resources, key: SessionKey, branch: str, source: str | None, task: str = "", project: str = ""
    ) -> None:
        """Nothing is read yet. Contexts show the scratchpad of `task`, by default the one named like the session."""
        self.key = key
        self.branch = branch
        self._resources = resources
        self._store = resources.store
        self._count = resources.count
        self.task = task or key.session
        self._source = source
        self._project = project
        self._cache = ContextCache(key.session, self.task, self._count)
        self._asked_at: datetime | None = None
        self._characters: set[str] = set()
        """Characters known to exist."""
        self._shown: tuple[MessageId, int] | None = None
        """The id of the last message and the number of messages of the last context; None if it contained blocks."""

    def __repr__(self) -> str:
        return f"Session(id={self.id!r}, branch={self.branch!r})"

    @property
    def id(self) -> str:
        """The session's name in its space."""
        return self.key.session

    async def project(self) -> str:
        """Return the project that the session works on, as stated or as its log says; empty if it is unknown."""
        info = await self._store.read(lambda tx: tx.sessions.get(self.key))
        return (info.project if info else None) or self._project

    async def is_seen_from(self, project: str) -> bool:
        """Return whether the session's messages may be shown to someone who works on `project` (empty: on none).

        They may if the session belongs to the same project, or is marked as general.
        """
        there = await self.project()
        opened = await self._store.read(open_projects, self.key.space, project_asked(project))
        return is_visible_project(opened, {there})

    async def append(
        self,
        messages: Given | Sequence[Given],
        *,
        format: FormatName | None = None,
        after: str | None = None,
        at: datetime | None = None,
        as_said: bool = False,
    ) -> Appended:
        """Store one message or several after the branch's head. They are durable once this returns.

        A message is a dictionary as a provider takes it, a reply as the client of OpenAI, Anthropic or Google returned
        it, a message of LangChain or Pydantic AI, the result of an agent's run (of which the new messages are taken),
        or a string, which is the user's words. An object with `messages`, such as a request or a state, works as well.
        The format of each message is detected; with `format` all must be in that one, which plain messages (a role and
        a text) are in any. The session keeps the first format that was detected as its own.

        With `after`, the id of a message or ``"root"``, the messages are put after that one. What is stored there
        already is not stored again, so a whole history may be appended after ``"root"`` each time. Raises UnreadableLog
        with a sentence that says what to pass instead.

        A message's time is its own `timestamp` (or `created_at`, `time`, `Draft.at`), else that of its neighbours, else
        `at`, else now; a text without a zone means UTC, a datetime without one the local time. The time is not part of
        the id: if the message is appended again, the first time stays.

        Keys, tokens and passwords in messages of any role are replaced by marks such as ``[REDACTED password]`` before
        anything is stored, unless the memory was opened with `keep_secrets`.

        A context that comes back with new messages after it is recognised: a block stands for the messages that it
        covers, a shortened or masked message for the whole one, and only the new messages are stored. Raises BadInput
        if such a list doesn't agree with the branch. With `as_said` nothing is recognised, for callers who were never
        given a context: every message is stored as what somebody said, and what was written by hand on a path that the
        branch leaves is kept.
        """
        # All within one transaction, so in its thread and in the order of the calls.
        appended, self._source = await self._store.write(
            append_given,
            self._resources,
            self.key,
            self.branch,
            messages,
            format=format,
            source=self._source,
            after=after,
            at=at,
            shown=self._shown,
            as_said=as_said,
            project=self._project,
        )
        return appended

    @overload
    async def context(
        self, budget: int, *, to: Literal["openai"], **settings: Unpack[ContextSettings]
    ) -> OpenAIContext: ...
    @overload
    async def context(
        self, budget: int, *, to: Literal["openai-responses"], **settings: Unpack[ContextSettings]
    ) -> ResponsesContext: ...
    @overload
    async def context(
        self, budget: int, *, to: Literal["anthropic"], **settings: Unpack[ContextSettings]
    ) -> AnthropicContext: ...
    @overload
    async def context(
        self, budget: int, *, to: FormatName | None = None, **settings: Unpack[ContextSettings]
    ) -> Context: ...
    async def context(
        self,
        budget: int,
        *,
        to: FormatName | None = None,
        preset: str | Policy | None = None,
        prices: str | Prices | None = None,
        explain: bool = False,
        rebuild: bool = False,
        viewpoint: str = "",
        thinking: ThinkingRule | None = None,
    ) -> Context[Any, Any]:
        """Return the session's messages for the next call of a model, cut to at most `budget` tokens.

        `to` is the provider's format, by default the session's own. If the session was begun with objects (of
        LangChain, Pydantic AI or google-genai), a context in their format holds such objects as well. No model is
        called.

        `preset` is how the session is cut: ``"coding"``, ``"story"`` (the past from coarse to fine), or a `Policy`.
        With `viewpoint` the context is the memory of one character of a story, who knows only what she was present for.

        A context keeps its beginning from call to call, for the provider's prompt cache, until it has to be rebuilt.
        With the provider's `prices` (``"anthropic"``, say) it is rebuilt when that costs least. `explain` adds why it
        was kept or rebuilt, and after how many calls that pays (`Context.explained`). `rebuild` forces a rebuild, which
        takes up the summaries written since the last one.

        `thinking` is which of the model's earlier thinking is sent, where the format has a place for thinking:
        ``"prefix"``, as long as nothing before it was changed; ``"turn"``, that of the running turn, whatever was
        changed before it; ``"none"``, none; None, the rule of the format. If the next call must go without extended
        thinking, `Context.thinking_off` says why.

        Raises BudgetTooSmall under 256 tokens, UnknownFormat, and BadInput for a character whom nobody in the session
        knows.
        """
        chat = chat_format(to or chat_format_of(await self._read_source()) or DEFAULT_FORMAT)
        policy = await self._with_all_names(self._policy(preset, viewpoint))
        if prices is not None and policy.story is not None:
            raise BadInput("A story is written anew for each context, so `prices` have no effect; leave them out.")
        policy = policy if prices is None else policy.priced(prices)
        # The time since the last context only matters with prices.
        now = self._resources.clock.now() if policy.prices else None
        idle = (now - self._asked_at).total_seconds() if now and self._asked_at else None
        self._asked_at = now
        options = ContextOptions(
            budget=budget, policy=policy, count=self._count, idle_seconds=idle, rebuild=rebuild, asked=thinking
        )
        voice = self._resources.voices.of(policy)
        found = await cutting.context(self._store, self.key, self.branch, chat, options, voice, self._cache)
        # Contexts with blocks are recognised by those.
        whole = found.view and all(row.what == "message" for row in found.view)
        self._shown = (MessageId(found.view[-1].last), len(found.messages)) if whole else None
        if gives_objects(self._source, chat.name):
            found = with_objects(found)
        return found if explain else replace(found, explained=None)

    async def summarise(
        self, budget: int, *, preset: str | Policy | None = None, on_progress: OnProgress[WorkResult] = None
    ) -> SummariseReport:
        """Let the memory's model write the summaries that a context of `budget` tokens would show.

        Each is checked against its sources, and shown from the next rebuild on. If the model fails, nothing changes.
        `on_progress` receives each result. Raises BadInput if the memory was opened without a model.
        """
        self._check_models()
        policy = self._policy(preset)
        done: list[WorkResult] = []

        def add(worked: WorkResult) -> None:
            if worked.did in ANSWERS:
                done.append(worked)
                if on_progress is not None:
                    on_progress(worked)

        # Notes are written without a lease, which would delay another try after a failure.
        work = self._summary_work(policy, budget, leases=policy.story is not None)
        await run_steps(work.visit(MAX_TEXTS, FAILURES_IN_A_ROW), add)
        return SummariseReport(summaries=tuple(done))

    async def notes_request(self, *, preset: str | Policy | None = None) -> str:
        """Return a prompt that has the agent itself take notes on its work so far.

        Append it to the running conversation as the user's message and send that to the agent's own model, whose prompt
        cache already holds everything before it. Pass the answer to `take_notes`, and continue without either message:
        neither belongs in the log. The prompt asks about the work that has no notes yet. Raises BadInput if there
        is none, and for a story.
        """
        options, voice = self._notes_options(preset)
        return await self._store.read(own_notes.notes_request, self.key, self.branch, options, voice)

    async def take_notes(self, reply: str, *, preset: str | Policy | None = None) -> NotesTaken:
        """Check the agent's answer to `notes_request`, and store what the messages support of it.

        From the next rebuild on contexts show the notes instead of the text that was written without a model. Notes
        that the messages don't support are struck. Passing the same answer again changes nothing. Raises BadInput, with
        nothing changed, for a `reply` that holds no notes.
        """
        options, voice = self._notes_options(preset)
        reply = self._resources.cleaning().text(reply)
        return await own_notes.take_notes(self._store, self.key, self.branch, options, voice, reply)

    def _notes_options(self, preset: str | Policy | None) -> tuple[ContextOptions, Voice]:
        policy = self._policy(preset)
        return ContextOptions(budget=0, policy=policy, count=self._count), self._resources.voices.of(policy)

    async def due(self, budget: int, *, preset: str | Policy | None = None) -> int:
        """Return how many summaries `summarise` would ask a model for.

        First it writes those that need no model, as `catch_up` does, since what is due depends on them. Raises BadInput
        if the memory was opened without a model.
        """
        self._check_models()
        return await self._summary_work(self._policy(preset), budget).due()

    async def catch_up(
        self, *, preset: str | Policy | None = None, viewpoint: str = "", on_progress: OnProgress[WorkResult] = None
    ) -> WorkReport:
        """Write the summaries that are due and need no model, so that the next `context` has little to write.

        Useful for long sessions only. `on_progress` receives each result. If it is interrupted, what is done stays.
        """
        policy = await self._with_all_names(self._policy(preset, viewpoint))
        return await work_report(self._summary_work(policy).catch_up(), on_progress)

    def tools(self, *, viewpoint: str = "") -> Sequence[Tool]:
        """Return `expand` and `dispute` as functions from text to text, to be given to an agent as tools.

        With the `viewpoint` of a character they open only what she remembers.
        """
        return tools_of(
            partial(self.expand, viewpoint=viewpoint), self.dispute, partial(self._memory_named, viewpoint=viewpoint)
        )

    async def expand(self, id: str, *, viewpoint: str = "") -> Expanded:
        """Open what a context abbreviates: a block (``s_…``) or a message (``m_…``), by the id that the context shows.

        Raises NotFound, with a `viewpoint` also for what that character was not present for.
        """

        def read(tx: Transaction) -> Expanded:
            who = character_asked(tx, self.key.space, self.key.session, viewpoint) if viewpoint else ""
            return expanding.expand(tx, self.key, id, who)

        return await self._store.read(read)

    async def rewind(self, to: str, *, keep_notes: bool = False) -> Head | None:
        """Move the branch back to the message `to`: an id, the beginning of one, the id in its log, or ``"root"``.

        Later messages stay in the log, on no branch, and the next append continues from `to`. Returns the new head.
        With `keep_notes` pins, threads and facts that were written by hand after `to` are kept, as where only a message
        is to be replaced.
        """

        def move(tx: Transaction) -> Head | None:
            before = tx.log.head(self.key, self.branch)
            head = trees.rewind(tx, self.key, self.branch, to)
            if keep_notes:
                carry(tx, self.key, before, head)
            return head

        return await self._store.write(move)

    async def fork(self, name: str, *, at: str | None = None) -> Session:
        """Create the branch `name` at the message `at` (by default the head), and return a session on it."""
        name = self._resources.cleaning().text(name)
        await self._store.write(trees.fork, self.key, self.branch, name, at)
        return Session(self._resources, self.key, name, self._source, self.task, self._project)

    async def branches(self) -> Mapping[str, Head | None]:
        """Return the head of each branch, by name. Raises SessionNotFound before the first append."""
        return await self._store.read(lambda tx: tx.sessions.branches(self.key))

    async def tree(self, preset: str | Policy | None = None, viewpoint: str = "") -> Tree:
        """Return the branch's summaries by depth, the places where other branches leave it, and its open threads.

        `preset` is how the session is cut, by default as its contexts are; `viewpoint` is a character of a story, whose
        memory is shown. Nothing is written. Raises SessionNotFound before the first append, and BadInput for an unknown
        preset.
        """
        policy = await self._with_all_names(self._policy(preset).seen(viewpoint))
        voice = self._resources.voices.of(policy)
        return await self._store.read(trees.tree, self.key, self.branch, policy, self._count, voice)

    async def prune(self, branch: str = "", *, dry_run: bool = False) -> Pruned:
        """Delete for good every message that no branch leads to, with everything that depends on it.

        With `branch` that branch is dropped first, as `drop` does. With `dry_run` nothing is deleted, and the result
        counts the messages that would be, but not their summaries.
        """
        if dry_run:
            return await self._store.read(trees.prunable, self.key, branch)
        if branch:
            await self.drop(branch)
        return await self._store.write(lambda tx: tx.upkeep.prune(self.key))

    async def drop(self, branch: str) -> None:
        """Delete the name of a branch; its messages stay until `prune`.

        Raises BadInput if there is no such branch, or if no other branch leads to a message.
        """
        await self._store.write(trees.drop_branch, self.key, branch)

    async def messages(self, first: int = 0, last: int | None = None) -> Sequence[Message]:
        """Return the branch's messages from position `first` to `last`, both included (by default to the end).

        Positions count from 0. Raises BadInput for a negative one, and for a `last` before `first`.
        """
        if first < 0 or (last is not None and last < first):
            raise BadInput(
                f"`first` is {first} and `last` {last}; give positions from 0, and `last` not before `first`."
            )

        def read(tx: Transaction) -> Sequence[Message]:
            head = tx.log.head(self.key, self.branch)
            if head is None:
                return ()
            return tx.log.path(self.key, head.id, first, head.position if last is None else last)

        return await self._store.read(read)

    async def _read_source(self) -> str | None:
        """The format of the session's origin, which another process may have stored meanwhile."""
        if self._source is None:
            info = await self._store.read(lambda tx: tx.sessions.get(self.key))
            self._source = info.source if info else None
        return self._source

    async def _memory_named(self, id: str, *, viewpoint: str = "") -> Record | None:
        """The memory of the space with that id or abbreviation. Raises BadInput for several."""

        def read(tx: Transaction) -> Record | None:
            found = memory_named(tx, self.key.space, id)
            limits = ScopeLimits(viewpoint=viewpoint, undone=not viewpoint)
            return next(iter(Scope(tx, self.key.space, limits).seen([found]))) if found is not None else None

        return await self._store.read(read)

    def _policy(self, chosen: str | Policy | None, seen_by: str = "") -> Policy:
        """Return the given policy, or the session's own; with `seen_by` for that character's memory."""
        if chosen is None:
            policy = preset_of(self._source, self._resources.preset)
        else:
            policy = chosen if isinstance(chosen, Policy) else preset(chosen)
        return policy.seen(seen_by) if seen_by else policy

    async def _with_all_names(self, policy: Policy) -> Policy:
        """Return the policy with all names of its character. Raises BadInput if nobody in the session is called so."""
        if not policy.seen_by:
            return policy

        def read(tx: Transaction) -> str:
            if tx.log.head(self.key, self.branch) is None:
                return policy.seen_by
            if policy.seen_by in self._characters:
                return all_names(tx, self.key.space, policy.seen_by)
            who = character_asked(tx, self.key.space, self.key.session, policy.seen_by)
            self._characters.add(policy.seen_by)
            return who

        return policy.seen(await self._store.read(read))

    def _own_policy(self) -> tuple[Policy, Voice]:
        policy = self._policy(None)
        return policy, self._resources.voices.of(policy)

    def _summary_work(self, policy: Policy, budget: int = 0, *, leases: bool = True) -> SummaryWork:
        worker = Worker(self._store, self._resources.clock, leases=leases)
        writer = TextWriter(self._resources, worker, self.key, self.branch)
        return SummaryWork(writer, ContextOptions(budget=budget, policy=policy, count=self._count))

    def _check_models(self) -> None:
        models = self._resources.models_for(self.key)
        if models.for_task("notes") is None and models.for_task("story") is None:
            raise BadInput("This memory was opened without a model for summaries; open it with one: model=….")

    async def check(self) -> None:
        """Raise SessionNotFound unless the session has this branch."""
        there = await self.branches()
        if self.branch not in there:
            named = ", ".join(there) or "none"
            raise SessionNotFound(f"Session {self.id} has no branch {self.branch!r}; it has: {named}.")

    async def pin(self, text: str) -> Annotation:
        """Pin `text`: every context shows it word for word from now on, until it is released.

        If the session has no messages yet, the pin holds on every branch.
        """
        text = self._resources.cleaning().text(text)
        return await self._store.write(noting.pin, self.key, self.branch, text)

    async def release(self, pin: str) -> Annotation:
        """Release a pin, by its id or its words. Raises BadInput if no such pin stands."""
        return await self._store.write(noting.release, self.key, self.branch, pin, *self._own_policy())

    async def pins(self) -> Sequence[Pin]:
        """Return the constraints that stand: found in the words of users and system prompts, or pinned by hand.

        For a story the open threads are listed too.
        """
        return await self._store.read(noting.pins, self.key, self.branch, *self._own_policy())

    async def dispute(self, id: str, reason: str, *, claim: str = "") -> Annotation:
        """Dispute the summary `id`, or one `claim` of it in the summary's own words.

        Contexts mark it as disputed until a model has written it again from its sources in view of `reason`. Raises
        SummaryNotFound, and BadInput if the summary doesn't contain the claim.
        """
        reason = self._resources.cleaning().text(reason)
        return await self._store.write(noting.dispute, self.key, id, reason, claim)

    async def threads(
        self, *, resolved: bool = False, preset: str | Policy | None = None, viewpoint: str = ""
    ) -> Sequence[StoryThread]:
        """Return the canon and the open threads of a story, with `resolved` also those that have ended.

        `preset` is a preset for stories; with `viewpoint` only the threads that this character knows of are returned.
        """
        policy = await self._with_all_names(self._story_policy(preset, viewpoint))
        voice = self._resources.voices.of(policy)
        return await self._store.read(
            lambda tx: noting.list_threads(tx, self.key, self.branch, policy, voice, resolved=resolved)
        )

    async def add_thread(
        self, kind: str, text: str, *, who: str = "", whom: str = "", known_to: Sequence[str] = ()
    ) -> StoryThread:
        """Add a thread by hand: every context carries it until it is resolved.

        `kind` is ``promise``, ``debt``, ``quest``, ``threat``, ``secret``, ``lie``, ``wound``, ``possession``,
        ``relation``, ``question``, or ``canon`` for a fact that always stands. A context with a viewpoint shows the
        thread to `who` and to the characters in `known_to`. If that is empty, it shows it to `whom` too, unless it is a
        secret or a lie; and canon, or what names nobody and is not hidden, to everyone.
        """
        cleaning = self._resources.cleaning()
        words = cleaning.text(text), cleaning.text(who), cleaning.text(whom)
        known = tuple(cleaning.text(each) for each in known_to)
        return await self._store.write(noting.add_thread, self.key, self.branch, kind, *words, known_to=known)

    async def edit_thread(
        self, id: str, text: str = "", *, kind: str = "", who: str = "", whom: str = "", known_to: Sequence[str] = ()
    ) -> StoryThread:
        """Reword an open thread or a canon; what is not given stays. Raises BadInput if there is no such thread."""
        policy, cleaning = self._story_policy(None), self._resources.cleaning()
        voice, text = self._resources.voices.of(policy), cleaning.text(text)
        people = {"who": cleaning.text(who), "whom": cleaning.text(whom)}
        known = tuple(cleaning.text(each) for each in known_to)
        return await self._store.write(
            lambda tx: noting.edit_thread(
                tx, self.key, self.branch, id, text, policy, voice, kind=kind, known_to=known, **people
            )
        )

    async def resolve_thread(self, id: str, how: str = "") -> StoryThread:
        """Resolve a thread (`how` says in what way), or end a canon, by its id or its words."""
        policy = self._story_policy(None)
        voice, how = self._resources.voices.of(policy), self._resources.cleaning().text(how)
        return await self._store.write(noting.resolve_thread, self.key, self.branch, id, how, policy, voice)

    async def edit(self, id: str, text: str) -> Annotation:
        """Replace the text of the summary `id` of a story by `text`, which is shown until it is disputed.

        Raises SummaryNotFound, and BadInput for a block of an agent's work.
        """
        text = self._resources.cleaning().text(text)
        return await self._store.write(noting.write_summary, self.key, self.branch, id, text)

    def _story_policy(self, given: str | Policy | None, seen_by: str = "") -> Policy:
        """Return the given policy, the session's own if it is a story, else the preset for stories."""
        policy = self._policy(given, seen_by)
        return self._policy("story", seen_by) if given is None and policy.story is None else policy

    async def diary(
        self,
        tried: str | Sequence[str] = (),
        *,
        worked: str | Sequence[str] = (),
        failed: str | Sequence[str] = (),
        pattern: str = "",
        goal: str = "",
    ) -> Diary:
        """Return the diary of the branch's path; if arguments are given, add an entry of the agent to it first.

        An entry is about the current task: the approaches that the agent `tried` (several, or a text with one on each
        line), each with its outcome, what `worked`, what `failed`, the `pattern` behind it in one sentence, and the
        `goal` in the agent's own words. An entry takes precedence over what was derived from the calls. Names that
        don't occur in the session are marked as unverified, and secrets are removed. Further entries add lines.

        Raises BadInput for more than 8 lines in a section, and before the first message.
        """
        cleaning = self._resources.derived_cleaning()

        def clean_lines(name: str, text: str | Sequence[str]) -> tuple[str, ...]:
            return tuple(cleaning.text(line) for line in lines_of(name, text))

        notes = AgentNotes(
            tried=clean_lines("tried", tried),
            worked=clean_lines("worked", worked),
            failed=clean_lines("failed", failed),
            pattern=" ".join(clean_lines("pattern", pattern)),
            goal=" ".join(clean_lines("goal", goal)),
        )
        if not notes.is_empty:
            await write_entry(self._store, self.key, self.branch, notes, cleaning)
        return await read_diary(self._store, self.key, self.branch, self._count, cleaning)


async def session_at(
    resources: Resources, key: SessionKey, branch: str, must_exist: bool, task: str, project: str
) -> Session:
    """The session `key` on `branch`, as `Memory.session` promises it.

    A session that is not stored yet may begin on any branch. A stored one must have the branch: otherwise a misspelt
    name would begin a new conversation, which is then lost.
    """
    named = stated_project(project)
    info = await resources.store.read(lambda tx: tx.sessions.get(key))
    if info is None and must_exist:
        raise SessionNotFound.named(key.session, key.space)
    if named and info is not None:
        check_project(key.session, info.project, named)
    session = Session(resources, key, branch, info.source if info else None, task, named)
    if must_exist or (info is not None and branch != MAIN and await session.branches()):
        await session.check()
    return session


# The scratchpads of a space: read, rewritten as a whole, and turned into memories at the end of a task.


@validate_methods
class Scratchpad:
    """The working state of one task, shared by all sessions and processes that work on it; see `Memory.scratchpad`."""

    def __init__(self, resources: Resources, space: str, task: str, project: str | None = None) -> None:
        """Raise BadInput for an invalid task name; nothing is read yet.

        With `project` (empty: none) every call raises BadInput if the scratchpad belongs to another one.
        """
        self.task = resources.cleaning().text(check_task(task))
        self._project = project
        self._resources = resources
        self._space = space

    async def read(self) -> Pad | None:
        """Return its content, or None."""
        return await self._resources.store.read(self._read)

    async def write(
        self,
        *,
        goal: str = "",
        plan: Sequence[PlanStep | str] = (),
        facts: Sequence[str] = (),
        questions: Sequence[str] = (),
    ) -> Pad:
        """Replace its whole content: what is not given is dropped. A step of the plan may begin with ``[x]``.

        Raises BadInput, and keeps the old content, if it exceeds its limit of 300 tokens (saying by how much, and what
        is largest) or if nothing is given.
        """
        pad = Pad(
            task=self.task,
            goal=goal,
            plan=to_plan_steps(plan),
            facts=tuple(facts),
            questions=tuple(questions),
            written=self._resources.clock.now(),
            project=self._project or "",
        )
        pad = validate_pad(self._resources.cleaning().struct(pad), self._resources.count)
        if pad.is_empty:
            raise BadInput("There is nothing to write on the scratchpad; give a goal, or let go of it with drop().")

        def write_pad(tx: Transaction) -> Pad:
            before = self._read(tx)
            written = replace(pad, project=before.project) if before and not pad.project else pad
            tx.pads.write(self._space, written)
            return written

        return await self._resources.store.write(write_pad)

    async def finish(self, outcome: str = "") -> tuple[Remembered, ...]:
        """End the task: its facts become semantic memories, its `outcome` an episode, and the rest is deleted.

        This happens in one transaction, and once: without a scratchpad nothing is done. The memories have the agent as
        their source. Raises BadInput, and keeps everything, if one can't be remembered.
        """
        now = self._resources.clock.now()
        outcome = self._resources.cleaning().text(outcome)

        def promote(tx: Transaction) -> tuple[Remembered, ...]:
            pad = self._read(tx)
            if pad is None:
                return ()
            session = self.task if tx.sessions.get(SessionKey(self._space, self.task)) else ""
            drafts = promoted_drafts(pad, outcome, session, self._project or pad.project, now)
            done = settle_drafts(tx, self._space, drafts)
            tx.pads.remove(self._space, self.task)
            return tuple(done)

        return await self._resources.store.write(promote)

    async def drop(self) -> bool:
        """Delete it without remembering anything; False if there was none."""
        (_, was_there) = await self._resources.store.write(
            lambda tx: (self._read(tx), tx.pads.remove(self._space, self.task))
        )
        return was_there

    def _read(self, tx: Transaction) -> Pad | None:
        pad = tx.pads.read(self._space, self.task)
        check_pad(tx, self._space, self.task, pad, self._project)
        return pad


def promoted_drafts(pad: Pad, outcome: str, session: str, project: str, now: datetime) -> list[MemoryDraft]:
    """The drafts of memories from a scratchpad whose task ends."""
    facts = MemoryDetails(kind="semantic", origin="agent", session=session, project=project, at=pad.written)
    drafts = [memory_draft(fact, facts, now) for fact in pad.facts]
    if ended := " ".join(outcome.split()):
        text = ended if not pad.goal or pad.goal.casefold() in ended.casefold() else f"{pad.goal}: {ended}"
        happened = MemoryDetails(kind="episodic", origin="agent", session=session, project=project, at=now)
        drafts.append(memory_draft(text, happened, now))
    return drafts
