"""Comparisons, logic, and filling a tensor in place."""

from conformance.operations.schema import EVERY, FLOATING, INTEGRAL, REAL, op

COMPARISON = (
    op("eq", "f, m, x == y", "input other out", "pointwise comparison", EVERY, arity=2),
    op("ne", "f, m, x != y", "input other out", "pointwise comparison", EVERY, arity=2),
    op("lt", "f, m, x < y", "input other out", "pointwise comparison", REAL, arity=2),
    op("le", "f, m, x <= y", "input other out", "pointwise comparison", REAL, arity=2),
    op("gt", "f, m, x > y", "input other out", "pointwise comparison", REAL, arity=2),
    op("ge", "f, m, x >= y", "input other out", "pointwise comparison", REAL, arity=2),
    op("isnan", "f, m", "input", "pointwise comparison", FLOATING, later="m@1.9"),
    op("isinf", "f, m", "input", "pointwise comparison", FLOATING, later="m@1.9"),
    op("isfinite", "f, m", "input", "pointwise comparison", FLOATING, later="m@1.9"),
    op("isclose", "f, m", "input other rtol atol equal_nan", "pointwise comparison", FLOATING, arity=2),
    op("logical_not", "f, m", "input out", "pointwise logical", ("bool",), since="1.9"),
    op("logical_and", "f, m", "input other out", "pointwise logical", ("bool",), arity=2, since="1.9"),
    op("logical_or", "f, m", "input other out", "pointwise logical", ("bool",), arity=2, since="1.9"),
    op("logical_xor", "f, m", "input other out", "pointwise logical", ("bool",), arity=2, since="1.9"),
    op("bitwise_not", "f, m, ~x", "input out", "pointwise logical", (*INTEGRAL, "bool")),
    op(
        "bitwise_and",
        "f, m, x & y",
        "input other out",
        "pointwise logical",
        (*INTEGRAL, "bool"),
        arity=2,
        since="1.9",
    ),
    op(
        "bitwise_or",
        "f, m, x | y",
        "input other out",
        "pointwise logical",
        (*INTEGRAL, "bool"),
        arity=2,
        since="1.9",
    ),
    op(
        "bitwise_xor",
        "f, m, x ^ y",
        "input other out",
        "pointwise logical",
        (*INTEGRAL, "bool"),
        arity=2,
        since="1.9",
    ),
)

FILLING = (
    op("zero_", "m, torch.zero_", "", "pointwise filling", EVERY, flags="inplace diff"),
    op("fill_", "m, torch.fill_", "value", "pointwise filling", EVERY, flags="inplace diff"),
    op("copy_", "m", "src non_blocking", "pointwise filling", EVERY, arity=2, flags="inplace diff"),
)

ROWS = (*COMPARISON, *FILLING)
