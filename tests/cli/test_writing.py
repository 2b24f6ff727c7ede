"""`treadle generate`: text from a model in files, and what is said when there is none."""

from __future__ import annotations

import pytest

import treadle as td
from treadle.cli.main import main
from treadle.data import BPETokenizer

SOURCE = "def one(x):\n    return x\n\n\ndef other(y):\n    return y + one(y)\n" * 3


@pytest.fixture
def folder(tmp_path):
    td.manual_seed(0)
    tokenizer = BPETokenizer.train(SOURCE, 280)
    config = td.models.GPT2Config(
        vocab_size=tokenizer.vocab_size, n_positions=64, n_embd=16, n_layer=1, n_head=2,
        eos_token_id=None,
    )  # fmt: skip
    model = td.models.GPT2(config).eval()
    model.save_pretrained(tmp_path / "run" / "model")
    tokenizer.save(tmp_path / "run" / "model" / "tokenizer.json")
    text = model.generate("def ", 12, temperature=0, tokenizer=tokenizer)
    return tmp_path / "run", "".join(c if c.isprintable() or c in "\n\t" else "·" for c in text)


@pytest.mark.parametrize("inner", ["", "model"])
def test_a_folder_of_a_run_or_of_a_model_writes(folder, inner, capsys):
    place, text = folder
    options = ["--prompt", "def ", "--tokens", "12", "--temperature", "0"]
    assert main(["generate", str(place / inner), *options]) == 0
    assert capsys.readouterr().out == f"def {text}\n"


def test_a_text_ends_where_it_is_told_to(folder, capsys):
    place, text = folder
    options = ["--prompt", "def ", "--tokens", "12", "--temperature", "0", "--stop", text[2]]
    assert main(["generate", str(place), *options]) == 0
    assert capsys.readouterr().out == f"def {text[: text.index(text[2])]}\n"


def test_a_seed_decides_and_a_text_is_as_long_as_fits(folder, capsys):
    texts = []
    for seed in (1, 1, 2):
        assert main(["generate", str(folder[0]), "--tokens", "500", "--seed", str(seed)]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2]


def test_what_is_wrong_is_said(folder, tmp_path, capsys):
    assert main(["generate", str(tmp_path / "nothing")]) == 1
    assert "no config.json" in capsys.readouterr().err
    assert main(["generate", str(folder[0]), "--prompt", "\N{SNOWMAN}" * 22]) == 1
    assert "the prompt is too long (tokens=66, at_most=64)" in capsys.readouterr().err
    assert main(["generate", str(folder[0]), "--dtype", "int8"]) == 1
    assert "not a float" in capsys.readouterr().err
    (folder[0] / "model" / "config.json").write_text('{"model_type": "mamba"}')
    assert main(["generate", str(folder[0])]) == 1
    assert "known are bert" in capsys.readouterr().err
    bert = td.models.Bert(td.models.BertConfig(20, 8, 1, 2, 8))
    bert.save_pretrained(tmp_path / "bert")
    assert main(["generate", str(tmp_path / "bert")]) == 1
    assert "writes no text" in capsys.readouterr().err
    model = td.models.CharRNN(td.models.CharRNNConfig(vocab_size=20, rnn_size=4))
    model.save_pretrained(tmp_path / "characters")
    assert main(["generate", str(tmp_path / "characters")]) == 1
    assert "no tokenizer" in capsys.readouterr().err


def test_bytes_need_no_tokenizer(tmp_path, capsys):
    model = td.models.CharRNN(td.models.CharRNNConfig(vocab_size=256, rnn_size=4))
    model.save_pretrained(tmp_path)
    assert main(["generate", str(tmp_path), "--prompt", "abc", "--tokens", "4"]) == 0
    assert capsys.readouterr().out.startswith("abc")
