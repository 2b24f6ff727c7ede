"""Loss scaling: gradients too small for float16 are made larger, and steps with inf are skipped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from treadle.base.errors import ArgumentError, OperandError, explain
from treadle.functions import isfinite, maximum, where
from treadle.optim.optimizer import Optimizer
from treadle.tensor.autocast import uncast
from treadle.tensor.creation import tensor
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor, realize
from treadle.tensor.tracing import TRACE, Followed

NOT_YET, FINE = -1.0, 0.0  # what an optimizer's found_inf is besides 1.0: gradients have inf or NaN


class GradScaler(Followed):
    """Multiplies losses by a scale that grows while gradients are finite, and shrinks if not.

        scaler.scale(loss).backward()
        scaler.step(optimizer)  # with gradients over the scale; not if one is inf or NaN
        scaler.update()

    All it decides is part of the computation, so compiled steps contain it. bfloat16 needs none.

    - **device**: where the scale lies: where the losses do
    - **init_scale**: the first scale
    - **growth_factor**, **growth_interval**: multiplied after so many steps without inf or NaN
    - **backoff_factor**: multiplied after a step with them
    - **enabled**: False makes everything do nothing but the optimizer's step
    """

    def __init__(
        self, device: Any = "cpu", init_scale: float = 2.0**16, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        is_right = growth_factor > 1.0 and 0.0 < backoff_factor < 1.0 and init_scale > 0.0
        if not is_right or growth_interval < 1:
            wrong = "scales are positive; growth_factor is above 1, backoff_factor below"
            facts = init_scale, growth_factor, backoff_factor, growth_interval
            raise ArgumentError(explain("GradScaler", wrong, got=facts))
        self._enabled, self._optimizers = enabled, tuple[Optimizer, ...]()
        self._scale = tensor(init_scale, dtype="float32", device=device)
        self._growth_tracker = tensor(0, dtype="int32", device=device)
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval

    # ---- a step

    def scale(self, outputs: Any) -> Any:
        """A loss, or lists of losses, times the scale."""
        if TRACE:
            self._note()
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        if isinstance(outputs, Iterable):
            made = [self.scale(part) for part in outputs]
            return tuple(made) if isinstance(outputs, tuple) else made
        got = type(outputs).__name__
        raise OperandError(explain("scale", "takes a tensor, or a list of them", got=got))

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimizer by the scale: before they are clipped, say.

        `step` does it where this was not called since the last `update`.
        """
        if not self._enabled:
            return
        if not TRACE and float(optimizer.found_inf) != NOT_YET:
            hint = "scaler.update() ends a step"
            raise ArgumentError(explain("unscale_", "these gradients are unscaled already", hint))
        self._unscale(optimizer)

    def _unscale(self, optimizer: Optimizer) -> None:
        if TRACE:
            self._note()
        if not any(known is optimizer for known in self._optimizers):
            self._optimizers = (*self._optimizers, optimizer)
        optimizer.follow()
        before = optimizer.found_inf.detach()
        with no_grad(), uncast():
            first = before == NOT_YET
            factor = where(first, (1.0 / self._scale.cast("float64")).cast("float32"), 1.0)
            fine = first | True
            for p in (p for group in optimizer.param_groups for p in group.params):
                if p.grad is not None:
                    fine = fine & isfinite(p.grad).all()
                    p.grad = (p.grad * factor).cast(p.grad.dtype)
            found = where(fine, FINE, 1.0).cast("float32")
            optimizer.found_inf.assign(where(first, found, before))

    def step(self, optimizer: Optimizer, *args: Any, **options: Any) -> Any:
        """The optimizer's step, if all gradients are finite; where not, everything stays."""
        if not self._enabled:
            return optimizer.step(*args, **options)
        if args or options or type(optimizer).step is not Optimizer.step:
            hint = "call backward() before; LBFGS does without a scaler, in float32"
            raise ArgumentError(explain("step", "a scaler takes no closure", hint))
        self._unscale(optimizer)
        optimizer.advance(skip=optimizer.found_inf.detach() > FINE)
        return None

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """End a step: another scale, as the gradients were; or new_scale."""
        if TRACE:
            self._note()
        if not self._enabled:
            return
        if not self._optimizers:
            raise ArgumentError(explain("update", "no optimizer was given to step() before"))
        scale, steps = self._scale.detach(), self._growth_tracker.detach()
        with no_grad(), uncast():
            seen = [optimizer.found_inf.detach() for optimizer in self._optimizers]
            found = seen[0]
            for other in seen[1:]:
                found = maximum(found, other)
            larger = scale * self._growth_factor
            grows = (found == FINE) & (steps + 1 >= self._growth_interval)
            new = where(found > FINE, scale * self._backoff_factor, scale)
            new = where(grows & isfinite(larger), larger, new)
            if new_scale is not None:
                new = scale.full_like(new_scale) if not isinstance(new_scale, Tensor) else new_scale
            self._scale.assign(new.cast("float32"))
            counted = where(grows | (found > FINE), 0, where(found == FINE, steps + 1, steps))
            self._growth_tracker.assign(counted.cast("int32"))
            for optimizer in self._optimizers:
                optimizer.found_inf.assign(optimizer.found_inf.full_like(NOT_YET))
        if not TRACE:
            found_infs = [optimizer.found_inf for optimizer in self._optimizers]
            realize(self._scale, self._growth_tracker, *found_infs)

    # ---- settings

    # fmt: off
    def get_scale(self) -> float: return float(self._scale) if self._enabled else 1.0
    def is_enabled(self) -> bool: return self._enabled
    def get_growth_factor(self) -> float: return self._growth_factor
    def set_growth_factor(self, new_factor: float) -> None: self._growth_factor = new_factor
    def get_backoff_factor(self) -> float: return self._backoff_factor
    def set_backoff_factor(self, new_factor: float) -> None: self._backoff_factor = new_factor
    def get_growth_interval(self) -> int: return self._growth_interval
    def set_growth_interval(self, new_interval: int) -> None: self._growth_interval = new_interval
    # fmt: on

    def state_dict(self) -> dict[str, Any]:
        """The scale, and what it grows by; nothing if not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
            "_growth_tracker": int(self._growth_tracker),
        }  # fmt: skip

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave, here or in PyTorch."""
        if not self._enabled:
            return
        missing = sorted(self.state_dict().keys() - state_dict.keys())
        if missing:
            hint = "a scaler that is not enabled saves nothing"
            wrong = "not the state of a scaler"
            raise ArgumentError(explain("load_state_dict", wrong, hint, missing=missing))
        self._scale.assign(self._scale.full_like(float(state_dict["scale"])))
        steps = int(state_dict["_growth_tracker"])
        self._growth_tracker.assign(self._growth_tracker.full_like(steps))
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]

    def __repr__(self) -> str:
        shown = f"scale={self.get_scale()}" if self._enabled else "enabled=False"
        return f"GradScaler({shown})"
