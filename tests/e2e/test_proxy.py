"""`ireneo proxy`: the log follows the client's list, the API gets a context, and all else passes through."""

from __future__ import annotations

import gzip
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path

import httpx2
import pytest
from tests.e2e.proxied import (
    Handler,
    Json,
    api,
    asked_of,
    begin_events,
    completion,
    deltas,
    end_events,
    events,
    last_message,
    messages,
    proxied,
    reply,
    says,
    send_event,
    sessions,
    stored,
)
from tests.e2e.test_cli_command import run

import ireneo
from ireneo.types import Payload

CHAT = "/v1/chat/completions"
KEY = {"authorization": "Bearer sk-very-secret-key-0123456789abcdef"}


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def assistant(text: str) -> Json:
    return {"role": "assistant", "content": text}


def system(text: str) -> Json:
    return {"role": "system", "content": text}


def asking(*said: Json, **more: object) -> Json:
    return {"model": "tiny", "messages": list(said), **more}


def long_chat(turns: int) -> list[Json]:
    """A chat that no context of 4,000 tokens holds."""
    told = "the ferry crosses the sound in the grey of the morning and the keeper counts the lamps along the quay"
    return [
        each
        for turn in range(turns)
        for each in (user(f"On day {turn} I ask: {told}."), assistant(f"On day {turn} she says: {told}, {told}."))
    ]


def test_what_fits_goes_on_as_it_came_and_is_kept(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with api(says("Good morning.")) as behind, proxied(behind.url, db) as client:
        data = json.dumps(asking(system("Be kind."), user("Hello!"), seed=7), indent=3).encode()
        given = client.post(CHAT, content=data, headers={**KEY, "content-type": "application/json"})
    assert given.json() == completion("Good morning.")
    assert given.headers["x-ireneo-session"].startswith("proxy-")
    assert behind.asked[0].data == data
    assert behind.asked[0].headers["authorization"] == KEY["authorization"]
    assert stored(db) == [("user", "Hello!"), ("assistant", "Good morning.")]


def test_a_long_chat_is_sent_on_as_a_context_and_keeps_its_prefix(tmp_path: Path) -> None:
    db, prompt, chat = tmp_path / "memory.db", system("You are the keeper of a lighthouse."), long_chat(80)
    with api(says("I count them again.")) as behind, proxied(behind.url, db, budget=4_000) as client:
        for turn in range(3):
            chat.append(user(f"And tonight, for the {turn}. time?"))
            client.post(CHAT, json=asking(prompt, *chat, temperature=0.5))
            # As a client does: without the white space at the end.
            chat.append(assistant("I count them  again.\n"))
    sent = [asked.body for asked in behind.asked]
    for turn, body in enumerate(sent):
        assert body["messages"][0] == prompt
        assert body["messages"][-1] == user(f"And tonight, for the {turn}. time?")
        assert len(json.dumps(body)) < 4 * 4_000 < len(json.dumps(chat))
        assert body["temperature"] == 0.5
    assert sent[2]["messages"][: len(sent[0]["messages"])] == sent[0]["messages"]
    said = stored(db)
    assert len(said) == len(chat)
    assert said[-1] == ("assistant", "I count them again.")


def test_the_log_stands_as_the_client_s_list_does(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    hello, there = user("Who keeps the lamp of Skarn?"), assistant("Old Maren keeps it, since the war.")
    with api(says("A swipe.")) as behind, proxied(behind.url, db) as client:

        def ask(*messages: Json) -> list[tuple[str, str]]:
            client.post(CHAT, json=asking(*messages))
            return stored(db)

        assert len(ask(hello)) == 2
        # Swiped to another answer, and gone on from it.
        assert ask(hello, there, user("Since which war?"))[1:3] == [
            ("assistant", "Old Maren keeps it, since the war."),
            ("user", "Since which war?"),
        ]
        # An edit of what was said earlier, one message deleted, and the last ones taken back.
        edited = assistant("Young Maren keeps it, since the flood.")
        assert ask(hello, edited, user("Since which war?"))[1][1] == edited["content"]
        assert ask(hello, user("Since which war?"))[:2] == [("user", hello["content"]), ("user", "Since which war?")]
        with ireneo.sync.open(db) as memory:
            (kept,) = [memory.session(info.key.session) for info in memory.sessions()]
            kept.pin("Nobody leaves the island before the tide.")
        assert ask(hello) == [("user", hello["content"]), ("assistant", "A swipe.")]
        with ireneo.sync.open(db) as memory:
            pins = [each.text for each in memory.session(kept.id).pins()]
        assert pins == ["Nobody leaves the island before the tide."]
        # The first one edited as well: it is still the same conversation.
        client.post(
            CHAT, json=asking(user("Who keeps it?"), there, edited, user("And who is the keeper of the boats?"))
        )
        client.post(
            CHAT, json=asking(user("Who keeps them?"), there, edited, user("And who is the keeper of the boats?"))
        )
        names = {client.post(CHAT, json=asking(user("Another chat."))).headers["x-ireneo-session"]}
    assert len(sessions(db) | names) == 3


def test_a_client_that_leaves_out_the_beginning_is_known_again_by_another_process(tmp_path: Path) -> None:
    db, chat, told = tmp_path / "memory.db", long_chat(60), []
    with api(says("Good.")) as behind:
        with proxied(behind.url, db) as client:
            client.post(CHAT, json=asking(*chat, user("And now?")))
        before = len(stored(db))
        with proxied(behind.url, db, told) as client:
            client.post(CHAT, json=asking(*chat[40:], user("And now?"), assistant("Good."), user("And then?")))
            whole = len(stored(db))
        with proxied(behind.url, db, whole_lists=True) as client:
            client.post(CHAT, json=asking(*chat[40:], user("And now?"), assistant("Good."), user("And then?")))
    assert len(sessions(db)) == 1
    assert whole == before + 2
    assert any("leaves out the first 40 messages" in line for line in told)
    assert len(stored(db)) == whole - 40


def test_what_a_client_puts_in_at_a_depth_is_sent_on_there_and_not_kept(tmp_path: Path) -> None:
    db, chat = tmp_path / "memory.db", long_chat(80)
    note, last = system("[A storm is coming.]"), system("[Write one paragraph.]")
    with api(says("It rains.")) as behind, proxied(behind.url, db) as client:
        for _ in range(2):
            chat.append(user("What of the weather?"))
            client.post(CHAT, json=asking(system("You are Maren."), *chat[:-3], note, *chat[-3:], last))
            chat.append(assistant("It rains."))
    for asked in behind.asked:
        sent = asked.body["messages"]
        assert sent[-1] == last
        assert sent.index(note) == len(sent) - 5
    assert {role for role, _ in stored(db)} == {"user", "assistant"}


def test_names_tell_who_speaks_and_one_of_them_may_be_the_one_who_remembers(tmp_path: Path) -> None:
    db, told = tmp_path / "memory.db", []
    chat = [{**each, "name": "Ilya" if each["role"] == "user" else "Maren"} for each in long_chat(4)]
    log = tmp_path / "tavern.jsonl"
    log.write_text("\n".join(json.dumps({"author": each["name"], "text": each["content"]}) for each in chat[:6]))
    run("import", log, "--db", db)
    with api(says("I remember it.")) as behind, proxied(behind.url, db, told, viewpoint="Maren") as client:
        for turn in range(2):
            chat.append({**user(f"Do you remember, {turn}?"), "name": "Ilya"})
            client.post(CHAT, json=asking(*chat))
            chat.append({**assistant("I remember it."), "name": "Maren"})
    assert sessions(db) == {"tavern"}
    said = [(each.draft.author, each.text) for each in messages(db)]
    assert said == [(each["name"], each["content"]) for each in chat]
    assert behind.asked[-1].body["messages"] == chat[:-1]
    assert not [line for line in told if "failed" in line]


@pytest.mark.parametrize("breaks", [False, True])
def test_a_stream_passes_as_it_comes_and_is_kept_also_when_it_breaks_off(tmp_path: Path, breaks: bool) -> None:
    db, told = tmp_path / "memory.db", []
    first = [{"role": "assistant", "content": ""}, {"content": "The lamp "}, {"content": "is lit, é."}]
    call = {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "ring", "arguments": '{"bell": 1}'}}]}
    listed = deltas(*first, call, finish=None if breaks else "tool_calls")
    seen, waited = threading.Event(), []

    def script(handler: Handler, _: Json) -> None:
        begin_events(handler)
        for each in listed:
            send_event(handler, each)
            if each is listed[1]:
                # The rest is said when the client has heard the beginning.
                waited.append(seen.wait(20))
        end_events(handler, cut=breaks)

    got = b""
    with api(script) as behind, proxied(behind.url, db, told) as client:
        with client.stream("POST", CHAT, json=asking(user("Is it lit?"), stream=True)) as answer:
            try:
                for chunk in answer.iter_bytes():
                    got += chunk
                    if b"The lamp" in got:
                        seen.set()
                broken = False
            except httpx2.RemoteProtocolError:
                broken = True
        assert broken == breaks
        assert waited == [True]
        assert got.count(b"data: ") == len(listed)
    said = stored(db)
    assert said[1] == ("assistant", "The lamp is lit, é.")
    assert [call.name for call in last_message(db).draft.calls] == ([] if breaks else ["ring"])
    assert any("broke an answer off" in line for line in told) == breaks


def test_a_client_that_hangs_up_ends_the_request_behind_and_keeps_what_it_saw(tmp_path: Path) -> None:
    db, ended = tmp_path / "memory.db", threading.Event()

    def script(handler: Handler, body: Json) -> None:
        begin_events(handler)
        send_event(handler, deltas({"content": "Once upon "}, finish=None)[0])
        try:
            for _ in range(3_000):
                time.sleep(0.02)
                send_event(handler, deltas({"content": "."}, finish=None)[0])
        except OSError:
            ended.set()

    with api(script) as behind, proxied(behind.url, db) as client:
        with client.stream("POST", CHAT, json=asking(user("Tell me."), stream=True)) as answer:
            # A whole event: half of one, which a chunk may hold, says nothing yet.
            next(answer.iter_lines())
        assert ended.wait(60)
    assert stored(db)[1][1].startswith("Once upon")


def test_tools_in_parallel_are_kept_and_go_back_as_they_came(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": json.dumps({"path": f"{n}.txt"})}}
        for n in range(3)
    ]
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": f"line of {n} " * 40} for n in range(3)]
    tools = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
    made = completion(None, tool_calls=calls, reasoning_content="I look.")

    def script(handler: Handler, body: Json) -> None:
        reply(handler, made if body["messages"][-1]["role"] == "user" else completion("Done."))

    chat = [user("Read the three files."), made["choices"][0]["message"], *results]
    with api(script) as behind, proxied(behind.url, db, budget=3_000) as client:
        for turn in range(5):
            if turn:
                chat += [user(f"Again, {turn}."), made["choices"][0]["message"], *results]
            client.post(CHAT, json=asking(*chat[:-4], tools=tools))
            client.post(CHAT, json=asking(*chat, tools=tools))
            chat.append(assistant("Done."))
    sent = behind.asked[-1].body
    assert sent["tools"] == tools
    assert sent["messages"][-4:] == chat[-5:-1]
    assert len(json.dumps(sent)) < len(json.dumps(chat))
    assert len(stored(db)) == len(chat)
    assert not ireneo.chat_format("openai").validate(Payload(messages=sent["messages"]))


def test_a_secret_reaches_the_model_and_not_the_log(tmp_path: Path) -> None:
    db, told = tmp_path / "memory.db", []
    secret = "ghp_" + "Zk3vQ9xT7mB2nC8wR5yL1pD6sF4hJ0gA9eU3"
    chat = [*long_chat(80), user(f"My token is {secret}, push it."), assistant("Pushed."), user("And again?")]
    with api(says("Yes.")) as behind, proxied(behind.url, db, told) as client:
        client.post(CHAT, json=asking(*chat), headers=KEY)
    assert behind.asked[0].body["messages"][-3:] == chat[-3:]
    kept = b"".join(each.read_bytes() for each in tmp_path.iterdir()) + "".join(told).encode()
    assert secret.encode() not in kept
    assert KEY["authorization"][7:].encode() not in kept


def test_errors_and_all_else_pass_through(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    wrong = {"error": {"message": "slow down", "type": "rate_limit"}}

    def script(handler: Handler, body: Json) -> None:
        if handler.path.startswith("/api/v1/models"):
            reply(handler, {"data": [{"id": "tiny"}]}, x_more="1")
        elif body.get("model") == "packed":
            reply(handler, gzip.compress(json.dumps(completion("Yes?")).encode()), content_encoding="gzip")
        elif body.get("model") == "tiny":
            reply(handler, wrong, 429, retry_after="7")
        else:
            reply(handler, b"no", 418, content_type="text/plain")

    with api(script) as behind, proxied(f"{behind.url}/api/v1", db) as client:
        packed = client.post(CHAT, json=asking(user("Hello?"), model="packed"))
        models = client.get("/v1/models?after=a%2Fb")
        limited = client.post(CHAT, json=asking(user("Hello?")))
        odd = [client.post(CHAT, content=each) for each in (b"{", b"[]", b'{"messages": [{"role": 7}]}', b"")]
        big = client.post("/v1/embeddings", content=b"x" * 3_000_000)
    assert (models.json(), models.headers["x-more"]) == ({"data": [{"id": "tiny"}]}, "1")
    assert (limited.status_code, limited.headers["retry-after"], limited.json()) == (429, "7", wrong)
    assert [each.status_code for each in (*odd, big)] == [418] * 5
    assert packed.json() == completion("Yes?")
    assert [each.path for each in behind.asked[1:3]] == ["/api/v1/models?after=a%2Fb", "/api/v1/chat/completions"]
    assert len(behind.asked[-1].data) == 3_000_000
    assert stored(db) == [("user", "Hello?")]
    assert asked_of(db, ireneo.Memory.sessions)[0].messages == 2


def test_a_page_from_elsewhere_writes_nothing(tmp_path: Path) -> None:
    db, told = tmp_path / "memory.db", []
    with api(says("Yes.")) as behind, proxied(behind.url, db, told) as client:
        for origin in ("https://example.org", "http://localhost:3000"):
            given = client.post(CHAT, json=asking(user(f"I am {origin}.")), headers={"origin": origin})
            assert given.json() == completion("Yes.")
    assert [text for _, text in stored(db)] == ["I am http://localhost:3000.", "Yes."]
    assert len(sessions(db)) == 1
    assert any("a web page of https://example.org" in line for line in told)


def test_a_memory_that_fails_changes_nothing(tmp_path: Path) -> None:
    db, told, chat = tmp_path / "memory.db", [], long_chat(80)
    with api(says("Yes.")) as behind, proxied(behind.url, db, told, viewpoint="Nobody", preset="story") as client:
        data = json.dumps(asking(*chat, user("Well?"))).encode()
        assert client.post(CHAT, content=data).json() == completion("Yes.")
    assert behind.asked[0].data == data
    assert any("memory failed, and the request goes on as it came" in line and "Nobody" in line for line in told)


def test_an_api_that_is_not_there_or_hangs_is_told_to_the_client(tmp_path: Path) -> None:
    told: list[str] = []
    with proxied("http://127.0.0.1:9", tmp_path / "memory.db", told) as client:
        away = client.post(CHAT, json=asking(user("Hello?")), headers=KEY)
    with closing(socket.create_server(("127.0.0.1", 0))) as closes:
        threading.Thread(target=lambda: closes.accept()[0].close(), daemon=True).start()
        with proxied(f"http://127.0.0.1:{closes.getsockname()[1]}", tmp_path / "c.db") as client:
            shut = client.post(CHAT, json=asking(user("Hello?")))
    over = threading.Event()
    with api(lambda *_: over.wait(30)) as behind, proxied(behind.url, tmp_path / "m.db", seconds=0.2) as client:
        late = client.post(CHAT, json=asking(user("Hello?")))
        over.set()
    assert (away.status_code, late.status_code) == (502, 504)
    assert "can't be reached" in away.json()["error"]["message"]
    assert "closed the connection without an answer" in shut.json()["error"]["message"]
    assert "sk-very" not in "".join(told)


def test_clients_at_once_get_each_their_own(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"

    def script(handler: Handler, body: Json) -> None:
        reply(handler, completion(f"You said {body['messages'][-1]['content']}"))

    with api(script) as behind, proxied(behind.url, db) as client, ThreadPoolExecutor(8) as pool:

        def talk(number: int) -> list[Json]:
            chat: list[Json] = []
            for turn in range(4):
                chat.append(user(f"word {number}.{turn} of a talk"))
                chat.append(client.post(CHAT, json=asking(*chat)).json()["choices"][0]["message"])
            return chat

        talks = list(pool.map(talk, range(8)))
    names = sessions(db)
    assert len(names) == 8
    assert sorted(map(str, ([text for _, text in stored(db, name)] for name in names))) == sorted(
        str([each["content"] for each in chat]) for chat in talks
    )


def test_the_clients_of_both_providers_talk_through_it(tmp_path: Path) -> None:
    # Not by each worker of the tests, since that takes two seconds.
    import anthropic
    import openai

    db = tmp_path / "memory.db"

    def script(handler: Handler, body: Json) -> None:
        if handler.path != "/v1/messages":
            events(handler, deltas({"role": "assistant", "content": "Hel"}, {"content": "lo."}))
            return
        block = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
        events(
            handler,
            [
                {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [],
                 "model": "tiny", "stop_reason": None, "stop_sequence": None,
                 "usage": {"input_tokens": 1, "output_tokens": 1}}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I look."}},
                {"type": "content_block_stop", "index": 0},
                {"type": "content_block_start", "index": 1, "content_block": block},
                {"type": "content_block_delta", "index": 1,
                 "delta": {"type": "input_json_delta", "partial_json": '{"at":'}},
                {"type": "content_block_delta", "index": 1,
                 "delta": {"type": "input_json_delta", "partial_json": ' "sea"}'}},
                {"type": "content_block_stop", "index": 1},
                {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None},
                 "usage": {"output_tokens": 9}},
                {"type": "message_stop"},
            ],
        )  # fmt: skip

    with api(script) as behind, proxied(behind.url, db) as client:
        base = str(client.base_url).rstrip("/")
        with openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0) as one:
            listed = one.chat.completions.create(
                model="tiny",
                messages=[{"role": "user", "content": "Say it."}],
                stream=True,
                extra_headers={"X-Ireneo-Session": "mine"},
            )
            assert "".join(each.choices[0].delta.content or "" for each in listed) == "Hello."
        with anthropic.Anthropic(base_url=base, api_key="k", max_retries=0) as other:
            asked = {
                "role": "user",
                "content": [{"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}}],
            }
            with other.messages.stream(
                model="tiny",
                max_tokens=9,
                system="You see.",
                messages=[asked],
                extra_headers={"X-Ireneo-Session": "its"},
            ) as stream:
                assert stream.get_final_message().content[1].input == {"at": "sea"}
    assert stored(db, "mine") == [("user", "Say it."), ("assistant", "Hello.")]
    assert stored(db, "its") == [("user", "Look."), ("assistant", "I look.")]
    assert last_message(db, "its").draft.calls[0].arguments == {"at": "sea"}
    assert "x-ireneo-session" not in behind.asked[0].headers
    assert behind.asked[1].body["messages"] == [asked]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_command_serves_until_it_is_told_to_end_or_killed(tmp_path: Path, how: signal.Signals) -> None:
    db, begun, goes_on, told = tmp_path / "memory.db", threading.Event(), threading.Event(), how == signal.SIGINT

    def script(handler: Handler, body: Json) -> None:
        begin_events(handler)
        send_event(handler, deltas({"content": "So it "}, finish=None)[0])
        begun.set()
        goes_on.wait(20)
        for each in deltas({"content": "ends."}):
            send_event(handler, each)
        end_events(handler)

    question = user("How does it end?")
    with api(script) as behind:
        command = [sys.executable, "-m", "ireneo", "proxy", "--to", behind.url, "--db", str(db), "--port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
            assert running.stderr is not None
            said = running.stderr.readline()
            base = re.search(r"http://127\.0\.0\.1:\d+", said)
            assert base, said
            with (
                httpx2.Client(base_url=base[0], trust_env=False, timeout=20) as client,
                client.stream("POST", CHAT, json=asking(question, stream=True)) as answer,
            ):
                assert begun.wait(20)
                running.send_signal(how)
                if not told:
                    running.wait(20)
                goes_on.set()
                with nullcontext() if told else pytest.raises(httpx2.TransportError):
                    assert b"ends." in answer.read()
            assert running.wait(20) == (0 if told else -how)
        if not told:
            # What was not acknowledged is asked for again, and goes on from where the log stands.
            assert stored(db) == [("user", question["content"])]
            with proxied(behind.url, db) as client:
                client.post(CHAT, json=asking(question, stream=True))
    assert stored(db) == [("user", question["content"]), ("assistant", "So it ends.")]
    assert not asked_of(db, ireneo.Memory.doctor)


def test_the_command_says_what_it_can_t_use(tmp_path: Path) -> None:
    for given, said in (
        (["--to", "openai"], "is not the address of an API"),
        (["--to", "http://127.0.0.1:9", "--budget", "10"], "too small"),
        (["--to", "http://127.0.0.1:9", "--preset", "poem"], "poem"),
        (["--to", "http://127.0.0.1:9", "--prices", "nobody"], "nobody"),
    ):
        done = run("proxy", *given, "--port", 0, cwd=tmp_path, ends=2)
        assert said in done.stderr


def test_without_its_extra_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.startswith("ireneo.faces.proxy"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = run("proxy", "--to", "http://127.0.0.1:9", cwd=tmp_path, ends=2)
    assert done.stderr == "ireneo: The proxy needs an HTTP server and client; pip install 'ireneo[proxy]'.\n"
    assert not list(tmp_path.iterdir())
