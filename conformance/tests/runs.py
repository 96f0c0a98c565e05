"""Small result records, for tests of what is made from them."""

from __future__ import annotations

from typing import Any

from conformance.results import Failure, Footer, Header, ProgramResult

ENGINE = {"spec": "toy", "name": "toy", "version": "1.0", "device": "cpu"}
ORACLE = {"spec": "torch", "name": "torch", "version": "2.13.0", "device": "cpu"}
CLAUSES = (
    {"id": "ACC-01", "strength": "required", "sentence": "Gradients add up."},
    {"id": "ACC-02", "strength": "torch-specific", "sentence": "In place."},
    {"id": "SEED-10", "strength": "excluded", "sentence": "Racy."},
)
STEP: dict[str, Any] = {
    "at": 1,
    "kind": "backward",
    "outcome": "ok",
    "seen": {
        "x": [
            "tensor",
            {
                "dtype": "float32",
                "shape": [2],
                "strides": [1],
                "device": "main",
                "requires_grad": True,
                "bytes": "0000803f00000040",
                "grad": None,
            },
        ]
    },
}


def header(planned: int, **changes: Any) -> Header:
    fields = {
        "suite": "2026.1",
        "corpus": "c0ffee",
        "engine": ENGINE,
        "oracle": ORACLE,
        "host": {"machine": "x86_64"},
        "planned": {"fixtures": planned, "generated": 0},
        "settings": {"seed": 0},
        "clauses": CLAUSES,
        "started": "2026-12-01T00:00:00+00:00",
    }
    return Header(**{**fields, **changes})


def program(name: str, verdict: str = "conforms", **changes: Any) -> ProgramResult:
    fields = {
        "id": name,
        "hash": "0" * 64,
        "family": "ACC",
        "origin": "fixture",
        "verdict": verdict,
        "clauses": ("ACC-01",),
        "title": f"the program {name}",
        "counts": {"entries": 4, "exact": 4, "ill_conditioned": 0, "undecided": 0, "gradients": 2},
        "kinds": {"create": 1, "backward": 1},
        "outcomes": {"ok": 2},
    }
    return ProgramResult(**{**fields, **changes})


def failure(**changes: Any) -> Failure:
    fields = {
        "program": {"form": 1, "body": []},
        "source": "x = torch.ones(2, requires_grad=True)\nx.sum().backward()\n",
        "statements": 2,
        "difference": {
            "at": 1,
            "where": "after statement 1, x.sum().backward()",
            "path": "seen.x.grad",
            "level": "values",
            "strength": "required",
            "oracle": "tensor",
            "engine": "None",
            "note": "",
            "kind": "backward",
            "clause": "",
        },
        "oracle": STEP,
        "engine": STEP,
        "script": "import torch\n",
        "group": "diverges · backward · values",
    }
    return Failure(**{**fields, **changes})


def footer(programs: int, **changes: Any) -> Footer:
    fields = {
        "complete": True,
        "programs": programs,
        "seconds": 1.0,
        "health": {"executed": programs, "kinds": {"create": programs}, "warnings": []},
        "verdicts": {"conforms": programs},
    }
    return Footer(**{**fields, **changes})
