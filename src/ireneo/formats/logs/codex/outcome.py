"""Whether a call of Codex failed: a rollout has no flag, but the tools print an exit code in ways of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ireneo.formats.logs.narrow import mapping
from ireneo.log.message import Call
from ireneo.log.outcome import derive_failed
from ireneo.patterns import lazy_re

_HEADER = lazy_re(r"\A(?:(?:Command|Chunk ID|Wall time|Total output lines|Original token count): [^\n]*\n)*")
_CODE = lazy_re(r"(?:Exit code:|Process exited with code) (-?\d+)(?:\n|\Z)")
_RUNNING = lazy_re(r"Process running with session ID \S+")
_FAILED = lazy_re(
    r"(?:aborted|execution error|exec_command failed|write_stdin failed|unsupported (?:custom tool )?call"
    r"|failed to parse|apply_patch verification failed|patch rejected|err:|exec command rejected"
    r"|tool call error|command timed out|failed in sandbox|failed to spawn)\b"
)
_RUNS = ("exec_command_end", "patch_apply_end", "mcp_tool_call_end")


def told_outcome(event: Mapping[str, object]) -> tuple[str, bool] | None:
    """The call that an `event_msg` says the outcome of, and whether it failed."""
    call_id = event.get("call_id")
    if event.get("type") not in _RUNS or not isinstance(call_id, str):
        return None
    code = event.get("exit_code")
    if isinstance(code, int) and not isinstance(code, bool):
        return call_id, code != 0
    if isinstance(success := event.get("success"), bool):
        return call_id, not success
    result = mapping(event.get("result"))
    if "Err" in result:
        return call_id, True
    ok = mapping(result.get("Ok"))
    return (call_id, (ok.get("is_error") or ok.get("isError")) is True) if ok else None


def failed(text: str, call: Call | None) -> bool | None:
    """Whether `text`, which came back from `call`, tells of a failure."""
    code = _structured(text)
    if code is not None:
        return code != 0
    body = text[header.end() :] if (header := _HEADER.match(text)) else text
    if found := _CODE.match(body):
        return int(found[1]) != 0
    if _RUNNING.match(body):
        return None
    if _FAILED.match(text):
        return True
    _, _, printed = body.partition("Output:\n") if body is not text else ("", "", text)
    return derive_failed(printed or body, call)


def _structured(text: str) -> int | None:
    """The exit code of the form in which output and metadata are one object."""
    if not text.startswith('{"'):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    code = mapping(mapping(value).get("metadata")).get("exit_code")
    return code if isinstance(code, int) and not isinstance(code, bool) else None
