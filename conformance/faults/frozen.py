"""The faults that were chosen from the specification alone, before the generator existed.

This list was committed before the first line of `conformance/generate` and is not edited to fit it: an
entry may get a seam in `blind.py`, never another meaning. The matrix reports these faults apart, because a
generator that is tuned while looking at a catalogue of faults scores too well on that catalogue.
"""

from __future__ import annotations

FROZEN: tuple[tuple[str, str, str], ...] = (
    ("seed-zero-is-nothing", "SEED-24", "an all-zero seed is treated as no gradient at all"),
    ("seed-empty-root-implicit", "SEED-02", "a root of size 0 gets an implicit seed"),
    ("seed-list-refused", "SEED-06", "a list with one seed is refused by Tensor.backward"),
    ("acc-unreached-reset", "ACC-06", "a leaf that the pass does not reach loses its .grad"),
    ("acc-assigned-replaced", "ACC-10", "a .grad that the user assigned is replaced by a new object"),
    ("acc-assign-any-shape", "ACC-13", "a .grad of the wrong shape is accepted"),
    ("acc-after-requires-grad-off", "ACC-27", "a leaf switched off after the forward still accumulates"),
    ("retain-free-at-end", "RETAIN-08", "a pass that fails midway frees nothing"),
    ("retain-free-before-apply", "RETAIN-09", "the node that fails is released all the same"),
    ("retain-sticky", "RETAIN-18", "a node that was once retained is never released"),
    ("inputs-retain-twice", "INPUTS-17", "inputs= and retain_grad on one tensor accumulate twice"),
    ("inputs-unreachable-raises", "INPUTS-07", "an unreachable tensor in inputs= raises"),
    ("inputs-root-ignored", "INPUTS-10", "the root in inputs= gets no .grad"),
    ("inputs-retain-temporary", "INPUTS-04", "inputs= does not leave retains_grad switched on"),
    ("leaf-switch-off-nonleaf", "LEAF-04", "requires_grad = False is accepted on a non-leaf"),
    ("leaf-retain-in-place", "LEAF-07", "retain_grad accumulates in place: earlier references change"),
    ("leaf-first-operand-only", "LEAF-02", "only the first operand decides whether a result requires grad"),
    ("leaf-detach-copies", "LEAF-09", "detach() copies the storage"),
    (
        "view-plain-base-untracked",
        "VIEW-05",
        "a tracked write through a view leaves its plain base untracked",
    ),
    ("view-multi-output-write", "VIEW-06", "an in-place operation on an output of unbind is allowed"),
    ("view-no-grad-write", "VIEW-08", "a view made under no_grad may be modified in grad mode"),
    ("view-overlap-assigned", "VIEW-13", "overlapping as_strided gradients are assigned, not summed"),
    ("inplace-copy-keeps-history", "INPLACE-09", "copy_ lets the gradient through to the overwritten value"),
    (
        "inplace-error-after-write",
        "INPLACE-16",
        "a refused in-place operation has already bumped the version",
    ),
    ("inplace-setitem-broadcast", "INPLACE-08", "the gradient of a value broadcast by setitem is not summed"),
    ("mode-no-grad-version", "MODE-06", "an in-place operation under no_grad does not bump the version"),
    ("hook-remove-ignored", "HOOK-06", "a removed hook still runs"),
    ("hook-error-swallowed", "HOOK-05", "an exception raised by a hook is swallowed"),
    ("hook-post-before", "HOOK-12", "post-accumulate-grad hooks run before the accumulation"),
    ("mode-backward-of-caller", "CREATE-04", "the pass runs in the caller's grad mode"),
    ("layout-of-incoming", "LAYOUT-01", ".grad keeps the strides of the incoming gradient"),
    ("multi-duplicate-root-once", "MULTI-03", "a root given twice counts once"),
    ("multi-missing-seed-ok", "MULTI-02", "a missing seed is taken as None"),
    ("multi-constant-root-skipped", "MULTI-05", "a root that does not require grad is skipped"),
    ("grad-allow-unused-always", "GRAD-02", "an unused input never raises"),
    ("grad-retained-untouched", "GRAD-08", "autograd.grad does not fill the .grad of retained tensors"),
    ("subgrad-clamp-bound", "SUBGRAD-02", "clamp has gradient 0 at its bounds"),
    ("subgrad-amax-full", "SUBGRAD-03", "amax gives the full gradient to each tie"),
    ("func-needs-all", "FUNC-01", "needs_input_grad is true for every input"),
    ("func-non-differentiable-ignored", "FUNC-05", "mark_non_differentiable is ignored"),
    ("func-surplus-accepted", "ERROR-04", "too many gradients from a custom Function are accepted"),
    ("higher-once-ignored", "HIGHER-05", "once_differentiable is ignored"),
)
