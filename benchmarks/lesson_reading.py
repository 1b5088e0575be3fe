"""Whether lessons are worth reading: sheets for readers who did not write the rules, and what their verdicts add up to.

`write` learns from folders of logs, each by itself, and writes a sheet of all lessons of each with the passages that
show them, and the instructions. A reader leaves `verdicts.json` beside them: `{"sheet-number": [verdict, reason]}`.
`count` prints the shares, and how many good lessons there are for each run that has something to teach.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import Counter
from pathlib import Path

import ireneo.sync
from ireneo.errors import IreneoError

MOST = 60
"""Lessons of a source that are read; of more, so many by lot."""
VERDICTS = ("good", "bare", "trivial", "duplicate", "noise", "wrong")
INSTRUCTIONS = """\
A lesson is one line that was drawn from the logs of agents' runs. It is meant to be pasted into the project's AGENTS.md
and to be shown to the agent that works there next. Behind it stand passages of the logs that show it. Give each lesson
one verdict, as a demanding maintainer of that project would:
- good: true as far as the passages show; says what to do or what holds, so that the next run goes better. A ruling of
  the user that binds later work is good.
- bare: true, but without a remedy or a consequence: one can't act on it.
- trivial: any competent agent knows it, or it is in plain sight in the project.
- duplicate: says what an earlier lesson of the same sheet says.
- noise: about one task only, incomprehensible, cut off, or of no use later.
- wrong: a false cause, a false remedy, a false attribution, misleading, or it holds one case's private data.
Write verdicts.json: {"sheet-number": [verdict, reason in at most twelve words], ...}, for every lesson.
"""


def write(given: argparse.Namespace) -> None:
    """Learn from each folder, and write its sheet."""
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "INSTRUCTIONS.txt").write_text(INSTRUCTIONS, encoding="utf-8")
    runs: dict[str, int] = {}
    for each in given.sources:
        name, _, folder = each.partition("=")
        with tempfile.TemporaryDirectory() as place, ireneo.sync.open(Path(place) / "lessons.db") as memory:
            for file in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
                try:
                    memory.import_file(file)
                except IreneoError as fault:
                    print(f"{name}: {file.name} was left out: {fault}")
            learned = memory.learn().sessions
            found = list(memory.lessons())
        # A run in which nothing failed and nobody ruled has nothing to teach.
        runs[name] = sum(bool(each.run.failures or each.lessons) for each in learned)
        shown = found if len(found) <= MOST else random.Random(given.seed).sample(found, MOST)
        sheet = [
            f"## {name}-{number}\nproject: {lesson.project or '(several, or not known)'}; seen in {lesson.seen} runs\n"
            f"LESSON: {lesson.lesson}\n" + "".join(f"  shown by: {cited.quote}\n" for cited in lesson.sources[:6])
            for number, lesson in enumerate(shown, 1)
        ]
        (given.out / f"{name}.md").write_text("\n".join(sheet), encoding="utf-8")
        print(f"{name}: {len(learned)} runs, {runs[name]} with something to teach; {len(found)} lessons", flush=True)
    (given.out / "runs.json").write_text(json.dumps(runs), encoding="utf-8")


def count(given: argparse.Namespace) -> None:
    """Print the shares of the verdicts."""
    runs: dict[str, int] = json.loads((given.out / "runs.json").read_text(encoding="utf-8"))
    verdicts: dict[str, list[str]] = json.loads((given.out / "verdicts.json").read_text(encoding="utf-8"))
    by_sheet: dict[str, Counter[str]] = {name: Counter() for name in runs}
    for name, (verdict, _) in verdicts.items():
        by_sheet[name.rpartition("-")[0]][verdict] += 1
    by_sheet["all"] = sum(by_sheet.values(), Counter())
    runs["all"] = sum(runs.values())
    print("sheet        lessons  " + "".join(f"{verdict:>10}" for verdict in VERDICTS) + "   good a run")
    for name, found in by_sheet.items():
        total = sum(found.values())
        shares = "".join(f"{found[verdict] / max(total, 1):10.2f}" for verdict in VERDICTS)
        print(f"{name:12}{total:8}  {shares}{found['good'] / max(runs[name], 1):13.2f}")


def main() -> None:
    """Write the sheets, or count the verdicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("write", "count"))
    parser.add_argument("sources", nargs="*", help="NAME=FOLDER of logs, several")
    parser.add_argument("--out", type=Path, required=True, help="where the sheets and verdicts stand")
    parser.add_argument("--seed", type=int, default=15)
    given = parser.parse_intermixed_args()
    write(given) if given.what == "write" else count(given)


if __name__ == "__main__":
    main()
