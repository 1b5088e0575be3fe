"""Opening a memory: where the adapters meet the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial, wraps
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, NoReturn, ParamSpec, TypeAlias

from ireneo.adapters.embed.opening import open_embedder
from ireneo.adapters.fleet import open_workers
from ireneo.adapters.llm.model import open_model
from ireneo.adapters.log_files import LogFile
from ireneo.adapters.opening import migrate_store, open_store
from ireneo.compacting import TokenCounts, tokenizer
from ireneo.engine.arguments import validate_arguments
from ireneo.engine.memory import Memory
from ireneo.engine.models import Limits, Models
from ireneo.engine.resources import KEEP_MEMORIES, Resources, SystemClock
from ireneo.engine.scope import set_projects
from ireneo.errors import BadInput
from ireneo.language.topics import Voice
from ireneo.ports.models import Embedder, LanguageModel, Tokenizer
from ireneo.summaries.policy import Policy, VoiceRule
from ireneo.summaries.policy import preset as preset_named

if TYPE_CHECKING:
    from ireneo.engine.exchange import CopyTally
    from ireneo.ports.models import Workers
    from ireneo.ports.store import Migrated

ModelChoice: TypeAlias = "str | LanguageModel | Mapping[str, str | LanguageModel] | Models | None"
P = ParamSpec("P")


class _Opening(AbstractAsyncContextManager[Memory]):
    """A memory that is opened by `async with`; used without, it says so."""

    def __init__(self, manager: AbstractAsyncContextManager[Memory]) -> None:
        self._manager = manager

    async def __aenter__(self) -> Memory:
        return await self._manager.__aenter__()

    async def __aexit__(self, *raised: Any) -> bool | None:  # noqa: ANN401 (what the manager takes)
        return await self._manager.__aexit__(*raised)

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"The memory is not open yet, and has no {name!r}; use `async with ireneo.open(…) as memory:`, "
            "or ireneo.sync.open without await."
        )


def _entered(opening: Callable[P, AbstractAsyncContextManager[Memory]]) -> Callable[P, _Opening]:
    @wraps(opening)
    def open(*given: P.args, **named: P.kwargs) -> _Opening:
        return _Opening(opening(*given, **named))

    return open


@_entered
@asynccontextmanager
@validate_arguments
async def open(
    url: str | PathLike[str] = "memory.db",
    *,
    space: str = "default",
    model: ModelChoice = None,
    embedder: str | Embedder | None = None,
    preset: str | Policy = "coding",
    tokens: TokenCounts | Tokenizer = "estimate",
    durability: Literal["full", "normal"] = "full",
    voice: Voice | None = None,
    limits: Limits | None = None,
    listen: bool = True,
    keep_memories: int = KEEP_MEMORIES,
    keep_secrets: bool = False,
) -> AsyncIterator[Memory]:
    """Open a memory: the SQLite file at `url` (created if needed), or ``":memory:"`` for a temporary one.

    ``"postgresql://user@host/name"`` is an existing database, for many machines (the extra `postgres`). A database
    without write permission is opened for reading: writes raise ReadOnlyStore. `space` is the tenant, user or
    character: no call reaches another.

    `model` writes the richer summaries (`Session.summarise`, `Memory.work`): a name such as
    ``"anthropic:claude-haiku-4-5"`` or ``"ollama:llama3"``, a model of your own, one for each task as ``{"turn": …,
    "story": …}``, or the result of `models`, for a server of your own.

    `embedder` lets `recall` find what is said in other words: ``"local"`` (the extra `local`: a small model on this
    machine, for English), ``"multilingual"`` (the extra of that name: one for sixteen languages),
    ``"openai:text-embedding-3-small"``, ``"ollama:nomic-embed-text"``, or one of your own. Without one it searches by
    words. Vectors are made by `Memory.work`, or by `Memory.embed` alone.

    `preset` is how sessions are cut by default: ``"coding"`` for the work of an agent, ``"story"`` for characters,
    companions and any conversation without end.

    `tokens` is the tokenizer: a fast and cautious estimate (``"estimate"``), an exact one (``"o200k"``, the extra
    `tokens`), or one of your own.

    With ``durability="full"`` acknowledged writes survive a power cut; ``"normal"`` is faster and may lose the last of
    them.

    Summaries are written in the first person, and stories in the third except for what a character remembers; `voice`
    changes that. `limits` is what models may cost, by default `Limits()`. `Memory.work` makes memories of what users
    say, unless `listen` is false; `keep_memories` is how many stay in use, and the least retained of the others are
    archived.

    Keys, tokens and passwords are replaced by marks such as ``[REDACTED password]``. With `keep_secrets` they are
    stored as they are, except in what is derived from messages: lessons, episodes, diaries.

    Raises NotADatabase, NewerDatabase, Unreachable, StoreBusy, and BadInput for a wrong setting.
    """
    # Imported when used, so that `import ireneo` loads no detector.
    from ireneo.adapters.redact import SecretRedactor

    if keep_memories < 1:
        raise BadInput(f"{keep_memories} memories can't be kept; give at least 1.")
    chosen = model if isinstance(model, Models) else models(model)
    embeds = open_embedder(embedder) if isinstance(embedder, str) or embedder is None else embedder
    counts = tokenizer(tokens)
    store = await open_store(fspath(url), durability=durability)
    resources = Resources(
        store=store,
        count=counts.count,
        clock=SystemClock(),
        models=chosen,
        limits=limits or Limits(),
        voices=VoiceRule(work=voice or "first", story=voice),
        preset=preset if isinstance(preset, Policy) else preset_named(preset),
        listen=listen,
        keep_memories=keep_memories,
        embedder=embeds,
        open_log=LogFile,
        open_workers=partial(_workers, tokens),
        redactor=SecretRedactor,
        keep_secrets=keep_secrets,
    )
    memory = Memory(resources, space)
    try:
        await set_projects(store, space)
        yield memory
    finally:
        await memory.close()


def _workers(tokens: TokenCounts | Tokenizer, address: str) -> AbstractAsyncContextManager[Workers]:
    # Imported when used, as what workers run loads the detector.
    from ireneo.analysing import build

    if not isinstance(tokens, str):
        raise BadInput(f"A tokenizer of your own can't count in workers; leave {address} out, or use 'o200k'.")
    return open_workers(address, "ireneo.analysing", {"asks": dict(build()), "tokens": tokens})


def models(
    given: str | LanguageModel | Mapping[str, str | LanguageModel] | None,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout_seconds: float = 60.0,
    attempts: int = 3,
) -> Models:
    """Return the models for the tasks: one for all, or one for each task and one called ``default`` for the rest.

    A model is a name (``anthropic:claude-haiku-4-5``, ``ollama:llama3``) or an object of your own; servers, keys and
    timeouts apply to all names. None means no model. Clients are loaded by the first request. Raises BadInput for an
    unknown name or task, MissingExtra.
    """

    def model(each: str | LanguageModel) -> LanguageModel:
        if not isinstance(each, str):
            return each
        return open_model(each, base_url=base_url, api_key=api_key, timeout_seconds=timeout_seconds, attempts=attempts)

    if given is None:
        return Models()
    return Models.of(
        {task: model(each) for task, each in given.items()} if isinstance(given, Mapping) else model(given)
    )


async def copy(
    source: str | PathLike[str],
    target: str | PathLike[str],
    *,
    spaces: Sequence[str] | None = None,
    on_session: Callable[[str], None] | None = None,
) -> CopyTally:
    """Copy a database to another address, space by space, and compare both. It may be interrupted and run again.

    `spaces` limits it to some; `on_session` is called with each session before it. Raises StoreError if both sides
    differ in the end, and what `open` raises.
    """
    from ireneo.engine.exchange import copy_store

    store = await open_store(fspath(source))
    try:
        other = await open_store(fspath(target))
        try:
            return await copy_store(store, other, spaces, on_session=on_session)
        finally:
            await other.close()
    finally:
        await store.close()


async def migrate(url: str | PathLike[str], *, dry_run: bool = False) -> Migrated:
    """Migrate the database at `url`, as `open` does by itself; with `dry_run` only say what that would do.

    Several processes may do so at once, and on a server an earlier release may continue meanwhile. Raises what `open`
    raises.
    """
    return await migrate_store(fspath(url), dry_run=dry_run)
