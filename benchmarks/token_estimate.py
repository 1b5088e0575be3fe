"""How near the token estimate comes to the exact count, and how fast both are.

    python benchmarks/token_estimate.py [DATA]

DATA holds the sample logs (default: ../shared/data beside the project). A session is a log, a run or a book; its bias
is how much too high its estimate is. "messages" are those of more than 200 tokens.
"""

from __future__ import annotations

import json
import lzma
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import fmean, quantiles, stdev

from ireneo.adapters.tokens import EstimatedTokenizer, ExactTokenizer
from ireneo.ports.models import Tokenizer

DATA = Path(__file__).parents[1].parent / "shared" / "data"
LONG = 200
NOT_TEXT = frozenset({"id", "tool_use_id", "tool_call_id", "toolCallId", "signature", "type", "role", "data", "uuid"})
Session = list[str]


def strings(value: object) -> Iterator[str]:
    """Every text in a JSON value, ids and media left out."""
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in NOT_TEXT:
                yield from strings(each)


def rows(path: Path, every: int = 1) -> Iterator[dict[str, object]]:
    """The JSON objects of a file, one a line; a line that is none is passed over."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in islice(lines, None, None, every):
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            if isinstance(row, dict):
                yield row


def whole_files(field: str) -> Callable[[Path, int], Iterator[Session]]:
    """Each file is a session, and each line of it a message under `field`."""
    return lambda folder, every: (
        [text for row in rows(path) for text in strings(row.get(field))]
        for path in sorted(folder.glob("*.jsonl.xz"))[::every]
    )


def lines(field: str) -> Callable[[Path, int], Iterator[Session]]:
    """Each line is a session."""
    return lambda folder, every: (
        list(strings(row.get(field))) for path in sorted(folder.glob("*.jsonl.xz")) for row in rows(path, every)
    )


def books(folder: Path, every: int) -> Iterator[Session]:
    """Each file is a text; its paragraphs are its messages."""
    for path in sorted(folder.glob("*.txt.xz"))[::every]:
        with lzma.open(path, "rt", encoding="utf-8") as book:
            yield book.read().split("\n\n")


KINDS: dict[str, Callable[[Path, int], Iterator[Session]]] = {
    "claude_code_sessions": whole_files("message"),
    "mini_swe_agent": lines("messages"),
    "tau_bench_airline": lines("traj"),
    "specstory_history": lines("markdown"),
    "aider_chats": lines("markdown"),
    "pi_sessions": whole_files("message"),
    "novels": books,
    "crd3": lines("turns"),
    "longmemeval": lines("haystack_sessions"),
}


def sessions(data: Path, kind: str, every: int = 1) -> Iterator[Session]:
    """The sessions of one kind that have any text; of `every` so many of a file or a folder one, where not all."""
    return (each for each in KINDS[kind](data / kind, every) if each)


def timed(tokenizer: Tokenizer, texts: Session) -> tuple[list[int], float]:
    """Count each text, and the seconds that it took."""
    start = time.perf_counter()
    counts = [tokenizer.count(text) for text in texts]
    return counts, time.perf_counter() - start


def measure(data: Path, kind: str) -> str:
    """One row of the table."""
    estimate, exact = EstimatedTokenizer(), ExactTokenizer()
    whole: list[float] = []
    single: list[float] = []
    megabytes = seconds = exact_seconds = 0.0
    for texts in sessions(data, kind):
        guesses, spent = timed(estimate, texts)
        truths, exact_spent = timed(exact, texts)
        megabytes += sum(len(text.encode("utf-8", "replace")) for text in texts) / 1e6
        seconds += spent
        exact_seconds += exact_spent
        whole.append(100 * (sum(guesses) / max(1, sum(truths)) - 1))
        single += [100 * (guess / truth - 1) for guess, truth in zip(guesses, truths, strict=True) if truth > LONG]
    spread = stdev(whole) if len(whole) > 1 else 0.0
    low, high = (quantiles(single, n=100)[place] for place in (0, 98)) if len(single) > 1 else (0.0, 0.0)
    under = 100 * sum(bias < -2 for bias in single) / max(1, len(single))
    return (
        f"{kind:21}{len(whole):5}{fmean(whole):+7.2f}{spread:6.2f}{min(whole):+7.2f}{max(whole):+7.2f}"
        f"{len(single):9}{low:+7.2f}{high:+7.2f}{min(single, default=0):+7.2f}{under:7.1f}"
        f"{megabytes / seconds:8.1f}{megabytes / exact_seconds:8.1f}{exact_seconds / seconds:7.2f}"
    )


def main(data: Path) -> None:
    """Print the table."""
    missing = [kind for kind in KINDS if not (data / kind).is_dir()]
    if missing:
        print(f"Not in {data}, and left out: {', '.join(missing)}.")
    print("bias of the estimate against o200k, in percent; speeds in MB/s, and their ratio")
    print(
        f"{'kind':21}{'n':>5}{'mean':>7}{'sd':>6}{'under':>7}{'over':>7}"
        f"{'messages':>9}{'p1':>7}{'p99':>7}{'under':>7}{'<-2 %':>7}{'est.':>8}{'exact':>8}{'ratio':>7}"
    )
    for kind in KINDS:
        if kind not in missing:
            print(measure(data, kind), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
