"""`conformance record RELEASE…`: record the traces of a torch release for all fixtures.

What is there already is not overwritten without `--update`: a recording that changes is a change of the
oracle.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from conformance.programs import Program
from conformance.record import record
from conformance.shadow import NoRule, shadow_trace


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("release", metavar="RELEASE", help="such as torch-2.13.0-cpu or torch-1.9.0-cpu")
    parser.add_argument("--python", metavar="P", help="the interpreter in which this release is installed")
    parser.add_argument("--update", action="store_true", help="overwrite what differs; review the diff")
    parser.add_argument(
        "--timeout", type=float, default=60.0, metavar="S", help="seconds that one program may take (60)"
    )


def execute(args: argparse.Namespace) -> int:
    """Record, and say what changed. The exit status is 0, or 2 where nothing was recorded."""
    changes = record(
        args.release, python=args.python, bounds=bounds_of, update=args.update, timeout=args.timeout
    )
    print(f"{args.release}: {changes}")
    return 0


def bounds_of(program: Program) -> Mapping[str, Any] | None:
    """The shadow's bounds, or none where the reference engine uses what has no rule of bounds."""
    try:
        return shadow_trace(program)
    except NoRule:
        return None
