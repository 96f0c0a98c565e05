"""Steps that run backward passes: seeds, flags, `inputs`, several roots, autograd.grad, accumulation,
higher order.
"""

from __future__ import annotations

from conformance.generate.templates import Step

BACKWARD = (
    Step(
        "L.backward(S, retain_graph=K, create_graph=G, inputs=I)",
        "L:root S:seed(L) K:keep G:create I:inputs(L)", "ran(L,K,G)", "ACC-01", weight=10,
    ),
    Step("L.backward(S, retain_graph=K)", "L:root S:seed(L) K:keep", "ran(L,K)", "ACC-01", weight=8),
    Step("L.backward()", "L:scalar", "ran(L)", "SEED-01", weight=4),
    Step("L.backward(S)", "L:anything S:seed(L)", "", "RETAIN-01", weight=2),
    Step("L.backward(S)", "L:grad S:seed(L)", "ran(L)", "SEED-04", weight=2),
    Step("L.backward(S)", "L:root S:wrong_seed(L)", "kept()", "SEED-05 SEED-22", weight=3),
    Step("L.backward(S)\nX.grad", "L:root S:wrong_seed(L) X:reached(L)", "kept()", "SEED-22", weight=2),
    Step("X.backward(S)", "X:leaf S:seed(X)", "kept()", "SEED-17", weight=3),
    Step("X.backward(S)\nX.backward(S)", "X:leaf S:tensor_seed(X)", "", "SEED-17"),
    Step(
        "L.backward(S, inputs=I, retain_graph=True)",
        "L:root S:tensor_seed(L) I:inputs(L)", "", "INPUTS-01", weight=6,
    ),
    Step(
        "S = V\nL.backward(S, retain_graph=K)\nS",
        "L:root V:tensor_seed(L) K:keep", "ran(L,K)", "SEED-13", weight=2,
    ),
    Step("L.backward(S, retain_graph=K)", "L:root S:other_seed(L) K:keep", "ran(L,K)", "SEED-07", weight=3),
    Step("L.backward(gradient=S, create_graph=True)", "L:root S:tracked_seed(L)", "", "SEED-12", weight=2),
    Step("C.backward()", "C:plain", "kept()", "ERROR-01 SEED-04", weight=2),
    Step("L.backward(S)", "L:empty S:seed(L)", "kept()", "SEED-02 SEED-25"),
    Step("L.backward()", "L:empty", "kept()", "SEED-02"),
    Step("L.sum().backward()", "L:many", "ran(L)", "ACC-01", weight=2),
)

ACCUMULATION = (
    Step(
        "L.backward(S, retain_graph=True)\nL.backward(S)",
        "L:root S:tensor_seed(L)", "freed(L)", "ACC-01", weight=4,
    ),
    Step("H = X * X\nL = (H * V).sum()\nL.backward(retain_graph=True)\nX.grad\nL.backward()\nX.grad",
         "X:grad V:values(X)", "", "ACC-01 RETAIN-04", weight=3),
    Step("L.backward(S, retain_graph=True)\nG = X.grad\nL.backward(S, retain_graph=True)\n(G is X.grad, G)",
         "L:root S:tensor_seed(L) X:reached(L)", "", "ACC-02", weight=4),
    Step("L.backward(S, create_graph=True)\nG = X.grad\nL.backward(S, create_graph=True)\n(G is X.grad, G)",
         "L:root S:tensor_seed(L) X:reached(L)", "", "ACC-03", weight=3),
    Step(
        "X.grad = None\nL.backward(S, retain_graph=True)",
        "L:root S:tensor_seed(L) X:reached(L)", "", "ACC-14", weight=2,
    ),
    Step("L.backward(S, retain_graph=True)\nX.grad.zero_()\nL.backward(S, retain_graph=True)",
         "L:root S:tensor_seed(L) X:reached(L)", "", "ACC-15", weight=2),
    Step("G = V\nX.grad = G\nL.backward(S, retain_graph=True)\n(G is X.grad, G)",
         "L:root S:tensor_seed(L) X:reached(L) V:values(X)", "", "ACC-10", weight=3),
    Step(
        "X.grad = torch.zeros_like(X)\nL.backward(S, retain_graph=K)",
        "L:root S:tensor_seed(L) X:reached(L) K:keep", "ran(L,K)", "ACC-10",
    ),
    Step("G = V.requires_grad_()\nX.grad = G\nL.backward(S, retain_graph=True)\nX.grad",
         "L:root S:tensor_seed(L) X:reached(L) V:values(X)", "", "ACC-11"),
    Step(
        "del X.grad\nL.backward(S, retain_graph=True)",
        "L:root S:tensor_seed(L) X:reached(L)", "", "ACC-16",
    ),
    Step("X.grad = torch.ones(5)", "X:leaf", "", "ACC-13"),
    Step("X.grad = V.double()", "X:leaf V:values(X)", "", "ACC-13"),
    Step(
        "X.grad = torch.tensor(C).expand_as(X)\n(X * X).sum().backward()\nX.grad",
        "X:leaf C:constant", "", "ACC-19",
    ),
    Step("L.backward(S, retain_graph=True)\nM = X.grad * V\nL.backward(S, retain_graph=True)\nM",
         "L:root S:tensor_seed(L) X:reached(L) V:values(X)", "", "ACC-36"),
    Step("L = (X * Y).sum()\nL.backward(retain_graph=True)\nC.grad\nL.backward()",
         "X:exact Y:like(X) C:unreached(X)", "", "ACC-06 LEAF-02", weight=2),
    Step("L = (X * 0.0).sum()\nL.backward()", "X:leaf", "", "ACC-07"),
    Step("L = (X * 2.0).sum() + X.sum() * 3.0\nL.backward()", "X:protected(grad)", "", "ACC-04"),
    Step("H = X * C\nP = H * H\nQ = H.exp()\nL = (P + Q * V).sum()\nL.backward(retain_graph=K)",
         "X:real C:constant V:values(X) K:keep", "", "ACC-05", weight=2),
    Step("for _ in range(3):\n    (X * X).sum().backward()", "X:grad", "", "ACC-01"),
    Step(
        "P = X * 1.0\nQ = X * V\nR = X * 16777216.0\nL = (P + Q + R).sum()\nL.backward()",
        "X:exact V:values(X)", "", "ACC-21",
    ),
    Step(
        "L = torch.where(M, X * 2.0, torch.zeros_like(X)).sum()\nL.backward()",
        "X:grad M:mask(X)", "", "ACC-07",
    ),
)

RELEASE = (
    Step("L.backward(S)\nL.backward(S)", "L:root S:tensor_seed(L)", "freed(L)", "RETAIN-01", weight=4),
    Step("H = X * X\nL = H.sum()\nL.backward()\nL.backward()\nX.grad", "X:grad", "", "RETAIN-01", weight=2),
    Step(
        "H = X + Y\nL = H.sum()\nL.backward()\nL.backward()",
        "X:protected(grad) Y:like(X)", "", "RETAIN-02 RETAIN-07", weight=2,
    ),
    Step("L = (-X).sum()\nL.backward()\nL.backward()", "X:leaf", "", "RETAIN-02"),
    Step(
        "B = -X\nV = B[:1]\nV.add_(1.0)\nL = B.sum()\nL.backward()\nL.backward()\nX.grad",
        "X:ranked_leaf", "", "RETAIN-01 VIEW-02",
    ),
    Step("X.backward(S)\nS.zero_()\nX.grad", "X:leaf S:named_seed(X)", "kept()", "SEED-13 ACC-24"),
    Step("L = (X * C).sum()\nL.backward()\nL.backward()", "X:grad C:constant", "", "RETAIN-02"),
    *(
        Step(f"L = X.{name}.sum()\nL.backward()\nL.backward()", "X:exact", "", "RETAIN-02")
        for name in ("abs()", "mean()", "exp()", "clone()", "cumsum(-1)", "double()", "relu()")
    ),
    Step("H = X * Y\nA = (H * V).sum()\nB = (H + W * W).sum()\nA.backward()\nB.backward()\nW.grad",
         "X:exact Y:like(X) V:values(X) W:leaf_like(X)", "freed(X)", "RETAIN-06", weight=3),
    Step(
        "H = X.exp()\nA = H.sum()\nB = (H * 2.0).sum()\nA.backward(retain_graph=True)\nB.backward()",
        "X:real", "", "RETAIN-04",
    ),
    Step(
        "L.backward(S, retain_graph=True)\nL.backward(S)\nL.backward(S)",
        "L:root S:tensor_seed(L)", "freed(L)", "RETAIN-18", weight=2,
    ),
    Step(
        "L.backward(S, create_graph=True)\nL.backward(S)",
        "L:root S:tensor_seed(L)", "freed(L)", "RETAIN-05", weight=2,
    ),
    Step(
        "L.backward(S, create_graph=True, retain_graph=False)\nL.backward(S)",
        "L:root S:tensor_seed(L)", "freed(L)", "RETAIN-05", weight=2,
    ),
    Step(
        "A = X * X\nB = Y * Y\nL = (A + B).sum()\nL.backward(inputs=[X])\nL.backward(inputs=[Y])\n"
        "L.backward()",
        "X:leaf Y:leaf_like(X)", "", "RETAIN-11 INPUTS-11", weight=3,
    ),
    Step(
        "M = X * X\nL = (M * V).sum()\nG = torch.autograd.grad(L, M)\nM.sum().backward()",
        "X:grad V:values(X)", "", "GRAD-07", weight=3,
    ),
    Step(
        "M = X * X\nL = (M * V).sum()\nL.backward(inputs=[M])\nM.sum().backward()",
        "X:exact V:values(X)", "", "INPUTS-06", weight=2,
    ),
    Step(
        "H = X * X\nL = H.sum()\nL.backward()\nZ = H * 2.0\nZ.sum().backward()\nH.detach() * 2.0",
        "X:grad", "", "RETAIN-19",
    ),
    Step(
        "H = X * Y\nL = H.sum()\nL.grad_fn.name()\nH.grad_fn._saved_self\nL.backward()\n"
        "H.grad_fn._saved_self",
        "X:exact Y:leaf_like(X)", "", "RETAIN-12",
    ),
)

ROOTS = (
    Step(
        "torch.autograd.backward([L, M], [S, T], retain_graph=K, create_graph=G)",
        "L:root M:root S:tensor_seed(L) T:tensor_seed(M) K:keep G:create", "ran(L,K,G); ran(M,K,G)",
        "MULTI-01", weight=5,
    ),
    Step("torch.autograd.backward([L, M], retain_graph=K, inputs=I)", "L:scalar M:scalar K:keep I:inputs(L)",
         "ran(L,K); ran(M,K)", "MULTI-01 INPUTS-18", weight=3),
    Step(
        "torch.autograd.backward([L, L], [S, T], retain_graph=K)",
        "L:root S:tensor_seed(L) T:tensor_seed(L) K:keep", "ran(L,K)", "MULTI-03", weight=2,
    ),
    Step(
        "torch.autograd.backward([L, M], [S], retain_graph=True)",
        "L:root M:root S:tensor_seed(L)", "", "MULTI-02",
    ),
    Step(
        "torch.autograd.backward([L], [S, T], retain_graph=True)",
        "L:root S:tensor_seed(L) T:tensor_seed(L)", "", "MULTI-02",
    ),
    Step(
        "torch.autograd.backward([L, C], [S, T])",
        "L:root C:plain S:tensor_seed(L) T:tensor_seed(C)", "kept()", "MULTI-05", weight=2,
    ),
    Step(
        "torch.autograd.backward([C, L], [None, S])",
        "L:root C:plain S:tensor_seed(L)", "kept()", "MULTI-05",
    ),
    Step("torch.autograd.backward([])", "", "", "MULTI-06"),
    Step(
        "H = X * X\nL = (H * V).sum()\ntorch.autograd.backward([L, H], [None, S])",
        "X:grad V:values(X) S:tensor_seed(X)", "", "MULTI-04 MULTI-07", weight=2,
    ),
    Step("torch.autograd.backward([L, X], [S, T], retain_graph=True)", "L:root X:reached(L) S:tensor_seed(L) "
         "T:tensor_seed(X)", "", "MULTI-04 ACC-35"),
    Step("torch.autograd.backward(L, S, retain_graph=K)", "L:root S:seed(L) K:keep", "ran(L,K)", "MULTI-01"),
    Step(
        "S = V\ntorch.autograd.backward([L, L * 2.0], [S, S], retain_graph=True)\nS",
        "L:root V:tensor_seed(L)", "", "MULTI-13",
    ),
    Step("A, B, C = torch.unbind(X * 2.0)\ntorch.autograd.backward([A, C], [V, W])",
         "X:three_rows V:row_values(X) W:row_values(X)", "", "MULTI-09 ACC-09", weight=2),
    Step(
        "torch.autograd.backward([L], [S], inputs=[X], retain_graph=True)",
        "L:root S:tensor_seed(L) X:reached(L)", "", "INPUTS-01", weight=2,
    ),
)

INPUTS = (
    Step("L.backward(S, inputs=[X], retain_graph=True)\nL.backward(S, retain_graph=True)\nX.grad",
         "L:root S:tensor_seed(L) X:reached_inner(L)", "", "INPUTS-04 INPUTS-17", weight=3),
    Step(
        "X.retain_grad()\nL.backward(S, inputs=[X], retain_graph=True)",
        "L:root S:tensor_seed(L) X:reached_inner(L)", "", "INPUTS-17", weight=2,
    ),
    Step(
        "L.backward(S, inputs=[X, Y], retain_graph=True)",
        "L:root S:tensor_seed(L) X:reached(L) Y:reached_inner(L)", "", "INPUTS-05 INPUTS-19", weight=2,
    ),
    Step(
        "L.backward(S, inputs=[X, X], retain_graph=True)",
        "L:root S:tensor_seed(L) X:reached(L)", "", "INPUTS-08",
    ),
    Step(
        "L.backward(S, inputs=[L], retain_graph=True)",
        "L:root S:tensor_seed(L)", "", "INPUTS-10", weight=2,
    ),
    Step("L.backward(S, inputs=[], retain_graph=True)", "L:root S:tensor_seed(L)", "", "INPUTS-03"),
    Step("L.backward(S, inputs=[C], retain_graph=True)", "L:root S:tensor_seed(L) C:plain", "", "INPUTS-09"),
    Step(
        "L.backward(S, inputs=[X, C], retain_graph=True)\nX.retains_grad",
        "L:root S:tensor_seed(L) X:reached_inner(L) C:plain", "", "INPUTS-21",
    ),
    Step(
        "L.backward(S, inputs=[X])\nL.backward(S)",
        "L:root S:tensor_seed(L) X:unreached(L)", "ran(L)", "INPUTS-07",
    ),
    Step(
        "E = torch.autograd.graph.get_gradient_edge(X)\nL.backward(S, inputs=[E], retain_graph=True)\n"
        "X.grad",
        "L:root S:tensor_seed(L) X:reached(L)", "", "INPUTS-13",
    ),
    Step(
        "H = X * 1.5\nL = (H * V).sum()\nH.mul_(C)\nL.backward(inputs=[H, X])",
        "X:leaf V:values(X) C:constant", "", "INPUTS-16",
    ),
    Step("L.backward(inputs=[X], create_graph=True)\nX.grad", "L:scalar X:reached_inner(L)", "", "INPUTS-14"),
    Step(
        "X.backward(S, inputs=[Y])\nX.backward(S, inputs=[X])",
        "X:leaf Y:unreached(X) S:tensor_seed(X)", "", "INPUTS-10",
    ),
)

GRAD = (
    Step("G = torch.autograd.grad(L, [X], S, retain_graph=K, create_graph=C, allow_unused=A)",
         "L:root X:reached(L) S:seed(L) K:keep C:create A:maybe", "ran(L,K,C)", "GRAD-01", weight=5),
    Step(
        "(G,) = torch.autograd.grad(L, [X], S, create_graph=True)\nH = G * Y",
        "L:root X:reached(L) S:tensor_seed(L) Y:values(X)",
        "G=gradient(L,X,created); H=gradient(L,X,created)", "GRAD-01 HIGHER-01", weight=3,
    ),
    Step("G = torch.autograd.grad(L, [X, Y], S, retain_graph=True)", "L:root X:reached(L) Y:reached_inner(L) "
         "S:tensor_seed(L)", "", "GRAD-01", weight=3),
    Step(
        "G = torch.autograd.grad(L, X, S, retain_graph=True)\nX.grad",
        "L:root X:reached(L) S:tensor_seed(L)", "", "GRAD-01", weight=2,
    ),
    Step(
        "G = torch.autograd.grad(L, [X, Y], S, retain_graph=True, allow_unused=A)",
        "L:root X:reached(L) Y:unreached(L) S:tensor_seed(L) A:maybe", "", "GRAD-02", weight=3,
    ),
    Step(
        "G = torch.autograd.grad(L, [Y], S, retain_graph=True, materialize_grads=True)",
        "L:root Y:unreached(L) S:tensor_seed(L)", "", "GRAD-02",
    ),
    Step(
        "G = torch.autograd.grad(L, [Y], S)\nL.backward(S)",
        "L:root Y:unreached(L) S:tensor_seed(L)", "freed(L)", "GRAD-02",
    ),
    Step(
        "G = torch.autograd.grad(L, [C], S, retain_graph=True)",
        "L:root C:plain S:tensor_seed(L)", "", "GRAD-03",
    ),
    Step("G = torch.autograd.grad(L, [L], S, retain_graph=True)", "L:root S:tensor_seed(L)", "", "GRAD-05"),
    Step("X.retain_grad()\nG = torch.autograd.grad(L, [Y], S, retain_graph=True)\nX.grad",
         "L:root X:reached_inner(L) Y:reached(L) S:tensor_seed(L)", "", "GRAD-08", weight=2),
    Step("G = torch.autograd.grad([L, M], [X], [S, T], retain_graph=True, allow_unused=True)",
         "L:root M:root X:reached(L) S:tensor_seed(L) T:tensor_seed(M)", "", "GRAD-01 MULTI-01", weight=2),
    Step(
        "G = torch.autograd.grad(L, [X, X], S, retain_graph=True)",
        "L:root X:reached(L) S:tensor_seed(L)", "", "GRAD-01",
    ),
    Step("G = torch.autograd.grad(L, [X], S, retain_graph=True, is_grads_batched=True)",
         "L:root X:reached(L) S:tensor_seed(L)", "", "GRAD-04"),
)

HIGHER = (
    Step(
        "H = X * X * X\n(G,) = torch.autograd.grad((H * V).sum(), [X], create_graph=True)\n"
        "(G * W).sum().backward()\nX.grad",
        "X:grad V:values(X) W:values(X)", "", "HIGHER-01", weight=3,
    ),
    Step("L = (X * Y * Y).sum()\nL.backward(create_graph=True)\n(X.grad * Y.grad).sum().backward()\nX.grad",
         "X:leaf Y:leaf_like(X)", "", "HIGHER-03 CREATE-05", weight=3),
    Step("L.backward(create_graph=True)\nG = X.grad\nX.grad = None\nG.sum().backward()\nX.grad",
         "L:scalar X:reached(L)", "", "CREATE-05 HIGHER-01", weight=3),
    *(
        Step(
            f"L = X.{name}.sum()\n(G,) = torch.autograd.grad(L, [X], create_graph=True)\n"
            "(D,) = torch.autograd.grad(G, [X], V, create_graph=True)\n"
            "(E,) = torch.autograd.grad(D, [X], V)",
            "X:leaf V:values(X)", "", "HIGHER-01",
        )
        for name in [
            "exp()", "tanh()", "sin()", "sigmoid()", "sqrt()", "reciprocal()", "log()", "pow(4)",
            "prod()",
        ]
    ),
    Step("G = torch.autograd.grad((X ** 3).sum(), X, create_graph=True)[0]\nG = torch.autograd.grad(G, X, V, "
         "create_graph=True)[0]\nG = torch.autograd.grad(G, X, V, create_graph=True)[0]\n"
         "G = torch.autograd.grad(G, X, V, create_graph=True)[0]", "X:leaf V:values(X)", "", "HIGHER-02"),
    Step(
        "L = (X * X * Y).sum()\n(G, D) = torch.autograd.grad(L, [X, Y], create_graph=True)\n"
        "M = (G * G).sum() + (D * V).sum()\nM.backward()",
        "X:leaf Y:leaf_like(X) V:values(X)", "", "HIGHER-03", weight=2,
    ),
    Step(
        "S = V.requires_grad_()\nH = X * X\nH.backward(S, create_graph=True)\nX.grad\n"
        "X.grad.sum().backward()\nS.grad",
        "X:leaf V:values(X)", "", "SEED-12 HIGHER-11", weight=3,
    ),
    Step(
        "L = (X * X).sum()\nL.backward(create_graph=True)\nX.grad\nL.backward()\nX.grad",
        "X:leaf", "", "CREATE-07", weight=2,
    ),
    Step("L = (X * C).sum()\nL.backward(create_graph=True)\nX.grad", "X:grad C:constant", "", "CREATE-02"),
    Step(
        "L.backward(create_graph=True)\nX.grad.zero_()\nX.grad.detach_()\nL.backward()",
        "L:scalar X:reached(L)", "freed(L)", "CREATE-08",
    ),
    Step(
        "with torch.no_grad():\n    L.backward(create_graph=True)\nX.grad",
        "L:scalar X:reached(L)", "", "CREATE-04",
    ),
    Step(
        "L = (X @ X).sum()\n(G,) = torch.autograd.grad(L, [X], create_graph=True)\n"
        "(G * V).sum().backward()\nX.grad",
        "X:square V:values(X)", "", "HIGHER-03",
    ),
    Step(
        "L = (X.exp() * V).sum()\nL.backward(create_graph=True, retain_graph=False)\n"
        "X.grad.sum().backward()",
        "X:leaf V:values(X)", "", "RETAIN-05",
    ),
    *(
        Step(
            f"L = ({form} * W).sum()\n(G, D) = torch.autograd.grad(L, [X, Y], create_graph=True)\n"
             "(G * V + D * D).sum().backward()\nX.grad",
            "X:real_leaf Y:leaf_like(X) V:values(X) W:values(X)", "", "HIGHER-07",
        )
        for form in (
            "(X * Y)", "(X / Y)", "torch.maximum(X, Y)", "(X.exp() * Y)", "torch.where(X > 1.0, X * Y, Y)",
        )
    ),
)
