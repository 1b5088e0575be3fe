"""Split the text of users and the system into sentences, without quoted and pasted text.

Pasted text is recognised by its structure: fences, tags, block quotes, tables, diffs, logs, code, text after a line
that announces somebody else's words, and paragraphs without I, we or you that are long or a reviewer's. Words of the
user inside tool results are found as well, and what they choose from a list of the agent's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

from ireneo.language.files import any_of, cached_data, topic
from ireneo.language.topics import OwnWords
from ireneo.language.words import sentence_breaks
from ireneo.log.calls import was_refused
from ireneo.log.message import Message, Result
from ireneo.patterns import lazy_re
from ireneo.summaries.statements import prose
from ireneo.summaries.steps import clip
from ireneo.summaries.summary import Line, Summary

_SAYS = topic(OwnWords)

LONG_PARAGRAPH = 20
"""A paragraph of more words without I, we or you is pasted."""
SHORT_TEXT = 60
"""A text of at most this many words was typed as a whole."""
LONGEST_BEFORE = 240
"""The maximum number of characters of the previous sentence that are kept with one that refers back."""
LONGEST_LIST = 24
"""The maximum number of lines of a list that are kept with the sentence that introduces it."""
MOST_TAGS = 400
"""How many tags of a text are examined at most."""
WRAPPED, LONGEST_LINE = 60, 2_000
"""The least characters of a line that may continue in the next, and the most with its continuation."""


class OwnSentence(Struct, frozen=True, kw_only=True, gc=False):
    """A sentence in its writer's own words, with white space collapsed."""

    text: str
    with_before: str
    """The sentence with the sentence or quotation before it, if there is one."""
    with_list: str
    """The sentence with the list that it introduces."""
    near: bool
    """Whether the text before the sentence is in the same paragraph."""
    step: bool
    """Whether the sentence is an item of a list of things to do."""
    personal: bool
    """Whether somebody says I, we or you near the sentence, or the sentence is too short for such a word."""


def out_of_character(text: str) -> Iterator[str]:
    """The words to other players in a story's text: in double brackets, or after a mark such as OOC."""
    for found in _OUT_OF_CHARACTER.finditer(text):
        yield (found["double"] or found["marked"] or found["line"]).strip()


CHOICE = lazy_re(r"(?<![\w'’])[1-9A-F](?!\w)")
"""The number or letter of the chosen option."""


@cached_data
def choice_pattern() -> re.Pattern[str]:
    """The beginning of a message that chooses by number or letter."""
    before, behind = any_of(_SAYS.chooses), any_of(_SAYS.chosen)
    # "3 files failed" and "1. The lint fails" choose nothing.
    ends = rf"(?=$|[.!]$| ?[,;!?+&]| {behind}\b)"
    # "A good idea" chooses nothing either.
    letter = rf"[a-f](?=[.!]?$)|(?-i:[A-F])(?=,| [-–—] |\.? {behind}\b)"
    number = rf"(?:(?:options? |number |#)?[1-9]{ends}|options? [a-f]{ends}|{letter})"
    return lazy_re(rf"^(?:{before}[,.!]? ){{0,6}}{number}(?:(?: {behind} | ?[+&] ?|, ?){number}){{0,2}}", re.I)


@cached_data
def item_pattern() -> re.Pattern[str]:
    """The beginning of a sentence about an item of a list by its number: "for 3 "."""
    return lazy_re(rf"^(?:{any_of(_SAYS.points)}s? |for |f(?:ü|ue)r )#?[1-9A-F](?: ?[,&] ?[1-9A-F])*[,:]? ", re.I)


def is_bare_choice(text: str) -> bool:
    """Whether a message only chooses by number, so that what it chose says all of it."""
    found = choice_pattern().match(text)
    return found is not None and not text[found.end() :].strip(" .!")


def has_roleplay(text: str) -> bool:
    """Whether `text` contains acting or speech of a character, in asterisks or quotation marks."""
    return _PLAYED.search(text) is not None


def user_words_in_result(result: Result) -> Iterator[tuple[str, bool]]:
    """The words of the user in a tool's result, and whether they are an answer with its question."""
    text = result.text[:_LONGEST_RESULT]
    if (result.failed is not False and was_refused(text)) or _FEEDBACK.match(text):
        found = _REASON.search(text)
        said = found[1] if found else next((words for tag in _TAGS if (words := _text_between_tags(text, tag))), "")
        if said := without_form(_NOTE.split(said, maxsplit=1)[0]).strip():
            yield said, False
    elif _ANSWERED.match(text):
        for answer in _ANSWER.finditer(text):
            yield answer[0], True


def without_form(said: str) -> str:
    """A user's reason, without the text that a client inserts if the user gave none."""
    return _FORM.sub("", said)


def answers_in(result: Result) -> list[tuple[str, str]]:
    """The questions in a tool's result that the user answered by choosing or typing, each with the answer."""
    said = (text for text, answers in user_words_in_result(result) if answers)
    pairs = (text[1:-1].partition('"="') for text in said)
    return [(question, answer) for question, _, answer in pairs if answer.strip()]


def _text_between_tags(text: str, tag: str) -> str:
    """The text between two tags; empty if one is missing."""
    inside, closed, _ = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")
    return inside if closed else ""


_LONGEST_RESULT = 20_000
_FORM = lazy_re(r"\A\s*The user wants to clarify these questions\b.*", re.S)
_FEEDBACK = lazy_re(r"\s*The user (?:provided|gave|has provided) (?:the following )?feedback\b", re.I)
_REASON = lazy_re(r"(?:the user said|reason for the rejection|the user's (?:reason|feedback)):\s*(.+)", re.I | re.S)
_TAGS = ("feedback", "user_message")
_NOTE = lazy_re(r"\n\n(?:Note:|IMPORTANT:|<system-reminder>)")
_ANSWERED = lazy_re(r"\s*(?:User has answered your question|Your questions? (?:has|have) been answered)", re.I)
_ANSWER = lazy_re(r'"[^"\n]{3,600}"="[^"]{1,2000}"')


_OUT_OF_CHARACTER = lazy_re(
    lambda: (
        r"\(\((?P<double>[^()]{1,1000})\)\)"
        rf"|[(\[{{]\s{{0,3}}{any_of(_SAYS.asides)}(?!\w)[\s:–—-]{{0,4}}(?P<marked>[^()\[\]{{}}]{{1,1000}})[)\]}}]"
        rf"|^[ *_]{{0,4}}{any_of(_SAYS.asides)}[*_]{{0,2}}\s?[:–—-]\s?(?P<line>.{{1,1000}})"
    ),
    re.I | re.M,
)


def is_out_of_character(text: str) -> bool:
    """Whether all of a message is said out of its story, as in ((back in five minutes))."""
    return _OUT_OF_CHARACTER.fullmatch(text.strip()) is not None


_PLAYED = lazy_re(r"\*[^*\s][^*\n]{0,400}\*|[\"“„«][^\"”“»\n]{1,400}[\"”“»]")


class _Paste:
    """Signs of text that nobody says: machine output, and quotations."""

    fence = lazy_re(r"```.*?(?:```|\Z)|<system-reminder>.*?(?:</system-reminder>|\Z)|<!--.*?(?:-->|\Z)", re.S)
    tag = lazy_re(r"^[^\S\n]{0,8}<([a-zA-Z][\w-]{1,40})>[^\n]*$", re.M)
    line = lazy_re(
        r"(?:[-*] {1,3})?[⎿⏺●○✓✗✔✘✅❌⚠❓❗│├└┌╭╰╯╮─━═⨯☁⏭♻✨📊💡👀]"
        r"|[$❯➜%»]\s|>>>\s|[\w.-]{1,60}@[\w.-]{1,60}[:~ ]|[~/][\w./-]{1,200} ?\([\w/-]{1,80}\)$"
        r"|\[?\d{2,4}[-/]\d\d[-/]\d\d[T \]]|\d{1,2}:\d\d(?::\d\d)?\s+\D"
        r"|(?:ERROR|WARN|INFO|DEBUG|FATAL|TRACE)\b|Traceback|at \S{1,200} ?\(|File \"|\w{0,60}(?:Error|Exception):\s"
        r"|(?:Error|fatal|panic):\s|[-=]{3}|FAIL\b|ok {2}|Exit code|\S{1,200}\.\w{1,8}:\d{1,7}[:,]"
        r"|[{}\[\]()]{1,40}[,;]?$|[{\[]\s{0,9}\"|\"[\w.-]{1,80}\":|//|/\*|#include|@@ |\+\+\+ |index [0-9a-f]{6}"
        r"|(?:func|def|class|const|import|package|var|let) [\w.\"{*(]{1,80} ?(?:[=({:]|$)|[\w -]{1,40}:\t"
        r"|[^\n]{1,200} (?:at|on) line \d{1,7},? col(?:umn)? \d{1,5}[.:]?$"
    )
    ends = ("{", "}", ";", "=>", ":=", "\\")
    indented = lazy_re(r"(?: {4}|\t)")
    diff = lazy_re(r"(?:- [^\n:]{1,60}: )?diff --git |@@ -\d")
    in_diff = lazy_re(
        r"[ +\\@-]|diff --git|index |(?:new|deleted) file|(?:old|new) mode|similarity|rename |Binary files|$"
    )


_BULLET = lazy_re(r"(?:[#>*+•-]+|\(?\d{1,3}[.)](?=\s)|[A-Za-z][.)](?=\s)|\[[ x]\]|</?[\w-]{1,40}>|\*\*|\s)+")
_ITEM = lazy_re(r"\s*(?:[*+•-]|\(?\d{1,3}[.)]|\w[.)])\s")
_QUOTATION = lazy_re(r"(?<![\w\"“])[\"“](?=\w)[^\"“”\n]{20,600}[\"”](?!\w)")
_NUMBER = lazy_re(r"[:,]\s{0,9}\d{1,3}\.$")
_HEADING = lazy_re(r"\s*(#{1,6})\s+(.*)|\s*()\*\*([^*]{1,80})\*\*:?\s*$")
_CLOSING_TAG = lazy_re(r"</[\w-]+>")
_OWN = lazy_re(lambda: rf"\b{any_of((*_SAYS.persons, *_SAYS.begging))}\b", re.I)
_AT_END = 24
"""How many characters at the end of a line may announce that pasted text follows."""


class _Line(Struct):
    number: int
    start: int
    end: int
    text: str
    kind: str
    """`own`, `quote`, `paste`, `blank`, or `hidden` in a fence or between tags."""
    item: bool = False


def own_words(text: str, *, all_own: bool = False) -> Iterator[OwnSentence]:
    """The sentences of `text` that are its writer's own; with `all_own` all of it except code (a system prompt)."""
    lines = _lines(text, all_own=all_own)
    if not all_own:
        _drop_announced(lines)
    before: tuple[int, int] | None = None
    lead: _Line | None = None
    reviewed = not all_own and _SAYS.reviews.search(text) is not None
    typed = all_own or len(text.split(None, SHORT_TEXT)) <= SHORT_TEXT
    for paragraph in _paragraphs(lines):
        own = [line for line in paragraph if line.kind == "own"]
        words = " ".join(line.text for line in own)
        if reviewed and not _OWN.search(words):
            continue
        spoken = typed or bool(_OWN.search(words)) or len(words.split()) <= LONG_PARAGRAPH
        for line in paragraph:
            if line.kind != "own":
                before = (line.start, line.end) if line.kind == "quote" else before
                continue
            if _HEADING.match(line.text) and all_own:
                before = None
                continue
            if line.item:
                # List items don't refer to each other.
                before = (lead.start, lead.end) if lead is not None and lead.text.endswith(":") else None
            else:
                lead = line
            step = line.item and lead is not None and _asks_for_steps(lead.text)
            personal = spoken or (line.item and len(line.text.split()) <= LONG_PARAGRAPH)
            leads_on = not line.item and _introduces_list(lines, line)
            for start, end in _sentences(text, line):
                near = before is not None and end - before[0] <= LONGEST_BEFORE + (end - start)
                yield OwnSentence(
                    text=_collapse_spaces(text[start:end]),
                    with_before=_collapse_spaces(text[before[0] if near and before else start : end]),
                    with_list=_collapse_spaces(
                        text[start : _end_of_list(lines, line) if leads_on and end == line.end else end]
                    ),
                    near=before is not None and before[0] >= paragraph[0].start,
                    step=step,
                    personal=personal,
                )
                before = (start, end)


def without_diffs(text: str) -> str:
    """`text` without the diffs that were pasted into it."""
    out: list[str] = []
    diff = False
    for line in text.splitlines():
        diff = bool(_Paste.diff.match(line) or (diff and _Paste.in_diff.match(line)))
        out += [] if diff else [line]
    return "\n".join(out)


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())


def _lines(text: str, *, all_own: bool) -> list[_Line]:
    """The lines of `text` with their kinds; wrapped lines are joined."""
    hidden = _hidden_spans(text, all_own=all_own)
    out: list[_Line] = []
    diff = listed = False
    place = past = 0
    for raw in text.splitlines(keepends=True):
        start, place = place, place + len(raw)
        while past < len(hidden) and hidden[past][1] <= start:
            past += 1
        line = raw.rstrip()
        if not line.strip() and not diff:
            kind = "blank"
        elif past < len(hidden) and hidden[past][0] <= start:
            kind = "hidden"
        elif _Paste.diff.match(line) or (diff and _Paste.in_diff.match(line)):
            diff, kind = True, "paste"
        elif line.lstrip().startswith(">"):
            diff, kind = False, "quote"
        else:
            table = "|" in line.lstrip()[:2] or not any(char.isalpha() for char in line)
            indented = not listed and _Paste.indented.match(line)
            written = indented or line.endswith(_Paste.ends) or _Paste.line.match(line.lstrip())
            diff, kind = False, "paste" if table or (written and not all_own) else "own"
        item = bool(_ITEM.match(line))
        listed = item or (listed and kind != "blank" and line[:1].isspace()) or (listed and kind == "blank")
        last = out[-1] if out else None
        if kind == "own" and last is not None and _continues_line(last, line, item=item):
            last.end, last.text = start + len(line), f"{last.text} {line.strip()}"
        else:
            out.append(_Line(number=len(out), start=start, end=start + len(line), text=line, kind=kind, item=item))
    return out


def _continues_line(last: _Line, line: str, *, item: bool) -> bool:
    """Whether `line` continues a wrapped line."""
    if last.kind != "own" or item or not WRAPPED <= len(last.text.strip()) <= LONGEST_LINE:
        return False
    return last.text[-1] not in ".!?:;…" and line.lstrip()[:1].islower()


def _hidden_spans(text: str, *, all_own: bool) -> list[tuple[int, int]]:
    """The spans of fences and of blocks between tags."""
    hidden = [found.span() for found in _Paste.fence.finditer(text)]
    if all_own:
        return hidden
    end = 0
    for found in islice(_Paste.tag.finditer(text), MOST_TAGS):
        closing = f"</{found[1]}>"
        pasted = found.start() >= end and not _SAYS.own_tags.search(found[1])
        if pasted and (at := text.find(closing, found.start())) >= 0:
            end = at + len(closing)
            hidden.append((found.start(), end))
    return sorted(hidden)


def _drop_announced(lines: list[_Line]) -> None:
    """Mark as pasted: lines that are announced as somebody else's words, and the parts of bug reports."""
    announced = document = listed = False
    section = 0
    for number, line in enumerate(lines):
        if line.kind == "blank":
            continue
        heading = _HEADING.match(line.text)
        if heading is not None:
            depth = len(heading[1] or "") or 7
            if section and depth <= section:
                section = 0
            if _SAYS.reports.match((heading[2] or heading[4] or "").strip()):
                section = depth
        opens = number == 0 or lines[number - 1].kind == "blank"
        document = document or (announced and heading is not None)
        # A list that was announced ends with its last item.
        ended = listed and opens and not line.item and not line.text[:1].isspace()
        listed = listed and not ended
        if announced and not document and opens and not line.item and (ended or _OWN.search(line.text)):
            announced = False
        if announced or section:
            line.kind = "paste"
        elif line.kind == "own":
            below = _SAYS.announced_below.search(line.text, max(len(line.text.rstrip()) - _AT_END, 0)) is not None
            document = document or below  # Everything after it is pasted.
            announces = line.text.rstrip().endswith(":") and _SAYS.announces.search(line.text) is not None
            following = _next_line(lines, line)
            # A block between fences or tags is all that is announced.
            announced = below or (announces and (following is None or following.kind != "hidden"))
            listed = announced and not below and _introduces_list(lines, line)


def _paragraphs(lines: list[_Line]) -> Iterator[list[_Line]]:
    """Group adjacent lines; if half of them were pasted, the rest was too."""
    held: list[_Line] = []
    for line in [*lines, None]:
        if line is not None and line.kind != "blank":
            held.append(line)
            continue
        pasted = sum(each.kind == "paste" for each in held)
        if 2 * pasted < sum(each.kind != "hidden" for each in held):
            yield held
        elif held and held[0].kind == "own" and not held[0].item:
            # People introduce pasted text.
            yield held[:1]
        held = []


def _asks_for_steps(lead: str) -> bool:
    """Whether the line before a list asks for its items, or which of them to take."""
    if lead.endswith("?"):
        return bool(_SAYS.options.search(lead))
    return lead.endswith(":") and bool(_SAYS.steps.search(lead))


def _next_line(lines: list[_Line], line: _Line) -> _Line | None:
    return next((each for each in lines[line.number + 1 : line.number + 3] if each.kind != "blank"), None)


def _introduces_list(lines: list[_Line], line: _Line) -> bool:
    following = _next_line(lines, line)
    if following is None or following.kind != "own" or not following.item:
        return False
    return line.text.endswith(":") or (following.number == line.number + 1 and line.text[-1:].isalpha())


def _end_of_list(lines: list[_Line], line: _Line) -> int:
    end = line.end
    for other in lines[line.number + 1 : line.number + 1 + LONGEST_LIST]:
        if other.kind == "own" and other.item:
            end = other.end
        elif other.kind != "blank":
            break
    return end


def _sentences(text: str, line: _Line) -> Iterator[tuple[int, int]]:
    """The spans of a line's sentences, without list marks and closing tags."""
    bullet = _BULLET.match(text, line.start, line.end)
    start = bullet.end() if bullet else line.start
    end = _without_closing_tags(text, start, line.end)
    last = start
    quoted = [found.span() for found in _QUOTATION.finditer(text, start, end)]
    spans: list[tuple[int, int]] = []
    # Sentences typed in a hurry begin in lower case.
    for ends, following in sentence_breaks(text[start:end], small_opens=True):
        # A list number after a colon or a comma ends no sentence.
        if not _NUMBER.search(text, max(last, start + ends - 16), start + ends):
            spans.append((last, start + ends))
            last = start + following
    # The later sentences of a quotation are somebody else's words too.
    for span in [*spans, (last, end)] if last < end else spans:
        if not any(opens < span[0] and span[1] <= closes for opens, closes in quoted):
            yield span


def _without_closing_tags(text: str, start: int, end: int) -> int:
    """The end of a line without white space and closing tags."""
    while end > start:
        if text[end - 1].isspace():
            end -= 1
        elif (at := text.rfind("</", start, end)) >= 0 and _CLOSING_TAG.fullmatch(text, at, end):
            end = at
        else:
            break
    return end


# The options that the user chose from an agent's list, in the words of the list.

MOST_OPTIONS = 12
LONGEST_OPTION = 280
"""The maximum number of characters of an option that are kept."""
LINES_BEFORE = 6
"""How many lines before a list may contain its question."""
LONGEST_CHOICE = 240
"""A longer message itself says what it wants."""
OFFERED, CHOSEN = 0.2, 9.0
"""The weights of a list of options, kept for a later choice, and of a choice."""
_OPTION = lazy_re(
    r"^\s{0,6}(?:[-*] |\| ?)?(?P<hashes>#{1,4} )?(?:\*\*)?(?P<label>option )?\(?(?P<number>[1-9a-f])"
    r"(?:(?:\*\*)?[.):](?:\*\*)?|(?(label) [-–—]|(?!)))\s+(?P<said>\S.*)$",
    re.I | re.M,
)
KEPT = lazy_re(r"(?:^|: |; )(?P<number>[1-9A-F])\. (?P<said>.*?)(?=; [1-9A-F]\. |$)")
_CELLS = lazy_re(r" ?\| ?")
_ENDS_OPTION = lazy_re(r"^(?:#|---|\*\*\*)", re.M)
_FIRST = ("1", "A")
LIST = "I listed: "


def options_line(message: Message) -> Line | None:
    """The numbered list at the end of the agent's words, if any."""
    found: dict[str, str] = {}
    begins, first = 0, _FIRST[0]
    items = list(_OPTION.finditer(message.text))
    labelled = [option for option in items if option["label"]]
    # A list inside "Option 1" contains no options.
    items = labelled if len(labelled) > 1 else items
    for place, option in enumerate(items):
        number = option["number"].upper()
        if number in _FIRST:
            # Answers refer to the last list.
            found, begins, first = {}, option.start(), number
        if ord(number) == ord(first) + len(found):
            end = items[place + 1].start() if place + 1 < len(items) else None
            found[number] = _option_text(option, message.text[option.end() : end])
    if not 2 <= len(found) <= MOST_OPTIONS:
        return None
    listed = "; ".join(f"{number}. {said}" for number, said in found.items())
    before = message.text[:begins].replace("**", "").split("\n")[-LINES_BEFORE:]
    asked = next((line.strip(" #*") for line in reversed(before) if line.rstrip(" *").endswith("?")), "")
    return Line(
        text=LIST + listed,
        subject=asked if len(asked) <= LONGEST_OPTION else "",
        weight=OFFERED,
        position=message.position,
        sources=(message.id,),
    )


def _option_text(option: re.Match[str], body: str) -> str:
    """The text of an option: its line, or the first statement under its heading if it has one."""
    # In a table an option is in one cell, and its meaning in the next.
    said = _CELLS.sub(" — ", " ".join(option["said"].replace("**", "").split()).rstrip(" |"))
    if option["hashes"]:
        under = next(prose(_ENDS_OPTION.split(body, maxsplit=1)[0]), "")
        said = f"{said}: {under}" if under else said
    return clip(said, LONGEST_OPTION)


def refers_to_list(said: str) -> bool:
    """Whether a question is at the list at the end of the agent's words, or shortly after it."""
    behind = said[max((option.end() for option in _OPTION.finditer(said)), default=0) :]
    paragraphs = [each for each in behind.split("\n\n")[1:] if each.strip()]
    return len(paragraphs) <= PARAGRAPHS_BEHIND


PARAGRAPHS_BEHIND = 1


def is_options(line: Line) -> bool:
    """Whether a line lists options."""
    return line.text.startswith(LIST)


def find_choices(parts: Sequence[Summary | Message]) -> list[Line]:
    """The options that user messages among `parts`, or first in them, chose by number right after they were offered."""
    out: list[Line] = []
    offered: Line | None = None
    for part in parts:
        if isinstance(part, Summary):
            said = next((line for line in part.lines("direction") if line.position == part.first_position), None)
        elif part.role == "user" and part.draft.origin == "spoken":
            said = Line(text=part.text, weight=CHOSEN, position=part.position, sources=(part.id,))
        else:
            continue
        choice = _chosen_option(said, offered) if offered is not None and said is not None else None
        out += [choice] if choice else []
        listed = [line for line in part.lines("strategy") if is_options(line)] if isinstance(part, Summary) else []
        offered = listed[-1] if listed else None
    return out


def _chosen_option(said: Line, offered: Line) -> Line | None:
    text = " ".join(said.text.split())
    if len(text) > LONGEST_CHOICE:
        return None
    options = {found["number"]: found["said"] for found in KEPT.finditer(offered.text.removeprefix(LIST))}
    first = choice_pattern().match(text) or _remarked_choice(said.text, offered)
    named = first or _REFERS.search(text)
    numbers = list(dict.fromkeys(CHOICE.findall(named[0].upper()))) if named else []
    asked = f"I asked: “{offered.subject}” " if offered.subject else ""
    told = "; ".join(f"{each}: {options[each]}" for each in numbers if each in options)
    if not told:
        return None
    return Line(
        text=f"{asked}The user chose {told}" if first else f"I listed {told}",
        weight=CHOSEN,
        position=said.position,
        sources=(*offered.sources, *said.sources),
    )


_REMARKED_CHOICE = lazy_re(r"\s{0,9}(?P<number>[1-9A-F])[.):](?=\s)")
_FURTHER = lazy_re(r"(?<!\w)[1-9A-F][.)](?=\s)")


def _remarked_choice(text: str, offered: Line) -> re.Match[str] | None:
    """A choice that begins like a list ("1. but only for now"), if it answers a question and is the only item."""
    found = _REMARKED_CHOICE.match(text)
    answers = found and (offered.subject or found["number"].isalpha())
    return found if found and answers and not _FURTHER.search(text, found.end()) else None


_REFERS = lazy_re(
    lambda: (
        rf"\b{any_of(topic(OwnWords).refers_to)} (?:the )?(?:{any_of(topic(OwnWords).points)}s? )?#?[1-9](?!\w|\.\w)"
        r"(?:(?:,? ?(?:&|and|und|or|oder) |, ?)#?[1-9](?!\w|\.\w))*"
        # "Fix 3 files" refers to no item.
        rf"(?=\s*(?:$|[.,;:!?)&]|{any_of(topic(OwnWords).chosen)}\b))"
    ),
    re.I,
)
"""A reference to items of a list by their numbers."""
