"""The format, put together: a reader, a sequence of mends and a writer, and the rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ireneo.formats.chat.format import Payload, ThinkingRule, Violation
from ireneo.formats.chat.mends.alternation import take_turns
from ireneo.formats.chat.mends.answers import answer_calls
from ireneo.formats.chat.mends.blanks import drop_empty
from ireneo.formats.chat.mends.change import Mend, mended
from ireneo.formats.chat.mends.expressible import express_drafts
from ireneo.formats.chat.mends.ids import name_apart
from ireneo.formats.chat.mends.joined import join_drafts, no_native
from ireneo.formats.chat.mends.opening import open_with_user
from ireneo.formats.chat.mends.places import place_parts
from ireneo.formats.chat.mends.server_pairs import tell_server_pairs
from ireneo.formats.chat.mends.systems import join_systems, quote_later_systems
from ireneo.formats.chat.natives import settle_natives
from ireneo.formats.chat.openai.calls import id_fits
from ireneo.formats.chat.openai.expression import carries
from ireneo.formats.chat.openai.names import NAME
from ireneo.formats.chat.openai.reader import read_message
from ireneo.formats.chat.openai.rules import ALTERNATING_RULES, LOCAL_RULES, RULES, outlined
from ireneo.formats.chat.openai.writer import write_draft
from ireneo.formats.chat.reading import copied_messages, placed_messages, record
from ireneo.formats.chat.rules.outline import violations
from ireneo.formats.chat.summaries import cast_summaries, flatten_summaries, recognise_summaries
from ireneo.log.message import Draft


class OpenAIChat:
    """OpenAI Chat Completions messages, and those of the many servers that speak the same.

    With `alternate`, for models whose template demands that user and assistant strictly take turns.
    """

    name = NAME
    thinking: ThinkingRule = "none"

    def __init__(self, *, alternate: bool = False) -> None:
        self._rules = ALTERNATING_RULES if alternate else RULES
        self._mends = _ALTERNATING_MENDS if alternate else _MENDS

    def decode(self, payload: object) -> list[Draft]:
        """Read a message list, or an object that holds one under `messages`; one draft a message."""
        drafts = [draft for place, message in placed_messages(payload) for draft in read_message(message, place)]
        return recognise_summaries(drafts)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid message list.

        Calls are answered and results follow their calls; what can't be shown is told in a text. Thinking is left out.
        """
        messages = [message for draft in mended(drafts, self._mends) for message in write_draft(draft)]
        return Payload(messages=copied_messages(messages))

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; they are the same whether or not the model is to think."""
        return violations(outlined(payload.messages), self._rules)


def _accepts(payload: object) -> bool:
    return isinstance(payload, dict) and not violations(outlined([payload]), LOCAL_RULES)


def _read_native(payload: object) -> list[Draft]:
    return read_message(record(payload, "native"), "native")


_FITTING: tuple[Mend, ...] = (
    partial(settle_natives, name=NAME, read=_read_native, accepts=_accepts),
    flatten_summaries,
    partial(join_drafts, merge=no_native),
    tell_server_pairs,
    partial(express_drafts, carries=carries),
    place_parts,
    drop_empty,
    partial(name_apart, fits=id_fits, per_message=True),
    answer_calls,
)
_MENDS: tuple[Mend, ...] = (*_FITTING, cast_summaries)
_ALTERNATING_MENDS: tuple[Mend, ...] = (
    *_FITTING,
    join_systems,
    quote_later_systems,
    cast_summaries,
    open_with_user,
    take_turns,
)
