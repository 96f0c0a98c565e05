"""tinygrad: lazy, without requires_grad: all that a pass reaches has a gradient, constants too."""

import os

ENGINE = {
    "name": "tinygrad",
    "version": "0.14.0",
    "requires": ["tinygrad==0.14.0", "numpy==2.4.6"],
    "python": ">=3.11",
    "prefers": "3.11",
    "licence": "MIT",
    "reached": "adapter in its own process",
    "homepage": "https://tinygrad.org/",
    "environment": {"DEV": "PYTHON"},
    "note": "runs without a compiler on DEV=PYTHON (DEV=CPU needs clang-19, CC=clang-19); reading a value, "
    "as is done after each statement, realizes it, and can cut it off from its graph",
}
SAME = (
    "exp exp2 log log2 log10 sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf "
    "abs sign floor ceil trunc round square reciprocal neg relu sigmoid softplus gelu silu elu selu "
    "leaky_relu softmax log_softmax logsumexp maximum minimum sum mean prod std var all any matmul dot "
    "reshape view permute transpose squeeze unsqueeze expand flatten unflatten clamp clip clone where "
    "masked_fill cumsum cumprod diag diagonal tril triu flip roll repeat unfold lerp logaddexp isnan "
    "isinf isfinite isclose contiguous gather split chunk argmax argmin argsort bitwise_and bitwise_not "
    "bitwise_or bitwise_xor celu copysign cummax cummin fmod is_floating_point logcumsumexp logical_not "
    "nonzero repeat_interleave sort topk std_mean var_mean allclose bool double float half int long short"
).split()


def conformance_engine(runner, device):
    import numpy
    import tinygrad
    from tinygrad import dtypes

    wrapped = runner.load_file(os.path.join(os.path.dirname(__file__), "_wrapped.py"))
    names = "bool int8 int16 int32 int64 uint8 float16 float32 float64".split()
    named = {str(getattr(dtypes, name)): name for name in names}

    def listed(function):
        return lambda tensors, dim=0: function(tensors[0], *tensors[1:], dim=dim)

    class Tensor(wrapped.Tensor):
        ops = dict(
            {name: getattr(tinygrad.Tensor, name) for name in SAME},
            max=lambda x: x.max(), min=lambda x: x.min(),
            amax=lambda x, dim=None, keepdim=False: x.max(dim, keepdim),
            amin=lambda x, dim=None, keepdim=False: x.min(dim, keepdim),
            mm=tinygrad.Tensor.matmul, mv=tinygrad.Tensor.matmul, t=lambda x: x.transpose(),
            stack=listed(tinygrad.Tensor.stack), cat=listed(tinygrad.Tensor.cat),
            **{name: wrapped.BINARY[own] for name, own in wrapped.NAMED.items()},
            **wrapped.COMPARED
        )  # fmt: skip
        requires_grad = property(lambda self: True)  # there is no such thing
        shape = property(lambda self: tuple(self.raw.shape))
        dtype = property(
            lambda self: named.get(str(self.raw.dtype)) or wrapped.DType(str(self.raw.dtype), None)
        )
        T = property(lambda self: self.wrap(self.raw.transpose()))

        def __init__(self, raw, is_leaf=False):
            self.raw, self.is_leaf = raw, is_leaf

        @classmethod
        def is_own(cls, value):
            return isinstance(value, tinygrad.Tensor)

        @property
        def grad(self):
            return None if self.raw.grad is None else Tensor(self.raw.grad, is_leaf=True)

        @grad.setter
        def grad(self, value):
            self.raw.grad = None if value is None else value.raw

        def backward(self, gradient=None, *others):
            if others:
                raise self.unsupported("Tensor.backward(retain_graph=)")
            self.raw.backward(self.own(gradient))

        def change(self, op, *args):
            if op not in IN_PLACE:
                raise self.unsupported("this operation in place")
            self.raw = IN_PLACE[op](self.raw, *[self.own(arg) for arg in args])
            return self

        def store(self, index, value):
            self.raw[self.own(index)] = self.own(value)

        def detach(self):
            return Tensor(self.raw.detach(), is_leaf=True)

        def numel(self):
            return int(numpy.prod(self.shape, dtype=int))

        def dim(self):
            return len(self.shape)

        @classmethod
        def wrap(cls, value):
            if isinstance(value, tinygrad.Tensor):
                len(value.shape)  # it is lazy: an error belongs to the operation, not to who looks first
            return super().wrap(value)

        def array(self):
            raw = self.raw
            if raw.device is None:  # a constant lives nowhere; one multiplication gives it a device
                one = tinygrad.Tensor([1]).cast(raw.dtype).reshape((1,) * len(raw.shape))
                raw = raw * one.expand(raw.shape)
            return raw.numpy()

        def tolist(self):
            return self.array().tolist()

        def item(self):
            return self.array().item()

    IN_PLACE = {wrapped.BINARY[own]: runner.IN_PLACE[sign] for own, sign in
                zip(("add", "sub", "mul", "truediv", "pow"), ("+", "-", "*", "/", "**"))}  # fmt: skip

    class Engine(wrapped.engine(runner)):
        made_up = unread = frozenset(("requires_grad", "is_leaf"))

        differs = runner.constant(**{
            "Tensor.size": "also gives one number for each dimension, as an attribute",
            "Tensor.bfloat16": "cannot be read without a compiler",
            "torch.meshgrid": "takes another order of dimensions",
            "torch.numel": "a method alone",
            "torch.detach": "a method alone",
        })  # fmt: skip

        def native(self):
            return tinygrad.Tensor, tinygrad.Tensor([1.0, 2.0])

    def create(values, dtype, requires_grad):
        made = tinygrad.Tensor(numpy.array(values, dtype.name), dtype=dtype.own)
        return Tensor(made, is_leaf=True)

    known = {name: getattr(dtypes, name) for name in names}
    space = wrapped.namespace(
        runner, "tinygrad", ENGINE["version"], Tensor, known, create,
        {"einsum": lambda s, *x: Tensor.apply(tinygrad.Tensor.einsum, s, *x)},
    )  # fmt: skip
    named.update((own, getattr(space, name)) for own, name in named.items())
    return Engine(space, "tinygrad", {"main": device})
