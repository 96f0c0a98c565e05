"""An engine and the oracle held open for many single programs, as a test run needs them."""

from __future__ import annotations

import pytest

from conformance.engines import EngineError
from conformance.failures import bare, shorten, where
from conformance.oracles import Opening, default_oracle, open_oracle
from conformance.plan import Case
from conformance.programs import Program, to_source
from conformance.results import FAILING, clip
from conformance.run import Judged, Settings, Sides, evaluate
from conformance.script import assertion_script

_SHOWN = 2_000


def generated(program: Program) -> Case:
    """A program that nobody recorded, as a case."""
    return Case("program", "", "generated", program)


class Session:
    """Judges programs one at a time."""

    def __init__(self, sides: Sides) -> None:
        self.sides = sides

    def judge(self, program: Program) -> Judged:
        """The verdict on one program."""
        return evaluate(self.sides, [generated(program)], Settings().strength)[0]

    def check(self, case: Case) -> None:
        """Pass if the case conforms, skip what was not judged, fail with the shortest program otherwise."""
        found = evaluate(self.sides, [case], Settings().strength)[0]
        kind = found.verdict.kind
        if kind == "conforms":
            return
        if kind not in FAILING:
            pytest.skip(f"{kind}: {found.verdict.reason}")
        pytest.fail(self.explain(case, found), pytrace=False)

    def explain(self, case: Case, found: Judged) -> str:
        """What failed, as a person wants to read it in a terminal."""
        program, verdict = case.program, found.verdict
        lines = [f"{verdict.kind}: {verdict.reason}".rstrip(": ")]
        shortest, shown = program, found
        if verdict.kind == "diverges":
            again = evaluate(self.sides, [case], Settings().strength)[0].verdict.kind
            if again in ("conforms", "ill-conditioned"):
                lines[0] = "flaky: it diverged, and conformed when it was run again"
            elif self.sides.oracle.live:
                shortest = shorten(program, verdict, lambda candidate: self.judge(candidate).verdict, 200)
                shown = self.judge(shortest)
        shortest = bare(shortest)
        lines.append(to_source(shortest))
        for difference in shown.verdict.differences:
            at = where(difference.at, shortest)
            lines.append(f"{at}: {difference.path} ({difference.level}) {difference.note}".rstrip())
            lines.append(f"  torch:  {clip(str(difference.oracle), _SHOWN)}")
            lines.append(f"  engine: {clip(str(difference.engine), _SHOWN)}")
        if shown.verdict.differences:
            lines += ["", "# To paste: needs only PyTorch, asserts what torch does."]
            script = assertion_script(shortest, shown.oracle, shown.engine, shown.verdict.differences)
            lines.append(script)
        return "\n".join(lines)

    def close(self) -> None:
        """End both processes."""
        self.sides.engine.close()
        self.sides.oracle.close()


def open_session(
    engine: str, *, device: str = "cpu", oracle: str | None = None, python: str | None = None
) -> Session:
    """Open both sides. Ends the test run with one line if one cannot be opened."""
    opening = Opening(engine, python, device)
    try:
        believed = open_oracle(Opening(oracle or default_oracle()[0], in_process=False))
    except EngineError as error:
        pytest.exit(f"conformance: {error}", returncode=2)
    try:
        return Session(Sides(opening, opening.open(), believed))
    except EngineError as error:
        believed.close()
        pytest.exit(f"conformance: {error}", returncode=2)
