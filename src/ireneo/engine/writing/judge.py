"""Hold what a model said against the messages that it was said of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ireneo.context.offline.steps import steps
from ireneo.engine.writing.lines import Said
from ireneo.engine.writing.sources import Sources
from ireneo.grounding.check import check_text, supported_rate
from ireneo.grounding.claims import Claim
from ireneo.grounding.critical import critical, failing_tests
from ireneo.grounding.error_text import error_text
from ireneo.grounding.evidence import Evidence
from ireneo.grounding.language import other_language
from ireneo.grounding.neutral import instruction_like
from ireneo.grounding.sources import source_texts
from ireneo.grounding.status import Outcome, contradicts, flipped, overclaims
from ireneo.grounding.voice import MARKUP, voice_faults
from ireneo.log.message import Message
from ireneo.prompts.voices import Voice

TOLD = 5
"""Claims that one fault names; a model that invents more gets the idea."""


class Judge:
    """What is known of the sources, and the verdicts on what was said of them."""

    def __init__(self, sources: Sources, goal: str, voice: Voice) -> None:
        """Read the sources; `goal` is what the user asked for, which may be told as well."""
        self._messages = sources.messages
        self._voice = voice
        self.evidence = Evidence([*source_texts(sources.messages), goal])

    def faults(self, said: Said) -> list[str]:
        """What is wrong with one statement, a sentence each; none where it may stand."""
        text = said.text
        if error_text(text):
            return ["It is an error text, and no note."]
        found = [
            f"The {claim.kind} “{claim.text}” stands nowhere in the messages."
            for claim in self._unsupported(text)[:TOLD]
        ]
        if instruction_like(text):
            found.append("It repeats an instruction that a tool returned.")
        faults = voice_faults(text, self._voice)
        # The name of a thing may be written in brackets, and is no markup of ours.
        found += [fault for fault in faults if said.section != "artifacts" or not fault.startswith(MARKUP)]
        wrong = contradicts(text, self.outcomes) if said.section == "status" else flipped(text, self.outcomes)
        wrong = wrong or overclaims(text, self.outcomes)
        return [*found, wrong] if wrong else found

    def of_all(self, statements: Sequence[Said]) -> list[str]:
        """What is wrong with all of it together."""
        text = " ".join(each.text for each in statements)
        language = other_language(text, self._own_words)
        return [f"It is in {language}, and the agent wrote in another language."] if language else []

    def supported(self, statements: Sequence[Said]) -> float:
        """Of the claims that were made, the share that the sources support; 1 where nothing can be looked up."""
        return supported_rate("\n".join(each.text for each in statements), self.evidence)

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """How each command ended when it was run last, in the order of time; before it the tests that failed in it."""
        last: dict[str, list[Outcome]] = {}
        for step in steps(self._messages):
            if step.result is not None and step.action.deed in ("check", "run", "save"):
                subject = step.action.subject
                last.pop(subject, None)
                tests = failing_tests(step.output) if step.failed else []
                named = [Outcome(subject=test, failed=True) for test in tests]
                last[subject] = [*named, Outcome(subject=subject, failed=step.failed)]
        return [outcome for outcomes in last.values() for outcome in outcomes]

    @cached_property
    def critical(self) -> list[str]:
        """What of the sources must not be lost."""
        return critical(self._messages)

    @cached_property
    def _own_words(self) -> str:
        own = [message for message in self._messages if message.role == "assistant"]
        return " ".join(_words(own) or _words(self._messages))

    def _unsupported(self, text: str) -> list[Claim]:
        return check_text(text, self.evidence)


def _words(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages if message.text.strip()]
