"""The oracle of a run: real torch, live, or its recorded traces.

A live oracle runs in a process of its own, so that a crash of torch costs one program and not the run. It is
believed only after it proved that it is real torch. A recorded oracle (`recorded:torch-2.13.0-cpu`) needs no
torch, and knows the fixtures alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import PurePath
from types import TracebackType
from typing import Any, Protocol

from conformance import fixtures
from conformance.engines import EngineError, EngineHandle, Failure, Trace, open_engine
from conformance.engines.identity import prove_torch
from conformance.plan import Case

RECORDED = "recorded:"
DEFAULT_RECORDED = "recorded:torch-2.13.0-cpu"


@dataclass(frozen=True)
class Absent:
    """The oracle has nothing to say about a program."""

    reason: str


Answer = Trace | Failure | Absent


class Oracle(Protocol):
    """What is believed."""

    @property
    def live(self) -> bool:
        """True if it can run programs that nobody recorded."""

    @property
    def concurrent(self) -> bool:
        """True if it may work while the engine does: not where both share a process."""

    def answers(self, cases: Sequence[Case]) -> list[Answer]:
        """One answer for each case, in order."""

    def describe(self) -> Mapping[str, Any]:
        """Its provenance, for the header of the results."""

    def close(self) -> None:
        """Let go of its process."""


@dataclass(frozen=True)
class Opening:
    """How an engine is opened: all that is needed to open it once more."""

    spec: str
    python: str | None = None
    device: str = "cpu"
    timeout: float = 30.0
    in_process: bool | None = None

    def open(self) -> EngineHandle:
        """Open the engine. Raises EngineError."""
        return open_engine(
            self.spec,
            python=self.python,
            device=self.device,
            timeout=self.timeout,
            in_process=self.in_process,
        )


def describe(opening: Opening, handle: EngineHandle) -> dict[str, Any]:
    """An engine's provenance, for the header of the results."""
    info = handle.info
    return {
        "spec": opening.spec,
        "name": info.name,
        "version": info.version,
        "device": info.device,
        "python": info.python,
        "identity": info.identity,
        "bytes_rung": info.bytes_rung,
        "build": {key: _place(value) if key in PATHS else value for key, value in info.build.items()},
        "capabilities": dict(info.capabilities),
    }


PATHS = ("file", "core")
"""What of a build is a path: results are published, and a person's directories are nobody's business."""


def _place(path: object) -> object:
    """A file's place in its package: the last two parts of its path."""
    return "/".join(PurePath(path).parts[-2:]) if isinstance(path, str) else path


class LiveOracle:
    """Torch, running."""

    live = True

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self.concurrent = opening.in_process is False
        self._handle = opening.open()
        try:
            prove_torch(self._handle)
        except BaseException:
            self._handle.close()
            raise

    def answers(self, cases: Sequence[Case]) -> list[Answer]:
        """Run the cases."""
        return list(self._handle.run([case.program for case in cases]))

    def describe(self) -> Mapping[str, Any]:
        """Its provenance."""
        return describe(self._opening, self._handle)

    def close(self) -> None:
        """End its process."""
        self._handle.close()

    def __enter__(self) -> LiveOracle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class RecordedOracle:
    """The traces that a release of torch left with the fixtures."""

    live = False
    concurrent = False

    def __init__(self, release: str) -> None:
        self.release = release
        known = fixtures.releases()
        if release not in known:
            raise EngineError(
                f"no traces are recorded for {release!r}",
                f"--oracle {RECORDED}{release}",
                f"recorded are {', '.join(known)}"
                if known
                else "nothing is recorded yet: conformance record",
            )

    def answers(self, cases: Sequence[Case]) -> list[Answer]:
        """Look the cases up."""
        return [self._answer(case) for case in cases]

    def _answer(self, case: Case) -> Answer:
        if case.origin != "fixture":
            return Absent("a generated program needs a live oracle")
        trace = fixtures.recorded_trace(case.id, self.release)
        if trace is None:
            return Absent(f"nothing is recorded for it on {self.release}")
        return Trace(without_bounds(trace))

    def describe(self) -> Mapping[str, Any]:
        """Its provenance, as the recording wrote it down."""
        name, _, rest = self.release.partition("-")
        version, _, device = rest.rpartition("-")
        written = {"version": version, "device": device, **fixtures.provenance(self.release)}
        return {**written, "spec": f"{RECORDED}{self.release}", "name": f"{name} (recorded)"}

    def close(self) -> None:
        """Nothing to let go of."""


def without_bounds(trace: Any) -> Any:
    """A recorded trace as torch showed it: the bounds beside the values are the shadow's."""
    if isinstance(trace, dict):
        return {key: without_bounds(part) for key, part in trace.items() if key not in ("bound", "undecided")}
    if isinstance(trace, list):
        return [without_bounds(part) for part in trace]
    return trace


def open_oracle(opening: Opening) -> LiveOracle | RecordedOracle:
    """The oracle that a spec names. Raises EngineError if it cannot be opened, or is not real torch."""
    if opening.spec.startswith(RECORDED):
        return RecordedOracle(opening.spec.removeprefix(RECORDED))
    return LiveOracle(opening)


def default_oracle() -> tuple[str, str]:
    """Real torch where it is installed, else its recorded traces, and a line that says which and why."""
    if find_spec("torch") is not None:
        return "torch", ""
    return (
        DEFAULT_RECORDED,
        f"torch is not installed: the oracle is {DEFAULT_RECORDED}, generated programs cannot be judged "
        "(pip install torch==2.13.0)",
    )
