"""An adapter of the tiny engine that tells the truth but for one lie, named in MINIATURE."""

import os

import tiny

LIE = os.environ.get("MINIATURE", "")


def conformance_engine(runner, device):
    honest = tiny.broadcast

    def strict(a, b):
        if a.shape and b.shape and a.shape != b.shape:
            raise RuntimeError("the shapes do not fit")
        return honest(a, b)

    tiny.broadcast = strict

    class Misleading(runner.Engine):
        def bytes_of(self, tensor, rung=None):
            data = super().bytes_of(tensor, rung)
            return data[::-1] if LIE == "wrong bytes" and len(data) == 8 else data

        def dtype_name(self, dtype):
            return "float32" if LIE == "wrong dtype" else super().dtype_name(dtype)

    if LIE == "swallows errors":
        tiny.broadcast = honest
    if LIE == "zeros for None":
        made = tiny.Tensor.__init__

        def filled(self, data, shape, requires_grad=False, made_from=()):
            made(self, data, shape, requires_grad, made_from)
            if requires_grad and not made_from:
                self.grad = tiny.Tensor([0.0] * len(data), shape)

        tiny.Tensor.__init__ = filled
    if LIE == "None for zeros":
        spread = tiny.Tensor._spread
        tiny.Tensor._spread = lambda self, grads: spread(self, grads) if any(grads) else None
    if LIE == "promises hooks":
        tiny.Tensor.register_hook = unfinished
    absent = ["Tensor.sum"] if LIE == "hides sum" else []
    return Misleading(tiny, "misleading", {"main": device}, absent)


def unfinished(self, hook):
    raise NotImplementedError("hooks come later")
