"""What a run says at its end, made from its result file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.reports.inert import visible
from conformance.reports.summary import Group, label, summarize
from conformance.results import Results, clip

_GROUPS_NAMED = 20
_CLAUSES_NAMED = 12


def lines(results: Results) -> Iterator[str]:
    """The result of a run, as lines for a terminal; what is shown of an engine's text is inert."""
    yield from map(visible, _lines(results))


def _lines(results: Results) -> Iterator[str]:
    header = results.header
    column = summarize([results]).columns[0]
    oracle = f"{header.oracle['name']} {header.oracle['version']}".strip()
    yield f"{label(results)}, against {oracle} on {header.oracle['device']}"
    planned = header.planned_count
    of = f" of {planned:,} planned" if planned is not None else f" of {column.total.all:,}"
    yield f"executed {column.total.executed:,}{of}: {column.total.passed:,} conform" + "".join(
        f", {count:,} {kind}" for kind, count in column.total.others
    )
    if column.total.expected:
        yield f"{column.total.expected:,} of the failures are expected"
    if not results.complete:
        yield f"INCOMPLETE: {results.problem}"
    for kind, reason, count in column.reasons:
        yield f"  {kind}, {count:,}: {_line(reason, 160)}"
    for group in column.groups[:_GROUPS_NAMED]:
        yield from _group(group)
    rest = len(column.groups) + column.hidden_groups - _GROUPS_NAMED
    if rest > 0:
        yield f"  and {rest:,} more kinds of failure: see the report"
    if results.footer is not None:
        for entry in results.footer.stale:
            yield f"  expected failure {entry['case']}: {entry['why']}"
        yield from health_lines(results.footer.health)
        yield from _untouched(results)


def _untouched(results: Results) -> Iterator[str]:
    """How many judged clauses the run touched, and which it did not."""
    touched = results.footer.health.get("touched", {}) if results.footer is not None else {}
    judged = [str(clause["id"]) for clause in results.header.clauses if clause["strength"] != "excluded"]
    missing = [name for name in judged if name not in touched]
    if touched and judged:
        named = f": {', '.join(missing[:_CLAUSES_NAMED])}" if missing else ""
        more = f" and {len(missing) - _CLAUSES_NAMED} more" if len(missing) > _CLAUSES_NAMED else ""
        count = f"{len(judged) - len(missing)} of {len(judged)} clauses touched"
        yield f"  {count}; by nothing {len(missing)}{named}{more}"


def _group(group: Group) -> Iterator[str]:
    program, failure = group.shown, group.shown.failure
    times = f" ({group.count:,} programs)" if group.count > 1 else ""
    yield f"  {program.verdict}: {program.id}{times}"
    if program.reason:
        yield f"    {_line(program.reason, 200)}"
    if failure is None or failure.difference is None:
        return
    difference: Mapping[str, Any] = failure.difference
    yield f"    {difference['where']}: {difference['path']} ({difference['level']})"
    yield f"      torch:  {_line(difference['oracle'], 150)}"
    yield f"      engine: {_line(difference['engine'], 150)}"
    for line in failure.source.splitlines()[:14]:
        yield f"    | {clip(line, 150)}"


def _line(text: str, longest: int) -> str:
    return clip(" ".join(str(text).split()), longest)


def health_lines(health: Mapping[str, Any]) -> Iterator[str]:
    """The run's health in a few lines."""
    kinds = health.get("kinds", {})
    yield (
        f"health: {health.get('statements', 0):,} statements of {len(kinds)} kinds ("
        + ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
        + ")"
    )
    yield (
        f"  raised {health.get('raised_share', 0):.1%}, skipped {health.get('skipped_share', 0):.1%}; "
        f"{health.get('entries', 0):,} entries compared, {health.get('gradient_entries', 0):,} of gradients, "
        f"ill-conditioned {health.get('ill_conditioned_share', 0):.2%}"
    )
    if health.get("generated"):
        yield (
            f"  {health.get('gradient_at_end_share', 0):.0%} of {health['generated']:,} generated programs "
            "end in a compared gradient"
        )
    for warning in health.get("warnings", ()):
        yield f"  warning: {warning}"
