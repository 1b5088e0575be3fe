"""A struct is used for the first time by several threads at once: a process of its own shows that it survives."""

from __future__ import annotations

import subprocess
import sys

USED = """
import sys, threading
from msgspec import defstruct
from ireneo.patterns import convert

sys.setswitchinterval(1e-6)
for number in range(300):
    inner = {f"f{each}": defstruct(f"Inner{number}_{each}", [("a", "int"), ("b", "str")]) for each in range(5)}
    kind = defstruct(f"Outer{number}", [*inner.items()])
    ready = threading.Barrier(4)
    read = []

    def use():
        ready.wait()
        read.append(convert({name: {"a": 1, "b": "x"} for name in inner}, kind))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(read) == 4, read
"""


def test_four_threads_convert_into_a_struct_that_nothing_has_used() -> None:
    done = subprocess.run([sys.executable, "-c", USED], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
