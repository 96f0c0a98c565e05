"""One statement's outcome and observations as lines that a person reads."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

# The dtypes that Python's struct can read, with their letters; others keep their bytes.
_LETTERS = {
    "float16": "e", "float32": "f", "float64": "d", "complex64": "ff", "complex128": "dd",
    "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "bool": "?",
}  # fmt: skip
ENTRIES_SHOWN = 24


def step_lines(step: Mapping[str, Any] | None) -> str:
    """Outcome, error, value, log, warnings and names of a step, a line each.

    An engine's step may have any shape; one that is none is shown as it came.
    """
    if step is None:
        return "nothing was observed"
    try:
        return _step_lines(step)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError):
        return f"not a step of a trace: {step!r}"


def _step_lines(step: Mapping[str, Any]) -> str:
    lines = [f"outcome: {step.get('outcome', '?')}"]
    error = step.get("error")
    if isinstance(error, Mapping):
        lines.append(
            f"{error.get('type', '?')}: {error.get('text', '')}"
            + (f"   [{error['phase']}]" if "phase" in error else "")
        )
    if "needs" in step:
        lines.append(f"needs {', '.join(map(str, step['needs']))}")
    if "missing" in step:
        lines.append(f"lacks {step['missing']}")
    if "value" in step:
        lines.append(f"value: {value_text(step['value'])}")
    lines += [
        f"log, {entry.get('in', '?')}: {value_text(entry.get('value'))}" for entry in _list(step, "log")
    ]
    lines += [f"warning: {' '.join(map(str, warning))}" for warning in _list(step, "warnings")]
    seen = step.get("seen")
    if isinstance(seen, Mapping):
        lines += [f"{name}: {value_text(value)}" for name, value in seen.items()]
    if step.get("grad_mode") is False:
        lines.append("grad mode is off")
    return "\n".join(lines)


def _list(step: Mapping[str, Any], key: str) -> list[Any]:
    value = step.get(key)
    return [item for item in value if isinstance(item, (list, dict))] if isinstance(value, list) else []


def value_text(value: Any) -> str:
    """An observed value, as near to how torch prints it as its bytes allow."""
    if not isinstance(value, list) or not value:
        return repr(value)
    sort = value[0]
    if sort == "tensor" and len(value) == 2 and isinstance(value[1], Mapping):
        return _tensor_text(value[1])
    if sort in ("list", "tuple") and len(value) == 2:
        brackets = "[]" if sort == "list" else "()"
        return f"{brackets[0]}{', '.join(value_text(item) for item in value[1])}{brackets[1]}"
    if sort == "dict" and len(value) == 2:
        return "{" + ", ".join(f"{value_text(key)}: {value_text(item)}" for key, item in value[1]) + "}"
    if sort == "raised":
        return f"reading it raised {': '.join(map(str, value[1:]))}"
    if sort == "float":
        return str(value[1])
    return " ".join(map(str, value))


def _tensor_text(fields: Mapping[str, Any]) -> str:
    parts = [_numbers(fields), str(fields.get("dtype", "?")), f"shape {fields.get('shape')}"]
    if fields.get("device") not in (None, "main"):
        parts.append(f"on {fields['device']}")
    if fields.get("strides") not in (None, _contiguous(fields.get("shape"))):
        parts.append(f"strides {fields['strides']}")
    if fields.get("requires_grad"):
        parts.append("requires_grad")
    if fields.get("grad_fn"):
        parts.append(f"grad_fn {value_text(fields['grad_fn'])}")
    if "grad" in fields:
        parts.append(f"grad {value_text(fields['grad'])}")
    return f"tensor({', '.join(parts)})"


def _contiguous(shape: Any) -> list[int] | None:
    if not isinstance(shape, list):
        return None
    strides, size = [], 1
    for length in reversed(shape):
        strides.append(size)
        size *= max(int(length), 1)
    return strides[::-1]


def _numbers(fields: Mapping[str, Any]) -> str:
    text, dtype = fields.get("bytes"), str(fields.get("dtype", ""))
    if not isinstance(text, str):
        return "no bytes" if text is None else value_text(text)
    letters = "f" if dtype == "bfloat16" else _LETTERS.get(dtype)
    try:
        data = bytes.fromhex(text)
        if letters is None:
            raise ValueError(dtype)
        if dtype == "bfloat16":
            # bfloat16 is the upper half of a float32.
            data = b"".join(b"\0\0" + data[at : at + 2] for at in range(0, len(data), 2))
        numbers = list(struct.iter_unpack("<" + letters, data))
    except (ValueError, struct.error):
        return f"bytes {text[:64]}{'…' if len(text) > 64 else ''}"
    shown = [_number(number) for number in numbers[:ENTRIES_SHOWN]]
    if len(numbers) > ENTRIES_SHOWN:
        shown.append(f"… {len(numbers) - ENTRIES_SHOWN:,} more")
    return shown[0] if fields.get("shape") == [] and len(shown) == 1 else f"[{', '.join(shown)}]"


def _number(parts: tuple[Any, ...]) -> str:
    if len(parts) == 2:
        return f"{parts[0]!r}{'+' if not str(parts[1]).startswith('-') else ''}{parts[1]!r}j"
    value = parts[0]
    return f"{value:.9g}" if isinstance(value, float) else repr(value)
