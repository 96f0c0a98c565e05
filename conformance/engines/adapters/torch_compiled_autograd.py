"""Compiled autograd: torch whose passes are traced and compiled as a whole, with the backend `eager`."""

ENGINE = {
    "name": "torch-compiled-autograd",
    "version": "2.13.0",
    "requires": [],
    "python": ">=3.10",
    "prefers": "",
    "licence": "BSD-3-Clause",
    "reached": "adapter beside the suite's own torch",
    "homepage": "https://docs.pytorch.org/tutorials/intermediate/compiled_autograd_tutorial.html",
    "in_process": True,
    "note": "tracing takes 20 ms a node: keep graphs small",
}
PASSES = ("torch.autograd.backward", "torch.autograd.grad")


def conformance_engine(runner, device):
    import torch
    from torch._dynamo import compiled_autograd

    torch._dynamo.config.recompile_limit = 10000
    torch._dynamo.config.accumulated_recompile_limit = 100000

    def traced(function):
        def call(*args, **kwargs):
            with compiled_autograd._enable(torch.compile(backend="eager", dynamic=False)):
                return function(*args, **kwargs)

        return call

    def spelled(target, name):
        found = getattr(target, name)
        return traced(found) if name == "backward" and isinstance(target, torch.Tensor) else found

    class Compiled(runner.Engine):
        method = staticmethod(spelled)

        def resolve(self, name):
            found = super().resolve(name)
            return traced(found) if name in PASSES else found

    return Compiled(torch, "torch-compiled-autograd", runner.bind_devices(torch, device))
