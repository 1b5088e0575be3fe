"""Leases that nobody will give back, and work that fails again and again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import get_args

from ireneo.context.summary import Summary
from ireneo.engine.doctor.finding import Cure, Finding, Found, named
from ireneo.engine.doctor.summaries import Shelf
from ireneo.engine.texts import text_id
from ireneo.log.branch import SessionKey
from ireneo.log.ids import short
from ireneo.ports.leases import Lease
from ireneo.ports.transition import Transaction
from ireneo.prompts import PROMPTS
from ireneo.prompts.voices import Voice

STALE = timedelta(hours=1)
"""Whoever let a lease expire for so long doesn't come back to it."""
FAR = timedelta(days=1)
"""Nobody leases for so long: the clock was set wrong when it was taken."""
KEEPS_FAILING = 3
"""So many failures in a row are no accident."""


async def check_leases(tx: Transaction, key: SessionKey, shelf: Shelf, now: datetime) -> list[Found]:
    """What is wrong with the leases of a session."""
    leases = await tx.leases.of_session(key)
    texts = _texts(shelf) if leases else {}
    found = [_failing(lease, texts, now) or _stale(lease, texts, now) for lease in leases]
    return [each for each in found if each is not None]


def _failing(lease: Lease, texts: Mapping[str, Summary], now: datetime) -> Found | None:
    if lease.failures < KEEPS_FAILING:
        return None
    waits = lease.retry_at is not None and lease.retry_at > now
    when = f"at {_time(lease.retry_at)}" if waits and lease.retry_at else "when work goes on"
    why = lease.error.strip().rstrip(".") or "no reason was kept"
    text = f"{_work(lease, texts)} failed {lease.failures} times in a row; it is tried again {when}. Last: {why}."
    advice = "`ireneo doctor --mend` forgets the failures, so that it is tried again at once."
    return _found(lease, text, advice, "The failures are forgotten; it is tried again at once.")


def _stale(lease: Lease, texts: Mapping[str, Summary], now: datetime) -> Found | None:
    if not lease.holder:
        return None
    if lease.until < now - STALE:
        what = f"expired at {_time(lease.until)}, and was never given back"
    elif lease.until > now + FAR:
        what = f"lasts until {_time(lease.until)}, which nobody leases for: a clock was wrong"
    else:
        return None
    text = f"{_work(lease, texts)} is leased to {lease.holder}; the lease {what}."
    return _found(lease, text, "`ireneo doctor --mend` forgets the lease.", "The lease is forgotten.")


def _found(lease: Lease, text: str, advice: str, done: str) -> Found:
    return Found(
        finding=Finding(kind="fault", session=lease.key.session, text=text, advice=advice),
        cure=Cure(forget=(lease,), done=done),
    )


def _texts(shelf: Shelf) -> dict[str, Summary]:
    """The summaries by the names of the texts that models may be asked for."""
    out: dict[str, Summary] = {}
    voices: tuple[Voice, ...] = get_args(Voice)
    for summary in shelf.canonical:
        out[summary.id] = summary
        if summary.level in PROMPTS:
            out.update((text_id(summary, (), voice), summary) for voice in voices)
    return out


def _work(lease: Lease, texts: Mapping[str, Summary]) -> str:
    """What a sentence calls the work: the summary, where it is the text of one."""
    summary = texts.get(lease.work)
    if summary is not None:
        return f"The text of {named(summary)}"
    return f"Work {short(lease.work) if lease.work.startswith('s_') else lease.work}"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
