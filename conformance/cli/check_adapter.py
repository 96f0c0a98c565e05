"""`conformance check-adapter ENGINE`: whether an adapter tells the truth about its engine."""

from __future__ import annotations

import argparse

from conformance.engines import open_engine
from conformance.engines.check import check

_SIGNS = {"ok": "ok  ", "fails": "FAIL", "not there": "  - "}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "engine", metavar="ENGINE", help="an adapter's name, module:NAME, 'command:…', torch or refimpl"
    )
    parser.add_argument("--python", metavar="P", help="the interpreter in which the engine lives")
    parser.add_argument("--device", default="cpu", metavar="D", help="what `main` is bound to (cpu)")
    parser.add_argument("--timeout", type=float, default=30.0, metavar="S", help="of one question (30)")
    parser.add_argument("--failures", action="store_true", help="show what fails, and nothing else")


def execute(args: argparse.Namespace) -> int:
    """Ask, show the answers; 1 if the adapter does not tell the truth."""
    opened = open_engine(
        args.engine, python=args.python, device=args.device, timeout=args.timeout, in_process=False
    )
    with opened as engine:
        findings = check(engine)
        said = engine.info
    failing = [finding for finding in findings if finding.outcome == "fails"]
    for finding in failing if args.failures else findings:
        line = f"{_SIGNS[finding.outcome]} {finding.what}"
        print(f"{line}: {finding.detail}" if finding.detail else line)
    there = sum(finding.outcome == "ok" for finding in findings)
    print(
        f"{said.name} {said.version}: {there} hold, {len(failing)} fail, "
        f"{len(findings) - there - len(failing)} not there"
    )
    return 1 if failing else 0
