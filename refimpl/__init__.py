"""A reference implementation of torch's autograd in numpy, to be read as the explanation of it.

``import refimpl as torch`` gives torch's names with torch 2.13's behaviour. Where to look: `tensor` (what a
tensor is), `record` (what an operation does besides computing), `graph` (nodes and edges), `engine` (a
backward pass), `accumulate` (``.grad``), `saved` (what is kept for backward), `views` (views and in-place
operations), `hooks`, `function` (custom functions), `modes`, `errors` (every text), `operations` (one table
entry for each operation)."""

# ruff: noqa: F401 - the imports are the names of the package
from __future__ import annotations

from typing import Any

from . import autograd, devices, dtypes, namespace
from .autograd import enable_grad, grad_mode, inference_mode, no_grad, set_grad_enabled
from .devices import Device as device
from .dtypes import (
    DType as dtype,
)
from .dtypes import (
    bfloat16,
    cdouble,
    cfloat,
    complex64,
    complex128,
    double,
    finfo,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    long,
    promote_types,
    result_type,
    set_default_dtype,
    short,
    uint8,
)
from .modes import (
    is_grad_enabled,
    is_inference_mode_enabled,
    is_warn_always_enabled,
    set_warn_always,
)
from .tensor import Size, Tensor

__version__ = "2.13.0+refimpl"

bool = dtypes.bool_
int = dtypes.int_
float = dtypes.float_
can_cast = dtypes.can_cast


class MemoryFormat:
    """A memory format as torch names it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return "torch." + self.name


contiguous_format = MemoryFormat("contiguous_format")
preserve_format = MemoryFormat("preserve_format")
channels_last = MemoryFormat("channels_last")


def is_tensor(value: object) -> Any:
    """True for a tensor."""
    return isinstance(value, Tensor)


def _install() -> None:
    namespace.install(globals())
    from .operations.table import FACTORIES

    for name, function in FACTORIES.items():
        globals()[name] = function  # torch.tensor takes the name of the module refimpl.tensor


_install()

from . import linalg, nn  # noqa: E402  (they need the functions)
