"""The expressions that the operation tests run: one line each, over the operands of `operands`."""

from __future__ import annotations

from typing import Any

import numpy

FLOATS: dict[str, Any] = {
    "x": [[0.75, 0.5, 1.25], [0.625, 1.5, 0.875]],
    "y": [[0.5, 1.75, 0.25], [1.125, 0.375, 2.0]],
    "v": [0.5, 1.25, 2.0],
    "s": [[2.0, 0.5, 0.25], [0.75, 3.0, 0.5], [0.25, 0.125, 2.5]],
    "n": [[-0.75, 0.5, -0.25], [0.0, 1.5, -2.0]],
    "p": [[2.0, 5.0, 5.0, 1.0], [5.0, 5.0, 0.0, 5.0]],
    "q": [[3.0, 5.0, 1.0, 1.0], [5.0, 0.0, 0.0, 5.0]],
    "b": [[[0.5, 1.0, 1.5, 2.0], [0.25, 0.75, 1.25, 1.75], [2.0, 1.5, 1.0, 0.5]]] * 2,
    "c": [[[0.5 + 0.25 * ((i + j) % 5) for j in range(5)] for i in range(4)]] * 2,
    "o": 0.75,
}
COMPLEX = {"z": [0.5 + 0.25j, -1.0 + 0.5j, 0.75 - 1.0j]}
CONSTANTS: dict[str, Any] = {
    "i": [0, 1],
    "j": [0, 2, 0, 0],
    "k": [[0, 1, 0], [1, 0, 0]],
    "m": [[True, False, True], [False, True, True]],
}


def operands(torch: Any, dtype: str = "float32", requires_grad: bool = True) -> dict[str, Any]:
    """Fresh operands by name, for real torch or for the reference engine."""
    made = {name: torch.tensor(data, dtype=getattr(torch, dtype)) for name, data in FLOATS.items()}
    kind = torch.complex128 if dtype == "float64" else torch.complex64
    made.update({name: torch.tensor(data, dtype=kind) for name, data in COMPLEX.items()})
    if requires_grad:
        for each in made.values():
            each.requires_grad_()
    made.update({name: torch.tensor(data) for name, data in CONSTANTS.items()})
    made["torch"] = torch
    made["F"] = torch.nn.functional
    return made


def evaluate(torch: Any, source: str, names: dict[str, Any]) -> list[Any]:
    """The tensors that a case makes: of an expression, or of the name `r` after statements."""
    scope = dict(names)
    if "r = " in source:
        exec(source, scope)
        found = scope["r"]
    else:
        found = eval(source, scope)
    return list(found) if isinstance(found, (tuple, list)) else [found]


def values(tensor: Any) -> Any:
    """A tensor's entries as float64 or complex128, exact."""
    return numpy.array(tensor.detach().tolist(), dtype=complex if tensor.is_complex() else float)


POINTWISE = """
x + 1; x + y; x.add(y, alpha=2); x - y; 2 - x; torch.rsub(x, y); x * 2; x * y; x / 2; x / y; 2 / x; -x
x.reciprocal()
x ** 2; x ** 3; x ** 0.5; x ** -1; x ** 0; n ** 2; n ** 0; x ** y; n ** y; 2 ** x; 0 ** x; x.square()
x.exp(); x.exp2(); x.expm1(); x.log(); x.log2(); x.log10(); x.log1p(); x.sqrt(); x.rsqrt(); n.sqrt(); n.log()
x.sin(); x.cos(); x.tan(); (x / 2).asin(); (x / 2).acos(); x.atan(); x.sinh(); x.cosh(); x.tanh(); x.sigmoid()
x.asinh(); (x + 1).acosh(); (x / 2).atanh(); x.erf(); x.erfc(); x.lgamma(); x.digamma(); n.sinc()
(n / 3).erfinv()
torch.atan2(n, y); torch.hypot(x, y); torch.logaddexp(x, y); torch.xlogy(x, y); n.abs(); n.sign(); n.relu()
n.floor(); n.ceil(); n.round(); n.trunc(); n.frac(); n.round(decimals=1); torch.fmod(n, y)
torch.remainder(n, y)
n % -0.25; n.fmod(0.5); n.div(0.5, rounding_mode="floor"); n.div(y, rounding_mode="trunc")
n.clamp(-0.25, 0.5)
n.clamp(min=0); n.clamp(max=0.5); n.clamp(x, y); n.clamp(min=y); n.clamp_min(0); n.clamp_max(y)
n.copysign(-1)
torch.where(m, x, y); torch.where(m, x, 0.0); torch.maximum(p, q); torch.minimum(p, q); torch.fmax(p, q)
torch.fmin(p, q)
torch.lerp(x, y, 0.5); torch.lerp(x, y, n); torch.log2(z * 0); torch.log10(z)
torch.addcmul(x, x, y, value=2); torch.addcdiv(x, x, y)
n.nan_to_num()
F.relu6(n); F.leaky_relu(n, 0.1); F.elu(n); F.selu(n); F.celu(n); F.gelu(n); F.gelu(n, approximate="tanh")
F.softplus(n)
F.silu(n); F.mish(n); F.hardtanh(n); F.hardswish(n); F.logsigmoid(n); F.softshrink(n); F.hardshrink(n)
F.prelu(x - 1, v[:1])
x * o; o + v; x + torch.tensor(2); x * torch.tensor(2.0, dtype=torch.float64)
x * torch.ones(3, dtype=torch.float64)
x.half() * x; x.bfloat16() + x.half(); x.double().float(); x * True; x + torch.ones(3, dtype=torch.int64)
"""
REDUCTIONS = """
x.sum(); x.sum(0); x.sum((0, 1)); x.sum(1, True); x.sum(dtype=torch.float64); b.sum((0, 2))
b.permute(2, 0, 1).sum(1)
x.mean(); x.mean(0); x.mean((0, 1), True); x.nansum(); x.prod(); x.prod(1); q.prod(); p.prod(1); q.prod(0)
x.var()
x.var(1, unbiased=False); x.std(); x.std(0); torch.var_mean(x, 1); torch.std_mean(x); x.norm(); x.norm(1)
x.norm(3)
x.norm(2, 0); p.norm(float("inf")); p.norm(float("-inf")); x.norm(1.5); x.norm(0.5); torch.dist(x, y)
x.logsumexp(0)
x.cumsum(0); x.cumprod(1); q.cumprod(1); x.logcumsumexp(1); p.max(); p.min(); p.max(1); p.min(0); p.amax(1)
p.amin()
p.median(); p.median(1); p.aminmax(); p.sort(1); p.sort(1, descending=True); x.topk(2); x.kthvalue(1)
p.mode(1)
p.cummax(1); p.cummin(1); p.argmax(1); p.argsort(1); p.any(); p.all(0); x.softmax(1); x.log_softmax(0)
x.msort()
x.half().sum(); x.bfloat16().mean(); x.count_nonzero(); x.isnan(); x < y; x == y; n.logical_not()
"""
SHAPES = """
x.view(3, 2); x.reshape(-1); x.t(); x.t().reshape(6); x.T; x.mT; x.transpose(0, 1); x.permute(1, 0)
b.permute(2, 0, 1)
v.expand(2, 3); x.expand(2, 2, 3); v.expand_as(x); x[0:1].squeeze(); x[0:1].squeeze(0)
x[0:1].squeeze((0, 1)); x.unsqueeze(1)
x.select(0, 1); x.narrow(1, 1, 2); x[0]; x[:, 1:]; x[..., 0]; x[None]; x[0, 1]; x[-1]; b[:, 1:, ::2]
b[0, ..., 1:]
x.split(1); b.split([1, 2], 1); b.chunk(2, 2); b.tensor_split((1, 2), 1); x.unbind(1); s.diagonal()
b.diagonal(1, 1, 2)
x.as_strided((2,), (1,)); v.as_strided((2, 2), (1, 1)); v.unfold(0, 2, 1); b.movedim(0, 2); b.flatten(1)
b.unflatten(2, (2, 2))
torch.diag_embed(v); s.diag(); v.diag(); s.triu(); s.tril(-1); s.trace(); x.flip(0); x.roll(1, 1)
x.repeat(2, 1); x.tile(2)
x.repeat_interleave(2, 0); torch.cat([x, y]); torch.cat([x, x.double()], 1); torch.stack([x, y], 1)
torch.hstack([v, v])
torch.vstack([x, v]); F.pad(x, (1, 2)); b[:, ::2].clone(); b.permute(2, 0, 1).contiguous(); x.t().clone()
b[:, ::2] * 2
b.permute(2, 0, 1) + torch.ones(3); x.t() * s[:, :2]; torch.ones(3, 2) + x.t(); x[:, 3:]; x[2:] * 2
x.clone(); x[:]
torch.broadcast_tensors(v, x); torch.meshgrid(v, v, indexing="ij"); torch.block_diag(x, s)
"""
INDEXING = """
x[i]; x[:, i]; x[i, i]; x[m]; v[j]; x[[1, 0]]; x[[True, False]]; x[torch.tensor(1)]; x[True]; x[None, i]
b[i, :, i]
b[:, i, i]; x.gather(1, k); v.gather(0, j); x.scatter(1, k, y); x.scatter(1, k, 2.0); x.scatter_add(1, k, y)
v.index_select(0, j); x.index_add(0, i, y, alpha=2); x.index_copy(0, i, y); x.index_fill(0, i, 2.0)
x.index_put((i,), v)
x.index_put((i,), y, accumulate=True); v.take(j); x.put(i, v[:2]); x.masked_fill(m, 2.0); x.masked_fill(m, o)
x.masked_select(m); x.masked_scatter(m, y); torch.take_along_dim(x, k, 1); F.embedding(i, x)
F.embedding(i, x, padding_idx=0)
x.scatter_reduce(1, k, y, "sum")
r = x * 1; r[0] = v; r[:, 1] = 5.0; r[m] = o
r = x * 1; r[i, i] = v[:2]; r = r * 2
r = x * 1; r.mul_(y).add_(1).sub_(y, alpha=2).div_(3.0)
r = x * 1; r.view(-1)[2:4].mul_(3)
r = x * 1; r.zero_(); r.copy_(v)
r = x * 1; r.fill_(o); r.masked_fill_(m, 1.0)
r = x * 1; r.clamp_(0.6, 1.0).sigmoid_()
r = x * 1; r.t_(); r.unsqueeze_(0)
r = x * 1; r.index_put_((i,), y, accumulate=True)
"""
LINEAR = """
x @ s; x @ v; v @ v; v @ s; b @ c; b @ c[0]; x @ s.t(); b.bmm(c); s.mv(v); v.dot(v); torch.outer(v, v)
torch.inner(v, v)
torch.addmm(s, s, s, beta=2, alpha=3); torch.addmv(v, s, v); torch.baddbmm(b[:, :, :1].expand(2, 3, 5), b, c)
torch.kron(x, s); torch.tensordot(x, s, 1); s.inverse(); s.det()
F.linear(x, s); F.linear(x, s, v); F.mse_loss(x, y); F.l1_loss(x, y); F.smooth_l1_loss(x, y)
F.huber_loss(n, y)
F.cross_entropy(x, i); F.cross_entropy(x, i, reduction="sum"); F.nll_loss(x, i); F.normalize(x)
F.cosine_similarity(x, y)
F.kl_div(x, y); F.dropout(x, 0.5, False)
"""
COMPLEXES = """
z * 2; z * z; z + 1j; z * v; z.abs(); z.real; z.imag; z.conj(); z.exp(); z.sin(); z.sqrt(); z.log()
z.pow(2); z.reciprocal()
z.sum(); z.mean(); z.prod(); z.sgn(); z.norm(); z.cumsum(0); z.dot(z); torch.vdot(z, z); torch.outer(z, z)
z.angle()
torch.view_as_real(z); torch.complex(v, v); torch.polar(v, v); x.to(torch.complex64).sum(); v * 1j
z.tanh(); z.sigmoid()
r = z * 1; r.mul_(1j); r.add_(z)
"""


def lines(block: str) -> list[str]:
    """The cases of a block: one line each for statements, separated by `;` for expressions."""
    found = []
    for line in block.strip().splitlines():
        found += [line] if line.startswith("r = ") else [part.strip() for part in line.split(";")]
    return found


CASES = [
    case for block in (POINTWISE, REDUCTIONS, SHAPES, INDEXING, LINEAR, COMPLEXES) for case in lines(block)
]
