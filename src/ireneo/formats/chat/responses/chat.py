"""The format, put together: a reader, a sequence of mends and a writer, and the rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ireneo.formats.chat.format import Payload, ThinkingRule, Violation
from ireneo.formats.chat.mends.answers import answer_calls
from ireneo.formats.chat.mends.blanks import drop_empty, drop_loose_thinking
from ireneo.formats.chat.mends.change import Mend, mended
from ireneo.formats.chat.mends.ids import name_apart
from ireneo.formats.chat.mends.joined import join_drafts
from ireneo.formats.chat.mends.places import place_parts
from ireneo.formats.chat.mends.server_pairs import tell_server_pairs
from ireneo.formats.chat.mends.systems import leading_systems
from ireneo.formats.chat.natives import settle_natives
from ireneo.formats.chat.reading import copied_messages, placed_messages, record
from ireneo.formats.chat.responses.expression import express
from ireneo.formats.chat.responses.kinds import agree_on_kinds, drop_dangling_ids, join_to_reasoning
from ireneo.formats.chat.responses.names import LONGEST_ID, NAME
from ireneo.formats.chat.responses.reader import read_instructions, read_items
from ireneo.formats.chat.responses.rules import LOCAL_RULES, RULES, outlined
from ireneo.formats.chat.responses.writer import merge_natives, write_instructions, write_items
from ireneo.formats.chat.rules.outline import violations
from ireneo.formats.chat.summaries import cast_summaries, flatten_summaries, recognise_summaries
from ireneo.log.message import Call, Draft


class OpenAIResponses:
    """OpenAI Responses: reasoning, messages, calls and their outputs are items of one list, the instructions apart.

    A call must stand in the list to be answered there: one that is only referred to (by an `item_reference`, or by
    a `previous_response_id`) is not seen.
    """

    name = NAME
    thinking: ThinkingRule = "turn"

    def decode(self, payload: object) -> list[Draft]:
        """Read a list of items, or an object that holds one (or words) under `input`, with `instructions` beside it.

        `messages` and `system` are read as the same.
        """
        prompt: object = payload.system if isinstance(payload, Payload) else None
        if isinstance(payload, dict):
            prompt = payload.get("instructions", payload.get("system"))
            if isinstance(payload.get("input"), str):
                payload = [{"role": "user", "content": payload["input"]}]
        drafts = [*read_instructions(prompt), *read_items(placed_messages(payload, "input"))]
        return recognise_summaries(drafts)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid list of items, and the system drafts at its beginning apart.

        Calls are answered and outputs follow their calls; what can't be shown is told in a text. Sealed reasoning
        goes back, and all reasoning of a reply that goes back unchanged; a changed reply loses its items' ids.
        """
        sound = mended(drafts, _MENDS)
        first = leading_systems(sound)
        # A prompt that stood in the list has its payload, and stands there again.
        listed = [draft for place, draft in enumerate(sound) if place >= first or draft.native is not None]
        apart = [draft for draft in sound[:first] if draft.native is None]
        return Payload(messages=copied_messages(write_items(listed)), system=write_instructions(apart))

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; they are the same whether or not the model is to think."""
        return violations(outlined(payload.messages), RULES)


def _items(payload: object) -> list[dict[str, object]]:
    return [record(item, "native") for item in (payload if isinstance(payload, list) else [payload])]


def _accepts(payload: object) -> bool:
    listed = payload if isinstance(payload, list) else [payload]
    return all(isinstance(item, dict) for item in listed) and not violations(outlined(_items(payload)), LOCAL_RULES)


def _read_native(payload: object) -> list[Draft]:
    return read_items(("native", item) for item in _items(payload))


def _express_all(drafts: Sequence[Draft]) -> list[Draft]:
    return [express(draft) for draft in drafts]


def _id_fits(call: Call, draft: Draft) -> bool:
    return len(call.id) <= LONGEST_ID


_MENDS: tuple[Mend, ...] = (
    partial(settle_natives, name=NAME, read=_read_native, accepts=_accepts),
    flatten_summaries,
    _express_all,
    drop_dangling_ids,
    join_to_reasoning,
    partial(join_drafts, merge=merge_natives),
    tell_server_pairs,
    place_parts,
    drop_loose_thinking,
    drop_empty,
    partial(name_apart, fits=_id_fits),
    answer_calls,
    agree_on_kinds,
    cast_summaries,
)
