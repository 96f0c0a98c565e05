"""Does an adapter tell the truth? Round trips, errors, None, and capabilities both ways.

An adapter that swallows an error, shows zeros for None, changes bits on the way or hides what its engine has
would make every verdict on the engine worthless. What is checked here is the adapter; the engine's own
divergences from torch are what `conformance run` finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from conformance.engines.host import ProcessEngine
from conformance.engines.inprocess import InProcess
from conformance.engines.model import EngineHandle, Failure
from conformance.operations import runner_schema
from conformance.programs import Program, parse

Outcome = Literal["ok", "fails", "not there"]


@dataclass(frozen=True)
class Finding:
    """One question to the adapter, and what it answered."""

    what: str
    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True)
class Values:
    """Values of one dtype as bytes, and those of them that can be written as literals."""

    bits: str
    hex: str
    literals: str
    literal_hex: str


DTYPES: Mapping[str, Values] = {
    "bool": Values("b8", "000101", "[False, True, True]", "000101"),
    "uint8": Values("u8", "0001ff", "[0, 1, 255]", "0001ff"),
    "int8": Values("i8", "00017f80ff", "[0, 1, 127, -128, -1]", "00017f80ff"),
    "int16": Values("i16", "00000100ff7f0080", "[0, 1, 32767, -32768]", "00000100ff7f0080"),
    "int32": Values("i32", "01000000ffffff7f00000080", "[1, 2147483647]", "01000000ffffff7f"),
    "int64": Values(
        "i64", "0100000000000000ffffffffffffff7f", "[1, 9007199254740993]", "01000000000000000100000000002000"
    ),
    "float16": Values("f16", "00000080003c0100007c00fcff7b", "[1.0, -0.0, 65504.0]", "003c0080ff7b"),
    "bfloat16": Values("bf16", "00000080803f0100807f80ff", "[1.0, -0.0, 0.5]", "803f0080003f"),
    "float32": Values(
        "f32",
        "00000000000000800000803f010000000000807f000080ffffff7f7fcdcccc3d",
        "[1.0, -0.0, 1e-45]",
        "0000803f0000008001000000",
    ),
    "float64": Values(
        "f64",
        "0000000000000080000000000000f03f0100000000000000000000000000f07f9a9999999999b93f",
        "[1.0, -0.0, 0.1]",
        "000000000000f03f00000000000000809a9999999999b93f",
    ),
    "complex64": Values("c64", "0000803f00000080", "[complex(1.0, -2.0)]", "0000803f000000c0"),
    "complex128": Values(
        "c128",
        "000000000000f03f0000000000000080",
        "[complex(1.0, -2.0)]",
        "000000000000f03f00000000000000c0",
    ),
}

NUMBERS = {"float32": "cdcccc3d", "float64": "9a9999999999b93f"}
"""0.1, for engines of scalars."""

ERRORS = {
    "shapes that do not fit": "a = torch.tensor([1.0, 2.0])\nb = torch.tensor([1.0, 2.0, 3.0])\na + b",
    "a reshape that does not fit": "a = torch.tensor([1.0, 2.0])\na.reshape(3)",
    "a matrix product that does not fit": "a = torch.tensor([[1.0, 2.0]])\na @ a",
}
_VECTOR = "torch.tensor([1.0, 2.0], requires_grad=True)"
_SCALAR = "torch.tensor(1.0, requires_grad=True)"
NONE_AND_ZEROS = {
    "vectors": f"x = {_VECTOR}\nu = {_VECTOR}\n(x * 0.0).sum().backward()",
    "scalars": f"x = {_SCALAR}\nu = {_SCALAR}\n(x * 0.0).backward()",
}
FEATURES = {
    "Tensor.backward(gradient=)": f"x = {_VECTOR}\n(x * x).backward(torch.tensor([1.0, 2.0]))",
    "Tensor.backward(inputs=)": f"x = {_VECTOR}\n(x * x).sum().backward(inputs=[x])",
    "Tensor.backward(retain_graph=)": f"x = {_VECTOR}\n(x * x).sum().backward(retain_graph=True)",
    "Tensor.backward(create_graph=)": f"x = {_VECTOR}\n(x * x).sum().backward(create_graph=True)",
    "torch.autograd.backward": f"x = {_VECTOR}\ntorch.autograd.backward((x * x).sum())",
    "torch.autograd.grad": f"x = {_VECTOR}\ntorch.autograd.grad((x * x).sum(), x)",
    "Tensor.register_hook": f"x = {_VECTOR}\nh = x.register_hook(lambda g: g * 2.0)\nx.sum().backward()",
    "Tensor.retain_grad": f"x = {_VECTOR}\ny = x * x\ny.retain_grad()\ny.sum().backward()",
    "Tensor.detach": f"x = {_VECTOR}\nx.detach()",
    "torch.no_grad": f"x = {_VECTOR}\nwith torch.no_grad():\n    y = x * x",
    "in-place operations": "x = torch.tensor([1.0, 2.0])\nx += 1.0",
    "writing an item": "x = torch.tensor([1.0, 2.0])\nx[0] = 3.0",
    "views": "x = torch.tensor([1.0, 2.0])\nx[1:]",
    "torch.autograd.Function": "class F(torch.autograd.Function):\n"
    "    @staticmethod\n    def forward(ctx, a):\n        return a * 2.0\n"
    "    @staticmethod\n    def backward(ctx, g):\n        return g * 2.0\n"
    f"x = {_VECTOR}\nF.apply(x).sum().backward()",
}
# What an engine says that was never asked to have the name: then the adapter promised what is not there.
_NOT_THERE = ("AttributeError", "NotImplementedError", "NameError", "ImportError", "ModuleNotFoundError")


def check(engine: EngineHandle) -> list[Finding]:
    """All findings on an open engine. Raises EngineError if it cannot go on."""
    said = engine.info.capabilities
    return [
        *_round_trips(engine, said),
        *_errors(engine),
        *_none_and_zeros(engine),
        *_features(engine, said),
        *_undeclared(engine),
    ]


def _steps(engine: EngineHandle, program: Program) -> list[dict[str, Any]] | str:
    """The steps of a program's trace, or how the engine failed."""
    reply = engine.run([program])[0]
    if isinstance(reply, Failure):
        return f"{reply.kind}: {reply.detail}"
    steps: list[dict[str, Any]] = reply.json["steps"]
    return steps


def _last(engine: EngineHandle, source: str) -> tuple[str, Any]:
    """The outcome of the first statement that is not ok, or of the last, with what it showed."""
    steps = _steps(engine, parse(source))
    if isinstance(steps, str):
        return "failed", steps
    step = next((each for each in steps if each["outcome"] != "ok"), steps[-1])
    return step["outcome"], step


def _shown(outcome: str, step: Any) -> str:
    if outcome == "failed":
        return str(step)
    if outcome == "unsupported":
        return f"unsupported: {step.get('missing')}"
    error = step.get("error") or {}
    return f"{outcome} {error.get('type', '')}: {error.get('text', '')}".rstrip(": ")


def _round_trips(engine: EngineHandle, said: Mapping[str, Any]) -> Iterator[Finding]:
    declared = said.get("dtypes")
    for name, values in DTYPES.items():
        given = {
            "bits": (f'bits("{values.bits}", "{values.hex}")', values.hex),
            "literals": (f"torch.tensor({values.literals}, dtype=torch.{name})", values.literal_hex),
        }
        if name in NUMBERS:
            given["a number"] = (f"torch.tensor(0.1, dtype=torch.{name})", NUMBERS[name])
        for way, (expression, expected) in given.items():
            outcome, step = _last(engine, f"x = {expression}\nx")
            yield _round_trip(engine, f"{name} as {way}", name, declared, outcome, step, expected)


def _round_trip(
    engine: EngineHandle,
    what: str,
    name: str,
    declared: Sequence[str] | None,
    outcome: str,
    step: Any,
    expected: str,
) -> Finding:
    if outcome == "unsupported":
        scalars_only = str(step.get("missing", "")).startswith("tensors")
        if declared is not None and name in declared and not scalars_only:
            return Finding(what, "fails", f"declared, but {_shown(outcome, step)}")
        return Finding(what, "not there", _shown(outcome, step))
    if outcome != "ok":
        return Finding(what, "fails", _shown(outcome, step))
    if declared is not None and name not in declared:
        return Finding(what, "fails", "it works, but the dtype is not declared")
    value = step.get("value")
    if not isinstance(value, list) or value[0] != "tensor":
        return Finding(what, "fails", f"it shows no tensor, but {value!r}")
    fields = value[1]
    if "dtype" not in engine.info.unread and fields.get("dtype") != name:
        return Finding(what, "fails", f"it became {fields.get('dtype')}")
    if fields.get("bytes") != expected:
        return Finding(what, "fails", f"{expected} became {fields.get('bytes')}")
    return Finding(what, "ok")


def _errors(engine: EngineHandle) -> Iterator[Finding]:
    for what, source in ERRORS.items():
        outcome, step = _last(engine, source)
        if outcome == "raised":
            yield Finding(what, "ok", _shown(outcome, step))
        elif outcome == "unsupported":
            yield Finding(what, "not there", _shown(outcome, step))
        else:
            yield Finding(what, "fails", "no error" if outcome == "ok" else _shown(outcome, step))


def _none_and_zeros(engine: EngineHandle) -> Iterator[Finding]:
    what = "no gradient is None, a gradient of zeros is not"
    for source in NONE_AND_ZEROS.values():
        outcome, step = _last(engine, source)
        if outcome == "unsupported":
            continue
        if outcome != "ok":
            yield Finding(what, "fails", _shown(outcome, step))
            return
        reached, unused = (step["seen"].get(name, [None, {}])[1].get("grad") for name in ("x", "u"))
        if unused is not None:
            yield Finding(what, "fails", "a leaf that no pass reached shows a gradient")
        elif not isinstance(reached, list) or set(reached[1].get("bytes", "1")) - {"0", "8"}:
            yield Finding(what, "fails", f"a gradient of zeros shows as {reached!r}")
        else:
            yield Finding(what, "ok")
        return
    yield Finding(what, "not there", "neither vectors nor scalars have a backward")


def _features(engine: EngineHandle, said: Mapping[str, Any]) -> Iterator[Finding]:
    absent = frozenset(map(str, said.get("absent", ())))
    for name, source in FEATURES.items():
        outcome, step = _last(engine, source)
        if outcome == "unsupported":
            yield Finding(name, "not there", _shown(outcome, step))
        elif outcome == "raised" and step["error"]["type"] in _NOT_THERE:
            yield Finding(name, "fails", f"not declared absent, but {_shown(outcome, step)}")
        elif outcome == "ok" and name in absent:
            yield Finding(name, "fails", "declared absent, but it works")
        elif outcome in ("ok", "raised"):
            yield Finding(name, "ok", "" if outcome == "ok" else _shown(outcome, step))
        else:
            yield Finding(name, "fails", _shown(outcome, step))


def _undeclared(engine: EngineHandle) -> Iterator[Finding]:
    """Names that the adapter leaves out, though a direct call of the engine works."""
    schema = runner_schema()
    functions = [name for name in schema["functions"] if name.startswith("torch.")]
    names = [*functions, *(f"Tensor.{name}" for name in schema["methods"])]
    what = "what is not declared is not there"
    if isinstance(engine, ProcessEngine):
        found = engine.undeclared(names)
    elif isinstance(engine, InProcess):
        found = engine.engine.undeclared(names)
    else:
        found = None
    if found is None:
        yield Finding(what, "not there", "the engine does not know the question")
    elif found:
        yield Finding(what, "fails", f"{len(found)} present but undeclared: {', '.join(found)}")
    else:
        yield Finding(what, "ok")
