"""L-BFGS: steps from the curvature that the last gradients show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from treadle.base.errors import ArgumentError, explain
from treadle.functions import concat
from treadle.optim.group import Group
from treadle.optim.line_search import Point, strong_wolfe
from treadle.optim.optimizer import Optimizer, Params
from treadle.optim.saving import matched_groups
from treadle.tensor.creation import tensor
from treadle.tensor.gradients import enable_grad, no_grad
from treadle.tensor.tensor import Tensor, realize
from treadle.tensor.tracing import TRACE


class LBFGS(Optimizer):
    """Newton's step, with the curvature taken from the last history_size gradients.

    `step(closure)` calls the closure several times: it clears the gradients, computes the loss,
    calls backward() and returns the loss. A step looks at values to decide what to do next, so the
    closure may be compiled but not the step. All parameters are one group.

    - **max_iter**, **max_eval**: iterations, and calls of the closure, in one step
    - **tolerance_grad**, **tolerance_change**: where to stop
    - **line_search_fn**: None, or "strong_wolfe"
    """

    def __init__(
        self, params: Params, lr: float = 1.0, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        settings = {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        }  # fmt: skip
        self.fixed = tuple(settings)  # Python's numbers decide
        super().__init__(params, settings)
        self.state[self.param_groups[0].params[0]] = self._begun()

    @staticmethod
    def _begun() -> dict[str, Any]:
        return {"func_evals": 0, "n_iter": 0, "d": None, "t": None, "old_dirs": [], "old_stps": [],
                "ro": [], "H_diag": 1.0, "prev_flat_grad": None, "prev_loss": None}  # fmt: skip

    def accept(self, group: Group) -> None:
        """There is one group, and its curvature is one."""
        if self.param_groups and group is not self.param_groups[0]:
            raise ArgumentError(explain("optimizer", "LBFGS takes one group of parameters"))

    @property
    def _memory(self) -> dict[str, Any]:
        return self.state[self.param_groups[0].params[0]]

    # ---- a step

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Go on until a limit or a tolerance is reached; returns the first loss."""
        if closure is None or TRACE:
            hint = "optimizer.step(closure), where the closure may be a compiled function"
            wrong = "LBFGS calls a closure, and looks at what it returns"
            raise ArgumentError(explain("optimizer", wrong, hint))

        def evaluate() -> tuple[Any, Tensor]:
            with enable_grad():
                found = closure()
            return found, self._gradient()

        with no_grad():
            first, gradient = evaluate()
            self._memory["func_evals"] += 1
            if _largest(gradient) > self.param_groups[0]["tolerance_grad"]:
                self._iterate(evaluate, float(first), gradient)
        return first

    def _iterate(self, evaluate: Callable[[], tuple[Any, Tensor]], loss: float, g: Tensor) -> None:
        group, memory, calls = self.param_groups[0], self._memory, 1
        for k in range(1, group["max_iter"] + 1):
            memory["n_iter"] += 1
            d = self._direction(g)
            t = float(group["lr"])
            if memory["n_iter"] == 1:
                t *= min(1.0, 1.0 / float(abs(g).sum()))
            before, slope = loss, _dot(g, d)
            memory.update(prev_flat_grad=g, prev_loss=loss, d=d, t=t)
            if slope > -group["tolerance_change"]:
                return
            made = 0
            if group["line_search_fn"] is not None:
                start, most = Point(0.0, loss, g, slope), group["max_eval"] - calls
                point = self._along(evaluate, d)
                (t, loss, g, _), made = strong_wolfe(point, start, t, _largest(d), most)
                self._move(d, t)
            else:
                self._move(d, t)
                if k < group["max_iter"]:
                    found, g = evaluate()
                    loss, made = float(found), 1
            memory["t"] = t
            calls += made
            memory["func_evals"] += made
            if (
                calls >= group["max_eval"]
                or _largest(g) <= group["tolerance_grad"]
                or _largest(d) * abs(t) <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                return

    def _direction(self, g: Tensor) -> Tensor:
        """The gradient times what is known of the inverse curvature, downhill."""
        memory = self._memory
        y_s, s_s, ro = memory["old_dirs"], memory["old_stps"], memory["ro"]
        if memory["n_iter"] == 1:
            return (-g).realize()
        y, s = g - memory["prev_flat_grad"], memory["d"] * memory["t"]
        realize(y, s)
        fit = (y * s).sum()
        if float(fit) > 1e-10:
            if len(y_s) == self.param_groups[0]["history_size"]:
                for history in (y_s, s_s, ro):
                    history.pop(0)
            y_s.append(y)
            s_s.append(s)
            ro.append(1.0 / fit)
            memory["H_diag"] = fit / (y * y).sum()
            realize(ro[-1], memory["H_diag"])
        # One small program for each pair: a large one would be another for every length of history.
        q, parts = -g, []
        for y, s, r in zip(reversed(y_s), reversed(s_s), reversed(ro), strict=True):
            parts.append((s * q).sum() * r)
            q = q - y * parts[-1]
            realize(q, parts[-1])
        d = q * memory["H_diag"]
        for y, s, r, part in zip(y_s, s_s, ro, reversed(parts), strict=True):
            d = (d + s * (part - (y * d).sum() * r)).realize()
        return d.realize()

    # ---- parameters as one vector

    def _gradient(self) -> Tensor:
        parts = [
            (p.zeros_like() if p.grad is None else p.grad).reshape(-1).cast(p.dtype.compute)
            for p in self.param_groups[0].params
        ]
        return concat(parts).realize()

    def _move(self, d: Tensor, t: float) -> None:
        first = 0
        params = self.param_groups[0].params
        for p in params:
            part = d[first : first + p.size].reshape(p.shape)
            p.assign((p + part * t).cast(p.dtype))
            first += p.size
        realize(*params)

    def _along(
        self, evaluate: Callable[[], tuple[Any, Tensor]], d: Tensor
    ) -> Callable[[float], Point]:
        """The loss as a function of how far we go; parameters are as before after each call."""
        params = self.param_groups[0].params
        starts = [p.detach() for p in params]

        def at(t: float) -> Point:
            self._move(d, t)
            loss, g = evaluate()
            for p, start in zip(params, starts, strict=True):
                p.assign(start)
            return Point(t, float(loss), g, _dot(g, d))

        return at

    # ---- saving

    def state_dict(self) -> dict[str, Any]:
        """Everything that steps remember, as state of parameter 0: PyTorch's structure."""
        memory = {k: list(v) if isinstance(v, list) else v for k, v in self._memory.items()}
        group = self.param_groups[0]
        numbers = list(range(len(group.params)))
        return {"state": {0: memory}, "param_groups": [{**group.values_, "params": numbers}]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave, here or in PyTorch."""
        (theirs,) = matched_groups(self, state_dict)
        group, found = self.param_groups[0], dict(state_dict["state"].get(0, {}))
        kind, device = group.params[0].dtype.compute, group.params[0].device

        def read(name: str, value: Any) -> Any:
            if isinstance(value, list):
                return [read(name, part) for part in value]
            if name in ("func_evals", "n_iter", "prev_loss", "t") or value is None:
                return float(value) if hasattr(value, "shape") else value
            return tensor(value, dtype=kind, device=device)

        memory = {name: read(name, found.get(name, v)) for name, v in self._begun().items()}
        for name, value in theirs.items():
            if name in group.names:
                group[name] = value
        self.state[group.params[0]] = memory


def _largest(x: Tensor) -> float:
    return float(abs(x).max())


def _dot(x: Tensor, y: Tensor) -> float:
    return float((x * y).sum())
