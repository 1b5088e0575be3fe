"""Every pattern of the package, hostile texts for each, and how its time grows with them.

A pattern is found where it is compiled (every module is imported in a fresh process that listens), or in the source
where a function compiles it. It is asked with the methods that the code asks it with. `benchmarks/pattern_growth.py`
goes through all texts, `tests/property/test_patterns.py` through few.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import pkgutil
import random
import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any, cast

Pattern = re.Pattern[str]
Tree = Any
"""What the standard library makes of a pattern's source; it has no type of its own."""
PACKAGE = Path(__file__).parents[1] / "src" / "ireneo"
SHORT, LONG = 20_000, 200_000
"""Characters of the two texts that are compared."""
MOST = 40.0
"""A text ten times as long may take so many times as long: 10 is linear, 100 is quadratic."""
LOOKS = 10
"""How often it is looked whether a text takes so long, before it is said that it does."""
BOUND = 2_000
"""What may repeat more often is taken for unbounded."""
GLANCE = 1_000
QUICK = 1e-7
"""Seconds a character: what takes less for a short text can't be quadratic."""
SLOW = 1e-6
"""Seconds a character: what takes longer is looked at more closely at once."""
METHODS = ("finditer", "fullmatch")
"""What is asked of a pattern of which nothing is known; a search and a match do a part of what `finditer` does."""
_EMPTY = (ast.Load, ast.Store)
_ASKS = {"findall": "finditer", "sub": "finditer", "subn": "finditer", "split": "finditer"}


ONLY_WHERE_IT_ENDS = {
    # The text is cut behind the last fence before, so that each block that begins has an end.
    "formats/logs/mini_swe_agent.py": "```(?:mswea_bash_command",
}
"""Patterns that the code asks only of texts for which they are linear."""


OF_BOUNDED_TEXTS = {
    "memories/clause_facts.py": 420,
    "memories/slot_values.py": 420,
    "memories/cues.py": 420,
    "memories/earnest.py": 6_000,
    "memories/endings.py": 2_000,
}
"""By the file, how many characters the texts have at most that its patterns are asked of: of these they are to be
quick, however they would grow with longer ones."""
OF_LONGER_TEXTS = {
    6_000: "joke laughs boasts takes_back hyperbole supposed reported played fiction handed_over steps failed own "
    "condition authority asks hangs rules leads breaks",
    2_000: "ends changed over_what instead grades clocks often passing moves tongues back "
    "reached joint ailments fresh besides refers depends",
}
"""The same by the field of the cues in `memories/cues.py` that are asked of whole messages, or of whole memories."""
BOUNDED_SECONDS = 0.5


@dataclass(frozen=True)
class Found:
    """A pattern, where it is written, and the methods that the code asks."""

    source: str | bytes
    flags: int
    place: str
    methods: tuple[str, ...]


@dataclass(frozen=True)
class Text:
    """A hostile text: one unit again and again, between a beginning and an end."""

    unit: str
    before: str = ""
    after: str = ""

    def of(self, length: int) -> str:
        return self.before + self.unit * max(1, length // len(self.unit)) + self.after


# Where they are -------------------------------------------------------------------------------------------------------


def collect() -> list[Found]:
    """Every pattern of the package. To be called in a process that has not imported the package yet."""
    made = _listen()
    asked = _Asked()
    found = {
        Found(source, flags, f"{path.relative_to(PACKAGE)}:{line}", asked.of(path, line))
        for source, flags, path, line in made
    }
    found |= {*asked.inside(), *asked.of_topics()}
    return sorted(found, key=lambda each: (each.place, str(each.source)))


def _listen() -> set[tuple[str | bytes, int, Path, int]]:
    if any(name == "ireneo" or name.startswith("ireneo.") for name in sys.modules):
        raise RuntimeError("Patterns are collected in a fresh process; the package is imported already.")
    made: set[tuple[str | bytes, int, Path, int]] = set()
    patterns = importlib.import_module("ireneo.patterns")
    real = patterns.lazy_re
    later: list[tuple[Callable[[], str | bytes], int, Path, int]] = []

    def heard(source: str | bytes | Callable[[], str | bytes], flags: int = 0) -> object:
        frame = sys._getframe(1)
        # A module may make its patterns by a function of its own or of another one; what is made of data is made when
        # `_make_all` asks for it.
        while frame.f_back and frame.f_code.co_name != "<module>" and frame.f_back.f_code is not _make_all.__code__:
            frame = frame.f_back
        place = Path(frame.f_code.co_filename), frame.f_lineno
        if callable(source):
            later.append((source, int(flags), *place))
        else:
            made.add((source, int(flags), *place))
        return real(source, flags)

    patterns.lazy_re = heard
    try:
        _import_all()
        _make_all()
    finally:
        patterns.lazy_re = real
    # What is made of a language's words, and is none before they are read.
    return made | {(source(), flags, path, line) for source, flags, path, line in later}


def _make_all() -> None:
    """Have every value made that is made of data: some hold patterns."""
    for make in importlib.import_module("ireneo.language.files").MADE:
        make()


def _import_all() -> None:
    package = importlib.import_module("ireneo")
    for module in pkgutil.walk_packages(package.__path__, "ireneo."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as missing:
                # An extra that is not installed; none of ours.
                if (missing.name or "").split(".")[0] == "ireneo":
                    raise


class _Asked:
    """What the source says about its patterns: who asks them what, and which ones a function compiles."""

    def __init__(self) -> None:
        self.trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
        # To walk through a tree takes longer than to look at what was met.
        self.met = {path: _Met(tree) for path, tree in self.trees.items()}
        self.asked = {path: _asked_in(met) for path, met in self.met.items()}
        self.of_any = {path: _asked_of_any(tree, self.met[path]) for path, tree in self.trees.items()}

    def of(self, path: Path, line: int) -> tuple[str, ...]:
        """The methods that are asked of the pattern that the statement at that line makes."""
        statement = next((s for s in self.trees[path].body if s.lineno <= line <= (s.end_lineno or s.lineno)), None)
        name = next(iter(_targets(statement)), "")
        if isinstance(statement, ast.FunctionDef):
            # It makes patterns of data, and what asks them holds them in variables.
            return _told_apart(self.of_any[path]) or METHODS
        if not name:
            return METHODS
        readers = [each for each in ([path] if name.startswith("_") else self.trees) if name in self.asked[each]]
        asked = set[str]().union(*(self.asked[each][name] for each in readers))
        if "?" in asked or not isinstance(getattr(statement, "value", None), ast.Call):
            # It is one of several, or handed on: whatever is asked there of what has no name of its own.
            asked = asked.union(*(self.of_any[each] for each in readers))
        return _told_apart(asked) or METHODS

    def inside(self) -> Iterator[Found]:
        """The patterns that are compiled in a function; what it puts into one is taken for a name."""
        for path, met in self.met.items():
            if not {"re", "lazy_re"} & self.asked[path].keys():
                continue
            module = "ireneo." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
            for call in met.calls:
                method = _re_call(call)
                if method and call.args:
                    source = _text_of(call.args[0], vars(sys.modules.get(module, re)))
                    if source is None:
                        continue
                    made = method in {"compile", "lazy_re"}
                    methods = _told_apart(self.of_any[path] if made else {_ASKS.get(method, method)}) or METHODS
                    compiled = re.compile(source, _flags_of(call, method))
                    place = f"{path.relative_to(PACKAGE)}:{call.lineno}"
                    yield Found(source, int(compiled.flags), place, methods)

    def of_topics(self) -> Iterator[Found]:
        """The patterns of languages' topics, at a place where they are asked something."""
        files = importlib.import_module("ireneo.language.files")
        kinds = {
            name: kind
            for each in ("topics", "spoken", "story_topics")
            for name, kind in vars(importlib.import_module(f"ireneo.language.{each}")).items()
        }
        asked = self._of_fields()
        # These are asked by their names as well, and of one language each.
        asked |= {("Facts", field): {("memories/cues.py", "search")} for field in kinds["Facts"].__struct_fields__}
        for (name, field), asking in asked.items():
            kind = kinds[name]
            for topic in (
                map(partial(files.of_language, kind), ("en", "de")) if name == "Facts" else [files.topic(kind)]
            ):
                if isinstance(made := getattr(topic, field), files.Patterns):
                    place = max((file for file, _ in asking), key=lambda each: OF_BOUNDED_TEXTS.get(each, LONG))
                    methods = _told_apart({method for _, method in asking}) or ("search",)
                    yield Found(made.pattern, made.flags, f"{place}:{field}", methods)

    def _of_fields(self) -> dict[tuple[str, str], set[tuple[str, str]]]:
        """By topic and field, the files that ask something of it, and what; "?" where one hands it on."""
        asking = defaultdict[tuple[str, str], set[tuple[str, str]]](set)
        for path, met in self.met.items():
            file = str(path.relative_to(PACKAGE))
            held = {name: node.value for node in self.trees[path].body for name in _targets(node)}
            fields = {id(node): key for node in met.names if (key := _field_of(node, held))}
            for node in met.names:
                if isinstance(node, ast.Attribute) and (key := fields.pop(id(node.value), None)):
                    asking[key].add((file, _ASKS.get(node.attr, node.attr)))
            for key in fields.values():
                asking[key].add((file, "?"))
        return asking


def _field_of(node: ast.AST, held: dict[str, ast.expr]) -> tuple[str, str] | None:
    """The topic and the field of `topic(Binding).bans`, or of a name for that topic."""
    if isinstance(node, ast.Attribute):
        of = held.get(node.value.id) if isinstance(node.value, ast.Name) else node.value
        if isinstance(of, ast.Call) and _name_of(of.func) in ("topic", "of_language"):
            return _name_of(of.args[0]), node.attr
    return None


class _Met:
    """What is met in a module: its names and attributes, and the calls within its functions."""

    def __init__(self, tree: ast.Module) -> None:
        """Go through all of it once."""
        self.names: list[ast.Name | ast.Attribute] = []
        self.calls: list[ast.Call] = []
        due: list[tuple[ast.AST, bool]] = [(tree, False)]
        for node, inside in due:
            kind = type(node)
            if kind is ast.Name or kind is ast.Attribute:
                self.names.append(cast("ast.Name | ast.Attribute", node))
            elif kind is ast.Call and inside:
                self.calls.append(cast("ast.Call", node))
            within = inside or kind is ast.FunctionDef or kind is ast.AsyncFunctionDef
            for field in kind._fields:
                value = getattr(node, field, None)
                if isinstance(value, ast.AST):
                    if type(value) not in _EMPTY:
                        due.append((value, within))
                elif isinstance(value, list):
                    due += [(each, within) for each in value if isinstance(each, ast.AST)]


def _targets(node: ast.stmt | None) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _asked_in(met: _Met) -> dict[str, set[str]]:
    """The methods that a module asks of each name; "?" where it hands on what the name stands for."""
    asked = defaultdict[str, set[str]](set)
    taken: set[int] = set()
    for node in met.names:
        if isinstance(node, ast.Attribute) and (name := _name_of(node.value)):
            asked[name].add(_ASKS.get(node.attr, node.attr))
            taken.add(id(node.value))
    for node in met.names:
        if id(node) not in taken and isinstance(node.ctx, ast.Load):
            asked[_name_of(node)].add("?")
    return asked


def _asked_of_any(tree: ast.Module, met: _Met) -> set[str]:
    """The methods that a module asks of what is held in a variable."""
    named = {name for node in tree.body for name in _targets(node)}
    return {
        _ASKS.get(node.attr, node.attr)
        for node in met.names
        if isinstance(node, ast.Attribute)
        and node.attr != "split"  # As good as always that of a text.
        and not (isinstance(node.value, ast.Name) and (node.value.id in {*named, "re"}))
    }


def _told_apart(asked: set[str]) -> tuple[str, ...]:
    known = asked & {"search", "match", "fullmatch", "finditer"}
    return tuple(sorted(known - {"search", "match"} if "finditer" in known else known))


def _name_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _re_call(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    func = node.func
    if isinstance(func, ast.Name):
        return func.id if func.id == "lazy_re" else ""
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "re":
        return func.attr if func.attr in {"compile", "search", "match", "fullmatch", "finditer", *_ASKS} else ""
    return ""


def _text_of(node: ast.expr, known: dict[str, object]) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = [
            str(known[each.value.id])
            if isinstance(each, ast.FormattedValue)
            and isinstance(each.value, ast.Name)
            and isinstance(known.get(each.value.id), str)
            else r"a\.b"
            if isinstance(each, ast.FormattedValue)
            else str(getattr(each, "value", ""))
            for each in node.values
        ]
        return "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text_of(node.left, known), _text_of(node.right, known)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.Name) and isinstance(known.get(node.id), str):
        return str(known[node.id])
    return None


def _flags_of(call: ast.Call, method: str) -> int:
    at = {"compile": 1, "lazy_re": 1, "split": 3, "sub": 4, "subn": 4}.get(method, 2)
    given = [word.value for word in call.keywords if word.arg == "flags"] + call.args[at : at + 1]
    names = [node.attr for each in given for node in ast.walk(each) if isinstance(node, ast.Attribute)]
    flags = 0
    for name in names:
        flags |= int(getattr(re, name, 0))
    return flags


# What is held against them --------------------------------------------------------------------------------------------

SINGLES = [
    *".-–—−/\\\"'`´“”„‘’‚«»‹›()[]{}<>:;,!?#*_=+@%$&|~^§°•…→│✓×",
    *"07aexZEéßñжя中あ一한",
    *"\u0301\u200b\u200d\u200f\ufeff\u00ad",
    *" \t\n\r\v\f\x00\x1b\x85\u00a0\u2028\u2029\u3000",
    "🙂",
]
_PAIRED = [*". - — / \\ \" ' “ ’ 1 a A _ : , @ ( < > = * | 中".split(), " ", "\n"]
SHAPES = [
    *"a@¦a@a.¦a-1¦a_b.¦A-1¦a.b/¦a/b ¦a: ¦a=1 ¦--a¦--a-b ¦'a¦’s ¦“a ¦“a” ¦«a ".split("¦"),
    *"a'b¦```¦```a\n¦a`b ¦**a¦(a¦(a) ¦[a](¦[a¦{a}¦<a ¦<a>¦</a>¦a\\n¦\\n¦\\t".split("¦"),
    *'File "¦at a (¦1.1¦1,1¦1:1¦12:34 ¦1-1¦1 1 ¦0x1¦a1¦1a¦aA¦Aa¦AaA¦a b ¦A b '.split("¦"),
    *"I ¦you ¦not ¦to ¦the ¦and ¦if ¦never ¦must not ¦will ¦it is ¦of the ¦because ".split("¦"),
    *"a, ¦a; ¦a. ¦A. ¦a.\n¦a\n\n¦\n\n¦ \n¦\r\n¦- a\n¦# a\n¦> a\n¦| a ¦$ a\n¦* a\n".split("¦"),
    *(
        "| head ¦| head -n 2>&1 ¦ 2>/dev/null¦a && ¦a | ¦a > ¦a; ¦<<a\n¦cd a && ¦A=1 ¦sudo ¦-a ¦sh -c '¦error: ¦"
        "Error ¦a error"
    ).split("¦"),
    *"http://¦https://a.¦a://¦www.a.¦~/¦./¦../¦...¦….¦C:\\¦é\u0301¦中 ¦a 中¦a\u0301¦0 a".split("¦"),
    *'<n>¦&lt;¦<!--¦-->¦{{¦}}¦\\\\¦\\"¦\\"a¦"a": ¦"a":"¦\'a\', ¦%d¦$a¦${a}¦$(a'.split("¦"),
    *("2026-01-01 ", "1 January ", "January 1, ", "on Monday ", "last week ", "at 5 pm ", "10% ", "$1,000 ", "1.5 s "),
]


def general() -> list[Text]:
    """Texts for every pattern: each class of characters, pairs of them, and shapes that are known to be hard."""
    pairs = ["".join(pair) for pair in itertools.permutations(_PAIRED, 2)]
    return [Text(unit) for unit in dict.fromkeys([*SINGLES, *SHAPES, *pairs])]


def sampled(count: int, seed: int) -> list[Text]:
    """Some triples of the classes of characters."""
    dice = random.Random(seed)
    return [Text("".join(dice.choices(_PAIRED, k=3))) for _ in range(count)]


_ENDS = ("", "\n", "!", "\x00", " ~", "a")
_POOL = "a1_-.é中 \n\t/:'\"“A,;@=<>()[]{}`*#|\\+~$%x0\x00\u2028"


@cache
def derived(source: str, flags: int, variants: int = 4) -> tuple[Text, ...]:
    """Texts from a pattern's own parts: each repeated part after what leads to it, and before what fails."""
    tree = _parsed(source, flags & ~re.UNICODE)
    texts: dict[Text, None] = {}
    for variant in range(variants):
        for before, body, following in _repeats(tree, tree, variant, ""):
            units = (body, before + body, body + following[:1], before + body + following, before)
            for unit in units:
                if unit:
                    texts.setdefault(Text(unit))
            for end in _ENDS:
                texts.setdefault(Text(body, before, end)) if body else None
        whole = _sample(tree, tree, variant)
        for unit in (whole, whole[:-1], whole[: len(whole) // 2], f"{whole} ", f" {whole}", f"{whole}\n"):
            if unit:
                texts.setdefault(Text(unit))
    return tuple(texts)


def _repeats(tree: Tree, root: Tree, variant: int, before: str) -> Iterator[tuple[str, str, str]]:
    """Each repeated part of a pattern: a text for what stands before it, for itself, and for what stands after it."""
    items = list(tree)
    samples = [_sample_item(each, root, variant) for each in items]
    for at, (op, value) in enumerate(items):
        lead = before + "".join(samples[:at])
        name = str(op)
        if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            body = _sample(value[2], root, variant)
            rest = "".join(samples[at + 1 :])
            if value[1] == _constants.MAXREPEAT or value[1] > 8:
                yield lead, body, rest
            yield from _repeats(value[2], root, variant, lead)
        elif name == "SUBPATTERN":
            yield from _repeats(value[3], root, variant, lead)
        elif name in {"ASSERT", "ASSERT_NOT"}:
            yield from _repeats(value[1], root, variant, lead)
        elif name == "ATOMIC_GROUP":
            yield from _repeats(value, root, variant, lead)
        elif name == "BRANCH":
            for branch in value[1]:
                yield from _repeats(branch, root, variant, lead)


def _sample(tree: Tree, root: Tree, variant: int) -> str:
    return "".join(_sample_item(item, root, variant) for item in tree)


def _sample_item(item: Tree, root: Tree, variant: int) -> str:
    op, value = item
    name = str(op)
    if name == "LITERAL":
        return chr(value)
    if name in {"IN", "ANY", "NOT_LITERAL"}:
        fits = _fitting(root, item)
        return fits[variant % len(fits)] if fits else ""
    if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        return _sample(value[2], root, variant) * max(1 if variant < 3 else 0, value[0])
    if name == "SUBPATTERN":
        return _sample(value[3], root, variant)
    if name == "ATOMIC_GROUP":
        return _sample(value, root, variant)
    if name == "BRANCH":
        return _sample(value[1][variant % len(value[1])], root, variant)
    return ""


_FITTING: dict[str, str] = {}


def _fitting(root: Tree, item: Tree) -> str:
    known = f"{root.state.flags} {item}"
    if known not in _FITTING:
        alone = _compiler.compile(_parser.SubPattern(root.state, [item]), root.state.flags)
        first = [chr(v) for o, v in item[1] if str(o) == "LITERAL"] if str(item[0]) == "IN" else []
        _FITTING[known] = "".join(each for each in dict.fromkeys([*_POOL, *first]) if alone.match(each))
    return _FITTING[known]


def may_grow(pattern: Pattern) -> bool:
    """Whether anything in it repeats without a bound: a pattern without is linear, whatever its text."""
    return any(_unbounded(item) for item in _parsed(pattern.pattern, pattern.flags & ~re.UNICODE))


@cache
def _parsed(source: str, flags: int) -> Tree:
    return _parser.parse(source, flags)


def _unbounded(item: Tree) -> bool:
    op, value = item
    name = str(op)
    if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        return value[1] > BOUND or any(_unbounded(each) for each in value[2])
    if name == "BRANCH":
        return any(_unbounded(each) for branch in value[1] for each in branch)
    inner = {"SUBPATTERN": 3, "ASSERT": 1, "ASSERT_NOT": 1}.get(name)
    held = value if name == "ATOMIC_GROUP" else value[inner] if inner is not None else ()
    return any(_unbounded(each) for each in held)


# How they grow --------------------------------------------------------------------------------------------------------


class _TooLong(Exception):
    pass


def _stop(*_: object) -> None:
    raise _TooLong


@cache
def _listen_for_limits() -> None:
    signal.signal(signal.SIGPROF, _stop)


def seconds(pattern: Pattern, method: str, text: str, limit: float) -> float:
    """CPU seconds that a method takes for a text; `limit` where it takes longer."""
    ask = getattr(pattern, method)
    _listen_for_limits()
    try:
        try:
            start = time.thread_time()
            signal.setitimer(signal.ITIMER_PROF, limit)
            if method == "finditer":
                for _ in ask(text):
                    pass
            else:
                ask(text)
            took = time.thread_time() - start
        finally:
            # The signal may still come here, when the text has been gone through.
            signal.setitimer(signal.ITIMER_PROF, 0)
        return took
    except _TooLong:
        return limit


def compiled(found: Found) -> Pattern:
    """A pattern, asked in text whatever it is made for."""
    return re.compile(found.source.decode() if isinstance(found.source, bytes) else found.source, found.flags & ~re.U)


def growth(pattern: Pattern, method: str, text: Text, looks: int = LOOKS) -> float:
    """How many times as long a text takes that is ten times as long; 0 where it is quick anyway.

    What a machine does meanwhile for others counts as this process's time where it is a guest of another: so the least
    of many looks counts, the later ones after pauses. A pattern that grows takes as long in each of them.
    """
    glanced = seconds(pattern, method, text.of(GLANCE), 1.0)
    if glanced < GLANCE * QUICK or glanced < 1.7 * 4 * seconds(pattern, method, text.of(GLANCE // 4), 1.0):
        return 0.0
    # What is slow already with a short text is not asked of a long one.
    if glanced > GLANCE * SLOW:
        lengths = (GLANCE // 2, GLANCE * 5)
    else:
        took = seconds(pattern, method, text.of(SHORT), 1.0)
        lengths = (SHORT // 10, SHORT) if took > SHORT * SLOW else (SHORT, LONG)
    ratio = MOST
    for look in range(looks):
        time.sleep(0.05 * look)
        short = min(seconds(pattern, method, text.of(lengths[0]), 1.0) for _ in range(2))
        ratio = seconds(pattern, method, text.of(lengths[1]), MOST * short + 0.02) / max(short, 1e-6)
        if ratio < MOST:
            break
    return ratio


HARD = [
    Text(unit)
    for unit in (
        *". - _ = / ` “ ‘ « [ ( < a A 1 中".split(),
        " ",
        "\n",
        "a-1",
        "a@a.",
        "a/",
        "1.",
        "a ",
        '"\\',
        " 2>&1",
        "| head ",
    )
]
"""What held many patterns up once."""


def grown(found: Iterable[Found], *, every: bool, part: int = 0, parts: int = 1) -> Iterator[tuple[Found, str, Text]]:
    """Where a pattern takes far more than ten times as long for a text that is ten times as long.

    Of all texts, or else of the hard ones and one part of those that come from the pattern's own parts.
    """
    general_ones = [*general(), *sampled(200, 1)] if every else HARD
    for each in found:
        file = each.place.partition(":")[0]
        if file in OF_BOUNDED_TEXTS:
            continue
        pattern = compiled(each)
        if not may_grow(pattern) or pattern.pattern.startswith(ONLY_WHERE_IT_ENDS.get(file, "\0")):
            continue
        own = derived(pattern.pattern, pattern.flags, 4 if every else 1)
        texts = [*general_ones, *(own if every else own[part % parts :: parts])]
        # One text tells enough: a pattern that grows takes its whole limit for nearly every other.
        slow = ((method, text) for text in texts for method in each.methods if growth(pattern, method, text) >= MOST)
        for method, text in itertools.islice(slow, 1):
            yield each, method, text


@cache
def cues_of_longer_texts() -> dict[str | bytes, int]:
    """By its source, how long the texts are that a cue is asked of that is not asked of clauses alone."""
    from ireneo.memories.cues import all_cues

    return {
        pattern.pattern: length
        for cues in all_cues().values()
        for length, names in OF_LONGER_TEXTS.items()
        for name in names.split()
        for pattern in (cues.each[name] if name in cues.each else (getattr(cues, name),))
    }


def held_up(found: Iterable[Found], part: int = 0, parts: int = 1) -> Iterator[tuple[Found, Text]]:
    """Where a pattern of bounded texts takes long for one of them: hard ones, and ones of the pattern's own words.

    Of `parts` parts of these texts one is tried, which begins at another text for each pattern.
    """
    for number, each in enumerate(found):
        longest = OF_BOUNDED_TEXTS.get(each.place.partition(":")[0])
        if longest is None:
            continue
        longest = cues_of_longer_texts().get(each.source, longest)
        pattern = compiled(each)
        words = sorted(set(re.findall(r"(?<![\\\w])[a-zäöü]{2,}", pattern.pattern)))
        own = [Text(f"{word} ") for word in words[:: max(1, len(words) // 12)]]
        for text in [*HARD, *own, Text("a1 A-b, ", before="i ")][(number + part) % parts :: parts]:
            # What grew faster than with the cube of its text would take far longer for a part of it already.
            if any(
                times**3 * seconds(pattern, "finditer", text.of(longest // times), 1.0) <= BOUNDED_SECONDS
                for times in (4, 2)
            ):
                continue
            if all(seconds(pattern, "finditer", text.of(longest), 1.0) > BOUNDED_SECONDS for _ in range(3)):
                yield each, text
                break
