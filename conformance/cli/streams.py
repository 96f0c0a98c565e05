"""The standard streams of a command: it goes on when they are closed, full, narrow, or read no more."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO


class Unheard(io.FileIO):
    """A stream whose text may get lost: the work goes on, and `lost` says why."""

    lost: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write what can be written."""
        try:
            return super().write(data) or 0
        except OSError as error:
            self.lost = error
            return memoryview(data).nbytes


def settle() -> None:
    """Make the process's own streams such that no print can end a command. Other streams stay as they are."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:  # closed: the next file opened would be taken for it
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = _settled(sys.stdout, sys.__stdout__, 1)
    sys.stderr = _settled(sys.stderr, sys.__stderr__, 2)


def _settled(stream: TextIO | None, own: TextIO | None, descriptor: int) -> TextIO:
    if stream is not None and stream is not own:
        return stream
    raw = Unheard(descriptor, "w", closefd=False)
    encoding = "utf-8" if stream is None else stream.encoding
    lines = descriptor == 2 or raw.isatty()
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=encoding, errors="backslashreplace", line_buffering=lines
    )


def lost(stream: TextIO) -> OSError | None:
    """Why text of a stream got lost, but for a reader who left: that is no fault."""
    stream.flush()
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    error = raw.lost if isinstance(raw, Unheard) else None
    return None if isinstance(error, BrokenPipeError) else error
