"""Whether pins are rules: sheets for readers who did not write what finds them, and what their marks add up to.

`draw` takes sessions by lot, with a seed, and writes sheets: what was pinned, every other sentence of a user, a system
or a refusal with any word that may bind, and some without, shuffled and without a mark of which is which. Readers fill
in `yes` or `no`. `count` adds up precision (how much of what was pinned are rules) and recall (how many of all rules
were pinned; what the sentences without such a word hold is reckoned up from those that were read).
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ireneo.log.message import Message, chain
from ireneo.summaries.own_words import user_words_in_result
from ireneo.summaries.pins import find_pins

sys.path.insert(0, str(Path(__file__).parent))
from valid_cuts import DATA, path_of, sessions

TAKE = (
    *("claude_code_sessions:30", "specstory_history:16", "pi_sessions:1", "openhands:3", "aider_chats:5"),
    "tau_bench_airline:5",
)
"""Sessions that are taken of each folder."""
DEVELOPMENT = 20
"""Of these, the first that the lot gives are for whoever writes the rules."""
PLAIN = 300
"""Sentences without a word that may bind that stand in a sheet."""
SHEETS = 4
"""Files that one sheet is dealt out into."""
LONGEST, BEFORE, BEHIND = 1_200, 350, 200
"""Characters that are shown of a sentence, and of what stands before and behind it."""
CUE = re.compile(
    r"\b(?:must|should|shall|ought|never|always|only|don['’]?t|do not|avoid|keep|leave|stick|prefer|instead|rather|"
    r"no longer|make sure|ensure|be sure|from now|going forward|unless|without|rule|convention|require[sd]?|"
    r"need(?:s|ed)?|have to|has to|want(?:s|ed)?|can(?:not|['’]t)|may|allow(?:ed)?|forbid\w*|every|all|each|any|no|not|"
    r"use|follow|limit|let['’]?s|we (?:use|do)|stop|ask|wait|policy|please|as[- ]is)\b",
    re.IGNORECASE,
)
MARK = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
INSTRUCTIONS = """\
Mark each item: is the sentence behind >>> a RULE?

A rule binds work that comes LATER: a standing rule, preference, prohibition or convention of the speaker ("always",
"never", "don't push without asking", "use X instead of Y", "we don't do X here", "keep files under N lines"), a
policy in a system's prompt that says how the assistant is to act or what it may do, or a ruling on the design that
later work in the session must respect ("no fallback, fail loudly", "leave the schema as it is", "we don't want a file
of its own for this", a choice between designs).
It is no rule if it is: a step of the task at hand ("run the tests", "fix this", "add a flag"), a question, a
description of how something behaves or ought to ("the server should return 200 here" as a report of a bug), an example,
a guess, or text that the speaker only quotes or pastes (logs, reviews, code, output, another's report, a document).
What stands before and behind >>> is context. Fill in `yes` or `no` in the column `rule`; doubtful ones get what you
would want an assistant to do: carry the sentence through the whole session word for word (yes), or not (no).
"""


@dataclass(frozen=True)
class Item:
    """A sentence for a reader, and what only the key says of it."""

    id: str
    kind: str
    """`pinned`, `cue` or `plain`."""
    who: str
    session: str
    before: str
    text: str
    behind: str


def found(folder: Path) -> list[tuple[Path, int]]:
    """The sessions of a folder's logs, by file and number; those of helpers that a session started are left out."""
    out: list[tuple[Path, int]] = []
    for file in sorted(folder.glob("*.xz")):
        own = ""
        for number, session in enumerate(sessions(str(file))):
            if not own or not session.id.startswith(own):
                own = session.id
                out.append((file, number))
    return out


def lot(data: Path, take: Sequence[str], seed: int) -> list[tuple[Path, int]]:
    """The sessions that are drawn, in the order of the lot."""
    chance = random.Random(seed)
    drawn: list[tuple[Path, int]] = []
    for each in take:
        folder, _, count = each.partition(":")
        here = found(data / folder)
        drawn += chance.sample(here, min(int(count), len(here)))
    chance.shuffle(drawn)
    return drawn


def spoken(message: Message) -> Iterator[tuple[str, str]]:
    """What a user or the system says in a message, all of it: who says it, and the text."""
    if message.role in ("user", "system") and message.draft.origin == "spoken":
        yield message.role, message.text
    for result in message.draft.results:
        for said, answers in user_words_in_result(result):
            yield "answer" if answers else "refusal", said


def sentences(text: str) -> list[str]:
    """The sentences of a text, cut as simply as can be: nothing is left out."""
    out: list[str] = []
    for line in text.splitlines():
        out += [flat for piece in re.split(r"(?<=[.!?])\s+", line) if (flat := " ".join(piece.split()))]
    return [each for each in out if sum(char.isalpha() for char in each) > 3]


def items(path: Path, number: int) -> Iterator[tuple[str, str, str, str, str]]:
    """The sentences of a session: kind, who, what stands before, the sentence, what stands behind."""
    session = next(each for place, each in enumerate(sessions(str(path))) if place == number)
    for message in chain(None, path_of(session), lambda parts: (1, 0)):
        left = {line.text for line in find_pins(message)}
        for who, text in spoken(message):
            flat = " ".join(text.split())
            pins = [pin for pin in left if pin in flat]
            left -= set(pins)
            # A pin has no list mark.
            others = [
                each for each in sentences(text) if not any(MARK.sub("", each) in pin or pin in each for pin in pins)
            ]
            place = 0
            for each in [*sorted(pins, key=flat.index), *others]:
                place = 0 if each in pins else place
                start = max(flat.find(each, place), 0)
                place = start
                kind = "pinned" if each in pins else "cue" if CUE.search(each) else "plain"
                yield kind, who, flat[max(0, start - BEFORE) : start], each, flat[start + len(each) :][:BEHIND]
        assert not left, f"What is pinned stands word for word in what was said, and these don't: {left}"


def draw(given: argparse.Namespace) -> None:
    """Write the sheets, and the key that says what each item is."""
    drawn = lot(given.data, given.take or TAKE, given.seed)
    part = drawn[:DEVELOPMENT] if given.part == "development" else drawn[DEVELOPMENT:]
    every: dict[tuple[str, str], Item] = {}
    times: dict[str, int] = {}
    for path, number in part:
        name = f"{path.parent.name}/{path.name}#{number}"
        for kind, who, before, text, behind in items(path, number):
            key = (kind, text)
            if key not in every:
                every[key] = Item(f"i{len(every):05}", kind, who, name, before, text[:LONGEST], behind)
            times[every[key].id] = times.get(every[key].id, 0) + 1
    chance = random.Random(given.seed)
    plain = [item for item in every.values() if item.kind == "plain"]
    shown = [item for item in every.values() if item.kind != "plain"]
    shown += chance.sample(plain, min(given.plain, len(plain)))
    chance.shuffle(shown)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "INSTRUCTIONS.txt").write_text(INSTRUCTIONS, encoding="utf-8")
    for sheet in range(SHEETS):
        dealt = shown[sheet::SHEETS]
        with (given.out / f"read_{sheet + 1}.txt").open("w", encoding="utf-8") as file:
            for item in dealt:
                file.write(f"[{item.id}] {item.who}\n  …{item.before}\n  >>> {item.text}\n  … {item.behind}\n\n")
        with (given.out / f"sheet_{sheet + 1}.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "rule"])
            rows.writerows([item.id, ""] for item in dealt)
    key = {
        item.id: {"kind": item.kind, "who": item.who, "session": item.session, "times": times[item.id]}
        for item in shown
    }
    totals = {"plain": len(plain), "sessions": len(part), "seed": given.seed, "part": given.part}
    given.key.write_text(json.dumps({"totals": totals, "items": key}, indent=1), encoding="utf-8")
    kinds = {kind: sum(item.kind == kind for item in shown) for kind in ("pinned", "cue", "plain")}
    print(f"{len(part)} sessions, {len(shown)} items in {SHEETS} sheets: {kinds}; {len(plain)} sentences without a cue")


def count(given: argparse.Namespace) -> None:
    """Print precision and recall of marked sheets, by distinct sentences and by how often each stands there."""
    held = json.loads(given.key.read_text(encoding="utf-8"))
    marks: dict[str, list[float]] = {}
    for file in sorted(given.out.glob("sheet_*.csv")):
        for row in csv.DictReader(file.open(encoding="utf-8")):
            if row["rule"].strip():
                marks.setdefault(row["id"], []).append(float(row["rule"].strip().lower() in ("yes", "y", "1", "rule")))
    missing = len(held["items"]) - len(marks)
    print(f"{len(marks)} of {len(held['items'])} items marked" + (f", {missing} not" if missing else ""))
    print("who        pinned  rules  precision   missed  recall   (by occurrence: precision, recall)")
    for who in ("all", "user", "refusal", "answer", "system"):
        here = {name: each for name, each in held["items"].items() if name in marks and who in ("all", each["who"])}
        print(_row(who, here, marks, held["totals"]["plain"]))


def _row(who: str, here: dict[str, dict[str, object]], marks: dict[str, list[float]], plain: int) -> str:
    def total(kind: str, *, rules: bool, weighed: bool = False) -> float:
        return sum(
            (int(str(each["times"])) if weighed else 1) * (sum(marks[name]) / len(marks[name]) if rules else 1)
            for name, each in here.items()
            if each["kind"] == kind
        )

    def figures(*, weighed: bool) -> tuple[float, float, float, float, float]:
        pinned, right = total("pinned", rules=False, weighed=weighed), total("pinned", rules=True, weighed=weighed)
        read = total("plain", rules=False)
        # Of the sentences without a cue only some were read: what they hold is reckoned up.
        missed = total("cue", rules=True, weighed=weighed)
        missed += total("plain", rules=True) * (plain / read if read and who == "all" else 1)
        return pinned, right, right / max(pinned, 1), missed, right / max(right + missed, 1)

    pinned, right, precision, missed, recall = figures(weighed=False)
    weighed = figures(weighed=True)
    return (
        f"{who:9}{pinned:8.0f}{right:7.1f}{precision:11.2f}{missed:9.1f}{recall:8.2f}"
        f"   {weighed[2]:.2f}, {weighed[4]:.2f}"
    )


def main() -> None:
    """Draw the sheets, or count marked ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("draw", "count"))
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the folders of logs")
    parser.add_argument("--take", nargs="*", help="FOLDER:SESSIONS, several")
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--part", choices=("development", "test"), default="test")
    parser.add_argument("--plain", type=int, default=PLAIN)
    parser.add_argument("--out", type=Path, required=True, help="where the sheets stand")
    parser.add_argument("--key", type=Path, required=True, help="what each item is; readers don't see it")
    given = parser.parse_args()
    draw(given) if given.what == "draw" else count(given)


if __name__ == "__main__":
    main()
