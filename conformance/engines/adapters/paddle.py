"""paddlepaddle: nearly torch's names. Gradients of results, passes and node names are spelled otherwise."""

import operator

ENGINE = {
    "name": "paddlepaddle",
    "version": "3.3.1",
    "requires": ["paddlepaddle==3.3.1", "numpy==2.4.6"],
    "python": ">=3.9,<3.14",
    "prefers": "3.11",
    "licence": "Apache-2.0",
    "reached": "adapter in its own process",
    "homepage": "https://www.paddlepaddle.org.cn/",
    "environment": {"GLOG_minloglevel": "3", "PYTHONWARNINGS": "ignore"},
}
METHODS = {"retain_grad": "retain_grads", "numel": "_numel"}
ATTRIBUTES = {"_version": "inplace_version"}
NUMBERS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
           "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv}  # fmt: skip


def conformance_engine(runner, device):
    import numpy
    import paddle

    functions = {
        "torch.autograd.grad": lambda *args, **kwargs: tuple(paddle.grad(*args, **kwargs)),
        "torch.autograd.backward": paddle.autograd.backward,
    }

    def spelled(target, name):
        if not isinstance(target, paddle.Tensor):
            return getattr(target, name)
        if name == "backward":
            return lambda gradient=None, retain_graph=False, **others: target.backward(
                gradient, bool(retain_graph), **others
            )
        if name in NUMBERS:  # the methods take tensors alone; the operators take numbers too
            return lambda other, **others: (
                getattr(target, name)(other, **others)
                if others or isinstance(other, paddle.Tensor)
                else NUMBERS[name](target, other)
            )
        if name.endswith("_") and name[:-1] in NUMBERS:
            return lambda other, **others: getattr(target, name)(
                other if isinstance(other, paddle.Tensor) else paddle.to_tensor(other, dtype=target.dtype),
                **others,
            )
        return getattr(target, METHODS.get(name, name))

    class Paddle(runner.Engine):
        # Every gradient requires grad: a program that asks sees it; beside each value it would hide the rest.
        unread = frozenset(("grad.requires_grad",))
        reading = runner.constant(
            version=lambda t: int(t.inplace_version),
            grad_fn=lambda t: None if t.is_leaf else t.grad_fn.name(),  # a leaf's node accumulates
        )
        method = staticmethod(spelled)
        attribute = staticmethod(lambda target, name: getattr(target, ATTRIBUTES.get(name, name)))

        def resolve(self, name):
            return functions[name] if name in functions else super().resolve(name)

        def bytes_of(self, tensor, rung=None):
            return tensor.detach().numpy().tobytes()  # bfloat16 as bits

        def from_bits(self, sort, data):
            if sort == "bf16":
                return paddle.to_tensor(numpy.frombuffer(data, "uint16").copy(), dtype="bfloat16")
            return super().from_bits(sort, data)

        def storage_of(self, tensor):
            size = runner.ITEM_SIZES[self.dtype_name(tensor.dtype)]
            if 0 in tensor.shape:
                return ("empty", id(tensor)), 0
            return tensor.data_ptr() - tensor.offset, tensor.offset // size

    absent = ["torch.autograd.Function"]  # PyLayer, whose context has other names
    return Paddle(paddle, "paddlepaddle", {"main": device, "host": "cpu"}, absent)
