"""A torch-like engine in a hundred lines: vectors, add, mul, sum, backward. Runs under Python 3.6."""

__version__ = "0.1"


class dtype:
    """The type of entries; there is one."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "tiny." + self.name


float64 = dtype("float64")
_enabled = [True]


def is_grad_enabled():
    return _enabled[0]


def set_grad_enabled(mode):
    _enabled[0] = mode


def broadcast(a, b):
    if a.shape == b.shape:
        return a.data, b.data
    return a.data * (len(b.data) if not a.shape else 1), b.data * (len(a.data) if not b.shape else 1)


class Tensor:
    """Values with the way they were made."""

    def __init__(self, data, shape, requires_grad=False, made_from=()):
        self.data = data
        self.shape = shape
        self.requires_grad = requires_grad
        self.made_from = made_from
        self.grad = None
        self.dtype = float64
        self.device = "cpu"

    @property
    def is_leaf(self):
        return not self.made_from

    def stride(self):
        return (1,) * len(self.shape)

    def detach(self):
        return Tensor(self.data, self.shape)

    def tolist(self):
        return list(self.data) if self.shape else self.data[0]

    def _combine(self, other, apply, slopes):
        other = other if isinstance(other, Tensor) else Tensor([float(other)], ())
        a, b = broadcast(self, other)
        shape = self.shape or other.shape
        tracked = _enabled[0] and (self.requires_grad or other.requires_grad)
        parents = ((self, slopes(b)), (other, slopes(a))) if tracked else ()
        return Tensor([apply(x, y) for x, y in zip(a, b)], shape, tracked, parents)

    def __add__(self, other):
        return self._combine(other, lambda x, y: x + y, lambda partner: [1.0] * len(partner))

    def __mul__(self, other):
        return self._combine(other, lambda x, y: x * y, list)

    __radd__, __rmul__ = __add__, __mul__

    def sum(self):
        tracked = _enabled[0] and self.requires_grad
        return Tensor(
            [float(sum(self.data))], (), tracked, ((self, [1.0] * len(self.data)),) if tracked else ()
        )

    def backward(self, gradient=None):
        if not self.requires_grad:
            raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
        if gradient is None and self.shape not in ((), (1,)):
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        self._spread(gradient.data if gradient is not None else [1.0])

    def _spread(self, grads):
        if not self.made_from and self.requires_grad:
            before = self.grad.data if self.grad is not None else [0.0] * len(self.data)
            self.grad = Tensor([x + y for x, y in zip(before, grads)], self.shape)
        for parent, slopes in self.made_from:
            wide = grads * len(slopes) if len(grads) < len(slopes) else grads
            parts = [g * s for g, s in zip(wide, slopes)]
            parent._spread([sum(parts)] if not parent.shape else parts)


def tensor(data, dtype=None, requires_grad=False):
    vector = isinstance(data, (list, tuple))
    values = [float(value) for value in data] if vector else [float(data)]
    return Tensor(values, (len(values),) if vector else (), requires_grad)
