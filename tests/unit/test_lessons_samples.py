"""What the sample runs beside the project teach: every claim is shown by its messages."""

from __future__ import annotations

import lzma
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from tests.unit.lesson_runs import NOW
from tests.unit.runs import quarters

from ireneo.formats.logs.format import log_format
from ireneo.grounding.evidence import SourceIndex, check_text
from ireneo.lessons.lessons import lesson_drafts
from ireneo.lessons.observe import texts_of
from ireneo.lessons.run import Observation
from ireneo.lessons.shell import RunMaterial
from ireneo.lessons.study import observations_of
from ireneo.log.message import chain, count_parts

DATA = Path(__file__).parents[3] / "shared" / "data"
RUNS = 24

pytestmark = [
    pytest.mark.samples,
    pytest.mark.skipif(not (DATA / "mini_swe_agent").is_dir(), reason="the sample logs are not beside the project"),
]


def runs() -> list[RunMaterial]:
    (path,) = sorted((DATA / "mini_swe_agent").glob("*.jsonl.xz"))[:1]
    with lzma.open(path) as lines:
        sessions = islice(log_format("mini-swe-agent").read(lines, "mini"), RUNS)
        return [
            RunMaterial(
                session=session.id,
                project="samples",
                messages=tuple(
                    message
                    for message in chain(None, session.path, lambda parts: count_parts(parts, quarters))
                    if message.draft.origin == "spoken"
                ),
                put_in=tuple(
                    message
                    for message in chain(None, session.path, lambda parts: count_parts(parts, quarters))
                    if message.draft.origin == "injected"
                ),
            )
            for session in sessions
        ]


def test_claims_of_sample_runs_are_grounded_and_some_become_lessons() -> None:
    by_cue: dict[str, list[Observation]] = {}
    unsupported: list[str] = []
    for run in runs():
        there = {message.id: message for message in (*run.messages, *run.put_in)}
        for each in observations_of(run):
            by_cue.setdefault(each.cue, []).append(each)
            if each.text:
                shows = SourceIndex(texts_of(there[name] for name in each.sources))
                unsupported += [claim.text for claim in check_text(f"{each.text} {each.limits}", shows)]
    assert unsupported == []
    drawn = [made for seen in by_cue.values() if (made := lesson_drafts(seen, None, NOW)).drafts]
    kinds = Counter(made.drafts[0].kind for made in drawn)
    assert kinds["semantic"] >= 1
    assert all(len(made.drafts[0].text) < 400 for made in drawn)
