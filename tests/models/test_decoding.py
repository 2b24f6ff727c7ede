"""Texts with a cache: the same numbers as without, one program for every token."""

from __future__ import annotations

import copy
import gc
import weakref

import numpy as np
import pytest
from language_models import ALL, ATTENDING, LONGEST, TOKENS, likeliest, logits, made, text

import treadle as td
from treadle.base import trace
from treadle.models.cache import Past
from treadle.models.generate import Decoder
from treadle.models.sampling import rules_of

every_model = pytest.mark.parametrize("name", ALL)


def cached(model, tokens, first, sized=True):
    """Logits of position first - 1 from a prompt, and of every later one from a cache."""
    decoder = Decoder(model, 1, 32)
    decoder.sized = sized
    found = []
    decoder._drawn = lambda logits, at, how: found.append(logits) or (logits, at + 1)
    decoder.cache.begin()
    with td.no_grad():
        decoder._first = td.compile(decoder._read)
        decoder._next = td.compile(decoder._step)
        out, at = decoder.first(np.array([tokens[:first]]), None, ())
        rows = [out.numpy()[0]]
        for k in range(first, len(tokens)):
            token = td.tensor([tokens[k]])
            out, at = decoder.next(token, at, k + 1, None, ())
            rows.append(out.numpy()[0])
    return np.stack(rows)


@every_model
@pytest.mark.parametrize("first", [1, 2, 7])
def test_a_cache_gives_what_a_full_forward_gives_at_every_position(name, first):
    model, tokens = made(name), text(20)
    expected = logits(model, tokens)[first - 1 :]
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(cached(model, tokens, first), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ATTENDING)
def test_a_cache_that_is_read_whole_and_masked_gives_the_same(name):
    model, tokens = made(name), text(12)
    found = cached(model, tokens, 3, sized=False)
    np.testing.assert_allclose(found, logits(model, tokens)[2:], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ATTENDING)
def test_padding_changes_nothing(name):
    model, rows = made(name), [text(9, 1), text(4, 2), text(1, 3)]
    longest = max(map(len, rows))
    padded = [[0] * (longest - len(row)) + row for row in rows]
    starts = td.tensor([longest - len(row) for row in rows])
    found = model(td.tensor(padded), Past(starts)).numpy()
    for row, given in zip(found, rows, strict=True):
        expected = logits(model, given)
        np.testing.assert_allclose(row[-len(given) :], expected, rtol=1e-4, atol=1e-5)


@every_model
def test_the_likeliest_tokens_are_those_of_full_forwards(name):
    model, prompt = made(name), text(5)
    assert model.generate(prompt, 12, temperature=0) == likeliest(model, prompt, 12)


@every_model
def test_a_batch_of_any_lengths_is_each_alone(name):
    model, rows = made(name), [text(3, 1), text(8, 2), text(1, 3), text(8, 4)]
    alone = [model.generate(row, 10, temperature=0) for row in rows]
    assert model.generate(rows, 10, temperature=0) == alone
    assert len({tuple(row) for row in alone}) > 1


@every_model
def test_nothing_is_traced_planned_or_compiled_after_the_first_token(name):
    model, prompt, work = made(name), text(6), []

    def look(token, row):
        work.append(len(report.stages) + len(report.facts))

    options = {"seed": 0, "top_k": 5, "top_p": 0.9, "repetition_penalty": 1.2, "stream": look}
    with trace.listen() as report:
        model.generate(prompt, 16, **options)
    first = 2 if name in ATTENDING else 1  # tokens that the making of programs comes before
    assert len(work) == 16
    assert set(work[first:]) == {work[first]}
    with trace.listen() as again:  # another text, other numbers: the same programs
        more = {"temperature": 0.7, "top_p": 0.5, "repetition_penalty": 1.3, "seed": 1}
        model.generate(text(9, 5), 16, **(options | more | {"stream": None}))
    assert not again.stages
    assert not again.facts


def test_programs_are_kept_with_the_model_and_go_with_it():
    model = made("llama")
    model.generate(text(4), 4, temperature=0)
    decoder = next(iter(model._kept_programs.values()))
    model.generate(text(9), 8, temperature=0)
    assert next(iter(model._kept_programs.values())) is decoder
    assert len(decoder._first.entries) == len(decoder._next.entries) == 1
    twin = copy.deepcopy(model)
    assert not twin._kept_programs
    assert twin.generate(text(4), 4, temperature=0) == model.generate(text(4), 4, temperature=0)
    gone = weakref.ref(model)
    del model, decoder
    gc.collect()
    assert gone() is None


def test_a_changed_weight_is_seen():
    model, prompt = made("gpt2"), text(4)
    model.generate(prompt, 4, temperature=0)
    with td.no_grad():
        model.transformer.ln_f.bias += td.tensor(np.linspace(-9, 9, 16).astype(np.float32))
    assert model.generate(prompt, 4, temperature=0) == likeliest(model, prompt, 4)


def test_a_model_in_training_writes_in_evaluation_and_goes_on_training():
    model = made("gpt2").train()
    model.transformer.h[0].eval()
    expected = likeliest(made("gpt2"), text(4), 6)
    assert model.generate(text(4), 6, temperature=0) == expected
    assert model.training
    assert model.transformer.h[1].attn.resid_dropout.training
    assert not model.transformer.h[0].attn.resid_dropout.training


def test_the_whole_capacity_can_be_used():
    model, prompt = made("llama"), text(10)
    count = LONGEST - len(prompt) + 1  # the last one is not read any more
    assert len(model.generate(prompt, count, temperature=0)) == count
    assert model.generate(prompt, 7, temperature=0, capacity=16) == likeliest(model, prompt, 7)


@pytest.mark.parametrize("name", ["gpt2", "qwen3", "lstm"])
def test_compiled_is_lazy(name):
    model, tokens = made(name), td.tensor([text(9), text(9, 1)])
    lazy, compiled = model(tokens), td.compile(model)(tokens)
    lazy, compiled = (x[0] if isinstance(x, tuple) else x for x in (lazy, compiled))
    assert lazy.shape == (2, 9, TOKENS)
    np.testing.assert_allclose(compiled.numpy(), lazy.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["gpt2", "llama3", "lstm"])
def test_a_model_that_was_moved_or_cast_writes_there(name):
    """Other backends know no sizes that vary: the cache is read whole, and masked."""
    model, rows = made(name), [text(5), text(3, 1)]
    options = {"temperature": 0, "repetition_penalty": 1.2}
    here = model.generate(rows, 8, **options)
    assert model.to("reference").generate(rows, 8, **options) == here
    assert model.to("cpu", "float64").generate(rows, 8, **options) == here


def test_half_precision_decodes():
    model = made("llama").bfloat16()
    assert len(model.generate(text(5), 6, temperature=0)) == 6
    assert next(iter(model._kept_programs.values())).cache.keys[0].dtype is td.bfloat16


def test_rules_of_draws_are_part_of_the_program_and_numbers_are_not():
    rules, numbers = rules_of(0.5, 3, 0.9, 1.5)
    assert rules == (False, 3, True, True)
    np.testing.assert_allclose(numbers.numpy(), [0.5, 0.9, 1.5])
    assert rules_of(0, 3, 0.9, 1.0)[0] == (True, 0, False, False)
