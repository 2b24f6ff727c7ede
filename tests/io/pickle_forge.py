"""Pickles and checkpoints written by hand, right or wrong."""

from __future__ import annotations

import io
import pickle
import zipfile

import numpy as np


def zipped(data, storages=None, root="archive", compression=zipfile.ZIP_STORED, **more):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as archive:
        archive.writestr(f"{root}/data.pkl", data)
        for key, content in (storages or {}).items():
            archive.writestr(f"{root}/data/{key}", content)
        for name, content in more.items():
            archive.writestr(f"{root}/{name}", content)
    return made.getvalue()


def legacy(data, keys=(), storages=b""):
    head = [pickle.dumps(x, 2) for x in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})]
    return b"".join(head) + data + pickle.dumps(list(keys), 2) + storages


def tensor(shape=(2,), stride=(1,), offset=0, count=2, kind="FloatStorage", key="0"):
    """Instructions that make one tensor."""

    def plain(value):
        return pickle.dumps(value, 2)[2:-1]

    storage = b"(" + plain("storage") + f"ctorch\n{kind}\n".encode() + plain(key) + plain("cpu")
    storage += plain(count) + b"tQ"
    rest = plain(offset) + plain(shape) + plain(stride) + b"\x89N"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + rest + b"tR"


def whole(code):
    return b"\x80\x02" + code + b"."


def one(**options):
    return zipped(whole(tensor(**options)), {"0": np.zeros(2, "f4").tobytes()})
