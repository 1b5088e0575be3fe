"""What the generated lists of all formats are made of."""

from __future__ import annotations

from hypothesis import strategies as st

Message = dict[str, object]
Messages = list[Message]

words = st.sampled_from(["Hello.", "Für Elise 𝄞", " padded\n", "<system-reminder>x</system-reminder>"]) | st.text(
    min_size=1, max_size=5
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
objects = st.dictionaries(st.text(max_size=4), json_values, max_size=2)
extras: st.SearchStrategy[Message] = st.dictionaries(
    st.sampled_from(["x_cache", "name", "id", "annotations"]), st.text(), max_size=1
)


def maybe(draw: st.DrawFn, **fields: object) -> Message:
    """Some of `fields`, or none."""
    return {key: value for key, value in fields.items() if draw(st.booleans())}


def message(draw: st.DrawFn, role: str, content: object) -> Message:
    """A message with a field or two that the format may not know."""
    return {"role": role, "content": content} | draw(extras)
