"""The project speaks of itself only: no machine's paths, one version everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.architecture.source import PACKAGE, ROOT

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


PAGE = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
PATHS = ("src/ireneo", "", "tests/property/invariants")
"""Where a path on the page may begin."""


def place_of(named: str) -> Path | None:
    return next((ROOT / start / named for start in PATHS if (ROOT / start / named).exists()), None)


def test_the_page_on_the_architecture_names_what_there_is() -> None:
    named = set(re.findall(r"`((?:\w+/)*\w+\.(?:py|toml|sql|md))`", PAGE)) | set(re.findall(r"`((?:\w+/)+\w*)`", PAGE))
    links = set(re.findall(r"\(((?:decisions|guides)/[^)#]+\.md)", PAGE))
    assert len(named) > 80
    missing = [name for name in named if place_of(name) is None]
    missing += [link for link in links if not (ROOT / "docs" / link).exists()]
    assert not missing, "\n".join(sorted(missing))


def test_the_page_on_the_architecture_names_functions_where_they_are() -> None:
    """A name in parentheses behind a module is defined in that module."""
    found = re.findall(r"`([\w/]+\.py)`\s+\((`[\w.]+`(?:,\s+`[\w.]+`)*)\)", PAGE)
    assert len(found) > 30
    missing = []
    for module, listed in found:
        place = place_of(module)
        text = place.read_text(encoding="utf-8") if place else ""
        for name in re.findall(r"[\w.]+", listed):
            for part in name.split("."):
                if not re.search(rf"^\s*(?:(?:async )?def |class ){part}\b|^{part}\b.*=", text, re.MULTILINE):
                    missing.append(f"{module}: {name}")
    assert not missing, "\n".join(missing)


def test_the_tree_of_the_architecture_lists_modules_that_exist() -> None:
    missing, folder, listed = [], PACKAGE, 0
    for line in PAGE.partition("## Rooms")[2].partition("###")[0].splitlines():
        begins = re.match(r"    ([a-z/]+/) ", line)
        if begins:
            folder = PACKAGE / begins[1].removeprefix("src/ireneo/")
        words = re.sub(r"\([^)]*\)", "", line[begins.end() if begins else 0 :]).rpartition(":")[2]
        for name in re.split(r"[·,]", words):
            if re.fullmatch(r"[a-z_]+(?:\.\w+)?|__init__", name.strip()):
                place = folder / name.strip()
                listed += 1
                if not place.exists() and not place.with_suffix(".py").exists():
                    missing.append(str(place.relative_to(ROOT)))
    assert listed > 150
    assert not missing, "\n".join(missing)


def test_the_page_on_the_architecture_names_every_invariant() -> None:
    there = {path.name for path in (ROOT / "tests" / "property" / "invariants").glob("test_*.py")}
    assert there == set(re.findall(r"`(test_\d\d_\w+\.py)`", PAGE))


DECISIONS = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs/decisions").glob("0*.md"))}


def test_the_index_of_decisions_is_complete_and_says_which_were_overturned() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\((\d{4}-[^)]+\.md)\)", index) == list(DECISIONS)
    said = set(re.findall(r"^\| \[(\d{4})\].*\((overturned|changed): (\d{4})\) \|$", index, re.MULTILINE))
    first = re.compile(r"^\*\*(Overturned|Changed) by \[(\d{4})\]", re.MULTILINE)
    marks = {name[:4]: first.findall(text) for name, text in DECISIONS.items()}
    assert said == {(page, how.lower(), by) for page, found in marks.items() for how, by in found}


def test_decisions_that_hold_name_modules_that_exist() -> None:
    missing = [
        f"{page}: {name}"
        for page, text in DECISIONS.items()
        if "**Overturned by" not in text
        for name in re.findall(r"`((?:\w+/)+\w+\.(?:py|toml|sql))`", text)
        if place_of(name) is None
    ]
    assert not missing, "\n".join(missing)
