"""From the log to memories: what a turn and a leaf leave behind, once, and with its sources."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from tests.progress import progress_of

from ireneo import Draft, Memory, Session
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.engine.intake import EpisodeReader, IntakeResult
from ireneo.engine.resources import Resources
from ireneo.log.message import Call, Native, Origin, Part, Result, Role, Text
from ireneo.memories.record import Record
from ireneo.ports.memories import MemoryFilter
from ireneo.summaries.policy import STORY
from ireneo.testing.scripted import ManualClock

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Desk:
    """A memory, and a log that is written a minute a message."""

    def __init__(self) -> None:
        self.store = InMemoryStore()
        self.means = Resources(store=self.store, count=EstimatedTokenizer().count, clock=ManualClock(NOON))
        self.memory = Memory(self.means, "mine")
        self._said = 0

    def draft(self, role: Role, *parts: Part, origin: Origin = "spoken", directory: str = "") -> Draft:
        self._said += 1
        record = Native(format="log", payload=[{"cwd": directory}]) if directory else None
        at = NOON + timedelta(minutes=self._said)
        return Draft(role=role, parts=parts, origin=origin, at=at, record=record)

    def asks(self, text: str, directory: str = "") -> Draft:
        return self.draft("user", Text(text=text), directory=directory)

    def says(self, text: str) -> Draft:
        return self.draft("assistant", Text(text=text))

    def runs(self, command: str, output: str, failed: bool = False) -> list[Draft]:
        name = f"t{self._said}"
        call = Call(id=name, name="Bash", arguments={"command": command})
        result = Result(call_id=name, parts=(Text(text=output),), failed=failed)
        return [self.draft("assistant", call), self.draft("tool", result)]

    def edits(self, path: str) -> list[Draft]:
        name = f"t{self._said}"
        arguments = {"file_path": path, "old_string": "a", "new_string": "b"}
        result = Result(call_id=name, parts=(Text(text="updated"),))
        return [self.draft("assistant", Call(id=name, name="Edit", arguments=arguments)), self.draft("tool", result)]

    async def session(self, drafts: Sequence[Draft], name: str = "run") -> Session:
        session = await self.memory.session(name)
        await session.append(drafts)
        return session

    async def gather(self) -> list[IntakeResult]:
        gatherer = EpisodeReader(self.means, "mine")
        infos = await self.store.read(lambda tx: tx.sessions.list("mine"))
        return [each for info in infos async for each in gatherer.session(info)]

    async def all(self) -> list[Record]:
        return sorted(
            await self.store.read(lambda tx: tx.memories.list("mine", MemoryFilter())),
            key=lambda each: (each.at, each.kind),
        )


async def test_a_turn_of_work_is_an_episode_with_its_sources() -> None:
    desk = Desk()
    session = await desk.session(
        [
            desk.asks("Make the <b>drift</b> test pass", "/srv/shop"),
            *desk.edits("/srv/shop/src/clock.py"),
            *desk.runs("pytest -q", "7 passed in 0.3s"),
            desk.says("The next run of `clock.py` is counted from when the last one was due."),
        ]
    )
    (gathered,) = await desk.gather()
    assert (gathered.session, gathered.first_position, gathered.last_position) == ("run", 0, 5)
    (told,) = await desk.all()
    assert told.text == (
        "“Make the drift test pass”: I changed `src/clock.py`. `pytest -q` passed. "
        "The next run of `clock.py` is counted from when the last one was due."
    )
    messages = await session.messages()
    assert set(told.sources) == {message.id for message in messages}
    assert (told.kind, told.at, told.sessions, told.origin) == (
        "episodic",
        messages[-1].draft.at,
        ("run",),
        "agent",
    )


async def test_gathering_again_adds_nothing_and_what_is_new_is_added() -> None:
    desk = Desk()
    turn = [desk.asks("Run the tests"), *desk.runs("pytest -q", "7 passed in 0.3s"), desk.says("All of them pass.")]
    session = await desk.session(turn)
    assert len(await desk.gather()) == 1
    held = await desk.all()
    assert await desk.gather() == []
    assert await desk.all() == held
    await session.append([desk.asks("And the linter"), *desk.runs("make lint", "error: 3 issues", failed=True)])
    assert await desk.gather() == [], "the turn is not over"
    await session.append([desk.says("It found three issues that I have not looked into.")])
    await desk.gather()
    (new,) = [each for each in await desk.all() if each not in held]
    assert "`make lint` failed: error: 3 issues." in new.text


async def test_what_was_only_said_leaves_nothing_behind() -> None:
    desk = Desk()
    await desk.session([desk.asks("What is a lease?"), desk.says("The right to do one piece of work.")])
    assert await desk.gather() == []


async def test_what_a_harness_or_a_compaction_said_is_no_evidence() -> None:
    desk = Desk()
    call = Call(id="c", name="Bash", arguments={"command": "rm -rf build"})
    await desk.session(
        [
            desk.draft("user", Text(text="This session is being continued. I ran rm."), origin="summary"),
            desk.asks("Run the tests"),
            desk.draft("assistant", call, Text(text="I removed the build."), origin="summary"),
            *desk.runs("pytest -q", "7 passed in 0.3s"),
            desk.draft("user", Text(text="Reminder: the secret word is heron"), origin="injected"),
            desk.says("All of them pass now."),
        ]
    )
    await desk.gather()
    (told,) = await desk.all()
    assert not any(word in told.text for word in ("heron", "removed", "continued", "rm -rf"))
    assert len(told.sources) == 4


def a_dead_end(desk: Desk, directory: str = "") -> list[Draft]:
    return [
        desk.asks("Count the orders", directory),
        *desk.runs("orderz --week 3", "sh: orderz: command not found", failed=True),
        *desk.runs("orders --week 3", "12 orders"),
        desk.says("There were 12 orders in week 3."),
    ]


async def test_of_several_calls_in_one_message_a_failure_names_the_tool_that_failed() -> None:
    desk = Desk()
    reads = Call(id="r", name="Read", arguments={"file_path": "/srv/shop/logs"})
    lists = Call(id="l", name="Bash", arguments={"command": "crontab -l"})
    shown = Result(call_id="r", parts=(Text(text="42 rows"),), failed=False)
    failed = Result(call_id="l", parts=(Text(text="crontab: cannot open the table: Permission denied"),), failed=True)
    both = [desk.draft("assistant", lists, reads), desk.draft("tool", shown), desk.draft("tool", failed)]
    await desk.session([desk.asks("Look at the logs", "/srv/shop"), *both, desk.says("The logs lie in a folder.")])
    await desk.gather()
    (failure,) = [each for each in await desk.all() if each.kind == "failure"]
    assert failure.conditions["tool"] == "Bash"


async def test_a_dead_end_is_a_failure_and_is_overturned_when_it_works() -> None:
    desk = Desk()
    session = await desk.session(a_dead_end(desk, "/srv/shop"))
    await desk.gather()
    (failure,) = [each for each in await desk.all() if each.kind == "failure"]
    assert failure.text.startswith("I tried `orderz --week 3` — it failed: sh: orderz: command not found")
    assert failure.conditions == {"tool": "Bash", "cwd": "/srv/shop"}
    assert "orderz" in failure.signature
    again = [*desk.runs("orderz --week 4", "9 orders"), desk.says("There were 9 orders in week 4.")]
    await session.append([desk.asks("In another place", "/srv/other"), *again])
    await desk.gather()
    (still,) = [each for each in await desk.all() if each.kind == "failure"]
    assert still.state == "active", "it worked, but elsewhere"
    again = [*desk.runs("orderz --week 5", "8 orders"), desk.says("There were 8 orders in week 5.")]
    await session.append([desk.asks("And week 5?", "/srv/shop"), *again])
    await desk.gather()
    (turned,) = [each for each in await desk.all() if each.kind == "failure"]
    assert turned.state == "retired"
    assert turned.reason.startswith("overturned")
    assert [piece.against for piece in turned.evidence] == [False, True]


@pytest.mark.parametrize(
    ("check", "output", "undo"),
    [
        ("pnpm test", "TypeError: undefined is no function\nTests: 20 failed", "git checkout package.json"),
        ("docker compose up -d redis && pnpm test", "Tests: 20 failed", "git checkout -- ."),
        ("pytest -q", "20 failed, 3 passed in 2.1s", "git stash"),
        ("make test", "make: *** [test] Error 1", "git reset --hard"),
    ],
)
async def test_a_failure_that_was_taken_back_has_not_passed(check: str, output: str, undo: str) -> None:
    desk = Desk()
    await desk.session(
        [
            desk.asks("Take the newest release"),
            *desk.edits("package.json"),
            *desk.runs(check, output, failed=True),
            *desk.runs(undo, "Updated 1 path from the index"),
            desk.says("I could not do it and went back."),
        ]
    )
    await desk.gather()
    (told,) = [each for each in await desk.all() if each.kind == "episodic"]
    assert f"`{check}` failed" in told.text
    assert f"I took the changes back with `{undo}`." in told.text
    assert "passed" not in told.text.replace(output, "")
    assert "I changed" not in told.text


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        ("make lint", "make lint", "`make lint` passed in the end."),
        ("make lint 2>&1 | tail -25", "make lint", "`make lint` passed in the end."),
        ("git fetch && make lint", "make lint", "`make lint` passed in the end."),
        (
            "pytest -q tests/test_a.py",
            "pytest -q",
            "`pytest -q` passed in the end.",
        ),
        ("make test", "make lint", "`make test` failed. `make lint` passed."),
    ],
)
async def test_an_episode_tells_that_a_check_failed_before_it_passed(first: str, then: str, told: str) -> None:
    desk = Desk()
    failing = desk.runs(first, "--- FAIL: keeps rows\nmake: *** [lint] Error 1\n1 failed, 2 passed in 2s", failed=True)
    passing = desk.runs(then, "3 passed in 2.1s")
    await desk.session([desk.asks("Mend it"), *failing, *desk.edits("clock.py"), *passing, desk.says("Done.")])
    await desk.gather()
    (episode,) = [each for each in await desk.all() if each.kind == "episodic"]
    assert told in episode.text
    assert ("failed" in episode.text) == ("failed" in told)


async def test_an_episode_tells_no_check_as_passed_whose_output_says_otherwise_nor_what_was_put_aside() -> None:
    desk = Desk()
    await desk.session(
        [
            desk.asks("Find out whether the fault is old"),
            *desk.edits("clock.py"),
            *desk.runs("git stash", "Saved working directory"),
            *desk.runs("git stash pop", "Dropped refs/stash@{0}"),
            *desk.runs("make build | tee log", "clock.c:3:4: error: expected ';'"),
            *desk.runs("echo done", "done"),
            desk.says("It is old."),
        ]
    )
    await desk.gather()
    (told,) = [each for each in await desk.all() if each.kind == "episodic"]
    assert "passed" not in told.text
    assert "took the changes back" not in told.text


async def test_what_was_asked_for_by_a_command_is_told_as_it_was_entered() -> None:
    desk = Desk()
    asked = "<command-message>review</command-message> <command-name>/review</command-name>"
    await desk.session(
        [
            desk.asks(f"{asked} <command-args>7</command-args>"),
            *desk.runs("pytest -q", "7 passed"),
            desk.says("Done."),
        ]
    )
    await desk.gather()
    (told,) = await desk.all()
    assert told.text.startswith("“/review 7”: ")


@pytest.mark.parametrize("command", ["pnpm up react@19 --force", "yarn add left-pad", "pnpm install"])
async def test_what_installs_packages_is_no_check_that_passed(command: str) -> None:
    desk = Desk()
    await desk.session([desk.asks("Take the newest release"), *desk.runs(command, "Done in 3s"), desk.says("Done.")])
    await desk.gather()
    (told,) = await desk.all()
    assert told.text == "“Take the newest release”."


async def test_what_branches_share_is_remembered_once() -> None:
    desk = Desk()
    first, second = a_dead_end(desk), a_dead_end(desk)
    session = await desk.session([*first, *second])
    fork = await session.fork("other", at=(await session.messages())[len(first) - 1].id)
    await fork.append([desk.asks("Which day?"), *desk.runs("date", "Friday"), desk.says("It is Friday today.")])
    await desk.gather()
    told = [piece for each in await desk.all() if each.kind == "episodic" for piece in each.evidence]
    assert len(told) == 3
    assert await desk.gather() == []


async def test_leaves_of_a_story_are_episodes_in_its_own_words() -> None:
    desk = Desk()
    desk.means = Resources(store=desk.store, count=desk.means.count, clock=desk.means.clock, preset=STORY)
    memory = Memory(desk.means, "mine")
    session = await memory.session("tale")
    scene = ["Mara hid the silver key under the third stair.", "Jonas searched the whole harbour for it."]
    await session.append([desk.draft("user", Text(text=scene[at % 2], author="Mara")) for at in range(420)])
    done = await progress_of(memory.work, until_idle=True)
    assert {each.did for each in done} >= {"caught_up", "remembered"}
    told = await desk.all()
    assert told
    for each in told:
        assert len(each.text) <= 300
        assert any(line in each.text for line in scene)
        assert any(name.startswith("s_") for name in each.sources)
    assert await desk.gather() == []


async def test_a_play_of_several_leaves_no_episodes() -> None:
    desk = Desk()
    desk.means = Resources(store=desk.store, count=desk.means.count, clock=desk.means.clock, preset=STORY)
    memory = Memory(desk.means, "mine")
    session = await memory.session("table")
    scene = [
        ("Mara", "I hide the silver key under the third stair."),
        ("Jonas", "I search the whole harbour for it."),
    ]
    lines = [scene[at % 2] for at in range(420)]
    await session.append([desk.draft("user", Text(text=text, author=author)) for author, text in lines])
    assert {each.did for each in await progress_of(memory.work, until_idle=True)} == {"caught_up"}
    assert await desk.all() == []


async def test_work_remembers_and_looks_back() -> None:
    desk = Desk()
    for number in range(13):
        turn = [desk.asks("Go on"), *desk.runs("make lint", f"error: {number} issues", failed=True)]
        await desk.session([*turn, desk.says(f"There are {number} issues left for tomorrow.")], f"s{number}")
    done = await progress_of(desk.memory.work, until_idle=True)
    assert sum(each.did == "remembered" for each in done) == 13
    (looked,) = [each for each in done if each.did == "reflected"]
    assert (looked.session, looked.episodes) == ("", 13)
    facts = [each.text for each in await desk.all() if each.kind == "semantic"]
    assert any(text.startswith("`make lint` failed 13 times out of 13") for text in facts)
    assert await progress_of(desk.memory.work, until_idle=True) == []


REFUSALS = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. "
    "To tell you how to proceed, the user said:\nNever push from here.",
    "User rejected tool use. Reason: Never push from here.",
    "The command was declined by the user; reason: Never push from here.",
)
STOPS = (
    "[Request interrupted by user for tool use]",
    "Permission to use Bash with command git push has been denied.",
    "Operation cancelled.",
    "Sibling tool call errored",
)


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_what_the_user_refused_is_told_in_the_episode_and_is_no_failure(refusal: str) -> None:
    desk = Desk()
    refused = desk.runs("git push --force origin main", refusal, failed=True)
    await desk.session([desk.asks("Ship it"), *refused, *desk.runs("git status", "clean"), desk.says("I stop here.")])
    await desk.gather()
    (told,) = await desk.all()
    assert told.kind == "episodic"
    assert "The user said no to `git push --force origin main`: “Never push from here" in told.text
    assert refused[1].results[0].text.startswith(refusal[:20])
    brief = (await desk.memory.brief(about_to="git push --force origin main")).markdown
    assert "What failed" not in brief
    assert "abandoned" not in brief


@pytest.mark.parametrize("stop", STOPS)
async def test_what_was_broken_off_is_no_failure(stop: str) -> None:
    desk = Desk()
    stopped = desk.runs("git push --force origin main", stop, failed=True)
    await desk.session([desk.asks("Ship it"), *stopped, *desk.runs("git status", "clean"), desk.says("I stop here.")])
    await desk.gather()
    assert [each.kind for each in await desk.all()] == ["episodic"]


async def test_what_a_program_says_of_a_user_is_no_refusal() -> None:
    desk = Desk()
    output = "psql: connecting to the database\n" + "." * 400 + "\nFATAL: access was denied by the user directory"
    failed = desk.runs("psql -c 'select 1'", output, failed=True)
    await desk.session([desk.asks("Look"), *failed, *desk.runs("ls", "a b"), desk.says("I stop here.")])
    await desk.gather()
    assert sorted(each.kind for each in await desk.all()) == ["episodic", "failure"]
