"""Special functions that numpy lacks, over arrays of any real floating type: erf, erfc, lgamma, digamma,
polygamma."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

Array = Any


def _by_entry(function: Callable[[float], float], name: str) -> Callable[[Array], Array]:
    compute: Any = numpy.frompyfunc(function, 1, 1)

    def apply(x: Array) -> Array:
        return compute(x).astype(x.dtype) if x.ndim else x.dtype.type(function(float(x)))

    apply.__name__ = name
    return apply


def _lgamma(x: float) -> float:
    if math.isnan(x):
        return math.nan
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def _digamma(x: float) -> float:
    if math.isnan(x) or x == -math.inf:
        return math.nan
    if x == 0:
        return math.copysign(math.inf, -x)
    if x < 0:
        if x == math.floor(x):
            return math.nan
        return _digamma(1 - x) - math.pi / math.tan(math.pi * (x - math.floor(x)))
    total = 0.0
    while x < 12:
        total -= 1 / x
        x += 1
    if x == math.inf:
        return math.inf
    square = 1 / (x * x)
    series = square * (
        1 / 12
        - square
        * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square * (1 / 132 - square * 691 / 32760))))
    )
    return total + math.log(x) - 0.5 / x - series


def _hurwitz(order: float, start: float) -> float:
    """The sum over k of (start + k) ** -order, by Euler and Maclaurin, for start > 0."""
    total: float = 0.0
    steps = 12
    for step in range(steps):
        total += (start + step) ** -order
    end = start + steps
    total += end ** (1 - order) / (order - 1) + 0.5 * end**-order
    term: float = order * end ** (-order - 1)
    for index, bernoulli in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6), start=1):
        total += bernoulli / math.factorial(2 * index) * term
        term *= (order + 2 * index - 1) * (order + 2 * index) / (end * end)
    return total


def _trigamma(x: float) -> float:
    """The first derivative of digamma, by the short series that torch uses (good to about 1e-10)."""
    sign, total = 1.0, 0.0
    if x < 0.5:
        sine = math.sin(math.pi * x)
        if sine == 0:
            return math.inf
        sign, total, x = -1.0, -(math.pi**2) / (sine * sine), 1 - x
    for _ in range(6):
        total += 1 / (x * x)
        x += 1
    square = 1 / (x * x)
    total += (1 + 1 / (2 * x) + square * (1 / 6 - square * (1 / 30 - square * (1 / 42)))) / x
    return sign * total


def _polygamma(n: int, x: float) -> float:
    if n < 2:
        return _trigamma(x) if n else _digamma(x)
    if math.isnan(x):
        return math.nan
    if x <= 0 and x == math.floor(x):
        return math.inf if n % 2 else math.nan
    sign = 1.0 if n % 2 else -1.0
    shift = 0.0
    while x < 0:
        shift += x ** -(n + 1)
        x += 1
    return sign * math.factorial(n) * (shift + _hurwitz(n + 1, x))


def _erfinv(y: float) -> float:
    """By Newton's method from Giles' approximation."""
    if math.isnan(y) or abs(y) > 1:
        return math.nan
    if abs(y) == 1:
        return math.copysign(math.inf, y)
    w = -math.log((1 - y) * (1 + y))
    if w < 5:
        w -= 2.5
        coefficients = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
        -0.00125372503,
                        -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
    else:
        w = math.sqrt(w) - 3
        coefficients = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
        -0.0076224613,
                        0.00943887047, 1.00167406, 2.83297682)  # fmt: skip
    x = 0.0
    for coefficient in coefficients:
        x = coefficient + x * w
    x *= y
    for _ in range(3):
        slope = 2 / math.sqrt(math.pi) * math.exp(-x * x)
        if slope == 0:
            break
        x -= (math.erf(x) - y) / slope
    return x


def _igamma(a: float, x: float) -> float:
    """The regularized lower incomplete gamma function, by its series or continued fraction."""
    if math.isnan(a) or math.isnan(x) or a < 0 or x < 0 or (a == 0 and x == 0):
        return math.nan
    if x == 0:
        return 0.0
    if a == 0 or math.isinf(x):
        return 1.0
    if math.isinf(a):
        return 0.0
    factor = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        step = a
        while abs(term) > abs(total) * 1e-17:
            step += 1
            term *= x / step
            total += term
        return total * factor
    b = x + 1 - a
    c, d = 1e300, 1 / b
    h = d
    for i in range(1, 2000):
        an = -i * (i - a)
        b += 2
        d = 1 / (an * d + b)
        c = b + an / c
        delta = d * c
        h *= delta
        if abs(delta - 1) < 1e-16:
            break
    return 1 - factor * h


erf = _by_entry(math.erf, "erf")
erfc = _by_entry(math.erfc, "erfc")
lgamma = _by_entry(_lgamma, "lgamma")
digamma = _by_entry(_digamma, "digamma")


def polygamma(n: int, x: Array) -> Array:
    """The n-th derivative of digamma, entry by entry."""
    return _by_entry(lambda value: _polygamma(n, value), "polygamma")(x)


erfinv = _by_entry(_erfinv, "erfinv")
_igamma_entries: Any = numpy.frompyfunc(_igamma, 2, 1)


def igamma(a: Array, x: Array) -> Array:
    """The regularized lower incomplete gamma function, entry by entry."""
    dtype = getattr(a, "dtype", None) or x.dtype
    return numpy.multiply(_igamma_entries(a, x), numpy.float64(1)).astype(dtype)
