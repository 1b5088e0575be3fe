"""Stories and talks of many voices: JSON with an author and a text each, Markdown, plain dialogue, and plain prose.

Whatever stands in one file is one session, a straight line of messages, so that a story in episodes stays one story.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from ireneo.formats.logs.dialogue.pages import paragraphs, speeches
from ireneo.formats.logs.dialogue.records import begins_with_record, is_json, records
from ireneo.formats.logs.dialogue.script import is_surely_spoken, script_of
from ireneo.formats.logs.format import Fault, LoggedSession
from ireneo.formats.logs.json_lines import BOM, readable
from ireneo.formats.logs.sessions import nothing_readable, straight_session
from ireneo.log.message import Draft

SAMPLE_LINES = 4_000
"""Whether a text has speakers, and how they are marked, is settled by so many of its lines."""


class Dialogue:
    """Reads what several voices say, each message with its author."""

    name = "chat"
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` is JSON with authors and texts, or a text in which speakers clearly take turns."""
        if is_json([sample]):
            return begins_with_record(sample)
        return is_surely_spoken(sample.decode(errors="replace").splitlines())

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the one session of a file, which is called `name`."""
        drafts: list[Draft] = []
        faults: list[Fault] = []
        for each in self.drafts(lines):
            if isinstance(each, Fault):
                faults.append(each)
            else:
                drafts.append(each)
        if not drafts:
            raise nothing_readable(faults)
        yield straight_session(name, drafts, faults)

    def drafts(self, lines: Iterable[bytes]) -> Iterator[Draft | Fault]:
        """Read the messages of a file one at a time, in order, with what can't be read among them."""
        rest = iter(lines)
        sample: list[bytes] = []
        for line in rest:
            sample.append(line if sample else line.removeprefix(BOM))
            if line.strip():
                break
        # A line of JSON may be a whole episode, so that no more of them are read than must be.
        if not is_json(sample):
            sample += islice(rest, SAMPLE_LINES)
        every = chain(sample, rest)
        if is_json(sample):
            yield from records(every)
            return
        script = script_of([readable(line, 0)[0] for line in sample])
        faults: list[Fault] = []
        text = _text(every, faults)
        for draft in speeches(text, script) if script else paragraphs(text):
            yield draft
            yield from faults
            faults.clear()
        yield from faults


def _text(lines: Iterable[bytes], faults: list[Fault]) -> Iterator[str]:
    """The lines as text, without their ends."""
    for number, line in enumerate(lines, 1):
        text, fault = readable(line, number)
        if fault is not None:
            faults.append(fault)
        yield text.rstrip()
