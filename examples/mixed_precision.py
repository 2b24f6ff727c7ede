"""Mixed precision: products in 16 bits, weights and sums in 32, and losses scaled for float16.

Needs scikit-learn: pip install 'treadle[data]'.
"""

import sys

import treadle as td

nn, F = td.nn, td.nn.functional


def fit(dtype: str | None, epochs: int, width: int) -> float:
    """The share of unseen digits that are read by a network trained in a dtype."""
    td.manual_seed(0)
    known, kept_apart = td.data.random_split(td.data.bundled("digits"), [0.8, 0.2], generator=0)
    loader = td.data.DataLoader(known, 64, shuffle=True, drop_last=True, generator=0)
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
        nn.Linear(width, 10),
    )  # fmt: skip
    optimizer = td.optim.AdamW(model.parameters(), lr=2e-3)
    scaler = td.amp.GradScaler(enabled=dtype == "float16")  # bfloat16 reaches as far as float32

    @td.compile  # the scaler's decisions are part of the program
    def step(x: td.Tensor, y: td.Tensor) -> td.Tensor:
        optimizer.zero_grad()
        with td.amp.autocast("cpu", dtype=dtype or "bfloat16", enabled=dtype is not None):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss

    for _ in range(epochs):
        for batch in loader:
            loss = step(*batch)
    x, y = next(iter(td.data.DataLoader(kept_apart, len(kept_apart))))
    with td.no_grad():
        found = (td.argmax(model(x), axis=1) == y).cast("float32").mean().item()
    scale = f", scale {scaler.get_scale():.0f}" if dtype == "float16" else ""
    print(f"{dtype or 'float32':8s}  loss {float(loss):.3f}  {100 * found:.1f} % right{scale}")
    return found


def train(tiny: bool = False) -> float:
    """The worst of three shares: float32, bfloat16 and float16 learn the same."""
    epochs, width = (6, 64) if tiny else (20, 256)
    return min(fit(dtype, epochs, width) for dtype in (None, "bfloat16", "float16"))


if __name__ == "__main__":
    print(f"{100 * train('--tiny' in sys.argv):.1f} % right in the worst of the three")
