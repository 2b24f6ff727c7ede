"""`generate`: each rule of a draw against NumPy, stop words, streams, seeds, mistakes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from language_models import TOKENS, made, text

import treadle as td
from treadle.base.errors import ArgumentError
from treadle.models.sampling import Rules, draw, largest, nucleus, penalised
from treadle.models.stopping import Row, Stops, end_of, held_back

LOGITS = np.random.default_rng(0).standard_normal((5, 40)).astype(np.float32) * 3


class Letters:
    """A tokenizer of letters; the last three tokens are the bytes of one character."""

    def encode(self, given):
        return [ord(x) - ord("a") for x in given]

    def decode(self, tokens):
        marks = "".join("#" if x >= 20 else chr(x + ord("a")) for x in tokens)
        return marks.replace("###", "é").replace("#", "\ufffd")


# ---- rules of a draw


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def allowed(logits, temperature=1.0, top_k=0, top_p=1.0):
    """Probabilities after the rules, row by row, in plain Python."""
    found = np.zeros(logits.shape)
    for row, out in zip(logits, found, strict=True):
        order = sorted(range(len(row)), key=lambda k: -row[k])
        order = order[:top_k] if top_k else order
        weights = softmax(row[order] / temperature)
        total, kept = 0.0, 0
        while kept == 0 or (kept < len(order) and total < top_p):
            total += weights[kept]
            kept += 1
        out[order[:kept]] = weights[:kept] / weights[:kept].sum()
    return found


@pytest.mark.parametrize("penalty", [0.5, 1.3, 4.0])
def test_tokens_already_seen_are_penalised(penalty):
    seen = np.random.default_rng(1).random(LOGITS.shape) < 0.5
    expected = LOGITS.copy()
    for at in zip(*np.nonzero(seen), strict=True):
        expected[at] = expected[at] / penalty if expected[at] > 0 else expected[at] * penalty
    found = penalised(td.tensor(LOGITS), td.tensor(seen), penalty)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("count", [0, 1, 7, 39, 40, 99])
def test_the_largest_are_in_order(count):
    values, order = largest(td.tensor(LOGITS), count)
    expected = np.sort(LOGITS, -1)[:, ::-1][:, : count or 40]
    np.testing.assert_array_equal(values.numpy(), expected)
    np.testing.assert_array_equal(np.take_along_axis(LOGITS, order.numpy(), -1), expected)


@pytest.mark.parametrize("share", [1e-9, 0.1, 0.5, 0.9, 0.999, 1.0])
def test_a_nucleus_is_the_fewest_that_reach_a_share(share):
    ordered = np.sort(LOGITS, -1)[:, ::-1].copy()
    found = nucleus(td.tensor(ordered), share).numpy()
    expected = allowed(ordered, top_p=share) > 0
    np.testing.assert_array_equal(np.isfinite(found), expected)
    np.testing.assert_array_equal(found[expected], ordered[expected])


GRID = [
    {}, {"temperature": 0.3}, {"temperature": 2.5}, {"top_k": 1}, {"top_k": 6}, {"top_p": 0.6},
    {"top_p": 0.01}, {"top_k": 8, "top_p": 0.7}, {"temperature": 1.7, "top_k": 30, "top_p": 0.9},
]  # fmt: skip


@pytest.mark.parametrize("options", GRID)
def test_draws_are_as_likely_as_the_rules_say(options):
    times, row = 6000, LOGITS[:1, :12] * 0.5
    expected = allowed(row, **options)[0]
    rules = Rules(False, options.get("top_k", 0), "top_p" in options, False)
    numbers = td.tensor([options.get("temperature", 1.0), options.get("top_p", 1.0), 1.0])
    many = td.tensor(np.repeat(row, times, 0))
    token, _, _ = draw(many, rules, numbers, None, td.random.key(3))
    counts = np.bincount(token.numpy(), minlength=12)
    assert not counts[expected == 0].any()
    error = np.abs(counts / times - expected)
    assert (error <= 5 * np.sqrt(expected * (1 - expected) / times) + 1e-9).all()


def test_the_likeliest_is_taken_and_what_was_seen_grows():
    seen = np.zeros(LOGITS.shape, bool)
    given = (td.tensor(LOGITS), Rules(True, 0, False, True), td.tensor([1.0, 1.0, 1.0]))
    token, now, key = draw(*given, td.tensor(seen), td.random.key(0))
    np.testing.assert_array_equal(token.numpy(), LOGITS.argmax(-1))
    seen[np.arange(5), LOGITS.argmax(-1)] = True
    np.testing.assert_array_equal(now.numpy(), seen)
    assert key.tolist() == [0, 0]


def test_a_penalty_without_end_repeats_nothing():
    tokens = made("gpt2").generate(text(3), 12, temperature=0, repetition_penalty=1e6)
    model, found = made("gpt2"), list(text(3))
    for _ in range(12):
        logits = model(td.tensor([found])).numpy()[0, -1].astype(np.float64)
        for token in set(found):
            logits[token] = logits[token] / 1e6 if logits[token] > 0 else logits[token] * 1e6
        found.append(int(logits.argmax()))
    assert tokens == found[3:]


def test_suppressed_tokens_never_come():
    model, prompt = made("qwen2"), text(5)
    plain = model.generate(prompt, 10, temperature=0)
    found = model.generate(prompt, 10, temperature=0, suppress=plain)
    assert not set(found) & set(plain)
    first = model.generate(prompt, 10, temperature=0, suppress_first=plain[:1])
    assert first[0] != plain[0]


# ---- seeds


def test_a_seed_decides():
    model, prompt = made("gpt2"), text(4)
    one, other = (model.generate(prompt, 12, seed=k) for k in (1, 2))
    assert one == model.generate(prompt, 12, seed=1) != other
    td.manual_seed(5)
    first, second = model.generate(prompt, 12), model.generate(prompt, 12)
    td.manual_seed(5)
    assert [model.generate(prompt, 12), model.generate(prompt, 12)] == [first, second]
    assert first != second


def test_rows_of_a_batch_are_drawn_apart():
    rows = made("gpt2").generate([text(4)] * 3, 12, seed=0)
    assert len({tuple(row) for row in rows}) == 3


# ---- stop words and streams


def test_a_text_ends_at_a_token_or_a_sequence():
    model, prompt = made("llama"), text(5)
    plain = model.generate(prompt, 20, temperature=0)
    for stop, word in ((plain[6], plain[6:7]), ([plain[3]], plain[3:4]), ([plain[7:9]], plain[7:9]),
                       ([[99, 99], plain[4:7]], plain[4:7])):  # fmt: skip
        end = next(k for k in range(20) if plain[k : k + len(word)] == word)
        seen = []
        found = model.generate(
            prompt, 20, temperature=0, stop=stop, stream=lambda x, row, seen=seen: seen.append(x)
        )
        assert found == plain[:end] == seen


def test_a_model_s_own_end_is_the_default():
    model, prompt = made("llama"), text(5)
    plain = model.generate(prompt, 12, temperature=0)
    model.end_of_text = [plain[4], 99]
    assert model.generate(prompt, 12, temperature=0) == plain[: plain.index(plain[4])]
    assert model.generate(prompt, 12, temperature=0, stop=()) == plain


def test_rows_end_each_at_its_own_place():
    model, rows = made("llama"), [text(3, 1), text(6, 2), text(2, 3)]
    plain = model.generate(rows, 16, temperature=0)
    stop = plain[0][5]
    alone = [model.generate(row, 16, temperature=0, stop=stop) for row in rows]
    seen = [[], [], []]
    found = model.generate(
        rows, 16, temperature=0, stop=stop, stream=lambda x, row: seen[row].append(x)
    )
    assert found == alone == seen
    assert len({len(row) for row in found}) > 1


def test_text_goes_in_and_comes_out():
    model, letters = made("gpt2"), Letters()
    tokens = model.generate(letters.encode("hello"), 15, temperature=0)
    expected, pieces = letters.decode(tokens), []
    found = model.generate(
        "hello", 15, temperature=0, tokenizer=letters, stream=lambda x, row: pieces.append(x)
    )
    assert found == "".join(pieces) == expected
    tokens = letters.encode("hello")
    assert model.generate(tokens, 15, temperature=0, tokenizer=letters) == expected
    word = expected[4:6]
    cut = expected[: expected.index(word)]
    assert model.generate(
        ["hello"], 15, temperature=0, tokenizer=letters, stop=[word]
    ) == [cut]  # fmt: skip


def test_nothing_is_shown_that_may_be_taken_back():
    shown = []
    row = Row(0, Stops(["cab", "xyz"], True), Letters().decode, lambda x, row: shown.append(x))
    steps = [("b", ["b"]), ("c", []), ("a", []), ("d", ["cad"]), ("c", []), ("a", []), ("b", [])]
    for letter, expected in steps:
        shown.clear()
        row.add(ord(letter) - ord("a"))
        assert shown == expected
    assert row.is_done
    assert row.finish() == "bcad"


def test_a_character_is_shown_when_all_its_bytes_are_there():
    shown = []
    row = Row(0, Stops((), True), Letters().decode, lambda x, row: shown.append(x))
    for token in (0, 20, 20, 20, 1, 20):
        row.add(token)
    assert shown == ["a", "é", "b"]
    assert row.finish() == "aéb\ufffd"


def test_what_was_held_back_is_shown_at_the_end():
    shown = []
    row = Row(0, Stops([[1, 2]], False), None, lambda x, row: shown.append(x))
    row.add(5)
    row.add(1)
    assert shown == [5]
    assert row.finish() == shown == [5, 1]


def test_words_are_found_by_plain_search():
    rng = np.random.default_rng(0)
    for _ in range(200):
        content = rng.integers(0, 2, rng.integers(0, 9)).tolist()
        words = [tuple(rng.integers(0, 2, rng.integers(1, 4)).tolist()) for _ in range(2)]
        ends = [k for k in range(len(content))
                if any(tuple(content[k : k + len(w)]) == w for w in words)]  # fmt: skip
        assert end_of(content, words) == (ends[0] if ends else None)
        as_text = "".join(map(str, content))
        texts = ["".join(map(str, word)) for word in words]
        assert end_of(as_text, texts) == end_of(content, words)
        held = max(k for k in range(len(content) + 1)
                   if k == 0 or any(w[:k] == tuple(content[len(content) - k :]) and k < len(w)
                                    for w in words))  # fmt: skip
        assert held_back(content, words) == held == held_back(as_text, texts)


# ---- mistakes


@pytest.mark.parametrize(("prompt", "options", "said"), [
    ([1], {"temperature": -1}, "temperature is 0 or above"),
    ([1], {"temperature": math.nan}, "temperature"),
    ([1], {"top_k": -1}, "top_k is a count"),
    ([1], {"top_k": 2.5}, "top_k is a count"),
    ([1], {"top_p": 0.0}, "top_p is above 0"),
    ([1], {"top_p": 1.5}, "top_p is above 0"),
    ([1], {"repetition_penalty": 0}, "repetition_penalty is above 0"),
    ([1], {"stop": "word"}, "a stop word is text"),
    ([1], {"stop": [[]]}, "a stop word is empty"),
    ([1], {"max_new_tokens": 0}, "max_new_tokens is a whole number"),
    ([1], {"max_new_tokens": 2.5}, "max_new_tokens is a whole number"),
    ([1], {"max_new_tokens": 65}, "too long"),
    ([1] * 10, {"max_new_tokens": 10, "capacity": 18}, "too long"),
    ([], {}, "no tokens"),
    ([[1], []], {}, "no tokens"),
    ("text", {}, "the prompt is text"),
    ([TOKENS], {}, "no such token"),
    ([1], {"suppress": [TOKENS]}, "no such token"),
    ([1], {"suppress": [1.5]}, "no such token"),
    ([1], {"suppress": range(TOKENS)}, "every token is suppressed"),
    ([1], {"suppress": range(5), "suppress_first": range(5, TOKENS)}, "every token is suppressed"),
    ([1.5], {}, "no such token"),
    ([[1], [1.5]], {}, "no such token"),
    (np.array([1.0]), {}, "no such token"),
    ([[[1]]], {}, "no such token"),
    (5, {}, "not a prompt"),
    (None, {}, "not a prompt"),
    ([[1], 5], {}, "not a prompt"),
    ([[1], "text"], {}, "not a prompt"),
])  # fmt: skip
def test_mistakes_are_refused_with_what_would_work(prompt, options, said):
    with pytest.raises(ArgumentError, match=said):
        made("gpt2").generate(prompt, **options)


@pytest.mark.parametrize(
    "prompt", [[3, 1], (3, 1), list(np.array([3, 1])), np.array([3, 1]), td.tensor([3, 1])]
)
def test_a_prompt_may_be_any_row_of_tokens(prompt):
    model = made("gpt2")
    assert model.generate(prompt, 5, temperature=0) == model.generate([3, 1], 5, temperature=0)
    batch = td.tensor([[3, 1]]) if isinstance(prompt, td.Tensor) else [prompt]
    assert model.generate(batch, 5, temperature=0) == [model.generate(prompt, 5, temperature=0)]
