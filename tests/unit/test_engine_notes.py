"""Pins, releases and disputes by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.golden.material import edit, run, said, session, user
from tests.progress import progress_of

import ireneo
from ireneo import BadInput, Context, Draft, Policy, Session
from ireneo.errors import SummaryNotFound
from ireneo.ports.models import Prompt
from ireneo.testing.scripted import Scripted, ScriptedLLM

DRAFTS = session()
MORE = [[*user(f"Part {n}."), *run(f"make part_{n}", f"{n} done"), *said("Done.")] for n in range(7)]
BUDGET = 700
TIGHT = 620
"""Too narrow for a block of each turn, even if a block says less."""
FINE = Policy(name="fine", leaf_min_atoms=2, leaf_max_atoms=4, fan_in=2, goal_min_turns=2, goal_max_turns=2)
FOUND = "Never touch the migrations folder."


def good(prompt: Prompt) -> Scripted:
    return {"notes": ["ruled 5 [0] The user wanted the lost row found.", "found 3 I looked for the cause."]}


@pytest.fixture(name="session")
async def running() -> AsyncIterator[Session]:
    async with ireneo.open(":memory:", model=ScriptedLLM(good)) as memory:
        yield await memory.session("run")


async def look(session: Session, budget: int = BUDGET) -> Context:
    return await session.context(budget, to="openai", preset=FINE)


def text(context: Context) -> str:
    return "\n".join(row.text for row in (*context.pins, *context.view))


async def test_a_pin_stands_until_it_is_released(session: Session) -> None:
    await session.append(DRAFTS)
    pin = await session.pin("Deploy  on\nMondays only.")
    assert pin.text == "Deploy on Mondays only."
    listed = await session.pins()
    assert FOUND in [each.text for each in listed]
    assert [each.text for each in listed if each.id == pin.id] == ["Deploy on Mondays only."]
    await session.append([*user("Go on."), *said("I do.")])
    assert "Deploy on Mondays only." in text(await look(session))
    released = await session.release(pin.id)
    assert released.about == pin.id
    assert pin.id not in [each.id for each in await session.pins()]
    assert await session.release(pin.id) == released, "let go of once more it is what it was"
    with pytest.raises(BadInput, match="take one from the list"):
        await session.release("Deploy on Fridays")


async def test_what_was_found_in_a_message_is_released_by_its_words_or_by_the_message(session: Session) -> None:
    await session.append(DRAFTS)
    (found,) = [each for each in await session.pins() if each.text == FOUND]
    assert found.id == found.source
    await session.release(FOUND)
    assert FOUND not in [each.text for each in await session.pins()]
    await session.append(user(f"Go on, and once more: {FOUND}"))
    # What is said again later holds again.
    (again,) = [each for each in await session.pins() if FOUND in each.text]
    await session.release(again.id)
    assert not [each for each in await session.pins() if FOUND in each.text]


async def test_the_same_note_twice_is_one(session: Session) -> None:
    await session.append(DRAFTS)
    assert await session.pin("Use UTC.") == await session.pin("Use UTC.")
    assert [each.text for each in await session.pins()].count("Use UTC.") == 1


@pytest.mark.parametrize("words", ["", "  \n"])
async def test_nothing_can_not_be_pinned(session: Session, words: str) -> None:
    assert list(await session.pins()) == []
    await session.append(DRAFTS)
    with pytest.raises(BadInput, match="nothing to pin"):
        await session.pin(words)
    with pytest.raises(BadInput):
        await session.release("p_")


async def test_a_pin_by_hand_stands_where_it_was_made_and_changes_nothing_before_it(session: Session) -> None:
    await session.append(DRAFTS[:7])
    before = (await look(session, 50_000)).messages
    await session.pin("Deploy on Mondays only.")
    pinned = (await look(session, 50_000)).messages
    assert pinned[: len(before)] == before
    assert "Deploy on Mondays only." in str(pinned[len(before) :])
    await session.append(DRAFTS[7:])
    assert (await look(session, 50_000)).messages[: len(pinned)] == pinned


async def test_a_pin_survives_rebuilds_and_deeper_blocks(session: Session) -> None:
    await session.append(DRAFTS)
    await session.pin("Deploy on Mondays only.")
    for more in MORE[:6]:
        await session.append(more)
        for budget in (BUDGET, BUDGET + 300):
            context = await look(session, budget)
            assert not context.violations
            assert context.tokens <= budget
            shown = text(context)
            assert shown.count("Deploy on Mondays only.") == 1
            assert FOUND in shown


async def test_a_pin_is_seen_on_its_own_branch_only(session: Session) -> None:
    await session.append(DRAFTS[:12])
    await session.pin("Use UTC.")
    other = await session.fork("other")
    await session.append(DRAFTS[12:])
    await other.append(user("Another way."))
    await session.pin("Only on main.")
    await other.pin("Only on the other.")
    mine = {each.text for each in await session.pins()}
    yours = {each.text for each in await other.pins()}
    assert {"Use UTC.", "Only on main."} <= mine
    assert {"Use UTC.", "Only on the other."} <= yours
    assert "Only on the other." not in mine | set(text(await look(session)).splitlines())
    assert "Only on main." not in yours
    with pytest.raises(BadInput):
        await other.release("Only on main.")


@pytest.mark.parametrize("claimed", [False, True])
async def test_a_dispute_is_shown_at_once_and_gone_when_a_model_has_written_again(
    session: Session, claimed: bool
) -> None:
    await session.append(DRAFTS)
    block = next(row for row in (await look(session, TIGHT)).view if row.what == "summary")
    record = (await session.expand(block.id)).summary
    assert record is not None
    claim = record.lines("dead_ends")[0].text if claimed else ""
    note = await session.dispute(block.id, " The cause was another one. ", claim=claim)
    assert (note.text, note.claim) == ("The cause was another one.", claim)
    shown = next(row for row in (await look(session, TIGHT)).view if row.what == "summary")
    assert ("(disputed)\n" in f"{shown.text}\n") == claimed
    assert "(disputed): The cause was another one." in shown.text.splitlines()[0]
    came = await progress_of(session.summarise, BUDGET, preset=FINE)
    assert {each.did for each in came} <= {"written", "repaired"}
    await session.append([*MORE[6], *said("Done. " * 300)])
    assert "(disputed)" not in text(await look(session, BUDGET + 1))
    texts = [(await session.expand(each.id)).summary for each in came]
    assert (note.id,) in [text.writing.disputes for text in texts if text and text.writing]


async def test_what_can_not_be_disputed_is_said(session: Session) -> None:
    await session.append(DRAFTS)
    block = next(row for row in (await look(session)).view if row.what == "summary")
    with pytest.raises(BadInput, match="Say why"):
        await session.dispute(block.id, "  ")
    with pytest.raises(BadInput, match="doesn't say “the moon”"):
        await session.dispute(block.id, "It is not so.", claim="the moon")
    with pytest.raises(SummaryNotFound):
        await session.dispute("s_nothere", "It is not so.")


async def test_a_session_is_pinned_before_its_first_message(session: Session) -> None:
    pin = await session.pin("Deploy on Mondays only.")
    assert pin.at == ""
    assert [(each.id, each.source) for each in await session.pins()] == [(pin.id, "")]
    assert (await look(session)).messages == []
    await session.append([{"role": "system", "content": "Be brief."}, *user("Mend the lock.")])
    first = await look(session)
    assert [row["role"] for row in first.messages] == ["system", "user", "user"]
    assert "Deploy on Mondays only." in first.messages[1]["content"]
    await session.append([*DRAFTS, *user("Go on."), *said("I do.")])
    assert "Deploy on Mondays only." in text(await look(session))
    await session.fork("other", at=None)
    await session.rewind("root")
    assert [each.text for each in await session.pins()] == ["Deploy on Mondays only."], "it holds on every path"
    await session.release("Deploy on")
    assert await session.pins() == []


async def test_a_session_that_was_pinned_first_learns_its_format_from_its_first_message(session: Session) -> None:
    await session.pin("Deploy on Mondays only.")
    asked = {"role": "user", "content": "Look."}
    call = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    await session.append([asked, {"role": "assistant", "content": [call]}], format="anthropic")
    assert (await session.context(2_000)).format == "anthropic"


async def test_who_releases_a_rule_lets_go_of_that_one_alone() -> None:
    """However much others read like it."""
    rules = [f"Never deploy to server {name} on Friday." for name in ("alpha", "beta", "gamma")]
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("run")
        for rule in rules:
            await session.append([rule, {"role": "assistant", "content": "Understood."}])
        found = await session.pins()
        assert [pin.text for pin in found] == rules
        await session.release(found[0].id)
        assert [pin.text for pin in await session.pins()] == rules[1:]


@pytest.mark.parametrize("preset", ["coding", "forge", "story", "scratchpad"])
async def test_notes_by_hand_never_go_beyond_the_budget(preset: str) -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("run")
        await session.append("Hello.")
        for number in range(40):
            await session.pin(f"Never touch module number {number} of kestrel.")
        for budget in (256, 600, 5_000):
            assert (await session.context(budget, preset=preset)).tokens <= budget
        context = await session.context(600, preset=preset)
        assert "have no room here" in str(context.messages) or preset in ("story", "scratchpad")
        for number in range(40):
            await session.release(f"Never touch module number {number} of kestrel.")
        await session.pin("word " * 20_000)
        for budget in (256, 600, 5_000):
            assert (await session.context(budget, preset=preset)).tokens <= budget


PRICES = [
    *user("The import is slow. I would replace PRICE_CACHE with a table, and please show the totals in colour."),
    *said("I moved the prices into the table price_rows. Shall I drop the old folder of snapshots too?"),
    *user("yes, the snapshots can go. Don't touch the invoices."),
    *run("rm -r snapshots", ""),
    *edit("src/prices.py", "CACHE = {}", "CACHE = None"),
    *said("The snapshots are gone, and the totals are shown in colour."),
]
PREISE = [
    *user("Der Import der Preise ist langsam. Ich würde den Zwischenspeicher durch eine Tabelle ersetzen."),
    *said("Die Preise liegen jetzt in der Tabelle. Soll ich die alten Schnappschüsse auch löschen?"),
    *user("ja, die Schnappschüsse können weg. Die Rechnungen bitte nicht anfassen."),
    *said("Die Schnappschüsse sind gelöscht, die Summen werden farbig gezeigt."),
]


@pytest.mark.parametrize(
    ("log", "kept", "struck"),
    [
        (
            PRICES,
            [
                "ruled 5: The user wants PRICE_CACHE replaced with a table.",
                "ruled 5: The user does not want the invoices touched.",
                "ruled 4: The user agreed that the folder of snapshots can go.",
                "state 3: src/prices.py is changed, nothing is committed yet.",
            ],
            [
                "ruled 5: The user wants PRICE_CACHE kept beside the table.",
                "ruled 5: The user never wants the totals in colour.",
                "worked 3: The user confirmed that the import of invoices got faster.",
                "state 3: All changes are committed.",
            ],
        ),
        (
            PREISE,
            [
                "ruled 5: Der Benutzer will den Zwischenspeicher durch eine Tabelle ersetzen.",
                "ruled 5: Der Benutzer will nicht, dass die Rechnungen angefasst werden.",
                "ruled 4: Der Benutzer stimmte zu, die Schnappschüsse zu löschen.",
            ],
            [
                "ruled 5: Der Benutzer will den Zwischenspeicher behalten und nicht die Tabelle.",
                "worked 3: Der Benutzer bestätigte, dass der Import der Rechnungen schneller wurde.",
            ],
        ),
    ],
)
async def test_what_users_did_not_say_is_not_noted(log: list[Draft], kept: list[str], struck: list[str]) -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("prices")
        await session.append(log)
        # Of a reply of which most is struck, nothing is kept.
        taken = await session.take_notes("\n".join([*kept, *struck]))
        told = "\n".join(taken.reasons)
        assert all(line.partition(": ")[2].rstrip(".") in told for line in struck), told
        assert taken.notes == len(kept), told
