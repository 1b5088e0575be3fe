"""A stretch of messages read as steps: each call with what it did, what came back, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from ireneo.context.actions import Action, understand
from ireneo.context.offline.errors import error_line, hides_failure
from ireneo.context.weigh import strings
from ireneo.log.message import Call, Message, MessageId, Result
from ireneo.log.outcome import derive_failed, was_refused, was_stopped


class Step(Struct, frozen=True, kw_only=True, dict=True):
    """One call and its outcome."""

    action: Action
    call: Call
    result: Result | None
    position: int
    said: str
    """What the agent said as it made the call."""
    source: MessageId
    answer: MessageId | None
    """The message that brought the result."""

    @cached_property
    def failed(self) -> bool:
        """Whether the call is known to have failed; looked up once, since that reads all that came back."""
        if self.result is None:
            return False
        failed = self.result.failed
        if failed is None:
            failed = derive_failed(self.output, self.call)
        return failed is True or (self.action.deed == "check" and hides_failure(self.command, self.output))

    @property
    def command(self) -> str:
        """What the agent wrote in the call, whole."""
        return "\n".join(strings(self.call.arguments))

    @property
    def rejected(self) -> bool:
        """Whether the user did not permit the call: that is a wish, not an error."""
        return self.failed and was_refused(self.output)

    @property
    def failed_itself(self) -> bool:
        """Whether the call failed by what it did, so that it may fail again.

        A refusal is a wish of the user, and a call that was broken off or fell with the call beside it has no outcome.
        """
        return self.failed and not was_refused(self.output) and not was_stopped(self.output)

    @property
    def output(self) -> str:
        """The text that came back."""
        return self.result.text if self.result else ""

    @cached_property
    def error(self) -> str:
        """The line that says what went wrong; empty where nothing did."""
        return error_line(self.output) if self.failed else ""

    @property
    def sources(self) -> tuple[MessageId, ...]:
        """The messages that show the step."""
        return (self.source, self.answer) if self.answer else (self.source,)


def steps(messages: Sequence[Message]) -> list[Step]:
    """Read the calls of `messages` in order, each with its result where it stands among them."""
    answers: dict[str, tuple[Result, MessageId]] = {}
    for message in messages:
        for result in message.draft.results:
            answers.setdefault(result.call_id, (result, message.id))
    out: list[Step] = []
    for message in messages:
        for call in message.draft.calls:
            answered = answers.get(call.id)
            out.append(
                Step(
                    action=understand(call),
                    call=call,
                    result=answered[0] if answered else None,
                    position=message.position,
                    said=message.text,
                    source=message.id,
                    answer=answered[1] if answered else None,
                )
            )
    return out
