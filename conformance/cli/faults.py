"""`conformance faults`: plant single faults in the reference engine and show which the suite finds.

A suite is as strong as the faults that it finds. Each row says after how many programs a fault was found, by
the fixtures and by generated programs, and at which level the first difference was.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator, Sequence

from conformance.cli.errors import UsageError
from conformance.faults import BY_ID, CATALOGUE, Fault
from conformance.faults.matrix import Cases, Found, Row, run_matrix


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("faults", nargs="*", metavar="FAULT", help="ids of faults; all by default")
    parser.add_argument("--list", action="store_true", help="list the faults and plant none")
    parser.add_argument("--examples", type=int, default=500, metavar="N", help="generated programs (500)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the generated programs (0)")
    parser.add_argument(
        "--no-fixtures", action="store_true", help="try the faults on generated programs alone"
    )


def execute(args: argparse.Namespace) -> int:
    """Print the matrix. The exit status is 1 if a fault escapes everything that was tried."""
    chosen = _chosen(args.faults)
    if args.list:
        for fault in chosen:
            print(f"{fault.id:<34} {fault.clause:<12} {fault.what}")
        return 0
    if args.examples < 1 and args.no_fixtures:
        raise UsageError(
            "nothing is left to try the faults on", "conformance faults", "give --examples, or the fixtures"
        )
    rows = []
    print(f"{'fault':<34} {'clause':<12} {'fixtures':<30} generated")
    for row in run_matrix(
        chosen, seed=args.seed, programs=args.examples, fixtures=not args.no_fixtures, started=_started
    ):
        rows.append(row)
        fixtures = "-" if args.no_fixtures else _found(row.fixtures)
        print(f"{row.fault.id:<34} {row.fault.clause:<12} {fixtures:<30} {_found(row.generated)}", flush=True)
    for line in _totals(rows):
        print(line)
    return int(any(row.fixtures is None and row.generated is None for row in rows))


def _chosen(names: Sequence[str]) -> Sequence[Fault]:
    for name in names:
        if name not in BY_ID:
            close = difflib.get_close_matches(name, BY_ID, n=3)
            hint = f"did you mean {', '.join(close)}?" if close else "`conformance faults --list` lists them"
            raise UsageError(f"no fault is called {name!r}", "conformance faults", hint)
    return [BY_ID[name] for name in names] or CATALOGUE


def _started(fixtures: Cases | None, generated: Cases) -> None:
    for cases in (fixtures, generated):
        if cases is not None:
            left_out = f", {len(cases.excluded)} left out that already diverge" if cases.excluded else ""
            print(f"{cases.source}: {len(cases.cases)} programs{left_out}", file=sys.stderr)


def _found(found: Found | None) -> str:
    return "not found" if found is None else f"after {found.after}, {found.level} ({found.strength})"


def _totals(rows: Sequence[Row]) -> Iterator[str]:
    for title, chosen in (("all", rows), ("chosen blind", [row for row in rows if row.fault.blind])):
        if chosen:
            fixtures = sum(row.fixtures is not None for row in chosen)
            generated = [row.generated.after for row in chosen if row.generated is not None]
            soon = sum(after <= 100 for after in generated)
            yield (
                f"{title}: {len(chosen)} faults, {fixtures} found by fixtures, {len(generated)} by generated "
                f"programs ({soon} within 100)"
            )
    escaped = [row.fault.id for row in rows if row.fixtures is None and row.generated is None]
    if escaped:
        yield f"found by nothing: {', '.join(escaped)}"
