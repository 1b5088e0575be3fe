"""Who is forgotten is looked for by other names, roles and pronouns too: shown, and taken or left."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.test_forget import kept, living, talk

from ireneo.errors import BadInput, NotFound
from ireneo.log.message import ERASED
from ireneo.memories.mentions import NamedText, Person

ABOUT_HER = (
    "My sister Ottilie moved to the lighthouse in May.",
    "Does she like it there?",
    "She loves it, and her telescope fills the attic.",
    "That sounds lovely for her.",
    "We call her Otti.",
    "Noted.",
    "Otti is afraid of geese.",
    "I will keep geese away.",
    "My sister can't eat walnuts.",
    "No walnuts then.",
    "I'll keep your sister's walnuts in mind.",
    "Deine Schwester rudert, ja.",
    "All my siblings row.",
    "A strong family.",
    "Ottilies Boot ist rot.",
    "Schön.",
    "Meine Schwester rudert am Montag.",
)
SPEAK = {1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 16}
"""Those that speak of her and don't name her."""
NOT_OF_HER = ("The tide table is wrong.", "I will mend it.", "My brother brings his saw.", "He may.")


def told(*texts: str) -> list[NamedText]:
    return [NamedText(id=str(number), text=text) for number, text in enumerate(texts)]


def test_every_sentence_about_her_is_found_and_none_about_others() -> None:
    texts = [*ABOUT_HER, *NOT_OF_HER]
    found = {int(id) for id, _ in Person("Ottilie", texts).mentions(told(*texts))}
    assert found >= SPEAK
    assert not found & set(range(len(ABOUT_HER), len(texts)))


@pytest.mark.parametrize(
    ("texts", "speaks"),
    [
        (("Quentin is our plumber.", "Our plumber forgot a wrench.", "She laughed."), {1, 2}),
        (("Dr Rosalind Achterberg called.", "Achterberg wants a blood test."), {1}),
        (("Quentin zieht um, wir nennen ihn Quaste.", "Quaste packt schon."), {1}),
        (("Imke ist meine Chefin.", "Meine Chefin hasst Rot.", "Der Chef kommt."), {1}),
        (("She is late again.", "Philippa, I mean. She always is."), {0, 1}),
        (("Der Quentin, das ist mein Imker, hinkt.", "Mein Imker kommt am Dienstag."), {1}),
        (("It is for Philippa, my half-sister.", "Wilma, my other half-sister, sings.", "My half-sister rows."), {2}),
        (("Philippa bakes.", "Phi had me carry the flour."), {1}),
        (("Basil is a cat.", "Basil sleeps.", "The rain stopped."), set()),
        (("Bo's aunt Quentin sails.", "My aunt paints.", "Bo's aunt is late."), {2}),
        (("My aunt Quentin sails.", "My aunt Wilma paints.", "My aunt is late."), {2}),
        (("Quentin weaves baskets in Hove.", "The rain stopped.", "Sorry, not Hove, Hull.", "I am tired."), {2}),
        (("Philippa is my sister.", "So Flip is what you call Philippa.", "Flip sails.", "The rain stopped."), {2}),
        (("Mein Bürokollege Quentin rudert.", "Der Kollege singt.", "Mein Kollege Ole malt."), {1}),
        (("Meine Patentante Imke backt.", "Der Garten meiner Patin blüht."), {1}),
        (("Quentin is a cook, and my mum Heather weaves.", "Sorry, not Heather, Holly.", "Weaving is hard."), set()),
        (("Quentin came by.", "Wilma told him that it rains.", "Wilma has her boat."), {1}),
        (("Quentin is our neighbour. He paints.", "He'd like a dog.", "My sister Wilma sings, she is loud."), {0, 1}),
        (("Quentin sails.", "Pepper is old, he limps.", "Pepper has had his walk."), set()),
        (("Philippa ist Töpferin.", "Philis Ofen ist neu.", "Sie brennt ihn."), {1, 2}),
        (("Philippa makes pots.", "Bring milk.", "The potter is late.", "Make tea."), {2}),
        (("Imke ist Imkerin.", "Ein Hörspiel, bitte.", "Die Imkerin kommt am Montag vorbei.", "Der Zug ist weg."), {2}),
    ],
)
def test_who_is_meant_follows_from_what_was_said(texts: tuple[str, ...], speaks: set[int]) -> None:
    names = ("Quentin", "Rosalind", "Imke", "Philippa", "Basil")
    name = next(each for each in names if each in " ".join(texts))
    assert {int(id) for id, _ in Person(name, texts).mentions(told(*texts))} == speaks


def test_a_pronoun_behind_another_name_is_that_one_s() -> None:
    texts = told("My partner Quentin sings.", "Rosalind came by. She was late.", "He laughed.")
    found = [id for id, _ in Person("Quentin", [each.text for each in texts], ["Rosalind"]).mentions(texts)]
    assert found == ["2"]


def test_whoever_is_named_by_a_relation_has_its_pronouns() -> None:
    texts = told("My mum sings in a choir.", "He is late.", "She rehearses.")
    assert [id for id, _ in Person("my mum", [each.text for each in texts]).mentions(texts)] == ["2"]


async def test_a_preview_says_what_users_told_of_themselves_beside_her(tmp_path: Path) -> None:
    async with living(tmp_path) as (memory, _):
        await talk(memory, "watch", "Ottilie is a vet. I can't eat rye. Shall I call?", "Ottilie, noted. I can help.")
        shown = await memory.forget(subject="Ottilie", preview=True)
        assert [each.beside for each in shown.going if each.session] == [("I can't eat rye.",), ()]


def test_what_a_thing_is_called_is_no_other_name_of_a_person() -> None:
    texts = ("Ottilie is a vet.", "She has a ferret called Biro.", "We call her Otti.", "Biro bites.", "Otti rows.")
    person = Person("Ottilie", texts)
    assert {int(id) for id, each in person.mentions(told(*texts)) if each.certain} == {2, 4}
    assert "biro" not in person.others


async def test_what_users_say_of_themselves_alone_stays_without_the_message(tmp_path: Path) -> None:
    async with living(tmp_path) as (memory, store):
        text = "I take iron tablets in the morning. We drove to Ottilie in Hove. I met her there."
        (m, *_) = await talk(memory, "watch", text, "Noted.")
        quotation = f"On 3 May 2020 the user said: “{text}”"
        await memory.remember(quotation, kind="episodic", messages=[m])
        shown = await memory.forget(subject="Ottilie", preview=True)
        left = "On 3 May 2020 the user said: “I take iron tablets in the morning.”"
        assert [(each.id, each.text) for each in shown.stay] == [(m, left)]
        assert not any(each.beside for each in shown.going)
        taken = await memory.forget(subject="Ottilie", preview=True, also=[m])
        assert taken.stay == ()
        await memory.forget(subject="Ottilie")
        assert [each.text for each in (await kept(store)).values()] == [left]
        assert b"Ottilie" not in b"".join(each.read_bytes() for each in tmp_path.iterdir())


async def test_a_relation_is_resolved_and_a_name_is_found_with_its_ending() -> None:
    async with living() as (memory, _):
        m = await talk(memory, "watch", "My sister is called Ottilie.", "Ottilies Boot ist rot.", "The tide is out.")
        await memory.remember(
            "The user's sister is called Ottilie.", subject="user", attribute="sibling", value="Ottilie"
        )
        shown = await memory.forget(subject="my sister", preview=True)
        assert {each.id for each in shown.going if each.session} == {m[0], m[1]}
        assert "Ottilie" in shown.note
        await memory.remember("The user's sister is called Runa.", subject="user", attribute="sibling", value="Runa")
        with pytest.raises(BadInput, match="Ottilie or Runa"):
            await memory.forget(subject="my sister", preview=True)


async def test_memories_of_others_stay_though_their_message_goes() -> None:
    async with living() as (memory, _):
        m = await talk(memory, "watch", "Ottilie mends nets. I can't eat rye, it makes me ill.", "Noted.")
        rye = (await memory.remember("The user can't eat rye.", messages=[m[0]], session="watch")).record
        nets = (await memory.remember("She mends nets.", messages=[m[0]], session="watch")).record
        shown = await memory.forget(subject="Ottilie", preview=True)
        assert [each.id for each in shown.stay] == [rye.id]
        taken = await memory.forget(subject="Ottilie", also=[rye.id], preview=True)
        assert taken.stay == ()
        await memory.forget(subject="Ottilie")
        (left,) = await memory.memories(text="rye")
        assert (left.id, left.sources) == (rye.id, ())
        assert nets.id not in {each.id for each in await memory.memories(state="any")}


@pytest.mark.parametrize(
    ("name", "told", "then", "stays"),
    [
        (
            "Edwin",
            "I'm Maud, I live in Whitby with my husband Edwin and I work as a potter at Harbour Clay. He bakes.",
            "I left Harbour Clay on Friday.",
            {"name": "Maud", "job": "potter", "employer": "Harbour Clay"},
        ),
        (
            "Tjark",
            "Ich heiße Rike, wohne mit meinem Freund Tjark in Husum, ich bin Imkerin. Er ist Lehrer.",
            "Heute regnet es.",
            {"name": "Rike", "job": "Imkerin"},
        ),
    ],
)
async def test_who_the_user_is_and_was_stays_though_the_message_names_the_person(
    name: str, told: str, then: str, stays: dict[str, str]
) -> None:
    async with living() as (memory, _):
        await talk(memory, "watch", told, "Noted.", then)
        await memory.work(until_idle=True)
        shown = await memory.forget(subject=name)
        assert {each.text for each in shown.stay} >= {each.text for each in await memory.memories(state="retired")}
        left = {at: [each.record.value for each in await memory.history("user", at)] for at in (*stays, "partner")}
        assert left == {**{at: [value] for at, value in stays.items()}, "partner": []}
        assert not any(name in each.text for each in await memory.memories(state="any"))
        assert await memory.history(name, "job") == []


def test_a_surname_leads_to_the_name_and_back() -> None:
    assert Person("Ada Brandvold", []).mention_reason("Brandvold called.").startswith("“brandvold”")
    assert Person("Ada", ["Ada Brandvold signed."]).mention_reason("Mrs Brandvold called.").startswith("“brandvold”")


async def test_the_preview_lists_what_may_speak_of_her_and_what_is_taken_goes(tmp_path: Path) -> None:
    async with living(tmp_path) as (memory, store):
        m = await talk(memory, "watch", *ABOUT_HER, *NOT_OF_HER)
        walnuts = await memory.remember("The user's sister can't eat walnuts.", messages=[m[8]], session="watch")
        stays = await memory.remember("The tide table is wrong.", messages=[m[15]], session="watch")
        shown = await memory.forget(subject="Ottilie", preview=True)
        listed = {each.id for each in shown.also}
        assert listed >= {m[number] for number in SPEAK} | {walnuts.record.id}
        assert stays.record.id not in listed
        assert all(each.text and each.why for each in shown.also)
        assert "stay" in shown.note
        left = m[10]
        done = await memory.forget(subject="Ottilie", also=sorted(listed - {left}))
        assert {each.id for each in done.also} <= {left}
        texts = [message.text for message in await (await memory.session("watch")).messages()]
        assert [at for at, text in enumerate(texts) if text == ERASED] == sorted({0, 14, *SPEAK} - {10})
        assert set(await kept(store)) == {stays.record.id}
        stored = b"".join(file.read_bytes() for file in tmp_path.glob("memory.db*"))
        assert not [word for word in (b"telescope", b"lighthouse", b"rudert") if word in stored]


async def test_forgetting_a_memory_offers_the_message_that_said_it() -> None:
    async with living() as (memory, _):
        m = await talk(memory, "watch", "It rains. I keep the key under the third buoy.", "Understood.")
        made = await memory.remember("The user keeps the key under the third buoy.", messages=[m[0]], session="watch")
        shown = await memory.forget(memory=made.record.id, preview=True)
        assert [(each.id, each.session, each.text) for each in shown.also] == [
            (m[0], "watch", "I keep the key under the third buoy.")
        ]
        done = await memory.forget(memory=made.record.id, also=[m[0]])
        assert (done.what.memories, done.what.messages, done.also) == (1, 1, ())
        texts = [message.text for message in await (await memory.session("watch")).messages()]
        assert texts == [ERASED, "Understood."]


async def test_what_is_not_there_can_t_be_taken() -> None:
    async with living() as (memory, _):
        await talk(memory)
        with pytest.raises(NotFound):
            await memory.forget(subject="Perpetua", also=["m_nowhere"])
        assert ERASED not in [message.text for message in await (await memory.session("watch")).messages()]


async def test_a_relation_names_whoever_it_is_in_histories_and_lists() -> None:
    async with living() as (memory, _):
        await memory.remember(
            "The user's sister is called Ottilie.", subject="user", attribute="sibling", value="Ottilie"
        )
        await memory.remember("Ottilie lives in Hove.", subject="Ottilie", attribute="home", value="Hove")
        assert [each.record.value for each in await memory.history("my sister")] == ["Hove"]
        assert [each.value for each in await memory.memories(subject="my sister")] == ["Hove"]
        assert await memory.history("my brother") == []
