"""`conformance cuda`: all that needs a GPU, in one command.

It measures torch on CUDA against torch on CPU, records the fixtures' traces on CUDA, and runs the tests that
are marked `cuda`. Without a CUDA device it says so, leaves a result file in which every program is `not run`,
and ends with 2.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from conformance.cli import run as run_command
from conformance.oracles import Opening


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    run_command.arguments(parser, engine="torch", device="cuda")
    parser.add_argument("--no-tests", action="store_true", help="leave out the tests marked cuda")


def execute(args: argparse.Namespace) -> int:
    """Measure, record, test. The exit status is that of the first that fails."""
    opening = Opening(args.engine, args.python, args.device, args.timeout, in_process=False)
    status = run_command.measure(args, opening)
    if status == 2 or args.no_tests:
        return status
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "--pyargs", "conformance", "-m", "cuda", "-q"], check=False
    )
    return status or int(tests.returncode != 0)
