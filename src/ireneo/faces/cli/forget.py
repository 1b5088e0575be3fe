"""`ireneo forget`: take something out for good, with all that was made of it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from ireneo.errors import BadInput
from ireneo.faces.cli.consent import Yes
from ireneo.faces.cli.options import AsJson, Stored

if TYPE_CHECKING:
    pass

ONE = "Say what is to be forgotten with one of --subject, --session, --message, --memory and --everything."


def _what(name: str, metavar: str, help: str) -> object:
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


class Goner(Struct, frozen=True, kw_only=True):
    """What is to go."""

    subject: Annotated[str, _what("--subject", "NAME", "All that is known of it.")] = ""
    session: Annotated[str, _what("--session", "ID", "A session, and what was made of it alone.")] = ""
    message: Annotated[str, _what("--message", "ID", "A message's words.")] = ""
    memory: Annotated[str, _what("--memory", "ID", "A memory.")] = ""
    everything: Annotated[str, _what("--everything", "SPACE", "All of the space: give its name.")] = ""

    def given(self) -> dict[str, str]:
        """What was named. Raises BadInput unless it is one thing."""
        named = {name: value for name in self.__struct_fields__ if (value := getattr(self, name))}
        if len(named) != 1:
            raise BadInput(ONE)
        return named


def forget(*, goner: Goner, yes: Yes = False, as_json: AsJson = False, stored: Stored) -> None:
    """Forget something for good.

    Its words and all that was made of them alone, from every part of the database. It asks before it does.
    """
    named = goner.given()
