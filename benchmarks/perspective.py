"""Does the first person keep an agent from repeating its dead ends? The same cuts, with notes in each of three voices.

A session is cut where its agent is about to act and the notes of its context tell of an approach that was given up.
A model is shown that context and asked for the next call, once with notes in the first person ("I tried …"), once in
the second ("You tried …"), once in the third ("The agent tried …"). What is counted is how often the call that it
proposes is one of the recorded dead ends again: the same kind of action on the same file, or the same command.

With `--summaries model` the same model writes the notes first, in each voice; with `offline` they are what the
structure shows, and only who is spoken of is changed. The context is written out as one text, since that is how any
model can be asked. Only cuts that were answered in all three voices count.

It needs a model, and spends tokens on it: three calls a cut, and a few more for each block where the model writes the
notes. `--calls` is the most that is made. No figures ship with it: they are those of the model that you name.
"""

from __future__ import annotations

import argparse
import asyncio
import glob
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar, get_args

from msgspec import Struct, field

sys.path.insert(0, str(Path(__file__).parent))
from acting.asking import Act, question, repeated
from acting.cuts import COUNT, Cut, cuts_of
from ireneo import Context, Memory
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.models import Limits, Models
from ireneo.engine.resources import Resources, SystemClock
from ireneo.errors import BadReply, IreneoError, ModelError, ModelRefused, SpendingLimit
from ireneo.language.topics import Voice
from ireneo.ports.models import LanguageModel, Prompt, Reply
from ireneo.summaries.policy import VoiceRule
from ireneo.wiring import models
from valid_cuts import DATA, path_of, sessions

R = TypeVar("R", bound=Struct)
VOICES: tuple[Voice, ...] = get_args(Voice)
KINDS = ("claude_code_sessions", "mini_swe_agent")
UNLIMITED = Limits(calls_per_session=None, tokens_per_session=None, calls_per_day=None, tokens_per_day=None)
CERTAIN, FOUND = 1.96, 0.84
"""A difference is to be found in four of five measurements, and to be chance in one of twenty."""
DIFFERENCE = 0.10
FAULTS_IN_A_ROW = 9
"""After so many answers that were none, no more are asked for."""


class Bill(Struct):
    """What was spent."""

    most: int
    calls: int = 0
    tokens: Counter[str] = field(default_factory=Counter)


class Billed:
    """A model that is asked on account of one voice, as long as there are calls left."""

    def __init__(self, model: LanguageModel, bill: Bill, voice: Voice) -> None:
        """Stand before the model."""
        self._model = model
        self._bill = bill
        self._voice = voice

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        """Ask. Raises SpendingLimit where no call is left, and what the model raises."""
        if self._bill.calls >= self._bill.most:
            raise SpendingLimit(f"The {self._bill.most:,} calls are made; raise --calls for more cuts.")
        try:
            answer = await self._model.ask(prompt, reply)
        except ModelError as error:
            self._spent(error.calls, error.tokens)
            raise
        self._spent(answer.usage.calls, answer.usage.tokens_in + answer.usage.tokens_out)
        return answer

    def _spent(self, calls: int, tokens: int) -> None:
        self._bill.calls += calls
        self._bill.tokens[self._voice] += tokens


class Result(Struct):
    """What was measured."""

    repeats: list[dict[Voice, bool]] = field(default_factory=list)
    """For each cut that was answered in all voices: where the model repeated a dead end."""
    really: int = 0
    """In how many of these the agent itself had gone on with a dead end."""
    unanswered: Counter[str] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)
    """What became of the notes, by voice and outcome."""
    fault: str = ""
    """What was wrong with the last answer that was none."""
    stopped: str = ""
    """Why it ended before all cuts were asked."""

    def count(self, voice: Voice) -> int:
        """In how many cuts a dead end was repeated."""
        return sum(each[voice] for each in self.repeats)


async def measure(
    cuts: Sequence[Cut], model: LanguageModel, budget: int, *, write: bool, bill: Bill, tell: Callable[[str], None]
) -> Result:
    """Ask for the next action at each cut, in each voice; with `write`, the model writes the notes before."""
    result, in_a_row = Result(), 0
    for number, cut in enumerate(cuts):
        # The voices take turns in who comes first: a server may change as the hours pass.
        turn = number % len(VOICES)
        repeats: dict[Voice, bool] = {}
        for voice in (*VOICES[turn:], *VOICES[:turn]):
            asked = Billed(model, bill, voice)
            try:
                context = await shown(cut, asked if write else None, budget, voice, result.written)
                reply = await asked.ask(question(context, voice, cut.tools), Act)
            except (BadReply, ModelRefused) as error:
                result.unanswered[voice] += 1
                in_a_row += 1
                result.fault = str(error)
                if in_a_row == FAULTS_IN_A_ROW:
                    result.stopped = "no answer was one any more"
                    return result
            except ModelError as error:
                result.stopped = str(error)
                return result
            else:
                in_a_row = 0
                repeats[voice] = bool(repeated(reply.value.call, cut.dead_ends))
        if len(repeats) == len(VOICES):
            result.repeats.append(repeats)
            result.really += any(repeated(call, cut.dead_ends) for call in cut.really)
        tell(f"{number + 1} of {len(cuts)} cuts, {bill.calls:,} calls")
    return result


async def shown(cut: Cut, model: LanguageModel | None, budget: int, voice: Voice, written: Counter[str]) -> Context:
    """The context of a cut, with notes by the model in that voice, where there is a model."""
    given = Models.of(model) if model else Models()
    means = Resources(
        store=InMemoryStore(),
        count=COUNT,
        clock=SystemClock(),
        models=given,
        limits=UNLIMITED,
        voices=VoiceRule(work=voice),
    )
    session = await Memory(means, "perspective").session(cut.session)
    await session.append(list(cut.path))
    if model:
        for each in (await session.summarise(budget)).summaries:
            written[f"{voice} {each.did}"] += 1
    return await session.context(budget, to="openai")


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    share, square = hits / of, CERTAIN**2
    middle = share + square / (2 * of)
    reach = CERTAIN * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return max((middle - reach) / (1 + square / of), 0.0), min((middle + reach) / (1 + square / of), 1.0)


def sign_test(first: int, other: int) -> float:
    """How likely it is that `first` and `other` differ at least so much by chance, if both were as likely."""
    both = first + other
    tail = sum(math.comb(both, each) for each in range(min(first, other) + 1))
    return min(2 * tail / 2**both, 1.0)


def needed(share: float) -> int:
    """How many cuts show a difference of 10 points from `share`, towards the middle, in four of five measurements."""
    other = share + DIFFERENCE if share <= 0.5 else share - DIFFERENCE
    mean = (share + other) / 2
    spread = CERTAIN * math.sqrt(2 * mean * (1 - mean))
    spread += FOUND * math.sqrt(share * (1 - share) + other * (1 - other))
    return math.ceil((spread / DIFFERENCE) ** 2)


def report(result: Result, model: str, bill: Bill) -> Iterator[str]:
    """The table, and what it can show."""
    cuts = len(result.repeats)
    yield f"model {model}, {cuts} cuts, {bill.calls:,} calls, {sum(bill.tokens.values()):,} tokens"
    yield f"{'voice':<8}{'cuts':>6}{'repeats':>9}{'share':>8}   {'95 % interval':<16}{'no answer':>10}{'tokens':>12}"
    for voice in VOICES if cuts else ():
        hits = result.count(voice)
        low, high = wilson(hits, cuts)
        interval = f"{low:.1%} – {high:.1%}"
        yield (
            f"{voice:<8}{cuts:>6}{hits:>9}{hits / cuts:>8.1%}   {interval:<16}{result.unanswered[voice]:>10}"
            f"{bill.tokens[voice]:>12,}"
        )
    for voice in VOICES[1:] if cuts else ():
        only_first = sum(each["first"] and not each[voice] for each in result.repeats)
        only_other = sum(each[voice] and not each["first"] for each in result.repeats)
        chance = sign_test(only_first, only_other)
        alone = f"{only_first} repeats in the first alone, {only_other} in the {voice} alone"
        yield f"first against {voice}: {alone}, p {chance:.2f} by the sign test"
    if cuts:
        yield f"the agents of the sessions themselves went on with a recorded dead end in {result.really} of {cuts}"
        most = needed(max(result.count(voice) for voice in VOICES) / cuts)
        yield f"a difference of {DIFFERENCE * 100:.0f} points would be seen, if there is one, with about {most:,} cuts"
    if result.written:
        yield "notes: " + ", ".join(f"{name} {count}" for name, count in sorted(result.written.items()))
    if result.fault:
        yield f"{sum(result.unanswered.values())} answers were none, the last: {result.fault}"
    if result.stopped:
        yield f"stopped early: {result.stopped}"


def chosen(files: Sequence[str], given: argparse.Namespace) -> list[Cut]:
    """The cuts of so many sessions, taken from `files` in an order that the seed settles."""
    chance = random.Random(given.seed)
    shuffled = list(files)
    chance.shuffle(shuffled)
    out: list[Cut] = []
    with_cuts = 0
    for file in shuffled:
        for logged in sessions(file):
            found = list(cuts_of(Path(file).name, path_of(logged), given.budget, given.cuts, chance))
            out += found
            with_cuts += bool(found)
            print(f"\r{with_cuts} sessions, {len(out)} cuts", end="", file=sys.stderr)
            if with_cuts == given.sessions:
                print(file=sys.stderr)
                return out
    print(file=sys.stderr)
    return out


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="logs (default: the sample sessions beside the project)")
    parser.add_argument("--model", help="openai:…, anthropic:…, google:… or ollama:…")
    parser.add_argument("--base-url", help="the model's server, where it is not the provider's own")
    parser.add_argument("--sessions", type=int, default=20, help="how many sessions are cut")
    parser.add_argument("--cuts", type=int, default=3, help="of each session at the most")
    parser.add_argument("--budget", type=int, default=4_000, help="tokens of a context")
    parser.add_argument("--summaries", choices=("model", "offline"), default="model", help="who writes the notes")
    parser.add_argument("--calls", type=int, default=600, help="of the model at the most")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one answer")
    parser.add_argument("--seed", type=int, default=1)
    read = parser.parse_args(given)
    if not read.model:
        parser.print_help(sys.stderr)
        print("\nName a model to measure: --model …", file=sys.stderr)
        sys.exit(2)
    return read


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table for one model."""
    given = arguments(argv)
    files = given.files or sorted(name for kind in KINDS for name in glob.glob(str(DATA / kind / "*.jsonl.xz")))
    if not files:
        sys.exit(f"No logs: {DATA} is missing, and none were named.")
    try:
        model = models(given.model, base_url=given.base_url, timeout_seconds=given.timeout).for_task("act")
        assert model is not None, "a model was named"
        cuts = chosen(files, given)
        bill = Bill(most=given.calls)
        measured = measure(
            cuts,
            model,
            given.budget,
            write=given.summaries == "model",
            bill=bill,
            tell=lambda line: print(f"\r{line}", end="", file=sys.stderr),
        )
        result = asyncio.run(measured)
    except IreneoError as error:
        sys.exit(str(error))
    print(file=sys.stderr)
    print("\n".join(report(result, f"{given.model}, summaries: {given.summaries}", bill)))
    sys.exit(0 if result.repeats else 1)


if __name__ == "__main__":
    main()
