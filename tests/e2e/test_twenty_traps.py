"""Twenty traps, learned from one to three runs each and met again in other words, and forty harmless calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.twenty_traps import SCENES, asked, caught, learn, stopped


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learn(tmp_path_factory.mktemp("traps"))


def test_each_is_caught_with_the_way_out(db: Path) -> None:
    missed = [(scene.name, found and found.text) for scene, found, right in caught(db) if not right]
    assert len(SCENES) == 20
    assert not missed


def test_no_harmless_call_is_stopped(db: Path) -> None:
    told = [(scene.name, call, found) for scene, call, found in stopped(db)]
    assert len(told) == 40
    assert not [each for each in told if each[2] is not None]


def test_no_other_project_is_told(db: Path) -> None:
    for scene, other in zip(SCENES, (*SCENES[1:], SCENES[0]), strict=True):
        assert asked(db, other, scene.met) is None, (scene.name, other.project)
