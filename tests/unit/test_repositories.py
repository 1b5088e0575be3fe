"""One repository in several folders: what proves it, what doesn't, and what is told in each then."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.twenty_traps import log_of, ran, user
from tests.unit.guarded import Made, material

import ireneo
from ireneo.guard import check_call
from ireneo.lessons.repositories import REPOSITORY, marks_of_repository, merged_marks, united_projects
from ireneo.lessons.run import Observation
from ireneo.lessons.study import observations_of, sum_observations

REMOTE: Made = ("Bash", "git remote -v", "origin\tgit@example.org:ann/kestrel.git (fetch)\n", False)
HTTPS: Made = (
    "Bash",
    "git push",
    "To https://tok:en@example.org/ann/kestrel\n   1a2b3c4..5d6e7f8  main -> main",
    False,
)
OTHER: Made = ("Bash", "git remote -v", "origin\tgit@example.org:bob/kestrel.git (fetch)\n", False)
MADE: tuple[Made, ...] = tuple(
    ("Bash", f"git commit -m '{subject}'", f"[main {id}] {subject}\n 1 file changed", False)
    for id, subject in (("1a2b3c4", "Beat at night"), ("5d6e7f8", "Beat twice"))
)
LISTED: Made = (
    "Bash",
    "git log --oneline -3",
    "5d6e7f8 (HEAD -> main) Beat twice\n1a2b3c4 Beat at night\n0f0f0f0 Begin",
    False,
)
TREES: Made = (
    "Bash",
    "git worktree list",
    "/srv/kestrel       1a2b3c4 [main]\n/srv/kestrel-night 5d6e7f8 [night]\n",
    False,
)


def shown(project: str, *made: Made) -> list[Observation]:
    return marks_of_repository(material(f"run of {project}", *made, project=project))


def are_one(one: list[Observation], other: list[Observation]) -> bool:
    return bool(united_projects([*one, *other]))


def test_the_same_remote_and_name_are_one_however_the_remote_is_written() -> None:
    assert united_projects([*shown("a/api", REMOTE), *shown("b/api", HTTPS)]) == {
        "a/api": frozenset({"a/api", "b/api"}),
        "b/api": frozenset({"a/api", "b/api"}),
    }


def test_another_name_or_another_remote_is_another_project() -> None:
    assert not are_one(shown("a/api", REMOTE), shown("a/web", REMOTE))
    assert not are_one(shown("a/api", REMOTE), shown("b/api", OTHER))
    assert not are_one(shown("a/api", REMOTE, *MADE), shown("b/api", OTHER, LISTED))


def test_commits_that_one_made_and_the_other_lists_are_proof() -> None:
    assert are_one(shown("a/api", *MADE), shown("b/api", LISTED))
    assert are_one(shown("a/api", LISTED), shown("b/api", *MADE))
    assert not are_one(shown("a/api", MADE[0]), shown("b/api", LISTED))


def test_commits_that_both_only_list_are_none() -> None:
    assert not are_one(shown("a/api", LISTED), shown("b/api", LISTED))


def test_worktrees_that_git_lists_are_one_repository() -> None:
    united = united_projects(shown("kestrel", TREES))
    assert united["kestrel-night"] == {"kestrel", "kestrel-night"}
    assert not united_projects(shown("osprey", ("Bash", "git worktree list", "/srv/osprey 1a2b3c4 [main]\n", False)))


@pytest.mark.parametrize(
    "left", ["cd ../shared && git remote -v", "git -C /srv/shared remote -v", "cd /srv/shared", "pushd $OTHER"]
)
def test_what_git_says_elsewhere_is_of_another_repository(left: str) -> None:
    there = ("Bash", left, REMOTE[2], False)
    assert not shown("a/api", there)
    # Git alone looks elsewhere; the run itself is where it was.
    assert bool(shown("a/api", there, REMOTE)) == left.startswith("git")


def test_a_run_that_came_back_shows_its_repository_again() -> None:
    back = ("Bash", "cd /srv/kestrel && git remote -v", REMOTE[2], False)
    (seen,) = shown("kestrel", ("Bash", "cd /tmp/try && git log --oneline", LISTED[2], False), OTHER, back)
    assert set(seen.conditions) == {"remote"}
    assert not are_one([seen], shown("b/kestrel", OTHER))
    assert not shown(
        "kestrel", ("Bash", "cd /tmp/try", "", False), ("Bash", "cd src && git remote -v", REMOTE[2], False)
    )


def test_a_folder_of_the_project_is_no_other_place() -> None:
    assert shown("kestrel", ("Bash", "cd /srv/kestrel/src && git remote -v", REMOTE[2], False))
    assert shown("kestrel", ("Bash", "cd src && git remote -v", REMOTE[2], False))


def test_what_failed_or_is_of_no_project_is_no_mark() -> None:
    assert not shown("a/api", (*REMOTE[:3], True))
    assert not shown("", REMOTE)
    assert not shown("a/api", ("Bash", "cat notes", REMOTE[2], False))


def test_the_marks_of_two_windows_are_joined() -> None:
    first, second = shown("a/api", REMOTE)[0], shown("a/api", *MADE)[0]
    (both,) = sum_observations([first, second])
    assert both.conditions == merged_marks(first.conditions, second.conditions)
    assert set(both.conditions) == {"remote", "made"}
    assert REPOSITORY not in {each.cue for each in observations_of(material("r", REMOTE))}


async def test_what_one_folder_taught_is_told_in_the_other_once_it_is_proved(tmp_path: Path) -> None:
    text, call = "`make deploy` hangs without the VPN: connect first", ("Bash", {"command": "make deploy"})
    path = tmp_path / "memory.db"

    async def hook(folder: str) -> bool:
        return await asyncio.to_thread(check_call, path, "default", *call, folder=folder) is not None

    async with ireneo.open(path, durability="normal") as memory:
        await memory.remember(text, project="/srv/a/api")
        await memory.remember("The staging server is called heron.", project="/srv/a/api")
        await memory.remember("The staging server is called gull.", project="/srv/c/api")

        async def seen(folder: str) -> list[str]:
            found = await memory.recall("What is the staging server called?", project=folder)
            return [each.text for each in found if "staging server" in each.text]

        assert await memory.check(*call, project="/srv/b/api") is None
        assert await seen("/srv/b/api") == []
        for name in ("a", "b"):
            log = tmp_path / f"{name}.jsonl"
            log.write_text(log_of(name, (user("Where is it?"), ran(REMOTE[1], REMOTE[2])), f"{name}/api"), "utf-8")  # type: ignore[arg-type]
            await memory.learn_from(log)
        assert await memory.check(*call, project="/srv/b/api") is not None
        assert await seen("/srv/b/api") == ["The staging server is called heron."]
        assert await memory.check(*call, project="/srv/c/api") is None
        assert await seen("/srv/c/api") == ["The staging server is called gull."]
    assert await hook("/srv/b/api")
    assert not await hook("/srv/c/api")


async def test_what_is_told_in_one_folder_of_a_repository_changes_what_the_other_told(tmp_path: Path) -> None:
    told = (("a", "2026-03-10", "I live in Porto."), ("b", "2026-03-12", "I moved to Lisbon last week."))
    async with ireneo.open(tmp_path / "memory.db", durability="normal") as memory:
        for name, day, text in told:
            log = tmp_path / f"{name}.jsonl"
            log.write_text(log_of(name, (user("Where is it?"), ran(REMOTE[1], REMOTE[2])), f"{name}/api"), "utf-8")  # type: ignore[arg-type]
            await memory.learn_from(log)
            talk = await memory.session(f"talk of {name}", project=f"/srv/{name}/api")
            await talk.append([{"role": "user", "content": text, "timestamp": f"{day}T10:00:00+00:00"}])
            await memory.work(until_idle=True)
        for name, _, _ in told:
            held = await memory.memories(project=f"/srv/{name}/api")
            assert [each.value for each in held if each.attribute == "home"] == ["Lisbon"]
