"""torch.compile: torch with each operation compiled by itself, by the backend that the variant names."""

import os

ENGINE = {
    "name": "torch-compile",
    "version": "2.13.0",
    "requires": [],
    "python": ">=3.10",
    "prefers": "",
    "licence": "BSD-3-Clause",
    "reached": "adapter beside the suite's own torch",
    "homepage": "https://docs.pytorch.org/docs/stable/torch.compiler.html",
    "in_process": True,
    "note": "each operation is compiled by itself, which takes about 0.1 s for each new dtype and shape",
}
VARIANTS = {
    "torch-compile-eager": {"environment": {"CONFORMANCE_BACKEND": "eager"}},
    "torch-compile-aot-eager": {"environment": {"CONFORMANCE_BACKEND": "aot_eager"}},
    "torch-compile-inductor": {"environment": {"CONFORMANCE_BACKEND": "inductor"}, "tools": ["g++"]},
}
NOT_COMPILED = (
    "backward register_hook register_post_accumulate_grad_hook retain_grad requires_grad_ tolist item "
    "numpy size dim ndimension stride storage_offset numel nelement data_ptr remove type is_complex "
    "is_floating_point cpu is_contiguous is_inference is_coalesced apply save_for_backward mark_dirty "
    "mark_non_differentiable set_materialize_grads name register_prehook detach_ indices values set_ "
    "resize_"
).split()


def conformance_engine(runner, device):
    import torch

    backend = os.environ.get("CONFORMANCE_BACKEND", "aot_eager")
    torch._dynamo.config.recompile_limit = 10000
    torch._dynamo.config.accumulated_recompile_limit = 100000
    made = {}

    def compiled(name, function):
        """The compiled function; a code object of its own, as what was compiled is kept by code."""
        if name not in made:

            def call(*args, **kwargs):
                return function(*args, **kwargs)

            call.__code__ = call.__code__.replace(co_name=name.replace(".", "_"))
            made[name] = torch.compile(call, backend=backend, dynamic=False)
        return made[name]

    def spelled(target, name):
        found = getattr(target, name)
        if not isinstance(target, torch.Tensor) or name in NOT_COMPILED or name.startswith("_"):
            return found
        inner = compiled("Tensor_" + name, getattr(torch.Tensor, name))
        return lambda *args, **kwargs: inner(target, *args, **kwargs)

    def signs(table, prefix):
        def call(op, name):
            def either(a, b):
                tensors = isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor)
                return compiled(name, op)(a, b) if tensors else op(a, b)

            return either

        return {sign: call(op, "%s_%d" % (prefix, at)) for at, (sign, op) in enumerate(table.items())}

    class Compiled(runner.Engine):
        method = staticmethod(spelled)
        operators = signs(runner.OPERATORS, "operator")
        in_place = signs(runner.IN_PLACE, "in_place")

        def resolve(self, name):
            found = super().resolve(name)
            known = callable(found) and not isinstance(found, type) and name.count(".") == 1
            if not known and not name.startswith("torch.nn.functional."):
                return found
            last = name.rpartition(".")[2]
            if last in ("tensor", "as_tensor", "sparse_coo_tensor") or last.startswith(
                ("is_", "set_", "get_")
            ):
                return found
            return compiled(name, found)

    return Compiled(torch, "torch-compile-" + backend.replace("_", "-"), runner.bind_devices(torch, device))
