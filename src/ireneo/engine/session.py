"""One session, as its user holds it: the verbs on one branch of one tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypedDict, Unpack, overload

from msgspec.structs import replace

from ireneo.context.compose import ContextOptions
from ireneo.engine import annotations as noting
from ireneo.engine import context as cutting
from ireneo.engine import diary as diaries
from ireneo.engine import expand as expanding
from ireneo.engine import notes as own_notes
from ireneo.engine import story_notes
from ireneo.engine import tree as trees
from ireneo.engine.annotations import Pin
from ireneo.engine.append import Appended, Given, GivenPlace, append_given
from ireneo.engine.context import ContextCache
from ireneo.engine.diary import Diary
from ireneo.engine.encode import (
    AnthropicContext,
    Context,
    OpenAIContext,
    ResponsesContext,
    gives_objects,
    with_objects,
)
from ireneo.engine.expand import Expanded, Tool
from ireneo.engine.expand import tools as tools_of
from ireneo.engine.leasing import Worker
from ireneo.engine.notes import NotesTaken
from ireneo.engine.reports import OnProgress, SummariseReport, WorkReport, run_steps, work_report
from ireneo.engine.resources import Resources
from ireneo.engine.scope import Scope, ScopeLimits, all_names, character_asked, is_open, open_projects, project_asked
from ireneo.engine.story_notes import StoryThread
from ireneo.engine.tree import Tree
from ireneo.engine.work import FAILURES_IN_A_ROW, Summarised, SummaryWork, TextWriter, WorkResult, summarised_by
from ireneo.errors import BadInput, SessionNotFound
from ireneo.formats.chat.format import FormatName, ThinkingRule
from ireneo.formats.chat.registry import DEFAULT_FORMAT, chat_format, chat_format_of
from ireneo.lessons.write_diary import AgentNotes, lines_of
from ireneo.log.message import Head, Message, MessageId
from ireneo.log.tree import Annotation, SessionKey
from ireneo.memories.record import Record
from ireneo.ports.store import Pruned, Transaction
from ireneo.prompts.replies import Voice
from ireneo.summaries.policy import Policy, Prices, preset, preset_of

MAX_TEXTS = 1_000_000
"""More than any story has: all that are due."""


class ContextSettings(TypedDict, total=False):
    """What `Session.context` takes besides a budget and a format."""

    preset: str | Policy | None
    prices: str | Prices | None
    explain: bool
    rebuild: bool
    viewpoint: str
    thinking: ThinkingRule | None


class Session:
    """A conversation or a run, on one of its branches; made by `Memory.session`."""

    def __init__(
        self, resources: Resources, key: SessionKey, branch: str, source: str | None, task: str = "", project: str = ""
    ) -> None:
        """Name the place; nothing is read yet. Contexts show the scratchpad of `task`, of none that of the id."""
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
        """Those of whom it is known that they are there."""
        self._shown: tuple[MessageId, int] | None = None
        """Of the context that was given out last, where it shows the whole path: its end, and how many messages."""

    @property
    def id(self) -> str:
        """The session's name in its space."""
        return self.key.session

    async def project(self) -> str:
        """The project that it works on, as it was told or as its log tells; empty where none is known."""
        info = await self._store.read(lambda tx: tx.sessions.get(self.key))
        return (info.project if info else None) or self._project

    async def is_seen_from(self, project: str) -> bool:
        """Whether its messages may be seen by who works on `project` (empty: on none), or was marked as general."""
        there = await self.project()
        opened = await self._store.read(open_projects, self.key.space, project_asked(project))
        return is_open(opened, {there})

    async def append(
        self,
        messages: Given | Sequence[Given],
        *,
        format: FormatName | None = None,
        after: str | None = None,
        as_said: bool = False,
    ) -> Appended:
        """Store one message or several after the branch's head; durable once this returns.

        A message is a provider's dictionary, what a client of OpenAI, Anthropic or Google returned, a message of
        LangChain or Pydantic AI, the result of an agent's run (its new messages), or the words of the user; a request
        or a state that holds `messages` will do as well. Each is read in the format whose marks it bears. `format`
        says which one they are all in; what is in another is refused then. The first that tells is the session's own.

        With `after`, the id of a message or ``"root"``, they go there instead, and offering the same again stores
        nothing twice: offer a whole history after ``"root"`` each time, and only what is new is stored. Raises
        UnreadableLog with one sentence that says what to hand in instead.

        A message is said when its own `timestamp` (or `created_at`, `time`, `Draft.at`) says; one without, when what
        stands beside it was said, else now. The time is no part of its id: offered again, the first one stays.

        Keys, tokens and passwords in them become marks such as ``[REDACTED password]`` before anything is stored, in
        a message of whichever role, unless the memory was opened with `keep_secrets`.

        A context that comes back in it, with new messages behind it, is known for what it is: a block stands for what
        it covers, a shortened or masked message for itself whole, and nothing of it is stored again. Raises BadInput
        where such a list isn't what the branch says. With `as_said`, from a caller who never saw a context, what reads
        like a part of one is what somebody said.
        """
        source = await self._read_source()
        # Read in the transaction: in its thread, and in the order in which appends were asked for.
        appended, self._source = await self._store.write(
            append_given,
            self.key,
            self.branch,
            messages,
            self._count,
            format=format,
            source=source,
            place=GivenPlace(after=after, shown=self._shown, as_said=as_said),
            project=self._project,
            now=self._resources.clock.now(),
            cleaning=self._resources.cleaning(),
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
        """Cut the session to `budget` tokens, in the provider's format `to` (that of the session, where none is given).

        Where the session was begun with objects (of LangChain, Pydantic AI or google-genai), the messages of a context
        in their format are such objects as well.

        With the provider's `prices` (``"anthropic"``, say) it is rebuilt when that costs least. `explain` says why it
        was kept or rebuilt, and after how many calls that has paid for itself. `rebuild` makes it anew, with the
        summaries that were written since, where it would be kept. Never calls a model. Raises BudgetTooSmall under 256
        tokens, and UnknownFormat.

        With `preset` ``"story"`` the past is shown from coarse to fine. `viewpoint` shows what one character remembers,
        who knows only what she was present for; BadInput is raised for one whom nobody in the session knows.

        `thinking` says what becomes of a model's thinking, where its format has a place for it: ``"prefix"`` shows it
        as long as nothing before it was changed, ``"turn"`` that of the running turn, whatever was changed before it
        (for models that don't bind their thinking to what stood before it), ``"none"`` shows none. None is the rule of
        the format. Where the next call must go without extended thinking, `Context.thinking_off` says why.
        """
        chat = chat_format(to or chat_format_of(await self._read_source()) or DEFAULT_FORMAT)
        policy = await self._seen(self._policy(preset, viewpoint))
        if prices is not None and policy.story is not None:
            raise BadInput("A story is told anew for each context, and `prices` decide nothing of it; leave them out.")
        now = self._resources.clock.now()
        idle = (now - self._asked_at).total_seconds() if self._asked_at else None
        self._asked_at = now
        options = ContextOptions(
            budget=budget,
            policy=policy if prices is None else policy.priced(prices),
            count=self._count,
            idle_seconds=idle,
            rebuild=rebuild,
            asked=thinking,
        )
        voice = self._resources.voice_of(policy)
        found = await cutting.context(self._store, self.key, self.branch, chat, options, voice, self._cache)
        # One with blocks is known by them.
        whole = found.view and all(row.what == "message" for row in found.view)
        self._shown = (MessageId(found.view[-1].last), len(found.messages)) if whole else None
        if gives_objects(self._source, chat.name):
            found = with_objects(found)
        return found if explain else replace(found, explained=None)

    async def summarise(
        self, budget: int, *, preset: str | Policy | None = None, on_progress: OnProgress[Summarised] = None
    ) -> SummariseReport:
        """Let the memory's model write the summaries that a context of `budget` tokens shows, one after the other.

        They are checked against their sources, and taken up at the next rebuild. A model that fails changes nothing.
        `on_progress` is told of each. Raises BadInput where the memory was opened without a model.
        """
        self._check_models()
        policy = self._policy(preset)
        done: list[Summarised] = []

        def add(worked: WorkResult) -> None:
            if summarised := summarised_by(worked):
                done.append(summarised)
                if on_progress is not None:
                    on_progress(summarised)

        # Without leases, notes that failed may be asked for again at once.
        work = self._work(policy, budget, leases=policy.story is not None)
        await run_steps(work.visit(MAX_TEXTS, FAILURES_IN_A_ROW), add)
        return SummariseReport(summaries=tuple(done))

    async def notes_request(self, *, preset: str | Policy | None = None) -> str:
        """What to append to the running conversation, as the user's words, to have the agent take notes by itself.

        Send it to the model of the agent as it is called anyway (the provider has cached all that comes before), hand
        the answer to `take_notes`, and go on without either: neither belongs in the log. It asks for notes on what has
        none yet. Raises BadInput before the first message, and for a story.
        """
        options, voice = self._noting(preset)
        return await self._store.read(own_notes.notes_request, self.key, self.branch, options, voice)

    async def take_notes(self, reply: str, *, preset: str | Policy | None = None) -> NotesTaken:
        """Check the agent's answer to `notes_request`, and store what the messages show of it.

        From the next rebuild on contexts show it in the place of what the structure gives. What stands nowhere in the
        messages is struck. Offered twice it is stored once. Raises BadInput where the reply is none; then nothing is
        changed.
        """
        options, voice = self._noting(preset)
        reply = self._resources.cleaning().text(reply)
        return await own_notes.take_notes(self._store, self.key, self.branch, options, voice, reply)

    def _noting(self, preset: str | Policy | None) -> tuple[ContextOptions, Voice]:
        policy = self._policy(preset)
        return ContextOptions(budget=0, policy=policy, count=self._count), self._resources.voice_of(policy)

    async def due(self, budget: int, *, preset: str | Policy | None = None) -> int:
        """How many summaries `summarise` would ask the memory's model for; about the work of a context, and no model.

        Raises BadInput where the memory was opened without a model.
        """
        self._check_models()
        return await self._work(self._policy(preset), budget).due()

    async def catch_up(
        self, *, preset: str | Policy | None = None, viewpoint: str = "", on_progress: OnProgress[WorkResult] = None
    ) -> WorkReport:
        """Make the summaries that are due and need no model, so that `context` has little to write.

        `on_progress` is told how far it is. What is done stays, wherever it is broken off; a short run of an agent
        needs nothing.
        """
        policy = await self._seen(self._policy(preset, viewpoint))
        return await work_report(self._work(policy).catch_up(), on_progress)

    def tools(self, *, viewpoint: str = "") -> Sequence[Tool]:
        """`expand` and `dispute` as plain functions of text, to be given to an agent.

        With the `viewpoint` of a character they open what she remembers, and nothing else.
        """
        return tools_of(
            partial(self.expand, viewpoint=viewpoint), self.dispute, partial(self._memory_named, viewpoint=viewpoint)
        )

    async def expand(self, id: str, *, viewpoint: str = "") -> Expanded:
        """Open what a context shows in short: a block (``s_…``) or a message (``m_…``), by the id that it shows.

        With the `viewpoint` of a character what she remembers. Raises NotFound, for what others said unheard as well.
        """

        def read(tx: Transaction) -> Expanded:
            who = character_asked(tx, self.key.space, self.key.session, viewpoint) if viewpoint else ""
            return expanding.expand(tx, self.key, id, who)

        return await self._store.read(read)

    async def rewind(self, to: str) -> Head | None:
        """Go back to the message `to` (an id, its beginning, the id that its log gave it, or ``"root"``).

        What came after it stays in the log, on no branch; the next append goes on from here.
        """
        return await self._store.write(trees.rewind, self.key, self.branch, to)

    async def fork(self, name: str, *, at: str | None = None) -> Session:
        """Make the branch `name` at the message `at` (the head, where none is given), and stand on it."""
        name = self._resources.cleaning().text(name)
        await self._store.write(trees.fork, self.key, self.branch, name, at)
        return Session(self._resources, self.key, name, self._source, self.task, self._project)

    async def branches(self) -> Mapping[str, Head | None]:
        """Where each branch stands. Raises SessionNotFound before the first append."""
        return await self._store.read(lambda tx: tx.sessions.branches(self.key))

    async def tree(self, preset: str | Policy | None = None, viewpoint: str = "") -> Tree:
        """What the branch has become: its summaries depth by depth, where others leave it, and its open threads.

        As `preset` cuts it, or as the session is cut where none is named; `viewpoint` looks at the memory of one
        character of a story. Writes nothing. Raises BadInput for a preset that there is not.
        """
        policy = await self._seen(self._policy(preset).seen(viewpoint))
        voice = self._resources.voice_of(policy)
        return await self._store.read(trees.tree, self.key, self.branch, policy, self._count, voice)

    async def prune(self, branch: str = "", *, dry_run: bool = False) -> Pruned:
        """Take out every message that no branch leads to, for good, with all that hangs on it.

        With `branch` the name of that one is forgotten first, which raises as `drop` does. A `dry_run` changes nothing
        and says how many messages would go; it does not count their summaries.
        """
        if dry_run:
            return await self._store.read(trees.prunable, self.key, branch)
        if branch:
            await self.drop(branch)
        return await self._store.write(lambda tx: tx.upkeep.prune(self.key))

    async def drop(self, branch: str) -> None:
        """Forget the name of a branch; its messages stay until `prune`.

        Raises BadInput where there is no such branch, or where no other one leads to a message.
        """
        await self._store.write(trees.drop_branch, self.key, branch)

    async def messages(self, first: int = 0, last: int | None = None) -> Sequence[Message]:
        """Read the branch's path from position `first` to `last`, both included (its end, where none is given)."""

        def read(tx: Transaction) -> Sequence[Message]:
            head = tx.log.head(self.key, self.branch)
            if head is None:
                return ()
            return tx.log.path(self.key, head.id, first, head.position if last is None else last)

        return await self._store.read(read)

    async def _read_source(self) -> str | None:
        """What the session came from; another may have told since this was made."""
        if self._source is None:
            info = await self._store.read(lambda tx: tx.sessions.get(self.key))
            self._source = info.source if info else None
        return self._source

    async def _memory_named(self, id: str, *, viewpoint: str = "") -> Record | None:
        """The memory of the space with that id, or the only one whose id begins so. Raises BadInput for several."""

        def read(tx: Transaction) -> Record | None:
            found = trees.memory_named(tx, self.key.space, id)
            limits = ScopeLimits(viewpoint=viewpoint, undone=not viewpoint)
            return next(iter(Scope.of(tx, self.key.space, limits).seen([found]))) if found is not None else None

        return await self._store.read(read)

    def _policy(self, given: str | Policy | None, seen_by: str = "") -> Policy:
        """The policy that is meant: the one that was named, or the session's own; a character's, where one is named."""
        if given is None:
            policy = preset_of(self._source, self._resources.preset)
        else:
            policy = given if isinstance(given, Policy) else preset(given)
        return policy.seen(seen_by) if seen_by else policy

    async def _seen(self, policy: Policy) -> Policy:
        """The same policy, with all names of its character. Raises BadInput for one who is nowhere in the session."""
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

    def _own(self) -> tuple[Policy, Voice]:
        policy = self._policy(None)
        return policy, self._resources.voice_of(policy)

    def _work(self, policy: Policy, budget: int = 0, *, leases: bool = True) -> SummaryWork:
        worker = Worker(self._store, self._resources.clock, leases=leases)
        writer = TextWriter(self._resources, worker, self.key, self.branch)
        return SummaryWork(writer, ContextOptions(budget=budget, policy=policy, count=self._count))

    def _check_models(self) -> None:
        models = self._resources.models_for(self.key)
        if models.for_task("notes") is None and models.for_task("story") is None:
            raise BadInput("This memory was opened without a model for summaries; open it with one: model=….")

    async def check(self) -> None:
        """Raise SessionNotFound unless the session has the branch that this stands on."""
        if self.branch not in await self.branches():
            raise SessionNotFound(f"Session {self.id} has no branch {self.branch!r}.")

    async def pin(self, text: str) -> Annotation:
        """Pin `text` here: it is shown word for word in every context from now on, until it is released.

        A session that has no message yet may be pinned: then it stands from the first one on, on every branch.
        """
        text = self._resources.cleaning().text(text)
        return await self._store.write(noting.pin, self.key, self.branch, text)

    async def release(self, pin: str) -> Annotation:
        """Let go of a pin, by its id or its words. Raises BadInput where no such pin stands."""
        return await self._store.write(noting.release, self.key, self.branch, pin, *self._own())

    async def pins(self) -> Sequence[Pin]:
        """The constraints that stand: those that were found in what users and the system said, and those by hand.

        Of a story the open threads as well.
        """
        return await self._store.read(noting.pins, self.key, self.branch, *self._own())

    async def dispute(self, id: str, reason: str, *, claim: str = "") -> Annotation:
        """Say that the summary `id` is wrong, or one `claim` of it, in its words.

        It is shown as disputed until a model has written it again from its sources, with `reason` in view. Raises
        SummaryNotFound, and BadInput where it doesn't say the claim.
        """
        reason = self._resources.cleaning().text(reason)
        return await self._store.write(noting.dispute, self.key, id, reason, claim)

    async def threads(
        self, *, resolved: bool = False, preset: str | Policy | None = None, viewpoint: str = ""
    ) -> Sequence[StoryThread]:
        """The facts that always stand in this story and its open threads; where asked for the `resolved` ones too.

        As `preset` cuts it, which is of a story; `viewpoint` has those that a character knows of.
        """
        policy = await self._seen(self._story(preset, viewpoint))
        voice = self._resources.voice_of(policy)
        return await self._store.read(
            lambda tx: story_notes.list_threads(tx, self.key, self.branch, policy, voice, resolved=resolved)
        )

    async def add_thread(
        self, kind: str, text: str, *, who: str = "", whom: str = "", known_to: Sequence[str] = ()
    ) -> StoryThread:
        """Write a thread of the story by hand: it is carried in every context until it is resolved.

        `kind` is ``promise``, ``debt``, ``quest``, ``threat``, ``secret``, ``lie``, ``wound``, ``possession``,
        ``relation``, ``question``, or ``canon`` for a fact that always stands. In a character's memory stands what is
        `known_to` it; without that canon, and threads `who` or `whom` it names (a secret: `who`).
        """
        cleaning = self._resources.cleaning()
        given = cleaning.text(text), cleaning.text(who), cleaning.text(whom)
        known = tuple(cleaning.text(each) for each in known_to)
        return await self._store.write(story_notes.add_thread, self.key, self.branch, kind, *given, known_to=known)

    async def edit_thread(
        self, id: str, text: str = "", *, kind: str = "", who: str = "", whom: str = ""
    ) -> StoryThread:
        """Put an open thread, or a fact, in other words; what is not given stays. Raises BadInput for none."""
        policy = self._story(None)
        voice, text = self._resources.voice_of(policy), self._resources.cleaning().text(text)
        return await self._store.write(
            lambda tx: story_notes.edit_thread(
                tx, self.key, self.branch, id, text, policy, voice, kind=kind, who=who, whom=whom
            )
        )

    async def resolve_thread(self, id: str, how: str = "") -> StoryThread:
        """Say that a thread has come to its end (and `how`), or that a fact holds no longer; by its id or its words."""
        policy = self._story(None)
        voice, how = self._resources.voice_of(policy), self._resources.cleaning().text(how)
        return await self._store.write(story_notes.resolve_thread, self.key, self.branch, id, how, policy, voice)

    async def edit(self, id: str, text: str) -> Annotation:
        """Write the summary `id` of a story by hand: its words stand above all others, until it is disputed.

        Raises SummaryNotFound, and BadInput for a block of an agent's work.
        """
        text = self._resources.cleaning().text(text)
        return await self._store.write(story_notes.write_summary, self.key, self.branch, id, text)

    def _story(self, given: str | Policy | None, seen_by: str = "") -> Policy:
        """The policy of a story that is meant: the session's own where that is one's, else the preset for stories."""
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
        """The diary of this path; with arguments, once they are written into it.

        What the agent writes is of the task that is being worked on: the approaches that it `tried` (several, or a
        text with one a line), each with its outcome, what `worked`, what `failed`, the `pattern` behind it in one
        sentence, and the `goal` in its own words. It leads over what the structure shows of that task. Whatever it
        names that stands nowhere in the session is marked as unverified, and secrets are taken out. Written twice,
        the lines add up. Raises BadInput over 8 lines of a section, and before the first message.
        """
        cleaning = self._resources.drawing()

        def said(name: str, text: str | Sequence[str]) -> tuple[str, ...]:
            return tuple(cleaning.text(line) for line in lines_of(name, text))

        given = AgentNotes(
            tried=said("tried", tried),
            worked=said("worked", worked),
            failed=said("failed", failed),
            pattern=" ".join(said("pattern", pattern)),
            goal=" ".join(said("goal", goal)),
        )
        if not given.is_empty:
            await diaries.write_entry(self._store, self.key, self.branch, given, cleaning)
        return await diaries.read_diary(self._store, self.key, self.branch, self._count, cleaning)
