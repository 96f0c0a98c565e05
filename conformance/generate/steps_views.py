"""Steps with views and in-place operations: version counters, rewritten histories, refused writes."""

from __future__ import annotations

from conformance.generate.templates import Step

VIEWS = (
    Step("V = X[A]", "X:ranked A:at(X)", "V=view(X,row)", "VIEW-13", weight=3),
    Step("V = X[:1]", "X:ranked", "V=view(X,first)", "VIEW-13", weight=2),
    Step("V = X[1:]", "X:ranked(2)", "V=view(X,tail)", "VIEW-13", weight=2),
    Step("V = X[::2]", "X:ranked(2)", "V=view(X,every_second)", "VIEW-13"),
    Step("V = X.t()", "X:protected(matrix)", "V=view(X,swapped)", "VIEW-13", weight=3),
    Step("V = X.view(-1)", "X:protected(grad)", "V=view(X,flat)", "VIEW-12", weight=2),
    Step("V = X.reshape(-1)", "X:protected(grad)", "V=view(X,flat)", "VIEW-12"),
    Step("V = X.unsqueeze(0)", "X:protected(grad)", "V=view(X,front)", "VIEW-13"),
    Step("V = X.unsqueeze(-1)", "X:protected(grad)", "V=view(X,back)", "VIEW-13"),
    Step("V = X.diagonal()", "X:matrix", "V=view(X,diagonal)", "VIEW-13"),
    Step("V = X.narrow(0, 0, 1)", "X:ranked", "V=view(X,first)", "VIEW-13"),
    Step("V = X.select(0, A)", "X:ranked A:at(X)", "V=view(X,row)", "VIEW-13"),
    Step("V = X.expand(2, *X.shape)", "X:grad", "V=locked_view(X,two)", "VIEW-11", weight=2),
    Step("V = X.unfold(0, 2, 1)", "X:long_vector", "V=locked_view(X,windows)", "VIEW-13"),
    Step(
        "V = X.as_strided((2, 2), (1, 1))\n(V * W).sum().backward()\nX.grad",
        "X:long_vector W:values_of_four(X)", "", "VIEW-13", weight=2,
    ),
    Step("V = X.as_strided((2,), (1,), 1)\n(V * V).sum().backward()\nX.grad", "X:long_vector", "", "VIEW-13"),
    Step(
        "V, W = X.unbind()",
        "X:two_rows", "V=locked_view(X,row); W=locked_view(X,row)", "VIEW-06", weight=2,
    ),
    Step("V, W = X.split(1)", "X:two_rows", "V=locked_view(X,first); W=locked_view(X,first)", "VIEW-06"),
    Step("V, W = X.chunk(2)", "X:two_rows", "V=locked_view(X,first); W=locked_view(X,first)", "VIEW-06"),
    Step("V = X.t()[0].unsqueeze(-1)", "X:protected(matrix)", "", "VIEW-01"),
    Step("V = X.t().view(-1)", "X:protected(matrix)", "", "VIEW-12"),
    Step("(V._is_view(), V._base is X)", "X:grad V:anything", "", "VIEW-01"),
    Step("D = X.detach()", "X:grad", "D=alias(X)", "LEAF-09", weight=3),
    Step("H = X * X.detach()", "X:grad", "H=same(X)", "LEAF-09", weight=2),
)

INPLACE = (
    Step("X.mul_(C)", "X:writable C:constant", "wrote(X)", "INPLACE-05", weight=4),
    Step("X.add_(C)", "X:writable C:constant", "wrote(X)", "INPLACE-05", weight=3),
    Step("X.mul_(Y)", "X:writable Y:like(X)", "wrote(X,Y)", "INPLACE-14", weight=4),
    Step("X.add_(Y)", "X:writable Y:protected(like,X)", "wrote(X,Y)", "INPLACE-05", weight=3),
    Step("X += Y * C", "X:writable Y:like(X) C:constant", "wrote(X,Y)", "INPLACE-05", weight=2),
    Step("X -= C", "X:writable C:constant", "wrote(X)", "INPLACE-05"),
    Step("X /= C", "X:writable C:constant", "wrote(X)", "INPLACE-14"),
    Step("X *= X.detach()", "X:writable", "wrote(X)", "INPLACE-14"),
    Step("X.div_(Y)", "X:writable Y:like(X)", "wrote(X,Y)", "INPLACE-14"),
    Step("X.mul_(X)", "X:writable", "wrote(X)", "INPLACE-14"),
    Step("X.zero_()", "X:writable", "wrote(X)", "INPLACE-10", weight=2),
    Step("X.fill_(C)", "X:writable C:constant", "wrote(X)", "INPLACE-10"),
    Step("X.copy_(Y * C)", "X:writable Y:like(X) C:constant", "wrote(X,Y)", "INPLACE-09", weight=3),
    Step("X.copy_(V)", "X:writable V:values(X)", "wrote(X)", "INPLACE-09"),
    *(
        Step(f"X.{name}_()", "X:writable", "wrote(X)", "INPLACE-14")
        for name in ["relu", "exp", "tanh", "sigmoid", "neg", "abs", "sqrt", "sin", "reciprocal"]
    ),
    Step("X.pow_(2)", "X:writable", "wrote(X)", "INPLACE-14"),
    Step("X.clamp_(-1.0, 2.0)", "X:writable", "wrote(X)", "INPLACE-14"),
    Step("X.masked_fill_(M, C)", "X:writable M:mask(X) C:constant", "wrote(X)", "INPLACE-15"),
    Step("X[A] = C", "X:rows A:at(X) C:constant", "wrote(X)", "INPLACE-07", weight=3),
    Step(
        "X[A] = Y[B] * C",
        "X:rows A:at(X) Y:like(X) B:at(X) C:constant", "wrote(X,Y)", "INPLACE-07", weight=3,
    ),
    Step("X[:1] = Y[:1] * C", "X:rows Y:like(X) C:constant", "wrote(X,Y)", "INPLACE-07"),
    Step("X[A] *= C", "X:rows A:at(X) C:constant", "wrote(X)", "INPLACE-07"),
    Step("X[I] = C", "X:rows I:positions(X) C:constant", "wrote(X)", "INPLACE-15"),
    Step("X[I] += V", "X:rows I:positions(X) V:row_values(X)", "wrote(X)", "INPLACE-15"),
    Step("X[M] = C", "X:writable M:mask(X) C:constant", "wrote(X)", "INPLACE-15"),
    Step("X[...] = Y", "X:writable Y:real_scalar_leaf", "wrote(X,Y)", "INPLACE-08", weight=2),
    Step("X.unsqueeze_(0)", "X:new_inner", "forget(X)", "VIEW-17"),
    Step("X.t_()\n(X * X).sum().backward(retain_graph=True)", "X:new_matrix", "forget(X)", "VIEW-17"),
    Step("X.detach_()\nX * 2.0", "X:new_inner", "forget(X)", "LEAF-09 INPLACE-19"),
    Step("X.add_(torch.ones(3, *X.shape))", "X:writable", "", "INPLACE-18"),
    Step("C.add_(X * D)", "X:real D:constant C:plain_like(X)", "wrote(C,X)", "INPLACE-06", weight=2),
    Step("C.mul_(X)", "X:real C:plain_like(X)", "wrote(C,X)", "INPLACE-06"),
    Step(
        "C[A] = X[A] * 2.0",
        "X:rows A:at(X) C:plain_like(X)", "wrote(C,X)", "INPLACE-06 INPLACE-07", weight=2,
    ),
)

LEAVES = (
    Step("X.add_(C)", "X:leaf C:constant", "", "INPLACE-01 INPLACE-16", weight=2),
    Step("X.mul_(C)\nX._version", "X:leaf C:constant", "", "INPLACE-01 INPLACE-16"),
    Step("X[0] = C\nX._version", "X:leaf C:constant", "", "INPLACE-01"),
    Step("X.view(-1).add_(C)", "X:leaf C:constant", "", "INPLACE-02"),
    Step("V = X[:1]\nV.mul_(C)\nV", "X:ranked_leaf C:constant", "", "INPLACE-02"),
    Step(
        "with torch.no_grad():\n    X.add_(C)\nX._version",
        "X:leaf C:constant", "wrote(X)", "INPLACE-03", weight=3,
    ),
    Step(
        "with torch.no_grad():\n    X.mul_(C)\n    X[...] = D",
        "X:leaf C:constant D:constant", "wrote(X)", "INPLACE-03",
    ),
    Step(
        "with torch.no_grad():\n    X -= 0.5 * X.grad\n    X.grad.zero_()",
        "X:leaf", "wrote(X)", "INPLACE-03 ACC-15", weight=2,
    ),
    Step("X.detach().add_(C)\nX._version", "X:leaf C:constant", "wrote(X)", "INPLACE-11"),
    Step("X.data.mul_(C)\nX._version", "X:leaf C:constant", "", "INPLACE-11 INPLACE-17"),
    Step(
        "H = X * X\nwith torch.no_grad():\n    X.mul_(2.0)\nH.sum().backward()",
        "X:leaf", "wrote(X)", "ACC-26 MODE-06", weight=3,
    ),
    Step(
        "H = X + 1.0\nwith torch.no_grad():\n    X.mul_(2.0)\nH.sum().backward()",
        "X:leaf", "wrote(X)", "ACC-26",
    ),
)

SAVED = (
    Step("H = X * C\nM = H * H\nH.add_(1.0)\n(M * V).sum().backward()", "X:real C:constant V:values(X)", "",
         "INPLACE-04", weight=4),
    Step("H = X.exp()\nH.mul_(2.0)\nH.sum().backward()\nX.grad", "X:real", "", "INPLACE-04", weight=2),
    Step("H = X * V\nV.zero_()\nH.sum().backward()", "X:real V:plain_like(X)", "", "INPLACE-04", weight=2),
    Step(
        "H = X * V\nV.mul_(2.0)\nH.sum().backward()\nV._version",
        "X:real V:plain_like(X)", "", "INPLACE-04",
    ),
    Step("H = X + V\nV.mul_(2.0)\nH.sum().backward()", "X:protected(real) V:plain_like(X)", "", "INPLACE-13"),
    Step("H = X * C\nM = H * H\nW = H[:1]\nW.add_(1.0)\nM.sum().backward()", "X:ranked_real C:constant", "",
         "VIEW-10", weight=3),
    Step(
        "H = X * C\nM = H * H\nH.detach().mul_(2.0)\nM.sum().backward()",
        "X:real C:constant", "", "INPLACE-11 INPLACE-17", weight=2,
    ),
    Step(
        "H = X * C\nM = H * H\nN = H.clone()\nN.mul_(3.0)\n(M + N).sum().backward()",
        "X:real C:constant", "", "INPLACE-21",
    ),
    Step("H = X * C\nH.add_(1.0)\nM = H * H\nM.sum().backward()", "X:real C:constant", "", "INPLACE-21"),
    Step(
        "H = X * C\nM = H * H\nwith torch.no_grad():\n    H.zero_()\nM.sum().backward()\nX.grad",
        "X:real C:constant", "", "MODE-06",
    ),
    Step(
        "H = X * C\nM = H * H\nN = H + 1.0\nH.mul_(2.0)\nN.sum().backward()\nM.sum().backward()",
        "X:real C:constant", "", "INPLACE-13",
    ),
    Step("J = I\nH = X[J]\nJ.zero_()\nH.sum().backward()", "X:ranked I:positions(X)", "", "INPLACE-04"),
    Step(
        "L = (X * V).sum()\nL.backward(retain_graph=True)\nwith torch.no_grad():\n    V.add_(1.0)\n"
        "L.backward()",
        "X:real V:plain_like(X)", "", "INPLACE-04",
    ),
)

REWRITTEN = (
    Step(
        "B = X * C\nV = B[:1]\nV.mul_(D)\n(B * W).sum().backward()\nX.grad",
        "X:ranked_real C:constant D:constant W:values(X)", "", "VIEW-02", weight=4,
    ),
    Step("B = X * C\nV = B[:1]\nV.mul_(Y[:1])\n(B * W).sum().backward()\nX.grad",
         "X:ranked_real C:constant Y:leaf_like(X) W:values(X)", "", "VIEW-02", weight=3),
    Step(
        "B = X * C\nV = B.t()\nB.mul_(Y)\n(V * V).sum().backward()\nX.grad",
        "X:real_matrix C:constant Y:leaf_like(X)", "", "VIEW-03", weight=3,
    ),
    Step(
        "B = X * C\nV = B[1:]\nB.mul_(D)\nV.grad_fn is None\n(V * V).sum().backward()",
        "X:real_rows C:constant D:constant", "", "VIEW-03", weight=3,
    ),
    Step(
        "B = X * C\nV = B[:1]\nW = B[:1]\nV.zero_()\n(W * 2.0 + B[:1]).sum().backward()\nX.grad",
        "X:ranked_real C:constant", "", "VIEW-04", weight=2,
    ),
    Step(
        "B = torch.zeros_like(X)\nV = B[:1]\nV.add_(X[:1] * D)\n(B.requires_grad, V.requires_grad)\n"
        "B.sum().backward()",
        "X:ranked_real D:constant", "", "VIEW-05", weight=3,
    ),
    Step("B = X * C\nV = B[:1]\nV.copy_(Y[:1] * 2.0)\n(B * W).sum().backward()\nX.grad",
         "X:ranked_real C:constant Y:leaf_like(X) W:values(X)", "", "VIEW-02 INPLACE-09", weight=2),
    Step(
        "B = X * C\nV = B[:1]\nU = V * 3.0\nB.mul_(2.0)\n(U + V).sum().backward()\nX.grad",
        "X:ranked_real C:constant", "", "VIEW-16",
    ),
    Step(
        "B = X * C\nV = B.t()[:1]\nV.mul_(D)\n(B * W).sum().backward()\nX.grad",
        "X:real_matrix C:constant D:constant W:values(X)", "", "VIEW-02",
    ),
    Step(
        "B = X * C\nV = B.as_strided((2,), (1,))\nV.mul_(D)\n(B * W).sum().backward()\nX.grad",
        "X:long_vector C:constant D:constant W:values(X)", "", "VIEW-02",
    ),
    Step(
        "B = X * C\nV = B.diagonal()\nV.mul_(D)\n(B * W).sum().backward()\nX.grad",
        "X:square C:constant D:constant W:values(X)", "", "VIEW-02",
    ),
    Step(
        "B = X * C\nV, W = B.unbind()\nV.mul_(D)\nV",
        "X:two_rows C:constant D:constant", "", "VIEW-06", weight=2,
    ),
    Step(
        "B = X * C\nV, W = B.split(1)\nB.mul_(D)\nV * 2.0\nB.sum().backward()",
        "X:two_rows C:constant D:constant", "", "VIEW-07", weight=2,
    ),
    Step("B = X * C\nV = B.expand(2, *B.shape)\nV.mul_(D)", "X:real C:constant D:constant", "", "VIEW-11"),
    Step(
        "B = X * C\nwith torch.no_grad():\n    V = B[:1]\nV.mul_(D)",
        "X:ranked_real C:constant D:constant", "", "VIEW-08",
    ),
    Step(
        "B = X * C\nwith torch.no_grad():\n    B[:1].mul_(D)\nB.sum().backward()",
        "X:ranked_real C:constant D:constant", "", "VIEW-08",
    ),
    Step(
        "B = V\nW = B[:1]\nB.requires_grad_()\nW.requires_grad\n(W * 2.0).sum().backward()\nB.grad",
        "X:ranked_real V:values(X)", "", "VIEW-18",
    ),
    Step("H = torch.zeros_like(X)\nH[0] = X[0] * C\nH[A] = X[A] * D\n(H * W).sum().backward()\nX.grad",
         "X:ranked_real A:at(X) C:constant D:constant W:values(X)", "", "INPLACE-07", weight=3),
    Step(
        "H = X * C\nH.fill_(D)\n(H * W).sum().backward()\nX.grad",
        "X:real C:constant D:constant W:values(X)", "", "INPLACE-10", weight=2,
    ),
    Step(
        "H = X * 1.0\nH[...] = Y\n(H * W).sum().backward()\nY.grad",
        "X:real Y:real_scalar_leaf W:values(X)", "", "INPLACE-08", weight=3,
    ),
    Step(
        "H = X * C\nH[0] = Y\nH[0] = 3.0\nH.sum().backward()\nY.grad",
        "X:ranked_real C:constant Y:real_scalar_leaf", "", "INPLACE-07",
    ),
    Step(
        "H = X * C\nH.retain_grad()\nH.mul_(D)\n(H * W).sum().backward()\nH.grad",
        "X:real C:constant D:constant W:values(X)", "", "LEAF-06", weight=2,
    ),
)

LAYOUTS = (
    Step(
        "X = W.t().requires_grad_()\n(X * X).backward(V)\nX.grad.stride()",
        "Y:matrix W:values(Y) V:flipped_values(Y)", "", "LAYOUT-01", weight=2,
    ),
    Step(
        "X = W.t().requires_grad_()\nL = X.sum()\nL.backward()\nX.grad",
        "Y:matrix W:values(Y)", "", "LAYOUT-01",
    ),
    Step(
        "X = W[:, ::2].requires_grad_()\nL = (X * X).sum()\nL.backward()\nX.grad",
        "Y:matrix W:values(Y)", "", "LAYOUT-02",
    ),
)
