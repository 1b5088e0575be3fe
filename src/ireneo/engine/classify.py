"""Of which kind a text is: by a model where there is one, else, and wherever it fails, by rules."""

from __future__ import annotations

import logging

from msgspec.structs import replace

from ireneo.context.offline.prose import clip
from ireneo.engine.means import Means
from ireneo.engine.models import Models
from ireneo.errors import ModelError
from ireneo.grounding.neutral import neutralise
from ireneo.memories.classify import LONGEST, Guess
from ireneo.memories.classify import classify as by_rules
from ireneo.memories.offer import Offer
from ireneo.memories.offered import Told
from ireneo.memories.recall.words import terms
from ireneo.prompts import CLASSIFY
from ireneo.prompts.classify.reply import ClassifyReply

_TELLING = ("kind", "subject", "attribute", "value", "task_type", "name", "signature", "conditions")
"""What a caller may say of a text by which its kind is settled."""
_SPEAKERS = frozenset({"user", "i", "me", "my"})
"""Names of whoever speaks, which need not stand in the text."""

_LOG = logging.getLogger("ireneo")


async def typed(means: Means, space: str, told: Told, offer: Offer) -> Offer:
    """`offer`, which the rules have typed, as a model types it; unchanged where there is none, or the caller said."""
    if any(told.get(name) for name in _TELLING):
        return offer
    models = means.models_for_space(space)
    if models.for_task("classify") is None:
        return offer
    found = await classify(models, offer.text, "user" if offer.origin == "user" else "")
    return replace(offer, kind=found.kind, subject=found.subject, attribute=found.attribute, value=found.value)


async def classify(models: Models, text: str, speaker: str = "") -> Guess:
    """The kind of `text`, and its slot where it has one; `speaker` is who "I" is, where that is known.

    A model that fails changes nothing: the failure is logged, and the rules decide. Of its slot nothing is taken that
    does not stand in the text.
    """
    model = models.for_task("classify")
    if model is None:
        return by_rules(text, speaker)
    shown = neutralise(clip(text.strip(), LONGEST), ("</text>",))
    try:
        reply = (await model.ask(CLASSIFY.render(text=shown), ClassifyReply)).value
    except ModelError as error:
        _LOG.warning("%s The kind is told by rules.", error)
        return by_rules(text, speaker)
    if reply.kind != "semantic":
        return Guess(kind=reply.kind)
    return _slotted(reply, text, speaker) or Guess(kind="semantic")


def _slotted(reply: ClassifyReply, text: str, speaker: str) -> Guess | None:
    """The slot that a model read, if all of it is there and its words stand in the text."""
    subject, attribute, value = (each.strip() for each in (reply.subject, reply.attribute, reply.value))
    if speaker and subject.casefold() in _SPEAKERS:
        subject = speaker
    said = set(terms(text))
    stands = subject == speaker or (terms(subject) and said.issuperset(terms(subject)))
    if not (subject and attribute and value and stands and said.issuperset(terms(value))):
        return None
    return Guess(kind="semantic", subject=subject, attribute=attribute, value=value)
