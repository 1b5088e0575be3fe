"""Whatever a text says, redacting never fails, is done at once, breaks no JSON, and leaves names and hashes alone."""

from __future__ import annotations

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import times
from tests.planted import KINDS, planted

from ireneo.adapters.redact import SecretRedactor
from ireneo.engine.resources import redact_draft
from ireneo.log.message import Call, Draft, Media, Text

NAMES_OF_SECRETS = ["password", "api_key", "token", "secret", "Cookie: ", "--token ", "Bearer ", "is ", "://", "sk-"]
MARKS = ["[REDACTED ", "[REDACTED password]", "-----BEGIN ", "PRIVATE KEY-----", "\\n", "İ", "\ud800", "hunter2x9"]
WORDS = st.sampled_from([*"\"'`\\:=,;@/ \n[]{}", *NAMES_OF_SECRETS, *MARKS])
SECRETS = st.builds(lambda kind, seed: planted(kind, seed).text, st.sampled_from(sorted(KINDS)), st.integers(0, 50))
TEXTS = st.lists(WORDS | SECRETS | st.text(max_size=12), max_size=12).map("".join)
NAMES = st.sampled_from(["", "password", "api_key", "command"])

HASHES = st.integers(0, 2**160 - 1).map(lambda number: f"{number:040x}")
THINGS = st.one_of(
    HASHES,
    HASHES.map(lambda sha: sha[:7]),
    st.uuids().map(str),
    st.lists(st.from_regex(r"[a-z]{1,12}", fullmatch=True), min_size=1, max_size=6).map(
        lambda names: "/" + "/".join(names) + ".py"
    ),
    st.lists(st.from_regex(r"[a-z]{2,9}", fullmatch=True), min_size=1, max_size=5).map("_".join),
    st.datetimes().map(str),
)


@settings(deadline=None)
@given(TEXTS, NAMES)
def test_redacted_text_stays_as_it_is(text: str, name: str) -> None:
    once = SecretRedactor().redact(text, name)
    assert SecretRedactor().redact(once, name) == once
    assert SecretRedactor().redact(text, name) == once
    redactor = SecretRedactor()
    assert redactor.redact(redactor.redact(text, name), name) == once


def test_a_key_behind_a_header_without_an_end_takes_nothing_else_with_it() -> None:
    key = planted("ec key", 0)
    text = json.dumps({"": "-----BEGIN PRIVATE KEY-----" + key.text, "kept": "as it is"})
    cleaned = SecretRedactor().redact(text)
    assert json.loads(cleaned)["kept"] == "as it is"
    assert not [secret for secret in key.secrets if secret in cleaned]
    # A second one that has no end is not closed by the first.
    open_end = key.text + key.text.partition("-----END")[0]
    assert not [secret for secret in key.secrets if secret in SecretRedactor().redact(open_end)]


@settings(deadline=None, max_examples=times(10))
@given(st.dictionaries(st.text(max_size=8) | NAMES, TEXTS | st.lists(TEXTS, max_size=3), max_size=5))
def test_json_stays_json_of_the_same_shape(held: dict[str, str | list[str]]) -> None:
    text = json.dumps(held)
    cleaned = json.loads(SecretRedactor().redact(text))
    assert isinstance(cleaned, dict)
    draft = Draft(role="user", parts=(Text(text=text), Call(id="c", name="Run", arguments=dict(held))))
    once = redact_draft(draft, SecretRedactor().redact)
    assert redact_draft(once, SecretRedactor().redact) is once
    (call,) = once.calls
    assert isinstance(call.arguments, dict)
    assert [type(value) for value in call.arguments.values()] == [type(value) for value in held.values()]


@given(st.lists(THINGS, min_size=1, max_size=8), st.sampled_from([" ", "\n", ", ", ": ", "..", " = "]))
def test_hashes_uuids_paths_and_names_are_no_secrets(things: list[str], between: str) -> None:
    text = between.join(things)
    assert SecretRedactor().redact(text) is text


@given(st.integers(0, 2**32), st.integers(0, 6_000))
def test_the_data_of_media_is_left(seed: int, size: int) -> None:
    data = random.Random(seed).randbytes(size).hex()
    draft = Draft(role="user", parts=(Media(media_type="image/png", data=data),))
    assert redact_draft(draft, SecretRedactor().redact) is draft
