"""What a sentence claims that can be looked up."""

from __future__ import annotations

import pytest

from ireneo.grounding.claims import TextClaim, claims

CLAIMS = {
    "an example of a block's operation": (
        "`make lint` ×2 → exit 1, appendAssign at strategy.go:88; then exit 0",
        ["command make lint", "error exit 1", "identifier appendAssign", "path strategy.go", "number line 88"],
    ),
    "numbers with their units": (
        "1,346 tests ran in 0.5 s, 45 % of them slower than 30ms, on v1.2.3; see line 88.",
        ["number 1,346", "number 0.5 s", "number 45 %", "number 30ms", "number v1.2.3", "number line 88"],
    ),
    "lines": ("See lines 88–95 and line 7.", ["number line 88", "number line 95", "number line 7"]),
    "no numbers": ("The 3rd of three, tried 4 times in 16-bit mode, twice ×2.", []),
    "paths": (
        "I moved internal/parser/ and ./cmd/run.py to pkg/context/strategy.go; ./... and a README.md too.",
        ["path internal/parser/", "path ./cmd/run.py", "path pkg/context/strategy.go", "path README.md"],
    ),
    "no paths": ("Either and/or both, read/write on 9/10, e.g. he/she.", ["number 9", "number 10"]),
    "an address": ("It is told at https://example.org/a/b.", ["path https://example.org/a/b"]),
    "errors": (
        "KeyError and db.LockedError, ENOENT, exit status 2, HTTP 404, E0277.",
        [
            "error KeyError",
            "error db.LockedError",
            "error ENOENT",
            "error exit status 2",
            "error HTTP 404",
            "error E0277",
        ],
    ),
    "identifiers": (
        "With --no-verify I called retain_live and Session.append in a1b2c3d4, by keepRow and RowKeeper of AB-12.",
        [
            "identifier --no-verify",
            "identifier retain_live",
            "identifier Session.append",
            "identifier a1b2c3d4",
            "identifier keepRow",
            "identifier RowKeeper",
            "identifier AB-12",
        ],
    ),
    "code": (
        "`x == 3` in `retain_live()` of `a.py:12`, then `None` and ``a `b` c``.",
        [
            "command x == 3",
            "identifier retain_live",
            "path a.py",
            "number line 12",
            "command a `b` c",
        ],
    ),
    "a fence": ("So:\n```sh\nmake lint\n\n}\n```\ndone", ["command make lint"]),
    "quotations": (
        'She said “never push to main” and "keep the API stable" and «laissez les tests tranquilles» of a “big” thing.',
        ["quotation never push to main", "quotation keep the API stable", "quotation laissez les tests tranquilles"],
    ),
    "code in a quotation, and a quotation in code": (
        '“run `git fetch origin` first” is not `echo "never mind that"`.',
        ["quotation run `git fetch origin` first", 'command echo "never mind that"'],
    ),
    "names": (
        "Later Alice asked Bob Miller's team about Postgres and AWS. Then she left.",
        ["name Alice", "name Bob Miller's", "name Postgres"],
    ),
    "no names": ("The Strategy of a sentence. Nothing but I, and the API. Fixed: Everything, NEVER the JSON.", []),
    "a heading": ("Fixed The Rendering Bug In Main Loop", []),
    "dates": (
        "On 2026-11-21 at 14:05, or March 3rd, or 3 April 2026, or on Friday.",
        ["date 2026-11-21", "date 14:05", "date March 3rd", "date 3 April 2026", "date Friday"],
    ),
    "German, where each noun has a capital": (
        "Ich habe die Datei `a.py` geändert, weil der Fehler in der Funktion lag und 12 Tests in Berlin fehlschlugen.",
        ["path a.py", "number 12"],
    ),
    "French": ("Ensuite la base de Marie est passée à 12 %.", ["name Marie", "number 12 %"]),
    "Chinese": ("我修复了 src/a.py 的 12 个错误。", ["path src/a.py", "number 12"]),
    "markup": ("[SUMMARIZED] 14 calls · open with s_8f2k\n## 3 Dead Ends\n1. first\n- 2. second", ["number 2"]),
    "what was cut": (
        "I ran test_retain_live_keeps… on /srv/data/exports…",
        ["identifier test_retain_live_keeps…", "path /srv/data/exports…"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CLAIMS.values(), ids=CLAIMS)
def test_claims(text: str, expected: list[str]) -> None:
    assert [f"{claim.kind} {claim.text}" for claim in claims(text)] == expected


def test_a_claim_is_made_once() -> None:
    assert claims("`keep_row` calls `keep_row`.") == [TextClaim("identifier", "keep_row")]


@pytest.mark.parametrize(
    "text",
    [
        "a" * 50_000,
        "aA" * 20_000,
        "a_" * 20_000 + "é",
        "A" * 30_000 + "é",
        "a/" * 9_000,
        "a-" * 9_000,
        "`" * 9_000,
        '"x ' * 9_000,
    ],
)
@pytest.mark.timeout(20)
def test_a_strange_text_takes_no_age(text: str) -> None:
    assert isinstance(claims(text), list)
