"""The tokenizer of the local model: WordPiece, with the vocabulary of bert-base-uncased.

The vocabulary is the `vocab.txt` that Google published with BERT under the Apache License 2.0 and that
all-MiniLM-L6-v2 took over unchanged; it ships beside this module, compressed.
"""

from __future__ import annotations

import gzip
import hashlib
from importlib.resources import files

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

from ireneo.errors import EmbedderError

VOCABULARY = "bert-base-uncased.txt.gz"
SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
"""Of the vocabulary as it was published."""
_UNKNOWN, _FIRST, _LAST = "[UNK]", "[CLS]", "[SEP]"


def tokenizer(longest: int) -> Tokenizer:
    """The tokenizer, which cuts texts at `longest` tokens. Raises EmbedderError where its vocabulary was changed."""
    packed = files(__package__).joinpath(VOCABULARY).read_bytes()
    lines = gzip.decompress(packed)
    if hashlib.sha256(lines).hexdigest() != SHA256:
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
