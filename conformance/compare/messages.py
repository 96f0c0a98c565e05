"""Texts of exceptions: for each message of the specification the part that no release has changed.

Whole texts are torch-specific. What any engine must say is the *stable part*: every text that torch's
releases use for one clause contains one of the template's wordings, and a text belongs to the first
template of which it has a wording. Texts that are in no template are compared whole at torch-specific
strength, and not at all at required.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Template:
    """One message: the clause that states it, the exception's type, and its wordings' stable parts."""

    clause: str
    type: str
    wordings: tuple[str, ...]


# Order matters where a text contains the wordings of two templates: the more special comes first.
TEMPLATES: tuple[Template, ...] = (
    Template("SEED-03", "RuntimeError", ("grad can be implicitly created only for real scalar outputs",)),
    Template("SEED-02", "RuntimeError", ("grad can be implicitly created only for scalar outputs",)),
    Template("DEVICE-01", "RuntimeError", (" - expected device ", " - expected type TensorOptions(")),
    Template("ERROR-04", "RuntimeError", ("returned an invalid gradient at index",)),
    Template("SEED-07", "RuntimeError", ("invalid gradient at index 0 - expected type",)),
    Template("SEED-05", "RuntimeError", ("Mismatch in shape: grad_output[", "invalid gradient at index")),
    Template("SEED-06", "TypeError", ("gradients can be either Tensors or None",)),
    Template("SEED-06", "TypeError", ("object is not iterable",)),
    Template("SEED-09", "RuntimeError", ("both grad_output and output are required to have the same dtype",)),
    Template("ERROR-01", "RuntimeError", ("of tensors does not require grad and does not have a grad_fn",)),
    Template(
        "INPUTS-03",
        "RuntimeError",
        ("argument to `backward()` cannot be empty", "argument to backward() cannot be empty"),
    ),
    Template("INPUTS-02", "RuntimeError", ("all inputs have to be Tensors",)),
    Template("INPUTS-02", "TypeError", ("`inputs` argument to `backward()` must be a dict",)),
    Template("INPUTS-04", "RuntimeError", ("given as 'inputs' to backward is not a leaf Tensor",)),
    Template(
        "INPUTS-09",
        "RuntimeError",
        (
            "can't retain_grad on Tensor that has requires_grad=False",
            "One of the differentiated Tensors does not require grad",
        ),
    ),
    Template("GRAD-02", "RuntimeError", ("to not have been used in the graph. Set allow_unused=True",)),
    Template(
        "GRAD-02",
        "ValueError",
        ("Expected allow_unused to be True or not passed when materialize_grads=True",),
    ),
    Template("RETAIN-01", "RuntimeError", ("Trying to backward through the graph a second time",)),
    Template(
        "INPLACE-04",
        "RuntimeError",
        ("one of the variables needed for gradient computation has been modified by an inplace operation",),
    ),
    Template(
        "INPLACE-02",
        "RuntimeError",
        ("a view of a leaf Variable that requires grad is being used in an in-place operation",),
    ),
    Template(
        "INPLACE-01",
        "RuntimeError",
        (
            "a leaf Variable that requires grad is being used in an in-place operation",
            "a leaf Variable that requires grad has been used in an in-place operation",
        ),
    ),
    Template("INPLACE-02", "RuntimeError", ("leaf variable has been moved into the graph interior",)),
    Template(
        "INPLACE-12",
        "RuntimeError",
        ("functions with out=... arguments don't support automatic differentiation",),
    ),
    Template("INPLACE-19", "RuntimeError", ("Trying to use a saved tensor that has been detached in-place",)),
    Template("VIEW-14", "RuntimeError", ("This view was created inside a custom Function",)),
    Template(
        "VIEW-07",
        "RuntimeError",
        ("is a view and its base or another view of its base has been modified inplace",),
    ),
    Template(
        "VIEW-08",
        "RuntimeError",
        ("A view was created in no_grad mode and is being modified inplace with grad mode enabled",),
    ),
    Template("VIEW-06", "RuntimeError", ("of a function that returns multiple views",)),
    Template(
        "VIEW-11",
        "RuntimeError",
        ("more than one element of the written-to tensor refers to a single memory location",),
    ),
    Template("LEAF-03", "RuntimeError", ("nly Tensors of floating point",)),
    Template("LEAF-04", "RuntimeError", ("you can only change requires_grad flags of leaf variables",)),
    Template("LEAF-04", "RuntimeError", ("requires_grad must be a bool",)),
    Template("LEAF-10", "RuntimeError", ("Can't detach views in-place",)),
    Template(
        "LEAF-12",
        "RuntimeError",
        ("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol",),
    ),
    Template("LEAF-13", "RuntimeError", ("that requires grad. Use ",)),
    Template(
        "ACC-13",
        "RuntimeError",
        ("attempting to assign a gradient of size", "assigned grad has data of a different size"),
    ),
    Template(
        "ACC-13",
        "RuntimeError",
        ("attempting to assign a gradient with dtype", "assigned grad has data of a different type"),
    ),
    Template("ACC-13", "RuntimeError", ("can't assign Variable as its own grad",)),
    Template("ACC-13", "TypeError", ("assigned grad expected to be a Tensor or None but got grad of type",)),
    Template("HOOK-04", "TypeError", ("but hook returned '",)),
    Template("HOOK-04", "RuntimeError", ("has changed the size of value",)),
    Template("HOOK-04", "RuntimeError", ("has changed the type of value",)),
    Template(
        "HOOK-07", "RuntimeError", ("cannot register a hook on a tensor that doesn't require gradient",)
    ),
    Template(
        "HOOK-12", "RuntimeError", ("post accumulate grad hooks cannot be registered on non-leaf tensors",)
    ),
    Template("HOOK-12", "RuntimeError", ("Tensor post accumulate grad hooks should return None",)),
    Template("ERROR-04", "RuntimeError", ("returned an incorrect number of gradients",)),
    Template("ERROR-04", "RuntimeError", ("expected Variable or None (got ",)),
    Template("DTYPE-02", "RuntimeError", ("isFloatingType(grad",)),
    Template("MODE-04", "RuntimeError", ("Inference tensors cannot be saved for backward",)),
    Template("MODE-07", "RuntimeError", ("returned nan values in its",)),
    Template("HIGHER-10", "RuntimeError", ("trying to differentiate twice a function that was marked",)),
    Template("ERROR-08", "RuntimeError", ("backward() called inside a functorch transform",)),
    Template("ERROR-06", "NotImplementedError", ("You must implement",)),
    Template("ERROR-07", "NotImplementedError", ("the derivative for '",)),
    Template("MULTI-02", "RuntimeError", (" tensors and ",)),
)


def template_of(text: str) -> Template | None:
    """The first template of which `text` contains a wording, or None."""
    for template in TEMPLATES:
        if any(wording in text for wording in template.wordings):
            return template
    return None


def agree(template: Template, text: str) -> bool:
    """True if `text` says what `template` says, in any release's wording."""
    return template_of(text) is template
