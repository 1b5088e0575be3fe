"""Which project a run worked on."""

from __future__ import annotations

import pytest

from ireneo.lessons.run import project_of


@pytest.mark.parametrize(
    ("directory", "project"),
    [
        ("/srv/ann/ledger", "ledger"),
        ("/srv/ann/ledger/", "ledger"),
        ("/srv/ann/ledger/.worktrees/faster", "ledger"),
        ("/srv/ann/ledger/.claude/worktrees/agent-1", "ledger"),
        ("/srv/ann/ledger/.git/worktrees/x", "ledger"),
        ("C:\\Code\\ledger", "ledger"),
        ("/", ""),
        ("/tmp", ""),
        ("/testbed", ""),
        ("/workspace", ""),
        ("/ho" + "me/ann", ""),
        ("/Use" + "rs/ann/", ""),
        ("/ro" + "ot", ""),
        ("/tmp/tmpa8f3kz1q", ""),
        ("", ""),
    ],
)
def test_a_directory_names_its_repository(directory: str, project: str) -> None:
    assert project_of(directory=directory) == project


@pytest.mark.parametrize(
    ("session", "project"),
    [
        ("django__django-11099", "django__django"),
        ("scikit-learn__scikit-learn-13142", "scikit-learn__scikit-learn"),
        ("run of sphinx-doc__sphinx-8548.traj", "sphinx-doc__sphinx"),
        ("task-3-trial-1", ""),
        ("0bb9a2d9-a51e-4d5a-8275-566c766a0ff2", ""),
    ],
)
def test_a_session_may_be_called_after_its_repository(session: str, project: str) -> None:
    assert project_of(session=session) == project


@pytest.mark.parametrize(
    ("folder", "project"),
    [
        ("-Users-ann-Work-ledger", "ledger"),
        ("-home-ann-ledger--worktrees-faster", "ledger"),
        ("-Users-ann", ""),
        ("notes-of-may", ""),
    ],
)
def test_a_folder_may_be_called_after_a_directory(folder: str, project: str) -> None:
    assert project_of(folder=folder) == project


def test_the_surest_sign_counts() -> None:
    assert project_of(directory="/workspace/django__5.0", session="django__django-11099") == "django__django"
    assert project_of(directory="/srv/ledger", session="run 3", folder="-Users-ann-Work-other") == "ledger"
