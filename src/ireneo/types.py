"""What the verbs of memory give and take: names for annotations, beside the public page.

from ireneo.types import Recalled
"""

from ireneo.engine.diary import Diary
from ireneo.engine.doctor.secrets import Secrets, SecretsIn
from ireneo.engine.exchange import Exported, MemoriesImported, MemoryFault, MemoryFile
from ireneo.engine.fading import Fading
from ireneo.engine.forget import Forgotten, Receipt
from ireneo.engine.learn.learn import Learned
from ireneo.engine.learn.listed import Cited, Lesson
from ireneo.engine.opening import Opened
from ireneo.engine.reflect import Reflected
from ireneo.engine.remember import Remembered
from ireneo.engine.scratchpad import Scratchpad
from ireneo.lessons.calibrate import Measured
from ireneo.lessons.caution import Caution, Proof
from ireneo.lessons.confidence import Level
from ireneo.lessons.diary import DiaryLine, Entry
from ireneo.lessons.run import LearnedRun
from ireneo.lessons.sighting import Category, Claim
from ireneo.log.annotation import Annotation
from ireneo.memories.brief import Brief, BriefLine
from ireneo.memories.facts import Fact
from ireneo.memories.offered import Told
from ireneo.memories.recall.recalled import Recalled, Recollection
from ireneo.memories.record import Evidence, Kind, MemoryId, Period, Record, Source, State
from ireneo.memories.scratchpad import Item, Pad

__all__ = [
    "Annotation",
    "Brief",
    "BriefLine",
    "Category",
    "Caution",
    "Cited",
    "Claim",
    "Diary",
    "DiaryLine",
    "Entry",
    "Evidence",
    "Exported",
    "Fact",
    "Fading",
    "Forgotten",
    "Item",
    "Kind",
    "Learned",
    "LearnedRun",
    "Lesson",
    "Level",
    "Measured",
    "MemoriesImported",
    "MemoryFault",
    "MemoryFile",
    "MemoryId",
    "Opened",
    "Pad",
    "Period",
    "Proof",
    "Recalled",
    "Receipt",
    "Recollection",
    "Record",
    "Reflected",
    "Remembered",
    "Scratchpad",
    "Secrets",
    "SecretsIn",
    "Source",
    "State",
    "Told",
]
