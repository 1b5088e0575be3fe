"""A draft is cleaned in each of its places, and keeps its shape."""

from __future__ import annotations

import re

from ireneo.engine.resources import redact_draft
from ireneo.log.message import Call, Draft, Media, Native, Opaque, Result, Text, Thinking

MARK = "[REDACTED it]"


def clean(text: str, name: str) -> str:
    if name == "--pin" or "it" not in text.replace(MARK, ""):
        return MARK if name == "--pin" and text != MARK else text
    return MARK.join(each.replace("it", MARK) for each in text.split(MARK))


def whole(word: str) -> Draft:
    """A draft that has `word` wherever it is to be cleaned."""
    payload = {"a": [word, {word: 1, "b": (word,)}], "n": 3}
    return Draft(
        role="assistant",
        parts=(
            Text(text=f"say {word}", author=word, present=(word, "Vera")),
            Thinking(text=f"think {word}"),
            Call(id="c it", name="Bash", arguments={"command": word, word: [word]}),
            Call(id="d", name="Bash", arguments=f"broken {word}"),
            Result(call_id="c it", parts=(Text(text=word), Media(media_type="image/png", data="it", url=word))),
            Media(media_type="image/png", data="it", name=word),
            Opaque(format="anthropic", payload=payload),
        ),
        source_id="it",
        native=Native(format="anthropic", payload=payload),
        record=Native(format="claude-code", payload=[payload]),
    )


def test_every_place_is_cleaned_and_ids_and_data_are_left() -> None:
    expected = whole(MARK)
    opaque = expected.parts[-1]
    assert isinstance(opaque, Opaque)
    cleaned = redact_draft(whole("it"), clean)
    # A tuple in a payload comes back as the list that JSON has.
    assert re.sub(r"\((" + re.escape(repr(MARK)) + r"),\)", r"[\1]", str(expected)).replace(
        f"present=[{MARK!r}]", ""
    ) == str(cleaned)


def test_a_clean_draft_is_the_very_same() -> None:
    draft = whole("word")
    assert redact_draft(draft, clean) is draft


def test_thinking_keeps_its_signature_unless_it_was_cleaned() -> None:
    said, kept = Thinking(text="so it is", signature="it"), Thinking(text="so", signature="it", format="anthropic")
    cleaned = redact_draft(Draft(role="assistant", parts=(said, kept)), clean)
    assert cleaned.parts == (Thinking(text=f"so {MARK} is"), kept)


def test_a_seal_in_a_payload_goes_with_the_words_that_it_sealed() -> None:
    blocks = [{"thinking": "it", "signature": "s"}, {"thinking": "so", "signature": "it"}]
    draft = Draft(role="assistant", parts=(), native=Native(format="anthropic", payload={"content": blocks}))
    native = redact_draft(draft, clean).native
    assert native is not None
    assert native.payload == {"content": [{"thinking": MARK}, {"thinking": "so", "signature": "it"}]}


def test_two_keys_that_become_one_mark_both_stay() -> None:
    draft = Draft(role="user", parts=(Call(id="c", name="Bash", arguments={"it": 1, "itit": 2, MARK: 3}),))
    (call,) = redact_draft(draft, clean).calls
    assert call.arguments == {MARK: 1, MARK * 2: 2, f"{MARK} 2": 3}


def test_an_option_names_what_follows_it() -> None:
    draft = Draft(role="user", parts=(Call(id="c", name="Run", arguments={"argv": ["open", "--pin", "0", "5"]}),))
    (call,) = redact_draft(draft, clean).calls
    assert call.arguments == {"argv": ["open", "--pin", MARK, "5"]}


def test_what_a_later_part_gives_away_is_cleaned_in_the_parts_before() -> None:
    known: set[str] = set()

    def learning(text: str, _: str) -> str:
        if text.startswith("secret: ") and MARK not in text:
            known.add(text.removeprefix("secret: "))
        for each in known:
            text = text.replace(each, MARK) if each in text else text
        return text

    draft = Draft(role="user", parts=(Text(text="a pear"), Text(text="secret: pear")))
    assert redact_draft(draft, learning).text == f"a {MARK}\nsecret: {MARK}"
