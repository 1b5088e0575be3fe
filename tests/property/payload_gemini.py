"""Contents as Gemini writes them."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.property.payload_words import Message, Messages, extras, json_values, maybe, objects, words

from ireneo.formats.chat.format import Payload

signatures = st.sampled_from(["c2ln", "c2lnMg==", "skip_thought_signature_validator"])
snakes = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "thoughtSignature": "thought_signature",
    "inlineData": "inline_data",
    "mimeType": "mime_type",
}


def spelt(draw: st.DrawFn, part: Message) -> Message:
    """A part, in camel or in snake case."""
    if draw(st.booleans()):
        return part
    inner = {key: spelt(draw, value) if isinstance(value, dict) else value for key, value in part.items()}
    return {snakes.get(key, key): value for key, value in inner.items()}


texts = st.builds(lambda said: {"text": said}, words)
data = st.sampled_from(
    [
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        {"inlineData": {"mimeType": "image/bmp", "data": "aGk="}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.org/a.mp4"}},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK"}},
    ]
)
contents = texts | texts | data
more = extras.map(lambda found: {f"x_{key}": found[key] for key in found})
told = st.builds(lambda key, said: {key: said}, st.sampled_from(["output", "result", "error"]), json_values) | objects


@st.composite
def gemini_part(draw: st.DrawFn) -> Message:
    return spelt(draw, draw(contents) | draw(more))


@st.composite
def gemini_step(draw: st.DrawFn) -> Messages:
    parts: Messages = draw(st.lists(gemini_part(), max_size=2))
    if draw(st.booleans()):
        thought: Message = {"text": draw(words), "thought": True}
        parts = [spelt(draw, thought | maybe(draw, thoughtSignature=draw(signatures))), *parts]
    made: list[Message] = []
    for index in range(draw(st.integers(0, 3))):
        known: Message = {"id": f"c{index}"} if draw(st.booleans()) else {}
        made.append(known | {"name": draw(st.sampled_from(["run", "look"]))})
    for index, call in enumerate(made):
        signed = draw(signatures) if index == 0 else draw(st.none() | signatures)
        mark = {"thoughtSignature": signed} if signed else {}
        parts.append(spelt(draw, {"functionCall": call | {"args": draw(objects)}} | mark))
    if not made:
        parts.append({"text": draw(words)} | maybe(draw, thoughtSignature=draw(signatures)))
    if draw(st.booleans()):
        parts.append({"text": "", "thoughtSignature": draw(signatures)})
    back = [spelt(draw, {"functionResponse": call | {"response": draw(told)}}) for call in made]
    also = draw(st.lists(gemini_part(), max_size=1)) if back else []
    return [{"role": "model", "parts": parts}, *([{"role": "user", "parts": [*back, *also]}] if back else [])]


@st.composite
def gemini_lists(draw: st.DrawFn) -> Payload:
    said: Messages = []
    for _ in range(draw(st.integers(1, 3))):
        asked: Message = {"parts": draw(st.lists(gemini_part(), min_size=1, max_size=2))}
        said.append(asked | ({"role": "user"} if draw(st.booleans()) else {}))
        for _ in range(draw(st.integers(0, 3))):
            said += draw(gemini_step())
    return Payload(messages=said, system=draw(st.none() | words))
