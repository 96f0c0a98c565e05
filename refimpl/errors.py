"""Every text that the engine raises or warns with, as torch 2.13.0 writes it; one table, keyed by what went
wrong.

The clause that each text belongs to stands beside it. Texts with braces are templates for ``str.format``.
"""

from __future__ import annotations

__all__ = ["TEXTS", "text"]

TEXTS: dict[str, str] = {
    # SEED-02, SEED-03
    "seed.implicit": "grad can be implicitly created only for scalar outputs",
    "seed.implicit_complex": "grad can be implicitly created only for real scalar outputs but got {dtype}",
    # SEED-05, SEED-09
    "seed.shape": "Mismatch in shape: grad_output[{grad}] has a shape of {grad_shape} and output[{output}] "
    "has a "
    "shape of {shape}.",
    "seed.complex": "For complex Tensors, both grad_output and output are required to have the same dtype. "
    "Mismatch "
    "in dtype: grad_output[{grad}] has a dtype of {grad_dtype} and output[{output}] has a dtype of {dtype}.",
    # GRAD-04
    "seed.batched_shape": "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
    "as the "
    "batch dimension. The sizes of the remaining dimensions are expected to match the shape of "
    "corresponding output, "
    "but a mismatch was detected: grad_output[{grad}] has a shape of {grad_shape} and output[{output}] has "
    "a shape of "
    "{shape}. If you only want some tensors in `grad_output` to be considered batched, consider using vmap.",
    # SEED-06
    "seed.type": "gradients can be either Tensors or None, but got {type}",
    # MULTI-10
    "root.type": "Expected output to be a torch.Tensor",
    # MULTI-02
    "seed.count": "got {tensors} tensors and {gradients} gradients",
    # ERROR-01, MULTI-05
    "root.no_grad": "element {index} of tensors does not require grad and does not have a grad_fn",
    # MULTI-12
    "grad_variables.deprecated": "`grad_variables` is deprecated. Use `grad_tensors` instead.",
    "grad_variables.both": "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
    "`backward()`. "
    "Please only use `grad_tensors`.",
    # INPUTS-02, INPUTS-03, GRAD-03
    "inputs.mapping": "`inputs` argument to `{function}()` must be a dict, not {type}. Other Mapping types "
    "are not "
    "supported.",
    "inputs.empty": "`inputs` argument to `{function}()` cannot be empty.",
    "inputs.type": "all inputs have to be Tensors or GradientEdges, but got {type}",
    "inputs.no_grad": "One of the differentiated Tensors does not require grad",
    # GRAD-02
    "grad.unused": "The differentiated Tensor at index {index} appears to not have been used in the graph. "
    "Set "
    "allow_unused=True if this is the desired behavior.",
    "grad.materialize": "Expected allow_unused to be True or not passed when materialize_grads=True, but "
    "got: "
    "allow_unused=False.",
    "grad.only_inputs": "only_inputs argument is deprecated and is ignored now (defaults to True). To "
    "accumulate "
    "gradient for other parts of the graph, please use torch.autograd.backward.",
    # CREATE-03
    "create_graph.cycle": "Using backward() with create_graph=True will create a reference cycle between the "
    "parameter and its gradient which can cause a memory leak. We recommend using autograd.grad when "
    "creating the "
    "graph to avoid this. If you have to use this function, make sure to reset the .grad fields of your "
    "parameters to "
    "None after use to break the cycle and avoid the leak.",
    # RETAIN-03
    "saved.twice": "Trying to backward through the graph a second time (or directly access saved tensors "
    "after they "
    "have already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
    "if you need "
    "to access saved tensors after calling backward.",
    # INPLACE-04, INPLACE-20
    "saved.modified": "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: "
    "[{type} {shape}]{producer} is at version {version}; expected version {expected} instead.",
    "saved.producer": ", which is output {output} of {node},",
    "saved.hint": " Hint: enable anomaly detection to find the operation that failed to compute its "
    "gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False).",
    "saved.hint_anomaly": " Hint: the backtrace further above shows the operation that failed to compute "
    "its gradient. "
    "The variable in question was changed in there or anywhere later. Good luck!",
    # INPLACE-19
    "saved.detached": "Trying to use a saved tensor that has been detached in-place, i.e. with "
    ".detach_().This is not "
    "supported, please use out-of-place `.detach()` instead",
    # HOOK-21
    "saved.unpack_type": "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
    "{type}",
    "saved.pack_inplace": "A saved tensor pack hook is modifying its input in place. Tensors provided as "
    "input to pack "
    "hook cannot be modified by in-place operations as this can lead to unexpected side-effects. Please "
    "open an issue "
    "if you need to perform in-place operations on the input to a pack hook.",
    # INPLACE-01, INPLACE-02, FUNC-04
    "inplace.leaf": "a leaf Variable that requires grad is being used in an in-place operation.",
    "inplace.leaf_view": "a view of a leaf Variable that requires grad is being used in an in-place "
    "operation.",
    "inplace.leaf_dirty": "a leaf Variable that requires grad has been used in an in-place operation.",
    # VIEW-06, VIEW-07, VIEW-08, VIEW-14
    "view.direct": "is being",
    "view.indirect": "its base or another view of its base has been",
    "view.modified": "Output {output} of {node} is a view and {what} modified inplace.",
    "view.created": "A view was created in",
    "view.created_of_view": "Output {output} of {node} is a view of a view which was created in",
    "view.inference": "{prefix} inference mode and {what} modified inplace in normal mode.",
    "view.no_grad": "{prefix} no_grad mode and {what} modified inplace with grad mode enabled.",
    "view.multi": " This view is the output of a function that returns multiple views. Such functions do "
    "not allow the "
    "output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    "view.ambiguous": " Given that this use case is ambiguous and error-prone, it is forbidden. You can "
    "clarify your "
    "code by moving both the view and the inplace either both inside the {mode} block (if you don't want "
    "the inplace "
    "to be tracked) or both outside (if you want the inplace to be tracked).",
    "view.function": " This view was created inside a custom Function (or because an input was returned "
    "as-is) and the "
    "autograd logic to handle view+inplace would override the custom backward associated with the custom "
    "Function, "
    "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of "
    "the custom "
    "Function.",
    # VIEW-11, ACC-19
    "inplace.overlap": "unsupported operation: more than one element of the written-to tensor refers to a "
    "single memory "
    "location. Please clone() the tensor before performing the operation.",
    # INPLACE-12
    "out.requires_grad": "{name}(): functions with out=... arguments don't support automatic "
    "differentiation, but one of "
    "the arguments requires grad.",
    # INPLACE-18
    "inplace.shape": "output with shape {shape} doesn't match the broadcast shape {broadcast}",
    "inplace.cast": "result type {result} can't be cast to the desired output type {output}",
    # LEAF-03, LEAF-04
    "requires_grad.constructor": "Only Tensors of floating point and complex dtype can require gradients",
    "requires_grad.setter": "only Tensors of floating point and complex dtype can require gradients",
    "requires_grad.method": "only Tensors of floating point dtype can require gradients",
    "requires_grad.type": "requires_grad must be a bool",
    "requires_grad.non_leaf": "you can only change requires_grad flags of leaf variables.",
    "requires_grad.non_leaf_false": " If you want to use a computed variable in a subgraph that doesn't "
    "require "
    "differentiation use var_no_grad = var.detach().",
    # LEAF-05
    "grad.non_leaf": "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
    ".grad attribute "
    "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for "
    "a non-leaf "
    "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make "
    "sure you "
    "access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.",
    # LEAF-06
    "retain_grad.no_grad": "can't retain_grad on Tensor that has requires_grad=False",
    # LEAF-10
    "detach.view": "Can't detach views in-place. Use detach() instead. If you are using "
    "DistributedDataParallel (DDP) "
    "for training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and "
    "hence detach_() "
    "cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() "
    "function in "
    "torch/optim/optimizer.py as the solution.",
    # LEAF-12
    "deepcopy.non_leaf": "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
    "protocol at "
    "the moment.  If you were attempting to deepcopy a module, this may be because of a "
    "torch.nn.utils.weight_norm "
    "usage, see https://github.com/pytorch/pytorch/pull/103001",
    # LEAF-13
    "numpy.requires_grad": "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
    "instead.",
    # LEAF-15
    "attribute.read_only": "attribute '{name}' of 'torch._C.TensorBase' objects is not writable",
    # ACC-13, DEVICE-01, DEVICE-11
    "grad.assign_type": "assigned grad expected to be a Tensor or None but got grad of type {type}",
    "grad.assign_self": "can't assign Variable as its own grad",
    "grad.assign_dtype": "attempting to assign a gradient with dtype '{dtype}' to a tensor with grad_dtype "
    "'{expected}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You "
    "can set the "
    "tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
    "caution. "
    "Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they match.",
    "grad.assign_device": "attempting to assign a gradient with device type '{device}' to a tensor with "
    "device type "
    "'{expected}'. Please ensure that the gradient and the tensor are on the same device",
    "grad.assign_size": "attempting to assign a gradient of size '{size}' to a tensor of size '{expected}'. "
    "Please "
    "ensure that the gradient and the tensor are the same size",
    # ACC-33
    "grad_dtype.existing": "Cannot set grad_dtype to '{dtype}' because there is already a gradient with "
    "dtype "
    "'{existing}'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the new "
    "grad_dtype "
    "matches the existing gradient's dtype.",
    "grad_dtype.non_leaf": "grad_dtype can only be set on leaf tensors.",
    # ACC-28
    "accumulate.moved": "leaf variable has been moved into the graph interior",
    # LAYOUT-03
    "accumulate.layout": "grad and param do not obey the gradient layout contract. This is not an error, "
    "but may impair "
    "performance.\ngrad.sizes() = {grad_shape}, strides() = {grad_strides}\nparam.sizes() = {shape}, "
    "strides() = {strides}",
    # HOOK-04
    "hook.type": "expected Variable, but hook returned '{type}'",
    "hook.size": "hook '{name}' has changed the size of value",
    "hook.dtype": "hook '{name}' has changed the type of value (was {expected} got {dtype})",
    # HOOK-07, HOOK-12
    "hook.no_grad": "cannot register a hook on a tensor that doesn't require gradient",
    "hook.post_non_leaf": "post accumulate grad hooks cannot be registered on non-leaf tensors",
    "hook.post_return": "Tensor post accumulate grad hooks should return None.",
    # HOOK-20
    "hook.multi_grad": "A leaf node was passed to _will_engine_execute_node but we are currently running "
    "autograd.grad(). "
    "This is currently not supported.",
    # ERROR-04, ERROR-05, DEVICE-02, DTYPE-02
    "gradient.count": "function {node} returned an incorrect number of gradients (expected {expected}, got "
    "{got})",
    "gradient.from": "Function {node} returned an ",
    "gradient.shape": "invalid gradient at index {index} - got {shape} but expected shape compatible with "
    "{expected}",
    "gradient.device": "invalid gradient at index {index} - expected device {expected} but got {device}",
    "gradient.complex": "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == "
    "grad_is_complex) to be true, "
    "but got false.  (Could this error message be improved?  If so, please report an enhancement request to "
    "PyTorch.)",
    "gradient.not_variable": "function {node} returned a gradient different than None at position "
    "{position}, but the "
    "corresponding forward input was not a Variable",
    "gradient.type": "expected Variable or None (got {type})",
    # MODE-07
    "anomaly.nan": "Function '{node}' returned nan values in its {index}th output.",
    # MODE-04
    "inference.save": "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference "
    "mode in computation tracked by autograd. To work around this, you can make a clone to get a normal "
    "tensor and use "
    "it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.",
    "inference.inplace": "Inplace update to inference tensor outside InferenceMode is not allowed.You can "
    "make a clone to "
    "get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more "
    "details.",
    "inference.requires_grad": "Setting requires_grad=True on inference tensor outside InferenceMode is not "
    "allowed.",
    "inference.version": "Inference tensors do not track version counter.",
    # HIGHER-10
    "once_differentiable": "trying to differentiate twice a function that was marked with "
    "@once_differentiable",
    # ERROR-06, ERROR-07
    "function.no_backward": "You must implement either the backward or vjp method for your custom "
    "autograd.Function to "
    "use it with backward mode AD.",
    "function.no_forward": "You must implement the forward function for custom autograd.Function.",
    "function.both": "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
    "should only "
    "implement one of them.",
    "function.legacy": "Legacy autograd function with non-static forward method is deprecated. Please use "
    "new-style "
    "autograd function with static forward method. (Example: "
    "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)",
    "function.not_differentiable": "derivative for {name} is not implemented",
    # FUNC-03, FUNC-04, FUNC-08
    "function.save_type": "save_for_backward can only save variables, but argument {index} is of type {type}",
    "function.dirty_not_output": "Some elements marked as dirty during the forward method were not returned "
    "as output. "
    "The inputs that are modified inplace must all be outputs of the Function.",
    "function.dirty_type": "mark_dirty can only mark variables, but argument {index} is of type {type}",
    "function.return_type": "{function}.forward: expected Tensor or tuple of Tensor (got {type}) for return "
    "value {index}",
    # CONCURRENCY-07
    "callback.outside": "Final callbacks can only be installed during backward pass.",
    # INPUTS-13
    "edge.no_grad": "It is not possible to get the gradient edge for a Tensor that does not require "
    "gradients",
    # DEVICE-02, DEVICE-03
    "meta.no_data": "Cannot copy out of meta tensor; no data!",
}


def text(key: str, **values: object) -> str:
    """The text under ``key`` with its placeholders filled. Raises KeyError for an unknown key."""
    found = TEXTS[key]
    return found.format(**values) if values else found
