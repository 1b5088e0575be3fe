"""No pattern of the package takes more than time linear in its text, whatever the text is.

All texts for all patterns are gone through by `benchmarks/pattern_growth.py`; here it is those that are known to be hard,
for the patterns that were, and a part of the rest: another one for each `IRENEO_EXAMPLES`.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.examples import TIMES
from tests.pattern_growth import MOST, Text, growth_of, grows_in_steps

ROOT = __import__("pathlib").Path(__file__).parents[2]
