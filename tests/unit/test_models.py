"""A model for each task, by name or handed in; a scripted one, and a clock that a test moves."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from msgspec import Struct

import ireneo
from ireneo.adapters.llm.model import ProviderModel
from ireneo.engine.models import TASKS, Models
from ireneo.engine.resources import SystemClock
from ireneo.errors import BadInput, BadReply, ModelUnavailable
from ireneo.ports.models import LanguageModel, Prompt, Reply
from ireneo.testing.scripted import ManualClock, ScriptedLLM
from ireneo.wiring import models


class Told(Struct, frozen=True):
    summary: str


PROMPT = Prompt(task="notes", name="notes-1", system="abcd", user="abcdefgh", max_tokens=100)


def ask(model: LanguageModel) -> Reply[Told]:
    return asyncio.run(model.ask(PROMPT, Told))


def test_one_model_does_everything() -> None:
    one = ScriptedLLM([])
    assert {Models.of(one).for_task(task) for task in TASKS} == {one}


def test_a_task_may_have_its_own() -> None:
    small, large = ScriptedLLM([]), ScriptedLLM([])
    given = Models.of({"notes": small, "default": large})
    assert given.for_task("notes") is small
    assert given.for_task("story") is large


def test_a_task_without_one_is_done_without_one() -> None:
    assert Models.of({"notes": ScriptedLLM([])}).for_task("story") is None
    assert Models().for_task("notes") is None


def test_an_unknown_task_is_told_with_those_that_there_are() -> None:
    for wrong in (lambda: Models().for_task("notices"), lambda: Models.of({"notices": ScriptedLLM([])})):
        with pytest.raises(BadInput, match=r"no task 'notices'.*notes, story, .*default"):
            wrong()


def test_something_is_put_around_each() -> None:
    first, second, around = ScriptedLLM([]), ScriptedLLM([]), ScriptedLLM([])
    seen: list[LanguageModel] = []
    changed = Models.of({"notes": first, "default": second}).each(lambda model: (seen.append(model), around)[1])
    assert seen == [second, first]
    assert changed.for_task("notes") is changed.for_task("story") is around
    assert Models().each(lambda model: around).for_task("notes") is None


def test_names_become_models() -> None:
    own = ScriptedLLM([])
    given = models({"notes": "ollama:llama3:8b", "story": own, "default": "anthropic:claude-haiku-4-5"}, api_key="k")
    notes, rest = given.for_task("notes"), given.for_task("lessons")
    assert isinstance(notes, ProviderModel)
    assert notes.name == "ollama:llama3:8b"
    assert isinstance(rest, ProviderModel)
    assert rest.name == "anthropic:claude-haiku-4-5"
    assert given.for_task("story") is own
    assert models(None).for_task("notes") is None
    assert models(own).for_task("notes") is own
    assert isinstance(models("openai:gpt-5-mini").for_task("act"), ProviderModel)


@pytest.mark.parametrize("given", ["gpt-5", {"notes": "gpt-5"}, {"notices": "openai:gpt-5"}])
def test_bad_names_are_told_at_once(given: str | dict[str, str]) -> None:
    with pytest.raises(BadInput):
        models(given)


def test_a_script_is_followed() -> None:
    model = ScriptedLLM([Told("one"), {"summary": "two"}, '{"summary": "three"}', ModelUnavailable("no", calls=2)])
    replies = [ask(model) for _ in range(3)]
    assert [reply.value for reply in replies] == [Told("one"), Told("two"), Told("three")]
    assert (replies[0].usage.calls, replies[0].usage.tokens_in, replies[0].usage.tokens_out) == (1, 3, 5)
    assert replies[0].model == "scripted"
    with pytest.raises(ModelUnavailable, match="no"):
        ask(model)
    assert model.prompts == [PROMPT] * 4
    with pytest.raises(AssertionError, match="asked 5 times, and has 4 answers"):
        ask(model)


def test_a_script_may_look_at_the_prompt() -> None:
    assert ask(ScriptedLLM(lambda prompt: {"summary": prompt.user})).value == Told("abcdefgh")


@pytest.mark.parametrize("answer", ["I'm sorry", '{"weather": "fine"}', {"summary": 3}])
def test_what_does_not_fit_is_a_bad_reply(answer: str | dict[str, object]) -> None:
    with pytest.raises(BadReply) as caught:
        ask(ScriptedLLM([answer]))
    assert caught.value.calls == 1
    assert caught.value.tokens > 3


def test_the_clocks() -> None:
    clock = ManualClock(datetime(2026, 3, 1, 23, tzinfo=UTC))
    clock.move(timedelta(hours=2))
    assert clock.now() == datetime(2026, 3, 2, 1, tzinfo=UTC)
    assert ManualClock().now().tzinfo is UTC
    before = datetime.now(UTC)
    assert before <= SystemClock().now() <= datetime.now(UTC)


def test_a_setting_that_there_is_not_is_said() -> None:
    with pytest.raises(TypeError, match="durable"):
        ireneo.open(":memory:", durable="yes")  # type: ignore[call-arg]
