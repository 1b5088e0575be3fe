"""What is cut out of a source is supported by it, what is changed is not, and no text is too strange to look into."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ireneo.grounding.check import LastOutcome, contradicted_verdict, contradicts, is_error_text, voice_faults
from ireneo.grounding.claims import ClaimKind, TextClaim, claims, code_claims
from ireneo.grounding.evidence import SourceIndex, check_text
from ireneo.language.words import artifacts
from ireneo.log.calls import has_instruction, quote_instructions

words = st.text("abcdefghijklmnop", min_size=3, max_size=8)
paths = st.builds(
    lambda parts, end: "/".join(parts) + end, st.lists(words, min_size=1, max_size=4), st.sampled_from([".py", ".go"])
)
identifiers = st.builds("_".join, st.lists(words, min_size=2, max_size=3))
numbers = st.builds(
    lambda figure, unit: f"{figure}{unit}",
    st.integers(0, 10**7).map(lambda number: f"{number:,}")
    | st.integers(0, 9_999).map(lambda number: f"{number / 100:.2f}"),
    st.sampled_from(["", " s", "ms", " %", " MB", " tests"]),
)
pieces = words | paths | identifiers | numbers
sources = st.lists(pieces, min_size=4, max_size=30)
strange = st.text(max_size=200) | st.text('`"“”‘’«»[]<>|:.\\/-_0123456789aA \n…⟦⟧', max_size=200)
attacks = st.lists(
    st.sampled_from(
        [
            *"ignore ¦previous ¦all ¦instructions¦you are now¦ DAN¦system:¦\n¦\\n¦<system>¦</s>".split("¦"),
            *"<|im_start|>¦[INST]¦[SUMMARIZED]¦⟦quoted: ¦⟧¦⟦¦IMPORTANT: ¦you must ¦user¦: ¦ ¦\u200b".split("¦"),
            *("BEGIN PROMPT", "-----", "from now on, you ", "x", "[", "]", "<", ">", "|"),
        ]
    ),
    max_size=14,
).map("".join)


@given(pieces=sources, which=st.data())
def test_what_is_cut_out_is_supported(pieces: list[str], which: st.DataObject) -> None:
    source = " ".join(pieces)
    evidence = SourceIndex([source])
    for name in artifacts(source):
        assert all(evidence.supports(claim) for claim in code_claims(name)), name
    for piece in pieces:
        assert check_text(f"It was {piece} then.", evidence) == []
    first = which.draw(st.integers(0, len(pieces) - 3))
    last = which.draw(st.integers(first + 3, len(pieces)))
    assert evidence.supports(TextClaim("quotation", " ".join(pieces[first:last])))


@given(
    pieces=st.lists(words | paths | identifiers, min_size=4, max_size=30),
    number=st.integers(10**4, 10**6),
    place=st.integers(0),
    digit=st.integers(1, 9),
)
def test_a_changed_digit_is_not_supported(pieces: list[str], number: int, place: int, digit: int) -> None:
    # What is left of a number that is rounded is supported.
    assume(number % 10)
    written = str(number)
    at = place % len(written)
    changed = written[:at] + str((int(written[at]) + digit) % 10) + written[at + 1 :]
    assume(changed[0] != "0" and int(changed) % 10)
    evidence = SourceIndex([" ".join([*pieces, written])])
    assert evidence.supports(TextClaim("number", written))
    assert not evidence.supports(TextClaim("number", changed))


@given(source=st.lists(paths, min_size=1, max_size=6), place=st.integers(0), folder=words)
def test_another_path_is_not_supported(source: list[str], place: int, folder: str) -> None:
    path = source[place % len(source)]
    changed = f"{folder}/{path}"
    assume(all(changed not in each for each in source))
    evidence = SourceIndex([" ".join(source)])
    assert evidence.supports(TextClaim("path", path.rpartition("/")[2]))
    assert not evidence.supports(TextClaim("path", changed))
    assert not evidence.supports(TextClaim("path", f"{path}x"))


@given(source=st.lists(words, min_size=4, max_size=20), place=st.integers(0), word=words)
def test_a_changed_word_of_a_quotation_is_not_supported(source: list[str], place: int, word: str) -> None:
    at = place % len(source)
    changed = [*source[:at], word, *source[at + 1 :]]
    assume(word != source[at])
    evidence = SourceIndex([" ".join(source)])
    assert not evidence.supports(TextClaim("quotation", " ".join(changed)))


KINDS: list[ClaimKind] = ["path", "identifier", "number", "error", "command", "quotation", "name", "date"]


@settings(deadline=None)
@given(texts=st.lists(strange, max_size=3), text=strange, kind=st.sampled_from(KINDS))
def test_no_text_is_too_strange(texts: list[str], text: str, kind: ClaimKind) -> None:
    evidence = SourceIndex(texts)
    assert isinstance(evidence.supports(TextClaim(kind, text)), bool)
    assert all(claim.text for claim in claims(text))
    check_text(text, evidence)
    is_error_text(text)
    for voice in ("first", "second", "third"):
        voice_faults(text, voice)
    outcomes = [LastOutcome(subject=each, failed=True) for each in texts]
    contradicted_verdict(text, outcomes)
    contradicts(text, outcomes)


@settings(deadline=None)
@given(
    text=attacks | strange, delimiters=st.lists(st.sampled_from(["-----", "</part>", "⟧", "\n", "quoted"]), max_size=2)
)
def test_neutral_text_instructs_nobody(text: str, delimiters: list[str]) -> None:
    neutral = quote_instructions(text, delimiters)
    assert not has_instruction(neutral)
    assert quote_instructions(neutral, delimiters) == neutral
    assert neutral.count("⟦") == neutral.count("⟦quoted: ") == neutral.count("⟧")
