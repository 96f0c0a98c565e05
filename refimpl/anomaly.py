"""Anomaly mode: where a failing node was recorded, and NaN in gradients (MODE-07)."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy

from .errors import text
from .graph import Node, extra

__all__ = ["check_nan", "explained", "remember"]


def remember(node: Node) -> None:
    """Keep the traceback of the forward call that made the node."""
    extra(node).trace = "".join(traceback.format_stack()[:-2])


@contextmanager
def explained(node: Node) -> Iterator[None]:
    """Warn with the forward call's traceback if the node raises."""
    try:
        yield
    except Exception:
        warn_about(node)
        raise


def warn_about(node: Node) -> None:
    """Say where the failing node was recorded."""
    trace = "" if node.extra is None else node.extra.trace
    if trace:
        warnings.warn(
            f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{trace}",
            stacklevel=2,
        )
    else:
        warnings.warn(
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly "
            "during forward pass for more information.",
            stacklevel=2,
        )


def check_nan(task: Any, node: Node, grads: Any) -> None:
    """Raise RuntimeError if a gradient that the node returned has a NaN."""
    for index, grad in enumerate(grads):
        if grad is None:
            continue
        array = grad._data if task.recorded else grad
        if array.dtype.kind in "fcV" and bool(
            numpy.isnan(array.astype("float64") if array.dtype.kind == "V" else array).any()
        ):
            warn_about(node)
            raise RuntimeError(text("anomaly.nan", node=node.name(), index=index))
