"""The conformance suite for torch.Tensor.backward()."""

__version__ = "2026.1"
