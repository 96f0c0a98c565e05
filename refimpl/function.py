"""Custom functions: ``autograd.Function``, its context, and ``once_differentiable`` (FUNC, ERROR-02 to
ERROR-06, HIGHER-05).

The context that ``forward`` gets *is* the node: a subclass of `FunctionNode` made for each Function, called
``{Name}Backward``."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from . import devices, modes, views
from .errors import text
from .graph import Error, Meta, Node
from .hooks import type_name
from .saved import pack, pack_result, raise_twice, unpack_tensor
from .tensor import Tensor, bump, extra_of, wrap

__all__ = ["Function", "FunctionCtx", "FunctionNode", "InplaceFunction", "once_differentiable"]

state = modes.state


class FunctionCtx:
    """What ``ctx`` can do."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for backward, with version check and release (FUNC-02, FUNC-03)."""
        self.to_save = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Say which inputs ``forward`` changed in place (FUNC-04)."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Say which outputs have no gradient (FUNC-05)."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether undefined gradients reach ``backward`` as zeros (FUNC-06)."""
        self.materialize_grads = value


class FunctionNode(Node, FunctionCtx):
    """The node of a custom Function, and the context of its ``forward`` and ``backward``."""

    __slots__ = ("__dict__", "_freed", "_saved")

    _forward_cls: type[Function]
    materialize_grads = True
    dirty_tensors: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    to_save: tuple[Any, ...] = ()

    def __init__(self, needs_input_grad: tuple[bool, ...], is_variable: tuple[bool, ...]) -> None:
        super().__init__()
        self.metas = []
        self._freed = False
        self._saved: tuple[Any, ...] = ()
        self.needs_input_grad = needs_input_grad
        self.is_variable = is_variable

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors, checked. Raises RuntimeError after they were freed (RETAIN-12)."""
        if self._freed:
            raise_twice()
        return tuple(unpack_tensor(self, value) for value in self._saved)

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        from .autograd.graph import SavedTensor

        if self._freed:
            raise_twice()
        return tuple(SavedTensor(self, value) for value in self._saved)

    def release(self) -> None:
        self._saved = ()
        self._freed = True

    def apply(self, *grads: Any) -> Any:
        """Call the user's ``backward`` (or ``vjp``)."""
        return backward_of(self._forward_cls)(self, *grads)

    def run(self, grads: Any, task: Any, needs: Any) -> Any:
        """Call the user's ``backward`` and judge what it gives (ERROR-04, FUNC-06, FUNC-14)."""
        given = []
        for i, grad in enumerate(grads):
            if grad is None and self.materialize_grads and self.metas[i].dtype is not None:  # type: ignore[index]
                zero = task.wrap(task.zeros(self.metas[i]))  # type: ignore[index]
                if zero._counter is None:
                    zero._counter = [1]  # torch fills them in place
                given.append(zero)
            else:
                given.append(task.wrap(grad, task.bumps.get((self, i), 0)))
        with modes.set_grad_enabled(state.grad):
            results = self.apply(*given)
        del given
        returned = results if isinstance(results, tuple) else (results,)
        expected = len(self.is_variable)
        if len(returned) > expected and all(each is None for each in returned[expected:]):
            returned = returned[:expected]
        if len(returned) != expected:
            raise RuntimeError(text("gradient.count", node=self.name(), expected=expected, got=len(returned)))
        found = []
        for i, (grad, variable) in enumerate(zip(returned, self.is_variable, strict=True)):
            if not variable:
                if grad is not None:
                    raise RuntimeError(text("gradient.not_variable", node=self.name(), position=i + 1))
                continue
            if grad is not None and not isinstance(grad, Tensor):
                raise RuntimeError(text("gradient.type", type=type_name(grad)))
            found.append(task.unwrap(grad))
        return found


FunctionNode.__name__ = "BackwardCFunction"


def backward_of(function: type[Function]) -> Callable[..., Any]:
    """The user's backward. Raises RuntimeError if both ``backward`` and ``vjp`` are there."""
    backward, vjp = function.backward, function.vjp
    if backward is not Function.backward and vjp is not Function.vjp:
        raise RuntimeError(text("function.both"))
    return vjp if vjp is not Function.vjp else backward


class FunctionMeta(type):
    """Gives each Function its node class."""

    def __init__(cls, name: str, bases: tuple[type, ...], scope: dict[str, Any]) -> None:
        super().__init__(name, bases, scope)
        node = type(name + "Backward", (FunctionNode,), {"_forward_cls": cls})
        node.__module__ = "torch.autograd.function"
        cls._backward_cls = node


class Function(metaclass=FunctionMeta):
    """The base of custom functions: static ``forward`` and ``backward``, called by ``apply``."""

    _backward_cls: type[FunctionNode]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd function "
            "will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(text("function.legacy"))

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs. Raises NotImplementedError if a Function lacks it (ERROR-06)."""
        raise NotImplementedError(text("function.no_forward"))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Prepare the context apart from ``forward`` (FUNC-10)."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the inputs.

        Raises NotImplementedError if a Function lacks it (ERROR-06).
        """
        raise NotImplementedError(text("function.no_backward"))

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name for ``backward``."""
        raise NotImplementedError(text("function.no_backward"))

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run the function on its arguments, and record it if one requires grad."""
        split = cls.setup_context is not Function.setup_context
        if split:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        return apply_function(cls, args, kwargs, split)


class InplaceFunction(Function):
    """An older base of functions that can work in place."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def apply_function(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any], split: bool) -> Any:
    """Run forward without recording, then hang its outputs on the node."""
    needs = tuple(isinstance(each, Tensor) and each.requires_grad for each in args)
    node = cls._backward_cls(needs, tuple(isinstance(each, Tensor) for each in args))
    recorded = state.grad and any(needs)
    if recorded:
        pairs = [
            (views.gradient_edge(each) if need else (None, 0))
            for each, need in zip(args, needs, strict=True)
            if isinstance(each, Tensor)
        ]
        node.next = tuple(pair[0] for pair in pairs)
        node.nrs = tuple(pair[1] for pair in pairs)
        if state.anomaly:
            from .anomaly import remember

            remember(node)
    with modes.no_grad():
        if split:
            output = cls.forward(*args, **kwargs)
            cls.setup_context(node, args, output)
        else:
            output = cls.forward(node, *args, **kwargs)
    given = output if isinstance(output, tuple) else (output,)
    results = hang_outputs(node, recorded, args, given)
    if recorded:
        save(node)
    node.__dict__.pop("to_save", None)
    node.__dict__.pop("dirty_tensors", None)
    node.__dict__.pop("non_differentiable", None)
    return tuple(results) if isinstance(output, tuple) else results[0]


def hang_outputs(
    node: FunctionNode, recorded: bool, inputs: tuple[Any, ...], outputs: tuple[Any, ...]
) -> list[Any]:
    """Make the outputs results of the node (FUNC-04 to FUNC-08, VIEW-14).

    Raises RuntimeError for a dirty leaf, TypeError for a mark that is no tensor.
    """
    for index, each in enumerate(node.dirty_tensors):
        if not isinstance(each, Tensor):
            raise TypeError(text("function.dirty_type", index=index, type=type_name(each)))
        bump(each)
    input_ids = {id(each) for each in inputs if isinstance(each, Tensor)}
    dirty = {id(each) for each in node.dirty_tensors}
    constant = {id(each) for each in node.non_differentiable if isinstance(each, Tensor)}
    if dirty - {id(each) for each in outputs}:
        raise RuntimeError(text("function.dirty_not_output"))
    metas: list[Meta] = []
    node.metas = metas
    results: list[Any] = []
    differentiable = 0
    hung = []
    for each in outputs:
        if not isinstance(each, Tensor):
            metas.append(Meta((), None, devices.CPU))  # never has a gradient (FUNC-08)
            results.append(each)
            continue
        is_input, modified = id(each) in input_ids, id(each) in dirty
        follows = recorded and id(each) not in constant and each.dtype.is_differentiable
        made = hang_one(node, each, is_input, modified, follows)
        if not (follows and modified):
            metas.append(Meta(made._data.shape, made._data.dtype, made.device))
        if not (is_input and modified) and made._x is not None and made._x.view is not None:
            made._x.view.creation = views.Creation.FUNCTION
        differentiable += follows
        results.append(made)
        hung.append(made)
    if differentiable > 1:
        for made in hung:
            if made._x is not None and made._x.view is not None:
                made._x.view.creation = views.Creation.MULTI
    return results


def hang_one(node: FunctionNode, output: Tensor, is_input: bool, modified: bool, follows: bool) -> Tensor:
    """One output: new, an input as it was (then a view of it), or an input changed in place."""
    if not follows:
        if not output.requires_grad:
            return _view_as_self(output) if is_input and not modified else output
        if is_input:
            return output.detach()
        return output if output._is_view() else output.detach_()
    if modified:
        if output.is_leaf and output.requires_grad:
            raise RuntimeError(text("inplace.leaf_dirty"))
        if not is_input:
            warnings.warn(
                "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, "
                "there is no need to pass it to mark_dirty().",
                stacklevel=4,
            )
        views.rebase_history(output, node)
        return output
    if is_input:
        output = _view_as_self(output)
    if output._req is not None:
        output._req = True
    output._fn, output._nr = node, len(node.metas or ())
    if output._req is None:
        extra_of(output).view.version = output._version
    return output


def _view_as_self(tensor: Tensor) -> Tensor:
    with modes.no_grad():
        made = wrap(tensor.array()[...], type(tensor) if type(tensor) is Tensor else Tensor)
        views.as_view(tensor, made, views.creation_now())
    return made


def save(node: FunctionNode) -> None:
    """Save what ``save_for_backward`` was given. Raises TypeError for what is no tensor (FUNC-03)."""
    saved = []
    for index, each in enumerate(node.to_save):
        if each is not None and not isinstance(each, Tensor):
            raise TypeError(text("function.save_type", index=index, type=type_name(each)))
        output = each is not None and each._fn is node
        saved.append(pack_result(each) if output else pack(each))
    node._saved = tuple(saved)


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a ``backward`` that cannot be differentiated itself (HIGHER-05, HIGHER-10)."""

    @functools.wraps(function)
    def once(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with modes.no_grad():
            outputs = function(ctx, *args, **kwargs)
        if not state.grad or not any(isinstance(each, Tensor) and each.requires_grad for each in args):
            return outputs
        given = outputs if isinstance(outputs, tuple) else (outputs,)
        sources = []
        for each in given:
            source = None if each is None else each.detach()
            if source is not None:
                source.requires_grad = True
            sources.append(source)
        node = Error(
            text("once_differentiable"),
            tuple(None if each is None else views.grad_accumulator(each) for each in sources),
        )
        node.metas = []
        refused = []
        for each in sources:
            made = None
            if each is not None:
                made = wrap(each.array())
                views.set_history(made, node)
            refused.append(made)
        return tuple(refused) if isinstance(outputs, tuple) else refused[0]

    return once
