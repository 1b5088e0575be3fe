"""No pattern of the package takes more than time linear in its text, whatever the text is.

`benchmarks/pattern_growth.py` goes through every text for every pattern. Here stand those that are known to be hard,
and a part of the others: `IRENEO_EXAMPLES=4` looks at four times as many.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.examples import TIMES
from tests.pattern_growth import MOST, Text, derived, growth, may_grow, seconds

from ireneo.patterns import lazy_re

ROOT = Path(__file__).parents[2]
LOOK = """
import gc, json, sys
gc.disable()  # Whole sources are read, and little of that is let go before the process ends.
from tests.pattern_growth import collect, grown, held_up
found = collect()
slow = [[each.place, method, repr(text)] for part in range(int(sys.argv[1]))
        for each, method, text in grown(found, every=False, part=part, parts=96)]
bounded = [[each.place, repr(text)] for part in range(min(int(sys.argv[1]), 16))
           for each, text in held_up(found, part, parts=16)]
print(json.dumps([len(found), slow, bounded]))
"""


def test_no_pattern_takes_more_than_time_linear_in_its_text() -> None:
    command = [sys.executable, "-c", LOOK, str(min(TIMES, 96))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found, slow, bounded = json.loads(done.stdout.splitlines()[-1])
    assert found > 500
    assert not [*slow, *bounded], "\n".join(map(str, [*slow, *bounded]))


@pytest.mark.parametrize(
    ("source", "method", "unit"),
    [
        (r"[\w.-]+@\w", "finditer", "a."),
        (r"\s*$", "search", " "),
        (r"“[^”]*”", "finditer", "“"),
        (r"(?:a|b)*c", "search", "ab"),
    ],
)
def test_a_pattern_that_takes_longer_is_found(source: str, method: str, unit: str) -> None:
    after = "!" if method == "search" else ""
    # The other looks only see to it that no linear one is taken for one that grows. What the machine does meanwhile for
    # others may make the short text look slow, and so hide the growth, in a glance.
    found = (growth(re.compile(source), method, Text(unit, after=after), looks=2) for _ in range(3))
    assert any(each >= MOST for each in found)


def test_a_pattern_that_is_linear_is_let_by() -> None:
    assert growth(re.compile(r"(?<![\w.-])[\w.-]++@\w"), "finditer", Text("a.")) < MOST
    assert not may_grow(re.compile(r"\b(?:one|two){1,3}\d{0,9}"))
    assert may_grow(re.compile(r"(?:a(?=b+))?"))


def test_a_limit_that_is_reached_when_the_text_has_been_gone_through_is_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_timer = signal.setitimer

    def set_late(timer: int, limit: float) -> object:
        before = set_timer(timer, limit)
        if not limit:  # Only then, since a timer that is left on would end some later test.
            signal.raise_signal(signal.SIGPROF)
        return before

    monkeypatch.setattr(signal, "setitimer", set_late)
    assert seconds(re.compile("a"), "search", "a", 5.0) == 5.0


def test_hostile_texts_come_from_the_parts_of_a_pattern() -> None:
    units = {text.unit for text in derived(r"<b\b[^>]*>x", 0)}
    assert any(unit.startswith("<b") for unit in units)
    assert Text("a", "<b", "!") in derived(r"<b\b[^>]*>x", 0)


def test_a_lazy_pattern_does_what_a_compiled_one_does() -> None:
    lazy, eager = lazy_re(r"(?P<word>\w)\d", re.I), re.compile(r"(?P<word>\w)\d", re.I)
    for text in ("", "a1 b2", "A1"):
        assert lazy.findall(text) == eager.findall(text)
        assert lazy.sub("-", text) == eager.sub("-", text)
        assert [each.span() for each in lazy.finditer(text)] == [each.span() for each in eager.finditer(text)]
        assert bool(lazy.search(text)) == bool(eager.search(text))
        assert bool(lazy.match(text)) == bool(eager.match(text))
        assert bool(lazy.fullmatch(text)) == bool(eager.fullmatch(text))
        assert lazy.split(text) == eager.split(text)
    assert (lazy.pattern, lazy.flags, lazy.groupindex) == (eager.pattern, eager.flags, eager.groupindex)


def test_a_lazy_pattern_is_compiled_when_it_is_first_asked() -> None:
    faulty = lazy_re("(")
    with pytest.raises(re.error):
        faulty.search("a")
