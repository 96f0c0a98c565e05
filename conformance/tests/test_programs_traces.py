"""Traces have the published form, and every rule of a program is Python's own at the prompt."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema
import pytest

from conformance import runner
from conformance.operations import runner_schema
from conformance.programs import Program, parse
from conformance.programs.source import Printer

PROGRAMS = {
    "values": """\
x = torch.tensor([1.0, -0.0], requires_grad=True)
y = (x * 2).sum()
y.backward(create_graph=True)
x.grad
[1, (2.5, None), {"a": True}, float("nan"), complex(1.0, -0.0), torch.float32, y.grad_fn, "text"]
torch.zeros(2, device=torch.device("meta"))
torch.sparse_coo_tensor(torch.tensor([[0]]), torch.tensor([1.0]), (2,))
""",
    "outcomes": """\
x = torch.ones(2, requires_grad=True)
y = x.view(3)
y * 2
def hook(g):
    raise ValueError("from a hook")
x.register_hook(hook)
(x * x).sum().backward()
x.sum().backward(torch.ones(3))
with threads(2):
    log(x)
with thread("a"):
    thread_name()
    raise RuntimeError("left")
del x
x
""",
}

# Python's rules, without torch: scopes, closures, unpacking, order of evaluation, exits of blocks.
PROMPT = {
    "scopes": """\
x = 1
def f():
    x = 2
    def g():
        return x
    x = 3
    return g
f()()
def h():
    global x
    x = x + 1
    return x
h(), x
def u():
    y = x
    x = 1
u()
def rest(a, *b):
    return a, b
rest(1, 2, 3), rest(1)
rest()
(lambda *a: (lambda b: (a, b, x)))(1)(2)
""",
    "unpacking": """\
(a, b), c = (1, 2), [3]
a, b, c
d, e = 1, 2, 3
d, e = 1
(d,) = [4]
i = j = [0, 0]
i[0], j[1] = 5, 6
i, j
i is j
[*i, *(1, 2)], (*j,)
k = [1]
k += (2, 3)
k[0] += 10
k
k[7] = 1
del k[0]
k
k.append(*i, *j)
""",
    "blocks": """\
seen = []
for i in range(3):
    for _ in range(2):
        seen.append(i)
    if i == 1:
        seen.append("one")
    else:
        seen.append(None)
seen, i
for i in range(5):
    seen.append(10 // (2 - i))
seen, i
def early():
    for n in range(4):
        if n == 2:
            return n
early()
def deep(n):
    if n == 0:
        raise KeyError("bottom")
    return deep(n - 1)
deep(3)
for i in range(0):
    never = 1
not seen == [], -2 ** 2, 7 // -2, -7 % 3, "a" in "abc", None is not None
{"a": 1}["b"]
[1, 2, 3][::-1], [1, 2, 3][-1:], len(seen[1:2])
sorted([3, 1, 2]), list(range(3)), sum([1, 2]), max(1, 2), bool([])
""",
}


def _schema() -> jsonschema.Draft202012Validator:
    text = resources.files("conformance.programs").joinpath("trace.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def _trace(program: Program, module: str) -> dict[str, Any]:
    return runner.run(program.to_json(), runner.load(module), runner_schema())


@pytest.mark.parametrize("module", ["torch", "refimpl"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_traces_have_the_published_form(name: str, module: str) -> None:
    pytest.importorskip(module)
    program = parse(PROGRAMS[name])
    trace = _trace(program, module)
    _schema().validate(trace)
    assert trace["program"] == program.hash
    assert [step["at"] for step in trace["steps"]] == list(range(len(program.body)))


def test_the_schema_refuses_other_traces() -> None:
    pytest.importorskip("torch")
    trace = _trace(parse(PROGRAMS["values"]), "torch")
    schema = _schema()
    for change in (
        {"steps": [{**trace["steps"][0], "outcome": "fine"}]},
        {"steps": [{**trace["steps"][0], "outcome": "raised"}]},
        {"steps": [{**trace["steps"][0], "kind": "other"}]},
        {"program": "abc"},
        {"end": {"x": ["tensor", {"bytes": "0"}]}},
        {"end": {"x": ["tensor", {"address": 140234}]}},
        {"end": {"x": 1.5}},
        {"extra": 1},
    ):
        assert not schema.is_valid({**trace, **change}), change


@pytest.mark.parametrize("name", PROMPT)
def test_statements_do_what_python_does(name: str) -> None:
    pytest.importorskip("torch")
    program = parse(PROMPT[name])
    steps = _trace(program, "torch")["steps"]
    space: dict[str, Any] = {}
    for statement, step in zip(program.body, steps, strict=True):
        code = "\n".join(Printer().statement(statement))
        kind, text = _at_the_prompt(code, space, is_value=statement["do"] == "expr")
        if kind == "ok":
            assert step["outcome"] == "ok", (code, step)
            assert text is None or _plain(step["value"]) == text, code
        else:
            assert step["outcome"] == "raised", code
            assert step["error"]["type"] == kind
            # Python names the function in its own way: "rest() missing 1 required positional argument".
            assert step["error"]["text"] == text or "argument" in str(text)


def _at_the_prompt(code: str, space: dict[str, Any], *, is_value: bool) -> tuple[str, str | None]:
    """What Python itself does: ``ok`` and the value's text, or the exception's type and text."""
    try:
        if is_value:
            return "ok", repr(eval(code, space))
        exec(code, space)
    except Exception as error:
        return type(error).__name__, str(error)
    return "ok", None


def _plain(seen: Any) -> str:
    """What was seen, as Python writes it."""
    if not isinstance(seen, list):
        return repr(seen)
    tag, *parts = seen
    if tag == "float":
        return str(parts[0])
    items = ", ".join(_plain(part) for part in parts[0]) if tag in ("list", "tuple") else ""
    if tag == "tuple":
        return f"({items},)" if len(parts[0]) == 1 else f"({items})"
    return f"[{items}]" if tag == "list" else repr(seen)
