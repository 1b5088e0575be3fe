"""What stands in quotation marks as a user's words are words of the message, in its order, whatever is said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

import ireneo

from .invariants.houses import calm

_WORDS = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r"(?:said|sagte[^:]*): [“„](.*)[”“]$", re.S)
_LEFT_OUT = re.compile(r"…|\[[^\]]*\]")
"""A mark for what is left out, and a name in place of a pronoun."""

ENGLISH = (
    ("", "So ", "Well, ", "And ", "No, ", "Right: ", "My doctor says ", "I mean "),
    (
        "my brother Ned lives in Derby, no wait, Crewe, with four whippets",
        "he can't eat almonds, pears or figs",
        "I don't drink wine any more, beer only on Sundays",
        "I work for Siemens and live in Derby",
        "the rent went up to 900 in May",
        "she keeps two alpacas behind the mill",
        "we moved the piano to my aunt Ida in Hull",
        "could you write to the school about it",
        "the wedding is on 3 June",
    ),
)
GERMAN = (
    ("", "Also ", "Ach, ", "Und ", "Nein, ", "Quatsch, ", "Der Arzt sagt, "),
    (
        "mein Bruder Ulf lebt in Gotha, Quatsch, in Erfurt, und arbeitet dort als Koch",
        "er verträgt keine Mandeln, Birnen und Feigen",
        "ich selbst vertrage keine Hefe mehr, Kuchen also nur vom Blech",
        "ich wohne in Graz und arbeite bei Magna",
        "der Boiler ist hin, 900 Euro, sagt der Uwe",
        "sie hält zwei Alpakas hinter der Mühle und spielt Geige",
        "wir haben das Klavier zu meiner Tante Ida nach Jena gebracht",
        "kannst du der Schule deswegen schreiben",
        "die Hochzeit ist am 3. Juni",
    ),
)


@st.composite
def messages(draw: st.DrawFn) -> str:
    """A message of a few sentences, no two alike, each with an opening that may be left out when it is quoted."""
    openings, clauses = draw(st.sampled_from((ENGLISH, GERMAN)))
    said = draw(
        st.lists(
            st.tuples(st.sampled_from(openings), st.sampled_from(clauses)),
            min_size=1,
            max_size=4,
            unique_by=lambda each: each[1],
        )
    )
    told = (f"{opening}{clause}" for opening, clause in said)
    return " ".join(f"{each[0].upper()}{each[1:]}{draw(st.sampled_from('.!?'))}" for each in told)


def quoted_parts(text: str) -> Sequence[str]:
    """The parts of a quotation between the marks for what is left out, each as its words with blanks around them."""
    found = _QUOTED.search(text)
    parts = _LEFT_OUT.split(found[1]) if found else []
    return [f" {' '.join(words)} " for part in parts if (words := _WORDS.findall(part.casefold()))]


@calm(40)
@given(said=st.lists(messages(), min_size=1, max_size=3))
async def test_a_quotation_has_words_of_the_messages_alone(said: list[str]) -> None:
    heard = [f" {' '.join(_WORDS.findall(each.casefold()))} " for each in said]
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("talk")
        for month, each in enumerate(said, start=1):
            at = f"2026-{month:02}-05T10:00:00Z"
            await session.append([{"role": "user", "content": each, "timestamp": at}])
        await memory.work(until_idle=True)
        told = await memory.memories(state="any", limit=500)
    invented = [(each.text, part) for each in told for part in quoted_parts(each.text)]
    assert not [(text, part) for text, part in invented if not any(part in one for one in heard)]
