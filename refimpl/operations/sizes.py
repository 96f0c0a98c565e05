"""Sizes: inference of -1, expansion, and how torch writes them in its errors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product
from typing import Any


def shape_text(shape: Sequence[int]) -> str:
    """`[2, 3]`, as error texts write shapes."""
    return "[" + ", ".join(str(size) for size in shape) + "]"


_ARGUMENTS = {"reshape": "shape", "permute": "dims", "flip": "dims", "repeat": "repeats", "tile": "dims"}


def sizes_of(arguments: Sequence[Any], name: str) -> tuple[int, ...]:
    """The sizes given as `f(2, 3)` or `f((2, 3))`. Raises TypeError if they are no integers."""
    alone = len(arguments) == 1 and isinstance(arguments[0], (list, tuple))
    given = tuple(arguments[0]) if alone else tuple(arguments)
    try:
        return tuple(size.__index__() for size in given)
    except AttributeError:
        position = next(i for i, size in enumerate(given) if not hasattr(size, "__index__"))
        wrong = type(given[position]).__name__
        argument = _ARGUMENTS.get(name, "size")
        if len(given) == 1 and given[0] is arguments[0]:
            raise TypeError(
                f"{name}(): argument '{argument}' (position 1) must be tuple of ints, not {wrong}"
            ) from None
        raise TypeError(
            f"{name}(): argument '{argument}' failed to unpack the object at pos {position + 1} with error "
            f'"type must be tuple of ints,but got {wrong}"'
        ) from None


def infer_size(size: Sequence[int], count: int) -> tuple[int, ...]:
    """The size with its -1 replaced. Raises RuntimeError if `count` entries do not fit."""
    shape = tuple(size)
    unknown = [axis for axis, each in enumerate(shape) if each == -1]
    if len(unknown) > 1:
        raise RuntimeError("only one dimension can be inferred")
    negative = next((each for each in shape if each < -1), None)
    if negative is not None:
        raise RuntimeError(f"invalid shape dimension {negative}")
    known = product(each for each in shape if each != -1)
    if unknown:
        if known == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {shape_text(shape)} because the unspecified "
                f"dimension "
                "size -1 can be any value and is ambiguous"
            )
        if count % known == 0:
            return tuple(count // known if each == -1 else each for each in shape)
    elif known == count:
        return shape
    raise RuntimeError(f"shape '{shape_text(shape)}' is invalid for input of size {count}")


def expand_geometry(
    shape: Sequence[int], strides: Sequence[int], size: Sequence[int], kind: str = ""
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides of an expansion. Raises RuntimeError where sizes do not fit (VIEW-11)."""
    size = tuple(size)
    if len(size) < len(shape):
        raise RuntimeError(
            f"expand({kind}{{{shape_text(shape)}}}, size={shape_text(size)}): the number of sizes provided "
            f"({len(size)}) must "
            f"be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    if not shape and -1 not in size:
        return size, (0,) * len(size)
    lead = len(size) - len(shape)
    out_shape, out_strides = [0] * len(size), [0] * len(size)
    for axis in range(len(size) - 1, -1, -1):
        own = axis - lead
        if own >= 0:
            here, stride = shape[own], strides[own]
        else:
            here = 1
            stride = out_shape[axis + 1] * out_strides[axis + 1] if axis + 1 < len(size) else 1
        wanted = size[axis]
        if wanted == -1:
            if own < 0:
                raise RuntimeError(
                    f"The expanded size of the tensor ({wanted}) isn't allowed in a leading, non-existing "
                    f"dimension {axis}"
                )
            wanted = here
        if wanted != here:
            if here != 1:
                raise RuntimeError(
                    f"The expanded size of the tensor ({wanted}) must match the existing size ({here}) at "
                    f"non-singleton "
                    f"dimension {axis}.  Target sizes: {shape_text(size)}.  Tensor sizes: {shape_text(shape)}"
                )
            stride = 0
        out_shape[axis], out_strides[axis] = wanted, stride
    return tuple(out_shape), tuple(out_strides)


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The common shape. Raises RuntimeError naming the first (last) dimension that does not fit."""
    ndim = max((len(shape) for shape in shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        lead = ndim - len(shape)
        for own in range(len(shape) - 1, -1, -1):
            axis = lead + own
            if result[axis] == 1:
                result[axis] = shape[own]
            elif shape[own] not in (1, result[axis]):
                raise RuntimeError(
                    f"The size of tensor a ({result[axis]}) must match the size of tensor b ({shape[own]}) "
                    f"at "
                    f"non-singleton dimension {axis}"
                )
    return tuple(result)
