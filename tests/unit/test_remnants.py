"""What is left of a memory of several things of which one is over."""

from __future__ import annotations

import pytest

from ireneo.memories.endings import without_ended

LEFT = [
    ("I share with Omar, Pia and Lucy.", "Pia moved out.", "I share with Omar, Lucy."),
    ("On 2 May 2026 the user said: “we are Omar, Pia and me”", "Pia has left the band", "we are Omar”"),
    ("On 2 May 2026 the user said: “Omar plays drums, Pia the tuba”", "Pia has quit the band", "Omar plays drums"),
    ("On 2 May 2026 the user said: “kayaking, chess and judo”", "I gave up chess", "kayaking, … judo"),
    (
        "Am 2. Mai 2026 sagte der Nutzer: „Roggen geht gut, aber von Hafer krieg ich Pusteln und Soja geht auch nicht“",
        "Soja ist kein Problem mehr",
        "Roggen geht gut, aber von Hafer krieg ich Pusteln",
    ),
    (
        "Am 2. Mai 2026 sagte der Nutzer: „Zeitung, Fitnessstudio und Sky hab ich auch“",
        "Fitnessstudio gekündigt",
        "Zeitung, … Sky hab ich auch",
    ),
    (
        "On 2 May 2026 the user said: “Ana runs a kiosk in Hove. My eldest, Piet, is a welder and lives with us.”",
        "Piet has moved out",
        "Ana runs a kiosk in Hove.”",
    ),
    (
        "Am 2. Mai 2026 sagte der Nutzer: „Ana hat einen Kiosk in Köln. Der Jüngste, Piet, ist Maurer und wohnt hier.“",
        "Piet ist ausgezogen",
        "Ana hat einen Kiosk in Köln.“",
    ),
    (
        "The user plays tennis on Mondays, sings in a choir, and they have begun pottery.",
        "No more pottery for me",
        "The user plays tennis on Mondays, sings in a choir",
    ),
]
WHOLE = [
    ("On 2 May 2026 the user said: “my ute is a Hilux, 2008, rego runs out 30 June”", "I sold the Hilux"),
    ("The user has a hamster called Gus, who bites everybody.", "Gus died last night"),
    (
        "On 2 May 2026 the user said: “so now I go by bicycle, a Brompton I got from a friend”",
        "someone stole the Brompton",
    ),
    ("On 2 May 2026 the user said: “physio on Wednesdays”", "physio is over"),
    ("On 2 May 2026 the user said: “chess and judo”", "gave up the trumpet"),
    ("On 2 May 2026 the user said: “two girls, Mia is nine and Lou is six”", "Lou has gone vegan"),
]


@pytest.mark.parametrize(("text", "words", "left"), LEFT)
def test_of_several_things_the_others_stay(text: str, words: str, left: str) -> None:
    found = without_ended(text, words)
    assert found is not None
    assert left in found


@pytest.mark.parametrize(("text", "words"), WHOLE)
def test_what_speaks_of_one_thing_is_over_as_a_whole(text: str, words: str) -> None:
    assert without_ended(text, words) is None
