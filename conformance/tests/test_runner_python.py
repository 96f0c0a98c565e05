"""The interpreter against Python itself: the same source, run by both at a torch prompt."""

from __future__ import annotations

import ast
import types
import warnings
from typing import Any

import pytest

from conformance import runner
from conformance.fixtures import load_fixtures
from conformance.operations import runner_schema
from conformance.programs import parse, to_source

torch = pytest.importorskip("torch")

PROGRAMS = {
    "assignments": """
a = b = torch.tensor([1.0, 2.0])
a, b = b, a * 2
a[0], b[1] = b[1], a[0]
c, (d, e) = 1, (2, [3, 4])
e[0] = 5
c += 1
a += b
a[1] *= 3
f, g = torch.tensor([7.0, 8.0])
h, i = 1, 2, 3
j, k = [1]
l, m = 5
""",
    "names": """
x = torch.tensor([1.0, 2.0], requires_grad=True)
del x
x
def f(a):
    b = a
    if a > 5:
        c = a
    return c
f(1)
f(6)
f()
f(1, 2)
f(b=1)
def g(*rest):
    return len(rest)
g(1, 2, 3)
h = [g(1, *[2, 3]), g(*(1, 2))]
""",
    "loops": """
t = 0
for i in range(5):
    t += i
    if t > 100:
        t = -1
    else:
        t = t + 1
for _ in range(3):
    t = t * 2
def first(n):
    for i in range(10):
        if i * i > n:
            return i
    return -1
u = first(17)
v = first(1000)
i
""",
    "functions": """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.k = n
        ctx.save_for_backward(x)
        return x**n
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * ctx.k * x ** (ctx.k - 1), None
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = F.apply(x, 3)
y.backward(torch.tensor([1.0, 10.0]))
y.sum().backward()
F.apply(x)
class G(torch.autograd.Function):
    @staticmethod
    def forward(a, b):
        return a * b
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a
z = G.apply(x, x * 2).sum()
z.backward()
""",
    "hooks": """
x = torch.tensor([1.0, 2.0], requires_grad=True)
seen = []
count = 0
def hook(g):
    global count
    count += 1
    seen.append(g.sum().item())
    return g * 10
y = x * 2
h = y.register_hook(hook)
y.sum().backward(retain_graph=True)
h.remove()
y.sum().backward()
def twice(a):
    return lambda g: g * a
z = x * 3
z.register_hook(twice(4))
z.sum().backward()
def bad(g):
    raise ValueError("boom")
w = x * 1
w.register_hook(bad)
w.sum().backward()
""",
    "values": """
a = [1 // 2, 7 % 3, -7 // 2, 2**10, 1 / 4, not 1, 3 < 4, 3 == 4]
a2 = [1 in [1, 2], 3 not in (1, 2), -3, 5 & 3, 5 | 3, 5 ^ 3]
b = {"x": 1, 2: [3]}
c = b["x"]
d = (1, 2, 3)[1:]
e = [1, 2, 3, 4][::2]
f = float("inf")
g = complex(1.0, 2.0)
h = [*d, *e]
i = torch.ones(2, 3)[..., 0]
j = torch.ones(2, 3)[None, 1:, 0]
k = sorted([3, 1, 2])
l = min(3, 2)
m = {"a": 1}["b"]
n = [1][5]
o = 1 / 0
p = None is None
q = "text" + 1
""",
    "modes": """
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    y = x * 2
    with torch.enable_grad():
        z = x * 3
with torch.no_grad():
    w = x.view(5)
m = torch.is_grad_enabled()
@torch.no_grad()
def f(a):
    return a * 2
v = f(x)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t * 2):
    u = (x * x).sum()
u.backward()
""",
}


def by_python(source: str) -> tuple[list[str], dict[str, Any]]:
    """What each top-level statement raised, and the names at the end, as the prompt would have them."""
    space: dict[str, Any] = {"torch": torch, "__name__": "__main__"}
    outcomes = []
    for statement in ast.parse(source).body:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(ast.Module([statement], []), "<prompt>", "exec"), space)
        except Exception as error:
            outcomes.append(f"{type(error).__name__}: {runner.plain_text(str(error))}")
        else:
            outcomes.append("ok")
    return outcomes, {
        name: value for name, value in space.items() if name not in ("torch", "__name__", "__builtins__")
    }


def plain(value: Any) -> Any:
    """A value of Python's own in the form of a trace, as far as these programs have them."""
    if isinstance(value, torch.Tensor):
        return [plain(value.detach().tolist()), plain(value.grad) if value.is_leaf else None]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [plain(part) for part in value]]
    if isinstance(value, dict):
        return ["dict", [[plain(key), plain(part)] for key, part in value.items()]]
    if isinstance(value, (float, complex)):
        return repr(value)
    return value


def test_texts_of_programs_are_those_that_python_runs() -> None:
    for name, source in PROGRAMS.items():
        assert parse(to_source(parse(source))) == parse(source), name


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_outcomes_and_values(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = PROGRAMS[name]
    expected, space = by_python(source)
    monkeypatch.setattr(runner.Observer, "value", lambda self, value, group, depth=0: plain(value))
    monkeypatch.setattr(runner.Observer, "tensor", lambda self, value, group, is_grad=False: plain(value))
    trace = runner.run(parse(source).to_json(), runner.load("torch"), runner_schema())
    # A name that a failed statement left unbound: Python raises NameError, the form skips.
    for step, outcome in zip(trace["steps"], expected, strict=True):
        if step["outcome"] == "skipped":
            assert outcome.startswith("NameError")
        elif step["outcome"] == "raised":
            said = f"{step['error']['type']}: {step['error']['text']}"
            assert without_wording(said) == without_wording(outcome)
        else:
            assert (step["outcome"], outcome) == ("ok", "ok")
    hidden = (types.FunctionType, type)
    values = {
        key: plain(value)
        for key, value in space.items()
        if not isinstance(value, hidden) and key not in ("h", "_")
    }
    seen = {key: value for key, value in trace["end"].items() if key not in ("h", "_")}
    assert seen == values


def without_wording(text: str) -> str:
    """An outcome without the words that differ between Python's versions."""
    sort, _, said = text.partition(": ")
    return sort if sort in ("UnboundLocalError", "ValueError") or "unpack" in said else text


def test_fixtures_are_python_too() -> None:
    """Every fixture without names of the form's own runs at the prompt with the same outcomes."""
    schema, engine = runner_schema(), runner.load("torch")
    own = (
        "bits(",
        "log(",
        "ref(",
        "thread",
        "warnings_once(",
        "once_differentiable",
        'device("main',
        'device("host',
    )
    compared = 0
    for fixture in load_fixtures():
        source = to_source(fixture.program)
        if any(word in source for word in own) or "device" in source or "gc." in source or "copy." in source:
            continue
        trace = runner.run(fixture.program.to_json(), engine, schema)
        expected, _ = by_python(source)
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        torch.autograd.set_detect_anomaly(False)
        for step, outcome in zip(trace["steps"], expected, strict=True):
            if step["outcome"] == "skipped":
                assert outcome.startswith("NameError"), fixture.id
            elif step["outcome"] == "raised":
                assert outcome.startswith(step["error"]["type"] + ": "), (fixture.id, step["at"])
            else:
                assert outcome == "ok", (fixture.id, step["at"])
        compared += 1
    assert compared > 250
