"""What sort of cause an error names: whether the call was put wrongly, something is missing, or what it tests is wrong.

A wrong option fails until the call is put otherwise, whatever files are changed; a test fails until the code is.
"""

from __future__ import annotations

import re

from ireneo.patterns import lazy_re

OTHER = "another error"
_CAUSES = (
    (
        "a wrong option",
        r"usage:|accepts [\w ]{1,20} arg|unknown (?:flag|option|command|shorthand)|unrecognized (?:arg|opt)"
        r"|(?:illegal|invalid) option|no such option|unexpected argument|requires at least|required flag",
    ),
    (
        "something not installed",
        r"command not found|No module named|ModuleNotFound|cannot find module|executable file not found"
        r"|not installed|ImportError",
    ),
    (
        "something not there",
        r"no such file|does not exist|not found|ENOENT|cannot access|can.t open|unknown revision|no tests ran"
        r"|no test files",
    ),
    (
        "code that does not build",
        r"SyntaxError|IndentationError|undefined|build failed|expected .{0,400} found|cannot use|NameError|syntax error"
        r"|declared and not used|typecheck",
    ),
    ("a refusal", r"permission denied|not permitted|denied|unauthorized|credential|authenticat|blocked"),
    ("a time limit", r"timed? ?out|deadline"),
    ("a test", r"FAIL|assert|expected|errors?="),
)
_PATTERNS = tuple((name, lazy_re(pattern, re.I)) for name, pattern in _CAUSES)


def cause(error: str) -> str:
    """The sort of cause that an error's own line names, as it goes into a sentence: ``failed for a wrong option``."""
    return next((name for name, pattern in _PATTERNS if pattern.search(error)), OTHER)
