"""The tools: what they are called, what a model is told of them, and of each of their arguments.

The names, docstrings and descriptions here are the interface: they are all that a model ever reads of it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ireneo.faces.mcp.desk import Desk

AnyKind = Annotated[
    Literal["episodic", "semantic", "procedural", "failure"] | None,
    Field(description="Only what happened, what is true, how it is done, or what failed."),
]
OfKind = Annotated[
    Literal["episodic", "semantic", "procedural", "failure"] | None,
    Field(description="What happened, what is true, how it is done, or what failed; found from the text if not given."),
]
Arguments = Annotated[
    dict[str, object] | str, Field(description="Its arguments; of a shell the command alone will do.")
]


class Tools:
    """One method for each tool; how an answer is put together is the desk's affair."""

    def __init__(self, desk: Desk) -> None:
        """Answer from `desk`."""
        self._desk = desk

    async def brief(
        self,
        goal: Annotated[str, Field(description="What the task is to reach, in a sentence or two.")] = "",
        task_type: Annotated[str, Field(description="The sort of task, such as “fix a failing test”.")] = "",
        about_to: Annotated[str, Field(description="The command or action that comes next, if there is one.")] = "",
        budget: Annotated[int, Field(description="The most tokens that it may cost.", ge=64, le=8_000)] = 1_500,
    ) -> str:
        """What earlier work says for this task: how it is done, what is true, what happened, what must not be repeated.

        Call it once when a task begins. It costs up to `budget` tokens, and is empty where nothing is known. Ids in
        brackets are opened with `expand`.
        """
        return await self._desk.brief(goal, task_type, about_to, budget)

    async def recall(
        self,
        question: Annotated[str, Field(description="What you want to know, in words.")],
        kind: AnyKind = None,
        limit: Annotated[int, Field(description="At most so many.", ge=1, le=50)] = 6,
        budget: Annotated[int, Field(description="The most tokens that they may cost.", ge=128, le=8_000)] = 1_000,
    ) -> str:
        """Find what answers a question in all that was said and learned, one line each, the best first.

        A line costs some 80 tokens, all together up to `budget`. It shows only a beginning; open it with `expand` and
        its id.
        """
        return await self._desk.recall(question, kind, limit, budget)

    async def remember(
        self,
        text: Annotated[str, Field(description="One plain statement that makes sense by itself, with its why.")],
        kind: OfKind = None,
        task_type: Annotated[str, Field(description="Of a procedure: the sort of task it is for.")] = "",
    ) -> str:
        """Keep something for later sessions: a fact, how something is done, or an approach that failed and why.

        Not for notes on the task at hand: those go on the `scratchpad`.
        """
        return await self._desk.remember(text, kind, task_type)

    async def check(
        self,
        tool: Annotated[str, Field(description="The tool about to be called, such as Bash or Edit.")],
        arguments: Arguments,
        session: Annotated[str, Field(description="The stored session that you are in, if you know its id.")] = "",
    ) -> str:
        """Ask before a call whether it is likely to fail: the dead end, its evidence, what has changed since.

        It is advice, and silent when unsure.
        """
        return await self._desk.check(tool, arguments, session)

    async def expand(
        self,
        id: Annotated[str, Field(description="What a text shows in brackets, such as m_c0ffee1 or s_8f2k3ab.")],
        start: Annotated[int, Field(description="The character to begin at, to read on in a long one.", ge=0)] = 0,
    ) -> str:
        """Open an id: a memory with its evidence, a message whole, or the messages behind a summary.

        It costs up to some 3,000 tokens; what is longer says how to read on.
        """
        return await self._desk.expand(id, start)

    async def scratchpad(
        self,
        task: Annotated[str, Field(description="The task's name; the same one each time.")],
        goal: Annotated[str, Field(description="What is to be reached.")] = "",
        plan: Annotated[list[str] | None, Field(description="The steps; “[x] ” before what is done.")] = None,
        facts: Annotated[list[str] | None, Field(description="What was found out.")] = None,
        questions: Annotated[list[str] | None, Field(description="What is open.")] = None,
        finish: Annotated[str, Field(description="How the task ended: its facts become memories, the pad goes.")] = "",
    ) -> str:
        """Your working notes on one task.

        With the task's name alone they are read. They are written whole: what is left out goes.
        """
        return await self._desk.scratchpad(task, goal, (plan or (), facts or (), questions or ()), finish)

    async def dispute(
        self,
        id: Annotated[str, Field(description="The summary or memory that is wrong.")],
        reason: Annotated[str, Field(description="What is wrong with it, and what is shown instead.")],
    ) -> str:
        """Say that a memory or a summary is wrong, after you opened it and saw that it is."""
        return await self._desk.dispute(id, reason)
