"""Find the statements of an agent's work in its prose, its changes and its tool output; nothing is made up.

A statement is informative by itself. Its worth is how likely it answers a question of whoever continues the work: from
10 (a ruling of the user) down to 1 (a plain act).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, get_args

from msgspec import Struct

from ireneo.language.files import any_of, cached_data, topic
from ireneo.language.topics import Explaining, Prose
from ireneo.language.words import artifacts, sentences
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import LONGEST_LINE, clip

_SAYS = topic(Prose)
_EXPLAINS = topic(Explaining)

LONGEST = 360
"""The maximum number of characters of a statement; longer ones are cut at a word."""
GROUPED = 280
"""Short items of a list are joined up to this many characters."""
SHORT_ITEM = 90
LONGEST_BLOCK = 320
"""The maximum number of characters of a block of code that is shown with its introduction."""
FURTHER = 0.35
"""The share of its worth that each further line adds to a statement."""
BARE_NAME = 1.0
"""The worth of a type's name alone, since its members have statements of their own."""
RULES = 0.8
"""The factor for a condition together with its consequence."""
LONGEST_LEAD = 160
LONGEST_TOPIC = 60
"""The maximum number of characters of a heading that precedes its subject."""
WIDTH = 60
"""A longer line of prose without an end of sentence continues in the next one."""
WRAPPED = 120
"""A text with longer lines is not wrapped: each of its lines is one because its writer began it."""
FEWEST_WORDS = 4
"""Sentences with fewer words mean nothing without what follows them."""
BARE_LEAD = 5
"""An introduction of at most this many words may say nothing about its list."""
ENOUGH_WORDS = 9
"""Sentences with fewer words say less, whatever they announce."""


PROSE = 1.4
"""The worth of a plain sentence. Of the sum of a sentence's signs the square root is used, since signs predict
little."""
WHY = 1.3
"""The factor for a sentence that gives a reason."""


UNNAMED = 0.7
"""The factor for a sentence that names nothing, if it is short or begins with a subject that isn't in it."""
GUESSED = 0.5
"""The factor for a guess, which may have been refuted."""


class CodeStatement(Struct, frozen=True):
    """The statement in lines of code, with its worth."""

    text: str
    worth: float


# Prose: sentences, list items and table rows, with the heading or line that introduces them.

_FENCE = lazy_re(r"^\s*(?:```|~~~)")
_HEADING = lazy_re(r"^\s*(?:#{1,6}\s+(?P<hashes>\S.*)|\*\*(?P<bold>[^*]{2,120})(?<![.!])\*\*:?\s*)$")
_ITEM = lazy_re(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?P<item>\S.*)$")
_ROW = lazy_re(r"^\s*\|(?P<cells>.+)\|\s*$")
_ITEM_LABEL = lazy_re(r"(?:\*\*(?P<label>[^*]{3,60}?):?\*\*:?)(?:\s|$)")
_RULE = lazy_re(r"^[\s|:+=_*-]+$")
_LINK = lazy_re(r"\[(?P<text>[^\]\n]{1,200})\]\([^)\s]{1,400}\)")
_EMPHASIS = lazy_re(r"(?<![\w*])\*\*(?=[^\s*])([^*\n]{1,300})(?<=\S)\*\*(?![\w*])")


class _ProseReader:
    """Reads prose line by line, keeping the current introduction, and short items until they fill a statement."""

    def __init__(self, *, led: bool = False) -> None:
        self.led = led
        """Whether references back are shown with the text they refer to."""
        self.lead = ""
        self.heading = ""
        self.before = ""
        """The last sentence under the heading."""
        self.label = ""
        """The label of the item to which an indented paragraph belongs."""
        self.items: list[str] = []
        self.above: list[tuple[int, str]] = []
        """The indentation of the items of each open list, with the introduction of the list that contains it."""
        self.last = (0, "")
        """The indentation of the last item, and its text."""
        self.head: list[str] = []
        """The header of a table whose rows follow."""

    def read(self, line: str, *, leads: bool = False) -> Iterator[str]:
        """The statements that `line` completes; `leads` says that the items of a list follow directly."""
        said = _EMPHASIS.sub(r"\1", line).strip()
        if not said:
            self.head = []
        elif _RULE.match(line):
            return
        elif (heading := _HEADING.match(line)) is not None:
            yield from self.flush()
            self.above, self.last, self.label = [], (0, ""), ""
            self.lead = self.heading = _EMPHASIS.sub(r"\1", heading["hashes"] or heading["bold"]).strip(" #:")
            self.before = ""
        elif (row := _ROW.match(line)) is not None:
            cells = [each.strip() for each in _EMPHASIS.sub(r"\1", row["cells"]).split("|")]
            if self.head:
                yield from self._add_item(_row_text(cells, self.head))
            self.head = self.head or cells
        elif (item := _ITEM.match(line)) is not None:
            self.before = ""
            label = _ITEM_LABEL.match(item["item"])
            if label and (not self.label or not line[0].isspace()):
                self.label = label["label"]
            said = _EMPHASIS.sub(r"\1", item["item"]).strip()
            yield from self._nest(len(line) - len(line.lstrip()), said)
            yield from self._add_item(said)
        else:
            yield from self.flush()
            listed = self.last[1]
            self.above, self.last = [], (0, "")
            self.label = self.label if line[0].isspace() else ""
            *before, last = sentences(said)
            lead = _LINK.sub(r"\g<text>", last)
            names = self.led and leads and not before and said[-1] not in ".!?;"
            if (said.endswith(":") or names) and len(lead) < LONGEST_LEAD:
                if before and _UNSURE.match(lead):
                    # The subject of "it could be" is in the sentence before.
                    lead = f"{before.pop()} {lead}"
                self.lead = lead
                yield from _join_fragments(before)
            else:
                # A list that was pasted may have lost its marks.
                unmarked = not (self.led or listed) and self.lead.endswith(":") and said[-1] not in ".!?:"
                lead = f"{self.lead} " if unmarked else ""
                self.lead = ""
                told = list(_join_fragments(sentences(f"{lead}{said.lstrip('> ')}")))
                if told and self.led and _NAMELESS.match(told[0]):
                    told[0] = self._with_antecedent(told[0])
                self.before = told[-1] if told else self.before
                yield from told

    def read_code(self, lines: Sequence[str]) -> Iterator[str]:
        """A short block of code with the line that introduces it."""
        said = "; ".join(" ".join(line.split()) for line in lines if line.strip())
        if self.lead.endswith(":") and 0 < len(said) <= LONGEST_BLOCK:
            yield f"{self.lead} `{said}`"
        elif len(said) > LONGEST_LINE:
            yield from _comment_reasons(lines)

    def end(self) -> Iterator[str]:
        """What waits at the end of the text: items, or an introduction that only a call follows."""
        if self.led and self.lead.endswith(":") and not self.items and len(self.lead.split()) > BARE_LEAD:
            yield self.lead.rstrip(" :")
        yield from self.flush()

    def flush(self) -> Iterator[str]:
        """The waiting short items, after their introduction."""
        if self.items:
            listed = "; ".join(item.rstrip(" .;,") for item in self.items)
            lead = self.lead.rstrip(" :.")
            # "Here's how it works" would precede each of the items, and "This helps because" would precede its subject.
            short = len(lead.split()) <= BARE_LEAD
            bare = not lead or (short and _SAYS.empty.match(lead))
            yield listed if bare else f"{lead}: {listed}"
            self.items = []

    def _nest(self, indented: int, item: str) -> Iterator[str]:
        """Descend to the items of an item, which then introduces them, or ascend again."""
        before, parent = self.last
        self.last = (indented, item)
        if not self.led:
            return
        if parent and indented > before:
            if self.items and self.items[-1] == parent:
                self.items.pop()
            yield from self.flush()
            self.above.append((before, self.lead))
            self.lead = parent if len(parent) <= LONGEST_LEAD else ""
            return
        while self.above and indented <= self.above[-1][0]:
            yield from self.flush()
            self.lead = self.above.pop()[1]

    def _repeats_introduction(self) -> bool:
        """Whether each long item of a list is shown after the line that introduces the list."""
        lead = self.lead.rstrip(" :.")
        return self.led and 0 < len(lead) <= LONGEST_TOPIC and not (_SAYS.empty.match(lead) or _NAMELESS.match(lead))

    def _with_antecedent(self, said: str) -> str:
        """Put a sentence that refers back after the sentence before it or the heading above it."""
        if self.before and len(self.before) <= LONGEST_LEAD and not self.before.endswith("?"):
            return clip(f"{self.before} {said}", LONGEST)
        about = self.label or self.heading
        return clip(f"{about}: {said}", LONGEST) if about else said

    def _add_item(self, item: str) -> Iterator[str]:
        item = _BROKEN_OFF.sub("", item)
        long = len(item) > SHORT_ITEM
        if long or sum(map(len, self.items)) + len(item) > GROUPED:
            yield from self.flush()
        if long:
            leads = (
                self._repeats_introduction() and len(self.lead) + len(item) < LONGEST and not item.startswith(self.lead)
            )
            lead = f"{self.lead.rstrip(' :.')}: " if leads else ""
            yield from _join_fragments(sentences(f"{lead}{item}"))
        else:
            self.items.append(item)


def _row_text(cells: Sequence[str], head: Sequence[str]) -> str:
    """A row of a table; figures and marks mean nothing without the header of their column."""
    names = head if len(head) == len(cells) and any(map(str.isalpha, cells[0])) else [""] * len(cells)
    return " — ".join(
        f"{name}: {cell}" if place and name and not any(map(str.isalpha, cell)) else cell
        for place, (cell, name) in enumerate(zip(cells, names, strict=True))
        if cell
    )


def prose(text: str, *, led: bool = False) -> Iterator[str]:
    """The sentences, list items and table rows of `text` in order, each on one line.

    Of code blocks only short ones with an introduction are kept. With `led`, a paragraph that refers back follows the
    sentence before it or the heading above it.
    """
    outline = _ProseReader(led=led)
    block: list[str] | None = None
    held = ""
    lines = text.splitlines()
    wrapped = max(map(len, lines), default=0) <= WRAPPED
    for line in lines:
        if _FENCE.match(line):
            yield from outline.read(held)
            if block is not None:
                yield from outline.read_code(block)
            held, block = "", [] if block is None else None
        elif block is not None:
            block.append(line)
        elif _continues_line(held, line, wrapped=wrapped):
            held = f"{held} {line.strip()}"
        else:
            yield from outline.read(held, leads=_ITEM.match(line) is not None)
            held = line
    yield from outline.read(held)
    yield from outline.end()


def document_statements(lines: Iterable[str], fresh: Container[str] | None = None) -> Iterator[CodeStatement]:
    """The sentences of a document in order, and the informative passages of its code blocks.

    With `fresh` only these lines (stripped) are used.
    """
    said: list[str] = []
    block: list[str] | None = None
    for line in lines:
        if _FENCE.match(line):
            yield from _prose_statements(said)
            yield from code_statements(block or (), fresh)
            said, block = [], [] if block is None else None
        elif block is not None:
            block.append(line)
        elif fresh is None or not line.strip() or line.strip() in fresh:
            said.append(line)
    yield from _prose_statements(said)
    yield from code_statements(block or (), fresh)


def _prose_statements(lines: Sequence[str]) -> Iterator[CodeStatement]:
    for text in prose("\n".join(lines), led=True):
        yield CodeStatement(text, prose_worth(text))


def _comment_reasons(lines: Sequence[str]) -> Iterator[str]:
    """Reasons and contrasts in the comments of a long code block."""
    for line in lines:
        text = _COMMENT_MARK.sub("", line).strip(" */-→│├└─|")
        if len(text.split()) >= FEWEST_SAID and text[:1].isupper() and not _SYMBOLS.search(text):
            cues = _count_cues(text)
            if cues["reason"] or cues["contrast"]:
                yield clip(" ".join(text.split()), LONGEST)


FEWEST_SAID = 8
"""A line of code is a sentence if it has at least this many words and no sign of code."""
_COMMENT_MARK = lazy_re(r"^\s*(?://+|#+|--|\*|/\*+|<!--)?\s*")
_SYMBOLS = lazy_re(r"[{}=;<>\[\]&|$\\\"]|\w\(")


def _continues_line(held: str, line: str, *, wrapped: bool) -> bool:
    """Whether `line` continues a wrapped sentence in `held`."""
    before, said = held.rstrip(), line.strip()
    if not said or not before or before[-1] in ".!?:;|" or len(before) + len(said) > LONGEST:
        return False
    if _ITEM.match(line) or any(mark.match(each) for mark in (_HEADING, _ROW, _RULE) for each in (held, line)):
        return False
    if _ITEM.match(held):
        return line[0].isspace()
    return said[0].islower() or (wrapped and len(before) > WIDTH)


def _join_fragments(pieces: Iterable[str]) -> Iterator[str]:
    """Join very short sentences with the next one, and those that refer back with the one before."""
    held = ""
    for piece in pieces:
        said = " ".join(piece.split())
        if not held:
            said = _BROKEN_OFF.sub("", said)
        if _SAYS.empty.match(said):
            continue
        refers = bool(_SAYS.refers.match(said) or _BROKEN_OFF.match(said)) and len(held) + len(said) < LONGEST
        if held and not refers and (len(held.split()) >= FEWEST_WORDS or is_intent(said)):
            yield clip(held, LONGEST)
            held = ""
        held = f"{held} {said}".strip()
    if len(held.split()) >= FEWEST_WORDS:
        yield clip(held, LONGEST)


_BROKEN_OFF = lazy_re(r"^(?:[-–—,;]\s+)+")
"""At the beginning of what looks like a sentence: it is the end of one."""
_VALUE = lazy_re(
    r"`[^`\n]{1,200}`|\b\d[\d.,]*\b|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\b|\b\w+\([^)\n]{0,80}\)|“[^”]{2,80}”|\"[^\"\n]{2,80}\""
)
CueKind = Literal["reason", "because", "contrast", "decision", "changed", "removal", "outcome", "offer"]


class _CueIndex(Struct, frozen=True):
    """The words and phrases that mark reasons, decisions and so on."""

    words: Mapping[str, tuple[CueKind, ...]]
    phrases: Mapping[str, tuple[tuple[str, CueKind], ...]]
    """The phrases, by their first word."""


@cached_data
def _cue_index() -> _CueIndex:
    known = _SAYS
    words: dict[str, tuple[CueKind, ...]] = {}
    phrases: dict[str, tuple[tuple[str, CueKind], ...]] = {}
    for kind in get_args(CueKind):
        for cue in map(str.lower, getattr(known, kind)):
            first, _, rest = cue.partition(" ")
            if rest:
                phrases[first] = (*phrases.get(first, ()), (f" {cue} ", kind))
            else:
                words[cue] = (*words.get(cue, ()), kind)
    return _CueIndex(words, phrases)


_NO_CUES: Counter[CueKind] = Counter()
"""One for the many sentences without any: the garbage collector looks at each that is cached."""


@lru_cache(maxsize=1_024)
def _count_cues(said: str) -> Counter[CueKind]:
    """How many words or phrases of each kind of cue a sentence contains."""
    cues = _cue_index()
    words = _CUE_WORD.findall(said.lower().replace("’", "'"))
    text = f" {' '.join(words)} "
    found = [kind for word in words for kind in cues.words.get(word, ())]
    found += [kind for word in words for phrase, kind in cues.phrases.get(word, ()) if phrase in text]
    return Counter(found) if found else _NO_CUES


_CUE_WORD = lazy_re(r"[^\W\d_][\w']*")
_INTENT = lazy_re(lambda: rf"^(?:THOUGHT:|{any_of(_SAYS.lead)}[,.!]?\s+)*{any_of(_SAYS.intent)}\b", re.IGNORECASE)


_NAMELESS = lazy_re(lambda: rf"^(?:{any_of(_SAYS.lead)}[,.!]?\s+)*{any_of(_SAYS.nameless)}\b", re.IGNORECASE)
_UNSURE = lazy_re(lambda: rf"^(?:{any_of(_SAYS.lead)}[,.!]?\s+)*{any_of(_SAYS.unsure)}\b", re.IGNORECASE)


def is_intent(said: str) -> bool:
    """Whether a sentence announces what will be done."""
    return bool(_INTENT.match(said))


def is_request(said: str) -> bool:
    """Whether a sentence asks or offers something."""
    return said.endswith("?") or _count_cues(said)["offer"] > 0


def has_cue(said: str, kind: CueKind) -> bool:
    """Whether a sentence has a word or phrase of this kind, such as a reason."""
    return _count_cues(said)[kind] > 0


def takes_back(said: str) -> bool:
    """Whether a sentence says that what the speaker said before is false."""
    return _SAYS.takes_back.search(said) is not None


def is_proposal(said: str) -> bool:
    """Whether a sentence proposes or announces a change."""
    return is_intent(said) or has_cue(said, "decision")


def gives_reason(said: str) -> bool:
    """Whether a sentence gives a reason or a consequence."""
    return has_cue(said, "reason")


def _lacks_subject(said: str) -> bool:
    """Whether the subject of a short sentence is only named in the sentences before it, such as "Option 2"."""
    if len(said.split()) >= ENOUGH_WORDS:
        return False
    named = _SAYS.numbered.sub("", said)
    refers = named != said or _NAMELESS.match(said)
    return bool(refers) and not artifacts(named) and not _VALUE.search(named)


def _only_reports_success(said: str) -> bool:
    """Whether a short sentence only says that the checks pass, which the state of the work shows."""
    return len(said.split()) <= ENOUGH_WORDS and bool(_SAYS.passes.search(said)) and not _VALUE.search(said)


def prose_worth(said: str) -> float:
    """The worth of a sentence: more with a reason, a contrast, a decision, or values that can be looked up."""
    if said.endswith(":") or _SAYS.empty.match(said) or _SAYS.agreement.match(said) or _lacks_subject(said):
        return 0.0
    cues, intent = _count_cues(said), is_intent(said)
    # "Let me find the issue" gives no reason.
    reason = cues["because" if intent else "reason"] > 0
    worth = 1.0 + 0.6 * min(cues["contrast"], 3) + 0.7 * min(len(_VALUE.findall(_SAYS.places.sub("", said))), 4)
    worth += 1.8 * reason + 1.2 * (cues["decision"] > 0)
    worth += 0.7 * (cues["changed"] > 0) + 0.6 * (cues["outcome"] > 0)
    if is_request(said):
        worth *= 0.5
    if intent:
        worth *= 0.4 if reason else 0.2
    if _EXPLAINS.hedges.search(said):
        worth *= GUESSED
    vague = _NAMELESS.match(said) or (len(said.split()) < ENOUGH_WORDS and not cues["decision"])
    if vague and not (artifacts(said) or _VALUE.search(said)):
        worth *= UNNAMED
    if _SAYS.praise.match(said) or _SAYS.for_user.match(said) or _only_reports_success(said):
        worth *= 0.3
    root = math.sqrt(worth * min(1.0, len(said.split()) / ENOUGH_WORDS))
    return PROSE * root * (WHY if reason else 1.0)


# Code: added or seen lines that define, decide or explain something.

_DEFINES = lazy_re(
    r"^\s*(?:(?:export|pub(?:\([^)]*\))?|public|private|protected|static|async|default|abstract|final|override)\s+)*"
    r"(?:func|def|class|fn|function|interface|struct|enum|trait|impl|type|const|let|var|module|CREATE TABLE)\b[\s(]"
)
_TYPED = lazy_re(r"^\s*(?:public|private|protected|static|final|override|virtual)\s+[\w<>\[\],][\w<>\[\], ]*\s\w+\(")
_DEFINED = lazy_re(
    r"(?:func(?:\s*\([^()]*\))?|def|class|fn|function|interface|struct|enum|trait|type|const|let|var)\s+(\w+)"
)
_COMMENT = lazy_re(r"^\s*(?://++|#++(?!!)|--\s|/?\*++(?=[\s/]|$)|;;++|\"\"\"|<!--)\s*+(?P<said>.*)$")
_REMARKED = lazy_re(r"\s(?://|#)\s(?P<said>[^\s;][^;`]{7,})")
"""A comment after code."""
_UNDONE = lazy_re(r"(?:TODO|FIXME|XXX|HACK|BUG|WARNING|DEPRECATED)\b")
_CLOSES = ("*/", "-->", '"""')
_TEST = lazy_re(r"^\s*(?:func Test|def test_|(?:it|test|describe)\()")
_BOILER = lazy_re(
    r"^\s*(?:import\b|from\b.*\bimport\b|package\b|use\b|using\b|#include|[{}\[\]();,]*$|return(?: nil| err)?;?$"
    r"|#!|\w+\(\)(?: \{|;)?$|if err != nil|\} else \{|else:?$|try:?$|pass$|default:$"
    r"|(?:const|var|type) \($|t\.(?:Parallel|Helper)\(|fi$|done$|esac$|then$|end$|(?:\w+ |\. )?\"[\w./@+-]*\"$)"
)
_TELLING = lazy_re(
    r"\b(?:if|elif|case|when|while|for|return|raise|throw|assert|switch|match|default|timeout|limit|max|min)\b"
    r"|[=:]\s*(?:\d|true|false|nil|null|None|True|False|[\"'`]\w)|\w\(?[\"'][^\"'\n]*\w \w[^\"'\n]*[\"']"
)
_CONDITION = lazy_re(r"(?:\}?\s*else\s+)?(?:if|elif|case|default|when|except|catch|for|while|switch)\b|\}?\s*else\b")
_LEADS = ("{", ":", ")", " then", " do", "else")
"""Endings of a condition that its consequence follows."""
_REMARK = lazy_re(r" [{:] (?=//)|: (?=# )")
"""Between such a condition and a comment after it."""
_CLOSING = lazy_re(r"^(?:[{}\[\]();,]*|fi|done|esac|end)(?:[;,)]|\)\()*$")
_IF_ERROR = lazy_re(r"\b\w*[eE]rr\w* (?:!=|is not) (?:nil|None|null)")
_HANDS_ON = lazy_re(
    r"^(?:return|raise|throw|panic|t\.Fatalf?|require\.NoError|assert\.NoError)\b[^\n]*\b(?:\w*Err|err|error|exc?|e)\)*;?$"
)
"""Every file passes errors on."""
_LOGS = lazy_re(r"^(?:\w+ :?= )?(?:\w+\.)?(?:log|logger|logging|slog|console)\.")
_BARE = lazy_re(r"(?:return (?:[^\W\d][\w.]*(?:, |;?$))+|[\w.]+)")
"""Code without information: a name, or the return of names."""
_PLAIN_RETURN = lazy_re(r"^\s*return \w+;?$")
_OPENS = lazy_re(
    r"^\s*(?:(?:export|pub|public|private|protected|static|async|default|abstract|final)\s+)*"
    r"(?:func|def|class|fn|function|interface|struct|enum|trait|impl|module)\b"
)
_COLOUR = lazy_re(r"\\(?:033|e|x1b)\[")
_SHELL = lazy_re(r"^\s*echo\b")


def defined_name(line: str) -> str:
    """The name that a line of code defines; empty for none."""
    found = _DEFINED.search(line) if _DEFINES.match(line) else None
    return found[1] if found else ""


def is_definition(line: str) -> bool:
    """Whether a line of code defines a name that is visible to others."""
    return bool(_OPENS.match(line) or _TYPED.match(line) or (_DEFINES.match(line) and not line[0].isspace()))


def code_worth(line: str) -> float:
    """The worth of a line of code to a reader who doesn't see the file; 0 for boilerplate."""
    if _BOILER.match(line) or _COLOUR.search(line):
        return 0.0
    if (comment := comment_words(line)) is not None:
        return _comment_worth(comment)
    if (remark := _REMARKED.search(line)) is not None:
        return code_worth(line[: remark.start()]) + _comment_worth(remark["said"])
    if _TEST.match(line):
        return 1.5
    if is_definition(line):
        # Without parameters or a value it is only a name.
        said = line.rstrip(" {:")
        return 4.0 if any(mark in said for mark in "({=") else BARE_NAME if _OPENS.match(line) else 0.6
    if _SHELL.match(line):
        return 0.4
    if _PLAIN_RETURN.match(line):
        return 0.6
    return 1.6 + 0.4 * bool(_VALUE.search(line)) if _TELLING.search(line) else 0.6


def _comment_worth(said: str) -> float:
    """The worth of a comment: more if it gives a reason or a contrast, or says that something is to be done."""
    undone = bool(_UNDONE.match(said))
    if len(said.split()) < FEWEST_WORDS - undone:
        return 0.0
    return 0.8 + 0.7 * min(_count_cues(said)["contrast"], 3) + 1.5 * gives_reason(said) + 1.5 * undone


def is_explained(said: str) -> bool:
    """Whether a passage of code has a comment."""
    return not said.endswith("`") or bool(_REMARKED.search(said))


_CONFLICT = lazy_re(r"^(?:<{7}|={7}|>{7}|\|{7})(?: |$)")
"""A line that version control puts between the sides of a conflict."""
APART = "--"
"""Stands between lines of an output that are not adjacent."""


def code_statements(lines: Iterable[str], fresh: Container[str] | None = None) -> Iterator[CodeStatement]:
    """The informative passages of code in order: adjacent lines with the comment before, conditions with consequences.

    With `fresh` only these lines (stripped) and what belongs to them are used; the others show the place.
    """
    passage, within, name = _CodePassage(), "", ""
    for line in lines:
        said = " ".join(line.split())
        told = fresh is None or line.strip() in fresh
        if said == APART or _CONFLICT.match(line):
            yield from passage.build(within)
            within, passage.held = "", ""
            continue
        if (words := comment_words(line)) is not None:
            if not passage.explaining:
                yield from passage.build(within)
            passage.add_comment(words, told=told)
            continue
        if (remark := _REMARKED.search(line)) is not None and _UNDONE.match(remark["said"]):
            yield from passage.build(within)
        defines = is_definition(line)
        if (defines and not passage.explaining) or (not said and (passage.words or len(passage.told) > GROUPED // 2)):
            yield from passage.build(within)
        passage.add_line(line, said, told=told)
        if defines and _OPENS.match(line):
            name = defined_name(line)
        elif defines:
            # A type's members follow its name.
            within, passage.names_itself = defined_name(line) if said.endswith(("{", "(")) else within, True
        # A signature contains its name, and its parameters belong to it.
        if name and not said.endswith(("(", ",")):
            yield from passage.build("")
            within, name, passage.held = name, "", ""
        elif len(passage.told) >= GROUPED:
            yield from passage.build(within)
    passage.close_condition()
    yield from passage.build(within)


class _CodePassage:
    """Adjacent lines of code, and the comment before them."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.explaining = False
        """Whether the last line was a comment."""
        self.fresh_words = False
        self.indent, self.passed = 0, False
        """How far what a comment is about is indented, and whether unchanged lines were passed that are further."""
        self.names_itself = False
        """Whether the text begins with a definition, which shows the place."""
        self.told = ""
        self.gap = False
        """Whether lines were left out since the last one that is told."""
        self.worth: list[float] = []
        self.held = ""
        """A condition whose consequence hasn't come yet."""
        self.fresh_held = False

    def add_comment(self, words: str, *, told: bool) -> None:
        """Add a line of a comment."""
        self.words += [words] if words else []
        self.fresh_words |= told
        self.explaining = True

    def add_line(self, line: str, said: str, *, told: bool) -> None:
        """Add a line, unless it is empty of information or only passes an error on."""
        self._end_comment(len(line) - len(line.lstrip()), fresh=told)
        self.explaining = False
        if _CLOSING.match(said):
            # The end of a multi-line call ends nothing else.
            self.held = self.held if said.startswith((")", "]")) else ""
        elif _CONDITION.match(said) and (said.endswith(_LEADS) or _REMARK.search(said)):
            said = _REMARK.sub(" ", said).lstrip("} ").rstrip(" {:")
            self.held = f"{self.held}: {said}" if 0 < len(self.held) < SHORT_ITEM else said
            self.fresh_held = told
        elif not _LOGS.match(said):
            led, self.held = self.held, ""
            if not (told or (led and self.fresh_held)) or _HANDS_ON.search(said):
                self.gap = self.gap or bool(self.told and said and not told)
                return
            if _BOILER.match(said) and (not led or led == "else" or _IF_ERROR.search(led)):
                return
            shown = clip(said.rstrip(" {:" if is_definition(line) else " {"), LONGEST_LINE)
            lead = f"{clip(led, LONGEST_LINE)}: " if led else ""
            between = " … " if self.gap else " " if self.told[-1:] in ("{", "(", "[", ",", "=") else "; "
            self.told += (between if self.told else "") + lead + shown
            self.gap = False
            self.worth += [max(code_worth(line), code_worth(led)) + RULES] if led else [code_worth(line)]

    def _end_comment(self, indent: int, *, fresh: bool) -> None:
        """Forget a comment on a block that was passed over as a whole."""
        if self.explaining:
            self.indent, self.passed = indent, False
        elif not fresh and indent > self.indent:
            self.passed = True
        elif fresh and indent <= self.indent and self.passed and not (self.told or self.fresh_words):
            self.words = []

    def close_condition(self) -> None:
        """Add a condition that has no consequence."""
        if self.held and self.fresh_held:
            self.told += f"{'; ' if self.told else ''}{self.held}"
            self.worth.append(code_worth(self.held))

    def build(self, within: str) -> Iterator[CodeStatement]:
        """The statement of the added lines: the first is weighted in full, further ones less."""
        why = clip(" ".join(self.words), LONGEST) if self.fresh_words or self.told else ""
        explains = code_worth(f"# {why}") if why else 0.0
        place = f"{within}: " if within and not self.names_itself else ""
        best = max(self.worth, default=0.0)
        if self.told and (explains or not _BARE.fullmatch(self.told)):
            worth = max(best, explains) + FURTHER * (sum(self.worth) - best + min(best, explains))
            yield CodeStatement(f"{place}`{self.told}`" + (f" — {why}" if explains else ""), worth)
        elif explains:
            yield CodeStatement(f"{place}{why}", explains)
        self.words, self.told, self.worth = [], "", []
        self.explaining = self.fresh_words = self.names_itself = self.gap = False


def comment_words(line: str) -> str | None:
    """The words of a comment line; None for other lines."""
    found = _COMMENT.match(line)
    if found is None or _DEFINES.match(line):
        return None
    said = found["said"].rstrip()
    for mark in _CLOSES:
        said = said.removesuffix(mark)
    return said.rstrip()
