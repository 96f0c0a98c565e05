"""Expected failures: what the file may say, and which entries are stale."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.expected import Expected, ExpectedError, load, stale

TOML = '[[expected]]\ncase = "a"\nreason = "known"\nlink = "https://example.org"\n'


def file(tmp_path: Path, text: str, name: str = "expected.toml") -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def test_toml_and_json_say_the_same(tmp_path: Path) -> None:
    json = '{"expected": [{"case": "a", "reason": "known", "link": "https://example.org"}]}'
    entry = {"a": Expected("a", "known", "https://example.org")}
    assert load(file(tmp_path, TOML)) == entry
    assert load(file(tmp_path, json, "expected.json")) == entry
    assert load(file(tmp_path, "expected = []")) == {}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[[expected]", "cannot be parsed"),
        ("", "does not hold a list called expected"),
        ("expected = 3", "does not hold a list called expected"),
        ("other = 1\nexpected = []", "and nothing else"),
        ("expected = [3]", "is not a table of texts"),
        ('[[expected]]\ncase = "a"', "has no reason"),
        ('[[expected]]\ncase = "a"\nreason = " "', "has no reason"),
        ('[[expected]]\nreason = "known"', "has no case"),
        ('[[expected]]\ncase = "a"\nreason = "known"\nwhy = "x"', "unknown key 'why'"),
        ('[[expected]]\ncase = "a"\nreason = 3', "is not a table of texts"),
        (TOML + TOML, "a stands twice"),
    ],
)
def test_a_wrong_file_is_one_clear_error(tmp_path: Path, text: str, what: str) -> None:
    path = file(tmp_path, text)
    with pytest.raises(ExpectedError, match=what) as caught:
        load(path)
    assert caught.value.where.startswith(str(path))
    assert caught.value.hint


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ExpectedError, match="No such file"):
        load(tmp_path / "none.toml")


def test_what_passes_and_what_matches_nothing_is_stale() -> None:
    entries = {name: Expected(name, "known") for name in ("fails", "passes", "gone", "not-selected", "lacks")}
    verdicts = {"fails": "diverges", "passes": "conforms", "lacks": "unsupported"}
    found = stale(entries, verdicts, {"fails", "passes", "not-selected", "lacks"})
    assert [entry["case"] for entry in found] == ["passes", "gone"]
