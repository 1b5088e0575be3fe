"""The format, put together: a reader, a sequence of mends and a writer, and the rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ireneo.formats.chat.anthropic.expression import express, whole_loops
from ireneo.formats.chat.anthropic.names import FITTING_ID, NAME
from ireneo.formats.chat.anthropic.plain import adopt_plain
from ireneo.formats.chat.anthropic.reader import read_message, read_system
from ireneo.formats.chat.anthropic.rules import LOCAL_RULES, RULES, THINKING_RULES, outlined
from ireneo.formats.chat.anthropic.server import is_server_block
from ireneo.formats.chat.anthropic.system_rules import blank_system
from ireneo.formats.chat.anthropic.writer import merge_natives, write_messages, write_system
from ireneo.formats.chat.format import Payload, ThinkingRule, Violation
from ireneo.formats.chat.mends.answers import answer_calls
from ireneo.formats.chat.mends.blanks import drop_blanks
from ireneo.formats.chat.mends.change import Mend, mended
from ireneo.formats.chat.mends.ids import name_apart
from ireneo.formats.chat.mends.joined import join_drafts
from ireneo.formats.chat.mends.opening import open_with_user
from ireneo.formats.chat.mends.places import place_parts
from ireneo.formats.chat.mends.server_pairs import keep_server_pairs
from ireneo.formats.chat.mends.systems import leading_systems, quote_later_systems
from ireneo.formats.chat.natives import settle_natives
from ireneo.formats.chat.reading import copied_messages, placed_messages, record
from ireneo.formats.chat.rules.outline import violations
from ireneo.formats.chat.summaries import cast_summaries, flatten_summaries, recognise_summaries
from ireneo.log.message import Call, Draft


class AnthropicMessages:
    """Anthropic Messages: the system prompt stands apart, and tool results stand in user messages."""

    name = NAME
    thinking: ThinkingRule = "prefix"

    def decode(self, payload: object) -> list[Draft]:
        """Read a message list, or an object that holds one under `messages` and a prompt under `system`."""
        prompt = payload.system if isinstance(payload, Payload) else None
        if isinstance(payload, dict):
            prompt = payload.get("system")
        drafts = read_system(prompt)
        for place, message in placed_messages(payload):
            drafts += read_message(message, place)
        return recognise_summaries(drafts)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid message list, and the system drafts at its beginning apart.

        Calls are answered and results follow their calls, the user begins, blank texts go, and what can't be shown
        is told in a text. Signed thinking goes back as it came; unsigned thinking is left out.
        """
        sound = mended(drafts, _MENDS)
        first = leading_systems(sound)
        system = write_system(sound[:first])
        return Payload(
            messages=copied_messages(write_messages(sound[first:])),
            system=copied_messages(system) if isinstance(system, list) else system,
        )

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; with `thinking`, as if extended thinking were on for the next call."""
        return [
            *blank_system(payload.system),
            *violations(outlined(payload.messages), THINKING_RULES if thinking else RULES),
        ]


def _accepts(payload: object) -> bool:
    if isinstance(payload, list):
        return not any(blank_system(payload))
    return isinstance(payload, dict) and not violations(outlined([payload]), LOCAL_RULES)


def _read_native(payload: object) -> list[Draft]:
    return read_system(payload) if isinstance(payload, list) else read_message(record(payload, "native"), "native")


def _express_all(drafts: Sequence[Draft]) -> list[Draft]:
    return [express(draft) for draft in drafts]


def _id_fits(call: Call, draft: Draft) -> bool:
    return FITTING_ID.fullmatch(call.id) is not None


_MENDS: tuple[Mend, ...] = (
    adopt_plain,
    partial(settle_natives, name=NAME, read=_read_native, accepts=_accepts),
    flatten_summaries,
    whole_loops,
    _express_all,
    partial(join_drafts, merge=merge_natives),
    partial(keep_server_pairs, writes=is_server_block),
    place_parts,
    drop_blanks,
    partial(name_apart, fits=_id_fits),
    answer_calls,
    quote_later_systems,
    cast_summaries,
    open_with_user,
)
