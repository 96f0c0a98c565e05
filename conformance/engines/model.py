"""What an engine is to the rest of the suite: a handle that turns programs into replies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, TypeAlias

from conformance.programs import Program

FailureKind = Literal["crash", "timeout", "protocol error"]


class EngineError(Exception):
    """An engine cannot be used: what is wrong, where, and what to do."""

    def __init__(self, what: str, where: str = "", hint: str = "") -> None:
        super().__init__(what, where, hint)
        self.what, self.where, self.hint = (_one_line(part) for part in (what, where, hint))

    def __str__(self) -> str:
        line = f"{self.where}: {self.what}" if self.where else self.what
        return f"{line} ({self.hint})" if self.hint else line


def _one_line(text: str) -> str:
    """A text of somebody else's, such as the message of a failed import, on one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= 500 else line[:500] + "…"


@dataclass(frozen=True)
class EngineInfo:
    """What an engine said of itself in ``hello``."""

    name: str
    version: str
    python: str
    identity: str
    bytes_rung: str
    device: str
    build: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)

    @property
    def unread(self) -> frozenset[str]:
        """The fields of traces in which the engine has nothing of its own to show."""
        return frozenset(map(str, self.capabilities.get("reads_absent", ())))


@dataclass(frozen=True)
class Trace:
    """The engine ran the program; ``json`` is what it showed (see ``programs/FORM.md``)."""

    json: dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """The engine gave no trace of this program, through a fault of its own."""

    kind: FailureKind
    detail: str


Reply: TypeAlias = Trace | Failure


class EngineHandle(ABC):
    """An open engine.

    ``runs_runner`` is true where the suite's own runner speaks for it, so that its build can be believed.
    """

    name: str
    info: EngineInfo
    runs_runner: bool = True

    @abstractmethod
    def run(self, programs: Sequence[Program]) -> list[Reply]:
        """One reply for each program, in order. Raises EngineError if the engine cannot be started again."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the engine; closing twice is allowed."""

    def __enter__(self) -> EngineHandle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


MAY_LACK = frozenset(
    (
        "dtype", "strides", "device", "requires_grad", "is_leaf", "grad_fn", "retains_grad", "version",
        "storage", "grad_mode", "grad.requires_grad",
    )
)  # fmt: skip
"""What an engine may have nothing of its own to show in. Values, shapes and gradients are always compared."""

NAMES = ("absent", "reads_absent", "dtypes")
"""The capabilities that are lists of names."""


def info_from(hello: Mapping[str, Any]) -> EngineInfo:
    """The information in a ``hello`` message. Raises ValueError, naming the field that is missing or
    wrong."""
    for key in ("name", "version", "identity", "bytes"):
        if not isinstance(hello.get(key), str):
            raise ValueError(f"{key!r} is not a text")
    if hello["identity"] not in ("known", "unknown"):
        raise ValueError("'identity' is neither 'known' nor 'unknown'")
    for key in ("build", "capabilities"):
        if not isinstance(hello.get(key, {}), dict):
            raise ValueError(f"{key!r} is not an object")
    if hello["bytes"] == "none":
        raise ValueError("'bytes' is 'none': an engine whose values cannot be read cannot be measured")
    capabilities = hello.get("capabilities", {})
    for key in NAMES:
        names = capabilities.get(key, [])
        if not isinstance(names, list) or not all(
            isinstance(name, str) and len(name) < 200 for name in names
        ):
            raise ValueError(f"{key!r} is not a list of names")
    for name in capabilities.get("reads_absent", []):
        if name not in MAY_LACK:
            raise ValueError(f"'reads_absent' names {name!r}; it may name {', '.join(sorted(MAY_LACK))}")
    return EngineInfo(
        name=hello["name"],
        version=hello["version"],
        python=str(hello.get("python", "")),
        identity=hello["identity"],
        bytes_rung=hello["bytes"],
        device=str(hello.get("device", "cpu")),
        build=hello.get("build", {}),
        capabilities=capabilities,
    )
