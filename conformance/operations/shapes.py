"""Operations on shape, views, joining, splitting and indexing."""

from conformance.operations.schema import DIFFERENTIABLE, EVERY, FLOATING, op, with_inplace

VIEWS = (
    op("view", "m", "size dtype", "shape", EVERY, flags="diff view"),
    op("view_as", "m", "other", "shape", EVERY, flags="diff view"),
    op("reshape", "f, m", "input shape", "shape", EVERY, flags="diff view"),
    op("reshape_as", "m", "other", "shape", EVERY, flags="diff view"),
    op("flatten", "f, m", "input start_dim end_dim", "shape", EVERY, flags="diff view"),
    op(
        "unflatten", "f, m", "input dim sizes", "shape", EVERY, since="1.9", later="f@2.13", flags="diff view"
    ),
    op("ravel", "f, m", "input", "shape", EVERY, since="1.9", flags="diff view"),
    *with_inplace(op("t", "f, m", "input", "shape", EVERY, flags="diff view")),
    *with_inplace(op("transpose", "f, m", "input dim0 dim1", "shape", EVERY, flags="diff view")),
    op("swapaxes", "f, m", "input axis0 axis1", "shape", EVERY, since="1.9", flags="diff view"),
    op("permute", "f, m", "input dims", "shape", EVERY, later="f@1.9", flags="diff view"),
    op("movedim", "f, m", "input source destination", "shape", EVERY, since="1.9", flags="diff view"),
    op("expand", "m", "size implicit", "shape", EVERY, flags="diff view"),
    op("expand_as", "m", "other", "shape", EVERY, flags="diff view"),
    op("broadcast_to", "f, m", "input size", "shape", EVERY, since="1.9", flags="diff view"),
    *with_inplace(op("squeeze", "f, m", "input dim", "shape", EVERY, flags="diff view")),
    *with_inplace(op("unsqueeze", "f, m", "input dim", "shape", EVERY, flags="diff view")),
    op("select", "f, m", "input dim index", "shape indexing", EVERY, flags="diff view"),
    op("narrow", "f, m", "input dim start length", "shape indexing", EVERY, flags="diff view"),
    op("unbind", "f, m", "input dim", "shape splitting", EVERY, flags="diff view"),
    op(
        "split",
        "f, m",
        "tensor split_size_or_sections split_size dim",
        "shape splitting",
        EVERY,
        flags="diff view",
    ),
    op("chunk", "f, m", "input chunks dim", "shape splitting", EVERY, flags="diff view"),
    op(
        "tensor_split",
        "f, m",
        "input indices_or_sections dim",
        "shape splitting",
        EVERY,
        since="1.9",
        flags="diff view",
    ),
    op(
        "unsafe_split",
        "f, m",
        "tensor split_size_or_sections dim",
        "shape splitting",
        EVERY,
        since="1.9",
        flags="diff",
    ),
    op("unsafe_chunk", "f, m", "input chunks dim", "shape splitting", EVERY, since="1.9", flags="diff"),
    op("diagonal", "f, m", "input offset dim1 dim2", "shape", EVERY, flags="diff view"),
    op("diag", "f, m", "input diagonal out", "shape", EVERY, flags="diff"),
    op("diag_embed", "f, m", "input offset dim1 dim2", "shape", EVERY, flags="diff"),
    *with_inplace(
        op("as_strided", "f, m", "input size stride storage_offset", "shape", EVERY, flags="diff view"),
    ),
    op("unfold", "m", "dimension size step", "shape", EVERY, flags="diff view"),
    op("view_copy", "f", "input size dtype", "shape", EVERY, since="2.13", flags="diff"),
)

COPIES = (
    op("contiguous", "m", "memory_format", "shape", EVERY, flags="diff"),
    op("repeat", "m", "repeats", "shape", EVERY, flags="diff sizes"),
    op("tile", "f, m", "input dims", "shape", EVERY, since="1.9", flags="diff sizes"),
    op("repeat_interleave", "f, m", "input repeats dim output_size", "shape", EVERY, flags="diff"),
    op("flip", "f, m", "input dims", "shape", EVERY, flags="diff"),
    op("fliplr", "f, m", "input", "shape", EVERY, since="1.9", flags="diff"),
    op("roll", "f, m", "input shifts dims", "shape", EVERY, flags="diff"),
    op("pad", "n", "input pad mode value", "shape", EVERY, flags="diff"),
    op("resize_", "m", "size memory_format", "shape", EVERY, flags="inplace sizes"),
    op("resize_as_", "m", "tensor memory_format", "shape", EVERY, flags="inplace"),
    op("set_", "m", "source storage_offset size stride", "shape", EVERY, flags="inplace"),
)

JOINING = (
    op("cat", "f", "tensors dim out", "joining", EVERY, arity=None, flags="diff"),
    op("concat", "f", "tensors dim out", "joining", EVERY, arity=None, since="2.13", flags="diff"),
    op("stack", "f", "tensors dim out", "joining", EVERY, arity=None, flags="diff"),
    op("hstack", "f", "tensors out", "joining", EVERY, arity=None, since="1.9", flags="diff"),
    op("vstack", "f", "tensors out", "joining", EVERY, arity=None, since="1.9", flags="diff"),
    op("block_diag", "f", "", "joining", EVERY, arity=None, since="1.9", flags="diff"),
    op("broadcast_tensors", "f", "", "joining shape", EVERY, arity=None, flags="diff view"),
    op("meshgrid", "f", "indexing", "joining shape", EVERY, arity=None, flags="diff view"),
)

INDEXING = (
    op("gather", "f, m", "input dim index sparse_grad out", "indexing", EVERY, arity=2, flags="diff"),
    *with_inplace(
        op(
            "scatter",
            "f, m",
            "input dim index src value reduce out",
            "indexing",
            EVERY,
            arity=3,
            flags="diff",
        ),
    ),
    *with_inplace(
        op("scatter_add", "f, m", "input dim index src out", "indexing", EVERY, arity=3, flags="diff"),
    ),
    op(
        "scatter_reduce",
        "f, m",
        "input dim index src reduce include_self out",
        "indexing",
        FLOATING,
        arity=3,
        since="2.13",
        flags="diff",
    ),
    op("index_select", "f, m", "input dim index out", "indexing", EVERY, arity=2, flags="diff"),
    *with_inplace(
        op("index_add", "f, m", "input dim index source alpha out", "indexing", EVERY, arity=3, flags="diff"),
    ),
    *with_inplace(
        op("index_copy", "f, m", "input dim index source out", "indexing", EVERY, arity=3, flags="diff"),
    ),
    *with_inplace(
        op("index_fill", "f, m", "input dim index value", "indexing", EVERY, arity=2, flags="diff"),
    ),
    op("index_put", "f, m", "input indices values accumulate", "indexing", EVERY, arity=2, flags="diff"),
    op(
        "index_put_",
        "m, f",
        "input indices values accumulate",
        "indexing",
        EVERY,
        arity=2,
        flags="diff inplace",
    ),
    op("take", "f, m", "input index out", "indexing", EVERY, arity=2, flags="diff"),
    op(
        "take_along_dim",
        "f, m",
        "input indices dim out",
        "indexing",
        EVERY,
        arity=2,
        since="1.9",
        flags="diff",
    ),
    op("put_", "m", "index source accumulate", "indexing", EVERY, arity=3, flags="diff inplace"),
    op("masked_fill", "f, m", "input mask value", "indexing", EVERY, arity=2, flags="diff"),
    op("masked_fill_", "m", "mask value", "indexing", EVERY, arity=2, flags="diff inplace"),
    *with_inplace(
        op("masked_scatter", "f, m", "input mask source", "indexing", EVERY, arity=3, flags="diff"),
    ),
    op("masked_select", "f, m", "input mask out", "indexing", EVERY, arity=2, flags="diff"),
    op("nonzero", "f, m", "input out as_tuple", "indexing", EVERY),
    *with_inplace(op("triu", "f, m", "input diagonal out", "indexing", EVERY, flags="diff")),
    *with_inplace(op("tril", "f, m", "input diagonal out", "indexing", EVERY, flags="diff")),
    op("fill_diagonal_", "m", "fill_value wrap", "indexing", EVERY, flags="diff inplace"),
    op("one_hot", "n", "tensor num_classes", "indexing", ("int64",), flags="sizes"),
    op(
        "embedding",
        "n",
        "input weight padding_idx max_norm norm_type scale_grad_by_freq sparse",
        "indexing",
        DIFFERENTIABLE,
        flags="diff",
    ),
)

ROWS = (*VIEWS, *COPIES, *JOINING, *INDEXING)
