"""The proxy's sessions: which one a client's list of messages belongs to, and how the log follows that list."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import chain

from msgspec import Struct

import ireneo
from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.faces.cli.output import counted
from ireneo.faces.proxy.requests import ChatRequest, Digest, Json, digest, digests, drafts_of, words_of
from ireneo.types import FormatName, MessageId

NAME = "proxy-"
"""The prefix of a session's name, before the digest of its beginning."""
MOST_SESSIONS = 256
MOST_PLACES = 100_000
"""How many sessions are kept in memory, and how many digests of messages for each; beyond that the log is read again.
"""
RECENT_SESSIONS, TAIL, ALIKE = 50, 12, 2
"""How a list whose beginning no session has is assigned: to one of the 50 latest sessions, if at least 2 of the last
12 longer messages are the same."""
JOINT = 3
"""How many messages in a row must agree to find a list without its beginning on a path."""
ROOT = "root"
LEAST = 256
"""The smallest budget that a context can have."""
STEPS, NEARLY = 16, 0.75
"""The room for a conversation is a multiple of a sixteenth of the budget, and is kept while it is at least three
quarters of what is free, as another budget means a rebuild."""


class ProxySettings(Struct, frozen=True, kw_only=True):
    """How contexts are cut for the proxy's clients."""

    budget: int
    """The maximum number of tokens of a request: prompt, tools and conversation."""
    preset: str | None = None
    """None means coding for an agent with tools, else story."""
    viewpoint: str = ""
    prices: str | None = None
    whole_lists: bool = False
    """Whether clients always send all messages, so that messages missing at the beginning were deleted."""


class LaidList(Struct, frozen=True, kw_only=True):
    """Where a client's list is in the log."""

    kept: KeptSession
    format: FormatName
    last: MessageId
    """The id of its last message, which the model's answer follows."""
    last_digest: Digest
    answers_as: str
    """The name under which the model's answer is stored; empty if the client names no speakers."""
    preset: str
    viewpoint: str
    note: str
    """What the proxy logs about the list."""


class KeptSession:
    """A session in use, and where clients' messages are stored in it."""

    def __init__(self, session: ireneo.Session, log: Callable[[str], None]) -> None:
        self.session = session
        self.lock = asyncio.Lock()
        self._log = log
        self._places: dict[Digest, MessageId] = {}
        """Messages by the digest of everything said up to them."""
        self._room = 0
        self._is_read = False
        self._logged: set[str] = set()

    async def lay(self, request: ChatRequest, *, whole: bool) -> tuple[MessageId, Digest]:
        """Store a list's new messages and move the branch to its last one; return that id and the list's digest."""
        try:
            return await self._store_list(request, whole=whole)
        except MessageNotFound:
            # Messages were pruned or forgotten meanwhile, so these places are out of date.
            self._places.clear()
            self._is_read = False
            return await self._store_list(request, whole=whole)

    async def _store_list(self, request: ChatRequest, *, whole: bool) -> tuple[MessageId, Digest]:
        if not self._is_read or len(self._places) > MOST_PLACES:
            self._places.clear()
            await self._read()
        drafts = list(chain.from_iterable(request.drafts))
        after, marks = ROOT, request.marks
        if marks[0] not in self._places and not whole:
            after, before = await self._find_continuation(drafts)
            marks = digests(drafts, before) if before else marks
        # A client's message may be stored as two (tool results and the user's text): only the last is looked up.
        ends, end = [0], 0
        for each in request.drafts:
            end += len(each)
            ends.append(end)
        known = next((at for at in range(len(ends) - 1, 0, -1) if ends[at] and marks[ends[at] - 1] in self._places), 0)
        if known:
            after = self._places[marks[ends[known] - 1]]
        if fresh := drafts[ends[known] :]:
            after = await self._append(fresh, request.format, after, marks[ends[known] :])
        branches = await self.session.branches()
        head = branches.get(self.session.branch)
        if head is None or head.id != after:
            await self.session.rewind(after, keep_notes=True)
        return MessageId(after), marks[-1]

    async def _append(
        self, drafts: Sequence[ireneo.Draft], name: FormatName, after: str, marks: Sequence[Digest]
    ) -> str:
        """Append messages after another one, and note their places; returns the id of the last message."""
        # A client never sees its context, so a block in its messages is text like any other.
        done = await self.session.append(drafts, format=name, after=after, as_said=True)
        if len(done.ids) == len(marks):
            self._places.update(zip(marks, done.ids, strict=True))
        elif done.ids:
            self._places[marks[-1]] = done.ids[-1]
        return done.ids[-1] if done.ids else after

    async def _read(self) -> None:
        """Read the places of the branch from the log."""
        path = await self.session.messages()
        marks = await asyncio.to_thread(digests, [message.draft for message in path])
        self._places.update((mark, message.id) for mark, message in zip(marks, path, strict=True))
        self._is_read = True

    async def _find_continuation(self, drafts: Sequence[ireneo.Draft]) -> tuple[str, Digest]:
        """Find where on the path a list without its beginning continues; the root if it does not."""
        path = await self.session.messages()
        begins = [digest(draft) for draft in drafts[:JOINT]]
        at = await asyncio.to_thread(_last_agreement, [message.draft for message in path], begins)
        if not at:
            return ROOT, b""
        self.log_once(
            f"{self.session.id}: the client leaves out the first {at:,} messages; they stay in memory. Where they were "
            "deleted, and the client always sends all there is, start the proxy with --whole-lists."
        )
        return path[at - 1].id, digests([message.draft for message in path[:at]])[-1]

    async def keep(self, laid: LaidList, answers: Sequence[Json]) -> None:
        """Store the answers to a list; the branch ends at the first of them."""
        async with self.lock:
            for answer in reversed(answers):
                named = {**answer, "name": laid.answers_as} if laid.answers_as else answer
                drafts = drafts_of(laid.format, named)
                await self._append(drafts, laid.format, laid.last, digests(drafts, laid.last_digest))

    async def catch_up(self, laid: LaidList) -> None:
        """Write a story's summaries that are due and need no model, before the next context needs them."""
        if laid.preset == "story":
            await self.session.catch_up(preset=laid.preset, viewpoint=laid.viewpoint)

    def room(self, free: int, budget: int) -> int:
        """Return the budget of the next context, in tokens.

        The last budget is kept while it is between three quarters of `free` and `free`. Otherwise it is `free`, rounded
        down to a sixteenth of the whole budget, and at least 256.
        """
        if free < LEAST:
            self.log_once(
                f"{self.session.id}: the prompt and the tools alone cost {budget - free:,} of {budget:,} tokens, and "
                "the conversation is cut to next to nothing; give a larger --budget."
            )
        if not free * NEARLY <= self._room <= free:
            self._room = max(free - free % max(budget // STEPS, 1), LEAST)
        return self._room

    def log_once(self, sentence: str) -> None:
        """Log a sentence, unless a sentence with the same beginning was logged for this session."""
        begins = sentence[: len(self.session.id) + 24]
        if begins not in self._logged:
            self._logged.add(begins)
            self._log(sentence)


def _last_agreement(path: Sequence[ireneo.Draft], begins: Sequence[Digest]) -> int:
    """Return the last position, after the first, where a path agrees with a list's beginning; 0 for none."""
    said = [digest(draft) for draft in path]
    places = range(len(said) - JOINT, 0, -1) if len(begins) == JOINT else ()
    return next((at for at in places if said[at : at + JOINT] == begins), 0)


class ProxySessions:
    """The sessions of a memory that the clients of a proxy use."""

    def __init__(self, memory: ireneo.Memory, settings: ProxySettings, log: Callable[[str], None]) -> None:
        self._memory = memory
        self._settings = settings
        self._log = log
        self._at_hand: dict[str, KeptSession] = {}
        self._called: dict[str, str] = {}
        """Sessions that were found by the end of a list, by the name that the list's beginning would give."""

    async def lay(self, request: ChatRequest, named: str) -> tuple[bytes | None, LaidList]:
        """Store a request in the session `named`, or in the one that it belongs to.

        Returns the body to send to the API; None if the client's own body can be sent.
        """
        name = named or await self._name(request)
        kept = await self._get_session(name)
        settings = self._settings
        preset = settings.preset or ("coding" if request.has_tools else "story")
        story = preset == "story"
        viewpoint = settings.viewpoint if story else ""
        async with kept.lock:
            last, mark = await kept.lay(request, whole=settings.whole_lists)
            if story:
                await kept.session.catch_up(preset=preset, viewpoint=viewpoint)
            beside = self._memory.count(request.beside().decode())
            context = await kept.session.context(
                kept.room(settings.budget - beside, settings.budget),
                to=request.format,
                preset=preset,
                prices=None if story else settings.prices,
                viewpoint=viewpoint,
            )
        body = request.with_context(context)
        many, sent = counted(len(request.said), "message"), f" → {context.tokens:,}" if body else ""
        note = f"{name}: {many}, {context.tokens_before:,} tokens{sent}, and {beside:,} of prompt and tools"
        laid = LaidList(
            kept=kept,
            format=request.format,
            last=last,
            last_digest=mark,
            answers_as=request.answers_as,
            preset=preset,
            viewpoint=viewpoint,
            note=note,
        )
        return body, laid

    async def _name(self, request: ChatRequest) -> str:
        """Return the session of a list, found by its beginning or else its end; otherwise a new one."""
        first = next((at for at, each in enumerate(request.said) if each.get("role") == "user"), len(request.said) - 1)
        begins = list(chain.from_iterable(request.drafts[: first + 1]))
        name = NAME + digests(begins)[-1].hex()[:12]
        if name in self._called:
            return self._called[name]
        if name not in self._at_hand and not await self._is_there(name) and len(request.said) > first + 2:
            name = self._called[name] = await self._find_by_end(request) or name
        return name

    async def _is_there(self, name: str) -> bool:
        try:
            await self._memory.session(name, must_exist=True)
        except SessionNotFound:
            return False
        return True

    async def _find_by_end(self, request: ChatRequest) -> str:
        """Return the recent session whose end agrees with a list's; empty for none."""
        ends = words_of(list(chain.from_iterable(request.drafts[-TAIL:])))
        best, most = "", ALIKE - 1
        for info in list(await self._memory.sessions())[:RECENT_SESSIONS]:
            kept = await self._memory.session(info.key.session)
            head = (await kept.branches()).get(kept.branch)
            if head is None:
                continue
            path = await kept.messages(max(head.position - TAIL + 1, 0))
            alike = len(ends & words_of([message.draft for message in path]))
            if alike > most:
                best, most = info.key.session, alike
        return best

    async def _get_session(self, name: str) -> KeptSession:
        if not name.strip():
            raise BadInput("The name of the session is empty; leave the header X-Ireneo-Session out, or name one.")
        kept = self._at_hand.pop(name, None)
        if kept is None:
            kept = KeptSession(await self._memory.session(name), self._log)
        self._at_hand[name] = kept
        if len(self._at_hand) > MOST_SESSIONS:
            idle = next((each for each, other in self._at_hand.items() if not other.lock.locked()), name)
            del self._at_hand[idle]
        return kept
