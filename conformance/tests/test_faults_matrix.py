"""The matrix, small: which faults are found by how many generated programs."""

from __future__ import annotations

from conformance.faults import BY_ID, CATALOGUE
from conformance.faults.matrix import Cases, run_matrix

EASY = (
    "acc-overwrite",
    "buffer-last",
    "fit-no-cast",
    "retain-never-free",
    "create-no-graph",
    "inputs-ignored",
)


def test_gross_faults_are_found_by_few_generated_programs() -> None:
    told: list[tuple[Cases | None, Cases]] = []
    rows = list(
        run_matrix(
            [BY_ID[name] for name in EASY],
            seed=3,
            programs=60,
            fixtures=False,
            oracle="refimpl",
            started=lambda kept, generated: told.append((kept, generated)),
        )
    )
    assert [row.fault.id for row in rows] == list(EASY)
    assert all(row.fixtures is None for row in rows)
    assert [row.fault.id for row in rows if row.generated is None] == []
    assert told[0][0] is None
    assert len(told[0][1].cases) == 60


def test_a_row_tells_how_the_fault_was_found() -> None:
    (row,) = run_matrix([BY_ID["acc-overwrite"]], seed=3, programs=60, fixtures=False, oracle="refimpl")
    assert row.generated is not None
    assert row.generated.after >= 1
    assert row.generated.level in ("values", "state", "errors", "layout")
    assert "grad" in row.generated.path or row.generated.level != "values"


def test_faults_of_all_levels_are_in_the_catalogue() -> None:
    chosen = [
        BY_ID[name]
        for name in ("acc-overwrite", "retain-never-free", "error-text-twice", "layout-contiguous")
    ]
    levels = [
        row.fixtures.level
        for row in run_matrix(chosen, seed=0, programs=0, fixtures=True, oracle="refimpl")
        if row.fixtures is not None
    ]
    assert set(levels) == {"values", "state", "errors", "layout"}
    assert len(CATALOGUE) > len(chosen)
