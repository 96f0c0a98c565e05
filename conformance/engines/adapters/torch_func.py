"""torch.func.vjp: torch's functional way, for values, seeds, higher orders and subgradients."""

import os

ENGINE = {
    "name": "torch-func-vjp",
    "version": "2.13.0",
    "requires": [],
    "python": ">=3.10",
    "prefers": "",
    "licence": "BSD-3-Clause",
    "reached": "adapter beside the suite's own torch, through torch.func.vjp",
    "homepage": "https://docs.pytorch.org/docs/stable/func.html",
    "in_process": True,
}
OPERATIONS = (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh "
    "atanh erf erfc abs sign floor ceil trunc round frac square reciprocal neg relu sigmoid maximum "
    "minimum fmax fmin atan2 hypot fmod remainder lerp xlogy logaddexp add sub mul div pow matmul mm mv "
    "dot outer bmm sum mean prod std var norm amax amin max min median logsumexp softmax log_softmax "
    "cumsum cumprod cummax cummin all any reshape view permute transpose t squeeze unsqueeze expand "
    "flatten broadcast_to movedim diag diagonal tril triu trace flip roll repeat unfold gather "
    "index_select masked_fill masked_select take where clamp clamp_min clamp_max clone select narrow "
    "split chunk unbind sort topk real imag conj angle eq ne lt le gt ge isnan isinf isfinite nan_to_num "
    "det inverse kron cross addmm baddbmm sinc copysign digamma lgamma logit prelu"
).split()
JOINED = "stack cat einsum hstack vstack meshgrid tensordot where".split()
FUNCTIONAL = (
    "relu softplus gelu silu elu selu leaky_relu softmax log_softmax mse_loss l1_loss hardtanh "
).split()


def conformance_engine(runner, device):
    import torch

    here = os.path.dirname(__file__)
    wrapped = runner.load_file(os.path.join(here, "_wrapped.py"))

    def vjp(function, primals, seeds):
        _, pull = torch.func.vjp(lambda *values: tuple(function(*values)), *primals)
        return pull(tuple(seeds))

    class Tensor(runner.load_file(os.path.join(here, "_tape.py")).taped(runner, wrapped, vjp)):
        ops = {name: getattr(torch.Tensor, name) for name in OPERATIONS if hasattr(torch.Tensor, name)}
        shape = property(lambda self: tuple(self.raw.shape))
        dtype = property(lambda self: getattr(self.space, str(self.raw.dtype).rpartition(".")[2]))
        T = property(lambda self: self.apply(torch.t, self))

        @classmethod
        def is_own(cls, value):
            return isinstance(value, torch.Tensor)

        def numel(self):
            return self.raw.numel()

        def dim(self):
            return self.raw.dim()

        def numpy(self):
            return self.raw.resolve_conj().resolve_neg().numpy()

        def tolist(self):
            return self.raw.tolist()

        def item(self):
            return self.raw.item()

    class Engine(runner.Engine):
        unread = frozenset(("is_leaf", "requires_grad", "grad_mode"))  # the tape's

    def create(values, dtype, requires_grad):
        return Tensor(torch.tensor(values, dtype=dtype.own), requires_grad)

    def tied(op):
        return lambda *args, **kwargs: Tensor.apply(op, *args, **kwargs)

    functions = dict(Tensor.functions, **{name: tied(getattr(torch, name)) for name in JOINED})
    functions.update(
        ("nn.functional." + name, tied(getattr(torch.nn.functional, name))) for name in FUNCTIONAL
    )
    names = "bool int8 int16 int32 int64 uint8 float16 bfloat16 float32 float64 complex64 complex128".split()
    dtypes = {name: getattr(torch, name) for name in names}
    space = wrapped.namespace(runner, "torch_func", torch.__version__, Tensor, dtypes, create, functions)
    return Engine(space, "torch-func-vjp", {"main": device})
