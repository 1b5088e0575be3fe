"""What the verbs of memory give and take: names for annotations, beside the public page.

from ireneo.types import Recalled
"""

from ireneo.engine.fading import Fading
from ireneo.engine.forget import Forgotten, Receipt
from ireneo.engine.remember import Remembered
from ireneo.memories.facts import Fact
from ireneo.memories.offered import Told
from ireneo.memories.record import Evidence, Kind, MemoryId, Period, Record, Source, State
from ireneo.memories.scratchpad import Item, Pad

__all__ = [
    "Evidence",
    "Fact",
    "Fading",
    "Forgotten",
    "Item",
    "Kind",
    "MemoryId",
    "Pad",
    "Period",
    "Receipt",
    "Record",
    "Remembered",
    "Source",
    "State",
    "Told",
]
