"""How the past of a story is shown in a given room."""

from __future__ import annotations

from msgspec.structs import replace
from tests.golden.small_story import story, story_record

from ireneo.context.story_blocks import tell_blocks
from ireneo.log.message import Message
from ireneo.summaries.policy import preset
from ireneo.summaries.story import story_strategy
from ireneo.summaries.summary import Line, Mention, Section, Summary, Writing, header, render
from ireneo.summaries.tell_story import tell_leaf

WRITING = Writing(prompt="story-1", model="m", tokens_in=1, tokens_out=1, supported=1.0)


def words(text: str) -> int:
    return len(text.split())


def node(messages: list[Message], *texts: str, names: tuple[str, ...] = (), length: int = 0) -> Summary:
    lines = tuple(Line(text=text, position=number, weight=1.0) for number, text in enumerate(texts))
    mentions = tuple(Mention(name, 2.0) for name in names)
    out = story_record(
        messages, (Section(name="story", lines=lines), Section(name="artifacts", lines=(Line(names=mentions),)))
    )
    return replace(out, last_position=out.first_position + length - 1) if length else out


def test_a_header_says_what_it_stands_for() -> None:
    told = replace(node(story()[:8], length=600), id="s_8f2kabcdefgh", retellings=2)
    assert header(told) == "[STORY] 600 messages · open with s_8f2kabc · retold twice"
    assert header(replace(told, retellings=3), "Tom lied").endswith(" · retold 3 times · (disputed): Tom lied")
    assert header(replace(told, retellings=1)).endswith("s_8f2kabc")


def test_passages_stand_on_lines_of_their_own_and_names_follow_them() -> None:
    told = node(story()[:8], "The ferry came", "Vera left.")
    choice = {"story": [(line, ()) for line in told.lines("story")], "artifacts": [(Line(), ("Orsk", "Ilse"))]}
    assert render(told, choice, story_strategy(preset("story"))).splitlines()[1:] == [
        "The ferry came.",
        "Vera left.",
        "Names: Orsk, Ilse",
    ]
    written = render(replace(told, writing=WRITING), choice, story_strategy(preset("story")))
    assert "The ferry came. Vera left." in written


def test_of_what_is_told_again_in_the_same_words_the_last_stands() -> None:
    said = "Ilse the ferrywoman sold the copper lantern."
    first, second = node(story()[:8], said, "Vera left."), node(story()[8:16], "Tom left.", said)
    texts = tell_blocks([first, second], 400, words)
    assert said not in texts[0]
    assert said in texts[1]


def test_a_recap_does_not_take_the_room_of_what_it_leaves_out() -> None:
    lords = [f"K{first}l{second}r" for first in "aeiouy" for second in "bcdfghjklm"]
    recap = tuple(
        Line(text=f"{lord} fell before {lord[::-1].title()}, it was told.", position=n, weight=9)
        for n, lord in enumerate(lords)
    )
    since = tuple(Line(text=f"Then ship {n} sank by cape {n * 5}.", position=n, weight=0.1) for n in range(300, 360))
    told = node(story()[:8], length=600)
    told = replace(told, sections=(Section(name="story", lines=(*recap, *since)),))
    (text,) = tell_blocks([told], 500, words)
    assert text.count("Then ship") > 8
    assert text.count("it was told") >= text.count("Then ship")


def test_no_block_is_silent_while_another_is_rich() -> None:
    many = tuple(f"On day {n} the long siege of the old harbour went on and on." for n in range(40))
    old = node(story()[:8], *many, length=9_600)
    new = node(story()[8:16], "Vera found the key of the cellar at last.", "Tom left for Marrow in the rain.")
    texts = tell_blocks([old, new], 120, words)
    assert all(len(text.splitlines()) > 1 for text in texts)
    assert words(texts[0]) > words(texts[1])


def test_where_the_headers_have_no_room_the_shortest_stretches_go() -> None:
    nodes = [node(story()[:8], "Vera left.", length=600), node(story()[8:16], "Tom left.")]
    texts = tell_blocks(nodes, 10, words)
    assert texts[0].startswith("[STORY] 600")
    assert texts[1] == ""
    assert tell_blocks(nodes, 0, words) == ["", ""]
    assert tell_blocks([], 100, words) == []


def test_wide_and_narrow_come_from_one_record() -> None:
    messages = story()
    told = story_record(messages, tell_leaf(messages))
    narrow, wide = (tell_blocks([told], room, words)[0] for room in (50, 300))
    assert words(narrow) <= 50 < words(wide)
    assert "Vera: I lied about the letter. My brother Edwin wrote it, and Aldous knew." in wide
