"""candle-python: torch's names in Python over numpy. Only the address of memory is spelled otherwise."""

ENGINE = {
    "name": "candle-python",
    "version": "0.1.0a1",
    "requires": ["candle-python==0.1.0a1", "numpy==2.4.6"],
    "python": ">=3.9",
    "prefers": "3.11",
    "licence": "MIT",
    "reached": "adapter in its own process",
    "homepage": "https://pypi.org/project/candle-python/",
}


def conformance_engine(runner, device):
    import candle

    class Candle(runner.Engine):
        def storage_of(self, tensor):
            if tensor.numel() == 0:
                return ("empty", id(tensor)), 0
            memory = tensor.untyped_storage().data_ptr()
            return memory, int(tensor.storage_offset())

    absent = ["torch.bfloat16"]  # there by name, but it keeps whole numbers: 0.5 is 0
    return Candle(candle, "candle-python", runner.bind_devices(candle, device), absent)
