"""What a model's server can do wrong, asked through the real adapter over real connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from msgspec import Struct
from tests.e2e import loopback
from tests.e2e.loopback import KINDS, Answer, Kind, LoopbackModel, Script, always, then

from ireneo.adapters.llm.model import open_model
from ireneo.errors import BadInput, BadReply, ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from ireneo.ports.models import Prompt, Reply

SECRET = "sk-loopback-secret"
FOR_EVER = 60.0
"""Seconds that a server takes which nobody waits for."""


class Told(Struct, frozen=True):
    summary: str
    status: str = "PARTIAL"


GOOD = loopback.ok({"summary": "I fixed it", "status": "COMPLETE"})
PROMPT = Prompt(task="notes", name="notes-1", system="You summarise.", user="user: fix it", max_tokens=500)


@pytest.fixture(autouse=True)
def _straight(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy stands between the test and its server."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """Load the libraries once, so that the time they take is not taken for the server's."""
    for kind in KINDS:
        asyncio.run(open_model(f"{kind}:tiny", api_key="k").check())


def ask(server: LoopbackModel, **options: object) -> Reply[Told]:
    return asyncio.run(server.model(**options).ask(PROMPT, Told))


def with_each_kind(work: Callable[[Kind], None]) -> None:
    """Do what waits for long with servers of all kinds at once."""
    with ThreadPoolExecutor(len(KINDS)) as threads:
        for done in [threads.submit(work, kind) for kind in KINDS]:
            done.result()


def refused(server: LoopbackModel, kind: type[ModelError], **options: object) -> ModelError:
    """The error that asking ends in, which is said in one line and never shows a key."""
    begun = time.monotonic()
    with pytest.raises(kind) as caught:
        ask(server, **options)
    assert type(caught.value) is kind
    assert time.monotonic() - begun < FOR_EVER / 2
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 400
    assert server.name in said
    assert SECRET not in said
    return caught.value


@pytest.mark.parametrize("kind", KINDS)
class TestEachServer:
    def test_a_good_answer(self, kind: Kind) -> None:
        with LoopbackModel(kind, always(GOOD)) as server:
            reply = ask(server)
        assert reply.value == Told("I fixed it", "COMPLETE")
        assert (reply.usage.calls, reply.usage.tokens_in, reply.usage.tokens_out) == (1, 100, 20)
        assert reply.model == server.name
        (asked,) = server.asked
        assert asked.system == PROMPT.system
        assert asked.user.startswith(PROMPT.user)
        assert '"summary":{"type":"string"}' in asked.user
        assert asked.max_tokens == PROMPT.max_tokens
        assert SECRET in str(asked.headers)

    def test_the_connection_is_closed_in_the_middle(self, kind: Kind) -> None:
        with LoopbackModel(kind, always(loopback.cut_off(GOOD))) as server:
            error = refused(server, ModelUnavailable)
        assert error.calls == len(server.asked) == 3

    def test_the_connection_is_closed_once(self, kind: Kind) -> None:
        with LoopbackModel(kind, then(loopback.cut_off(GOOD), GOOD)) as server:
            assert ask(server).usage.calls == 2

    @pytest.mark.parametrize("status", [429, 500, 503, 529])
    def test_a_fault_that_passes(self, kind: Kind, status: int) -> None:
        with LoopbackModel(kind, then(loopback.failing(status), GOOD)) as server:
            reply = ask(server)
        assert reply.value.status == "COMPLETE"
        assert reply.usage.calls == len(server.asked) == 2

    @pytest.mark.parametrize("status", [429, 500])
    def test_a_fault_that_stays(self, kind: Kind, status: int) -> None:
        with LoopbackModel(kind, always(loopback.failing(status, "out of breath"))) as server:
            error = refused(server, ModelUnavailable)
        assert error.calls == len(server.asked) == 3
        assert "out of breath" in str(error)

    def test_as_many_attempts_as_were_allowed(self, kind: Kind) -> None:
        with LoopbackModel(kind, always(loopback.failing(500))) as server:
            refused(server, ModelUnavailable, attempts=1)
        assert len(server.asked) == 1

    @pytest.mark.parametrize("dated", [False, True])
    def test_does_not_wait_where_time_would_run_out(self, kind: Kind, dated: bool) -> None:
        later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True) if dated else "600"
        with LoopbackModel(kind, always(loopback.failing(429, retry_after=later))) as server:
            error = refused(server, ModelUnavailable, timeout_seconds=FOR_EVER)
        assert error.calls == len(server.asked) == 1

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
    def test_is_not_asked_again_after_turning_away(self, kind: Kind, status: int) -> None:
        said = f"no, and your key {SECRET} is wrong: " + "why " * 500
        with LoopbackModel(kind, always(loopback.failing(status, said))) as server:
            error = refused(server, ModelUnavailable)
        assert error.calls == len(server.asked) == 1

    @pytest.mark.parametrize(
        ("script", "error", "says"),
        [
            (always(loopback.cut_short(GOOD)), BadReply, "cut off at 500 tokens"),
            (always(loopback.empty()), BadReply, "empty"),
            (always(loopback.refusal()), ModelRefused, "refused"),
            (always(loopback.invalid_json()), BadReply, "no JSON"),
            (always(loopback.another_shape()), BadReply, "another shape"),
            (loopback.far_too_long, BadReply, "far longer"),
            (always(loopback.error_text()), BadReply, "no JSON"),
            (always(Answer(text='{"summary": 7}')), BadReply, "Expected `str`"),
            (always(Answer(text="x", tokens_out=1001)), BadReply, "far longer"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_an_answer_that_is_none(self, kind: Kind, script: Script, error: type[ModelError], says: str) -> None:
        with LoopbackModel(kind, script) as server:
            raised = refused(server, error)
        assert says in str(raised)
        assert raised.calls == len(server.asked) == 1
        assert raised.tokens == 100 + script(server.asked[0]).tokens_out

    def test_another_language_is_not_for_the_adapter_to_judge(self, kind: Kind) -> None:
        with LoopbackModel(kind, always(loopback.another_language())) as server:
            assert "测试" in ask(server).value.summary

    @pytest.mark.parametrize(
        "body",
        [b"", b"null", b"[]", b"{}", b'{"choices": 3, "content": 3, "candidates": 3}', b"<html>no</html>", b"\xff\xfe"],
    )
    @pytest.mark.parametrize("content_type", ["application/json", "text/html"])
    def test_a_body_that_its_provider_would_not_send(self, kind: Kind, body: bytes, content_type: str) -> None:
        with LoopbackModel(kind, always(loopback.not_its_api(body, content_type))) as server:
            error = refused(server, BadReply)
        assert error.calls == len(server.asked) == 1

    def test_a_body_without_end_is_not_read_to_its_end(self, kind: Kind) -> None:
        with LoopbackModel(kind, always(loopback.not_its_api(b" " * 30_000_000))) as server:
            error = refused(server, BadReply, timeout_seconds=FOR_EVER)
        assert "longer than 4,000,000 bytes" in str(error)
        assert len(server.asked) == 1

    def test_asking_again_after_a_bad_answer_is_told_by_itself(self, kind: Kind) -> None:
        async def twice() -> None:
            try:
                await server.model().ask(PROMPT, Told)
            except BadReply:
                await server.model().ask(PROMPT, Told)

        script = then(loopback.empty(), loopback.cut_off(GOOD))
        with LoopbackModel(kind, script) as server, pytest.raises(ModelUnavailable, match="can't be reached"):
            asyncio.run(twice())

    def test_no_server(self, kind: Kind) -> None:
        with LoopbackModel(kind, always(GOOD)) as server:
            model = server.model()
        with pytest.raises(ModelUnavailable, match="can't be reached") as caught:
            asyncio.run(model.ask(PROMPT, Told))
        assert caught.value.calls == 3

    def test_several_asks_at_once_and_from_other_loops(self, kind: Kind) -> None:
        async def three() -> list[Reply[Told]]:
            return await asyncio.gather(*(model.ask(PROMPT, Told) for _ in range(3)))

        with LoopbackModel(kind, always(GOOD)) as server:
            model = server.model()
            for _ in range(2):
                assert {reply.usage.calls for reply in asyncio.run(three())} == {1}
        assert len(server.asked) == 6

    def test_an_ask_that_is_cancelled_ends_at_once(self, kind: Kind) -> None:
        async def hurry() -> None:
            async with asyncio.timeout(0.3):
                await server.model(timeout_seconds=30.0).ask(PROMPT, Told)

        with LoopbackModel(kind, always(loopback.slow(FOR_EVER, GOOD))) as server, pytest.raises(TimeoutError):
            asyncio.run(hurry())

    def test_the_key_for_the_provider_is_not_sent_elsewhere(self, kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
        for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY"):
            monkeypatch.setenv(variable, "sk-of-the-provider")
        with LoopbackModel(kind, always(GOOD)) as server:
            ask(server, api_key=None)
        assert "sk-of-the-provider" not in str(server.asked[0].headers)


def test_slower_than_the_timeout() -> None:
    def work(kind: Kind) -> None:
        with LoopbackModel(kind, always(loopback.slow(FOR_EVER, GOOD))) as server:
            error = refused(server, ModelTimeout, timeout_seconds=3.0)
        assert error.calls == len(server.asked) == 1

    with_each_kind(work)


def test_one_timeout_over_all_attempts() -> None:
    def work(kind: Kind) -> None:
        script = then(loopback.slow(0.3, loopback.failing(500)), loopback.slow(FOR_EVER, GOOD))
        with LoopbackModel(kind, script) as server:
            error = refused(server, ModelTimeout, timeout_seconds=4.0)
        assert error.calls == len(server.asked) == 2

    with_each_kind(work)


def test_waits_as_long_as_it_is_told_to() -> None:
    def work(kind: Kind) -> None:
        with LoopbackModel(kind, then(loopback.failing(429, retry_after="1"), GOOD)) as server:
            begun = time.monotonic()
            assert ask(server, timeout_seconds=FOR_EVER).usage.calls == 2
            assert time.monotonic() - begun >= 1

    with_each_kind(work)


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_key_is_said_before_anything_is_sent(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(BadInput, match=f"needs a key: set {kind.upper()}_API_KEY"):
        asyncio.run(open_model(f"{kind}:tiny").ask(PROMPT, Told))


def test_ollama_speaks_like_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "sk-of-the-provider")
    with LoopbackModel("openai", always(GOOD)) as server:
        model = open_model("ollama:llama3:8b", base_url=server.base_url, timeout_seconds=FOR_EVER)
        reply = asyncio.run(model.ask(PROMPT, Told))
    assert reply.model == "ollama:llama3:8b"
    assert server.asked[0].model == "llama3:8b"
    assert server.asked[0].body["max_tokens"] == 500
    assert "sk-of-the-provider" not in str(server.asked[0].headers)


def test_a_model_that_reasons_is_told_its_limit_by_the_new_name() -> None:
    with LoopbackModel("openai", always(GOOD)) as server:
        model = open_model("openai:gpt-5-mini", base_url=server.base_url, timeout_seconds=FOR_EVER)
        asyncio.run(model.ask(PROMPT, Told))
    assert server.asked[0].body["max_completion_tokens"] == 500
    assert "max_tokens" not in server.asked[0].body


def test_the_limit_on_quota_is_not_waited_for() -> None:
    body = b'{"error": {"message": "You exceeded your current quota", "type": "x", "code": "insufficient_quota"}}'
    with LoopbackModel("openai", always(Answer(status=429, body=body))) as server:
        error = refused(server, ModelUnavailable)
    assert error.calls == 1
    assert "quota" in str(error)


@pytest.mark.parametrize("write", [lambda url: url, lambda url: f"{url}/", lambda url: f"{url}/v1"])
def test_the_address_of_a_server_like_anthropics(write: Callable[[str], str]) -> None:
    with LoopbackModel("anthropic", always(GOOD)) as server:
        model = open_model("anthropic:tiny", base_url=write(server.base_url), timeout_seconds=FOR_EVER)
        asyncio.run(model.ask(PROMPT, Told))
    assert server.asked[0].path.startswith("/v1/messages")
