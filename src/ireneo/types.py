"""Names for annotations, besides the public API: what its methods take and return.

from ireneo.types import RecallHit
"""

from ireneo.compacting import CompactOptions, TokenCounts
from ireneo.context.view import ViewKind
from ireneo.engine.annotations import StoryThread, ThreadState
from ireneo.engine.append import Appended, Given
from ireneo.engine.doctor import Finding
from ireneo.engine.editing import Deleted, ListedState, MemoryPage, MemorySource
from ireneo.engine.encode import AnthropicContext, OpenAIContext, ResponsesContext
from ireneo.engine.exchange import CopyTally, Exported, FileFormat, FileState, MemoriesImported, MemoryFault, MemoryFile
from ireneo.engine.expand import LookupResult, Tool
from ireneo.engine.forget import ErasureCandidate, ErasureCounts, ErasureReceipt, GoingText
from ireneo.engine.imports import Imported
from ireneo.engine.learn import Diary, LearnedSession
from ireneo.engine.learn_logs import GivenLog, LearnStep, LogLearned
from ireneo.engine.lessons import Cited, InstructionPage, Lesson, Verdict
from ireneo.engine.models import Models
from ireneo.engine.notes import NotesTaken
from ireneo.engine.reflect import ReflectionResult
from ireneo.engine.remember import ArchiveCandidate, Remembered
from ireneo.engine.reports import Examined, ImportReport, LearnReport, OnProgress, Reading, SummariseReport, WorkReport
from ireneo.engine.searching import EmbedReport
from ireneo.engine.secrets import SecretCounts, SecretPlace, Secrets
from ireneo.engine.session import ContextSettings, Scratchpad
from ireneo.engine.tree import OpenThread, TreeBranch, TreeNode
from ireneo.engine.work import WorkKind
from ireneo.engine.writing import WritingOutcome
from ireneo.formats.chat.format import (
    ChatFormat,
    FormatName,
    Json,
    Outline,
    Outlines,
    Payload,
    Repair,
    Rule,
    ThinkingRule,
    Violation,
)
from ireneo.formats.logs.format import LogFault, LogFormatName, LoggedNode
from ireneo.language.topics import Voice
from ireneo.lessons.guard import GuardAdvice
from ireneo.lessons.run import Category, ClaimTotals, DiaryAuthor, DiaryEntry, DiaryLine, LearnedRun, RunOutcome
from ireneo.log.message import Head, Media, MessageId, Native, Opaque, Origin, Part, Role, Thinking
from ireneo.log.tree import Annotation, AnnotationId, AnnotationKind, SessionKey
from ireneo.memories.brief import Brief, BriefLine
from ireneo.memories.facts import Fact
from ireneo.memories.index import Vector
from ireneo.memories.intake import MemoryDetails
from ireneo.memories.ranking import RecallHit, RecallResults
from ireneo.memories.reconcile import RememberOutcome
from ireneo.memories.record import Evidence, Kind, MemoryChange, MemoryId, Period, Record, Source, State
from ireneo.memories.scratchpad import Pad, PlanStep
from ireneo.ports.models import Embedder, LanguageModel, LogPlace, Prompt, Reply, Task, Tokenizer, Usage
from ireneo.ports.store import Migrated, Pruned
from ireneo.summaries.policy import CostExplanation, StorySettings
from ireneo.summaries.story import StoryStrategy
from ireneo.summaries.summary import (
    Atom,
    Line,
    Mention,
    Section,
    SectionName,
    SectionStyle,
    Strategy,
    SummaryId,
    SummaryLevel,
    Thread,
    ThreadChanges,
    ThreadEnd,
    ThreadId,
    ThreadKind,
    Writing,
)
from ireneo.summaries.work import RowItem, WorkStrategy
from ireneo.wiring import ModelChoice

__all__ = [
    "Annotation",
    "AnnotationId",
    "AnnotationKind",
    "AnthropicContext",
    "Appended",
    "ArchiveCandidate",
    "Atom",
    "Brief",
    "BriefLine",
    "Category",
    "ChatFormat",
    "Cited",
    "ClaimTotals",
    "CompactOptions",
    "ContextSettings",
    "CopyTally",
    "CostExplanation",
    "Deleted",
    "Diary",
    "DiaryAuthor",
    "DiaryEntry",
    "DiaryLine",
    "EmbedReport",
    "Embedder",
    "ErasureCandidate",
    "ErasureCounts",
    "ErasureReceipt",
    "Evidence",
    "Examined",
    "Exported",
    "Fact",
    "FileFormat",
    "FileState",
    "Finding",
    "FormatName",
    "Given",
    "GivenLog",
    "GoingText",
    "GuardAdvice",
    "Head",
    "ImportReport",
    "Imported",
    "InstructionPage",
    "Json",
    "Kind",
    "LanguageModel",
    "LearnReport",
    "LearnStep",
    "LearnedRun",
    "LearnedSession",
    "Lesson",
    "Line",
    "ListedState",
    "LogFault",
    "LogFormatName",
    "LogLearned",
    "LogPlace",
    "LoggedNode",
    "LookupResult",
    "Media",
    "MemoriesImported",
    "MemoryChange",
    "MemoryDetails",
    "MemoryFault",
    "MemoryFile",
    "MemoryId",
    "MemoryPage",
    "MemorySource",
    "Mention",
    "MessageId",
    "Migrated",
    "ModelChoice",
    "Models",
    "Native",
    "NotesTaken",
    "OnProgress",
    "Opaque",
    "OpenAIContext",
    "OpenThread",
    "Origin",
    "Outline",
    "Outlines",
    "Pad",
    "Part",
    "Payload",
    "Period",
    "PlanStep",
    "Prompt",
    "Pruned",
    "Reading",
    "RecallHit",
    "RecallResults",
    "Record",
    "ReflectionResult",
    "RememberOutcome",
    "Remembered",
    "Repair",
    "Reply",
    "ResponsesContext",
    "Role",
    "RowItem",
    "Rule",
    "RunOutcome",
    "Scratchpad",
    "SecretCounts",
    "SecretPlace",
    "Secrets",
    "Section",
    "SectionName",
    "SectionStyle",
    "SessionKey",
    "Source",
    "State",
    "StorySettings",
    "StoryStrategy",
    "StoryThread",
    "Strategy",
    "SummariseReport",
    "SummaryId",
    "SummaryLevel",
    "Task",
    "Thinking",
    "ThinkingRule",
    "Thread",
    "ThreadChanges",
    "ThreadEnd",
    "ThreadId",
    "ThreadKind",
    "ThreadState",
    "TokenCounts",
    "Tokenizer",
    "Tool",
    "TreeBranch",
    "TreeNode",
    "Usage",
    "Vector",
    "Verdict",
    "ViewKind",
    "Violation",
    "Voice",
    "WorkKind",
    "WorkReport",
    "WorkStrategy",
    "Writing",
    "WritingOutcome",
]
