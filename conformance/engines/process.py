"""One engine process: lines to it, lines from it, a deadline for each, and an end that nothing survives."""

from __future__ import annotations

import os
import resource
import selectors
import signal
import subprocess
import time
import weakref
from collections.abc import Callable, Mapping, Sequence

MAX_LINE = 256 * 1024 * 1024
"""Bytes of one line; a longer one is no reply."""
TAIL = 4096
"""Bytes of standard error that are kept."""
POLL = 0.2
"""Seconds between looks at whether the process is still there: a child of its own may hold the pipe open."""


class Trouble(Exception):
    """The process did not do what the protocol asks; ``kind`` is the verdict's name."""

    kind = "protocol error"


class Hung(Trouble):
    """Nothing came in time."""

    kind = "timeout"


class Gone(Trouble):
    """The process ended."""

    kind = "crash"


class Process:
    """A child in a session of its own, so that it ends with all its children."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str] | None = None, memory: int | None = None
    ) -> None:
        """Start it. Raises OSError where the program cannot be run."""
        self._child = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env=None if env is None else dict(env),
            preexec_fn=None if memory is None else _limit(memory),
        )
        pipes = (self._child.stdin, self._child.stdout, self._child.stderr)
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in pipes if pipe is not None)
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        self._writing = False
        self._to_send = bytearray()
        self._received = bytearray()
        self._searched = 0
        self._open = True
        self._tail = b""
        self._finalizer = weakref.finalize(self, _kill_group, self._child)

    def send(self, data: bytes) -> None:
        """Queue bytes; they are written while lines are awaited."""
        self._to_send += data
        if not self._writing and self._to_send:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
            self._writing = True

    def line(self, timeout: float) -> bytes:
        """The next line. Raises Hung, Gone, or Trouble for a line that is too long."""
        deadline = time.monotonic() + timeout
        while True:
            end = self._received.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._received[:end])
                del self._received[: end + 1]
                self._searched = 0
                return line
            self._searched = len(self._received)
            if self._searched > MAX_LINE:
                raise Trouble(f"a line of more than {MAX_LINE // (1024 * 1024)} MiB")
            if not self._open:
                raise Gone(self._ending())
            left = deadline - time.monotonic()
            if left <= 0:
                raise Hung(f"no reply within {timeout:g} s")
            if not self._step(min(left, POLL)) and self._child.poll() is not None:
                self._open = False

    def _step(self, wait: float) -> bool:
        """Move bytes as far as they move now; true if any did."""
        moved = False
        for key, _ in self._selector.select(wait):
            if key.fd == self._stdin:
                moved |= self._write()
            elif key.fd == self._stdout:
                moved |= self._read_line_bytes()
            else:
                moved |= self._read_tail()
        return moved

    def _write(self) -> bool:
        try:
            del self._to_send[: os.write(self._stdin, self._to_send[: 1 << 16])]
        except BlockingIOError:
            return False
        except OSError:  # nobody reads any more; what it still says is read before it counts as gone
            self._to_send.clear()
        if not self._to_send:
            self._selector.unregister(self._stdin)
            self._writing = False
        return True

    def _read_line_bytes(self) -> bool:
        data = _read(self._stdout, 1 << 20)
        if data == b"":
            self._selector.unregister(self._stdout)
            self._open = False
        self._received += data or b""
        return data is not None

    def _read_tail(self) -> bool:
        data = _read(self._stderr, 1 << 16)
        if data == b"":
            self._selector.unregister(self._stderr)
        self._tail = (self._tail + (data or b""))[-TAIL:]
        return bool(data)

    def _ending(self) -> str:
        """How the process ended, and the last that it said."""
        try:
            status: int | None = self._child.wait(timeout=2)
        except subprocess.TimeoutExpired:
            status = None
        while (data := _read(self._stderr, 1 << 16)) is not None and data:
            self._tail = (self._tail + data)[-TAIL:]
        if status is None:
            how = "it closed its output and stayed"
        elif status < 0:
            name = signal.Signals(-status).name if -status in signal.valid_signals() else str(-status)
            how = f"killed by {name}"
        else:
            how = f"it ended with status {status}"
        last = self.last_words()
        return f"{how}; its last words: {last}" if last else how

    def last_words(self) -> str:
        """The last line of standard error that says something."""
        lines = [line.strip() for line in self._tail.decode("utf-8", "replace").splitlines() if line.strip()]
        return lines[-1][:300] if lines else ""

    def farewell(self, data: bytes, timeout: float) -> None:
        """Send a last message, give the process a moment to end by itself, and end it."""
        self.send(data)
        deadline = time.monotonic() + timeout
        while self._open and self._child.poll() is None and (left := deadline - time.monotonic()) > 0:
            self._step(min(left, POLL))
            self._received.clear()
            self._searched = 0
        self.kill()

    def kill(self) -> None:
        """End the process and its children."""
        self._finalizer()
        self._selector.close()
        self._open = False


def _read(descriptor: int, size: int) -> bytes | None:
    """What is there to read; empty at the end, None if nothing is there now."""
    try:
        return os.read(descriptor, size)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _limit(memory: int) -> Callable[[], None]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return limit


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # the whole group is gone already
        child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # bytes that nobody took
                continue
