"""Tokenizers in the metadata of GGUF files: those they were made of."""

from __future__ import annotations

import pytest

from treadle.base.errors import NotSupported
from treadle.data import BPETokenizer
from treadle.data.tokens.files import shown
from treadle.models.gguf_tokens import CUTS, tokenizer_in

TEXT = "It's THEY'RE 12345 days, naïve\u00a0words…\n\n\tdef f(x): return x<|end|>  \r\n end "


def metadata(tokenizer, cut):
    tokens = {shown(token): number for token, number in tokenizer.vocab.items()}
    tokens |= tokenizer.special_tokens
    return {
        "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": cut,
        "tokenizer.ggml.tokens": sorted(tokens, key=tokens.get),
        "tokenizer.ggml.token_type": [1] * len(tokenizer.vocab) + [3],
        "tokenizer.ggml.merges": [f"{shown(a)} {shown(b)}" for a, b in tokenizer.merges],
    }  # fmt: skip


@pytest.mark.parametrize("cut", CUTS)
def test_a_tokenizer_goes_into_metadata_and_comes_back(cut):
    pattern, whole = CUTS[cut]
    made = BPETokenizer.train(TEXT * 3, 320, ["<|end|>"], pattern=pattern)
    made = BPETokenizer(made.vocab, made.merges, made.special_tokens, pattern, whole)
    found = tokenizer_in(metadata(made, cut))
    assert found.encode(TEXT) == made.encode(TEXT)
    assert found.decode(found.encode(TEXT)) == TEXT
    assert found.special_tokens == made.special_tokens


def test_digits_are_cut_as_each_model_was_trained():
    made = BPETokenizer.train("12345 " * 20, 300, pattern=r"\S+|\s+")
    lengths = {}
    for cut, (pattern, _) in CUTS.items():
        tokenizer = BPETokenizer(made.vocab, made.merges, {}, pattern)
        lengths[cut] = [len(tokenizer.decode([x])) for x in tokenizer.encode("12345")]
    assert max(lengths["llama-bpe"]) <= 3
    assert lengths["qwen2"] == lengths["smollm"] == [1] * 5


@pytest.mark.parametrize(
    "facts", [{"tokenizer.ggml.model": "llama"}, {"tokenizer.ggml.pre": "x"}, {}]
)
def test_other_kinds_are_refused(facts):
    made = metadata(BPETokenizer.train("ab" * 9, 258, ["<|end|>"]), "gpt-2")
    with pytest.raises(NotSupported, match="read are byte pairs"):
        tokenizer_in(made | facts if facts else {})
