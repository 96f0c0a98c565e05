"""Wrong use raises torch's exception types and texts, and leaves operands alone."""

from __future__ import annotations

from typing import Any

import pytest

import refimpl as engine

from .operation_cases import evaluate, operands

reference: Any = engine

WRONG = """
x.view(4); x.view(-1, -1); x.view(-1, 4); x.t().view(6); x.reshape(4); x.expand(3, 3); x.expand(3)
x.expand(2, 2, -1)
v.expand(2, -1) + s; x + s; x + v[:2]; x @ x; x @ v[:2]; b @ x; b @ b; x.mm(v); x.mm(x); x.bmm(x)
x.mv(v[:2]); v.dot(v[:2])
v.dot(x); torch.outer(x, v); x.transpose(0, 5); x.sum(2); x.sum(-3); x.sum((0, 0)); x.mean(5); x.max(3)
x.permute(0)
x.permute(0, 0); x.unsqueeze(4); x.select(0, 5); x.select(3, 0); x.narrow(0, 1, 3); x.narrow(0, 5, 1)
x.narrow(0, 0, -1)
x[5]; x[0, 5]; x[0, 0, 0]; o[0]; x[::0]; x[::-1]; x[torch.tensor([5])]; x[torch.tensor([1.5])]; x["a"]; x[1.5]
x[torch.tensor([True, False, True])]; x[[0, 1], [0, 1, 2]]; x.split(0); x.split([1, 2]); x.split(-1)
x.chunk(0); x.unbind(3)
x.diagonal(0, 0, 0); x.unfold(1, 5, 1); x.unfold(1, 2, 0); x.as_strided((10,), (1,)); torch.cat([])
torch.cat([x, s, v])
torch.cat([x, x[:, :2]]); torch.cat([o, o]); torch.stack([]); torch.stack([x, s]); x.gather(1,
torch.tensor([[5, 0, 0]]))
x.gather(0, i); x.gather(1, k.float()); x.scatter(1, torch.tensor([[5, 0, 0]]), y); x.scatter_add(1, k, y[:,
:1])
x.index_select(0, torch.tensor([5])); x.index_select(0, k); x.index_add(0, i, y[:1])
x.take(torch.tensor([10]))
x.masked_fill(k, 0.0); x.masked_fill(m, v); x.masked_select(k); torch.where(k.float(), x, y); torch.where(m,
x, s); x.clamp()
x.topk(5); x.sort(3); x.cumsum(2); x.repeat(2); x.flip(3); x.flip((0, 0)); v.triu(); x.inverse(); x.det()
b.t()
x.div(2, rounding_mode="x"); x.flatten(1, 0); F.nll_loss(x, torch.tensor([0, 5]))
F.embedding(torch.tensor([5]), x)
F.linear(x, s[:, :2]); F.layer_norm(x, (2,)); torch.zeros(-1); torch.ones(2, "a"); torch.arange(5, 0)
torch.arange(0, 5, 0)
torch.tensor([[1], [2, 3]]); torch.tensor([1, 2], requires_grad=True); x.to(torch.int64).requires_grad_()
i.mean(); i.std(); i.norm(); i.softmax(0); i ** -1; i % 0; i // 0; m - m; -m; z.max(); z < z; z.clamp(0, 1)
z.floor(); z.relu()
z.sort(); z.sign(); torch.maximum(z, z); m.relu(); F.gelu(i); F.gelu(x, approximate="x"); x + "a"
torch.add(x, "a"); x * None; x.exp(1)
torch.stack(1); torch.cat(x.sum()); torch.matmul(x, 2); torch.maximum(x, 1); x.imag; x.expand(-2, 3)
x.squeeze(4); torch.lerp(x, z, 0.5); torch.lerp(x, x.double(), 0.5); torch.lerp(i, i, x)
torch.lerp(x, x, y.half()); o[0, 0]; o[0, None]
r = x * 1; r[0] = s
r = x * 1; r[5] = 1
r = x * 1; r[0] = None
r = x * 1; r.add_(s)
r = x * 1; r.fill_(v)
r = k.clone(); r.add_(1.5)
r = k.clone(); r.mul_(x)
r = x.expand(2, 2, 3); r.add_(1)
r = x * 1; r.masked_fill_(k, 1.0)
r = x * 1; r.index_put_((i,), s)
"""


def _cases() -> list[str]:
    found = []
    for line in WRONG.strip().splitlines():
        found += [line] if line.startswith("r = ") else [part.strip() for part in line.split(";")]
    return found


def _error(module: Any, case: str) -> tuple[str, str]:
    names = operands(module)
    before = {
        name: (each.tolist(), each._version) for name, each in names.items() if hasattr(each, "_version")
    }
    try:
        evaluate(module, case, names)
    except Exception as error:
        after = {
            name: (each.tolist(), each._version) for name, each in names.items() if hasattr(each, "_version")
        }
        assert after == before
        return type(error).__name__, str(error)
    return "", "nothing was raised"


@pytest.mark.parametrize("case", _cases())
def test_raises_as_torch(case: str) -> None:
    torch = pytest.importorskip("torch")
    theirs, mine = _error(torch, case), _error(reference, case)
    assert mine[0] == theirs[0], (mine, theirs)
    # lists of overloads are torch's argument parser's own
    if "received an invalid combination" not in theirs[1] and "takes" not in theirs[1]:
        assert mine[1] == theirs[1]


def test_without_torch_the_texts_are_these() -> None:
    x = reference.ones(2, 3)
    with pytest.raises(RuntimeError, match=r"shape '\[4\]' is invalid for input of size 6"):
        x.view(4)
    with pytest.raises(
        IndexError, match=r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)"
    ):
        x.sum(2)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        reference.tensor([1]) // 0
