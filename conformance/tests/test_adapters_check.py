"""`conformance check-adapter` finds each lie of a miniature adapter, and each fault of a miniature engine."""

from __future__ import annotations

import pytest

from conformance.cli import main
from conformance.engines import open_engine
from conformance.engines.check import DTYPES, check
from conformance.tests.engines_miniature import MINIATURES, speaker


@pytest.fixture(autouse=True)
def miniatures_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(MINIATURES))


def failing(spec: str, timeout: float = 20.0) -> dict[str, str]:
    """What fails, with why."""
    with open_engine(spec, timeout=timeout) as engine:
        return {found.what: found.detail for found in check(engine) if found.outcome == "fails"}


def test_an_honest_adapter_passes() -> None:
    assert failing("module:misleading") == {}


@pytest.mark.parametrize(
    ("lie", "what", "why"),
    [
        ("wrong bytes", "float64 as a number", "9a9999999999b93f became 3fb999999999999a"),
        ("wrong dtype", "float64 as literals", "it became float32"),
        ("swallows errors", "shapes that do not fit", "no error"),
        ("zeros for None", "no gradient is None, a gradient of zeros is not", "no pass reached"),
        ("None for zeros", "no gradient is None, a gradient of zeros is not", "shows as None"),
        ("promises hooks", "Tensor.register_hook", "NotImplementedError"),
        ("hides sum", "what is not declared is not there", "1 present but undeclared: Tensor.sum"),
    ],
)
def test_a_lie_is_found(lie: str, what: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINIATURE", lie)
    found = failing("module:misleading")
    assert why in found.pop(what)
    if lie not in ("wrong bytes", "wrong dtype"):
        assert found == {}


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("garbage", "protocol error: a line that is not JSON"),
        ("wrong id", "protocol error: a reply with id"),
        ("no reply", "protocol error: done, without a reply"),
        ("another trace", "protocol error: a trace of another program"),
        ("slow", "timeout: no reply within 2 s"),
        ("closes", "crash: it closed its output"),
    ],
)
def test_a_fault_of_the_protocol_is_found(fault: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINIATURE_AT", '["dtype", "int16"]')
    found = failing(speaker(fault), timeout=2.0)
    assert why in found["int16 as literals"]


def test_late_replies_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINIATURE_AT", '["dtype", "int16"]')
    assert any("protocol error" in why for why in failing(speaker("late"), timeout=5.0).values())


def test_the_reference_engine_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-adapter", "refimpl", "--failures"]) == 0
    assert capsys.readouterr().out.endswith(" hold, 0 fail, 0 not there\n")


def test_the_command_fails_where_an_adapter_lies(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MINIATURE", "hides sum")
    assert main(["check-adapter", "module:misleading"]) == 1
    out = capsys.readouterr().out
    assert "FAIL what is not declared is not there" in out
    assert "ok   shapes that do not fit: raised RuntimeError" in out


def test_values_of_every_dtype_say_what_they_should() -> None:
    from conformance.runner import BITS, ITEM_SIZES, unpack

    for name, values in DTYPES.items():
        assert BITS[values.bits] == name
        for text in (values.hex, values.literal_hex):
            assert len(bytes.fromhex(text)) % ITEM_SIZES[name] == 0
        if not name.startswith("complex") and name not in ("float16", "bfloat16", "float32"):
            literals = eval(values.literals, {"complex": complex})
            assert repr(unpack(name, bytes.fromhex(values.literal_hex))) == repr(literals)
