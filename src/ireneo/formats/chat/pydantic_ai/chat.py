"""The format, put together: a reader, a sequence of mends and a writer, and the rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ireneo.formats.chat.format import Payload, ThinkingRule, Violation
from ireneo.formats.chat.mends.answers import answer_calls
from ireneo.formats.chat.mends.blanks import drop_empty
from ireneo.formats.chat.mends.change import Mend, mended
from ireneo.formats.chat.mends.expressible import express_drafts
from ireneo.formats.chat.mends.ids import name_apart
from ireneo.formats.chat.mends.joined import join_drafts, no_native
from ireneo.formats.chat.mends.opening import open_with_user
from ireneo.formats.chat.mends.places import place_parts
from ireneo.formats.chat.mends.server_pairs import tell_server_pairs
from ireneo.formats.chat.natives import settle_natives
from ireneo.formats.chat.pydantic_ai.expression import carries
from ireneo.formats.chat.pydantic_ai.names import NAME
from ireneo.formats.chat.pydantic_ai.reader import read_message
from ireneo.formats.chat.pydantic_ai.rules import LOCAL_RULES, RULES, THINKING_RULES, outlined
from ireneo.formats.chat.pydantic_ai.shape import dumped_messages
from ireneo.formats.chat.pydantic_ai.writer import write_messages
from ireneo.formats.chat.reading import copied_messages, record
from ireneo.formats.chat.rules.outline import violations
from ireneo.formats.chat.summaries import cast_summaries, flatten_summaries, recognise_summaries
from ireneo.log.message import Call, Draft


class PydanticAIMessages:
    """Pydantic AI's message history, as `ModelMessagesTypeAdapter` dumps and loads it.

    Read from message objects in a list as well. An agent's `instructions` stay with the request that they were sent
    with: the agent states them anew in each run. A history ends as the path does; it is the path that has to end on a
    request where an agent is to go on from it without a new prompt.
    """

    name = NAME
    thinking: ThinkingRule = "prefix"

    def decode(self, payload: object) -> list[Draft]:
        """Read a message list, or an object that holds one under `messages`."""
        drafts = [draft for place, message in dumped_messages(payload) for draft in read_message(message, place)]
        return recognise_summaries(drafts)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid history.

        Calls are answered in the request after them, results come first in it, and a request stands first. Thinking
        goes back only in a response that goes back as it came.
        """
        return Payload(messages=copied_messages(write_messages(mended(drafts, _MENDS))))

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; with `thinking`, as if extended thinking were on for the next call."""
        return violations(outlined(payload.messages), THINKING_RULES if thinking else RULES)


def _accepts(payload: object) -> bool:
    return isinstance(payload, dict) and not violations(outlined([payload]), LOCAL_RULES)


def _read_native(payload: object) -> list[Draft]:
    return read_message(record(payload, "native"), "native")


def _share(before: Draft, draft: Draft) -> bool:
    """Whether two drafts may stand in one request: two that the user spoke are of two; a block of ours stands alone."""
    ours = any(each.origin == "summary" and each.native is None for each in (before, draft))
    asked = before.role != "assistant" and draft.role != "assistant"
    spoken = before.role == draft.role and before.origin == draft.origin == "spoken"
    return asked and not ours and not spoken


def _has_id(call: Call, draft: Draft) -> bool:
    return call.id != ""


_MENDS: tuple[Mend, ...] = (
    partial(settle_natives, name=NAME, read=_read_native, accepts=_accepts),
    flatten_summaries,
    partial(express_drafts, carries=carries),
    partial(join_drafts, merge=no_native, share=_share),
    tell_server_pairs,
    place_parts,
    drop_empty,
    partial(name_apart, fits=_has_id, per_message=True),
    answer_calls,
    cast_summaries,
    open_with_user,
)
