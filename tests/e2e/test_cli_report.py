"""`ireneo report`: one page that is well formed, fetches nothing, runs nothing, and tells what is in the store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.agent_log import LOST, MADE, MOON, claude_log
from tests.e2e.test_cli_command import run

from ireneo.faces.report import ReportMaterial, code_marked, page
from ireneo.log.message import MessageId
from ireneo.memories.record import MemoryId
from ireneo.types import Cited, ClaimTotals, DiaryEntry, DiaryLine, LearnedRun, Lesson

AT = datetime(2026, 2, 5, 12, tzinfo=UTC)
VOID = {"meta", "rect", "line"}
"""Elements of the page that nothing stands in: they are closed where they are opened, or never."""
ALLOWED = frozenset(
    "html head meta title style body main header nav section h1 h2 h3 h4 h5 p a b span div details summary code figure "
    "figcaption ol ul li table thead tbody tfoot tr th td svg rect line circle text".split()
)
HOSTILE = (
    """<script>alert(1)</script> `</code><img src=x onerror=alert(2)>` "' onmouseover='x' & <!-- --> ]]> </style> """
    "\x1b[31m\x00\x07 \u202egnp.exe\u202c \ud800 javascript:alert(3)"
)


class Reader(HTMLParser):
    """Reads a page as a browser would, and holds every element to be closed in its turn."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.said = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            self.ids += [value or ""] if name == "id" else []
            self.links += [value or ""] if name == "href" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID, tag
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag, f"{tag} closes something else, at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        self.said += data if self.open[-1:] != ["style"] else ""


def read(text: str) -> Reader:
    """The page, which must be well formed, link only to itself, and hold nothing that runs or fetches."""
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    assert reader.seen <= ALLOWED
    assert not [name for name in reader.attributes if name.startswith("on") or name in ("src", "srcset", "action")]
    assert all(link.startswith("#") and link[1:] in reader.ids for link in reader.links)
    assert len(reader.ids) == len(set(reader.ids))
    assert "url(" not in text
    assert "@import" not in text
    assert """Content-Security-Policy" content="default-src 'none'""" in text
    return reader


def lesson(number: int, text: str = "`make tide` fails with “no table”: run `make moon` first.") -> Lesson:
    return Lesson(
        id=MemoryId(f"m_{number}"),
        project=f"project {number % 3}" if number % 4 else "",
        task_type="",
        lesson=text,
        cue=f"make {number} ⇒ no table",
        category=("failure", "procedural", "factual")[number % 3],
        conditions={"tool": text},
        standing=f"seen in {number + 1} of 40 runs; last in May 2026",
        seen=number + 1,
        met=40,
        last_seen=AT,
        sources=tuple(Cited(session=text, message=MessageId(f"m_{at}"), quote=f"{text} {at}") for at in range(12)),
        tokens=12_345,
        seconds=600,
    )


def learned(number: int, text: str = "Print the tide table.") -> LearnedRun:
    entry = DiaryEntry(
        goal=text,
        opening=MessageId("m_a"),
        last=MessageId("m_b"),
        attempted=(DiaryLine(text=f"`make tide` failed: {text}"),) * 6,
        worked=(DiaryLine(text=text),),
        failed=(DiaryLine(text=text),),
        pattern=text,
    )
    return LearnedRun(
        session=f"{text}-{number}",
        head=MessageId("m_b"),
        learner="1",
        learned=AT,
        project=text,
        source=f"claude-code:{text}",
        started=AT - timedelta(days=number),
        tokens=30_000,
        calls=40,
        failures=number % 7,
        lost_tokens=500,
        lost_seconds=90,
        diary=(entry,) * 3,
        diary_tokens=300,
    )


def claim(of: Lesson) -> ClaimTotals:
    return ClaimTotals(
        cue=of.cue,
        category=of.category,
        held=7,
        broke=2,
        runs=5,
        projects=("harbour",),
        first=AT,
        last=AT,
        tokens=4_321,
        seconds=1_200,
    )


def material(runs: int = 0, lessons: int = 0, text: str = "Print the tide table.") -> ReportMaterial:
    taught = [lesson(number, text) for number in range(lessons)]
    return ReportMaterial(
        space=text,
        made=AT,
        runs=[learned(number, text) for number in range(runs)],
        lessons=taught,
        claims=[claim(each) for each in taught],
    )


def test_what_the_page_tells_follows_from_the_store(tmp_path: Path) -> None:
    logs, db, out = tmp_path / "logs", tmp_path / "memory.db", tmp_path / "page.html"
    logs.mkdir()
    for day in range(3):
        told = claude_log(f"harbour-{day}", [LOST, MOON, MADE], day=day)
        (logs / f"{day}.jsonl").write_text(told, encoding="utf-8")
    run("learn", logs, db=db)
    assert run("report", "--out", out, db=db).stdout == f"{out}: 3 runs; open it in a browser.\n"
    text = out.read_text(encoding="utf-8")
    said = read(text).said
    for part in (
        "What 3 runs taught",
        "harbour-0",
        "Print the tide table",
        "make: tide table not found",
        "run make moon",
    ):
        assert part in said
    assert "2026-02-03 to 2026-02-05" in said
    assert "came back, 3 times in all, one of them in 3 runs" in said
    assert run("report", "--out", "-", db=db).stdout.startswith("<!doctype html>")
    only = run("report", "--out", out, "--project", "elsewhere", db=db).stdout
    assert only == f"{out}: no run of project elsewhere yet; `ireneo learn` imports them.\n"
    assert "make: tide table not found" not in out.read_text(encoding="utf-8")


def test_what_is_told_only_where_it_applies_has_a_section_of_its_own() -> None:
    shown = material(runs=2, lessons=2)
    told, trap = shown.lessons
    guarded = replace(shown, lessons=[told, replace(trap, lesson="`make moon` floods", guard_only=True)])
    said = read(page(guarded)).said
    places = [
        said.rindex(each) for each in ("Told only where it applies", "make moon floods", "Failures that came back")
    ]
    assert places == sorted(places)
    assert "<b>1</b><span>lesson</span>" in page(guarded)
    assert "Told only where it applies" not in read(page(shown)).said


def test_an_empty_store_makes_a_page_that_says_so(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    run("remember", "The tide is late.", db=db)
    assert "What 0 runs taught" in read(run("report", "--out", "-", db=db).stdout).said
    assert "can't be written" in run("report", "--out", tmp_path / "no" / "page.html", ends=2, db=db).stderr
    (tmp_path / "elsewhere").mkdir()
    assert "There is no database" in run("report", cwd=tmp_path / "elsewhere", ends=2).stderr


def test_hostile_text_is_nothing_but_text() -> None:
    text = page(material(runs=3, lessons=4, text=HOSTILE))
    reader = read(text)
    assert "<script>alert(1)</script>" in reader.said, "it is shown, as text"
    assert "gnp.exe" in reader.said
    assert not [sign for sign in "\x1b\x00\x07\u202e\u202c\ud800" if sign in text]
    text.encode("utf-8")


@pytest.mark.parametrize("text", ["` one that is never closed", "``", "a `b` c `d", "", " ", "`" * 7, "\n\n"])
def test_backticks_of_any_number_leave_the_page_well_formed(text: str) -> None:
    read(page(material(runs=1, lessons=1, text=text)))


def test_a_backtick_in_a_quotation_does_not_pair_with_one_outside_it() -> None:
    said = "it failed: “string `line1”; it passed after editing `run.go`."
    assert code_marked(said) == "it failed: “string `line1”; it passed after editing <code>run.go</code>."


def test_a_thousand_runs_stay_a_page_that_a_browser_opens() -> None:
    text = page(material(runs=1_000, lessons=150))
    assert len(text.encode()) < 4_000_000
    reader = read(text)
    assert "600 earlier runs more." in reader.said
    assert "seen in 7 of 40 runs; last in May 2026" in reader.said
