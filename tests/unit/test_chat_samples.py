"""Real trajectories come back equal, and every cut of every forty-eighth of them is valid in each format."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from ireneo import compact
from ireneo.formats.chat.format import CHAT_FORMATS
from ireneo.log.message import Draft

SAMPLES = Path(__file__).parents[2].parent / "shared" / "data" / "tau_bench_airline"

pytestmark = [
    pytest.mark.samples,
    pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample logs are not beside the project"),
]


def trajectories() -> Iterator[list[dict[str, object]]]:
    for file in sorted(SAMPLES.glob("*.jsonl.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)["traj"]


def cuts(drafts: list[Draft]) -> Iterator[list[Draft]]:
    """Every beginning, every end, and every list with one message taken out."""
    for index in range(len(drafts)):
        yield drafts[: index + 1]
        yield drafts[index:]
        yield drafts[:index] + drafts[index + 1 :]


def test_every_trajectory_comes_back_equal() -> None:
    form = CHAT_FORMATS["openai"]
    count = 0
    for messages in trajectories():
        assert compact(messages, 1_000_000).format == form.name
        payload = form.encode(form.decode(messages))
        assert payload.messages == messages
        assert form.validate(payload) == []
        count += 1
    assert count


@pytest.mark.parametrize("name", sorted(CHAT_FORMATS))
def test_every_cut_of_a_trajectory_is_valid(name: str) -> None:
    form = CHAT_FORMATS[name]
    # The cuts of one are many and those of the next much alike; `benchmarks/valid_cuts.py` looks at every session.
    for messages in islice(trajectories(), None, None, 48):
        for cut in cuts(CHAT_FORMATS["openai"].decode(messages)):
            assert form.validate(form.encode(cut)) == []


def test_a_trajectory_survives_the_way_to_anthropic_and_back() -> None:
    openai, anthropic = CHAT_FORMATS["openai"], CHAT_FORMATS["anthropic"]
    for messages in trajectories():
        there = openai.decode(messages)
        back = anthropic.decode(anthropic.encode(there))
        spoken = [[draft.text for draft in way if draft.role == "user"] for way in (there, back)]
        assert spoken[0] == spoken[1]
        done = [[(call.name, call.arguments) for draft in way for call in draft.calls] for way in (there, back)]
        assert done[0] == done[1]
        seen = [[result.text for draft in way for result in draft.results] for way in (there, back)]
        assert seen[0] == seen[1]
