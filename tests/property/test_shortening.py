"""Nothing is shortened while there is room, and what is shortened leaves out more than its mark costs."""

from __future__ import annotations

import re
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from tests.property.invariants.houses import calm

from ireneo import Draft
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.context.shorten import shorten
from ireneo.engine.story_writing import StoryJob, StoryTask, format_speeches, heard_speeches
from ireneo.engine.work_writing import transcript
from ireneo.log.message import Message, Text, chain, count_parts
from ireneo.summaries.policy import STORY
from ireneo.summaries.story import make_leaf

TOKENS = EstimatedTokenizer().count
MARK = re.compile(r"\[… (?P<tokens>[\d,]+) tokens left out[^\]]*…\]")

# Words whose tokens don't add up: a piece costs other thousandths alone than beside its neighbours.
words = st.sampled_from(
    "Listen, if we go now they'll never — and I'd swear it! don't 1851 ... Einhorn's über-lamp \"what?\" O'Neil".split()
)
speeches = st.lists(words, min_size=1, max_size=120).map(" ".join)
names = st.sampled_from(["Vera", "Holm", "MATT", "Dr. O'Neil-Übermut", ""])
told = st.lists(st.tuples(names, speeches), min_size=1, max_size=40)
counts = st.sampled_from([TOKENS, len, lambda text: len(text) // 4 + 1])


def messages_of(told: list[tuple[str, str]], count: Callable[[str], int] = TOKENS) -> list[Message]:
    drafts = [Draft(role="user", parts=(Text(text=text, author=name or None),)) for name, text in told]
    return list(chain(None, drafts, lambda parts: count_parts(parts, count)))


@calm(40)
@given(told=told, count=counts, spare=st.integers(0, 400))
def test_speech_that_has_room_is_shown_whole(
    told: list[tuple[str, str]], count: Callable[[str], int], spare: int
) -> None:
    spoken = heard_speeches(messages_of(told, count), "")
    whole = format_speeches(spoken, 10_000_000, count)
    assert "left out" not in whole
    assert format_speeches(spoken, count(whole) + spare, count) == whole


@calm(40)
@given(told=told, share=st.floats(0.1, 0.999))
def test_speech_that_is_shortened_leaves_out_more_than_a_mark(told: list[tuple[str, str]], share: float) -> None:
    spoken = heard_speeches(messages_of(told), "")
    whole = format_speeches(spoken, 10_000_000, TOKENS)
    shown = format_speeches(spoken, int(TOKENS(whole) * share), TOKENS)
    for mark in MARK.finditer(shown):
        assert int(mark["tokens"].replace(",", "")) >= TOKENS(mark[0]) - 1
    assert TOKENS(shown) <= max(TOKENS(whole) * share, 60) * 1.1 + 60


@calm(7)
@given(told=told)
def test_a_prompt_with_room_to_spare_shows_every_word(told: list[tuple[str, str]]) -> None:
    messages = messages_of(told)
    prompt = StoryTask(StoryJob(offline=make_leaf(messages, STORY), messages=tuple(messages)), TOKENS).prompt
    assert not MARK.search(prompt.user)
    assert not MARK.search(transcript(messages, 100_000, TOKENS))


@calm(66)
@given(text=speeches, tokens=st.integers(0, 200))
def test_a_cut_is_shorter_than_what_it_cuts(text: str, tokens: int) -> None:
    cut = shorten(text, tokens, "m_abcdefg", TOKENS)
    if cut is None:
        assert TOKENS(text) <= max(tokens, 24) + 20
        return
    assert TOKENS(text) > max(tokens, 24)
    assert TOKENS(cut.text()) < TOKENS(text)
    assert text.startswith(cut.head)
    assert text.endswith(cut.tail)
    said = MARK.search(cut.text())
    assert said is not None
    left_out = text.removeprefix(cut.head).removesuffix(cut.tail).strip()
    assert abs(cut.left_out_tokens - TOKENS(left_out)) <= 4
