"""Constraint survival: whether a rule that a user sets somewhere is still there, word for word, in a narrow context.

In each of so many places (a real session, a user's message in it, and its beginning, its end or a message of its own)
one constraint is planted; then the session is cut to an eighth and to a twenty-fifth of its size.
"""

from __future__ import annotations

import argparse
import glob
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

import ireneo
from ireneo.log.message import Draft, Part, Text

sys.path.insert(0, str(Path(__file__).parent))
from valid_cuts import DATA, path_of, sessions

RATIOS = (8, 25)
SMALLEST = 20_000
"""Tokens of a session that is worth cutting to a twenty-fifth."""
CONSTRAINTS = (
    "Never push to the release branch.",
    "Keep the public API of the billing module stable.",
    "Use tabs for indentation, never spaces.",
    "Don't touch anything under third_party/.",
    "From now on every commit message starts with a ticket number.",
    "Please do not add any new dependencies without asking me first.",
    "All timestamps must be stored in UTC.",
    "The staging database is read-only for you.",
    "Only use the standard library in scripts/.",
    "never log customer email addresses",
    "Make sure the response time stays under 200 ms.",
    "For the whole session: answer me in short sentences.",
    "Anything in legacy/ is off limits.",
    "You must not change the format of the audit log.",
    "Stick to Python 3.11 syntax.",
)
WAYS = ("before", "after", "alone")


def planted(path: Sequence[Draft], place: int, way: str, rule: str) -> list[Draft]:
    """The path with `rule` in or behind the message at `place`."""
    drafts = list(path)
    if way == "alone":
        return [*drafts[:place], Draft(role="user", parts=(Text(text=rule),)), *drafts[place:]]
    parts: list[Part] = list(drafts[place].parts)
    spot = next(number for number, part in enumerate(parts) if isinstance(part, Text))
    said = parts[spot]
    assert isinstance(said, Text)
    parts[spot] = Text(text=f"{rule} {said.text}" if way == "before" else f"{said.text}\n{rule}")
    drafts[place] = replace(drafts[place], parts=tuple(parts), native=None)
    return drafts


def main() -> None:
    """Print how many of the planted rules are left, and which are not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="logs (default: the sample sessions beside the project)")
    parser.add_argument("--places", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    files = given.files or sorted(glob.glob(str(DATA / "claude_code_sessions" / "*.xz")))
    if not files:
        sys.exit(f"No sample sessions in {DATA}; name some logs.")
    chance = random.Random(given.seed)
    long: list[list[Draft]] = []
    for file in files:
        for logged in sessions(file):
            path = path_of(logged)
            if ireneo.compact(path, 10_000_000).tokens_before >= SMALLEST:
                long.append(path)
    kept = dict.fromkeys(RATIOS, 0)
    for number in range(given.places):
        path = chance.choice(long)
        spoken = [
            place
            for place, draft in enumerate(path)
            if draft.role == "user" and draft.origin == "spoken" and draft.text.strip() and not draft.joined
        ]
        rule, way = CONSTRAINTS[number % len(CONSTRAINTS)], chance.choice(WAYS)
        session = planted(path, chance.choice(spoken), way, rule)
        size = ireneo.compact(session, 10_000_000).tokens_before
        for ratio in RATIOS:
            context = ireneo.compact(session, max(size // ratio, 256), to="openai")
            there = rule in " ".join("\n".join(row.text for row in (*context.pins, *context.view)).split())
            kept[ratio] += there
            if not there:
                print(f"lost at 1/{ratio} ({context.budget} tokens, {way}): {rule}", file=sys.stderr)
    print(f"{len(long)} sessions of {SMALLEST:,} tokens and more, {given.places} places")
    print("room    kept")
    for ratio in RATIOS:
        print(f"1/{ratio:<5} {kept[ratio]} of {given.places} ({kept[ratio] / given.places:.0%})")


if __name__ == "__main__":
    main()
