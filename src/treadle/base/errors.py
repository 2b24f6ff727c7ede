"""The error family and the one function that words them."""

from __future__ import annotations

from typing import TypeVar

Made = TypeVar("Made")


class TreadleError(Exception):
    """Root of everything Treadle raises on purpose."""


class ShapeError(TreadleError, ValueError):
    """Shapes or axes that do not fit the op."""


class AxisError(ShapeError, IndexError):
    """An axis that a tensor does not have."""


class DtypeError(TreadleError, TypeError):
    """Element types that the op does not take."""


class IndexingError(TreadleError, IndexError):
    """An index out of range or of the wrong kind."""


class ArgumentError(TreadleError, ValueError):
    """Any other argument that cannot be right."""


class OperandError(TreadleError, TypeError):
    """Something that is not a tensor where a tensor is needed."""


class DeviceError(TreadleError, RuntimeError):
    """A device that is missing, or operands on different devices."""


class OutOfMemory(TreadleError, MemoryError):
    """No memory left for a buffer."""


class ExchangeError(TreadleError, BufferError):
    """Memory that cannot be shared with another library as asked."""


class FileError(TreadleError, ValueError):
    """A file that is damaged, or not what it says it is."""


class GradientError(TreadleError, RuntimeError):
    """A gradient that does not exist or was not asked for."""


class AnomalyError(TreadleError, ArithmeticError):
    """A NaN or an infinity, found by whoever asked to be told."""


class NotSupported(TreadleError, RuntimeError):
    """A combination of op, dtype and backend that is not there."""


class CompilerError(TreadleError, RuntimeError):
    """A fault of ours: a stage broke its own rules."""


def explain(what: str, wrong: str, hint: str = "", /, **facts: object) -> str:
    """Word a message: `<op>: <what is wrong> (<fact>=<value>, ...)` and a hint on its own line."""
    shown = ", ".join(f"{name}={value}" for name, value in facts.items())
    message = f"{what}: {wrong}" + (f" ({shown})" if shown else "")
    return f"{message}\n  hint: {hint}" if hint else message


def needed(what: str, value: Made | None, missing: object) -> Made:
    """A value that an earlier stage has made. An assert would not outlive `python -O`."""
    if value is None:
        raise CompilerError(explain(what, "something was not made", missing=missing))
    return value


def said_by(op: str, error: TreadleError) -> TreadleError:
    """An error from within an op in that op's name: `softmax: in sum: axis out of range ...`."""
    inner, _, rest = str(error).partition(": ")
    if rest.startswith("in "):
        inner, _, rest = rest.removeprefix("in ").partition(": ")
    own = inner in (op, "definition")
    error.args = (f"{op}: {rest}" if own else f"{op}: in {inner}: {rest}",)
    return error


def unwritten(thing: object, method: str) -> OperandError:
    """The error of a class that leaves out a method which its base cannot know."""
    kind = type(thing)
    hint = f"def {method}(self, ...) in class {kind.__name__}"
    return OperandError(explain(kind.__name__, f"has no {method}", hint))


def require_function(what: str, given: object) -> None:
    """Refuse what cannot be called."""
    if not callable(given):
        hint = "pass the function itself, not what it returns"
        raise OperandError(explain(what, "not a function", hint, got=type(given).__name__))
