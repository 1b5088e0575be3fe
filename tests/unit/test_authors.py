"""Messages with an author: read as `author: words` everywhere, and told so to providers that know of roles only."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import ireneo
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.context.shorten import fit
from ireneo.formats.chat.format import CHAT_FORMATS
from ireneo.log.message import (
    Draft,
    Native,
    Result,
    Text,
    chain,
    count_parts,
    heard_by,
    message_id,
    rendered_text,
    texts,
    with_names_in_text,
)

count = EstimatedTokenizer().count


def says(author: str | None, text: str, present: tuple[str, ...] | None = None) -> Draft:
    return Draft(role="user", parts=(Text(text=text, author=author, present=present),))


STORY = [
    says(None, "The gate is shut."),
    says("Vera", "Who goes there?"),
    says("Tom", "I have the key, and no one else must know.", ("Vera",)),
    says("Vera", "Then come in."),
]
READ = [
    "The gate is shut.",
    "Vera: Who goes there?",
    "Tom: I have the key, and no one else must know.",
    "Vera: Then come in.",
]


def test_a_plain_message_has_the_name_that_it_always_had() -> None:
    first = message_id(None, "user", (Text(text="Why does the build fail?"),))
    assert first == "m_77yjsxqgvpjipocqqvj5s3jqwi"
    second = message_id(first, "tool", (Result(call_id="c1", parts=(Text(text="exit 1"),)),))
    assert second == "m_ogz4lctrvnifrt74jlzf5u2gze"


def test_an_author_and_who_was_present_are_part_of_a_name() -> None:
    drafts = [
        says(None, "Hm."),
        says("Vera", "Hm."),
        says("Tom", "Hm."),
        says("Tom", "Hm.", ()),
        says("Tom", "Hm.", ("Vera",)),
    ]
    assert len({message_id(None, draft.role, draft.parts) for draft in drafts}) == len(drafts)


def test_a_text_is_read_with_its_author_and_the_words_stay_bare() -> None:
    parts = (Text(text="Hello.", author="Vera"), Text(text="Bye."), Result(call_id="c", parts=(Text(text="out"),)))
    assert list(texts(parts)) == ["Vera: Hello.", "Bye.", "out"]
    assert rendered_text(Text(text="Hello.")) == "Hello."
    draft = Draft(role="user", parts=parts)
    assert draft.text == "Hello.\nBye."
    assert draft.author == "Vera"
    assert draft.present is None
    assert says("Vera", "Psst.", ("Tom",)).present == ("Tom",)


@pytest.mark.parametrize(
    ("draft", "hearing"),
    [
        (says(None, "x"), {"Vera", "Tom", "Guard"}),
        (says("Vera", "x"), {"Vera", "Tom", "Guard"}),
        (says("Vera", "x", ("Tom",)), {"Vera", "Tom"}),
        (says("Vera", "x", ()), {"Vera"}),
        (says(None, "x", ("Guard",)), {"Guard"}),
        (Draft(role="assistant", parts=()), {"Vera", "Tom", "Guard"}),
    ],
)
def test_who_hears_it(draft: Draft, hearing: set[str]) -> None:
    assert {name for name in ("Vera", "Tom", "Guard") if heard_by(draft, name)} == hearing


def test_what_is_read_is_what_is_counted() -> None:
    for draft, read in zip(STORY, READ, strict=True):
        assert count_parts(draft.parts, count) == count_parts((Text(text=read),), count)


def test_a_shortened_message_keeps_its_author_and_who_heard_it() -> None:
    long = says("Vera", "So it went on, and on, and on. " * 200, ("Tom",))
    message = chain(None, [long], lambda parts: count_parts(parts, count))[0]
    short = fit(message, 60, count).draft
    assert (short.author, short.present) == ("Vera", ("Tom",))
    assert sum(count_parts(short.parts, count)) <= 64
    assert rendered_text(Text(text=short.text, author=short.author)).startswith("Vera: So it went on")


def test_a_payload_that_knows_no_author_does_not_stand_for_a_message_that_has_one() -> None:
    native = Native(format="openai", payload={"role": "user", "content": "Hello."})
    plain = Draft(role="user", parts=(Text(text="Hello."),), native=native)
    assert with_names_in_text(plain) is plain
    told = with_names_in_text(Draft(role="user", parts=(Text(text="Hello.", author="Vera"),), native=native))
    assert told == Draft(role="user", parts=(Text(text="Vera: Hello."),))


@pytest.mark.parametrize("to", sorted(CHAT_FORMATS))
def test_every_format_is_told_the_authors_in_the_words(to: str) -> None:
    made = ireneo.compact(STORY, 2_000, to=to)
    assert made.violations == ()
    said = str(made.messages)
    assert all(line in said for line in READ)
    assert "author" not in said
    assert "present" not in said
    assert [row.text for row in made.view] == READ


async def test_a_store_keeps_authors_and_a_context_shows_them() -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("gate")
        await session.append(STORY)
        assert [replace(message.draft, at=None) for message in await session.messages()] == STORY
        made = await session.context(2_000)
        assert [message["content"] for message in made.messages] == READ
        assert [row.text for row in made.view] == READ
        assert made.tokens == sum(row.tokens for row in made.view)
        opened = await session.expand(made.view[2].id)
        assert replace(opened.messages[0].draft, at=None) == STORY[2]
        expand = session.tools()[0]
        assert await expand(made.view[1].id) == f"[{made.view[1].id}] Vera: Who goes there?"


def test_a_context_that_is_cut_shows_who_speaks_in_it() -> None:
    drafts = [
        says("Vera" if number % 2 else "Tom", f"This is the {number}th thing that I say at the gate.")
        for number in range(200)
    ]
    made = ireneo.compact(drafts, 600)
    assert made.tokens <= 600
    live = [row.text for row in made.view if row.what == "message"]
    assert live
    assert all(text.startswith(("Vera: ", "Tom: ")) for text in live)


async def seen(session: ireneo.Session, viewpoint: str) -> str:
    made = await session.context(900, to="openai", viewpoint=viewpoint)
    return "\n".join(str(each["content"]) for each in made.messages)


async def test_what_became_of_a_secret_is_told_to_nobody_who_never_knew_it() -> None:
    async with ireneo.open(":memory:", preset="story") as memory:
        session = await memory.session("gate")
        await session.append([says("Holm", "Is anybody here?"), says("Tom", "Good evening.", ("Vera",))])
        secret = await session.add_thread("secret", "Vera has mined the bridge.", who="Vera", known_to=["Holm"])
        await session.add_thread("quest", "They look for the bell.")
        debt = await session.add_thread("debt", "Tom owes Vera a horse.", who="Tom", whom="Vera")
        known = {who: {each.text for each in await session.threads(viewpoint=who)} for who in ("Tom", "Holm")}
        assert known["Tom"] == {"They look for the bell.", debt.text}
        assert known["Holm"] == {"They look for the bell.", secret.text}
        await session.resolve_thread(secret.id, "The bridge went up in the night.")
        await session.resolve_thread(debt.id, "She has the mare.")
        await session.append(says("Tom", "Sleep well.", ("Vera", "Holm")))
        assert "bridge" not in await seen(session, "Tom")
        assert "She has the mare. (It was: Tom owes Vera a horse.)" in await seen(session, "Tom")
        assert "The bridge went up in the night. (It was: Vera has mined the bridge.)" in await seen(session, "Holm")
        assert secret.text not in [each.text for each in await session.threads(viewpoint="Tom", resolved=True)]


async def test_the_reason_of_a_dispute_is_told_to_nobody_whose_memory_was_not_meant() -> None:
    async with ireneo.open(":memory:", preset="story") as memory:
        session = await memory.session("gate")
        said = [
            says(("Vera", "Tom")[day % 2], f"On day {day} we betrayed the keeper of gate {day}.") for day in range(400)
        ]
        await session.append(said)
        made = await session.context(900)
        block = next(row for row in made.view if row.what == "summary")
        await session.dispute(block.id, "Vera mined the bridge, and Tom must not know.")
        assert "mined the bridge" in str((await session.context(900, to="openai")).messages)
        assert "mined the bridge" not in await seen(session, "Tom")
