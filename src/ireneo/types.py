"""What the verbs of memory give and take: names for annotations, beside the public page.

from ireneo.types import Recalled
"""

from ireneo.engine.archive import ArchiveCandidate
from ireneo.engine.diary import Diary
from ireneo.engine.doctor.secrets import Secrets, SecretsIn
from ireneo.engine.exchange import Exported, MemoriesImported, MemoryFault, MemoryFile
from ireneo.engine.forget import ErasureCounts, ErasureReceipt
from ireneo.engine.imports import Imported
from ireneo.engine.learn import LearnedSession
from ireneo.engine.lessons import Cited, Lesson
from ireneo.engine.lookup import LookupResult
from ireneo.engine.reflect import Reflected
from ireneo.engine.remember import Remembered
from ireneo.engine.reports import Examined, ImportReport, LearnReport, Reading, SummariseReport, WorkReport
from ireneo.engine.scratchpad import Scratchpad
from ireneo.engine.vectors import Embedded
from ireneo.lessons.calibrate import CalibrationReport
from ireneo.lessons.guard import GuardAdvice, Proof
from ireneo.lessons.lessons import Level
from ireneo.lessons.run import Category, ClaimTotals, DiaryEntry, DiaryLine, LearnedRun
from ireneo.log.tree import Annotation
from ireneo.memories.brief import Brief, BriefLine
from ireneo.memories.facts import Fact
from ireneo.memories.intake import MemoryDetails
from ireneo.memories.ranking import RecallHit, RecallResults
from ireneo.memories.record import Evidence, Kind, MemoryId, Period, Record, Source, State
from ireneo.memories.scratchpad import Pad, PlanStep
from ireneo.summaries.policy import StorySettings
from ireneo.summaries.story import StoryStrategy
from ireneo.summaries.strategy import SectionStyle, Strategy
from ireneo.summaries.summary import Line, Section
from ireneo.summaries.work import WorkStrategy

__all__ = [
    "Annotation",
    "ArchiveCandidate",
    "Brief",
    "BriefLine",
    "CalibrationReport",
    "Category",
    "Cited",
    "ClaimTotals",
    "Diary",
    "DiaryEntry",
    "DiaryLine",
    "Embedded",
    "ErasureCounts",
    "ErasureReceipt",
    "Evidence",
    "Examined",
    "Exported",
    "Fact",
    "GuardAdvice",
    "ImportReport",
    "Imported",
    "Kind",
    "LearnReport",
    "LearnedRun",
    "LearnedSession",
    "Lesson",
    "Level",
    "Line",
    "LookupResult",
    "MemoriesImported",
    "MemoryDetails",
    "MemoryFault",
    "MemoryFile",
    "MemoryId",
    "Pad",
    "Period",
    "PlanStep",
    "Proof",
    "Reading",
    "RecallHit",
    "RecallResults",
    "Record",
    "Reflected",
    "Remembered",
    "Scratchpad",
    "Secrets",
    "SecretsIn",
    "Section",
    "SectionStyle",
    "Source",
    "State",
    "StorySettings",
    "StoryStrategy",
    "Strategy",
    "SummariseReport",
    "WorkReport",
    "WorkStrategy",
]
