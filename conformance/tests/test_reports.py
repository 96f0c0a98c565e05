"""The report: self-contained, usable without a mouse, made of inert text, every kind of verdict apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from conformance import reports
from conformance.reports.inert import visible
from conformance.reports.steps import step_lines, value_text
from conformance.reports.summary import summarize
from conformance.results import Results
from conformance.tests.runs import ENGINE, failure, footer, header, program

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """A page as tags and text; raises where tags are not closed in order."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def attributes(self, name: str) -> Iterator[str]:
        return (attrs[name] or "" for _, attrs in self.tags if name in attrs)

    def words(self) -> str:
        return " ".join(self.text.split())


def results(*programs: object, **changes: object) -> Results:
    found = tuple(programs)
    return Results(
        "run.jsonl",
        header(len(found), **changes),
        found,  # type: ignore[arg-type]
        footer(len(found)),
    )


def page(*runs: Results) -> Page:
    return Page(reports.html(runs))


ALL_KINDS = (
    "diverges",
    "flaky",
    "crash",
    "timeout",
    "protocol error",
    "ill-conditioned",
    "unsupported",
    "not run",
)


def test_every_verdict_kind_stands_apart_in_the_family_table() -> None:
    programs = [program("c0"), program("c1")]
    for number, kind in enumerate(ALL_KINDS, 1):
        programs += [program(f"{kind}{index}", kind) for index in range(number)]
    words = page(results(*programs)).words()
    executed = 2 + 1 + 2 + 3 + 4 + 5 + 6
    assert f"2/{executed}" in words
    for number, kind in enumerate(ALL_KINDS, 1):
        assert f"{number} {kind}" in words


def test_executed_and_planned_come_before_everything_else() -> None:
    words = page(results(program("a"), program("b", "unsupported", reason="lacks torch.foo"))).words()
    assert "1 executed of 2 planned" in words
    assert words.index("1 executed of 2 planned") < words.index("Clause families")
    assert "unsupported, 1: lacks torch.foo" in words


def test_an_incomplete_run_says_so_at_its_top() -> None:
    cut = Results("run.jsonl", header(5), (program("a"),), None, "there is no footer: the run was killed")
    words = page(cut).words()
    assert "1 executed of 5 planned incomplete: there is no footer: the run was killed" in words


def test_clauses_without_an_executed_program_are_red_and_named() -> None:
    source = reports.html([results(program("a"), program("b", "unsupported", clauses=("ACC-02",)))])
    row = re.search(r'<tr id="clause-ACC-02">.*?</tr>', source, re.DOTALL)
    assert row is not None
    assert '<td class="nothing">' in row.group()
    checked = re.search(r'<tr id="clause-ACC-01">.*?</tr>', source, re.DOTALL)
    assert checked is not None
    assert '<td class="passes">' in checked.group()
    words = Page(source).words()
    assert "1 clauses had no executed program" in words
    css = re.search(r"td\.nothing \{ background: var\(--bad-ground\)", source)
    assert css is not None


def test_excluded_clauses_are_not_missed() -> None:
    summary = summarize([results(program("a"))])
    assert [row.name for row in summary.unchecked] == ["ACC-02"]


def test_a_failure_shows_program_outcomes_difference_and_script() -> None:
    text = page(results(program("a", "diverges", failure=failure()))).text
    assert "x.sum().backward()" in text
    assert "seen.x.grad" in text
    assert "after statement 1, x.sum().backward() (backward)" in text
    assert "outcome: ok" in text
    assert "import torch" in text
    assert "tensor([1, 2], float32, shape [2], requires_grad, grad None)" in text
    assert "conformance run toy --only a" in text


def test_failures_of_one_group_show_once_with_the_shortest() -> None:
    long = failure(statements=9, source="long\n")
    runs = results(
        program("a", "diverges", failure=long),
        program("b", "diverges", failure=failure(statements=2, source="short\n")),
        program("c", "crash", failure=failure(group="crash")),
    )
    groups = summarize([runs]).columns[0].groups
    assert [(group.shown.id, group.count) for group in groups] == [("b", 2), ("c", 1)]
    assert "long" not in page(runs).text.split("Failures")[-1].split("Clauses")[0]


def test_expected_failures_keep_their_verdict_and_are_counted() -> None:
    words = page(results(program("a", "diverges", expected="known since 0.3", failure=failure()))).words()
    assert "1 diverges" in words
    assert "1 expected" in words
    assert "known since 0.3" in words


def test_engines_stand_side_by_side_without_a_rank() -> None:
    other = results(program("a", "unsupported"), engine={**ENGINE, "name": "other"})
    summary = summarize([results(program("a")), other])
    assert [column.label for column in summary.columns] == ["toy 1.0 on cpu", "other 1.0 on cpu"]
    assert [(cell.passed, cell.executed) for cell in summary.families[0].cells] == [(1, 1), (0, 0)]


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    found = page(results(program("a", "diverges", failure=failure())))
    names = {tag for tag, _ in found.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    assert not list(found.attributes("src"))
    assert all(target.startswith("#") for target in found.attributes("href"))
    policy = [attrs.get("content") for tag, attrs in found.tags if attrs.get("http-equiv")]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"]
    source = reports.html([results(program("a"))])
    assert "url(" not in source
    assert "@import" not in source


def test_every_link_has_its_place_and_ids_are_unique() -> None:
    found = page(results(program("a", "diverges", failure=failure()), program("b")))
    ids = list(found.attributes("id"))
    assert len(ids) == len(set(ids))
    assert {target[1:] for target in found.attributes("href")} <= set(ids)


def test_it_works_without_a_mouse_in_light_and_dark() -> None:
    source = reports.html([results(program("a", "diverges", failure=failure()))])
    found = Page(source)
    scrolling = [
        attrs for tag, attrs in found.tags if tag == "pre" or "wide" in (attrs.get("class") or "").split()
    ]
    assert scrolling
    tables = [attrs for attrs in scrolling if "wide" in (attrs.get("class") or "")]
    assert all(attrs.get("tabindex") == "0" and attrs.get("role") == "region" for attrs in tables)
    assert "prefers-color-scheme: dark" in source
    assert ":focus-visible" in source
    assert dict(found.tags)["html"]["lang"] == "en"
    headings = [int(tag[1]) for tag, _ in found.tags if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))


HOSTILE = {
    "script": "<script>alert(1)</script>",
    "quotes": "\" onmouseover='alert(1)' '",
    "comment": "--><!--",
    "template": "{{ 7 * 7 }}{% raw %}",
    "entity": "&lt;b&gt;",
    "style": "</style><script>alert(1)</script>",
    "closing": "</pre></details></body>",
    "nul": "a\x00b\x1b[31mc",
    "surrogate": "a\ud800b",
    "bidi": "a\u202eb",
    "newlines": "a\nb\r\nc\u2028d",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_of_engines_and_programs_is_inert(text: str) -> None:
    step = {"at": 0, "outcome": "raised", "error": {"type": text, "text": text}, "seen": {text: text}}
    difference = {
        "at": 0,
        "where": text,
        "path": text,
        "level": "errors",
        "strength": "required",
        "oracle": text,
        "engine": text,
        "note": text,
        "kind": text,
        "clause": "",
    }
    shown = failure(
        source=text,
        original=text + "!",
        difference=difference,
        oracle=step,
        engine=step,
        script=text,
        more=(difference,),
    )
    hostile = results(
        program("a", "diverges", title=text, reason=text, expected=text, failure=shown, family=text),
        program("b", "unsupported", reason=text, clauses=(text,)),
        engine={**ENGINE, "name": text, "version": text, "spec": text},
        host={"machine": text},
        settings={"only": text},
    )
    plain = results(
        program(
            "a",
            "diverges",
            title="t",
            reason="t",
            expected="t",
            failure=failure(original="t", more=(difference,)),
            family="t",
        ),
        program("b", "unsupported", reason="t", clauses=("t",)),
    )
    source = reports.html([hostile])
    tags = [Counter(tag for tag, _ in found.tags) for found in (Page(source), page(plain))]
    assert tags[0] == tags[1]
    assert not any(name.startswith("on") for _, attrs in Page(source).tags for name in attrs)
    assert "\x00" not in source
    assert "\u202e" not in source
    assert visible(text).split("\n")[0].strip() in Page(source).text
    assert "49" not in Page(source).text if text == HOSTILE["template"] else True
    source.encode("utf-8")


def test_a_message_of_a_megabyte_is_cut_with_a_note() -> None:
    huge = "<" * 1_000_000
    step = {"at": 0, "outcome": "raised", "error": {"type": "RuntimeError", "text": huge}}
    shown = failure(oracle=step, engine=step, source=huge, script=huge)
    source = reports.html([results(program("a", "crash", reason=huge, failure=shown))])
    assert len(source) < 400_000
    assert "[996,000 more characters]" in source


def test_a_page_is_written_where_it_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    reports.write([results(program("a", title="\ud800"))], path)
    assert path.read_text("utf-8").startswith("<!doctype html>")


def tensor(dtype: str, shape: list[int], strides: list[int], data: str) -> list[object]:
    return ["tensor", {"dtype": dtype, "shape": shape, "strides": strides, "bytes": data}]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (["float", "nan"], "nan"),
        (["list", [1, None]], "[1, None]"),
        (["tuple", [["float", "2.0"]]], "(2.0)"),
        (["raised", "RuntimeError", "no"], "reading it raised RuntimeError: no"),
        (tensor("bfloat16", [2], [1], "803f0040"), "tensor([1, 2], bfloat16, shape [2])"),
        (tensor("complex64", [], [], "0000803f000000c0"), "tensor(1.0-2.0j, complex64, shape [])"),
        (tensor("float32", [1], [7], "00"), "tensor(bytes 00, float32, shape [1], strides [7])"),
        (
            ["tensor", {"dtype": "int8", "shape": [2], "device": "meta"}],
            "tensor(no bytes, int8, shape [2], on meta)",
        ),
    ],
)
def test_values_read_as_a_person_writes_them(value: object, text: str) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize(
    "step", [{"seen": {"x": ["tensor", {"shape": ["a"]}]}}, {"needs": 3}, {"value": ["dict", [1]]}]
)
def test_a_malformed_step_is_shown_as_it_came(step: dict[str, object]) -> None:
    assert step_lines(step).startswith("not a step of a trace: {")
