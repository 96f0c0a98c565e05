"""Result files that were edited: one clear error, or a page and lines in which the text is inert."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance import reports, results
from conformance.cli import summary
from conformance.results import ResultsError, Writer, exit_status, read
from conformance.tests.runs import STEP, failure, footer, header, program

EVIL = "</pre><script>alert(1)</script>\x1b[31m\x00\ud800\u202e"
WRONG: list[Any] = [
    None, True, -1, 0, 10**30, 1e308, float("inf"), float("nan"), "", EVIL, [], {}, ["list", 5], [EVIL],
    ["tensor", {"shape": [float("inf")], "strides": [1], "dtype": "float32", "bytes": "00"}],
]  # fmt: skip


@pytest.fixture
def records(tmp_path: Path) -> list[dict[str, Any]]:
    path = tmp_path / "run.jsonl"
    health = {
        "executed": 2, "generated": 1, "statements": 3, "kinds": {"backward": 3}, "raised_share": 0.5,
        "skipped_share": 0.0, "entries": 4, "gradient_entries": 2, "ill_conditioned_share": 0.0,
        "gradient_at_end_share": 1.0, "warnings": ["nothing to speak of"],
    }  # fmt: skip
    with Writer(path) as writer:
        writer.write(header(2))
        writer.write(program("a"))
        writer.write(program("b", "diverges", failure=failure(oracle=STEP, engine=STEP)))
        writer.write(replace(footer(2), health=health))
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*path, key))


def edited(records: list[dict[str, Any]], at: tuple[Any, ...], wrong: Any, *, key: bool) -> str:
    records = copy.deepcopy(records)
    owner: Any = records
    for step in at[:-1]:
        owner = owner[step]
    if key and isinstance(owner, dict):
        owner[EVIL] = owner.pop(at[-1])
    else:
        owner[at[-1]] = wrong
    return "".join(json.dumps(record) + "\n" for record in records)


def shown(path: Path) -> tuple[str, str]:
    """The page and the lines that are made of a result file, or its error."""
    try:
        found = read(path)
    except ResultsError as error:
        return "", str(error)
    exit_status(found)
    return reports.html([found]), "".join(summary.lines(found))


def test_no_edit_of_a_result_file_ends_in_a_traceback(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    path, chance = tmp_path / "edited.jsonl", random.Random(0)
    everywhere = list(places(records))
    everywhere = [at for at in everywhere if len(at) > 1]
    for number in range(400):
        at = everywhere[number % len(everywhere)]
        path.write_text(edited(records, at, chance.choice(WRONG), key=number % 4 == 0), "utf-8")
        page, lines = shown(path)
        assert "<script>alert" not in page, at
        assert not set(page + (lines if page else "")) & set("\x1b\x00\ud800\u202e"), at


@pytest.mark.parametrize(
    ("at", "wrong"),
    [
        ((3, "health", "kinds"), ["backward"]),
        ((3, "health", "statements"), "3"),
        ((3, "health", "entries"), 10**400),
        ((3, "health", "raised_share"), None),
        ((3, "health", "warnings"), 5),
        ((3, "health", "warnings"), [5]),
        ((3, "seconds"), float("nan")),
        ((1, "record"), ["program"]),
    ],
)
def test_a_wrong_type_is_named_with_its_line(
    tmp_path: Path, records: list[dict[str, Any]], at: tuple[Any, ...], wrong: Any
) -> None:
    path = tmp_path / "edited.jsonl"
    path.write_text(edited(records, at, wrong, key=False), "utf-8")
    with pytest.raises(ResultsError, match=rf"edited\.jsonl:{at[0] + 1}: is n"):
        read(path)


def test_what_a_run_says_at_its_end_is_inert(records: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "edited.jsonl"
    records[3]["health"]["warnings"] = [EVIL]
    records[3]["stale"] = [{"case": EVIL, "why": EVIL}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    lines = list(summary.lines(results.read(path)))
    assert "  warning: </pre><script>alert(1)</script>␛[31m␀\\ud800\\u202e" in lines
