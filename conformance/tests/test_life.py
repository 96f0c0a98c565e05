"""The life of clauses, the drift between releases, the book and the exported corpus."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance import __version__
from conformance.cli import main
from conformance.cli.spec_checks import manifests, set_hash
from conformance.export import ExportError, check, export
from conformance.fixtures import (
    MANIFEST,
    RECORDED,
    FixtureError,
    corpus_hash,
    home,
    load_fixtures,
    manifest_hash,
    releases,
    slots,
)
from conformance.specification import book, drift, life, load_clauses
from conformance.specification.life import LifeError

OLD, NEW = "torch-1.9.0-cpu", "torch-2.13.0-cpu"

WITHOUT_TORCH = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ImportError("torch is blocked")
sys.meta_path.insert(0, Blocked())
from conformance.cli import main
oracle = ["--oracle", "recorded:torch-2.13.0-cpu", "--families", "SEED"]
status = main(["run", "refimpl", *oracle, "--out", sys.argv[1]])
assert "torch" not in sys.modules
sys.exit(status)
"""


def test_every_id_is_frozen_and_none_is_lost() -> None:
    known = life.frozen()
    life.check_ids(known.items())
    with pytest.raises(LifeError, match="ACC-01 is gone"):
        life.check_ids(item for item in known.items() if item[0] != "ACC-01")
    with pytest.raises(LifeError, match="ACC-99 is new"):
        life.check_ids([*known.items(), ("ACC-99", "2026.1")])
    with pytest.raises(LifeError, match=r"is said to be of 2027\.1"):
        life.check_ids({**known, "ACC-01": "2027.1"}.items())


def test_a_line_that_is_no_id_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_text("ACC-01 2026.1\nACC-02 soon\n")
    with pytest.raises(LifeError, match="line 2"):
        life.frozen(path)


def test_the_suite_version_pins_clauses_and_corpus() -> None:
    pin = life.pins()[__version__]
    clauses = load_clauses()
    assert pin.clauses == len(clauses)
    assert pin.clause_set == set_hash(clauses), f"`{life.COMMAND}`"
    assert pin.corpus == corpus_hash(), f"`{life.COMMAND}`"
    assert pin.recordings == manifests(), f"a manifest was edited, or recorded anew: `{life.COMMAND}`"


def test_an_edit_of_a_manifest_changes_its_hash(tmp_path: Path) -> None:
    folder = tmp_path / RECORDED / NEW
    folder.mkdir(parents=True)
    text = (home() / RECORDED / NEW / MANIFEST).read_text()
    (folder / MANIFEST).write_text(text)
    assert manifest_hash(NEW, tmp_path) == life.pins()[__version__].recordings[NEW]
    (folder / MANIFEST).write_text(text.replace('"trace": "0', '"trace": "1', 1))
    assert manifest_hash(NEW, tmp_path) != life.pins()[__version__].recordings[NEW]
    with pytest.raises(FixtureError, match="nothing is recorded"):
        manifest_hash("torch-0.4-cpu", tmp_path)


def test_pinning_leaves_earlier_versions_alone(tmp_path: Path) -> None:
    path = tmp_path / "versions.json"
    for version in ("2026.1", "2026.2"):
        life.pin(life.Pin(version, 1, "a", version), path)
    assert [pin.corpus for pin in life.pins(path).values()] == ["2026.1", "2026.2"]
    path.write_text("{")
    with pytest.raises(LifeError, match="pins no versions"):
        life.pins(path)


def test_the_book_is_what_the_data_says() -> None:
    pages = book.pages()
    assert {path.name for path in book.FOLDER.glob("*.md")} == set(pages)
    for name, text in pages.items():
        assert (book.FOLDER / name).read_text(encoding="utf-8") == text, f"{name}: run `{book.COMMAND}`"


def test_markup_in_sentences_is_inert() -> None:
    assert book.inert("a_b * `c_d` <x>") == "a\\_b \\* `c_d` \\<x>"


def test_a_session_shows_what_torch_showed() -> None:
    one = next(fixture for fixture in load_fixtures() if fixture.id == "accumulate-in-place")
    lines = list(book.session(one))
    assert lines[-3:-1] == ["True", ">>> [x.grad, g]"]


def test_drift_finds_what_changed_and_nothing_in_the_same_release() -> None:
    some = load_fixtures(["HOOK", "ACC"])
    found = {one.clause.id: one for one in drift.drift(OLD, NEW, some)}
    assert found["HOOK-10"].kind in (drift.CHANGED, drift.ABSENT)
    assert found["HOOK-20"].kind == drift.ABSENT
    assert found["ACC-01"].kind == drift.SAME
    assert found["DEVICE-05"].kind == drift.UNKNOWN
    assert not any(one.changes for one in drift.drift(NEW, NEW, some))


def test_four_releases_are_recorded() -> None:
    assert releases() == [f"torch-{version}-cpu" for version in ("1.12.1", "1.2.0", "1.9.0", "2.13.0")]


def test_a_device_without_recordings_says_so(tmp_path: Path) -> None:
    assert slots(tmp_path) == {"cpu": "not recorded", "cuda": "not recorded"}
    path = tmp_path / RECORDED / "torch-2.13.0-cuda" / MANIFEST
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert slots(tmp_path) == {"cpu": "not recorded", "cuda": "torch-2.13.0"}


def test_the_command_names_releases_that_are_not_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drift", "0.4", "2.13.0"]) == 2
    assert "'0.4' is not recorded" in capsys.readouterr().err


def test_an_export_is_whole_and_its_damage_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    assert export(folder) > 2000
    assert check(folder) == []
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["corpus"] == corpus_hash()
    with pytest.raises(ExportError, match="is not empty"):
        export(folder)
    trace = folder / "traces" / NEW / "seed-none.json"
    trace.write_text(trace.read_text().replace("00008040", "00008041"))
    (folder / "programs" / "seed-none.json").unlink()
    (folder / "extra.json").write_text("{}")
    problems = check(folder)
    assert len(problems) == 3
    assert any("seed-none.json: is not what was exported" in line for line in problems)
    assert any("seed-none.json: is missing" in line for line in problems)
    assert any("extra.json: is not in the manifest" in line for line in problems)
    (folder / "manifest.json").write_text("{")
    assert "is no manifest" in check(folder)[0]


def test_an_engine_is_measured_with_torch_not_installed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "against torch (recorded) 2.13.0+cpu" in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["list", "--family", "RETAIN", "--strength", "torch-specific"], "RETAIN-03"),
        (["search", "second", "root", "fails"], "RETAIN-06"),
        (["show", "acc-02"], "broken by: acc-new-object"),
        (["ACC-02"], "touched by: backward"),
        (["show", "SEED-21", "--run", "refimpl"], "refimpl: conforms"),
    ],
)
def test_spec_shows(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", *words]) == 0
    assert says in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["list", "NOPE"], "there is no family 'NOPE'"),
        (["show", "ACC-99"], "no clause is called 'ACC-99'"),
        (["search", "zebra"], "speaks of 'zebra'"),
        (["book", "ACC"], "'ACC' means nothing here"),
        (["--run", "refimpl"], "nothing is named to run"),
    ],
)
def test_spec_refuses(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", *words]) == 2
    assert says in capsys.readouterr().err
