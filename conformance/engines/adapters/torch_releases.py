"""Old releases of torch, each in an environment of its own; torch's names are enough."""

ENGINE = {
    "name": "torch-1.12.1",
    "version": "1.12.1",
    "requires": ["torch==1.12.1", "numpy==1.26.4"],
    "python": ">=3.7,<3.11",
    "prefers": "3.10",
    "licence": "BSD-3-Clause",
    "reached": "module:torch in its own process",
    "homepage": "https://pytorch.org/",
    "module": "torch",
    "note": "a download of 776 MB, 1.7 GB installed",
}
VARIANTS = {
    "torch-1.12.1": {},
    "torch-1.9.0": {
        "version": "1.9.0",
        "requires": ["torch==1.9.0", "numpy==1.24.4"],
        "python": ">=3.6,<3.10",
        "prefers": "3.8",
        "note": "a download of 831 MB, 1.8 GB installed",
    },
    "torch-1.2.0": {
        "version": "1.2.0",
        "requires": ["torch==1.2.0", "numpy==1.21.6"],
        "python": ">=3.6,<3.8",
        "prefers": "3.7",
        "absent": ["torch.complex64", "torch.complex128"],  # there by name, but no operation takes them
        "note": "a download of 748 MB, 1.4 GB installed",
    },
}
