"""`treadle train`: a preset or a TOML file to a trained model, its checkpoints and its curve."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
import time
from pathlib import Path

from treadle.base.errors import TreadleError
from treadle.cli.output import say
from treadle.cli.training.config import kept, presets, read
from treadle.cli.training.run import CHECKPOINTS, EVENTS, LOG, Run
from treadle.cli.training.watching import draw_curve, interrupts, progress
from treadle.io import save

CURVE, MODEL = "loss.png", "model"


def add_options(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("what", nargs="?", help="a preset or a TOML file")
    parser.add_argument("--list", action="store_true", help="the presets")
    parser.add_argument("--into", metavar="FOLDER", type=Path, help="where all of it goes")
    parser.add_argument(
        "--resume", action="store_true", help="go on with the newest run, or --into"
    )
    parser.add_argument("--steps", type=int, help="so many steps")
    parser.add_argument(
        "--set", metavar="TABLE.WORD=VALUE", action="append", default=[], dest="changes",
        help="change a setting, such as optimizer.lr=0.01",
    )  # fmt: skip
    parser.set_defaults(run=train)


def train(options: argparse.Namespace) -> int:
    """Train; 0 if all went well."""
    if options.list or options.what is None:
        for name, line in presets().items():
            print(f"{name:14s} {line}")
        return 0 if options.list else 2
    try:
        return _train(options)
    except (TreadleError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


def _train(options: argparse.Namespace) -> int:
    changes = [
        *options.changes,
        *([] if options.steps is None else [f"train.steps={options.steps}"]),
    ]
    config, folder = read(options.what, changes), options.into
    if options.resume:
        folder = folder or _newest(config.name)
        config = kept(folder, changes)
    elif folder is not None and (folder / CHECKPOINTS).is_dir():
        print(f"{folder} holds a run: --resume goes on with it", file=sys.stderr)
        return 1
    run = Run(config, folder or _fresh(config.name))
    if options.resume:
        run.resume()
    run.begin()  # settings that a run does not take are not kept
    say(_facts(run))
    started = time.perf_counter()
    sizes = (run.done, config.train.steps, run.size * run.task.each, run.task.unit)
    with interrupts() as stopping, progress(*sizes) as show:
        ended = run.train(show, stopping)
    if not ended:
        words = [*_command(), "train", options.what, "--into", str(run.folder), "--resume"]
        say(f"stopped after step {run.done}, which is saved. To go on:\n  {shlex.join(words)}")
        return 130
    _end(run, time.perf_counter() - started)
    return 0


def _newest(name: str) -> Path:
    numbers = _numbers(name)
    return Path("runs", f"{name}-{max(numbers, default=1)}")


def _fresh(name: str) -> Path:
    return Path("runs", f"{name}-{max(_numbers(name), default=0) + 1}")


def _numbers(name: str) -> list[int]:
    found = [path.name.removeprefix(f"{name}-") for path in Path("runs").glob(f"{name}-*")]
    return [int(text) for text in found if text.isdecimal()]


# ---- what is said


def _command() -> list[str]:
    """How this program was started."""
    program = sys.argv[0]
    is_module = program.endswith("__main__.py")
    return [sys.executable, "-m", "treadle"] if is_module else [program]


def _facts(run: Run) -> str:
    count = sum(p.size for p in run.model.parameters())
    sizes = f"{len(run.task.train) * run.task.each:,} {run.task.unit}"
    start = f", from step {run.done}" if run.done else ""
    return f"{run.config.name}: {count:,} parameters, {sizes} to learn from{start}"


def _end(run: Run, seconds: float) -> None:
    """The losses, a sample of a language model, and where everything is."""
    history = run.history()
    found = run.judge()
    right = "" if found.right is None else f", {100 * found.right:.1f} % right"
    first = float(history[0]["loss"])
    say(f"loss {first:.2f} -> validation loss {found.loss:.2f}{right} in {seconds:.0f} s")
    if run.task.tokenizer is not None:
        bits = found.loss / run.task.bytes_each / math.log(2)
        say(f"{bits:.2f} bits for a byte of text it has not seen")
        say(f"\n{sample(run)}\n")
    drawn = draw_curve(history, run.folder / CURVE)
    if not drawn:
        say("no picture of the loss: pip install 'treadle[demo]' brings matplotlib")
    places = {
        "model": _keep_model(run), "checkpoints": run.folder / CHECKPOINTS,
        "losses": run.folder / LOG, "tensorboard": run.folder / EVENTS,
    }  # fmt: skip
    for name, path in (places | ({"picture": run.folder / CURVE} if drawn else {})).items():
        say(f"{name:12s} {path}")


def sample(run: Run, prompt: str = "def ", count: int = 100) -> str:
    """What the model writes, without what would steer a terminal."""
    most = getattr(run.model, "max_length", None) or count + 10
    prompt = prompt[:most]
    size = min(count, most + 1 - len(run.task.tokenizer.encode(prompt)))
    text = prompt + run.model.generate(
        prompt, size, temperature=0.8, top_k=40, tokenizer=run.task.tokenizer, seed=1
    )
    return "".join(c if c.isprintable() or c == "\n" else "·" for c in text)


def _keep_model(run: Run) -> Path:
    """Weights alone, in files that other programs read; a language model with its tokenizer."""
    if not hasattr(run.model, "save_pretrained"):
        path = run.folder / f"{MODEL}.safetensors"
        save(run.model.state_dict(), path)
        return path
    run.model.save_pretrained(run.folder / MODEL)
    if hasattr(run.task.tokenizer, "save"):
        run.task.tokenizer.save(run.folder / MODEL / "tokenizer.json")
    return run.folder / MODEL
