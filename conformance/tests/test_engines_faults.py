"""An engine's faults cost the guilty program its result, and no other."""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.engines import EngineError, EngineHandle, Failure, Reply, Trace, host, open_engine, process
from conformance.tests.engines_miniature import BAD, GOOD, MINIATURES, OTHER, opened, speaker


@pytest.fixture(autouse=True)
def miniatures_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(MINIATURES))


@pytest.fixture
def honest() -> Iterator[list[Reply]]:
    """What the tiny engine shows of the good programs."""
    with opened("module:tiny") as engine:
        yield engine.run([GOOD, OTHER])


def bad_reply(engine: EngineHandle, honest: list[Reply], *, bad_last: bool = False) -> Reply:
    """Run the bad program among good ones, which must not notice."""
    programs = [GOOD, OTHER, BAD] if bad_last else [GOOD, BAD, OTHER, GOOD]
    replies = engine.run(programs)
    good = [reply for program, reply in zip(programs, replies, strict=True) if program is not BAD]
    assert good == [honest[0] if program is GOOD else honest[1] for program in programs if program is not BAD]
    assert engine.run([OTHER]) == [honest[1]]
    return replies[programs.index(BAD)]


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        ("exit", "it ended with status 3"),
        ("exit quietly", "it ended with status 0"),
        ("segfault", "killed by SIGSEGV"),
    ],
)
def test_a_crash_is_a_crash(
    fault: str, detail: str, honest: list[Reply], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINIATURE", fault)
    with opened("module:faulty") as engine:
        reply = bad_reply(engine, honest)
    assert isinstance(reply, Failure)
    assert (reply.kind, reply.detail[: len(detail)]) == ("crash", detail)


@pytest.mark.parametrize("fault", ["hang", "ignore signals"])
def test_a_hang_is_a_timeout(fault: str, honest: list[Reply], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINIATURE", fault)
    with opened("module:faulty", timeout=1.5) as engine:
        reply = bad_reply(engine, honest)
    assert reply == Failure("timeout", "no reply within 1.5 s")


@pytest.mark.parametrize("fault", ["fork", "print", "write", "chdir", "close"])
def test_what_an_engine_does_to_its_process_does_not_show(
    fault: str, honest: list[Reply], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINIATURE", fault)
    with opened("module:faulty") as engine:
        reply = bad_reply(engine, honest)
    assert isinstance(reply, Trace)
    assert reply.json["steps"][0]["outcome"] == "ok"


@pytest.mark.parametrize(
    ("fault", "error"),
    [("raise SystemExit", "SystemExit"), ("memory", "MemoryError"), ("recursion", "RecursionError")],
)
def test_exceptions_of_an_engine_are_outcomes(
    fault: str, error: str, honest: list[Reply], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINIATURE", fault)
    with opened("module:faulty") as engine:
        reply = bad_reply(engine, honest)
    assert isinstance(reply, Trace)
    assert reply.json["steps"][0]["error"]["type"] == error


def test_a_memory_limit_ends_in_an_outcome(honest: list[Reply], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINIATURE", "memory")
    with open_engine("module:faulty", memory=1 << 30) as engine:
        reply = bad_reply(engine, honest)
    assert isinstance(reply, Trace)
    assert reply.json["steps"][0]["error"]["type"] == "MemoryError"


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        ("garbage", "a line that is not JSON: ']]] not json'"),
        ("number", "a line that is no message: '42'"),
        ("nested", "a line that is not JSON"),
        ("nan", "a line that is not JSON"),
        ("wrong id", "a reply with id 1000"),
        ("twice", "a reply with id"),
        ("no reply", "done, without a reply to this program"),
        ("refuses", "the engine refused the program: 'I do not like this one'"),
        ("no trace", "a reply without a trace"),
        ("another trace", "a trace of another program: '0000"),
    ],
)
def test_breaking_the_protocol_is_a_protocol_error(fault: str, detail: str, honest: list[Reply]) -> None:
    with opened(speaker(fault)) as engine:
        reply = bad_reply(engine, honest)
    assert isinstance(reply, Failure)
    assert (reply.kind, reply.detail[: len(detail)]) == ("protocol error", detail)


def test_an_engine_that_answers_each_program_twice_comes_to_an_end() -> None:
    with opened(speaker("each twice")) as engine:
        replies = engine.run([GOOD, OTHER, GOOD])
    assert [type(reply) for reply in replies] == [Failure] * 3
    assert {reply.kind for reply in replies if isinstance(reply, Failure)} == {"protocol error"}


def test_the_first_batch_is_not_done_by_false(honest: list[Reply]) -> None:
    with opened(speaker("done is false")) as engine:
        reply = engine.run([GOOD])[0]
    assert isinstance(reply, Failure)
    assert reply.detail.startswith("done of batch")


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ('lacks ["bytes"]', "'reads_absent' names 'bytes'"),
        ('lacks ["grad"]', "'reads_absent' names 'grad'"),
        ('lacks ["shape", "strides"]', "'reads_absent' names 'shape'"),
        ("lacks 5", "'reads_absent' is not a list of names"),
        ("lacks [7]", "'reads_absent' is not a list of names"),
        ("unreadable", "values cannot be read"),
    ],
)
def test_an_engine_cannot_declare_away_what_is_compared(fault: str, why: str) -> None:
    with pytest.raises(EngineError, match=re.escape(why)):
        opened(speaker(fault))


def test_an_engine_may_lack_its_own_flags() -> None:
    with opened(speaker('lacks ["strides", "grad.requires_grad"]')) as engine:
        assert engine.info.unread == {"strides", "grad.requires_grad"}


def test_a_late_reply_shifts_nothing(honest: list[Reply]) -> None:
    with opened(speaker("late")) as engine:
        reply = bad_reply(engine, honest, bad_last=True)
    assert reply == Failure("protocol error", "done, without a reply to this program")


def test_replies_of_one_batch_may_come_in_any_order(honest: list[Reply]) -> None:
    with opened(speaker("late")) as engine:
        assert isinstance(bad_reply(engine, honest), Trace)


def test_a_slow_engine_times_out(honest: list[Reply]) -> None:
    with opened(speaker("slow"), timeout=1.5) as engine:
        assert bad_reply(engine, honest) == Failure("timeout", "no reply within 1.5 s")


def test_closing_the_output_counts_as_a_crash(honest: list[Reply]) -> None:
    with opened(speaker("closes")) as engine:
        assert bad_reply(engine, honest) == Failure("crash", "it closed its output and stayed")


def test_a_huge_line_is_a_protocol_error(honest: list[Reply], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_LINE", 1 << 20)
    with opened(speaker("huge")) as engine:
        assert bad_reply(engine, honest) == Failure("protocol error", "a line of more than 1 MiB")


def test_a_crash_that_does_not_come_again_alone_is_still_told(honest: list[Reply]) -> None:
    with opened(speaker("crash in a batch")) as engine:
        replies = engine.run([GOOD, BAD, OTHER])
    assert (replies[0], replies[2]) == (honest[0], honest[1])
    assert replies[1] == Failure("crash", "it ended with status 9 (in a batch; run alone it gave a trace)")


def test_many_faults_in_one_run(honest: list[Reply], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINIATURE", "exit")
    monkeypatch.setattr(host, "BATCH", 8)
    programs = [BAD if index % 10 == 9 else GOOD for index in range(60)]
    with opened("module:faulty") as engine:
        replies = engine.run(programs)
    kinds = [reply.kind if isinstance(reply, Failure) else "trace" for reply in replies]
    assert kinds == ["crash" if program is BAD else "trace" for program in programs]


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("crash at once", "no hello: it ended with status 1; its last words: the engine is broken"),
        ("no hello", "no hello, but its first line has no hello"),
        ("other protocol", "it speaks protocol 99, this suite speaks 1"),
        ("faulty hello", "its hello is faulty: 'version' is not a text"),
        ("prints first", "no hello, but a line that is not JSON: 'welcome to the speaker'"),
    ],
)
def test_a_start_that_fails_is_one_clear_line(fault: str, line: str) -> None:
    with pytest.raises(EngineError) as caught:
        opened(speaker(fault))
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.where
    assert caught.value.hint


def test_an_engine_that_is_silent_is_given_up() -> None:
    words = shlex.split(speaker("silent").partition(":")[2])
    with pytest.raises(EngineError, match="did not say hello within 1 s"):
        host.ProcessEngine(words, where="engine 'silent'", timeout=1, start_timeout=1)


def test_children_of_an_engine_end_with_it(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    words = shlex.split(speaker("none").partition(":")[2])
    script = f"sleep 1000 & echo $! > {shlex.quote(str(note))}; exec {shlex.join(words)}"
    with opened("command:" + shlex.join(["sh", "-c", script])) as engine:
        assert isinstance(engine.run([GOOD])[0], Trace)
        child = int(note.read_text())
        os.kill(child, 0)
    for _ in range(100):
        if not alive(child):
            return
        time.sleep(0.05)
    pytest.fail("the engine's child is still there")


def alive(pid: int) -> bool:
    """True if a process is there and no zombie."""
    stat = Path(f"/proc/{pid}/stat")
    if sys.platform == "linux":
        return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_closing_twice_is_allowed() -> None:
    engine = opened("module:tiny")
    engine.close()
    engine.close()


def test_a_closed_engine_starts_again_when_it_is_asked(honest: list[Reply]) -> None:
    engine = opened("module:tiny")
    engine.close()
    assert engine.run([GOOD]) == [honest[0]]
    engine.close()
