"""Projects stay apart: whatever is told, changed and merged in one, no call from another shows a word of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import times
from tests.whole import whole

import ireneo
from ireneo.errors import IreneoError
from ireneo.memories.record import GENERAL

PROJECTS = ("harbour", "mill", "acme/api", "globex/api")
DIRECTORIES = {
    "harbour": "/srv/harbour",
    "mill": "/home/ann/mill/src",
    "acme/api": "/x/acme/api",
    "globex/api": "/x/globex/api",
}
SEEN_FROM = (*PROJECTS, "tower", "")
WHOSE = st.sampled_from([*PROJECTS, GENERAL, ""])
KINDS = st.sampled_from(["semantic", "episodic", "procedural", "failure"])
MAY = datetime(2026, 5, 3, 12, tzinfo=UTC)
QUESTION = "Which tide table gate keys berth build?"


class Cast:
    """What was told of each project, by the words that nothing else has."""

    def __init__(self) -> None:
        self.marks: dict[str, set[str]] = {}
        self.ids: list[str] = []

    def mark(self, project: str) -> str:
        """A word that is told in `project` alone."""
        word = f"zq{len(self.marks)}x"
        self.marks[word] = {project}
        return word

    def foreign(self, project: str, known: set[str]) -> list[str]:
        """The words that must not be seen from a project; `known` are all that something belongs to now."""
        others = not known <= {"", GENERAL, project}
        own = {project, GENERAL} | (set() if others and project else {""})
        return [word for word, whose in self.marks.items() if not whose & own]


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[str, str, str, int]]:
    """What is done one after the other: what, in which project, of which kind, and to which memory."""
    verbs = "session remember remember cited same slot update labels move merge pad used".split()
    step = st.tuples(st.sampled_from(verbs), WHOSE, KINDS, st.integers(0, 30))
    return draw(st.lists(step, min_size=4, max_size=14))


async def done(memory: ireneo.Memory, cast: Cast, number: int, step: tuple[str, str, str, int]) -> None:
    """Take a step; what can't be done is refused, and changes nothing."""
    verb, project, kind, _ = step
    mark = f"tide table gate keys berth build {cast.mark(project)}"
    told = {"project": DIRECTORIES.get(project, project), "at": MAY + timedelta(days=number)}
    if verb in ("session", "cited"):
        session = await memory.session(f"run {number}", project=told["project"])  # type: ignore[arg-type]
        ids = (await session.append({"role": "user", "content": f"I say {mark}."})).ids
        if verb == "cited":
            made = await memory.remember(f"It was said: {mark}.", session=f"run {number}", messages=ids)
            cast.ids.append(made.record.id)
    elif verb == "slot":
        made = await memory.remember(f"The port is {mark}.", subject="port", attribute="number", value=mark, **told)  # type: ignore[arg-type]
        cast.ids.append(made.record.id)
    elif verb == "same":
        # What several say is known in each of their projects.
        cast.marks.popitem()
        made = await memory.remember("The tide table is on the gate.", **told)  # type: ignore[arg-type]
        cast.ids.append(made.record.id)
    elif verb == "pad":
        pad = memory.scratchpad(f"task {number}", project=str(told["project"]))
        await pad.write(goal=f"Find {mark}", facts=[f"Found: {mark}."])
        cast.ids += [each.record.id for each in await pad.finish(f"Ended {mark}.")]
    elif verb in ("update", "labels", "move", "merge", "used") and cast.ids:
        cast.marks.popitem()
        await changed(memory, cast, number, step)
    else:
        details = {"kind": kind, "origin": "agent", "labels": [f"of {cast.mark(project)}"], "task_type": "tide"}
        made = await memory.remember(f"{mark}.", **told, **details)  # type: ignore[arg-type]
        cast.ids.append(made.record.id)


async def changed(memory: ireneo.Memory, cast: Cast, number: int, step: tuple[str, str, str, int]) -> None:
    """Change a memory that was told: its words stay where they were, unless all of it is moved."""
    verb, project, _, at = step
    (record,) = await memory.get([cast.ids[at % len(cast.ids)]])
    where = set(record.projects)
    if verb == "used":
        await memory.used([record.id], helped=True)
    elif verb == "move":
        # Of several projects, and in a slot, what was told before stays with those.
        if len(where) == 1 and not record.attribute and record.sessions == ():
            # What a memory says of others, such as what it is put like now, goes with it.
            new = await memory.update(record.id, project=project)
            for word in cast.marks:
                if word in whole(new):
                    cast.marks[word].add(project)
    elif verb == "merge":
        (other,) = await memory.get([cast.ids[(at + 1) % len(cast.ids)]])
        if set(other.projects) == where and len(where) == 1 and other.id != record.id and other.kind == record.kind:
            await memory.merge([record.id, other.id])
    elif len(where) == 1 and (verb != "update" or record.state in ("active", "disputed")):
        # What no longer holds can't be put in other words.
        (whose,) = where
        mark = cast.mark(whose)
        edit: dict[str, object] = {"text": f"tide table {mark}."} if verb == "update" else {"labels": [f"of {mark}"]}
        cast.ids.append((await memory.update(record.id, **edit)).id)  # type: ignore[arg-type]


async def answers(memory: ireneo.Memory, project: str, ids: Sequence[str]) -> list[str]:
    """Everything that Python shows to who works on a project."""
    folder = DIRECTORIES.get(project, project)
    found = await memory.recall(QUESTION, limit=200, project=folder)
    brief = await memory.brief(goal=QUESTION, task_type="tide", about_to="tide table", project=folder, budget=8_000)
    listed = [await memory.memories(project=folder, state=state, limit=200) for state in (None, "any")]
    advice = await memory.check("Bash", {"command": "tide table gate"}, project=folder)
    out = [whole([(each.text, each.record) for each in found]), brief.markdown, whole(brief.lines), whole(advice)]
    out += [whole([(each.text, each.labels, each.evidence) for each in page]) for page in listed]
    for id in ids[:6]:
        try:
            out.append(whole((await memory.lookup(id, project=folder)).memory))
        except IreneoError as fault:
            out.append(str(fault))
    return out


async def answers_over_mcp(memory: ireneo.Memory, project: str, ids: Sequence[str]) -> list[str]:
    """Everything that the MCP server shows to who works on a project; it changes some memories."""
    # Here, since it takes a second, and each worker collects all tests.
    from mcp import Client
    from mcp.types import TextContent

    from ireneo.faces.mcp import make_server

    out = []
    async with Client(make_server(memory, project=DIRECTORIES.get(project, project))) as client:
        for tool, given in (
            ("recall", {"text": QUESTION, "limit": 50, "budget": 8_000}),
            ("brief", {"goal": QUESTION, "task_type": "tide", "about_to": "tide table", "budget": 8_000}),
            ("memories", {"limit": 100}),
            ("check", {"tool": "Bash", "arguments": "tide table"}),
            *(("expand", {"id": id}) for id in ids[:3]),
            *(
                (tool, {"id": id, **more})
                for id in ids[3:5]
                for tool, more in (("update", {"text": "x"}), ("delete", {}))
            ),
        ):
            result = await client.call_tool(tool, dict(given))
            out.append("\n".join(part.text for part in result.content if isinstance(part, TextContent)))
    return out


@settings(deadline=None, max_examples=times(4))
@given(steps(), st.permutations(SEEN_FROM))
async def test_no_call_from_one_project_shows_anothers(todo: list[tuple[str, str, str, int]], order: list[str]) -> None:
    async with ireneo.open(":memory:") as memory:
        cast = Cast()
        for number, step in enumerate(todo):
            await done(memory, cast, number, step)
        await memory.work(until_idle=True)
        known = {name for each in await memory.memories(state="any", limit=1_000) for name in each.projects}
        known |= {each.project or "" for each in await memory.sessions()}
        asked = [(answers, project) for project in SEEN_FROM]
        # A server is made for each of these, which takes longer than all its answers.
        asked += [(answers_over_mcp, project) for project in order[:2]]
        for ask, project in asked:
            for answer in await ask(memory, project, cast.ids):
                shown = [word for word in cast.foreign(project, known) if word in answer]
                assert not shown, f"{project!r} shows {[(one, cast.marks[one]) for one in shown]}: {answer}"
