"""The guard: decide before a call whether it steps into a known trap, and give advice.

A trap is a lesson of past runs with a trigger, which says which calls step into it. The same function serves the engine
and a hook, which is a new process for each call; so this module imports little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from ireneo.lessons.commands import command_in, shell_steps
from ireneo.lessons.needles import call_text, nested_texts
from ireneo.memories.record import GENERAL
from ireneo.patterns import lazy_re
from ireneo.short_repr import ShortRepr

Arguments = Mapping[str, object] | str
"""The arguments of a call, by name or as one text."""
EVERYTHING = "*"
"""In `Trap.needs`: the call names no part, so that it does everything."""
NOTHING, MISSING = "-", "?"
"""In `Trap.given`: the command has no arguments but flags; the path must exist already."""


class Trap(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A lesson that is shown before a call: the failure, what to do instead, and the calls that it concerns."""

    lesson: str
    """The id of the lesson, or of the memory that it comes from."""
    said: str
    """The failure, without a full stop."""
    way_out: str
    """What to do instead."""
    why: str = ""
    """A reason in the agent's or the user's own words."""
    ruling: bool = False
    """Whether it is a rule that a user set."""
    remembered: bool = False
    """Whether somebody reported it, and no run showed it."""
    remark: bool = False
    """Whether it only says what is known of the file or program, and nothing fails."""
    seen: str = ""
    """How often it was seen, in words."""
    runs: int = 1
    """How many runs showed it."""
    of: int = 1
    """How many runs could have shown it."""
    last: str = ""
    """The day on which a run last showed it; empty if unknown."""
    projects: tuple[str, ...] = ()
    """The projects in which it was seen."""
    session: str = ""
    """The only session that showed it, which needs no advice; empty if several did."""
    sign: str = ""
    """A word that every such call contains, for commands that are written in several ways."""
    tool: str = ""
    command: str = ""
    words: tuple[str, ...] = ()
    path: str = ""
    given: str = ""
    above: str = ""
    unless: tuple[str, ...] = ()
    """The calls that step into it; see `ireneo.lessons.run.Trigger`."""
    needs: tuple[str, ...] = ()
    """The names without which a reported failure does not concern a call; alternatives are joined by a bar."""

    @property
    def needle(self) -> str:
        """A word that every call contains which steps into the trap."""
        named = (
            self.sign
            or self.command
            or self.path.rstrip("/").rsplit("/", 1)[-1]
            or next(iter(self.words), "")
            or self.tool
        )
        return next(reversed(named.split()), "")


class TrapIndex(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The compiled traps of a space."""

    traps: tuple[Trap, ...] = ()
    projects: tuple[str, ...] = ()
    """The projects of all lessons, with or without a trap."""
    anywhere: bool = False
    """Whether any lesson has no project, or applies to all."""


class PastCall(Struct, frozen=True, kw_only=True):
    """An earlier call of the session that has a result."""

    tool: str
    arguments: Arguments
    failed: bool


class SessionSoFar(Struct, frozen=True, kw_only=True):
    """The state of a session before a call."""

    calls: tuple[PastCall, ...] = ()
    asked: str = ""
    """The user's last words."""
    told: frozenset[str] = frozenset()
    """The lessons about which it was already warned."""
    folder: str = ""
    """Its working directory; empty if it is unknown."""
    session: str = ""
    """Its name."""


HEED = "heed it, or ask first"
"""The way out of a ruling that names no alternative."""


class GuardAdvice(ShortRepr, frozen=True, kw_only=True, omit_defaults=True):
    """A trap that a call is about to step into. It is advice only; the caller decides."""

    trap: str
    """The earlier failure, or the user's rule that the call violates."""
    way_out: str
    """What to do instead."""
    why: str
    """The reason in the agent's or the user's own words; empty if nobody gave one."""
    seen: str
    """In how many runs that was seen, and when last, in words."""
    runs: int
    """How many runs showed it."""
    of: int
    """How many runs could have shown it."""
    last: str
    """The day on which a run last showed it (2026-05-02); empty if no run has a time."""
    lesson: str
    """The id of the lesson or memory that it comes from."""
    ruling: bool = False
    """Whether it is a rule of the user's, not an experience."""
    remembered: bool = False
    """Whether somebody reported it, and no run showed it."""
    remark: bool = False
    """Whether it only says what is known of the file or program, and nothing fails."""

    @property
    def text(self) -> str:
        """In two lines: the failure and what to do instead; the reason, and the runs that showed it."""
        if self.remark:
            return f"known: {self.trap}\n{self.seen}"
        because = f"why: “{self.why}” · {self.seen}" if self.why else self.seen
        instead = "" if self.way_out == HEED else "instead: "
        return f"trap: {self.trap}; {instead}{self.way_out}\n{because}"

    @property
    def markdown(self) -> str:
        """The same with the id of the lesson or memory, by which it can be opened and disputed."""
        return f"{self.text} · {TOLD[self.remembered]}{self.lesson}"


MOST_BESIDE = 2
"""How many more remarks on a file are shown with the first."""
TOLD = ("lesson ", "memory ")
"""In a transcript, these precede the id of a lesson or memory whose advice was given in that session."""
_TOLD = lazy_re(rf"\b(?:{'|'.join(TOLD)})(m_\w+)")


def shown_lesson_ids(text: str) -> frozenset[str]:
    """The ids of the lessons that a text shows as advice already given."""
    return frozenset(_TOLD.findall(text))


def advice(
    traps: Sequence[Trap],
    tool: str,
    arguments: Arguments,
    look_back: Callable[[], SessionSoFar],
    *,
    project: str | None,
) -> GuardAdvice | None:
    """Return advice on a call before it is made; None if it steps into no trap, or the session knows the trap.

    `look_back` reads the session so far; it is only called if the call steps into a trap. Only traps of `project` and
    general ones are considered; with an empty `project` those without one, with None all.
    """
    asked = _ParsedCall(tool, arguments)
    met = [each for each in traps if _applies(each, project) and _matches_trap(each, asked)]
    if not met:
        return None
    so_far = look_back()
    past = [(each, _ParsedCall(each.tool, each.arguments)) for each in so_far.calls]
    telling = [each for each in met if not _is_known(each, past, so_far)]
    # Users' rules first, then what runs showed, then the most specific traps, then the most often seen.
    telling.sort(
        key=lambda each: (
            *(each.remark, not each.ruling, each.remembered),
            *(-_specificity(each), -each.runs, each.last, each.lesson),
        )
    )
    if not telling:
        return None
    first, *others = telling
    said = first.said
    if first.remark:
        said = f"`{first.path or first.command}`: {'; '.join((said, *(each.said for each in others[:MOST_BESIDE])))}"
    shown = {name: getattr(first, name) for name in GuardAdvice.__struct_fields__ if name != "trap"}
    return GuardAdvice(trap=said, **shown)


def _applies(trap: Trap, project: str | None) -> bool:
    """Whether a trap concerns `project`, and wasn't only seen in other projects."""
    if project is None or GENERAL in trap.projects:
        return True
    return project in trap.projects if project else not trap.projects


def _specificity(trap: Trap) -> int:
    file = bool(trap.path) and not trap.path.endswith("/")
    return len(trap.command.split()) + len(trap.words) + 2 * bool(trap.path) + file + bool(trap.given)


class _ProgramCall(Struct, frozen=True, kw_only=True):
    """One program that a command runs, or a call of a tool that is not a shell."""

    names: tuple[str, ...]
    """Its canonical name, the command as written, and its wrappers."""
    words: tuple[str, ...]
    writes: tuple[str, ...] = ()
    """Files that it may change."""
    program: str = ""
    """Empty if it is not run by a shell."""
    several: frozenset[str] = frozenset()
    """The arguments that hold several items; `NOTHING` for a command whose only arguments are flags."""


class _ParsedCall:
    """A call, parsed when needed."""

    def __init__(self, tool: str, arguments: Arguments) -> None:
        self.tool = tool
        self.command = command_in(arguments)
        self.text = call_text(tool, arguments)
        self._arguments = arguments
        self._pieces: tuple[_ProgramCall, ...] | None = None

    @property
    def programs(self) -> tuple[_ProgramCall, ...]:
        if self._pieces is None:
            self._pieces = tuple(_command_programs(self.command)) if self.command else (self._tool_call(),)
        return self._pieces

    @property
    def words(self) -> tuple[str, ...]:
        """All its words; flags are separated from their values."""
        return split_flags(self.command) if self.command else self.programs[0].words

    def shows(self, name: str) -> bool:
        """Whether it has a word, a part of one, or for `stem~` a part that begins so."""
        if name.endswith("~"):
            return any(each.startswith(name[:-1]) and len(each) < len(name) + 2 for each in self._parts)
        return name.lower() in (self._parts if name.isalpha() else self.text.lower())

    @cached_property
    def _parts(self) -> frozenset[str]:
        return frozenset(_PART.findall(self.command.lower()))

    def _tool_call(self) -> _ProgramCall:
        given = self._arguments
        changes = self.tool.lower() in _CHANGING
        several = frozenset[str]()
        if isinstance(given, Mapping):
            changes = changes or not _CHANGES.isdisjoint(given)
            several = frozenset(name for name, value in given.items() if isinstance(value, list) and len(value) > 1)
            # Text that is written into a file names nothing.
            given = {name: value for name, value in given.items() if name not in _CHANGES}
        short = [text for text in nested_texts(given) if len(text) <= _SHORT and "\n" not in text]
        words = tuple(word for text in short for word in dict.fromkeys((text, *split_flags(text))))
        writes = tuple(short) if changes else ()
        return _ProgramCall(names=(self.tool,), words=words, writes=writes, several=several)


_PART = lazy_re(r"[^\W_]+")
_SHORT = 1_000
"""Up to this many characters an argument may be a name; a longer one is text for a file."""
_CHANGES = frozenset(
    "new_string old_string new_str old_str content file_text edits patch new_source insert_text replacement".split()
)
"""Names of arguments that hold the text of a change."""
_CHANGING = frozenset("edit write multiedit notebookedit apply_patch write_file edit_file create_file replace".split())


def _command_programs(command: str) -> Iterator[_ProgramCall]:
    for step in shell_steps(command):
        program = step.words[0].rsplit("/", 1)[-1] if step.words else ""
        # A quoted word with blanks is a text, and contains no flags.
        words = tuple(word for each in step.words for word in ((each,) if " " in each else split_flags(each)))
        writes = step.writes
        if program in _WRITERS or (program in _IN_PLACE and any(each.startswith("-i") for each in step.words)):
            writes = (*writes, *step.words[1:])
        names = (step.name, " ".join((program, *step.words[1:])), *step.through)
        bare = len([word for word in step.words if not word.startswith("-")]) <= len(step.name.split())
        yield _ProgramCall(
            names=names,
            words=words,
            writes=writes,
            program=program or " ",
            several=frozenset((NOTHING,)) if bare else frozenset(),
        )


_WRITERS = frozenset("rm mv cp tee truncate patch touch install ln".split())
_IN_PLACE = frozenset("sed perl gsed".split())
_ONLY_LOOKS = frozenset(
    "ls find fd test [ stat file git grep rg ag egrep echo printf which type command man du tree wc diff basename"
    " dirname realpath readlink".split()
)
"""Programs that may be given files that don't exist."""
_SHOW = frozenset("cat head tail less more bat".split())
_CREATING = frozenset("write write_file create_file mkdir touch".split())
"""Tools and programs that make what does not exist."""
_ASKS = frozenset(("--help", "-h", "help", "--version"))


def _asks_for_help(words: Sequence[str]) -> bool:
    """Whether a program is only asked for its help; `-h` with a value after it names a host."""
    return any(each in _ASKS for each in words if each != "-h") or words[-1:] == ("-h",)


_PARTS = lazy_re(r"[\s=;&|()'\"`,]+")


def split_flags(text: str) -> tuple[str, ...]:
    """Split a command line into words; a flag and its value are two words, however they are joined."""
    return tuple(word for word in _PARTS.split(text) if word)


def _matches_trap(trap: Trap, call: _ParsedCall) -> bool:
    if (trap.tool and trap.tool != call.tool) or not trap.needle or trap.needle not in call.text:
        return False
    if trap.given == MISSING and call.tool.lower() in _CREATING:
        return False
    if _contains_any(trap.unless, call) or any(
        _has_flag(trap, each, one) for each in trap.unless for one in call.programs
    ):
        return False
    return any(_is_trap_call(trap, piece) and not _is_unaffected(trap, piece, call) for piece in call.programs)


def _is_unaffected(trap: Trap, piece: _ProgramCall, call: _ParsedCall) -> bool:
    """Whether a call lacks a name that a reported failure depends on, or is only a dry run."""
    if not trap.remembered or not piece.program:
        return False
    tries = any(each in _TRIES or (each == "-n" and piece.program in _TRIES_BY_N) for each in piece.words)
    if tries and not any(_TRIES.intersection(split_flags(each)) for each in trap.words):
        return True
    if trap.needs[:1] == (EVERYTHING,) and any(_names_part(each, piece) for each in piece.words):
        return True
    return not all(any(map(call.shows, each.split("|"))) for each in trap.needs if each.strip("./*"))


def _names_part(word: str, piece: _ProgramCall) -> bool:
    """Whether a word of a call names a part of the whole: neither a flag, a number, an ending nor its command."""
    ending = word.startswith(".") and "/" not in word
    named = {piece.program, *(part for name in (piece.names[0], *piece.names[2:]) for part in name.split())}
    return bool(word.strip("./*")) and not (word.isdigit() or word.startswith("-") or ending or word in named)


_TRIES = frozenset(
    "--dry-run --dryrun --list-hosts --list-tasks --collect-only --just-print --syntax-check --no-act".split()
)
"""Options with which a program only prints its intended actions."""
_TRIES_BY_N = frozenset("make rsync".split())


def _is_trap_call(trap: Trap, piece: _ProgramCall) -> bool:
    if trap.command and not (piece.program and _is_trap_program(trap, piece)):
        return False
    if piece.program and _asks_for_help(piece.words) and not _ASKS.intersection(trap.words):
        return False
    if not all(
        _contains_sequence(split_flags(words), piece.words) or _has_flag(trap, words, piece) for words in trap.words
    ):
        return False
    if trap.given == MISSING and piece.program in _CREATING:
        return False
    if trap.given not in ("", MISSING, *piece.several):
        return False
    if trap.remembered and not (trap.command or trap.tool) and piece.program in _ONLY_LOOKS | _SHOW:
        return False
    if not trap.path:
        return bool(trap.command or trap.words or trap.tool or trap.sign)
    if (trap.ruling or trap.remembered) and not (trap.command or trap.tool):
        return any(_path_ends_with(path, trap.path) for path in piece.writes)
    looks = not trap.command and piece.program in _ONLY_LOOKS
    return not looks and any(_path_ends_with(word, trap.path) and _may_be_in_folder(trap, word) for word in piece.words)


def _is_trap_program(trap: Trap, piece: _ProgramCall) -> bool:
    """Whether a program is the trap's; in a reported failure its subcommand may be among other words."""
    if any(_starts_with_command(name, trap.command) for name in piece.names):
        return True
    program, *rest = trap.command.split()
    own = any(name.split()[:1] == [program] for name in piece.names[:2])
    return trap.remembered and bool(rest) and own and all(each in piece.words for each in rest)


def _has_flag(trap: Trap, flag: str, piece: _ProgramCall) -> bool:
    """Whether a call has a reported flag written otherwise: `-df` for `-fd`, `-f` for `--force`."""
    if not trap.remembered or (flag.startswith("--") and flag not in trap.words):
        return False
    if flag.startswith("--"):
        return f"-{flag[2:3]}" in piece.words
    given = {letter for word in piece.words if _SHORT_FLAGS.fullmatch(word) for letter in word[1:]}
    return bool(_SHORT_FLAGS.fullmatch(flag)) and given.issuperset(flag[1:])


_SHORT_FLAGS = lazy_re(r"-[A-Za-z]{1,4}")


def _starts_with_command(name: str, command: str) -> bool:
    return name == command or name.startswith(f"{command} ")


def _path_ends_with(path: str, end: str) -> bool:
    """Whether a path ends with `end` or, if that is a folder (with a slash at the end), lies in it."""
    bare = end.removeprefix("./").lstrip("/")
    if bare.endswith("/"):
        return f"/{bare}" in f"/{path}/"
    return bool(bare) and (path == bare or path.endswith(f"/{bare}"))


def _may_be_in_folder(trap: Trap, path: str) -> bool:
    """Whether a path may be in the folder where the trap was met; under another root, its end proves nothing."""
    if trap.given == MISSING and "/" not in trap.path.strip("/") and not path.startswith(("/", "./", trap.path)):
        return False  # A file of the root is missing; one of another folder is another file.
    if not trap.above or not path.startswith("/"):
        return True
    return _path_ends_with(path, f"{trap.above}/{trap.path.lstrip('/')}")


def _contains_sequence(wanted: Sequence[str], words: Sequence[str]) -> bool:
    """Whether `wanted` is a contiguous part of `words`."""
    size = len(wanted)
    return size > 0 and any(tuple(words[at : at + size]) == tuple(wanted) for at in range(len(words) - size + 1))


def _contains_any(wanted: Sequence[str], call: _ParsedCall) -> bool:
    """Whether a call contains one of these commands, words or files; or one of these users, before a host."""
    return any(
        _contains_sequence(split_flags(each), call.words)
        or (
            (" " not in each and ("/" in each or "." in each))
            and any(_path_ends_with(word, each) for word in call.words)
        )
        for each in wanted
    )


def _is_known(trap: Trap, past: Sequence[tuple[PastCall, _ParsedCall]], so_far: SessionSoFar) -> bool:
    """Whether the session knows the trap, has taken the way out, or the user asked for the call."""
    if trap.lesson in so_far.told or (trap.session and trap.session == so_far.session):
        return True
    if any(_matches_trap(trap, call) or (not made.failed and _contains_any(trap.unless, call)) for made, call in past):
        # The session made the call before and saw its result, or it took the way out.
        return True
    if any(_is_in_folder_already(each, so_far.folder) for each in trap.unless):
        return True
    return trap.ruling and _user_asks_for(trap, so_far.asked)


def _is_in_folder_already(way_out: str, folder: str) -> bool:
    """Whether the way out is to change to a folder that the session is in already."""
    words = way_out.split()
    return len(words) == 2 and words[0] == "cd" and bool(folder) and _path_ends_with(folder, words[1].rstrip("/"))


_WORD = lazy_re(r"[\w-]+")


def _user_asks_for(trap: Trap, asked: str) -> bool:
    """Whether the user's last message names what the rule forbids, so that they want it now."""
    named = trap.words or tuple(trap.command.split()[-1:])
    spoken = {word.lower() for word in _WORD.findall(asked)}
    return bool(named) and all(spoken.issuperset(word.lower() for word in _WORD.findall(each)) for each in named)
