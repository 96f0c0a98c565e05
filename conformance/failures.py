"""From a program that failed to what a person needs: its shortest form, both outcomes, a script to paste."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.compare import Difference, Group, Missing, Verdict, group
from conformance.programs import Program, reduce, to_source
from conformance.results import Failure, clip
from conformance.script import assertion_script

# A program's text is short; what it shows may be a megabyte.
LONGEST_VALUE = 4_000
MOST_DIFFERENCES = 20


def shorten(program: Program, verdict: Verdict, judge: Callable[[Program], Verdict], budget: int) -> Program:
    """The shortest program found that still shows the same finding (statement kind, level, place, clause)."""
    wanted = _finding(program, verdict)
    return reduce(program, lambda candidate: _finding(candidate, judge(candidate)) == wanted, budget=budget)


def _finding(program: Program, verdict: Verdict) -> tuple[str, Group]:
    return verdict.kind, group(program, verdict)


def group_name(program: Program, verdict: Verdict) -> str:
    """The name under which failures of one fault stand together."""
    found = group(program, verdict)
    return " · ".join(part for part in (verdict.kind, *found) if part)


def describe(
    program: Program,
    shortest: Program,
    verdict: Verdict,
    oracle: Mapping[str, Any] | None,
    engine: Mapping[str, Any] | None,
) -> Failure:
    """What the report shows of a failure. `verdict` and both traces are those of the shortest program."""
    source, original = to_source(bare(shortest)), to_source(bare(program))
    first = verdict.differences[0] if verdict.differences else None
    return Failure(
        program=bare(shortest).to_json(),
        source=source,
        statements=len(shortest.body),
        original=original if original != source else None,
        difference=None if first is None else difference_json(first, shortest),
        more=tuple(
            difference_json(other, shortest)
            for other in verdict.differences[1 : 1 + MOST_DIFFERENCES]
            if first is not None and other.at == first.at
        ),
        oracle=_shown(oracle, first),
        engine=_shown(engine, first),
        script=assertion_script(bare(shortest), oracle, engine, verdict.differences),
        group=group_name(program, verdict),
    )


def bare(program: Program) -> Program:
    """The program without its labels, which speak of what it was before it was shortened."""
    return Program(program.body)


def where(at: int | str, program: Program) -> str:
    """The place of a difference in words, with the statement's first line."""
    if isinstance(at, str) or at >= len(program.body):
        return "at the end"
    line = to_source(Program(program.body[at : at + 1])).splitlines()[0]
    return f"after statement {at}, {clip(line, 80)}"


def difference_json(difference: Difference, program: Program) -> dict[str, Any]:
    """A difference as JSON; values are texts."""
    return {
        "at": difference.at,
        "where": where(difference.at, program),
        "path": difference.path,
        "level": difference.level,
        "strength": difference.strength,
        "oracle": _text(difference.oracle),
        "engine": _text(difference.engine),
        "note": difference.note,
        "kind": difference.kind,
        "clause": difference.clause,
    }


def _text(value: Any) -> str:
    if isinstance(value, Missing):
        return "nothing"
    return clip(value if isinstance(value, str) and value.strip() else repr(value), LONGEST_VALUE)


def _shown(trace: Mapping[str, Any] | None, first: Difference | None) -> dict[str, Any] | None:
    """The step at the first difference, without what is too long to show."""
    if trace is None or first is None:
        return None
    steps = trace.get("steps", [])
    if first.at == "end" or first.at >= len(steps):
        return {"outcome": "end", "seen": _bounded(trace.get("end", {}))}
    step = steps[first.at]
    return {key: _bounded(value) for key, value in step.items()}


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return clip(value, LONGEST_VALUE)
    if isinstance(value, Mapping):
        return {key: _bounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        shown = [_bounded(item) for item in value[:200]]
        return shown if len(value) <= 200 else [*shown, f"… [{len(value) - 200:,} more]"]
    return value
