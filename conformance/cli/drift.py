"""`conformance drift OLD NEW`: what changed in backward() between two recorded releases, clause by clause."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from conformance.cli.errors import UsageError
from conformance.fixtures import releases
from conformance.specification import drift as drifts


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("old", metavar="OLD", help="a recorded release, such as torch-1.9.0-cpu or 1.9.0")
    parser.add_argument("new", metavar="NEW", help="another one, such as torch-2.13.0-cpu")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--out", type=Path, metavar="F", help="write it there instead of printing it")


def execute(args: argparse.Namespace) -> int:
    """Print or write the drift. The exit status is 1 if something changed."""
    old, new = (_release(name) for name in (args.old, args.new))
    found = drifts.drift(old, new)
    if args.json:
        text = json.dumps(drifts.to_json(found, old, new), indent=1, sort_keys=True)
    else:
        text = "\n".join(drifts.page(found, old, new))
    if args.out is not None:
        args.out.write_text(text + "\n", encoding="utf-8")
        print(f"{args.out}: " + ", ".join(f"{count} {kind}" for kind, count in drifts.counts(found).items()))
    else:
        print(text)
    return int(any(one.changes for one in found))


def _release(name: str) -> str:
    """The recorded release that a name means: the whole, or its version alone."""
    known = releases()
    for found in (name, f"torch-{name}-cpu"):
        if found in known:
            return found
    raise UsageError(f"{name!r} is not recorded", "conformance drift", f"recorded are {', '.join(known)}")
