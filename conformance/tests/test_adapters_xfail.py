"""Expected failures: layers, conditions, stored programs, and the command that makes the list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.expected import Expected, ExpectedError, applicable, load, read_layer, release_of, stale
from conformance.plan import fixture_cases
from conformance.results import read
from conformance.tests.engines_miniature import MINIATURES

PROGRAM = "x = torch.tensor(2.0, requires_grad=True)\\nx.backward()"


def file(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def entry(case: str, more: str = "") -> str:
    return f'[[expected]]\ncase = "{case}"\nreason = "r"\n{more}\n'


def test_a_layer_stands_on_others(tmp_path: Path) -> None:
    file(tmp_path / "base.toml", entry("a", 'link = "old"') + entry("b") + entry("c"))
    top = file(
        tmp_path / "top.toml",
        'extends = ["base.toml"]\ndrop = ["b"]\n' + entry("a", 'link = "new"') + entry("d"),
    )
    found = load(top)
    assert list(found) == ["a", "c", "d"]
    assert found["a"].link == "new"
    assert list(read_layer(top).entries) == ["a", "d"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('extends = ["top.toml"]\nexpected = []', "it extends itself"),
        ('drop = ["zz"]\nexpected = []', "drops zz, which it does not extend"),
        ('extends = "base.toml"\nexpected = []', "extends is no list of texts"),
        ("expected = []\nother = 1", "nothing else but extends and drop"),
        (entry("a", 'version = "about 3"'), "'about 3' is no bound of a version"),
    ],
)
def test_faulty_layers_are_refused(text: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(ExpectedError) as caught:
        load(file(tmp_path / "top.toml", text))
    assert what in caught.value.what


@pytest.mark.parametrize(
    ("version", "device", "holds"),
    [
        ("0.3.1", "cuda:1", True),
        ("0.3", "cuda", True),
        ("0.5", "cuda", False),
        ("0.4.9+cpu", "cuda", True),
        ("0.2.9", "cuda", False),
        ("0.3.1", "cpu", False),
        ("unknown", "cuda", False),
    ],
)
def test_conditions(version: str, device: str, holds: bool) -> None:
    entries = {"a": Expected("a", "r", version=">=0.3,<0.5", device="cuda")}
    assert bool(applicable(entries, version, device)) is holds


def test_versions_are_numbers() -> None:
    assert release_of("0.1.0a1") == (0, 1, 0)
    assert release_of("2.13.0+cpu") == (2, 13, 0)
    assert applicable({"a": Expected("a", "r", version=">=1.9")}, "1.10", "cpu")


def test_a_stored_program_speaks_for_its_entry() -> None:
    entries = applicable({"gen-1": Expected("gen-1", "r", program="x = 1")}, "1", "cpu")
    assert set(entries) == {"gen-1", "gen-1:shortest"}
    assert stale(entries, {"gen-1:shortest": "diverges"}, set()) == []
    (found,) = stale(entries, {"gen-1:shortest": "conforms"}, set())
    assert found["case"] == "gen-1:shortest"


@pytest.fixture
def miniatures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("PYTHONPATH", str(MINIATURES))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("miniatures")
@pytest.mark.parametrize("name", ["list.toml", "list.json"])
def test_the_list_is_made_and_kept_up(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ["run", "module:tiny", "--families", "RETAIN", "--examples", "0", "--out", "out"]
    assert main(run) == 1
    results = next(Path("out").glob("*.jsonl"))
    failing = [program.id for program in read(results).programs if program.failing]
    assert main(["xfail", "update", name, str(results), "--reason", "known"]) == 0
    assert f"{len(failing)} entries, {len(failing)} new, 0 taken out" in capsys.readouterr().out
    made = load(Path(name))
    assert (sorted(made), {each.reason for each in made.values()}) == (sorted(failing), {"known"})
    assert main([*run, "--expected-failures", name]) == 0
    # An entry that matches nothing fails the run, and is taken out again.
    extra = {"case": "no-such-case", "reason": "gone"}
    if name.endswith(".json"):
        data = json.loads(Path(name).read_text("utf-8"))
        data["expected"].append(extra)
        file(Path(name), json.dumps(data))
    else:
        file(Path(name), Path(name).read_text("utf-8") + entry("no-such-case"))
    assert main([*run, "--expected-failures", name]) == 1
    assert "no-such-case: matches no case" in capsys.readouterr().out
    assert main(["xfail", "update", name, str(results)]) == 0
    assert "0 new, 1 taken out" in capsys.readouterr().out
    assert sorted(load(Path(name))) == sorted(failing)


@pytest.mark.usefixtures("miniatures")
def test_stored_programs_are_run_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.cli.run.fixture_cases", lambda families=None: fixture_cases(["MODE"]))
    body = f'[[expected]]\ncase = "gen-1"\nreason = "r"\nprogram = "{PROGRAM}"\n'
    file(Path("list.toml"), body)
    status = main(
        ["run", "module:tiny", "--examples", "1", "--out", "out", "--expected-failures", "list.toml"]
    )
    found = {program.id: program.verdict for program in read(next(Path("out").glob("*.jsonl"))).programs}
    assert status == 1
    assert found["gen-1:shortest"] in ("diverges", "conforms")
    assert ("gen-1:shortest: conforms now" in capsys.readouterr().out) is (
        found["gen-1:shortest"] == "conforms"
    )


@pytest.mark.usefixtures("miniatures")
def test_a_stored_program_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    file(Path("list.toml"), '[[expected]]\ncase = "gen-1"\nreason = "r"\nprogram = "x = = 1"\n')
    assert main(["run", "module:tiny", "--examples", "1", "--expected-failures", "list.toml"]) == 2
    assert "gen-1: its program is none" in capsys.readouterr().err
