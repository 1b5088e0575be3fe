"""Which project a session worked on: noted when it is stored, and else found when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.engine.turns import DIRECTORY, places
from ireneo.errors import BadInput
from ireneo.lessons import run
from ireneo.lessons.run import project_named, project_of
from ireneo.log.message import Draft
from ireneo.log.tree import MAIN, Head, SessionKey
from ireneo.memories.record import GENERAL
from ireneo.ports.store import Store, Transaction

FIRST_MESSAGES = 40
"""So many messages from its beginning tell where a session worked, or none does."""
SESSIONS_AT_A_TIME = 100
"""Sessions that are looked into in one transaction."""


def session_project(tx: Transaction, key: SessionKey, head: Head) -> str:
    """The project of the session on the path to `head`: as it was told, or by where its first messages were said."""
    info = tx.sessions.get(key)
    return (info and info.project) or _project_on(tx, key, head)


def place_session(tx: Transaction, key: SessionKey, project: str = "", drafts: Sequence[Draft] = ()) -> None:
    """Note the project of a session in which `drafts` were just stored: the one that is named, or where they were said.

    Raises BadInput where it is known to be of another one than is named.
    """
    info = tx.sessions.get(key)
    if info is None:
        return
    if project:
        check_project(key.session, info.project, project)
        if info.project != project:
            tx.sessions.set_project(key, project)
    elif info.project is None or (not info.project and _may_tell(info.messages, drafts)):
        _settle(tx, key, info.project)


async def place_all(store: Store, space: str) -> None:
    """Note of every session its project of which nobody has yet: of those that an earlier version stored."""
    unplaced = await store.read(lambda tx: tx.sessions.without_project(space))
    for start in range(0, len(unplaced), SESSIONS_AT_A_TIME):

        def settle(tx: Transaction, start: int) -> None:
            for key in unplaced[start : start + SESSIONS_AT_A_TIME]:
                _settle(tx, key, None)

        await store.write(settle, start)


def check_project(session: str, known: str | None, named: str) -> None:
    """Raise BadInput where a session is known to be of another project than is named, which is none of all."""
    if known and named not in (known, GENERAL):
        raise BadInput(f"Session {session} belongs to project {known!r}, not to {named!r}; leave the project out.")


def project_asked(given: str | None) -> str | None:
    """The project that is meant by its name or a directory of it; None where none is asked for.

    Empty: what belongs to no project.
    """
    if given is None:
        return None
    if not isinstance(given, str):
        raise BadInput(f"`project` is {type(given).__name__}; give its name, or a directory of it.")
    return project_named(given)


def project_here(folder: str) -> str:
    """The project of whoever works in a folder, or the one that is named; one with a name by accident is its own."""
    return run.project_here(folder)


def project_told(given: str) -> str:
    """The project that something is said to belong to; empty where nothing is said. Raises BadInput for none."""
    named = project_asked(given) or ""
    if given.strip() and not named:
        raise BadInput(f"{given!r} names no project; give the project's name.")
    return named


def _may_tell(messages: int, drafts: Sequence[Draft]) -> bool:
    """Whether what was just stored stands at the beginning of its session, and a log says where it was said."""
    return messages - len(drafts) < FIRST_MESSAGES and any(each.record is not None for each in drafts[:FIRST_MESSAGES])


def _settle(tx: Transaction, key: SessionKey, known: str | None) -> None:
    head = tx.log.head(key, MAIN)
    found = _project_on(tx, key, head) if head else project_of(session=key.session)
    if found != known:
        tx.sessions.set_project(key, found)


def _project_on(tx: Transaction, key: SessionKey, head: Head) -> str:
    first = tx.log.path(key, head.id, 0, min(FIRST_MESSAGES, head.position))
    found = places(tx, key, [message.id for message in first])
    # A session may begin in a home and move on: the first directory that names a project counts.
    directories = dict.fromkeys(place[DIRECTORY] for message in first if (place := found.get(message.id)))
    named = (project_of(directory=directory) for directory in directories)
    return next(filter(None, named), "") or project_of(session=key.session)
