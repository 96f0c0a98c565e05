"""The suite under pytest: its options, its cases as tests, and its verdicts as outcomes.

With `--engine` only the cases run, against that engine. Without it everything runs, the suite's own tests
too, and the cases run against the reference engine on CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.session import Session

_HERE = Path(__file__).resolve().parent
_CASES = _HERE / "tests" / "test_suite.py"
_OWN = (_HERE, _HERE.parent / "refimpl")
_CASE_IDS = pytest.StashKey[set[str]]()
_DEFAULT_ENGINE = "refimpl"
_DEFAULT_EXAMPLES = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the suite."""
    group = parser.getgroup("conformance", "conformance of Tensor.backward()")
    add = group.addoption
    add("--engine", metavar="E", help=f"measure this engine alone ({_DEFAULT_ENGINE}, with all other tests)")
    add("--device", default="cpu", metavar="D", help="what `main` is bound to (cpu)")
    add("--oracle", metavar="O", help="torch, or recorded:torch-2.13.0-cpu (torch)")
    add("--engine-python", metavar="P", help="the interpreter in which a module: engine lives")
    add("--examples", type=int, default=_DEFAULT_EXAMPLES, metavar="N", help=f"({_DEFAULT_EXAMPLES})")
    add("--program-seed", type=int, default=0, metavar="N", help="of the generated programs (0)")
    add("--families", metavar="F,F", help="clause families; all by default")


def pytest_configure(config: pytest.Config) -> None:
    """Name the suite's markers."""
    config.addinivalue_line("markers", "cuda: needs a CUDA device")
    config.addinivalue_line("markers", "checkout: needs the repository, not only the installed packages")


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what is measured against what."""
    from conformance.oracles import default_oracle

    oracle, note = (config.getoption("--oracle"), "") if config.getoption("--oracle") else default_oracle()
    engine = config.getoption("--engine") or _DEFAULT_ENGINE
    lines = [f"conformance: {engine} on {config.getoption('--device')}, oracle {oracle}"]
    return [*lines, f"conformance: {note}"] if note else lines


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each fixture and for each generated program."""
    if "conformance_fixture" in metafunc.fixturenames:
        from conformance.plan import fixture_cases

        families = metafunc.config.getoption("--families")
        cases = fixture_cases(families.split(",") if families else None)
        metafunc.parametrize("conformance_fixture", cases, ids=[case.id for case in cases])
    if "conformance_generated" in metafunc.fixturenames:
        from conformance.plan import generated_cases

        seed, count = (metafunc.config.getoption(name) for name in ("--program-seed", "--examples"))
        cases = list(generated_cases(seed, count))
        metafunc.parametrize("conformance_generated", cases, ids=[case.id for case in cases])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--engine`, leave out the tests that the suite and the reference engine have of themselves."""
    if config.getoption("--engine") is None or not collection_path.name.startswith("test_"):
        return None
    own = any(collection_path.is_relative_to(folder) for folder in _OWN)
    return True if own and collection_path != _CASES else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remember which tests are cases."""
    config.stash[_CASE_IDS] = {item.nodeid for item in items if item.path == _CASES}


@pytest.fixture(scope="session")
def conformance_session(request: pytest.FixtureRequest) -> Iterator[Session]:
    """The engine and the oracle, opened once."""
    from conformance.session import open_session

    option = request.config.getoption
    session = open_session(
        option("--engine") or _DEFAULT_ENGINE,
        device=option("--device"),
        oracle=option("--oracle"),
        python=option("--engine-python"),
    )
    yield session
    session.close()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run of the cases in which nothing was executed has failed, however green it looks."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or exitstatus != pytest.ExitCode.OK:
        return
    cases = session.config.stash.get(_CASE_IDS, set())
    ran, skipped = (
        [report for report in reporter.stats.get(outcome, ()) if report.nodeid in cases]
        for outcome in ("passed", "skipped")
    )
    if skipped and not ran:
        reporter.write_line(
            f"conformance: nothing was executed, {len(skipped)} cases were skipped", red=True, bold=True
        )
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
