"""Notes on an agent's work: how a line is read, where it goes, what stands of it, and the notes of the agent itself."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.golden.material import edit, run, said, session, step, user

import ireneo
from ireneo import BadInput, Context, Policy, Session
from ireneo.engine.heard import NOT_RULED
from ireneo.log.message import Draft, Text
from ireneo.ports.models import Prompt
from ireneo.summaries.notes import Note, note_id, read_note
from ireneo.testing.scripted import Scripted, ScriptedLLM

FINE = Policy(name="fine", leaf_min_atoms=2, leaf_max_atoms=3, fan_in=2, goal_min_turns=2, goal_max_turns=2)
BUDGET = 700
OWN = """ruled 5: Never touch the migrations folder, says the user.
- found 4: The slice `rows[:-1]` in src/ledger/importer.py dropped the last row.
changed 3: BATCH_SIZE is 500 in src/ledger/batches.py.
failed 4: Deferring the commit with `commit_later` loses batches.
open 5: STAGING_TOKEN is not set, so nothing was deployed.
"""


@asynccontextmanager
async def running(model: ScriptedLLM | None = None) -> AsyncIterator[Session]:
    async with ireneo.open(":memory:", model=model) as memory:
        yield await memory.session("run")


async def look(session: Session, budget: int = BUDGET) -> Context:
    return await session.context(budget, to="openai", preset=FINE, rebuild=True)


async def recorded(session: Session) -> list[str]:
    """What the blocks of a context say, whether or not it has room for it."""
    blocks = [row for row in (await look(session)).view if row.what == "summary"]
    records = [(await session.expand(block.id)).summary for block in blocks]
    return [line.text for record in records if record for section in record.sections for line in section.lines]


def text(context: Context) -> str:
    return "\n".join(row.text for row in context.view)


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("found 4 [12,15] It is so.", Note(kind="found", worth=4, at=(12, 15), text="It is so.")),
        ("- **failed** 5: [3] It broke.", Note(kind="failed", worth=5, at=(3,), text="It broke.")),
        ("state: On main.", Note(kind="state", text="On main.")),
        ("changed 3 [7-9,n4fa2] x is 2.", Note(kind="changed", at=(7, 9), replaces=("n4fa2",), text="x is 2.")),
        ("Ruled 5 – no  pushes", Note(kind="ruled", worth=5, text="no pushes")),
        ("found 2 [] `[a]` is a list.", Note(kind="found", worth=2, text="`[a]` is a list.")),
        ("found 404 comes back for /x.", Note(kind="found", text="404 comes back for /x.")),
        ("found 9 tests fail.", Note(kind="found", text="9 tests fail.")),
        ("ruled 9 [4] No pushes.", None),
        ("ruled 0: No pushes.", None),
        ("Here are my notes:", None),
        ("found 3", None),
        ("", None),
    ],
)
def test_how_a_line_is_read(line: str, read: Note | None) -> None:
    assert read_note(line) == read


async def test_an_agents_own_notes_are_shown_where_their_messages_stood() -> None:
    async with running() as session:
        await session.append(session_of(2))
        request = await session.notes_request(preset=FINE)
        assert "all that was said and done so far" in request
        taken = await session.take_notes(OWN, preset=FINE)
        assert (taken.notes, taken.struck, taken.reasons) == (5, 0, ())
        assert (taken.first_position, taken.last_position) == (0, len(session_of(2)) - 1)
        shown = text(await look(session))
        assert "loses batches" in shown
        # What a block has no room for stands in its record.
        assert any(line.startswith("The slice") for line in await recorded(session))
        # Offered twice it is stored once, and there is nothing left to take notes on.
        again = await session.take_notes(OWN, preset=FINE)
        assert (again.notes, again.last_position - again.first_position) == (0, -1)
        assert text(await look(session)) == shown
        with pytest.raises(BadInput, match="All messages of session 'run' have notes; ask again after the next ones"):
            await session.notes_request(preset=FINE)


async def test_a_line_that_is_no_note_is_told() -> None:
    async with running() as session:
        await session.append(session_of(1))
        taken = await session.take_notes("1. found 4: The slice loses batches.\nfound 9: It is late.", preset=FINE)
        assert (taken.notes, taken.reasons[-1]) == (1, "No note, and not stored: “found 9: It is late.”.")


async def test_notes_tell_more_than_masks_that_hide_most_of_a_run() -> None:
    async with running() as session:
        read = [run(f"./show {part}", f"row {part} of the ledger is kept in part {part}\n" * 60) for part in range(24)]
        await session.append([*user("Where are the rows?"), *(draft for each in read for draft in each)])
        assert {row.what for row in (await look(session, 3_000)).view} == {"message", "masked"}
        await session.take_notes("found 5: Row 7 of the ledger is kept in part 7.", preset=FINE)
        assert "Row 7 of the ledger is kept" in text(await look(session, 3_000))
        # Where most of it stands as it was, notes of it say nothing new.
        assert "summary" not in {row.what for row in (await look(session, 16_000)).view}


def session_of(times: int) -> list[ireneo.Draft]:
    return session(times)


async def test_notes_are_taken_up_by_the_blocks_that_come_later() -> None:
    async with running() as session:
        await session.append(session_of(1))
        await session.take_notes(OWN, preset=FINE)
        await session.append([*user("And now the docs."), *run("make docs", "docs built"), *said("Done. " * 400)])
        assert "loses batches" in text(await look(session))
        # What comes since has none, and is asked for by its first words.
        assert "since “And now the docs.”" in await session.notes_request(preset=FINE)
        more = await session.take_notes("worked 3: `make docs` built the docs.", preset=FINE)
        assert (more.notes, more.first_position) == (1, len(session_of(1)))


@pytest.mark.parametrize("reply", ["", "I took my notes.", "Sure!\nHere they are:\nfound 3: The slice is wrong.\nBye."])
async def test_a_reply_in_the_wrong_shape_changes_nothing(reply: str) -> None:
    async with running() as session:
        await session.append(session_of(1))
        before = text(await look(session))
        with pytest.raises(
            BadInput,
            match=r"(?:holds no notes|Only 1 of the reply's 4 lines).*, and nothing was stored",
        ):
            await session.take_notes(reply, preset=FINE)
        assert text(await look(session)) == before


async def test_what_an_agent_makes_up_is_struck() -> None:
    async with running() as session:
        await session.append(session_of(1))
        before = text(await look(session))
        made_up = "found 4: The file made/up.py is broken.\nfound 4: It ended with GhostError.\nopen 3: Nothing else."
        taken = await session.take_notes(made_up, preset=FINE)
        assert (taken.notes, taken.struck) == (0, 2)
        assert any("made/up.py" in reason for reason in taken.reasons)
        assert text(await look(session)) == before
        taken = await session.take_notes(f"{OWN}found 4: The file made/up.py is broken.", preset=FINE)
        assert (taken.notes, taken.struck) == (5, 1)
        assert "made/up.py" not in text(await look(session))


async def test_the_request_and_its_answer_in_the_log_are_evidence_for_nothing() -> None:
    async with running() as session:
        await session.append(session_of(1))
        request = await session.notes_request(preset=FINE)
        reply = f"{OWN}found 4: The file made/up.py is broken."
        await session.append([*user(request), *said(reply)])
        taken = await session.take_notes(reply, preset=FINE)
        assert (taken.notes, taken.struck) == (5, 1)


async def test_nor_are_they_where_tools_asked_and_answered() -> None:
    async with running() as session:
        await session.append(session_of(1))
        request = await session.notes_request(preset=FINE)
        reply = f"{OWN}found 4: The file made/up.py is broken."
        await session.append([*step("", "notes_request", {"session": "run"}, request)])
        await session.append([*step("", "take_notes", {"session": "run", "notes": reply}, "5 notes kept.")])
        taken = await session.take_notes(reply, preset=FINE)
        assert (taken.notes, taken.struck) == (5, 1)


async def test_a_fork_before_the_end_of_the_notes_keeps_what_it_shares() -> None:
    async with running() as session:
        await session.append(session_of(2))
        await session.take_notes(OWN, preset=FINE)
        messages = await session.messages()
        await session.rewind(messages[-6].id)
        await session.append([*user("Another way."), *said("Yes. " * 400)])
        assert "loses batches" in text(await look(session))


async def test_before_the_first_message_there_is_nothing_to_take_notes_on() -> None:
    async with running() as session:
        for asked in (session.notes_request(), session.take_notes(OWN)):
            with pytest.raises(BadInput, match="no message yet"):
                await asked
        await session.append(user("Hello."))
        with pytest.raises(BadInput, match="agent's work"):
            await session.notes_request(preset="story")


class Writer:
    """Answers with these notes, and with these once more to a repair."""

    def __init__(self, notes: list[str], mended: list[str]) -> None:
        self.notes, self.mended = notes, mended

    def __call__(self, prompt: Prompt) -> Scripted:
        return {"notes": self.mended if prompt.name.startswith("notes-repair") else self.notes}


GOOD = ["found 4 [2] The slice `rows[:-1]` dropped the last row.", "failed 4 `commit_later` loses batches."]


async def test_a_stretch_is_asked_for_once_and_a_repair_is_short() -> None:
    wrong = "found 4 [4] The file made/up.py is broken."
    model = ScriptedLLM(
        Writer([*GOOD, wrong, "found 3 [4] pytst is no command."], ["found 4 [4] pytst was not found."])
    )

    async with running(model) as session:
        await session.append(session_of(3))
        (came,) = (await session.summarise(BUDGET, preset=FINE)).summaries
        assert came.did == "repaired"
        asked, repair = model.prompts
        assert len(repair.user) < len(asked.user) / 4
        assert wrong.partition("] ")[2] in repair.user
        assert "pytst: command not found" in repair.user
        assert "slice" not in repair.user, "what stands is not sent again"
        opened = await session.expand(came.id)
        assert opened.summary is not None
        assert opened.summary.writing is not None
        assert opened.summary.writing.repaired
        shown = text(await look(session))
        assert "made/up.py" not in shown
        assert (await session.summarise(BUDGET, preset=FINE)).summaries == ()


async def test_what_is_no_note_is_refused_and_told() -> None:
    bad = ["a line without a kind", "ruled 9 [2] Nothing.", "found 4 [999] Nothing at all."]
    ruled = "ruled 5 [8] The user allowed ghosts into the cellar of a castle."
    model = ScriptedLLM(Writer([*GOOD, *GOOD, *bad, ruled], [ruled]))
    async with running(model) as session:
        await session.append(session_of(3))
        (came,) = (await session.summarise(BUDGET, preset=FINE)).summaries
        assert (came.did, came.struck) == ("repaired", 4)
        assert all(line in came.reason for line in bad)
        assert f"“{ruled.partition('] ')[2]}”: {NOT_RULED}" in came.reason
        said = await recorded(session)
        assert not any(word in line for line in said for word in ("without a kind", "Nothing", "ghosts"))


async def test_a_ruling_stands_beside_a_clause_that_says_what_was_not_done() -> None:
    ruled = "ruled 5 [1] Migrations folder barred; no benchmark written, no release planned, no schema checked yet."
    model = ScriptedLLM(Writer([*GOOD, ruled], []))
    async with running(model) as session:
        await session.append(session_of(3))
        (came,) = (await session.summarise(BUDGET, preset=FINE)).summaries
        assert (came.did, came.struck, came.reason) == ("written", 0, "")


PUSHES = [
    *user("The export is slow, please look into it. The db stuff stays as it is."),
    *run("make lint", "no issues"),
    *said("The export reads each row twice. Shall I cache the rows, and open a pull request for it?"),
    *user("yes to the first"),
    *run("make fmt && make test", "FAILED: 1 of 20", failed=True),
    *run("make test", "20 passed"),
]


@pytest.mark.parametrize(
    ("note", "stands"),
    [
        ("ruled 5: The user allowed force pushes.", False),
        ("ruled 5 [1,2]: The user forbids new dependencies.", False),
        ("ruled 5: The user wants the database left as it is before Friday 13 June.", False),
        ("ruled 4: The user wants the database left alone; the slow export is the task.", True),
        ("ruled 4: The user approved caching.", True),
        ("ruled 4: Die Nutzerin will, dass die Datenbank so bleibt, wie sie ist.", True),
        ("failed 4: `make lint` failed and was never mended.", False),
        ("failed 4: `make test` failed, and a row was missing.", True),
        ("found 3: `make lint` finds nothing and never failed.", True),
    ],
)
async def test_a_ruling_that_nobody_gave_and_an_outcome_that_never_was_are_struck(note: str, stands: bool) -> None:
    async with running() as session:
        await session.append(PUSHES)
        others = ["found 3: The export reads each row twice.", "worked 3: `make test` passed at last, 20 tests."]
        taken = await session.take_notes("\n".join([note, *others]), preset=FINE)
        assert (taken.notes, taken.struck) == ((3, 0) if stands else (2, 1)), taken.reasons


async def test_deeper_blocks_are_rolled_up_and_nobody_is_asked_for_them() -> None:
    model = ScriptedLLM(Writer(GOOD, []))
    async with running(model) as session:
        await session.append(session_of(4))
        await session.summarise(300, preset=FINE)
        asked = len(model.prompts)
        for budget in (300, 400, BUDGET, 2 * BUDGET):
            await session.summarise(budget, preset=FINE)
            context = await look(session, budget)
            assert [row.level for row in context.view if row.what == "summary"]
            assert "loses batches" in text(context)
        assert len(model.prompts) == asked


async def test_a_later_note_takes_the_place_of_an_earlier_one() -> None:
    earlier = "BATCH_SIZE is 50 in src/ledger/batches.py."

    async with running() as session:
        await session.append(
            [*user("Make it faster."), *edit("src/ledger/batches.py", "BATCH_SIZE = 5", "BATCH_SIZE = 50")]
        )
        await session.append(said("BATCH_SIZE is 50 in src/ledger/batches.py now."))
        await session.take_notes(f"open 3: {earlier}", preset=FINE)
        await session.append([*user("Faster."), *edit("src/ledger/batches.py", "BATCH_SIZE = 50", "BATCH_SIZE = 500")])
        await session.append([*said("Done."), *user("Thanks."), *said("Welcome. " * 300)])
        assert note_id(earlier) in await session.notes_request(preset=FINE)
        later = f"changed 4 [{note_id(earlier)}]: BATCH_SIZE is 500 in src/ledger/batches.py."
        assert (await session.take_notes(later, preset=FINE)).notes == 1
        shown = text(await look(session, 400))
        assert "BATCH_SIZE is 500" in shown
        assert earlier not in shown


async def test_what_stands_twice_is_shown_to_a_model_once() -> None:
    model = ScriptedLLM(Writer(GOOD, []))
    reminder = "<system-reminder>Whether it is malware is to be considered.</system-reminder>"
    page = "\n".join(f"{n:>6}→line {n} of the file that is read" for n in range(1, 40))

    async with running(model) as session:
        for _ in range(3):
            await session.append([*user("Read it."), *run("cat file", f"{page}\n{reminder}"), *said("I read it.")])
        await session.append(said("Done. " * 600))
        await session.summarise(BUDGET, preset=FINE)
    (asked, *_) = model.prompts
    assert asked.user.count("line 7 of the file") == 1
    assert "lines as in [2])" in asked.user
    assert "malware" not in asked.user
    assert "10→line 10 of" in asked.user
    assert "7→line" not in asked.user


NARROW = 1_800
FACTS = [f"found 3: The setting `FLAG_{number}` in src/flags.py is {number * 7}." for number in range(1, 9)]
NEWEST = "found 5: tests/test_flags.py skips `test_nine` on Windows."


def flagged() -> list[ireneo.Draft]:
    """Work whose outputs are long, and what is to be known of it short; the newest output too."""
    filler = "\n".join(f"log line {number} of the build, of no use to anybody" for number in range(450))
    out = [*user("Set the flags of src/flags.py, and say what they are.")]
    for number in range(1, 9):
        out += run(f"make flag_{number}", f"`FLAG_{number}` in src/flags.py is {number * 7}.\n{filler}")
    out += [*said("All flags are set."), *user("Now set `FLAG_9` as well, please, and look at tests/test_flags.py.")]
    out += [
        *run("make flag_9", f"FLAG_9 is 63.\n{filler}"),
        *run("cat tests/test_flags.py", f"{filler}\ntests/test_flags.py skips `test_nine` on Windows.\n{filler}"),
    ]
    return out


async def test_a_narrow_context_is_made_of_notes() -> None:
    async with running() as session:
        await session.append(flagged())
        await session.take_notes("\n".join([*FACTS, NEWEST]), preset=FINE)
        narrow = await look(session, NARROW)
        shown = text(narrow)
        assert narrow.tokens <= NARROW
        assert not narrow.violations
        assert all(fact.partition(": ")[2] in shown for fact in FACTS)
        assert sum(row.what == "summary" for row in narrow.view) <= 2
        assert "Now set `FLAG_9` as well, please" in shown, "what is worked on stands in the user's words"
        assert NEWEST.partition(": ")[2] in shown, "what is noted of messages that are cut short is said as well"


ORDER = "Write the list of the flags as a page: " + ", then ".join(
    f"`FLAG_{number}` with what it is and whom it helps" for number in range(1, 9)
)


async def test_what_the_user_said_last_stands_whole_beside_notes() -> None:
    async with running() as session:
        await session.append([*flagged(), *said("Done.")])
        await session.take_notes("\n".join([*FACTS, NEWEST]), preset=FINE)
        await session.append(user(f"{ORDER}."))
        narrow = await look(session, NARROW)
        assert narrow.tokens <= NARROW
        assert narrow.view[-1].text == f"{ORDER}."
        assert all(fact.partition(": ")[2] in text(narrow) for fact in FACTS), "its room is taken from no note"
        await session.append(user(f"And this one: {ORDER * 30}."))
        longer = await look(session, NARROW)
        assert longer.tokens <= NARROW
        assert "tokens left out" in longer.view[-1].text, "a long one has its share"


async def test_beside_the_newest_request_no_earlier_one_takes_the_room_of_notes() -> None:
    async with running() as session:
        await session.append([*flagged(), *said("Done."), *user("Then sort `FLAGS`."), *run("make sort", "sorted")])
        await session.append([*said("Sorted."), *user("Last, list them."), *run("make list", "listed")])
        await session.take_notes("\n".join([*FACTS, NEWEST]), preset=FINE)
        narrow = await look(session, NARROW)
        assert [row.what for row in narrow.view].count("summary") == 1
        assert "Last, list them." in [row.text for row in narrow.view]


def asked_room(prompt: Prompt) -> tuple[int, int]:
    """The words and characters that a narrow context is said to show."""
    found = re.search(r"about ([\d,]+) characters of statements \(some (\d+) words", prompt.user)
    assert found is not None
    return int(found[2]), int(found[1].replace(",", ""))


async def test_what_is_written_within_the_room_of_a_context_is_shown() -> None:
    def core(prompt: Prompt) -> list[str]:
        words, _ = asked_room(prompt)
        # Nine words each.
        return [f"log line {number} of the build, of no use to anybody" for number in range(words // 9)]

    def write(prompt: Prompt) -> Scripted:
        beside = [f"found 2 [2] It is log line {number} of the build" for number in range(300, 400)]
        return {"notes": [*beside, *(f"found 3 [2] {fact}" for fact in core(prompt))]}

    model = ScriptedLLM(write)
    async with running(model) as session:
        await session.append(flagged())
        whole = sum(message.tokens for message in await session.messages())
        await session.summarise(whole // 30, preset=FINE)
        context = await look(session, whole // 30)
        facts = core(model.prompts[0])
        assert len(facts) > 50
        assert [fact for fact in facts if f"{fact}\n" not in f"{text(context)}\n"] == []
        assert context.tokens <= whole // 30


FLOOD = "The tide gauge of pier 7 stands at 412."


@pytest.mark.parametrize(
    ("newest", "is_told"),
    [
        (run("cat tides.csv", f"{FLOOD}\n" + "There is no wind.\n" * 3_000), True),
        (user("Now look at the tides."), True),
        (run("date", "Monday"), False),
    ],
    ids=["what has no room", "a request", "what is shown as it is"],
)
async def test_the_newest_message_is_told_to_the_writer_unless_it_is_shown_as_it_is(
    newest: list[Draft], is_told: bool
) -> None:
    last = newest[-1].parts[0]

    def write(prompt: Prompt) -> Scripted:
        at = re.findall(r"^\[(\d+)\]", prompt.user, re.M)[-1]
        return {"notes": [f"found 4 [{at}] {FLOOD}" if FLOOD in prompt.user else "found 4 [2] It is log line 7."]}

    model = ScriptedLLM(write)
    async with running(model) as session:
        await session.append([*flagged(), *said("Done."), *newest])
        budget = sum(message.tokens for message in await session.messages()) // 25
        await session.summarise(budget, preset=FINE)
        shown = last.text if isinstance(last, Text) else ""
        assert ((FLOOD if FLOOD in str(last) else shown or "Monday") in model.prompts[0].user) == is_told
        assert (FLOOD in text(await look(session, budget))) == (FLOOD in str(last))


async def test_a_narrower_context_has_less_room_for_notes() -> None:
    rooms: list[int] = []
    for ratio in (10, 14, 40, 80):
        model = ScriptedLLM(Writer(GOOD, []))
        async with running(model) as session:
            await session.append(flagged())
            whole = sum(message.tokens for message in await session.messages())
            await session.summarise(whole // ratio, preset=FINE)
        rooms.append(asked_room(model.prompts[0])[0])
    widest, wide, narrow, least = rooms
    assert widest == wide > narrow > least > wide / 4


async def test_notes_are_chosen_by_their_worth_whatever_their_length() -> None:
    lines = [f"log line {number} of the build, of no use to anybody" for number in range(100)]
    long = [f"found 3: {'; '.join(lines[begin : begin + 16])}" for begin in (0, 16, 32, 48)]
    short = [f"found 2: It is {line}" for line in lines]

    async with running() as session:
        await session.append(flagged())
        await session.take_notes("\n".join([*short, *long]), preset=FINE)
        shown = text(await look(session, NARROW))
        assert all(each.partition(": ")[2] in shown for each in long)
        assert not all(each.partition(": ")[2] in shown for each in short)


@pytest.mark.parametrize(
    ("note", "pinned"),
    [
        ('ruled 5: The user: "never push the flags to main before the tests pass".', False),
        ("ruled 5: The user wants no push of the flags to main before the tests pass.", True),
        ("ruled 5: The user wants to push the flags to main before the tests pass.", True),
    ],
)
async def test_a_rule_is_not_said_twice_where_a_note_quotes_it(note: str, pinned: bool) -> None:
    async with running() as session:
        await session.append(user("From now on, never push the flags to main before the tests pass."))
        await session.append(said("I won't."))
        await session.append(flagged())
        await session.take_notes("\n".join([note, *FACTS, NEWEST]), preset=FINE)
        context = await look(session, NARROW)
        assert note.partition(": ")[2] in text(context)
        assert bool(context.pins) == pinned


async def test_what_a_model_says_of_the_state_stands_beside_what_the_structure_knows() -> None:
    state = "state 4: On branch flags-9; make flag_8 passed last, nothing is committed."

    async with running() as session:
        await session.append([*flagged(), *said("I am on branch flags-9, nothing is committed.")])
        await session.take_notes("\n".join([*FACTS, state]), preset=FINE)
        assert state.partition(": ")[2] in text(await look(session, NARROW))


async def test_what_was_noted_behind_a_fork_is_not_said_before_it() -> None:
    async with running() as session:
        await session.append(flagged())
        await session.take_notes("\n".join([*FACTS, NEWEST]), preset=FINE)
        assert NEWEST.partition(": ")[2] in text(await look(session, NARROW))
        messages = await session.messages()
        await session.rewind(messages[-3].id)
        await session.append([*user("Another way."), *said("Yes. " * 400)])
        shown = text(await look(session, NARROW))
        assert NEWEST.partition(": ")[2] not in shown


async def test_a_narrower_context_asks_for_nothing_more() -> None:
    model = ScriptedLLM(Writer(["found 3 [2] `FLAG_1` in src/flags.py is 7."], []))
    async with running(model) as session:
        await session.append([*flagged(), *(each for part in range(60) for each in run(f"make part_{part}", "done"))])
        whole = sum(message.tokens for message in await session.messages())
        await session.summarise(whole // 13, preset=FINE)
        assert len(model.prompts) == 1
        await session.summarise(NARROW, preset=FINE)
        assert len(model.prompts) == 1


async def test_what_was_written_is_shown_in_wider_contexts_as_well() -> None:
    """On a short turn more than it cost, on the user's words and what led to them, on what is shown and what is not."""
    turns = [
        *[each for number in range(9) for each in run(f"make part_{number}", f"part_{number} is done. " * 60)],
        *said("Shall I keep `part_4` in the parts folder, or drop it?"),
        *user("Keep it."),
        *said("It stays in the parts folder then."),
        *user("And the next ones?"),
        *[each for number in range(10, 19) for each in run(f"make part_{number}", f"part_{number} is done. " * 60)],
        *said("All parts are done now, and part_18 was the last one of them. " * 3),
        *user("Look once more."),
        *run("make look", "part_3 is done."),
    ]
    end = len(turns) - 4
    notes = [
        "ruled 5 [19,20] I asked whether to drop part_4, which stands in the parts folder; the user said: Keep it.",
        f"found 4 [21] {'; '.join(f'part_{number} is done' for number in range(9))}; part_4 stays in the parts folder.",
        f"found 3 [24,{end}] All parts are done, part_10 was the first of the last ones.",
    ]
    model = ScriptedLLM(Writer(notes, []))
    async with running(model) as session:
        await session.append([*user("Make all the parts."), *turns])
        whole = sum(message.tokens for message in await session.messages())
        await session.summarise(whole // 20, preset=FINE)
        for share in (20, 14, 9, 8):
            shown = text(await look(session, whole // share))
            assert [note for note in notes if note.partition("] ")[2] not in shown] == [], share


async def test_a_table_of_numbers_is_no_gutter() -> None:
    model = ScriptedLLM(Writer(GOOD, []))
    source = "\n".join(f"  {number}\tline of code {number}" for number in range(1, 40))

    async with running(model) as session:
        await session.append([*user("Look."), *run("cat counts.tsv", "404\tnot found\n500\tbroken")])
        await session.append([*run("cat -n a.py", source), *session_of(3)])
        await session.summarise(BUDGET, preset=FINE)
        shown = model.prompts[0].user
        assert "404\tnot found\n500\tbroken" in shown
        assert "\nline of code 9\n10\tline of code 10\nline of code 11" in shown
