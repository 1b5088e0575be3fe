"""The public page can be held in one's head: sorted, at most 30 names, and nothing else to be found on it."""

from __future__ import annotations

import inspect

import ireneo
import ireneo.types


def test_the_page_is_sorted_and_short() -> None:
    # Constants, then classes, then functions: the order that ruff keeps.
    def order(name: str) -> tuple[int, str]:
        return (0 if name.isupper() else 1 if name[0].isupper() else 2), name

    assert list(ireneo.__all__) == sorted(ireneo.__all__, key=order)
    assert len(set(ireneo.__all__)) == len(ireneo.__all__) <= 30


def test_the_page_lists_what_it_has() -> None:
    loaded = {name: getattr(ireneo, name) for name in ireneo.__all__}
    public = {name for name, value in vars(ireneo).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert public - {"TYPE_CHECKING"} == set(loaded)
    assert set(dir(ireneo)) == {*loaded, "__version__"}


def test_a_name_that_is_not_on_the_page_is_not_there() -> None:
    assert not hasattr(ireneo, "summarize")


def test_what_is_on_the_page_says_what_it_is_for() -> None:
    speechless = [
        name
        for name in ireneo.__all__
        if (inspect.isclass(getattr(ireneo, name)) or inspect.isroutine(getattr(ireneo, name)))
        and not inspect.getdoc(getattr(ireneo, name))
    ]
    assert not speechless, "\n".join(speechless)


def test_the_names_for_annotations_are_these() -> None:
    assert ireneo.types.__all__ == sorted(ireneo.types.__all__)
    assert not set(ireneo.types.__all__) & set(ireneo.__all__)
    assert all(hasattr(ireneo.types, name) for name in ireneo.types.__all__)
