"""Small runs to try the guard on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ireneo.lessons.shell import RunMaterial
from ireneo.log.message import Call, Draft, Message, Result, Text
from ireneo.log.tree import chain

Made = tuple[str, Mapping[str, object] | str, str, bool]
"""A tool, its arguments (or a shell's command), what came back, and whether it failed."""


def drafts(*made: Made, said: str = "Please fix it.") -> list[Draft]:
    """A conversation in which these calls are made one after the other."""
    out = [Draft(role="user", parts=(Text(text=said),))]
    for number, (tool, arguments, output, failed) in enumerate(made):
        given = {"command": arguments} if isinstance(arguments, str) else dict(arguments)
        id = f"c{number}"
        out.append(Draft(role="assistant", parts=(Call(id=id, name=tool, arguments=given),)))
        out.append(Draft(role="tool", parts=(Result(call_id=id, parts=(Text(text=output),), failed=failed),)))
    return out


def messages(*made: Made, said: str = "Please fix it.") -> list[Message]:
    """The same as messages of a log."""
    return chain(None, drafts(*made, said=said), lambda parts: (10, 0))


def material(session: str, *made: Made, project: str = "cli") -> RunMaterial:
    """The same as a run."""
    return RunMaterial(session=session, project=project, messages=tuple(messages(*made)))


def runs(made: Sequence[Made], count: int = 6, project: str = "cli") -> list[RunMaterial]:
    """So many runs alike."""
    return [material(f"run-{number}", *made, project=project) for number in range(count)]


def call(tool: str, arguments: Mapping[str, object] | str) -> Call:
    """A call that is about to be made."""
    given = {"command": arguments} if isinstance(arguments, str) else dict(arguments)
    return Call(id="next", name=tool, arguments=given)
