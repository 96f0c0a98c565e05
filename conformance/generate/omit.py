"""The value of a hole in an argument that is left out."""

from __future__ import annotations

from conformance.generate.literals import Expr

OMIT: Expr = object()
