"""The chats that people keep: what was said, by whom, and in which other versions; and what is wrong with a file."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from datetime import UTC, datetime

import pytest

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.format import LoggedSession, recognise
from ireneo.log.message import Call, Media, Result


def read(data: bytes, format: str) -> list[LoggedSession]:
    form = recognise(data, "file")
    assert form.name == format
    return list(form.read(data.splitlines(keepends=True), "file"))


def as_json(*values: object) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values)


def told(session: LoggedSession) -> list[tuple[str, str | None, str]]:
    return [(draft.role, draft.author, draft.text) for draft in session.path]


def aside(session: LoggedSession) -> list[tuple[int | None, str]]:
    """What stands beside the path: the place of what it follows, and what it says."""
    standing = len(session.path)
    return [(node.parent, node.draft.text) for node in session.nodes[standing:]]


HEADER = {"user_name": "Mara", "character_name": "Ilse", "create_date": "2024-7-12@01h31m37s", "chat_metadata": {}}


def tavern(name: str, mes: object, **more: object) -> dict[str, object]:
    said = {
        "name": name,
        "is_user": name == "Mara",
        "is_system": False,
        "send_date": "July 12, 2024 1:31am",
        "extra": {},
    }
    return said | {"mes": mes} | more


def test_a_chat_of_sillytavern_has_its_swipes_beside_what_is_shown() -> None:
    swipes = ["Who is there? *{{char}} asks {{user}}.*", "You are late.", "You are late."]
    infos = [{"send_date": "2024-6-5 @14h 56m 50s 682ms", "extra": {}}, {}]
    (session,) = read(
        as_json(
            HEADER,
            tavern("Ilse", "You are late.", swipes=swipes, swipe_id=1, swipe_info=infos),
            tavern("Mara", "I brought the key."),
            tavern("System", "Rain falls.", extra={"type": "narrator"}),
            tavern("Note", "ask about the harbour", is_system=True, extra={"type": "comment"}),
            tavern("SillyTavern System", "Connection lost.", is_system=True),
            tavern("Ilse", "Then it is ours.", is_system=True, send_date=1720748000000),
        ),
        "sillytavern",
    )
    assert session.faults == ()
    assert told(session) == [
        ("assistant", "Ilse", "You are late."),
        ("user", "Mara", "I brought the key."),
        ("user", None, "Rain falls."),
        ("assistant", "Ilse", "Then it is ours."),
    ]
    assert {draft.origin for draft in session.path} == {"spoken"}
    # What no model is sent is kept with the log alone.
    assert "ask about the harbour" in str(session.nodes)
    assert "Connection lost." in str(session.nodes)
    assert aside(session) == [(None, "Who is there? *Ilse asks Mara.*")]
    assert session.path[0].at == datetime(2024, 7, 12, 1, 31, tzinfo=UTC)
    assert session.nodes[-1].draft.at == datetime(2024, 6, 5, 14, 56, 50, 682_000, tzinfo=UTC)
    assert all(node.draft.record for node in session.nodes)


def test_a_group_s_chat_has_no_header_and_many_voices() -> None:
    (session,) = read(
        as_json(tavern("Ilse", "Welcome, {{user}}.", is_group=True), tavern("Bram", "Sit."), tavern("Mara", "Thanks.")),
        "sillytavern",
    )
    assert [each[1:] for each in told(session)] == [("Ilse", "Welcome, Mara."), ("Bram", "Sit."), ("Mara", "Thanks.")]


def test_what_is_wrong_in_a_chat_is_told_and_the_rest_kept() -> None:
    (session,) = read(
        as_json(HEADER, tavern("Ilse", 7), tavern("Mara", "Yes.", swipes=[3, "No."]), {"a": 1}) + b"\n{", "sillytavern"
    )
    assert told(session) == [("user", "Mara", "Yes.")]
    assert aside(session) == [(None, "No.")]
    assert [fault.line for fault in session.faults] == [2, 3, 4, 5]
    with pytest.raises(UnreadableLog, match="no message"):
        read(as_json(HEADER), "sillytavern")


CARD = {
    "name": "Ilse",
    "description": "{{char}} keeps the ledger. {{user}} owes her.",
    "personality": "dry",
    "scenario": "",
    "first_mes": "Late again.",
    "system_prompt": "{{original}} Write as Ilse.",
    "post_history_instructions": "Never speak for {{user}}.",
    "alternate_greetings": ["Hello."],
    "character_book": {
        "entries": [
            {"keys": ["harbour", "port"], "content": "@@depth 4\nIt freezes.", "enabled": True, "insertion_order": 2},
            {"keys": ["Vane"], "content": "Bankers.", "enabled": True, "insertion_order": 1},
            {"keys": ["x"], "content": "Off.", "enabled": False, "insertion_order": 0},
            {"keys": ["law"], "content": "Magic is forbidden.", "enabled": True, "constant": True},
        ]
    },
}
TOLD = "Write as Ilse.\n\nIlse:\n\nIlse keeps the ledger. User owes her.\n\nPersonality: dry\n\nNever speak for User."
LORE = "What is so in this world:\n- Magic is forbidden.\n- Vane: Bankers.\n- harbour, port: It freezes."


def picture(**texts: bytes) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    held = [chunk(b"tEXt", name.encode() + b"\0" + text) for name, text in texts.items()]
    image = [chunk(b"IHDR", bytes(13)), chunk(b"IDAT", b"\n\r\n"), *held, chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(image)


def card(version: int, **more: object) -> bytes:
    return as_json({"spec": f"chara_card_v{version}", "spec_version": f"{version}.0", "data": CARD | more})


@pytest.mark.parametrize(
    "data",
    [
        as_json(CARD),
        card(2),
        json.dumps(json.loads(card(3)), indent=2).encode(),
        picture(chara=base64.b64encode(card(2))),
        picture(chara=base64.b64encode(card(2, description="Old.")), ccv3=base64.b64encode(card(3))),
    ],
)
def test_a_card_is_what_the_system_says_and_nobody_else(data: bytes) -> None:
    (session,) = read(data, "character-card")
    assert told(session) == [("system", None, TOLD), ("system", None, LORE)]
    record = session.nodes[0].draft.record
    assert record is not None
    assert "Late again." in json.dumps(record.payload), "the whole card is kept"


def test_a_lorebook_by_itself_is_read() -> None:
    world = {"entries": {"0": {"key": ["Vane"], "keysecondary": [], "content": "Bankers.", "disable": False}}}
    book = {"spec": "lorebook_v3", "data": {"entries": [{"keys": ["Vane"], "content": "Bankers.", "enabled": True}]}}
    for each in (world, book):
        (session,) = read(as_json(each), "character-card")
        assert told(session) == [("system", None, "What is so in this world:\n- Vane: Bankers.")]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (picture(), "The picture holds no character card; a card's PNG has a text `chara` or `ccv3`."),
        (picture(chara=b"%%%"), "The picture's character card is damaged: its text is not base64."),
        (card(2, description="", personality="", system_prompt="", post_history_instructions="", character_book={}),
         "The log holds no message that could be read. As a card it has neither a description nor a lorebook."),
    ],
)  # fmt: skip
def test_a_picture_without_a_card_gets_one_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(UnreadableLog) as caught:
        read(data, "character-card")
    assert str(caught.value) == sentence


def turn(at: str, name: str, *said: str, human: bool = False) -> dict[str, object]:
    candidates = [{"candidate_id": text, "raw_content": text, "create_time": at} for text in said]
    author = {"author_id": name, "name": name} | ({"is_human": True} if human else {})
    key = {"chat_id": "c1", "turn_id": at}
    return {
        "turn_key": key, "create_time": at, "author": author, "candidates": candidates, "primary_candidate_id": said[0]
    }  # fmt: skip


def test_turns_of_character_ai_stand_in_the_order_of_their_times() -> None:
    later = turn("2024-05-01T10:01:00Z", "Mara", "Who owns it?", human=True)
    (session,) = read(
        as_json({"turns": [later, turn("2024-05-01T10:00:00Z", "Ilse", "The port.", "The tower.")]}), "character-ai"
    )
    assert session.id == "c1"
    assert told(session) == [("assistant", "Ilse", "The port."), ("user", "Mara", "Who owns it?")]
    assert aside(session) == [(None, "The tower.")]


def test_histories_of_character_ai_are_a_session_each() -> None:
    def said(name: str, text: str, **more: object) -> dict[str, object]:
        return {"text": text, "src": {"name": name, "is_human": name == "Mara"}, "is_alternative": False} | more

    one = [said("Ilse", "Hello."), said("Mara", "Hi."), said("Ilse", "Go."), said("Ilse", "Stay.", is_alternative=True)]
    chats = [{"external_id": "h1", "msgs": one}, {"msgs": [said("Mara", "Again."), {"src": {}}]}]
    first, second = read(as_json({"info": {}, "histories": {"histories": chats}}), "character-ai")
    assert (first.id, second.id) == ("h1", "file")
    assert [each[2] for each in told(first)] == ["Hello.", "Hi.", "Go."]
    assert aside(first) == [(1, "Stay.")]
    assert [fault.message for fault in second.faults] == ["Line 1 holds a message without a text; it was left out."]


def node(id: str, parent: str | None, role: str = "", content: object = "", **more: object) -> dict[str, object]:
    held = {"content_type": "text", "parts": [content]} if isinstance(content, str) else content
    message = {"id": id, "author": {"role": role}, "content": held, "create_time": 1700000000.5} | more
    return {id: {"id": id, "parent": parent, "children": [], "message": message if role else None}}


def test_a_conversation_of_chatgpt_is_the_tree_that_it_is() -> None:
    mapping = {
        **node("root", None),
        **node("empty", "root", "system"),
        **node("set", "empty", "user", {"content_type": "user_editable_context", "user_instructions": "Be brief."}),
        **node("ask", "set", "user", "How long does rye rise?"),
        **node("old", "ask", "assistant", "Two hours."),
        **node("mull", "ask", "assistant", {"content_type": "thoughts", "thoughts": []}),
        **node("run", "mull", "assistant", {"content_type": "code", "text": "print(3)"}, recipient="python"),
        **node("out", "run", "tool", {"content_type": "execution_output", "text": "3"}),
        **node("new", "out", "assistant", "Three hours."),
        **node(
            "show", "new", "user", {"content_type": "multimodal_text", "parts": [{"asset_pointer": "file://x"}, "So?"]}
        ),
    }
    empty = {"title": "New", "mapping": node("r", None), "current_node": "r", "id": "c2"}
    (session,) = read(
        as_json([{"title": "Rye", "mapping": mapping, "current_node": "show", "conversation_id": "c1"}, empty]),
        "chatgpt",
    )
    assert session.id == "c1"
    assert [(draft.role, draft.text) for draft in session.path] == [
        ("system", "Be brief."),
        ("user", "How long does rye rise?"),
        ("assistant", ""),
        ("tool", ""),
        ("assistant", "Three hours."),
        ("user", "So?"),
    ]
    call, result = session.path[2].parts[0], session.path[3].parts[0]
    assert isinstance(call, Call)
    assert isinstance(result, Result)
    assert (call.name, call.arguments, result.call_id, result.text) == ("python", "print(3)", call.id, "3")
    assert isinstance(session.path[5].parts[1], Media)
    assert aside(session) == [(1, "Two hours.")]


def test_a_channel_of_discord_names_who_speaks() -> None:
    def said(name: str, text: str, **more: object) -> dict[str, object]:
        author = {"id": "1", "name": name.lower(), "nickname": name, "isBot": False}
        return {"id": text, "type": "Default", "timestamp": "2024-12-01T10:00:00.5+00:00", "content": text} | {
            "author": author, "attachments": []
        } | more  # fmt: skip

    image = {"id": "5", "url": "https://cdn/x.png", "fileName": "x.png"}
    messages = [
        said("Ilse", "The ledger is gone."),
        said("Bram", "Pinned a message.", type="ChannelPinnedMessage"),
        said("Bram", "", attachments=[image], type="Reply"),
        "no message",
    ]
    export = {"guild": {"id": "1"}, "channel": {"id": "2", "name": "house"}, "messages": messages}
    (session,) = read(json.dumps(export, indent=2).encode(), "discord")
    assert told(session) == [
        ("user", "Ilse", "The ledger is gone."),
        ("user", None, "Pinned a message."),
        ("user", "Bram", ""),
    ]
    assert [draft.origin for draft in session.path] == ["spoken", "injected", "spoken"]
    assert session.path[2].parts[1] == Media(media_type="image/png", url="https://cdn/x.png", name="x.png")
    assert [fault.message for fault in session.faults] == [
        "Line 1 holds 1 messages that are no objects; they were left out."
    ]


def test_a_chat_of_oobabooga_is_what_the_model_saw() -> None:
    versions = [{"content": "Nobody.", "visible_content": "Nobody."}, {"content": "I keep it.", "visible_content": "x"}]
    chat = {
        "internal": [["<|BEGIN-VISIBLE-CHAT|>", "Welcome to the <house>."], ["Who are you?", "I keep it."], ["odd"]],
        "visible": [["", "Welcome to the &lt;house&gt;."], ["Who are you?", "I keep it."], ["odd"]],
        "metadata": {"user_1": {"timestamp": "Jan 05, 2025 14:31"}, "assistant_1": {"versions": versions}},
    }
    (session,) = read(json.dumps(chat, indent=4).encode(), "oobabooga")
    assert told(session) == [
        ("assistant", None, "Welcome to the <house>."),
        ("user", None, "Who are you?"),
        ("assistant", None, "I keep it."),
    ]
    assert session.path[1].at == datetime(2025, 1, 5, 14, 31, tzinfo=UTC)
    assert aside(session) == [(1, "Nobody.")]
    assert [fault.message for fault in session.faults] == [
        "Line 1 holds a pair, the 3., that is none; it was left out."
    ]
    (older,) = read(as_json({"data": [["Hi", "Hello"]], "data_visible": [["Hi", "Hello"]]}), "oobabooga")
    assert [each[2] for each in told(older)] == ["Hi", "Hello"]
