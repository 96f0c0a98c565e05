"""Errors that a person can act on, each as one line: where, what, what to do."""

from __future__ import annotations

from conformance.reports.inert import visible

# The classes are named, not imported: a command that reads a file has no need of every engine.
_KNOWN = (
    "EngineError",
    "ProgramError",
    "FixtureError",
    "ResultsError",
    "PlanError",
    "ExpectedError",
    "SpecificationError",
    "RecordError",
    "FaultError",
    "ExportError",
    "LifeError",
    "UsageError",
)
_LONGEST = 600


class UsageError(Exception):
    """A command line that cannot be carried out."""

    def __init__(self, what: str, where: str, hint: str) -> None:
        super().__init__(f"{where}: {what} ({hint})")
        self.what, self.where, self.hint = what, where, hint


def told(error: BaseException) -> str | None:
    """The line for an error of the suite or of a file, or None for an error that is a defect of its own."""
    if isinstance(error, OSError):
        where, what = str(error.filename or "the system"), error.strerror or str(error)
        hint = "check the path, who may use it, and the space there"
    elif any(kind.__name__ in _KNOWN for kind in type(error).__mro__):
        where, what, hint = (str(getattr(error, name, "") or "") for name in ("where", "what", "hint"))
        what = what or str(error)
    else:
        return None
    line = "conformance: error: " + ": ".join(part for part in (where, what) if part)
    if hint:
        line += f" ({hint})"
    line = visible(" ".join(line.split()))
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
