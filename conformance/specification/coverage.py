"""The page FORM-COVERAGE.md: each clause with the program that shows it, or why none can.

It is made from the clause data and the fixtures, so that it cannot say anything that they do not:

    python -m conformance.specification.coverage          print the page
    python -m conformance.specification.coverage --write  write it
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from conformance.fixtures import Fixture, load_fixtures
from conformance.programs import to_source
from conformance.specification import Clause, Family, load_clauses, load_families

PAGE = Path(__file__).with_name("FORM-COVERAGE.md")
COMMAND = "python -m conformance.specification.coverage --write"


def shown_by(fixtures: Sequence[Fixture]) -> Mapping[str, list[Fixture]]:
    """The fixtures that name each clause, those of its own family first, then the shorter ones."""
    found: dict[str, list[Fixture]] = {clause.id: [] for clause in load_clauses()}
    for fixture in fixtures:
        for name in fixture.program.clauses:
            found.setdefault(name, []).append(fixture)
    for name, several in found.items():
        family = name.partition("-")[0]
        several.sort(key=lambda one: (one.family != family, one.program.clauses[0] != name, one.id))
    return found


def sketch(source: str) -> str:
    """A program on one line: statements with `;` between them, the lines at the top left out."""
    text = ""
    for line in source.splitlines():
        part = line.strip()
        if not part or part.startswith("# "):
            continue
        joint = "" if not text else " " if text.endswith(":") or _is_decorator(text) else "; "
        text += joint + part
    return text


def _is_decorator(text: str) -> bool:
    return text.rpartition(" ")[2].startswith("@")


def page() -> str:
    """The text of FORM-COVERAGE.md."""
    return "\n".join(_lines(load_families(), shown_by(load_fixtures(hazards=True)))) + "\n"


def _lines(families: Sequence[Family], shown: Mapping[str, list[Fixture]]) -> Iterator[str]:
    clauses = [clause for family in families for clause in family.clauses]
    probed = [clause for clause in clauses if clause.probed]
    fit = [clause for clause in probed if shown[clause.id]]
    yield "# What the form of programs can say"
    yield ""
    yield f"Made by `{COMMAND}` from the clause data and the fixtures. Do not edit."
    yield ""
    yield "| | clauses |"
    yield "|---|---|"
    yield f"| in all | {len(clauses)} |"
    yield f"| probed on torch | {len(probed)} |"
    yield f"| probed and shown by a fixture | {len(fit)} ({100 * len(fit) / len(probed):.1f} %) |"
    yield f"| of these with a part that is left out | {sum(bool(clause.left_out) for clause in fit)} |"
    yield f"| probed, and no program can show it | {len(probed) - len(fit)} |"
    yield f"| not probed, with a sketch | {sum(bool(c.sketch) for c in clauses if not c.probed)} |"
    yield f"| not probed, and no program can show it | {sum(not c.sketch for c in clauses if not c.probed)} |"
    for strength in ("required", "torch-specific", "excluded"):
        yield f"| strength {strength} | {sum(clause.strength == strength for clause in clauses)} |"
    yield ""
    yield "One fixture is printed for each clause; statements have `;` between them."
    for family in families:
        yield ""
        yield f"## {family.name}: {family.title}"
        yield ""
        yield "| clause | strength | program | more |"
        yield "|---|---|---|---|"
        for clause in family.clauses:
            yield _row(clause, shown[clause.id])


def _row(clause: Clause, fixtures: Sequence[Fixture]) -> str:
    if fixtures:
        program = _code(sketch(to_source(fixtures[0].program)))
        more = ", ".join(fixture.id for fixture in fixtures)
    elif clause.sketch:
        program, more = _code(sketch(clause.sketch)), "a sketch: it needs a second device"
    else:
        program, more = f"none: {clause.reason}", ""
    remarks = [more, clause.left_out, f"excluded: {clause.reason}" if fixtures and clause.reason else ""]
    return f"| {clause.id} | {clause.strength} | {program} | {'; '.join(filter(None, remarks))} |"


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def main(arguments: Sequence[str]) -> int:
    """Print the page, or write it."""
    if list(arguments) == ["--write"]:
        PAGE.write_text(page(), encoding="utf-8")
    elif arguments:
        print(f"unknown argument {arguments[0]!r}: there is only --write", file=sys.stderr)
        return 2
    else:
        print(page(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
