"""Do tokenizers give every text back, and do merges follow from counts?"""

from __future__ import annotations

import copy
import json
import pickle
import random
import re
import time
import unicodedata
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle import data
from treadle.base.errors import ArgumentError, FileError, IndexingError
from treadle.data.tokens import files
from treadle.data.tokens import words as cutting

CORPUS = (
    "the quick brown fox jumps over the lazy dog; the dogs don't care. "
    "low lower lowest, new newer newest, wide wider widest!\n\n  indented   text\t12 345 6789\n"
    "naïve café — 日本語のテキスト, ١٢٣ and ½ × 2² = 4\n"
) * 3
END = "<|endoftext|>"
BPE = data.BPETokenizer.train(CORPUS, 400, [END, "<|pad|>"])


# ---- merges


def naive_merges(text, most, least):
    """The most frequent pair, found by counting everything again each time."""
    counts = Counter(w.encode() for w in cutting.words([cutting.compiled(cutting.GPT2)], text))
    tokens = [bytes([k]) for k in range(256)]
    split = {word: [bytes([b]) for b in word] for word in counts}
    merges = []
    while len(tokens) < most:
        pairs = Counter()
        for word, parts in split.items():
            for pair in pairwise(parts):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], tokens.index(p[0]), tokens.index(p[1])))
        if pairs[best] < least:
            break
        merges.append(best)
        joined = best[0] + best[1]
        if joined not in tokens:
            tokens.append(joined)
        for word, parts in split.items():
            place, made = 0, []
            while place < len(parts):
                if tuple(parts[place : place + 2]) == best:
                    made.append(joined)
                    place += 2
                else:
                    made.append(parts[place])
                    place += 1
            split[word] = made
    return merges


@pytest.mark.parametrize("least", [1, 2, 5])
@pytest.mark.parametrize(
    "text", [CORPUS, "", "a", "aaaaaaa aaaa aaa", "abcabc bcabca cabcab " * 5], ids=range(5)
)
def test_training_is_what_counting_again_gives(text, least):
    made = data.BPETokenizer.train(text, 400, min_frequency=least)
    assert made.merges == naive_merges(text, 400, least)


@given(st.text("ab c'", max_size=60), st.integers(256, 280), st.integers(1, 3))
def test_training_on_few_letters_is_what_counting_again_gives(text, size, least):
    made = data.BPETokenizer.train(text, size, min_frequency=least)
    assert made.merges == naive_merges(text, size, least)
    assert made.vocab_size <= size
    assert made.decode(made.encode(text)) == text


def naive_tokens(made, word):
    """The pair of lowest rank, looked for again each time."""
    parts = [bytes([b]) for b in word]
    ranks = {pair: rank for rank, pair in reversed(list(enumerate(made.merges)))}
    while True:
        found = [(ranks[p], k) for k, p in enumerate(pairwise(parts)) if p in ranks]
        if not found:
            return [made.vocab[part] for part in parts]
        _, k = min(found)
        parts[k : k + 2] = [parts[k] + parts[k + 1]]


@given(st.text("abcdelowrst ", max_size=40))
def test_words_are_merged_by_rank(text):
    assert BPE._encoded(text.encode()) == naive_tokens(BPE, text.encode())


def test_long_words_take_no_square_of_their_length():
    def seconds(count):
        begun = time.process_time()
        BPE._encoded(b"lowest" * count)
        return time.process_time() - begun

    seconds(1000)
    assert min(seconds(16000) for _ in range(3)) < 60 * min(seconds(1000) for _ in range(3))


def test_training_takes_many_texts_and_bytes():
    whole = data.BPETokenizer.train(["low lower ", "lowest"], 300, min_frequency=1)
    assert (
        whole.merges
        == data.BPETokenizer.train([b"low lower ", b"lowest"], 300, min_frequency=1).merges
    )
    assert whole.merges[:2] == [(b"l", b"o"), (b"lo", b"w")]
    assert data.BPETokenizer.train(["x"] * 3, 256).merges == []


# ---- there and back


@pytest.mark.parametrize("made", [BPE, data.ByteTokenizer([END])], ids=["pairs", "bytes"])
class TestRoundTrip:
    @given(text=st.text())
    def test_texts(self, made, text):
        assert made.decode(made.encode(text)) == text
        assert made.decode(made.encode(text, special=False)) == text

    @given(content=st.binary())
    def test_bytes(self, made, content):
        assert made.decode_bytes(made.encode(content)) == content

    def test_special_tokens(self, made):
        number = made.special_tokens[END]
        text = f"the dog{END}{END} the fox{END}"
        tokens = made.encode(text)
        assert tokens.count(number) == 3
        assert made.decode(tokens) == text
        assert made.decode(tokens, skip_special_tokens=True) == "the dog the fox"
        plain = made.encode(text, special=False)
        assert number not in plain
        assert made.decode(plain) == text

    def test_what_is_no_token(self, made):
        for number in (-1, made.vocab_size, 10**9):
            with pytest.raises(IndexingError, match="no such token"):
                made.decode([number])
        for wrong in (3, None, ["a"]):
            for special in (False, True):
                with pytest.raises(ArgumentError, match="not a text"):
                    made.encode(wrong, special=special)
        with pytest.raises(ArgumentError, match="half a character"):
            made.encode("\ud800")


def test_bytes_are_numbers():
    assert data.ByteTokenizer().encode("aé") == [97, 0xC3, 0xA9]
    assert data.ByteTokenizer([END, "<s>"]).vocab_size == 258
    assert data.ByteTokenizer().decode([0xC3]) == "�"
    assert data.ByteTokenizer(["ab", "abc"]).encode("abcab") == [257, 256]


def test_what_tokenizers_say_of_themselves():
    assert repr(data.ByteTokenizer()) == "ByteTokenizer(vocab_size=256)"
    assert repr(BPE).startswith(f"BPETokenizer(vocab_size={BPE.vocab_size}, merges=")
    assert BPE.token_to_id(END) == BPE.special_tokens[END]
    assert BPE.token_to_id(" the") == BPE.vocab[b" the"]
    assert BPE.token_to_id("nothing of the kind") is None
    assert BPE.encode_batch(["a", "b"]) == [BPE.encode("a"), BPE.encode("b")]
    for other in (pickle.loads(pickle.dumps(BPE)), copy.deepcopy(BPE)):
        assert other.encode(CORPUS) == BPE.encode(CORPUS)


@pytest.mark.parametrize(
    "make",
    [
        lambda: data.BPETokenizer.train("a", 255),
        lambda: data.BPETokenizer.train("a", 256, [END]),
        lambda: data.BPETokenizer.train("a", 300, [""]),
        lambda: data.BPETokenizer.train("a", 300, pattern="("),
        lambda: data.BPETokenizer.train("a", 300, pattern=r"\p{Xy}"),
        lambda: data.BPETokenizer({b"a": 0}, []),
        lambda: data.BPETokenizer(BPE.vocab, [(b"zz", b"z")]),
        lambda: data.BPETokenizer(BPE.vocab, [], {END: 5}),
        lambda: data.BPETokenizer(BPE.vocab | {b"qqq": -1}, []),
    ],
)
def test_what_cannot_be_right_is_refused(make):
    with pytest.raises(ArgumentError):
        make()


# ---- where texts are cut


def slow_words(text):
    """GPT-2's pattern by hand: contractions, letters, numbers, others, spaces."""
    kinds = ["s" if re.match(f"[{cutting.SPACE}]", c) else unicodedata.category(c)[0] for c in text]
    kinds = [k if k in "sLN" else "o" for k in kinds]
    found, place = [], 0
    while place < len(text):
        contraction = next(
            (c for c in ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d") if text.startswith(c, place)),
            None,
        )
        if contraction:
            end = place + len(contraction)
        elif kinds[place] != "s" or (
            text[place] == " " and place + 1 < len(text) and kinds[place + 1] != "s"
        ):
            end = place + (kinds[place] == "s")
            kind = kinds[end]
            while end < len(text) and kinds[end] == kind:
                end += 1
        else:
            end = place
            while end < len(text) and kinds[end] == "s":
                end += 1
            if end < len(text) and end - place > 1:
                end -= 1
        found.append(text[place:end])
        place = end
    return found


@given(st.text("aé'sd1½ \t\n.,日\u00a0\u200b_", max_size=30))
def test_gpt2_cuts_where_a_scan_does(text):
    found = cutting.words([cutting.compiled(cutting.GPT2)], text)
    assert found == slow_words(text)
    assert "".join(found) == text


@given(st.text())
def test_nothing_is_lost_by_cutting(text):
    for patterns in ([cutting.GPT2], [r"\p{N}", cutting.GPT2], [r"\p{Lu}\p{Ll}*"], []):
        found = cutting.words([cutting.compiled(p) for p in patterns], text)
        assert "".join(found) == text
        assert all(found) or not patterns


def test_classes_of_characters():
    letters = re.compile(f"[{cutting.ranges('L')}]")
    rng = random.Random(0)
    for _ in range(3000):
        character = chr(rng.randrange(0x110000))
        is_letter = unicodedata.category(character).startswith("L")
        assert bool(letters.match(character)) == is_letter


# ---- files


def test_a_file_gives_the_same_tokenizer(tmp_path):
    path = tmp_path / "tokenizer.json"
    for made in (BPE, data.BPETokenizer.train(CORPUS, 300, pattern=[r"\p{N}", cutting.GPT2])):
        made.save(path)
        found = data.BPETokenizer.from_file(path)
        for name in ("vocab", "merges", "special_tokens", "pattern", "whole_words"):
            assert getattr(found, name) == getattr(made, name)
        assert found.encode(CORPUS + END) == made.encode(CORPUS + END)
    assert [p.name for p in tmp_path.iterdir()] == ["tokenizer.json"]


def test_two_files_as_gpt2_has_them(tmp_path):
    vocab = {files.shown(token): number for token, number in BPE.vocab.items()}
    lines = ["#version: 0.2", *(f"{files.shown(a)} {files.shown(b)}" for a, b in BPE.merges)]
    (tmp_path / "vocab.json").write_text(json.dumps(vocab | {END: BPE.special_tokens[END]}))
    (tmp_path / "merges.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = data.BPETokenizer.from_vocab(tmp_path / "vocab.json", tmp_path / "merges.txt")
    assert found.encode(CORPUS + END) == BPE.encode(CORPUS + END)
    assert "Ġthe" in vocab  # how a space is written


def changed(path, change):
    BPE.save(path)
    whole = json.loads(path.read_text("utf-8"))
    change(whole)
    path.write_text(json.dumps(whole))
    return path


DAMAGE = {
    "another model": lambda w: w["model"].update(type="Unigram"),
    "no model": lambda w: w.pop("model"),
    "no vocabulary": lambda w: w["model"].pop("vocab"),
    "a list for a vocabulary": lambda w: w["model"].update(vocab=["a"]),
    "no merges": lambda w: w["model"].pop("merges"),
    "a merge of three": lambda w: w["model"]["merges"].append("a b c"),
    "a merge of numbers": lambda w: w["model"]["merges"].append([1, 2]),
    "a merge of no tokens": lambda w: w["model"]["merges"].insert(0, ["Q", "Z"]),
    "a number twice": lambda w: w["model"]["vocab"].update(a=7),
    "a number that is none": lambda w: w["model"]["vocab"].update(a="7"),
    "a negative number": lambda w: w["model"]["vocab"].update(a=-7),
    "a byte that is missing": lambda w: w["model"]["vocab"].pop("a"),
    "a token of other characters": lambda w: w["model"]["vocab"].update({"日本": 9999}),
    "a normalizer": lambda w: w.update(normalizer={"type": "Lowercase"}),
    "byte fallback": lambda w: w["model"].update(byte_fallback=True),
    "another cut": lambda w: w.update(pre_tokenizer={"type": "Whitespace"}),
    "no cut": lambda w: w.update(pre_tokenizer=None),
    "a prefix": lambda w: w["pre_tokenizer"].update(add_prefix_space=True),
    "a special token that is none": lambda w: w["added_tokens"].append("x"),
    "a special token that strips": lambda w: w["added_tokens"][0].update(lstrip=True),
    "a special token's number twice": lambda w: w["added_tokens"][0].update(id=5),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_files(tmp_path, name):
    with pytest.raises(FileError):
        data.BPETokenizer.from_file(changed(tmp_path / "t.json", DAMAGE[name]))


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b"null", b"[" * 100_000], ids=range(6)
)
def test_files_that_are_no_json(tmp_path, content):
    (tmp_path / "t.json").write_bytes(content)
    with pytest.raises(FileError):
        data.BPETokenizer.from_file(tmp_path / "t.json")


# ---- the package `tokenizers`


def test_the_package_reads_our_files_and_agrees(tmp_path):
    pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    text = CORPUS + data.stdlib_text(30_000) + f"{END} a'll 1½ \u00a0\u3000x\n\n \t"
    for pattern in (
        cutting.GPT2,
        [r"\p{N}", cutting.GPT2],
        r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|\s+",
    ):
        made = data.BPETokenizer.train(CORPUS, 350, [END], pattern=pattern)
        made.save(path)
        other = data.Tokenizer.from_file(path)
        tokens = made.encode(text)
        assert other.encode(text) == tokens
        assert other.decode(tokens) == text
        assert other.vocab_size == made.vocab_size
    assert other.token_to_id(END) == made.token_to_id(END)
    assert other.encode_batch(["low", "new"]) == made.encode_batch(["low", "new"])
    assert repr(other) == f"Tokenizer(vocab_size={other.vocab_size})"
    with pytest.raises(IndexingError):
        other.decode([10**6])


def test_digits_one_by_one_as_in_other_files(tmp_path):
    package = pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"

    def change(whole):
        digits = {"type": "Digits", "individual_digits": True}
        steps = [digits, whole["pre_tokenizer"]]
        whole["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}

    changed(path, change)
    text = CORPUS + "a  12   b12 3 .4"
    assert (
        data.BPETokenizer.from_file(path).encode(text)
        == package.Tokenizer.from_file(str(path)).encode(text).ids
    )


def test_the_package_refuses_what_is_none(tmp_path):
    pytest.importorskip("tokenizers")
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(FileError, match="not a tokenizer"):
        data.Tokenizer.from_file(tmp_path / "t.json")
    with pytest.raises(FileNotFoundError):
        data.Tokenizer.from_file(tmp_path / "none.json")
