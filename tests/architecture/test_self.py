"""The project speaks of itself only: no machine's paths, one version everywhere."""

from __future__ import annotations

import re
import tomllib

from tests.architecture.source import ROOT

import ireneo

# A home or a working folder of some machine, and not the `/home/` of a URL or of a longer path.
MACHINE = re.compile(r"(?<![\w.:/~-])/(?:home|Users|root|work)/[\w.-]+")
READ = ("*.py", "*.md", "*.sql", "*.toml", "*.txt")
FOLDERS = ("src", "docs", "benchmarks")


def test_no_file_names_a_place_on_some_machine() -> None:
    paths = [path for folder in FOLDERS for kind in READ for path in (ROOT / folder).rglob(kind)]
    paths += [path for path in ROOT.iterdir() if path.suffix in {".md", ".toml"} or path.name == "Makefile"]
    named = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in sorted(paths)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if MACHINE.search(line)
    ]
    assert not named, "\n".join(named)


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?(\d+\.\d+\.\d+[\w.]*)", changelog, re.MULTILINE)
    assert newest, "CHANGELOG.md has no entry that begins with a version"
    assert project["version"] == newest[1] == ireneo.__version__


def test_the_page_on_the_architecture_names_what_there_is() -> None:
    page = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_/]+/[a-z_]+\.(?:py|toml))`", page))
    links = set(re.findall(r"\(((?:decisions|guides)/[^)]+\.md)\)", page))
    assert len(named) > 40
    missing = [name for name in named if not any((ROOT / start / name).exists() for start in ("src/ireneo", "."))]
    missing += [link for link in links if not (ROOT / "docs" / link).exists()]
    assert not missing, "\n".join(sorted(missing))
