"""OpenHands: the event histories of its first generation, and the events of the SDK that followed it.

A history is a list of events, one a line, or a record that holds the list (`history`, `events`); in the oldest ones an
action and its observation stand together as a pair. The SDK's events say what they are under `kind`.

Not covered: `base_state.json` beside a directory of the SDK's events (each file there holds one event, and is read as a
session of its own unless they are put together as JSON lines), the calls of agents that are reached over ACP, and
attachments; their events are kept as records only. An action that the user ran is told as the harness tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ireneo.formats.logs.entries import Entries, entry_runs
from ireneo.formats.logs.format import Fault, LoggedSession
from ireneo.formats.logs.growth import Growth
from ireneo.formats.logs.held import wished_names
from ireneo.formats.logs.naming import Names
from ireneo.formats.logs.openhands.classic import Classic, is_classic
from ireneo.formats.logs.openhands.names import ACTIONS, FORMAT, KINDS, OBSERVATIONS
from ireneo.formats.logs.openhands.sdk import Sdk, is_sdk
from ireneo.formats.logs.sessions import with_faults
from ireneo.patterns import lazy_re

_KINDS = lazy_re(rb'(?<!\\)"kind":\s*"(?:%s)"' % "|".join(sorted(KINDS)).encode())
_LISTED = lazy_re(rb'(?<!\\)"(?:history|events)":\s*\[\s*(?:\[\s*)?\{|\A\s*\[\s*(?:\[\s*)?\{|\A\s*\{\s*"id":')
_EVENT = lazy_re(
    rb'(?<!\\)"(?:action":\s*"(?:%s)|observation":\s*"(?:%s))"'
    % ("|".join(sorted(ACTIONS)).encode(), "|".join(sorted(OBSERVATIONS)).encode())
)
_ABOUT_RUN = lazy_re(rb'(?<!\\)"agent_class":\s*"')


class OpenHands:
    """Reads OpenHands' events of both generations."""

    name = FORMAT
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether events of either generation stand in `sample`, or what an evaluation notes before them."""
        if not sample.lstrip().startswith((b"{", b"[")):
            return False
        classic = _LISTED.search(sample) is not None and _EVENT.search(sample) is not None
        return classic or _KINDS.search(sample) is not None or _ABOUT_RUN.search(sample) is not None

    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession]:
        """Read the runs, each a session called after its instance, or else `name`."""
        return with_faults(_found(lines, name))


def _found(lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | Fault]:
    names = Names()
    for run in entry_runs(lines, _is_event):
        if isinstance(run, Fault):
            yield run
            continue
        growth = _read(run)
        session = growth.session(names.give(*_wished(run.besides, name)))
        yield from [session] if session else growth.faults


def _is_event(value: Mapping[str, object]) -> bool:
    return is_sdk(value) or is_classic(value)


def _read(run: Entries) -> Growth:
    growth = Growth(FORMAT)
    if run.besides:
        growth.note(dict(run.besides))
    classic, sdk = Classic(growth), Sdk(growth)
    for _, event in run.entries:
        if is_sdk(event):
            sdk.take(event)
        else:
            classic.take(event)
    sdk.settle()
    return growth


def _wished(besides: Mapping[str, object], name: str) -> list[str]:
    issue = besides.get("issue")
    if isinstance(issue, dict) and "number" in issue and isinstance(issue.get("repo"), str):
        return [f"{issue['repo']}-{issue['number']}"]
    return wished_names(besides) or [name]
