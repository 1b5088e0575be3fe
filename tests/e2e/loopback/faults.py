"""What a model answers, as it should and as it should not."""

from __future__ import annotations

import json

from msgspec import Struct, structs
from tests.e2e.loopback.wire import Answer, Asked, Script


def always(answer: Answer) -> Script:
    """The same answer to everything."""
    return lambda asked: answer


def then(*answers: Answer) -> Script:
    """One answer after the other; the last again and again."""
    return lambda asked: answers[min(asked.number, len(answers)) - 1]


def ok(value: Struct | dict[str, object]) -> Answer:
    """A good answer."""
    return Answer(text=json.dumps(structs.asdict(value) if isinstance(value, Struct) else value))


def slow(seconds: float, answer: Answer) -> Answer:
    """An answer that comes late."""
    return structs.replace(answer, wait_seconds=seconds)


def cut_off(answer: Answer) -> Answer:
    """An answer in the middle of which the connection is closed."""
    return structs.replace(answer, cut_after=40)


def cut_short(answer: Answer) -> Answer:
    """An answer that reached the limit on tokens; the JSON so far is whole, so that only the reason tells."""
    return structs.replace(answer, finish="length")


def failing(status: int, message: str = "try again later", *, retry_after: str | None = None) -> Answer:
    """An HTTP error."""
    return Answer(status=status, text=message, headers={} if retry_after is None else {"retry-after": retry_after})


def empty() -> Answer:
    """Nothing."""
    return Answer(text="")


def refusal() -> Answer:
    """A refusal, by the means that the provider has for it."""
    return Answer(text="I can't help with that.", finish="refusal")


def invalid_json() -> Answer:
    """Almost JSON."""
    return Answer(text="{'summary': 'I fixed it', status: COMPLETE,}")


def another_shape() -> Answer:
    """JSON that is something else."""
    return Answer(text='{"weather": "fine", "degrees": 21}')


def far_too_long(asked: Asked) -> Answer:
    """Good JSON, and much more of it than was asked for; and no word about how many tokens it took."""
    return Answer(text=json.dumps({"summary": "and so on " * 100_000}), tokens_out=0)


def another_language() -> Answer:
    """Good JSON in another language."""
    return ok({"summary": "我修好了构建，测试全部通过。"})


def error_text() -> Answer:
    """An error told as if it were the answer."""
    return Answer(text="Error: 529 Overloaded. Please try again in a few minutes.")


def not_its_api(body: bytes, content_type: str = "application/json") -> Answer:
    """A body that the provider would never send."""
    return Answer(body=body, headers={"content-type": content_type})
