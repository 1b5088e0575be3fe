"""The names in a text that can be looked up again: paths, identifiers, flags, hashes, error codes, addresses."""

from __future__ import annotations

import re

from ireneo.patterns import lazy_re

MAX_LENGTH = 160
"""A longer run of name characters is data (a token, a minified line), not a name that anyone types again."""

_NAME = lazy_re(
    r"""
    (?:\\[ntr]|(?<![\w\\]))                              # the escape with which JSON writes that a line begins here
    (?:
      https?://[^\s"'<>()\[\]{}`\\,]+[\w/]               # an address
    | /?(?:[\w.@~+-]+/)+(?:\.\.\.|[\w.@+-]*\w)          # a path, a Go package pattern
    | [\w-]+(?:\.[\w-]+)*\.[a-z][a-z0-9]{0,5}\b          # a file name, a dotted name
    | --[a-z][\w-]+                                      # a flag
    | [A-Z]{2,}-\d+\b                                    # a ticket
    | (?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b        # a hash
    | [A-Za-z]\w*_\w+                                    # snake_case, CONSTANT_CASE
    | [a-z][a-z0-9]*[A-Z][A-Za-z0-9]*\b                  # camelCase
    | [A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*\b                  # PascalCase
    | [A-Z][A-Z0-9]{3,}\b                                # a constant, an error code
    )
    | \\t[A-Z][a-z]+\b                                   # a field's name, at the beginning of an indented line
    """,
    re.VERBOSE,
)


def artifacts(text: str) -> list[str]:
    r"""List the artifacts of `text` in the order in which they first stand there, each once.

    In a text that is written as JSON, a name that begins a line keeps the escape before it (``\tretainLive``): that
    is how it stands in a tool call, and an edit that is to match the line again needs the indentation as well.
    """
    return [name for name in dict.fromkeys(_NAME.findall(text)) if 4 <= len(name) <= MAX_LENGTH]
