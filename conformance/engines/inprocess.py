"""An engine in this process: the fastest way, for engines that do not crash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance import runner
from conformance.engines.model import EngineError, EngineHandle, Failure, Reply, Trace, info_from
from conformance.operations import runner_schema
from conformance.programs import Program


class InProcess(EngineHandle):
    """Runs programs by calling the runner."""

    def __init__(self, engine: runner.Engine, *, shadow: bool = False) -> None:
        self.engine = engine
        self.name = engine.name
        self.info = info_from(runner.describe(engine))
        self._schema: dict[str, Any] = runner_schema()
        self._shadow = shadow

    def run(self, programs: Sequence[Program]) -> list[Reply]:
        """One reply for each program, in order."""
        return [self._run(program) for program in programs]

    def _run(self, program: Program) -> Reply:
        try:
            return Trace(runner.run(program.to_json(), self.engine, self._schema, self._shadow, program.hash))
        except runner.BadProgram as error:
            return Failure("protocol error", f"the runner refused the program: {error}")

    def close(self) -> None:
        """Nothing to let go of."""


def open_in_process(module: str, *, where: str, device: str = "cpu") -> InProcess:
    """The engine of a module. Raises EngineError."""
    try:
        return InProcess(runner.load(module, device))
    except runner.EngineProblem as problem:
        raise EngineError(problem.what, where, problem.hint) from None
    except ValueError as fault:
        raise EngineError(f"its hello is faulty: {fault}", where, "see PROTOCOL.md") from None
