"""Names and shapes of the weights of language models: those of the originals, as rules."""

from __future__ import annotations

import pytest

from treadle.base.errors import ArgumentError, NotSupported
from treadle.models import (
    GPT2,
    Bert,
    BertConfig,
    CharRNN,
    CharRNNConfig,
    GPT2Config,
    Llama,
    LlamaConfig,
    LSTMConfig,
    LSTMLanguageModel,
    Seq2SeqConfig,
    Seq2SeqTransformer,
    Whisper,
    WhisperConfig,
)


def linear(name, after, before, bias=True):
    return {f"{name}.weight": (after, before)} | ({f"{name}.bias": (after,)} if bias else {})


def norm(name, width, bias=True):
    return {f"{name}.weight": (width,)} | ({f"{name}.bias": (width,)} if bias else {})


def joined(*parts):
    return {name: shape for part in parts for name, shape in part.items()}


def gpt2(vocabulary, positions, width, layers):
    """Conv1D weights are (in, out)."""

    def conv(name, after, before):
        return {f"{name}.weight": (before, after), f"{name}.bias": (after,)}

    found = {
        "transformer.wte.weight": (vocabulary, width),
        "transformer.wpe.weight": (positions, width),
        "lm_head.weight": (vocabulary, width),
    } | norm("transformer.ln_f", width)
    for k in range(layers):
        h = f"transformer.h.{k}"
        found |= joined(
            norm(f"{h}.ln_1", width), norm(f"{h}.ln_2", width),
            conv(f"{h}.attn.c_attn", 3 * width, width), conv(f"{h}.attn.c_proj", width, width),
            conv(f"{h}.mlp.c_fc", 4 * width, width), conv(f"{h}.mlp.c_proj", width, 4 * width),
        )  # fmt: skip
    return found


def llama(
    vocabulary, width, inner, layers, heads, shared, head, qkv=False, out=False, normed=False
):
    found = {
        "model.embed_tokens.weight": (vocabulary, width), "model.norm.weight": (width,),
        "lm_head.weight": (vocabulary, width),
    }  # fmt: skip
    for k in range(layers):
        layer = f"model.layers.{k}"
        own = f"{layer}.self_attn"
        found |= joined(
            linear(f"{own}.q_proj", heads * head, width, qkv),
            linear(f"{own}.k_proj", shared * head, width, qkv),
            linear(f"{own}.v_proj", shared * head, width, qkv),
            linear(f"{own}.o_proj", width, heads * head, out),
            linear(f"{layer}.mlp.gate_proj", inner, width, False),
            linear(f"{layer}.mlp.up_proj", inner, width, False),
            linear(f"{layer}.mlp.down_proj", width, inner, False),
            norm(f"{layer}.input_layernorm", width, False),
            norm(f"{layer}.post_attention_layernorm", width, False),
        )
        if normed:
            found |= norm(f"{own}.q_norm", head, False) | norm(f"{own}.k_norm", head, False)
    return found


QKV = ("query", "key", "value")


def bert(vocabulary, width, layers, inner, positions, kinds):
    found = {
        "embeddings.word_embeddings.weight": (vocabulary, width),
        "embeddings.position_embeddings.weight": (positions, width),
        "embeddings.token_type_embeddings.weight": (kinds, width),
    } | joined(norm("embeddings.LayerNorm", width), linear("pooler.dense", width, width))
    for k in range(layers):
        layer = f"encoder.layer.{k}"
        found |= joined(
            *(linear(f"{layer}.attention.self.{x}", width, width) for x in QKV),
            linear(f"{layer}.attention.output.dense", width, width),
            norm(f"{layer}.attention.output.LayerNorm", width),
            linear(f"{layer}.intermediate.dense", inner, width),
            linear(f"{layer}.output.dense", width, inner), norm(f"{layer}.output.LayerNorm", width),
        )  # fmt: skip
    return found


def whisper(vocabulary, bands, width, inner, layers, sound, text):
    def attention(name):
        return joined(
            linear(f"{name}.k_proj", width, width, False),
            *(linear(f"{name}.{x}_proj", width, width) for x in ("q", "v", "out")),
        )

    found = {
        "proj_out.weight": (vocabulary, width),
        "model.encoder.conv1.weight": (width, bands, 3), "model.encoder.conv1.bias": (width,),
        "model.encoder.conv2.weight": (width, width, 3), "model.encoder.conv2.bias": (width,),
        "model.encoder.embed_positions.weight": (sound, width),
        "model.decoder.embed_positions.weight": (text, width),
        "model.decoder.embed_tokens.weight": (vocabulary, width),
    }  # fmt: skip
    for side in ("encoder", "decoder"):
        found |= norm(f"model.{side}.layer_norm", width)
        for k in range(layers):
            layer = f"model.{side}.layers.{k}"
            found |= joined(
                attention(f"{layer}.self_attn"), norm(f"{layer}.self_attn_layer_norm", width),
                linear(f"{layer}.fc1", inner, width), linear(f"{layer}.fc2", width, inner),
                norm(f"{layer}.final_layer_norm", width),
            )  # fmt: skip
            if side == "decoder":
                found |= attention(f"{layer}.encoder_attn")
                found |= norm(f"{layer}.encoder_attn_layer_norm", width)
    return found


def recurrent(before, width, layers, gates):
    found = {}
    for k in range(layers):
        found |= {
            f"rnn.weight_ih_l{k}": (gates * width, width if k else before),
            f"rnn.weight_hh_l{k}": (gates * width, width),
            f"rnn.bias_ih_l{k}": (gates * width,), f"rnn.bias_hh_l{k}": (gates * width,),
        }  # fmt: skip
    return found


def seq2seq(layers, width, source, target, inner, most):
    found = {
        "positional_encoding.pos_embedding": (most, 1, width),
        "src_tok_emb.embedding.weight": (source, width),
        "tgt_tok_emb.embedding.weight": (target, width),
    } | linear("generator", target, width)
    for side, attentions in (
        ("encoder", ("self_attn",)),
        ("decoder", ("self_attn", "multihead_attn")),
    ):
        found |= norm(f"transformer.{side}.norm", width)
        for k in range(layers):
            layer = f"transformer.{side}.layers.{k}"
            found |= linear(f"{layer}.linear1", inner, width)
            found |= linear(f"{layer}.linear2", width, inner)
            for number, name in enumerate(attentions):
                found |= norm(f"{layer}.norm{number + 1}", width)
                found |= linear(f"{layer}.{name}.out_proj", width, width)
                found |= {f"{layer}.{name}.in_proj_weight": (3 * width, width)}
                found |= {f"{layer}.{name}.in_proj_bias": (3 * width,)}
            found |= norm(f"{layer}.norm{len(attentions) + 1}", width)
    return found


SMALL = {
    "vocab_size": 20, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2,
}  # fmt: skip
MODELS = {
    "gpt2": (
        lambda: GPT2(GPT2Config(vocab_size=20, n_positions=8, n_embd=16, n_layer=3, n_head=2)),
        gpt2(20, 8, 16, 3)),
    "llama": (lambda: Llama(LlamaConfig(**SMALL)), llama(20, 16, 24, 2, 4, 2, 4)),
    "llama with biases": (
        lambda: Llama(LlamaConfig(**SMALL, attention_bias=True)),
        llama(20, 16, 24, 2, 4, 2, 4, qkv=True, out=True)),
    "wide heads": (lambda: Llama(LlamaConfig(**SMALL, head_dim=6)), llama(20, 16, 24, 2, 4, 2, 6)),
    "qwen2": (
        lambda: Llama(LlamaConfig(**SMALL, model_type="qwen2", tie_word_embeddings=True)),
        llama(20, 16, 24, 2, 4, 2, 4, qkv=True)),
    "qwen3": (
        lambda: Llama(LlamaConfig(**SMALL, model_type="qwen3", head_dim=8)),
        llama(20, 16, 24, 2, 4, 2, 8, normed=True)),
    "smollm3": (
        lambda: Llama(LlamaConfig(**SMALL, model_type="smollm3", no_rope_layers=(1, 0))),
        llama(20, 16, 24, 2, 4, 2, 4)),
    "bert": (lambda: Bert(BertConfig(20, 16, 2, 4, 24, max_position_embeddings=9)),
             bert(20, 16, 2, 24, 9, 2)),
    "whisper": (
        lambda: Whisper(WhisperConfig(
            20, 10, 16, 2, 4, 24, 2, 4, 24, max_source_positions=6, max_target_positions=7)),
        whisper(20, 10, 16, 24, 2, 6, 7)),
    "char-rnn": (lambda: CharRNN(CharRNNConfig(12, 8, 2, "gru")),
                 recurrent(12, 8, 2, 3) | linear("decoder", 12, 8)),
    "lstm": (
        lambda: LSTMLanguageModel(LSTMConfig(20, 6, 8, 2)),
        {"encoder.weight": (20, 6)} | recurrent(6, 8, 2, 4) | linear("decoder", 20, 8)),
    "seq2seq": (lambda: Seq2SeqTransformer(Seq2SeqConfig(2, 2, 16, 4, 20, 21, 24, maxlen=30)),
                seq2seq(2, 16, 20, 21, 24, 30)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_weights_have_the_names_and_shapes_of_the_original(name):
    make, expected = MODELS[name]
    assert {key: value.shape for key, value in make().state_dict().items()} == expected


def test_gpt2_small_has_as_many_weights_as_the_original():
    config = GPT2Config()
    assert sum(p.size for p in GPT2(config).parameters()) == 124_439_808


def test_tied_layers_are_one_parameter():
    model = Llama(LlamaConfig(**SMALL, tie_word_embeddings=True))
    assert model.lm_head.weight is model.model.embed_tokens.weight
    free = Llama(LlamaConfig(**SMALL))
    assert free.lm_head.weight is not free.model.embed_tokens.weight


@pytest.mark.parametrize(("options", "said"), [
    ({"model_type": "gemma"}, "known are llama"),
    ({"model_type": "mistral", "sliding_window": 16}, "last tokens only"),
    ({"model_type": "qwen2", "sliding_window": 16, "use_sliding_window": True}, "last tokens only"),
    ({"rope_scaling": {"rope_type": "longrope"}}, "known are default, linear"),
    ({"rope_scaling": {"rope_type": "linear"}}, "needs factor"),
])  # fmt: skip
def test_what_would_give_other_numbers_is_refused(options, said):
    with pytest.raises(NotSupported, match=said):
        Llama(LlamaConfig(**SMALL, **options))


def test_activations_and_layers_are_known_by_name():
    with pytest.raises(ArgumentError, match="no such activation"):
        GPT2(GPT2Config(vocab_size=9, n_embd=8, n_layer=1, n_head=2, activation_function="sin"))
    with pytest.raises(ArgumentError, match="no such layer"):
        CharRNN(CharRNNConfig(model="transformer"))
    with pytest.raises(ArgumentError, match="nhid"):
        LSTMLanguageModel(LSTMConfig(10, 4, 8, tie_weights=True))
