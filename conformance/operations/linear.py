"""Linear algebra, softmax, losses and layers."""

from conformance.operations.schema import (
    DIFFERENTIABLE,
    FLOATING,
    SINGLE,
    SINGLE_COMPLEX,
    op,
    with_inplace,
)

PRODUCTS = (
    op(
        "matmul",
        "f, m, x @ y",
        "input other out",
        "linear-algebra product",
        DIFFERENTIABLE,
        arity=2,
        flags="diff",
    ),
    op("mm", "f, m", "input mat2 out", "linear-algebra product", DIFFERENTIABLE, arity=2, flags="diff"),
    op("bmm", "f, m", "input mat2 out", "linear-algebra product", DIFFERENTIABLE, arity=2, flags="diff"),
    op("mv", "f, m", "input vec out", "linear-algebra product", DIFFERENTIABLE, arity=2, flags="diff"),
    op(
        "dot",
        "f, m",
        "input tensor other out",
        "linear-algebra product",
        DIFFERENTIABLE,
        arity=2,
        flags="diff",
    ),
    op(
        "vdot",
        "f, m",
        "input other out",
        "linear-algebra product",
        DIFFERENTIABLE,
        arity=2,
        since="1.9",
        flags="diff",
    ),
    op(
        "inner",
        "f, m",
        "input other out",
        "linear-algebra product",
        DIFFERENTIABLE,
        arity=2,
        since="1.9",
        flags="diff",
    ),
    op(
        "outer",
        "f, m",
        "input vec2 out",
        "linear-algebra product",
        DIFFERENTIABLE,
        arity=2,
        since="1.9",
        flags="diff",
    ),
    op("ger", "f, m", "input vec2 out", "linear-algebra product", DIFFERENTIABLE, arity=2, flags="diff"),
    op(
        "cross",
        "f, m",
        "input other dim out",
        "linear-algebra product",
        DIFFERENTIABLE,
        arity=2,
        flags="diff",
    ),
    *with_inplace(
        op(
            "addmm",
            "f, m",
            "input mat1 mat2 beta alpha out",
            "linear-algebra product",
            DIFFERENTIABLE,
            arity=3,
            flags="diff",
        ),
    ),
    *with_inplace(
        op(
            "addmv",
            "f, m",
            "input mat vec beta alpha out",
            "linear-algebra product",
            DIFFERENTIABLE,
            arity=3,
            flags="diff",
        ),
    ),
    op(
        "addbmm",
        "f, m",
        "input batch1 batch2 beta alpha out",
        "linear-algebra product",
        DIFFERENTIABLE,
        arity=3,
        flags="diff",
    ),
    op(
        "baddbmm",
        "f, m",
        "input batch1 batch2 beta alpha out",
        "linear-algebra product",
        DIFFERENTIABLE,
        arity=3,
        flags="diff",
    ),
    *with_inplace(
        op(
            "addr",
            "f, m",
            "input vec1 vec2 beta alpha out",
            "linear-algebra product",
            DIFFERENTIABLE,
            arity=3,
            flags="diff",
        ),
    ),
    op("einsum", "f", "equation", "linear-algebra product", DIFFERENTIABLE, arity=None, flags="diff"),
    op("tensordot", "f", "a b dims out", "linear-algebra product", DIFFERENTIABLE, arity=2, flags="diff"),
    op(
        "kron",
        "f, m",
        "input other out",
        "linear-algebra product",
        DIFFERENTIABLE,
        arity=2,
        since="1.9",
        flags="diff",
    ),
    op("trace", "f, m", "input", "linear-algebra", DIFFERENTIABLE, flags="diff"),
)

DECOMPOSITIONS = (
    op("inverse", "f, m", "input out", "linear-algebra", SINGLE_COMPLEX, flags="diff"),
    op(
        "linalg_inv", "torch.linalg.inv", "A out", "linear-algebra", SINGLE_COMPLEX, since="1.9", flags="diff"
    ),
    op("det", "f, m", "input", "linear-algebra", SINGLE_COMPLEX, flags="diff"),
    op(
        "linalg_det", "torch.linalg.det", "A out", "linear-algebra", SINGLE_COMPLEX, since="1.9", flags="diff"
    ),
    op("logdet", "f, m", "input", "linear-algebra", SINGLE_COMPLEX, flags="diff"),
    op("slogdet", "f, m", "input out", "linear-algebra", SINGLE_COMPLEX, flags="diff"),
    op(
        "linalg_solve",
        "torch.linalg.solve",
        "A B left out",
        "linear-algebra",
        SINGLE_COMPLEX,
        arity=2,
        since="1.9",
        flags="diff",
    ),
    op(
        "cholesky",
        "f, m, torch.linalg.cholesky",
        "input A upper out",
        "linear-algebra",
        SINGLE_COMPLEX,
        later="torch.linalg.cholesky@1.9",
        flags="diff",
    ),
    op("matrix_power", "f, m", "input n out", "linear-algebra", SINGLE_COMPLEX, flags="diff"),
)

SOFTMAX = (
    op("softmax", "f, m, n", "input dim dtype out", "softmax", FLOATING, flags="diff"),
    op("softmin", "n", "input dim dtype", "softmax", FLOATING, flags="diff"),
    op("log_softmax", "f, m, n", "input dim dtype out", "softmax", FLOATING, flags="diff"),
)

LOSSES = (
    op("mse_loss", "n", "input target reduction", "loss", FLOATING, arity=2, flags="diff"),
    op("l1_loss", "n", "input target reduction", "loss", FLOATING, arity=2, flags="diff"),
    op("smooth_l1_loss", "n", "input target reduction beta", "loss", FLOATING, arity=2, flags="diff"),
    op(
        "huber_loss",
        "n",
        "input target reduction delta",
        "loss",
        FLOATING,
        arity=2,
        since="1.9",
        flags="diff",
    ),
    op(
        "cross_entropy",
        "n",
        "input target weight ignore_index reduction label_smoothing",
        "loss softmax",
        FLOATING,
        arity=2,
        flags="diff",
    ),
    op(
        "nll_loss", "n", "input target weight ignore_index reduction", "loss", FLOATING, arity=2, flags="diff"
    ),
    op("binary_cross_entropy", "n", "input target weight reduction", "loss", FLOATING, arity=2, flags="diff"),
    op(
        "binary_cross_entropy_with_logits",
        "n",
        "input target weight reduction pos_weight",
        "loss",
        FLOATING,
        arity=2,
        flags="diff",
    ),
    op("kl_div", "n", "input target reduction log_target", "loss", FLOATING, arity=2, flags="diff"),
)

LAYERS = (
    op("linear", "n", "input weight bias", "layer linear-algebra", DIFFERENTIABLE, arity=3, flags="diff"),
    op("layer_norm", "n", "input normalized_shape weight bias eps", "layer", FLOATING, arity=3, flags="diff"),
    op(
        "batch_norm",
        "n",
        "input running_mean running_var weight bias training momentum eps",
        "layer",
        SINGLE,
        arity=None,
        flags="diff",
    ),
    op("normalize", "n", "input p dim eps", "layer", DIFFERENTIABLE, flags="diff"),
    op("cosine_similarity", "f, n", "x1 x2 dim eps", "layer", FLOATING, arity=2, flags="diff"),
    op("pairwise_distance", "n", "x1 x2 p eps keepdim", "layer", FLOATING, arity=2, flags="diff"),
    op("dropout", "n", "input p training inplace", "layer", FLOATING, flags="diff"),
    op(
        "max_pool1d",
        "f, n",
        "input kernel_size stride padding dilation ceil_mode",
        "layer",
        FLOATING,
        flags="diff",
    ),
    op("avg_pool1d", "n", "input kernel_size stride padding", "layer", FLOATING, flags="diff"),
    op(
        "conv1d",
        "f, n",
        "input weight bias stride padding dilation groups",
        "layer",
        SINGLE,
        arity=2,
        flags="diff",
    ),
)

ROWS = (*PRODUCTS, *DECOMPOSITIONS, *SOFTMAX, *LOSSES, *LAYERS)
