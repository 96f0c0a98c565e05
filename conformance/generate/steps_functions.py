"""Steps with custom Functions. Each class is written once in a program, where it is first used."""

from __future__ import annotations

from conformance.generate.templates import Step

CLASSES: dict[str, str] = {
    "Square": """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        log(ctx.needs_input_grad)
        return g * 2.0 * x
""",
    "Product": """
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        log(ctx.needs_input_grad)
        return g * y, g * x
""",
    "Pass": """
class Pass(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0
    @staticmethod
    def backward(ctx, g):
        log(g)
        log(torch.is_grad_enabled())
        return g * 1.0
""",
    "Pair": """
class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2.0, x * 3.0
    @staticmethod
    def backward(ctx, g, h):
        log(g)
        log(h)
        return g * 2.0 + h * 3.0
""",
    "Bare": """
class Bare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2.0, x * 3.0
    @staticmethod
    def backward(ctx, g, h):
        log(g)
        log(h)
        if g is None:
            return h * 3.0
        return g * 2.0
""",
    "Half": """
class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 0.5
        n = x * 0.0
        ctx.mark_non_differentiable(n)
        return y, n
    @staticmethod
    def backward(ctx, g, h):
        log(h)
        return g * 0.5
""",
    "Double": """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2.0)
        return x
    @staticmethod
    def backward(ctx, g):
        return g * 2.0
""",
    "Failing": """
class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1.0
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        raise ValueError("failing")
""",
    "Once": """
class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2.0 * x
""",
    "Surplus": """
class Surplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0
    @staticmethod
    def backward(ctx, g):
        return g * 1.0, g * 1.0
""",
    "Nothing": """
class Nothing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0
    @staticmethod
    def backward(ctx, g):
        return None
""",
    "Scale": """
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k
    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None
""",
    "Wide": """
class Wide(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0
    @staticmethod
    def backward(ctx, g):
        return torch.stack([g * 1.0, g * 2.0])
""",
    "Other": """
class Other(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0
    @staticmethod
    def backward(ctx, g):
        return g.double()
""",
}

FUNCTIONS = (
    Step("H = Square.apply(X)", "X:grad", "H=same(X)", "FUNC-02", weight=4),
    Step(
        "H = Square.apply(X)\nL = (H * V).sum()\nL.backward()\nL.backward()\nX.grad",
        "X:grad V:values(X)", "", "RETAIN-12", weight=2,
    ),
    Step(
        "(G,) = torch.autograd.grad(Square.apply(X).sum(), [X], create_graph=True)\n"
        "(G * V).sum().backward()\nX.grad",
        "X:leaf V:values(X)", "", "HIGHER-06", weight=2,
    ),
    Step("L = Square.apply(X).sum()\nL.backward()\nL.backward()\nX.grad", "X:leaf", "", "RETAIN-12"),
    Step("H = Product.apply(X, Y)", "X:grad Y:like(X)", "H=same(X,Y)", "FUNC-01", weight=4),
    Step(
        "H = Product.apply(X, C)\n(H * V).sum().backward()",
        "X:grad C:plain_like(X) V:values(X)", "", "FUNC-01", weight=2,
    ),
    Step("H = Product.apply(X, X)\n(H * V).sum().backward(inputs=[X])", "X:leaf V:values(X)", "", "FUNC-01"),
    Step("H = Pass.apply(X)", "X:grad", "H=same(X)", "RETAIN-13 CREATE-04", weight=2),
    Step("L = Pass.apply(X).sum()\nL.backward()\nL.backward()", "X:protected(grad)", "", "RETAIN-13"),
    Step(
        "P, Q = Pair.apply(X)\n(P * V).sum().backward()\nX.grad",
        "X:grad V:values(X)", "", "FUNC-06", weight=3,
    ),
    Step("P, Q = Pair.apply(X)", "X:grad", "P=same(X); Q=same(X)", "FUNC-10", weight=2),
    Step(
        "P, Q = Bare.apply(X)\n(Q * V).sum().backward()\nX.grad",
        "X:grad V:values(X)", "", "FUNC-06", weight=2,
    ),
    Step(
        "P, Q = Half.apply(X)\n(P.requires_grad, Q.requires_grad)\n(P * V).sum().backward()",
        "X:grad V:values(X)", "", "FUNC-05", weight=2,
    ),
    Step(
        "H = X * C\nM = Double.apply(H)\n(M is H, H)\n(H * V).sum().backward()\nX.grad",
        "X:real C:constant V:values(X)", "", "FUNC-04", weight=2,
    ),
    Step("Double.apply(X)\nX._version", "X:leaf", "", "FUNC-04"),
    Step(
        "A = X * X\nL = (Failing.apply(A) + Y * Y).sum()\nL.backward()\n(X.grad, Y.grad)\n"
        "torch.is_grad_enabled()\nA.sum().backward()",
        "X:leaf Y:leaf_like(X)", "", "ERROR-02 ERROR-03 RETAIN-08 RETAIN-09", weight=3,
    ),
    Step("L = Failing.apply(X * X).sum()\nL.backward()\nL.backward()", "X:grad", "", "RETAIN-09", weight=2),
    Step(
        "(G,) = torch.autograd.grad(Once.apply(X).sum(), [X], create_graph=True)\nG.requires_grad\n"
        "G.sum().backward()",
        "X:leaf", "", "HIGHER-05",
    ),
    Step(
        "G = torch.autograd.grad((Once.apply(X) ** 2).sum(), [X], create_graph=True)[0]\n"
        "G.requires_grad\nG.sum().backward()",
        "X:leaf", "", "HIGHER-05 HIGHER-10", weight=2,
    ),
    Step("Surplus.apply(X).sum().backward()\nX.grad", "X:grad", "", "ERROR-04", weight=2),
    Step("Nothing.apply(X).sum().backward()\nX.grad", "X:grad", "", "ACC-08", weight=2),
    Step(
        "A = X * X\nL = (Nothing.apply(A) + A * V).sum()\nL.backward()\nX.grad",
        "X:grad V:values(X)", "", "ACC-08 FUNC-14",
    ),
    Step("A = Pass.apply(X)\nL = Nothing.apply(A).sum()\nL.backward()\nX.grad", "X:grad", "", "FUNC-14"),
    Step("H = Scale.apply(X, C)", "X:grad C:constant", "H=same(X)", "FUNC-08", weight=2),
    Step("Wide.apply(X).sum().backward()\nX.grad", "X:grad", "", "ERROR-05"),
    Step("H = Other.apply(X)\n(H * V).sum().backward()\nX.grad", "X:real V:values(X)", "", "DTYPE-02"),
    Step(
        "H = X * C\nM = Square.apply(H)\nH.add_(1.0)\nM.sum().backward()",
        "X:real C:constant", "", "FUNC-02",
    ),
)
