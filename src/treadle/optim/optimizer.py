"""What every update rule shares: parameters, their state, one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from treadle.base.errors import ArgumentError, OperandError, explain
from treadle.tensor.creation import tensor, zeros
from treadle.tensor.gradients import no_grad
from treadle.tensor.tensor import Tensor, realize
from treadle.tensor.tracing import TRACE, Followed


class Optimizer(Followed):
    """Assigns new values to parameters from their gradients. State is made at construction."""

    def __init__(self, parameters: Iterable[Tensor], lr: float) -> None:
        self.parameters = list(parameters)
        if not self.parameters:
            raise ArgumentError(explain("optimizer", "got no parameters"))
        for parameter in self.parameters:
            if not isinstance(parameter, Tensor):
                hint = "pass tensors, such as model.parameters()"
                got = type(parameter).__name__
                raise OperandError(explain("optimizer", "not a parameter", hint, got=got))
        if not hasattr(lr, "__float__") or not float(lr) >= 0:
            wrong = "a learning rate is a number, not negative"
            raise ArgumentError(explain("optimizer", wrong, lr=repr(lr)))
        device = self.parameters[0].device
        self._lr = tensor(lr, "float32", device)
        self.steps = tensor(0.0, "float32", device)
        self.state: list[dict[str, Tensor]] = []

    @property
    def lr(self) -> float:
        """The learning rate; setting it reaches compiled steps too."""
        return float(self._lr)

    @lr.setter
    def lr(self, value: float) -> None:
        self._lr.assign(tensor(value, "float32", self._lr.device))

    def zero_grad(self) -> None:
        """Forget the gradients."""
        if TRACE:
            self._note()
        for parameter in self.parameters:
            parameter.grad = None

    def step(self) -> None:
        """Update every parameter that has a gradient."""
        if TRACE:
            self._note()
        with no_grad():
            self.steps.assign(self.steps + 1.0)
            changed = [self.steps]
            update = self.begun()
            for k, parameter in enumerate(self.parameters):
                if parameter.grad is not None:
                    state = self.state[k] if self.state else {}
                    update(parameter, parameter.grad, state)
                    changed += [parameter, *state.values()]
        if not TRACE:
            realize(*changed)

    def begun(self) -> Callable[[Tensor, Tensor, dict[str, Tensor]], None]:
        """What updates a parameter in this step: a rule may compute here what all of them share."""
        return self.update

    def update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Tensor]) -> None:
        """Assign the new value of one parameter and of its state."""
        raise NotImplementedError  # each rule writes its own

    def _set(self, parameter: Tensor, value: Tensor) -> None:
        """Assign a value computed with the float32 learning rate to a parameter of any dtype."""
        same = value.dtype is parameter.dtype
        parameter.assign(value if same else value.cast(parameter.dtype))

    def _zeros(self, *names: str) -> list[dict[str, Tensor]]:
        """State of every parameter, in float32 at least: running means move by small steps."""
        made = [
            {name: zeros(p.shape, dtype=p.dtype.compute, device=p.device) for name in names}
            for p in self.parameters
        ]
        realize(*(t for state in made for t in state.values()))
        return made
