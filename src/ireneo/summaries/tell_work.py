"""Write the offline summaries of an agent's work: what was said, done and seen, as lines with their weights."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from ireneo.language.words import common_words, letters
from ireneo.log.calls import entered_text, known_failed, quote_instructions, user_commands, without_reminders
from ireneo.log.message import Message, is_own_block, messages_without_recalled
from ireneo.patterns import lazy_re
from ireneo.summaries.outcomes import (
    STATUS_SUBJECT,
    approach_of_step,
    changed_files,
    dead_ends,
    found_nothing,
    is_overturned,
    last_successes,
    merge_dead_ends,
    refusal_words,
    split_resolved_failures,
)
from ireneo.summaries.own_words import (
    KEPT,
    LIST,
    LONGEST_OPTION,
    answers_in,
    find_choices,
    is_bare_choice,
    is_options,
    options_line,
    refers_to_list,
    without_diffs,
)
from ireneo.summaries.pins import MAX_PINS, directs, find_lifts, find_pins, valid_pins
from ireneo.summaries.state import standing_state, state_lines
from ireneo.summaries.statements import (
    FEWEST_WORDS,
    WIDTH,
    defined_name,
    is_request,
    prose,
    prose_worth,
    takes_back,
)
from ireneo.summaries.steps import (
    CHANGES,
    SHOWN_OUTPUT,
    ActionKind,
    Step,
    clip,
    error_lines,
    report_in,
    short_path,
    shorten_output,
    steps,
)
from ireneo.summaries.summary import ABOUT, ANSWERS, QUOTED, REPLACED_CODE, Line, Section, SectionName, Summary
from ireneo.summaries.tell_code import (
    TAKEN_BACK,
    RemovedCode,
    brought_text,
    change_lines,
    defined_name_of,
    findings,
    heaviest_lines,
    name_changes,
    names_said,
    removed_lines,
    shown_lines,
)

RULED = 10.0
"""Weight of the user's words."""
DETAIL = 5.0
"""Weight added to each sentence after the first in a message of the user; the longer the message, the less."""
BRIEF, FULL = 6, 24
"""A message of the user with fewer letters than the second in words that tell something, such as applause, weighs less;
the first is the share of one without any."""
REMARK = 0.6
"""The factor of a message of the user that neither orders nor rules anything."""
SHORT_WORD = 3
NEW_LINE = " / "
UNDER_WAY = "PARTIAL"
"""Status of a stretch that ends within a turn; never shown alone."""
ASKED = 5.0
"""Weight of the agent's last question."""
LEAST = 0.1
"""Lines of less weight are dropped."""
ANSWER = 1.3
"""The factor for the message that ends a turn of work: it says what was made."""
CONCLUDES = 1.5
"""The factor for the best sentence of an answer in plain conversation."""
SAID = 1.0
"""Sentences of the agent of less weight are dropped."""
SHORT_MESSAGE_CHARACTERS = 40
"""A message of at most this many characters is shown with the question that it answers."""
I_ASKED = "I asked: "
ANSWERED_NEXT: frozenset[ActionKind] = frozenset({"plan", "ask"})
"""Calls that ask the user, who refuses them to answer in a message."""
OPTION_BEGINS = 60
"""A sentence is an option that was offered if this much of it stands in the list."""
BRIEF_ANSWER = 80
"""Answers of at most this many characters mean little without the question."""
REPORTED = 0.45
"""Factor for sentences of another agent's report."""
REPORTED_BESIDE = 0.25
"""The same if the call only fetched the report of an agent that was started earlier."""
WORD_CHARACTERS = 480
"""The maximum number of characters of a user message that are kept as one line."""

VERBS: dict[ActionKind, str] = {
    "read": "read",
    "search": "searched for",
    "edit": "edited",
    "write": "wrote",
    "run": "ran",
    "check": "ran",
    "save": "ran",
    "plan": "planned",
    "fetch": "fetched",
    "ask": "asked",
}
TOLD_BY_OUTCOME: frozenset[ActionKind] = frozenset({"check", "run", "save", "fetch", "use"})
ACTED = 0.1
"""Weight of a plain list of acts, shown if there is nothing else."""
ACTS = (("did", 1),)
UNFINISHED = " (unfinished)"
RAN_ONLY = (("run", 1),)
"""The verb of a check whose outcome is unknown."""
ANSWERED_ASKED = ((ANSWERS, 1),)
CUT = "…"
"""Ends a subject that was too long."""
NAMED = 110
"""The maximum number of characters by which a call is named."""
LONGEST_MOVE = 180
"""The maximum number of characters of a command that moves something, whose destination is at its end."""
UNTOLD = 1.0
"""Weight of a failed call whose output doesn't say why."""
SLIP = 1.0
"""Weight of a look at something that is not there."""
RAN, SAVED = 3.0, 3.0
"""Weights of what a command printed, and of one that saved work."""
PASSED = 0.6
"""Weight of a check that passed: the status shows the last one."""
_SAYS_NOTHING = lazy_re(
    r"(?:echo|printf)\b|(?:Task(?:Update|Create|List|Get|Output|Stop)|KillShell|BashOutput|Skill)\b"
)
"""Calls whose output only repeats their input, or concerns only the agent's program."""
BY_USER = 1.5
"""Weight of a command that the user entered themselves."""
REFUSED = 5.0
"""Weight of a call that the user refused without a word."""
MOST_ACTS = 4
"""The maximum number of acts of one kind in the list of acts."""
LIMITS: dict[SectionName, int] = {
    "direction": 40,
    "strategy": 40,
    "operations": 60,
    "discoveries": 300,
    "achieved": 60,
    "dead_ends": 30,
    "worked": 20,
    "constraints": MAX_PINS,
    "lifted": 48,
    "artifacts": 240,
    "open": 12,
    "state": 60,
    "status": 1,
    REPLACED_CODE: 160,
}
"""The maximum number of lines of each section, so that a record is bounded however much it covers."""
OTHER_LIMIT = 24
"""The maximum number of lines of a section that another strategy defines."""


def write_leaf(messages: Sequence[Message], *, ends_turn: bool) -> tuple[Section, ...]:
    """Write the sections of a turn summary of `messages`.

    With `ends_turn` the last words are the turn's answer, and the last outcome is the turn's.
    """
    messages = messages_without_recalled(messages)
    done = steps(messages)
    said = _agent_sentences(messages, answers=ends_turn and bool(done), plain=ends_turn and not done)
    given_up = dead_ends(done)
    operations = _without_instructions(_operations(done, {line.subject for line in given_up}))
    changes = list(change_lines(done))
    operations, passed = split_resolved_failures(operations, changes)
    return _sections(
        {
            "direction": list(_user_answers(done)),
            "strategy": _offered_options(messages, ends_turn=ends_turn),
            "discoveries": [
                *said,
                *_without_instructions(_agent_reports(done)),
                *_without_instructions(findings(done)),
            ],
            "operations": [
                *operations,
                *_without_instructions(_user_commands(messages)),
                *_act_lines([step for step in done if not (step.failed_itself or step.was_rejected)]),
            ],
            "dead_ends": given_up,
            "worked": passed,
            "artifacts": changes,
            REPLACED_CODE: replaced_lines(messages, done),
            "open": _closing_question(messages, ends_turn=ends_turn),
            "state": state_lines(done),
            "status": [_status_line(messages, done, ends_turn=ends_turn)],
        }
    )


def replaced_lines(messages: Sequence[Message], done: Sequence[Step]) -> list[Line]:
    """What shows that something was undone: code that was taken out or isn't seen any more, and what was taken back."""
    return [*removed_lines(done), *name_changes(done), *shown_lines(done), *_taken_back(messages)]


def _taken_back(messages: Sequence[Message]) -> Iterator[Line]:
    """The names in what the agent takes back as wrong: those in that sentence and the next ones."""
    for message in messages:
        if message.role != "assistant" or message.draft.origin != "spoken":
            continue
        said = list(prose(message.text))
        for place in [place for place, each in enumerate(said) if takes_back(each)][:1]:
            names = names_said(" ".join(said[place : place + SENTENCES_BEHIND]))
            line = Line(text=TAKEN_BACK, subject=TAKEN_BACK, weight=LEAST, position=message.position)
            yield replace(line, verbs=tuple((name, 1) for name in sorted(names)), sources=(message.id,))


SENTENCES_BEHIND = 3
"""What is right stands in the sentence that takes something back, or in the next ones."""


def _act_lines(done: Sequence[Step]) -> list[Line]:
    """A list of the acts, if there is nothing else to show."""
    by_verb: dict[str, dict[str, None]] = {}
    for step in done:
        subject = clip(step.action.subject, 60)
        verb = "ran" if step.action.shell and step.action.kind == "search" else VERBS.get(step.action.kind, "used")
        ended = UNFINISHED if step.failed or step.result is None else ""
        by_verb.setdefault(verb, {})[(f"`{subject}`" if step.action.shell else subject) + ended] = None
    told = [
        f"{verb} {', '.join(list(subjects)[:MOST_ACTS])}" + (" and others" if len(subjects) > MOST_ACTS else "")
        for verb, subjects in by_verb.items()
    ]
    return [replace(done[-1].line(f"I {'; '.join(told)}.", ACTED), verbs=ACTS)] if told else []


def _without_instructions(lines: Iterable[Line]) -> list[Line]:
    """Drop lines of tool output that are worded as instructions to a model."""
    return [line for line in lines if _mark_instructions(line.text) == line.text]


@lru_cache(maxsize=2_048)
def _mark_instructions(text: str) -> str:
    """Mark text that is worded as an instruction; cached, since deeper summaries repeat the lines."""
    return quote_instructions(text)


_TAGGED_TITLE = lazy_re(r"^<[a-z_-]{2,40}>[ \t]*\r?\n(?P<title>[^\n<]{8,200})$", re.MULTILINE)
"""The first line of what a user hands over between tags, such as an issue: it says what all of it is about."""


def user_lines(message: Message) -> list[Line]:
    """The user's words verbatim: a long message sentence by sentence, the first with the most weight."""
    whole = entered_text(message.text)
    text = " ".join(whole.split())
    said = list(prose(without_diffs(whole))) if len(text) > WORD_CHARACTERS else []
    said = said or ([clip(_on_one_line(whole), WORD_CHARACTERS)] if text else [])
    share = min(WORD_CHARACTERS / max(len(text), 1), 1.0)
    titles = {" ".join(found["title"].split()) for found in _TAGGED_TITLE.finditer(whole)}
    out: list[Line] = []
    full = min((BRIEF + _letters_that_tell(text)) / (BRIEF + FULL), 1.0) * (1 if directs(whole) else REMARK)
    full = full if whole == message.text else 1.0  # A command with a prompt of its own is an order.
    for place, each in enumerate(said):
        weight = RULED * full if not place else min(DETAIL * share + prose_worth(each), RULED - 1)
        weight = max(weight, RULED - 1) if each in titles else weight
        out.append(Line(text=each, weight=weight, position=message.position, sources=(message.id,)))
    return out


def _on_one_line(text: str) -> str:
    """A text on one line, with a mark where its writer began another without a punctuation mark."""
    out = last = ""
    for said in filter(None, (" ".join(line.split()) for line in text.splitlines())):
        goes_on = not out or out[-1] in ".!?:;," or (len(last) > WIDTH and said[0].islower())
        out, last = f"{out}{' ' if goes_on else NEW_LINE}{said}".lstrip(), said
    return out


def _letters_that_tell(text: str) -> int:
    """How many letters the words have that say what a message is about."""
    return sum(len(word) for word in letters(text.lower()) if len(word) > SHORT_WORD and word not in common_words())


def _agent_sentences(messages: Sequence[Message], *, answers: bool, plain: bool) -> list[Line]:
    """The agent's sentences; with `answers` the last message says what came of the work.

    With `plain` there was no work, and the best sentence of the last message stands for it.
    """
    out: list[Line] = []
    for message in messages:
        if message.role != "assistant" or message.draft.origin != "spoken":
            continue
        last = message is messages[-1]
        worths = {
            text: prose_worth(text) * (ANSWER if answers and last else 1.0) for text in prose(message.text, led=True)
        }
        best = max(worths, key=worths.__getitem__, default="")
        if last and plain and best:
            # In plain conversation it is the answer.
            worths[best] = max(CONCLUDES * worths[best], SAID)
        out += [
            Line(text=text, weight=round(worth, 2), position=message.position, sources=(message.id,))
            for text, worth in worths.items()
            if worth >= SAID
        ]
    return out


def _offered_options(messages: Sequence[Message], *, ends_turn: bool) -> list[Line]:
    """The options that the user is asked to choose from at the end of a turn."""
    spoken = [each for each in messages if each.role == "assistant" and each.draft.origin == "spoken" and each.text]
    options = options_line(spoken[-1]) if ends_turn and spoken and not spoken[-1].draft.calls else None
    return [options] if options else []


def _closing_question(messages: Sequence[Message], *, ends_turn: bool) -> list[Line]:
    """The agent's question at the end of a turn."""
    last = _last_question(messages)
    if not ends_turn or last is None:
        return []
    asked = [text for text in prose(last.text) if is_request(text)][-1]
    if (options := options_line(last)) and refers_to_list(last.text):
        # An answer such as "2" means nothing without them.
        listed = options.text.removeprefix(LIST)
        places = [asked.find(found["said"]) for found in KEPT.finditer(listed) if found["said"] in asked]
        asked = f"{asked[: min(places, default=len(asked))].rstrip()} {listed}".strip()
    text = f"{I_ASKED}{asked}"
    return [Line(text=text, weight=ASKED, position=last.position, sources=(last.id,))]


def _last_question(messages: Sequence[Message]) -> Message | None:
    said = [message for message in messages if message.role == "assistant" and message.draft.origin == "spoken"]
    worked = max((message.position for message in messages if message.draft.calls), default=-1)
    return next(
        (each for each in reversed(said) if each.position > worked and any(map(is_request, prose(each.text)))), None
    )


def _user_answers(done: Sequence[Step]) -> Iterator[Line]:
    """The user's words in tool results: reasons of refusals, and answers to questions."""
    for step in done:
        if step.was_rejected and (words := refusal_words(step)):
            yield step.line(words, RULED, subject=_refused_action(step))
        elif step.action.kind != "ask" or step.failed or step.result is None:
            continue
        elif answers := answers_in(step.result):
            for question, answer in answers:
                asked = clip(" ".join(question.split()), LONGEST_OPTION)
                yield replace(step.line(" ".join(answer.split()), RULED - 1, subject=asked), verbs=ANSWERED_ASKED)
        else:
            for text in prose(without_reminders(step.output)):
                yield step.line(text, RULED - 1)


def _refused_action(step: Step) -> str:
    """The action of a refused call."""
    action = step.action
    if action.kind in ANSWERED_NEXT:
        return "my plan" if action.kind == "plan" else "my question"
    if action.shell:
        return f"`{clip(action.subject, 110)}`"
    new = next(
        (name for line in action.added.splitlines() if (name := defined_name(line)) and name not in action.removed), ""
    )
    act = {"edit": "my edit of", "write": "my writing of"}.get(action.kind, f"my {action.kind} of")
    return f"{act} {short_path(action.subject)}" + (f" (`{new}`)" if new else "")


def _agent_reports(done: Sequence[Step]) -> Iterator[Line]:
    """The reports of other agents."""
    for step in done:
        if (
            step.action.kind == "use"
            and not step.failed
            and (report := report_in(step.output, asked="prompt" in step.call.arguments))
        ):
            share = REPORTED if "prompt" in step.call.arguments else REPORTED_BESIDE
            for text in prose(report, led=True):
                yield step.line(text, prose_worth(text) * share)


def _operations(done: Sequence[Step], told: Container[str]) -> Iterator[Line]:
    """The commands and their outcomes: the last run of each, without failures that are shown elsewhere."""
    last = {_whole_command(step): place for place, step in enumerate(done)}
    for place, step in enumerate(done):
        kind, subject = step.action.kind, step.action.subject
        if step.was_rejected:
            # With a reason, `_user_answers` has it; what became of a plan, the user's next message says.
            if not refusal_words(step) and kind not in ANSWERED_NEXT:
                yield step.line(f"The user refused {_refused_action(step)}.", REFUSED)
        elif kind == "ask" or brought_text(step) or (kind == "use" and "prompt" in step.call.arguments):
            continue  # Answers of the user, pages and reports are represented by their sentences.
        elif step.failed_itself:
            made_after_all = kind in CHANGES and subject in changed_files(done[place + 1 :])
            wrong = error_lines(step.cleaned_output) or step.failure_reason
            if not (made_after_all or approach_of_step(step) in told or (not wrong and found_nothing(step))):
                failed = f"{_describe_step(step)} failed{wrong and f': {wrong}'}"
                looked = kind in ("read", "search")
                yield _outcome_line(step, failed, SLIP if looked else 3.5 if wrong else UNTOLD)
        elif step.failed or step.result is None:
            continue  # It was broken off, or nothing came back yet: it has no outcome.
        elif last[_whole_command(step)] != place or kind not in TOLD_BY_OUTCOME or _SAYS_NOTHING.match(subject):
            continue
        else:
            yield from _result_line(step, _describe_step(step))


def _result_line(step: Step, named: str) -> Iterator[Line]:
    """The result of a call that didn't fail."""
    kind, output = step.action.kind, step.cleaned_output
    # A test that passed may have logged errors.
    passed = kind == "check" and step.result is not None and known_failed(step.result, step.call) is False
    wrong = error_lines(output, 200) if kind == "check" and not passed else ""
    if kind == "check" and step.has_unknown_end:
        if said := wrong or shorten_output(output):
            yield replace(_outcome_line(step, f"{named} → {said}", RAN), verbs=RAN_ONLY)
    elif kind == "check":
        yield _outcome_line(step, f"{named} → {wrong}" if wrong else f"{named} passed", RAN if wrong else PASSED)
    elif said := shorten_output(output):
        yield _outcome_line(step, f"{named} → {said}", SAVED if kind == "save" else RAN)


def _whole_command(step: Step) -> str:
    """The text that identifies a call: its subject, or the whole command if that is too long for a subject."""
    return step.command if step.action.subject.endswith(CUT) else step.action.subject


def _describe_step(step: Step) -> str:
    """The name of a call: its command or subject."""
    kind, subject = step.action.kind, step.action.subject
    if not step.action.shell and kind != "use":
        return f"{kind} {short_path(subject) if kind in ('read', *CHANGES) else clip(subject, NAMED)}"
    return f"`{subject if step.action.shell else clip(subject, NAMED)}`"


def _user_commands(messages: Sequence[Message]) -> Iterator[Line]:
    """The commands that the user entered; of commands to the harness only what came of them."""
    for ran in user_commands(messages):
        said = shorten_output(ran.output)
        if ran.shell and ran.command:
            text = f"The user ran `{clip(' '.join(ran.command.split()), LONGEST_MOVE)}`" + (
                f" → {said}" if said else ""
            )
        elif len(said.split()) >= FEWEST_WORDS and "\n" not in ran.output:
            text = f"The user entered {clip(ran.command, LONGEST_MOVE)}: {said}"
        elif not ran.shell and len(ran.output) > SHOWN_OUTPUT:
            # Output about the program itself is of no use to the work.
            yield Line(
                text=f"The user entered {clip(ran.command, LONGEST_MOVE)}.",
                weight=ACTED,
                position=ran.position,
                sources=(ran.id,),
            )
            continue
        else:
            continue
        yield Line(text=text, weight=BY_USER, position=ran.position, sources=(ran.id,))


def _outcome_line(step: Step, text: str, worth: float) -> Line:
    line = step.line(text, worth, subject=step.action.subject, failed=step.failed)
    return replace(line, verbs=((step.action.kind, 1),), shell=step.action.shell)


def _status_line(messages: Sequence[Message], done: Sequence[Step], *, ends_turn: bool) -> Line:
    """COMPLETE, PARTIAL or BLOCKED, by the last outcomes."""
    last = messages[-1]
    ran = next((step for step in reversed(done) if step.action.kind in ("check", "run", "save")), None)
    changes = [step for step in done if step.action.kind in CHANGES]
    if ran is not None and ran.failed:
        reason = ran.failure_reason and f": {clip(ran.failure_reason, 120)}"
        failed = f" — {clip(ran.action.subject, STATUS_SUBJECT)} failed last{reason}"
    elif changes and all(step.was_rejected for step in changes):
        failed = " — the user refused the change"
    else:
        failed = ""
    if not ends_turn:
        text = f"{UNDER_WAY}{failed}"
    elif failed:
        text = f"BLOCKED{failed}"
    elif last.role == "assistant" and not last.draft.calls:
        text = "COMPLETE"
    else:
        text = "PARTIAL — the turn ended without an answer."
    return Line(
        text=text,
        weight=4.0 if failed else 0.0 if text in (UNDER_WAY, "COMPLETE") else 0.1,
        position=last.position,
        sources=(last.id,),
    )


# Deeper summaries: the lines of those under them, each once, and the last one about each subject.


def write_turn_rollup(children: Sequence[Summary]) -> tuple[Section, ...]:
    """Write the sections of a summary over adjacent summaries of one turn."""
    return _sections({**_lines_by_section(children), "status": _lines_of(children[-1:], "status")})


def write_goal_batch(parts: Sequence[Summary | Message]) -> tuple[Section, ...]:
    """Write the sections of a goal batch: user messages and the summaries of their work, or batches below it."""
    work = [part for part in parts if isinstance(part, Summary)]
    messages = messages_without_recalled(part for part in parts if not isinstance(part, Summary))
    spoken = [message for message in messages if message.role == "user" and message.draft.origin == "spoken"]
    carried = [line for message in messages if is_own_block(message.draft) for line in _block_statements(message)]
    asked = [line for message in spoken for line in _user_message_lines(parts, message)]
    lifts = _by_position([*_lines_of(work, "lifted"), *(line for message in messages for line in find_lifts(message))])
    pins = [*_lines_of(work, "constraints"), *(line for message in messages for line in find_pins(message))]
    kept = _lines_by_section(work)
    kept["direction"] = _by_position([*asked, *kept.get("direction", ())])
    kept["discoveries"] = [*carried, *kept.get("discoveries", ())]
    _settle_choices(kept, parts)
    kept["constraints"], kept["lifted"] = valid_pins(pins, lifts), lifts
    kept["status"] = _lines_of(work[-1:], "status")
    return _sections(kept)


def _settle_choices(kept: dict[SectionName, list[Line]], parts: Sequence[Summary | Message]) -> None:
    """Put what the user chose from a list with its question and the answer; the other options need not be told."""
    choices = {line.position: line for line in find_choices(parts)}
    last = max((line.position for line in kept.get("direction", ())), default=-1)
    words: list[Line] = []
    for line in kept.get("direction", ()):
        choice = choices.get(line.position)
        if choice is None or choice.text.endswith("”"):
            words.append(line)
        elif not is_bare_choice(line.text):
            choices[line.position] = replace(choice, text=f"{choice.text}: “{line.text}”")
    kept["direction"] = words
    offers = {line.position: line for line in kept.get("strategy", ()) if is_options(line)}
    # What was listed last may be chosen from in the next message.
    told = (line for line in kept.get("strategy", ()) if line.position > last or not is_options(line))
    kept["strategy"] = _by_position([*told, *choices.values()])
    sources = {line.sources[0] for line in choices.values()}
    settled = {place: line for place, line in offers.items() if line.sources[0] in sources}
    kept["discoveries"] = [
        line for line in kept.get("discoveries", ()) if not _is_option_of(settled.get(line.position), line)
    ]


def _is_option_of(offer: Line | None, line: Line) -> bool:
    """Whether a sentence has only options of the list of `offer`, perhaps after what introduces them."""
    if offer is None:
        return False
    said = offer.text.lower()
    options = ((item, item.partition(": ")[2] or item) for item in line.text.lower().split("; "))
    return all(any(f". {text[:OPTION_BEGINS]}" in said for text in option) for option in options)


def _user_message_lines(parts: Sequence[Summary | Message], message: Message) -> list[Line]:
    """The lines of a user's message; if it is short, with the question that it answers."""
    lines = user_lines(message)
    if len(lines) != 1 or len(lines[0].text) > SHORT_MESSAGE_CHARACTERS:
        return lines
    ends = (part.last_position if isinstance(part, Summary) else -1 for part in parts)
    before = next((part for part, end in zip(parts, ends, strict=True) if end == message.position - 1), None)
    asked = before.lines("open")[-1:] if isinstance(before, Summary) else ()
    question = asked[0].text.removeprefix(I_ASKED) if asked and asked[0].position == message.position - 1 else ""
    # A choice from a list is shown in the words of the list.
    if not question or len(list(KEPT.finditer(question))) > 1:
        return lines
    return [replace(lines[0], subject=clip(question, LONGEST_OPTION), verbs=ANSWERED_ASKED)]


def _lines_by_section(children: Sequence[Summary]) -> dict[SectionName, list[Line]]:
    """The lines of adjacent summaries by section, without outdated ones."""
    kept: dict[SectionName, list[Line]] = {}
    for child in children:
        for section in child.sections:
            kept.setdefault(section.name, []).extend(section.lines)
    gone = RemovedCode(*(kept.get(name, ()) for name in (REPLACED_CODE, "artifacts", "discoveries")))
    for name in ABOUT:
        kept[name] = [gone.mark_removed(line) for line in kept.get(name, ())]
    kept[REPLACED_CODE] = _newest_by_subject(
        kept.get(REPLACED_CODE, ()), lambda line: "" if line.verbs else f"{line.subject} {line.text}"
    )

    kept["dead_ends"] = _open_dead_ends(children)
    did = kept.get("operations", [])
    # Plain lists of acts stand for stretches of which there is nothing else.
    told = any(kept.get(name) for name in ("direction", "strategy", "discoveries", "dead_ends"))
    acts = [line for line in did if line.verbs != ACTS] or ([] if told else did[-1:])
    acts, passed = split_resolved_failures(acts, kept.get("artifacts", ()))
    kept["worked"] = _by_position([*kept.get("worked", ()), *passed])
    kept["artifacts"] = _newest_by_subject(kept.get("artifacts", ()), defined_name_of)
    # Why a check failed may be asked after it passed.
    kept["operations"] = _newest_by_subject(
        acts, lambda line: "" if line.failed and "check" in dict(line.verbs) else line.subject
    )
    kept["open"] = kept.get("open", [])[-1:]
    kept["state"] = standing_state(kept.get("state", ()))
    return kept


def _sections(lines: Mapping[SectionName, Sequence[Line]]) -> tuple[Section, ...]:
    """Limit each section to its weightiest lines, each statement once, instructions in tool output marked."""
    out: list[Section] = []
    said: set[str] = set()
    for name in dict.fromkeys((*LIMITS, *lines)):
        fresh: list[Line] = []
        for line in lines.get(name, ()):
            if line.weight < LEAST and name not in ("status", "goal"):
                continue
            if name not in ("goal", "status", "state", "constraints", "lifted", REPLACED_CODE):
                if line.text in said:
                    continue
                said.add(line.text)
            fresh.append(line)
        limit = LIMITS.get(name, OTHER_LIMIT)
        # What was replaced or lifted early is marked already in the blocks that are merged.
        newest = name in (REPLACED_CODE, "lifted")
        kept = _by_position(fresh)[-limit:] if newest else heaviest_lines(fresh, limit)
        if name not in QUOTED:
            kept = [
                # The agent's own words instruct nobody.
                line
                if name == "discoveries" and not line.subject
                else replace(line, text=_mark_instructions(line.text))
                for line in kept
            ]
        if kept:
            out.append(Section(name=name, lines=tuple(kept)))
    return tuple(out)


def _newest_by_subject(lines: Iterable[Line], about: Callable[[Line], str]) -> list[Line]:
    """The last line about each thing, and all lines about nothing."""
    lines = list(lines)
    last = {name: place for place, line in enumerate(lines) if (name := about(line))}
    return [line for place, line in enumerate(lines) if not (name := about(line)) or last[name] == place]


def _lines_of(children: Iterable[Summary], name: SectionName) -> list[Line]:
    return [line for child in children for line in child.lines(name)]


def _by_position(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: line.position)


def _open_dead_ends(children: Sequence[Summary]) -> list[Line]:
    """The dead ends that did not succeed later; repeated ones once, with their count."""
    done = last_successes(_lines_of(children, "operations"), _lines_of(children, "artifacts"))
    out: dict[str, Line] = {}
    for line in _lines_of(children, "dead_ends"):
        if is_overturned(line, done):
            continue
        name = line.subject or line.text
        out[name] = merge_dead_ends(out[name], line) if name in out and line.subject else line
    return list(out.values())


def _block_statements(message: Message) -> list[Line]:
    """The statements of a block in a list that was cut before; the messages that it covers are gone."""
    told = [line.strip().removeprefix("- ") for line in message.text.splitlines() if line.strip().startswith("- ")]
    return [
        Line(text=text, weight=max(prose_worth(text), 3.0), position=message.position, sources=(message.id,))
        for text in told
    ]
