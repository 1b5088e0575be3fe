"""What must hold of all that is stored and shown after a hostile model has written; each fails where it doesn't."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from ireneo import Context, Message, Session, Summary
from ireneo.grounding.check import is_error_text
from ireneo.grounding.evidence import SourceIndex, check_text, source_texts
from ireneo.log.calls import has_instruction
from ireneo.ports.store import Transaction
from ireneo.summaries.summary import Line, SectionName
from ireneo.summaries.work import WORK

_PATH = re.compile(r"[\w.-]*\w(?:/[\w.-]*\w)+")
_NAME = re.compile(r"\w+_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+")
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w])")
_OUTSIDE = re.compile(r"\bthe (?:agent|assistant|model)\b|\byou (?:did|ran|changed|fixed)\b", re.IGNORECASE)


async def written(session: Session) -> list[Summary]:
    """Every text by a model that the session's store holds."""
    return [summary for summary in await stored(session) if summary.writing is not None]


async def stored(session: Session) -> list[Summary]:
    """Every summary of the session's store: one look finds ten at the most, so longer beginnings are looked for."""

    def look(tx: Transaction) -> list[Summary]:
        out: list[Summary] = []
        beginnings = ["s_"]
        while beginnings:
            beginning = beginnings.pop()
            found = tx.summaries.find(session.key, beginning)
            if len(found) < 10:
                out += found
            else:
                beginnings += [beginning + letter for letter in "abcdefghijklmnopqrstuvwxyz234567"]

        return out

    return await session._store.read(look)


def lines_of(summary: Summary) -> Iterator[tuple[SectionName, Line]]:
    """Each line of a record with its section."""
    for section in summary.sections:
        for line in section.lines:
            yield section.name, line


def grounded(summary: Summary, path: Sequence[Message]) -> None:
    """Every claim of a record stands in the messages that its writer knew of, or in what the user asked for."""
    seen = summary.writing
    first = summary.first_position
    last = summary.last_position
    if seen and seen.seen_first >= 0:
        # Those before it by the notes on them.
        first, last = 0, max(last, seen.seen_last)
    covered = path[first : last + 1]
    asked = [message for message in path[: summary.last_position + 1] if message.role == "user"]
    evidence = SourceIndex(source_texts([*asked, *covered]))
    raw = raw_text([*asked, *covered])
    numbers = set(re.findall(r"\d+", raw))
    for name, line in lines_of(summary):
        wrong = check_text(line.text, evidence)
        assert not wrong, f"{name} of {summary.id} claims {wrong}: {line.text}"
        _occurs(f"{line.subject} {line.text}", raw, numbers)
        for mention in line.names:
            assert mention.name in raw, f"{mention.name!r} of {summary.id} stands nowhere"


def _occurs(text: str, raw: str, numbers: set[str]) -> None:
    """The same by plain looking, whatever the grounding thinks of it."""
    for found in (*_PATH.findall(text), *_NAME.findall(text)):
        assert found.rstrip(".") in raw, f"{found!r} stands nowhere: {text}"
    for found in _NUMBER.findall(text):
        assert found in numbers, f"the number {found} stands nowhere: {text}"


def raw_text(messages: Sequence[Message]) -> str:
    """All that the messages hold, as plain text."""
    out: list[str] = []
    for message in messages:
        out.append(message.text)
        out += [result.text for result in message.draft.results]
        for call in message.draft.calls:
            given = call.arguments
            out += [call.name, json.dumps(given), *(map(str, given.values()) if isinstance(given, dict) else [given])]
    return " ".join("\n".join(out).split())


def decent(summary: Summary, path: Sequence[Message]) -> None:
    """No line is an error text, tells of the agent from outside, or carries an instruction.

    Where the messages themselves speak of an agent, it may be theirs: then nothing is sure. A system's words tell the
    writer what it is itself.
    """
    shown = raw_text([message for message in path if message.role != "system"]).casefold()
    for name, line in lines_of(summary):
        told = WORK.say(name, line, [mention.name for mention in line.names]).removeprefix("- ")
        assert not is_error_text(told), f"{name} of {summary.id} is an error text: {told}"
        outside = _OUTSIDE.search(told)
        spoken_of = outside and outside[0].split()[-1].casefold() in shown
        assert not outside or spoken_of, f"{name} of {summary.id} tells from outside: {told}"
        # What users asked for is quoted as it was said.
        quoted = name in ("goal", "direction", "constraints", "lifted")
        assert quoted or not has_instruction(told), f"{name} of {summary.id} carries an instruction: {told}"


def honest(summary: Summary, path: Sequence[Message]) -> None:
    """Nothing is called complete over a check that failed last."""
    if failed_last(path[summary.first_position : summary.last_position + 1]):
        for name, line in lines_of(summary):
            assert "COMPLETE" not in line.text, f"{name} of {summary.id} says {line.text!r} over a failing check"
            flip = re.search(r"\b(?:all tests|whole suite|everything)\b.*\b(?:pass|green)", line.text, re.IGNORECASE)
            # What is said to have been tried is not said to be so.
            assert not flip or name == "dead_ends", f"{name} of {summary.id} says {line.text!r} over a failing check"


def failed_last(messages: Sequence[Message]) -> bool:
    """Whether the command that was run last failed."""
    ran = {call.id for message in messages for call in message.draft.calls if call.name == "Bash"}
    results = [result for message in messages for result in message.draft.results if result.call_id in ran]
    return bool(results) and results[-1].failed is True


def pins_stand(context: Context, standing: Sequence[str], lifted: Sequence[str], *, roomy: bool) -> None:
    """Every constraint that stands is shown word for word, or counted where there is no room; no lifted one is."""
    shown = " ".join("\n".join(row.text for row in (*context.pins, *context.view)).split())
    block = "\n".join(row.text for row in context.pins)
    missing = [rule for rule in standing if rule not in shown]
    counted = re.search(r"\((\d+) more have no room here\.\)", block)
    assert not missing or not roomy, f"lost at {context.budget}: {missing}"
    assert len(missing) <= (int(counted[1]) if counted else 0) or not block, f"lost at {context.budget}: {missing}"
    assert not [rule for rule in lifted if rule in block], f"lifted, and pinned: {lifted} in {block}"
