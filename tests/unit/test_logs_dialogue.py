"""Stories and talks of many voices: JSON with authors, Markdown, plain dialogue, plain prose."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

from ireneo import CHAT_FORMATS, compact
from ireneo.errors import UnknownFormat, UnreadableLog
from ireneo.formats.chat.format import chat_format_of
from ireneo.formats.logs.dialogue import Dialogue
from ireneo.formats.logs.format import LOG_FORMATS, LoggedSession, log_format, recognise
from ireneo.log.message import Draft

Said = list[tuple[str | None, str]]


def read(text: str | bytes, name: str = "gate") -> LoggedSession:
    data = text if isinstance(text, bytes) else text.encode()
    (session,) = Dialogue().read(data.splitlines(keepends=True), name)
    return session


def said(text: str | bytes) -> Said:
    return [(draft.author, draft.text) for draft in read(text).path]


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def one(**value: object) -> Draft:
    (draft,) = read(lines(value)).path
    return draft


def test_it_stands_last_and_speaks_a_format_that_is_there() -> None:
    assert LOG_FORMATS[-1].name == "chat"
    assert log_format("chat") is LOG_FORMATS[-1]
    assert chat_format_of("chat:gate") == "openai"


@pytest.mark.parametrize("key", ["author", "speaker", "name", "names", "from", "user", "sender", "NAMES", "Speaker"])
def test_an_author_goes_by_several_names(key: str) -> None:
    assert one(**{key: "Vera", "text": "Hello."}).author == "Vera"


@pytest.mark.parametrize(
    "key", ["text", "utterance", "utterances", "content", "message", "body", "line", "UTTERANCES", "Text"]
)
def test_a_text_goes_by_several_names(key: str) -> None:
    assert one(author="Vera", **{key: "Hello."}).text == "Hello."


def test_lists_of_names_and_of_utterances_are_joined() -> None:
    draft = one(NAMES=["VERA", "TOM"], UTTERANCES=["Who", "goes there?"], NUMBER=7)
    assert (draft.author, draft.text, draft.source_id) == ("VERA & TOM", "Who goes there?", "7")


@pytest.mark.parametrize("key", ["at", "time", "timestamp", "date", "created_at"])
@pytest.mark.parametrize(
    "value",
    [
        "2026-03-02T08:30:00Z",
        "2026-03-02T09:30:00+01:00",
        "2026-03-02 08:30:00",
        1772440200,
        1772440200000,
        "1772440200",
    ],
)
def test_a_time_goes_by_several_names_and_in_several_forms(key: str, value: object) -> None:
    assert one(text="Hello.", **{key: value}).at == datetime(2026, 3, 2, 8, 30, tzinfo=UTC)


def test_a_time_that_is_none_is_said_once_and_kept_aside() -> None:
    session = read(lines(*({"author": "Vera", "text": f"Hello {n}.", "at": "12:03"} for n in range(3))))
    assert [draft.at for draft in session.path] == [None] * 3
    assert [fault.line for fault in session.faults] == [1]
    assert "'at' is no date" in session.faults[0].message
    record = session.path[2].record
    assert record is not None
    assert record.payload == [{"at": "12:03"}]


@pytest.mark.parametrize("key", ["id", "number", "turn_id", "Id"])
def test_an_id_goes_by_several_names(key: str) -> None:
    assert one(text="Hello.", **{key: 12}).source_id == "12"


def test_who_was_present() -> None:
    assert one(author="Vera", text="Psst.", present=["Tom", "Guard"]).present == ("Tom", "Guard")
    assert one(author="Vera", text="Psst.", present=[]).present == ()
    assert one(author="Vera", text="Psst.", present=None).present is None
    assert one(author="Vera", text="Psst.", present="Tom").present == ("Tom",)


def test_a_list_of_those_present_that_is_none_gives_nothing_away() -> None:
    session = read(lines({"author": "Vera", "text": "Psst.", "present": {"all": True}}))
    assert session.path[0].present == ()
    assert "'present' is no list of names" in session.faults[0].message


@pytest.mark.parametrize(
    ("author", "role"),
    [
        ("user", "user"),
        ("Human", "user"),
        ("ASSISTANT", "assistant"),
        ("ai", "assistant"),
        ("Bot", "assistant"),
        ("System", "system"),
        ("tool", "tool"),
    ],
)
def test_a_role_is_no_author(author: str, role: str) -> None:
    draft = one(author=author, text="Hello.")
    assert (draft.role, draft.author) == (role, None)


@pytest.mark.parametrize("to", sorted(CHAT_FORMATS))
def test_whoever_speaks_every_format_takes_it(to: str) -> None:
    voices = ["system", "user", "Vera", "Tom", "assistant", "tool", "Vera", "assistant"]
    path = read(lines(*({"author": author, "text": f"Word {n}."} for n, author in enumerate(voices)))).path
    made = compact(path, 2_000, to=to)
    assert made.violations == ()
    assert all(f"Word {n}." in f"{made.system} {made.messages}" for n in range(len(voices)))


def test_everyone_else_is_a_user_with_a_name() -> None:
    assert [
        (one(text="Hello.", **who).role, one(text="Hello.", **who).author) for who in ({}, {"author": " Vera  K. "})
    ] == [
        ("user", None),
        ("user", "Vera K."),
    ]
    assert one(text="Hello.", author={"name": "Vera"}).author == "Vera"
    assert one(text="Hello.", role="assistant").role == "assistant"


def test_empty_texts_are_left_out_without_a_fault() -> None:
    session = read(lines({"author": "A", "text": ""}, {"author": "A", "text": None}, {"author": "A", "text": "Hi"}))
    assert len(session.path) == 1
    assert session.faults == ()


def test_bad_lines_are_named_and_the_rest_is_kept() -> None:
    text = lines({"author": "Vera", "text": "One."}) + '{"author": "Vera", "te\n'
    text += lines({"author": "Vera"}, 7, {"author": "Tom", "text": {"a": 1}}, {"author": "Tom", "text": "Two."})
    session = read(text)
    assert [draft.text for draft in session.path] == ["One.", "Two."]
    assert [fault.line for fault in session.faults] == [2, 3, 4, 5]
    assert all("left out" in fault.message for fault in session.faults)


def test_a_first_line_that_is_damaged_spoils_nothing() -> None:
    session = read('{"author": "Ve\n' + lines({"author": "Vera", "text": "One."}, {"author": "Tom", "text": "Two."}))
    assert [draft.text for draft in session.path] == ["One.", "Two."]
    assert [fault.line for fault in session.faults] == [1]


def test_broken_bytes_and_half_a_character_are_said() -> None:
    session = read(b'{"author": "Vera", "text": "caf\xff"}\n{"author": "Vera", "text": "\\ud83d"}\n')
    assert [fault.line for fault in session.faults] == [1, 2]
    assert read(b"It rained.\n\ncaf\xff\n").faults[0].line == 3


def test_a_file_without_a_message_is_an_error_with_its_reason() -> None:
    for text in ("", "\n\n", "{}\n", '{"author": "Vera", "text": " "}\n'):
        with pytest.raises(UnreadableLog):
            read(text)


@pytest.mark.parametrize("key", ["turns", "messages", "dialogue", "dialog", "conversation", "utterances", "TURNS"])
def test_a_list_of_messages_goes_by_several_names(key: str) -> None:
    value = {key: [{"author": "Vera", "text": "One."}, {"author": "Tom", "text": "Two."}]}
    told = [("Vera", "One."), ("Tom", "Two.")]
    assert said(lines(value)) == told
    assert said(json.dumps([value], indent=2)) == told
    assert said(json.dumps(value[key])) == told
    assert said(json.dumps(value[key], indent=2)) == told


def test_a_list_of_texts_has_no_authors() -> None:
    assert said(lines({"dialog": ["One.", "Two."]})) == [(None, "One."), (None, "Two.")]


def test_episodes_are_one_session_and_their_ids_stay_apart() -> None:
    turns = [{"NAMES": ["VERA"], "UTTERANCES": ["Hello."], "NUMBER": number} for number in (1, 2)]
    session = read(lines({"episode": "E1", "moral": "x", "turns": turns}, {"episode": "E2", "turns": turns}))
    assert session.id == "gate"
    assert [draft.source_id for draft in session.path] == ["E1:1", "E1:2", "E2:1", "E2:2"]
    record = session.path[0].record
    assert record is not None
    assert record.payload == [{"episode": "E1", "moral": "x"}]
    nameless = read(lines({"turns": turns}, {"turns": turns}))
    assert [draft.source_id for draft in nameless.path] == ["1", "2", "2:1", "2:2"]


def test_an_id_that_is_given_twice_is_numbered() -> None:
    many = 20_000
    began = time.process_time()
    session = read(lines(*({"text": "Hello.", "id": "x"} for _ in range(many)), {"text": "Hello.", "id": "x-2"}))
    ids = [draft.source_id for draft in session.path]
    assert ids[:3] == ["x", "x-2", "x-3"]
    assert len(set(ids)) == many + 1
    assert time.process_time() - began < 10, "each id is named at once, however often it came before"


def test_what_else_is_said_of_a_message_is_kept_in_its_record() -> None:
    record = one(author="Vera", text="Hello.", mood="calm").record
    assert record is not None
    assert (record.format, record.payload) == ("chat", [{"mood": "calm"}])
    assert one(author="Vera", text="Hello.").record is None


MARKDOWN = """# The Gate

It rained.

**Vera:** Who goes there?
**Tom Reed**: Me. Remember: it is late.

> Nobody hears us.
**Vera:** Come in.

## Chapter 2

Morning came.

**Guard 2:** Halt!
"""


def test_markdown_with_bold_names() -> None:
    assert said(MARKDOWN) == [
        (None, "# The Gate"),
        (None, "It rained."),
        ("Vera", "Who goes there?"),
        ("Tom Reed", "Me. Remember: it is late.\n\nNobody hears us."),
        ("Vera", "Come in."),
        (None, "## Chapter 2"),
        (None, "Morning came."),
        ("Guard 2", "Halt!"),
    ]


def test_markdown_with_names_as_headings() -> None:
    text = "# The Gate\n\n### Vera\nOne.\n\nTwo.\n### Tom\n> Quoted.\n### Vera\nThree.\n### Guard\nFour.\n"
    assert said(text) == [
        (None, "# The Gate"),
        ("Vera", "One.\n\nTwo."),
        ("Tom", "Quoted."),
        ("Vera", "Three."),
        ("Guard", "Four."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "VERA: Who goes there?\nTOM: Me.\nVERA: Come in,\nit is late.\n",
        "[12:03] VERA: Who goes there?\n[12:04] TOM: Me.\n[12:05] VERA: Come in,\nit is late.\n",
        "<VERA> Who goes there?\n<TOM> Me.\n<VERA> Come in,\nit is late.\n",
        "- **VERA:** Who goes there?\n- **TOM:** Me.\n- **VERA:** Come in,\nit is late.\n",
        "[2026-03-02 08:30] <VERA> Who goes there?\r\n<TOM> Me.\r\n<VERA> Come in,\r\nit is late.\r\n",
    ],
)
def test_plain_dialogue_in_its_forms(text: str) -> None:
    assert said(text) == [("VERA", "Who goes there?"), ("TOM", "Me."), ("VERA", "Come in,\nit is late.")]


def test_a_date_before_a_speech_is_its_time_and_an_hour_is_kept_aside() -> None:
    dated, timed, _ = read("[2026-03-02 08:30] Vera: One.\n[08:31] Tom: Two.\nVera: Three.\n").path
    assert dated.at == datetime(2026, 3, 2, 8, 30, tzinfo=UTC)
    assert dated.record is not None
    assert dated.record.payload == []
    assert timed.at is None
    assert timed.record is not None
    assert timed.record.payload == [{"time": "08:31"}]


def test_a_dialogue_with_roles() -> None:
    path = read("User: Hello.\nAssistant: Hi.\nUser: Bye.\n").path
    assert [(draft.role, draft.author) for draft in path] == [("user", None), ("assistant", None), ("user", None)]


PROSE = """CHAPTER I.

It was a cold night at the gate, and the rain had not let up since the early
morning. He said one thing only: nobody passes.

Nobody did.

Chapter 2
The morning after was brighter, and there was a smell of bread in the streets.

  A verse,
  in two lines.
"""


def test_prose_is_its_paragraphs_and_a_colon_makes_no_speaker() -> None:
    assert said(PROSE) == [
        (None, "CHAPTER I."),
        (
            None,
            "It was a cold night at the gate, and the rain had not let up since the early morning. "
            "He said one thing only: nobody passes.",
        ),
        (None, "Nobody did."),
        (None, "Chapter 2"),
        (None, "The morning after was brighter, and there was a smell of bread in the streets."),
        (None, "  A verse,\n  in two lines."),
    ]


def test_german_headings_are_read() -> None:
    text = "Kapitel 3\nEs regnete am Tor.\n\nErstes Kapitel.\nNiemand kam vorbei.\n\nEpilog\nEs war still.\n"
    assert [block for _, block in said(text)] == [
        *("Kapitel 3", "Es regnete am Tor.", "Erstes Kapitel.", "Niemand kam vorbei.", "Epilog", "Es war still."),
    ]


def test_a_title_page_is_no_dialogue() -> None:
    text = "Title: The Gate\nAuthor: Nobody\nLanguage: English\n\nIt rained.\n"
    assert {author for author, _ in said(text)} == {None}


def test_a_text_that_begins_with_a_bracket_is_no_json() -> None:
    assert said("[12:03] Vera: One.\n[12:04] Tom: Two.\n[12:05] Vera: Three.\n")[0] == ("Vera", "One.")
    assert said("[A gate. Night.]\n\nIt rained.\n") == [(None, "[A gate. Night.]"), (None, "It rained.")]


def test_hostile_lines_take_no_longer_than_others() -> None:
    began = time.process_time()
    for line in (
        "[" + "1" * 200_000,
        "# " + "# " * 100_000,
        "**" + "a " * 100_000,
        "Vera " * 40_000,
        "\n" * 100_000 + "x",
    ):
        read(f"Vera: One.\nTom: Two.\nVera: Three.\n{line}\n")
        read(f"# Vera\nOne.\n# Tom\nTwo.\n# Vera\nThree.\n{line}\n")
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "sample",
    [
        b'{"author": "Vera", "text": "Hello.", "id": 1}\n{"author": "Tom", "te',
        b'{"NAMES": ["VERA"], "UTTERANCES": ["Hello."], "NUMBER": 1}\n',
        b'\xef\xbb\xbf[{"speaker": "Vera", "utterance": "Hello."}, {"speaker": "Tom", "utt',
        b"Vera: One.\nTom: Two.\nVera: Three.\nTom: Four.\n",
        b"**Vera:** One.\n\n**Tom:** Two.\n\n**Vera:** Three.\n\n**Tom:** Four.\n",
    ],
)
def test_it_is_recognised(sample: bytes) -> None:
    assert recognise(sample, "gate").name == "chat"


def test_prose_under_marked_chapters_is_recognised() -> None:
    told = "The lamp went out, and nobody in the whole harbour of Orm knew who had last been up the tower that night."
    chapters = ["# Chapter One", *[told] * 4, "# Chapter Two: The Key", *[told] * 4]
    assert recognise("\n\n".join(chapters).encode(), "gate").name == "chat"


@pytest.mark.parametrize(
    "sample",
    [
        PROSE.encode(),
        b"Title: The Gate\nAuthor: Nobody\n\nIt rained.\n",
        b"host: a\nport: 1\n\nhost: b\nport: 2\n\nurl: c\n" + b"a line of prose that says nothing at all\n" * 20,
        b"# Changes\n\n## Added\n- one\n## Fixed\n- two\n## Added\n- three\n## Fixed\n- four\n",
        b"<p> One.\n<li> Two.\n<p> Three.\n<li> Four.</li>\n",
        b'{"level": "info", "message": "started"}\n',
        b'{"author": "Vera", "text": 7}\n',
        b"{",
    ],
)
def test_what_could_be_anything_needs_its_name(sample: bytes) -> None:
    with pytest.raises(UnknownFormat):
        recognise(sample, "gate")


def test_a_message_with_a_role_stays_what_it_was() -> None:
    assert recognise(b'{"role": "user", "name": "Vera", "content": "Hello."}\n', "gate").name == "openai"


def test_the_time_of_an_episode_holds_for_its_messages_that_bear_none() -> None:
    turns = [{"speaker": "Vera", "text": "Hello."}, {"speaker": "Tom", "text": "Hi.", "time": "2023-05-09T08:00:00Z"}]
    session = read(lines({"date_time": "1:56 pm on 8 May, 2023", "turns": turns}))
    assert [draft.at for draft in session.path] == [
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2023, 5, 9, 8, 0, tzinfo=UTC),
    ]
    assert session.faults == ()


def test_lists_of_messages_under_names_of_their_own_have_the_times_beside_them() -> None:
    first, second = datetime(2023, 5, 8, 13, 56, tzinfo=UTC), datetime(2023, 6, 1, 10, 2, tzinfo=UTC)
    talks = {
        "speaker_a": "Vera",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Vera", "id": "D1:1", "text": "Hello."}],
        "session_2_date_time": "10:02 am on 1 June, 2023",
        "session_2": [{"speaker": "Tom", "id": "D2:1", "text": "I moved."}],
    }
    asked = [{"question": "Who moved?", "answer": "Tom"}]
    for value in (talks, [{"sample": "1", "conversation": talks, "asked": asked}]):
        assert recognise(json.dumps(value).encode(), "talks").name == "chat"
        path = read(json.dumps(value)).path
        assert [(each.author, each.source_id, each.at) for each in path] == [
            ("Vera", "D1:1", first),
            ("Tom", "D2:1", second),
        ]


TOLD = """The Lamp

CHAPTER I

The keeper had not slept since Sunday. He climbed the stairs with the oil can in one hand and the letter in the other,
and at every landing he stopped to listen for the boat that did not come.

"You ought to burn it," said Agnes, when he had reached the top.

"I ought to do many things." He set the can down. "The lamp first, and the letter afterwards."

She watched him trim the wick. Outside the gulls had fallen silent, and the sea lay as flat as a plate beneath the moon.

"And if he comes tonight?" she asked.

"Then he will find the light where he left it, and nobody beside it."

Agnes laughed at that, though there was little to laugh about. She took the letter out of his hand, held it over the
chimney of the lamp, and let it go.
"""


def test_a_story_is_recognised_by_itself() -> None:
    wide = TOLD.replace(",\nand", ", and").replace("over the\nchimney", "over the chimney").replace("\n\n", "\n")
    for text in (TOLD, wide):
        assert Dialogue().recognises(text.encode())
        assert len(said(text)) == 9
    german = TOLD.replace('"You', "„You").replace('," said', ",“ said").replace('"And', "„And").replace('?"', "?“")
    assert Dialogue().recognises(german.encode())


@pytest.mark.parametrize(
    "text",
    [
        TOLD[:300],
        "This licence covers the work and all copies of it, whoever makes them and wherever they are.\n\n" * 12,
        "# Notes\n\n- He said \"no.\"\n- She said \"yes.\"\n- They went home, \"all of them.\"\n" * 20,
        'def tell(text: str) -> str:\n    """Say it, "aloud," and go."""\n    return f"{text}."\n' * 20,
        '12:03 INFO started "well," pid=3\n12:04 WARN late "again," pid=4\n' * 30,
        '<p>"Go," he said.</p>\n<p>"No," she said.</p>\n' * 30,
    ],
)  # fmt: skip
def test_what_is_no_story_is_not_taken_for_one(text: str) -> None:
    assert not Dialogue().recognises(text.encode())


def test_lines_with_an_author_a_text_and_a_role_are_a_chat_and_no_messages_to_a_model() -> None:
    line = '{"author": "Ana", "text": "The tide is late.", "role": "user"}\n'
    assert recognise((line * 3).encode(), "ana.jsonl").name == "chat"
    assert recognise(b'{"role": "user", "content": "The tide is late."}\n', "ana.jsonl").name == "openai"
