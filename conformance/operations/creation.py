"""Creation, conversion and questions about tensors. Nothing random: a program shows the same everywhere."""

from conformance.operations.schema import EVERY, NUMBERS, operation

_NEW = "dtype layout device requires_grad"
_LIKE = f"input {_NEW} memory_format"

CREATION = (
    operation("tensor", "f", "data dtype device requires_grad", "creation", EVERY, arity=0, flags="factory"),
    operation("as_tensor", "f", "data dtype device", "creation", EVERY, arity=0, flags="factory diff"),
    operation("zeros", "f", f"size {_NEW} out", "creation", EVERY, arity=0, flags="factory sizes"),
    operation("ones", "f", f"size {_NEW} out", "creation", EVERY, arity=0, flags="factory sizes"),
    operation("full", "f", f"size fill_value {_NEW} out", "creation", EVERY, arity=0, flags="factory sizes"),
    operation("arange", "f", f"start end step {_NEW} out", "creation", NUMBERS, arity=0, flags="factory sizes"),
    operation("linspace", "f", f"start end steps {_NEW} out", "creation", NUMBERS, arity=0, flags="factory sizes"),
    operation("eye", "f", f"n m {_NEW} out", "creation", EVERY, arity=0, flags="factory sizes"),
    operation("scalar_tensor", "f", f"s {_NEW}", "creation", EVERY, arity=0, flags="factory"),
    operation("zeros_like", "f", _LIKE, "creation", EVERY),
    operation("ones_like", "f", _LIKE, "creation", EVERY),
    operation("full_like", "f", f"input fill_value {_NEW} memory_format", "creation", EVERY),
    operation("new_zeros", "m", f"size {_NEW}", "creation", EVERY, flags="sizes"),
    operation("new_ones", "m", f"size {_NEW}", "creation", EVERY, flags="sizes"),
    operation("new_full", "m", f"size fill_value {_NEW}", "creation", EVERY, flags="sizes"),
    operation("new_tensor", "m", f"data {_NEW}", "creation", EVERY),
    operation("sparse_coo_tensor", "f", f"indices values size {_NEW} is_coalesced check_invariants",
              "creation sparse", EVERY, arity=0, flags="factory diff"),
    operation("Parameter", "torch.nn.Parameter", "data requires_grad", "creation autograd", EVERY),
    operation("Variable", "torch.autograd.Variable", "data requires_grad", "creation autograd", EVERY),
)

CONVERSION = (
    operation("to", "m", "dtype device other non_blocking copy memory_format", "cast", EVERY, flags="diff"),
    operation("type", "m", "dtype non_blocking", "cast", EVERY, flags="diff"),
    operation("type_as", "m", "other", "cast", EVERY, flags="diff"),
    *(
        operation(name, "m", "memory_format", "cast", EVERY, since=since, flags="diff")
        for name, since in (
            ("float", "1.2"), ("double", "1.2"), ("half", "1.2"), ("bfloat16", "1.9"), ("cfloat", "2.13"),
            ("cdouble", "2.13"), ("int", "1.2"), ("long", "1.2"), ("short", "1.2"), ("byte", "1.2"),
            ("char", "1.2"), ("bool", "1.2"),
        )
    ),
    operation("cpu", "m", "memory_format", "cast", EVERY, flags="diff"),
    operation("clone", "f, m", "input memory_format", "cast", EVERY, flags="diff", later="f@1.2"),
    operation("detach", "m, f", "input", "autograd", EVERY, flags="view", later="f@1.2"),
    operation("detach_", "m, f", "input", "autograd", EVERY, flags="inplace", later="f@1.2"),
    operation("coalesce", "m", "", "sparse", EVERY, flags="diff"),
    operation("to_dense", "m", "dtype masked_grad", "sparse", EVERY, flags="diff"),
    operation("to_sparse", "m", "sparse_dim", "sparse", EVERY, flags="diff"),
    operation("indices", "m", "", "sparse", EVERY),
    operation("values", "m", "", "sparse", EVERY, flags="diff"),
    operation("is_coalesced", "m", "", "sparse query", EVERY),
    operation("_nnz", "m", "", "sparse query", EVERY),
    operation("item", "m", "", "query", EVERY),
    operation("tolist", "m", "", "query", EVERY),
    operation("numpy", "m", "force", "query", EVERY),
)

QUERIES = (
    operation("size", "m", "dim", "query", EVERY),
    operation("stride", "m", "dim", "query", EVERY),
    operation("dim", "m", "", "query", EVERY),
    operation("numel", "f, m", "input", "query", EVERY),
    operation("nelement", "m", "", "query", EVERY),
    operation("storage_offset", "m", "", "query", EVERY),
    operation("is_contiguous", "m", "memory_format", "query", EVERY),
    operation("is_floating_point", "f, m", "input", "query", EVERY),
    operation("is_complex", "f, m", "input", "query", EVERY, since="1.9"),
    operation("is_conj", "f, m", "input", "query", EVERY, since="2.13"),
    operation("is_same_size", "m", "other", "query", EVERY, arity=2),
    operation("is_set_to", "m", "tensor", "query", EVERY, arity=2),
    operation("is_tensor", "f", "obj", "query"),
    operation("is_nonzero", "f, m", "input", "query", EVERY),
    operation("is_inference", "f, m", "input", "query mode", EVERY, since="2.13", later="m@1.9"),
    operation("equal", "f, m", "input other", "query", EVERY, arity=2),
    operation("allclose", "f, m", "input other rtol atol equal_nan", "query", EVERY, arity=2),
    operation("result_type", "f", "tensor1 tensor2 tensor other", "query", EVERY, arity=2, since="1.9"),
    operation("promote_types", "f", "type1 type2", "query", arity=0, since="1.9"),
    operation("can_cast", "f", "from_ to", "query", arity=0, since="1.9"),
    operation("_is_view", "m", "", "query", EVERY, since="1.9"),
    operation("type_name", "torch.typename", "obj", "query"),
    operation("get_default_dtype", "f", "", "query mode", arity=0),
    operation("set_default_dtype", "f", "d", "mode", arity=0),
)

ROWS = (*CREATION, *CONVERSION, *QUERIES)
