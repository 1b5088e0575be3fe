"""Who speaks in a text, and to whom."""

from __future__ import annotations

import pytest

from ireneo.grounding.check import voice_faults
from ireneo.language.topics import Voice

KEPT: list[tuple[Voice, str]] = [
    (
        "first",
        "I split `summarise` into helpers because make lint failed. The user said: “let me know, you must not push”.",
    ),
    ("first", "I can't deploy: STAGING_TOKEN is not set."),
    ("first", "I changed the agent loop and `<div>` in page.html; we agreed on List<String>."),
    ("first", "My plan was `the agent did it`."),
    ("second", "You split `summarise`, and your last check passed. The user said “I want it”."),
    ("third", "The agent split src/I/my.py; the user said: “I need you to push”."),
]
FAULTY: list[tuple[Voice, str, str]] = [
    ("first", "The agent split the function.", "The agent"),
    ("first", "Then the assistant ran the tests.", "the assistant"),
    ("first", "The model did two edits.", "The model did"),
    ("first", "You ran the tests.", "You ran"),
    ("first", "You've changed two files.", "You've"),
    ("first", "I fixed it. Let me know if that works.", "Let me know"),
    ("first", "I hope this helps!", "hope this helps"),
    ("first", "I fixed it. Would you like a test as well?", "Would you like"),
    ("first", "Assistant: I fixed it.", "Assistant:"),
    ("first", "I fixed it.\n**User:** thanks", "**User:"),
    ("first", "<summary>I fixed it.</summary>", "<summary>"),
    ("first", "## Status\nDone.", "## "),
    ("first", "I ran\n```\nmake\n```", "```"),
    ("first", "I'm sorry, I lost it.", "I'm sorry"),
    ("first", "As an AI, I have no files.", "As an AI"),
    ("first", "I cannot help with that.", "I cannot help"),
    ("first", "Here is the summary.", "Here is the summary"),
    ("second", "I split it.", "I"),
    ("second", "The agent split it.", "The agent"),
    ("second", "We split it.", "We s"),
    ("third", "I split it.", "I"),
    ("third", "It was my plan.", "my"),
    ("third", "You split it.", "You"),
]


@pytest.mark.parametrize(("voice", "text"), KEPT)
def test_a_voice_is_kept(voice: Voice, text: str) -> None:
    assert voice_faults(text, voice) == []


@pytest.mark.parametrize(("voice", "text", "shown"), FAULTY)
def test_a_voice_is_left(voice: Voice, text: str, shown: str) -> None:
    faults = voice_faults(text, voice)
    assert any(f"“{shown.strip()}" in fault for fault in faults), faults
