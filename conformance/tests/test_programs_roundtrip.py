"""Program to source to program loses nothing; the JSON Schemas say what `validate` says."""

from __future__ import annotations

import ast
import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.programs import (
    Program,
    ProgramError,
    canonical,
    loads,
    parse,
    standalone_script,
    to_source,
    validate,
)
from conformance.programs.edit import expression_places, get, put, statement_places
from conformance.programs.tree import subexpressions, walk
from conformance.tests.programs_strategy import programs

_FORM = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _schema(name: str) -> jsonschema.Draft202012Validator:
    text = resources.files("conformance.programs").joinpath(name).read_text(encoding="utf-8")
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


SCHEMA = _schema("program.schema.json")

PROGRAMS = {
    "seed": """\
# title: the seed scales each row
# clauses: INPLACE-07 SEED-04
# note: first line
# note: second line
X = torch.tensor([4.0, 3.0, 2.0], requires_grad=True)
Y = torch.zeros(3)
x0, x1, x2 = X[0], X[1], X[2]
Y[0], Y[1], Y[2] = 3 * x0 + 7 * x1 ** 2, 4 * x0, 5 * x0 + 9 * x1 ** 2 + 1 * x2 ** 3
Y.backward(gradient=torch.tensor([10.0, 100.0, 1000.0]), retain_graph=True)
X.grad
print(Y.grad)
""",
    "function": """\
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.k = 2
        return x * ctx.k
    @staticmethod
    @once_differentiable
    def backward(ctx, *gs):
        (x,) = ctx.saved_tensors
        if ctx.needs_input_grad[0]:
            return gs[0] * 2
        else:
            return
x = torch.ones(3, device=torch.device("main"), dtype=torch.float64, requires_grad=True)
handle = x.register_hook(lambda g: log(g))
Double.apply(x).sum().backward()
handle.remove()
""",
    "threads": """\
seen = []
def hook(g):
    global seen
    seen.append(g)
x = bits("f32", "0100a07f")
for i in range(3):
    for _ in range(2):
        x = x + i
with thread("a"):
    x.mul_(2)
with torch.no_grad(), torch.autograd.set_detect_anomaly(True) as mode:
    del x, mode
with threads(2):
    hook(float("nan"))
raise RuntimeError("it's \\n quoted")
raise ValueError('a "quoted" text')
""",
    "operators": """\
x = torch.ones(2, 2)
-(-1) ** 2 + (-1) ** -x @ x.T - (x - x)
(x + x) * -x // 2 % 3 | x & x ^ ~x
not (x is None) == (not x)
(x < x) is not None
x not in [x]
""",
    "indices": """\
x = torch.ones(2, 2, 2)
x[0], x[1:, ...], x[::2, None], x[()], x[(1,)], x[[0, 1], :]
(1).real
(2.5).real
[*x, *(1, 2)]
{"a": 1, None: (), (1,): {}}[1, 2](*x, k=-0.0)
complex(1.0, -2.0) + complex(float("nan"), float("-inf"))
(lambda: 1)() + (lambda *a: (lambda b: b))(1)(2)
x += 1, 2
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_typed_source_is_a_fixed_point(name: str) -> None:
    program = parse(PROGRAMS[name])
    printed = to_source(program)
    assert parse(printed) == program
    assert to_source(parse(printed)) == printed
    assert ast.dump(ast.parse(printed)) == ast.dump(ast.parse(PROGRAMS[name]))


def test_the_example_of_the_form_prints_as_typed() -> None:
    assert to_source(parse(PROGRAMS["seed"])) == PROGRAMS["seed"]


@_FORM
@given(programs)
def test_source_loses_nothing(program: Program) -> None:
    validate(program.to_json())
    source = to_source(program)
    again = parse(source)
    assert canonical(list(again.body)) == canonical(list(program.body))
    assert again == program
    assert to_source(again) == source


@_FORM
@given(programs)
def test_json_loses_nothing(program: Program) -> None:
    assert loads(canonical(program.to_json())) == program
    assert Program.from_json(program.to_json()).hash == program.hash


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs)
def test_valid_programs_satisfy_the_schema(program: Program) -> None:
    SCHEMA.validate(program.to_json())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs, st.data())
def test_what_the_schema_refuses_is_refused(program: Program, data: st.DataObject) -> None:
    """A part of a valid program becomes something foreign; the schema is never stricter than validate."""
    document = program.to_json()
    body = document["body"]
    place = data.draw(st.sampled_from([*statement_places(body), *expression_places(body)]))
    foreign: Any = data.draw(
        st.sampled_from([{}, ["name"], ["float", "two"], ["star", 1], ["slice", None, None, None], 2**70, []])
    )
    document["body"] = put(body, place, foreign)
    if not SCHEMA.is_valid(document):
        with pytest.raises(ProgramError):
            validate(document)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@_FORM
@given(programs)
def test_scripts_are_python(program: Program) -> None:
    compile(standalone_script(program), "script", "exec", dont_inherit=True)


@_FORM
@given(programs)
def test_places_and_trees_agree(program: Program) -> None:
    body = list(program.body)
    assert [get(body, place) for place in statement_places(body)] == [s for _, s in walk(body)]
    for place in expression_places(body):
        inside = list(subexpressions(get(body, place)))
        found = [p for p in expression_places(body) if p[: len(place)] == place]
        assert [get(body, p) for p in found] == inside


def test_equality_tells_true_from_one() -> None:
    one = Program(body=({"do": "expr", "value": 1},))
    true = Program(body=({"do": "expr", "value": True},))
    assert one != true
    assert one.hash != true.hash
    assert one == Program(body=({"value": 1, "do": "expr"},), id="label")
    assert len({one, true, Program(body=({"do": "expr", "value": 1},))}) == 2


def test_the_hash_is_that_of_the_canonical_body() -> None:
    text = '[{"do":"expr","value":["float","2.0"]}]'
    assert parse("# title: no part of it\n2.0\n").hash == hashlib.sha256(text.encode()).hexdigest()


def test_schemas_lie_in_the_package() -> None:
    import conformance.programs

    folder = Path(conformance.programs.__file__).parent
    assert {path.name for path in folder.glob("*.json")} == {"program.schema.json", "trace.schema.json"}
    _schema("trace.schema.json")
