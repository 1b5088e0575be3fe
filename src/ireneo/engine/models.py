"""Which model does what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import get_args

from msgspec import Struct

from ireneo.errors import BadInput
from ireneo.ports.llm import LanguageModel, Task

DEFAULT = "default"
"""What a mapping calls the model for every task that it does not name."""

TASKS: tuple[Task, ...] = get_args(Task)


class Models(Struct, frozen=True, kw_only=True):
    """A model for each task; made by `Models.of`."""

    default: LanguageModel | None = None
    """For the tasks that have none of their own; None: those are done without a model."""
    by_task: Mapping[str, LanguageModel] = {}

    @classmethod
    def of(cls, given: LanguageModel | Mapping[str, LanguageModel]) -> Models:
        """One model for everything, or one for each task and, as ``default``, one for the rest. Raises BadInput."""
        if not isinstance(given, Mapping):
            return cls(default=given)
        by_task = dict(given)
        default = by_task.pop(DEFAULT, None)
        for task in by_task:
            _check(task)
        return cls(default=default, by_task=by_task)

    def for_task(self, task: str) -> LanguageModel | None:
        """The model for a task; None where it is done without one. Raises BadInput for a task that there is not."""
        _check(task)
        return self.by_task.get(task, self.default)

    def each(self, change: Callable[[LanguageModel], LanguageModel]) -> Models:
        """The same, with something put around every model."""
        default = None if self.default is None else change(self.default)
        return Models(default=default, by_task={task: change(model) for task, model in self.by_task.items()})


def _check(task: str) -> None:
    if task not in TASKS:
        raise BadInput(
            f"There is no task {task!r} for a model; there are {', '.join(TASKS)}, and {DEFAULT} for the rest."
        )
