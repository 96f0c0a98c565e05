"""The clause data: loaded, validated, and the page made from it."""

from __future__ import annotations

import copy
import re
from collections import Counter
from typing import Any

import pytest

from conformance import specification
from conformance.fixtures import load_fixtures
from conformance.specification import SpecificationError, coverage, load_clauses, load_families, read_family

GOOD: dict[str, Any] = {
    "family": "SEED",
    "title": "the seed",
    "clauses": [
        {
            "id": "SEED-01",
            "sentence": "A sentence.",
            "strength": "required",
            "levels": ["values"],
            "source": "a file",
            "probed": True,
            "since": "2026.1",
            "status": "stands",
            "releases": {"2.13.0": "holds", "1.12.1": "holds", "1.9.0": "holds", "1.2.0": "differs: x"},
        }
    ],
}


def test_all_clauses_are_there() -> None:
    clauses = load_clauses()
    assert len(clauses) == 337
    assert sum(clause.probed for clause in clauses) == 325
    assert len({clause.id for clause in clauses}) == 337
    assert [family.name for family in load_families()] == list(specification.FAMILIES)
    assert Counter(clause.strength for clause in clauses)["excluded"] <= 15


def test_no_clause_uses_shorthand() -> None:
    for clause in load_clauses():
        for text in (clause.sentence, clause.note, *clause.releases.values()):
            assert not re.search(r"<[A-Z ]+>", text), clause.id


def test_holds_reads_the_releases() -> None:
    clause = read_family(GOOD, "SEED").clauses[0]
    assert clause.holds("1.9.0")
    assert not clause.holds("1.2.0")
    assert not clause.holds("0.4.0")


def test_a_program_binds_as_its_strongest_clause_does() -> None:
    assert specification.strength_of(["ACC-37", "ACC-01"]) == "required"
    assert specification.strength_of(["ACC-37", "ACC-31"]) == "torch-specific"
    assert specification.strength_of(["ACC-31"]) == "excluded"
    assert specification.strength_of([]) == "required"
    with pytest.raises(KeyError):
        specification.strength_of(["ACC-99"])


def _with(key: str, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(GOOD)
    data["clauses"][0][key] = value
    return data


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "an object with family"),
        ({**GOOD, "family": "ACC"}, "family is 'ACC'"),
        (_with("id", "SEED-02"), "in the place of SEED-01"),
        (_with("id", "ACC-01"), "not an id of this family"),
        (_with("id", "SEED-1"), "not an id of this family"),
        (_with("sentence", ""), "sentence is missing"),
        (_with("source", 3), "source is missing, empty or not a str"),
        (_with("probed", "yes"), "probed is missing, empty or not a bool"),
        (_with("strength", "maybe"), "strength is 'maybe'"),
        (_with("strength", "excluded"), "has a reason"),
        (_with("reason", "because"), "has a reason"),
        (_with("levels", ["colours"]), "'colours' is no level"),
        (_with("levels", []), "levels is missing"),
        (_with("releases", {"2.13.0": "holds"}), "what each release does"),
        (_with("verdict", "fine"), "'verdict' is not a key"),
        (_with("note", ""), "note is empty"),
        (_with("since", "soon"), "since is 'soon'"),
        (_with("status", "fine"), "status is 'fine'"),
        (_with("status", "disputed"), "has a history if, and only if"),
        (_with("history", ["2026.2: a reason"]), "has a history if, and only if"),
        (_with("touched", [""]), "touched holds something that is no text"),
        (_with("faults", "acc-overwrite"), "faults is empty or not a list"),
    ],
)
def test_bad_clause_data_is_refused(data: Any, says: str) -> None:
    with pytest.raises(SpecificationError, match=re.escape(says)):
        read_family(data, "SEED")


def test_text_that_is_no_json_names_its_line() -> None:
    with pytest.raises(SpecificationError, match=r"SEED\.json, line 2: not JSON"):
        specification._load("SEED", '{"family":\n oops}')


def test_the_form_can_say_95_percent() -> None:
    shown = coverage.shown_by(load_fixtures(hazards=True))
    probed = [clause for clause in load_clauses() if clause.probed]
    assert sum(bool(shown[clause.id]) for clause in probed) >= 0.95 * len(probed)


def test_every_clause_is_shown_sketched_or_excluded() -> None:
    shown = coverage.shown_by(load_fixtures(hazards=True))
    for clause in load_clauses():
        assert shown[clause.id] or clause.sketch or clause.reason, clause.id


def test_sketches_are_programs() -> None:
    from conformance.programs import parse

    for clause in load_clauses():
        if clause.sketch:
            assert parse(clause.sketch, name=clause.id).body


def test_the_page_is_what_the_data_says() -> None:
    assert coverage.PAGE.read_text(encoding="utf-8") == coverage.page(), f"run {coverage.COMMAND}"


def test_a_sketch_is_one_line() -> None:
    source = "# title: t\n@torch.no_grad()\ndef f(g):\n    return g\n\nx = f(1)\n"
    assert coverage.sketch(source) == "@torch.no_grad() def f(g): return g; x = f(1)"


def test_the_command_refuses_what_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    assert coverage.main(["--wirte"]) == 2
    assert "--wirte" in capsys.readouterr().err
