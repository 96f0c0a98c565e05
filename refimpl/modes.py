"""The modes of a thread: grad mode, inference mode, anomaly mode, and the hooks on saved tensors (MODE-01 to
MODE-08).

All of it is thread-local (MODE-03): a new thread starts with grad mode on. numpy's floating point warnings
are switched off in each thread that computes, because torch has none (SEED-24)."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

import numpy

__all__ = [
    "detect_anomaly",
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "state",
    "warn_once",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class ThreadState(threading.local):
    """What is switched on in this thread."""

    def __init__(self) -> None:
        self.grad = True
        self.inference = False
        self.anomaly = False
        self.check_nan = True
        self.pack_hooks: list[tuple[Callable[..., Any], Callable[..., Any]]] = []
        self.pack_hooks_disabled: str | None = None
        self.tasks: list[Any] = []  # the backward passes that run in this thread, innermost last
        self.special = False  # one of inference, anomaly, pack_hooks is on: recording takes the general way
        numpy.seterr(all="ignore")

    def update(self) -> None:
        """Bring ``special`` up to date after one of its parts was changed."""
        self.special = self.inference or self.anomaly or bool(self.pack_hooks)


state = ThreadState()


def is_grad_enabled() -> bool:
    """True if operations are recorded in this thread."""
    return state.grad


def is_inference_mode_enabled() -> bool:
    """True inside ``inference_mode()``."""
    return state.inference


class _Mode:
    """A context manager that is also a decorator, as torch's are."""

    def __enter__(self) -> None:
        raise TypeError("a mode must say what it enters")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise TypeError("a mode must say what it leaves")

    def clone(self) -> _Mode:
        return type(self)()

    def __call__(self, function: Decorated) -> Decorated:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]


class _GradMode(_Mode):
    value: bool

    def __init__(self) -> None:
        self.before = False

    def __enter__(self) -> None:
        self.before = state.grad
        state.grad = self.value

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.grad = self.before


class no_grad(_GradMode):
    """Operations inside are not recorded (MODE-01)."""

    value = False

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        made = super().__new__(cls)
        if function is None:
            return made
        made.__init__()  # type: ignore[misc]
        return made(function)

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        super().__init__()


class enable_grad(no_grad):
    """Operations inside are recorded, also within ``no_grad`` (MODE-01)."""

    value = True


class set_grad_enabled(_Mode):
    """Switch grad mode at once; as a context manager, back again at its end."""

    def __init__(self, mode: bool) -> None:
        self.before = state.grad
        self.mode = mode
        state.grad = bool(mode)

    def __call__(self, function: Decorated) -> Decorated:
        state.grad = self.before
        return super().__call__(function)

    def __enter__(self) -> None:
        state.grad = self.mode

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.grad = self.before

    def clone(self) -> _Mode:
        return set_grad_enabled(self.mode)


class inference_mode(_Mode):
    """Tensors made inside never take part in autograd (MODE-04, MODE-08)."""

    def __new__(cls, mode: Any = True) -> Any:
        made = super().__new__(cls)
        if isinstance(mode, bool):
            return made
        made.__init__()  # type: ignore[misc]
        return made(mode)

    def __init__(self, mode: Any = True) -> None:
        self.mode = mode
        self.before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self.before.append((state.inference, state.grad))
        state.inference = self.mode
        state.grad = not self.mode
        state.update()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.inference, state.grad = self.before.pop()
        state.update()

    def clone(self) -> _Mode:
        return inference_mode(self.mode)


class set_detect_anomaly:
    """Switch anomaly mode: NaN in a gradient raises and names the node (MODE-07)."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = (state.anomaly, state.check_nan)
        state.anomaly, state.check_nan = mode, check_nan
        state.update()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.anomaly, state.check_nan = self.before
        state.update()


class detect_anomaly:
    """The context manager form of ``set_detect_anomaly(True)``, with torch's warning."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        self.before = (False, True)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self.before = (state.anomaly, state.check_nan)
        state.anomaly, state.check_nan = True, self.check_nan
        state.update()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.anomaly, state.check_nan = self.before
        state.update()


_warned: set[str] = set()
_warn_always = False


def warn_once(message: str, stacklevel: int = 3) -> None:
    """Warn once in the life of the process, or each time after ``set_warn_always(True)`` (CREATE-03)."""
    if _warn_always or message not in _warned:
        _warned.add(message)
        warnings.warn(message, UserWarning, stacklevel=stacklevel)


def set_warn_always(always: bool, /) -> None:
    """Let warnings that come once per process come each time."""
    global _warn_always
    _warn_always = always


def is_warn_always_enabled() -> bool:
    """True after ``set_warn_always(True)``."""
    return _warn_always
