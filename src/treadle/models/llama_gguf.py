"""Llama's form from the names and metadata of GGUF files.

Conversions reorder the rows of queries and keys of some architectures, so that neighbouring
elements of a head turn together; here the halves do, and rows go back to where they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treadle.base.errors import NotSupported, explain
from treadle.models.llama_config import LlamaConfig
from treadle.tensor.tensor import Tensor

REORDERED = ("llama", "smollm3")
ARCHITECTURES = (*REORDERED, "qwen2", "qwen3")
NO_POSITIONS_EACH = 4  # smollm3: the last of so many layers has none; files do not say so

TOP = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
LAYER = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}  # fmt: skip


def config_of(metadata: Mapping[str, Any], tensors: Mapping[str, Any]) -> LlamaConfig:
    """The configuration that a file's metadata say, and which tensors it has."""
    kind = metadata.get("general.architecture")
    if kind not in ARCHITECTURES:
        hint = f"known are {', '.join(ARCHITECTURES)}"
        raise NotSupported(explain("Llama", "another architecture", hint, architecture=kind))
    own = {
        name.removeprefix(f"{kind}."): value for name, value in metadata.items()
        if name.startswith(f"{kind}.")
    }  # fmt: skip
    layers, heads = own["block_count"], own["attention.head_count"]
    return LlamaConfig(
        vocab_size=tensors["token_embd.weight"].shape[0],
        hidden_size=own["embedding_length"],
        intermediate_size=own["feed_forward_length"],
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=own.get("attention.head_count_kv", heads),
        head_dim=own.get("attention.key_length"),
        max_position_embeddings=own["context_length"],
        rms_norm_eps=own["attention.layer_norm_rms_epsilon"],
        tie_word_embeddings="output.weight" not in tensors,
        rope_theta=own.get("rope.freq_base", 10000.0),
        rope_scaling=_scaling(own, tensors),
        attention_bias="blk.0.attn_output.bias" in tensors,
        mlp_bias="blk.0.ffn_down.bias" in tensors,
        no_rope_layers=_with_positions(layers) if kind == "smollm3" else None,
        eos_token_id=metadata.get("tokenizer.ggml.eos_token_id"),
        model_type=kind,
    )


def _with_positions(layers: int) -> tuple[int, ...]:
    return tuple(int((k + 1) % NO_POSITIONS_EACH != 0) for k in range(layers))


def _scaling(own: Mapping[str, Any], tensors: Mapping[str, Any]) -> dict[str, Any] | None:
    if "rope_freqs.weight" in tensors:
        factors = tensors["rope_freqs.weight"]
        return {"rope_type": "divided", "factors": factors.numpy().tolist()}
    kind = own.get("rope.scaling.type", "none")
    if kind == "none":
        return None
    length = own.get("rope.scaling.original_context_length")
    factor = own.get("rope.scaling.factor", 1.0)
    return {"rope_type": kind, "factor": factor, "original_max_position_embeddings": length}


def weights_of(config: LlamaConfig, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights by Hugging Face's names, rows in Hugging Face's order."""
    found = {}
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.shared}
    for name in tensors:
        if name == "rope_freqs.weight":
            continue
        *before, part, kind = name.split(".")
        if before[:1] == ["blk"] and part in LAYER:
            value = tensors[name]
            if part in heads and config.model_type in REORDERED:
                value = in_halves(value, heads[part])
            found[f"model.layers.{before[1]}.{LAYER[part]}.{kind}"] = value
        else:
            found[f"{TOP.get(part, part)}.{kind}"] = tensors[name]
    return found


def in_halves(rows: Tensor, heads: int) -> Tensor:
    """Rows of each head: first those that were at even places, then those at odd ones."""
    width = rows.shape[0] // heads
    pairs = rows.reshape((heads, width // 2, 2, *rows.shape[1:]))
    return pairs.transpose(1, 2).reshape(rows.shape)
