"""Twenty traps that runs showed and eight that were told, met again in other words, and harmless calls beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.twenty_traps import SCENES, TOLD, asked, caught, learn, stopped


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


def test_what_was_only_remembered_is_caught_with_the_way_out(db: Path) -> None:
    missed = [(each.name, found and found.text) for each, found, right in caught(db, TOLD) if not right]
    assert not missed
    assert all(found and found.remembered and len(found.text.splitlines()) == 2 for _, found, _ in caught(db, TOLD))


def test_nothing_harmless_is_stopped_by_what_was_remembered(db: Path) -> None:
    assert not [(each.name, call, found) for each, call, found in stopped(db, TOLD) if found is not None]
    for each, other in zip(TOLD, (*TOLD[1:], TOLD[0]), strict=True):
        assert asked(db, other, each.met) is None, (each.name, other.project)
