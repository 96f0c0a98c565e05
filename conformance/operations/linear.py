"""Linear algebra, softmax, losses and layers."""

from conformance.operations.schema import (
    DIFFERENTIABLE,
    FLOATING,
    SINGLE,
    SINGLE_COMPLEX,
    operation,
    with_inplace,
)

PRODUCTS = (
    operation("matmul", "f, m, x @ y", "input other out", "linear-algebra product", DIFFERENTIABLE, arity=2,
              flags="diff"),
    operation("mm", "f, m", "input mat2 out", "linear-algebra product", DIFFERENTIABLE, arity=2, flags="diff"),
    operation("bmm", "f, m", "input mat2 out", "linear-algebra product", DIFFERENTIABLE, arity=2, flags="diff"),
    operation("mv", "f, m", "input vec out", "linear-algebra product", DIFFERENTIABLE, arity=2, flags="diff"),
    operation("dot", "f, m", "input tensor other out", "linear-algebra product", DIFFERENTIABLE, arity=2,
              flags="diff"),
    operation("vdot", "f, m", "input other out", "linear-algebra product", DIFFERENTIABLE, arity=2, since="1.9",
              flags="diff"),
    operation("inner", "f, m", "input other out", "linear-algebra product", DIFFERENTIABLE, arity=2, since="1.9",
              flags="diff"),
    operation("outer", "f, m", "input vec2 out", "linear-algebra product", DIFFERENTIABLE, arity=2, since="1.9",
              flags="diff"),
    operation("ger", "f, m", "input vec2 out", "linear-algebra product", DIFFERENTIABLE, arity=2, flags="diff"),
    operation("cross", "f, m", "input other dim out", "linear-algebra product", DIFFERENTIABLE, arity=2,
              flags="diff"),
    *with_inplace(
        operation("addmm", "f, m", "input mat1 mat2 beta alpha out", "linear-algebra product", DIFFERENTIABLE,
                  arity=3, flags="diff"),
    ),
    *with_inplace(
        operation("addmv", "f, m", "input mat vec beta alpha out", "linear-algebra product", DIFFERENTIABLE, arity=3,
                  flags="diff"),
    ),
    operation("addbmm", "f, m", "input batch1 batch2 beta alpha out", "linear-algebra product", DIFFERENTIABLE,
              arity=3, flags="diff"),
    operation("baddbmm", "f, m", "input batch1 batch2 beta alpha out", "linear-algebra product", DIFFERENTIABLE,
              arity=3, flags="diff"),
    *with_inplace(
        operation("addr", "f, m", "input vec1 vec2 beta alpha out", "linear-algebra product", DIFFERENTIABLE,
                  arity=3, flags="diff"),
    ),
    operation("einsum", "f", "equation", "linear-algebra product", DIFFERENTIABLE, arity=None, flags="diff"),
    operation("tensordot", "f", "a b dims out", "linear-algebra product", DIFFERENTIABLE, arity=2, flags="diff"),
    operation("kron", "f, m", "input other out", "linear-algebra product", DIFFERENTIABLE, arity=2, since="1.9",
              flags="diff"),
    operation("trace", "f, m", "input", "linear-algebra", DIFFERENTIABLE, flags="diff"),
)

DECOMPOSITIONS = (
    operation("inverse", "f, m", "input out", "linear-algebra", SINGLE_COMPLEX, flags="diff"),
    operation("linalg_inv", "torch.linalg.inv", "A out", "linear-algebra", SINGLE_COMPLEX, since="1.9",
              flags="diff"),
    operation("det", "f, m", "input", "linear-algebra", SINGLE_COMPLEX, flags="diff"),
    operation("linalg_det", "torch.linalg.det", "A out", "linear-algebra", SINGLE_COMPLEX, since="1.9",
              flags="diff"),
    operation("logdet", "f, m", "input", "linear-algebra", SINGLE_COMPLEX, flags="diff"),
    operation("slogdet", "f, m", "input out", "linear-algebra", SINGLE_COMPLEX, flags="diff"),
    operation("linalg_solve", "torch.linalg.solve", "A B left out", "linear-algebra", SINGLE_COMPLEX, arity=2,
              since="1.9", flags="diff"),
    operation("cholesky", "f, m, torch.linalg.cholesky", "input A upper out", "linear-algebra", SINGLE_COMPLEX,
              later="torch.linalg.cholesky@1.9", flags="diff"),
    operation("matrix_power", "f, m", "input n out", "linear-algebra", SINGLE_COMPLEX, flags="diff"),
)

SOFTMAX = (
    operation("softmax", "f, m, n", "input dim dtype out", "softmax", FLOATING, flags="diff"),
    operation("softmin", "n", "input dim dtype", "softmax", FLOATING, flags="diff"),
    operation("log_softmax", "f, m, n", "input dim dtype out", "softmax", FLOATING, flags="diff"),
)

LOSSES = (
    operation("mse_loss", "n", "input target reduction", "loss", FLOATING, arity=2, flags="diff"),
    operation("l1_loss", "n", "input target reduction", "loss", FLOATING, arity=2, flags="diff"),
    operation("smooth_l1_loss", "n", "input target reduction beta", "loss", FLOATING, arity=2, flags="diff"),
    operation("huber_loss", "n", "input target reduction delta", "loss", FLOATING, arity=2, since="1.9",
              flags="diff"),
    operation("cross_entropy", "n", "input target weight ignore_index reduction label_smoothing", "loss softmax",
              FLOATING, arity=2, flags="diff"),
    operation("nll_loss", "n", "input target weight ignore_index reduction", "loss", FLOATING, arity=2, flags="diff"),
    operation("binary_cross_entropy", "n", "input target weight reduction", "loss", FLOATING, arity=2, flags="diff"),
    operation("binary_cross_entropy_with_logits", "n", "input target weight reduction pos_weight", "loss", FLOATING,
              arity=2, flags="diff"),
    operation("kl_div", "n", "input target reduction log_target", "loss", FLOATING, arity=2, flags="diff"),
)

LAYERS = (
    operation("linear", "n", "input weight bias", "layer linear-algebra", DIFFERENTIABLE, arity=3, flags="diff"),
    operation("layer_norm", "n", "input normalized_shape weight bias eps", "layer", FLOATING, arity=3, flags="diff"),
    operation("batch_norm", "n", "input running_mean running_var weight bias training momentum eps", "layer", SINGLE,
              arity=None, flags="diff"),
    operation("normalize", "n", "input p dim eps", "layer", DIFFERENTIABLE, flags="diff"),
    operation("cosine_similarity", "f, n", "x1 x2 dim eps", "layer", FLOATING, arity=2, flags="diff"),
    operation("pairwise_distance", "n", "x1 x2 p eps keepdim", "layer", FLOATING, arity=2, flags="diff"),
    operation("dropout", "n", "input p training inplace", "layer", FLOATING, flags="diff"),
    operation("max_pool1d", "f, n", "input kernel_size stride padding dilation ceil_mode", "layer", FLOATING,
              flags="diff"),
    operation("avg_pool1d", "n", "input kernel_size stride padding", "layer", FLOATING, flags="diff"),
    operation("conv1d", "f, n", "input weight bias stride padding dilation groups", "layer", SINGLE, arity=2,
              flags="diff"),
)

ROWS = (*PRODUCTS, *DECOMPOSITIONS, *SOFTMAX, *LOSSES, *LAYERS)
