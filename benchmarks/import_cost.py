"""What `import ireneo` costs in time, and what the installed core weighs.

    python benchmarks/import_cost.py

Wanted: under 150 ms and under 40 MB. The weight is that of a fresh environment with the core and no extra in it, pip
left out; that needs a package index, and without one only the times are shown.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = 15
WANTED_MS = 150
WANTED_MB = 40
TOOLS = ("pip", "setuptools", "wheel", "pkg_resources", "_distutils_hack")


def run_time(code: str) -> float:
    """Milliseconds that a fresh interpreter needs for `code`: the least of some runs."""
    spent = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        spent.append(1000 * (time.perf_counter() - start))
    return min(spent)


def times() -> None:
    """The table of times; each beyond the bare interpreter's."""
    bare = run_time("pass")
    print(f"{'a bare interpreter':34}{bare:7.0f} ms")
    for name, code in (
        ("import msgspec", "import msgspec"),
        ("import ireneo", "import ireneo"),
        ("import ireneo, and count a text", "import ireneo; ireneo.compact([], budget=256)"),
        ("import the command line", "import ireneo.faces.cli.main"),
    ):
        print(f"{name:34}{run_time(code) - bare:7.0f} ms more")
    print(f"wanted: import ireneo under {WANTED_MS} ms")


def slowest(count: int = 8) -> None:
    """The modules that take longest by themselves."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import ireneo"], capture_output=True, text=True, check=True
    )
    cost = Counter[str]()
    for line in done.stderr.splitlines():
        own, _, name = line.removeprefix("import time:").split("|")
        if own.strip().isdigit():
            cost[name.strip()] = int(own)
    print("slowest by themselves: " + ", ".join(f"{name} {own / 1000:.1f} ms" for name, own in cost.most_common(count)))


def weight() -> None:
    """Install the core into a fresh environment and weigh what it brought."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place, with_pip=True)
        python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        done = subprocess.run(
            [python, "-m", "pip", "install", "-qq", "--no-compile", "--disable-pip-version-check", str(ROOT)],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            print(f"The core could not be installed to be weighed: {done.stderr.strip().splitlines()[-1:]}")
            return
        sizes = Counter[str]()
        packages = next(place.rglob("site-packages"))
        for path in packages.rglob("*"):
            top = path.relative_to(packages).parts[0]
            if path.is_file() and not top.startswith(TOOLS) and path.suffix != ".pyc":
                sizes[top.split("-")[0]] += path.stat().st_size
    for name, size in sizes.most_common(8):
        print(f"{name:34}{size / 1e6:7.1f} MB")
    print(f"{'the installed core':34}{sizes.total() / 1e6:7.1f} MB, wanted: under {WANTED_MB} MB")


if __name__ == "__main__":
    times()
    slowest()
    weight()
