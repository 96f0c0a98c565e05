"""The fixtures: found, parsed, linted; recorded traces guarded by their hashes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance import fixtures
from conformance.fixtures import FixtureError, load_fixtures, recorded_bounds, recorded_trace
from conformance.specification import FAMILIES

PROGRAM = "# title: a product\n# clauses: ACC-01\nx = torch.ones(2, requires_grad=True)\nx.grad\n"


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    yield
    fixtures.forget()


def place(root: Path, name: str, text: str = PROGRAM) -> Path:
    path = root / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_corpus_has_no_problems() -> None:
    assert fixtures.lint() == []


def test_every_family_has_five_fixtures() -> None:
    for family in FAMILIES:
        assert len(load_fixtures([family])) >= 5, family


def test_hazards_are_loaded_only_when_asked_for() -> None:
    assert not any(one.family == "hazards" for one in load_fixtures())
    assert any(one.family == "hazards" for one in load_fixtures(hazards=True))
    assert {one.family for one in load_fixtures(["hazards"])} == {"hazards"}


def test_a_judged_fixture_shows_a_clause_that_is_judged() -> None:
    assert not [one.id for one in load_fixtures() if one.strength == "excluded"]
    assert {one.strength for one in load_fixtures(["hazards"])} == {"excluded"}


def test_an_id_is_the_name_of_the_file() -> None:
    one = load_fixtures(["ACC"])[0]
    assert one.id == one.program.id == one.path.stem


def test_an_unknown_family_is_named() -> None:
    with pytest.raises(FixtureError, match=r"NOPE: there is no such family of fixtures \(there are ACC, "):
        load_fixtures(["NOPE"])


def test_a_forbidden_form_is_one_clear_line(tmp_path: Path) -> None:
    path = place(tmp_path, "ACC/bad", PROGRAM + "import os\n")
    with pytest.raises(FixtureError) as caught:
        load_fixtures(root=tmp_path)
    assert str(caught.value).startswith(f"{path}, line 5: ")
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    place(tmp_path, "ACC/bad").write_bytes(b"x = \xff\n")
    with pytest.raises(FixtureError, match=r"bad\.py: cannot be read"):
        load_fixtures(root=tmp_path)


def test_an_id_is_used_once(tmp_path: Path) -> None:
    place(tmp_path, "ACC/same")
    place(tmp_path, "SEED/same")
    with pytest.raises(FixtureError, match="the id 'same' is used twice"):
        load_fixtures(root=tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (PROGRAM.replace("ACC-01", "ACC-99"), "there is no clause ACC-99"),
        (PROGRAM.replace("# clauses: ACC-01\n", ""), "names its clauses"),
        (PROGRAM.replace("# title: a product\n", ""), "has a title"),
        (PROGRAM.replace("ones(2,", "ones( 2,"), "not in the printed form"),
    ],
)
def test_lint_finds(tmp_path: Path, text: str, says: str) -> None:
    place(tmp_path, "ACC/one", text)
    assert any(says in line and "one.py" in line for line in fixtures.lint(tmp_path))


def test_lint_finds_a_clause_without_fixture(tmp_path: Path) -> None:
    place(tmp_path, "ACC/one")
    found = fixtures.lint(tmp_path)
    assert "ACC-02: no fixture shows it, and it is not excluded" in found
    assert not any(line.startswith("ACC-01") for line in found)


def test_the_corpus_hash_sees_programs_and_ids(tmp_path: Path) -> None:
    path = place(tmp_path, "ACC/one")
    first = fixtures.corpus_hash(tmp_path)
    fixtures.forget()
    path.write_text(PROGRAM.replace("a product", "another title"), encoding="utf-8")
    assert fixtures.corpus_hash(tmp_path) == first
    fixtures.forget()
    path.write_text(PROGRAM.replace("ones(2", "ones(3"), encoding="utf-8")
    assert fixtures.corpus_hash(tmp_path) != first
    fixtures.forget()
    path.write_text(PROGRAM, encoding="utf-8")
    path.rename(path.with_name("two.py"))
    assert fixtures.corpus_hash(tmp_path) != first


def test_observes() -> None:
    step = {
        "outcome": "ok",
        "kind": "create",
        "log": [],
        "warnings": [],
        "seen": {"x": ["tensor", {"grad": None}]},
    }
    assert not fixtures.observes({"steps": [step]})
    for key, value in (
        ("outcome", "raised"),
        ("kind", "observe"),
        ("value", True),
        ("log", [{}]),
        ("warnings", [["UserWarning", "text"]]),
        ("seen", {"x": ["tensor", {"grad": ["tensor", {}]}]}),
    ):
        assert fixtures.observes({"steps": [{**step, key: value}]}), key


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A copy of one family with its recording on the newest release."""
    source = fixtures.home() / fixtures.RECORDED / fixtures.NEWEST
    folder = tmp_path / fixtures.RECORDED / fixtures.NEWEST
    shutil.copytree(fixtures.home() / "SEED", tmp_path / "SEED")
    shutil.copytree(source / "SEED", folder / "SEED")
    shutil.copy(source / fixtures.MANIFEST, folder)
    return folder / "SEED" / "seed-none.json"


def test_a_recorded_trace_is_read(recorded: Path) -> None:
    trace = recorded_trace("seed-none", root=recorded.parents[3])
    assert trace is not None
    assert trace["steps"][3]["value"][1]["bytes"] == "00008040"


def test_bounds_are_recorded_beside_the_values_and_read_apart() -> None:
    bounds = recorded_bounds("seed-cast-rounds")
    assert bounds is not None
    assert "bound" in bounds["end"]["x"][1]["grad"][1]
    trace = recorded_trace("seed-cast-rounds")
    assert trace is not None
    assert "bound" not in json.dumps(trace)


def test_what_was_not_recorded_is_none(recorded: Path) -> None:
    assert recorded_trace("no-such-fixture", root=recorded.parents[3]) is None


def test_an_edited_trace_is_named(recorded: Path) -> None:
    text = recorded.read_text(encoding="ascii")
    assert "00008040" in text
    recorded.write_text(text.replace("00008040", "00008041"), encoding="ascii")
    with pytest.raises(FixtureError, match=r"seed-none\.json: not the trace that was recorded"):
        recorded_trace("seed-none", root=recorded.parents[3])


def test_a_truncated_trace_is_named(recorded: Path) -> None:
    recorded.write_bytes(recorded.read_bytes()[:-10])
    with pytest.raises(FixtureError, match=r"seed-none\.json: not the trace that was recorded"):
        recorded_trace("seed-none", root=recorded.parents[3])


def test_a_missing_trace_is_named(recorded: Path) -> None:
    recorded.unlink()
    with pytest.raises(FixtureError, match=r"seed-none\.json: the trace is missing"):
        recorded_trace("seed-none", root=recorded.parents[3])


def test_a_damaged_manifest_is_named(recorded: Path) -> None:
    manifest = recorded.parents[1] / fixtures.MANIFEST
    manifest.write_text(manifest.read_text()[:-100])
    with pytest.raises(FixtureError, match=r"MANIFEST\.json: is no manifest"):
        recorded_trace("seed-none", root=recorded.parents[3])


def test_a_trace_of_another_program_is_named(recorded: Path) -> None:
    manifest = recorded.parents[1] / fixtures.MANIFEST
    data = json.loads(manifest.read_text())
    data["traces"]["seed-none"]["program"] = "0" * 64
    manifest.write_text(json.dumps(data))
    with pytest.raises(FixtureError, match="belongs to another program"):
        recorded_trace("seed-none", root=recorded.parents[3])


def test_lint_finds_a_stale_recording(recorded: Path) -> None:
    root = recorded.parents[3]
    program = root / "SEED" / "seed-none.py"
    program.write_text(program.read_text().replace("x * x", "x + x"))
    place(root, "SEED/unrecorded")
    found = fixtures.lint(root)
    assert any("seed-none.py" in line and "recorded for another program" in line for line in found)
    assert any("unrecorded.py: nothing is recorded" in line for line in found)
    assert any("accumulate-sums was recorded, and is no fixture" in line for line in found)


def test_an_unrecorded_release_is_named() -> None:
    with pytest.raises(FixtureError, match=r"torch-0\.1-cpu.*nothing is recorded for this release"):
        recorded_trace("seed-none", "torch-0.1-cpu")
