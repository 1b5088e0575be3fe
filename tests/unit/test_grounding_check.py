"""Both sides of a check: nothing that the sources don't say, and nothing lost that must be kept."""

from __future__ import annotations

from ireneo.grounding.claims import TextClaim
from ireneo.grounding.evidence import (
    SourceIndex,
    check_text,
    source_texts,
    supported_rate,
)
from ireneo.log.message import Call, Draft, Message, Origin, Result, Role, Text, chain


def said(role: Role, text: str, origin: Origin = "spoken") -> Draft:
    return Draft(role=role, parts=(Text(text=text),), origin=origin)


def called(number: int, tool: str, answer: str, failed: bool = False, **arguments: object) -> list[Draft]:
    return [
        Draft(role="assistant", parts=(Call(id=f"c{number}", name=tool, arguments=arguments),)),
        Draft(role="tool", parts=(Result(call_id=f"c{number}", parts=(Text(text=answer),), failed=failed),)),
    ]


def path(*drafts: Draft) -> list[Message]:
    return chain(None, drafts, lambda parts: (1, 0))


WORK = path(
    said("user", "Fix the race in `Ledger.flush`, and leave docs/api.md alone."),
    *called(
        1, "Bash", "Exit code 1\n--- FAIL: TestFlushOnce (0.00s)", True, command="cd /srv && make test 2>&1 | tail -5"
    ),
    *called(
        2, "Edit", "done", file_path="/srv/pkg/ledger.go", old_string="x_one()", new_string="x_one()\nflush_once()"
    ),
    *called(3, "Bash", "bash: golint: command not found", True, command="golint ./..."),
    *called(4, "Bash", "ok", command="cd /srv && make test"),
    *called(
        5,
        "Bash",
        "LedgerError: batch 7\nexit status 3\nFAILED tests/test_b.py::test_seven",
        True,
        command="pytest tests/test_b.py",
    ),
)


def test_a_text_is_checked_against_its_sources() -> None:
    evidence = SourceIndex(source_texts(WORK))
    text = "I edited pkg/ledger.go and docs/faq.md; `pytest tests/test_b.py` ended with exit status 3, for batch 98."
    assert check_text(text, evidence) == [TextClaim("path", "docs/faq.md"), TextClaim("number", "98")]
    assert supported_rate(text, evidence) == 3 / 5
    assert supported_rate("Nothing to look up.", evidence) == 1.0


def test_another_tools_compaction_is_no_evidence() -> None:
    messages = path(said("user", "We used kafka_topic.", "summary"), said("user", "[SUMMARIZED] keep_row", "summary"))
    assert [check_text(name, SourceIndex(source_texts(messages))) for name in ("keep_row", "kafka_topic")] == [
        [],
        [TextClaim("identifier", "kafka_topic")],
    ]
