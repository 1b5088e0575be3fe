"""Notes of a model beside the messages that they are on: those that no shown message says are shown."""

from __future__ import annotations

from msgspec.structs import replace
from tests.golden.material import said, user
from tests.unit.runs import material

from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.context.allot import Statements
from ireneo.context.view import ViewSlot, fill_slots, slot_within
from ireneo.summaries.notes import line_of, note_sections, read_note
from ireneo.summaries.summary import Line, SectionName, Summary, Writing

count = EstimatedTokenizer().count
REQUEST = "Keep the heads of all rows. " + "They are read by the export, which knows the number of the row. " * 20
MESSAGES = material([*said("Shall I keep or drop the heads?"), *user(REQUEST), *said("I keep them.")]).messages


def block(*notes: str) -> Summary:
    """The block of the answer, which is a short one, with notes on it and on the request before it."""
    answer = MESSAGES[-1]
    bare = Summary(
        id="s_1",
        level="turn",
        depth=1,
        first=answer.id,
        last=answer.id,
        first_position=2,
        last_position=2,
        summarizer="work/model",
        source_tokens=answer.tokens,
    )
    lines: list[tuple[SectionName, Line]] = []
    for text in notes:
        note = read_note(text)
        assert note is not None
        lines.append((note.section, line_of(note, note.at[0], note.at[-1], [MESSAGES[place].id for place in note.at])))
    writing = Writing(prompt="notes", model="m", tokens_in=0, tokens_out=0, supported=1.0)
    return replace(bare, sections=tuple(note_sections(bare, lines, lambda _: True)), writing=writing)


def shown(request_tokens: int, *notes: str) -> str:
    slots = [slot_within(MESSAGES[1], request_tokens, count), ViewSlot(block(*notes), None)]
    return "\n".join(each.draft.text for each in fill_slots(slots, 2_000, Statements(count)))


def test_a_note_on_a_short_turn_may_be_longer_than_that() -> None:
    long = "; ".join(f"row {number} keeps its head" for number in range(40))
    for kind in ("found", "open", "failed"):
        assert long in shown(900, f"{kind} 3 [2] {long}")


def test_the_users_words_are_not_told_again_where_they_stand_whole() -> None:
    told = "ruled 5 [1] The user wants the heads of all rows kept."
    assert told.partition("] ")[2] not in shown(900, told)
    assert told.partition("] ")[2] in shown(60, told), "they are shortened"
    more = "ruled 5 [0,1] I asked whether to drop the heads; the user wants those of all rows kept."
    assert more.partition("] ")[2] in shown(900, more), "it says what they answered"


def test_notes_are_told_from_the_first_message_that_they_rest_on() -> None:
    """A request and what came of it come before what was found on the way."""
    text = shown(60, "found 3 [1] The export reads heads.", "ruled 5 [0,1,2] I asked, and the heads stay.")
    assert text.index("the heads stay") < text.index("The export reads heads")
