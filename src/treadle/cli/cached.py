"""`treadle cache`: how large the disk cache of kernels is, where it is, and a way to empty it."""

from __future__ import annotations

import argparse

from treadle.base import cache
from treadle.cli.info import readable


def show_cache(options: argparse.Namespace) -> int:
    """Print the size or the place of the cache, or remove all of its entries."""
    root = cache.folder()
    if root is None:
        print("the disk cache is off: see TREADLE_CACHE_DIR")
        return 0
    if options.what == "where":
        print(root)
        return 0
    found = cache.entries(root)
    total = readable(sum(size for _, size, _ in found))
    if options.what == "clear":
        cache.trim(root, most=-1)
    verb = "removed" if options.what == "clear" else "in"
    print(f"{len(found):,} kernels, {total}, {verb} {root}")
    return 0
