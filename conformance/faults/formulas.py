"""Faults in the formulas of single operations: subgradients, broadcasting, indices, products, complex
numbers, dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.faults.model import Fault


def _formula(key: str, place: int = 0) -> str:
    return f"refimpl.operations.table:TABLE[{key}].formulas[{place}]"


def _instead(formula: Callable[..., Any]) -> Callable[[Any], Any]:
    """The formula given, in place of the right one."""
    return lambda original: formula


def _negated(original: Any) -> Any:
    return lambda F, grad, *used: F.neg(original(F, grad, *used))


def _scaled(factor: float) -> Callable[[Any], Any]:
    return lambda original: lambda F, grad, *used: F.mul(original(F, grad, *used), factor)


def _tie_to(side: int) -> Callable[[Any], Any]:
    """At a tie everything goes to one side."""

    def plant(original: Any) -> Any:
        def formula(F: Any, grad: Any, self: Any, other: Any) -> Any:
            given = original(F, grad, self, other)
            whole = grad if side else F.mul(grad, 0)
            return F.where(F.eq(self, other), whole, given)

        return formula

    return plant


def _no_unsqueeze(original: Any) -> Any:
    def formula(F: Any, grad: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
        square = len(shape) == 2 and shape[0] == shape[1]
        return F.expand(grad, shape) if square and not keepdim else original(F, grad, shape, dim, keepdim)

    return formula


def _index_assigns(original: Any) -> Any:
    def formula(F: Any, grad: Any, shape: Any, indices: Any) -> Any:
        return F._index_put_impl(F.new_zeros(grad, tuple(shape)), indices, grad, False)

    return formula


def _untransposed(original: Any) -> Any:
    def formula(F: Any, grad: Any, mat2: Any, shape: Any, strides: Any) -> Any:
        if grad.shape[-1] == mat2.shape[0] and mat2.shape[0] == mat2.shape[1]:
            return F.mm(grad, mat2)
        return original(F, grad, mat2, shape, strides)

    return formula


def _first_tie(original: Any) -> Any:
    def formula(F: Any, grad: Any, self: Any, result: Any) -> Any:
        return F.mul(grad, F.eq(self, result))

    return formula


def _single_precision(original: Any) -> Any:
    def result_type(*operands: Any) -> Any:
        from refimpl import dtypes

        found = original(*operands)
        return dtypes.float32 if found is dtypes.float64 else found

    return result_type


def _rank_ignored(original: Any) -> Any:
    def result_type(*operands: Any) -> Any:
        return original(
            *[
                each.reshape((1,)) if getattr(each, "ndim", None) == 0 and hasattr(each, "reshape") else each
                for each in operands
            ]
        )

    return result_type


_SUM_DIM = _formula("sum.dim")

FAULTS = (
    Fault(
        "mul-not-conjugated",
        "DTYPE-03",
        _formula("mul"),
        "the product's gradient lacks the conjugate",
        _instead(lambda F, grad, other, dtype: F.handle_r_to_c(dtype, F.mul(grad, other))),
    ),
    Fault(
        "mul-complex-kept",
        "DTYPE-04",
        _formula("mul"),
        "a real factor gets a complex gradient",
        _instead(lambda F, grad, other, dtype: F.mul(grad, F.conj(other))),
    ),
    Fault(
        "mul-right-forgotten",
        "ACC-05",
        _formula("mul", 1),
        "the second factor gets no gradient",
        _instead(lambda F, grad, self, dtype: None),
    ),
    Fault(
        "sub-sign", "SUBGRAD-14", _formula("sub", 1), "the subtrahend's gradient has the wrong sign", _negated
    ),
    Fault(
        "neg-lost",
        "RETAIN-02",
        _formula("neg"),
        "negation passes its gradient unchanged",
        _instead(lambda F, grad: grad),
    ),
    Fault("exp-percent", "CREATE-10", _formula("exp"), "the gradient of exp is 1 % too large", _scaled(1.01)),
    Fault(
        "tanh-percent", "CREATE-10", _formula("tanh"), "the gradient of tanh is 1 % too small", _scaled(0.99)
    ),
    Fault(
        "sigmoid-identity",
        "HIGHER-07",
        _formula("sigmoid"),
        "sigmoid passes its gradient",
        _instead(lambda F, grad, result: grad),
    ),
    Fault(
        "relu-at-zero",
        "SUBGRAD-01",
        _formula("relu"),
        "relu has slope 1 at 0",
        _instead(
            lambda F, grad, result: F.where(F.eq(result, 0), grad, F.threshold_backward(grad, result, 0))
        ),
    ),
    Fault(
        "abs-at-zero",
        "SUBGRAD-01",
        _formula("abs"),
        "abs has slope 1 at 0",
        lambda original: lambda F, grad, self: F.where(F.eq(self, 0), grad, original(F, grad, self)),
    ),
    Fault(
        "maximum-tie-first",
        "SUBGRAD-04",
        _formula("maximum"),
        "at a tie the first operand gets everything",
        _tie_to(1),
    ),
    Fault(
        "maximum-tie-none",
        "SUBGRAD-04",
        _formula("maximum", 1),
        "at a tie the second operand gets nothing",
        _tie_to(0),
    ),
    Fault(
        "minimum-sides",
        "SUBGRAD-04",
        _formula("minimum"),
        "the smaller operand gets the gradient of the larger",
        lambda original: lambda F, grad, self, other: original(F, grad, other, self),
    ),
    Fault(
        "max-full-ties",
        "SUBGRAD-03",
        _formula("max.full"),
        "max gives each tie the full gradient",
        _first_tie,
    ),
    Fault(
        "sum-dim-lost",
        "SUBGRAD-14",
        _SUM_DIM,
        "the gradient of a sum over rows is spread over columns",
        _no_unsqueeze,
    ),
    Fault(
        "mean-as-sum",
        "RETAIN-02",
        _formula("mean.full"),
        "mean has the gradient of sum",
        _instead(lambda F, grad, shape: F.expand(grad, shape)),
    ),
    Fault(
        "prod-by-division",
        "SUBGRAD-09",
        _formula("prod.full"),
        "the gradient of a product divides by zero",
        _instead(lambda F, grad, self, result, shape: F.mul(grad, F.conj(F.div(result, self)))),
    ),
    Fault(
        "mm-untransposed",
        "HIGHER-03",
        _formula("mm"),
        "the matrix product's gradient lacks a transposition",
        _untransposed,
    ),
    Fault(
        "index-assigns",
        "SUBGRAD-11",
        _formula("index"),
        "of equal indices the last gradient counts",
        _index_assigns,
    ),
    Fault(
        "index-select-assigns",
        "SUBGRAD-11",
        _formula("index_select"),
        "of equal positions the last gradient counts",
        _instead(
            lambda F, grad, shape, dim, index: F.index_copy(F.new_zeros(grad, tuple(shape)), dim, index, grad)
        ),
    ),
    Fault(
        "select-first",
        "VIEW-13",
        _formula("select"),
        "the gradient of any row goes to the first",
        _instead(lambda F, grad, shape, dim, index: F.select_backward(grad, shape, dim, 0)),
    ),
    Fault(
        "where-both",
        "SUBGRAD-05",
        "refimpl.operations.table:TABLE[where.self].formulas[0]",
        "where passes the gradient to both branches",
        lambda original: lambda F, grad, *used: grad,
    ),
    Fault(
        "transpose-lost",
        "VIEW-13",
        _formula("t"),
        "the gradient of a transposed matrix is not transposed back",
        _instead(lambda F, grad: grad),
    ),
    Fault(
        "cumsum-forwards",
        "HIGHER-07",
        _formula("cumsum"),
        "the gradient of a running sum runs forwards",
        _instead(lambda F, grad, dim, dtype: F.cumsum(grad, dim)),
    ),
    Fault(
        "cat-first",
        "ACC-25",
        _formula("cat"),
        "every part of a concatenation gets the first part's gradient",
        lambda original: lambda F, grad, *used: [original(F, grad, *used)[0]] * len(original(F, grad, *used)),
    ),
    Fault(
        "fill-passes",
        "INPLACE-10",
        _formula("fill.Scalar"),
        "an overwritten value still gets its gradient",
        _instead(lambda F, grad, *used: grad),
    ),
    Fault(
        "promotion-rank",
        "DTYPE-07",
        "refimpl.dtypes:result_type",
        "a tensor of rank 0 decides the dtype like any other",
        _rank_ignored,
    ),
    Fault(
        "promotion-single",
        "DTYPE-01",
        "refimpl.dtypes:result_type",
        "float64 computes in float32",
        _single_precision,
    ),
)
