"""A content-addressed disk cache: verified on read, written by rename, bounded in size."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from treadle.base.knobs import CACHE_BYTES, CACHE_DIR

VERSION = "1"


def digest(*parts: str | bytes) -> str:
    """A name for content: 40 hex digits over all parts."""
    h = hashlib.sha256(VERSION.encode())
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()[:40]


def folder() -> Path | None:
    """Where entries live; None when the cache is off (TREADLE_CACHE_DIR=off)."""
    chosen = CACHE_DIR.value
    if chosen == "off":
        return None
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("treadle", appauthor=False)


def read(key: str) -> bytes | None:
    """The bytes stored under key, or None if absent or damaged (a damaged entry is removed)."""
    root = folder()
    if root is None:
        return None
    path = root / key[:2] / key
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = data[32:]
    if hashlib.sha256(body).digest() == data[:32]:
        return body
    path.unlink(missing_ok=True)
    return None


def write(key: str, body: bytes) -> None:
    """Store body under key. Readers see all of it or none; a full or read-only disk is no error."""
    root = folder()
    if root is None:
        return
    target = root / key[:2] / key
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(body).digest() + body)
        os.replace(temporary, target)
    except OSError:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        return
    if key.startswith("00"):  # one write in 256 pays for the tidying
        trim(root)


def trim(root: Path) -> None:
    """Remove the least recently written entries until the cache fits TREADLE_CACHE_BYTES."""
    entries = []
    for path in root.glob("??/*"):
        try:
            status = path.stat()
        except OSError:
            continue
        entries.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries, key=lambda entry: entry[0]):
        if total <= CACHE_BYTES.value:
            break
        path.unlink(missing_ok=True)
        total -= size
