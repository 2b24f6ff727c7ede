"""Whose files may become code: those in folders that only the user writes, signed by a secret.

Whoever can write to a cache of machine code can make us run anything. Rights of folders keep others
out; the secret, a file that only the user reads, tells entries that this user made from any that
were copied, unpacked or left there while others could write.
"""

from __future__ import annotations

import hmac
import os
import stat
import tempfile
from pathlib import Path

SECRET_BYTES = 32
OTHERS_WRITE = 0o022
OTHERS = 0o077
HAS_USERS = hasattr(os, "geteuid")  # elsewhere a profile's folders are the user's own


def signature(secret: bytes, name: str, body: bytes) -> bytes:
    """What only the holder of the secret can say of a body under a name."""
    return hmac.digest(secret, name.encode() + b"\0" + body, "sha256")


def is_signed(signed: bytes, secret: bytes, name: str, body: bytes) -> bool:
    """Was it said of this body under this name?"""
    return hmac.compare_digest(signed, signature(secret, name, body))


def make_folder(folder: Path) -> None:
    """Make a folder that nobody else can look into, if there is none."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def doubt(folder: Path) -> str:
    """Why others could put files into a folder; nothing if they cannot."""
    if not HAS_USERS:
        return ""
    folder = Path(os.path.realpath(folder))
    status = folder.stat()
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    if status.st_mode & OTHERS_WRITE:
        return "others may write to it"
    for above in folder.parents:
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:  # sticky, as /tmp: all may add to it
            return f"others may replace it, because they may write to {above}"
    return ""


def secret_in(path: Path) -> bytes:
    """The secret kept in a file, made now if there is none; OSError if it cannot be."""
    found = _read(path)
    if found is None:
        _write(path)
        found = _read(path)
    if found is None:
        raise PermissionError(f"no secret can be kept in {path}")
    return found


def _read(path: Path) -> bytes | None:
    """What a file holds that was never anybody else's to read or to write."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            found = file.read(SECRET_BYTES + 1)
    except FileNotFoundError:
        return None
    private = not HAS_USERS or (status.st_uid == os.geteuid() and not status.st_mode & OTHERS)
    if private and len(found) == SECRET_BYTES:
        return found
    path.unlink()
    return None


def _write(path: Path) -> None:
    """A new secret; of several processes that do this at once the first decides for all."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")  # with mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(SECRET_BYTES))
        _give_name(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _give_name(temporary: str, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        os.replace(temporary, path)
