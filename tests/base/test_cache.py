"""Does the disk cache give back what this user put in, and nothing else?"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from treadle.base import cache, trust
from treadle.base.knobs import override

KEY = cache.digest("a test")
BODY = b"\x90\xc3" * 100
with_users = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="the system has no users")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)


@pytest.fixture(autouse=True)
def place(tmp_path):
    """A cache of this test's own."""
    cache._opened.cache_clear()
    root = tmp_path / "cache"
    with override(cache_dir=str(root), cache_secret=str(tmp_path / "own" / "secret")):
        yield root
    cache._opened.cache_clear()


def entry(root: Path) -> Path:
    return root / KEY[:2] / KEY


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def forget() -> None:
    """As a new process would begin."""
    cache._opened.cache_clear()


# ---- entries


def test_what_was_written_is_read(place):
    assert cache.read(KEY) is None
    cache.write(KEY, BODY)
    assert cache.read(KEY) == BODY
    forget()
    assert cache.read(KEY) == BODY


@pytest.mark.parametrize("change", ["body", "signature", "shorter", "empty", "unsigned"])
def test_a_changed_entry_is_removed_and_not_read(place, change):
    cache.write(KEY, BODY)
    path = entry(place)
    data = bytearray(path.read_bytes())
    if change == "body":
        data[-1] ^= 1
    elif change == "signature":
        data[0] ^= 1
    elif change == "unsigned":  # what a digest without a key would say of a body
        data[:32] = hashlib.sha256(data[32:]).digest()
    path.write_bytes(data[:-1] if change == "shorter" else b"" if change == "empty" else data)
    assert cache.read(KEY) is None
    assert not path.exists()


def test_an_entry_under_another_name_is_not_read(place):
    """Both were signed by this user, but for another kernel."""
    other = cache.digest("another")
    cache.write(KEY, BODY)
    (place / other[:2]).mkdir(exist_ok=True)
    shutil.copy(entry(place), place / other[:2] / other)
    assert cache.read(other) is None
    assert cache.read(KEY) == BODY


def test_an_entry_signed_by_somebody_else_is_not_read(place, tmp_path):
    with override(cache_secret=str(tmp_path / "theirs" / "secret")):
        cache.write(KEY, BODY)
        assert cache.read(KEY) == BODY
    assert cache.read(KEY) is None
    assert not entry(place).exists()


def test_the_cache_can_be_off():
    with override(cache_dir="off"):
        cache.write(KEY, BODY)
        assert cache.read(KEY) is None
        assert cache.folder() is None


# ---- folders


@with_users
def test_new_folders_and_files_are_private(place, tmp_path):
    cache.write(KEY, BODY)
    assert [mode(p) for p in (place, place / KEY[:2], tmp_path / "own")] == [0o700] * 3
    assert [mode(p) for p in (entry(place), tmp_path / "own" / "secret")] == [0o600] * 2


def refused(reason: str) -> None:
    with pytest.warns(UserWarning, match=reason) as caught:
        assert cache.read(KEY) is None
    assert "the disk cache stays off" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        cache.write(KEY, BODY)
        assert cache.folder() is None


@with_users
@pytest.mark.parametrize("rights", [0o777, 0o770, 0o720, 0o702, 0o1777])
def test_a_folder_that_others_write_to_is_refused(place, rights):
    cache.write(KEY, BODY)
    place.chmod(rights)
    forget()
    refused("others may write to it")
    assert entry(place).exists()


@as_root
def test_a_folder_of_another_user_is_refused(place):
    cache.write(KEY, BODY)
    os.chown(place, 4321, 4321)
    forget()
    refused("it belongs to another user")


@with_users
def test_a_link_to_a_folder_that_others_write_to_is_refused(place, tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    place.symlink_to(tmp_path / "shared")
    refused("others may write to it")


@with_users
def test_a_folder_that_others_may_replace_is_refused(place, tmp_path):
    above = tmp_path / "above"
    above.mkdir()
    with override(cache_dir=str(above / "cache")):
        cache.write(KEY, BODY)
        above.chmod(0o1777)  # as /tmp: others may not touch what is ours
        forget()
        assert cache.read(KEY) == BODY
        above.chmod(0o777)
        forget()
        refused("others may replace it")


@with_users
@pytest.mark.parametrize("rights", [0o777, 0o770])
def test_the_secret_is_not_kept_where_others_write(tmp_path, rights):
    (tmp_path / "own").mkdir()
    (tmp_path / "own").chmod(rights)
    refused("others may write to it")
    assert not list((tmp_path / "own").iterdir())


def test_a_place_that_cannot_be_used_is_said_where_it_was_chosen(tmp_path, monkeypatch):
    (tmp_path / "own").write_text("a file where a folder should be")
    refused("it cannot be used")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "default"))
    forget()
    with override(cache_dir=""), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.read(KEY) is None


def test_by_default_cache_and_secret_lie_with_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with override(cache_dir="", cache_secret=""):
        cache.write(KEY, BODY)
        if sys.platform == "linux":
            assert entry(tmp_path / "caches" / "treadle").exists()
            assert len((tmp_path / "data" / "treadle" / "cache-secret").read_bytes()) == 32


# ---- the secret


def test_the_secret_stays(tmp_path):
    path = tmp_path / "secret"
    first = trust.secret_in(path)
    assert trust.secret_in(path) == first
    assert len(first) == trust.SECRET_BYTES
    assert [p.name for p in tmp_path.iterdir()] == ["secret"]
    path.unlink()
    assert trust.secret_in(path) != first


@with_users
@pytest.mark.parametrize("rights", [0o644, 0o640, 0o660, 0o606])
def test_a_secret_that_others_could_read_is_replaced(place, tmp_path, rights):
    cache.write(KEY, BODY)
    path = tmp_path / "own" / "secret"
    known = path.read_bytes()
    path.chmod(rights)
    forget()
    assert cache.read(KEY) is None  # whoever knew the secret may have written it
    assert path.read_bytes() != known
    assert mode(path) == 0o600


@as_root
def test_a_secret_of_another_user_is_replaced(tmp_path):
    path = tmp_path / "secret"
    known = trust.secret_in(path)
    os.chown(path, 4321, 4321)
    assert trust.secret_in(path) != known
    assert path.stat().st_uid == os.geteuid()


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 33])
def test_a_damaged_secret_is_replaced(tmp_path, damage):
    path = tmp_path / "secret"
    trust.secret_in(path)
    path.write_bytes(damage)
    assert trust.secret_in(path) not in (damage, damage[:32])


def test_a_file_system_without_links_keeps_a_secret(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "secret"
    assert trust.secret_in(path) == trust.secret_in(path)


RACE = """
import sys, time
from pathlib import Path
from treadle.base import trust
while time.time() < float(sys.argv[2]): pass
print(*(trust.secret_in(Path(sys.argv[1]) / str(k)).hex() for k in range(50)))
"""


def test_processes_that_make_the_secret_at_once_agree(tmp_path):
    command = [sys.executable, "-c", RACE, str(tmp_path), str(time.time() + 1.0)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert len({process.communicate()[0] for process in running}) == 1
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


# ---- what entries are named by


def test_sources_are_known_by_what_they_say(tmp_path, monkeypatch):
    """Another content of the same size and time is another name."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.py").write_text(f"answer = {name!r}\n")
    monkeypatch.setattr(cache, "PACKAGE", tmp_path)

    def name_of(*folders):
        cache.sources.cache_clear()
        return cache.sources(*folders)

    try:
        first, path = name_of("one"), tmp_path / "one" / "kernel.py"
        assert first == name_of("one")
        assert first != name_of("two")
        before = path.stat()
        path.write_text("answer = 'eno'\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        after = path.stat()
        assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
        assert name_of("one") != first
        path.write_text("answer = 'one'\n")  # and the same content at another time is the same
        assert name_of("one") == first
        assert name_of("nowhere") == ""
    finally:
        cache.sources.cache_clear()


def test_names_do_not_run_together():
    assert cache.digest("ab", "c") != cache.digest("a", "bc")
    assert cache.digest("ab") != cache.digest("ab", "")


def test_a_full_cache_drops_what_was_written_first(place):
    for k in range(20):
        key = cache.digest(str(k))
        cache.write(key, bytes(1000))
        os.utime(place / key[:2] / key, (k, k))
    with override(cache_bytes=5 * 1032):
        cache.trim(place)
    left = [cache.read(cache.digest(str(k))) is not None for k in range(20)]
    assert left == [False] * 15 + [True] * 5
