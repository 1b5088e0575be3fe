"""Whatever voices say, written as JSON lines, comes back the same; and no text at all makes the reader fall over."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.dialogue import Dialogue
from ireneo.log.message import texts

words = st.text(st.characters(exclude_categories=("Cs",)))
ROLES = {"user", "human", "assistant", "ai", "bot", "system", "tool"}
"""Names that are no author's, but say which role speaks."""
names = words.map(lambda name: " ".join(name.split())).filter(lambda name: name.casefold() not in ROLES)
pieces = st.sampled_from('Vera: ¦Tom: ¦**Vera:** ¦<Tom> ¦### ¦# Vera¦> ¦[12:03] ¦\n¦\n\n¦CHAPTER I¦{"¦['.split("¦"))


@given(st.lists(st.tuples(st.none() | names, words), min_size=1))
def test_what_is_written_as_lines_comes_back(said: list[tuple[str | None, str]]) -> None:
    lines = [json.dumps({"author": author, "text": text}).encode() + b"\n" for author, text in said]
    kept = [(author or None, text) for author, text in said if text.strip()]
    if not kept:
        return
    (session,) = Dialogue().read(lines, "gate")
    assert session.faults == ()
    assert [(draft.author, draft.text) for draft in session.path] == kept
    whole = [json.dumps([{"author": author, "text": text} for author, text in said], indent=1).encode()]
    (session,) = Dialogue().read(whole, "gate")
    assert [(draft.author, draft.text) for draft in session.path] == kept


@given(st.lists(pieces | st.text(max_size=12)).map("".join))
def test_any_text_is_read_and_says_nothing_that_is_not_in_it(text: str) -> None:
    data = text.encode("utf-8", "replace")
    Dialogue().recognises(data)
    try:
        (session,) = Dialogue().read(data.splitlines(keepends=True), "gate")
    except UnreadableLog:
        return
    for draft in session.path:
        assert draft.text.strip()
        if not session.faults and not text.lstrip("\ufeff \n").startswith(("{", "[")):
            assert {sign for each in texts(draft.parts) for sign in each if sign.isalnum()} <= set(text)
