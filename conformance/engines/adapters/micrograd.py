"""micrograd: scalars that are Python's numbers. Every value has a gradient, which begins as 0."""

import os

ENGINE = {
    "name": "micrograd",
    "version": "0.1.0",
    "requires": ["micrograd==0.1.0"],
    "python": ">=3.6",
    "prefers": "3.11",
    "licence": "MIT",
    "reached": "adapter in its own process, scalars only",
    "homepage": "https://github.com/karpathy/micrograd",
}


def conformance_engine(runner, device):
    import micrograd.engine
    from micrograd.engine import Value

    wrapped = runner.load_file(os.path.join(os.path.dirname(__file__), "_wrapped.py"))

    class Tensor(wrapped.Tensor):
        ops = dict(wrapped.BINARY, neg=lambda v: -v, relu=lambda v: v.relu(), div=wrapped.BINARY["truediv"])
        shape = ()
        requires_grad = property(lambda self: True)  # there is no such thing
        dtype = property(lambda self: self.space.float64)
        is_leaf = property(lambda self: not self.raw._prev)

        @classmethod
        def is_own(cls, value):
            return isinstance(value, Value)

        @classmethod
        def apply(cls, op, *args, **kwargs):
            if op is wrapped.BINARY["pow"] and any(isinstance(arg, Tensor) for arg in args[1:]):
                raise cls.unsupported("torch.pow of a tensor exponent")
            if op not in cls.ops.values() or kwargs:
                raise cls.unsupported("this operation of scalars")
            return super().apply(op, *args)

        @property
        def grad(self):  # micrograd has no None: a value that no pass has reached has none
            return Tensor(Value(self.raw.grad)) if hasattr(self.raw, "reached") else None

        @grad.setter
        def grad(self, value):
            if value is None:
                self.raw.__dict__.pop("reached", None)
                self.raw.grad = 0
            else:
                self.raw.reached, self.raw.grad = True, value.raw.data

        def backward(self, gradient=None, *others):
            if gradient is not None or others:
                raise self.unsupported("Tensor.backward(gradient=)")
            waiting = [self.raw]
            while waiting:
                value = waiting.pop()
                value.reached = True
                waiting.extend(each for each in value._prev if not hasattr(each, "reached") or each._prev)
            self.raw.backward()

        def item(self):
            return float(self.raw.data)

        tolist = item

        def numel(self):
            return 1

        def dim(self):
            return 0

    class Engine(wrapped.engine(runner)):
        made_up = frozenset(("requires_grad",))
        unread = frozenset(("requires_grad", "dtype"))
        sample = 2.0

        def native(self):
            return micrograd.engine, Value(2.0)

        def from_bits(self, sort, data):
            raise runner.Unsupported("tensors of more than one number")

        def bytes_of(self, tensor, rung=None):
            return runner.pack("float64", tensor.item())

        def _probe(self):
            self.identity, self.complete = "unknown", False
            self.lacks_reads = runner.words("strides grad_fn retains_grad version storage")

    def create(values, dtype, requires_grad):
        if isinstance(values, (list, complex)) or hasattr(values, "tobytes"):
            raise runner.Unsupported("tensors of more than one number")
        return Tensor(Value(float(values)))

    space = wrapped.namespace(
        runner, "micrograd", ENGINE["version"], Tensor, {"float64": "float"}, create, default="float64"
    )
    return Engine(space, "micrograd", {"main": device})
