"""Twenty traps that runs showed, and eight that somebody told, each met in other words, and harmless calls beside it.

They are used by a test and by `benchmarks/guard_traps.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct

from ireneo import sync
from ireneo.guard import check_call
from ireneo.types import GuardAdvice

BEGINS = datetime(2026, 4, 6, 9, tzinfo=UTC)
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)
LONG = "\n".join(f"  step {number} done" for number in range(60))
Given = Mapping[str, object]


class Turn(Struct, frozen=True):
    """A sentence of the user or the agent, or a call with its result."""

    said: str = ""
    by: str = ""
    tool: str = ""
    given: Given = {}
    result: str = ""
    failed: bool = False


class Scene(Struct, frozen=True):
    """A trap."""

    name: str
    project: str
    runs: tuple[tuple[Turn, ...], ...]
    met: tuple[str, Given]
    """The call that steps into it in another session."""
    way_out: str
    """What has to be named then."""
    harmless: tuple[tuple[str, Given, tuple[Turn, ...]], ...]
    """Calls that are not to be stopped, each with the session before it."""


def user(text: str) -> Turn:
    return Turn(said=text, by="user")


def agent(text: str) -> Turn:
    return Turn(said=text, by="assistant")


def ran(command: str, result: str = "ok") -> Turn:
    return Turn(tool="Bash", given={"command": command}, result=result)


def fell(command: str, result: str) -> Turn:
    return Turn(tool="Bash", given={"command": command}, result=f"Exit code 1\n{LONG}\n{result}", failed=True)


def called(tool: str, given: Given, result: str = "ok", *, failed: bool = False) -> Turn:
    return Turn(tool=tool, given=given, result=result, failed=failed)


def refused(command: str, words: str) -> Turn:
    return Turn(tool="Bash", given={"command": command}, result=f"{REFUSED}{words}", failed=True)


def bash(command: str, *before: Turn) -> tuple[str, Given, tuple[Turn, ...]]:
    return "Bash", {"command": command}, before


def met(command: str) -> tuple[str, Given]:
    return "Bash", {"command": command}


def got_over(goals: tuple[str, ...], command: str, error: str, why: str, *way: str) -> tuple[tuple[Turn, ...], ...]:
    """Runs that each fail, say why, and get over it by `way`."""
    return tuple(
        (user(goal), ran("git status --short", ""), fell(command, error), agent(why), *(ran(each) for each in way))
        for goal in goals
    )


REFUSED_CONNECTION = (
    'E   psycopg.OperationalError: connection to server at "localhost", port 5432 failed: Connection refused\n'
    "make: *** [Makefile:21: integration] Error 1"
)
IN_USE = "Error: listen EADDRINUSE: address already in use :::3000\nmake: *** [Makefile:9: serve] Error 1"
NO_UPSTREAM = (
    "fatal: The current branch {0} has no upstream branch.\nTo push the current branch and set the remote as upstream, "
    "use\n\n    git push --set-upstream origin {0}"
)
SCENES = (
    Scene(
        "a database has to be up",
        "kestrel",
        got_over(
            ("Keep results over a restart.", "Mend the lease test."),
            "make integration",
            REFUSED_CONNECTION,
            "The integration tests need a database on port 5432, which `make db` starts.",
            "make db",
            "make integration",
        ),
        met("cd /srv/kestrel && make integration 2>&1 | tail -30"),
        "make db",
        (bash("make db && make integration"), bash("make integration", ran("make db"), ran("vim a.py"))),
    ),
    Scene(
        "a flag that does not exist",
        "osprey",
        got_over(
            ("Quiet the linter.", "Lint the parser."),
            "golangci-lint run --fast-only",
            "Error: unknown flag: --fast-only\nFailed executing command with error: unknown flag: --fast-only",
            "This version of golangci-lint knows `--fast`, and no `--fast-only`.",
            "golangci-lint run --fast",
        ),
        met("golangci-lint run ./pkg/... --fast-only"),
        "--fast",
        (bash("golangci-lint run --fast ./pkg/..."), bash("golangci-lint run --help | grep fast-only")),
    ),
    Scene(
        "a file that is elsewhere",
        "heron",
        tuple(
            (
                user(goal),
                called("Read", {"file_path": "/srv/heron/.golangci.yml"}, "File does not exist.", failed=True),
                ran("ls -a", ".\n..\n.golangci.yaml\ngo.mod\nmain.go"),
                agent("The linter's settings lie in `.golangci.yaml`, not in `.golangci.yml`."),
                called("Read", {"file_path": "/srv/heron/.golangci.yaml"}, "1→linters:\n2→  enable: [gocritic]"),
            )
            for goal in ("Allow long lines.", "Turn gocritic off.", "Which linters are on?")
        ),
        met("cd /srv/heron && cat .golangci.yml | head -40"),
        ".golangci.yaml",
        (
            ("Read", {"file_path": "/srv/heron/.golangci.yaml"}, ()),
            bash("ls -la .golangci.yml .golangci.yaml"),
        ),
    ),
    Scene(
        "a rule against a command",
        "plover",
        (
            (
                user("Pad the numbers."),
                refused("npm install left-pad", "We use pnpm here, not npm."),
                ran("pnpm add left-pad"),
            ),
        ),
        met("cd web && npm ci"),
        "pnpm",
        (bash("cd web && pnpm install --frozen-lockfile"), bash("grep -n 'npm' README.md")),
    ),
    Scene(
        "a rule against a flag",
        "curlew",
        (
            (
                user("Commit what you have."),
                refused(
                    "git commit -m 'Mend it' --no-verify", "Never use --no-verify. Fix what the hook complains about."
                ),
                ran("ruff check --fix ."),
                ran("git commit -m 'Mend it'"),
            ),
        ),
        met("git -C . commit -am 'Keep the lease' --no-verify"),
        "hook",
        (
            bash("git commit -am 'Keep the lease'"),
            bash("git log --oneline -3 && git commit -m 'No --no-verify any more'"),
        ),
    ),
    Scene(
        "a rule against editing a generated file",
        "avocet",
        tuple(
            (
                user(goal),
                called("Edit", {"file_path": "/srv/avocet/api/api.pb.go", "old_string": "a", "new_string": "b"}),
                user("Don't edit api/api.pb.go by hand. Change api/api.proto and run `make generate` instead."),
                called("Edit", {"file_path": "/srv/avocet/api/api.proto", "old_string": "a", "new_string": "b"}),
                ran("make generate"),
            )
            for goal in ("Add a field for the year.", "Rename the month.")
        ),
        ("Edit", {"file_path": "/srv/avocet/api/api.pb.go", "old_string": "Month int32", "new_string": "Month int64"}),
        "make generate",
        (
            ("Read", {"file_path": "/srv/avocet/api/api.pb.go"}, ()),
            ("Edit", {"file_path": "/srv/avocet/api/api.proto", "old_string": "x", "new_string": "y"}, ()),
        ),
    ),
    Scene(
        "a variable that is missing",
        "ibis",
        got_over(
            ("Seed two accounts.", "Seed the ledgers."),
            "./manage.py seed",
            "ibis.errors.Settings: DATABASE_URL is not set",
            "The seeds read `DATABASE_URL` from the environment, and nothing sets it here.",
            "DATABASE_URL=postgres://localhost/dev ./manage.py seed",
        ),
        met("cd /srv/ibis && ./manage.py seed --all"),
        "DATABASE_URL",
        (bash("DATABASE_URL=postgres://localhost/dev ./manage.py seed --all"), bash("./manage.py check")),
    ),
    Scene(
        "another directory",
        "godwit",
        got_over(
            ("Mend the store.", "Test the store.", "Speed the store up."),
            "go test ./...",
            "go: go.mod file not found in current directory or any parent directory; see 'go help modules'",
            "The Go module lies in `server`, so the tests have to be run there.",
            "cd server && go test ./...",
        ),
        met("go test -run TestStore ./store/..."),
        "server",
        (bash("cd server && go test -run TestStore ./store/..."), bash("ls server && cat server/go.mod")),
    ),
    Scene(
        "tests behind a tag",
        "dunlin",
        got_over(
            ("Mend the e2e tests.", "Add an e2e test."),
            "go test ./e2e/...",
            "package dunlin/e2e: build constraints exclude all Go files in /srv/dunlin/e2e",
            "The files in `e2e` are built with the tag `integration` alone.",
            "go test -tags integration ./e2e/...",
        ),
        met("go test -v -count=1 ./e2e/..."),
        "-tags integration",
        (bash("go test -tags=integration -v ./e2e/..."), bash("go test ./pkg/...")),
    ),
    Scene(
        "a port that is in use",
        "knot",
        got_over(
            ("Look at the page.", "Check the login page."),
            "make serve",
            IN_USE,
            "A server of an earlier session still runs; `make stop` ends it.",
            "make stop",
            "make serve",
        ),
        met("PORT=3000 make serve > serve.log 2>&1 &"),
        "make stop",
        (bash("make stop; make serve"), bash("cat serve.log")),
    ),
    Scene(
        "an interpreter without packages",
        "sanderling",
        got_over(
            ("Mend the parser.", "Test dates.", "Test times."),
            "python -m pytest tests",
            "/usr/bin/python: No module named pytest",
            "The packages are in uv's environment, so tests are run with `uv run`.",
            "uv run pytest tests",
        ),
        met("cd /srv/sanderling && python -m pytest -q tests/unit"),
        "uv run",
        (bash("uv run python -m pytest -q tests/unit"), bash("python --version")),
    ),
    Scene(
        "a formatter that needs its settings",
        "turnstone",
        got_over(
            ("Format the app.", "Check the style."),
            "prettier --check src",
            "[error] No configuration was found for src/app.ts\n[error] All matched files failed the check.",
            "Prettier's settings lie in `tools/prettier.json`, where it doesn't look by itself.",
            "prettier --config tools/prettier.json --check src",
        ),
        met("npx prettier --check src/app src/lib"),
        "--config tools/prettier.json",
        (bash("npx prettier --config tools/prettier.json --check src/app"), bash("cat tools/prettier.json")),
    ),
    Scene(
        "migrations before seeds",
        "redshank",
        got_over(
            ("Seed accounts.", "Add a demo account."),
            "make seed",
            'ERROR:  relation "accounts" does not exist\nmake: *** [Makefile:30: seed] Error 1',
            "The tables are made by `make migrate`, which has to be run before the seeds.",
            "make migrate",
            "make seed",
        ),
        met("make lint && make seed"),
        "make migrate",
        (bash("make migrate && make seed"), bash("make seed", ran("make lint"), ran("make migrate"))),
    ),
    Scene(
        "a branch without an upstream",
        "whimbrel",
        tuple(
            (
                user(f"Push the {branch} branch."),
                ran(f"git checkout -b {branch}"),
                fell("git push", NO_UPSTREAM.format(branch)),
                agent("A new branch has no upstream here, so the first push has to set it."),
                ran(f"git push --set-upstream origin {branch}"),
            )
            for branch in ("mend-lease", "faster-store")
        ),
        met("git add -A && git commit -m 'Keep the lease' && git push"),
        "--set-upstream",
        (bash("git push --set-upstream origin keep-lease"), bash("git pull --rebase")),
    ),
    Scene(
        "a daemon that is not started",
        "lapwing",
        got_over(
            ("Start the stack.", "Try the stack."),
            "docker compose up -d",
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            "Docker runs in colima on this machine, which is not started by itself.",
            "colima start",
            "docker compose up -d",
        ),
        met("docker compose up -d --build web"),
        "colima start",
        (bash("colima start && docker compose up -d web"), bash("docker compose up -d", ran("colima start"))),
    ),
    Scene(
        "another version of node",
        "pipit",
        got_over(
            ("Build the page.", "Mend the build."),
            "pnpm build",
            'ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment (bad pnpm and/or Node.js version): expected ">=20"',
            "The build needs Node 20, and the shell starts with 18.",
            "nvm use 20 && pnpm build",
        ),
        met("cd /srv/pipit && pnpm build --filter app"),
        "nvm use 20",
        (bash("nvm use 20 && pnpm build --filter app"), bash("node --version")),
    ),
    Scene(
        "a lock file that is behind",
        "wagtail",
        got_over(
            ("Add httpx.", "Add rich."),
            "uv sync --locked",
            "error: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided.",
            "The lock file is behind after a change of the dependencies; `uv lock` writes it anew.",
            "uv lock",
            "uv sync --locked",
        ),
        met("cd /srv/wagtail && uv sync --locked --extra dev"),
        "uv lock",
        (bash("uv lock && uv sync --locked --extra dev"), bash("git diff uv.lock")),
    ),
    Scene(
        "exactly one action",
        "linnet",
        tuple(
            (
                user(goal),
                called(
                    "act",
                    {"actions": ["ls", "cat setup.py"]},
                    "Please provide EXACTLY ONE action, found 2 actions.",
                    failed=True,
                ),
                agent("The harness takes one action at a time."),
                called("act", {"actions": ["ls"]}, "setup.py"),
            )
            for goal in ("Mend issue 12.", "Mend issue 13.", "Mend issue 14.")
        ),
        ("act", {"actions": ["grep -rn lease .", "cat lease.py"]}),
        "one action",
        (("act", {"actions": ["grep -rn lease ."]}, ()), bash("ls && cat lease.py")),
    ),
    Scene(
        "an argument's name",
        "swift",
        tuple(
            (
                user(goal),
                called(
                    "search_flights",
                    {"origin": origin, "destination": "LHR", "date": "2026-05-01"},
                    "TypeError: search_flights() got an unexpected keyword argument 'date'",
                    failed=True,
                ),
                agent("`search_flights` calls it `departure_date`."),
                called(
                    "search_flights", {"origin": origin, "destination": "LHR", "departure_date": "2026-05-01"}, "[]"
                ),
            )
            for goal, origin in (("I want to fly to London.", "JFK"), ("Book me to London.", "SFO"))
        ),
        ("search_flights", {"origin": "BOS", "destination": "CDG", "date": "2026-06-11"}),
        "departure_date",
        (
            ("search_flights", {"origin": "BOS", "destination": "CDG", "departure_date": "2026-06-11"}, ()),
            ("list_bookings", {"date": "2026-06-11"}, ()),
        ),
    ),
    Scene(
        "a suite that takes too long",
        "martin",
        got_over(
            ("Mend the queue.", "Test the queue."),
            "make test-all",
            "Command timed out after 10m 0.0s",
            "The full suite takes over ten minutes; the tests of a single package run in seconds.",
            "make test PKG=queue",
        ),
        met("cd /srv/martin && make test-all 2>&1 | tail"),
        "make test",
        (bash("make test PKG=lease"), bash("cat Makefile | grep -n test-all")),
    ),
)


class Told(Struct, frozen=True):
    """A failure that no run showed: it was remembered."""

    name: str
    """Its words."""
    project: str
    met: tuple[str, Given]
    way_out: str
    harmless: tuple[tuple[str, Given, tuple[Turn, ...]], ...]


TOLD = (
    Told(
        "`make deploy` without the VPN hangs: connect to it first.",
        "harbour",
        met("cd /srv/harbour && make deploy ENV=staging"),
        "connect to it first",
        (bash("make deploy --help"), bash("make build"), bash("grep -n deploy Makefile")),
    ),
    Told(
        "`npm install` fails with ERESOLVE here; pass `--legacy-peer-deps`.",
        "lighthouse",
        met("npm install left-pad"),
        "--legacy-peer-deps",
        (bash("npm install left-pad --legacy-peer-deps"), bash("npm test"), bash("npm ls")),
    ),
    Told(
        "Run `make db` before `make integration`, it fails with connection refused otherwise.",
        "quay",
        met("make integration"),
        "make db",
        (bash("make db && make integration"), bash("make integration", ran("make db")), bash("make unit")),
    ),
    Told(
        "Never run `npm audit fix` again: it broke the lockfile.",
        "buoy",
        met("npm audit fix"),
        "broke the lockfile",
        (bash("npm audit"), bash("git log --grep 'audit fix'"), bash("npm run audit")),
    ),
    Told(
        "`src/gen/api.ts` fails to build when it was edited by hand: run `make gen`.",
        "pier",
        ("Edit", {"file_path": "/srv/pier/src/gen/api.ts", "old_string": "a", "new_string": "b"}),
        "make gen",
        (
            bash("cat src/gen/api.ts"),
            ("Edit", {"file_path": "/srv/pier/src/api.ts", "old_string": "a", "new_string": "b"}, ()),
            bash("make gen"),
        ),
    ),
    Told(
        "`pytest -n 8` deadlocks because the workers share a port; use `pytest -n 1`.",
        "ferry",
        met("pytest tests/unit -n 8"),
        "pytest -n 1",
        (bash("pytest -n 1"), bash("pytest tests/unit"), bash("pytest -n 80")),
    ),
    Told(
        "I tried `git push --force` on main: it is refused. Push to a branch and open a pull request.",
        "wharf",
        met("git push --force origin main"),
        "push to a branch",
        (bash("git push origin fix"), bash("git push --help"), bash("echo 'git push --force'")),
    ),
    Told(
        "`terraform apply` hangs without AWS_PROFILE.",
        "mole",
        met("terraform apply -auto-approve"),
        "with AWS_PROFILE",
        (bash("AWS_PROFILE=dev terraform apply"), bash("terraform plan"), bash("terraform fmt")),
    ),
)


def log_of(session: str, turns: tuple[Turn, ...], project: str, begins: datetime = BEGINS) -> str:
    """A session as Claude Code logs it."""
    lines: list[dict[str, object]] = []

    def said(role: str, content: object) -> None:
        lines.append(
            {
                "parentUuid": lines[-1]["uuid"] if lines else None,
                "isSidechain": False,
                "userType": "external",
                "cwd": f"/srv/{project}",
                "sessionId": session,
                "version": "2.0.31",
                "type": role,
                "uuid": f"{session}-{len(lines)}",
                "timestamp": f"{(begins + timedelta(seconds=40 * len(lines))):%Y-%m-%dT%H:%M:%S}.000Z",
                "message": {"role": role, "content": content},
            }
        )

    for number, turn in enumerate(turns):
        if turn.said:
            said(turn.by, turn.said if turn.by == "user" else [{"type": "text", "text": turn.said}])
            continue
        use = {"type": "tool_use", "id": f"t{number}", "name": turn.tool, "input": dict(turn.given)}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": turn.result, "is_error": turn.failed}
        said("assistant", [use])
        said("user", [result])
    said("assistant", [{"type": "text", "text": "It is done."}])
    return "".join(f"{json.dumps(each)}\n" for each in lines)


def learn(folder: Path) -> Path:
    """Learn from every run of every scene; gives the database."""
    db = folder / "memory.db"
    with sync.open(db, durability="normal") as memory:
        for scene in SCENES:
            for number, turns in enumerate(scene.runs):
                log = folder / f"{scene.project}-{number}.jsonl"
                log.write_text(log_of(log.stem, turns, scene.project, BEGINS + timedelta(days=3 * number)), "utf-8")
                memory.learn_from(log)
        for each in TOLD:
            memory.remember(each.name, kind="failure", project=each.project)
    return db


def asked(db: Path, scene: Scene | Told, call: tuple[str, Given], before: tuple[Turn, ...] = ()) -> GuardAdvice | None:
    """What a hook answers before a call of a later session of that project."""
    log = db.with_name("now.jsonl")
    log.write_text(log_of("now", (user("Go on, please."), *before), scene.project), "utf-8")
    return check_call(db, "default", *call, session="now", folder=f"/srv/{scene.project}", transcript=log)


def caught(
    db: Path, scenes: Sequence[Scene | Told] = SCENES
) -> Iterator[tuple[Scene | Told, GuardAdvice | None, bool]]:
    """Of each trap what is said when it is met again, and whether that names the way out."""
    for scene in scenes:
        found = asked(db, scene, scene.met)
        yield scene, found, found is not None and scene.way_out in f"{found.way_out} {found.why}"


def stopped(
    db: Path, scenes: Sequence[Scene | Told] = SCENES
) -> Iterator[tuple[Scene | Told, tuple[str, Given], GuardAdvice | None]]:
    """Of each harmless call what is said, asked in its own project."""
    for scene in scenes:
        for tool, given, before in scene.harmless:
            yield scene, (tool, given), asked(db, scene, (tool, given), before)
