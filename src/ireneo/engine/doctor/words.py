"""Whether the index of words fits what is stored."""

from __future__ import annotations

from ireneo.engine.doctor.finding import RESTORE, UNREADABLE, Finding
from ireneo.ports.store import Store

MAKE_ANEW = "`ireneo doctor --mend` makes the index of the space anew."
MADE_ANEW = "The index of the space was made anew."


async def check_words(store: Store, space: str, *, mend: bool) -> list[Finding]:
    """What is wrong with the index of a space; it follows from what is stored, so all of it can be mended."""
    try:
        async with store.read() as tx:
            faults = await tx.words.faults(space)
        if faults and mend:
            async with store.write() as tx:
                await tx.words.rebuild(space)
    except UNREADABLE as error:
        text = f"The index of words can't be looked at to its end: {str(error).rstrip('.')}."
        return [Finding(kind="fault", session="", text=text, advice=RESTORE)]
    advice = MADE_ANEW if mend else MAKE_ANEW
    return [Finding(kind="fault", session="", text=each, mended=mend, advice=advice) for each in faults]
