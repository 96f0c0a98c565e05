"""The host's side of the protocol: batches, deadlines, and which program was guilty.

Programs go to the engine in batches. When anything goes wrong in a batch (nothing comes in time, the process
ends, a line is no reply), the process is killed with its group, started anew, and the programs without a
reply are run again one by one: each then gets its own verdict. If none of them fails alone, the first
without a reply, which was running, keeps the batch's failure, so that nothing that happened goes unreported.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from conformance.engines.model import EngineError, EngineHandle, Failure, FailureKind, Reply, Trace, info_from
from conformance.engines.process import Gone, Hung, Process, Trouble
from conformance.operations import runner_schema
from conformance.programs import Program

PROTOCOL = 1
BATCH = 64
START_TIMEOUT = 120.0
"""Seconds for the start: imports may be slow where running is fast."""
SHOWN = 120
"""Characters of a faulty line that are shown."""


class WrongId(Trouble):
    """A reply to a program that is not asked for; ``id`` is the one it gave."""

    def __init__(self, text: str, id: int) -> None:
        super().__init__(text)
        self.id = id


class ProcessEngine(EngineHandle):
    """An engine in a process of its own."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        where: str,
        device: str = "cpu",
        timeout: float = 30.0,
        env: Mapping[str, str] | None = None,
        memory: int | None = None,
        absent: Sequence[str] = (),
        runs_runner: bool = False,
        start_timeout: float = START_TIMEOUT,
    ) -> None:
        """Start the engine and hear its ``hello``. Raises EngineError."""
        self._command, self._env, self._memory = tuple(command), env, memory
        self._where, self._timeout, self._start_timeout = where, timeout, max(start_timeout, timeout)
        self._hello = _message(
            do="hello", protocol=PROTOCOL, device=device, absent=list(absent), schema=runner_schema()
        )
        self._ids = itertools.count()
        self._answered: dict[int, int] = {}
        self._batches = itertools.count()
        self._process: Process | None = None
        self.runs_runner = runs_runner
        self._start()

    # -- starting and ending

    def _start(self) -> Process:
        try:
            process = Process(self._command, self._env, self._memory)
        except OSError as error:
            what = f"{self._command[0]!r} cannot be run: {error.strerror or error}"
            raise EngineError(what, self._where, "check the path") from None
        try:
            process.send(self._hello)
            self._greeted(process.line(self._start_timeout))
        except Hung:
            process.kill()
            what = f"it did not say hello within {self._start_timeout:g} s"
            hint = process.last_words() or "check that it reads a line and answers it at once"
            raise EngineError(what, self._where, hint) from None
        except Gone as gone:
            process.kill()
            raise EngineError(
                f"no hello: {gone}", self._where, "run its command by hand to see why"
            ) from None
        except Trouble as trouble:
            process.kill()
            hint = "an engine may print on standard error only; see conformance/engines/PROTOCOL.md"
            raise EngineError(f"no hello, but {trouble}", self._where, hint) from None
        except BaseException:
            process.kill()
            raise
        self._process = process
        return process

    def _greeted(self, line: bytes) -> None:
        message = _parsed(line)
        if isinstance(error := message.get("error"), dict):
            raise EngineError(str(error.get("what", "it refused")), self._where, str(error.get("hint", "")))
        hello = message.get("hello")
        if not isinstance(hello, dict):
            raise Trouble(f"its first line has no hello: {_shown(line)}")
        if hello.get("protocol") != PROTOCOL:
            what = f"it speaks protocol {hello.get('protocol')!r}, this suite speaks {PROTOCOL}"
            raise EngineError(what, self._where, "use the versions that belong together")
        try:
            self.info = info_from(hello)
        except ValueError as fault:
            raise EngineError(f"its hello is faulty: {fault}", self._where, "see PROTOCOL.md") from None
        self.name = self.info.name

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    def close(self) -> None:
        """Say bye and end the process."""
        if self._process is not None:
            process, self._process = self._process, None
            process.farewell(_message(do="bye"), 2.0)

    # -- running

    def undeclared(self, names: Sequence[str]) -> list[str] | None:
        """The names that the engine has and its adapter leaves out; None where it does not know the question.

        Raises EngineError if it does not answer.
        """
        process = self._process or self._start()
        process.send(_message(do="undeclared", names=list(names)))
        try:
            answer = _parsed(process.line(self._start_timeout))
        except Trouble as trouble:
            self._kill()
            raise EngineError(
                f"asked for what is undeclared: {trouble}", self._where, "run it by hand"
            ) from None
        found = answer.get("undeclared")
        return [str(name) for name in found] if isinstance(found, list) else None

    def run(self, programs: Sequence[Program]) -> list[Reply]:
        """One reply for each program, in order."""
        self._answered = {}
        replies: list[Reply | None] = [None] * len(programs)
        for start in range(0, len(programs), BATCH):
            self._batch(programs, list(range(start, min(start + BATCH, len(programs)))), replies)
        return [reply if reply is not None else _unanswered() for reply in replies]

    def _batch(self, programs: Sequence[Program], indices: list[int], replies: list[Reply | None]) -> None:
        try:
            self._exchange(programs, indices, replies)
            return
        except Trouble as trouble:
            self._kill()
            failure, twice = _failure(trouble), self._answered_twice(trouble)
            guilty = next((index for index in indices if replies[index] is None), indices[-1])
        except BaseException:
            self._kill()
            raise
        again = [index for index in indices if replies[index] is None]
        for index in again:
            self._alone(programs, index, replies)
        if twice is not None:
            replies[twice] = failure
        elif not any(isinstance(replies[index], Failure) for index in again):
            replies[guilty] = Failure(
                failure.kind, f"{failure.detail} (in a batch; run alone it gave a trace)"
            )

    def _alone(self, programs: Sequence[Program], index: int, replies: list[Reply | None]) -> None:
        try:
            self._exchange(programs, [index], replies)
        except Trouble as trouble:
            self._kill()
            guilty = self._answered_twice(trouble)
            if guilty is None or guilty == index:
                replies[index] = _failure(trouble)
            else:
                replies[guilty] = _failure(trouble)
                self._alone(programs, index, replies)
        except BaseException:
            self._kill()
            raise

    def _answered_twice(self, trouble: Trouble) -> int | None:
        """The program that a late reply belongs to, if it had its reply before."""
        return self._answered.pop(trouble.id, None) if isinstance(trouble, WrongId) else None

    def _exchange(self, programs: Sequence[Program], indices: list[int], replies: list[Reply | None]) -> None:
        """Send programs and take their replies, up to the ``done`` of the batch. Raises Trouble."""
        process = self._process or self._start()
        pending = {next(self._ids): index for index in indices}
        batch = next(self._batches)
        entries = [[number, programs[index].to_json()] for number, index in pending.items()]
        process.send(_message(do="run", batch=batch, programs=entries))
        while True:
            line = process.line(self._timeout)
            message = _parsed(line)
            if "done" in message:
                if message["done"] != batch or isinstance(message["done"], bool):
                    raise Trouble(f"done of batch {_shown(line)}, not of {batch}")
                if pending:
                    raise Trouble("done, without a reply to this program")
                return
            number = message.get("id")
            if isinstance(number, bool) or not isinstance(number, int):
                raise Trouble(f"a line that is no reply: {_shown(line)}")
            if number not in pending:
                raise WrongId(f"a reply with id {number}, which nobody waits for", number)
            index = pending[number]
            replies[index] = _reply(message, programs[index])
            self._answered[number] = pending.pop(number)


def _message(**fields: Any) -> bytes:
    return (
        json.dumps(fields, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"
    )


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Trouble(f"a line that is not JSON: {_shown(line)}") from None
    if not isinstance(message, dict):
        raise Trouble(f"a line that is no message: {_shown(line)}")
    return message


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _reply(message: Mapping[str, Any], program: Program) -> Reply:
    """The reply in a message. Raises Trouble for one that is no trace of this program."""
    if "error" in message:
        return Failure(
            "protocol error", f"the engine refused the program: {_shown(str(message['error']).encode())}"
        )
    trace = message.get("trace")
    parts = {"steps": list, "end": dict, "leaks": list}
    if not isinstance(trace, dict) or any(
        not isinstance(trace.get(key), kind) for key, kind in parts.items()
    ):
        raise Trouble("a reply without a trace")
    if not all(isinstance(step, dict) for step in trace["steps"]):
        raise Trouble("a trace with a step that is no object")
    if trace.get("program") != program.hash:
        raise Trouble(f"a trace of another program: {str(trace.get('program'))[:SHOWN]!r}")
    return Trace(trace)


def _failure(trouble: Trouble) -> Failure:
    return Failure(cast(FailureKind, trouble.kind), str(trouble))


def _unanswered() -> Reply:
    return Failure("protocol error", "no reply")


def _shown(line: bytes) -> str:
    text = line[: SHOWN + 1].decode("utf-8", "backslashreplace")
    return repr(text if len(line) <= SHOWN else text[:SHOWN] + "…")
