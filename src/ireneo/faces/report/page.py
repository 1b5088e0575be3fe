"""The page: its parts in order, each made by a module of its own. All text is escaped where it enters the page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib.resources import files
from typing import TYPE_CHECKING

from msgspec import Struct

from ireneo.faces.cli.output import counted
from ireneo.faces.report.taught import LESSONS_TITLE, taught
from ireneo.faces.report.dead_ends import DEAD_ENDS_TITLE, dead_ends
from ireneo.faces.report.kept import KEPT_TITLE, kept, tokens_kept
from ireneo.faces.report.calibrated import CONFIDENCE_TITLE, calibrated
from ireneo.faces.report.runs import RUNS_TITLE, runs
from ireneo.faces.report.markup import anchor, rounded, safe, tile

if TYPE_CHECKING:
    from ireneo.types import CalibrationReport, ClaimTotals, LearnedRun, Lesson

NO_NETWORK = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a browser may load for the page: nothing. So whatever a log held, the page fetches and runs nothing."""
PARTS = (LESSONS_TITLE, DEAD_ENDS_TITLE, KEPT_TITLE, CONFIDENCE_TITLE, RUNS_TITLE)


class ReportMaterial(Struct, frozen=True, kw_only=True):
    """What the page tells of."""

    space: str
    made: datetime
    runs: Sequence[LearnedRun]
    lessons: Sequence[Lesson]
    claims: Sequence[ClaimTotals]
    calibration: CalibrationReport | None


def page(material: ReportMaterial) -> str:
    """The page, whole."""
    style = files(__package__).joinpath("style.css").read_text("utf-8")
    title = f"What {counted(len(material.runs), 'run')} taught"
    body = "\n".join(
        [
            _head(material, title),
            taught(material.lessons),
            dead_ends(material.claims, material.lessons),
            kept(material.runs, material.lessons),
            calibrated(material.calibration),
            runs(material.runs),
        ]
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{safe(title)}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{NO_NETWORK}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _head(material: ReportMaterial, title: str) -> str:
    told = [run.started or run.ended for run in material.runs]
    days = sorted(day for day in told if day is not None)
    period = f" · {days[0]:%Y-%m-%d} to {days[-1]:%Y-%m-%d}" if days else ""
    log = sum(run.tokens for run in material.runs)
    cost = tokens_kept(material.runs, material.lessons)
    failed, calls = sum(run.failures for run in material.runs), sum(run.calls for run in material.runs)
    tiles = [
        tile(log, "tokens of log"),
        tile(cost, f"kept, 1 in {rounded(log / cost)}" if cost else "kept"),
        tile(len(material.lessons), "lessons"),
        tile(failed, f"failed calls of {rounded(calls)}"),
        tile(sum(run.lost_tokens for run in material.runs), "tokens they cost"),
        tile(sum(run.lost_seconds for run in material.runs) / 60, "minutes, as far as told"),
    ]
    links = "".join(f'<a href="#{anchor(part)}">{safe(part)}</a>' for part in PARTS)
    return (
        f"<header>\n<h1>{safe(title)}</h1>\n"
        f'<p class="note">Space {safe(material.space)}{period} · made on {material.made:%Y-%m-%d %H:%M}</p>\n'
        f'<div class="tiles">{"".join(tiles)}</div>\n<nav>{links}</nav>\n</header>'
    )
