"""Parse command lines as a shell does: which programs run, which decide the exit status, and which search everything.

tree-sitter parses the line; its syntax tree is regrouped by the shell's operator precedence. Names are canonical
(`ireneo.lessons.naming`): ``git -C x status`` is ``git status``, and ``uv run pytest -q`` is ``pytest``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.lessons.naming import NamedProgram, name_of, programs
from ireneo.patterns import lazy_re

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LONGEST_COMMAND = 20_000
"""How many characters of a command are parsed at most."""
_DEEPEST = 40
_MOST_STEPS = 400

Joint = Literal["", "&&", "||", ";", "|", "&"]


class ShellStep(Struct, frozen=True, kw_only=True, gc=False):
    """One program that a command runs."""

    name: str
    """Its canonical name: ``go test``, ``make lint``, ``pytest``. Empty if it is in a variable."""
    words: tuple[str, ...]
    """The program with its arguments, without wrappers and quotes."""
    through: tuple[str, ...]
    """The wrappers that it was started through, the outermost first: ``docker compose exec``, ``timeout``."""
    shown: str
    """The command as it is displayed: ``uv run pytest``, ``scripts/check.sh``."""
    before: Joint
    """The operator between it and the step before it."""
    folder: str
    """The folder that a ``cd`` before it changed to; empty without one."""
    writes: tuple[str, ...]
    """Files that it writes by redirection."""
    text: str
    """Its source text."""
    inner: bool = False
    """Its output is an argument of another step."""
    unheard: bool = False
    """Its standard error is redirected away."""


class CommandLine(Struct, frozen=True, kw_only=True, gc=False):
    """A parsed command line."""

    steps: tuple[ShellStep, ...]
    """In source order."""
    deciding: tuple[int, ...]
    """The steps whose failure may make the whole command fail, in order; empty if the status depends on none of
    them."""
    main: int | None
    """The step that the command is about: the last one that does something."""
    broken: bool = False
    """It has syntax errors."""


_KEYS = ("command", "cmd", "script", "bash", "CommandLine")


def command_in(arguments: Mapping[str, object] | str) -> str:
    """The command line among the arguments of a call; empty if it is not a call of a shell."""
    if isinstance(arguments, str) or isinstance(arguments.get("path"), str):
        return ""
    for key in _KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            # A list of words must be quoted, unless its only item is a whole line.
            return shlex.join(map(str, value)) if len(value) > 1 else " ".join(map(str, value))
    return ""


def shell_steps(command: str) -> tuple[ShellStep, ...]:
    """The programs that `command` runs, in order."""
    return read_command(command).steps


def command_names(command: str) -> tuple[str, ...]:
    """The canonical names of the programs in `command` that do something, each once."""
    steps = (step for step in read_command(command).steps if not step.inner and not does_nothing(step))
    return tuple(dict.fromkeys(step.name for step in steps if step.name))


def main_step(command: str) -> ShellStep | None:
    """The step that `command` is about: the last one that does something; in a pipe the one that the rest filters."""
    read = read_command(command)
    return None if read.main is None else read.steps[read.main]


def does_nothing(step: ShellStep) -> bool:
    """Whether a step only changes the folder, sets a variable or prints a word."""
    return not step.words or step.words[0] in programs().moves or "=" in step.name


@lru_cache(maxsize=1_024)
def read_command(command: str) -> CommandLine:
    """Parse `command`; one with syntax errors gives the steps that can be recognised."""
    reader = _CommandReader()
    tree = reader.read(command[:LONGEST_COMMAND], _NestingContext())
    deciding = tuple(dict.fromkeys(_status_steps(tree, reader)))
    steps = tuple(reader.steps)
    main = _main_step(tree, steps)
    return CommandLine(steps=steps, deciding=deciding, main=main, broken=reader.broken)


class _Tree(Struct, frozen=True):
    """How steps are combined."""

    kind: Literal["step", "pipe", "&&", "||", ";", "branch", "not", "aside"]
    parts: tuple[_Tree, ...] = ()
    step: int = -1
    strict: bool = False
    """A pipe fails with any of its parts (``pipefail``); a sequence ends at the first failure (``set -e``)."""


_NOTHING = _Tree(";")


class _NestingContext(Struct, frozen=True, kw_only=True):
    """The context of a part of a command."""

    through: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    inner: bool = False
    depth: int = 0
    before: Joint = ""


class _Redirects(Struct):
    writes: list[str]
    unheard: bool = False
    text: str = ""
    """The here-document or here-string that is its standard input."""


_HOLDS_OTHERS = frozenset(
    {"program", "list", "pipeline", "redirected_statement", "heredoc_redirect", "ERROR", "do_group"}
)
_JOINTS: dict[str, Joint] = {"&&": "&&", "||": "||", "|": "|", "|&": "|", ";": ";", "\n": ";", "&": "&", ";;": ";"}
_GROUPS = frozenset({"subshell", "compound_statement", "do_group", "else_clause"})
_COMPOUND = frozenset({"if_statement", "while_statement", "for_statement", "c_style_for_statement", "case_statement"})
_REDIRECTS = frozenset({"file_redirect", "herestring_redirect"})
_HERE = frozenset({"heredoc_start", "heredoc_body", "heredoc_end", "<<", "<<-"})
_VARIABLE = lazy_re(r"\$(?:\{(\w+)\}|(\w+))")
_UNKNOWN = lazy_re(r"\$[\w{(@*#?!-]|`")
_ESCAPED = lazy_re(r"\\(.)", re.S)
_LITERAL = lazy_re(r"[^$`]*\Z")
_SETS = lazy_re(r"-[a-z]*e")


class _CommandReader:
    """Parses one command and collects its steps."""

    def __init__(self) -> None:
        self.steps: list[ShellStep] = []
        self.variables: dict[str, str] = {}
        self.functions: dict[str, tuple[Node, bytes]] = {}
        self.folder = ""
        self.stops_at_failure = False
        self.pipes_fail = False
        self.broken = False
        self._source = b""

    def read(self, command: str, around: _NestingContext) -> _Tree:
        """Parse a command line, or one nested in another."""
        if around.depth > 4:
            return _NOTHING
        outer = self._source
        self._source = command.encode("utf-8", "replace")
        root = _parser().parse(self._source).root_node
        self.broken = self.broken or root.has_error
        tree = self._read_sequence(root, around)
        self._source = outer
        return tree

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _read_sequence(self, node: Node, around: _NestingContext, *, children: Sequence[Node] | None = None) -> _Tree:
        """The statements in `node`, grouped by precedence: pipes first, then ``&&`` and ``||``, then the rest."""
        done: list[_Tree] = []
        chain: _Tree | None = None
        link: Joint = ";"
        pipe: list[_Tree] = []
        joint: Joint = around.before

        def close_pipe() -> None:
            nonlocal chain
            if pipe:
                said = pipe[0] if len(pipe) == 1 else _Tree("pipe", tuple(pipe), strict=self.pipes_fail)
                chain = said if chain is None else _Tree("&&" if link == "&&" else "||", (chain, said))
                pipe.clear()

        for kind, part, redirects in self._list_operands(node, children):
            if part is None:
                joint = kind
                if kind != "|":
                    close_pipe()
                if kind in ("&&", "||"):
                    link = kind
                elif kind != "|" and chain is not None:
                    done.append(_Tree("aside", (chain,)) if kind == "&" else chain)
                    chain = None
                continue
            if len(self.steps) >= _MOST_STEPS:
                break
            if (pipe and joint != "|") or (chain is not None and joint not in ("&&", "||", "|")):
                close_pipe()
                if chain is not None and joint not in ("&&", "||"):
                    done.append(chain)
                    chain = None
            pipe.append(self._read_operand(part, redirects, replace(around, before=joint)))
            joint = ";"
        close_pipe()
        if chain is not None:
            done.append(chain)
        return done[0] if len(done) == 1 else _Tree(";", tuple(done), strict=self.stops_at_failure)

    def _list_operands(
        self, node: Node, children: Sequence[Node] | None
    ) -> Iterator[tuple[Joint, Node | None, _Redirects]]:
        """The operators and operands in `node`, in order; an operand comes with its redirections."""
        held: Node | None = None
        redirects = _Redirects([])
        waiting = list(reversed(children if children is not None else [node]))
        first = node if children is None else None
        while waiting:
            each = waiting.pop()
            kind = each.type
            if kind in _HOLDS_OTHERS or each == first:
                waiting.extend(reversed(each.children))
            elif kind in _REDIRECTS:
                self._read_redirect(each, redirects)
            elif kind in _HERE:
                if kind == "heredoc_body":
                    redirects.text = self._text(each)
            elif kind in _JOINTS:
                if held is not None:
                    yield "", held, redirects
                    held, redirects = None, _Redirects([])
                yield _JOINTS[kind], None, redirects
            elif each.is_named and kind != "comment":
                if held is not None:
                    yield "", held, redirects
                    redirects = _Redirects([])
                held = each
        if held is not None:
            yield "", held, redirects

    def _read_redirect(self, node: Node, found: _Redirects) -> None:
        if node.type == "herestring_redirect":
            found.text = self._evaluate_word(node.children[-1])
            return
        words = [self._text(each) for each in node.children]
        where = self._evaluate_word(node.children[-1]) if node.children else ""
        errors = words[0] == "2" or words[0].startswith("&>")
        if errors and ">" in "".join(words[:2]) and where != "1":
            found.unheard = True
        if ">" in "".join(words[:-1]) and words[0] != "2" and where not in ("/dev/null", "/dev/stderr", "1", "2", ""):
            found.writes.append(where)
            found.unheard = found.unheard or words[0].startswith("&>")

    def _read_operand(self, node: Node, redirects: _Redirects, around: _NestingContext) -> _Tree:
        """One command, simple or compound."""
        kind = node.type
        if around.depth > _DEEPEST:
            return _NOTHING
        deeper = replace(around, depth=around.depth + 1)
        if kind == "command":
            return self._read_simple_command(node, redirects, deeper)
        begun = len(self.steps)
        tree = self._read_compound(node, kind, redirects, deeper)
        if redirects.unheard:
            self.steps[begun:] = [replace(step, unheard=True) for step in self.steps[begun:]]
        return tree

    def _read_compound(self, node: Node, kind: str, redirects: _Redirects, around: _NestingContext) -> _Tree:
        if kind in _GROUPS:
            folder = self.folder
            tree = self._read_sequence(node, around, children=node.children)
            self.folder = folder if kind == "subshell" else self.folder
            return tree
        if kind in _COMPOUND:
            return self._read_branches(node, around)
        if kind == "negated_command":
            return _Tree("not", (self._read_sequence(node, around, children=node.children[1:]),))
        if kind == "function_definition":
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name is not None and body is not None:
                self.functions[self._text(name)] = (body, self._source)
            return _NOTHING
        if kind in ("variable_assignment", "variable_assignments"):
            return self._read_assignment(node, around)
        words = ["test"] if kind == "test_command" else self._text(node).split(None, 1)[:1]
        inner = self._read_substitutions(node, around, inner=kind != "declaration_command")
        if kind == "declaration_command":
            for each in node.named_children:
                if each.type == "variable_assignment":
                    self._remember_variable(each)
        if kind not in ("test_command", "declaration_command", "unset_command"):
            return _Tree("aside", inner)
        return _Tree(
            ";",
            (
                *inner,
                self._add_step(NamedProgram(tuple(words), name=words[0], shown=words[0]), node, redirects, around),
            ),
        )

    def _read_branches(self, node: Node, around: _NestingContext) -> _Tree:
        """A statement with conditions and bodies: only the bodies decide its status."""
        asides: list[_Tree] = []
        bodies: list[_Tree] = []
        part: list[Node] = []
        conditional = node.type in ("if_statement", "while_statement")
        for each in node.children:
            if each.type in ("then", "do_group", "elif_clause", "else_clause", "fi"):
                if part:
                    (asides if conditional and not bodies else bodies).append(
                        self._read_sequence(node, around, children=part)
                    )
                    part = []
                if each.type == "elif_clause":
                    bodies.append(self._read_branches(each, around))
                elif each.type in ("do_group", "else_clause"):
                    bodies.append(self._read_sequence(each, around, children=each.children))
            elif each.type == "case_item":
                bodies.append(self._read_sequence(each, around, children=each.children[1:]))
            elif conditional or node.type == "elif_clause":
                part.append(each)
        if part:
            bodies.append(self._read_sequence(node, around, children=part))
        return _Tree(";", (_Tree("aside", tuple(asides)), _Tree("branch", tuple(bodies))))

    def _read_assignment(self, node: Node, around: _NestingContext) -> _Tree:
        """An assignment: a command substitution in its value decides the status."""
        for each in (node, *node.named_children):
            if each.type == "variable_assignment":
                self._remember_variable(each)
        return _Tree(";", self._read_substitutions(node, around, inner=False))

    def _remember_variable(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        said = self._evaluate_word(value) if value is not None else ""
        if _LITERAL.match(said):
            self.variables[self._text(name)] = said
        else:
            self.variables.pop(self._text(name), None)

    def _read_substitutions(self, node: Node, around: _NestingContext, *, inner: bool = True) -> tuple[_Tree, ...]:
        """The command substitutions in `node`."""
        text = self._text(node)
        if "$(" not in text and "`" not in text and "<(" not in text and ">(" not in text:
            return ()
        out, waiting = [], list(reversed(node.named_children))
        while waiting and len(self.steps) < _MOST_STEPS:
            each = waiting.pop()
            if each.type in ("command_substitution", "process_substitution"):
                folder = self.folder
                inside = replace(
                    around, inner=inner or around.inner, depth=around.depth + 1, before="", through=(), shown=()
                )
                if around.depth <= _DEEPEST:
                    out.append(self._read_sequence(each, inside, children=each.children))
                self.folder = folder
            else:
                waiting.extend(reversed(each.named_children))
        return tuple(out)

    def _evaluate_word(self, node: Node) -> str:
        """Return a word as the program receives it, as far as that is known without running anything."""
        kind = node.type
        if kind == "raw_string":
            return self._text(node)[1:-1]
        if kind == "ansi_c_string":
            return self._text(node)[2:-1]
        if kind == "concatenation":
            return "".join(self._evaluate_word(each) for each in node.children)
        text = self._text(node)
        if kind == "string":
            text = text[1:-1] if text.endswith('"') and len(text) > 1 else text[1:]
            text = text.replace('\\"', '"').replace("\\\n", "")
        elif kind in ("word", "command_name"):
            if kind == "command_name" and node.named_children and node.named_children[0].type != "word":
                return self._evaluate_word(node.named_children[0])
            text = _ESCAPED.sub(r"\1", text) if "\\" in text else text
        if "$" in text and "$(" not in text:
            text = _VARIABLE.sub(lambda found: self.variables.get(found[1] or found[2], found[0]), text)
        return text

    def _read_simple_command(self, node: Node, redirects: _Redirects, around: _NestingContext) -> _Tree:
        words: list[str] = []
        groups: list[Node] = []
        for each in node.children:
            kind = each.type
            if kind in _REDIRECTS:
                self._read_redirect(each, redirects)
            elif kind == "subshell":
                groups.append(each)
            elif kind == "variable_assignment":
                continue
            elif each.is_named or kind not in ("(", ")"):
                words.append(self._evaluate_word(each))
        inner = self._read_substitutions(node, around)
        if groups:
            done = [self._read_sequence(each, around, children=each.children) for each in groups]
            return _Tree(";", (*inner, *done))
        words = [word for word in words if word] or words
        tree = self._read_program(words, node, redirects, around)
        return _Tree(";", (*(_Tree("aside", (each,)) for each in inner), tree)) if inner else tree

    def _read_program(self, words: list[str], node: Node, redirects: _Redirects, around: _NestingContext) -> _Tree:
        if words and words[0] in self.functions and around.depth < 8:
            body, source = self.functions[words[0]]
            outer, self._source = self._source, source
            tree = self._read_sequence(body, replace(around, depth=around.depth + 4), children=body.children)
            self._source = outer
            return tree
        named = name_of(words)
        is_shell = bool(named.words) and named.words[0] in programs().shells
        if named.line is None and is_shell and redirects.text:
            named = replace(named, line=redirects.text)
        if named.line is not None:
            within = replace(
                around,
                through=(*around.through, *named.through),
                shown=(*around.shown, *named.before),
                depth=around.depth + 1,
            )
            stops, pipes = self.stops_at_failure, self.pipes_fail
            if is_shell:
                self._set_options(named.words)
            folder = self.folder
            begun = len(self.steps)
            tree = self.read(named.line, within)
            self.folder, self.stops_at_failure, self.pipes_fail = folder, stops, pipes
            if redirects.unheard:
                self.steps[begun:] = [replace(step, unheard=True) for step in self.steps[begun:]]
            if len(self.steps) > begun:
                return tree
        if words and words[0] == "set":
            self._set_options(words)
        tree = self._add_step(named, node, redirects, around)
        if named.words and named.words[0] in ("cd", "pushd") and len(named.words) > 1:
            where = named.words[1]
            self.folder = where if where.startswith(("/", "~", "$")) or not self.folder else f"{self.folder}/{where}"
        return tree

    def _set_options(self, words: Sequence[str]) -> None:
        """Apply the options of a shell, or of ``set``, that concern failures."""
        for word in words[1:]:
            if not word.startswith("-") and word != "pipefail":
                break
            self.stops_at_failure = self.stops_at_failure or bool(_SETS.match(word))
            self.pipes_fail = self.pipes_fail or word == "pipefail"

    def _add_step(self, named: NamedProgram, node: Node, redirects: _Redirects, around: _NestingContext) -> _Tree:
        hidden = bool(named.name and _UNKNOWN.search(named.name))
        shown = " ".join((*around.shown, *named.before, named.shown))
        self.steps.append(
            ShellStep(
                name="" if hidden else named.name,
                words=named.words,
                through=(*around.through, *named.through),
                shown=shown.strip(),
                before=around.before,
                folder=self.folder,
                writes=tuple(redirects.writes),
                text=self._text(node),
                inner=around.inner,
                unheard=redirects.unheard,
            )
        )
        return _Tree("step", (), len(self.steps) - 1)


@cache
def _parser() -> Parser:
    # Imported when used: it takes a tenth of the time that a hook may take.
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _status_steps(tree: _Tree, reader: _CommandReader) -> list[int]:
    """The steps whose failure may make `tree` fail."""
    if tree.kind == "step":
        step = reader.steps[tree.step]
        return [] if step.words[:1] and step.words[0] in programs().never_fails else [tree.step]
    if tree.kind == "aside":
        return []
    if tree.kind in ("&&", "||", "branch", "not"):
        return [each for part in tree.parts for each in _status_steps(part, reader)]
    telling = [part for part in tree.parts if part.parts or part.kind == "step"]
    if tree.kind == "pipe":
        return [each for part in (telling if tree.strict else telling[-1:]) for each in _status_steps(part, reader)]
    if not telling:
        return []
    if tree.strict or _passes_on_status(telling[-1], reader):
        return [each for part in telling for each in _status_steps(part, reader)]
    return _status_steps(telling[-1], reader)


def _passes_on_status(tree: _Tree, reader: _CommandReader) -> bool:
    """Whether its status follows from the steps before it: ``exit $status``, ``exit 1``."""
    if tree.kind != "step":
        return False
    words = reader.steps[tree.step].words
    return bool(words) and words[0] in ("exit", "return") and words[1:2] != ("0",)


def _main_step(tree: _Tree, steps: Sequence[ShellStep]) -> int | None:
    """The last step that does something; in a pipe the one whose output the rest filters."""
    known = programs()

    def last_step(tree: _Tree) -> int | None:
        if tree.kind == "step":
            return None if does_nothing(steps[tree.step]) else tree.step
        if tree.kind == "pipe":
            found = [each for part in tree.parts if (each := last_step(part)) is not None]
            telling = [each for each in found if steps[each].words[0] not in known.sources | known.filters]
            return telling[-1] if telling else next(iter(found), None)
        if tree.kind == "aside" and all(part.kind == ";" for part in tree.parts):
            return None
        return next((each for part in reversed(tree.parts) if (each := last_step(part)) is not None), None)

    found = last_step(tree)
    if found is None:
        outer = [place for place, step in enumerate(steps) if not step.inner]
        return outer[-1] if outer else None
    return found
