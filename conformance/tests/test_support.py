"""Support and minimality: what planted faults and dropped statements show, on a sample."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from conformance.faults import BY_ID, CATALOGUE
from conformance.fixtures import Fixture, load_fixtures
from conformance.programs import ProgramError, parse
from conformance.specification import SpecificationError, load_clauses
from conformance.specification import minimal as minimals
from conformance.specification import support as supports
from conformance.specification.minimal import Minimality, dropped

SAMPLE = 8


def fixture(source: str, name: str = "one") -> Fixture:
    return Fixture(name, "ACC", parse(source), Path(f"{name}.py"))


def test_the_stored_matrix_agrees_with_a_sample_computed_anew() -> None:
    stored = supports.stored()
    some = random.Random(0).sample([one for one in load_fixtures() if "deep" not in one.id], 40)
    matrix = supports.Matrix(some)
    for fault in random.Random(1).sample(list(CATALOGUE), SAMPLE):
        expected = {one.id for one in some} & set(stored[fault.id])
        assert set(matrix.changes(fault)) == expected, fault.id


def test_four_fifths_of_the_probed_clauses_are_broken_by_a_planted_fault() -> None:
    found = [one for one in supports.support(supports.stored(), load_fixtures()) if one.clause.probed]
    assert sum(one.broken for one in found) >= 0.8 * len(found)


def test_a_clause_that_no_fault_breaks_says_why() -> None:
    for one in supports.support(supports.stored(), load_fixtures()):
        if one.clause.probed:
            assert one.broken != bool(one.clause.unbroken), one.clause.id


def test_the_faults_that_clauses_name_exist() -> None:
    for clause in load_clauses():
        assert all(name in BY_ID for name in clause.faults), clause.id


def test_a_tag_is_no_support() -> None:
    source = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\nx.grad\n"
    clauses = [clause for clause in load_clauses() if clause.id == "ACC-02"]
    tagged = fixture("# clauses: ACC-02\n" + source)
    matrix = supports.Matrix([tagged])
    changes = {name: matrix.changes(BY_ID[name]) for name in ("acc-new-object", "sub-sign", "sum-dim-lost")}
    (found,) = supports.support(changes, [tagged], clauses, [BY_ID[name] for name in changes])
    assert found.tagged == ("one",)
    assert found.fixtures == ()
    twice = fixture("# clauses: ACC-02\n" + source + "g = x.grad\n(x * x).sum().backward()\nx.grad is g\n")
    matrix = supports.Matrix([twice])
    changes = {name: matrix.changes(BY_ID[name]) for name in changes}
    (found,) = supports.support(changes, [twice], clauses, [BY_ID[name] for name in changes])
    assert found.fixtures == ("one",)


def test_a_damaged_matrix_is_named(tmp_path: Path) -> None:
    path = tmp_path / "support.json"
    path.write_text('{"state": "x"')
    with pytest.raises(SpecificationError, match="is no matrix of support"):
        supports.stored(path)
    supports.write({"a": ["one"]}, "state", path)
    assert supports.stored(path) == {"a": ("one",)}
    assert supports.stored_state(path) == "state"
    assert json.loads(path.read_text())["changes"] == {"a": ["one"]}


def test_a_sample_of_the_fixtures_is_minimal() -> None:
    some = random.Random(2).sample([one for one in load_fixtures() if "deep" not in one.id], SAMPLE)
    judge = Minimality(some)
    found = [needed for one in some for needed in judge.judge(one)]
    assert [f"{one.fixture}:{one.at + 1}" for one in found if not one.noticed] == []
    assert minimals.stale(found) == []


def test_an_idle_statement_is_found() -> None:
    idle = fixture(
        "# clauses: ACC-01\nx = torch.tensor([1.0, 2.0], requires_grad=True)\nz = torch.ones(3)\n"
        "(x * x).sum().backward()\nx.grad\n(x * x).sum().backward()\nx.grad\nx.grad\n"
    )
    why = [needed.why for needed in Minimality([idle]).judge(idle)]
    assert [bool(one) for one in why] == [True, False, True, True, True, True, False]
    assert why[0].startswith(minimals.BREAKS)
    assert why[2].startswith(minimals.UNTOUCHED)


def test_a_statement_without_effect_is_stale_once_it_has_one() -> None:
    name, places = next(iter(minimals.without_effect().items()))
    needed = [minimals.Needed(name, at - 1, minimals.POINTLESS) for at in places]
    assert minimals.stale(needed) == []
    assert minimals.stale([minimals.Needed(name, places[0] - 1, minimals.UNSHOWN), *needed[1:]]) != []


def test_dropping_a_statement_may_leave_no_program() -> None:
    program = parse("x = torch.ones(2)\ny = x + 1.0\n")
    assert len(dropped(program, 1).body) == 1
    with pytest.raises(ProgramError):
        dropped(program, 0)
