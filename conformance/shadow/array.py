"""Arrays that carry a bound beside each value.

The value is computed by numpy as the reference engine would compute it, so that the same branches are
taken; the bound says how far the value may be from the true one. Both are plain arrays of the same shape,
and of the same strides in elements: what is a view of the value is a view of the bound, so writes through
views keep both in step. Bounds of complex values are complex: one bound for the real, one for the imaginary
part.

numpy's functions reach this class by its dispatch protocols (NEP 13, NEP 18). A function without a rule
raises `NoRule`: a bound is never dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.shadow import state

Plain = NDArray[Any]


class NoRule(TypeError):
    """A function of the array library was called for which no rule of bounds exists. `what` names it.

    The run remembers it, since a program records any exception as an outcome.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"bounded arrays have no rule for {what}: add one to conformance.shadow")
        self.what = what
        run = state.current()
        run.lacking = run.lacking or what


UfuncRule = Callable[..., Any]
UFUNCS: dict[str, UfuncRule] = {}  # by the ufunc's name: rule(call) -> bound
METHODS: dict[
    tuple[str, str], Callable[..., Any]
] = {}  # ("add", "reduce"): as a function of the array library
FUNCTIONS: dict[str, Callable[..., Any]] = {}  # "numpy.sum": implementation over bounded arrays


def bound_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the bounds of values of `dtype`."""
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


class BoundedArray(np.lib.mixins.NDArrayOperatorsMixin):
    """A value and its bound. Looks like a numpy array to code that asks no more than it needs."""

    __slots__ = ("bound", "value")
    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Plain, bound: Plain) -> None:
        self.value = value
        self.bound = bound

    # What numpy arrays tell.
    @property
    def dtype(self) -> np.dtype[Any]:
        return self.value.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def strides(self) -> tuple[int, ...]:
        return self.value.strides

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def size(self) -> int:
        return self.value.size

    @property
    def itemsize(self) -> int:
        return self.value.itemsize

    @property
    def nbytes(self) -> int:
        return self.value.nbytes

    @property
    def flags(self) -> Any:
        return self.value.flags

    @property
    def base(self) -> Any:
        return self.value.base

    @property
    def ctypes(self) -> Any:
        return self.value.ctypes

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[BoundedArray]:
        for index in range(len(self.value)):
            yield self[index]

    def __repr__(self) -> str:
        return f"BoundedArray({self.value!r}, bound={self.bound!r})"

    # Views.
    @property
    def T(self) -> BoundedArray:
        return BoundedArray(self.value.T, self.bound.T)

    @property
    def real(self) -> BoundedArray:
        return BoundedArray(self.value.real, self.bound.real)

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> BoundedArray:
        return BoundedArray(self.value.imag, self.bound.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    def view(self, dtype: Any = None) -> BoundedArray:
        """The same memory, also with the parts of complex numbers as reals, and back."""
        if dtype is None:
            return BoundedArray(self.value.view(), self.bound.view())
        new = np.dtype(dtype)
        if (self.dtype.kind, new.kind) in (("c", "f"), ("f", "c"), ("c", "c"), ("f", "f")):
            value = self.value.view(new)
            bound = self.bound.view(bound_dtype(new))
            if value.shape == bound.shape:
                return BoundedArray(value, bound)
        raise NoRule(f"ndarray.view from {self.dtype} to {new}")

    def _numpy(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(np, name)(self, *args, **kwargs)

    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        return self._numpy("reshape", shape[0] if len(shape) == 1 else shape, **kwargs)

    def transpose(self, *axes: Any) -> Any:
        return self._numpy("transpose", (axes[0] if len(axes) == 1 else axes) or None)

    def swapaxes(self, one: int, two: int) -> Any:
        return self._numpy("swapaxes", one, two)

    def squeeze(self, axis: Any = None) -> Any:
        return self._numpy("squeeze", axis)

    def ravel(self, order: Any = "C") -> Any:
        return self._numpy("ravel", order)

    def flatten(self, order: Any = "C") -> BoundedArray:
        return BoundedArray(self.value.flatten(order), self.bound.flatten(order))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        return self._numpy("diagonal", offset, axis1, axis2)

    # Copies and casts.
    def copy(self, order: Any = "C") -> BoundedArray:
        return BoundedArray(self.value.copy(order), self.bound.copy(order))

    def __copy__(self) -> BoundedArray:
        return self.copy("K")

    def __deepcopy__(self, memo: Any) -> BoundedArray:
        return self.copy("K")

    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = "unsafe", copy: bool = True
    ) -> BoundedArray:
        return _function("cast")(self, np.dtype(dtype), order, copy)  # type: ignore[no-any-return]

    def conj(self) -> Any:
        return np.conjugate(self)

    conjugate = conj

    def fill(self, value: Any) -> None:
        self[...] = value

    # Reductions.
    def sum(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy("sum", *args, **kwargs)

    def prod(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy("prod", *args, **kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy("mean", *args, **kwargs)

    def max(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy("max", *args, **kwargs)

    def min(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy("min", *args, **kwargs)

    def any(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy("any", *args, **kwargs)

    def all(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy("all", *args, **kwargs)

    def argmax(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy("argmax", *args, **kwargs)

    def argmin(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy("argmin", *args, **kwargs)

    def cumsum(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy("cumsum", *args, **kwargs)

    def nonzero(self) -> Any:
        return self._numpy("nonzero")

    def round(self, decimals: int = 0) -> Any:
        return self._numpy("round", decimals)

    def repeat(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy("repeat", *args, **kwargs)

    def take(self, *args: Any, **kwargs: Any) -> Any:
        return self._numpy("take", *args, **kwargs)

    # Reading and writing entries.
    def __getitem__(self, key: Any) -> BoundedArray:
        return _function("getitem")(self, key)  # type: ignore[no-any-return]

    def __setitem__(self, key: Any, value: Any) -> None:
        _function("setitem")(self, key, value)

    # Leaving the arrays.
    def _number(self, what: str) -> Any:
        """The one value, its bound kept in the run's table."""
        number = self.value.item()
        bound = float(np.abs(self.bound).item())
        if bound and self.dtype.kind in "biu":
            state.current().leave_open(what)
        elif bound:
            escaped = state.current().escaped
            escaped[number] = max(bound, escaped.get(number, 0.0))
        return number

    def item(self, *index: Any) -> Any:
        return (self[index] if index else self)._number("item")

    def tolist(self) -> Any:
        return [each.tolist() for each in self] if self.ndim else self._number("tolist")

    def tobytes(self, order: Any = "C") -> bytes:
        return self.value.tobytes(order)

    def __float__(self) -> float:
        return float(self._number("float"))

    def __complex__(self) -> complex:
        return complex(self._number("complex"))

    def __int__(self) -> int:
        self._decide("int")
        return int(self.value)

    def __index__(self) -> int:
        self._decide("index")
        return self.value.__index__()

    def __bool__(self) -> bool:
        truth = bool(self.value)
        wide = np.abs(self.value.astype(np.complex128)).item()
        bound = state.MARGIN * np.abs(self.bound).item()
        if bound and (self.dtype.kind == "b" or not wide > bound):
            state.current().leave_open("bool")
        return truth

    def _decide(self, what: str) -> None:
        if self.bound.any():
            state.current().leave_open(what)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Where the value lies, for addresses only: numpy asks for the next one first."""
        return self.value.__array_interface__

    @property
    def __array_struct__(self) -> Any:
        raise NoRule("making a plain array of a bounded one")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise NoRule("making a plain array of a bounded one")

    # numpy's protocols.
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__":
            return _apply(ufunc, ufunc.__name__, FUNCTIONS["call"], (ufunc, inputs, kwargs), inputs, kwargs)
        name = f"{ufunc.__name__}.{method}"
        try:
            rule = METHODS[ufunc.__name__, method]
        except KeyError:
            raise NoRule(f"numpy.{name}") from None
        return _apply(getattr(ufunc, method), name, lambda *_: rule(*inputs, **kwargs), (), inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = f"{func.__module__}.{func.__name__}"
        try:
            rule = FUNCTIONS[name]
        except KeyError:
            raise NoRule(name) from None
        return _apply(func, name, lambda *_: rule(*args, **kwargs), (), args, kwargs)


def _apply(function: Any, name: str, rule: Callable[..., Any], given: Any, args: Any, kwargs: Any) -> Any:
    """Follow a rule. An exception that numpy does not raise for the values alone is a fault of the rule."""
    try:
        return rule(*given)
    except NoRule:
        raise
    except Exception as error:
        try:
            function(*_values(args), **{key: _values(value) for key, value in kwargs.items()})
        except type(error):
            raise error from None
        raise NoRule(f"this call of {name} ({type(error).__name__}: {error})") from error


def _values(operand: Any) -> Any:
    if isinstance(operand, BoundedArray):
        return operand.value
    return type(operand)(map(_values, operand)) if type(operand) in (tuple, list) else operand


class Literal(BoundedArray):
    """Numbers as the program writes them: casting them is reading them, in which all engines agree."""

    __slots__ = ()


class BoundedScalar(BoundedArray):
    """A value without memory of its own, where numpy gives a scalar: results of no dimension.

    Code that tells numpy's scalars from arrays (`isinstance(x, numpy.generic)`) takes it for one.
    """

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.value.dtype.type

    def __copy__(self) -> BoundedArray:
        return self

    def copy(self, order: Any = "C") -> BoundedArray:
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("a scalar has no memory to write to")


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "matmul"):
    # As with numbers: `a += b` binds a new value.
    setattr(BoundedScalar, f"__i{_name}__", getattr(BoundedArray, f"__{_name}__"))


def _function(name: str) -> Callable[..., Any]:
    return FUNCTIONS[name]
