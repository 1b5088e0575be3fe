"""Chats of people and characters, as programs and services save them: SillyTavern, ChatGPT, Character.AI and others.

Other versions of a message (swipes, candidates, edits) are branches next to the path that the program shows. Character
cards and lorebooks are read as the system messages that a chat begins with.
"""

from __future__ import annotations

import base64
import binascii
import mimetypes
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.documents import Document, Found, LogReader, documents
from ireneo.formats.logs.format import LogFault, SessionBuilder, line_fault, objects_in
from ireneo.formats.values import mapping, objects, parse_json, parse_time, string, without
from ireneo.log.calls import derive_failed
from ireneo.log.message import Call, Draft, Media, Origin, Part, Result, Role, Text
from ireneo.patterns import lazy_re


def _chat_draft(
    role: Role,
    text: str,
    *,
    author: str | None = None,
    at: datetime | None = None,
    id: str | None = None,
    origin: Origin = "spoken",
    media: Sequence[Media] = (),
) -> Draft:
    """Make the draft of `text` and what was sent with it; without parts where nothing was said or sent."""
    # A speaker who sends a picture without words is named all the same.
    speaks = text.strip() or (media and author)
    said: tuple[Part, ...] = (Text(text=text, author=author or None),) if speaks else ()
    return Draft(role=role, parts=(*said, *media), origin=origin, at=at, source_id=id)


class _ChatBuilder(SessionBuilder):
    """A chat without branches but for other versions of its messages."""

    def __init__(self, form: str, *early: object) -> None:
        super().__init__(form, *early)
        self._before: int | None = None
        self._versions: list[tuple[Draft, int | None, object]] = []

    def add_message(self, draft: Draft, entry: object) -> None:
        """Append `draft`, and record the log's `entry`."""
        if not draft.parts:
            self.note(entry, at=self.head)
            return
        self._before = self.head
        self.add(draft, entry)

    def add_alternative(self, draft: Draft, entry: object) -> None:
        """Add another version of the last message."""
        if draft.parts and self.head is not None:
            self._versions.append((draft, self._before, entry))

    def build(self) -> SessionBuilder:
        """Add the alternative versions of messages, once the whole path is added; each becomes a branch of the path."""
        end = self.head
        for draft, parent, entry in self._versions:
            self.head = parent
            self.add(draft, entry)
        self.head = end
        return self


def _json_objects(lines: Iterable[bytes], what: str, faults: list[LogFault]) -> Iterator[tuple[int, dict[str, object]]]:
    """Read the objects of a file with their line numbers; they are on lines of their own, or in a list."""
    for number, listed in documents(lines, faults):
        for value in listed if isinstance(listed, list) else [listed]:
            if isinstance(value, dict):
                yield number, value
            elif value is not None:
                faults.append(line_fault(number, f"holds a value that is no {what}; it was left out."))


SILLYTAVERN = "sillytavern"
_HEADER = lazy_re(rb'[\s\[]*\{\s*"(?:user_name|character_name|chat_metadata)"\s*:')
_MES = lazy_re(rb'"mes"\s*:\s*["{]')
_SENT = lazy_re(rb'"(?:is_user|send_date|is_system)"\s*:')
_HUMANISED = lazy_re(r"(\d{4})-(\d\d?)-(\d\d?) ?@(\d\d?)h ?(\d\d?)m ?(\d\d?)s(?: ?(\d{1,3})ms)?")
_MACROS = lazy_re(r"\{\{(user|char)\}\}|<(USER|BOT|CHAR)>", re.IGNORECASE)
_UNNAMED = ("unused", "You")
"""Placeholders in headers for an unknown name."""
_OF_PROGRAM = frozenset(
    "help welcome empty generic comment slash_commands formatting hotkeys macros welcome_prompt assistant_note"
    " assistant_message group".split()
)
"""The types of messages that the program, or a comment, adds to a chat."""


class SillyTavern(LogReader):
    """SillyTavern's `chats/<character>/<name>.jsonl` and `group chats/<name>.jsonl`.

    A header and then one message per line; a group's chat may have no header. Messages that `/hide` removed from the
    prompt are still part of the story.
    """

    name = SILLYTAVERN

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` begins with a chat's header, or with a message as only such a chat has it."""
        if _HEADER.match(sample):
            return True
        first = sample.lstrip().split(b"\n", 1)[0]
        return first.startswith(self.begins) and bool(_MES.search(first) and _SENT.search(first))

    def _find(self, lines: Iterable[bytes], name: str, faults: list[LogFault]) -> Iterator[Found]:
        entries = list(_json_objects(lines, "message", faults))
        chat = _TavernChat([entry for _, entry in entries])
        for number, entry in entries:
            faults += chat.add(number, entry)
        yield [name], chat.builder.build()


def _replace_name_macros(text: str, user: str | None, character: str | None) -> str:
    """Replace the macros for names in `text`, as far as the names are known."""

    def name(found: re.Match[str]) -> str:
        known = user if (found[1] or found[2]).casefold() == "user" else character
        return known or found[0]

    return _MACROS.sub(name, text) if "{{" in text or "<" in text else text


class _TavernChat:
    def __init__(self, entries: Sequence[Document]) -> None:
        """Take the names of the user and the character from the header, or from who speaks first on either side."""
        self.builder = _ChatBuilder(SILLYTAVERN)
        header = next((entry for entry in entries if _is_header(entry)), {})
        said = [entry for entry in entries if not entry.get("is_system") and string(entry.get("name"))]
        users = [entry["name"] for entry in said if entry.get("is_user")]
        characters = [entry["name"] for entry in said if not entry.get("is_user")]
        self._user = _header_name(header.get("user_name")) or string(next(iter(users), None))
        self._character = _header_name(header.get("character_name")) or string(next(iter(characters), None))

    def add(self, number: int, entry: dict[str, object]) -> Iterator[LogFault]:
        if _is_header(entry) or _is_notice(entry):
            self.builder.note(entry, at=self.builder.head)
            return
        text = _message_text(entry["mes"]) if "mes" in entry else None
        if text is None:
            yield line_fault(number, "holds no text of a message (`mes`); it was left out.")
            return
        self.builder.add_message(
            self._draft(entry, text, _date(entry.get("send_date"))), without(entry, "mes", "swipes")
        )
        swipes = entry.get("swipes")
        infos = entry.get("swipe_info")
        for place, swipe in enumerate(swipes if isinstance(swipes, list) else ()):
            said = _message_text(swipe)
            if said is None:
                yield line_fault(number, f"holds a swipe, the {place + 1}., that is not text; it was left out.")
            elif place != entry.get("swipe_id") and said != text:
                about = mapping(infos[place]) if isinstance(infos, list) and place < len(infos) else {}
                at = _date(about.get("send_date"))
                self.builder.add_alternative(self._draft(entry, said, at), {"swipe_id": place, **about})

    def _draft(self, entry: Document, text: str, at: datetime | None) -> Draft:
        kind = mapping(entry.get("extra")).get("type")
        name = string(entry.get("name"))
        role: Role = "user" if entry.get("is_user") or kind == "narrator" else "assistant"
        if kind == "narrator" and name == "System":
            name = None
        return _chat_draft(role, _replace_name_macros(text, self._user, self._character), author=name, at=at)


def _is_header(entry: Document) -> bool:
    return "mes" not in entry and any(key in entry for key in ("user_name", "character_name", "chat_metadata"))


def _is_notice(entry: Document) -> bool:
    """Whether an entry is the program's or a comment: shown in the chat, and sent to no model."""
    kind = mapping(entry.get("extra")).get("type")
    return kind in _OF_PROGRAM or (bool(entry.get("is_system")) and string(entry.get("name")) == "SillyTavern System")


def _header_name(name: object) -> str | None:
    return None if name in _UNNAMED else string(name)


def _message_text(value: object) -> str | None:
    """Return a message's text; other programs that write the format keep it in an object."""
    text = mapping(value).get("message") if isinstance(value, dict) else value
    return text if isinstance(text, str) else "" if text is None else None


def _date(value: object) -> datetime | None:
    """Read a time as any version of SillyTavern writes it."""
    found = _HUMANISED.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return parse_time(value)
    year, month, day, hour, minute, second, milliseconds = (int(each or 0) for each in found.groups())
    try:
        return parse_time(datetime(year, month, day, hour, minute, second, milliseconds * 1_000).isoformat())
    except ValueError:
        return None


CHARACTER_CARD = "character-card"
_PNG = b"\x89PNG\r\n\x1a\n"
_SPEC = lazy_re(rb'"spec"\s*:\s*"(?:chara_card_v\d|lorebook_v\d)"')
_CARD = (lazy_re(rb'"first_mes"'), lazy_re(rb'"description"'))
_LOREBOOK = (lazy_re(rb'"entries"'), lazy_re(rb'"keysecondary"'))
_DECORATOR = lazy_re(r"^@@.*\n?", re.MULTILINE)
_USER = "User"
"""The user's name where no chat says it."""


class CharacterCard(LogReader):
    """Character cards, V1 to V3, as JSON or in a PNG, lorebooks by themselves, and SillyTavern's world info.

    A card becomes messages of the system: who the character is, and then its lorebook. Its greetings are only recorded,
    since the chat that begins with one of them has it.
    """

    name = CHARACTER_CARD
    begins = (b"{",)
    marks = ((_SPEC,), _CARD, _LOREBOOK)

    def recognises(self, sample: bytes) -> bool:
        """Whether `sample` is the beginning of a picture, or of a card or lorebook in JSON."""
        return sample.startswith(_PNG) or super().recognises(sample)

    def _find(self, lines: Iterable[bytes], name: str, faults: list[LogFault]) -> Iterator[Found]:
        whole = b"".join(lines)
        if whole.startswith(_PNG):
            whole = _card_in_picture(whole)
        found: list[LogFault] = []
        card = next((value for _, value in list(documents([whole], found)) if isinstance(value, dict)), None)
        if card is None:
            faults += found
            return
        about = mapping(card.get("data")) or card
        title = string(about.get("name"))
        book = about if "entries" in about else about.get("character_book")
        texts = [text for text in (_character(about, title), _lorebook_text(mapping(book), title)) if text]
        builder = SessionBuilder(CHARACTER_CARD)
        # The whole card is recorded with its first message.
        for text, entry in zip(texts, (card, {"card": title}), strict=False):
            builder.add(_chat_draft("system", text), entry)
        if not texts:
            faults.append(LogFault(line=1, message="As a card it has neither a description nor a lorebook."))
        faults += found
        yield [name], builder


def _card_in_picture(picture: bytes) -> bytes:
    """Return the card that a PNG holds as text under `ccv3`, or else `chara`. Raises UnreadableLog without one."""
    texts: dict[bytes, bytes] = {}
    place = len(_PNG)
    while place + 8 <= len(picture):
        size, kind = int.from_bytes(picture[place : place + 4]), picture[place + 4 : place + 8]
        if kind == b"tEXt":
            keyword, _, text = picture[place + 8 : place + 8 + size].partition(b"\0")
            texts.setdefault(keyword.lower(), text)
        # Four bytes of checksum follow the data.
        place += size + 12
    held = texts.get(b"ccv3") or texts.get(b"chara")
    if held is None:
        raise UnreadableLog("The picture holds no character card; a card's PNG has a text `chara` or `ccv3`.")
    try:
        return base64.b64decode(held, validate=True)
    except binascii.Error:
        raise UnreadableLog("The picture's character card is damaged: its text is not base64.") from None


def _character(about: Document, title: str | None) -> str:
    """Describe the character as a prompt does; empty for a lorebook."""
    called = string(about.get("nickname")) or title

    def told(key: str, heading: str = "") -> str:
        text = _replace_name_macros(string(about.get(key)) or "", _USER, called).replace("{{original}}", "").strip()
        return f"{heading}{text}" if text else ""

    lead = [told("system_prompt"), f"{title}:" if title and told("description") else "", told("description")]
    rest = [told("personality", "Personality: "), told("scenario", "Scenario: "), told("post_history_instructions")]
    return "\n\n".join(filter(None, (*lead, *rest)))


def _lorebook_text(book: Document, title: str | None) -> str:
    """List the entries of a lorebook, those that are always active first; empty if there are none."""
    entries = book.get("entries")
    listed = list(entries.values()) if isinstance(entries, dict) else entries
    told = [
        (not entry.get("constant"), _insertion_order(entry), _lorebook_entry(entry, title))
        for entry in objects(listed)
        if entry.get("enabled", True) and not entry.get("disable")
    ]
    lines = [text for _, _, text in sorted((each for each in told if each[2]), key=lambda each: each[:2])]
    return "\n".join(["What is so in this world:", *lines]) if lines else ""


def _insertion_order(entry: Document) -> float:
    given = entry.get("insertion_order", entry.get("order"))
    return given if isinstance(given, int | float) else 0


def _lorebook_entry(entry: Document, title: str | None) -> str:
    text = _DECORATOR.sub("", _replace_name_macros(string(entry.get("content")) or "", _USER, title)).strip()
    given = entry.get("keys", entry.get("key"))
    keys = ", ".join(key for key in given if isinstance(key, str)) if isinstance(given, Sequence) else ""
    about = f"{keys}: " if keys and not entry.get("constant") and not entry.get("use_regex") else ""
    return f"- {about}{' '.join(text.split())}" if text else ""


CHARACTER_AI = "character-ai"
_TURNS = lazy_re(rb'"turn_key"\s*:\s*\{')
_HISTORIES = (lazy_re(rb'"histories"'), lazy_re(rb'"msgs"\s*:\s*\['), lazy_re(rb'"(?:src__)?is_human"\s*:'))
_EARLY = datetime.min.replace(tzinfo=UTC)


class CharacterAI(LogReader):
    """Character.AI's chats, as tools of its users save them: lists of `turns`, or the older `histories` with `msgs`.

    The chosen candidate of a turn is on the path, and the others are branches. The service's pages come newest first,
    so turns are sorted by their times.
    """

    name = CHARACTER_AI
    marks = ((_TURNS,), _HISTORIES)
    holds = "chat with `turns` or `msgs`"

    def _within(self, value: object, number: int, name: str) -> Iterator[Found]:
        if isinstance(value, list):
            if any("turn_key" in each for each in objects(value)):
                yield from _character_ai_chat(objects(value), {}, number, "", name)
                return
            for each in value:
                yield from self._within(each, number, name)
        elif isinstance(value, dict):
            for key in ("turns", "msgs"):
                if isinstance(listed := value.get(key), list):
                    id = string(value.get("external_id")) or string(value.get("chat_id")) or ""
                    yield from _character_ai_chat(objects(listed), without(value, key), number, id, name)
                    return
            for key, inner in value.items():
                if key in ("histories", "chats", "history", "chat"):
                    yield from self._within(inner, number, name)


def _character_ai_chat(
    listed: Sequence[dict[str, object]], about: Document, number: int, given: str, name: str
) -> Iterator[Found]:
    builder = _ChatBuilder(CHARACTER_AI, *([about] if about else []))
    ids = (string(mapping(turn.get("turn_key")).get("chat_id")) for turn in listed)
    wished = given or next(filter(None, ids), None) or name
    if any("candidates" in each for each in listed):
        # A stable sort: turns of one time stay in the order in which they came.
        for turn in sorted(listed, key=lambda turn: parse_time(turn.get("create_time")) or _EARLY):
            if not _add_turn(builder, turn):
                builder.faults.append(line_fault(number, "holds a turn without a text; it was left out."))
        yield [wished], builder.build()
        return
    for each in listed:
        source = mapping(each.get("src"))
        human = each.get("src__is_human", source.get("is_human"))
        author = string(each.get("src__name")) or string(source.get("name"))
        text = string(each.get("text"))
        if text is None:
            builder.faults.append(line_fault(number, "holds a message without a text; it was left out."))
            continue
        at, id = parse_time(each.get("created")), string(each.get("uuid"))
        draft = _chat_draft("user" if human else "assistant", text, author=author, at=at, id=id)
        (builder.add_alternative if each.get("is_alternative") else builder.add_message)(draft, without(each, "text"))
    yield [wished], builder.build()


def _add_turn(builder: _ChatBuilder, turn: dict[str, object]) -> bool:
    author = mapping(turn.get("author"))
    candidates = [each for each in objects(turn.get("candidates")) if string(each.get("raw_content"))]
    chosen = next((each for each in candidates if each.get("candidate_id") == turn.get("primary_candidate_id")), None)
    chosen = chosen or next(reversed(candidates), None)
    for each in [] if chosen is None else [chosen, *(each for each in candidates if each is not chosen)]:
        draft = _chat_draft(
            "user" if author.get("is_human") else "assistant",
            string(each.get("raw_content")) or "",
            author=string(author.get("name")),
            at=parse_time(each.get("create_time")) or parse_time(turn.get("create_time")),
            id=string(each.get("candidate_id")),
        )
        if each is chosen:
            builder.add_message(draft, without(turn, "candidates"))
        else:
            builder.add_alternative(draft, without(each, "raw_content"))
    return chosen is not None


CHATGPT = "chatgpt"
_MAPPING = lazy_re(rb'"mapping"\s*:\s*\{')
_NODE = lazy_re(rb'"(?:current_node|parent|children)"\s*:')
_ASIDE = frozenset({"thoughts", "reasoning_recap", "model_editable_context", "app_pairing_content"})
"""Kinds of content that are addressed to nobody."""
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}


class ChatGPT(LogReader):
    """ChatGPT's export, `conversations.json`: trees in which edited questions and new answers branch.

    The session is the path to `current_node`. What the page hides (a model's thoughts, empty prompts) is only recorded;
    custom instructions are a system message. A message to a tool is a call, and the tool's next message its result.
    """

    name = CHATGPT
    marks = ((_MAPPING, _NODE),)

    def _find(self, lines: Iterable[bytes], name: str, faults: list[LogFault]) -> Iterator[Found]:
        for number, conversation in _json_objects(lines, "conversation", faults):
            nodes = conversation.get("mapping")
            if not isinstance(nodes, dict):
                faults.append(line_fault(number, "holds no conversation with a `mapping`; it was left out."))
                continue
            about = without(conversation, "mapping")
            builder = _Conversation(nodes, string(conversation.get("current_node")), about).builder
            # Without a head it is a conversation that was opened and left again.
            if builder.head is not None:
                id = string(conversation.get("conversation_id")) or string(conversation.get("id")) or name
                yield [id], builder


class _Place(Struct, frozen=True):
    """The node of our tree for a node of the export, and the call that waits there for its result."""

    index: int | None = None
    call: Call | None = None


class _Conversation:
    def __init__(self, nodes: Document, current: str | None, about: Document) -> None:
        """Read `nodes`, those on the path to `current` before others, so that they are stored next to each other."""
        self.builder = SessionBuilder(CHATGPT, about)
        self._nodes = {id: mapping(node) for id, node in nodes.items()}
        self._places: dict[str, _Place] = {}
        standing: set[str] = set()
        way: str | None = current
        while way is not None and way in self._nodes and way not in standing:
            standing.add(way)
            way = string(self._nodes[way].get("parent"))
        children: dict[str | None, list[str]] = {}
        for id, node in self._nodes.items():
            parent = string(node.get("parent"))
            children.setdefault(parent if parent in self._nodes else None, []).append(id)
        waiting = sorted(children.get(None, []), key=lambda id: id in standing)
        last: _Place | None = None
        while waiting:
            id = waiting.pop()
            last = self._places[id] = self._add(self._nodes[id])
            waiting += sorted(children.get(id, []), key=lambda id: id in standing)
        self.builder.head = (self._places.get(current or "", last) or _Place()).index

    def _add(self, node: Document) -> _Place:
        before = self._places.get(string(node.get("parent")) or "", _Place())
        message = mapping(node.get("message"))
        if not message:
            return before
        draft = _chatgpt_draft(message, before.call)
        if not draft.parts:
            self.builder.note(message, at=before.index)
            return before
        self.builder.head = before.index
        return _Place(self.builder.add(draft, without(message, "content")), next(iter(draft.calls), None))


def _chatgpt_draft(message: Document, call: Call | None) -> Draft:
    """Read a message, which has no parts where it is addressed to nobody; `call` waits for its result."""
    author, content = mapping(message.get("author")), mapping(message.get("content"))
    role = _ROLES.get(string(author.get("role")) or "", "user")
    kind = content.get("content_type")
    at, id = parse_time(message.get("create_time")), string(message.get("id"))
    if kind == "user_editable_context":
        given = (string(content.get(key)) for key in ("user_profile", "user_instructions"))
        return _chat_draft("system", "\n\n".join(filter(None, given)), at=at, id=id)
    parts = content.get("parts")
    listed = parts if isinstance(parts, list) else [content.get("text"), content.get("result")]
    texts = [each for each in listed if isinstance(each, str)]
    texts += [text for each in objects(listed) if (text := string(each.get("text")))]
    pointers = [pointer for each in objects(listed) if (pointer := string(each.get("asset_pointer")))]
    text = "\n".join(filter(None, texts))
    media = [Media(media_type="application/octet-stream", url=each) for each in pointers]
    recipient = string(message.get("recipient")) or "all"
    if kind in _ASIDE or not (text.strip() or media):
        return _chat_draft(role, "")
    if role == "assistant" and recipient != "all":
        arguments = parse_json(text)
        given_arguments = arguments if isinstance(arguments, dict) else text
        made = Call(id=id or f"call-{recipient}", name=recipient, arguments=given_arguments)
        return Draft(role="assistant", parts=(made,), at=at, source_id=id)
    if role == "tool" and call is not None:
        shown = ((Text(text=text),) if text.strip() else ()) + tuple(media)
        result = Result(call_id=call.id, parts=shown, failed=derive_failed(text, call), name=call.name)
        return Draft(role="tool", parts=(result,), at=at, source_id=id)
    hidden = bool(mapping(message.get("metadata")).get("is_visually_hidden_from_conversation"))
    origin: Origin = "injected" if role == "tool" or (hidden and role == "user") else "spoken"
    return _chat_draft("user" if role == "tool" else role, text, at=at, id=id, origin=origin, media=media)


DISCORD = "discord"
_GUILD, _CHANNEL = lazy_re(rb'"guild"\s*:\s*\{'), lazy_re(rb'"channel"\s*:\s*\{')
_SAID = ("Default", "Reply", "ApplicationCommand", "ThreadStarterMessage", "0", "19", "20", "21")
"""The types of messages that somebody wrote; others are notes of the service (who joined, what was pinned)."""


class Discord(LogReader):
    """Discord's channels as DiscordChatExporter saves them in JSON. A reply names what it answers in its record."""

    name = DISCORD
    begins = (b"{",)
    marks = ((_GUILD, _CHANNEL),)
    holds = "channel with `messages`"

    def _within(self, value: object, number: int, name: str) -> Iterator[Found]:
        export = mapping(value)
        if not isinstance(export.get("messages"), list):
            return
        builder = _ChatBuilder(DISCORD, without(export, "messages"))
        messages, builder.faults = objects_in(export, "messages", number, "messages")
        for message in messages:
            builder.add_message(_discord_draft(message), without(message, "content"))
        yield [name], builder


def _discord_draft(message: Document) -> Draft:
    author = mapping(message.get("author"))
    said = str(message.get("type", "Default")) in _SAID
    attachments = [each for each in objects(message.get("attachments")) if string(each.get("url"))]
    text = string(message.get("content")) or string(mapping(message.get("forwardedMessage")).get("content")) or ""
    if not text and author.get("isBot"):
        boxes = [string(box.get(key)) for box in objects(message.get("embeds")) for key in ("title", "description")]
        text = "\n".join(filter(None, boxes))
    return _chat_draft(
        "user",
        text,
        author=(string(author.get("nickname")) or string(author.get("name"))) if said else None,
        at=parse_time(message.get("timestamp")),
        id=string(message.get("id")),
        origin="spoken" if said else "injected",
        media=[_attachment(each) for each in attachments],
    )


def _attachment(attachment: Document) -> Media:
    name, url = string(attachment.get("fileName")), string(attachment.get("url"))
    kind, _ = mimetypes.guess_type(name or url or "")
    return Media(media_type=kind or "application/octet-stream", url=url, name=name)


OOBABOOGA = "oobabooga"
_FIRST_PAIRS = lazy_re(rb'\A\s*\{\s*"(?:internal|visible|data|data_visible)"\s*:\s*\[\s*(?:\[|\])')
_INTERNAL = lazy_re(rb'"(?:internal|data)"\s*:\s*\[\s*(?:\[\s*(?:"|\])|\])')
_BEGINS = "<|BEGIN-VISIBLE-CHAT|>"
"""The marker in place of the user's words before a greeting."""


class Oobabooga(LogReader):
    """Chats of oobabooga's text-generation-webui, `user_data/logs/chat/<character>/<time>.json`.

    Pairs of what the user and the model said, as `internal` and `visible` (`data` and `data_visible` in older ones).
    The internal text is read, which the model saw. Versions of a reply are branches.
    """

    name = OOBABOOGA
    begins = (b"{",)
    marks = ((_FIRST_PAIRS, _INTERNAL),)
    holds = "list of pairs (`internal`)"

    def _within(self, value: object, number: int, name: str) -> Iterator[Found]:
        chat = mapping(value)
        pairs = chat.get("internal", chat.get("data"))
        if not isinstance(pairs, list):
            return
        builder = _ChatBuilder(OOBABOOGA)
        notes = mapping(chat.get("metadata"))
        for place, pair in enumerate(pairs):
            builder.faults += _add_pair(builder, place, pair, notes, number)
        yield [name], builder.build()


def _add_pair(builder: _ChatBuilder, place: int, pair: object, notes: Document, number: int) -> Iterator[LogFault]:
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        yield line_fault(number, f"holds a pair, the {place + 1}., that is none; it was left out.")
        return
    sides: tuple[Role, Role] = ("user", "assistant")
    for role, text in zip(sides, pair, strict=True):
        note = mapping(notes.get(f"{role}_{place}"))
        if not isinstance(text, str):
            says = f"holds a pair, the {place + 1}., whose {role}'s side is no text; it was left out."
            yield line_fault(number, says)
        elif text.strip() and text != _BEGINS:
            builder.add_message(
                _chat_draft(role, text, at=parse_time(note.get("timestamp"))), without(note, "versions")
            )
            for version in objects(note.get("versions")):
                other = string(version.get("content"))
                if other and other.strip() != text.strip():
                    draft = _chat_draft(role, other, at=parse_time(version.get("timestamp")))
                    builder.add_alternative(draft, without(version, "content", "visible_content"))
