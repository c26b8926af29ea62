"""Functions of the library that kernels call like instructions: Sin, Power, Floor, Sigmoid ...

On the chip each is a chain of instructions with scratch memory. Here each is one record that
computes its result on arrays, correctly rounded, and leaves the scratch as it is.

    @function
    def Sin(dst: Out, src: In, env: int = 0) -> Any:
        \"\"\"Take the sine of src ...\"\"\"
        return library.rounded("sin", src, env=env)

Forms: (dst, src), (dst, src, calCount), (dst, src, sharedTmpBuffer), (dst, src, sharedTmpBuffer,
calCount). Source: asc-devkit docs, pages of the mathematical functions (documented).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ascendsim.dtypes import uint8
from ascendsim.errors import ContractError, DtypeError, OverlapError, QueueError
from ascendsim.isa.caution import library_function
from ascendsim.isa.declare import Decl, vector
from ascendsim.isa.roles import In, Out, Scalar
from ascendsim.numerics import library
from ascendsim.record import UB

LIBRARY: dict[str, Decl] = {}
_EXACT = ("composite-exact",)
_MODEL = ("composite-bits", "nan-word")


def function(
    body: Callable[..., Any], rules: tuple[str, ...] = _MODEL, name: str = ""
) -> Callable[..., None]:
    """Declare a function of the library; see the module docstring."""
    caution = None if rules is _EXACT else library_function
    found: dict[str, Decl] = {}
    call = vector(rules=rules, name=name, caution=caution, arrays=found, depth=3)(body)
    ((_, decl),) = found.items()
    LIBRARY.setdefault(decl.name, decl)
    operands = len(decl.operands) + (decl.scalar is not None)

    def run(*arguments: Any, sharedTmpBuffer: Any = None, calCount: Any = None) -> None:
        given, rest = arguments[:operands], arguments[operands:]
        if rest and getattr(rest[0], "space", None) == UB:
            sharedTmpBuffer, rest = rest[0], rest[1:]
        if rest:
            calCount, rest = rest[0], rest[1:]
        if len(given) < operands or rest:
            raise ContractError(f"{decl.name} takes {decl.signature}")
        if sharedTmpBuffer is not None:
            _check_scratch(decl.name, sharedTmpBuffer, given)
        call(*given, given[1].GetSize() if calCount is None else calCount)

    run.__name__, run.__doc__, run.__module__ = body.__name__, body.__doc__, body.__module__
    return run


exact = partial(function, rules=_EXACT)


def _check_scratch(name: str, scratch: Any, given: tuple[Any, ...]) -> None:
    """Check the scratch tensor; how large it has to be only the host's own query knows."""
    if getattr(scratch, "space", None) != UB or scratch.dtype is not uint8:
        raise DtypeError(f"{name}: sharedTmpBuffer is {scratch!r}: use a LocalTensor of uint8_t")
    if not scratch.buffer.state:
        raise QueueError(f"{name}: sharedTmpBuffer {scratch!r} was freed; use it before FreeTensor")
    for tensor in given:
        if getattr(tensor, "space", None) == UB and _meet(scratch, tensor):
            raise OverlapError(
                f"{name}: sharedTmpBuffer {scratch!r} shares bytes with {tensor!r}; the function "
                f"writes there; give it memory of its own"
            )


def _meet(a: Any, b: Any) -> bool:
    return bool(a.start < b.start + b.nbytes and b.start < a.start + a.nbytes)


@exact
def Floor(dst: Out, src: In, env: int = 0) -> Any:
    """Round src down to a whole number. Exceptional values: inf and the sign of zero are kept."""
    return library.integral("floor", src, env=env)


@exact
def Ceil(dst: Out, src: In, env: int = 0) -> Any:
    """Round src up to a whole number. Exceptional values: inf and the sign of zero are kept."""
    return library.integral("ceil", src, env=env)


@exact
def Round(dst: Out, src: In, env: int = 0) -> Any:
    """Round src to the nearest whole number, ties to even. Exceptional values: as Floor."""
    return library.integral("round", src, env=env)


@exact
def Trunc(dst: Out, src: In, env: int = 0) -> Any:
    """Drop the fraction of src. Exceptional values: as Floor."""
    return library.integral("trunc", src, env=env)


@exact
def Sign(dst: Out, src: In, env: int = 0) -> Any:
    """Store 1 where src is above zero, -1 below, else 0.

    Exceptional values: NaN gives the canonical NaN.
    """
    return library.sign(src, env=env)


def _one(name: str, text: str) -> Callable[..., None]:
    """Declare a function of one operand whose page is `text`."""

    def body(dst: Out, src: In, env: int = 0) -> Any:
        return library.rounded(name.lower(), src, env=env)

    body.__name__, body.__doc__ = name, text
    return function(body)


Acos = _one("Acos", "Take the arc cosine of src. Exceptional values: NaN beyond [-1, 1].")
Acosh = _one("Acosh", "Take the inverse hyperbolic cosine. Exceptional values: NaN below 1.")
Asin = _one("Asin", "Take the arc sine of src. Exceptional values: NaN beyond [-1, 1].")
Asinh = _one("Asinh", "Take the inverse hyperbolic sine. Exceptional values: inf stays.")
Atan = _one("Atan", "Take the arc tangent of src. Exceptional values: +-pi/2 at +-inf.")
Atanh = _one("Atanh", "Take the inverse hyperbolic tangent. Exceptional values: NaN beyond 1.")
Cos = _one("Cos", "Take the cosine of src, in radians. Exceptional values: NaN at inf.")
Cosh = _one("Cosh", "Take the hyperbolic cosine. Exceptional values: inf where it overflows.")
Erf = _one("Erf", "Take the error function of src. Exceptional values: +-1 at +-inf.")
Erfc = _one("Erfc", "Take one minus the error function. Exceptional values: 2 at -inf, 0 at inf.")
Log = _one("Log", "Take the natural logarithm. Exceptional values: -inf at 0, NaN below.")
Log2 = _one("Log2", "Take the logarithm to base 2. Exceptional values: as Log.")
Log10 = _one("Log10", "Take the logarithm to base 10. Exceptional values: as Log.")
Sigmoid = _one("Sigmoid", "Compute 1 / (1 + exp(-src)). Exceptional values: 0 at -inf, 1 at inf.")
Sin = _one("Sin", "Take the sine of src, in radians. Exceptional values: NaN at inf.")
Sinh = _one("Sinh", "Take the hyperbolic sine. Exceptional values: inf where it overflows.")
Tan = _one("Tan", "Take the tangent of src, in radians. Exceptional values: NaN at inf.")
Tanh = _one("Tanh", "Take the hyperbolic tangent of src. Exceptional values: +-1 at +-inf.")


@partial(function, name="Power")
def _PowerTensor(dst: Out, src0: In, src1: In, env: int = 0) -> Any:
    """Raise src0 to the power src1, a LocalTensor or a scalar (a scalar base is not modelled).

    Exceptional values: as pow of the C library; NaN below zero unless src1 is whole.
    """
    return library.rounded("power", src0, src1, env=env)


@partial(function, name="Power")
def _PowerScalar(dst: Out, src0: In, scalar: Scalar, env: int = 0) -> Any:
    """Raise src0 to the power of a scalar."""
    return library.rounded("power", src0, scalar, env=env)


def Power(dst: Any, src0: Any, src1: Any, *rest: Any, **names: Any) -> None:
    """See `ascendsim isa Power`."""
    form = _PowerTensor if getattr(src1, "space", None) == UB else _PowerScalar
    form(dst, src0, src1, *rest, **names)
