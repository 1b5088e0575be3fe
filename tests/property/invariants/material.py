"""Sessions as agents really have them, told step by step; every text has a word that stands nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hypothesis import strategies as st

from ireneo import Draft, Policy
from ireneo.log.message import Call, Media, Opaque, Part, Result, Role, Text, Thinking

TINY = Policy(
    name="tiny",
    leaf_min_atoms=2,
    leaf_max_atoms=4,
    leaf_max_tokens=1_500,
    fan_in=2,
    goal_min_turns=2,
    goal_max_turns=3,
)
"""Deep trees of blocks over short sessions."""
HASTY = Policy(
    name="hasty", leaf_min_atoms=2, leaf_max_atoms=5, fan_in=2, goal_min_turns=2, keep_messages=6, eager=True
)
SPARING = Policy(name="sparing", leaf_min_atoms=2, leaf_max_atoms=4, fan_in=2, excluded_tools=frozenset({"plan"}))
PRESETS: tuple[str | Policy, ...] = ("coding", "forge", "scratchpad", TINY, HASTY, SPARING)
LOGGED = ("openai", "anthropic")
"""The chat formats whose lists are read as logs, too; a list's beginning says in them what it says in the whole one."""
FORMATS = (*LOGGED, "openai-responses", "gemini", "langchain", "pydantic-ai")
BUDGETS = (256, 300, 420, 700, 1_200, 2_500, 6_000, 20_000, 90_000)

presets = st.sampled_from(PRESETS)
formats = st.sampled_from(FORMATS)
budgets = st.sampled_from(BUDGETS) | st.integers(256, 4_000)
places = st.integers(0, 10_000)

PICTURE = Media(media_type="image/png", data="iVBORw0KGgo" * 40)


class Teller:
    """Writes one session; `name` stands in every text, so that it can be told whose words they are."""

    def __init__(self, name: str = "main") -> None:
        self.name = name
        self.told = 0
        self.calls = 0
        self.open: list[str] = []
        """Calls that wait for their results."""

    def tell(self, steps: Iterable[str]) -> list[Draft]:
        """The messages of these steps, in order."""
        return [draft for step in steps for draft in STEPS[step](self)]

    def mark(self) -> str:
        """A word that stands nowhere else."""
        self.told += 1
        return f"{self.name}_{self.told}x"

    def words(self, size: int) -> str:
        """About `size` words; each line of a longer text is different."""
        mark = self.mark()
        lines = [f"{mark}: see src/{self.name}/file_{self.told}.py and keep `handle_{self.told}`, never drop it."]
        lines += [f"Line {line} of {mark} reads value_{line} == {line * 7} as it must." for line in range(size // 12)]
        return "\n".join(lines)

    def call(self, tool: str, **arguments: object) -> Call:
        """A new call, which waits for its result."""
        self.calls += 1
        self.open.append(f"{self.name}-call-{self.calls}")
        return Call(id=self.open[-1], name=tool, arguments=dict(arguments))

    def result(self, text: str | Part, *, failed: bool | None = False) -> Result:
        """The result of the call that has waited longest."""
        part = Text(text=text) if isinstance(text, str) else text
        assert isinstance(part, Text | Media | Opaque)
        return Result(call_id=self.open.pop(0), parts=(part,), failed=failed)

    def work(self, tool: str, output: str, *, failed: bool = False, **arguments: object) -> list[Draft]:
        """One call with its result."""
        call = self.call(tool, **arguments)
        return [says("assistant", call), says("tool", self.result(output, failed=failed))]


def says(role: Role, *parts: Part | str) -> Draft:
    """A message of these parts."""
    return Draft(role=role, parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts))


def _asks(size: int) -> Callable[[Teller], list[Draft]]:
    return lambda t: [says("user", f"Please fix {t.words(size)} Always run make test.")]


def _read(t: Teller) -> list[Draft]:
    return t.work("read", t.words(80), path=f"src/{t.name}/file_{t.told}.py")


def _edit(t: Teller) -> list[Draft]:
    path = f"src/{t.name}/file_{t.told}.py"
    return t.work("edit", f"edited {t.mark()}", path=path, old_string=t.words(10), new_string=t.words(20))


def _check(t: Teller, *, fails: bool) -> list[Draft]:
    output = f"{t.words(20)}\nTypeError: expected handle_{t.told}" if fails else f"12 passed {t.mark()}"
    return t.work("bash", output, failed=fails, command=f"pytest tests/test_{t.told % 5}.py")


def _plan(t: Teller) -> list[Draft]:
    return t.work("plan", f"noted {t.mark()}", todos=[{"text": t.words(10), "done": False}])


def _parallel(t: Teller, *, split: bool) -> list[Draft]:
    calls = [t.call("search", pattern=f"handle_{number}", path=t.name) for number in range(3)]
    results = [t.result(t.words(30)) for _ in calls]
    asked = says("assistant", f"I will look for {t.mark()} first.", *calls)
    return [asked, *(says("tool", result) for result in results)] if split else [asked, says("tool", *results)]


def _wide(t: Teller) -> list[Draft]:
    """One message with more calls than are read from a store at a time."""
    calls = [t.call("read", path=f"src/{t.name}/wide_{number}.py") for number in range(80)]
    return [says("assistant", *calls), *(says("tool", t.result(f"{t.mark()} is empty")) for _ in calls)]


def _interleaved(t: Teller) -> list[Draft]:
    first, second = t.call("read", path="a.py"), t.call("read", path="b.py")
    asked = [says("assistant", first), says("assistant", second)]
    return [*asked, says("tool", t.result(t.words(20))), says("tool", t.result(t.words(20)))]


def _late(t: Teller) -> list[Draft]:
    call = says("assistant", t.call("bash", command="make all"))
    between = [says("assistant", f"While it runs, {t.words(10)}"), *_remind(t)]
    return [call, *between, says("tool", t.result(t.words(20)))]


def _late_past_system(t: Teller) -> list[Draft]:
    call = says("assistant", t.call("bash", command="make slow"))
    return [call, says("system", f"The date changed. {t.mark()}"), says("tool", t.result(t.words(20)))]


def _thinks(t: Teller) -> list[Draft]:
    thought = Thinking(text=f"I wonder about {t.words(40)}", signature="c2lnbmF0dXJl")
    call = t.call("read", path=f"src/{t.name}/deep.py")
    return [says("assistant", thought, call), says("tool", t.result(t.words(20)))]


def _sealed(t: Teller) -> list[Draft]:
    return [says("assistant", Thinking(sealed="c2VhbGVk" * 8), f"So it is {t.mark()}.")]


def _server(t: Teller) -> list[Draft]:
    t.calls += 1
    name = f"srvtoolu_{t.name}_{t.calls}"
    found: dict[str, object] = {"type": "web_search_tool_result", "tool_use_id": name, "content": [{"t": t.words(20)}]}
    call = Call(id=name, name="web_search", arguments={"query": t.mark()}, server=True)
    return [says("assistant", call, Result(call_id=name, parts=(Opaque(format="anthropic", payload=found),)), "Found.")]


def _remind(t: Teller) -> list[Draft]:
    text = f"<system-reminder>{t.words(10)}</system-reminder>"
    return [Draft(role="user", parts=(Text(text=text),), origin="injected")]


def _foreign_summary(t: Teller) -> list[Draft]:
    told = f"This session is being continued from a previous conversation. {t.words(60)}"
    return [Draft(role="user", parts=(Text(text=told),), origin="summary")]


def _joined(t: Teller) -> list[Draft]:
    """A user's words in the same provider message as a tool's result."""
    words = Draft(role="user", parts=(Text(text=f"And also {t.words(10)}"),), joined=True)
    return [*_read(t), words]


def _unanswered(t: Teller) -> list[Draft]:
    call = t.call("bash", command=f"sleep {t.mark()}")
    t.open.clear()
    return [says("assistant", call)]


def _many(steps: Sequence[str], times: int) -> Callable[[Teller], list[Draft]]:
    return lambda t: [draft for turn in range(times) for draft in STEPS[steps[turn % len(steps)]](t)]


_WORK = ("read", "edit", "check fails", "edit", "check passes", "parallel")

STEPS: dict[str, Callable[[Teller], list[Draft]]] = {
    "ask": _asks(10),
    "ask at length": _asks(200),
    "ask hugely": _asks(4_000),
    "ask nothing": lambda t: [says("user", "")],
    "ask in silence": lambda t: [says("user")],
    "ask with a picture": lambda t: [says("user", f"What is wrong here? {t.mark()}", PICTURE)],
    "ask along": _joined,
    "instruct": lambda t: [says("system", f"You are a careful agent. {t.words(30)}")],
    "instruct hugely": lambda t: [says("system", f"You are an agent with many rules. {t.words(3_000)}")],
    "remind": _remind,
    "read": _read,
    "read hugely": lambda t: t.work("read", t.words(4_000), path=f"logs/{t.name}.log"),
    "write hugely": lambda t: t.work("write", "ok", path=f"src/{t.name}/big.py", content=t.words(2_000)),
    "edit": _edit,
    "check fails": lambda t: _check(t, fails=True),
    "check passes": lambda t: _check(t, fails=False),
    "plan": _plan,
    "parallel": lambda t: _parallel(t, split=False),
    "parallel, split": lambda t: _parallel(t, split=True),
    "wide": _wide,
    "interleaved": _interleaved,
    "late": _late,
    "late past system": _late_past_system,
    "look at a picture": lambda t: [says("assistant", t.call("view", path="a.png")), says("tool", t.result(PICTURE))],
    "think": _thinks,
    "think, sealed": _sealed,
    "search on the server": _server,
    "foreign summary": _foreign_summary,
    "orphan": lambda t: [says("tool", Result(call_id=f"gone-{t.mark()}", parts=(Text(text=t.words(20)),)))],
    "unanswered": _unanswered,
    "all unanswered": lambda t: [draft for _ in range(30) for draft in _unanswered(t)],
    "say": lambda t: [says("assistant", f"I found the cause, because {t.words(20)}")],
    "say nothing": lambda t: [says("assistant", "")],
    "answer": lambda t: [says("assistant", f"Done: {t.words(10)} It works now.")],
    "work": _many(_WORK, 6),
    "work on": _many(_WORK, 40),
}
"""What can happen next in a session, by name."""

_TURNS: tuple[tuple[str, ...], ...] = (
    ("ask", "work", "answer"),
    ("ask", "work", "answer"),
    ("ask", "think", "edit", "check fails", "edit", "check passes", "answer"),
    ("ask", "plan", "work", "plan", "work", "answer"),
    ("ask", "work on", "answer"),
    ("ask at length", "parallel", "parallel, split", "answer"),
    ("ask", "answer"),
    ("ask", "ask", "ask", "ask"),
    ("instruct", "ask", "work", "answer"),
)
_ODD = tuple(
    (step,) for step in STEPS if step not in ("wide", "work on", "ask hugely", "read hugely", "instruct hugely")
)
_HUGE = (("ask hugely",), ("read hugely",), ("instruct hugely",), ("wide",))

turns = st.sampled_from(_TURNS)
pieces = turns | turns | st.sampled_from(_ODD) | st.sampled_from(_ODD + _HUGE)
"""A turn, or something that is out of turn."""


def scripts(*, max_size: int = 12) -> st.SearchStrategy[list[str]]:
    """Sessions as lists of steps; most begin with a system prompt, and some in the midst of something."""
    begun = st.sampled_from([("instruct",), ("instruct",), ("instruct", "instruct"), (), ("say",)])
    listed = st.tuples(begun, st.lists(pieces, min_size=1, max_size=max_size))
    return listed.map(lambda given: [*given[0], *(step for piece in given[1] for step in piece)])


pads = st.sampled_from(
    [
        (),
        (),
        ("Find what breaks the build",),
        ("Find what breaks the build", "[x] read the log", "[ ] run the tests of the reader", "[ ] tell the user"),
        ("Rewrite the loader", *(f"[ ] take part {number} of it out into a module of its own" for number in range(12))),
    ]
)
"""What an agent may have written into its scratchpad: a goal, and the steps to it."""
