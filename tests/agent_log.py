"""A run of a coding agent as its log has it: commands with what they answered, written by the test that needs it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct

BEGINS = datetime(2026, 2, 3, 9, tzinfo=UTC)
HARBOUR = "/srv/harbour"


class Ran(Struct, frozen=True):
    """A command, and what it said."""

    command: str
    said: str = ""
    failed: bool = False
    minutes: float = 1.0
    """How long it took."""


LOST = Ran("make tide", "Exit code 2\nmake: tide table not found, the moon is missing", failed=True)
MOON = Ran("make moon", "moon table written")
MADE = Ran("make tide", "tide table written")
"""Of these a run learns that `make tide` fails, and what to do about it."""


def claude_log(
    session: str,
    ran: Sequence[Ran],
    *,
    goal: str = "Print the tide table.",
    day: int = 0,
    cwd: str = HARBOUR,
    begins: datetime = BEGINS,
    then: str = "",
) -> str:
    """A session as Claude Code logs it, `day` days after the first, which `begins` then; `then` the user says more."""
    now = begins + timedelta(days=day)
    lines: list[dict[str, object]] = []

    def said(role: str, content: object) -> None:
        parent = lines[-1]["uuid"] if lines else None
        lines.append(
            {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": cwd,
                "sessionId": session,
                "version": "2.0.31",
                "type": role,
                "uuid": f"{session}-{len(lines)}",
                "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "message": {"role": role, "content": content},
            }
        )

    said("user", goal)
    for number, each in enumerate(ran):
        name = f"toolu_{session}_{number}"
        now += timedelta(seconds=5)
        said("assistant", [{"type": "tool_use", "id": name, "name": "Bash", "input": {"command": each.command}}])
        now += timedelta(minutes=each.minutes)
        said("user", [{"type": "tool_result", "tool_use_id": name, "content": each.said, "is_error": each.failed}])
    said("assistant", [{"type": "text", "text": "That is all."}])
    if then:
        said("user", then)
        said("assistant", [{"type": "text", "text": "Understood."}])
    return "".join(json.dumps(line) + "\n" for line in lines)
