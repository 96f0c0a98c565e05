"""Shared by the adapters of engines with another API: torch's names around an engine's own values.

An adapter makes a subclass of `Tensor` that says how its engine answers, a table of operations over the
engine's own values, and a `namespace` of both. What is in neither is not declared, hence `unsupported`.
"""

import functools
import operator
import re
import types

WRONG_CALL = re.compile(
    "positional argument|unexpected keyword|takes no keyword|multiple values for|invalid keyword|no keyword|"
    "incompatible function arguments"
)
BINARY = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "matmul": operator.matmul,
}  # fmt: skip
METHODS_ALONE = "view expand bool double float half int long short bfloat16 size".split()
NUMPY_DIFFERS = {
    "torch.equal": "compares entry by entry",
    "torch.result_type": "gives numpy's dtype",
    "torch.sort": "gives the values alone",
    "torch.topk": "gives the values alone",
    "torch.median": "gives the mean of the middle two",
    "torch.nanmedian": "gives the mean of the middle two",
    "torch.nonzero": "gives one array for each dimension",
    "Tensor.nonzero": "gives one array for each dimension",
    "Tensor.repeat": "repeats each entry",
    "torch.meshgrid": "takes another order of dimensions",
    "torch.linspace": "takes no tensors",
    "torch.cummax": "gives the values alone",
    "torch.cummin": "gives the values alone",
    "Tensor.cummax": "gives the values alone",
    "Tensor.cummin": "gives the values alone",
    "torch.as_strided": "takes no negative strides and copies",
}
COMPARED = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
NAMED = {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "pow": "pow", "matmul": "matmul",
         "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv"}  # fmt: skip
ALIKE = (
    "exp exp2 log log2 log10 log1p expm1 sqrt sin cos tan sinh cosh tanh sign floor ceil square reciprocal "
    "maximum minimum logaddexp logaddexp2 matmul where dot outer trunc isnan isfinite isinf sinc erf rsqrt "
    "logical_and logical_or logical_not logical_xor allclose isclose fmod remainder hypot copysign positive "
    "ravel roll fmax fmin heaviside fliplr tril triu trace kron cross inner real imag angle conj float_power "
    "floor_divide nan_to_num vdot argsort hstack vstack take tile count_nonzero nansum nanmean isfinite "
    "erfinv logcumsumexp"
).split()  # the same name and the same arguments in numpy
RENAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "neg": "negative",
           "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "abs": "abs", "round": "round",
           "mm": "matmul", "mv": "matmul",
           "absolute": "abs", "negative": "negative", "bmm": "matmul"}  # fmt: skip


class DType(object):
    """A dtype: its name, and the engine's own."""

    def __init__(self, name, own):
        self.name, self.own = name, own

    def __repr__(self):
        return "torch." + self.name


class Tensor(object):
    """An engine's tensor under torch's names. The adapter's subclass sets ``ops`` and ``space``."""

    ops = {}  # torch's names to functions over the engine's own values
    unsupported = AttributeError  # the runner's Unsupported
    device = "cpu"
    __hash__ = object.__hash__

    def __init__(self, raw):
        self.raw = raw

    @classmethod
    def wrap(cls, value):
        """What an operation gave, as the program sees it."""
        if isinstance(value, (list, tuple)):
            return type(value)(cls.wrap(part) for part in value)
        return cls(value) if cls.is_own(value) else value

    @classmethod
    def is_own(cls, value):
        """True for the engine's own tensors."""
        raise TypeError("the adapter does not say which values are its engine's")

    @classmethod
    def own(cls, value):
        """An argument, as the engine takes it."""
        if isinstance(value, Tensor):
            return value.raw
        if isinstance(value, DType):
            return value.own
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return type(value)(cls.own(part) for part in value)
        return value

    @classmethod
    def apply(cls, op, *args, **kwargs):
        """Run an operation over the engine's own values."""
        given = {key: cls.own(value) for key, value in kwargs.items()}
        return cls.wrap(cls.called(op, [cls.own(arg) for arg in args], given))

    @classmethod
    def called(cls, op, args, kwargs):
        """Call an operation; arguments that its function does not take are unsupported."""
        try:
            return op(*args, **kwargs)
        except TypeError as error:
            if WRONG_CALL.search(str(error)):
                raise cls.unsupported("these arguments of " + getattr(op, "__name__", "it")) from None
            raise

    def change(self, op, *args, **kwargs):
        """Run an operation in place. Engines without are unsupported."""
        raise self.unsupported("in-place operations")

    def store(self, index, value):
        """Write into an item. Engines without are unsupported."""
        raise self.unsupported("in-place operations")

    def __getattr__(self, name):
        ops = type(self).ops
        if name in ("real", "imag") and name in ops:
            return self.apply(ops[name], self)
        if name in ops:
            return functools.partial(self.apply, ops[name], self)
        if name.endswith("_") and name[:-1] in ops:
            return functools.partial(self.change, ops[name[:-1]])
        raise AttributeError(name)

    def __getitem__(self, index):
        return self.apply(operator.getitem, self, index)

    def __setitem__(self, index, value):
        self.store(index, value)

    def __len__(self):
        return len(self.raw)

    def __iter__(self):
        return iter([self[at] for at in range(self.shape[0])])

    def __bool__(self):
        return bool(self.raw)

    def __float__(self):
        return float(self.raw)

    def __int__(self):
        return int(self.raw)

    def __delattr__(self, name):
        raise self.unsupported("del Tensor.%s" % name)

    def __neg__(self):
        return self.apply(operator.neg, self)

    def __abs__(self):
        return self.apply(abs, self)


def _binary(op):
    return lambda self, other: self.apply(op, self, other)


def _reflected(op):
    return lambda self, other: self.apply(op, other, self)


def _in_place(op):
    return lambda self, other: self.change(op, other)


for _name, _op in BINARY.items():
    setattr(Tensor, "__%s__" % _name, _binary(_op))
    setattr(Tensor, "__r%s__" % _name, _reflected(_op))
    setattr(Tensor, "__i%s__" % _name, _in_place(_op))
for _name, _op in COMPARED.items():
    setattr(Tensor, "__%s__" % _name, _binary(_op))


def numpy_like(space, axis="axis", keep="keepdims", **more):
    """The operations that a module with numpy's names has, and those that the adapter adds."""

    def reduce(function, full=False):
        def call(x, dim=None, keepdim=False):
            return function(x, **{axis: tuple(dim) if isinstance(dim, list) else dim, keep: keepdim})

        def whole(x):
            return function(x)

        return whole if full else call

    def shaped(x, *shape):
        return space.reshape(x, tuple(shape[0]) if shape and isinstance(shape[0], (list, tuple)) else shape)

    def permute(x, *order):
        return space.transpose(x, tuple(order[0]) if isinstance(order[0], (list, tuple)) else order)

    def squeeze(x, dim=None):
        ones = [at for at, size in enumerate(x.shape) if size == 1]
        if dim is not None:
            ones = [at for at in ones if at == dim % len(x.shape)]
        return space.reshape(x, tuple(size for at, size in enumerate(x.shape) if at not in ones))

    def unsqueeze(x, dim):
        at = dim % (len(x.shape) + 1)
        return space.reshape(x, tuple(x.shape[:at]) + (1,) + tuple(x.shape[at:]))

    def expand(x, *shape):
        wanted = list(shape[0]) if shape and isinstance(shape[0], (list, tuple)) else list(shape)
        old = [1] * (len(wanted) - len(x.shape)) + list(x.shape)
        return space.broadcast_to(x, tuple(b if a == -1 else a for a, b in zip(wanted, old)))

    def flatten(x):
        return space.reshape(x, (-1,))

    def swap(x, dim0, dim1):
        return space.swapaxes(x, dim0, dim1)

    def turn(x):
        return space.transpose(x) if len(x.shape) == 2 else x

    found = {name: getattr(space, name) for name in ALIKE if hasattr(space, name)}
    found.update((name, getattr(space, own)) for name, own in RENAMED.items() if hasattr(space, own))
    found.update((name, BINARY[own]) for name, own in NAMED.items())
    found.update((name, COMPARED[name]) for name in COMPARED)
    for name in ("sum", "mean", "prod", "cumsum", "cumprod", "all", "any"):
        if hasattr(space, name):
            found[name] = reduce(getattr(space, name))
    if hasattr(space, "max"):
        found.update(max=reduce(space.max, full=True), min=reduce(space.min, full=True),
                     amax=reduce(space.max), amin=reduce(space.min))  # fmt: skip
    if hasattr(space, "clip"):
        found["clamp"] = found["clip"] = lambda x, min=None, max=None: space.clip(x, min, max)
    if hasattr(space, "flip"):
        found["flip"] = lambda x, dims: space.flip(x, dims)
    if hasattr(space, "linalg") and hasattr(space.linalg, "norm"):
        found["linalg.norm"] = found["norm"] = lambda x: space.linalg.norm(x)
    if hasattr(space, "argmax"):
        found.update(argmax=reduce(space.argmax, full=True), argmin=reduce(space.argmin, full=True))
    if hasattr(space, "std"):
        found.update(std=lambda x: space.std(x, ddof=1), var=lambda x: space.var(x, ddof=1))
    if hasattr(space, "cumsum"):
        found["cumsum"] = lambda x, dim: space.cumsum(x, **{axis: dim})
    if hasattr(space, "cumprod"):
        found["cumprod"] = lambda x, dim: space.cumprod(x, **{axis: dim})
    found.update(reshape=shaped, view=shaped, permute=permute, squeeze=squeeze, unsqueeze=unsqueeze)
    found.update(expand=expand, broadcast_to=expand, flatten=flatten, transpose=swap, t=turn)
    for name, own in (("stack", "stack"), ("cat", "concatenate")):
        if hasattr(space, own):
            found[name] = joined(getattr(space, own), axis)
    found.update(more)
    return {name: op for name, op in found.items() if op is not None}


def joined(function, axis):
    """Stacking and joining take a list and a dimension."""
    return lambda tensors, dim=0: function(tensors, **{axis: dim})


def sort_of(data):
    """The dtype that torch gives to nested lists of Python's numbers, and their shape."""
    shape, level = [], data
    while isinstance(level, (list, tuple)):
        shape.append(len(level))
        if not level:
            break
        level = level[0]
    flat = [data]
    while any(isinstance(part, (list, tuple)) for part in flat):
        flat = [each for part in flat for each in (part if isinstance(part, (list, tuple)) else [part])]
    sorts = {type(part) for part in flat}
    if complex in sorts:
        return "complex64", shape
    if not flat or sorts & {float} or not sorts <= {int, bool}:
        return "float32", shape
    return ("int64" if int in sorts else "bool"), shape


def namespace(runner, name, version, tensor_type, dtypes, create, functions=None, default="float32"):
    """A module with torch's names.

    ``create(values, dtype, requires_grad)`` makes the engine's tensor, wrapped, of nested lists or what the
    engine's numpy gives; ``dtypes`` maps torch's names to the engine's own, ``default`` is that of floats.
    """
    space = types.ModuleType(name)
    space.__version__ = version
    space.Tensor = tensor_type
    space.dtype = DType
    Tensor.unsupported = runner.Unsupported
    tensor_type.space = space
    known = {key: DType(key, own) for key, own in dtypes.items()}
    for key, dtype in known.items():
        setattr(space, key, dtype)

    def chosen(dtype, sort):
        if isinstance(dtype, DType):
            return dtype
        sort = default if sort == "float32" else sort
        if sort not in known:
            raise runner.Unsupported("torch." + sort)
        return known[sort]

    def plain(data):
        if isinstance(data, Tensor):
            return data.tolist()
        if isinstance(data, (list, tuple)):
            return [plain(part) for part in data]
        return data

    def tensor(data, dtype=None, requires_grad=False, device=None):
        values = plain(data) if not hasattr(data, "tobytes") else data
        if dtype is None and isinstance(data, Tensor):
            dtype = data.dtype
        sort = str(data.dtype) if hasattr(data, "tobytes") else sort_of(values)[0]
        return create(values, chosen(dtype, sort), requires_grad)

    def filled(shape, value, dtype, requires_grad):
        values = value
        for size in reversed(shape):
            values = [values] * size
        if 0 in shape:
            raise runner.Unsupported("tensors without elements")
        return create(values, chosen(dtype, sort_of(value)[0]), requires_grad)

    def sizes(shape):
        if not shape:
            raise runner.Unsupported("a creation without sizes")
        return list(shape[0]) if shape and isinstance(shape[0], (list, tuple)) else list(shape)

    def zeros(*shape, dtype=None, requires_grad=False):
        return filled(sizes(shape), 0.0, dtype, requires_grad)

    def ones(*shape, dtype=None, requires_grad=False):
        return filled(sizes(shape), 1.0, dtype, requires_grad)

    def full(size, fill_value, dtype=None, requires_grad=False):
        return filled(list(size), fill_value, dtype, requires_grad)

    def zeros_like(x):
        return filled(list(x.shape), 0.0, x.dtype, False)

    def ones_like(x):
        return filled(list(x.shape), 1.0, x.dtype, False)

    def arange(*bounds, dtype=None, requires_grad=False):
        if not all(isinstance(bound, int) for bound in bounds):
            raise runner.Unsupported("torch.arange of fractions")
        return create(list(range(*bounds)), chosen(dtype, "int64"), requires_grad)

    space.tensor, space.zeros, space.ones, space.full = tensor, zeros, ones, full

    def full_like(x, fill_value):
        return filled(list(x.shape), fill_value, x.dtype, False)

    space.zeros_like, space.ones_like, space.arange = zeros_like, ones_like, arange
    space.full_like = full_like
    for key, op in tensor_type.ops.items():
        if key not in METHODS_ALONE:
            put(space, key, functools.partial(tensor_type.apply, op))
    for key in ("relu", "sigmoid", "softmax", "log_softmax", "leaky_relu", "elu", "selu", "softplus", "gelu"):
        if key in tensor_type.ops:
            put(space, "nn.functional." + key, functools.partial(tensor_type.apply, tensor_type.ops[key]))
    for key, function in (functions or {}).items():
        put(space, key, function)
    return space


def put(space, name, value):
    """Put a value under a dotted name."""
    parts = name.split(".")
    for part in parts[:-1]:
        if not hasattr(space, part):
            setattr(space, part, types.SimpleNamespace())
        space = getattr(space, part)
    setattr(space, parts[-1], value)


def engine(runner):
    """The runner's engine for tensors that are wrapped: what concerns the wrappers alone is unsupported."""

    def set_attribute(owner, name, value):
        found = getattr(type(owner), name, None)
        if isinstance(owner, Tensor) and isinstance(found, property) and found.fset is None:
            raise runner.Unsupported("Tensor.%s = a value" % name)
        setattr(owner, name, value)

    class Engine(runner.Engine):
        own_objects = False
        made_up = frozenset()  # attributes that the adapter makes up for the observer, and no program may ask

        def __init__(self, *args):
            super().__init__(*args)
            self.attribute = self._attribute

        def _attribute(self, owner, name):
            if name in self.made_up and isinstance(owner, Tensor):
                raise runner.Unsupported("Tensor." + name)
            return getattr(owner, name)

        def _probe(self):
            super()._probe()
            self.identity = "unknown"

        def _bytes_rung(self):
            return "numpy"

        def bytes_of(self, tensor, rung=None):
            return tensor.array().tobytes()

    Engine.set_attribute = staticmethod(set_attribute)
    return Engine


def memory_of(array):
    """Where a numpy array's memory begins, and its offset in it in elements."""
    root = array
    while getattr(root, "base", None) is not None and hasattr(root.base, "__array_interface__"):
        root = root.base
    start = root.__array_interface__["data"][0]
    return start, (array.__array_interface__["data"][0] - start) // max(array.itemsize, 1)
