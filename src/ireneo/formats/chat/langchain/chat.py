"""The format, put together: a reader, a sequence of mends and a writer, and the rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ireneo.formats.chat.format import Payload, ThinkingRule, Violation
from ireneo.formats.chat.langchain.expression import carries
from ireneo.formats.chat.langchain.identity import name_messages
from ireneo.formats.chat.langchain.names import NAME
from ireneo.formats.chat.langchain.reader import read_message, settle_marked
from ireneo.formats.chat.langchain.rules import LOCAL_RULES, RULES, THINKING_RULES, outlined
from ireneo.formats.chat.langchain.shape import nested_messages
from ireneo.formats.chat.langchain.writer import write_draft
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
from ireneo.formats.chat.reading import copied_messages, record
from ireneo.formats.chat.rules.outline import violations
from ireneo.formats.chat.summaries import cast_summaries, flatten_summaries
from ireneo.log.message import Draft


class LangChainMessages:
    """LangChain messages, as `messages_to_dict` writes and `messages_from_dict` loads them.

    Read flat as well (as `model_dump` writes them), and from message objects in a list.
    """

    name = NAME
    thinking: ThinkingRule = "prefix"

    def decode(self, payload: object) -> list[Draft]:
        """Read a message list, or an object that holds one under `messages`; one draft a message.

        What a tool handed to the program as its `artifact` is left out where it can't be written as JSON.
        """
        drafts = [draft for place, message in nested_messages(payload) for draft in read_message(message, place)]
        return settle_marked(drafts)

    def encode(self, drafts: Sequence[Draft]) -> Payload:
        """Write drafts as a valid message list.

        Calls are answered and results follow their calls, one system message stands first, then the user begins, and
        each message has an id. Thinking goes back only in a message that goes back as it came.
        """
        messages = [message for draft in mended(drafts, _MENDS) for message in write_draft(draft)]
        return Payload(messages=name_messages(copied_messages(messages)))

    def validate(self, payload: Payload, *, thinking: bool = False) -> list[Violation]:
        """Name every rule that the list breaks; with `thinking`, as if extended thinking were on for the next call."""
        return violations(outlined(payload.messages), THINKING_RULES if thinking else RULES)


def _accepts(payload: object) -> bool:
    return isinstance(payload, dict) and not violations(outlined([payload]), LOCAL_RULES)


def _read_native(payload: object) -> list[Draft]:
    return read_message(record(payload, "native"), "native")


_MENDS: tuple[Mend, ...] = (
    partial(settle_natives, name=NAME, read=_read_native, accepts=_accepts),
    flatten_summaries,
    partial(join_drafts, merge=no_native),
    tell_server_pairs,
    partial(express_drafts, carries=carries),
    place_parts,
    drop_empty,
    partial(name_apart, fits=id_fits, per_message=True),
    answer_calls,
    join_systems,
    quote_later_systems,
    cast_summaries,
    open_with_user,
)
