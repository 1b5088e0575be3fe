"""Which calls step into a trap, what is said then, and when nothing is said."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ireneo.lessons.guard import Arguments, GuardAdvice, PastCall, SessionSoFar, Trap, advice

DB = Trap(
    lesson="m_db",
    said="`make integration` fails with “connection refused”",
    way_out="run `make db` first",
    why="the tests need a database on 5432",
    seen="seen in 3 of 4 runs; last in May 2026",
    projects=("kestrel",),
    command="make integration",
    unless=("make db", "make up"),
)
NO_VERIFY = Trap(
    lesson="m_hooks",
    said="the user has a rule about `git commit --no-verify`",
    way_out="fix what the hook complains of",
    why="Never skip the hooks.",
    ruling=True,
    seen="said once",
    projects=("kestrel",),
    command="git commit",
    words=("--no-verify",),
)
PNPM = Trap(
    lesson="m_pnpm",
    said="the user has a rule about `npm`",
    way_out="use `pnpm`",
    ruling=True,
    projects=("kestrel",),
    command="npm",
    unless=("pnpm",),
)
GENERATED = Trap(
    lesson="m_gen",
    said="the user has a rule about `api/api.pb.go`",
    way_out="edit `api.proto` and run `make generate`",
    ruling=True,
    projects=("kestrel",),
    path="api/api.pb.go",
)
YAML = Trap(
    lesson="m_yaml",
    said="`.golangci.yml` does not exist",
    way_out="use `.golangci.yaml`",
    projects=("kestrel",),
    path=".golangci.yml",
    unless=(".golangci.yaml",),
)
TAGS = Trap(
    lesson="m_tags",
    said="`go test` finds no tests in `e2e`",
    way_out="pass `-tags integration`",
    projects=("kestrel",),
    command="go test",
    words=("./e2e/...",),
    unless=("-tags integration",),
)
SERVER = Trap(
    lesson="m_server",
    said="`go build` finds no go.mod",
    way_out="run it in `server`",
    projects=("kestrel",),
    command="go build",
    unless=("cd server",),
)
DATE = Trap(
    lesson="m_date",
    said="`search_flights` knows no argument `date`",
    way_out="call it `departure_date`",
    projects=("kestrel",),
    tool="search_flights",
    words=("date",),
    unless=("departure_date",),
)
URL = Trap(
    lesson="m_url",
    said="`./manage.py seed` fails with “DATABASE_URL is not set”",
    way_out="set `DATABASE_URL`",
    projects=("kestrel",),
    command="manage.py",
    words=("seed",),
    unless=("DATABASE_URL",),
)
ALL = (DB, NO_VERIFY, PNPM, GENERATED, YAML, TAGS, SERVER, DATE, URL)


def told(
    tool: str, given: Arguments, so_far: SessionSoFar | None = None, project: str | None = "kestrel"
) -> GuardAdvice | None:
    return advice(ALL, tool, given, lambda: so_far or SessionSoFar(), project=project)


def bash(command: str, so_far: SessionSoFar | None = None, project: str | None = "kestrel") -> str:
    """The lesson that is told before a command; empty where none is."""
    found = told("Bash", {"command": command}, so_far, project)
    return found.lesson if found else ""


def ran(command: str, *, failed: bool = False) -> PastCall:
    return PastCall(tool="Bash", arguments={"command": command}, failed=failed)


@pytest.mark.parametrize(
    ("command", "lesson"),
    [
        ("make integration", "m_db"),
        ("cd /srv/kestrel && make integration 2>&1 | tail -20", "m_db"),
        ("KEEP=1 make -j4 integration", "m_db"),
        ("timeout 60 make integration", "m_db"),
        ("make lint; make integration", "m_db"),
        ("bash -lc 'make integration'", "m_db"),
        ("git -C . commit -m 'Mend it' --no-verify", "m_hooks"),
        ("git add -A && git commit --no-verify -m x", "m_hooks"),
        ("npm install left-pad", "m_pnpm"),
        ("cd web && npm ci", "m_pnpm"),
        ("sed -i 's/a/b/' api/api.pb.go", "m_gen"),
        ("echo x > ./api/api.pb.go", "m_gen"),
        ("cat .golangci.yml", "m_yaml"),
        ("sed -n 1,20p ./.golangci.yml", "m_yaml"),
        ("golangci-lint run --config=.golangci.yml", "m_yaml"),
        ("go test -v ./e2e/...", "m_tags"),
        ("go build ./cmd/x", "m_server"),
        ("python manage.py seed --all", "m_url"),
    ],
)
def test_a_call_that_steps_into_a_trap_is_told_of_it(command: str, lesson: str) -> None:
    assert bash(command) == lesson


@pytest.mark.parametrize(
    "command",
    [
        "make db && make integration",
        "make integration-report",
        "make -n lint",
        "echo make integration",
        "grep -rn 'make integration' docs",
        "git commit -m 'Say why --no-verify is wrong'",
        "git commit --help --no-verify",
        "pnpm install",
        "npm --version",
        "which npm",
        "cat api/api.pb.go",
        "grep -n Foo api/api.pb.go",
        "ls -la .golangci.yml",
        "find . -name .golangci.yml",
        "cp .golangci.yaml .golangci.yml",
        "go test -tags=integration ./e2e/...",
        "go test -tags integration ./e2e/...",
        "go test ./pkg/...",
        "cd server && go build ./cmd/x",
        "DATABASE_URL=x python manage.py seed",
        "python manage.py migrate",
        "cat <<'E' > notes.md\nmake integration\nE",
        "# make integration",
        "",
        "'",
    ],
)
def test_any_other_call_is_left_alone(command: str) -> None:
    assert bash(command) == ""


@pytest.mark.parametrize(
    ("tool", "given", "lesson"),
    [
        ("Edit", {"file_path": "/srv/kestrel/api/api.pb.go", "old_string": "a", "new_string": "b"}, "m_gen"),
        ("Write", {"file_path": "api/api.pb.go", "content": "x"}, "m_gen"),
        ("Read", {"file_path": "api/api.pb.go"}, ""),
        ("Edit", {"file_path": "/srv/kestrel/api/api.go", "old_string": "a", "new_string": "api/api.pb.go"}, ""),
        ("Write", {"file_path": "notes.md", "content": "see\napi/api.pb.go"}, ""),
        ("Read", {"file_path": "/srv/kestrel/.golangci.yml"}, "m_yaml"),
        ("Read", {"file_path": "/srv/kestrel/.golangci.yaml"}, ""),
        ("search_flights", {"origin": "JFK", "date": "2024-05-01"}, "m_date"),
        ("search_flights", {"origin": "JFK", "departure_date": "2024-05-01"}, ""),
        ("list_flights", {"date": "2024-05-01"}, ""),
        ("Task", {"prompt": "Run make integration"}, ""),
        ("Bash", "make integration", ""),
        ("Bash", {"command": ["make", "integration"]}, "m_db"),
        ("Bash", {"command": 3}, ""),
        ("", {}, ""),
    ],
)
def test_tools_that_are_no_shell(tool: str, given: Mapping[str, object] | str, lesson: str) -> None:
    found = told(tool, given)
    assert (found.lesson if found else "") == lesson


def test_it_says_trap_way_out_why_and_where_in_two_lines() -> None:
    found = told("Bash", {"command": "make integration"})
    assert found is not None
    assert found.text.splitlines() == [
        "trap: `make integration` fails with “connection refused”; instead: run `make db` first",
        "why: “the tests need a database on 5432” · seen in 3 of 4 runs; last in May 2026",
    ]
    assert found.markdown == f"{found.text} · lesson m_db"
    ruled = told("Bash", {"command": "git commit --no-verify"})
    assert ruled is not None
    assert ruled.text.splitlines() == [
        "trap: the user has a rule about `git commit --no-verify`; instead: fix what the hook complains of",
        "why: “Never skip the hooks.” · said once",
    ]


def test_it_is_quiet_where_the_session_has_shown_it() -> None:
    assert bash("make integration", SessionSoFar(calls=(ran("make integration", failed=True),))) == ""
    assert bash("make integration -s", SessionSoFar(calls=(ran("make integration"), ran("ls")))) == ""
    assert bash("make integration", SessionSoFar(calls=(ran("make lint", failed=True),))) == "m_db"


def test_it_is_quiet_where_the_way_out_was_taken() -> None:
    assert bash("make integration", SessionSoFar(calls=(ran("make db"), ran("vim x")))) == ""
    assert bash("make integration", SessionSoFar(calls=(ran("cd x && make up | tail -1"),))) == ""
    assert bash("make integration", SessionSoFar(calls=(ran("make db", failed=True),))) == "m_db"
    assert bash("go build .", SessionSoFar(folder="/srv/kestrel/server")) == ""
    assert bash("go build .", SessionSoFar(folder="/srv/kestrel")) == "m_server"


def test_it_is_told_once() -> None:
    assert bash("make integration", SessionSoFar(told=frozenset({"m_db"}))) == ""
    assert bash("make integration", SessionSoFar(told=frozenset({"m_pnpm"}))) == "m_db"


def test_what_the_user_asks_for_now_is_not_against_their_rules() -> None:
    assert bash("npm install", SessionSoFar(asked="Please run npm install once.")) == ""
    assert bash("npm install", SessionSoFar(asked="Add left-pad.")) == "m_pnpm"
    assert bash("git commit --no-verify", SessionSoFar(asked="Commit it, with --no-verify for once.")) == ""
    assert bash("git commit --no-verify", SessionSoFar(asked="Commit it.")) == "m_hooks"
    # What merely failed before is a trap whoever asks for it.
    assert bash("make integration", SessionSoFar(asked="Run make integration.")) == "m_db"


def test_another_project_is_told_nothing() -> None:
    assert bash("make integration", project="osprey") == ""
    assert bash("make integration", project="") == ""
    assert bash("make integration", project=None) == "m_db"
    several = Trap(lesson="m_two", said="x", way_out="y", projects=("a", "b"), command="make integration")
    general = Trap(lesson="m_all", said="x", way_out="y", projects=("*", "a"), command="make integration")
    nowhere = Trap(lesson="m_none", said="x", way_out="y", command="make integration")
    call = ("Bash", {"command": "make integration"}, SessionSoFar)
    assert advice((several, nowhere), *call, project="osprey") is None
    for traps, project, lesson in (((several, nowhere), "a", "m_two"), ((several, general), "osprey", "m_all")):
        found = advice(traps, *call, project=project)
        assert found is not None
        assert found.lesson == lesson
    assert advice((nowhere,), *call, project="osprey") is None
    assert advice((nowhere,), *call, project="") is not None


def test_who_went_through_it_alone_is_told_nothing_new() -> None:
    own = Trap(lesson="m_own", said="x", way_out="y", command="make", session="s1")
    call = ("Bash", {"command": "make"})
    assert advice((own,), *call, lambda: SessionSoFar(session="s1"), project=None) is None
    assert advice((own,), *call, lambda: SessionSoFar(session="s2"), project=None) is not None


def test_the_session_is_not_looked_at_without_need() -> None:
    def never() -> SessionSoFar:
        raise AssertionError

    assert advice(ALL, "Bash", {"command": "make lint"}, never, project="kestrel") is None
    assert advice(ALL, "Bash", {"command": "make integration"}, never, project="osprey") is None


def test_a_rule_comes_before_experience() -> None:
    seen = Trap(lesson="m_seen", said="x", way_out="y", command="npm install", runs=9, projects=("kestrel",))
    found = advice((seen, PNPM), "Bash", {"command": "npm install"}, SessionSoFar, project="kestrel")
    assert found is not None
    assert found.lesson == "m_pnpm"
