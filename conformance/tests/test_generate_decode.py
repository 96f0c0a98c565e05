"""The decoder: pure, total, valid by construction, and saying something."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import pytest

from conformance.generate import decode, random_choices, sequence, steps
from conformance.generate.choices import WORD_LIMIT, Digits
from conformance.generate.decode import FAMILIES
from conformance.generate.templates import Compiled, Step
from conformance.programs import Program, ProgramError, parse, to_source, validate

MANY = 3000


@pytest.fixture(scope="module")
def many() -> list[Program]:
    return [program for _, program in sequence(2024, 0, MANY)]


def test_no_integers_give_the_shortest_program() -> None:
    program = decode([])
    assert len(program.body) == 3
    assert to_source(program).splitlines()[0] == "x = torch.tensor([1.0, 2.0], requires_grad=True)"


def test_zeros_add_nothing() -> None:
    assert decode([0] * 12).body == decode([]).body


def test_every_program_is_in_the_form(many: list[Program]) -> None:
    for program in many:
        validate(program.to_json())


def test_extreme_integers_are_decoded_too() -> None:
    for word in (1, WORD_LIMIT, 1 << 200, 0x100, 0xFF):
        validate(decode([word] * 8).to_json())


def test_every_program_survives_the_way_through_source(many: list[Program]) -> None:
    for program in many[:200]:
        assert parse(to_source(program)).body == program.body


def test_the_same_integers_give_the_same_program(many: list[Program]) -> None:
    again = [program for _, program in sequence(2024, 0, 200)]
    assert [program.hash for program in again] == [program.hash for program in many[:200]]


def test_decoding_one_program_does_not_change_the_next() -> None:
    first = [decode(random_choices(3, index)).hash for index in range(40)]
    backwards = [decode(random_choices(3, index)).hash for index in reversed(range(40))]
    assert first == backwards[::-1]


def test_another_process_decodes_the_same() -> None:
    code = (
        "from conformance.generate import decode, random_choices\n"
        "print([decode(random_choices(5, i)).hash for i in range(20)])"
    )
    hashes = []
    for hash_seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        hashes.append(done.stdout)
    assert hashes[0] == hashes[1] == f"{[decode(random_choices(5, i)).hash for i in range(20)]}\n"


def test_the_choices_of_a_seed_never_change() -> None:
    assert random_choices(0, 0)[:3] == [2327157, 2175092, 7908954]
    assert random_choices(0, 1) != random_choices(1, 0)


def test_digits_read_the_integer_then_go_on() -> None:
    digits = Digits(3 + 5 * 2)
    assert [digits.take(5), digits.take(7)] == [3, 2]
    assert len({digits.take(1000) for _ in range(20)}) > 10
    zero = Digits(0)
    assert [zero.take(9) for _ in range(9)] == [0] * 9


def test_sizes_and_kinds(many: list[Program]) -> None:
    sizes = sorted(len(program.body) for program in many)
    assert 15 <= sizes[len(sizes) // 2] <= 25
    assert sizes[len(sizes) // 20] >= 9
    assert sizes[-len(sizes) // 20] <= 36


def test_every_step_is_used() -> None:
    """A row that is never drawn is dead data: every row appears among the programs of one seed."""
    written: Counter[Step] = Counter()
    original = Compiled.write

    def counted(self: Compiled, state: object) -> None:
        written[self.step] += 1
        original(self, state)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compiled, "write", counted)
        for index in range(12_000):
            decode(random_choices(9, index))
    assert [step.source for step in steps() if not written[step]] == []


def test_steps_name_clauses_of_the_specification() -> None:
    for step in steps():
        assert all(re.fullmatch(r"[A-Z]+-\d\d", clause) for clause in step.clauses.split()), step


def test_families_have_weight() -> None:
    assert all(weight > 0 and family for weight, family in FAMILIES)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (Step("H = X * X", "X:nobody"), "names nothing"),
        (Step("H = X * X", "X:like(Y)"), "before it is bound"),
        (Step("H = X * X", "X:grad", "H=unheard(X)"), "names nothing"),
    ],
)
def test_a_row_that_names_nothing_known_is_refused(step: Step, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Compiled(step)


def test_a_row_outside_the_form_is_refused() -> None:
    with pytest.raises(ProgramError):
        Compiled(Step("H = X.no_such_method()", "X:grad"))
