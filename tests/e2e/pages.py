"""The blocks of code in the pages that a new user reads, in their order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
_FENCE = re.compile(r"^```(\w*)$")
INDENT = "    "


class Block(NamedTuple):
    """A block of code, and where it stands."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def first(self) -> str:
        return self.text.partition("\n")[0]


def blocks(page: Path) -> list[Block]:
    """Those between fences, and those that are indented by four columns, which Markdown takes for code as well."""
    out: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        start = number
        fence = _FENCE.match(lines[number])
        inside: list[str] = []
        if fence:
            number += 1
            while lines[number] != "```":
                inside.append(lines[number])
                number += 1
        elif lines[number].startswith(INDENT) and not lines[number - 1].strip():
            while number < len(lines) and (lines[number].startswith(INDENT) or not lines[number].strip()):
                inside.append(lines[number].removeprefix(INDENT))
                number += 1
            number -= 1
        number += 1
        if inside:
            text = "\n".join(inside).rstrip() + "\n"
            out.append(Block(page.name, start + 1, fence.group(1) if fence else "", text))
    return out


def fits(printed: str, seen: str, *, counts: bool = True) -> bool:
    """Whether a printed output is what was seen: a line of “…” stands for any lines, one within a line for any words.

    Without `counts` the numbers and the ids may be others.
    """
    pattern = ""
    for line in printed.strip("\n").splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
            continue
        said = r".*".join(map(re.escape, line.rstrip().split("…")))
        if not counts:
            said = re.sub(r"\b[msp]_[a-z2-7]{7}|(?:\\ )*\b\d[\d,]*", _other, said)
        pattern += said + r"[ ]*\n"
    return re.fullmatch(pattern, seen.strip("\n") + "\n" if seen.strip("\n") else "") is not None


def _other(found: re.Match[str]) -> str:
    return r"[msp]_\w{7}" if found[0][1:2] == "_" else r"\s*[\d,]+"
