"""Steps of one recorded operation: the ordinary nodes of a graph."""

from __future__ import annotations

from conformance.generate.templates import Step

_UNARY = ("neg", "square", "abs", "reciprocal", "clone")
_SAVING_RESULT = ("exp", "tanh", "sigmoid", "sqrt", "rsqrt", "expm1")
_SAVING_INPUT = ("sin", "cos", "log", "log1p", "sinh", "cosh", "atan", "asinh", "tan", "log2", "log10")
_REAL_ONLY = ["relu", "floor", "sign", "frac", "round", "trunc", "ceil", "erf", "exp2", "sinc", "nan_to_num"]
_ACTIVATIONS = [
    "relu6", "silu", "softplus", "leaky_relu", "hardtanh", "elu", "logsigmoid", "softsign", "gelu",
    "selu", "celu", "hardshrink", "softshrink",
]

ARITHMETIC = (
    Step("H = X * Y", "X:grad Y:wide(X)", "H=wide(X,Y)", weight=8),
    Step("H = X + Y", "X:grad Y:wide(X)", "H=passed(X,Y)", weight=5),
    Step("H = X - Y", "X:grad Y:wide(X)", "H=passed(X,Y)", weight=3),
    Step("H = Y - X", "X:grad Y:wide(X)", "H=passed(X,Y)", weight=2),
    Step("H = X / Y", "X:grad Y:wide(X)", "H=wide(X,Y)", weight=3),
    Step("H = X * X", "X:grad", "H=same(X)", weight=4),
    Step("H = X * X + X", "X:grad", "H=same(X)", weight=2),
    Step("H = X + X", "X:grad", "H=same(X)", weight=2),
    Step("H = (X + Y) * (X - Y)", "X:grad Y:wide(X)", "H=wide(X,Y)", weight=2),
    Step("H = (X + Y) + X", "X:grad Y:like(X)", "H=same(X,Y)", weight=2),
    Step("H = X * C", "X:grad C:constant", "H=same(X)", weight=4),
    Step("H = C * X + D", "X:grad C:constant D:constant", "H=same(X)", weight=2),
    Step("H = C - X", "X:grad C:constant", "H=same(X)"),
    Step("H = X / C", "X:grad C:constant", "H=same(X)"),
    Step("H = C / X", "X:grad C:constant", "H=same(X)"),
    Step("H = X + C", "X:grad C:constant", "H=passed(X)"),
    Step("H = X ** N", "X:grad N:power", "H=same(X)", weight=3),
    Step("H = X ** Y", "X:real Y:wide(X)", "H=wide(X,Y)"),
    Step("H = torch.add(X, Y, alpha=N)", "X:real Y:wide(X) N:count(4)", "H=passed(X,Y)"),
    Step("H = torch.addcmul(X, Y, Z, value=C)", "X:real Y:like(X) Z:like(X) C:constant", "H=passed(X,Y,Z)"),
    Step("H = torch.lerp(X, Y, C)", "X:exact Y:like(X) C:constant", "H=passed(X,Y)"),
    Step("H = X % C", "X:real C:constant", "H=passed(X)"),
    Step("H = torch.fmod(X, C)", "X:real C:constant", "H=passed(X)"),
    Step("H = torch.atan2(X, Y)", "X:real Y:wide(X)", "H=wide(X,Y)"),
    Step("H = torch.hypot(X, Y)", "X:exact Y:wide(X)", "H=wide(X,Y)"),
    Step("H = torch.logaddexp(X, Y)", "X:exact Y:wide(X)", "H=wide(X,Y)"),
    Step("H = torch.xlogy(X, Y)", "X:exact Y:wide(X)", "H=wide(X,Y)"),
)

SMOOTH = (
    *(
        Step(f"H = X.{name}()", "X:grad", "H=passed(X)" if name == "clone" else "H=same(X)", weight=2)
        for name in _UNARY
    ),
    *(Step(f"H = X.{name}()", "X:grad", "H=saved(X)", weight=2) for name in _SAVING_RESULT),
    *(Step(f"H = torch.{name}(X)", "X:grad", "H=same(X)") for name in _SAVING_INPUT),
)

ACTIVATIONS = tuple(
    Step(f"H = torch.nn.functional.{name}(X)", "X:real", "H=saved(X)") for name in _ACTIVATIONS
)

POINTWISE = (
    *(Step(f"H = X.{name}()", "X:real", "H=saved(X)") for name in _REAL_ONLY),
    Step("H = X.relu()", "X:real", "H=saved(X)", "SUBGRAD-01", weight=3),
    Step("H = X.abs()", "X:real", "H=same(X)", "SUBGRAD-01", weight=3),
    Step("H = X.clamp(-1.0, 1.0)", "X:real", "H=same(X)", "SUBGRAD-02", weight=3),
    Step("H = torch.clamp(X, min=C)", "X:real C:constant", "H=same(X)", "SUBGRAD-02"),
    Step("H = torch.clamp(X, max=Y)", "X:real Y:like(X)", "H=same(X,Y)", "SUBGRAD-02"),
    Step("H = torch.maximum(X, Y)", "X:real Y:wide(X)", "H=wide(X,Y)", "SUBGRAD-04", weight=3),
    Step("H = torch.minimum(X, Y)", "X:real Y:wide(X)", "H=wide(X,Y)", "SUBGRAD-04", weight=2),
    Step("H = torch.fmax(X, Y)", "X:real Y:wide(X)", "H=wide(X,Y)", "SUBGRAD-04"),
    Step("H = torch.where(M, X, Y)", "X:grad Y:like(X) M:mask(X)", "H=same(X,Y)", "SUBGRAD-05", weight=2),
    Step("H = torch.where(X > C, X, Y)", "X:real Y:like(X) C:constant", "H=same(X,Y)", "SUBGRAD-05"),
    Step("H = X.masked_fill(M, C)", "X:grad C:constant M:mask(X)", "H=same(X)"),
    Step("H = torch.cumsum(X, 0)", "X:ranked", "H=same(X)"),
    Step("H = torch.cumprod(X, 0)", "X:ranked", "H=same(X)", "SUBGRAD-09"),
    Step("H = X.softmax(0)", "X:real", "H=saved(X)"),
    Step("H = X.log_softmax(-1)", "X:real", "H=saved(X)"),
    Step("H = X.flip(0)", "X:ranked", "H=same(X)"),
    Step("H = X.roll(1, 0)", "X:ranked", "H=same(X)"),
)

REDUCTIONS = (
    Step("L = (X * C).sum()", "X:grad C:constant", "L=shaped(X,one)", weight=5),
    Step("L = (X * V).sum()", "X:grad V:values(X)", "L=shaped(X,one)", weight=6),
    Step("L = X.sum()", "X:many", "L=total(X)", weight=4),
    Step("L = X.mean()", "X:grad", "L=shaped(X,one)", weight=2),
    Step("L = X.prod()", "X:grad", "L=shaped(X,one)", "SUBGRAD-09"),
    Step("L = X.max()", "X:real", "L=shaped(X,one)", "SUBGRAD-03", weight=2),
    Step("L = X.amin()", "X:real", "L=shaped(X,one)", "SUBGRAD-03"),
    Step("L = X.amax()", "X:real", "L=shaped(X,one)", "SUBGRAD-03", weight=2),
    Step("L = X.norm()", "X:real", "L=shaped(X,one)", "SUBGRAD-08"),
    Step("L = torch.linalg.vector_norm(X, ord=1)", "X:real", "L=shaped(X,one)", "SUBGRAD-08"),
    Step("L = X.logsumexp(0)", "X:vector", "L=shaped(X,one)"),
    Step("L = X.var()", "X:many", "L=magnitude(X,one)"),
    Step("L = X.std()", "X:many", "L=magnitude(X,one)", "SUBGRAD-08"),
    Step("H = X.sum(0)", "X:protected(ranked)", "H=shaped(X,row)", weight=3),
    Step("H = X.sum(-1, keepdim=True)", "X:protected(ranked)", "H=shaped(X,kept_last)", weight=2),
    Step("H = X.sum(1)", "X:protected(square)", "H=shaped(X,row)", weight=3),
    Step("H = X.mean(0)", "X:ranked", "H=shaped(X,row)"),
    Step("H = X.prod(0)", "X:ranked", "H=shaped(X,row)", "SUBGRAD-09"),
    Step("H = X.amax(0)", "X:protected(ranked)", "H=shaped(X,row)", "SUBGRAD-03"),
    Step("V, I = X.max(0)", "X:ranked", "V=shaped(X,row)", "SUBGRAD-03"),
    Step("V, I = X.sort(0)", "X:ranked", "V=same(X)", "SUBGRAD-03"),
    Step("L = torch.nn.functional.mse_loss(X, Y)", "X:exact Y:like(X)", "L=shaped(X,one,Y)"),
    Step("L = torch.nn.functional.smooth_l1_loss(X, Y)", "X:exact Y:like(X)", "L=shaped(X,one,Y)"),
)

PRODUCTS = (
    Step("H = X @ Y", "X:matrix Y:right_of(X)", "H=multiplied(X,Y)", weight=4),
    Step("H = X @ X", "X:square", "H=same(X)", weight=2),
    Step("H = torch.mm(X, X.t())", "X:matrix", "H=shaped(X,with_itself)"),
    Step("L = torch.dot(X, Y)", "X:vector Y:like(X)", "L=shaped(X,one,Y)"),
    Step("H = torch.outer(X, X)", "X:vector", "H=shaped(X,with_itself)"),
    Step("L = X.trace()", "X:square", "L=shaped(X,one)"),
    Step('H = torch.einsum("ij,j->i", X, Y)', "X:square Y:right_of(X)", "H=multiplied(X,Y)"),
    Step("H = torch.nn.functional.linear(X, Y)", "X:square Y:square", "H=same(X,Y)"),
    Step("H = torch.addmm(Y, X, X)", "X:square Y:like(X)", "H=same(X,Y)"),
    Step("H = torch.triu(X)", "X:matrix", "H=same(X)"),
)

SELECTION = (
    Step("H = X[I]", "X:ranked I:positions(X)", "H=picked(X,I)", "SUBGRAD-11", weight=4),
    Step("H = X.index_select(0, I)", "X:ranked I:positions(X)", "H=picked(X,I)", "SUBGRAD-11", weight=2),
    Step("H = torch.gather(X, 0, I)", "X:vector I:positions(X)", "H=picked(X,I)", "SUBGRAD-11"),
    Step("H = torch.take(X, I)", "X:vector I:positions(X)", "H=picked(X,I)", "SUBGRAD-11"),
    Step("H = torch.nn.functional.embedding(I, X)", "X:matrix I:positions(X)", "H=picked(X,I)", "SUBGRAD-11"),
    Step("H = torch.zeros_like(X).index_add(0, I, X)", "X:vector I:positions(X)", "", "SUBGRAD-11"),
    Step("H = X.masked_select(M)", "X:many M:mask(X)"),
    Step("H = torch.cat([X, X])", "X:protected(ranked)", "H=shaped(X,twice)"),
    Step("H = torch.cat([X, Y * C])", "X:protected(ranked) Y:like(X) C:constant", "H=shaped(X,twice,Y)"),
    Step("H = torch.stack([X, Y * C])", "X:protected(ranked) Y:like(X) C:constant", "H=shaped(X,two,Y)"),
    Step("H = X.repeat(2)", "X:vector", "H=shaped(X,twice)"),
)

CASTS = (
    Step("H = X.to(D)", "X:grad D:cast(X)", "H=converted(X,D)", "DTYPE-01", weight=4),
    Step("H = X.double()", "X:real", "H=converted(X,float64)", "DTYPE-01", weight=3),
    Step("H = X.float()", "X:real", "H=converted(X,float32)", "DTYPE-01", weight=2),
    Step("H = X.half()", "X:real", "H=converted(X,float16)", "DTYPE-01"),
    Step("H = X * Y.double()", "X:real Y:like(X)", "H=wide(X,Y)", "DTYPE-01", weight=2),
    Step("H = X * Y.to(D)", "X:real Y:leaf_like(X) D:cast(X)", "H=shaped(X,same,Y)", "DTYPE-01"),
    Step("H = X * Y", "X:real Y:other_leaf(X)", "H=wide(X,Y)", "DTYPE-07", weight=2),
    Step("H = X * Y", "X:many Y:other_scalar(X)", "H=wide(X,Y)", "DTYPE-07", weight=4),
)

COMPLEX_NUMBERS = (
    Step("H = X * Y", "X:complex_valued Y:wide(X)", "H=wide(X,Y)", "DTYPE-03", weight=3),
    Step("H = X.abs()", "X:complex_valued", "H=magnitude(X)", "DTYPE-03", weight=2),
    Step("H = torch.view_as_real(X).sum(-1)", "X:protected(complex_valued)", "H=magnitude(X)", "VIEW-15"),
    Step("H = X.real", "X:protected(complex_valued)", "H=real_part(X)", "VIEW-15", weight=2),
    Step("H = X.imag", "X:protected(complex_valued)", "H=real_part(X)", "VIEW-15"),
    Step("H = X * X.conj()", "X:protected(complex_valued)", "H=same(X)", "DTYPE-03", weight=2),
    Step("H = X.sgn()", "X:complex_valued", "H=same(X)", "DTYPE-03"),
    Step("H = torch.exp(X)", "X:complex_valued", "H=saved(X)", "DTYPE-03"),
    Step("H = X * Y", "X:complex_valued Y:other_leaf(X)", "H=wide(X,Y)", "DTYPE-04", weight=2),
    Step("H = Y * X", "X:complex_valued Y:other_leaf(X)", "H=wide(Y,X)", "DTYPE-04", weight=2),
    Step(
        "H = X * complex(0.5, -2.0)\n(H.real * V).sum().backward()\nX.grad",
        "X:exact V:values(X)", "", "DTYPE-04", weight=2,
    ),
    Step(
        "L = (X * X.conj()).real.sum()",
        "X:protected(complex_valued)", "L=magnitude(X,one)", "DTYPE-03", weight=2,
    ),
)
