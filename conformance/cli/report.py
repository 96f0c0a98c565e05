"""`conformance report RESULTS…`: one HTML page from result files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance import reports, results
from conformance.cli.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "results", nargs="+", type=Path, metavar="RESULTS", help="result files (.jsonl), or folders of them"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("report.html"), metavar="FILE", help="the page (report.html)"
    )


def execute(args: argparse.Namespace) -> int:
    """Write the page. A run that is incomplete is shown as such, and said so."""
    found = [results.read(path) for path in _files(args.results)]
    reports.write(found, args.out)
    for run in found:
        if not run.complete:
            print(f"{run.path}: incomplete: {run.problem}", file=sys.stderr)
    print(f"report: {args.out}")
    return 0


def _files(paths: list[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        files += sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise UsageError(
            "no .jsonl file is in it", str(paths[0]), "`conformance run ENGINE --out DIR` writes one"
        )
    return list(dict.fromkeys(files))
