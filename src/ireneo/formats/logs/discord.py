"""Discord's channels as DiscordChatExporter saves them in JSON: each message with its author as the channel calls them.

What the service notes itself (who joined, what was pinned) is nobody's words. Replies name what they answer in their
record.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Iterator, Mapping

from ireneo.formats.logs.conversation import SpokenTree, uttered
from ireneo.formats.logs.documents import documents
from ireneo.formats.logs.format import LogFault, LoggedSession, UniqueNames, line_fault, objects_in, with_faults
from ireneo.formats.values import mapping, moment, objects, string, without
from ireneo.log.message import Draft, Media
from ireneo.patterns import lazy_re

FORMAT = "discord"
_CHANNEL = (lazy_re(rb'"guild"\s*:\s*\{'), lazy_re(rb'"channel"\s*:\s*\{'))
_SAID = ("Default", "Reply", "ApplicationCommand", "ThreadStarterMessage", "0", "19", "20", "21")
"""The types of messages that somebody wrote."""


class Discord:
    """Reads a channel's messages."""

    name = FORMAT
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` begins with a server and a channel."""
        return sample.lstrip()[:1] == b"{" and all(mark.search(sample) for mark in _CHANNEL)

    @with_faults
    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | LogFault]:
        """Read the channels of a file, one as a rule; it is called `name`."""
        names = UniqueNames()
        for document in documents(lines):
            yield from document.faults
            if document.value is None:
                continue
            export = mapping(document.value)
            if not isinstance(export.get("messages"), list):
                yield line_fault(document.number, "holds no channel with `messages`; it was left out.")
                continue
            messages, faults = objects_in(export, "messages", document.number, "messages")
            tree = SpokenTree(FORMAT, without(export, "messages"))
            for message in messages:
                tree.say(_draft(message), without(message, "content"))
            session = tree.session(names.give(name), faults)
            yield from [session] if session else faults


def _draft(message: Mapping[str, object]) -> Draft:
    author = mapping(message.get("author"))
    kind = message.get("type", "Default")
    said = str(kind) in _SAID
    return uttered(
        "user",
        _text(message),
        author=(string(author.get("nickname")) or string(author.get("name"))) if said else None,
        at=moment(message.get("timestamp")),
        id=string(message.get("id")),
        origin="spoken" if said else "injected",
        media=[_media(each) for each in objects(message.get("attachments")) if string(each.get("url"))],
    )


def _text(message: Mapping[str, object]) -> str:
    """What is said: a text, one that is passed on, or what a program shows in a box."""
    passed_on = mapping(message.get("forwardedMessage"))
    boxes = [string(box.get(key)) for box in objects(message.get("embeds")) for key in ("title", "description")]
    text = string(message.get("content")) or string(passed_on.get("content"))
    return text or ("\n".join(filter(None, boxes)) if mapping(message.get("author")).get("isBot") else "")


def _media(attachment: Mapping[str, object]) -> Media:
    name, url = string(attachment.get("fileName")), string(attachment.get("url"))
    kind, _ = mimetypes.guess_type(name or url or "")
    return Media(media_type=kind or "application/octet-stream", url=url, name=name)
