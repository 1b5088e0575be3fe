"""A prompt as a file: what is always said, and the places that are filled for each question."""

from __future__ import annotations

from functools import cached_property
from importlib.resources import files
from string import Template

from msgspec import Struct

from ireneo.ports.models import Prompt, Task

_CUT = "\n---\n"


class PromptText(Struct, frozen=True, kw_only=True, dict=True):
    """One version of a task's prompt: ``<task>/<name>.md``, its halves parted by a line of three dashes."""

    task: Task
    version: int
    max_tokens: int
    """What the reply may cost."""
    text: str = ""
    """Which of a task's texts it is, where there are several; empty for the task's own."""

    @property
    def name(self) -> str:
        """The prompt and its version, such as ``turn-1`` or ``story-deep-1``."""
        return "-".join(filter(None, (self.task, self.text, str(self.version))))

    @cached_property
    def halves(self) -> tuple[Template, Template]:
        """What the model is told, and what it is asked."""
        text = files("ireneo.prompts").joinpath(self.task, f"{self.name}.md").read_text("utf-8")
        told, _, asked = text.partition(_CUT)
        return Template(told.strip()), Template(asked.strip())

    def render(self, **fields: str) -> Prompt:
        """Fill the places; a text that is filled in is never read for places itself. Raises KeyError for a lack."""
        told, asked = self.halves
        return Prompt(
            task=self.task,
            name=self.name,
            system=told.substitute(fields),
            user=asked.substitute(fields),
            max_tokens=self.max_tokens,
        )
