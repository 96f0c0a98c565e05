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
LEFT_OUT = (
    "backward register_hook register_post_accumulate_grad_hook retain_grad requires_grad_ detach grad "
    "tensor Tensor as_tensor sparse_coo_tensor zeros ones full zeros_like ones_like full_like arange "
    "eye linspace scalar_tensor no_grad enable_grad set_grad_enabled inference_mode is_grad_enabled "
    "is_inference is_inference_mode_enabled is_anomaly_enabled set_anomaly_enabled set_default_dtype "
    "get_default_dtype set_warn_always dim numel numpy tolist item vmap embedding stride storage_offset "
    "data_ptr untyped_storage storage is_contiguous is_warn_always_enabled"
).split()
MODULES = ("autograd", "func", "nn.Parameter")


def conformance_engine(runner, device):
    import torch

    here = os.path.dirname(__file__)
    wrapped = runner.load_file(os.path.join(here, "_wrapped.py"))

    def kept(place, name):
        function = getattr(place, name)
        if name.startswith("_") or name.endswith("_") or name in LEFT_OUT or isinstance(function, type):
            return False
        return callable(function)

    def vjp(function, primals, seeds):
        _, pull = torch.func.vjp(lambda *values: tuple(function(*values)), *primals)
        return pull(tuple(seeds))

    class Tensor(runner.load_file(os.path.join(here, "_tape.py")).taped(runner, wrapped, vjp)):
        ops = {name: getattr(torch.Tensor, name) for name in dir(torch.Tensor) if kept(torch.Tensor, name)}
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

        def tolist(self):
            return self.raw.tolist()

        def item(self):
            return self.raw.item()

    class Engine(wrapped.engine(runner)):
        made_up = frozenset(("is_leaf", "requires_grad"))  # the tape's
        unread = frozenset(("is_leaf", "requires_grad", "grad_mode", "strides", "storage"))

        def undeclared(self, names):
            inner = [name for name in names if not name.rpartition(".")[2].endswith("_")]  # in place
            inner = [name for name in inner if name.rpartition(".")[2] not in LEFT_OUT]  # recording
            inner = [name for name in inner if name != "Tensor._is_view"]
            return super().undeclared([n for n in inner if not n[6:].startswith(MODULES)])

        def bytes_of(self, tensor, rung=None):
            raw = tensor.raw.detach().resolve_conj().resolve_neg().reshape(-1)
            raw = raw.new_empty(raw.numel()).copy_(raw)  # in order, whatever the strides were
            return raw.view(torch.uint8).numpy().tobytes() if raw.numel() else b""

        def from_bits(self, sort, data):
            name = runner.BITS[sort]
            raw = torch.frombuffer(bytearray(data), dtype=torch.uint8)
            return Tensor(raw.view(self.dtype(name).own))

        def native(self):
            return torch, torch.tensor([1.0, 2.0])

    def create(values, dtype, requires_grad):
        return Tensor(torch.tensor(values, dtype=dtype.own), requires_grad)

    def tied(op):
        return lambda *args, **kwargs: Tensor.apply(op, *args, **kwargs)

    functions = {}
    for prefix, place in (("", torch), ("nn.functional.", torch.nn.functional), ("linalg.", torch.linalg)):
        functions.update(
            (prefix + name, tied(getattr(place, name))) for name in dir(place) if kept(place, name)
        )
    functions.update(Tensor.functions)
    names = "bool int8 int16 int32 int64 uint8 float16 bfloat16 float32 float64 complex64 complex128".split()
    dtypes = {name: getattr(torch, name) for name in names}
    space = wrapped.namespace(runner, "torch_func", torch.__version__, Tensor, dtypes, create, functions)
    return Engine(space, "torch-func-vjp", {"main": device})
