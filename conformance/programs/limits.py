"""How large a program may be. Every limit has one clear error (`ProgramError`)."""

STATEMENTS = 500
"""Statements in all, nested ones included."""
NESTING = 12
"""Levels of blocks."""
REPEATS = 1_000_000
"""Repeats, as the product of enclosing loops."""
ELEMENTS = 2_000_000
"""Elements of a tensor literal or of a creation."""
SOURCE = 200_000
"""Characters of source."""
EXPRESSION_DEPTH = 50
"""Levels of one expression: an interpreter in any language may evaluate it recursively."""
INTEGER = 2**63
"""Integers lie in [-INTEGER, INTEGER)."""
TEXT = 10_000
"""Characters of one string, title or note."""
NAME = 60
"""Characters of a name."""
EXPONENT = 64
"""The largest exponent between two literals."""
THREADS = 16
"""Threads of one ``threads`` block."""
JSON_DEPTH = 400
JSON_NODES = 5_000_000
