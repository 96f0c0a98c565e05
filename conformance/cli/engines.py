"""`conformance engines`: list the known engines, install one in an environment of its own, remove it."""

from __future__ import annotations

import argparse

from conformance.cli.errors import UsageError
from conformance.engines import open_engine
from conformance.engines.catalogue import Known, catalogue, installed, root
from conformance.engines.install import install, known_engine, remove
from conformance.engines.registry import BUILT_IN, known_engines

ACTIONS = ("list", "install", "remove")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="list", help="(list)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="engines to install or remove")
    parser.add_argument("--root", metavar="DIR", help=f"where the environments are ({root()})")


def execute(args: argparse.Namespace) -> int:
    """List, install or remove; the exit status."""
    if args.action == "list":
        if args.names:
            raise UsageError("list takes no names", "conformance engines list", "leave them out")
        for line in table(args.root):
            print(line)
        return 0
    if not args.names:
        raise UsageError("no engine is named", f"conformance engines {args.action}", "name one or more")
    for known in [known_engine(name) for name in args.names]:
        print(_installed(known, args.root) if args.action == "install" else _removed(known, args.root))
    return 0


def _installed(known: Known, directory: str | None) -> str:
    place = install(known, directory)
    if place is None:
        return f"{known.name}: nothing to install, it lives beside the suite (pip install torch==2.13.0)"
    if directory is not None:
        return f"{known.name} {known.version}: installed in {place}; run it with --python {place}/bin/python"
    with open_engine(known.name, timeout=120.0) as engine:
        said = engine.info
    return f"{known.name} {said.version}: installed in {place}, with {said.python}"


def _removed(known: Known, directory: str | None) -> str:
    return f"{known.name}: {'removed' if remove(known, directory) else 'was not installed'}"


def table(directory: str | None = None) -> list[str]:
    """One line for each engine that is known by name."""
    rows = [("NAME", "VERSION", "INSTALLED", "LICENCE", "HOW IT IS REACHED")]
    for name, target in BUILT_IN.items():
        rows.append((name, "", "with the suite", "", target))
    for known in catalogue().values():
        here = "with the suite" if known.in_process else "yes" if installed(known, directory) else "no"
        note = f"{known.reached} ({known.note})" if known.note else known.reached
        rows.append((known.name, known.version, here, known.licence, note))
    told = {row[0] for row in rows}
    rows += [
        (name, "", "yes", "", "registered by another package") for name in known_engines() if name not in told
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join([*(f"{row[at]:{widths[at]}}" for at in range(4)), row[4]]) for row in rows]
    return [
        *lines,
        "",
        f"environments: {root(directory)}",
        "other engines: module:NAME, 'command:PROGRAM', or the entry point autograd_conformance.engines",
    ]
