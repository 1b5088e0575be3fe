"""Read users' words in a run: messages, refusals and answers; wishes that they repeat, and commands that they refuse.

One request for tests means nothing. But if users ask for them in run after run, when the work is done, the next run
should write them unasked. Each kind of wish is a claim that several runs must show. So is each command that was
refused: the next run asks first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import any_of, cached_data, topic
from ireneo.language.topics import Constraints, Rulings, Wishes
from ireneo.language.words import common_words, language_of_sentence, light_stem
from ireneo.lessons.commands import main_step
from ireneo.lessons.explanations import names_thing
from ireneo.lessons.naming import programs
from ireneo.lessons.observe import ASKED, MOST_SOURCES, REFUSED, cited_sources, cue_part, is_supported
from ireneo.lessons.run import HEARD_AS, Observation, Trigger
from ireneo.lessons.shell import RunMaterial, command_of, run_steps
from ireneo.log.calls import has_instruction, was_refused
from ireneo.log.message import Call, Message, without_recalled
from ireneo.patterns import lazy_re
from ireneo.summaries.own_words import own_words, user_words_in_result
from ireneo.summaries.steps import CHANGES, Step

_RULINGS = topic(Rulings)
_SAYS = topic(Wishes)

WORK = CHANGES | {"read"}
"""Kinds of action that show work on a project, and not on a customer's case."""
OF_CODING = frozenset("aider claude-code codex gemini-cli pi specstory".split())
"""Log formats of coding tools; some of their logs hold no call."""
_TOLD_ELSEWHERE = 1_500
"""A message of at least this length that opens a run, or has headings or tags, wasn't typed: it is a plan or report."""
_COMMAND_TAG = lazy_re(r"\s*<command-(?:message|name)>")
_TEMPLATE = lazy_re(r"^-{2,} ?[\w-]{1,20} Command: .{1,80}-{2,}\s*$|\$ARGUMENTS\b", re.M)
"""Signs of a command's template that an editor put into the message."""
_WRITTEN_UP = lazy_re(r"^#{1,6} |^</?[a-zA-Z_][\w-]{1,40}>|^[^\S\n]{0,8}[-*] \[[ x]\]", re.M)
_STEM = lazy_re(r"[^\W_](?:[\w'./-]*\w)?")


class UserUtterance(Struct, frozen=True, kw_only=True):
    """One utterance of a user."""

    message: Message
    text: str
    opening: bool
    """Whether it states the task itself, so that there is nothing yet that it could correct."""
    heard_as: str = ""
    """A digest of its words and of the user's earlier words, which is the same in a copy of the session."""


def utterances(material: RunMaterial) -> Iterator[UserUtterance]:
    """The utterances of the user in a run: messages, refusals and answers."""
    calls: dict[str, Call] = {}
    before: Message | None = None
    request: Message | None = None
    opening = True
    for message in material.messages:
        draft = message.draft
        if message.role == "assistant":
            calls.update({call.id: call for call in draft.calls})
            opening = False
        elif message.role == "user" and draft.origin == "spoken" and _is_typed(message, before, opening=opening):
            heard_as = _digest(request, draft.text)
            request = message
            text = without_recalled(draft.text)
            yield UserUtterance(message=message, text=text, opening=opening, heard_as=heard_as)
        for result in draft.results:
            for words, answers in user_words_in_result(result):
                _, _, answer = (each.strip('"') for each in words.partition('"="'))
                call = calls.get(result.call_id)
                # Choosing one of the options of a question only concerns the current task.
                if not answers or (call is not None and answer not in _offered_options(call)):
                    heard_as = _digest(request, words)
                    text = answer if answers else words
                    yield UserUtterance(message=message, text=text, opening=False, heard_as=heard_as)
        before = message


def _digest(request: Message | None, words: str) -> str:
    # The agent's words may differ, since tools export them in several ways.
    before = request.text if request is not None else ""
    return blake2b("\0".join((before, words)).encode(errors="replace"), digest_size=8).hexdigest()


def _is_typed(message: Message, before: Message | None, *, opening: bool) -> bool:
    """Whether a user typed a message, instead of a program or a command's template."""
    text = message.draft.text
    if _RULINGS.harness.match(text.lstrip()) or _TEMPLATE.search(text):
        return False
    if before is not None and before.role == "user" and _COMMAND_TAG.match(before.draft.text):
        return False
    # Nobody types that much at the start, and nobody types headings later.
    return len(text) < _TOLD_ELSEWHERE or not (opening or _WRITTEN_UP.search(text))


def _offered_options(call: Call) -> frozenset[str]:
    """The options that a question offered."""
    given = call.arguments if isinstance(call.arguments, dict) else {}
    out: set[str] = set()
    asked = given.get("questions")
    for question in asked if isinstance(asked, list) else [given]:
        options = question.get("options") if isinstance(question, dict) else None
        for option in options if isinstance(options, list) else []:
            label = option.get("label") if isinstance(option, dict) else option
            out.add(str(label))
    return frozenset(out)


def stems_of(text: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    language = language_of_sentence(text)
    empty = common_words() | topic(Constraints).empty | _RULINGS.plain
    said = (word.lower().rstrip(".") for word in _STEM.findall(text.replace("’", "'")))
    return frozenset(light_stem(word.strip("'"), language) for word in said if word not in empty and len(word) > 1)


def is_work(material: RunMaterial) -> bool:
    """Whether a run works on a project, by the tool that wrote its log or by its calls."""
    if material.source in OF_CODING:
        return True
    return any(step.action.shell or step.action.kind in WORK for step in run_steps(material))


ASK_FIRST = "ask the user before you run it"
LONGEST = 200
"""The maximum number of characters of a sentence that is quoted; a longer one concerns its task."""
PLAIN = 70
"""The same for a sentence that needs no context, which is preferred."""
_PLAIN = lazy_re(r"[^\W\d_][^\d_/@`*:;]*")
LEAST_WORDS = 4
_HELP = frozenset({"--help", "-h", "--version"})
_ITEM = lazy_re(r"(?:^|: )\d{1,2}[.)] ")


def repeated_wishes(material: RunMaterial) -> list[Observation]:
    """The kinds of wishes that a user expressed when work was done, each once, in its first wording."""
    out: dict[str, Observation] = {}
    of_commands = _SAYS.of_commands
    for said in utterances(material):
        if not any(pattern.search(said.text) for pattern in _patterns().values()):
            continue
        for at, each in enumerate(own_words(said.text)):
            # Accepting an offer is not a wish of the user's own.
            taken = at == 0 and _SAYS.accepted.match(each.text.lstrip())
            wish = _wish_in(" ".join(each.text.split())) if each.personal and not each.step and not taken else None
            if wish is None or (wish[0] in of_commands and not _names_command(each.text, material)):
                continue
            if said.opening and wish[0] not in _SAYS.anytime:
                continue
            kind, text, plain = wish
            known = out.get(kind)
            ids = (*(known.sources if known else ()), said.message.id)
            out[kind] = (
                replace(known, held=known.held + 1, sources=tuple(dict.fromkeys(ids))[:MOST_SOURCES])
                if known
                else Observation(
                    cue=f"{ASKED}{kind}",
                    category="procedural",
                    session=material.session,
                    project=material.project,
                    at=said.message.draft.at,
                    held=1,
                    text=text,
                    why=plain,
                    conditions={HEARD_AS: said.heard_as},
                    sources=ids,
                )
            )
    return list(out.values()) if out and is_work(material) else []


def wish_kind(sentence: str) -> str:
    """The kind of wish that a sentence expresses; empty if it expresses none."""
    found = _wish_in(" ".join(sentence.split()))
    return found[0] if found else ""


def refused_commands(material: RunMaterial) -> list[Observation]:
    """How often each command was refused and permitted, in a run with a refusal."""
    if not any(was_refused(result.text) for message in material.messages for result in message.draft.results):
        return []
    messages = {message.id: message for message in material.messages}
    tried: dict[str, list[Step]] = {}
    for step in run_steps(material):
        command = main_step(command_of(step.call)) if step.result is not None else None
        looks = command is None or command.name in programs().looks_only or not _HELP.isdisjoint(command.words)
        if command is not None and command.name and not looks:
            tried.setdefault(command.name, []).append(step)
    out: list[Observation] = []
    for name, calls in tried.items():
        refused = [step for step in calls if step.result is not None and was_refused(step.result.text)]
        sources = cited_sources((one for step in refused for one in step.sources), messages)
        text = f"Ask the user before you run `{name}`."
        told = is_supported(text, sources, messages)
        out.append(
            Observation(
                cue=f"{REFUSED}{cue_part(name)}",
                category="procedural",
                session=material.session,
                project=material.project,
                at=next((messages[each].draft.at for each in sources), None),
                held=len(refused),
                broke=len(calls) - len(refused),
                text=text if told else "",
                way_out=ASK_FIRST if told else "",
                trigger=Trigger(command=name) if told else None,
                sources=sources,
            )
        )
    return out


def _wish_in(said: str) -> tuple[str, str, str] | None:
    """The kind of wish that a sentence expresses, the text of the lesson, and the sentence if it needs no context.

    None if it expresses none.
    """
    short = len(said.split()) >= LEAST_WORDS and len(said) <= LONGEST
    # A sentence that ends in a colon is the heading of pasted text, and a numbered one an item of a list.
    if (
        not short
        or said.endswith(":")
        or "**" in said
        or _ITEM.search(said)
        or not said.isprintable()
        or has_instruction(said)
    ):
        return None
    if said.endswith("?") and _SAYS.wondered.search(said):
        return None
    found = next((kind for kind, pattern in _patterns().items() if pattern.search(said)), None)
    if found is None or (found in _SAYS.added and _SAYS.unwanted.search(said)):
        return None
    plain = said if len(said) <= PLAIN and _PLAIN.fullmatch(said) else ""
    lead = _SAYS.unasked[found][0]
    # A sentence that needs its context expresses the wish badly; commands are only named in sentences.
    quoted = plain or found in _SAYS.of_commands
    return found, f"{lead}: “{said}” (the user)" if quoted else f"{lead}.", plain


def _names_command(said: str, material: RunMaterial) -> bool:
    """Whether a sentence names a command with a subcommand that the run ran, or a script of its project."""
    steps = (step for step in run_steps(material) if step.action.shell)
    names = {command.name for step in steps if (command := main_step(command_of(step.call))) is not None}
    return any(names_thing(said, name) for name in names if " " in name or "/" in name)


@cached_data
def _patterns() -> dict[str, re.Pattern[str]]:
    wishes = _SAYS.uttered
    return {kind: lazy_re(rf"(?<!\w){any_of(rows)}", re.I) for kind, rows in wishes.items()}
