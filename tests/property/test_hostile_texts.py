"""No text holds a verb up, whoever wrote it: four times as long a text takes about four times as long.

Each sort of text stands in a message, in a command that fails and in its output, and goes through every verb that looks
at texts. Each run takes the sorts that were slow once; `IRENEO_EXAMPLES=2` takes all of them.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.examples import TIMES

import ireneo
from ireneo import Draft, IreneoError, Memory, Session, log_format
from ireneo.log.message import Text

SHORT = 2_000
"""Characters of the shorter text; the other one has four times as many."""
MOST = 9.0
"""How many times as long the longer text may take: 4 is linear, 16 is quadratic."""
FLOOR = 0.02
"""Seconds of CPU that a verb may take for any short text."""
TRIES = 3

UNITS = {
    "dots": ".",
    "dashes": "-",
    "slashes": "/",
    "addresses": "a@",
    "numbers of a kind": "a-1",
    "dotted": "a.",
    "typographic quotes": "“",
    "closing quotes": "’",
    "backticks": "`",
    "spaces": " ",
    "newlines": "\n",
    "digits": "7",
    "one long word": "a",
    "brackets": "[",
    "parentheses": "(a",
    "lines": "a b\n",
    "filters": "| head ",
    "filters without a space": "|cat",
    "moving": "cd x && ",
    "quotes": "'",
    "double quotes": '"',
    "backslashes": "\\",
    "here-documents": "<<a\n",
    "underscores": "_",
    "sentences": "I never did it. ",
    "errors": "Error: it failed\n",
    "matches": "matched-",
    "hexadecimal": "0x1",
    "years": "1999 ",
    "marks above letters": "\u0301",
}
WHOLE: dict[str, Callable[[int], str]] = {
    "deep JSON": lambda length: "[" * (length // 2) + "]" * (length // 2),
    "deep objects": lambda length: '{"a":' * (length // 6) + "1" + "}" * (length // 6),
    "different words": lambda length: " ".join(f"w{number}" for number in range(length // 6)),
    "different files": lambda length: " ".join(f"src/a{number}.py" for number in range(length // 13)),
    "different lines": lambda length: "\n".join(f"line {number} of it" for number in range(length // 15)),
    "different rules": lambda length: " ".join(f"Never touch a{number}.py." for number in range(length // 22)),
    "one here-document": lambda length: "cat <<a\n" + "\n" * length,
    "a long mark of a here-document": lambda length: "cat <<" + "a" * length,
    "underscores behind a name": lambda length: "./repro" + "_" * length + " !",
}
SLOW_ONCE = [
    *("dots", "numbers of a kind", "typographic quotes", "newlines", "filters without a space", "moving"),
    *("here-documents", "hexadecimal", "years", "a long mark of a here-document"),
]
SORTS = [*UNITS, *WHOLE] if TIMES > 1 else SLOW_ONCE
Verbs = dict[str, Callable[[], Awaitable[object]]]


def text_of(sort: str, length: int) -> str:
    """A text of that sort."""
    if sort in WHOLE:
        return WHOLE[sort](length)
    return (UNITS[sort] * (length // len(UNITS[sort]) + 1))[:length]


def said(hostile: str) -> list[dict[str, object]]:
    """Two turns of work; what is hostile was said once, run twice and put out once."""
    runs = [
        (hostile, "Error: it failed in a.py\nexit code 1"),
        ("sed -i s/a/b/ a.py", "ok"),
        ("make test", f"{hostile}\nexit code 1"),
        (f"cd a && sed -i s/a/b/ {hostile}", "ok"),
        ("make test", "3 passed"),
    ]
    out: list[dict[str, object]] = [{"role": "user", "content": hostile}]
    for number, (command, output) in enumerate(runs):
        function = {"name": "Bash", "arguments": json.dumps({"command": command})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        out.append({"role": "assistant", "content": "I look.", "tool_calls": [call]})
        out.append({"role": "tool", "tool_call_id": f"c{number}", "content": output})
    for _ in range(2):
        out.append({"role": "assistant", "content": "Done, since it was the cache."})
        out.append({"role": "user", "content": "Make the build pass. Never touch the migrations."})
    return [*out, {"role": "assistant", "content": "Nothing is open."}]


def verbs(memory: Memory, run: Session, story: Session, hostile: str) -> Verbs:
    """Every verb that looks at texts, in an order that gives each of them something to look at."""
    messages = said(hostile)
    lines = [json.dumps(message).encode() + b"\n" for message in messages]
    plain = [line.encode() for line in f"# aider chat started at 2026-01-01 10:00:00\n\n{hostile}".splitlines(True)]
    budget = len(hostile) // 4 + 2_000

    async def compact() -> None:
        ireneo.compact(messages, 1_000)
        ireneo.compact(messages, budget)

    async def read_logs() -> None:
        for name in ("aider", "specstory", "dialogue"):
            with suppress(IreneoError):
                for logged in log_format(name).read(plain, "a.md"):
                    assert logged.nodes
        with suppress(IreneoError):
            ireneo.recognise(b"".join(lines), "a.jsonl")

    async def tell() -> None:
        told = [Draft(role="assistant", parts=(Text(text=f"Mira rowed to Tom on day {day}."),)) for day in range(40)]
        told[5] = Draft(role="user", parts=(Text(text=hostile, author="Mira"),))
        await story.append(told)

    async def context() -> None:
        await run.context(1_000, explain=True)
        await run.context(budget, to="anthropic")

    return {
        "compact": compact,
        "read": read_logs,
        "append": lambda: run.append(messages),
        "context": context,
        "import": lambda: memory.import_log(lines, log_format("openai"), name="a.jsonl"),
        "pin": lambda: run.pin(hostile),
        "learn": lambda: memory.learn(),
        "check a command": lambda: memory.check("Bash", {"command": hostile}, session=run.id),
        "check an edit": lambda: memory.check("Edit", {"file_path": hostile, "old_string": hostile, "new_string": "a"}),
        "remember": lambda: memory.remember(hostile[: SHORT * 4]),
        "remember a failure": lambda: memory.remember(f"I tried {hostile}", kind="failure"),
        "recall": lambda: memory.recall(hostile[:20_000]),
        "brief": lambda: memory.brief(goal=hostile, about_to=f"Bash: {hostile}", project="kestrel"),
        "diary": lambda: run.diary(tried=[hostile]),
        "tell a story": tell,
        "context of a story": lambda: story.context(600, preset="story"),
        "work": lambda: memory.work(until_idle=True),
        "tree": lambda: run.tree(),
        "context again": lambda: run.context(1_000),
        "lessons": lambda: memory.lessons(),
        "reflect": lambda: memory.reflect(force=True),
        "doctor": lambda: memory.doctor(),
        "secrets": lambda: memory.secrets(),
        "export": lambda: memory.export_memories(),
    }


async def seconds(sort: str, length: int, place: str = ":memory:") -> dict[str, float]:
    """CPU seconds of each verb for a text of that sort and length."""
    took = {}
    async with ireneo.open(place) as memory:
        run, story = await memory.session("run", project="kestrel"), await memory.session("story")
        for name, verb in verbs(memory, run, story, text_of(sort, length)).items():
            start = time.process_time()
            # What is said of a text that can't be used is an answer too.
            with suppress(IreneoError):
                await verb()
            took[name] = time.process_time() - start
    return took


async def slow(sort: str, place: Callable[[], str] = lambda: ":memory:") -> list[str]:
    """The verbs that take far more than four times as long for a text that is four times as long."""
    left: dict[str, float] = {}
    for tried in range(TRIES):
        long = await seconds(sort, 4 * SHORT, place())
        # What is quick for the longer text is not slow, whatever it takes for the shorter one.
        if all(took < MOST * FLOOR for took in long.values()):
            return []
        short = await seconds(sort, SHORT, place())
        grown = {name: took / max(short[name], FLOOR) for name, took in long.items()}
        # On a busy machine a figure may be anything once; what is slow is slow each time.
        left = {name: ratio for name, ratio in grown.items() if ratio >= MOST and (not tried or name in left)}
        if not left:
            break
    return [f"{name}: {ratio:.0f} times as long" for name, ratio in left.items()]


@pytest.mark.parametrize("sort", SORTS)
def test_a_text_four_times_as_long_takes_a_verb_no_more_than_about_four_times_as_long(sort: str) -> None:
    assert not asyncio.run(slow(sort))


def test_no_text_holds_a_database_up(tmp_path: Path) -> None:
    places = (str(tmp_path / f"{number}.db") for number in range(2 * TRIES))
    assert not asyncio.run(slow("different words", lambda: next(places)))
