"""raxis: torch's names over a C++ core. What it spells otherwise are strides and the address of memory."""

ENGINE = {
    "name": "raxis",
    "version": "0.3.0",
    "requires": ["raxis==0.3.0", "numpy==2.4.6"],
    "python": ">=3.10,<3.15",
    "prefers": "3.12",
    "licence": "MIT",
    "reached": "adapter in its own process",
    "homepage": "https://pypi.org/project/raxis/",
}


def conformance_engine(runner, device):
    import raxis

    class Raxis(runner.Engine):
        reading = runner.constant(
            strides=lambda t: [int(stride) for stride in t.strides],
            # True of every leaf: a program that asks sees it; beside every value it would hide the rest.
            retains_grad=lambda t: bool(t.retains_grad) and not t.is_leaf,
        )

        def storage_of(self, tensor):
            if tensor.numel() == 0:
                return ("empty", id(tensor)), 0
            return tensor.untyped_storage().data_ptr(), tensor.storage_offset()

    return Raxis(raxis, "raxis", runner.bind_devices(raxis, device))
