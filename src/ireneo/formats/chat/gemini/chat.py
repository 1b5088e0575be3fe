"""The format, put together: a reader, a sequence of mends and a writer, and the rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ireneo.formats.chat.format import Payload, ThinkingRule, Violation
from ireneo.formats.chat.gemini.expression import express
from ireneo.formats.chat.gemini.names import NAME
from ireneo.formats.chat.gemini.reader import read_content, read_contents, read_system
from ireneo.formats.chat.gemini.rules import LOCAL_RULES, RULES, outlined
from ireneo.formats.chat.gemini.signatures import sign_running
from ireneo.formats.chat.gemini.steps import answer_in_order, call_after_user, drop_mere_thoughts
from ireneo.formats.chat.gemini.writer import merge_natives, write_contents, write_system
from ireneo.formats.chat.mends.answers import answer_calls
from ireneo.formats.chat.mends.blanks import drop_empty
from ireneo.formats.chat.mends.change import Mend, mended
from ireneo.formats.chat.mends.ids import name_apart
from ireneo.formats.chat.mends.joined import join_drafts
from ireneo.formats.chat.mends.opening import open_with_user
from ireneo.formats.chat.mends.places import place_parts
from ireneo.formats.chat.mends.server_pairs import tell_server_pairs
from ireneo.formats.chat.mends.systems import leading_systems, quote_later_systems
from ireneo.formats.chat.natives import settle_natives
from ireneo.formats.chat.reading import copied_messages, placed_messages, record
from ireneo.formats.chat.rules.outline import violations
from ireneo.formats.chat.summaries import cast_summaries, flatten_summaries, recognise_summaries
from ireneo.log.message import Call, Draft

_PROMPTS = ("systemInstruction", "system_instruction", "system")


class GeminiContents:
    """Gemini contents: the system instruction stands apart, and calls are answered in their order."""

    name = NAME
    thinking: ThinkingRule = "turn"

    def decode(self, payload: object) -> list[Draft]:
        """Read a list of contents, or an object that holds one under `contents` (or `messages`).

        The system instruction stands beside it, in either spelling, as words or as a content. Calls without an id
        are given one.
        """
        prompt: object = payload.system if isinstance(payload, Payload) else None
        if isinstance(payload, dict):
            prompt = next((payload[key] for key in _PROMPTS if payload.get(key) is not None), None)
        return recognise_summaries([*read_system(prompt), *read_contents(placed_messages(payload, "contents"))])

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as valid contents, and the system drafts at its beginning apart, as words.

        Calls are answered in their order, the user begins, empty texts go, and what can't be shown is told in a
        text. Signatures go back on the parts that they were found on; a call that has lost its own gets the stand-in
        that the provider takes.
        """
        sound = mended(drafts, _MENDS)
        first = leading_systems(sound)
        contents = copied_messages(write_contents(sound[first:]))
        sign_running(contents)
        return Payload(messages=contents, system=write_system(sound[:first]))

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; they are the same whether or not the model is to think."""
        return violations(outlined(payload.messages), RULES)


def _accepts(payload: object) -> bool:
    return isinstance(payload, dict) and not violations(outlined([payload]), LOCAL_RULES)


def _read_native(payload: object) -> list[Draft]:
    return read_content(record(payload, "native"), "native")


def _express_all(drafts: Sequence[Draft]) -> list[Draft]:
    return [express(draft) for draft in drafts]


def _id_fits(call: Call, draft: Draft) -> bool:
    return True


_MENDS: tuple[Mend, ...] = (
    partial(settle_natives, name=NAME, read=_read_native, accepts=_accepts),
    flatten_summaries,
    _express_all,
    partial(join_drafts, merge=merge_natives),
    tell_server_pairs,
    place_parts,
    drop_mere_thoughts,
    drop_empty,
    partial(name_apart, fits=_id_fits, per_message=True),
    answer_calls,
    answer_in_order,
    quote_later_systems,
    cast_summaries,
    open_with_user,
    call_after_user,
)
