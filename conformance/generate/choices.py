"""Where the integers of a program come from, and how one integer is read digit by digit.

Nothing here depends on the version of Python or on the machine: only on integer arithmetic.
"""

from __future__ import annotations

WORD_BITS = 24
"""How many bits one choice has."""

WORD_LIMIT = (1 << WORD_BITS) - 1

FEWEST_STEPS = 5
MOST_STEPS = 10

_MASK = (1 << 64) - 1
_SPREAD = 0x9E3779B97F4A7C15


def _scrambled(value: int) -> int:
    """One step of splitmix64: every bit of the result depends on every bit of the value."""
    value = (value + _SPREAD) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


class Digits:
    """Reads one integer as digits of varying base, the least significant first.

    Small integers give small first digits, so that shrinking the integer simplifies the program. When the
    integer is used up, digits go on from its scrambled value, so that later decisions do not all fall on
    zero; an integer that was zero from the start gives zeros for ever.
    """

    __slots__ = ("_rest", "_spare")

    def __init__(self, value: int) -> None:
        self._rest = value
        self._spare = value

    def take(self, base: int) -> int:
        """The next digit: 0 <= digit < base."""
        rest = self._rest
        if not rest:
            if not self._spare:
                return 0
            self._spare = rest = _scrambled(self._spare)
        self._rest, digit = divmod(rest, base)
        return digit


def random_choices(seed: int, index: int) -> list[int]:
    """The choices of the program with this index in the sequence of this seed."""
    state = _scrambled((seed & _MASK) ^ _scrambled(index & _MASK))
    count = 1 + FEWEST_STEPS + state % (MOST_STEPS - FEWEST_STEPS + 1)
    choices = []
    for _ in range(count):
        state = _scrambled(state)
        choices.append(state >> (64 - WORD_BITS))
    return choices
