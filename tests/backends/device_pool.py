"""Tests on a device, begun all at once in many processes: most of their time is compiling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any


@contextmanager
def begun(request: Any, work: dict[str, Callable[..., Any]]) -> Iterator[dict[str, Future[Any]]]:
    """The work of all chosen tests of a module, by their ids; work: by the names of tests."""
    chosen = [x for x in request.session.items if x.path == request.path and x.originalname in work]
    pool = ProcessPoolExecutor(mp_context=get_context("spawn"))
    yield {x.nodeid: pool.submit(work[x.originalname], **x.callspec.params) for x in chosen}
    pool.shutdown(cancel_futures=True)
