"""The names in a text that can be looked up again: paths, identifiers, flags, hashes, error codes, addresses."""

from __future__ import annotations

import re

from ireneo.patterns import lazy_re

MAX_LENGTH = 160
"""A longer run of name characters is data (a token, a minified line), not a name that anyone types again."""

# Each part is repeated possessively or ends where no other begins, and a path or a dotted name is looked for where its
# chain of segments begins and not at each of them: where it fails there, it fails at all of them. So a text takes time
# in proportion to its length, and not to its square.
_PATH = r"/?(?:[\w.@~+-]++/)+(?:\.\.\.|[\w.@+-]*\w)"
_FILE = r"[\w-]++(?:\.[\w-]++)*\.[a-z][a-z0-9]{0,5}\b"
_NAME = lazy_re(
    rf"""
    (
      (?:\\[ntr]|(?<![\w\\]))                              # the escape with which JSON writes that a line begins here
      (?![A-Z]?[a-z]*+[.:]?(?![\w.@~+/:-]))                # a plain word, as most are: none of what follows
      (?:
        https?://[^\s"'<>()\[\]{{}}`\\,]+[\w/]               # an address
      | (?<![.@~+-])(?:(?<![\w.@~+-]/)|(?=/)){_PATH}       # a path, a Go package pattern
      | (?<!-)(?<![\w-]\.){_FILE}                          # a file name, a dotted name
      | --[a-z][\w-]+                                      # a flag
      | [A-Z]{{2,}}-\d+\b                                    # a ticket
      | (?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{{7,40}}\b        # a hash
      | [A-Za-z]\w*_\w+                                    # snake_case, CONSTANT_CASE
      | [a-z][a-z0-9]*[A-Z][A-Za-z0-9]*\b                  # camelCase
      | [A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*\b                  # PascalCase
      | [A-Z][A-Z0-9]{{3,}}\b                                # a constant, an error code
      )
    | \\t[A-Z][a-z]+\b                                     # a field's name, at the beginning of an indented line
    )
    | \\\w*+[.@~+/-](?:({_PATH})|\.?({_FILE}))            # a chain whose first segment belongs to an escape
    """,
    re.VERBOSE,
)


def artifacts(text: str) -> list[str]:
    r"""List the artifacts of `text` in the order in which they first stand there, each once.

    In a text that is written as JSON, a name that begins a line keeps the escape before it (``\tretainLive``): that
    is how it stands in a tool call, and an edit that is to match the line again needs the indentation as well.
    """
    return [
        name
        for name in dict.fromkeys(whole or path or file for whole, path, file in _NAME.findall(text))
        if 4 <= len(name) <= MAX_LENGTH
    ]
