"""HIPS autograd: numpy's functions, and `make_vjp`. There is no in-place operation and no graph to free."""

import os

ENGINE = {
    "name": "autograd",
    "version": "1.9.1",
    "requires": ["autograd==1.9.1", "numpy==2.4.6", "scipy==1.17.1"],
    "python": ">=3.10",
    "prefers": "3.11",
    "licence": "MIT",
    "reached": "adapter in its own process, through make_vjp",
    "homepage": "https://github.com/HIPS/autograd",
}


def conformance_engine(runner, device):
    import autograd
    import autograd.numpy as np
    import numpy
    from autograd.scipy.special import expit, logsumexp

    here = os.path.dirname(__file__)
    wrapped = runner.load_file(os.path.join(here, "_wrapped.py"))
    names = "bool int8 int16 int32 int64 uint8 float16 float32 float64 complex64 complex128".split()

    def vjp(function, primals, seeds):
        if len(seeds) != 1:
            raise runner.Unsupported("a pass from several roots")
        return autograd.make_vjp(lambda values: function(*values)[0])(tuple(primals))[0](seeds[0])

    class Tensor(runner.load_file(os.path.join(here, "_tape.py")).taped(runner, wrapped, vjp)):
        ops = wrapped.numpy_like(
            np,
            sigmoid=expit,
            logsumexp=lambda x, dim, keepdim=False: logsumexp(x, axis=dim, keepdims=keepdim),
            clone=lambda x: x * 1, diag=np.diag,
        )  # fmt: skip
        shape = property(lambda self: numpy.shape(self.raw))
        dtype = property(lambda self: getattr(self.space, str(self.raw.dtype)))
        T = property(lambda self: self.apply(np.transpose, self))

        @classmethod
        def is_own(cls, value):
            return isinstance(value, (numpy.ndarray, numpy.generic))

        def numel(self):
            return int(self.raw.size)

        def dim(self):
            return self.raw.ndim

        def array(self):
            return numpy.asarray(self.raw)

        def tolist(self):
            return self.raw.tolist()

        def item(self):
            return self.raw.item()

    class Engine(wrapped.engine(runner)):
        made_up = frozenset(("is_leaf", "requires_grad"))  # the tape's
        unread = frozenset(("is_leaf", "requires_grad", "grad_mode", "dtype"))
        differs = dict(wrapped.NUMPY_DIFFERS, **{"torch.linalg.vector_norm": "has no gradient"})

        def native(self):
            return np, numpy.array([1.0, 2.0])

    def create(values, dtype, requires_grad):
        return Tensor(numpy.array(values, dtype.own), requires_grad)

    functions = dict(Tensor.functions, einsum=lambda s, *x: Tensor.apply(lambda *v: np.einsum(s, *v), *x))
    space = wrapped.namespace(
        runner, "autograd", ENGINE["version"], Tensor, {name: name for name in names}, create, functions
    )
    return Engine(space, "autograd", {"main": device})
