"""The names of autograd itself: backward, hooks, modes, custom functions, graph nodes."""

from conformance.operations.schema import DIFFERENTIABLE, op, words

BACKWARD = (
    op(
        "backward",
        "m, torch.Tensor.backward",
        "gradient retain_graph create_graph inputs",
        "autograd",
        DIFFERENTIABLE,
        flags="backward",
    ),
    op(
        "autograd.backward",
        "torch.autograd.backward",
        "tensors grad_tensors retain_graph create_graph grad_variables inputs",
        "autograd",
        DIFFERENTIABLE,
        arity=None,
        flags="backward",
    ),
    op(
        "autograd.grad",
        "torch.autograd.grad",
        "outputs inputs grad_outputs retain_graph create_graph only_inputs allow_unused is_grads_batched "
        "materialize_grads",
        "autograd",
        DIFFERENTIABLE,
        arity=None,
        flags="backward diff",
    ),
    op(
        "jacobian",
        "torch.autograd.functional.jacobian",
        "func inputs create_graph strict vectorize strategy",
        "autograd",
        DIFFERENTIABLE,
        arity=None,
        since="1.9",
        flags="backward diff",
    ),
    op(
        "hessian",
        "torch.autograd.functional.hessian",
        "func inputs create_graph strict vectorize outer_jacobian_strategy",
        "autograd",
        DIFFERENTIABLE,
        arity=None,
        since="1.9",
        flags="backward diff",
    ),
    *(
        op(
            name,
            f"torch.autograd.functional.{name}",
            "func inputs v create_graph strict",
            "autograd",
            DIFFERENTIABLE,
            arity=None,
            since="1.9",
            flags="backward diff",
        )
        for name in ("vjp", "jvp", "vhp", "hvp")
    ),
    op(
        "func.grad",
        "torch.func.grad",
        "func argnums has_aux",
        "autograd",
        DIFFERENTIABLE,
        arity=0,
        since="2.13",
    ),
    op(
        "vmap",
        "torch.vmap",
        "func in_dims out_dims randomness chunk_size",
        "autograd",
        DIFFERENTIABLE,
        arity=0,
        since="2.13",
    ),
    op(
        "gradcheck",
        "torch.autograd.gradcheck",
        "func inputs eps atol rtol raise_exception nondet_tol check_undefined_grad check_grad_dtypes",
        "autograd",
        DIFFERENTIABLE,
        arity=None,
        flags="backward",
    ),
)

TENSOR = (
    op("requires_grad_", "m", "requires_grad", "autograd", DIFFERENTIABLE, flags="inplace"),
    op("retain_grad", "m", "", "autograd hook", DIFFERENTIABLE),
    op("register_hook", "m", "hook", "hook", DIFFERENTIABLE),
    op("register_post_accumulate_grad_hook", "m", "hook", "hook", DIFFERENTIABLE, since="2.13"),
    op(
        "register_multi_grad_hook",
        "torch.autograd.graph.register_multi_grad_hook",
        "tensors fn mode",
        "hook",
        DIFFERENTIABLE,
        arity=None,
        since="2.13",
    ),
    op("queue_callback", "torch.autograd.Variable._execution_engine.queue_callback", "", "hook", arity=0),
    op("remove", "m", "", "hook", arity=0),
)

GRAPH = (
    op(
        "get_gradient_edge",
        "torch.autograd.graph.get_gradient_edge",
        "tensor",
        "autograd",
        DIFFERENTIABLE,
        since="2.13",
    ),
    op(
        "GradientEdge",
        "torch.autograd.graph.GradientEdge",
        "node output_nr ownership_token",
        "autograd",
        arity=0,
        since="2.13",
    ),
    op(
        "increment_version",
        "torch.autograd.graph.increment_version",
        "tensor",
        "autograd",
        DIFFERENTIABLE,
        since="2.13",
        flags="inplace",
    ),
    op("node.name", "Tensor.name", "", "autograd node", arity=0),
    op("register_prehook", "m", "fn", "hook node", arity=0, since="2.13"),
    op("apply", "m", "", "autograd custom", DIFFERENTIABLE, arity=None, flags="diff backward"),
)

CONTEXT = (
    op("save_for_backward", "m", "", "custom", arity=None),
    op("save_for_forward", "m", "", "custom", arity=None, since="2.13"),
    op("mark_dirty", "m", "", "custom", arity=None),
    op("mark_non_differentiable", "m", "", "custom", arity=None),
    op("set_materialize_grads", "m", "value", "custom", arity=0, since="1.9"),
    op("forward", "m", "", "custom", arity=None),
)

MODES = (
    op("is_grad_enabled", "f", "", "mode query", arity=0),
    op("is_inference_mode_enabled", "f", "", "mode query", arity=0, since="1.9"),
    op("is_anomaly_enabled", "f", "", "mode query", arity=0),
    op("set_grad_enabled", "f, torch.autograd.set_grad_enabled", "mode", "mode", arity=0),
    op("set_anomaly_enabled", "torch.set_anomaly_enabled", "mode check_nan", "mode", arity=0),
    op("no_grad", "f, torch.autograd.no_grad", "", "mode", arity=0),
    op("enable_grad", "f, torch.autograd.enable_grad", "", "mode", arity=0),
    op("inference_mode", "f, torch.autograd.inference_mode", "mode", "mode", arity=0, since="1.9"),
    op("set_detect_anomaly", "torch.autograd.set_detect_anomaly", "mode check_nan", "mode", arity=0),
    op("detect_anomaly", "torch.autograd.detect_anomaly", "check_nan", "mode", arity=0),
    op(
        "set_multithreading_enabled",
        "torch.autograd.set_multithreading_enabled",
        "mode",
        "mode",
        arity=0,
        since="2.13",
    ),
    op(
        "saved_tensors_hooks",
        "torch.autograd.graph.saved_tensors_hooks",
        "pack_hook unpack_hook",
        "mode hook",
        arity=0,
        since="2.13",
    ),
    op(
        "disable_saved_tensors_hooks",
        "torch.autograd.graph.disable_saved_tensors_hooks",
        "error_message",
        "mode hook",
        arity=0,
        since="2.13",
    ),
    op(
        "save_on_cpu",
        "torch.autograd.graph.save_on_cpu",
        "pin_memory device_type",
        "mode hook",
        arity=0,
        since="2.13",
    ),
    op(
        "allow_mutation_on_saved_tensors",
        "torch.autograd.graph.allow_mutation_on_saved_tensors",
        "",
        "mode",
        arity=0,
        since="2.13",
    ),
    op("set_warn_always", "f", "b", "mode", arity=0, since="1.9"),
    op("is_warn_always_enabled", "f", "", "mode query", arity=0, since="1.9"),
)

ROWS = (*BACKWARD, *TENSOR, *GRAPH, *CONTEXT, *MODES)

CONTEXTS = words(
    """
    torch.no_grad torch.enable_grad torch.set_grad_enabled torch.inference_mode
    torch.autograd.no_grad torch.autograd.enable_grad torch.autograd.set_grad_enabled
    torch.autograd.inference_mode torch.autograd.set_detect_anomaly
    torch.autograd.detect_anomaly torch.autograd.set_multithreading_enabled
    torch.autograd.graph.saved_tensors_hooks torch.autograd.graph.disable_saved_tensors_hooks
    torch.autograd.graph.save_on_cpu torch.autograd.graph.allow_mutation_on_saved_tensors thread
    threads warnings_once
    """
)
"""What may stand in ``with``. The last three belong to the form, not to torch."""

DECORATORS = ("staticmethod", "once_differentiable", "torch.no_grad()", "torch.enable_grad()")

CLASS_METHODS = ("forward", "backward", "setup_context", "vjp", "jvp")
"""The names that a method of a custom Function may have."""

TENSOR_ATTRIBUTES = words(
    """
    data grad grad_fn requires_grad is_leaf retains_grad grad_dtype shape dtype device layout
    ndim is_sparse real imag T mT H mH output_nr names itemsize nbytes _version _base _grad
    _grad_fn _backward_hooks _post_accumulate_grad_hooks is_meta
    """
)

NODE_ATTRIBUTES = words(
    """
    next_functions variable saved_tensors metadata _saved_self _saved_other _saved_result
    _saved_exponent _saved_mask _saved_dim _saved_weight _saved_input _raw_saved_self
    _raw_saved_other _raw_saved_result _raw_saved_tensors
    """
)

CTX_ATTRIBUTES = (
    "saved_tensors",
    "saved_variables",
    "needs_input_grad",
    "materialize_grads",
    "to_save",
    "non_differentiable",
    "dirty_tensors",
)

SCRATCH_ATTRIBUTES = words(
    """
    a b c d e k m n p s t u v w x y z dim scale shape size factor flag count chk mask saved
    other
    """
)
"""What a program may keep on ``ctx``: ``ctx.k = k``."""

RESULT_ATTRIBUTES = ("values", "indices", "min", "max", "node", "__name__", "logabsdet", "sign")
"""Fields of named results, of GradientEdge, of handles; and the name of a type."""

ATTRIBUTES = tuple(
    dict.fromkeys(
        (*TENSOR_ATTRIBUTES, *NODE_ATTRIBUTES, *CTX_ATTRIBUTES, *SCRATCH_ATTRIBUTES, *RESULT_ATTRIBUTES)
    )
)
