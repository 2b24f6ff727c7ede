"""What runs on the finished tile of a product in Gluon: results leave, loads come early."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from treadle.backends.cuda.epilogue import EpilogueEmitter, Finished
from treadle.backends.cuda.forms import Form
from treadle.backends.cuda.narrow import loaded, stored
from treadle.kernel.abstract import Ex, Kernel, Store


class GluonEpilogue(EpilogueEmitter):
    """What runs on a finished tile.

    - **leave**: lines by which a result does, by its number
    - **come**: names of what has come already, likewise
    """

    def __init__(
        self, kernel: Kernel, form: Form, at: Finished, leave: Callable[[int, str], list[str]],
        come: Mapping[int, str],
    ) -> None:  # fmt: skip
        super().__init__(kernel, form, at)
        self.leave, self.come = leave, come

    def _load(self, ex: Ex) -> str:
        found = self.come.get(ex.data[0])
        return super()._load(ex) if found is None else loaded(found, ex.dtype)

    def _store(self, s: Store) -> None:
        value = stored(self.value(s.value), self.kernel.arguments[s.buffer].dtype)
        lines = self.leave(s.buffer, value)
        for line in lines:
            self.line(line)
        if not lines:
            super()._store(s)


class SliceEmitter(EpilogueEmitter):
    """What becomes of a slice: what is asked for early is widened when it is used."""

    def ask(self) -> None:
        """For all that lies in memory, at places that nothing has to be looked up for."""
        wanted = [ex for ex in self.kernel.order if ex.op == "load" and not ex.operands]
        self.asked = {ex: self.name(self.read(ex)) for ex in wanted}

    def _load(self, ex: Ex) -> str:
        found = self.asked.get(ex)
        return super()._load(ex) if found is None else loaded(found, ex.dtype)
