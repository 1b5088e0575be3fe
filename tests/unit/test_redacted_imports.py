"""Secrets of each kind, in each place of a log: none is in the database, in what is read back, or in what is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

from tests.planted import Planted, all_planted, left
from tests.progress import progress_of

import ireneo
from ireneo.engine.imports import Imported
from ireneo.formats.logs.format import log_format
from ireneo.log.message import Message

CLAUDE = log_format("claude-code")
SESSION = "11111111-1111-4111-8111-111111111111"


def line(number: int, kind: str, content: object, **more: object) -> dict[str, object]:
    return {
        "type": kind,
        "uuid": f"{number:08d}-1111-4111-8111-111111111111",
        "parentUuid": f"{number - 1:08d}-1111-4111-8111-111111111111" if number else None,
        "sessionId": SESSION,
        "timestamp": f"2026-01-05T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
        "message": {"role": kind, "id": f"msg_{number}", "content": content},
        **more,
    }


def told_everywhere(planted: Planted, number: int) -> Iterator[dict[str, object]]:
    """A secret told, thought, handed to a tool, and come back from it: in the log's own record as well."""
    text = planted.text
    call = f"toolu_{number:06d}"
    yield line(number, "user", text)
    yield line(
        number + 1,
        "assistant",
        [
            {"type": "thinking", "thinking": f"They gave me this: {text}", "signature": "c2lnbmVk" * 30},
            {"type": "text", "text": f"I read\n{text}\nand go on."},
            {
                "type": "tool_use",
                "id": call,
                "name": "Bash",
                "input": {
                    "command": f"echo hello\n{text}",
                    "more": [{text: ["deep", text]}],
                    "json": json.dumps([text]),
                },
            },
        ],
    )
    yield line(
        number + 2,
        "user",
        [{"type": "tool_result", "tool_use_id": call, "content": f"$ run\n{text}\nexit 1", "is_error": True}],
        toolUseResult={"stdout": text, "stderr": "", "nested": {"lines": text.split("\n")}},
    )


def log(planted: list[Planted]) -> list[bytes]:
    lines = [each for place, one in enumerate(planted) for each in told_everywhere(one, 3 * place)]
    return [json.dumps(each).encode() + b"\n" for each in lines]


async def taken(
    url: str, lines: list[bytes], *, keep_secrets: bool = False, name: str = "run"
) -> tuple[list[Imported], list[Message], bytes]:
    """What an import tells, what is read back, and every byte of the database while it is open."""
    async with ireneo.open(url) as memory:
        done = await progress_of(memory.import_log, lines, CLAUDE, name=name, keep_secrets=keep_secrets)
        messages = list(await (await memory.session(done[0].session)).messages())
        held = b"".join(file.read_bytes() for file in sorted(Path(url).parent.glob(f"{Path(url).name}*")))
    return done, messages, held


def test_no_secret_of_any_kind_is_stored(tmp_path: Path) -> None:
    planted = all_planted()
    lines = log(planted)
    open_done, _, open_held = asyncio.run(taken(str(tmp_path / "open.db"), lines, keep_secrets=True))
    assert left(open_held, planted) == [one.kind for one in planted]
    assert open_done[0].redacted == {}
    done, messages, held = asyncio.run(taken(str(tmp_path / "clean.db"), lines))
    assert left(held, planted) == []
    assert left(str(messages).encode(), planted) == []
    assert left(str(done).encode(), planted) == []
    assert done[0].messages == open_done[0].messages
    assert sum(done[0].redacted.values()) >= len(planted)
    assert left((tmp_path / "clean.db").read_bytes(), planted) == []


def test_calls_and_results_stay_together_and_cleaned_thinking_loses_its_signature(tmp_path: Path) -> None:
    planted = all_planted(seed=1)[:10]
    _, messages, _ = asyncio.run(taken(str(tmp_path / "a.db"), log(planted)))
    calls = [call.id for message in messages for call in message.draft.calls]
    assert calls == [result.call_id for message in messages for result in message.draft.results]
    assert calls == [f"toolu_{3 * place:06d}" for place in range(10)]
    assert b"signature" not in str([message.draft.record for message in messages]).encode()
    assert all("signature" not in str(message.draft.native) for message in messages)


def test_taking_the_same_log_in_again_adds_nothing_and_a_grown_one_only_what_is_new(tmp_path: Path) -> None:
    planted = all_planted(seed=2)[:12]
    url = str(tmp_path / "a.db")
    first, messages, _ = asyncio.run(taken(url, log(planted[:8])))
    again, same, _ = asyncio.run(taken(url, log(planted[:8])))
    assert again[0].new == 0
    assert [one.id for one in same] == [one.id for one in messages]
    grown, longer, _ = asyncio.run(taken(url, log(planted)))
    assert grown[0].new == grown[0].messages - first[0].messages > 0
    assert [one.id for one in longer[: len(messages)]] == [one.id for one in messages]


def test_a_fault_and_a_name_tell_no_secret(tmp_path: Path) -> None:
    (one,) = [each for each in all_planted() if each.kind == "github classic"]
    lines = [*log([one]), f'{{"type": "user", "{one.secrets[0]}": '.encode() + b"\n"]
    done, _, held = asyncio.run(taken(str(tmp_path / "a.db"), lines, name=f"run of {one.secrets[0]}"))
    assert done[0].faults
    assert left(str(done).encode() + held, [one]) == []


async def test_a_secret_in_the_name_of_a_file_is_not_noted(tmp_path: Path) -> None:
    secret = "ghp_" + "a8Kd93Jf02LsmQp57Xz1TbVcWe64RyUiOhGn"
    async with ireneo.open(tmp_path / "memory.db", durability="normal") as memory:
        run = tmp_path / "run.jsonl"
        run.write_bytes(b'{"role": "user", "content": "Please fix it."}\n')
        known = [(await memory.learn_from(run, name=f"log-{secret}")).is_known for _ in range(2)]
        assert known == [False, True]
    assert not [path for path in tmp_path.iterdir() if secret.encode() in path.read_bytes()]
