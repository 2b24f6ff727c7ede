"""Language models beside the originals: outputs, gradients, training runs, sentences, sound."""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle.models import (
    GPT2,
    Bert,
    CharRNN,
    CharRNNConfig,
    GPT2Config,
    Llama,
    LSTMConfig,
    LSTMLanguageModel,
    Seq2SeqConfig,
    Seq2SeqTransformer,
    Whisper,
)
from treadle.nn import functional as F

torch = pytest.importorskip("torch")
TOKENS, LONGEST = 50, 64
COMPARED: set[str] = set()
SMALL = {
    "vocab_size": TOKENS, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": LONGEST,
    "pad_token_id": None, "bos_token_id": 1, "eos_token_id": 2, "attn_implementation": "eager",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _counted(request):
    COMPARED.add(request.node.name)


@pytest.fixture(scope="module", autouse=True)
def _printed(request):
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # sizes are small
    yield
    torch.set_num_threads(before)
    reporter = request.config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"{len(COMPARED)} cases of language models compared with PyTorch")


@pytest.fixture(scope="module")
def original():
    """Hugging Face's package, without what it has for images."""
    transformers = pytest.importorskip("transformers")
    for module in (transformers.utils, transformers.utils.import_utils):
        module.is_torchvision_available = lambda: False
    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    return transformers


def shaken(theirs, ours):
    """Both with the same weights, none of them 0 or 1, in evaluation; names and shapes agree."""
    with torch.no_grad():
        for own in theirs.parameters():
            if own.requires_grad:
                own.add_(torch.randn_like(own) * 0.1)
    state = {name: x.detach().numpy() for name, x in theirs.state_dict().items()}
    assert {name: x.shape for name, x in ours.state_dict().items()} == {
        name: x.shape for name, x in state.items()
    }
    ours.load_state_dict(state)
    return theirs.eval(), ours.eval()


def close(found, expected, tolerance=1e-4):
    expected = expected.detach().numpy()
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found.numpy() / scale, expected / scale, atol=tolerance)


def gradients_agree(theirs, ours, their_output, our_output):
    """Of a random weighting of the output, by every parameter."""
    weights = np.random.default_rng(1).standard_normal(our_output.shape).astype(np.float32)
    (their_output * torch.tensor(weights)).sum().backward()
    (our_output * td.tensor(weights)).sum().backward()
    own = dict(ours.named_parameters())
    compared = 0
    for name, parameter in theirs.named_parameters():
        if parameter.requires_grad:
            close(own[name].grad, parameter.grad)
            compared += 1
    assert compared > 5


def ids(*shape, seed=0, most=TOKENS):
    return np.random.default_rng(seed).integers(3, most, shape)


# ---- decoders

LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}  # fmt: skip
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
FORMS = {
    "llama": ("Llama", {}),
    "llama, tied, with biases": (
        "Llama", {"tie_word_embeddings": True, "attention_bias": True, "mlp_bias": True}),
    "llama, wide heads": ("Llama", {"head_dim": 12}),
    "llama3": ("Llama", {"rope_parameters": LLAMA3 | {"rope_theta": 500.0}}),
    "linear": ("Llama", {
        "rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}}),
    "yarn": ("Llama", {"rope_parameters": YARN | {"rope_theta": 10000.0}}),
    "yarn, sharper": ("Llama", {"rope_parameters": YARN | {
        "rope_theta": 100.0, "beta_fast": 4.0, "beta_slow": 0.5, "attention_factor": 1.3}}),
    "mistral": ("Mistral", {"sliding_window": None}),
    "qwen2": ("Qwen2", {"tie_word_embeddings": True}),
    "qwen3": ("Qwen3", {"head_dim": 12}),
    "smollm3": ("SmolLM3", {"no_rope_layers": [1, 0, 1], "pad_token_id": 0}),
}  # fmt: skip


def decoder(original, name):
    kind, options = FORMS[name]
    config = getattr(original, f"{kind}Config")(**(SMALL | options))
    theirs = getattr(original, f"{kind}ForCausalLM")(config)
    return shaken(theirs, Llama.from_config(config.to_dict()))


def gpt2(original, **options):
    sizes = {"vocab_size": TOKENS, "n_positions": LONGEST, "n_embd": 32, "n_layer": 2, "n_head": 4}
    config = original.GPT2Config(
        **sizes, bos_token_id=1, eos_token_id=2, attn_implementation="eager", **options
    )
    return shaken(original.GPT2LMHeadModel(config), GPT2.from_config(config.to_dict()))


@pytest.mark.parametrize("name", FORMS)
def test_llama_and_its_kin(original, name):
    theirs, ours = decoder(original, name)
    tokens = ids(2, 40)
    expected, found = theirs(torch.tensor(tokens)).logits, ours(td.tensor(tokens))
    close(found, expected)
    gradients_agree(theirs, ours, expected, found)


@pytest.mark.parametrize("options", [
    {}, {"activation_function": "relu", "n_inner": 40}, {"tie_word_embeddings": False},
    {"scale_attn_by_inverse_layer_idx": True}, {"scale_attn_weights": False},
])  # fmt: skip
def test_gpt2(original, options):
    theirs, ours = gpt2(original, **options)
    tokens = ids(2, 20)
    expected, found = theirs(torch.tensor(tokens)).logits, ours(td.tensor(tokens))
    close(found, expected)
    gradients_agree(theirs, ours, expected, found)


@pytest.mark.parametrize("name", ["gpt2", "llama3", "qwen3"])
@pytest.mark.parametrize("penalty", [1.0, 1.5])
def test_the_likeliest_texts_are_the_same(original, name, penalty):
    theirs, ours = gpt2(original) if name == "gpt2" else decoder(original, name)
    tokens = ids(1, 7)
    options = {"max_new_tokens": 20, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    expected = theirs.generate(torch.tensor(tokens), repetition_penalty=penalty, **options)
    found = ours.generate(
        tokens[0], 20, temperature=0, repetition_penalty=penalty, stop=()
    )  # fmt: skip
    assert found == expected[0, 7:].tolist()


def test_a_folder_of_the_original_s_is_read(original, tmp_path):
    theirs, _ = decoder(original, "llama3")
    theirs.save_pretrained(tmp_path, max_shard_size="20KB")  # several files, and an index
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    ours, tokens = Llama.from_pretrained(tmp_path), ids(2, 20)
    close(ours(td.tensor(tokens)), theirs(torch.tensor(tokens)).logits)


def test_a_folder_of_ours_is_read(original, tmp_path):
    _, ours = gpt2(original)
    ours.save_pretrained(tmp_path)
    theirs, tokens = original.GPT2LMHeadModel.from_pretrained(tmp_path).eval(), ids(2, 20)
    close(ours(td.tensor(tokens)), theirs(torch.tensor(tokens)).logits)


# ---- BERT


@pytest.mark.parametrize("options", [{}, {"hidden_act": "relu"}, {"type_vocab_size": 3}])
def test_bert_and_sentences(original, options):
    sizes = {"vocab_size": TOKENS, "hidden_size": 32, "num_hidden_layers": 2,
             "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 24,
             "attn_implementation": "eager"}  # fmt: skip
    config = original.BertConfig(**sizes, **options)
    theirs, ours = shaken(original.BertModel(config), Bert.from_config(config.to_dict()))
    tokens, kinds, mask = ids(3, 16), ids(3, 16) % config.type_vocab_size, np.ones((3, 16), int)
    mask[1, 5:], mask[2, 15:] = 0, 0
    given = [torch.tensor(x) for x in (tokens, mask, kinds)]
    expected, found = theirs(*given), ours(*(td.tensor(x) for x in (tokens, mask, kinds)))
    shown = mask[..., None] != 0
    close(found.last_hidden_state * td.tensor(shown), expected[0] * torch.tensor(shown))
    close(found.pooler_output, expected[1])
    weights = given[1][..., None].float()
    means = (expected[0] * weights).sum(1) / weights.sum(1)
    vectors = torch.nn.functional.normalize(means, dim=-1)
    ours_too = ours.embed(*(td.tensor(x) for x in (tokens, mask, kinds)))
    close(ours_too, vectors, 1e-5)
    joined = torch.cat([vectors, expected[1]], 1)
    gradients_agree(theirs, ours, joined, td.concat([ours_too, found.pooler_output], axis=1))


# ---- Whisper


def whisper(original, **options):
    sizes = {"vocab_size": TOKENS, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2,
             "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48,
             "decoder_ffn_dim": 48, "max_target_positions": 32}  # fmt: skip
    special = {"decoder_start_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
               "bos_token_id": 2, "attn_implementation": "eager"}  # fmt: skip
    config = original.WhisperConfig(**sizes, **special, **options)
    theirs = original.WhisperForConditionalGeneration(config)
    return shaken(theirs, Whisper.from_config(config.to_dict()))


@pytest.mark.parametrize("options", [
    {"max_source_positions": 20}, {"max_source_positions": 9, "num_mel_bins": 128},
    {"max_source_positions": 20, "scale_embedding": True},
])  # fmt: skip
def test_whisper(original, options):
    theirs, ours = whisper(original, **options)
    shape = (2, options.get("num_mel_bins", 80), 2 * options["max_source_positions"])
    bands = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    tokens = ids(2, 12)
    expected = theirs(torch.tensor(bands), decoder_input_ids=torch.tensor(tokens)).logits
    found = ours(td.tensor(bands), td.tensor(tokens))
    close(found, expected)
    gradients_agree(theirs, ours, expected, found)


@pytest.mark.parametrize("bands", [80, 128])
def test_sound_is_heard_as_the_original_hears_it(original, bands):
    extractor = original.WhisperFeatureExtractor(feature_size=bands)
    sound = np.random.default_rng(0).standard_normal(16000).astype(np.float32) * 0.1
    expected = extractor(sound, sampling_rate=16000, return_tensors="np").input_features
    filled = np.pad(sound, (0, 480000 - sound.size))
    found = td.models.whisper.LogMel(bands)(td.tensor(filled[None])).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-4)


# ---- recurrent models and the translation tutorial, in PyTorch's own layers


class Words(torch.nn.Module):
    """Embedding, LSTM, linear layer."""

    def __init__(self, tokens, width, hidden, layers, tied):
        super().__init__()
        self.encoder = torch.nn.Embedding(tokens, width)
        self.rnn = torch.nn.LSTM(width, hidden, layers)
        self.decoder = torch.nn.Linear(hidden, tokens)
        if tied:
            self.decoder.weight = self.encoder.weight

    def forward(self, tokens):
        found, last = self.rnn(self.encoder(tokens.T))
        return self.decoder(found).transpose(0, 1), last


class Characters(torch.nn.Module):
    """One-hot characters, a recurrent layer, a linear one."""

    def __init__(self, tokens, hidden, layers, kind):
        super().__init__()
        self.rnn = getattr(torch.nn, kind.upper())(tokens, hidden, layers, batch_first=True)
        self.decoder = torch.nn.Linear(hidden, tokens)
        self.tokens = tokens

    def forward(self, tokens):
        found, last = self.rnn(torch.nn.functional.one_hot(tokens, self.tokens).float())
        return self.decoder(found), last


@pytest.mark.parametrize("tied", [False, True])
def test_lstm_language_model(tied):
    torch.manual_seed(0)
    sizes = (TOKENS, 16, 16 if tied else 24, 2)
    theirs, ours = shaken(
        Words(*sizes, tied), LSTMLanguageModel(LSTMConfig(*sizes, tie_weights=tied))
    )  # fmt: skip
    tokens = ids(3, 12)
    (expected, last), (found, states) = theirs(torch.tensor(tokens)), ours(td.tensor(tokens))
    close(found, expected)
    close(states[0], last[0])
    close(states[1], last[1])
    gradients_agree(theirs, ours, expected, found)


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
def test_char_rnn(kind):
    torch.manual_seed(0)
    theirs, ours = shaken(
        Characters(20, 16, 2, kind), CharRNN(CharRNNConfig(20, 16, 2, kind))
    )  # fmt: skip
    tokens = ids(3, 12, most=20)
    expected, found = theirs(torch.tensor(tokens))[0], ours(td.tensor(tokens))[0]
    close(found, expected)
    gradients_agree(theirs, ours, expected, found)


class Positions(torch.nn.Module):
    def __init__(self, width, most):
        super().__init__()
        angles = torch.arange(most)[:, None] * torch.exp(
            -torch.arange(0, width, 2) * np.log(10000) / width
        )
        table = torch.stack([angles.sin(), angles.cos()], -1).reshape(most, 1, width)
        self.register_buffer("pos_embedding", table)


class Table(torch.nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.embedding = torch.nn.Embedding(tokens, width)


class Translator(torch.nn.Module):
    def __init__(self, layers, width, heads, source, target, inner, most):
        super().__init__()
        self.transformer = torch.nn.Transformer(width, heads, layers, layers, inner, 0.0)
        self.generator = torch.nn.Linear(width, target)
        self.src_tok_emb, self.tgt_tok_emb = Table(source, width), Table(target, width)
        self.positional_encoding = Positions(width, most)

    def forward(self, source, target, hidden):
        table, width = self.positional_encoding.pos_embedding, self.transformer.d_model
        source, target = (
            embedding.embedding(x.T) * width**0.5 + table[: x.shape[1]]
            for embedding, x in ((self.src_tok_emb, source), (self.tgt_tok_emb, target))
        )
        mask = torch.ones(len(target), len(target)).triu(1).bool()
        found = self.transformer(
            source, target, tgt_mask=mask, src_key_padding_mask=hidden,
            memory_key_padding_mask=hidden,
        )  # fmt: skip
        return self.generator(found).transpose(0, 1)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_the_translation_tutorial_s_model():
    torch.manual_seed(0)
    theirs, ours = shaken(
        Translator(2, 16, 4, 20, 22, 24, 30),
        Seq2SeqTransformer(Seq2SeqConfig(2, 2, 16, 4, 20, 22, 24, 0.0, 30)),
    )
    source, target = ids(3, 9, most=20), ids(3, 7, most=22)
    hidden = np.arange(9) >= np.array([[9], [5], [1]])
    expected = theirs.train()(*(torch.tensor(x) for x in (source, target, hidden)))
    found = ours(*(td.tensor(x) for x in (source, target, hidden)))
    close(found, expected)
    gradients_agree(theirs, ours, expected, found)


# ---- training


def losses_of(theirs, ours, length, steps=50):
    """AdamW on other tokens each step, ours as one compiled program."""
    lr = {"lr": 3e-3}
    optimizer, own = (
        torch.optim.AdamW(theirs.parameters(), **lr),
        td.optim.AdamW(ours.parameters(), **lr),
    )

    def loss_of(found, tokens, f):
        found = found[0] if isinstance(found, tuple) else getattr(found, "logits", found)
        return f(found.reshape(-1, found.shape[-1]), tokens[:, 1:].reshape(-1))

    @td.compile
    def step(tokens):
        own.zero_grad()
        loss = loss_of(ours(tokens[:, :-1]), tokens, F.cross_entropy)
        loss.backward()
        own.step()
        return loss

    found, expected = [], []
    for k in range(steps):
        tokens = ids(4, length, seed=k % 5)
        optimizer.zero_grad()
        given = torch.tensor(tokens)
        loss = loss_of(theirs(given[:, :-1]), given, torch.nn.functional.cross_entropy)
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
        found.append(float(step(td.tensor(tokens))))
    return np.array(found), np.array(expected)


def test_fifty_steps_of_gpt_track_the_original(original):
    found, expected = losses_of(*gpt2(original), 17)
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    assert expected[-1] < 0.8 * expected[0]


def test_fifty_steps_of_llama_track_the_original(original):
    found, expected = losses_of(*decoder(original, "qwen3"), 17)
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    assert expected[-1] < 0.8 * expected[0]


def test_fifty_steps_of_an_lstm_track_the_original():
    torch.manual_seed(0)
    sizes = (TOKENS, 32, 32, 2)
    pair = shaken(Words(*sizes, False), LSTMLanguageModel(LSTMConfig(*sizes)))
    found, expected = losses_of(*pair, 17)
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    assert expected[-1] < 0.95 * expected[0]


def test_gpt2_small_is_what_the_table_of_defaults_says(original):
    theirs = original.GPT2Config()
    assert GPT2Config() == GPT2.config_class(
        **{name: getattr(theirs, name) for name in GPT2Config.__dataclass_fields__}
    )
