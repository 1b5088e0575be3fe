"""Any order of appends, forks, moves, summaries, annotations, spending, leases, upkeep and broken transactions leaves
every store as a plain model has it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace
from tests.databases import new_database
from tests.examples import times
from tests.property.store_model import Model, drafts_of, total

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.sqlite.opening import open_sqlite
from ireneo.errors import BadInput
from ireneo.log.message import Message, chain, head_of
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Lease, Spent, Store, Transaction
from ireneo.summaries.summary import SummaryId
from ireneo.testing.conformance.check import DAY, MINUTE, NOON, count, noted, rebuilt, summarise

KEYS = [SessionKey("mine", "s"), SessionKey("yours", "s"), SessionKey("mine", "t")]
FAMILIES = ["one", "two"]
BRANCHES = ["main", "try"]
DAYS = [DAY, DAY + timedelta(days=1)]

keys = st.sampled_from(KEYS)
branches = st.sampled_from(BRANCHES)
# Few words, so that the same content often comes again in the same place.
words = st.lists(st.sampled_from("ab"), min_size=1, max_size=5)
works = st.sampled_from("vw")
# Close together, so that leases meet; and once far back, as a clock that was set.
minutes = st.one_of(st.integers(0, 5), st.sampled_from([-2000, -60, 60]))
places = st.integers(min_value=0, max_value=10_000)


class BrokenOffError(Exception):
    """Ends a transaction in the middle."""


def inside(number: int, runs: Sequence[tuple[int, int]]) -> bool:
    """Whether a document stands within one of the runs."""
    return any(first <= number <= last for first, last in runs)


class Stores(RuleBasedStateMachine):
    """Does the same to each store and to the model, and compares."""

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        sqlite = self.runner.run(open_sqlite(new_database(Path(self.folder.name) / "store.db"), durability="normal"))
        self.stores: list[Store] = [InMemoryStore(), sqlite]
        self.models = {key: Model() for key in KEYS}
        self.appended: list[SessionKey] = []
        self.given: list[Lease] = []
        self.write(self.make_sessions)

    def make_sessions(self, tx: Transaction) -> None:
        for key in KEYS:
            assert tx.sessions.create(key, None)
        self.appended = list(KEYS)

    def teardown(self) -> None:
        if hasattr(self, "stores"):
            for store in self.stores:
                self.runner.run(store.close())
            self.runner.close()
            self.folder.cleanup()

    def write(self, work: Callable[[Transaction], Awaitable[None]]) -> None:
        async def on(store: Store) -> None:
            await store.write(work)

        for store in self.stores:
            self.runner.run(on(store))

    def read(self, work: Callable[[Transaction], Awaitable[None]]) -> None:
        async def on(store: Store) -> None:
            await store.read(work)

        for store in self.stores:
            self.runner.run(on(store))

    def insert(self, key: SessionKey, messages: Sequence[Message], branch: str | None = None) -> None:
        """Offer messages to the model and to each store, and move a branch to the last one."""
        wanted = self.models[key].insert(messages)
        if wanted:
            self.appended = [each for each in self.appended if each != key] + [key]
        if branch is not None:
            self.models[key].branches[branch] = messages[-1]

        def work(tx: Transaction) -> None:
            assert tx.log.insert(key, messages) == wanted
            if branch is not None:
                tx.log.move(key, branch, messages[-1].id)

        self.write(work)

    @rule(key=keys, branch=branches, letters=words)
    def append(self, key: SessionKey, branch: str, letters: list[str]) -> None:
        head = self.models[key].branches.get(branch)
        self.insert(key, chain(head_of(head) if head else None, drafts_of(letters), count), branch)

    @precondition(lambda self: any(model.paths for model in self.models.values()))
    @rule(key=keys, place=places, keep=places, letters=words)
    def offer_a_history_again(self, key: SessionKey, place: int, keep: int, letters: list[str]) -> None:
        """From the root: what some session knows of a path, and then something else or more of the same."""
        known = next(model for model in self.models.values() if model.paths).pick(place)
        stem = known[: 1 + keep % len(known)]
        self.insert(key, chain(None, [*(message.draft for message in stem), *drafts_of(letters)], count))

    @rule(key=keys, branch=branches, place=places)
    def move(self, key: SessionKey, branch: str, place: int) -> None:
        model = self.models[key]
        to = model.pick(place)[-1] if model.paths and place % 7 else None
        model.branches[branch] = to

        def work(tx: Transaction) -> None:
            tx.log.move(key, branch, to.id if to else None)

        self.write(work)

    @rule(
        key=keys, place=places, first=places, last=places, depth=st.integers(1, 3), summarizer=st.sampled_from(FAMILIES)
    )
    def summarise(self, key: SessionKey, place: int, first: int, last: int, depth: int, summarizer: str) -> None:
        model = self.models[key]
        if not model.paths:
            return
        path = model.pick(place)
        start, end = sorted((first % len(path), last % len(path)))
        level = ("turn", "goal", "story")[depth - 1]
        summary = summarise(path[start], path[end], level=level, depth=depth, summarizer=summarizer)  # type: ignore[arg-type]
        wanted = 0 if summary.id in model.summaries else 1
        model.summaries.setdefault(summary.id, summary)

        def work(tx: Transaction) -> None:
            assert tx.summaries.put(key, [summary]) == wanted

        self.write(work)

    @rule(
        key=keys,
        place=places,
        summarizer=st.sampled_from(FAMILIES),
        target_tokens=st.integers(0, 3),
        taken_up=st.sampled_from([(), (SummaryId("s_one"),), (SummaryId("s_two"), SummaryId("s_one"))]),
    )
    def rebuild(
        self, key: SessionKey, place: int, summarizer: str, target_tokens: int, taken_up: tuple[SummaryId, ...]
    ) -> None:
        model = self.models[key]
        if not model.paths:
            return
        mark = rebuilt(model.pick(place)[-1], summarizer=summarizer, target_tokens=target_tokens, taken_up=taken_up)
        model.rebuilds[summarizer, 1000, mark.at] = mark

        def work(tx: Transaction) -> None:
            tx.rebuilds.put(key, mark)

        self.write(work)

    @rule(key=keys, place=places, reader=st.sampled_from(FAMILIES))
    def read_up_to(self, key: SessionKey, place: int, reader: str) -> None:
        model = self.models[key]
        if not model.paths:
            return
        path = model.pick(place)
        model.read.setdefault(reader, set()).update(message.id for message in path)

        def work(tx: Transaction) -> None:
            tx.read_marks.put(key, path[-1].id, reader)

        self.write(work)

    @rule(key=keys, place=places, others=st.lists(places, max_size=3), text=st.sampled_from("xyz"))
    def annotate(self, key: SessionKey, place: int, others: list[int], text: str) -> None:
        model = self.models[key]
        if not model.paths:
            return
        notes = [noted(model.pick(each)[-1], text) for each in (place, *others)]
        before = len(model.annotations)
        for note in notes:
            model.annotations.setdefault(note.id, note)
        wanted = len(model.annotations) - before

        def work(tx: Transaction) -> None:
            assert tx.annotations.put(key, notes) == wanted

        self.write(work)

    @rule(key=keys, day=st.sampled_from(DAYS), calls=st.integers(-1, 2), tokens=st.integers(-50, 100))
    def spend(self, key: SessionKey, day: date, calls: int, tokens: int) -> None:
        spent = Spent(calls=calls, tokens=tokens)
        model = self.models[key]
        model.spent[day] = total([model.spent.get(day, Spent()), spent])

        def work(tx: Transaction) -> None:
            tx.spending.add(key, day, spent)

        self.write(work)

    @rule(key=keys, work=works, holder=st.sampled_from("pq"), minute=minutes, length=st.sampled_from([1, 2, 60]))
    def take_a_lease(self, key: SessionKey, work: str, holder: str, minute: int, length: int) -> None:
        now = NOON + minute * MINUTE
        wanted = self.models[key].take(key, work, holder, now, now + length * MINUTE)
        if wanted is not None:
            self.given.append(wanted)

        def work_on(tx: Transaction) -> None:
            assert tx.leases.take(key, work, holder, now, now + length * MINUTE) == wanted

        self.write(work_on)

    @precondition(lambda self: self.given)
    @rule(place=places, minute=minutes, what=st.sampled_from(["renew", "give back", "fail"]))
    def use_a_lease(self, place: int, minute: int, what: str) -> None:
        """Any that was ever given, of late mostly; it may long be another's."""
        lease = self.given[-1 - place % min(4, len(self.given))]
        model = self.models[lease.key]
        wanted = model.holds(lease)
        at = NOON + minute * MINUTE
        if wanted:
            found = model.leases.pop(lease.work)
            if what == "renew":
                model.leases[lease.work] = replace(found, until=at)
            elif what == "fail":
                model.leases[lease.work] = replace(
                    found, holder="", failures=found.failures + 1, error=f"at {minute}", retry_at=at
                )

        def work(tx: Transaction) -> None:
            uses = {
                "renew": lambda: tx.leases.renew(lease, at),
                "give back": lambda: tx.leases.release(lease),
                "fail": lambda: tx.leases.fail(lease, f"at {minute}", at),
            }
            assert uses[what]() == wanted

        self.write(work)

    @rule(key=keys, work=works)
    def forget_a_lease(self, key: SessionKey, work: str) -> None:
        wanted = self.models[key].leases.pop(work, None) is not None

        def work_on(tx: Transaction) -> None:
            assert tx.leases.forget(key, work) == wanted

        self.write(work_on)

    @rule(key=keys, place=places)
    def discard(self, key: SessionKey, place: int) -> None:
        model = self.models[key]
        ids = [each.id for each in model.listed()][place % 3 :: 3]
        for name in ids:
            del model.summaries[name]

        def work(tx: Transaction) -> None:
            assert tx.upkeep.discard(key, [*ids, SummaryId("s_unknown")]) == len(ids)

        self.write(work)

    @rule(key=keys, branch=branches)
    def drop(self, key: SessionKey, branch: str) -> None:
        model = self.models[key]
        wanted = branch in model.branches
        model.branches.pop(branch, None)

        def work(tx: Transaction) -> None:
            assert tx.upkeep.drop_branch(key, branch) == wanted

        self.write(work)

    @rule(key=keys)
    def prune(self, key: SessionKey) -> None:
        model = self.models[key]
        refused = bool(model.paths) and not model.branches
        wanted = None if refused else model.prune()

        def work(tx: Transaction) -> None:
            if refused:
                with pytest.raises(BadInput):
                    tx.upkeep.prune(key)
            else:
                assert tx.upkeep.prune(key) == wanted

        self.write(work)

    @rule(key=keys, letters=words, cancelled=st.booleans())
    def break_off(self, key: SessionKey, letters: list[str], cancelled: bool) -> None:
        """Do a bit of everything, and leave the transaction by an exception."""
        messages = chain(None, drafts_of(letters), count)

        def work(tx: Transaction) -> None:
            tx.sessions.create(SessionKey("mine", "broken off"), None)
            tx.log.insert(key, messages)
            tx.log.move(key, "main", messages[-1].id)
            tx.log.move(key, "broken off", None)
            tx.summaries.put(key, [summarise(messages[0], messages[-1], summarizer="one")])
            tx.rebuilds.put(key, rebuilt(messages[0], summarizer="one", target_tokens=99))
            tx.annotations.put(key, [noted(messages[0], "broken off")])
            tx.spending.add(key, DAYS[0], Spent(calls=1, tokens=99))
            tx.leases.take(key, "v", "broken off", NOON, NOON + MINUTE)
            tx.upkeep.drop_branch(key, "try")
            tx.upkeep.prune(key)
            raise asyncio.CancelledError if cancelled else BrokenOffError

        for store in self.stores:
            try:
                self.runner.run(self.alone(store, work))
            except (BrokenOffError, asyncio.CancelledError):
                continue
            raise AssertionError("the exception did not come through")

    async def alone(self, store: Store, work: Callable[[Transaction], Awaitable[None]]) -> None:
        await store.write(work)

    @rule(key=keys, place=places, first=places, last=places)
    def read_a_run(self, key: SessionKey, place: int, first: int, last: int) -> None:
        model = self.models[key]
        if not model.paths:
            return
        path = model.pick(place)
        first, last = first % (len(path) + 2) - 1, last % (len(path) + 2)

        def work(tx: Transaction) -> None:
            wanted = [message for message in path if first <= message.position <= last]
            assert list(tx.log.path(key, path[-1].id, first, last)) == wanted
            drafts = tx.log.drafts(key, [message.id for message in path])
            assert dict(drafts) == {message.id: model.drafts[message.id] for message in path}
            assert path[-1] in tx.log.find(key, [path[-1].id[:9]])
            by_source = sorted(
                (each[-1] for each in model.paths.values() if each[-1].draft.source_id == path[-1].draft.source_id),
                key=lambda message: (message.position, message.id),
            )
            assert list(tx.log.find(key, [path[-1].draft.source_id or ""])) == by_source[:100]

        self.read(work)

    @invariant()
    def stores_are_as_the_model(self) -> None:
        if not hasattr(self, "stores"):
            return
        self.read(self.compare_sessions)
        for key in KEYS:
            self.read(lambda tx, key=key: self.compare(tx, key))  # type: ignore[misc]

    def compare_sessions(self, tx: Transaction) -> None:
        assert list(tx.upkeep.faults()) == []
        for space in ("mine", "yours"):
            for day in DAYS:
                wanted = total(
                    model.spent.get(day, Spent()) for key, model in self.models.items() if key.space == space
                )
                assert tx.spending.of_day(space, day) == wanted
            infos = tx.sessions.list(space)
            assert [info.key for info in infos] == [key for key in reversed(self.appended) if key.space == space]
            for info in infos:
                paths = self.models[info.key].paths.values()
                assert (info.messages, info.tokens) == (len(paths), sum(path[-1].tokens for path in paths))

    def compare_branches(self, tx: Transaction, key: SessionKey) -> None:
        """What lies on no branch is left behind, and nothing else; what lies beside a path is beside it."""
        model = self.models[key]
        numbers = tx.search.postings(key.space, "messages", ["b"])["b"]
        there = {each.document: each.message.id for each in tx.search.messages(key.space, numbers) if each.key == key}
        # There is nothing to be found in an `a` alone.
        searched = {name for name, path in model.paths.items() if path[-1].draft.text == "b"}
        assert set(there.values()) == searched
        on = {
            branch: {each.id for each in model.paths[head.id]} if head else set()
            for branch, head in model.branches.items()
        }
        kept = set().union(*on.values())
        undone = tx.search.abandoned(key.space)
        assert {name for number, name in there.items() if inside(number, undone)} == searched - kept
        for branch, head in model.branches.items():
            if head is not None:
                aside = tx.search.off_path(key, head.id)
                assert {name for number, name in there.items() if inside(number, aside)} == searched - on[branch]
        for branch in (None, *BRANCHES):
            wanted = kept if branch is None else on.get(branch, set())
            named = [(key.session, [message.id for message in path]) for path in model.paths.values()]
            lies = [set(names) <= wanted for _, names in named]
            assert list(tx.log.on_branch(key.space, named, branch)) == lies

    def compare(self, tx: Transaction, key: SessionKey) -> None:
        model = self.models[key]
        self.compare_branches(tx, key)
        heads = {branch: head_of(message) if message else None for branch, message in model.branches.items()}
        assert dict(tx.sessions.branches(key)) == heads
        for branch in BRANCHES:
            assert tx.log.head(key, branch) == heads.get(branch)
        assert tx.spending.of_session(key) == total(model.spent.values())
        assert list(tx.leases.of_session(key)) == sorted(model.leases.values(), key=lambda each: each.work)
        assert list(tx.upkeep.summaries(key)) == [each.id for each in model.listed()]
        assert list(tx.upkeep.abandoned_heads(key)) == model.ends()
        assert list(tx.rebuilds.of_session(key)) == sorted(
            model.rebuilds.values(), key=lambda each: (each.at_position, each.at, each.summarizer, each.budget_tokens)
        )
        assert list(tx.summaries.summarizers(key)) == sorted({each.summarizer for each in model.summaries.values()})
        leaves = [path for path in model.paths.values() if path[-1] in model.branches.values()]
        for path in leaves:
            end = path[-1].id
            assert list(tx.log.path(key, end, 0, len(path))) == path
            assert list(tx.annotations.on_path(key, end)) == model.annotations_on(path)
            for summarizer in FAMILIES:
                assert list(tx.summaries.frontier(key, end, summarizer)) == model.frontier(path, summarizer)
                assert tx.rebuilds.last(key, end, summarizer, 1000) == model.last_rebuild(path, summarizer)
                assert tx.read_marks.read_to(key, end, summarizer) == model.read_to(path, summarizer)
                for depth, first in ((1, 0), (2, 1), (3, 2)):
                    spans = tx.summaries.spans(key, end, summarizer, depth, first)
                    assert list(spans) == model.spans(path, summarizer, depth, first)


Stores.TestCase.settings = settings(max_examples=times(3), stateful_step_count=30, deadline=None)
TestStores = Stores.TestCase
