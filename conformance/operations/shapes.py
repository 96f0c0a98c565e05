"""Operations on shape, views, joining, splitting and indexing."""

from conformance.operations.schema import DIFFERENTIABLE, EVERY, FLOATING, operation, with_inplace

VIEWS = (
    operation("view", "m", "size dtype", "shape", EVERY, flags="diff view"),
    operation("view_as", "m", "other", "shape", EVERY, flags="diff view"),
    operation("reshape", "f, m", "input shape", "shape", EVERY, flags="diff view"),
    operation("reshape_as", "m", "other", "shape", EVERY, flags="diff view"),
    operation("flatten", "f, m", "input start_dim end_dim", "shape", EVERY, flags="diff view"),
    operation("unflatten", "f, m", "input dim sizes", "shape", EVERY, since="1.9", later="f@2.13", flags="diff view"),
    operation("ravel", "f, m", "input", "shape", EVERY, since="1.9", flags="diff view"),
    *with_inplace(operation("t", "f, m", "input", "shape", EVERY, flags="diff view")),
    *with_inplace(operation("transpose", "f, m", "input dim0 dim1", "shape", EVERY, flags="diff view")),
    operation("swapaxes", "f, m", "input axis0 axis1", "shape", EVERY, since="1.9", flags="diff view"),
    operation("permute", "f, m", "input dims", "shape", EVERY, later="f@1.9", flags="diff view"),
    operation("movedim", "f, m", "input source destination", "shape", EVERY, since="1.9", flags="diff view"),
    operation("expand", "m", "size implicit", "shape", EVERY, flags="diff view"),
    operation("expand_as", "m", "other", "shape", EVERY, flags="diff view"),
    operation("broadcast_to", "f, m", "input size", "shape", EVERY, since="1.9", flags="diff view"),
    *with_inplace(operation("squeeze", "f, m", "input dim", "shape", EVERY, flags="diff view")),
    *with_inplace(operation("unsqueeze", "f, m", "input dim", "shape", EVERY, flags="diff view")),
    operation("select", "f, m", "input dim index", "shape indexing", EVERY, flags="diff view"),
    operation("narrow", "f, m", "input dim start length", "shape indexing", EVERY, flags="diff view"),
    operation("unbind", "f, m", "input dim", "shape splitting", EVERY, flags="diff view"),
    operation("split", "f, m", "tensor split_size_or_sections split_size dim", "shape splitting", EVERY,
              flags="diff view"),
    operation("chunk", "f, m", "input chunks dim", "shape splitting", EVERY, flags="diff view"),
    operation("tensor_split", "f, m", "input indices_or_sections dim", "shape splitting", EVERY, since="1.9",
              flags="diff view"),
    operation("unsafe_split", "f, m", "tensor split_size_or_sections dim", "shape splitting", EVERY, since="1.9",
              flags="diff"),
    operation("unsafe_chunk", "f, m", "input chunks dim", "shape splitting", EVERY, since="1.9", flags="diff"),
    operation("diagonal", "f, m", "input offset dim1 dim2", "shape", EVERY, flags="diff view"),
    operation("diag", "f, m", "input diagonal out", "shape", EVERY, flags="diff"),
    operation("diag_embed", "f, m", "input offset dim1 dim2", "shape", EVERY, flags="diff"),
    *with_inplace(
        operation("as_strided", "f, m", "input size stride storage_offset", "shape", EVERY, flags="diff view"),
    ),
    operation("unfold", "m", "dimension size step", "shape", EVERY, flags="diff view"),
    operation("view_copy", "f", "input size dtype", "shape", EVERY, since="2.13", flags="diff"),
)

COPIES = (
    operation("contiguous", "m", "memory_format", "shape", EVERY, flags="diff"),
    operation("repeat", "m", "repeats", "shape", EVERY, flags="diff sizes"),
    operation("tile", "f, m", "input dims", "shape", EVERY, since="1.9", flags="diff sizes"),
    operation("repeat_interleave", "f, m", "input repeats dim output_size", "shape", EVERY, flags="diff"),
    operation("flip", "f, m", "input dims", "shape", EVERY, flags="diff"),
    operation("fliplr", "f, m", "input", "shape", EVERY, since="1.9", flags="diff"),
    operation("roll", "f, m", "input shifts dims", "shape", EVERY, flags="diff"),
    operation("pad", "n", "input pad mode value", "shape", EVERY, flags="diff"),
    operation("resize_", "m", "size memory_format", "shape", EVERY, flags="inplace sizes"),
    operation("resize_as_", "m", "tensor memory_format", "shape", EVERY, flags="inplace"),
    operation("set_", "m", "source storage_offset size stride", "shape", EVERY, flags="inplace"),
)

JOINING = (
    operation("cat", "f", "tensors dim out", "joining", EVERY, arity=None, flags="diff"),
    operation("concat", "f", "tensors dim out", "joining", EVERY, arity=None, since="2.13", flags="diff"),
    operation("stack", "f", "tensors dim out", "joining", EVERY, arity=None, flags="diff"),
    operation("hstack", "f", "tensors out", "joining", EVERY, arity=None, since="1.9", flags="diff"),
    operation("vstack", "f", "tensors out", "joining", EVERY, arity=None, since="1.9", flags="diff"),
    operation("block_diag", "f", "", "joining", EVERY, arity=None, since="1.9", flags="diff"),
    operation("broadcast_tensors", "f", "", "joining shape", EVERY, arity=None, flags="diff view"),
    operation("meshgrid", "f", "indexing", "joining shape", EVERY, arity=None, flags="diff view"),
)

INDEXING = (
    operation("gather", "f, m", "input dim index sparse_grad out", "indexing", EVERY, arity=2, flags="diff"),
    *with_inplace(
        operation("scatter", "f, m", "input dim index src value reduce out", "indexing", EVERY, arity=3,
                  flags="diff"),
    ),
    *with_inplace(
        operation("scatter_add", "f, m", "input dim index src out", "indexing", EVERY, arity=3, flags="diff"),
    ),
    operation("scatter_reduce", "f, m", "input dim index src reduce include_self out", "indexing", FLOATING, arity=3,
              since="2.13", flags="diff"),
    operation("index_select", "f, m", "input dim index out", "indexing", EVERY, arity=2, flags="diff"),
    *with_inplace(
        operation("index_add", "f, m", "input dim index source alpha out", "indexing", EVERY, arity=3, flags="diff"),
    ),
    *with_inplace(
        operation("index_copy", "f, m", "input dim index source out", "indexing", EVERY, arity=3, flags="diff"),
    ),
    *with_inplace(
        operation("index_fill", "f, m", "input dim index value", "indexing", EVERY, arity=2, flags="diff"),
    ),
    operation("index_put", "f, m", "input indices values accumulate", "indexing", EVERY, arity=2, flags="diff"),
    operation("index_put_", "m, f", "input indices values accumulate", "indexing", EVERY, arity=2,
              flags="diff inplace", later="f@1.2"),
    operation("take", "f, m", "input index out", "indexing", EVERY, arity=2, flags="diff"),
    operation("take_along_dim", "f, m", "input indices dim out", "indexing", EVERY, arity=2, since="1.9",
              flags="diff"),
    operation("put_", "m", "index source accumulate", "indexing", EVERY, arity=3, flags="diff inplace"),
    operation("masked_fill", "f, m", "input mask value", "indexing", EVERY, arity=2, flags="diff"),
    operation("masked_fill_", "m", "mask value", "indexing", EVERY, arity=2, flags="diff inplace"),
    *with_inplace(
        operation("masked_scatter", "f, m", "input mask source", "indexing", EVERY, arity=3, flags="diff"),
    ),
    operation("masked_select", "f, m", "input mask out", "indexing", EVERY, arity=2, flags="diff"),
    operation("nonzero", "f, m", "input out as_tuple", "indexing", EVERY),
    *with_inplace(operation("triu", "f, m", "input diagonal out", "indexing", EVERY, flags="diff")),
    *with_inplace(operation("tril", "f, m", "input diagonal out", "indexing", EVERY, flags="diff")),
    operation("fill_diagonal_", "m", "fill_value wrap", "indexing", EVERY, flags="diff inplace"),
    operation("one_hot", "n", "tensor num_classes", "indexing", ("int64",), flags="sizes"),
    operation("embedding", "n", "input weight padding_idx max_norm norm_type scale_grad_by_freq sparse", "indexing",
              DIFFERENTIABLE, flags="diff"),
)

ROWS = (*VIEWS, *COPIES, *JOINING, *INDEXING)
