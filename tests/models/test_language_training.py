"""Language models learn, alike lazily and as one compiled program a step; encoders and sound."""

from __future__ import annotations

import numpy as np
import pytest
from language_models import ALL, LONGEST, TOKENS

import treadle as td
from treadle.base.errors import ShapeError
from treadle.models import (
    Bert,
    BertConfig,
    Seq2SeqConfig,
    Seq2SeqTransformer,
    Whisper,
    WhisperConfig,
)
from treadle.models.audio import LogMel, fourier_basis, mel_filters, pieces
from treadle.nn import functional as F


def batch(shape, seed=0):
    return td.tensor(np.random.default_rng(seed).integers(0, TOKENS, shape))


def trained(model, loss_of, steps, compiled):
    optimizer = td.optim.AdamW(model.parameters(), lr=1e-2)

    def step():
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss

    run = td.compile(step) if compiled else step
    return [float(run()) for _ in range(steps)]


def next_token_loss(model, tokens):
    found = model(tokens[:, :-1])
    found = found[0] if isinstance(found, tuple) else found
    return F.cross_entropy(found.reshape((-1, found.shape[-1])), tokens[:, 1:].reshape((-1,)))


@pytest.mark.parametrize("name", ["gpt2", "llama3", "qwen3", "lstm", "char-gru"])
def test_a_few_steps_lower_the_loss_alike_lazily_and_compiled(name):
    losses, tokens = [], batch((3, 9))
    for compiled in (False, True):
        td.manual_seed(1)
        model = ALL[name]().eval()  # without dropout; gradients are collected all the same
        losses.append(trained(model, lambda m=model: next_token_loss(m, tokens), 8, compiled))
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3)
    assert losses[1][-1] < losses[1][0] - 0.1
    assert abs(losses[1][0] - np.log(TOKENS)) < 0.5


def test_dropout_is_on_while_training_only():
    td.manual_seed(0)
    model, tokens = ALL["gpt2"](), batch((2, 6))
    assert (model(tokens).numpy() != model(tokens).numpy()).any()
    model.eval()
    np.testing.assert_array_equal(model(tokens).numpy(), model(tokens).numpy())


# ---- BERT


def small_bert():
    return Bert(BertConfig(TOKENS, 16, 2, 4, 24, max_position_embeddings=12, pad_token_id=None))


def test_padding_does_not_reach_a_sentence():
    model = small_bert().eval()
    long, short = batch((1, 10)), batch((1, 10))[:, :6]
    alone = model.embed(short).numpy()
    mask = td.tensor([[1] * 6 + [0] * 4])
    np.testing.assert_allclose(model.embed(long, mask).numpy(), alone, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose((alone**2).sum(), 1.0, rtol=1e-5)
    found = model(long, mask)
    expected = model(short)
    np.testing.assert_allclose(
        found.pooler_output.numpy(), expected.pooler_output.numpy(), rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(
        td.compile(model)(long, mask).last_hidden_state.numpy()[:, :6],
        expected.last_hidden_state.numpy(), rtol=1e-4, atol=1e-5,
    )  # fmt: skip


def test_bert_learns():
    td.manual_seed(0)
    model, tokens = small_bert().eval(), batch((4, 8))
    wanted = td.tensor(np.random.default_rng(0).standard_normal((4, 16)).astype(np.float32))
    losses = trained(model, lambda: ((model(tokens).pooler_output - wanted) ** 2).mean(), 8, True)
    assert losses[-1] < 0.9 * losses[0]


# ---- encoder and decoder


def test_sentences_are_translated():
    """Learns to copy two sentences, and writes them with and without company."""
    td.manual_seed(0)
    model = Seq2SeqTransformer(Seq2SeqConfig(1, 1, 16, 2, 12, 13, 32, 0.0, maxlen=40))
    source = td.tensor([[3, 4, 5, 6], [7, 8, 0, 0]])
    hidden = td.tensor([[False] * 4, [False, False, True, True]])
    target = td.tensor([[1, 3, 4, 5, 6, 2], [1, 7, 8, 2, 2, 2]])

    def loss():
        found = model(source, target[:, :-1], hidden)
        return F.cross_entropy(found.reshape((-1, 13)), target[:, 1:].reshape((-1,)))

    losses = trained(model, loss, 60, True)
    assert losses[-1] < 0.1
    both = model.translate([[3, 4, 5, 6], [7, 8]], 1, 2, 10)
    assert both == [[3, 4, 5, 6], [7, 8]]
    assert model.translate([[7, 8]], 1, 2, 10) == [[7, 8]]
    assert model.translate([[3, 4, 5, 6]], 1, 2, 3) == [[3, 4, 5]]
    assert model.training


# ---- sound

SAMPLES = np.random.default_rng(0).standard_normal((2, 4000)).astype(np.float32) * 0.1


def log_mel(samples, bands):
    """In float64, by an FFT of every window."""
    window = np.hanning(401)[:-1]
    padded = np.pad(samples.astype(np.float64), 200, mode="reflect")
    frames = np.stack([padded[k : k + 400] for k in range(0, len(samples), 160)])
    power = np.abs(np.fft.rfft(frames * window)) ** 2
    found = np.log10(np.maximum(filters(bands) @ power.T, 1e-10))
    return (np.maximum(found, found.max() - 8) + 4) / 4


def filters(bands):
    """Slaney's triangles, point by point."""
    mel = np.linspace(0, 15 + 27 * np.log(8) / np.log(6.4), bands + 2)
    edges = [m * 200 / 3 if m < 15 else 1000 * 6.4 ** ((m - 15) / 27) for m in mel]
    found = np.zeros((bands, 201))
    for band, (a, b, c) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        for k in range(201):
            hertz = k * 40.0
            if a < hertz < c:
                rise = (hertz - a) / (b - a) if hertz < b else (c - hertz) / (c - b)
                found[band, k] = rise * 2 / (c - a)
    return found


@pytest.mark.parametrize("bands", [80, 128])
def test_bands_of_sound_are_those_of_an_fft(bands):
    np.testing.assert_allclose(mel_filters(bands), filters(bands), atol=1e-12)
    found = LogMel(bands)(td.tensor(SAMPLES)).numpy()
    for row, samples in zip(found, SAMPLES, strict=True):
        np.testing.assert_allclose(row, log_mel(samples, bands), atol=1e-4)
    tone = (0.5 * np.sin(2 * np.pi * 440 * np.arange(4000) / 16000)).astype(np.float32)
    found = LogMel(bands)(td.tensor(tone[None])).numpy()[0]
    np.testing.assert_allclose(found, log_mel(tone, bands), atol=1e-3)


def test_the_basis_transforms_windows():
    window = np.hanning(401)[:-1]
    x = np.random.default_rng(1).standard_normal(400)
    found = fourier_basis() @ x
    expected = np.fft.rfft(x * window)
    np.testing.assert_allclose(found[:201], expected.real, atol=1e-10)
    np.testing.assert_allclose(found[201:], -expected.imag, atol=1e-10)


@pytest.mark.parametrize(("seconds", "count"), [(0, 1), (1, 1), (30, 1), (31, 2)])
def test_sound_is_cut_into_pieces_of_thirty_seconds(seconds, count):
    found = pieces(np.ones(seconds * 16000))
    assert [len(piece) for piece in found] == [480000] * count
    assert sum(float(piece.sum()) for piece in found) == seconds * 16000


def small_whisper(**options):
    td.manual_seed(0)
    sizes = (TOKENS, 80, 16, 1, 2, 24, 2, 2, 24)
    config = WhisperConfig(*sizes, init_std=0.5, max_target_positions=32,
                           decoder_start_token_id=1, eos_token_id=None, **options)  # fmt: skip
    return Whisper(config).eval()


def test_sound_becomes_the_likeliest_tokens():
    model = small_whisper(forced_decoder_ids=((1, 5), (2, 9)), suppress_tokens=(3, 4))
    sound = np.concatenate([SAMPLES.reshape(-1)] * 4)
    bands = model.log_mel(td.tensor(pieces(sound)[0][None]))
    text = [1, 5, 9]
    for _ in range(8):
        logits = model(bands, td.tensor([text])).numpy()[0, -1].copy()
        logits[[3, 4]] = -np.inf
        text.append(int(logits.argmax()))
    found = model.transcribe(sound, max_new_tokens=8)
    assert found == text[3:]
    assert len(set(found)) > 1
    assert model.transcribe(sound, prompt=[1], max_new_tokens=8) != found


def test_whisper_learns():
    tokens = batch((2, 6))
    model = Whisper(WhisperConfig(TOKENS, 8, 16, 1, 2, 24, 1, 2, 24, max_source_positions=10))
    bands = td.tensor(np.random.default_rng(0).standard_normal((2, 8, 20)).astype(np.float32))

    def loss():
        found = model(bands, tokens[:, :-1])
        return F.cross_entropy(found.reshape((-1, TOKENS)), tokens[:, 1:].reshape((-1,)))

    losses = trained(model, loss, 8, True)
    assert losses[-1] < 0.9 * losses[0]


# ---- positions


def listening():
    sizes = (TOKENS, 8, 16, 1, 2, 24, 1, 2, 24)
    return Whisper(WhisperConfig(*sizes, max_source_positions=2, max_target_positions=7))


def translating(maxlen):
    return Seq2SeqTransformer(Seq2SeqConfig(1, 1, 16, 4, TOKENS, TOKENS, 24, maxlen=maxlen))


LONGEST_TEXTS = {
    "gpt2": (LONGEST, ALL["gpt2"], lambda model, text: model(text)),
    "bert": (12, small_bert, lambda model, text: model(text)[0]),
    "whisper": (7, listening, lambda model, text: model(td.zeros(1, 8, 4), text)),
    "read": (1, lambda: translating(1), lambda model, text: model(text, text[:, :1])),
    "written": (1, lambda: translating(1), lambda model, text: model(text[:, :1], text)),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", LONGEST_TEXTS)
def test_a_text_longer_than_the_positions_is_refused(name, compiled):
    most, made, run = LONGEST_TEXTS[name]
    model, run = made(), td.compile(run) if compiled else run
    assert np.isfinite(run(model, batch((1, most))).numpy()).all()
    with pytest.raises(ShapeError, match="longer than the positions"):
        run(model, batch((1, most + 1)))


def test_sound_of_another_length_is_refused():
    with pytest.raises(ShapeError, match="a piece of another length"):
        listening()(td.zeros(1, 8, 2), batch((1, 3)))


@pytest.mark.parametrize("name", ["Bert", "GPT2", "Llama"])
def test_tokens_without_a_batch_are_refused(name):
    config = {"vocab_size": TOKENS, "n_embd": 8, "n_layer": 1, "n_head": 2, "hidden_size": 8,
              "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}  # fmt: skip
    model = getattr(td.models, name).from_config(config)
    with pytest.raises(ShapeError, match=rf"{name}: tokens are \(batch, length\)"):
        model(td.tensor([1, 2, 3]))


def test_sizes_of_translations_go_no_further_than_the_positions():
    model = translating(20)
    assert len(model.translate([[3] * 18], 1, TOKENS, 19)[0]) == 19
    with pytest.raises(ShapeError, match="longer than the positions"):
        model.translate([[3] * 21], 1, 2, 5)


def test_a_cache_larger_than_the_positions_is_no_harm():
    model = ALL["gpt2"]()
    found = model.generate([1, 2], 4, temperature=0, capacity=2 * LONGEST)
    assert found == model.generate([1, 2], 4, temperature=0)
