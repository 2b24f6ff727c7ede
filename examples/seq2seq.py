"""Sequence to sequence: an encoder and a decoder learn to write words backwards."""

import sys

import numpy as np

import treadle as td

START, END, FIRST = 0, 1, 2  # tokens that are no letters, and the first that is
LETTERS = 10


def words(rng: np.random.Generator, count: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Random words, and what the decoder is to write: start, the word backwards, end."""
    given = rng.integers(FIRST, FIRST + LETTERS, (count, length))
    edges = [np.full((count, 1), START), given[:, ::-1], np.full((count, 1), END)]
    return given, np.concatenate(edges, 1)


def train(tiny: bool = False) -> float:
    """The share of new words that are turned around without a mistake."""
    td.manual_seed(0)
    rng = np.random.default_rng(0)
    length, width, steps = (3, 32, 250) if tiny else (8, 64, 1500)
    config = td.models.Seq2SeqConfig(
        num_encoder_layers=1, num_decoder_layers=1, emb_size=width, nhead=4, dropout=0.0,
        src_vocab_size=FIRST + LETTERS, tgt_vocab_size=FIRST + LETTERS, dim_feedforward=2 * width,
        maxlen=32,
    )  # fmt: skip
    model = td.models.Seq2SeqTransformer(config)
    optimizer = td.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = td.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, steps)

    @td.compile
    def step(given: td.Tensor, wanted: td.Tensor) -> td.Tensor:
        optimizer.zero_grad()
        scores = model(given, wanted[:, :-1])  # at every place, the tokens before are known
        loss = td.nn.functional.cross_entropy(scores.flatten(0, 1), wanted[:, 1:].flatten())
        loss.backward()
        td.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    for k in range(steps):
        loss = step(*map(td.tensor, words(rng, 64, length)))
        schedule.step()
        if k % 50 == 0:
            print(f"step {k:4d}  loss {float(loss):.3f}")

    given, wanted = words(np.random.default_rng(1), 100, length)
    found = model.translate(given.tolist(), START, END, max_new_tokens=length + 1)
    for row in range(3):
        print(f"{letters(given[row])} -> {letters(found[row])}")
    pairs = zip(found, wanted[:, 1:-1].tolist(), strict=True)
    return float(np.mean([row == right for row, right in pairs]))


def letters(tokens: list[int]) -> str:
    """Tokens as text."""
    return "".join(chr(ord("a") + token - FIRST) for token in tokens)


if __name__ == "__main__":
    print(f"{100 * train('--tiny' in sys.argv):.0f} % of new words are turned around")
