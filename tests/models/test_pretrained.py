"""Language models from files: folders in Hugging Face's form, older names, GGUF."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from language_models import ALL, LLAMA3, TOKENS, logits, made, text

import treadle as td
from treadle.base.errors import ArgumentError, NotSupported
from treadle.models import GPT2, Bert, BertConfig, Llama, LlamaConfig
from treadle.models.llama_gguf import in_halves
from treadle.models.rotary import frequencies


def same(one, other):
    np.testing.assert_allclose(
        logits(other, text(9)), logits(one, text(9)), rtol=1e-5, atol=1e-6
    )  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_a_model_goes_into_a_folder_and_comes_back(name, tmp_path):
    model = made(name)
    model.save_pretrained(tmp_path / "model")
    other = type(model).from_pretrained(tmp_path / "model")
    assert not other.training
    for key, value in model.state_dict().items():
        np.testing.assert_array_equal(other.state_dict()[key].numpy(), value.numpy())
    same(model, other)


def test_a_dtype_is_asked_for_or_the_file_s(tmp_path):
    made("llama").bfloat16().save_pretrained(tmp_path)
    wide, kept = Llama.from_pretrained(tmp_path), Llama.from_pretrained(tmp_path, dtype=None)
    assert {p.dtype for p in wide.parameters()} == {td.float32}
    assert {p.dtype for p in kept.parameters()} == {td.bfloat16}


def test_pickled_weights_are_read(tmp_path):
    model = made("gpt2")
    model.save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    td.save({key: x.detach() for key, x in model.state_dict().items()}, tmp_path / "weights.pt")
    (tmp_path / "weights.pt").rename(tmp_path / "pytorch_model.bin")
    same(model, GPT2.from_pretrained(tmp_path))


def test_the_first_files_of_gpt2_are_read():
    """Without `transformer.` and the tied head, with masks."""
    model, state = made("gpt2"), {}
    for key, value in model.state_dict().items():
        if key != "lm_head.weight":
            state[key.removeprefix("transformer.")] = value.numpy()
    state |= {f"h.{k}.attn.bias": np.ones((1, 1, 8, 8), np.float32) for k in range(2)}
    state |= {"h.0.attn.masked_bias": np.float32(-1e4)}
    other = GPT2(model.config).eval()
    other.load_state_dict(state)
    same(model, other)


def test_files_of_bert_with_heads_and_old_names_are_read():
    config = BertConfig(TOKENS, 16, 2, 2, 24, max_position_embeddings=12)
    one, other = Bert(config).eval(), Bert(config).eval()
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    state = {"cls.predictions.bias": np.zeros(3), "bert.embeddings.position_ids": np.arange(12)}
    for key, value in one.state_dict().items():
        for new, name in old.items():
            key = key.replace(new, name)
        state[f"bert.{key}"] = value.numpy()
    other.load_state_dict(state)
    tokens = td.tensor([text(8)])
    np.testing.assert_array_equal(one.embed(tokens).numpy(), other.embed(tokens).numpy())


def test_names_that_differ_are_told():
    model = made("llama")
    state = model.state_dict()
    del state["model.norm.weight"]
    with pytest.raises(ArgumentError, match=r"model\.norm\.weight"):
        model.load_state_dict(state)
    assert model.load_state_dict(state, strict=False).missing_keys == ["model.norm.weight"]


def test_configurations_hold_much_else(tmp_path):
    model = made("qwen2")
    model.save_pretrained(tmp_path)
    given = json.loads((tmp_path / "config.json").read_text())
    given |= {"architectures": ["Qwen2ForCausalLM"], "torch_dtype": "bfloat16", "use_cache": True}
    assert Llama.from_config(given).config == model.config
    del given["rope_theta"], given["rope_scaling"]
    new = given | {"rope_parameters": {"rope_theta": 77.0, "rope_type": "linear", "factor": 2.0}}
    found = Llama.from_config(new).model.rotary_emb.frequencies
    np.testing.assert_allclose(found, [0.5, 77.0**-0.5 / 2], rtol=1e-6)


@pytest.mark.parametrize("kind", ["none", "no config"])
def test_a_folder_without_a_model_is_told(kind, tmp_path):
    if kind == "no config":
        td.save({"x": td.ones(2)}, tmp_path / "model.safetensors")
    with pytest.raises(ArgumentError, match=r"no config\.json"):
        GPT2.from_pretrained(tmp_path)


# ---- positions


def test_frequencies_fall_from_one():
    found, factor = frequencies(8, 10000.0)
    np.testing.assert_allclose(found, [1.0, 0.1, 0.01, 0.001], rtol=1e-12)
    assert factor == 1.0
    assert frequencies(8, 1e4, {"type": "linear", "factor": 4.0})[0][0] == 0.25


def test_llama3_slows_slow_turns_only():
    plain, found = np.array(frequencies(64, 500.0)[0]), np.array(frequencies(64, 500.0, LLAMA3)[0])
    turns = 16 * plain / (2 * np.pi)
    np.testing.assert_array_equal(found[turns >= 4.0], plain[turns >= 4.0])
    np.testing.assert_allclose(found[turns <= 1.0], plain[turns <= 1.0] / 4, rtol=1e-12)
    between = (turns > 1.0) & (turns < 4.0)
    assert between.any()
    assert ((plain[between] / 4 < found[between]) & (found[between] < plain[between])).all()


# ---- GGUF

TYPES = {bool: (7, "<?"), int: (4, "<I"), float: (6, "<f")}
NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}  # fmt: skip


def words(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def gguf(path, metadata, tensors):
    """Write a file of float32 tensors."""
    head = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(metadata))]
    for name, value in metadata.items():
        kind, form = TYPES.get(type(value), (8, ""))
        body = struct.pack(form, value) if form else words(value)
        head += [words(name), struct.pack("<I", kind), body]
    place, data = 0, b""
    for name, value in tensors.items():
        sizes = struct.pack(f"<{value.ndim}Q", *value.shape[::-1])
        head += [words(name), struct.pack("<I", value.ndim), sizes, struct.pack("<IQ", 0, place)]
        body = value.astype("<f4").tobytes()
        data += body + b"\0" * (-len(body) % 32)
        place = len(data)
    start = b"".join(head)
    path.write_bytes(start + b"\0" * (-len(start) % 32) + data)


def in_pairs(rows, heads):
    """As conversions for llama.cpp do: element k of the first half stands beside its partner."""
    halves = rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:])
    return halves.swapaxes(1, 2).reshape(rows.shape)


def converted(model, path, **more):
    config, kind = model.config, model.config.model_type
    own = {
        "block_count": config.num_hidden_layers, "context_length": config.max_position_embeddings,
        "embedding_length": config.hidden_size, "feed_forward_length": config.intermediate_size,
        "attention.head_count": config.num_attention_heads, "rope.freq_base": config.rope_theta,
        "attention.head_count_kv": config.shared, "attention.key_length": config.width,
        "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
    }  # fmt: skip
    metadata = {"general.architecture": kind, "tokenizer.ggml.eos_token_id": 7}
    metadata |= {f"{kind}.{name}": value for name, value in (own | more).items()}
    tensors = {}
    for name, value in model.state_dict().items():
        array = value.numpy()
        if name.startswith("model.layers."):
            _, _, number, *inner, last = name.split(".")
            part = NAMES[".".join(inner)]
            heads = {"attn_q": config.num_attention_heads, "attn_k": config.shared}.get(part)
            if heads and kind in ("llama", "smollm3"):
                array = in_pairs(array, heads)
            tensors[f"blk.{number}.{part}.{last}"] = array
        elif name == "model.embed_tokens.weight":
            tensors["token_embd.weight"] = array
        elif name == "model.norm.weight":
            tensors["output_norm.weight"] = array
        elif not config.tie_word_embeddings:
            tensors["output.weight"] = array
    if config.rope_scaling and config.rope_scaling.get("rope_type") == "llama3":
        scaled, plain = (frequencies(config.width, config.rope_theta, scaling)[0]
                         for scaling in (config.rope_scaling, None))  # fmt: skip
        tensors["rope_freqs.weight"] = np.array(plain) / np.array(scaled)
    gguf(path, metadata, tensors)


@pytest.mark.parametrize("name", ["llama", "llama3", "qwen2", "qwen3"])
def test_a_gguf_file_gives_the_model_it_was_made_of(name, tmp_path):
    model = made(name)
    converted(model, tmp_path / "model.gguf")
    other = Llama.from_pretrained(tmp_path / "model.gguf")
    assert other.end_of_text == 7
    assert other.config.tie_word_embeddings == model.config.tie_word_embeddings
    same(model, other)


def test_a_gguf_file_may_scale_positions(tmp_path):
    model = made("linear")
    scaling = {"rope.scaling.type": "linear", "rope.scaling.factor": 2.0}
    converted(model, tmp_path / "model.gguf", **scaling)
    same(model, Llama.from_pretrained(tmp_path / "model.gguf"))


def test_some_layers_of_smollm3_have_no_positions(tmp_path):
    config = LlamaConfig(
        TOKENS, 16, 24, 5, 4, 2, model_type="smollm3", no_rope_layers=(1, 1, 1, 0, 1)
    )
    model = Llama(config).eval()
    converted(model, tmp_path / "model.gguf")
    other = Llama.from_pretrained(tmp_path / "model.gguf")
    assert other.config.no_rope_layers == (1, 1, 1, 0, 1)
    same(model, other)


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("axes", [1, 2])
def test_rows_go_back_to_halves(heads, axes):
    rows = np.random.default_rng(0).standard_normal((16, 3)[:axes]).astype(np.float32)
    found = in_halves(td.tensor(in_pairs(rows, heads)), heads)
    np.testing.assert_array_equal(found.numpy(), rows)


def test_other_architectures_are_refused(tmp_path):
    gguf(tmp_path / "x.gguf", {"general.architecture": "mamba"}, {"a": np.zeros((2, 32))})
    with pytest.raises(NotSupported, match="known are llama, smollm3, qwen2, qwen3"):
        Llama.from_pretrained(tmp_path / "x.gguf")
