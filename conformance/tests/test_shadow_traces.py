"""Shadow runs of whole programs: the tolerance that they give, held against real torch."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest

import refimpl
from conformance.compare import Verdict, compare
from conformance.compare.entries import DTYPES, MULTIPLE, REDUCED, decode, decode_bound, ill_conditioned
from conformance.compare.walk import tensors
from conformance.fixtures import load_fixtures
from conformance.generate import sequence
from conformance.operations import runner_schema
from conformance.programs import Program, parse
from conformance.runner import Engine, run
from conformance.shadow import NoRule, bounds_of, shadow_trace
from conformance.shadow.array import FUNCTIONS

torch = pytest.importorskip("torch")

Trace = dict[str, Any]


@cache
def engine(name: str) -> Engine:
    return Engine(torch if name == "torch" else refimpl, name)


def trace(program: Program, name: str) -> Trace:
    return run(program.to_json(), engine(name), runner_schema())


def judged(program: Program, *, eager: bool = False) -> Verdict:
    shadow = shadow_trace(program)
    bounds = shadow if eager else (lambda: shadow)
    return compare(program, trace(program, "torch"), trace(program, "refimpl"), bounds=bounds)


def observed(trace: Trace, name: str) -> dict[str, Any]:
    """What the end shows of a name's gradient."""
    fields = trace["end"][name][1]["grad"][1]
    assert isinstance(fields, dict)
    return fields


CANCELLATION = """
x = torch.tensor([0.1, 0.25], requires_grad=True)
y = x + 0.7 - 0.8
(y * y * 1000.0).sum().backward()
"""


def test_cancellation_widens_the_bound_where_it_happens_and_nowhere_else() -> None:
    program = parse(CANCELLATION)
    assert judged(program).kind == "conforms"
    fields = observed(shadow_trace(program), "x")
    entries = decode(fields["bytes"], "float32", [2])
    bounds = decode_bound(fields["bound"], 2)
    assert ill_conditioned(entries, bounds, "float32").tolist() == [True, False]
    wider = 2000.0 * (np.array([np.float32(0.1), 0.25], np.float64) + 0.7 - 0.8)
    assert (np.abs(entries - wider) <= bounds + 2000 * 2.0**-23).all()


BRANCHES = """
x = torch.tensor([0.1, 0.5], dtype=torch.float32, requires_grad=True)
y = x * 3.0
z = torch.where(y > 0.3, y * 10.0, y)
z.sum().backward()
if x.detach()[0] * 3.0 > 0.3:
    w = x * 2.0
else:
    w = x * 5.0
w.sum().backward()
"""


def test_a_branch_that_a_wider_dtype_would_take_differently_is_undecided() -> None:
    """0.1 * 3.0 > 0.3 holds in exact numbers, and not in float32."""
    program = parse(BRANCHES)
    shadow = shadow_trace(program)
    step = shadow["steps"][3]["seen"]["x"][1]["grad"][1]
    bounds = decode_bound(step["bound"], 2)
    assert bounds[0] >= 9.0
    assert bounds[1] == 0.0
    assert [at for at, each in enumerate(shadow["steps"]) if each.get("undecided")] == [4, 5]
    assert judged(program).kind == "conforms"


def test_the_other_branch_is_no_difference_but_not_called_right_either() -> None:
    program = parse(BRANCHES)
    oracle = trace(program, "torch")
    other = copy.deepcopy(oracle)
    for place in [*(step["seen"] for step in other["steps"][3:]), other["end"]]:
        fields = place["x"][1]["grad"][1]
        fields["bytes"] = fields["bytes"].replace("00004040", "0000f041", 1)  # 3.0, 30.0
    assert other != oracle
    found = compare(program, oracle, other, bounds=lambda: shadow_trace(program))
    assert found.kind == "ill-conditioned"


LONG_SUMS = """
x = torch.full((1500,), 0.1, dtype=torch.{dtype}, requires_grad=True)
y = (x * 1.5).sum()
y.backward(torch.tensor(0.3, dtype=torch.{dtype}))
m = (x * x).mean()
m.backward()
"""


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_long_reductions_are_bounded_by_the_dtype_that_torch_accumulates_in(dtype: str) -> None:
    program = parse(LONG_SUMS.format(dtype=dtype))
    assert judged(program).kind == "conforms"
    shadow = shadow_trace(program)
    fields = shadow["end"]["y"][1]
    entry = float(decode(fields["bytes"], dtype, [])[0])
    (bound,) = decode_bound(fields["bound"], 1)
    unit = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24}[dtype]
    # Two or three roundings in the reduced types, though 1500 terms were added; any order in float32.
    assert bound <= (3 if dtype != "float32" else 1502) * unit * entry
    assert bound >= unit * 64
    exact = 1500 * 1.5 * float(np.asarray(0.1).astype(DTYPES[dtype]))
    assert abs(entry - exact) <= bound


def generated(count: int) -> Iterator[Program]:
    return (program for _, program in islice(sequence(11), count))


def test_no_generated_program_differs_by_more_than_the_allowance() -> None:
    """Entries with a bound: refimpl against torch, none beyond it; and few entries are ill-conditioned."""
    entries = ill = 0
    for program in generated(60):
        verdict = judged(program, eager=True)
        entries += verdict.counts.entries
        ill += verdict.counts.ill_conditioned
        for difference in verdict.differences:
            assert difference.level != "values" or "allowance none" in difference.note, difference
    assert entries > 5000
    assert ill / entries <= 0.02


def gradients(part: Trace) -> Iterator[dict[str, Any]]:
    """Observed gradients with floating entries."""
    for tensor in tensors(part):
        grad = tensor.get("grad")
        if (
            isinstance(grad, list)
            and grad[0] == "tensor"
            and grad[1]["dtype"] in PLANTED
            and grad[1].get("bytes")
        ):
            yield grad[1]


PLANTED = ("float16", "bfloat16", "float32", "float64")


def test_an_error_of_one_per_cent_in_a_single_gradient_entry_is_always_found() -> None:
    """In every entry that is not ill-conditioned; 5 % in the reduced dtypes. One gradient a program."""
    planted = 0
    for program in generated(40):
        oracle, shadow = trace(program, "torch"), shadow_trace(program)
        for at, step in enumerate(oracle["steps"]):
            bounded = next(gradients(shadow["steps"][at]["seen"]), None)
            fields = next(gradients(step["seen"]), None)
            if fields is None or bounded is None or fields["shape"] != bounded["shape"]:
                continue
            for wrong in planted_errors(fields, bounded):
                faulty = copy.deepcopy(oracle)
                next(gradients(faulty["steps"][at]["seen"]))["bytes"] = wrong
                verdict = compare(program, oracle, faulty, bounds=shadow)
                assert [each.path.split(".")[-1] for each in verdict.differences] == ["bytes"], (
                    program.body,
                    at,
                )
                planted += 1
            break
    assert planted >= 60


def planted_errors(fields: dict[str, Any], bounded: dict[str, Any]) -> Iterator[str]:
    """The bytes of a gradient with one entry changed, for each entry that is not ill-conditioned."""
    dtype = fields["dtype"]
    numbers = decode(fields["bytes"], dtype, fields["shape"])
    sizes = np.abs(numbers.astype(np.float64))
    well = ~ill_conditioned(numbers, decode_bound(bounded["bound"], numbers.size), dtype)
    for entry in np.flatnonzero(well & np.isfinite(sizes) & (sizes > 1e-3)):
        wrong = numbers.copy()
        wrong[entry] = wrong[entry] * (1.05 if dtype in REDUCED else 1.01)
        yield wrong.tobytes().hex()


def without_bounds(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: without_bounds(each) for key, each in part.items() if key not in ("bound", "undecided")}
    if isinstance(part, list):
        if part and part[0] in ("float", "complex"):
            return part[: 2 if part[0] == "float" else 3]
        return [without_bounds(each) for each in part]
    return part


def test_a_shadow_shows_what_the_reference_engine_shows() -> None:
    """Every fourth fixture: the same steps, flags, memory and bytes; only the bounds are more."""
    fixtures = load_fixtures()[::4]
    for fixture in fixtures:
        if fixture.family == "CONCURRENCY" or "numpy" in fixture.id:
            continue  # texts of stack overflows, and the names of array types
        assert without_bounds(shadow_trace(fixture.program)) == trace(fixture.program, "refimpl"), fixture.id
    assert len(fixtures) > 60


def bounds_alone(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: bounds_alone(each) for key, each in part.items()}
    if isinstance(part, list) and part and part[0] == "tensor":
        kept = {key: bounds_alone(part[1][key]) for key in ("bound", "grad") if key in part[1]}
        return ["tensor", {key: each for key, each in kept.items() if each is not None}]
    return [bounds_alone(each) for each in part] if isinstance(part, list) else part


def test_bounds_alone_are_those_of_the_whole_shadow() -> None:
    programs = [fixture.program for fixture in load_fixtures()[1::6] if fixture.family != "CONCURRENCY"]
    programs += [program for _, program in sequence(23, stop=60)]
    for program in programs:
        assert bounds_of(program) == bounds_alone(shadow_trace(program)), program.to_json()


def test_numbers_read_by_item_carry_their_bound_into_the_trace() -> None:
    shadow = shadow_trace(parse("x = torch.tensor([0.1, 0.2])\n(x * x).sum().item()\nx[1].item()\n"))
    assert len(shadow["steps"][1]["value"]) == 3
    assert shadow["steps"][2]["value"] == ["float", repr(float(np.float32(0.2)))]


def test_a_function_without_a_rule_stops_the_run_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(FUNCTIONS, "numpy.where")
    with pytest.raises(NoRule, match=r"no rule for numpy\.where"):
        shadow_trace(parse("x = torch.tensor([1.0, 2.0])\ny = torch.where(x > 1.0, x, x * 2.0)\n"))


def test_nothing_of_a_shadow_run_stays_behind() -> None:
    program = parse("x = torch.tensor([0.1], requires_grad=True)\n(x * x).sum().backward()\n")
    before = trace(program, "refimpl")
    shadow_trace(program)
    assert trace(program, "refimpl") == before
    assert type(vars(refimpl)["ones"](2).array()) is np.ndarray


def test_the_multiple_is_small() -> None:
    assert MULTIPLE == 2.0
