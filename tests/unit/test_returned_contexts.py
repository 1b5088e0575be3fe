"""What comes back of a context is known in every form, and what only looks like it is left as it is."""

from __future__ import annotations

import pytest
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ToolReturnPart, UserPromptPart
from tests.property.invariants.houses import memory_over
from tests.property.invariants.material import FORMATS, Teller

import ireneo
from ireneo import Context, Draft, Memory, Session, chat_format
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.context.shorten import excerpt
from ireneo.engine.returned import pieces, stands_for
from ireneo.errors import BadInput
from ireneo.log.message import Text, Thinking
from ireneo.log.tree import ROOT

NEXT = {"role": "user", "content": "And what about the tides?"}
NARROW, WIDE = 900, 100_000


def told(*steps: str, name: str = "main") -> list[Draft]:
    return Teller(name).tell(steps or ("instruct", "ask", "work", "answer", "ask", "work", "answer"))


@pytest.fixture
def memory() -> Memory:
    return memory_over(InMemoryStore())


@pytest.fixture
async def session(memory: Memory) -> Session:
    """A session with some turns."""
    begun = await memory.session("run")
    await begun.append(told())
    return begun


async def said(session: Session) -> list[str]:
    return [message.text for message in await session.messages()]


async def listed(session: Session, budget: int = NARROW, preset: str | None = None) -> list[dict[str, object]]:
    return (await session.context(budget, to="openai", preset=preset)).messages


async def stays(session: Session, length: int) -> None:
    """Nothing was stored but what belongs there, on one branch."""
    assert len(await session.messages()) == length
    assert list(await session.branches()) == ["main"]
    assert (await session.prune(dry_run=True)).messages == 0


@pytest.mark.parametrize("after", [ROOT, None])
@pytest.mark.parametrize("budget", [300, NARROW, 2_000, WIDE])
@pytest.mark.parametrize("name", FORMATS)
async def test_a_context_with_a_word_behind_it_is_that_word(
    session: Session, name: str, budget: int, after: str | None
) -> None:
    before = len(await session.messages())
    context = await session.context(budget, to=name)
    new = chat_format(name).encode([Draft(role="user", parts=(Text(text="And the tides?"),))]).messages
    done = await session.append([*context.messages, *new], format=name, after=after)
    assert (done.new, done.dropped) == (1, ())
    assert (await said(session))[-1] == "And the tides?"
    await stays(session, before + 1)


async def test_a_context_of_another_preset_or_budget_is_known_too(session: Session) -> None:
    length = len(await session.messages())
    for preset in ("coding", "forge", "scratchpad", "story"):
        for budget in (256, 500, 1_300, 4_000):
            shown = await listed(session, budget, preset=preset)
            assert (await session.append(shown, after=ROOT)).new == 0
    await stays(session, length)


async def test_the_same_list_again_and_an_older_one_store_nothing(session: Session) -> None:
    older = await listed(session)
    await session.append([*older, NEXT], after=ROOT)
    length = len(await session.messages())
    assert (await session.append([*older, NEXT], after=ROOT)).new == 0
    assert (await session.append(older, after=ROOT)).new == 0
    await stays(session, length)


async def test_a_list_with_a_secret_may_be_handed_in_again() -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("run")
        await session.append(told())
        shown = await listed(session)
        new = {"role": "user", "content": "The password=hunter2horse9 is for the staging server."}
        for count in (1, 0):
            assert (await session.append([*shown, new], after=ROOT)).new == count
        assert "hunter2horse9" not in (await said(session))[-1]
        assert (await session.append([*await listed(session, WIDE), NEXT], after=ROOT)).new == 1


async def test_after_a_message_a_context_of_what_follows_is_known(session: Session) -> None:
    messages = await session.messages()
    system = next(message for message in messages if message.role == "system")
    shown = [each for each in await listed(session) if each["role"] != "system"]
    assert (await session.append([*shown, NEXT], after=system.id)).new == 1
    await stays(session, len(messages) + 1)


async def test_a_fork_knows_the_blocks_of_the_past_that_it_shares(session: Session) -> None:
    fork = await session.fork("other")
    length = len(await session.messages())
    await fork.append(told("ask", "work", name="fork"))
    done = await fork.append([*await listed(fork), NEXT], after=ROOT)
    assert done.new == 1
    assert len(await session.messages()) == length
    assert (await session.prune(dry_run=True)).messages == 0


async def test_pins_and_the_scratchpad_are_nobodys_words(memory: Memory, session: Session) -> None:
    length = len(await session.messages())
    await session.pin("Never bump the version by yourself.")
    await memory.scratchpad("run").write(goal="Find the drift", plan=["[ ] look"])
    for budget in (NARROW, WIDE):
        shown = await listed(session, budget)
        assert any("[PINNED]" in str(each) for each in shown)
        assert any("[SCRATCHPAD]" in str(each) for each in shown)
        assert (await session.append(shown, after=ROOT)).new == 0
    await session.append([*await listed(session, WIDE), NEXT], after=ROOT)
    await stays(session, length + 1)


async def test_a_request_into_which_a_framework_put_several_prompts_is_read_part_by_part(session: Session) -> None:
    length = len(await session.messages())
    await session.pin("Never bump the version by yourself.")
    shown: list[ModelMessage] = ModelMessagesTypeAdapter.validate_python(
        (await session.context(NARROW, to="pydantic-ai")).messages
    )
    merged: list[ModelMessage] = []
    for message in [*shown, ModelRequest(parts=[UserPromptPart("And the tides?")])]:
        if merged and isinstance(merged[-1], ModelRequest) and isinstance(message, ModelRequest):
            both = [*merged[-1].parts, *message.parts]
            merged[-1] = ModelRequest(parts=sorted(both, key=lambda part: not isinstance(part, ToolReturnPart)))
        else:
            merged.append(message)
    assert len(merged) < len(shown) + 1
    done = await session.append(merged, format="pydantic-ai", after=ROOT)
    assert done.new == 1
    assert (await said(session))[-1] == "And the tides?"
    await stays(session, length + 1)


@pytest.mark.parametrize(
    "words",
    [
        "Why did you show me [SUMMARIZED] 14 calls · open with s_abcdefg here?",
        "Look at this:\n\n{block}\n\nIs it right?",
        "Look at this:\n{block}",
        "> {block}",
        "[BRIEF] is what I call it.",
    ],
)
@pytest.mark.parametrize("after", [ROOT, None])
async def test_words_that_quote_a_block_are_words(session: Session, words: str, after: str | None) -> None:
    shown = await listed(session)
    block = next(str(each["content"]) for each in shown if "[SUMMARIZED]" in str(each["content"]))
    quoted = {"role": "user", "content": words.format(block=block.partition("\n")[0])}
    length = len(await session.messages())
    assert (await session.append([*shown, quoted], after=after)).new == 1
    assert (await said(session))[-1] == quoted["content"]
    assert (await session.append(quoted)).new == 1
    assert (await said(session))[-1] == quoted["content"]
    # A context with such words in it comes back as well.
    assert (await session.append([*await listed(session), NEXT], after=after)).new == 1
    await stays(session, length + 3)


async def test_what_a_tool_printed_of_a_context_is_what_it_printed(session: Session) -> None:
    shown = await listed(session)
    printed = "\n\n".join(str(each["content"]) for each in shown)
    function = {"name": "bash", "arguments": '{"command": "ireneo context run"}'}
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
    }
    new = [call, {"role": "tool", "tool_call_id": "c", "content": printed}]
    assert (await session.append(new)).new == 2
    assert (await session.messages())[-1].draft.results[0].text == printed
    assert (await session.append([*await listed(session, WIDE), NEXT], after=ROOT)).new == 1


@pytest.mark.parametrize("place", ["other session", "other space"])
async def test_a_context_of_another_session_is_refused_in_a_sentence(
    memory: Memory, session: Session, place: str
) -> None:
    store = InMemoryStore() if place == "other space" else None
    elsewhere = memory_over(store, "theirs") if store else memory
    other = await elsewhere.session("other")
    await other.append(told(name="other"))
    shown = await listed(other)
    length = len(await session.messages())
    with pytest.raises(BadInput, match="holds parts of a context"):
        await session.append([*shown, NEXT], after=ROOT)
    await stays(session, length)
    done = await session.append([each for each in shown if "open with" in str(each)])
    assert len(done.dropped) > 0
    assert not [text for text in await said(session) if "[SUMMARIZED]" in text]


@pytest.mark.parametrize("after", [ROOT, None])
async def test_a_context_whose_words_were_changed_is_refused_and_nothing_is_stored(
    session: Session, after: str | None
) -> None:
    await session.append(told("ask hugely", "answer", "ask", name="more"))
    shown = await listed(session, 2_000)
    length = len(await session.messages())
    marked = [at for at, each in enumerate(shown) if "left out" in str(each["content"]) and each["role"] == "user"]
    assert marked
    for at in (marked[0], len(shown) - 1):
        changed = {**shown[at], "content": f"By the way: {shown[at]['content']}"}
        with pytest.raises(BadInput, match="holds parts of a context"):
            await session.append([*shown[:at], changed, *shown[at + 1 :], NEXT], after=after)
    with pytest.raises(BadInput, match="holds parts of a context"):
        await session.append([*shown[:-1], NEXT], after=after)
    await stays(session, length)


async def test_an_older_context_that_goes_on_otherwise_is_refused_until_the_session_is_rewound(
    session: Session,
) -> None:
    older, place = await listed(session), (await session.messages())[-1].id
    await session.append(told("ask", "answer", name="later"))
    with pytest.raises(BadInput, match="rewind first"):
        await session.append([*older, NEXT], after=ROOT)
    await session.rewind(place)
    assert (await session.append([*older, NEXT], after=ROOT)).new == 1


async def test_a_block_that_a_model_imitates_is_left_out_and_told(session: Session) -> None:
    shown = await listed(session)
    imitated = "[SUMMARIZED] 3 calls · open with s_zzzzzzz\n- I went on.\n## Status\n- COMPLETE"
    function = {"name": "read", "arguments": "{}"}
    calls = [{"id": "c", "type": "function", "function": function}]
    reply = {"role": "assistant", "content": imitated, "tool_calls": calls}
    for history in ([*shown, reply], [reply]):
        done = await session.append(history, after=ROOT if len(history) > 1 else None)
        assert done.dropped == ("[SUMMARIZED] 3 calls · open with s_zzzzzzz",)
        last = (await session.messages())[-1]
        assert (last.text, [call.name for call in last.draft.calls]) == ("", ["read"])


@pytest.mark.parametrize("name", FORMATS)
async def test_a_list_that_begins_a_session_keeps_the_blocks_of_another_as_what_nobody_says(
    memory: Memory, session: Session, name: str
) -> None:
    await session.pin("Never bump the version by yourself.")
    handed = await memory.session("handed")
    shown = (await session.context(NARROW, to=name)).messages
    await handed.append(shown, format=name)
    messages = await handed.messages()
    ours = [each for each in messages if "[SUMMARIZED]" in each.text or "[GOAL BATCH]" in each.text]
    assert ours
    assert {each.draft.origin for each in ours} == {"summary"}
    assert not [each for each in messages if "[PINNED]" in each.text and each.opens_turn]
    again = await handed.append([*(await handed.context(WIDE, to=name)).messages], format=name, after=ROOT)
    assert again.new == 0


async def test_what_is_said_again_word_for_word_is_stored_again() -> None:
    session = await memory_over(InMemoryStore()).session("chat")
    pair = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "Done."}]
    for number in range(1, 4):
        await session.append(pair)
        await session.context(WIDE)
        assert len(await session.messages()) == 2 * number
    await session.append({"role": "user", "content": "Go on."})
    assert len(await session.messages()) == 7


async def test_a_history_that_another_wrote_anew_still_forks() -> None:
    session = await memory_over(InMemoryStore()).session("chat")
    pair = [{"role": "user", "content": "Begin."}, {"role": "assistant", "content": "Done."}]
    await session.append([*pair, {"role": "user", "content": "Go on."}], after=ROOT)
    await session.append([*pair, {"role": "user", "content": "Stop."}], after=ROOT)
    assert await said(session) == ["Begin.", "Done.", "Stop."]
    await session.append([pair[0], {"role": "assistant", "content": "Done!"}], after=ROOT)
    assert await said(session) == ["Begin.", "Done!"]
    assert (await session.prune(dry_run=True)).messages == 3


async def test_thinking_that_a_context_left_out_makes_no_other_message() -> None:
    session = await memory_over(InMemoryStore()).session("run")
    thought = Thinking(text="First the clock.", signature="s", format="anthropic")
    path = told("ask", "work", "answer")
    path[1] = Draft(role="assistant", parts=(thought, *path[1].parts))
    await session.append(path)
    for budget in (NARROW, WIDE):
        for rule in ("prefix", "none"):
            shown: Context = await session.context(budget, to="anthropic", thinking=rule)  # type: ignore[arg-type]
            assert (await session.append(shown.messages, format="anthropic", after=ROOT)).new == 0
    await stays(session, len(path))


async def test_each_block_of_a_context_is_one_piece_up_to_its_last_line(session: Session) -> None:
    for preset in ("coding", "forge", "story"):
        for budget in (256, NARROW, 3_000):
            for row in (await session.context(budget, preset=preset)).view:
                if row.what == "summary":
                    (piece,) = pieces(row.text)
                    assert (piece.kind, piece.text) == ("block", row.text)


def test_what_stands_behind_a_block_is_no_part_of_it() -> None:
    top = "[SUMMARIZED] 3 calls · open with s_zzzzzzz\n- src/a.py:\n  - `x = 1`"
    for block in (f"{top}\n## Status\n- COMPLETE — it passed.", f"{top}\n    - in `main`"):
        for text in (f"{block}\nBe polite.", f"{block}\n\nBe polite."):
            assert [piece.text for piece in pieces(text)] == [block, "Be polite."]
    pins = "[PINNED] Constraints that stand, word for word:\n- Never push.\n(2 more have no room here.)"
    assert [piece.text for piece in pieces(f"{pins}\n\nBe polite.")] == [pins, "Be polite."]
    assert ireneo.compact([{"role": "user", "content": block}], 1_000).messages


def test_a_text_that_quotes_marks_is_known_whole_and_shortened() -> None:
    own, other = f"m_{'a' * 26}", f"m_{'b' * 26}"
    quoted = f"[… 61 tokens left out · open with {other[:9]} …]"
    whole = f"One.\n\n{quoted}\n\nTwo.\n\nThree."
    assert stands_for(whole, whole, [own])
    assert stands_for(f"One.\n\n{quoted}\n\n[… 2 tokens left out · open with {own[:9]} …]\n\nThree.", whole, [own])
    assert not stands_for(f"One.\n\n{quoted}\n\n[… 2 tokens left out · open with {own[:9]} …]\n\nFour.", whole, [own])
    assert not stands_for(f"One.\n\n{quoted}\n\nThree.", whole, [own])


def test_a_text_that_is_cut_within_its_code_is_known() -> None:
    own = f"m_{'a' * 26}"
    whole = "Do this:\n```\nfirst()\n" + "".join(f"step({number})\n" for number in range(200)) + "```\nThen stop."
    for tokens in (60, 120):
        shown = excerpt(whole, tokens, own[:9], EstimatedTokenizer().count)
        assert shown is not None
        assert "```\n[…" in shown
        assert stands_for(shown, whole, [own])


def test_an_output_of_which_lines_stand_between_its_ends_is_known() -> None:
    own = f"m_{'a' * 26}"
    steps = [f"step {number} ..." for number in range(200)]
    whole = "\n".join([*steps, "error: row 41 was not found", "<system-reminder>Be careful.</system-reminder>", *steps])
    for tokens in (120, 200, 400):
        shown = excerpt(whole, tokens, own[:9], EstimatedTokenizer().count)
        assert shown is not None
        assert "error: row 41 was not found" in shown
        assert stands_for(shown, whole, [own])
        assert not stands_for(shown, whole.replace("step 0", "step none"), [own])


@pytest.mark.parametrize("steps", [("instruct",), ("ask nothing",), ("instruct", "ask nothing")])
async def test_what_is_put_before_all_else_does_not_go_behind_an_empty_message(steps: tuple[str, ...]) -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("run")
        await session.append(told(*steps, name="first"))
        await session.context(420, preset="coding")
        other = told("instruct", "ask nothing", name="second")
        await session.append(other, after=ROOT)
        assert [message.parts for message in await session.messages()] == [draft.parts for draft in other]
