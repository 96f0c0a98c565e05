"""What a trace shows of each statement: outcomes, logs, warnings, and everything seen of tensors."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import conformance.programs
from conformance import runner
from conformance.fixtures import load_fixtures
from conformance.operations import runner_schema
from conformance.programs import parse

torch = pytest.importorskip("torch")
ENGINE = runner.load("torch")
SCHEMA = runner_schema()
LEAF = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"


def run(source: str, engine: runner.Engine = ENGINE) -> dict[str, Any]:
    return runner.run(parse(source).to_json(), engine, SCHEMA)


def steps(source: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run(source)["steps"]
    return found


def last(source: str) -> dict[str, Any]:
    return steps(source)[-1]


def fields(source: str) -> dict[str, Any]:
    """What is seen of the tensor that the last statement shows."""
    step = last(source)
    assert step["outcome"] == "ok", step
    assert step["value"][0] == "tensor"
    seen: dict[str, Any] = step["value"][1]
    return seen


# -- outcomes


def test_a_failure_leaves_later_statements_skipped_until_the_name_is_bound_again() -> None:
    program = LEAF + "y = x.view(3)\nz = y + 1\ndel y\nw = x * 2\ny = x * 3\nv = y + 1"
    assert [step["outcome"] for step in steps(program)] == [
        "ok",
        "raised",
        "skipped",
        "skipped",
        "ok",
        "ok",
        "ok",
    ]
    assert steps(program)[2]["needs"] == ["y"]
    assert steps(program)[2]["seen"] == {}


def test_a_failed_rebinding_leaves_the_old_value() -> None:
    assert last(LEAF + "y = x * 1\ny = x.view(3)\ny")["outcome"] == "ok"


@pytest.mark.parametrize(
    ("source", "phase"),
    [
        ("x.view(3)", "forward"),
        ("(x * 2).backward()", "backward"),
        ("torch.autograd.grad((x * 2).sum(), torch.ones(1))", "backward"),
        ("def f(g):\n    return g.view(3)\ny = x * 2\ny.register_hook(f)\ny.sum().backward()", "hook"),
        ("y = x * 2\ny.register_hook(lambda g: g.view(3))\ny.sum().backward()", "hook"),
        ("def f(a):\n    a.backward()\nf(x * 2)", "backward"),
        (
            "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n"
            "        return a.view(9)\nF.apply(x)",
            "hook",
        ),
    ],
)
def test_phase(source: str, phase: str) -> None:
    assert last(LEAF + source)["error"]["phase"] == phase


def test_endless_recursion_of_a_hook_is_an_outcome() -> None:
    hook = (
        "def f(g):\n    with torch.enable_grad():\n        z = x * 1\n"
        "        z.register_hook(f)\n        z.sum().backward()\n"
    )
    step = last(LEAF + hook + "y = x * 1\ny.register_hook(f)\ny.sum().backward()")
    assert (step["error"]["type"], step["error"]["phase"]) == ("RecursionError", "hook")


def test_interrupts() -> None:
    assert last('raise KeyboardInterrupt("mine")')["error"] == {
        "type": "KeyboardInterrupt",
        "text": "mine",
        "phase": "forward",
    }

    class Interrupted(runner.Engine):
        def resolve(self, name: str) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run("x = torch.ones(1)", Interrupted(torch))
    assert last("x = torch.ones(1)")["outcome"] == "ok"


def test_system_exit_of_an_engine_is_an_outcome() -> None:
    class Leaving(runner.Engine):
        def resolve(self, name: str) -> Any:
            raise SystemExit("enough")

    trace = run("x = torch.ones(1)\n1 + 1", Leaving(torch))
    assert trace["steps"][0]["error"]["type"] == "SystemExit"
    assert trace["steps"][1]["value"] == 2


def test_unsupported_is_a_missing_name_keyword_or_dtype_and_nothing_else() -> None:
    engine = runner.Engine(
        torch,
        absent=["torch.sin", "Tensor.mul", "Tensor.backward(inputs=)", "torch.float64", "torch.sum(dim=)"],
    )

    def missing(source: str) -> Any:
        return run(LEAF + source, engine)["steps"][-1].get("missing")

    assert missing("torch.sin(x)") == "torch.sin"
    assert missing("x.mul(2)") == "Tensor.mul"
    assert missing("x.sum().backward(inputs=[x])") == "Tensor.backward(inputs=)"
    assert missing("x.sum().backward()") is None
    assert missing("torch.zeros(2, dtype=torch.float64)") == "torch.float64"
    assert missing("torch.sum(x, dim=0)") == "torch.sum(dim=)"
    assert missing("x.grad.sum()") is None
    assert run(LEAF + "x.grad.sum()", engine)["steps"][-1]["error"]["type"] == "AttributeError"
    assert (
        run(LEAF + 'torch.zeros(2, device=torch.device("other"))', engine)["steps"][-1]["missing"]
        == "device other"
    )


@pytest.mark.parametrize(
    ("text", "rejected"),
    [
        ("backward() got an unexpected keyword argument 'inputs'", True),
        ("Tensor.backward() got an unexpected keyword argument 'inputs'. Did you mean 'input'?", True),
        (
            "f() received an invalid combination of arguments - got (inputs=list, ), but expected one of:\n"
            " * ()",
            True,
        ),
        (
            "f() received an invalid combination of arguments - got (inputs=list), but expected (inputs)",
            False,
        ),
        ("inputs must be a list", False),
        ("hook() got an unexpected keyword argument 'other'", False),
    ],
)
def test_keyword_rejection(text: str, rejected: bool) -> None:
    assert runner.rejects_keyword(text, "inputs") is rejected


def test_a_lack_that_the_engine_swallows_is_still_unsupported() -> None:
    class Swallows(runner.Engine):
        pass

    engine = Swallows(torch, absent=["torch.sin"])
    source = LEAF + "def f(g):\n    return torch.sin(g)\ny = x * 2\ny.register_hook(f)\ny.sum().backward()"
    assert run(source, engine)["steps"][-1]["missing"] == "torch.sin"


# -- tensors


def test_fields_of_a_leaf() -> None:
    seen = fields(
        "x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)\n(x * 2).sum().backward()\nx"
    )
    assert {
        key: seen[key] for key in ("dtype", "shape", "strides", "device", "requires_grad", "is_leaf")
    } == {
        "dtype": "float32",
        "shape": [2, 2],
        "strides": [2, 1],
        "device": "main",
        "requires_grad": True,
        "is_leaf": True,
    }
    assert (seen["grad_fn"], seen["retains_grad"], seen["version"]) == (None, False, 0)
    assert seen["bytes"] == "0000803f000000400000404000008040"
    grad = seen["grad"][1]
    assert grad["bytes"] == "00000040" * 4
    assert "version" not in grad
    assert "grad" not in grad
    assert (seen["id"], grad["id"], seen["storage"], grad["storage"]) == (0, 1, [0, 0], [1, 0])


def test_a_non_leaf_shows_its_gradient_only_if_it_retains_it() -> None:
    assert "grad" not in fields(LEAF + "y = x * 2\ny")
    assert (
        fields(LEAF + "y = x * 2\ny.retain_grad()\ny.sum().backward()\ny")["grad"][1]["bytes"]
        == "0000803f" * 2
    )


def test_bytes_are_row_major_whatever_the_strides() -> None:
    assert (
        fields("x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\nx.t()")["bytes"]
        == "0000803f000040400000004000008040"
    )
    assert fields("x = torch.tensor([1.0])\nx.expand(2, 2)")["bytes"] == "0000803f" * 4
    assert fields('b = bits("c64", "0000803f00000040")\nb.conj()')["bytes"] == "0000803f000000c0"
    assert fields('b = bits("c64", "0000803f00000040")\nb.conj().imag')["bytes"] == "000000c0"


@pytest.mark.parametrize("sort", sorted(runner.BITS))
def test_bits_come_back(sort: str) -> None:
    data = "00" if sort == "b8" else "0123456789abcdef0123456789abcdef"
    assert fields(f'bits("{sort}", "{data}")')["bytes"] == data


def test_identity_and_memory_are_numbered_within_a_step() -> None:
    value = last(LEAF + "y = x.detach()\n[x, y, x[1:], torch.zeros(1), x, torch.zeros(0), torch.zeros(0)]")[
        "value"
    ][1]
    assert [seen[1]["id"] for seen in value] == [0, 1, 2, 3, 0, 4, 5]
    assert [seen[1]["storage"] for seen in value] == [[0, 0], [0, 0], [0, 1], [1, 0], [0, 0], [2, 0], [3, 0]]
    step = last(LEAF + "(x * 2).sum().backward()\nx.grad")
    assert step["value"][1]["id"] == step["seen"]["x"][1]["grad"][1]["id"] == 0
    assert step["seen"]["x"][1]["id"] == 1


def test_a_read_that_raises_stands_in_its_place() -> None:
    source = LEAF + "y = x * 1\nv = y.unbind()\ny.mul_(2)\nv[0]"
    seen = fields(source)
    assert seen["grad_fn"][:2] == ["raised", "RuntimeError"]
    assert seen["bytes"] == "00000040"
    seen = fields("with torch.inference_mode():\n    x = torch.ones(1)\nx")
    assert seen["version"] == ["raised", "RuntimeError", "Inference tensors do not track version counter."]


def test_sparse_and_meta_tensors() -> None:
    seen = fields("s = torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (3,))\ns")
    assert (seen["layout"], seen["shape"]) == ("sparse_coo", [3])
    assert seen["values"] == ["tensor", {"dtype": "float32", "shape": [2], "bytes": "0000803f00000040"}]
    assert not {"bytes", "strides", "storage"} & set(seen)
    seen = fields('x = torch.ones(2, device=torch.device("meta"))\nx')
    assert seen["device"] == "meta"
    assert not {"bytes", "storage"} & set(seen)


def test_values_of_python() -> None:
    source = (
        "x = torch.ones(1, requires_grad=True)\n"
        '[None, True, 3, -0.0, "s", (1,), {"a": 2}, complex(0.0, -1.0)]'
    )
    assert last(source)["value"] == [
        "list",
        [
            None,
            True,
            3,
            ["float", "-0.0"],
            "s",
            ["tuple", [1]],
            ["dict", [["a", 2]]],
            ["complex", "0.0", "-1.0"],
        ],
    ]
    assert last(LEAF + "[x.dtype, x.device, (x * 2).grad_fn]")["value"][1] == [
        ["dtype", "float32"],
        ["device", "main"],
        ["node", "MulBackward0"],
    ]
    assert last(LEAF + "torch.max(x, 0)")["value"][0] == "tuple"
    assert last("a = []\na.append(a)\na")["value"][0] == "list"


def test_functions_classes_handles_and_references_are_not_seen() -> None:
    source = (
        LEAF + "def f(g):\n    return g\ny = x * 2\nh = y.register_hook(f)\nr = ref(y)\n"
        "k = lambda a: a\ny.sum().backward()"
    )
    trace = run(source)
    assert list(trace["steps"][-1]["seen"]) == ["x", "y"]
    assert list(trace["end"]) == ["x", "y"]


def test_a_backward_pass_sees_all_names_in_the_order_of_their_binding() -> None:
    assert list(last(LEAF + "b = x * 1\na = b.sum()\na.backward()")["seen"]) == ["x", "b", "a"]


def test_observing_keeps_nothing_alive_and_steals_nothing() -> None:
    source = LEAF + "y = x * 2\nw = ref(y)\ny.sum().backward()\ny\nx.view(9)\ndel y\nw() is None"
    assert last(source)["value"] is True
    source = (
        LEAF + "def f(g):\n    log(g)\n    g.view(9)\ny = x * 2\nz = y * 1\nw = ref(y)\n"
        "z.register_hook(f)\nz.sum().backward()\ndel y, z\nw() is None"
    )
    assert last(source)["value"] is True
    gc.collect()
    before = sum(isinstance(value, torch.Tensor) for value in gc.get_objects())
    run(source)
    gc.collect()
    assert sum(isinstance(value, torch.Tensor) for value in gc.get_objects()) == before


def test_a_logged_gradient_is_stolen_as_an_unlogged_one_is() -> None:
    """AccumulateGrad keeps the very buffer only if nobody else holds it: then two uses share no memory."""
    plain = LEAF + "y = torch.ones(2, requires_grad=True)\nz = x + y\n{}z.sum().backward()\n[x.grad, y.grad]"
    logged = plain.format("z.register_hook(lambda g: log(g))\n")
    storages = [
        [seen[1]["storage"] for seen in last(source)["value"][1]] for source in (plain.format(""), logged)
    ]
    assert storages[0] == storages[1]


# -- logs, warnings, what is left behind


def test_the_log_says_who_and_where() -> None:
    source = (
        LEAF + "def f(g):\n    g\n    for i in range(2):\n        i\ny = x * 2\n"
        "y.register_hook(f)\ny.sum().backward()"
    )
    log = last(source)["log"]
    assert [(entry["in"], entry["at"]) for entry in log] == [
        ("f", [1, 0]),
        ("<loop>", [1, 1, 0]),
        ("<loop>", [1, 1, 0]),
    ]
    assert [entry["value"] for entry in log[1:]] == [0, 1]
    source = "t = 1\nif t:\n    2\nelse:\n    3\n"
    assert last(source)["log"] == [{"in": "<block>", "at": [1, 0], "value": 2}]
    assert last(source.replace("t = 1", "t = 0"))["log"] == [{"in": "<block>", "at": [1, 1], "value": 3}]
    assert last("f = lambda a: log(a, 1)\nf(2)")["log"] == [
        {"in": "<lambda>", "at": [0], "value": ["tuple", [2, 1]]}
    ]


def test_a_call_that_gives_none_shows_nothing_inside_a_block() -> None:
    log = last(
        LEAF + "with torch.enable_grad():\n    (x * 2).sum().backward()\n    log(1)\n"
        "    y = x.detach()\n    y.grad"
    )["log"]
    assert [entry["value"] for entry in log] == [1, None]


def test_threads() -> None:
    source = (
        LEAF + 'with thread("a"):\n    thread_name()\n    torch.set_grad_enabled(False)\n'
        'with thread("a"):\n    torch.is_grad_enabled()\n    y = x * 2\nthread_name()'
    )
    first, second, third = steps(source)[1:]
    assert first["log"][0] == {"in": "thread a", "at": [1, 0], "value": "a"}
    assert second["log"][0]["value"] is False
    assert second["seen"]["y"][1]["requires_grad"] is False
    assert (third["value"], third["grad_mode"]) == ("main", True)
    log = last(LEAF + "with threads(3):\n    log(thread_name())\n    for i in range(2):\n        i")["log"]
    assert [entry["thread"] for entry in log] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert [entry["value"] for entry in log] == ["threads 0", 0, 1, "threads 1", 0, 1, "threads 2", 0, 1]
    assert last(LEAF + "with threads(2):\n    x.view(3)")["error"]["type"] == "RuntimeError"
    assert last(LEAF + 'with thread("b"):\n    x.view(3)')["error"]["phase"] == "forward"


def test_warnings_are_the_programs_own() -> None:
    step = last(LEAF + "y = x * 2\ny.grad")
    assert [sort for sort, _ in step["warnings"]] == ["UserWarning"]
    assert "Triggered internally" not in step["warnings"][0][1]
    assert last(LEAF + "y = x * 2\ny")["warnings"] == []
    source = LEAF + "y = x * 2\nwith warnings_once():\n    for _ in range(3):\n        y.grad"
    assert len(last(source)["warnings"]) == 1
    assert len(last(source.replace("warnings_once", "torch.no_grad"))["warnings"]) == 3


def test_leaks_are_told_and_undone() -> None:
    trace = run(
        "torch.set_grad_enabled(False)\ntorch.set_default_dtype(torch.float64)\n"
        "torch.autograd.set_detect_anomaly(True)"
    )
    assert trace["leaks"] == ["grad_mode: False", "default_dtype: float64", "anomaly: True"]
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() is torch.float32
    assert not torch.is_anomaly_enabled()
    assert run("x = torch.ones(1)")["leaks"] == []


def test_a_kept_saved_tensors_hook_is_a_leak() -> None:
    class Careless(runner.Engine):
        def resolve(self, name: str) -> Any:
            torch._C._autograd._push_saved_tensors_default_hooks(lambda t: t, lambda t: t)
            return super().resolve(name)

    assert run("x = torch.ones(1)", Careless(torch))["leaks"] == ["saved_tensors_hooks: True"]
    assert torch._C._autograd._top_saved_tensors_default_hooks(True) is None


# -- texts


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<function f at 0x7f00beef>", "<function f at 0x>"),
        ("no good (Triggered internally at /pytorch/a.cpp:12.)", "no good"),
        (
            "no good (operator() at /pytorch/a.cpp:12)\nframe #0: c10::Error(std::string) + 0x33 (0x7f)\n"
            "frame #1",
            "no good",
        ),
        ("no good\nException raised from f at ../a.cpp:12 (most recent call first):\nframe #0: x", "no good"),
        ("no good (see (this) at 12)", "no good (see (this) at 12)"),
        (
            "Error detected in MulBackward0. Traceback of forward call that caused the error:\n  File 1\n",
            "Error detected in MulBackward0. Traceback of forward call that caused the error",
        ),
        ("two\nlines", "two\nlines"),
    ],
)
def test_texts_lose_only_what_belongs_to_the_process(text: str, plain: str) -> None:
    assert runner.plain_text(text) == plain


def test_an_exception_that_cannot_say_its_text() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError("no")

    assert runner.text_of(Mute()) == "<no text: str() raised ValueError>"


# -- the whole


def test_every_fixture_gives_one_trace_and_it_fits_the_schema() -> None:
    schema = json.loads(Path(conformance.programs.__file__).with_name("trace.schema.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    for fixture in load_fixtures():
        first = runner.run(fixture.program.to_json(), ENGINE, SCHEMA)
        again = runner.run(fixture.program.to_json(), ENGINE, SCHEMA)
        assert runner.dumps(first) == runner.dumps(again), fixture.id
        fault = next(iter(validator.iter_errors(first)), None)
        assert fault is None, (fixture.id, fault)


@pytest.mark.parametrize(
    "program",
    [
        {},
        {"form": 2, "body": []},
        {"form": 1, "body": [{"do": "no such thing"}]},
        {"form": 1, "body": [{"do": "expr", "value": ["call", "os.system", ["true"], {}]}]},
        {"form": 1, "body": [{"do": "expr", "value": ["nonsense"]}]},
        [],
    ],
)
def test_what_is_no_program_is_refused(program: Any) -> None:
    with pytest.raises(runner.BadProgram):
        runner.run(program, ENGINE, SCHEMA)
