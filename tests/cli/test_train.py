"""`treadle train`: it learns, goes on bit for bit, says where things are, and what is wrong."""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import re
import signal
from pathlib import Path

import pytest

from treadle import io, models
from treadle.cli import train
from treadle.cli.main import main
from treadle.cli.training import config, watching

TINY = [
    "data.bytes=60_000", "data.tokenizer=bytes", "data.context=32", "model.n_positions=32",
    "model.n_embd=32", "model.n_layer=1", "model.resid_pdrop=0.1", "train.evaluate_every=20",
    "train.evaluate_batches=5", "train.checkpoint_every=20",
]  # fmt: skip
README = Path(__file__).parent.parent.parent / "README.md"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words, changes=()):
    return main(["train", *words, *(part for x in changes for part in ("--set", x))])


def losses(folder):
    with open(Path(folder, "log.csv"), newline="") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def weights(folder):
    path = io.Checkpointer(folder / "checkpoints").latest()
    return io.load(path / "model.safetensors")


def test_a_tiny_demo_learns_and_says_where_everything_is(capsys):
    assert run("gpt-stdlib", "--steps", "150", changes=TINY) == 0
    said = capsys.readouterr().out
    first, last = map(float, re.search(r"loss (\S+) -> validation loss (\S+)", said).groups())
    assert first > 5.0
    assert last < 3.0
    assert "def " in said
    folder = Path("runs/gpt-stdlib-1")
    kinds = "model|checkpoints|losses|tensorboard|picture"
    named = re.findall(rf"^(?:{kinds}) +(\S+)$", said, re.MULTILINE)
    assert len(named) >= 4
    assert all(Path(name).exists() for name in named)
    assert len((folder / "log.csv").read_text().splitlines()) == 151
    assert len(io.Checkpointer(folder / "checkpoints").steps()) == 2
    again = models.GPT2.from_pretrained(folder / "model")
    assert again.config.n_layer == 1
    assert main(["generate", str(folder), "--prompt", "def ", "--tokens", "5", "--seed", "0"]) == 0
    assert capsys.readouterr().out.startswith("def ")


def test_the_readme_says_what_the_demo_reaches():
    """A run of the demo itself takes minutes: its settings are what the README's number is of."""
    settings = config.read("gpt-stdlib")
    assert (settings.train.steps, settings.train.batch, settings.model["n_layer"]) == (2000, 8, 4)
    assert re.search(r"validation loss of \d\.\d", README.read_text("utf-8"))


def interrupted(step):
    """Ctrl-C after a step."""

    @contextlib.contextmanager
    def progress(*sizes):
        def show(now, loss, seconds):
            if now == step:
                signal.raise_signal(signal.SIGINT)

        yield show

    return progress


@pytest.mark.parametrize("step", [13, 20])
def test_a_run_that_is_interrupted_goes_on_bit_for_bit(step, monkeypatch, capsys):
    sizes = ["--steps", "45"]
    assert run("gpt-stdlib", *sizes, "--into", "whole", changes=TINY) == 0
    with monkeypatch.context() as patched:
        patched.setattr(train, "progress", interrupted(step))
        assert run("gpt-stdlib", *sizes, "--into", "cut", changes=TINY) == 130
    said = capsys.readouterr().out
    assert f"stopped after step {step}, which is saved" in said
    assert "gpt-stdlib --into cut --resume" in said
    assert run("gpt-stdlib", "--into", "cut", "--resume") == 0
    assert Path("cut/log.csv").read_bytes() == Path("whole/log.csv").read_bytes()
    one, other = weights(Path("whole")), weights(Path("cut"))
    assert one.keys() == other.keys()
    assert all(bool((one[name] == other[name]).all()) for name in one)


def test_what_was_logged_after_the_last_checkpoint_is_logged_once(capsys):
    assert run("mlp-digits", "--steps", "10", changes=["train.checkpoint_every=5"]) == 0
    folder = Path("runs/mlp-digits-1")
    lines = (folder / "log.csv").read_text().splitlines()
    newest = io.Checkpointer(folder / "checkpoints").latest()
    newest.rename(newest.with_name("gone"))  # as if the process had died before it
    (folder / "log.csv").write_text("\n".join([*lines, "11,0.5,0"]))
    assert run("mlp-digits", "--resume") == 0
    assert (folder / "log.csv").read_text().splitlines() == lines


@pytest.mark.filterwarnings("ignore:.*damaged")
def test_a_damaged_checkpoint_is_written_anew(capsys):
    pytest.importorskip("sklearn")
    sizes = ["--into", "r", "--steps", "12"]
    assert run("mlp-digits", *sizes, changes=["train.checkpoint_every=5"]) == 0
    saved = io.Checkpointer("r/checkpoints")
    with open(saved.latest() / "model.safetensors", "ab") as file:
        file.write(b"x")
    assert run("mlp-digits", *sizes, "--resume") == 0
    assert saved.restore(step=12).step == saved.restore().step == 12
    assert saved.steps() == [10, 12]


def test_a_run_keeps_its_settings_if_it_refuses_others(capsys):
    pytest.importorskip("sklearn")
    assert run("mlp-digits", "--into", "r", "--steps", "2") == 0
    before = Path("r/settings.json").read_bytes()
    layers = 'model.layers=[["Flatten"],["Linear",64,7],["ReLU"],["Linear",7,10]]'
    assert run("mlp-digits", "--into", "r", "--resume", changes=[layers]) == 1
    assert Path("r/settings.json").read_bytes() == before
    assert run("mlp-digits", "--into", "r", "--resume") == 0


def test_fewer_steps_than_are_done_are_done(capsys):
    pytest.importorskip("sklearn")
    assert run("mlp-digits", "--into", "r", "--steps", "4") == 0
    assert run("mlp-digits", "--into", "r", "--steps", "3", "--resume") == 0
    assert "stopped" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("optimizer.lr=0.5", "optimizer.lr"),
        ("data.valid=0.5", "data.valid"),
        ("train.seed=3", "train.seed"),
        ("train.steps=8", "the schedule is laid out"),
    ],
)
def test_a_run_that_goes_on_keeps_what_it_was_made_with(change, said, capsys):
    pytest.importorskip("sklearn")
    made = ["optimizer.lr=0.01", "schedule.kind=OneCycleLR", "schedule.max_lr=0.01"]
    made += ["schedule.total_steps=100%", "train.steps=2"]
    assert run("mlp-digits", "--into", "r", changes=made) == 0
    assert run("mlp-digits", "--into", "r", "--resume", changes=[change]) == 1
    assert said in capsys.readouterr().err
    assert len(Path("r/log.csv").read_text().splitlines()) == 3
    assert run("mlp-digits", "--into", "r", "--resume", changes=[*made, "train.clip=1.0"]) == 0


def test_more_steps_where_no_schedule_counts_them(capsys):
    pytest.importorskip("sklearn")
    assert run("mlp-digits", "--into", "r", "--steps", "2") == 0
    assert run("mlp-digits", "--into", "r", "--steps", "4", "--resume") == 0
    assert len(Path("r/log.csv").read_text().splitlines()) == 5


def test_a_schedule_that_ends_too_early_is_refused_before_the_first_step(capsys):
    pytest.importorskip("sklearn")
    short = ["schedule.kind=OneCycleLR", "schedule.max_lr=0.01", "schedule.total_steps=2"]
    assert run("mlp-digits", "--into", "r", "--steps", "3", changes=short) == 1
    assert "schedule: it ends before the run does" in capsys.readouterr().err
    assert not Path("r").exists()
    assert run("mlp-digits", "--into", "r", "--steps", "2", changes=short) == 0
    assert run("mlp-digits", "--into", "r", "--steps", "3", "--resume") == 1
    assert "schedule: it ends before the run does" in capsys.readouterr().err


def test_a_run_on_another_device_and_from_there_to_the_cpu(capsys):
    pytest.importorskip("sklearn")
    assert run("mlp-digits", "--into", "r", "--steps", "2") == 0
    there = ["train.device=reference"]
    assert run("mlp-digits", "--into", "s", "--steps", "2", changes=there) == 0
    assert run("mlp-digits", "--into", "s", "--steps", "4", "--resume", changes=there) == 0
    assert run("mlp-digits", "--into", "r", "--steps", "4", "--resume") == 0
    assert losses("r") == pytest.approx(losses("s"), rel=1e-4)
    here = ["train.device=cpu"]
    assert run("mlp-digits", "--into", "s", "--steps", "6", "--resume", changes=here) == 0
    assert run("mlp-digits", "--into", "t", changes=["train.device=tpu"]) == 1
    assert "unknown device" in capsys.readouterr().err


@pytest.mark.parametrize("valid", ["0", "1", "1e-9"])
def test_a_split_with_nothing_in_a_part_is_refused_at_once(valid, capsys):
    pytest.importorskip("sklearn")
    assert run("mlp-digits", "--into", "r", changes=[f"data.valid={valid}"]) == 1
    assert "nothing is left" in capsys.readouterr().err
    assert not Path("r").exists()


def test_a_model_that_remembers_less_than_the_sample_begins_with(capsys):
    small = ["data.context=2", "model.n_positions=2", "train.evaluate_batches=1"]
    assert run("gpt-stdlib", "--into", "r", "--steps", "1", changes=[*TINY, *small]) == 0
    assert Path("r/model/config.json").is_file()


@pytest.mark.parametrize("name", [name for name in config.presets() if "digits" in name])
def test_presets_of_digits_learn(name, capsys):
    pytest.importorskip("sklearn")
    assert run(name, "--steps", "50", changes=["train.evaluate_every=50"]) == 0
    share = float(re.search(r"([\d.]+) % right", capsys.readouterr().out)[1])
    assert share > 60.0


def test_the_preset_of_an_lstm_runs(capsys):
    small = ["data.bytes=30_000", "data.context=8", "model.nhid=16", "model.ninp=8"]
    assert run("lstm-stdlib", "--steps", "3", changes=small) == 0
    assert "bits for a byte" in capsys.readouterr().out


def test_a_file_of_settings(capsys):
    pytest.importorskip("sklearn")
    Path("wine.toml").write_text(
        '[data]\nkind = "bundled"\nname = "wine"\n[model]\nkind = "MLP"\nin_channels = 13\n'
        'hidden_channels = [16, 3]\n[schedule]\nkind = "OneCycleLR"\nmax_lr = 0.02\n'
        'total_steps = "100%"\n[train]\nsteps = 60\nbatch = 40\n'
    )
    assert run("wine.toml") == 0
    assert float(re.search(r"([\d.]+) % right", capsys.readouterr().out)[1]) > 80.0
    assert run("wine.toml", "--into", "runs/wine-1") == 1
    assert "--resume" in capsys.readouterr().err
    assert run("wine.toml", "--steps", "2") == 0
    assert Path("runs/wine-2/model.safetensors").is_file()


def test_numbers_are_learnt_by_their_distance(capsys):
    pytest.importorskip("sklearn")
    Path("slow.toml").write_text(
        '[data]\nkind = "bundled"\nname = "diabetes"\n[model]\nkind = "Sequential"\n'
        'layers = [["Linear", 10, 1]]\n[optimizer]\nkind = "SGD"\nlr = 0.1\n[train]\nsteps = 50\n'
    )
    assert run("slow.toml") == 0
    first, last = re.search(
        r"loss (\S+) -> validation loss (\S+)", capsys.readouterr().out
    ).groups()
    assert float(last) < float(first) / 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["optimizer.kind=Sgd"], "no such kind"),
        (["optimizer.rate=1"], "rate"),
        (["model.n_layers=2"], "n_layers"),
        (["model.kind=GTP"], "GPT2"),
        (["data.kind=imagenet"], "stdlib"),
        (["data.size=3"], "size"),
        (["data.bytes=100"], "too short"),
        (["data.context=0"], "a window holds"),
        (["data.kind=[1]"], "stdlib"),
        (["schedule.kind=Cosine"], "CosineAnnealingLR"),
        (["train.steps=0"], "steps"),
        (["train.batch=1.5"], "batch"),
        (["train.epochs=3"], "evaluate_every"),
        (["trian.steps=3"], "trian"),
        (["steps=3"], "table.word=value"),
        (["optimizer.kind=LBFGS"], "LBFGS"),
        (["optimizer.lr=1e30"], "not a number"),
    ],
)
def test_what_is_wrong_is_said(changes, said, capsys):
    assert run("gpt-stdlib", changes=[*TINY, "train.steps=30", *changes]) == 1
    assert said in capsys.readouterr().err


def test_files_that_are_no_settings(capsys):
    Path("bad.toml").write_text("[train\n")
    Path("none.toml").write_text("[train]\nsteps = 3\n")
    Path("flat.toml").write_text('model = 3\n[data]\nkind = "stdlib"\n')
    assert run("flat.toml", changes=["model.kind=MLP"]) == 1
    assert run("flat.toml") == 1
    assert capsys.readouterr().err.count("settings stand in tables") == 2
    for name, said in (("bad.toml", "not TOML"), ("none.toml", "kind"), ("gone.toml", "presets")):
        assert run(name) == 1
        assert said in capsys.readouterr().err or name == "gone.toml"
    assert run("mlp-digits", "--resume") == 1
    assert "no run to go on with" in capsys.readouterr().err


def test_presets_are_listed(capsys):
    assert run("--list") == 0
    said = capsys.readouterr().out
    assert all(name in said for name in ("gpt-stdlib", "lstm-stdlib", "mlp-digits", "cnn-digits"))


def test_the_picture_of_the_loss(monkeypatch, tmp_path):
    history = [{"step": str(k), "loss": str(3 / k), "valid_loss": ""} for k in range(1, 30)]
    history[-1]["valid_loss"] = "0.2"
    path = tmp_path / "loss.png"
    if importlib.util.find_spec("matplotlib"):
        assert watching.draw_curve(history, path)
        assert path.read_bytes().startswith(b"\x89PNG")
        path.unlink()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not watching.draw_curve(history, path)
    assert not path.exists()


@pytest.mark.parametrize("is_there", [True, False])
def test_progress_is_shown_with_rich_and_without(is_there, monkeypatch, capsys):
    if is_there:
        pytest.importorskip("rich")
    else:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    with watching.progress(2, 10, 64, "tokens") as show:
        for step in range(3, 11):
            show(step, 4.0, 0.5)
    said = capsys.readouterr().out
    assert "4.000" in said
    assert "128 tokens/s" in said
