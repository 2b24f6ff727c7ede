"""A content-addressed disk cache: signed by the user, written by rename, bounded in size."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

from treadle.base import trust
from treadle.base.errors import explain
from treadle.base.knobs import CACHE_BYTES, CACHE_DIR, CACHE_SECRET

VERSION = "2"
SIGNATURE_BYTES = 32
PACKAGE = Path(__file__).parents[1]


def digest(*parts: str | bytes) -> str:
    """A name for content: 40 hex digits over all parts."""
    h = hashlib.sha256(VERSION.encode())
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()[:40]


@cache
def sources(*folders: str) -> str:
    """A name for what the modules in some of our folders say; nothing if they are no files."""
    parts: list[str | bytes] = []
    try:
        for folder in folders:
            for name in sorted(os.listdir(PACKAGE / folder)):
                if name.endswith(".py"):
                    parts += [name, (PACKAGE / folder / name).read_bytes()]
    except OSError:  # imported from an archive
        return ""
    return digest(*parts)


class Store(NamedTuple):
    """A folder of entries, and the secret that signs them."""

    root: Path
    secret: bytes


def folder() -> Path | None:
    """Where entries live; None when the cache is off (TREADLE_CACHE_DIR=off), or not to trust."""
    store = _store()
    return None if store is None else store.root


def read(key: str) -> bytes | None:
    """The bytes stored under key, or None if absent or not ours (such an entry is removed)."""
    store = _store()
    if store is None:
        return None
    path = os.path.join(store.root, key[:2], key)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    signed, body = data[:SIGNATURE_BYTES], data[SIGNATURE_BYTES:]
    if trust.is_signed(signed, store.secret, key, body):
        return body
    Path(path).unlink(missing_ok=True)
    return None


def write(key: str, body: bytes) -> None:
    """Store body under key. Readers see all of it or none; a full or read-only disk is no error."""
    store = _store()
    if store is None:
        return
    target = store.root / key[:2] / key
    temporary = ""
    try:
        trust.make_folder(target.parent)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(trust.signature(store.secret, key, body) + body)
        os.replace(temporary, target)
    except OSError:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        return
    if key.startswith("00"):  # one write in 256 pays for the tidying
        trim(store.root)


def entries(root: Path) -> list[tuple[float, int, Path]]:
    """(time of writing, bytes, file) of every entry."""
    found = []
    for path in root.glob("??/*"):
        try:
            status = path.stat()
        except OSError:
            continue
        found.append((status.st_mtime, status.st_size, path))
    return found


def trim(root: Path, most: int | None = None) -> None:
    """Remove the least recently written entries until at most so many bytes are left."""
    most = CACHE_BYTES.value if most is None else most
    found = entries(root)
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found, key=lambda entry: entry[0]):
        if total <= most:
            break
        path.unlink(missing_ok=True)
        total -= size


def _store() -> Store | None:
    chosen = CACHE_DIR.value
    return None if chosen == "off" else _opened(chosen, CACHE_SECRET.value)


@cache
def _opened(chosen: str, secret: str) -> Store | None:
    """The store in a folder, looked at once; None, with a warning, if others could write to it."""
    root = Path(chosen) if chosen else _own("user_cache_path")
    kept = Path(secret) if secret else _own("user_data_path") / "cache-secret"
    try:
        for place in (root, kept.parent):
            trust.make_folder(place)
            doubt = trust.doubt(place)
            if doubt:
                _warn(doubt, "TREADLE_CACHE_DIR, TREADLE_CACHE_SECRET", place)
                return None
        return Store(root, trust.secret_in(kept))
    except OSError as error:  # a home that cannot be written to is no error
        if chosen:
            _warn(f"it cannot be used: {error}", "TREADLE_CACHE_SECRET", kept)
        return None


def _own(kind: str) -> Path:
    """A folder of the user's, where the system has such folders."""
    import platformdirs

    found: Path = getattr(platformdirs, kind)("treadle", appauthor=False)
    return found


def _warn(reason: str, knobs: str, place: Path) -> None:
    wrong, hint = f"the disk cache stays off: {reason}", f"choose another place: {knobs}"
    warnings.warn(explain("cache", wrong, hint, place=place), stacklevel=3)
