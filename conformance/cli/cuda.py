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
from conformance.cli.record import bounds_of
from conformance.oracles import Opening
from conformance.record import record
from conformance.results import read

ENGINE, DEVICE = "torch", "cuda"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    run_command.arguments(parser, engine=ENGINE, device=DEVICE)
    parser.add_argument("--no-record", action="store_true", help="leave the recorded traces as they are")
    parser.add_argument("--update", action="store_true", help="overwrite recorded traces that differ")
    parser.add_argument("--no-tests", action="store_true", help="leave out the tests marked cuda")


def execute(args: argparse.Namespace) -> int:
    """Measure, record, test. The exit status is that of measuring, or 1 if a test fails."""
    opening = Opening(args.engine, args.python, args.device, args.timeout, in_process=False)
    status, results = run_command.measure(args, opening)
    if status == 2:
        return status
    if not args.no_record:
        engine = read(results).header.engine
        release = f"torch-{engine['version'].partition('+')[0]}-{args.device}"
        print(f"{release}: {record(release, python=args.python, bounds=bounds_of, update=args.update)}")
    if args.no_tests:
        return status
    command = [sys.executable, "-m", "pytest", "--pyargs", "conformance", "-m", "cuda", "-q"]
    return status or int(subprocess.run(command, check=False).returncode != 0)
