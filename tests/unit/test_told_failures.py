"""Failures that were remembered, as traps: the call that a text is about, what to do instead, and why."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

import ireneo
from ireneo.guard import check_call
from ireneo.lessons.guard import HEED, SessionSoFar, Trap, advice
from ireneo.lessons.told_failures import (
    ReportedFailure,
    is_warning,
    lacks_call,
    reported_failure,
    reported_failures,
    reported_traps,
)
from ireneo.memories.record import Evidence, Kind, MemoryId, Record
from ireneo.types import GuardAdvice

NOW = datetime(2026, 5, 2, tzinfo=UTC)
CALL = ("Bash", {"command": "make deploy"})
TEXT = "`make deploy` without the VPN hangs: connect to it first."


def told(text: str) -> ReportedFailure:
    found = reported_failure(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "command", "words", "way_out"),
    [
        (TEXT, "make deploy", (), "connect to it first"),
        ("make deploy hangs without the VPN, so connect first", "make deploy", (), "connect first"),
        ("Running `go test ./...` fails with a timeout. Pass `-short`.", "go test", (), "Pass `-short`"),
        (
            "Use `pnpm install` instead of `npm install`",
            "npm install",
            (),
            "Use `pnpm install` instead of `npm install`",
        ),
        ("Run `make db` before `make it`, it fails otherwise", "make it", (), "Run `make db` first"),
        ("`pytest -n 8` deadlocks; use `pytest -n 1`", "pytest", ("-n 8",), "use `pytest -n 1`"),
        (
            "`psql` times out unless a tunnel is open; open one with `bin/tunnel`",
            "psql",
            (),
            "open one with `bin/tunnel`",
        ),
        ("`terraform apply` hangs without AWS_PROFILE", "terraform apply", (), "with AWS_PROFILE"),
        ("`make deploy` hängt ohne VPN: erst verbinden", "make deploy", (), "erst verbinden"),
        ("`make deploy` se bloque sans VPN : connectez-vous d'abord", "make deploy", (), "connectez-vous d'abord"),
        ("`terraform apply` from a laptop corrupts the state", "terraform apply", (), ""),
        ("Never run `npm audit fix` again: it broke the lockfile", "npm audit", ("fix",), ""),
        ("`git push --force` is refused because main is protected", "git push", ("--force",), ""),
        ("helm upgrade w/o --reuse-values reset all values", "helm upgrade", (), "with --reuse-values"),
        ("git clean -fdx deleted my notes. Never again.", "git clean", ("-fdx",), ""),
        (
            "Always pass --context staging to kubectl apply.",
            "kubectl apply",
            (),
            "Always pass --context staging to kubectl apply",
        ),
        (
            "pip install goes to the system: activate it first: source env/bin/activate",
            "pip install",
            (),
            "activate it first: source env/bin/activate",
        ),
        ("dont git add -A here!! name the files", "git add", ("-A",), "name the files"),
        ("Try `rsync -n` first.", "rsync", (), "Try `rsync -n` first"),
    ],
)
def test_a_text_names_the_command_and_the_way_out(
    text: str, command: str, words: tuple[str, ...], way_out: str
) -> None:
    found = told(text)
    assert (found.command, found.words, found.way_out) == (command, words, way_out)


def test_what_is_neither_is_the_reason() -> None:
    assert told("Never run `npm audit fix` again: it broke the lockfile").why == "it broke the lockfile"
    assert told("I tried `npm install` — abandoned because of ERESOLVE").why == "abandoned because of ERESOLVE"


def test_a_call_with_the_way_out_steps_into_nothing() -> None:
    assert told("`npm install` fails: pass `--legacy-peer-deps`").unless == ("--legacy-peer-deps",)
    assert told("`git push --force` is refused: use `git push --force-with-lease`").unless == ("--force-with-lease",)
    assert told("`make it` fails: run `make db` first").unless == ("make db",)
    assert told("`make it` fails: set DATABASE_URL").unless == ("DATABASE_URL",)
    assert "docker start cache" in told("`make it` fails (`docker start cache` first)").unless
    assert told("`pytest -n 8` deadlocks: use `-n 1`").unless == ("-n 1",)
    assert "replica.example" in told("psql on the primary blocks: go to replica.example").unless


def test_a_file_is_a_trap_for_who_changes_it() -> None:
    found = told("`src/gen/api.ts` must not be edited by hand: run `make gen`")
    assert (found.path, found.command, found.way_out) == ("src/gen/api.ts", "", "run `make gen`")
    assert told("`pytest tests/slow` runs for hours: ask first").path == "tests/slow/"
    assert told("config/prod.yaml nicht von Hand ändern, gehört in group_vars").path == "config/prod.yaml"
    assert told("Never touch anything in db/migrate that is on main").path == "db/migrate/"
    assert told("ssh bastion.example asks for a code").words == ("bastion.example",)


@pytest.mark.parametrize(
    ("text", "call", "warns"),
    [
        ("git clean -fdx deleted my notes", "git clean -xdf", True),
        ("git clean -fdx deleted my notes", "git clean -n", False),
        ("dont git add -A here", "git add notes.md", False),
        ("`make clean` deletes the blobs: `make -B all`", "make -C firmware clean all", True),
        ("`make clean` deletes the blobs: `make -B all`", "make all", False),
        ("`npm install` breaks the lockfile: use pnpm", "npm i left-pad", True),
        ("gh pr merge --delete-branch closed the others", "gh pr merge 7 -d", True),
        ("dont sed -i the yamls in deploy/, it breaks them", "sed -i s/1/2/ deploy/web.yaml", True),
        ("cargo build --release is killed; --profile fast instead", "cargo build -p a --release", True),
        ("dont start vitest without run, it hangs", "npx vitest rows", True),
        ("dont start vitest without run, it hangs", "npx vitest run rows", False),
        ("`sed -i 's/a/b/'` stops with an error here", "sed -i 's/1/2/' rows.ini", True),
        ("make deploy without the VPN hangs: connect to the VPN first", "git pull && make deploy", True),
    ],
)
def test_a_call_may_be_written_otherwise(text: str, call: str, *, warns: bool) -> None:
    trap = one_trap(record(text), ["cli"])
    assert trap is not None
    found = advice([trap], "Bash", {"command": call}, SessionSoFar, project="cli")
    assert (found is not None) == warns


@pytest.mark.parametrize(
    ("text", "met", "harmless"),
    [
        (
            "pytest -n 4 against tests/db deadlocks; tests/pure is fine",
            ["pytest -x tests/db/test_users.py -n 4", "cd tests/db && pytest -n 4"],
            ["pytest -n 4 tests/pure", "pytest -n 4 tests/api", "pytest -n 4"],
        ),
        ("npm install in apps/site breaks the lockfile", ["cd apps/site && npm i left-pad"], ["cd apps/docs && npm i"]),
        (
            "alembic upgrade on the staging database hung for an hour",
            ["ENV=staging alembic upgrade head"],
            ["ENV=dev alembic upgrade head", "alembic upgrade head"],
        ),
        (
            "git push --force to release/* lost two fixes",
            ["git push -f origin release/3"],
            ["git push --force origin fix/typo", "git push --force"],
        ),
        ("yarn upgrade (no package name) broke the build", ["yarn upgrade --latest"], ["yarn upgrade left-pad"]),
        (
            "go test ./... over everything times out",
            ["go test -count=1 ./...", "go test"],
            ["go test ./store", "go test ./store/..."],
        ),
        (
            "terraform apply with the old file (envs/eu.tfvars) fails",
            ["terraform apply -var-file=envs/eu.tfvars"],
            ["terraform apply -var-file=envs/eu-2.tfvars"],
        ),
        (
            "systemctl restart cache loses all keys",
            ["sudo systemctl restart cache.service"],
            ["systemctl restart web"],
        ),
        ("make release tags the wrong commit", ["make release VERSION=2"], ["make -n release"]),
        (
            "ansible-playbook site.yml fails at night",
            ["ansible-playbook site.yml"],
            ["ansible-playbook site.yml --list-hosts"],
        ),
        ("eslint --fix for the whole repo rewrites vendor/", ["eslint . --ext .ts --fix"], ["eslint --fix src/a.ts"]),
        ("`cypress open` hangs here. xvfb-run in front helps", ["cypress open -b edge"], ["xvfb-run cypress open"]),
        (
            "docker push to reg.example.org fails: `az login` first",
            ["docker push reg.example.org/a"],
            ["docker push local/a"],
        ),
        ("Don't touch .ci/flow.yml, it is rendered by `make flow`", [], ["make flow"]),
        (
            "NEVER force push on main again. `git push --force` there lost two commits",
            ["git push -f origin main"],
            ["git push --force origin fix/typo"],
        ),
        (
            "Use pnpm install. npm install breaks the links. docs/site is still on npm, there it's ok",
            ["npm i left-pad"],
            ["pnpm install", "cd docs/site && npm install"],
        ),
        ("poetry add torch = hangs for minutes", ["poetry add 'torch>=2'"], ["poetry add httpx"]),
        (
            "npm version on main starts a release",
            ["git switch main && npm version minor"],
            ["git switch -c a && npm version minor"],
        ),
        (
            "On the build server (build01) docker system prune removes all images",
            ["ssh ann@build01 'docker system prune -a'"],
            ["ssh ann@build02 'docker system prune -a'"],
        ),
        ("cargo test for the whole workspace is killed", ["cargo test --workspace 2>&1"], ["cargo test -p rows"]),
        ("make clean in firmware/ deletes the tools", ["cd firmware && make clean"], ["cd docs && make clean"]),
    ],
)
def test_a_call_that_names_another_place_steps_into_nothing(text: str, met: list[str], harmless: list[str]) -> None:
    trap = one_trap(record(text), ["cli"])
    assert trap is not None
    told = {each: advice([trap], "Bash", {"command": each}, SessionSoFar, project="cli") for each in (*met, *harmless)}
    assert [each for each, found in told.items() if found is not None] == met


@pytest.mark.parametrize(
    ("text", "command", "words", "way_out"),
    [
        ("After a merge cargo build dies, so run `cargo clean`", "cargo build", (), "run `cargo clean`"),
        ("Don't force push: it drops commits", "git push", ("--force",), ""),
        ("I committed with --no-verify and a key got lost", "git commit", ("--no-verify",), ""),
        ("Playwright with --headed fails here", "playwright", ("--headed",), ""),
        ("Say `make app`, never a bare `make`, it blows up", "make", (), "Say `make app`"),
        ("ssh to box1 hangs. Through the relay: ssh -J relay box1", "ssh", (), "ssh -J relay box1"),
        ("gen.sh overwrites notes.md", "gen.sh", (), ""),
        (
            "Activate it (`. env/bin/activate`) before any pip install",
            "pip install",
            (),
            "Activate it (`. env/bin/activate`) first",
        ),
    ],
)
def test_a_command_is_told_in_plain_words(text: str, command: str, words: tuple[str, ...], way_out: str) -> None:
    found = told(text)
    assert (found.command, found.words, found.way_out) == (command, words, way_out)


def test_a_file_with_a_dot_in_front_is_a_file() -> None:
    found = told(".env.live is rendered from the vault: change it there")
    assert (found.path, found.command) == (".env.live", "")
    assert told("Don't touch .ci/flow.yml, it is rendered by `make flow`").path == ".ci/flow.yml"


@pytest.mark.parametrize(
    "text",
    [
        "`pytest` with several workers deadlocks",
        "pnpm test in the root folder runs out of memory",
        "golangci-lint on a single file fails: run it on the package",
        "Running `pytest` bare from the root dies",
        "psql is slow on Mondays: wait",
    ],
)
def test_what_no_call_shows_is_no_trap(text: str) -> None:
    assert reported_traps(record(text), ["cli"]) == []


@pytest.mark.parametrize(
    "text",
    ["The staging database times out on Fridays", "Don't trust the docs", "`KeyError` is raised", ""],
)
def test_a_text_without_a_command_is_no_trap(text: str) -> None:
    found = reported_failure(text)
    assert found is None or found.command == "KeyError"


@pytest.mark.parametrize(
    ("text", "so"),
    [
        ("make deploy hangs without the VPN: connect first", True),
        ("dont git add -A in here, it drops the dumps into the repo", True),
        ("npm install breaks the lockfile, use pnpm", True),
        ("`gen/api.ts` is overwritten at each build: edit openapi.yaml", True),
        ("The deploy is done with `make deploy`.", False),
        ("Run `make db` before `make it`", False),
        ("git push failed yesterday", False),
        ("My brother broke his leg; call him", False),
        ("no code, just explain what is used", False),
        ("We had words over port 80 and it broke the ice; go on", False),
        ("make sure the door is locked", False),
        ("cargo test in crates/tide needs redis up, start it with make redis", True),
        ("`make e2e` requires the stub server; run `make stub` first", True),
        ("cargo test needs about ten minutes", False),
        ("make deploy needs to be quick, use the small image", False),
        ("Does npm install break the lockfile? Use pnpm?", False),
    ],
)
def test_a_text_of_no_kind_may_warn(text: str, *, so: bool) -> None:
    assert is_warning(text) == so


@pytest.mark.parametrize(
    ("text", "kind", "so"),
    [
        ("Never run the backfill on the live cluster.", "semantic", True),
        ("Please don't deploy on a Friday.", "semantic", True),
        ("Die Nachbuchung nie auf dem Livesystem ausführen.", "semantic", True),
        ("The nightly import hangs on the first of a month.", "failure", True),
        ("`make backfill` hangs on the live cluster: ask Ops", "failure", False),
        ("Nina never runs late.", "semantic", False),
        ("I don't run any more.", "semantic", False),
        ("Never run the backfill on the live cluster.", "procedural", False),
    ],
)
def test_what_names_no_call_is_known(text: str, kind: Kind, *, so: bool) -> None:
    assert lacks_call(replace(record(text), kind=kind)) == so


async def test_what_warns_is_a_failure_unless_somebody_says_what_it_is(tmp_path: Path) -> None:
    text = "make deploy hangs without the VPN: connect first"
    async with ireneo.open(tmp_path / "memory.db", durability="normal") as memory:
        assert (await memory.remember(text)).record.kind == "failure"
        assert (await memory.remember(text, kind="semantic")).record.kind == "semantic"
        assert (await memory.remember("Anna lives in Oslo.")).record.kind == "semantic"


def one_trap(told: Record, projects: list[str]) -> Trap | None:
    return next(iter(reported_traps(told, projects)), None)


@pytest.mark.parametrize(
    ("text", "met", "harmless"),
    [
        (
            "Draining quay-3 lost the queue, it lies on its disk.",
            ["kubectl --context a drain quay-3 --force"],
            ["kubectl drain quay-5", "kubectl describe node quay-3"],
        ),
        (
            "quay-3 must not be drained until Ann has moved the queue",
            ["ssh ann@bell 'kubectl drain quay-3'"],
            ["kubectl cordon quay-3", "kubectl drain quay-5"],
        ),
        (
            "When uploading bell/rows to the hub leave the tapes out (--exclude 'tapes/*')",
            ["hub-cli upload bell/rows runs/4"],
            ["hub-cli upload bell/rows runs/4 --exclude 'tapes/*'", "hub-cli download bell/rows"],
        ),
    ],
)
def test_what_is_run_may_be_named_by_a_verb_and_its_object(text: str, met: list[str], harmless: list[str]) -> None:
    traps = reported_traps(record(text), ["cli"])
    told = {each: advice(traps, "Bash", {"command": each}, SessionSoFar, project="cli") for each in (*met, *harmless)}
    assert [each for each, found in told.items() if found is not None] == met


def record(text: str, **change: object) -> Record:
    pieces = (Evidence(at=NOW, recorded=NOW, **{"project": "cli", **change}),)  # type: ignore[arg-type]
    return Record(id=MemoryId("m_one"), kind="failure", key="k", text=text, at=NOW, recorded=NOW, evidence=pieces)


@pytest.mark.parametrize(
    ("text", "met", "harmless"),
    [
        ("Never force push.", "git push -f origin wip", "git push origin wip"),
        ("Please don't amend commits, the reviewers lose their place.", "git commit --amend", "git commit -m rows"),
        ("Do not stash my work, open the drafts instead.", "git stash", "git status"),
        ("Never push to main directly.", "git push origin main", "git push origin wip"),
        ("Always run `make fmt` before you commit.", "git commit -m rows", "make fmt && git commit -m rows"),
        ("Never commit with --no-verify.", "git commit --no-verify -m rows", "git commit -m rows"),
        ("Please never run tofu apply yourself.", "cd infra && tofu apply", "tofu plan"),
        (
            "never delete the cache with rm -rf node_modules",
            "rm -rf node_modules",
            "rm -rf out",
        ),
        ("We don't open pull requests against develop.", "gh pr create --base develop", "gh pr create --base main"),
        ("Never call cargo build yourself, use the make targets.", "cargo build --release", "make build"),
    ],
)
def test_a_ruling_is_heard_where_its_words_name_the_call(text: str, met: str, harmless: str) -> None:
    ruling = replace(record(text, messages=("m_two",)), kind="procedural", cue="<ruling> x")
    trap = one_trap(ruling, ["cli"])
    assert trap is not None
    assert trap.ruling
    assert advice([trap], "Bash", {"command": met}, SessionSoFar, project="cli") is not None
    assert advice([trap], "Bash", {"command": harmless}, SessionSoFar, project="cli") is None


@pytest.mark.parametrize(
    "text", ["Keep commits small.", "We never write comments about rows.", "Use the make targets."]
)
def test_a_ruling_that_forbids_no_call_stops_none(text: str) -> None:
    assert one_trap(replace(record(text, messages=("m_two",)), kind="procedural", cue="<ruling> x"), ["cli"]) is None


def test_what_was_told_by_hand_needs_no_way_out() -> None:
    text = "`terraform apply` from a laptop corrupts the state"
    by_hand, by_log = one_trap(record(text), ["cli"]), one_trap(record(text, messages=("m_two",)), ["cli"])
    assert by_hand is not None
    assert by_hand.way_out == HEED
    assert by_log is None
    assert one_trap(record(TEXT, messages=("m_two",)), ["cli"]) is not None
    assert one_trap(replace(record(TEXT), cue="x"), ["cli"]) is None
    assert one_trap(replace(record(TEXT), state="retired"), ["cli"]) is None


def test_taking_back_is_no_way_out() -> None:
    text = "I tried changing src/rows.py — abandoned, and taken back with `git checkout -- src/rows.py`: it is older."
    assert one_trap(record(text), ["cli"]) is not None
    assert one_trap(replace(record(text), signature="change: file=rows.py ⇒ -"), ["cli"]) is None


def test_its_signature_names_the_call_where_the_text_does_not() -> None:
    found = reported_failure("It hangs without the VPN: connect first", "bash: make deploy ⇒ timed out")
    assert found is not None
    assert (found.command, found.way_out) == ("make deploy", "connect first")


async def test_remembered_overturned_and_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    async def hook(project: str = "cli") -> GuardAdvice | None:
        return await asyncio.to_thread(check_call, path, "default", *CALL, folder=f"/home/ann/{project}")

    async with ireneo.open(path, durability="normal") as memory:
        done = await memory.remember(TEXT, project="cli")
        assert done.record.kind == "failure"
        said = await memory.check(*CALL, project="cli")
        assert said is not None
        assert said.remembered
        first, second = said.text.splitlines()
        assert first == "trap: `make deploy` without the VPN hangs; instead: connect to it first"
        assert second.startswith("remembered in ")
        assert said.markdown.endswith(f" · memory {done.record.id}")
        assert await hook() == said
        assert await hook("osprey") is None
        assert await memory.check(*CALL, project="osprey") is None
        assert await memory.check("Bash", {"command": "make build"}, project="cli") is None
        await memory.remember(TEXT, kind="failure", project="cli", against=True)
        assert await hook() is None
        assert await memory.check(*CALL, project="cli") is None


async def test_what_an_earlier_file_remembers_is_told(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with ireneo.open(path, durability="normal") as memory:
        await memory.remember(TEXT, project="cli")
    # As the version before left it: triggers for lessons alone, and a row that knows of no failure.
    with closing(sqlite3.connect(path)) as database, database:
        for name in ("new", "old", "lost"):
            database.execute(f"DROP TRIGGER traps_without_{name}_lesson")
        database.execute("CREATE TRIGGER traps_without_new_lesson AFTER INSERT ON memories WHEN 0 BEGIN SELECT 1; END")
        database.execute("CREATE TRIGGER traps_without_old_lesson AFTER UPDATE ON memories WHEN 0 BEGIN SELECT 1; END")
        database.execute("CREATE TRIGGER traps_without_lost_lesson AFTER DELETE ON memories WHEN 0 BEGIN SELECT 1; END")
        database.execute("UPDATE traps SET version = 4, needles = '', record = '{}'")
        database.execute("DELETE FROM migrations WHERE number = 14")
        database.execute("PRAGMA user_version = 13")
    for _ in range(2):
        said = await asyncio.to_thread(check_call, path, "default", *CALL, folder="/home/ann/cli")
        assert said is not None
        assert said.remembered
    async with ireneo.open(path, durability="normal") as memory:
        await memory.remember("`make deploy` works again.", kind="failure", project="cli")
    with closing(sqlite3.connect(path)) as database:
        names = database.execute("SELECT sql FROM sqlite_master WHERE name LIKE 'traps_without_%lesson'").fetchall()
    assert all("'failure'" in sql for (sql,) in names)


async def test_what_a_rewind_undid_warns_of_nothing_and_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with ireneo.open(path, durability="normal") as memory:
        session = await memory.session("talk", project="cli")
        here = (await session.append(["Good morning."])).ids[-1]
        there = (await session.append([TEXT])).ids[-1]
        made = await memory.remember(TEXT, kind="failure", project="cli", session="talk", messages=[there])
        for undone in (False, True, False):
            await session.rewind(here if undone else there)
            said = await memory.check(*CALL, project="cli")
            assert (said is None) == undone
            assert (not await memory.get([made.record.id])) == undone
            assert await memory.get([made.record.id], undone=True)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (
            "Files in tests/golden/ end otherwise on purpose. They must not be edited; `make golden` writes them",
            "tests/golden/",
        ),
        ("Die .po-Dateien unter locale/ nicht von Hand ändern, sie werden überschrieben", "locale/"),
    ],
)
def test_what_must_not_be_changed_is_the_place_that_is_named(text: str, path: str) -> None:
    found = reported_failure(text)
    assert found is not None
    assert (found.command, found.path) == ("", path)


def test_a_word_of_every_text_is_no_command() -> None:
    assert not [
        each for each in reported_failures("they hang without the VPN: connect first") if each.command == "they"
    ]


def test_the_guard_says_once_that_it_is_instead() -> None:
    trap = one_trap(record("npm ci hangs here: use npm ci --offline instead"), ["cli"])
    assert trap is not None
    assert trap.way_out == "use npm ci --offline"


def test_the_error_that_a_run_reports_is_no_way_out() -> None:
    report = 'I tried `claude --print "say hello"` — it failed: Error: Input must be provided through stdin.'
    assert told(report).way_out == ""
    report = "I tried `go build -o ./app ./cmd/...` — it failed: go: cannot write multiple packages to ./app; "
    assert told(f"{report}`go build -o ./app ./cmd/app` worked.").way_out == "`go build -o ./app ./cmd/app` worked"


def test_what_is_named_after_the_failure_is_its_way_out() -> None:
    told = one_trap(record("The export of rows loses its zeros. Convert those with tools/rows_export.py."), ["cli"])
    assert told is None or "rows_export" not in told.command
    over = one_trap(record("Restart the modem over ssh fails on a bell, somebody has to drive there."), ["cli"])
    assert over is None or over.command != "ssh"
