"""Shared by the adapters of functional engines: leaves and passes over an engine's `vjp(f, primals, seeds)`.

The forward runs at once and is written down; a pass replays what was written as a function of the leaves and
hands that to the engine. So values, seeds, subgradients and higher orders are the engine's own. What it has
nothing of is unsupported: graphs that are freed, gradients that add up, versions, hooks, grad mode.
"""


class Node(object):
    """One operation that was run: how to run it again, and the recorded arguments that it had."""

    __slots__ = ("args", "kwargs", "op", "passed")

    def __init__(self, op, args, kwargs):
        self.op, self.args, self.kwargs, self.passed = op, args, kwargs, False

    def sources(self):
        """All that it was given."""
        return [*self.args, *self.kwargs.values()]


def recorded(value):
    """The recorded tensors among arguments."""
    if isinstance(value, (list, tuple)):
        return [each for part in value for each in recorded(part)]
    return [value] if getattr(value, "requires_grad", False) else []


def taped(runner, wrapped, vjp, zeros_like=None):
    """The tensor class of a functional engine; the adapter adds shape, dtype, ops and the like."""
    unsupported = runner.Unsupported
    made = []  # the adapter's own class, once it is there

    class Tensor(wrapped.Tensor):
        def __init_subclass__(cls):
            made.append(cls)

        def __init__(self, raw, requires_grad=False, node=None, index=None):
            self.raw, self.tracked, self.node, self.index = raw, requires_grad, node, index
            self._grad = None

        requires_grad = property(lambda self: self.tracked)
        is_leaf = property(lambda self: self.node is None)

        @property
        def grad(self):
            return self._grad

        @grad.setter
        def grad(self, value):
            if value is not None:
                raise unsupported("Tensor.grad = a tensor")
            self._grad = None

        @classmethod
        def apply(cls, op, *args, **kwargs):
            if "out" in kwargs:
                raise unsupported("out=")
            given = {key: cls.own(value) for key, value in kwargs.items()}
            value = cls.called(op, [cls.own(arg) for arg in args], given)
            node = Node(op, args, kwargs) if recorded([*args, *kwargs.values()]) else None

            def result(part, index):
                if not cls.is_own(part):
                    return part
                tracked = node is not None and cls.differentiable(part)
                return cls(part, tracked, node if tracked else None, index)

            if isinstance(value, (list, tuple)):
                return type(value)(result(part, index) for index, part in enumerate(value))
            return result(value, None)

        @classmethod
        def differentiable(cls, raw):
            return "float" in str(raw.dtype) or "complex" in str(raw.dtype)

        def detach(self):
            return made[-1](self.raw)

        def requires_grad_(self, requires_grad=True):
            if self.node is not None or not self.differentiable(self.raw):
                raise unsupported("Tensor.requires_grad_ of a result, or of integers")
            self.tracked = requires_grad
            return self

        def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
            if inputs is not None:
                raise unsupported("Tensor.backward(inputs=)")
            leaves = reached([self])
            if any(leaf._grad is not None for leaf in leaves):
                raise unsupported("adding to a gradient that is there")
            for leaf, grad in zip(leaves, slopes([self], leaves, [gradient], retain_graph, create_graph)):
                leaf._grad = grad

    def order(roots, cut=()):
        """The nodes that lead to the roots, sources first; nothing beyond the cut."""
        stops = {id(tensor) for tensor in cut}
        done, found, waiting = set(), [], [(root, False) for root in roots]
        while waiting:
            tensor, ready = waiting.pop()
            node = tensor.node
            if node is None or id(tensor) in stops or id(node) in done:
                continue
            if ready:
                done.add(id(node))
                found.append(node)
                continue
            waiting.append((tensor, True))
            waiting.extend((each, False) for each in recorded(node.sources()))
        return found

    def reached(roots):
        """The leaves that the roots depend on, each once."""
        found = {id(root): root for root in roots if root.node is None and root.requires_grad}
        for node in order(roots):
            found.update((id(each), each) for each in recorded(node.sources()) if each.node is None)
        return list(found.values())

    def function_of(roots, inputs):
        """The recorded program as a function of some of its values."""
        nodes = order(roots, inputs)

        def again(*values):
            known = {id(tensor): value for tensor, value in zip(inputs, values)}
            results = {}

            def raw(arg):
                if isinstance(arg, (list, tuple)):
                    return type(arg)(raw(part) for part in arg)
                if not isinstance(arg, Tensor):
                    return made[-1].own(arg)
                if id(arg) in known:
                    return known[id(arg)]
                if id(arg.node) in results:
                    value = results[id(arg.node)]
                    return value if arg.index is None else value[arg.index]
                return arg.raw

            for node in nodes:
                given = {key: raw(value) for key, value in node.kwargs.items()}
                results[id(node)] = node.op(*[raw(arg) for arg in node.args], **given)
            return [raw(root) for root in roots]

        return again, nodes

    def slopes(roots, inputs, seeds, retain_graph, create_graph):
        """The gradients of the roots for the inputs, as the engine's `vjp` gives them."""
        for root, seed in zip(roots, seeds):
            if not root.requires_grad:
                raise runner.Unsupported("a pass from what does not require grad")
            if seed is None and (root.numel() != 1 or "complex" in str(root.raw.dtype)):
                raise unsupported("a pass without a gradient from more than one real number")
        if not (retain_graph is None or isinstance(retain_graph, bool)) or (
            create_graph and retain_graph is False
        ):
            raise unsupported("retain_graph of this kind")
        if len({id(each) for each in inputs}) != len(inputs):
            raise unsupported("an input given twice")
        if len(inputs) > 1 and any(each.node is not None for each in inputs):
            raise unsupported("results among several inputs")
        again, nodes = function_of(roots, inputs)
        if any(node.passed for node in nodes):
            raise runner.Unsupported("graphs that are freed")
        seeds = [made[-1].space.ones_like(root) if seed is None else seed for root, seed in zip(roots, seeds)]
        if not all(isinstance(seed, Tensor) for seed in seeds):
            raise runner.Unsupported("a gradient that is no tensor")
        count = len(inputs)

        def run(*values):
            return tuple(vjp(again, list(values[:count]), list(values[count:])))

        found = []
        if create_graph:
            found = list(made[-1].apply(run, *inputs, *seeds))
        elif count:
            found = [made[-1](part) for part in run(*[made[-1].own(each) for each in [*inputs, *seeds]])]
        if not retain_graph and not create_graph:
            for node in nodes:
                node.passed = True
        return found

    def listed(value):
        return [value] if isinstance(value, Tensor) else list(value)

    def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False):
        roots = listed(outputs)
        seeds = [None] * len(roots) if grad_outputs is None else listed(grad_outputs)
        inputs = listed(inputs)
        if not inputs or any(not isinstance(each, Tensor) for each in [*roots, *inputs]):
            raise unsupported("torch.autograd.grad of what is no tensor")
        if any(not each.requires_grad for each in inputs):
            raise runner.Unsupported("torch.autograd.grad for what does not require grad")
        return tuple(slopes(roots, inputs, seeds, retain_graph, create_graph))

    Tensor.functions = {"autograd.grad": grad}
    for name, op in wrapped.BINARY.items():
        setattr(Tensor, "__i%s__" % name, rebound(op))
    return Tensor


def rebound(op):
    """An augmented assignment of an engine without in-place operations would bind the name anew."""

    def refuse(self, other):
        raise self.unsupported("in-place operations")

    return refuse
