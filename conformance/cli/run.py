"""`conformance run ENGINE`: measure an engine against the oracle."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

from conformance import reports, results
from conformance.cli import summary
from conformance.cli.errors import UsageError
from conformance.cli.progress import progress
from conformance.compare import STRENGTHS
from conformance.engines import EngineError
from conformance.expected import Expected, ExpectedError, applicable, load
from conformance.oracles import Opening, default_oracle, describe, open_oracle
from conformance.plan import (
    GENERATED,
    Case,
    PlanError,
    fixture_cases,
    generated_cases,
    hypothesis_cases,
    only,
)
from conformance.programs import ProgramError, parse
from conformance.results import Writer
from conformance.run import Settings, Sides, make_header, not_run, run

DEFAULT_EXAMPLES = 200
DEFAULT_TIMEOUT = 30.0


def arguments(parser: argparse.ArgumentParser, engine: str | None = None, device: str = "cpu") -> None:
    """Add the arguments of this command; an engine that is given is only the default."""
    given = f" ({engine})" if engine else ""
    parser.add_argument(
        "engine",
        metavar="ENGINE",
        nargs="?" if engine else None,
        default=engine,
        help=f"torch, refimpl, module:NAME, 'command:…' or an adapter's name{given}",
    )
    parser.add_argument("--device", default=device, metavar="D", help=f"what `main` is bound to ({device})")
    parser.add_argument("--oracle", metavar="O", help="torch, or recorded:torch-2.13.0-cpu (torch)")
    parser.add_argument("--python", metavar="P", help="the interpreter in which a module: engine lives")
    parser.add_argument(
        "--examples", type=_count, metavar="N", help=f"generated programs ({DEFAULT_EXAMPLES})"
    )
    parser.add_argument("--time", type=_seconds, metavar="S", help="generate programs for this many seconds")
    parser.add_argument(
        "--driver",
        choices=("plain", "hypothesis"),
        default="plain",
        help="who draws the programs: a seeded generator, or Hypothesis (plain)",
    )
    parser.add_argument("--seed", type=_count, default=0, metavar="N", help="of the generated programs (0)")
    parser.add_argument(
        "--families", type=_names, metavar="F,F", help=f"clause families, or {GENERATED}; all by default"
    )
    parser.add_argument("--only", metavar="CASE", help="one case id, or the beginning of one")
    parser.add_argument("--fail-fast", action="store_true", help="stop at the first failure")
    parser.add_argument("--expected-failures", type=Path, metavar="F", help="TOML or JSON; see the README")
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="(results)")
    parser.add_argument("--strength", choices=STRENGTHS, default=STRENGTHS[0], help=f"({STRENGTHS[0]})")
    parser.add_argument(
        "--timeout", type=_seconds, default=DEFAULT_TIMEOUT, metavar="S", help="of one program (30)"
    )


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a count")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 10**7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def execute(args: argparse.Namespace) -> int:
    """Run, write results and report, say what was found; the exit status."""
    return measure(args, Opening(args.engine, args.python, args.device, args.timeout))[0]


def measure(args: argparse.Namespace, opening: Opening) -> tuple[int, Path]:
    """Measure one engine: exit status and results. Raises the suite's errors where it cannot start."""
    expected = load(args.expected_failures) if args.expected_failures else {}
    oracle_spec, note = (args.oracle, "") if args.oracle else default_oracle()
    if note:
        print(note, file=sys.stderr)
    everything = fixture_cases()
    live = not oracle_spec.startswith("recorded:")
    cases, planned = _plan(args, everything, live=live)
    stored = _stored(expected) if live and not args.only and args.families is None else []
    header_settings = {
        "seed": args.seed,
        "examples": planned["generated"],
        "driver": args.driver,
        "time": args.time,
        "families": args.families,
        "only": args.only,
        "strength": args.strength,
        "timeout": args.timeout,
    }
    oracle = open_oracle(Opening(oracle_spec, timeout=args.timeout, in_process=False))
    try:
        try:
            engine = opening.open()
        except EngineError as error:
            path = results_path(args.out, opening)
            _note_not_run(opening, oracle.describe(), planned, header_settings, cases, path, error)
            _show(path)
            raise
        with engine:
            path = results_path(args.out, opening, engine.info.version)
            sides = Sides(opening, engine, oracle)
            holds = applicable(expected, engine.info.version, engine.info.device)
            stored = [case for case in stored if case.id in holds]
            if planned["generated"] is not None:
                planned["generated"] += len(stored)
            cases = chain(stored, cases)
            header = make_header(describe(opening, engine), oracle.describe(), planned, header_settings)
            settings = Settings(strength=args.strength, fail_fast=args.fail_fast, expected=holds)
            try:
                with Writer(path) as writer, progress(header.planned_count) as shown:
                    run(sides, cases, header, writer, shown, settings, {case.id for case in everything})
            except BaseException:
                with suppress(OSError, results.ResultsError):  # what ended the run is what is told
                    _show(path)
                raise
            _show(path)
    finally:
        oracle.close()
    return results.exit_status(results.read(path)), path


def _plan(
    args: argparse.Namespace, everything: Sequence[Case], *, live: bool
) -> tuple[Iterator[Case], dict[str, int | None]]:
    """The cases to run, lazily, and how many of each origin are planned."""
    examples: int | None = args.examples
    if not live:
        if examples or args.time:
            raise UsageError(
                "generated programs need a live oracle",
                f"--oracle {args.oracle}",
                "leave out --examples and --time",
            )
        examples = 0
    elif examples is None and args.time is None:
        examples = DEFAULT_EXAMPLES
    families: list[str] | None = args.families
    fixtures = list(everything)
    if families is not None:
        fixtures = fixture_cases(families)
        if GENERATED not in families:
            examples = 0
    if args.driver == "hypothesis":
        if examples is None:
            raise UsageError("Hypothesis draws a number of programs", "--time", "give --examples")
        drawn = hypothesis_cases(args.seed, examples)
        generated, examples = iter(drawn), len(drawn)
    else:
        generated = generated_cases(args.seed, examples)
    if args.only:
        found = only(chain(fixtures, generated if examples is not None else ()), args.only)
        origins = [case.origin for case in found]
        return iter(found), {"fixtures": origins.count("fixture"), "generated": origins.count(GENERATED)}
    if args.time is not None and examples != 0:
        end = time.monotonic() + args.time
        generated = takewhile(lambda _: time.monotonic() < end, generated)
        return chain(fixtures, generated), {"fixtures": len(fixtures), "generated": None}
    if not fixtures and not examples:
        raise PlanError("nothing is left to run", "the plan", "give --examples, or families with fixtures")
    return chain(fixtures, generated), {"fixtures": len(fixtures), "generated": examples}


def _stored(expected: Mapping[str, Expected]) -> list[Case]:
    """The shortest programs of generated expected failures, as cases. Raises ExpectedError."""
    found = []
    for entry in expected.values():
        if entry.program:
            try:
                found.append(Case(entry.stored_case, GENERATED, GENERATED, parse(entry.program)))
            except ProgramError as error:
                raise ExpectedError(f"its program is none: {error}", entry.case, "make it anew") from None
    return found


def results_path(folder: Path, opening: Opening, version: str = "") -> Path:
    """Where results go: named by the engine as it was asked for, its version where another Python has it."""
    parts = [opening.spec, version if opening.python else "", opening.device]
    names = [re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-.")[:60] for part in parts]
    return folder / f"{'-'.join(name for name in names if name) or 'engine'}.jsonl"


def _note_not_run(
    opening: Opening,
    oracle: Mapping[str, Any],
    planned: dict[str, int | None],
    settings: dict[str, Any],
    cases: Iterator[Case],
    path: Path,
    error: EngineError,
) -> None:
    """Leave a result file that says why nothing was run, so that a report shows it."""
    side = {"spec": opening.spec, "name": opening.spec, "version": "", "device": opening.device}
    fixtures = takewhile(lambda case: case.origin == "fixture", cases)
    header = make_header(side, oracle, {**planned, "generated": 0}, settings)
    with Writer(path) as writer, progress(None) as shown:
        not_run(header, fixtures, str(error), writer, shown)


def _show(path: Path) -> None:
    """Write the report beside the results and say what was found."""
    found = results.read(path)
    page = path.with_suffix(".html")
    reports.write([found], page)
    for line in summary.lines(found):
        print(line)
    print(f"results: {path}")
    print(f"report:  {page}")
