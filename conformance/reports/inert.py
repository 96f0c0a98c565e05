"""Text of engines and programs made harmless: it shows, it never acts.

Markup is escaped by the template's autoescape. What is left are characters that a reader cannot see or that
turn a line around, and texts too long to open.
"""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup

from conformance.results import clip

LONGEST = 4_000

_KEPT = "\n\t"
# C0 and C1 controls, lone surrogates, and marks that change the direction of what follows or hide in it.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def visible(text: str) -> str:
    """The same text with every unseen character spelt out."""
    return _UNSEEN.sub(_spelt, text)


def _spelt(match: re.Match[str]) -> str:
    character = match.group()
    if character in _KEPT:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def inert(value: Any) -> Any:
    """What the template does with every value that it shows."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value


def bounded(text: str, longest: int = LONGEST) -> str:
    """A text cut to a length that a page can hold, with a note of what is left out."""
    return clip(text, longest)
