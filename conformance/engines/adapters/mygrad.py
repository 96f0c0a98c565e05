"""mygrad: numpy's names and numpy's views. A tensor that needs no gradient is a `constant`."""

import os

ENGINE = {
    "name": "mygrad",
    "version": "2.5.0",
    "requires": ["mygrad==2.5.0", "numpy==2.4.6"],
    "python": ">=3.11",
    "prefers": "3.11",
    "licence": "MIT",
    "reached": "adapter in its own process",
    "homepage": "https://mygrad.readthedocs.io/",
}


def conformance_engine(runner, device):
    import mygrad
    import numpy
    from mygrad.nnet import activations

    wrapped = runner.load_file(os.path.join(os.path.dirname(__file__), "_wrapped.py"))
    names = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")

    class Tensor(wrapped.Tensor):
        ops = wrapped.numpy_like(
            mygrad,
            relu=activations.relu, sigmoid=activations.sigmoid,
            softmax=lambda x, dim: activations.softmax(x, axis=dim),
            log_softmax=lambda x, dim: activations.logsoftmax(x, axis=dim),
            clone=lambda x: mygrad.positive(x),
            where=lambda mask, x, y: mygrad.where(mask.data, x, y),
        )  # fmt: skip
        is_array = False  # gradients are numpy's arrays, and in place is numpy's there
        shape = property(lambda self: self.raw.shape)
        dtype = property(lambda self: getattr(self.space, str(self.raw.dtype)))
        requires_grad = property(lambda self: not self.raw.constant)
        T = property(lambda self: self.wrap(self.raw.T))

        def __init__(self, raw):
            self.raw = raw
            self.is_leaf = raw.constant or raw.creator is None  # a pass clears the creator

        @classmethod
        def is_own(cls, value):
            return isinstance(value, (mygrad.Tensor, numpy.ndarray, numpy.generic))

        @classmethod
        def wrap(cls, value):
            if isinstance(value, (numpy.ndarray, numpy.generic)):
                value = mygrad.tensor(value, constant=True, copy=False)
            return super().wrap(value)

        @property
        def grad(self):
            if self.raw.grad is None:
                return None
            wrapper = self.wrap(self.raw.grad)
            wrapper.is_array = True
            return wrapper

        @grad.setter
        def grad(self, value):
            if value is not None:
                raise self.unsupported("Tensor.grad = a tensor")
            self.raw.null_grad()

        def backward(self, gradient=None, *others):
            if others:
                raise self.unsupported("Tensor.backward(retain_graph=)")
            self.raw.backward(gradient.raw.data if isinstance(gradient, Tensor) else gradient)

        def change(self, op, *args):
            if op not in IN_PLACE or self.is_array:
                raise self.unsupported("this operation in place")
            self.raw = IN_PLACE[op](self.raw, *[self.own(arg) for arg in args])
            return self

        @classmethod
        def array_of(cls, index):  # masks and indices are numpy's own there
            if isinstance(index, (tuple, list)):
                return type(index)(cls.array_of(part) for part in index)
            return index.raw.data if isinstance(index, Tensor) else index

        def __getitem__(self, index):
            return self.wrap(self.raw[self.array_of(index)])

        def store(self, index, value):
            self.raw[self.array_of(index)] = self.own(value)

        def numel(self):
            return self.raw.size

        def dim(self):
            return self.raw.ndim

        def stride(self):
            return tuple(step // self.raw.data.itemsize for step in self.raw.data.strides)

        def array(self):
            return self.raw.data

        def tolist(self):
            return self.raw.data.tolist()

        def item(self):
            return self.raw.item()

    IN_PLACE = {wrapped.BINARY[own]: runner.IN_PLACE[sign] for own, sign in
                zip(("add", "sub", "mul", "truediv", "pow"), ("+", "-", "*", "/", "**"))}  # fmt: skip

    def create(values, dtype, requires_grad):
        return Tensor(mygrad.tensor(numpy.array(values, dtype.own), constant=not requires_grad))

    class Engine(wrapped.engine(runner)):
        # It has no leaves; and numpy's rule of dtypes, by which a Python int makes float64 of float32.
        made_up = frozenset(("is_leaf",))
        unread = frozenset(("is_leaf", "dtype"))
        differs = wrapped.NUMPY_DIFFERS

        def native(self):
            return mygrad, mygrad.tensor([1.0, 2.0])

        def storage_of(self, tensor):
            return wrapped.memory_of(tensor.raw.data)

    space = wrapped.namespace(
        runner, "mygrad", mygrad.__version__, Tensor, {name: name for name in names}, create,
        {"no_grad": lambda: mygrad.no_autodiff, "einsum": lambda s, *x: Tensor.apply(mygrad.einsum, s, *x)},
    )  # fmt: skip
    return Engine(space, "mygrad", {"main": device})
