"""The reported cases, as programs, reproduce what was observed before the form existed.

`fixtures/cases/observed/torch-*.json` was made by a script that called torch directly (see PROVENANCE.md
there); `READINGS.json` says which statement of each program shows which observation.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import pytest

from conformance import runner
from conformance.fixtures import Fixture, home, load_fixtures, recorded_trace
from conformance.operations import runner_schema

CASES = load_fixtures(["cases"])
RECORDED = {"2.13.0": "torch-2.13.0-cpu", "1.9.0": "torch-1.9.0-cpu", "1.2.0": "torch-1.2.0-cpu"}
MESSAGE = 260  # characters of a text that the observations kept, of its first line


@cache
def observed(version: str) -> dict[str, Any]:
    """What was observed on a release, by case."""
    return dict(json.loads((home() / "cases" / "observed" / f"torch-{version}.json").read_text("utf-8")))


@cache
def readings() -> dict[str, dict[str, tuple[str, int]]]:
    """Where each observation is in the trace of its case: what it is, and the number of the statement."""
    return dict(json.loads((home() / "cases" / "observed" / "READINGS.json").read_text("utf-8")))


def plain(seen: Any) -> Any:
    """An observed value as the observations wrote it: nested lists, nan and inf as strings."""
    if not isinstance(seen, list):
        return seen
    tag, value = seen[0], seen[1]
    if tag == "tensor":
        return nested(runner.unpack(value["dtype"], bytes.fromhex(value["bytes"])), value["shape"])
    if tag in ("list", "tuple"):
        return [plain(part) for part in value]
    if tag == "dict":
        return {plain(key): plain(part) for key, part in value}
    if tag == "float":
        return number(float(value))
    if tag == "dtype":
        return value
    raise AssertionError(f"no observation has a {tag}")


def nested(flat: list[Any], shape: list[int]) -> Any:
    if not shape:
        return number(flat[0])
    size = math.prod(shape[1:])
    return [nested(flat[at * size : (at + 1) * size], shape[1:]) for at in range(shape[0])]


def number(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def outcome(step: dict[str, Any]) -> Any:
    """How a statement ended, as the observations wrote it."""
    if step["outcome"] == "ok":
        return {"ok": True}
    if step["outcome"] == "unsupported":
        return {"missing": step["missing"]}
    error = step["error"]
    first = (error["text"].strip().splitlines() or [""])[0]
    return {"exc": error["type"], "msg": first[:MESSAGE]}


def read(trace: dict[str, Any], kind: str, at: int) -> Any:
    """One observation of a trace."""
    step = trace["steps"][at]
    if kind == "outcome":
        return outcome(step)
    if kind == "log":
        return [plain(entry["value"]) for entry in step["log"]]
    return plain(step.get("value"))


def expected(result: Any, path: str) -> Any:
    for key in path.split("."):
        if result is None:
            return None
        result = result[int(key) if isinstance(result, list) else key]
    return result


def agree(found: Any, wanted: Any) -> bool:
    """True if an observation is the one wanted. A name that a release lacks was an error then."""
    if isinstance(found, dict) and "missing" in found:
        return isinstance(wanted, dict) and wanted.get("exc") in ("TypeError", "AttributeError")
    if isinstance(found, float) and isinstance(wanted, float):
        return math.isclose(found, wanted, rel_tol=1e-12)
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(agree, found, wanted))
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(agree(found[key], wanted[key]) for key in found)
    return bool(found == wanted)


def leaves(result: Any, path: str, kinds: dict[str, tuple[str, int]]) -> set[str]:
    """The paths of a result that a program must show: the read ones, and what none of them covers."""
    if path in kinds or not isinstance(result, (dict, list)):
        return {path}
    parts = result.items() if isinstance(result, dict) else enumerate(result)
    return {leaf for key, part in parts for leaf in leaves(part, f"{path}.{key}".lstrip("."), kinds)}


def disagreements(case: Fixture, trace: dict[str, Any], version: str) -> dict[str, Any]:
    wanted = observed(version)[case.id]
    found = {path: read(trace, *where) for path, where in readings()[case.id].items()}
    assert leaves(wanted, "", readings()[case.id]) <= found.keys() | _under_none(wanted, found)
    return {
        path: (value, expected(wanted, path))
        for path, value in found.items()
        if not agree(value, expected(wanted, path))
    }


def _under_none(wanted: Any, found: dict[str, Any]) -> set[str]:
    """Paths that end early because the observation was None."""
    early = {path.rpartition(".")[0] for path in found}
    return {path for path in early if path and expected(wanted, path) is None}


def test_there_are_thirty_cases() -> None:
    assert len(CASES) == 30
    for version in RECORDED:
        assert observed(version).keys() == readings().keys() == {case.id for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_live_torch_reproduces_what_was_observed(case: Fixture) -> None:
    torch = pytest.importorskip("torch")
    if torch.__version__.partition("+")[0] != "2.13.0":
        pytest.skip("the observations are those of torch 2.13.0")
    trace = runner.run(case.program.to_json(), runner.load("torch"), runner_schema())
    assert disagreements(case, trace, "2.13.0") == {}


@pytest.mark.parametrize("version", RECORDED)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_recorded_traces_reproduce_what_was_observed(case: Fixture, version: str) -> None:
    trace = recorded_trace(case.id, RECORDED[version])
    assert trace is not None
    assert disagreements(case, trace, version) == {}


def test_a_wrong_value_is_a_disagreement() -> None:
    assert not agree([1.0, 2.0], [1.0, 2.5])
    assert not agree({"exc": "RuntimeError", "msg": "a"}, {"exc": "RuntimeError", "msg": "b"})
    assert not agree({"missing": "x"}, {"ok": True})
    assert not agree(None, [1.0])
    assert agree({"missing": "x"}, {"exc": "TypeError", "msg": "x"})
