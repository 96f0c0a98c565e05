"""`conformance divergences RESULTS…`: the distinct shortest divergences of several runs, as one list."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from conformance.divergences import collect, page, to_json
from conformance.engines.identity import prove_torch
from conformance.oracles import Opening
from conformance.results import read


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help="files of `conformance run`")
    parser.add_argument(
        "--out", type=Path, default=Path("divergences"), metavar="F", help="F.md and F.json (divergences)"
    )


def execute(args: argparse.Namespace) -> int:
    """Write both files and say how many there are."""
    runs = [read(path) for path in args.results]
    with Opening("torch", in_process=False).open() as oracle:
        prove_torch(oracle)
        rows = collect(runs, oracle)
        name = f"{oracle.info.name} {oracle.info.version}"
    data = to_json(rows)
    args.out.with_suffix(".json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    args.out.with_suffix(".md").write_text("\n".join(page(rows, name)) + "\n", "utf-8")
    for engine, count in data["engines"].items():
        print(f"{count:5,}  {engine}")
    print(f"{len(rows):5,}  in {args.out.with_suffix('.md')} and {args.out.with_suffix('.json')}")
    return 0
