"""The checks and pages of `conformance spec`: support, minimality, the book, the pin of a suite version."""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence

from conformance import __version__
from conformance.cli import replay
from conformance.cli.errors import UsageError
from conformance.faults import CATALOGUE
from conformance.fixtures import Fixture, corpus_hash, load_fixtures, manifest_hash, releases
from conformance.specification import Clause, book, life, load_clauses
from conformance.specification import support as supports
from conformance.specification.minimal import Minimality, Needed, stale

ACTIONS = ("support", "minimal", "book", "pin")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of these actions."""
    parser.add_argument("--sample", type=int, metavar="N", help="with minimal and support: only so many")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the sample (0)")
    parser.add_argument("--write", action="store_true", help="with support: compute and store the matrix")


def execute(action: str, words: Sequence[str], args: argparse.Namespace) -> int:
    """Do one of them."""
    if action == "support":
        return _support(words, args)
    if action == "minimal":
        return _minimal(words, args)
    if words:
        raise UsageError(f"{words[0]!r} means nothing here", f"conformance spec {action}", "leave it out")
    if action == "book":
        for name in book.write():
            print(f"written: {name}")
        return 0
    clauses = load_clauses()
    now = life.Pin(__version__, len(clauses), set_hash(clauses), corpus_hash(), manifests())
    life.pin(now)
    print(f"{now.version}: {now.clauses} clauses {now.clause_set[:16]}, corpus {now.corpus[:16]}")
    return 0


def set_hash(clauses: Sequence[Clause]) -> str:
    """The hash of the clause set."""
    return life.clause_set_hash((one.id, one.strength, one.status, one.sentence) for one in clauses)


def manifests() -> dict[str, str]:
    """The hash of each recorded release's manifest."""
    return {release: manifest_hash(release) for release in releases()}


def faults_of(clause: Clause) -> tuple[str, ...]:
    """The planted faults in a clause."""
    return supports.faults_in(clause)


def side_by_side(fixtures: Sequence[Fixture], engines: Sequence[str]) -> int:
    """Replay fixtures on engines; the worst exit status."""
    worst = 0
    for fixture in fixtures:
        print(f"\n== {fixture.id}: {fixture.program.title}")
        given = argparse.Namespace(
            case=fixture.id, engines=list(engines), results=None, oracle=None, python=None,
            device="cpu", strength="required", seed=0, examples=0,
        )  # fmt: skip
        worst = max(worst, replay.execute(given))
    return worst


def _sample(fixtures: Sequence[Fixture], count: int | None, seed: int) -> list[Fixture]:
    if count is None or count >= len(fixtures):
        return list(fixtures)
    return sorted(random.Random(seed).sample(list(fixtures), max(count, 1)), key=lambda one: one.id)


def _chosen(words: Sequence[str], fixtures: Sequence[Fixture]) -> list[Fixture]:
    if not words:
        return list(fixtures)
    found = [
        one
        for one in fixtures
        if one.id in words or one.family in words or set(words) & set(one.program.clauses)
    ]
    if not found:
        raise UsageError(
            f"no fixture is called {words[0]!r}", "conformance spec", "an id, a family or a clause"
        )
    return found


def _support(words: Sequence[str], args: argparse.Namespace) -> int:
    fixtures = load_fixtures()
    if args.write:
        matrix = supports.Matrix(fixtures)
        changes = {}
        for number, fault in enumerate(CATALOGUE, 1):
            changes[fault.id] = matrix.changes(fault)
            print(
                f"{number} of {len(CATALOGUE)}: {fault.id}: {len(changes[fault.id])} fixtures",
                file=sys.stderr,
            )
        supports.write(changes, supports.state_of(fixtures, CATALOGUE))
    elif supports.stored_state() != supports.state_of(fixtures, CATALOGUE):
        print(f"the matrix is older than fixtures or faults: `{supports.COMMAND}`", file=sys.stderr)
    found = list(supports.support(supports.stored(), fixtures))
    for one in found:
        if words and one.clause.id not in words and one.clause.family not in words:
            continue
        if one.fixtures:
            print(f"{one.clause.id:<15} {', '.join(one.fixtures)} (by {', '.join(one.faults)})")
        else:
            print(f"{one.clause.id:<15} unbroken: {one.clause.unbroken or 'no reason is given'}")
    probed = [one for one in found if one.clause.probed]
    broken = sum(one.broken for one in probed)
    share = 100 * broken / len(probed)
    print(f"{broken} of {len(probed)} probed clauses are broken by a planted fault ({share:.1f} %)")
    tagged = sum(len(one.tagged) for one in found)
    print(f"{sum(len(one.fixtures) for one in found)} of {tagged} tags are support")
    return int(any(not one.broken and not one.clause.unbroken for one in probed))


def _minimal(words: Sequence[str], args: argparse.Namespace) -> int:
    fixtures = _sample(_chosen(words, load_fixtures()), args.sample, args.seed)
    judge = Minimality(fixtures)
    found: list[Needed] = [needed for fixture in fixtures for needed in judge.judge(fixture)]
    idle = [needed for needed in found if not needed.noticed]
    for needed in idle:
        print(f"{needed.fixture}, statement {needed.at + 1}: nothing notices that it is dropped")
    old = stale(found)
    for line in old:
        print(f"without_effect.json is stale: {line}")
    reasons = Counter(needed.why.partition(":")[0] for needed in found if needed.noticed)
    print(
        f"{len(fixtures)} fixtures, {len(found)} statements, {len(idle)} unnoticed; noticed by: "
        + ", ".join(f"{why} {count}" for why, count in reasons.most_common())
    )
    return int(bool(idle or old))
