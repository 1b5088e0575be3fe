"""The diary of a stored session, and what its agent writes into it."""

from __future__ import annotations

import pytest
from tests.golden.material import read, run, said, session, user
from tests.progress import progress_of

from ireneo import BadInput, Draft, Memory
from ireneo.engine.scope import session_project
from ireneo.log.message import Native, Text
from ireneo.log.tree import SessionKey

DRAFTS = session()


async def test_the_diary_follows_from_the_session(memory: Memory) -> None:
    run_of = await memory.session("run")
    assert (await run_of.diary()).entries == ()
    await run_of.append(DRAFTS)
    diary = await run_of.diary()
    assert [entry.author for entry in diary.entries] == ["structure"] * len(diary.entries)
    assert diary.markdown
    assert diary.tokens > 0
    assert await run_of.diary() == diary


async def test_what_an_agent_writes_leads_and_stays(memory: Memory) -> None:
    run_of = await memory.session("run")
    await run_of.append(DRAFTS[:11])
    diary = await run_of.diary(
        "1. searching `moon.py`\n2. `pytest tests/test_importer.py`",
        worked=["keeping every row"],
        pattern="The slice was to blame.",
        goal="Keep the last row",
    )
    (entry,) = diary.entries
    assert (entry.author, entry.goal) == ("agent", "Keep the last row")
    assert [line.text for line in entry.attempted] == [
        "searching `moon.py` (unverified: “moon.py”)",
        "`pytest tests/test_importer.py`",
    ]
    assert "Pattern: The slice was to blame." in diary.markdown
    await run_of.append(DRAFTS[11:])
    later = await run_of.diary()
    assert later.entries[0].worked == entry.worked
    assert later.entries[0].attempted == entry.attempted


async def test_learning_again_keeps_what_an_agent_wrote(memory: Memory) -> None:
    run_of = await memory.session("run")
    await run_of.append(DRAFTS[:11])
    await run_of.diary(worked="keeping every row")
    for learned in await progress_of(memory.learn):
        assert [entry.author for entry in learned.run.diary] == ["agent"]
    await run_of.append([*DRAFTS[11:], *read("src/long.py", "x = 1\n" * 20_000)])
    for learned in await progress_of(memory.learn):
        first, *others = learned.run.diary
        assert [line.text for line in first.worked] == ["keeping every row"]
        assert {entry.author for entry in others} == {"structure"}
    assert learned.run == (await memory.runs())[0]


async def test_it_is_no_pin_and_shows_in_no_context(memory: Memory) -> None:
    run_of = await memory.session("run")
    await run_of.append(DRAFTS)
    before = await run_of.context(8_000, to="openai")
    pins = await run_of.pins()
    await run_of.diary(worked="zebra stripes")
    assert await run_of.pins() == pins
    assert (await run_of.context(8_000, to="openai")).messages == before.messages


async def test_a_branch_that_was_left_takes_its_diary_along(memory: Memory) -> None:
    run_of = await memory.session("run")
    await run_of.append(DRAFTS[:11])
    first = (await run_of.messages())[0].id
    await run_of.diary(worked="zebra stripes")
    await run_of.rewind(first)
    assert "zebra" not in (await run_of.diary()).markdown


async def test_what_is_forgotten_goes_from_the_diary(memory: Memory) -> None:
    run_of = await memory.session("run")
    appended = await run_of.append([*user("Deploy for the client Quorvale."), *run("make deploy", "ok")])
    await run_of.diary(worked="deploying for Quorvale")
    assert "Quorvale" in (await run_of.diary()).markdown
    await memory.forget(message=appended.ids[0])
    assert "Quorvale" not in (await run_of.diary()).markdown


async def test_secrets_are_taken_out_of_what_an_agent_writes(memory: Memory) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    run_of = await memory.session("run")
    await run_of.append(DRAFTS)
    diary = await run_of.diary(worked=f"export GITHUB_TOKEN={secret}", pattern="Tokens are needed.")
    assert secret not in diary.markdown
    assert "Tokens are needed." in diary.markdown


async def test_a_diary_needs_a_session_and_few_lines(memory: Memory) -> None:
    run_of = await memory.session("run")
    with pytest.raises(BadInput, match="append what was done"):
        await run_of.diary("looking")
    await run_of.append(user("Hello."))
    with pytest.raises(BadInput, match="too many"):
        await run_of.diary([f"way {n}" for n in range(20)])


async def test_the_project_of_a_session_is_where_it_worked(memory: Memory) -> None:
    def at(directory: str, text: str) -> Draft:
        record = Native(format="claude-code", payload=[{"cwd": directory}])
        return Draft(role="user", parts=(Text(text=text),), record=record)

    placed, named = await memory.session("run"), await memory.session("django__django-11099")
    await placed.append([at("/tmp", "Hello."), *said("Hello."), at("/srv/ledger/.worktrees/x", "Go on there.")])
    await named.append(user("Hello."))
    for each, project in ((placed, "ledger"), (named, "django__django")):
        head = (await each.branches())["main"]
        assert head is not None
        key = SessionKey(memory.space, each.id)
        assert await memory._store.read(session_project, key, head) == project
