"""The first meta tensor of a process changes nothing but what it touches (DEVICE-02)."""

from __future__ import annotations

import subprocess
import sys

FIRST_WITHIN_A_PASS = """
import refimpl as torch

class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 1.0

    @staticmethod
    def backward(ctx, g):
        return g.to(torch.device("meta"))

x = torch.tensor([1.0, 2.0], requires_grad=True)
try:
    F.apply(x).sum().backward()
except RuntimeError as error:
    print(error)
print(x.grad)
"""

BEFORE_AND_AFTER = """
import refimpl as torch

def strides():
    x = torch.ones(2, 3, requires_grad=True)
    return torch.autograd.grad(x.to(torch.complex64).sum(), x, torch.tensor(1 + 0j))[0].stride()

print(strides())
torch.ones(2, device="meta")
print(strides())
"""


def said(source: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()


def test_the_first_meta_gradient_of_a_process_is_refused() -> None:
    text = "Function FBackward returned an invalid gradient at index 0 - expected device cpu but got meta"
    assert said(FIRST_WITHIN_A_PASS) == [text, "None"]


def test_a_meta_tensor_elsewhere_changes_no_layout() -> None:
    assert said(BEFORE_AND_AFTER) == ["(0, 0)", "(0, 0)"]
