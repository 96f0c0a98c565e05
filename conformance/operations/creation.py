"""Creation, conversion and questions about tensors. Nothing random: a program shows the same everywhere."""

from conformance.operations.schema import EVERY, NUMBERS, op

_NEW = "dtype layout device requires_grad"
_LIKE = f"input {_NEW} memory_format"

CREATION = (
    op("tensor", "f", "data dtype device requires_grad", "creation", EVERY, arity=0, flags="factory"),
    op("as_tensor", "f", "data dtype device", "creation", EVERY, arity=0, flags="factory diff"),
    op("zeros", "f", f"size {_NEW} out", "creation", EVERY, arity=0, flags="factory sizes"),
    op("ones", "f", f"size {_NEW} out", "creation", EVERY, arity=0, flags="factory sizes"),
    op("full", "f", f"size fill_value {_NEW} out", "creation", EVERY, arity=0, flags="factory sizes"),
    op("arange", "f", f"start end step {_NEW} out", "creation", NUMBERS, arity=0, flags="factory sizes"),
    op("linspace", "f", f"start end steps {_NEW} out", "creation", NUMBERS, arity=0, flags="factory sizes"),
    op("eye", "f", f"n m {_NEW} out", "creation", EVERY, arity=0, flags="factory sizes"),
    op("scalar_tensor", "f", f"s {_NEW}", "creation", EVERY, arity=0, flags="factory"),
    op("zeros_like", "f", _LIKE, "creation", EVERY),
    op("ones_like", "f", _LIKE, "creation", EVERY),
    op("full_like", "f", f"input fill_value {_NEW} memory_format", "creation", EVERY),
    op("new_zeros", "m", f"size {_NEW}", "creation", EVERY, flags="sizes"),
    op("new_ones", "m", f"size {_NEW}", "creation", EVERY, flags="sizes"),
    op("new_full", "m", f"size fill_value {_NEW}", "creation", EVERY, flags="sizes"),
    op("new_tensor", "m", f"data {_NEW}", "creation", EVERY),
    op(
        "sparse_coo_tensor",
        "f",
        f"indices values size {_NEW} is_coalesced check_invariants",
        "creation sparse",
        EVERY,
        arity=0,
        flags="factory diff",
    ),
    op("Parameter", "torch.nn.Parameter", "data requires_grad", "creation autograd", EVERY),
    op("Variable", "torch.autograd.Variable", "data requires_grad", "creation autograd", EVERY),
)

CONVERSION = (
    op("to", "m", "dtype device other non_blocking copy memory_format", "cast", EVERY, flags="diff"),
    op("type", "m", "dtype non_blocking", "cast", EVERY, flags="diff"),
    op("type_as", "m", "other", "cast", EVERY, flags="diff"),
    *(
        op(name, "m", "memory_format", "cast", EVERY, since=since, flags="diff")
        for name, since in (
            ("float", "1.2"),
            ("double", "1.2"),
            ("half", "1.2"),
            ("bfloat16", "1.2"),
            ("cfloat", "1.9"),
            ("cdouble", "1.9"),
            ("int", "1.2"),
            ("long", "1.2"),
            ("short", "1.2"),
            ("byte", "1.2"),
            ("char", "1.2"),
            ("bool", "1.2"),
        )
    ),
    op("cpu", "m", "memory_format", "cast", EVERY, flags="diff"),
    op("clone", "f, m", "input memory_format", "cast", EVERY, flags="diff"),
    op("detach", "m, f", "input", "autograd", EVERY, flags="view"),
    op("detach_", "m, f", "input", "autograd", EVERY, flags="inplace"),
    op("coalesce", "m", "", "sparse", EVERY, flags="diff"),
    op("to_dense", "m", "dtype masked_grad", "sparse", EVERY, flags="diff"),
    op("to_sparse", "m", "sparse_dim", "sparse", EVERY, flags="diff"),
    op("indices", "m", "", "sparse", EVERY),
    op("values", "m", "", "sparse", EVERY, flags="diff"),
    op("is_coalesced", "m", "", "sparse query", EVERY),
    op("_nnz", "m", "", "sparse query", EVERY),
    op("item", "m", "", "query", EVERY),
    op("tolist", "m", "", "query", EVERY),
    op("numpy", "m", "force", "query", EVERY),
)

QUERIES = (
    op("size", "m", "dim", "query", EVERY),
    op("stride", "m", "dim", "query", EVERY),
    op("dim", "m", "", "query", EVERY),
    op("numel", "f, m", "input", "query", EVERY),
    op("nelement", "m", "", "query", EVERY),
    op("storage_offset", "m", "", "query", EVERY),
    op("is_contiguous", "m", "memory_format", "query", EVERY),
    op("is_floating_point", "f, m", "input", "query", EVERY),
    op("is_complex", "f, m", "input", "query", EVERY),
    op("is_conj", "f, m", "input", "query", EVERY, since="2.13"),
    op("is_same_size", "m", "other", "query", EVERY, arity=2),
    op("is_set_to", "m", "tensor", "query", EVERY, arity=2),
    op("is_tensor", "f", "obj", "query"),
    op("is_nonzero", "f, m", "input", "query", EVERY),
    op("is_inference", "f, m", "input", "query mode", EVERY, since="2.13"),
    op("equal", "f, m", "input other", "query", EVERY, arity=2),
    op("allclose", "f, m", "input other rtol atol equal_nan", "query", EVERY, arity=2),
    op("result_type", "f", "tensor1 tensor2 tensor other", "query", EVERY, arity=2, since="1.9"),
    op("promote_types", "f", "type1 type2", "query", arity=0, since="1.9"),
    op("can_cast", "f", "from_ to", "query", arity=0, since="1.9"),
    op("_is_view", "m", "", "query", EVERY),
    op("type_name", "torch.typename", "obj", "query"),
    op("get_default_dtype", "f", "", "query mode", arity=0),
    op("set_default_dtype", "f", "d", "mode", arity=0),
)

ROWS = (*CREATION, *CONVERSION, *QUERIES)
