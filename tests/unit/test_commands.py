"""Commands as a shell reads them: their steps, what each is called, and which of them decide the status."""

from __future__ import annotations

from pathlib import Path

import pytest

from ireneo.lessons.commands import command_in, command_names, main_step, read_command, shell_steps

TABLE = Path(__file__).parent / "data" / "commands.txt"
"""A command, what its steps are called, and the places of those that decide its status; `\\n` is a line's end."""
ROWS = [tuple(part.strip() for part in line.split("⇒")) for line in TABLE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(("command", "names", "deciding"), ROWS, ids=[row[0] for row in ROWS])
def test_a_command_has_these_steps(command: str, names: str, deciding: str) -> None:
    read = read_command(command.replace("\\n", "\n"))
    assert " ; ".join(step.name or "?" for step in read.steps if not step.inner) == names
    assert " ".join(map(str, read.deciding)) == deciding


def test_the_table_is_long() -> None:
    assert len(ROWS) >= 240


@pytest.mark.parametrize(
    "ways",
    [
        ("git status", "git -C lib status", "git --no-pager status -s", "git -c color.ui=never --git-dir .git status"),
        ("npm run build", "npm --prefix web run build", "npm run --prefix web build", "npm run-script build"),
        ("npm test", "npm t", "npm run test -- --watch", "CI=1 npm test"),
        ("make lint", "make -C dir lint", "make -j4 V=1 lint", "cd dir && make lint", "bash -c 'make lint'"),
        ("go test", "go test ./...", "go -C lib test", "timeout 60 go test -run A ./rows 2>&1 | tail -5"),
        ("pytest", "python -m pytest -q", "uv run pytest", "docker compose exec -T web pytest", ".venv/bin/pytest -x"),
        ("mise run lint", "mise r lint", "mise lint", "mise run --quiet lint", "mise tasks run lint"),
        (
            "manage.py migrate",
            "python manage.py migrate",
            "./manage.py migrate app",
            "poetry run python manage.py migrate",
        ),
        ("test.sh", "bash scripts/test.sh unit", "./scripts/test.sh unit", "sh -x test.sh"),
        ("pnpm build", "pnpm run build", "pnpm --filter web run build", "pnpm -C web build"),
        ("cargo test", "cargo t", "cargo +nightly test", "cargo --color always test", "rustup run nightly cargo test"),
    ],
    ids=lambda ways: ways[0],
)
def test_one_command_has_one_name(ways: tuple[str, ...]) -> None:
    found = {step.name for way in ways if (step := main_step(way)) is not None}
    assert found == {ways[0]}


def test_what_a_program_is_started_through_is_kept_apart() -> None:
    (step,) = shell_steps("timeout 60 docker compose exec -T web uv run pytest -q")
    assert (step.name, step.through) == ("pytest", ("timeout", "docker compose exec", "uv run"))
    assert step.shown == "docker compose exec web uv run pytest"
    assert step.words == ("pytest", "-q")


def test_a_step_tells_where_it_runs_and_what_it_writes() -> None:
    moved, tested = shell_steps("cd web && npm test > out.txt 2>&1")
    assert (moved.folder, tested.folder, tested.before) == ("", "web", "&&")
    assert tested.writes == ("out.txt",)
    assert tested.text == "npm test"
    assert [step.unheard for step in shell_steps("make a 2>/dev/null; make b 2>&1")] == [True, False]


def test_a_known_variable_is_its_value_and_an_unknown_one_hides_the_program() -> None:
    assert [step.name for step in shell_steps("PY=.venv/bin/python; $PY -m pytest")] == ["pytest"]
    assert [step.name for step in shell_steps("$RUNNER test")] == [""]


def test_a_function_is_what_it_runs() -> None:
    assert command_names("check() { make lint; make test; }; check") == ("make lint", "make test")


def test_what_moves_about_is_no_name_of_a_command() -> None:
    assert command_names("cd web && export A=1; echo go; npm ci && npm test") == ("npm ci", "npm test")
    assert main_step("") is None


@pytest.mark.parametrize(
    ("command", "about"),
    [
        ("cat rows.txt | grep -n total", "cat"),
        ("cat seed.sql | psql -d ledger", "psql"),
        ("make test 2>&1 | tail -5; echo done", "make test"),
        ("go test ./... > out.txt; tail -3 out.txt", "tail"),
        ("cd x", "cd"),
    ],
)
def test_what_a_command_is_about(command: str, about: str) -> None:
    step = main_step(command)
    assert step is not None
    assert step.name == about


def test_the_command_line_is_found_among_the_arguments_of_a_call() -> None:
    assert command_in({"command": "make lint"}) == "make lint"
    assert command_in({"cmd": ["bash", "-c", "cd x && make lint"]}) == "bash -c 'cd x && make lint'"
    assert command_in({"command": "view", "path": "a.py"}) == ""
    assert command_in("{broken") == ""
