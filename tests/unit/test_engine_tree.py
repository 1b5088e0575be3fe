"""What a session has become is read as it is stored:  for stories and for the work of an agent."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.golden.ferry import COUNT, KEY, drafts, tell, told_story
from tests.golden.material import session as material

import ireneo
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.memory import Memory
from ireneo.engine.resources import Resources, SystemClock
from ireneo.engine.tree import tree_paths
from ireneo.errors import BadInput
from ireneo.log.message import Head, head_of
from ireneo.ports.store import Store, Transaction


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    opened = InMemoryStore()
    yield opened
    await opened.close()


@pytest.fixture
def memory(store: Store) -> Memory:
    return Memory(Resources(store=store, count=COUNT, clock=SystemClock()), "default")


async def test_a_story_is_read_depth_by_depth(store: Store, memory: Memory) -> None:
    m = await told_story(store)
    tree = await (await memory.session(KEY.session)).tree()
    assert (tree.preset, tree.branch, tree.head, tree.messages) == ("story", "main", m[-1].id, 60)
    assert [(node.depth, node.first_position, node.last_position, node.shown) for node in tree.nodes] == [
        *((2, 0, 15, True), (1, 0, 3, False), (1, 4, 7, False), (1, 8, 11, False), (1, 12, 15, False)),
        *((2, 16, 31, True), (1, 16, 19, False), (1, 20, 23, False), (1, 24, 27, False), (1, 28, 31, False)),
        *((1, 32, 35, True), (1, 36, 39, True), (1, 40, 43, True)),
    ]
    assert sum(node.messages for node in tree.nodes if node.shown) + tree.live == tree.messages
    assert tree.live_tokens == sum(message.tokens for message in m[44:])
    deep, finest = tree.nodes[0], tree.nodes[1]
    assert (deep.retellings, deep.leaves, finest.retellings, finest.leaves) == (2, 4, 1, 1)
    assert deep.sources == tuple(node.id for node in tree.nodes[1:5])
    assert finest.text == "Between 1 and 4 the ferry crossed, and nobody spoke of the letter.\nRain came."
    assert (finest.first, finest.last, finest.tokens) == (m[0].id, m[3].id, COUNT(finest.text))
    assert [thread.text for thread in deep.threads] == ["He owes her a coin.", "“I will bring your letter back.”"]
    assert [(thread.kind, thread.who) for thread in tree.threads] == [("promise", "Mara"), ("question", "Ilse")]


async def test_branches_say_where_they_leave_which(store: Store, memory: Memory) -> None:
    m = await told_story(store)
    tree = await (await memory.session(KEY.session)).tree()
    by_name = {branch.name: branch for branch in tree.branches}
    assert list(by_name) == ["main", "another-night", "mark", "third"]
    aside, third, mark = (by_name[name] for name in ("another-night", "third", "mark"))
    assert (aside.parent, aside.shared, aside.forks_at, aside.messages) == ("main", 22, m[21].id, 28)
    assert (third.parent, third.shared, third.messages) == ("another-night", 25, 27)
    assert (mark.parent, mark.shared, mark.messages) == ("main", 60, 60)
    assert (by_name["main"].summarised, aside.summarised) == (44, 20)
    there = await (await memory.session(KEY.session, branch="third")).tree()
    assert there.branches[0].name == "third"
    assert {branch.name: (branch.parent, branch.shared) for branch in there.branches} == {
        "third": ("", 0),
        "another-night": ("third", 25),
        "main": ("third", 22),
        "mark": ("main", 60),
    }


async def test_an_agents_work_is_read_too(memory: Memory) -> None:
    session = await memory.session("run")
    await session.append(material(2))
    await session.context(300)
    tree = await session.tree()
    assert tree.preset == "coding"
    assert {node.level for node in tree.nodes} >= {"turn"}
    shown = [node for node in tree.nodes if node.shown]
    assert shown
    for node in tree.nodes:
        assert node.text.startswith(("[SUMMARIZED]", "[GOAL BATCH]"))
        assert node.tokens == COUNT(node.text)
        # Where the work stands is told in sentences.
        told = node.text.partition("## Where it stands\n")[2].splitlines()
        assert all(len(line.split()) > 3 for line in told), told
    assert (await session.tree("story")).nodes == ()
    with pytest.raises(BadInput, match="knows no characters"):
        await session.tree("coding", viewpoint="Mara")
    with pytest.raises(BadInput, match="presets are"):
        await session.tree("novel")


async def test_a_session_without_messages_is_an_empty_tree(store: Store, memory: Memory) -> None:
    session = await memory.session(KEY.session)

    def change(tx: Transaction) -> None:
        tell(tx, drafts(3))
        tx.log.move(KEY, "main", None)

    await store.write(change)
    tree = await session.tree()
    assert (tree.head, tree.messages, tree.nodes, tree.live, tree.threads) == (None, 0, (), 0, ())
    assert [(branch.name, branch.head, branch.messages) for branch in tree.branches] == [("main", None, 0)]


async def test_limbs_have_every_message_once(store: Store) -> None:
    m = await told_story(store)

    def change(tx: Transaction) -> None:
        # Two that leave at one place, a second root, and one that is the beginning of another.
        for word in ("first", "second"):
            tell(tx, drafts(3, word), branch=word, after=head_of(m[30]))
        tell(tx, drafts(4, "Another beginning"), branch="root")
        tx.log.move(KEY, "early", m[10].id)

    await store.write(change)

    def look(tx: Transaction) -> None:
        info = tx.sessions.get(KEY)
        heads: list[tuple[str, Head]] = [(name, head) for name, head in tx.sessions.branches(KEY).items() if head]
        for order in (heads, heads[::-1], sorted(heads, key=lambda each: each[1].position)):
            grown = tree_paths(tx, KEY, order)
            assert info is not None
            assert sum(limb.messages for limb in grown) == info.messages
            assert sum(limb.tokens for limb in grown) == info.tokens
            seen = set()
            for limb in grown:
                own = tx.log.path(KEY, limb.head.id, limb.first, limb.head.position)
                assert not seen & {message.id for message in own}
                seen |= {message.id for message in own}
                assert not own or own[0].parent == limb.leaves_at
            assert sum(limb.parent is None for limb in grown) == 2

    await store.read(look)


def test_the_page_names_a_tree() -> None:
    assert ireneo.Tree.__name__ == "Tree"
