"""The command `conformance`: one module for each of its commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from conformance import __version__
from conformance.cli import streams
from conformance.cli.errors import UsageError, told

COMMANDS = {
    "run": "measure an engine against real torch and write results and a report",
    "replay": "run one case or program file on engines, side by side",
    "report": "make one HTML page from result files",
    "record": "record traces of torch for the fixtures",
    "spec": "list, search and show clauses",
    "drift": "what changed between two recorded releases of torch, clause by clause",
    "export": "write the corpus as JSON, for engines in any language",
    "faults": "plant faults in the reference engine and show which are found",
    "divergences": "list the distinct shortest divergences of several runs",
    "xfail": "make or update a list of expected failures from a run's results",
    "engines": "list the known engines; install or remove one, in an environment of its own",
    "check-adapter": "whether an adapter tells the truth about its engine",
    "cuda": "all that needs a GPU, in one command",
}

OK, FAILS, CANNOT = 0, 1, 2


class _Parser(argparse.ArgumentParser):
    """A parser whose errors look like all others."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageError(message, self.prog, f"`{self.prog} --help` shows what there is")


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """The parser of the command line. Only the arguments of `command` are filled in; the rest is named."""
    parser = _Parser(
        prog="conformance",
        description="The conformance suite for torch.Tensor.backward().",
        epilog="Exit status: 0 everything executed conforms; 1 something diverges, crashes or times out; "
        "2 it could not run, or nothing was executed.",
    )
    parser.add_argument("--version", action="version", version=f"autograd-conformance {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for name, text in COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == command:
            module = import_module("conformance.cli." + name.replace("-", "_"))
            module.arguments(sub)
            sub.set_defaults(execute=module.execute)
    return parser


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse a command line without its first word. Raises UsageError."""
    command = next((word for word in argv if not word.startswith("-")), None)
    return build_parser(command).parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; errors that a person can act on are one line each."""
    if argv is None:
        streams.settle()
    try:
        arguments = parse(sys.argv[1:] if argv is None else argv)
        status: int = arguments.execute(arguments)
        error = streams.lost(sys.stdout)
        if error is None:
            return status
        print(f"conformance: error: standard output: {error.strerror}", file=sys.stderr)
        return status or CANNOT
    except KeyboardInterrupt:
        print("conformance: interrupted", file=sys.stderr)
        return CANNOT
    except Exception as error:
        line = told(error)
        if line is None:
            raise
        print(line, file=sys.stderr)
        return CANNOT
