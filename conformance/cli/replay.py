"""`conformance replay CASE [ENGINE…]`: one program on engines, side by side, statement by statement."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.cli.run import DEFAULT_TIMEOUT
from conformance.compare import STRENGTHS, Verdict
from conformance.engines import Failure, Reply
from conformance.failures import where
from conformance.oracles import Answer, Opening, default_oracle, open_oracle
from conformance.plan import Case, PlanError, fixture_cases, generated_cases, only
from conformance.programs import Program, loads, parse, to_source
from conformance.reports.inert import visible
from conformance.reports.steps import step_lines
from conformance.results import FAILING, ResultsError, clip, read
from conformance.run import judge

_LONGEST_LINE = 200


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "case",
        metavar="CASE",
        help="a fixture's id, a generated program's id with --results, or a program file (.py, .json)",
    )
    parser.add_argument("engines", nargs="*", default=["refimpl"], metavar="ENGINE", help="(refimpl)")
    parser.add_argument(
        "--results", type=Path, metavar="F", help="the result file that holds a generated case"
    )
    parser.add_argument("--oracle", metavar="O", help="torch, or recorded:torch-2.13.0-cpu (torch)")
    parser.add_argument("--python", metavar="P", help="the interpreter in which a module: engine lives")
    parser.add_argument("--device", default="cpu", metavar="D", help="what `main` is bound to (cpu)")
    parser.add_argument("--strength", choices=STRENGTHS, default=STRENGTHS[0], help=f"({STRENGTHS[0]})")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of a generated case (0)")
    parser.add_argument(
        "--examples", type=int, default=0, metavar="N", help="look for a generated case among so many"
    )


def execute(args: argparse.Namespace) -> int:
    """Show the program, then each statement with what every side did."""
    case = _case(args)
    oracle_spec = args.oracle or default_oracle()[0]
    oracle = open_oracle(Opening(oracle_spec, in_process=False))
    try:
        answer = oracle.answers([case])[0]
    finally:
        oracle.close()
    replies: list[tuple[str, Reply]] = []
    for spec in args.engines:
        with Opening(spec, args.python, args.device, DEFAULT_TIMEOUT).open() as engine:
            replies.append((spec, engine.run([case.program])[0]))
    verdicts = [(spec, judge(case.program, answer, reply, args.strength).verdict) for spec, reply in replies]
    for line in _lines(case.program, oracle_spec, answer, replies, verdicts):
        print(visible(line))
    kinds = {verdict.kind for _, verdict in verdicts}
    if kinds & set(FAILING):
        return 1
    return 0 if "conforms" in kinds else 2


def _case(args: argparse.Namespace) -> Case:
    path = Path(args.case)
    if path.suffix in (".py", ".json"):
        return Case(path.stem, "", "generated", program_file(path))
    if args.results:
        found = [program for program in read(args.results).programs if program.id == args.case]
        if not found or found[0].failure is None:
            raise ResultsError(f"no failure is called {args.case!r}", str(args.results), "see its report")
        program = Program.from_json(dict(found[0].failure.program), id=args.case)
        return Case(args.case, "", "generated", program)
    return only([*fixture_cases(), *generated_cases(args.seed, args.examples)], args.case)[0]


def program_file(path: Path) -> Program:
    """The program of a file, source or JSON. Raises PlanError if it cannot be read, ProgramError."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(
            f"cannot be read: {getattr(error, 'strerror', None) or error}", str(path), "give a program file"
        ) from error
    return loads(text, id=path.stem) if path.suffix == ".json" else parse(text, name=str(path))


def _lines(
    program: Program,
    oracle_spec: str,
    answer: Answer,
    replies: Sequence[tuple[str, Reply]],
    verdicts: Sequence[tuple[str, Verdict]],
) -> Iterator[str]:
    sides = [(oracle_spec, _trace(answer)), *((spec, _trace(reply)) for spec, reply in replies)]
    for index, statement in enumerate(program.body):
        for line in to_source(Program((statement,))).splitlines():
            yield f">>> {line}"
        shown = [(spec, _step(trace, index)) for spec, trace in sides]
        if all(text == shown[0][1] for _, text in shown):
            yield from (f"      {line}" for line in shown[0][1])
        else:
            for spec, text in shown:
                yield f"    {spec}:"
                yield from (f"      {line}" for line in text)
    for spec, reply in [(oracle_spec, answer), *replies]:
        if isinstance(reply, Failure):
            yield f"{spec}: {reply.kind}: {clip(reply.detail, 2000)}"
    for spec, verdict in verdicts:
        yield f"{spec}: {verdict.kind}" + (f": {clip(verdict.reason, 2000)}" if verdict.reason else "")
        for difference in verdict.differences:
            oracle, engine = clip(str(difference.oracle), 100), clip(str(difference.engine), 100)
            yield f"  {where(difference.at, program)}: {difference.path} ({difference.level})"
            yield f"    {oracle} / {engine}"


def _trace(reply: Answer) -> Mapping[str, Any] | None:
    trace: Mapping[str, Any] | None = getattr(reply, "json", None)
    return trace


def _step(trace: Mapping[str, Any] | None, index: int) -> list[str]:
    if trace is None or index >= len(trace["steps"]):
        return ["nothing was observed"]
    return [clip(line, _LONGEST_LINE) for line in step_lines(trace["steps"][index]).splitlines()]
