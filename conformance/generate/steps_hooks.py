"""Steps with hooks, retained gradients, flags and grad modes."""

from __future__ import annotations

from conformance.generate.templates import Step

TENSOR_HOOKS = (
    Step("X.register_hook(lambda g: log(g))", "X:grad", "", "HOOK-01", weight=4),
    Step("X.register_hook(lambda g: g * C)", "X:grad C:constant", "", "HOOK-02", weight=4),
    Step("X.register_hook(lambda g: g + 1.0)", "X:grad", "", "HOOK-02", weight=2),
    Step(
        "def F(g):\n    log(g)\n    return g * C\nX.register_hook(F)",
        "X:grad C:constant", "", "HOOK-02", weight=3,
    ),
    Step(
        "H = X * C\nH.register_hook(lambda g: g * 2.0)\nH.register_hook(lambda g: g + 1.0)\n"
        "L = (H * V).sum()\nL.backward(retain_graph=K)\nX.grad",
        "X:grad C:constant V:values(X) K:keep", "", "HOOK-02", weight=4,
    ),
    Step(
        "H = X * C\nH.register_hook(lambda g: g * g)\nP = H * 2.0\nQ = H * V\n(P + Q).sum().backward()\n"
        "X.grad",
        "X:grad C:constant V:values(X)", "", "HOOK-01", weight=4,
    ),
    Step("H = X * C\nH.retain_grad()\nH.register_hook(lambda g: g * 3.0)\n(H * V).sum().backward()\nH.grad",
         "X:grad C:constant V:values(X)", "", "HOOK-10 HOOK-23", weight=4),
    Step(
        "H = X * C\nH.register_hook(lambda g: log(g))\nH.retain_grad()\n"
        "(H * V).sum().backward(retain_graph=True)\nH.grad",
        "X:grad C:constant V:values(X)", "", "HOOK-10", weight=2,
    ),
    Step(
        "K = X.register_hook(lambda g: g * 2.0)\nL.backward(S, retain_graph=True)\nK.remove()\n"
        "L.backward(S, retain_graph=True)",
        "L:root X:reached(L) S:tensor_seed(L)", "", "HOOK-03 HOOK-06", weight=4,
    ),
    Step(
        "def F(g):\n    raise ValueError(\"boom\")\nK = X.register_hook(F)\n"
        "L.backward(S, retain_graph=True)\nK.remove()\nL.backward(S, retain_graph=True)\n"
        "torch.is_grad_enabled()",
        "L:root X:reached(L) S:tensor_seed(L)", "", "HOOK-05 RETAIN-17", weight=3,
    ),
    Step(
        "A = X * X\nB = Y * Y\ndef F(g):\n    raise RuntimeError(\"stop\")\nK = A.register_hook(F)\n"
        "L = (A + B * V).sum()\nL.backward()\nY.grad\nK.remove()\nL.backward()",
        "X:leaf Y:leaf_like(X) V:values(X)", "", "HOOK-05 RETAIN-16 ERROR-03", weight=3,
    ),
    Step("K = X.register_hook(lambda g: g.reshape(-1)[:0])\nL.backward(S, retain_graph=True)\nK.remove()",
         "L:root X:reached(L) S:tensor_seed(L)", "", "HOOK-04"),
    Step("K = X.register_hook(lambda g: 1.0)\nL.backward(S, retain_graph=True)\nK.remove()",
         "L:root X:reached(L) S:tensor_seed(L)", "", "HOOK-04"),
    Step("K = X.register_hook(lambda g: g.double())\nL.backward(S, retain_graph=True)\nK.remove()",
         "L:root X:reached(L) S:tensor_seed(L)", "", "HOOK-04"),
    Step("C.register_hook(lambda g: g)", "C:plain", "", "HOOK-07"),
    Step(
        "def F(g):\n    log(torch.is_grad_enabled())\nX.register_hook(F)\n"
        "L.backward(S, create_graph=G, retain_graph=True)",
        "L:root X:reached(L) S:tensor_seed(L) G:flag", "", "CREATE-04", weight=2,
    ),
    Step(
        "H = X * C\ndef F(g):\n    X.register_hook(lambda d: log(d))\nH.register_hook(F)\n"
        "(H * V).sum().backward()",
        "X:leaf C:constant V:values(X)", "", "HOOK-08",
    ),
    Step(
        "P = X * 2.0\nQ = X * 3.0\nR = X * 4.0\nP.register_hook(lambda g: log(1))\n"
        "Q.register_hook(lambda g: log(2))\nR.register_hook(lambda g: log(3))\n"
        "X.register_hook(lambda g: log(4))\n(P + Q + R).sum().backward()",
        "X:grad", "", "HOOK-19 MULTI-14", weight=3,
    ),
    Step(
        "P = X * 2.0\nQ = Y * 3.0\nP.register_hook(lambda g: log(1))\nQ.register_hook(lambda g: log(2))\n"
        "X.register_hook(lambda g: log(3))\nY.register_hook(lambda g: log(4))\n"
        "torch.autograd.backward([P.sum(), Q.sum()])",
        "X:leaf Y:leaf_like(X)", "", "HOOK-19 MULTI-14", weight=2,
    ),
    Step(
        "H = X * C\nH.register_hook(lambda g: log(g))\nH.mul_(2.0)\n"
        "H.register_hook(lambda g: log(g * 1.0))\n(H * V).sum().backward()",
        "X:real C:constant V:values(X)", "", "HOOK-16", weight=2,
    ),
    Step(
        "H = X * C\nH.register_hook(lambda g: g * 2.0)\nL = (H * V).sum()\nL.backward(inputs=[H, X])\n"
        "H.grad",
        "X:leaf C:constant V:values(X)", "", "HOOK-22", weight=2,
    ),
    Step(
        "H = X * C\nH.register_hook(lambda g: g * 2.0)\nL = (H * V).sum()\n"
        "G = torch.autograd.grad(L, [H, X])",
        "X:grad C:constant V:values(X)", "", "HOOK-15 GRAD-01", weight=2,
    ),
    Step(
        "H = X * C\nH.register_hook(lambda g: g * g)\nL = (H * V).sum()\nL.backward(create_graph=True)\n"
        "X.grad.sum().backward()",
        "X:leaf C:constant V:values(X)", "", "HOOK-14", weight=2,
    ),
    Step("X.register_hook(lambda g: log(g))\nA = X * 2.0\nB = Y * 2.0\n(A + B).sum().backward(inputs=[Y])",
         "X:leaf Y:leaf_like(X)", "", "INPUTS-12"),
)

NODE_HOOKS = (
    Step("X.register_post_accumulate_grad_hook(lambda p: log(p.grad))", "X:leaf", "", "HOOK-12", weight=3),
    Step(
        "def F(p):\n    p.grad = None\nK = X.register_post_accumulate_grad_hook(F)\n"
        "L.backward(S, retain_graph=True)\nK.remove()\nL.backward(S, retain_graph=True)",
        "L:root X:reached(L) S:tensor_seed(L)", "", "HOOK-12", weight=2,
    ),
    Step(
        "def F(p):\n    raise ValueError(\"late\")\nK = X.register_post_accumulate_grad_hook(F)\n"
        "L.backward(S, retain_graph=True)\nX.grad\nK.remove()",
        "L:root X:reached(L) S:tensor_seed(L)", "", "HOOK-12",
    ),
    Step(
        "H = X * C\nH.grad_fn.register_prehook(lambda g: log(g))\n(H * V).sum().backward()",
        "X:grad C:constant V:values(X)", "", "HOOK-13", weight=2,
    ),
    Step(
        "H = X * C\nH.grad_fn.register_hook(lambda i, o: log(i))\n(H * V).sum().backward()",
        "X:grad C:constant V:values(X)", "", "HOOK-13", weight=2,
    ),
    Step(
        "H = X * C\nH.register_hook(lambda g: log(g))\n"
        "H.grad_fn.register_prehook(lambda g: (g[0] * 2.0,))\nH.retain_grad()\n(H * V).sum().backward()\n"
        "(H.grad, X.grad)",
        "X:grad C:constant V:values(X)", "", "HOOK-10 HOOK-13", weight=2,
    ),
    Step(
        "torch.autograd.graph.register_multi_grad_hook([X, Y], lambda g: log(g))\n"
        "(X * 2.0 + Y * C).sum().backward()",
        "X:leaf Y:leaf_like(X) C:constant", "", "HOOK-20",
    ),
    Step(
        "with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * 2.0):\n    H = X * X\n"
        "H.sum().backward()",
        "X:leaf", "", "HOOK-21",
    ),
)

FLAGS = (
    Step("X.retain_grad()", "X:inner", "", "LEAF-06", weight=4),
    Step("X.retain_grad()", "X:leaf", "", "LEAF-06"),
    Step("C.retain_grad()", "C:plain", "", "LEAF-06"),
    Step(
        "X.retain_grad()\nL.backward(S, retain_graph=True)\nG = X.grad\n"
        "L.backward(S, retain_graph=True)\n(G is X.grad, G)",
        "L:root X:reached_inner(L) S:tensor_seed(L)", "", "LEAF-07", weight=3,
    ),
    Step(
        "L.retain_grad()\nL.backward(S, retain_graph=True)\nL.grad",
        "L:root S:tensor_seed(L)", "", "LEAF-08",
    ),
    Step(
        "X.retain_grad()\nX.backward(S, retain_graph=True)\n(X.grad, S)",
        "X:inner S:named_seed(X)", "", "HOOK-23", weight=3,
    ),
    Step("H = X * X\nH.sum().backward(retain_graph=True)\nH.retain_grad()\nH.grad", "X:grad", "", "LEAF-08"),
    Step("C.requires_grad_()", "C:plain_float", "switched_on(C)", "LEAF-01", weight=3),
    Step("X.requires_grad_(False)", "X:extra_leaf", "switched_off(X)", "ACC-27", weight=2),
    Step(
        "H = X * X\nX.requires_grad_(False)\nH.sum().backward()\nX.grad\nX.requires_grad_()\n"
        "(X * 2.0).sum().backward()\nX.grad",
        "X:real_leaf", "", "ACC-27", weight=2,
    ),
    Step("H.requires_grad_(False)", "H:inner", "", "LEAF-04"),
    Step("H.requires_grad = False", "H:inner", "", "LEAF-04"),
    Step("I = torch.tensor([1, 2])\nI.requires_grad_()", "", "", "LEAF-03"),
    Step("(X.is_leaf, X.requires_grad, X.grad_fn is None)", "X:anything", "", "LEAF-01"),
    Step("X = X * C", "X:inner C:constant", "forget(X)", "LEAF-17"),
    Step(
        "Y = X.detach().requires_grad_()\n(X * Y).sum().backward()\n(X.grad, Y.grad)",
        "X:leaf", "", "LEAF-18", weight=2,
    ),
    Step("H = C * 2.0\n(H.requires_grad, H.is_leaf)", "C:plain", "", "LEAF-02"),
    Step("H = C * X\nH.requires_grad", "C:plain_float X:like(C)", "H=same(C,X)", "LEAF-02", weight=2),
    Step("X.grad_fn.next_functions", "X:inner", "", "LEAF-16"),
    Step("del X", "X:inner", "forget(X)", "ACC-29"),
)

MODES = (
    Step(
        "with torch.no_grad():\n    H = X * C\nH.requires_grad",
        "X:grad C:constant", "H=constant(X)", "MODE-01", weight=4,
    ),
    Step(
        "with torch.no_grad():\n    with torch.enable_grad():\n        H = X * C\n    D = X * 2.0",
        "X:grad C:constant", "H=same(X); D=constant(X)", "MODE-01", weight=2,
    ),
    Step("with torch.set_grad_enabled(G):\n    H = X * X\nH.requires_grad", "X:grad G:flag", "", "MODE-01"),
    Step(
        "with torch.no_grad():\n    L.backward(S, retain_graph=True)\ntorch.is_grad_enabled()",
        "L:root S:tensor_seed(L)", "", "MODE-02", weight=2,
    ),
    Step("with torch.no_grad():\n    H = X * 2.0\n    H.sum().backward()", "X:grad", "", "MODE-01 ERROR-01"),
    Step(
        "with torch.no_grad():\n    Y = V.requires_grad_()\n(Y * Y).sum().backward()\nY.grad",
        "X:grad V:values(X)", "", "LEAF-14",
    ),
    Step(
        "with torch.no_grad():\n    raise ValueError(\"out\")\ntorch.is_grad_enabled()\nX * 2.0",
        "X:grad", "", "MODE-01 ERROR-09",
    ),
    Step("L.backward(S, retain_graph=True)\nH = X * X\nH.requires_grad\nH.sum().backward()",
         "X:leaf L:root S:wrong_seed(L)", "", "ERROR-09", weight=2),
    Step("with torch.inference_mode():\n    H = X * 2.0\nX * H", "X:leaf", "", "MODE-04"),
    Step(
        "with thread(\"a\"):\n    H = X * X\n    H.sum().backward()\nX.grad",
        "X:grad", "", "CONCURRENCY-06",
    ),
    Step(
        "H = X * 1.0\nfor _ in range(60):\n    H = H * 1.0 + 0.0\nH.sum().backward()\nX.grad",
        "X:grad", "", "CONCURRENCY-01", weight=2,
    ),
    Step(
        "H = X * C\nfor _ in range(10):\n    H = H + H\nH.sum().backward()\nX.grad",
        "X:grad C:constant", "", "CONCURRENCY-02", weight=2,
    ),
)
