"""What written functions may call without anybody having written it: in Python, and as LLVM IR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from treadle.backends.cpu.written_values import Arithmetic, Value


def conjugate(x: Any) -> Any:
    """x with the sign of its imaginary part turned."""
    return x.conjugate()


def real_part(x: Any) -> Any:
    """The real part."""
    return x.real


def imaginary_part(x: Any) -> Any:
    """The imaginary part; 0 of a real."""
    return x.imag


def complex_of(real: float, imaginary: float) -> Any:
    """The complex number of two parts."""
    return complex(real, imaginary)


def zero_of(x: Any) -> Any:
    """0 of the kind that x is of, whatever its value: memory nobody has written may hold NaN."""
    return x * 0


def sqrt(x: float) -> float:
    """The root of a real."""
    return float(x**0.5)


def copysign(x: float, y: float) -> float:
    """|x| with the sign of y."""
    return abs(x) if y >= 0 else -abs(x)


def epsilon() -> float:
    """The distance from 1 to the next number."""
    return 2.0**-52


def tiny() -> float:
    """The smallest normal number."""
    return 2.0**-1022


def huge() -> float:
    """A number a little below the largest."""
    return 2.0**1020


def _extreme(name: str) -> Callable[[Arithmetic, list[Value]], Value]:
    def of(on: Arithmetic, x: list[Value]) -> Value:
        whole = all(v.kind == "int" for v in x)
        names = [v.one if whole else on.converted(v, "real").one for v in x]
        found = names[0]
        for name_ in names[1:]:
            if whole:
                found = on.w.call("i64", f"llvm.s{name}.i64", f"i64 {found}", f"i64 {name_}")
            else:
                found = on.intrinsic(f"{name}num", found, name_)
        return Value("int" if whole else "real", (found,))

    return of


def _conjugated(on: Arithmetic, x: list[Value]) -> Value:
    if x[0].kind != "complex":
        return x[0]
    return Value("complex", (x[0].parts[0], on.negated(x[0].parts[1])))


def _on_real(name: str) -> Callable[[Arithmetic, list[Value]], Value]:
    return lambda on, x: Value(
        "real", (on.intrinsic(name, *(on.converted(v, "real").one for v in x)),)
    )


BUILTINS: Mapping[str, Callable[[Arithmetic, list[Value]], Value]] = {
    "abs": lambda on, x: on.absolute(x[0]),
    "min": _extreme("min"), "max": _extreme("max"),
    "sqrt": _on_real("sqrt"), "copysign": _on_real("copysign"),
    "conjugate": _conjugated,
    "zero_of": lambda on, x: on.converted(on.number(0.0), x[0].kind),
    "real_part": lambda on, x: Value("real", x[0].parts[:1]),
    "imaginary_part": lambda on, x: (
        Value("real", x[0].parts[1:]) if x[0].kind == "complex" else on.number(0.0)),
    "complex_of": lambda on, x: Value(
        "complex", tuple([on.converted(v, "real").one for v in x])),
    "float": lambda on, x: on.converted(x[0], "real"),
    "int": lambda on, x: Value("int", (on.w.op(f"fptosi {on.real} {x[0].one} to i64"),)),
    "epsilon": lambda on, _: on.number(2.0 ** -on.dtype.mantissa),
    "huge": lambda on, _: on.number(2.0**125 if on.dtype.size == 4 else 2.0**1020),
    "tiny": lambda on, _: on.number(2.0**-126 if on.dtype.size == 4 else 2.0**-1022),
}  # fmt: skip
