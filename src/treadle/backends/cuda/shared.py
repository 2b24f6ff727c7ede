"""Device memory shared with other libraries, whose work is on streams of their own.

Memory of ours that others read is written anew only after what they had asked for when they let go
of it. Memory of theirs goes back to them when our work with it is done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from cuda.bindings import driver as cu

from treadle.backends.cuda.driver import Gpu, Mark, checked

SUCCESS = cu.CUresult.CUDA_SUCCESS
OF_THE_THREAD = 2  # the driver's name for the default stream of whichever thread asks


class Borrowed:
    """Device memory of another library's, which is told when nobody uses it any more."""

    __slots__ = ("__weakref__", "_home", "_release", "address", "size")
    borrowed = True

    def __init__(self, address: int, size: int, release: Callable[[], None], home: Shared) -> None:
        self.address, self.size = address, size
        self._release, self._home = release, home

    def __del__(self) -> None:
        self._home.leaving.append(self._release)


class Lent:
    """Memory of ours while another library reads it, on a stream; None: it waits by itself."""

    __slots__ = ("_home", "_memory", "_stream")

    def __init__(self, memory: Any, stream: int | None, home: Shared) -> None:
        self._memory, self._stream, self._home = memory, stream, home

    def __del__(self) -> None:
        if self._stream is not None:  # first, then the memory may go
            self._home.readers.append(self._stream)


class Shared:
    """What one device shares."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.leaving: deque[Callable[[], None]] = deque()  # let go of, at any moment
        self.waiting: deque[tuple[Mark, list[Callable[[], None]]]] = deque()
        self.readers: deque[int] = deque()  # streams of those who let go
        gpu.chores.append(self.settle)
        gpu.reliefs.append(self.release)

    def lend(self, memory: Any, stream: int | None) -> Lent:
        """Memory for another library, whose stream waits for what is asked for by now."""
        if stream is not None:
            self.gpu.follow(self.gpu.mark(), stream)
        return Lent(memory, stream, self)

    def borrow(self, address: int, size: int, release: Callable[[], None]) -> Borrowed:
        """Memory of another library's, ready for our stream."""
        return Borrowed(address, size, release, self)

    def settle(self) -> None:
        """See to what others let go of, and give back what our work is done with."""
        while self.readers:
            self._follow(self.readers.popleft())
        if self.leaving:
            mark = self.gpu.mark()
            self.waiting.append((mark, [self.leaving.popleft() for _ in range(len(self.leaving))]))
        while self.waiting and self.gpu.has_come(self.waiting[0][0]):
            for give in self.waiting.popleft()[1]:
                give()

    def _follow(self, stream: int) -> None:
        """Let our work come after a stream's.

        Of one that is gone by now, and of another thread's, nobody can tell: all is waited for.
        """
        mark = Mark()
        if stream == OF_THE_THREAD or cu.cuEventRecord(mark.handle, stream)[0] != SUCCESS:
            checked(cu.cuCtxSynchronize())
        else:
            self.gpu.follow(mark)

    def release(self) -> None:
        """Give back at once what is let go of."""
        self.settle()
        while self.waiting:
            mark, gives = self.waiting.popleft()
            self.gpu.wait_for(mark)
            for give in gives:
                give()
