"""Verdicts: unsupported on either side, broken traces, groups of failures, texts of exceptions."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import pytest

from conformance.compare import KINDS, TraceError, Verdict, compare, group
from conformance.compare.messages import TEMPLATES, agree, template_of
from conformance.tests.plants import PLANTS, seen
from conformance.tests.traces import Body, made


def unsupported(trace: dict[str, Any], at: int) -> None:
    """Make a trace lack something at a statement, and all that follows from it."""
    for step in trace["steps"][at:]:
        step.update(outcome="skipped", needs=["x"], seen={}, log=[])
    trace["steps"][at].update(outcome="unsupported", missing="torch.foo")
    del trace["steps"][at]["needs"]
    trace["end"] = {}


def test_what_the_engine_lacks_makes_the_program_unsupported() -> None:
    case = made()
    engine = copy.deepcopy(case.trace)
    unsupported(engine, 2)
    verdict = compare(case.program, case.trace, engine)
    assert (verdict.kind, verdict.differences) == ("unsupported", ())
    assert "engine lacks torch.foo" in verdict.reason
    assert verdict.counts.entries == 9


def test_a_difference_before_the_missing_name_counts() -> None:
    case = made()
    engine = copy.deepcopy(case.trace)
    unsupported(engine, 2)
    seen(engine, 1, "x")["is_leaf"] = False
    verdict = compare(case.program, case.trace, engine)
    assert verdict.kind == "diverges"
    assert [difference.path for difference in verdict.differences] == ["seen.x.is_leaf"]


@pytest.mark.parametrize("both", [False, True])
def test_what_the_oracle_lacks_leaves_the_program_not_run(both: bool) -> None:
    case = made()
    oracle = copy.deepcopy(case.trace)
    unsupported(oracle, 3)
    verdict = compare(case.program, oracle, oracle if both else case.trace)
    assert (verdict.kind, verdict.differences) == ("not run", ())
    assert "oracle lacks torch.foo" in verdict.reason
    assert verdict.counts.entries == 22


def test_a_difference_before_what_the_oracle_lacks_counts() -> None:
    case = made()
    oracle, engine = copy.deepcopy(case.trace), copy.deepcopy(case.trace)
    unsupported(oracle, 3)
    seen(engine, 2, "x")["grad"] = None
    assert compare(case.program, oracle, engine).kind == "diverges"


def test_an_oracle_of_another_program_is_refused() -> None:
    case = made()
    with pytest.raises(TraceError, match="is of program"):
        compare(dataclasses.replace(case.program, hash="1" * 64), case.trace, case.trace)
    with pytest.raises(TraceError, match="6 steps, the program 5"):
        compare(dataclasses.replace(case.program, body=case.program.body[:5]), case.trace, case.trace)


def test_an_unknown_strength_is_refused() -> None:
    case = made()
    with pytest.raises(ValueError, match="unknown strength 'strict'"):
        compare(case.program, case.trace, case.trace, strength="strict")  # type: ignore[arg-type]


def test_another_type_of_exception_is_compared_when_both_raise() -> None:
    case = made()
    engine = copy.deepcopy(case.trace)
    engine["steps"][3]["error"].update(type="IndexError", text="other")
    verdict = compare(case.program, case.trace, engine)
    assert [difference.path for difference in verdict.differences] == ["error.type", "error.text"]
    assert verdict.differences[1].clause == "RETAIN-01"


def test_texts_in_no_template_are_not_required() -> None:
    case = made()
    oracle, engine = copy.deepcopy(case.trace), copy.deepcopy(case.trace)
    oracle["steps"][3]["error"]["text"] = "boom"
    engine["steps"][3]["error"]["text"] = "bang"
    assert compare(case.program, oracle, engine).kind == "conforms"
    assert compare(case.program, oracle, engine, strength="torch-specific").kind == "diverges"


RELEASES = (
    (
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([2])",
        "invalid gradient at index 0 - got [2] but expected",
    ),
    (
        "`inputs` argument to `backward()` cannot be empty.",
        "'inputs' argument to backward() cannot be empty.",
    ),
    (
        "a leaf Variable that requires grad is being used in an in-place operation.",
        "a leaf Variable that requires grad has been used in an in-place operation.",
    ),
    (
        "Only Tensors of floating point and complex dtype can require gradients",
        "only Tensors of floating point dtype can require gradients",
    ),
    (
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        "Can't call numpy() on Variable that requires grad. Use var.detach().numpy() instead.",
    ),
    ("attempting to assign a gradient of size '[3]' to", "assigned grad has data of a different size"),
)


@pytest.mark.parametrize(("new", "old"), RELEASES)
def test_wordings_of_the_releases_agree(new: str, old: str) -> None:
    template = template_of(new)
    assert template is not None
    assert agree(template, old)


def test_templates_that_share_words_are_told_apart() -> None:
    several = "This view is the output of a function that returns multiple views. Such functions do not allow"
    view = f"Output 0 of Unbind is a view and is being modified inplace. {several}"
    base = "is a view and its base or another view of its base has been modified inplace."
    node = (
        "Function FBackward returned an invalid gradient at index 0 - got [3] but expected shape compatible"
    )
    texts = (view, f"Output 0 of Unbind {base} {several}", node)
    assert [template.clause for template in map(template_of, texts) if template] == [
        "VIEW-06",
        "VIEW-07",
        "ERROR-04",
    ]


@pytest.mark.parametrize(
    "template", TEMPLATES, ids=lambda template: f"{template.clause} {template.wordings[0][:30]}"
)
def test_every_wording_finds_its_own_template(template: Any) -> None:
    for wording in template.wordings:
        assert template_of(f"RuntimeError: {wording} ...") is template


def test_groups_join_one_fault_under_other_names_and_places() -> None:
    case = made()

    def verdict(name: str) -> Verdict:
        engine = copy.deepcopy(case.trace)
        seen(engine, 2, name)["requires_grad"] = None
        return compare(case.program, case.trace, engine)

    assert group(case.program, verdict("x")) == group(case.program, verdict("y"))
    assert group(case.program, verdict("x")) == ("backward", "state", "seen.*.requires_grad", "RETAIN-01")


def test_groups_keep_the_faults_of_the_catalogue_apart_by_rule() -> None:
    case = made()
    groups = set()
    for plant in PLANTS:
        engine = copy.deepcopy(case.trace)
        plant.mutate(engine)
        groups.add(group(case.program, compare(case.program, case.trace, engine, strength="torch-specific")))
    assert len(groups) >= 40


def test_a_verdict_without_differences_groups_by_its_kind() -> None:
    assert group(Body((), ()), Verdict("timeout", reason="30 s")) == ("timeout", "", "30 s", "")
    assert "timeout" in KINDS
