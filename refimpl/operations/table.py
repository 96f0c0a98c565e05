"""The table of operations: how one operation is declared, and what is derived from the declaration.

An operation is *one* entry: a raw forward over arrays, one formula (VJP) per differentiable input, and
metadata. From the entry come the public function ``torch.mul``, the method ``Tensor.mul``, the in-place
method ``Tensor.mul_`` and the operators ``*`` and ``*=``; the recording of graph nodes, the saving of
operands, version checks and release are the core's business (``refimpl/record.py``, ``refimpl/plans.py``),
never the formula's.

Arrays, tensors and the namespace F
===================================
A **raw forward** takes arrays (numpy arrays, numpy scalars where the value is 0-d, or whatever
``refimpl.arrays`` is set to) and plain parameters, and returns an array (or numpy scalar), or a tuple of
arrays. It must never test for ``np.ndarray``, never write into its arguments, and creates arrays only
through ``refimpl.arrays``.

A **formula** is written once over a namespace ``F`` and runs in two ways. Normally ``F`` is the *raw
namespace*: arrays in, arrays out, nothing recorded. Under ``create_graph=True`` ``F`` is the *tensor
namespace*: the same names take Tensors and record. So a formula uses only ``F.name(...)`` (``F.neg(x)``,
``F.mul(a, b)`` rather than operators) and, on its values, only ``.shape`` and ``.ndim``; dtypes and the
like arrive as used values (below). ``F.x`` exists for every operation and composite of the table, under its
key with ``.`` replaced by ``_``: ``TABLE["max.dim"]`` is ``F.max_dim``.

Declaring: ``operation(key, forward, gradients=..., ...)``
==========================================================
The parameters of the operation are those of ``forward`` (names and defaults are read off its signature; a
ufunc states them with ``parameters="self, other"``). Names are torch's (``self``, ``other``, ``dim``,
``keepdim``...).

``tensors``
    Names of the parameters that are tensors, default ``("self",)``. A name with a star, ``"*tensors"``, is
    one parameter that holds a list of tensors (``cat``, ``stack``, index lists; entries may be None). Any
    may be None.
``scalars``
    Those of ``tensors`` that may also be a python number (default: all but the first, for promoting
    operations).
``gradients``
    ``{"self": vjp(formula, "other", "dim", ...)}``: for each differentiable tensor parameter its formula
    and the names of the values it uses. The formula is called ``formula(F, grad, *used values in that
    order)`` and returns the gradient of that parameter, or None for "no gradient". A starred parameter's
    formula returns a list with one entry per tensor. Without ``gradients`` an operation is not
    differentiable: its outputs never require grad.
``joint``
    Instead of ``gradients`` where one computation gives several: ``joint=vjp(formula, ...)`` with
    ``differentiable=("input", "weight")``; the formula returns a tuple with one entry per differentiable
    parameter and may use ``"needs"``, a tuple of booleans of the same order.
``node``
    The name that torch 2.13 prints for the node: ``"MulBackward0"``.
``promotion``
    See `Promotion`.
``view``, ``multi_view``
    The result shares memory with ``self`` (select, t, expand...); several views (unbind, split).
``outputs``
    1 (default), a number n (forward returns a tuple), or ``"list"`` (tuple of varying length).
``nondifferentiable``
    Indices of outputs that never require grad (the indices of ``max.dim``).
``result_type``
    A namedtuple class for several outputs (``torch.return_types.max``), or None.
``inplace``, ``inplace_only``
    ``mul_`` exists. Its effect is "compute forward, copy into self", written once in the core with torch's
    checks (leaf, view, overlap, dtype castable, shape). ``inplace_only``: only the in-place method exists
    (zero_, copy_); its forward returns the new contents, to be broadcast into self.
``functions``, ``methods``
    Public names in ``torch.`` and ``Tensor.``; default: the key itself if it has no dot, in both. ``()``
    for none.
``materialize``
    The formula gets zeros in place of None among the gradients of several outputs (default: it sees None).
``out``
    The public function takes ``out=``: refused where a gradient is asked for (INPLACE-12), else written to.

Values a formula may use: ``"self"`` or any tensor parameter (saved with version check, released after
backward; a python number operand is saved as such); ``"result"`` (or ``"result0"``, ``"result1"``...: a
saved output); any other parameter by its name (``"dim"``); ``"self.shape"``, ``"self.dtype"`` (a refimpl
dtype), ``"self.strides"`` (in elements), ``"self.device"``, ``"self.offset"`` (storage offset in elements);
for a starred parameter these give lists; ``"result.shape"`` likewise; ``"inplace"`` a bool; ``"needs"``.
``grad`` is one value for a single output, and a tuple (with None for undefined ones) for several. A single
undefined ``grad`` never reaches a formula: the engine passes "nothing" on. A tensor is saved only when a
gradient that uses it is needed, so ``x * c`` with a constant ``c`` saves ``c`` but not ``x`` (as torch).

What a formula need not do: sum a broadcast gradient back to the operand's shape, and cast it back to the
operand's real dtype: the engine validates every gradient against the operand's metadata and does both. It
must take the real part for a real operand of a complex result: ``F.handle_r_to_c(dtype, grad)``, with
``"self.dtype"`` used. It is called only for gradients that are needed.

Worked example 1: mul (two saved operands, scalars, in place, broadcasting, promotion)::

    operation("mul", np.multiply, parameters="self, other", tensors=("self", "other"), node="MulBackward0",
              promotion=PROMOTE, inplace=True, functions=("mul", "multiply"), methods=("mul", "multiply"),
              gradients={
                  "self": vjp(lambda F, g, other, dtype: F.handle_r_to_c(dtype, F.mul(g, F.conj(other))),
                              "other", "self.dtype"),
                  "other": vjp(lambda F, g, self, dtype: F.handle_r_to_c(dtype, F.mul(g, F.conj(self))),
                               "self", "other.dtype")})

``x * 2``: the python number 2 is the operand ``other``: it takes part in promotion as torch's wrapped
number, reaches the formula as the number (``F.conj``, ``F.mul`` and their like accept numbers), gets no
gradient, and counts as a saved value: after backward the node is released and a second backward raises
(RETAIN-02). ``x.mul_(y)`` saves ``y``, and a copy of the old ``x`` if y requires grad.

Worked example 2: exp (saves its result)::

    operation("exp", np.exp, parameters="self", node="ExpBackward0", promotion=FLOAT, inplace=True,
              gradients={"self": vjp(lambda F, grad, result: F.mul(grad, F.conj(result)), "result")})

Worked example 3: select (a view with plain parameters)::

    def select(self, dim, index): ...  # a view of the array self
    operation("select", select, node="SelectBackward0", view=True,
              gradients={"self": vjp(lambda F, g, shape, dim, index: F.select_backward(g, shape, dim, index),
                                     "self.shape", "dim", "index")})

Worked example 4: unbind (several views, a tuple of gradients)::

    def unbind(self, dim=0): ...  # a tuple of views
    operation("unbind", unbind, node="UnbindBackward0", multi_view=True, outputs="list", materialize=True,
              gradients={"self": vjp(lambda F, grads, dim: F.stack(grads, dim), "dim")})

Overloads and composites
========================
A public name with several overloads (``sum``, ``max``, ``view``) is a **composite**: a plain function over
F, which picks the entry or combines entries. It records nothing itself, and works raw and recorded::

    @composite()  # functions and methods default to the function's name; F.max is this function bound to F
    def max(F, self, *args, **kwargs):
        if not args and not kwargs:
            return F.max_full(self)
        ...
    operation("max.full", ..., node="MaxBackward1") operation("max.dim", ..., node="MaxBackward0")

Keys with a dot get no public name by themselves. An in-place method that is a composite is declared under
its own name: ``@composite("clamp_", functions=())``, and calls ``F.clamp_min_(self, ...)`` (in the tensor
namespace an entry's in-place form is F's key plus ``_``; the raw namespace has no in-place forms, so
formulas never use them). Operators are bound through the tables of dunder names below: ``__add__`` is
F.add, ``__radd__`` F.add with the tensor first, ``__rsub__`` F.rsub, ``__rtruediv__`` F.rdiv, ``__iadd__``
the in-place method; ``__getitem__`` is F.getitem(self, index) and ``__setitem__`` F.setitem(self, index,
value), both composites.

**Factories** (zeros, tensor, arange...) are ordinary functions, registered with ``@factory()``: they make
tensors with ``refimpl.tensor.wrap(array)`` and appear in ``torch.`` under their name."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "BINARY_OPERATORS",
    "COMPARE",
    "COMPOSITES",
    "FACTORIES",
    "FLOAT",
    "INPLACE_OPERATORS",
    "KEEP",
    "PROMOTE",
    "REFLECTED_OPERATORS",
    "TABLE",
    "UNARY_OPERATORS",
    "Composite",
    "Operation",
    "Promotion",
    "Vjp",
    "composite",
    "factory",
    "operation",
    "vjp",
]


class Promotion(enum.Enum):
    """How the dtypes of the tensor operands meet before ``forward`` runs (the core casts; forward sees one
    dtype).
    """

    KEEP = "keep"  # operands as they are; forward deals with dtypes itself (views, reductions, indexing)
    PROMOTE = "promote"  # torch.result_type of all tensor operands and numbers (add, mul, where...)
    FLOAT = "float"  # PROMOTE, and integers or bools become the default dtype (div, exp, sqrt...)
    COMPARE = "compare"  # PROMOTE for the computation; forward returns bool (lt, eq...)


KEEP, PROMOTE, FLOAT, COMPARE = Promotion.KEEP, Promotion.PROMOTE, Promotion.FLOAT, Promotion.COMPARE

Formula = Callable[..., Any]


@dataclass(frozen=True)
class Vjp:
    """A formula and the names of the values that it uses, in the order of its arguments."""

    formula: Formula
    uses: tuple[str, ...] = ()


def vjp(formula: Formula, *uses: str) -> Vjp:
    """Declare the gradient of one parameter (see the module's text for the names that may be used)."""
    return Vjp(formula, uses)


@dataclass(slots=True)
class Operation:
    """One entry.

    Not frozen: ``forward`` and ``formulas`` are read at each call, so that one can be exchanged from outside.
    """

    key: str
    forward: Callable[..., Any]
    parameters: tuple[str, ...]
    defaults: tuple[Any, ...]  # of the last parameters, as in a function's signature
    keyword_only: int  # how many of the last parameters may be given by keyword only
    tensors: tuple[str, ...]  # without stars
    lists: frozenset[str]  # those of ``tensors`` that are lists
    scalars: frozenset[str]
    differentiable: tuple[str, ...]
    uses: tuple[tuple[str, ...], ...]  # one per formula
    formulas: list[Formula]  # one per differentiable parameter, or exactly one if joint
    joint: bool
    node: str
    promotion: Promotion
    view: bool
    multi_view: bool
    outputs: int | Literal["list"]
    nondifferentiable: frozenset[int]
    result_type: Any
    inplace: bool
    inplace_only: bool
    functions: tuple[str, ...]
    methods: tuple[str, ...]
    materialize: bool
    out: bool
    plan: Any = field(default=None, repr=False)  # the core's compiled form of ``uses``


@dataclass(frozen=True)
class Composite:
    """A function over F with its public names."""

    key: str
    function: Callable[..., Any]
    functions: tuple[str, ...]
    methods: tuple[str, ...]


TABLE: dict[str, Operation] = {}
COMPOSITES: dict[str, Composite] = {}
FACTORIES: dict[str, Callable[..., Any]] = {}

BINARY_OPERATORS: dict[str, str] = {
    "__add__": "add",
    "__sub__": "sub",
    "__mul__": "mul",
    "__truediv__": "div",
    "__floordiv__": "floor_divide",
    "__mod__": "remainder",
    "__pow__": "pow",
    "__matmul__": "matmul",
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__lt__": "lt",
    "__le__": "le",
    "__gt__": "gt",
    "__ge__": "ge",
    "__eq__": "eq",
    "__ne__": "ne",
}
REFLECTED_OPERATORS: dict[str, str] = {
    "__radd__": "add",
    "__rmul__": "mul",
    "__rsub__": "rsub",
    "__rtruediv__": "rdiv",
    "__rpow__": "rpow",
    "__rfloordiv__": "rfloor_divide",
    "__rmod__": "rremainder",
    "__rmatmul__": "rmatmul",
    "__rand__": "bitwise_and",
    "__ror__": "bitwise_or",
    "__rxor__": "bitwise_xor",
}
UNARY_OPERATORS: dict[str, str] = {
    "__neg__": "neg",
    "__pos__": "positive",
    "__abs__": "abs",
    "__invert__": "bitwise_not",
}
INPLACE_OPERATORS: dict[str, str] = {
    "__iadd__": "add_",
    "__isub__": "sub_",
    "__imul__": "mul_",
    "__itruediv__": "div_",
    "__ipow__": "pow_",
    "__ifloordiv__": "floor_divide_",
    "__imod__": "remainder_",
    "__iand__": "bitwise_and_",
    "__ior__": "bitwise_or_",
    "__ixor__": "bitwise_xor_",
}


def _signature(
    forward: Callable[..., Any], parameters: str | None
) -> tuple[tuple[str, ...], tuple[Any, ...], int]:
    if parameters is not None:
        return tuple(name.strip() for name in parameters.split(",")), (), 0
    found = list(inspect.signature(forward).parameters.values())
    names = tuple(p.name for p in found)
    defaults = tuple(p.default for p in found if p.default is not inspect.Parameter.empty)
    return names, defaults, sum(p.kind is inspect.Parameter.KEYWORD_ONLY for p in found)


def operation(
    key: str,
    forward: Callable[..., Any],
    *,
    parameters: str | None = None,
    tensors: tuple[str, ...] = ("self",),
    scalars: tuple[str, ...] | None = None,
    gradients: Mapping[str, Vjp] | None = None,
    joint: Vjp | None = None,
    differentiable: tuple[str, ...] = (),
    node: str = "",
    promotion: Promotion = KEEP,
    view: bool = False,
    multi_view: bool = False,
    outputs: int | Literal["list"] = 1,
    nondifferentiable: tuple[int, ...] = (),
    result_type: Any = None,
    inplace: bool = False,
    inplace_only: bool = False,
    functions: tuple[str, ...] | None = None,
    methods: tuple[str, ...] | None = None,
    materialize: bool = False,
    out: bool = False,
) -> Operation:
    """Put one operation into the table; the module's text explains every argument.

    Errors: ValueError where the declaration contradicts itself (an unknown parameter, a duplicate key, a
    missing node name)."""
    names, defaults, keyword_only = _signature(forward, parameters)
    plain = tuple(name.lstrip("*") for name in tensors)
    lists = frozenset(name[1:] for name in tensors if name.startswith("*"))
    if joint is not None:
        inputs, rules = differentiable, [joint]
    else:
        inputs, rules = tuple(gradients or ()), list((gradients or {}).values())
    if key in TABLE:
        raise ValueError(f"operation {key!r} is declared twice")
    for name in (*plain, *inputs):
        if name not in names:
            raise ValueError(f"operation {key!r} has no parameter {name!r}")
    if inputs and not node:
        raise ValueError(f"operation {key!r} is differentiable and needs the name of its node")
    if scalars is None:
        scalars = plain[1:] if promotion is not KEEP else ()
    public = (key,) if "." not in key else ()
    if functions is None:
        functions = () if inplace_only else public
    if methods is None:
        methods = public
    entry = Operation(
        key,
        forward,
        names,
        defaults,
        keyword_only,
        plain,
        lists,
        frozenset(scalars),
        inputs,
        tuple(rule.uses for rule in rules),
        [rule.formula for rule in rules],
        joint is not None,
        node,
        promotion,
        view,
        multi_view,
        outputs,
        frozenset(nondifferentiable),
        result_type,
        inplace or inplace_only,
        inplace_only,
        functions,
        methods,
        materialize,
        out,
    )
    TABLE[key] = entry
    return entry


def composite(
    key: str | None = None,
    *,
    functions: tuple[str, ...] | None = None,
    methods: tuple[str, ...] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function over F (its first parameter) under ``key`` (default:

    its name), with its public names (default: the key).
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = key or function.__name__
        public = (name,) if "." not in name else ()
        if name in COMPOSITES:
            raise ValueError(f"composite {name!r} is declared twice")
        COMPOSITES[name] = Composite(
            name, function, public if functions is None else functions, public if methods is None else methods
        )
        return function

    return register


def factory(name: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function that makes tensors under its public name in ``torch.``."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        FACTORIES[name or function.__name__] = function
        return function

    return register
