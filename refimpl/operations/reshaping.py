"""Changing a tensor's own shape and strides: t_, transpose_, squeeze_, unsqueeze_, as_strided_ (VIEW-17).

Each is a view operation whose result takes the tensor's place; torch gives their nodes names of their own.
"""

from __future__ import annotations

from typing import Any

from .table import TABLE, composite, operation, vjp


def _inplace(key: str, name: str, node: str) -> None:
    """The in-place form, under the key `name`, of the view operation `key`."""
    view = TABLE[key]
    operation(
        name, view.forward, node=node, view=True, inplace_only=True, functions=(), methods=(),
        gradients={"self": vjp(view.formulas[0], *view.uses[0])},
    )  # fmt: skip


_inplace("t", "t_inplace", "TBackward1")
_inplace("transpose", "transpose_inplace", "TransposeBackward1")
_inplace("squeeze.all", "squeeze_inplace.all", "SqueezeBackward3")
_inplace("squeeze.dim", "squeeze_inplace.dim", "SqueezeBackward4")
_inplace("squeeze.dims", "squeeze_inplace.dims", "SqueezeBackward5")
_inplace("unsqueeze", "unsqueeze_inplace", "UnsqueezeBackward1")
_inplace("as_strided", "as_strided_inplace", "AsStridedBackward1")


@composite("t_", functions=())
def _t_(F: Any, self: Any) -> Any:
    return F.t_inplace_(self)


def _transpose_(F: Any, self: Any, dim0: int, dim1: int) -> Any:
    return F.transpose_inplace_(self, dim0, dim1)


composite("transpose_", functions=(), methods=("transpose_", "swapaxes_", "swapdims_"))(_transpose_)


@composite("squeeze_", functions=())
def _squeeze_(F: Any, self: Any, dim: Any = None) -> Any:
    if dim is None:
        return F.squeeze_inplace_all_(self)
    return (F.squeeze_inplace_dim_ if isinstance(dim, int) else F.squeeze_inplace_dims_)(self, dim)


@composite("unsqueeze_", functions=())
def _unsqueeze_(F: Any, self: Any, dim: int) -> Any:
    return F.unsqueeze_inplace_(self, dim)


@composite("as_strided_", functions=("as_strided_",))
def _as_strided_(F: Any, self: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    return F.as_strided_inplace_(self, size, stride, storage_offset)
