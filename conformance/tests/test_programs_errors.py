"""Everything outside the form is refused with one clear error: where, what, and what to write instead."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.programs import ProgramError, limits, loads, parse, validate

REFUSED = [
    # source, line, a part of what, a part of the hint
    ("import torch", 1, "import is not part of the form", "leave the line out"),
    ("from os import path", 1, "import is not part of the form", "leave the line out"),
    ("x = 1\nx.__class__", 2, "the attribute '__class__' is not in the table", ""),
    ("x = 1\nx.grda", 2, "the attribute 'grda' is not in the table", "did you mean"),
    ("x = 1\nx.bakward()", 2, "the method 'bakward' is not in the table", "did you mean backward"),
    ("x = 1\nx.mul", 2, "the attribute 'mul' is not in the table", "call it: x.mul()"),
    ("x = 1\nx.data_ptr()", 2, "'data_ptr'", "no addresses"),
    ("torch.foo(3)", 1, "torch.foo is not in the table", ""),
    ("torch.randn(3)", 1, "torch.randn is not in the table", "nothing is random"),
    ("torch.sin", 1, "torch.sin as a value", "write lambda x: torch.sin(x)"),
    ("torch.zeros(3, foo=1)", 1, "torch.zeros has no keyword 'foo'", ""),
    ("x = 1\nx.sum(dimm=1)", 2, "sum has no keyword 'dimm'", "did you mean dim"),
    ("torch.device('cuda')", 1, "'cuda' is no device", "main, other, host, meta"),
    ("torch.float33", 1, "'torch.float33' is no constant", "torch.float32"),
    ("x = 1 # why", 1, "a comment", "would be lost"),
    ("x = 1\n# title: late", 2, "a comment", "would be lost"),
    ("# title: a\n# title: b\n1", 2, "a second # title: line", ""),
    ("# clauses: acc-1\n1", 1, "'acc-1' is no clause id", "ACC-01"),
    ("x = f'a'", 1, "an f-string is not part of the form", ""),
    ("[i for i in [1]]", 1, "a comprehension is not part of the form", ""),
    ("x = 3 if True else 2", 1, "a conditional expression is not part of the form", "write if and else"),
    ("x = True and False", 1, "and/or is not part of the form", ""),
    ("x = 1 < 2 < 3", 1, "a chain of comparisons", ""),
    ("x = 1j", 1, "a j literal", "write complex(0.0, 1.0)"),
    ("x = b'a'", 1, "a bytes literal", ""),
    ("x = {1}", 1, "a set is not part of the form", "write a list"),
    ("x = +1", 1, "unary +", ""),
    ("x = 1 << 2", 1, "LShift is no operator", "**"),
    ("x = 1\nx <<= 2", 2, "LShift is no operator", "**="),
    ("x: int = 3", 1, "an annotation", ""),
    ("(x := 3)", 1, ":=", ""),
    ("assert 1", 1, "assert is not part of the form", "no expected values"),
    ("while True:\n    pass", 1, "while is not part of the form", "for _ in range(3)"),
    ("try:\n    1\nexcept ValueError:\n    2", 1, "try is not part of the form", "outcome"),
    ("for i in [1]:\n    i", 1, "a loop runs over range(N)", ""),
    ("for i in range(10**9):\n    i", 1, "not a plain integer", ""),
    ("for i in range(1000000000):\n    i", 1, "1000000000 repeats; the limit is 1000000", ""),
    ("for i in range(1000):\n    for j in range(1001):\n        i", 2, "1001000 repeats", ""),
    ("for i in range(3):\n    break", 2, "break is not part of the form", ""),
    ("for i, j in range(3):\n    i", 1, "one plain name", ""),
    ("x = 1\nwith x:\n    1", 2, "with takes a context", "torch.no_grad()"),
    ("with open('f'):\n    1", 1, "with takes a context", ""),
    ("with torch.ones(2):\n    1", 1, "torch.ones is no context", ""),
    ("thread('a')", 1, "thread stands outside with", ""),
    ("with threads(99):\n    1", 1, "threads takes a number from 1 to 16", ""),
    ("with thread('a'):\n    with thread('b'):\n        1", 2, "a thread block inside a thread block", ""),
    ("def f():\n    with thread('a'):\n        1", 2, "a thread block inside a function", ""),
    ("def f(x=1):\n    return x", 1, "parameters are plain names", ""),
    ("def f(x, *, y):\n    return x", 1, "parameters are plain names", ""),
    ("def f(x, **y):\n    return x", 1, "parameters are plain names", ""),
    ("def f(x, x):\n    return x", None, "", ""),
    ("def f(x: int):\n    return x", 1, "an annotation", ""),
    ("def f():\n    x = 1\n    global x", 3, "global stands after other statements", ""),
    ("def f(x):\n    global x\n    return x", 1, "'x' is a parameter and global", ""),
    ("@torch.jit.script\ndef f():\n    pass", 2, "'torch.jit.script' is no decorator", "torch.no_grad()"),
    ("async def f():\n    pass", 1, "async def", ""),
    ("class F:\n    pass", 1, "a custom Function", "torch.autograd.Function"),
    ("class F(torch.autograd.Function):\n    k = 1", 2, "a class has methods only", ""),
    ("class F(torch.autograd.Function):\n    def foo(ctx):\n        pass", 2, "'foo' is no method",
     "forward"),
    ("def f():\n    class F(torch.autograd.Function):\n        def forward(ctx):\n            pass", 2,
     "a class inside a function", ""),
    ("raise Foo('x')", 1, "'Foo' is no exception", ""),
    ("raise ValueError", 1, "raise takes an exception with a text", ""),
    ("raise ValueError('a') from None", 1, "raise … from", ""),
    ("return 1", 1, "return stands outside a function", ""),
    ("y", 1, "the name 'y' is read and nothing before gives it", "assign it first"),
    ("y.grad = 1", 1, "the name 'y' is read", ""),
    ("f = lambda: q", 1, "the name 'q' is read", ""),
    ("eval('1')", 1, "the name 'eval' is read", ""),
    ("log = 1", 1, "'log' is a name of the table", "choose another name"),
    ("torch = 1", 1, "'torch' is a name of the table", ""),
    ("__x = 1", 1, "two underscores", ""),
    ("é = 1", 1, "'é' is no name", "ASCII"),
    ("x = y = é", 1, "'é'", ""),
    ("[a, b] = 1, 2", 1, "a list as a target", "write a, b"),
    ("a, *b = 1, 2", 1, "a starred as a target", ""),
    ("print(1, 2)", 1, "print takes one value", ""),
    ("x = print(1)", 1, "print is a statement of its own", ""),
    ("float('two')", 1, "not a float's text", ""),
    ("complex(1, 'a')", 1, "complex takes two numbers", ""),
    ("bits('f32', '00')", 1, "whole elements", ""),
    ("bits('f99', '00')", 1, "'f99' is no element type", "f32"),
    ("x = ...", 1, "ellipsis stands outside an index", ""),
    ("f(**{})", 1, "** is not part of the form", ""),
    ("x = 1\nx[*x, 1]", 2, "* stands outside", ""),
    ("x = 10 ** 10 ** 10", 1, "a power of literals", "write the value"),
    ("x = [0] * 100000000", 1, "a literal of 100000000 elements", ""),
    ("torch.zeros(2000, 2000)", 1, "4000000 elements; the limit is 2000000", ""),
    ("torch.full((2000, 2000), 1)", 1, "4000000 elements", ""),
    ("torch.arange(1000000000)", 1, "1000000000 elements", ""),
    ("list(range(1000000000))", 1, "1000000000 elements", ""),
    ("torch.eye(2000)", 1, "4000000 elements", ""),
    ("x = 1\nx.repeat(3000, 3000)", 2, "9000000 elements", ""),
    ("x = 99999999999999999999999", 1, "an integer beyond 64 bits", ""),
    ("torch.float32.data", 1, "'torch.float32.data'", ""),
    ("1()", 1, "no function of the program", ""),
    ("x = (", 1, "not Python", ""),
    ("x = '\\ud800'\nx = 1 +", 2, "not Python", ""),
]  # fmt: skip


@pytest.mark.parametrize(("source", "line", "what", "hint"), REFUSED)
def test_source_outside_the_form(source: str, line: int | None, what: str, hint: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse(source, name="here.py")
    error = caught.value
    assert error.where.startswith("here.py")
    if line is not None:
        assert error.where == f"here.py, line {line}"
    assert what in error.what
    assert hint in error.hint
    assert "\n" not in str(error)


HOSTILE = {
    "parentheses": "(" * 1000 + ")" * 1000,
    "signs": "-" * 90_000 + "1",
    "attributes": "x = 1\nx" + ".grad" * 30_000,
    "sum": "1" + "+1" * 90_000,
    "levels": "1" + "+1" * 60,
    "not": "not " * 90 + "1",
    "digits": "1" * 5_000,
    "open": "x=[" * 100,
    "megabyte": '"' + "a" * 1_000_000 + '"',
    "long text": '"' + "a" * 20_000 + '"',
    "long name": "a" * 1_000 + " = 1",
    "unknown name": "x = 1\nx." + "b" * 10_000 + "()",
    "blocks": "".join(" " * level + "if 1:\n" for level in range(13)) + " " * 13 + "1",
    "indents": "".join(" " * level + "if 1:\n" for level in range(150)) + " " * 150 + "1",
    "statements": "1\n" * 501,
    "null": "x = '\x00'",
    "surrogate": "x = '\ud800'",
    "targets": "(" * 80 + "x" + ",)" * 80 + " = 1",
    "subscripts": "x = 1\n" + "x[" * 90 + "0" + "]" * 90,
    "keywords": "f(" + "a=" + "b" * 500 + "c=",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_source(name: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse(HOSTILE[name])
    assert len(str(caught.value)) < 500


def _expr(text: str) -> str:
    return f'{{"form":1,"body":[{{"do":"expr","value":{text}}}]}}'


BAD_JSON = [
    ("", "not JSON"),
    ("nul", "not JSON"),
    ("[]", "a program is a JSON object"),
    ('{"form":1,"form":1,"body":[]}', "stands twice"),
    ('{"form":NaN,"body":[]}', "NaN is not JSON"),
    (_expr("-Infinity"), "-Infinity is not JSON"),
    (_expr("1.5"), "a bare float"),
    (_expr("1e400"), "a bare float"),
    (_expr("9223372036854775808"), "beyond 64 bits"),
    (_expr("1" * 5000), "not JSON"),
    (_expr("[" * 100_000), "nested too deeply"),
    (_expr('["star",' * 500 + "1" + "]" * 500), "nested too deeply"),
    (_expr('["attr",' * 60 + "1" + ',"grad"]' * 60), "more than 50 levels"),
    (_expr("[]"), "not an expression"),
    (_expr("{}"), "not an expression"),
    (_expr('["name"]'), "name has 0 parts"),
    (_expr('["name","x","y"]'), "name has 2 parts"),
    (_expr('["name",3]'), "a text is wanted"),
    (_expr('["name","x"]'), "nothing before gives it"),
    (_expr('["name","class"]'), "is no name"),
    (_expr('["name","x\\n"]'), "is no name"),
    (_expr('["float",2.0]'), "a bare float"),
    (_expr('["float","2"]'), "shortest text"),
    (_expr('["float","1_0.0"]'), "shortest text"),
    (_expr('["float","NaN"]'), "shortest text"),
    (_expr('["unary","-",1]'), "folds its sign"),
    (_expr('["unary","-",["float","1.0"]]'), "folds its sign"),
    (_expr('["unary","+",1]'), "no operator"),
    (_expr('["binary","<<",1,1]'), "no operator"),
    (_expr('["binary",[],1,1]'), "no operator"),
    (_expr('["compare","<>",1,1]'), "no comparison"),
    (_expr('["star",1]'), "* stands outside"),
    (_expr('["slice",null,null,null]'), "slice stands outside"),
    (_expr('["list",3]'), "a list of expressions"),
    (_expr('["dict",[[1]]]'), "pairs"),
    (_expr('["call","torch.ones",[3],[]]'), "not an object"),
    (_expr('["call","torch.ones",[3],{"a b":1}]'), "no keyword"),
    (_expr('["call",[],[],{}]'), "a text is wanted"),
    (_expr('["call","float",["nan"],{}]'), "float of a text"),
    (_expr('["call","print",[1],{}]'), "not in the table"),
    (_expr('["apply",1,[],{}]'), "no function of the program"),
    (_expr('["apply",["attr",1,"grad"],[],{}]'), "no function of the program"),
    (_expr('["lambda",["a","a"],1]'), "stands twice"),
    (_expr('["lambda",["*a","b"],1]'), "not the last"),
    (_expr('["lambda","a",1]'), "not a list"),
    (_expr('["bits","f32","ZZZZZZZZ"]'), "lower-case hex"),
    ('{"form":2,"body":[]}', "form 2 is not understood"),
    ('{"form":true,"body":[]}', "form true is not understood"),
    ('{"form":1}', "body is not a list"),
    ('{"form":1,"body":[],"extra":1}', "unknown key 'extra'"),
    ('{"form":1,"body":[],"title":"a\\nb"}', "title must be printable"),
    ('{"form":1,"body":[],"title":" a"}', "title must be printable"),
    ('{"form":1,"body":[],"title":3}', "title is not a text"),
    ('{"form":1,"body":[],"clauses":"ACC-01"}', "clauses is not a list"),
    ('{"form":1,"body":[],"clauses":["ACC 1"]}', "is no clause id"),
    ('{"form":1,"body":[],"note":"a\\n\\nb"}', "note must be printable"),
    ('{"form":1,"body":[1]}', "not a statement"),
    ('{"form":1,"body":[{"do":"zap"}]}', "not a statement"),
    ('{"form":1,"body":[{"do":["expr"],"value":3}]}', "not a statement"),
    ('{"form":1,"body":[{"do":"expr"}]}', "expr has no key 'value'"),
    ('{"form":1,"body":[{"do":"expr","value":1,"x":1}]}', "expr has the unknown key 'x'"),
    ('{"form":1,"body":[{"do":"assign","targets":[],"value":1}]}', "targets"),
    ('{"form":1,"body":[{"do":"assign","targets":[["tuple",[]]],"value":1}]}', "no target"),
    ('{"form":1,"body":[{"do":"assign","targets":[["float","1.0"]],"value":1}]}', "no target"),
    ('{"form":1,"body":[{"do":"delete","targets":[["tuple",[["name","x"]]]]}]}', "no target"),
    ('{"form":1,"body":[{"do":"repeat","times":true,"var":null,"body":[]}]}', "times"),
    ('{"form":1,"body":[{"do":"repeat","times":-1,"var":null,"body":[]}]}', "times"),
    ('{"form":1,"body":[{"do":"repeat","times":1,"var":"_","body":[{"do":"pass"}]}]}', "null"),
    ('{"form":1,"body":[{"do":"repeat","times":1,"var":null,"body":[]}]}', "an empty block"),
    ('{"form":1,"body":[{"do":"define","name":"f","params":[],"decorators":[],"body":[{"do":"pass"}]}]}',
     "decorators"),
    ('{"form":1,"body":[{"do":"class","name":"F","methods":[{"do":"pass"}]}]}', "methods only"),
    ('{"form":1,"body":[{"do":"raise","type":"ValueError","text":null}]}', "not a text"),
    ('{"form":1,"body":[{"do":"with","items":[[1,null]],"body":[{"do":"pass"}]}]}', "with takes a context"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "what"), BAD_JSON)
def test_json_that_is_no_program(text: str, what: str) -> None:
    with pytest.raises(ProgramError) as caught:
        loads(text)
    assert what in caught.value.what
    assert len(str(caught.value)) < 500


def test_python_values_that_are_no_json() -> None:
    for value in (1.5, (1,), {1: 2}, object(), b"a", {1}):
        with pytest.raises(ProgramError):
            validate({"form": 1, "body": [{"do": "expr", "value": value}]})


def test_a_body_that_contains_itself() -> None:
    value: list[Any] = ["list", []]
    value[1].append(value)
    with pytest.raises(ProgramError, match="nested too deeply"):
        validate({"form": 1, "body": [{"do": "expr", "value": value}]})


def test_an_expression_that_doubles() -> None:
    value: Any = 1
    for _ in range(40):
        value = ["tuple", [value, value]]
    with pytest.raises(ProgramError, match=r"more JSON|levels"):
        validate({"form": 1, "body": [{"do": "expr", "value": value}]})


def test_json_longer_than_any_source() -> None:
    numbers = [["float", "1.0"]] * (limits.SOURCE // 4)
    with pytest.raises(ProgramError, match="characters of source"):
        validate({"form": 1, "body": [{"do": "expr", "value": ["list", numbers]}]})
    validate({"form": 1, "body": [{"do": "expr", "value": ["list", numbers[: limits.SOURCE // 6]]}]})


def test_the_place_of_a_nested_statement() -> None:
    body = [{"do": "pass"}, {"do": "if", "test": 1, "body": [{"do": "pass"}], "orelse": [{"do": "return"}]}]
    with pytest.raises(ProgramError) as caught:
        validate({"form": 1, "body": body})
    assert caught.value.where == "statement 1.1"


def test_limits_are_reached_and_not_passed() -> None:
    parse("1\n" * limits.STATEMENTS)
    parse("".join(" " * level + "if 1:\n" for level in range(limits.NESTING - 1)) + " " * 20 + "1")
    parse("1" + "+1" * (limits.EXPRESSION_DEPTH - 1))
    parse("for i in range(1000):\n    for j in range(1000):\n        i\n")
    parse("torch.zeros(2000, 1000)")
    parse(f"x = {2**63 - 1}\nx = {-(2**63) + 1}")


def test_names_bound_in_every_way_may_be_read() -> None:
    parse(
        "def f(a, *rest):\n    global late\n    late = a\n    inner = later\n    return inner, rest\n"
        "class F(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return F, x\n"
        "later = 1\nf(later)\nlate\nF.apply(later)\n"
        "for i in range(2):\n    j = i\nj, i\n"
        "with torch.autograd.detect_anomaly() as mode:\n    mode\n"
        "(p, q), r = (1, 2), 3\np, q, r\nlater += 1\n(lambda *g: g)(later)\ndel later\nlater\n"
    )


def test_the_error_is_json_friendly() -> None:
    with pytest.raises(ProgramError) as caught:
        parse("torch.foo()", name="a.py")
    assert json.loads(json.dumps([caught.value.where, caught.value.what])) == [
        "a.py, line 1",
        "torch.foo is not in the table",
    ]
    assert str(caught.value).startswith("a.py, line 1: torch.foo is not in the table")
