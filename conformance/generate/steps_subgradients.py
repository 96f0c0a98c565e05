"""Steps at points where torch defines a subgradient: kinks, ties, zeros, duplicate indices."""

from __future__ import annotations

from conformance.generate.templates import Step

_OF_ONE = (
    ("relu()", "SUBGRAD-01"),
    ("abs()", "SUBGRAD-01"),
    ("sign()", "SUBGRAD-10"),
    ("clamp(-1.0, 1.0)", "SUBGRAD-02"),
    ("clamp(0.0, 1.0)", "SUBGRAD-02"),
    ("max()", "SUBGRAD-03"),
    ("min()", "SUBGRAD-03"),
    ("amax()", "SUBGRAD-03"),
    ("amin()", "SUBGRAD-03"),
    ("prod()", "SUBGRAD-09"),
    ("norm()", "SUBGRAD-08"),
    ("sqrt()", "SUBGRAD-06"),
    ("pow(0.0)", "SUBGRAD-07"),
    ("pow(2)", "SUBGRAD-07"),
    ("round()", "SUBGRAD-10"),
    ("std()", "SUBGRAD-08"),
)
_OF_TWO = (
    ("torch.maximum(X, Y)", "SUBGRAD-04"),
    ("torch.minimum(X, Y)", "SUBGRAD-04"),
    ("torch.fmax(X, Y)", "SUBGRAD-04"),
    ("torch.fmin(X, Y)", "SUBGRAD-04"),
    ("torch.clamp(X, max=Y)", "SUBGRAD-02"),
    ("torch.clamp(X, min=Y)", "SUBGRAD-02"),
    ("torch.where(X > 0.0, X * X, Y)", "SUBGRAD-05"),
    ("X / Y", "SUBGRAD-06"),
    ("X ** Y", "SUBGRAD-07"),
    ("torch.max(X, Y)", "SUBGRAD-04"),
)

SUBGRADIENTS = (
    *(
        Step(
            f"X = K\nL = (X.{name} * C).sum()\nL.backward()\nX.grad",
            "Y:kink_shape K:kinks(Y) C:constant",
            "kept()",
            clause,
        )
        for name, clause in _OF_ONE
    ),
    *(
        Step(
            f"X = K\nY = J\nH = {form}\nH.backward(V)\n(X.grad, Y.grad)",
            "Z:kink_shape K:kinks(Z) J:kinks(Z) V:values(Z)",
            "kept()",
            clause,
        )
        for form, clause in _OF_TWO
    ),
    *(
        Step(
            f"H = (X - X.detach()).{name}\n(H * V).sum().backward()\nX.grad",
            "X:real V:values(X)",
            "",
            "SUBGRAD-01",
        )
        for name in ("relu()", "abs()", "clamp(0.0, 1.0)", "norm()", "amax()", "max()")
    ),
    Step(
        "Y = X.detach().clone().requires_grad_()\nH = torch.maximum(X, Y)\n(H * V).sum().backward()\n"
        "(X.grad, Y.grad)",
        "X:real_leaf V:values(X)",
        "",
        "SUBGRAD-04",
    ),
    Step(
        "H = torch.maximum(X, X.detach() * 1.0)\n(H * V).sum().backward()\nX.grad",
        "X:real V:values(X)",
        "",
        "SUBGRAD-04",
    ),
    Step("H = X[I]\n(H * H).sum().backward()\nX.grad", "X:ranked I:positions(X)", "", "SUBGRAD-11", weight=2),
    Step(
        "H = X.index_select(0, I)\n(H * H).sum().backward()\nX.grad",
        "X:ranked I:positions(X)",
        "",
        "SUBGRAD-11",
        weight=2,
    ),
    Step("H = X.cumprod(0)\n(H * H).sum().backward()\nX.grad", "X:ranked", "", "SUBGRAD-09"),
)
