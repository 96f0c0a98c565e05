"""Engines: what turns a program into a trace, in this process or in another."""

from conformance.engines.model import (
    EngineError,
    EngineHandle,
    EngineInfo,
    Failure,
    Reply,
    Trace,
)
from conformance.engines.registry import known_engines, open_engine

__all__ = [
    "EngineError",
    "EngineHandle",
    "EngineInfo",
    "Failure",
    "Reply",
    "Trace",
    "known_engines",
    "open_engine",
]
