"""Recall among what characters of a story say: who is asked about, whose language a word is of, what is no story."""

from __future__ import annotations

from ireneo import Draft, Memory, Text


async def tell(memory: Memory, *lines: tuple[str, str], session: str = "tale") -> None:
    """Append what each character says: the writer's Tove as the user, the others as the assistant."""
    told = await memory.session(session)
    await told.append(
        [
            Draft(role="user" if who in ("Tove", "Bruno") else "assistant", parts=(Text(text=text, author=who),))
            for who, text in lines
        ]
    )


async def test_a_debt_between_two_is_told_by_one_of_them(memory: Memory) -> None:
    await tell(
        memory,
        ("Abbot", "Half the valley owes me a prayer, and the other half a candle."),
        ("Tove", "I pull my hood down and look for the gate."),
        ("Sigrun", "You owe me eleven crowns for the mule, cartwright. I keep count."),
        ("Tove", "I nod and tie the mule to the post."),
        ("Sigrun", "Rain again. The ford will be deep tonight."),
        ("Abbot", "The ford drowned two of ours last spring."),
        ("Tove", "I ask him for the lower road instead."),
        ("Sigrun", "Longer by a day, and dry. I would take it."),
    )
    found = await memory.recall("How much does Tove owe Sigrun?")
    assert found[0].text.startswith("You owe me eleven crowns")


async def test_a_common_word_of_another_language_is_no_form_of_a_word_asked_for(memory: Memory) -> None:
    await tell(
        memory,
        ("Tove", "The old ferryman lies still beside the oar, and I close his eyes."),
        ("Sigrun", "So he died at the oar, as he always wished."),
        ("Tove", "We carry him up to the chapel before the tide turns."),
    )
    german = (
        "Die Laterne hängt über dem Tor, und die Kinder warten schon auf die Boote.",
        "Er nahm die Kiste und trug sie über die Brücke, als ob nichts wäre.",
        "Und die Frau am Fenster sagte, dass die Post heute nicht mehr kommt.",
        "Die Tür war offen, aber sie ging nicht hinein.",
    )
    await tell(memory, *((("Bruno", "Klara")[n % 2], text) for n, text in enumerate(german * 3)), session="sage")
    found = await memory.recall("Who died at the oar?")
    assert found[0].text.startswith("So he died at the oar")
    assert not any(each.text in german for each in found)


async def test_what_is_said_out_of_character_does_not_answer_before_the_story(memory: Memory) -> None:
    await tell(
        memory,
        ("Tove", "((the bridge in this scene is great, more of that please!))"),
        ("Sigrun", "The bridge at Halden fell in the night, and nobody heard it."),
        ("Tove", "I kneel at the broken planks and count the nails."),
    )
    found = await memory.recall("What happened to the bridge?")
    assert found[0].text.startswith("The bridge at Halden fell")
