"""Result files: what is written is read back, and damage is named instead of raised as a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.results import (
    SCHEMA,
    Footer,
    Results,
    ResultsError,
    Writer,
    clip,
    exit_status,
    read,
)
from conformance.tests.runs import failure, footer, header, program


def written(path: Path, *records: object) -> Path:
    with Writer(path) as writer:
        for record in records:
            writer.write(record)  # type: ignore[arg-type]
    return path


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return written(
        tmp_path / "run.jsonl",
        header(2),
        program("a"),
        program("b", "diverges", failure=failure()),
        footer(2),
    )


def test_what_is_written_is_read_back(whole: Path) -> None:
    results = read(whole)
    assert results.complete
    assert results.header == header(2)
    assert results.programs == (program("a"), program("b", "diverges", failure=failure()))
    assert results.footer == footer(2)


def test_every_line_is_on_disk_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Writer(path) as writer:
        writer.write(header(2))
        writer.write(program("a"))
        results = read(path)
    assert [found.id for found in results.programs] == ["a"]
    assert "no footer after 1 of 2 programs" in results.problem


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9, 0.99])
def test_a_file_cut_anywhere_is_incomplete_or_no_result_file(whole: Path, keep: float) -> None:
    data = whole.read_bytes()
    whole.write_bytes(data[: int(len(data) * keep)])
    if b"\n" not in whole.read_bytes():
        with pytest.raises(ResultsError, match="does not begin with a header"):
            read(whole)
        return
    results = read(whole)
    assert not results.complete
    assert "killed" in results.problem


def test_a_file_cut_at_every_byte_never_raises_anything_else(whole: Path) -> None:
    data = whole.read_bytes()
    complete = 0
    for length in range(0, len(data), 7):
        whole.write_bytes(data[:length])
        try:
            complete += read(whole).complete
        except ResultsError:
            assert b"\n" not in data[:length]
    assert complete == 0


def edited(change: Callable[[list[str]], object]) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        lines = path.read_text().splitlines()
        change(lines)
        path.write_text("\n".join(lines) + "\n")

    return edit


def swap_key(index: int, old: str, new: str) -> Callable[[list[str]], None]:
    def change(lines: list[str]) -> None:
        assert old in lines[index]
        lines[index] = lines[index].replace(old, new)

    return change


DAMAGE = {
    "not JSON": (edited(lambda lines: lines.__setitem__(1, "{")), "is not a line of JSON", ":2"),
    "no record": (
        edited(lambda lines: lines.__setitem__(1, "{}")),
        "neither header, program nor footer",
        ":2",
    ),
    "a list": (edited(lambda lines: lines.__setitem__(1, "[1]")), "neither header, program nor footer", ":2"),
    "unknown verdict": (edited(swap_key(1, '"conforms"', '"passes"')), "not a valid program record", ":2"),
    "missing key": (edited(swap_key(1, '"title"', '"tilte"')), "not a valid program record", ":2"),
    "twice": (edited(lambda lines: lines.insert(2, lines[1])), "two results for a", ""),
    "two runs": (edited(lambda lines: lines.append(lines[0])), "more than one run", ""),
    "no header": (edited(lambda lines: lines.pop(0)), "does not begin with a header", ""),
    "later schema": (
        edited(swap_key(0, f'"schema":{SCHEMA}', f'"schema":{SCHEMA + 1}')),
        f"results schema {SCHEMA + 1}",
        ":1",
    ),
    "deep": (edited(lambda lines: lines.__setitem__(1, "[" * 200_000)), "is not a line of JSON", ":2"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named_with_its_line(whole: Path, name: str) -> None:
    damage, what, where = DAMAGE[name]
    damage(whole)
    with pytest.raises(ResultsError) as caught:
        read(whole)
    assert what in caught.value.what
    assert caught.value.where == f"{whole}{where}"
    assert caught.value.hint


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="No such file"):
        read(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ((header(3), program("a"), footer(1)), "there are 1 of 3 programs"),
        ((header(1), program("a"), footer(2)), "the footer counts 2"),
        (
            (header(2), program("a"), replace(footer(1), complete=False, stopped="stopped at a")),
            "stopped at a",
        ),
    ],
)
def test_fewer_results_than_planned_are_incomplete(
    tmp_path: Path, records: tuple[object, ...], problem: str
) -> None:
    assert problem in read(written(tmp_path / "run.jsonl", *records)).problem


def test_a_plan_by_time_is_complete_with_its_footer(tmp_path: Path) -> None:
    by_time = replace(header(0), planned={"fixtures": 1, "generated": None})
    results = read(written(tmp_path / "run.jsonl", by_time, program("a"), program("b"), footer(2)))
    assert results.complete


def status(*verdicts: str, expected: str = "", end: Footer | None = None, problem: str = "") -> int:
    programs = tuple(
        program(f"p{index}", verdict, expected=expected or None) for index, verdict in enumerate(verdicts)
    )
    return exit_status(Results("", header(len(verdicts)), programs, end or footer(len(verdicts)), problem))


@pytest.mark.parametrize("verdict", ["diverges", "crash", "timeout", "flaky", "protocol error"])
def test_any_failing_verdict_is_status_1(verdict: str) -> None:
    assert status("conforms", verdict) == 1
    assert status("conforms", verdict, problem="killed") == 1
    assert status("conforms", verdict, expected="known") == 0


def test_conforming_is_status_0() -> None:
    assert status("conforms", "unsupported", "not run", "ill-conditioned") == 0


def test_nothing_executed_is_status_2() -> None:
    assert status() == 2
    assert status("unsupported", "not run") == 2
    assert status("conforms", problem="killed") == 2


def test_a_stale_expected_failure_is_status_1() -> None:
    stale = replace(footer(1), stale=({"case": "p0", "why": "conforms now"},))
    assert status("conforms", end=stale) == 1


def test_long_texts_are_cut_with_a_note(tmp_path: Path) -> None:
    results = read(
        written(tmp_path / "run.jsonl", header(1), program("a", "crash", reason="x" * 1_000_000), footer(1))
    )
    assert len(results.programs[0].reason) < 70_000
    assert results.programs[0].reason.endswith("[934,464 more characters]")
    assert clip("abc", 3) == "abc"


def test_every_text_survives_in_ascii_lines(tmp_path: Path) -> None:
    title = "nul \x00 surrogate \ud800 line\u2028 \N{SNOWMAN}"
    path = written(tmp_path / "run.jsonl", header(1), program("a", title=title), footer(1))
    assert path.read_bytes().isascii()
    assert len(path.read_bytes().splitlines()) == 3
    assert read(path).programs[0].title == title
    assert json.loads(path.read_text().splitlines()[1])["record"] == "program"
