"""mlx: arrays with numpy's names, and `vjp(function, primals, cotangents)`. There is no graph to free."""

import os

ENGINE = {
    "name": "mlx",
    "version": "0.32.4",
    "requires": ["mlx[cpu]==0.32.4", "numpy==2.4.6"],
    "python": ">=3.10",
    "prefers": "3.11",
    "licence": "MIT",
    "reached": "adapter in its own process, through vjp",
    "homepage": "https://github.com/ml-explore/mlx",
}


def conformance_engine(runner, device):
    import mlx.core as mx
    import mlx.nn as nn
    import numpy

    mx.set_default_device(mx.cpu)
    here = os.path.dirname(__file__)
    wrapped = runner.load_file(os.path.join(here, "_wrapped.py"))
    names = "int8 int16 int32 int64 uint8 float16 float32 float64 complex64".split()
    dtypes = dict({name: getattr(mx, name) for name in names}, bool=mx.bool_)
    named = {str(own): name for name, own in dtypes.items()}

    def vjp(function, primals, seeds):
        return mx.vjp(function, primals, seeds)[1]

    class Tensor(runner.load_file(os.path.join(here, "_tape.py")).taped(runner, wrapped, vjp)):
        ops = wrapped.numpy_like(
            mx, relu=lambda x: mx.maximum(x, 0), sigmoid=mx.sigmoid,
            softmax=lambda x, dim: mx.softmax(x, axis=dim), softplus=nn.softplus, gelu=nn.gelu, silu=nn.silu,
            log_softmax=lambda x, dim: nn.log_softmax(x, axis=dim), elu=nn.elu,
            leaky_relu=nn.leaky_relu,
            logsumexp=lambda x, dim, keepdim=False: mx.logsumexp(x, axis=dim, keepdims=keepdim),
            clone=lambda x: x * 1, diag=mx.diag,
        )  # fmt: skip
        shape = property(lambda self: tuple(self.raw.shape))
        dtype = property(lambda self: getattr(self.space, named[str(self.raw.dtype)]))
        T = property(lambda self: self.apply(mx.transpose, self))

        @classmethod
        def is_own(cls, value):
            return isinstance(value, mx.array)

        def numel(self):
            return self.raw.size

        def dim(self):
            return self.raw.ndim

        def array(self):
            return numpy.array(self.raw)

        def tolist(self):
            return self.raw.tolist()

        def item(self):
            return self.raw.item()

    class Engine(wrapped.engine(runner)):
        made_up = frozenset(("is_leaf", "requires_grad"))  # the tape's
        unread = frozenset(("is_leaf", "requires_grad", "grad_mode"))
        differs = wrapped.NUMPY_DIFFERS

        def native(self):
            return mx, mx.array([1.0, 2.0])

    def create(values, dtype, requires_grad):
        return Tensor(mx.array(numpy.array(values, dtype.name), dtype=dtype.own), requires_grad)

    functions = dict(Tensor.functions, einsum=lambda s, *x: Tensor.apply(lambda *v: mx.einsum(s, *v), *x))
    space = wrapped.namespace(runner, "mlx", ENGINE["version"], Tensor, dtypes, create, functions)
    return Engine(space, "mlx", {"main": device})
