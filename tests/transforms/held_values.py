"""Every way to hold a value before it is given another, and every way to make one."""

from __future__ import annotations

import numpy as np

import treadle as td

READERS = {
    "a pending sum": lambda x: (x + 1) - 1,
    "a pending view": lambda x: x.flip(0).flip(0),
    "a detached tensor": lambda x: x.detach(),
    "a detached view": lambda x: x.reshape(2, 2).detach().reshape(4),
    "an array": lambda x: x.numpy(),
    "an array by DLPack": np.from_dlpack,
    "a view of an array": lambda x: np.asarray(x)[::-1][::-1],
    "data": lambda x: x.data,
    "a list of entries": lambda x: td.stack(list(x)),
    "a pull back": lambda x: td.vjp(lambda v: v * 1.0, x)[0],
    "a result that is the argument": lambda x: td.compile(lambda v: v)(x),
    "another tensor assigned": lambda x: td.zeros(4).assign(x),
    "a tensor that follows gradients": lambda x: x.detach().requires_grad_(),
}
MAKERS = {
    "memory": lambda: td.tensor([1.0, 2.0, 3.0, 4.0]),
    "pending": lambda: td.arange(4).cast("float32") + 1.0,
    "the user's array": lambda: td.from_numpy(np.arange(1.0, 5.0, dtype=np.float32)),
    "a parameter": lambda: td.nn.Parameter(td.tensor([1.0, 2.0, 3.0, 4.0])),
}
