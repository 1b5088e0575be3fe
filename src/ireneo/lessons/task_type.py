"""What sort of task a goal is, in a few words, from how it is worded and what was done; empty where unsure."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from ireneo.context.actions import CHANGES
from ireneo.lessons.attempts import Task
from ireneo.patterns import lazy_re


class Done(Struct, frozen=True, kw_only=True):
    """What was done for a task, as far as its type shows in that."""

    changed: bool
    """A file was changed."""
    tests: bool
    """All that was changed were tests."""
    documents: bool
    """All that was changed were documents."""
    calls: bool
    """Anything was called at all."""
    files: bool
    """What was called were files, commands and searches: work on a project."""


def _always(done: Done) -> bool:
    return True


class Rule(Struct, frozen=True, kw_only=True):
    """A type of task, how goals of it are worded, and what must have been done for them."""

    name: str
    begins: str = ""
    """What such a goal begins with, behind words such as “can you please”: alternatives of a regular expression."""
    says: str = ""
    """What may stand anywhere in it."""
    fits: Callable[[Done], bool] = _always


_THING = r"(?:\W+\w+){0,6}?\W+"
"""Some words between a verb and what it is done to."""
RULES: tuple[Rule, ...] = (
    Rule(name="release", begins=r"releas(?:e|ing)|publish|cut a release|bump the version|tag (?:a|the|v)"),
    Rule(
        name="commit",
        begins=r"commit|push|rebase|merge|cherry-pick|squash|update from main"
        r"|/?(?:open|create|make) a (?:pr|pull request)"
        r"|/(?:pr|commit|push)\b|amend|there are (?:now )?merge conflicts",
    ),
    Rule(
        name="fix a failing test",
        begins=rf"(?:fix|repair|debug|make){_THING}(?:tests?|specs?|ci|lint\w*|build)\b",
        says=r"\b(?:tests?|specs?|ci|lint|build)\b[^.]{0,30}\b(?:fail(?:s|ing|ed)?|broken|breaks|is red|errors?)\b"
        r"|\b(?:failing|broken|flaky) (?:tests?|specs?|ci|lint|build)\b",
    ),
    Rule(
        name="review",
        begins=r"(?:code )?review|look over|critique|audit|double.?check|invoke reviewer",
        says=r"review comments",
    ),
    Rule(
        name="write tests",
        begins=rf"(?:add|write|create|extend|propose|improve|cover|do){_THING}(?:tests?|coverage|specs?)\b",
    ),
    Rule(
        name="refactor",
        begins=r"refactor|rename|extract|simplify|clean ?up|split|move|de-?duplicate|restructure|reorgani[sz]e|inline"
        r"|plan: simplify|group",
        says=r"\brefactor(?:ing)?:?\b",
        fits=lambda done: done.changed,
    ),
    Rule(
        name="write documents",
        begins=rf"(?:write|update|add|improve|rewrite|document){_THING}(?:docs?|documentation|readme|comments?|changelog|adr)\b",
    ),
    Rule(name="set up", begins=r"set ?up|install|configure|upgrade|bootstrap|initiali[sz]e"),
    Rule(
        name="plan",
        begins=r"/\S*(?:plan|brainstorm)\w*|brainstorm|plan\b|(?:write|create|make|draft|do) (?:a|the)(?: \w+)? plan",
    ),
    Rule(
        name="fix a bug",
        begins=r"fix(?:es|ed|ing)?|debug|solve|resolve|handle|prevent|stop|avoid",
        says=r"\b(?:bugs?|broken|crash\w*|regression|(?:does|do|did|is|are|should|ca|can)(?:n['’]?t| not)|cannot"
        r"|incorrect\w*|wrong\w*|unexpected\w*|fails?|failing|raises?|\w+(?:Error|Exception)|problem|issue|should"
        r"|confus\w*|missing|inconsisten\w*|improper\w*|misleading|vanish\w*|lost|ignored|ignores|breaks?|mutates?"
        r"|mangles?|not working)\b",
        fits=lambda done: done.changed,
    ),
    Rule(
        name="add a feature",
        begins=r"add|implement|introduce|support|create|build|allow|enable|extend|hide|remove|replace|change|port|write|update"
        r"|make|use|print|show|include|render|invert|provide|you are implementing",
        fits=lambda done: done.changed,
    ),
    Rule(
        name="explore",
        begins=r"(?:what|how|why|where|which|when|who|is|are|does|do|did|was|were|has|have)\b|explain|check|find|show"
        r"|look|explore|investigate|search|understand|analy[sz]e|take a look|see|compare|tell|run",
        says=r"\?$",
        fits=lambda done: done.files and not done.changed,
    ),
    Rule(
        name="answer a question",
        begins=r"(?:what|how|why|where|which|when|who|is|are|does|do|can|explain)\b",
        says=r"\?$",
        fits=lambda done: not done.calls,
    ),
)
"""Asked in this order; the first that fits names the type. Another type is one more row."""

_FILLERS = lazy_re(
    r"^(?:(?:ok(?:ay)?|yes|yeah|so|and|now|then|also|but|hmm+|ah|oh|hey|hi|please|can|could|would|you|we|i|i['’]d|i['’]m"
    r"|let['’]?s|let me|want|need|like|to|should|will|maybe|just|try|help|me|first|next|go|ahead|quickly|actually"
    r"|in this session|task ?\d*|question)\b[\s,:;.!-]*)+",
    re.IGNORECASE,
)
"""What stands before the verb of a wish."""


def task_type(task: Task) -> str:
    """The type of `task` in a few words; empty where neither its goal nor what was done tells."""
    return type_of(task.goal, _done(task))


def type_of(goal: str, done: Done) -> str:
    """The type of a task whose goal is worded so, and for which that was done."""
    wish = _FILLERS.sub("", goal) or goal
    named = next((rule.name for rule in RULES if _worded(rule, goal, wish) and rule.fits(done)), "")
    if named == "add a feature" and (done.tests or done.documents):
        return "write tests" if done.tests else "write documents"
    return named


def _worded(rule: Rule, goal: str, wish: str) -> bool:
    begins = rule.begins and re.match(rf"(?:{rule.begins})(?!\w)", wish, re.IGNORECASE)
    return bool(begins or (rule.says and re.search(rule.says, goal, re.IGNORECASE)))


_TEST = lazy_re(r"(?:^|[/_.-])(?:tests?|specs?)(?:[/_.-]|$)", re.IGNORECASE)
_DOCUMENT = lazy_re(r"\.(?:md|mdx|rst|txt|adoc)$", re.IGNORECASE)


def _done(task: Task) -> Done:
    files = [step.action.subject for step in task.steps if step.action.deed in CHANGES and not step.failed]
    return Done(
        changed=bool(files),
        tests=bool(files) and all(_TEST.search(file) for file in files),
        documents=bool(files) and all(_DOCUMENT.search(file) for file in files),
        calls=bool(task.steps),
        files=any(step.action.deed not in ("use", "ask", "plan") for step in task.steps),
    )
