"""How a tensor is printed:

torch's format for ordinary tensors (four digits, 80 columns, summarized past 1000 elements).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from . import devices, dtypes

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = ["tensor_text"]

PRECISION, THRESHOLD, EDGE_ITEMS, LINE_WIDTH = 4, 1000, 3, 80


class _Formatter:
    """Formats the numbers of one tensor alike."""

    def __init__(self, values: list[Any], kind: dtypes.DType) -> None:
        self.floating = kind.is_floating_point
        self.integral = True
        self.scientific = False
        self.width = 1
        if not self.floating:
            self.width = max([1, *(len(str(value)) for value in values)])
            return
        finite = [abs(value) for value in values if math.isfinite(value) and value != 0]
        self.integral = all(value == math.ceil(value) for value in finite)
        if finite:
            low, high = min(finite), max(finite)
            if self.integral:
                self.scientific = high / low > 1000.0 or high > 1.0e8
            else:
                self.scientific = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
        self.width = max([1, *(len(self.one(value)) for value in values)])

    def one(self, value: Any) -> str:
        """One number, not padded."""
        if not self.floating:
            return str(value)
        if not math.isfinite(value):
            return str(value)
        if self.scientific:
            return f"{value:.{PRECISION}e}"
        return f"{value:.0f}." if self.integral else f"{value:.{PRECISION}f}"

    def padded(self, value: Any) -> str:
        """One number, padded to the common width."""
        return self.one(value).rjust(self.width)


class _ComplexFormatter:
    def __init__(self, values: list[complex]) -> None:
        self.real = _Formatter([value.real for value in values], dtypes.float32)
        self.imaginary = _Formatter([value.imag for value in values], dtypes.float32)
        self.real.scientific = self.imaginary.scientific = self.real.scientific or self.imaginary.scientific
        self.width = self.real.width + self.imaginary.width + 1

    def padded(self, value: complex) -> str:
        """One number, padded."""
        imaginary = self.imaginary.one(value.imag).lstrip() + "j"
        sign = "" if imaginary.startswith("-") else "+"
        return self.real.padded(value.real) + sign + imaginary


def _shown(values: Any, depth: int) -> list[Any]:
    if depth == 0:
        return [values]
    kept = values if len(values) <= 2 * EDGE_ITEMS else [*values[:EDGE_ITEMS], *values[-EDGE_ITEMS:]]
    return [each for value in kept for each in _shown(value, depth - 1)]


def _rows(values: Any, depth: int, indent: int, form: Any, summarize: bool) -> str:
    if depth == 0:
        return str(form.padded(values))
    cut = summarize and len(values) > 2 * EDGE_ITEMS
    if depth == 1:
        width = form.width + 2
        per_line = max(1, (LINE_WIDTH - indent) // width)
        items = [form.padded(value) for value in values]
        if cut:
            items = [*items[:EDGE_ITEMS], " ...", *items[-EDGE_ITEMS:]]
        lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    parts = [_rows(value, depth - 1, indent + 1, form, summarize) for value in values]
    if cut:
        parts = [*parts[:EDGE_ITEMS], "...", *parts[-EDGE_ITEMS:]]
    return "[" + ("," + "\n" * (depth - 1) + " " * (indent + 1)).join(parts) + "]"


def tensor_text(tensor: Tensor) -> str:
    """``repr`` of a tensor."""
    prefix = "Parameter containing:\n" if type(tensor).__name__ == "Parameter" else ""
    kind = tensor.dtype
    endings = []
    defaults = (dtypes.get_default_dtype(), dtypes.default_complex(), dtypes.int64, dtypes.bool_)
    if tensor.device != devices.CPU:
        body = "..."
        endings += [f"device='{tensor.device}'", f"size={tuple(tensor.shape)}"]
        if kind is not dtypes.get_default_dtype():
            endings.append(f"dtype={kind}")
    elif tensor.numel() == 0:
        body = "[]"
        if tensor.dim() != 1:
            endings.append(f"size={tuple(tensor.shape)}")
        if kind is not dtypes.get_default_dtype():
            endings.append(f"dtype={kind}")
    else:
        values = tensor.tolist()
        depth = tensor.dim()
        summarize = tensor.numel() > THRESHOLD
        shown = _shown(values, depth) if summarize else list(tensor.detach().reshape(-1).tolist())
        form: Any = _ComplexFormatter(shown) if kind.is_complex else _Formatter(shown, kind)
        body = _rows(values, depth, len("tensor("), form, summarize)
        if kind not in defaults:
            endings.append(f"dtype={kind}")
    if tensor.grad_fn is not None:
        endings.append(f"grad_fn=<{tensor.grad_fn.name().rpartition('::')[2]}>")
    elif tensor.requires_grad:
        endings.append("requires_grad=True")
    return prefix + "tensor(" + ", ".join([body, *endings]) + ")"
