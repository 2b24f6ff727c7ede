"""A language model: a GPT, written out, learns bytes of the standard library and writes some.

`treadle train gpt-stdlib` trains a larger one with checkpoints and a bar; this is all of the idea.
"""

import sys

import numpy as np

import treadle as td

nn, F = td.nn, td.nn.functional
BYTES = 256


class Block(nn.Module):
    """Attention over the past, then a perceptron; both add to what they read."""

    def __init__(self, width: int, heads: int) -> None:
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: td.Tensor) -> td.Tensor:
        """(batch, time, width) to the same."""
        batch, time, width = x.shape
        parts = self.qkv(self.norm1(x)).reshape(batch, time, 3, self.heads, width // self.heads)
        q, k, v = (parts[:, :, i].transpose(1, 2) for i in range(3))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, time, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    """Bytes in, scores of the next byte out, at every position."""

    def __init__(self, layers: int, width: int, heads: int, context: int) -> None:
        self.context = context
        self.tokens = nn.Embedding(BYTES, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, BYTES, bias=False)
        for tensor in self.parameters():  # small weights: the first guess is uniform
            if tensor.ndim == 2:
                nn.init.normal_(tensor, std=0.02)

    def forward(self, x: td.Tensor) -> td.Tensor:
        """(batch, time) to (batch, time, 256)."""
        h = self.tokens(x) + self.positions(td.arange(x.shape[1]))
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h))


def sample(model: GPT, count: int) -> str:
    """Bytes drawn one by one, each from the scores that follow the ones before."""
    scores = td.compile(model.forward)
    written = list(b"def ")
    for _ in range(count):
        window = written[-model.context :]
        padded = td.tensor([window + [0] * (model.context - len(window))])
        last = scores(padded)[0, len(window) - 1] / 0.8
        written.append(td.random.categorical(last).item())
    text = bytes(written).decode("utf-8", "replace")
    return "".join(c if c.isprintable() or c == "\n" else "·" for c in text)


def train(tiny: bool = False) -> float:
    """Nats for a byte that it has not seen."""
    td.manual_seed(1)
    layers, width, heads, context, batch = (1, 32, 2, 16, 8) if tiny else (4, 128, 4, 64, 16)
    steps = 150 if tiny else 1200
    text = td.data.stdlib_text(100_000 if tiny else 4_000_000).encode()
    tokens = np.frombuffer(text, np.uint8).astype(np.int64)
    windows = np.lib.stride_tricks.sliding_window_view(tokens, context + 1)[::context]
    cut = len(windows) * 9 // 10
    loader = td.data.DataLoader(td.data.TensorDataset(windows[:cut]), batch, True, generator=1)
    model = GPT(layers, width, heads, context)
    optimizer = td.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = td.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, steps, pct_start=0.1)

    def loss_of(rows: td.Tensor) -> td.Tensor:
        return F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())

    @td.compile
    def step(rows: td.Tensor) -> td.Tensor:
        optimizer.zero_grad()
        loss = loss_of(rows)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    done = 0
    while done < steps:
        for (rows,) in loader:
            loss, done = step(rows), done + 1
            schedule.step()
            if done % 50 == 0 or done == 1:
                print(f"step {done:5d} of {steps}  loss {float(loss):.3f}")
            if done == steps:
                break
    print(f"\n{sample(model, 40 if tiny else 300)}\n")
    with td.no_grad():
        return loss_of(td.tensor(windows[cut : cut + 200])).item()


if __name__ == "__main__":
    print(f"{train('--tiny' in sys.argv):.2f} nats for a byte it has not seen")
