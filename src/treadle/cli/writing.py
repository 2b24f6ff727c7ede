"""`treadle generate`: what a model in files on this machine writes after a prompt."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from treadle.base.errors import ArgumentError, FileError, TreadleError, explain
from treadle.data import BPETokenizer, ByteTokenizer, Tokenizer
from treadle.io import open as open_file
from treadle.models import from_pretrained
from treadle.models.gguf_tokens import tokenizer_in
from treadle.models.language import CONFIG

TOKENIZER, MODEL = "tokenizer.json", "model"


def add_options(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("model", type=Path, help="a folder of a model or of a run, or a .gguf file")
    parser.add_argument("--prompt", default="", help="what the text begins with")
    parser.add_argument("--tokens", type=int, default=200, help="so many at most (200)")
    parser.add_argument("--temperature", type=float, default=0.8, help="0: the likeliest (0.8)")
    parser.add_argument("--top-k", type=int, default=40, help="of so many (40); 0: of all")
    parser.add_argument("--top-p", type=float, default=1.0, help="of those with this share (1)")
    parser.add_argument("--repetition-penalty", type=float, default=1.0, help="1: none")
    parser.add_argument("--stop", action="append", default=[], help="a text that ends it")
    parser.add_argument("--seed", type=int, help="of the draws")
    parser.add_argument("--tokenizer", type=Path, help=f"{TOKENIZER}, if it is not in the folder")
    parser.add_argument("--dtype", default="float32", help="of the weights (float32)")
    parser.set_defaults(run=write)


def write(options: argparse.Namespace) -> int:
    """Print the text as it is made; 0 if all went well."""
    try:
        _write(options)
    except BrokenPipeError:  # nobody reads on
        raise
    except (TreadleError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _write(options: argparse.Namespace) -> None:
    folder = options.model
    if not (folder / CONFIG).is_file() and (folder / MODEL / CONFIG).is_file():
        folder = folder / MODEL  # of a run of `treadle train`
    model = from_pretrained(folder, options.dtype)
    if not hasattr(model, "generate"):
        raise ArgumentError(explain("generate", f"{type(model).__name__} writes no text"))
    tokenizer = tokenizer_of(options.tokenizer, folder, model)
    prompt = options.prompt or "\n"
    longest = getattr(model, "max_length", None)
    size = len(tokenizer.encode(prompt))
    room = options.tokens if longest is None else longest + 1 - size
    if room < 1 <= options.tokens:
        raise ArgumentError(
            explain("generate", "the prompt is too long", tokens=size, at_most=longest)
        )
    own = getattr(model, "end_of_text", None)
    ends = [] if own is None else list(own) if isinstance(own, list | tuple) else [own]
    _show(options.prompt)
    model.generate(
        prompt, min(options.tokens, room), temperature=options.temperature, top_k=options.top_k,
        top_p=options.top_p, repetition_penalty=options.repetition_penalty,
        stop=[*ends, *options.stop], seed=options.seed, tokenizer=tokenizer,
        stream=lambda piece, row: _show(piece),
    )  # fmt: skip
    print()


def tokenizer_of(given: Path | None, folder: Path, model: Any) -> Any:
    """The tokenizer of a file; bytes for a model of so few tokens that has none."""
    if given is None and folder.suffix == ".gguf":
        with open_file(folder) as file:
            return tokenizer_in(file.metadata)
    path = given or folder / TOKENIZER
    if given is not None or path.is_file():
        try:
            return BPETokenizer.from_file(path)
        except FileError:  # another kind
            return Tokenizer.from_file(path)
    if model.vocabulary < 256 or model.vocabulary > 300:
        hint = f"--tokenizer {TOKENIZER}"
        raise ArgumentError(explain("generate", "the model has no tokenizer", hint, path=path))
    return ByteTokenizer()


def _show(piece: str) -> None:
    """Print without what would steer a terminal."""
    shown = "".join(c if c.isprintable() or c in "\n\t" else "·" for c in piece)
    print(shown, end="", flush=True)
