"""Do batches come onto a GPU, from workers that were forked after it was used?"""

from __future__ import annotations

import numpy as np
import pytest

import treadle as td
from treadle import data

pytest.importorskip("triton")
pytest.importorskip("cuda.bindings")

pytestmark = [
    pytest.mark.gpu, pytest.mark.usefixtures("gpu"),
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),  # JAX's, where it was imported
]  # fmt: skip


@pytest.fixture(scope="module")
def gpu():
    try:
        float(td.ones(2, device="cuda").sum())
    except (td.TreadleError, RuntimeError, OSError) as error:
        pytest.skip(f"no CUDA device: {error}")


class Pictures(data.Dataset):
    """Large enough for shared memory."""

    def __len__(self):
        return 96

    def __getitem__(self, index):
        return np.full((3, 64, 64), index, np.float32), index


@pytest.mark.parametrize(("workers", "persistent"), [(0, False), (2, False), (2, True)])
def test_batches_come_on_a_gpu(workers, persistent):
    weight = td.ones((3 * 64 * 64, 8), device="cuda")
    float((weight @ td.ones((8, 8), device="cuda")).sum())  # the device is in use before the fork
    loader = data.DataLoader(
        Pictures(), 8, True, num_workers=workers, generator=0, device="cuda",
        persistent_workers=persistent,
    )  # fmt: skip
    for _ in range(3):
        seen = []
        for x, y in loader:
            assert x.device.backend == y.device.backend == "cuda"
            for found in (x.min(axis=(1, 2, 3)), x.max(axis=(1, 2, 3))):
                np.testing.assert_array_equal(found.numpy(), y.numpy())
            (x.reshape(8, -1) @ weight).numpy()  # computes while the next ones are copied
            seen += y.tolist()
        assert sorted(seen) == list(range(96))


def test_a_data_set_on_a_gpu_is_read_there():
    x = td.arange(24, device="cuda").reshape(12, 2)
    loader = data.DataLoader(data.TensorDataset(x), 4, True, generator=0)
    found = np.concatenate([batch.numpy() for (batch,) in loader])
    assert sorted(found.ravel().tolist()) == list(range(24))
    (first,) = next(iter(loader))
    assert first.device.backend == "cuda"
