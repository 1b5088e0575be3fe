"""Servers on this machine that speak like the providers of models, and answer as a test tells them to."""

from tests.e2e.loopback.faults import (
    always,
    another_language,
    another_shape,
    cut_off,
    cut_short,
    empty,
    error_text,
    failing,
    far_too_long,
    invalid_json,
    not_its_api,
    ok,
    refusal,
    slow,
    then,
)
from tests.e2e.loopback.server import LoopbackModel
from tests.e2e.loopback.wire import KINDS, Answer, Asked, Kind, Script

__all__ = [
    "KINDS",
    "Answer",
    "Asked",
    "Kind",
    "LoopbackModel",
    "Script",
    "always",
    "another_language",
    "another_shape",
    "cut_off",
    "cut_short",
    "empty",
    "error_text",
    "failing",
    "far_too_long",
    "invalid_json",
    "not_its_api",
    "ok",
    "refusal",
    "slow",
    "then",
]
