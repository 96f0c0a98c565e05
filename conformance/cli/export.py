"""`conformance export DIR`: the corpus as JSON, for engines in any language."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.export import check, export


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="a new folder")
    parser.add_argument("--check", action="store_true", help="check a folder that was exported before")


def execute(args: argparse.Namespace) -> int:
    """Write the corpus, or check one. The exit status is 1 if a file is not what was exported."""
    if args.check:
        problems = check(args.folder)
        for line in problems:
            print(line)
        print(f"{args.folder}: {len(problems)} problems")
        return int(bool(problems))
    print(f"{args.folder}: {export(args.folder)} files")
    return 0
