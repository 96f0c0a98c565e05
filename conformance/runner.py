"""The one interpreter and observer of programs: a program and an engine in, a trace out.

One file, standard library only, clean under Python 3.6: it is imported in process, and sent as it is into
other interpreters (``python -c "import runpy; runpy.run_path('runner.py', run_name='__main__')" MODULE``).
The form of programs and traces is stated in ``conformance/programs/FORM.md``, the conversation of ``main`` in
``conformance/engines/PROTOCOL.md``. Adapters for engines with another API subclass ``Engine``; nobody else
evaluates a program.

Sections: statements as data, texts, engines, observing, evaluating, blocks and threads, running, talking.
"""

import contextlib
import copy
import ctypes
import gc
import hashlib
import importlib
import importlib.util
import inspect
import json
import operator
import os
import platform
import queue
import re
import struct
import sys
import threading
import types
import warnings
import weakref
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
)

FORM = 1
PROTOCOL = 1

MAX_CALLS = 60
"""Nested calls of the program's own functions, hooks included; the next one raises RecursionError.

Passes nested deeper than that torch moves to other threads, where exceptions get lost, and aborts at exit."""
STACK = 4000
"""Python frames that a program may use, its engine's included, above the runner's caller."""
MAX_SIGHT = 30
"""Levels of containers that are observed."""


class Unsupported(Exception):
    """The engine lacks a name, a keyword, a dtype or a declared capability; ``missing`` says which."""

    def __init__(self, missing: str) -> None:
        super().__init__(missing)
        self.missing = missing


class BadProgram(ValueError):
    """What was given to run is not a program of the form."""


class EngineProblem(Exception):
    """The engine cannot be used as asked: what is wrong, and what to do."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class ProgramInterrupt(KeyboardInterrupt):
    """``raise KeyboardInterrupt`` in a program; the user's own interrupt is none of these and passes
    through."""


ProgramInterrupt.__name__ = ProgramInterrupt.__qualname__ = "KeyboardInterrupt"


# ----------------------------------------------------------------------------------------------------
# Statements as data: what a statement is for, the names it touches and needs, whether it may run a backward
# pass.


def words(text: str) -> FrozenSet[str]:
    """A set of words."""
    return frozenset(text.split())


BACKWARD_FUNCTIONS = frozenset(("torch.autograd.backward", "torch.Tensor.backward"))
GRAD_FUNCTIONS = frozenset(
    "torch.autograd." + name
    for name in words(
        "grad gradcheck functional.jacobian functional.hessian functional.vjp functional.jvp "
        "functional.vhp functional.hvp"
    )
)
CREATIONS = words(
    "arange as_tensor Variable eye full full_like linspace Parameter ones ones_like scalar_tensor "
    "sparse_coo_tensor tensor zeros zeros_like new_full new_ones new_tensor new_zeros"
)
VIEWS = words(
    "as_strided broadcast_tensors broadcast_to chunk conj detach diagonal expand expand_as flatten imag "
    "meshgrid "
    "movedim narrow permute positive ravel real reshape reshape_as select split squeeze swapaxes t "
    "tensor_split "
    "transpose unbind unflatten unfold unsqueeze view view_as view_as_complex view_as_real"
)
VIEW_ATTRIBUTES = frozenset(("data", "T", "mT", "H", "mH", "real", "imag"))
HOOKS = words(
    "queue_callback register_multi_grad_hook register_hook register_post_accumulate_grad_hook "
    "register_prehook "
    "remove retain_grad"
)


class Facts:
    """What can be said of a statement before it runs."""

    __slots__ = ("backward", "binds", "grad", "kind", "required", "sees_all", "touched")

    def __init__(self, statement: Dict[str, Any]) -> None:
        self.touched: Dict[str, None] = {}  # in order of first appearance
        self.required: Dict[str, None] = {}
        self.binds: Dict[str, None] = {}
        self.backward = self.grad = self.sees_all = False
        bound: Set[str] = set()
        self._statement(statement, bound)
        self.kind = self._kind(statement)

    def _body(self, body: Sequence[Dict[str, Any]], bound: Set[str]) -> None:
        for statement in body:
            self._statement(statement, bound)

    def _bind(self, name: str, bound: Set[str]) -> None:
        self.touched[name] = None
        self.binds[name] = None
        bound.add(name)

    def _statement(self, s: Dict[str, Any], bound: Set[str]) -> None:
        do = s["do"]
        if do in ("expr", "print", "return"):
            self._expression(s["value"], bound)
        elif do == "assign":
            names: List[str] = []
            for target in s["targets"]:
                self._target(target, bound, names)
            self._expression(s["value"], bound)
            for name in names:
                self._bind(name, bound)
        elif do == "augment":
            self._expression(s["target"], bound)
            self._expression(s["value"], bound)
            if s["target"][0] == "name":
                self._bind(s["target"][1], bound)
        elif do == "delete":
            for target in s["targets"]:
                self._expression(target, bound)
                if target[0] == "name":
                    bound.discard(target[1])
        elif do == "with":
            for expression, name in s["items"]:
                self._expression(expression, bound)
                if name is not None:
                    self._bind(name, bound)
            self._body(s["body"], bound)
        elif do == "repeat":
            if s["var"] is not None:
                self._bind(s["var"], bound)
            self._body(s["body"], bound)
        elif do == "if":
            self._expression(s["test"], bound)
            self._body(s["body"], bound)
            self._body(s["orelse"], bound)
        elif do in ("define", "class"):
            self.binds[s["name"]] = None
            bound.add(s["name"])

    def _target(self, target: List[Any], bound: Set[str], names: List[str]) -> None:
        if target[0] == "name":
            self.touched[target[1]] = None
            names.append(target[1])
        elif target[0] == "tuple":
            for part in target[1]:
                self._target(part, bound, names)
        else:
            self._expression(target, bound)

    def _expression(self, e: Any, bound: Optional[Set[str]], hidden: FrozenSet[str] = frozenset()) -> None:
        """``bound`` is None inside a lambda, which needs no name yet; ``hidden`` are the lambda's
        parameters."""
        if e.__class__ is not list:
            return
        tag = e[0]
        if tag == "name":
            if e[1] not in hidden:
                self.touched[e[1]] = None
                if bound is not None and e[1] not in bound:
                    self.required[e[1]] = None
        elif tag == "method":
            if bound is not None:
                if e[2] == "backward":
                    self.backward = self.sees_all = True
                elif e[2] == "apply":
                    self.sees_all = True
            self._expression(e[1], bound, hidden)
            self._arguments(e[3], e[4], bound, hidden)
        elif tag == "call":
            if bound is not None:
                if e[1] in GRAD_FUNCTIONS:
                    self.grad = self.sees_all = True
                elif e[1] in BACKWARD_FUNCTIONS:
                    self.backward = self.sees_all = True
            self._arguments(e[2], e[3], bound, hidden)
        elif tag == "binary" or tag == "compare":
            self._expression(e[2], bound, hidden)
            self._expression(e[3], bound, hidden)
        elif tag in ("list", "tuple"):
            self._arguments(e[1], None, bound, hidden)
        elif tag == "attr" or tag == "star":
            self._expression(e[1], bound, hidden)
        elif tag == "unary":
            self._expression(e[2], bound, hidden)
        elif tag == "item" or tag == "slice":
            for part in e[1:]:
                self._expression(part, bound, hidden)
        elif tag == "apply":
            if bound is not None:
                self.sees_all = True
            self._expression(e[1], bound, hidden)
            self._arguments(e[2], e[3], bound, hidden)
        elif tag == "lambda":
            self._expression(e[2], None, hidden | {name.lstrip("*") for name in e[1]})
        elif tag == "dict":
            for pair in e[1]:
                self._arguments(pair, None, bound, hidden)

    def _arguments(
        self,
        args: Iterable[Any],
        kwargs: Optional[Dict[str, Any]],
        bound: Optional[Set[str]],
        hidden: FrozenSet[str],
    ) -> None:
        for part in args:
            if part.__class__ is list:
                self._expression(part, bound, hidden)
        if kwargs:
            for key in sorted(kwargs):
                self._expression(kwargs[key], bound, hidden)

    def _kind(self, s: Dict[str, Any]) -> str:
        do = s["do"]
        if do in _KINDS:
            return _KINDS[do]
        if self.backward:
            return "backward"
        if self.grad:
            return "grad"
        if do == "assign":
            sorts = {target[0] for target in _flat(s["targets"])}
            if "item" in sorts:
                return "setitem"
            return "set" if "attr" in sorts else _use(s["value"])
        if do == "augment":
            return "setitem" if s["target"][0] == "item" else "in-place"
        used = _use(s["value"])
        return used if used in ("in-place", "hook") else "observe"


_FACTS: Dict[int, Tuple[Dict[str, Any], Facts]] = {}
_FACTS_KEPT = 1024


def facts_of(statement: Dict[str, Any]) -> Facts:
    """The facts of a statement, kept: the oracle, the engine and the shadow run the very same statements,
    which nobody changes. Holding a statement keeps its number its own."""
    known = _FACTS.get(id(statement))
    if known is None:
        if len(_FACTS) >= _FACTS_KEPT:
            _FACTS.clear()
        known = _FACTS[id(statement)] = (statement, Facts(statement))
    return known[1]


_KINDS = {
    "print": "observe", "delete": "delete", "with": "block", "repeat": "block", "if": "block",
    "define": "define",
    "class": "define", "raise": "operation", "pass": "operation", "global": "operation",
    "return": "operation",
}  # fmt: skip


def _flat(targets: Iterable[List[Any]]) -> Iterator[List[Any]]:
    for target in targets:
        if target[0] == "tuple":
            yield from _flat(target[1])
        else:
            yield target


def _use(e: Any) -> str:
    """What an expression is for, judged by its outermost part."""
    tag = e[0] if e.__class__ is list else None
    if tag in ("list", "tuple"):
        used = {_use(part) for part in e[1]}
        return used.pop() if len(used) == 1 else "operation"
    if tag == "item" or (tag == "attr" and e[2] in VIEW_ATTRIBUTES):
        return "view"
    if tag == "bits":
        return "create"
    if tag == "method" or tag == "call":
        name = e[2] if tag == "method" else e[1].rpartition(".")[2]
        if tag == "call" and "." not in e[1]:
            return "operation"
        if name in HOOKS:
            return "hook"
        if name.endswith("_") or name == "increment_version":
            return "in-place"
        return "view" if name in VIEWS else "create" if name in CREATIONS else "operation"
    return "operation"


def kind(statement: Dict[str, Any]) -> str:
    """What a top-level statement is for: one of the kinds of the form."""
    return Facts(statement).kind


def touched(statement: Dict[str, Any]) -> Tuple[str, ...]:
    """The names that a statement reads or writes, in order of first appearance."""
    return tuple(Facts(statement).touched)


def sees_all(statement: Dict[str, Any]) -> bool:
    """True if a statement may run a backward pass, or functions of the program."""
    return Facts(statement).sees_all


def required_names(statement: Dict[str, Any]) -> Tuple[str, ...]:
    """The names that must be bound before a statement runs; bodies of functions and lambdas need none yet."""
    return tuple(Facts(statement).required)


def local_names(params: Sequence[str], body: Sequence[Dict[str, Any]]) -> FrozenSet[str]:
    """The names that are local to a function: parameters and what its body binds, but for ``global`` ones."""
    names = {param.lstrip("*") for param in params}
    declared: Set[str] = set()

    def visit(statements: Sequence[Dict[str, Any]]) -> None:
        for s in statements:
            do = s["do"]
            if do == "assign":
                names.update(target[1] for target in _flat(s["targets"]) if target[0] == "name")
            elif do == "augment" and s["target"][0] == "name":
                names.add(s["target"][1])
            elif do == "delete":
                names.update(target[1] for target in s["targets"] if target[0] == "name")
            elif do in ("define", "class"):
                names.add(s["name"])
            elif do == "global":
                declared.update(s["names"])
            elif do in ("with", "repeat", "if"):
                names.update(item[1] for item in s.get("items", ()) if item[1] is not None)
                if s.get("var") is not None:
                    names.add(s["var"])
                visit(s["body"])
                visit(s.get("orelse", ()))

    visit(body)
    return frozenset(names - declared)


# ----------------------------------------------------------------------------------------------------
# Texts: what an exception or a warning says, without what belongs to this one process.

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_TRIGGERED = re.compile(r"\s*\(Triggered internally at .*", re.DOTALL)
_BACKTRACE = re.compile(
    r"(\s*\([^()\n]*(\([^()\n]*\)[^()\n]*)* at \S+:\d+\))?\s*\n(Exception raised from |frame #0: ).*",
    re.DOTALL,
)
_FORWARD_CALL = re.compile(
    r"(Traceback of forward call that (caused the error|induced the previous calculation)).*", re.DOTALL
)


def plain_text(text: str) -> str:
    """A text without addresses, the C++ back-trace of old releases, and source locations of torch's build."""
    if "0x" in text:
        text = _ADDRESS.sub("0x", text)
    if "frame #0: " in text or "Exception raised from " in text:
        text = _BACKTRACE.sub("", text)
    if "(Triggered internally at" in text:
        text = _TRIGGERED.sub("", text)
    if "Traceback of forward call" in text:
        text = _FORWARD_CALL.sub(r"\1", text)
    return text


def text_of(error: BaseException) -> str:
    """An exception's text, also of one that cannot say it."""
    try:
        return plain_text(str(error))
    except Exception as inner:
        return "<no text: str() raised %s>" % type(inner).__name__


def release(error: Optional[BaseException]) -> None:
    """Drop the frames that an exception holds: a kept frame keeps tensors, and a kept tensor changes what
    torch does."""
    for _ in range(100):
        if error is None:
            return
        error.__traceback__ = None
        error.__cause__, error.__context__, error = None, None, error.__context__ or error.__cause__


def raised(error: BaseException) -> List[Any]:
    """A read that raised, as an observation."""
    seen = ["raised", type(error).__name__, text_of(error)]
    release(error)
    return seen


# ----------------------------------------------------------------------------------------------------
# Engines: where names, dtypes, devices and bytes come from.

ITEM_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float16": 2, "bfloat16": 2,
    "float32": 4,
    "float64": 8, "complex32": 4, "complex64": 8, "complex128": 16,
}  # fmt: skip
PACKED = {
    "bool": "?", "uint8": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "float16": "e",
    "float32": "f",
    "float64": "d", "complex64": "ff", "complex128": "dd",
}  # fmt: skip
BITS = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64",
    "c128": "complex128",
    "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "b8": "bool",
}  # fmt: skip
NODE_NAMES = frozenset(("next_functions", "name", "register_hook", "register_prehook", "metadata"))
CONTEXT_NAMES = words(
    "save_for_backward save_for_forward mark_dirty mark_non_differentiable set_materialize_grads"
)
SHARED_LIBRARY = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ")

OPERATORS: Dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor,
}  # fmt: skip
IN_PLACE: Dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod, "**": operator.ipow, "@": operator.imatmul, "&": operator.iand, "|": operator.ior,
    "^": operator.ixor,
}  # fmt: skip
UNARY: Dict[str, Callable[[Any], Any]] = {"-": operator.neg, "~": operator.invert, "not": operator.not_}
COMPARISONS: Dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_, "is-not": operator.is_not, "in": lambda a, b: a in b,
    "not-in": lambda a, b: a not in b,
}  # fmt: skip


class Engine:
    """Any module with torch's API. An adapter for another API overrides the methods.

    ``absent`` names what the engine declares not to have: ``torch.vmap``, ``Tensor.register_hook``,
    ``Tensor.backward(inputs=)``, ``torch.float16``.
    """

    method: Callable[[Any, str], Any] = staticmethod(getattr)
    attribute: Callable[[Any, str], Any] = staticmethod(getattr)
    set_attribute: Callable[[Any, str, Any], None] = staticmethod(setattr)
    reading: Mapping[str, Callable[[Any], Any]] = types.MappingProxyType({})
    """Fields of a tensor that the engine gives in another way than torch."""
    own_objects = True
    """False where programs hold an adapter's objects: whether two are one, and how long they live, is then
    no matter of the engine."""
    sample: Any = (1.0, 2.0)
    """What a tensor is made of to see what tensors can do."""
    differs: Mapping[str, str] = types.MappingProxyType({})
    """Names of torch's that mean something else in the engine, with what; the adapter leaves them out."""
    unread: FrozenSet[str] = frozenset()
    """Fields that stand in traces but are not the engine's own, such as the dtype of Python's numbers;
    ``grad.requires_grad`` is that field of gradients alone."""
    operators = OPERATORS
    in_place = IN_PLACE
    unary = UNARY
    comparisons = COMPARISONS

    def __init__(
        self,
        module: Any,
        name: Optional[str] = None,
        devices: Optional[Dict[str, str]] = None,
        absent: Iterable[str] = (),
    ) -> None:
        self.module = module
        self.name = name or str(getattr(module, "__name__", type(module).__name__))
        self.version = str(getattr(module, "__version__", "unknown"))
        self.devices = dict(devices or {"main": "cpu", "host": "cpu", "meta": "meta"})
        self.absent = frozenset(absent)
        self._places: Dict[str, Tuple[Any, str]] = {}
        self._device_names: Dict[Any, str] = {}
        self._symbols: Dict[str, str] = {}
        for symbol in ("main", "other", "host", "meta"):
            if symbol in self.devices:
                self._symbols.setdefault(self.devices[symbol], symbol)
        self.dtype_names: Dict[Any, str] = {}
        for dtype in ITEM_SIZES:
            found = getattr(module, dtype, None)
            if found is not None and "torch." + dtype not in self.absent:
                self.dtype_names.setdefault(found, dtype)
        self.tensor_type = self._type("Tensor")
        self.dtype_type = self._type("dtype")
        self.device_type = self._type("device")
        # Without a device given, tensors are made where the engine makes them: on its first device.
        self.main_device = None if self.devices["main"] == "cpu" else self.device("main")
        self.is_native = is_torch_build(module)
        self.bytes_rung = self._bytes_rung()
        self._probe()
        self._state = self._state_accessors()

    # -- names

    def _type(self, name: str) -> Any:
        found = getattr(self.module, name, None)
        return found if isinstance(found, type) else _NoType

    def resolve(self, name: str) -> Any:
        """The object of a dotted name of the table. Raises Unsupported."""
        place = self._places.get(name)
        if place is None:
            if name in self.absent:
                raise Unsupported(name)
            place = self._places[name] = self._find(name)
        return getattr(*place)

    def _find(self, name: str) -> Tuple[Any, str]:
        parts = name.split(".")[1:]
        place = self.module
        for depth, part in enumerate(parts):
            if not hasattr(place, part):
                if not isinstance(place, types.ModuleType) or depth == len(parts) - 1:
                    raise Unsupported(name)
                try:
                    importlib.import_module(".".join([self.module.__name__, *parts[: depth + 1]]))
                except ImportError:
                    raise Unsupported(name) from None
                if not hasattr(place, part):
                    raise Unsupported(name)
            if depth < len(parts) - 1:
                place = getattr(place, part)
        return place, parts[-1]

    def dtype(self, name: str) -> Any:
        """The engine's dtype. Raises Unsupported."""
        if name not in self.absent and "torch." + name not in self.absent:
            found = getattr(self.module, name, None)
            if found is not None:
                return found
        raise Unsupported("torch." + name)

    def device(self, symbol: str) -> Any:
        """The real device that a symbolic one is bound to. Raises Unsupported."""
        bound = self.devices.get(symbol)
        make = getattr(self.module, "device", None)
        if bound is None or (symbol == "meta" and "meta" in self.absent):
            raise Unsupported("device " + symbol)
        if not callable(make):
            return bound
        try:
            return make(bound)
        except (RuntimeError, ValueError, TypeError):
            raise Unsupported("device " + symbol) from None

    def device_name(self, device: Any) -> str:
        """The symbolic name of a tensor's device."""
        try:
            return self._device_names[device]
        except (KeyError, TypeError):
            pass
        text = str(device)
        name = self._symbols.get(text) or self._symbols.get(text.partition(":")[0]) or text
        with contextlib.suppress(TypeError):
            self._device_names[device] = name
        return name

    def dtype_name(self, dtype: Any) -> str:
        """The canonical name of a dtype."""
        try:
            return self.dtype_names[dtype]
        except (KeyError, TypeError):
            return str(dtype).rpartition(".")[2]

    def is_node(self, value: Any) -> bool:
        """True for a node of the graph."""
        return hasattr(value, "next_functions")

    def node_name(self, node: Any) -> str:
        """A node's name as torch prints it."""
        name = type(node).__name__
        if self.is_native and name != "CppFunction":
            return name
        said = getattr(node, "name", None)
        return str(said()).rpartition("::")[2] if callable(said) else name

    # -- bytes

    def _bytes_rung(self) -> str:
        """ctypes only where the memory is certainly there: real torch; a wrong address would kill the
        process."""
        if self.is_native:
            return "ctypes"
        listed = self._bytes_by("lists")
        by_numpy = self._bytes_by("numpy")
        # What cannot be read is told from what is wrong: wrong values are read, and then differ.
        if by_numpy in _ONE_TWO or (by_numpy is not None and by_numpy == listed):
            return "numpy"
        return "lists" if listed is not None and len(listed) in (8, 16) else "none"

    def _bytes_by(self, rung: str) -> Optional[bytes]:
        try:
            return self.bytes_of(self.module.tensor([1.0, 2.0]), rung)
        except Exception as error:
            release(error)
            return None

    def bytes_of(self, tensor: Any, rung: Optional[str] = None) -> bytes:
        """Little-endian, row-major bytes of a tensor's entries."""
        rung = rung or self.bytes_rung
        dtype = self.dtype_name(tensor.dtype) if hasattr(tensor, "dtype") else "float32"
        if rung == "ctypes":
            values = tensor.detach()
            if hasattr(values, "resolve_neg"):
                values = values.resolve_conj().resolve_neg()
            if hasattr(values, "_is_zerotensor") and values._is_zerotensor():
                values = values.clone()  # its own memory was never written
            values = values.cpu().contiguous()
            return (
                ctypes.string_at(values.data_ptr(), values.numel() * ITEM_SIZES[dtype])
                if values.numel()
                else b""
            )
        values = tensor.detach() if hasattr(tensor, "detach") else tensor
        if rung == "numpy" and dtype != "bfloat16":  # which numpy lacks
            return bytes(values.numpy().tobytes())
        if rung in ("numpy", "lists"):
            return pack(dtype, values.tolist())
        raise EngineProblem("the engine gives no access to a tensor's values")

    def from_bits(self, sort: str, data: bytes) -> Any:
        """A 1-d tensor of these bytes. Raises Unsupported."""
        name = BITS[sort]
        dtype = self.dtype(name)
        if self.is_native:
            made = self.module.empty(len(data) // ITEM_SIZES[name], dtype=dtype)
            if data:
                ctypes.memmove(made.data_ptr(), data, len(data))
        elif self.bytes_rung == "numpy":
            numpy = importlib.import_module("numpy")
            sort_of = getattr(importlib.import_module("ml_dtypes"), name) if name == "bfloat16" else name
            made = self.module.tensor(numpy.frombuffer(data, sort_of).copy(), dtype=dtype)
        else:
            made = self.module.tensor(unpack(name, data), dtype=dtype)
        return made if self.main_device is None else made.to(self.main_device)

    # -- what can be observed

    def _probe(self) -> None:
        """Find out which reads there are, and whether getters give the same object twice."""
        self.identity = "unknown"
        self.lacks_reads: FrozenSet[str] = frozenset()
        self.has_storage = True
        lacking = set()
        try:
            x = self.module.tensor([1.0, 2.0], requires_grad=True)
            y = x * x
            y.sum().backward()
            if (
                x.grad is not None
                and x.grad is x.grad
                and (not hasattr(y, "grad_fn") or y.grad_fn is not None)
            ):
                self.identity = "known"
        except Exception as error:
            release(error)
            try:
                x = self.module.tensor([1.0, 2.0])
            except Exception as inner:
                release(inner)
                self.complete = False
                return
        for key, read in self.reads():
            if key != "bytes":
                try:
                    read(self, x)
                except AttributeError as error:
                    release(error)
                    lacking.add(key)
                except Exception as error:
                    release(error)
        if self.bytes_rung == "none":
            lacking.add("bytes")
        try:
            self.storage_of(x)
        except Exception as error:
            release(error)
            lacking.add("storage")
        self.lacks_reads = frozenset(lacking)
        flags = (x.requires_grad, x.is_leaf, getattr(x, "retains_grad", False)) if not lacking else ()
        self.complete = bool(flags) and all(type(flag) is bool for flag in flags)

    def reads(self) -> Tuple[Tuple[str, Callable[["Engine", Any], Any]], ...]:
        """How each field of a tensor is read, in the order of the form."""
        own = self.reading
        return tuple((key, _reader(own[key]) if key in own else read) for key, read in _READS)

    def storage_of(self, tensor: Any) -> Tuple[Any, int]:
        """What tells a tensor's memory apart from other memory, and the offset in it in elements."""
        if tensor.numel() == 0:
            return ("empty", id(tensor)), 0
        offset = tensor.storage_offset()
        return tensor.data_ptr() - offset * tensor.element_size(), offset

    # -- what the adapter leaves out

    def native(self) -> Tuple[Any, Any]:
        """Where the engine's own functions are, and a tensor of its own: what an adapter wraps."""
        return self.module, self.module.tensor(self.sample)

    def undeclared(self, names: Iterable[str]) -> List[str]:
        """The names that a direct call of the engine finds at work, though programs find them missing."""
        module, sample = self.native()
        declared = self.module.tensor(self.sample)
        found = []
        for name in names:
            if name in self.differs or name in SKIPPED:
                continue
            if name.startswith("Tensor."):
                known = hasattr(declared, name[7:]) and name not in self.absent
                function = getattr(sample, name[7:], None)
            else:
                known, function = self._declares(name), module
                for part in name.split(".")[1:]:
                    function = getattr(function, part, None)
            if not known and callable(function) and works(function, sample, name.startswith("Tensor.")):
                found.append(name)
        return found

    def _declares(self, name: str) -> bool:
        try:
            self.resolve(name)
        except (Unsupported, AttributeError):
            return False
        return True

    def observer(self, shadow: bool) -> "Observer":
        """Who sees values on the engine."""
        return Observer(self, shadow)

    # -- state that a program may leave behind

    def _state_accessors(self) -> List[Tuple[str, Callable[[], Any], Callable[[Any], Any]]]:
        module = self.module
        autograd = getattr(module, "autograd", None)
        core = getattr(module, "_C", None) if self.is_native else None
        pairs = [
            (
                "grad_mode",
                getattr(module, "is_grad_enabled", None),
                getattr(module, "set_grad_enabled", None),
            ),
            (
                "default_dtype",
                getattr(module, "get_default_dtype", None),
                getattr(module, "set_default_dtype", None),
            ),
            (
                "anomaly",
                getattr(module, "is_anomaly_enabled", None),
                getattr(autograd, "set_detect_anomaly", None),
            ),
            (
                "multithreading",
                getattr(core, "_is_multithreading_enabled", None),
                getattr(core, "_set_multithreading_enabled", None),
            ),
        ]
        found = [(name, get, put) for name, get, put in pairs if callable(get) and callable(put)]
        hooks = getattr(core, "_autograd", None)
        if hasattr(hooks, "_top_saved_tensors_default_hooks") and hasattr(
            hooks, "_pop_saved_tensors_default_hooks"
        ):
            found.append(("saved_tensors_hooks", lambda: _hooks_left(hooks), lambda _: _pop_hooks(hooks)))
        return found

    def grad_mode(self) -> Optional[bool]:
        """Whether operations are recorded; None where the engine cannot say."""
        get = getattr(self.module, "is_grad_enabled", None)
        return bool(get()) if callable(get) else None

    def state(self) -> List[Tuple[str, Any]]:
        """The settings that a program must not leave changed."""
        return [(name, get()) for name, get, _ in self._state]

    def reset(self, before: List[Tuple[str, Any]]) -> List[str]:
        """Put the settings back; what had changed, and to what."""
        leaks = []
        for (name, get, put), (_, value) in zip(self._state, before):
            now = get()
            if now != value:
                leaks.append("%s: %s" % (name, self.dtype_name(now) if name == "default_dtype" else now))
                put(value)
        return leaks

    def warn_always(self, always: bool) -> Optional[bool]:
        """Ask the engine to warn each time; what it did before, or None where it has no such switch."""
        ask, tell = (
            getattr(self.module, "is_warn_always_enabled", None),
            getattr(self.module, "set_warn_always", None),
        )
        if not callable(ask) or not callable(tell):
            return None
        before = bool(ask())
        if before is not always:
            tell(always)
        return before


SKIPPED = words("Tensor.numpy Tensor.to Tensor.cpu torch.Tensor.backward")
"""Names whose direct call says nothing."""


def works(function: Callable[..., Any], sample: Any, is_method: bool) -> bool:
    """Whether a call with a tensor and a little more gives anything."""
    others: Tuple[Tuple[Any, ...], ...] = ((), (sample,), (0,))
    for other in others:
        try:
            if function(*(other if is_method else (sample, *other))) is not None:
                return True
        except Exception as error:
            release(error)
    return False


class _NoType:
    """Stands for a type that the engine does not have: nothing is an instance."""


_ONE_TWO = (struct.pack("<2f", 1.0, 2.0), struct.pack("<2d", 1.0, 2.0))


def _hooks_left(hooks: Any) -> bool:
    return hooks._top_saved_tensors_default_hooks(True) is not None


def _pop_hooks(hooks: Any) -> None:
    for _ in range(1000):
        if not _hooks_left(hooks):
            return
        hooks._pop_saved_tensors_default_hooks()


def pack(dtype: str, values: Any) -> bytes:
    """Nested lists of numbers as little-endian bytes."""
    flat: List[Any] = []
    stack = [values]
    while stack:
        value = stack.pop()
        if isinstance(value, (list, tuple)):
            stack.extend(reversed(value))
        elif dtype.startswith("complex"):
            flat.extend((complex(value).real, complex(value).imag))
        else:
            flat.append(value)
    if dtype == "bfloat16":
        return b"".join(struct.pack("<f", value)[2:] for value in flat)
    return struct.pack("<%d%s" % (len(flat), PACKED[dtype][0]), *flat)


def unpack(dtype: str, data: bytes) -> List[Any]:
    """Little-endian bytes as a list of numbers."""
    if dtype == "bfloat16":
        data = b"".join(b"\0\0" + data[at : at + 2] for at in range(0, len(data), 2))
        dtype = "float32"
    code = PACKED[dtype][0]
    values = list(struct.unpack("<%d%s" % (len(data) // struct.calcsize("<" + code), code), data))
    if dtype.startswith("complex"):
        return [complex(real, imag) for real, imag in zip(values[::2], values[1::2])]
    return values


def build_of(module: Any) -> Dict[str, Any]:
    """Where a module comes from; for torch also what proves that it is real."""
    core = sys.modules.get(getattr(module, "__name__", "") + "._C")
    core_file = getattr(core, "__file__", None)
    base = getattr(getattr(module, "Tensor", None), "__base__", None)
    build = {
        "module": getattr(module, "__name__", None),
        "file": getattr(module, "__file__", None),
        "imported": sys.modules.get(getattr(module, "__name__", "")) is module,
        "git_version": getattr(getattr(module, "version", None), "git_version", None),
        "core": core_file,
        "core_is_library": False,
        "tensor_is_native": False,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "ATEN_CPU_CAPABILITY": os.environ.get("ATEN_CPU_CAPABILITY"),
    }
    if core_file and getattr(module, "_C", None) is core:
        with contextlib.suppress(OSError), open(core_file, "rb") as file:
            build["core_is_library"] = file.read(4).startswith(SHARED_LIBRARY)
        # A class made by a class statement has Py_TPFLAGS_HEAPTYPE (1 << 9) and a __dict__ slot of Python's
        # own.
        build["tensor_is_native"] = (
            isinstance(base, type)
            and base.__module__ in ("torch._C", "torch")
            and isinstance(vars(base).get("grad_fn"), types.GetSetDescriptorType)
        )
    for key, path in (("threads", "get_num_threads"), ("cpu_capability", "backends.cpu.get_cpu_capability")):
        with contextlib.suppress(Exception):
            build[key] = operator.attrgetter(path)(module)()
    return build


def is_torch_build(module: Any) -> bool:
    """True if the module is named torch and has torch's C++ core, so that its tensors have real addresses."""
    if getattr(module, "__name__", None) != "torch":
        return False
    build = build_of(module)
    return bool(build["core_is_library"] and build["tensor_is_native"])


def bind_devices(module: Any, device: str) -> Dict[str, str]:
    """The devices of a run: ``main`` is the one asked for. Raises EngineProblem."""
    devices = {"main": device, "host": "cpu", "meta": "meta"}
    if device == "cpu":
        return devices
    sort = device.partition(":")[0]
    version = "%s %s" % (
        getattr(module, "__name__", "?"),
        getattr(module, "__version__", "of unknown version"),
    )
    there = getattr(getattr(module, sort, None), "is_available", None)
    if not callable(there) or not there():
        raise EngineProblem(
            "no device %s in %s" % (device, version),
            "use --device cpu, or a build that has it and a machine with one",
        )
    count = int(getattr(module, sort).device_count())
    index = int(device.partition(":")[2] or 0)
    if index >= count:
        raise EngineProblem("no device %s: %s sees %d" % (device, version, count), "choose a lower index")
    devices["main"] = "%s:%d" % (sort, index)
    if count > 1:
        devices["other"] = "%s:%d" % (sort, (index + 1) % count)
    return devices


def load_file(path: str) -> Any:
    """The module of a file, as an adapter is given: nothing beside it becomes importable."""
    spec = importlib.util.spec_from_file_location("adapter_" + os.path.basename(path)[:-3], path)
    if spec is None or spec.loader is None:
        raise ImportError("%s is no Python file" % path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # compilers look functions up by it
    spec.loader.exec_module(module)
    return module


def load(name: str, device: str = "cpu", absent: Iterable[str] = ()) -> Engine:
    """The engine of an importable module or of a file, or the one that the module's
    ``conformance_engine(runner, device)`` makes.

    Raises EngineProblem where it cannot be imported or lacks the device.
    """
    try:
        module = load_file(name) if name.endswith(".py") else importlib.import_module(name)
    except (Exception, SystemExit) as error:
        what = "%s cannot be imported: %s: %s" % (
            name,
            type(error).__name__,
            text_of(error).strip() or "no text",
        )
        words = "%s" if name.endswith(".py") else "-c 'import %s'"
        raise EngineProblem(
            what, "check that `%s %s` works" % (sys.executable or "python", words % name)
        ) from None
    make = getattr(module, "conformance_engine", None)
    if callable(make):
        try:
            made = make(sys.modules[__name__], device)
        except (ImportError, OSError) as error:
            raise EngineProblem(
                "%s: %s: %s" % (name, type(error).__name__, text_of(error)),
                "`conformance engines` shows what is installed",
            ) from None
        if not isinstance(made, Engine):
            raise EngineProblem("%s.conformance_engine gave %r, no Engine" % (name, type(made).__name__))
        return made
    for needed in ("tensor", "Tensor"):
        if not hasattr(module, needed):
            raise EngineProblem(
                "%s has no %s" % (name, needed),
                "a module needs torch's names; an engine with another API, an adapter",
            )
    return Engine(module, name, bind_devices(module, device), absent)


# ----------------------------------------------------------------------------------------------------
# Observing: everything is read in one order, by one piece of code.


class Group:
    """The tensors seen together: identity and memory are numbered among them, and they are held meanwhile."""

    __slots__ = ("held", "ids", "memory")

    def __init__(self) -> None:
        self.ids: Dict[int, int] = {}
        self.memory: Dict[Any, int] = {}
        self.held: List[Any] = []


def _grad_fn(engine: Engine, t: Any) -> Any:
    node = t.grad_fn
    return None if node is None else engine.node_name(node)


def _retains_grad(engine: Engine, t: Any) -> bool:
    # Before 1.11 torch set this attribute only when retain_grad() was called.
    return bool(getattr(t, "retains_grad", False)) if engine.is_native else bool(t.retains_grad)


_READS: Tuple[Tuple[str, Callable[[Engine, Any], Any]], ...] = (
    ("dtype", lambda engine, t: engine.dtype_name(t.dtype)),
    ("shape", lambda engine, t: [int(size) for size in t.shape]),
    ("strides", lambda engine, t: [int(stride) for stride in t.stride()]),
    ("device", lambda engine, t: engine.device_name(t.device)),
    ("requires_grad", lambda engine, t: bool(t.requires_grad)),
    ("is_leaf", lambda engine, t: bool(t.is_leaf)),
    ("grad_fn", _grad_fn),
    ("retains_grad", _retains_grad),
    ("version", lambda engine, t: int(t._version)),
    ("bytes", lambda engine, t: engine.bytes_of(t).hex()),
)


def constant(**values: Any) -> Mapping[str, Any]:
    """A table that nobody changes."""
    return types.MappingProxyType(values)


def _reader(read: Callable[[Any], Any]) -> Callable[[Engine, Any], Any]:
    return lambda engine, t: read(t)


class Observer:
    """Sees values on one engine."""

    def __init__(self, engine: Engine, shadow: bool) -> None:
        self.engine = engine
        self.shadow = shadow
        self.bound_of = getattr(engine.module, "shadow_bound", None) if shadow else None
        self.native = engine.bytes_rung == "ctypes"
        self.fast = (
            engine.complete and engine.bytes_rung in ("ctypes", "numpy") and not shadow and not engine.reading
        )
        # Reading the strides of a sparse tensor raises in real torch; others are asked for a layout.
        self.asks_layout = not self.native and hasattr(engine.tensor_type, "layout")
        self.known = engine.identity == "known"
        self.reads = engine.reads()
        self.by_numpy = (
            engine.bytes_rung == "numpy"
            and type(engine).bytes_of is Engine.bytes_of
            and type(engine).storage_of is Engine.storage_of
        )
        self.has_neg = self.fast and hasattr(engine.tensor_type, "is_neg")
        self.has_zero = self.fast and hasattr(engine.tensor_type, "_is_zerotensor")
        self.device: Tuple[Any, str] = (None, "")  # the last one that was seen, and its name
        self.on_cpu = engine.main_device is None  # so all tensors but meta ones have their bytes here

    def names(self, names: Iterable[str], values: Dict[str, Any], group: Group) -> Dict[str, Any]:
        """The values of names that are bound, without functions, classes and handles."""
        seen: Dict[str, Any] = {}
        tensor_type = self.engine.tensor_type
        for name in names:
            if name in values:
                value = values[name]
                if isinstance(value, tensor_type):
                    seen[name] = self.tensor(value, group)
                elif not is_hidden(value):
                    seen[name] = self.value(value, group)
        return seen

    def value(self, value: Any, group: Group, depth: int = 0) -> Any:
        """What is seen of a value."""
        sort = value.__class__
        if value is None or sort is str or sort is bool or sort is int:
            return value
        engine = self.engine
        if isinstance(value, engine.tensor_type):
            return self.tensor(value, group)
        if isinstance(value, float):
            return self._number(["float", repr(float(value))], value)
        if isinstance(value, complex):
            return self._number(["complex", repr(value.real), repr(value.imag)], value)
        if isinstance(value, int):
            return int(value)
        if isinstance(value, str):
            return str(value)
        if isinstance(value, (list, tuple, dict)):
            if depth >= MAX_SIGHT:
                return ["object", "..."]
            if isinstance(value, dict):
                pairs = list(value.items())
                return ["dict", [[self.value(part, group, depth + 1) for part in pair] for pair in pairs]]
            parts = [self.value(part, group, depth + 1) for part in list(value)]
            return ["list" if isinstance(value, list) else "tuple", parts]
        if isinstance(value, engine.dtype_type):
            return ["dtype", engine.dtype_name(value)]
        if isinstance(value, engine.device_type):
            return ["device", engine.device_name(value)]
        if not isinstance(value, type) and engine.is_node(value):
            return ["node", engine.node_name(value)]
        return ["object", sort.__name__]

    def _number(self, seen: List[Any], value: Any) -> List[Any]:
        if self.bound_of is not None:
            bound = self.bound_of(value)
            if bound is not None:
                seen.append(bound.hex())
        return seen

    def tensor(self, t: Any, group: Group, is_grad: bool = False) -> List[Any]:
        """What is seen of a tensor, field by field in the order of the form."""
        if self.fast:
            try:
                fields = self._quick(t, group, is_grad)
            except Exception as error:  # a read raised: read again, each by itself
                release(error)
                fields = self._each(t, group, is_grad)
        else:
            fields = self._each(t, group, is_grad)
        if not is_grad and (fields.get("is_leaf") is True or fields.get("retains_grad") is True):
            try:
                grad = t.grad
                fields["grad"] = None if grad is None else self.tensor(grad, group, True)
            except AttributeError as error:
                if hasattr(type(t), "grad") or hasattr(t, "__dict__"):
                    fields["grad"] = raised(error)
            except Exception as error:
                fields["grad"] = raised(error)
        return ["tensor", fields]

    def _quick(self, t: Any, group: Group, is_grad: bool) -> Dict[str, Any]:
        """All reads at once, for a dense tensor on which every read works."""
        engine = self.engine
        dtype = engine.dtype_names[t.dtype]
        shape = list(t.shape)
        strides = list(t.stride())
        where, known = t.device, self.device
        if where is not known[0]:  # an engine may have one object for each device
            known = self.device = (where, engine.device_name(where))
        device = known[1]
        if device == "meta":
            return self._each(t, group, is_grad)
        if self.asks_layout and str(t.layout).rpartition(".")[2] != "strided":
            return self._each(t, group, is_grad)
        node = t.grad_fn
        fields = {
            "dtype": dtype,
            "shape": shape,
            "strides": strides,
            "device": device,
            "requires_grad": t.requires_grad,
            "is_leaf": t.is_leaf,
            "grad_fn": None if node is None else engine.node_name(node),
            "retains_grad": getattr(t, "retains_grad", False),
        }
        if not is_grad:
            fields["version"] = t._version
        count = t.numel()
        if count == 0:
            fields["bytes"] = ""
            place, offset = ("empty", id(t)), 0
        elif self.by_numpy and dtype != "bfloat16":  # as `bytes_of` and `storage_of` do
            fields["bytes"] = t.detach().numpy().tobytes().hex()
            offset = t.storage_offset()
            place = t.data_ptr() - offset * t.element_size()
        elif not self.native:
            fields["bytes"] = engine.bytes_of(t).hex()
            place, offset = engine.storage_of(t)
        else:
            size = ITEM_SIZES[dtype]
            address = t.data_ptr()
            offset = t.storage_offset()
            place = address - offset * size
            if (
                self.on_cpu
                and t.is_contiguous()
                and not (self.has_neg and (t.is_neg() or t.is_conj()))
                and not (self.has_zero and t._is_zerotensor())
            ):
                fields["bytes"] = ctypes.string_at(address, count * size).hex()
            else:
                fields["bytes"] = engine.bytes_of(t).hex()
        held, ids, memory = group.held, group.ids, group.memory
        held.append(t)
        fields["id"] = ids.setdefault(id(t), len(ids))
        fields["storage"] = [memory.setdefault(place, len(memory)), offset]
        return fields

    def _each(self, t: Any, group: Group, is_grad: bool) -> Dict[str, Any]:
        """Every read by itself: one that raises is recorded in its place."""
        engine = self.engine
        lacks = engine.lacks_reads
        fields: Dict[str, Any] = {}
        layout = str(getattr(t, "layout", "strided")).rpartition(".")[2]
        sparse = layout.startswith("sparse")
        for key, read in self.reads:
            if key in lacks or (key == "version" and is_grad):
                continue
            if (sparse and key in ("strides", "bytes")) or (
                key == "bytes" and fields.get("device") == "meta"
            ):
                continue
            try:
                fields[key] = read(engine, t)
            except Exception as error:
                fields[key] = raised(error)
        group.held.append(t)
        if self.known:
            fields["id"] = group.ids.setdefault(id(t), len(group.ids))
        if sparse:
            fields["layout"] = layout
            self._sparse(t, fields)
        elif "storage" not in lacks and fields.get("device") != "meta":
            try:
                place, offset = engine.storage_of(t)
                fields["storage"] = [group.memory.setdefault(place, len(group.memory)), offset]
            except Exception as error:
                fields["storage"] = raised(error)
        if self.bound_of is not None:
            bound = self.bound_of(t)
            if bound is not None:
                fields["bound"] = bound.hex()
        return fields

    def _sparse(self, t: Any, fields: Dict[str, Any]) -> None:
        """Indices and values as they are stored; reading them coalesced would raise or copy."""
        for key in ("indices", "values"):
            try:
                part = getattr(t.detach(), "_" + key)()
                fields[key] = [
                    "tensor",
                    {name: read(self.engine, part) for name, read in _READS if name in _PARTS},
                ]
            except Exception as error:
                fields[key] = raised(error)


_PARTS = frozenset(("dtype", "shape", "bytes"))


class Reference:
    """``ref(x)``: called, it gives the object, or None once nothing else holds it."""

    __slots__ = ("_weak",)

    def __init__(self, value: Any) -> None:
        self._weak = weakref.ref(value)

    def __call__(self) -> Any:
        return self._weak()


def is_hidden(value: Any) -> bool:
    """True for functions, classes and removable handles, of which nothing is seen."""
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, Reference)):
        return True
    if value is None or isinstance(value, (int, float, str, list, tuple, dict)):
        return False
    return callable(getattr(value, "remove", None))


# ----------------------------------------------------------------------------------------------------
# Evaluating: Python's order of evaluation, and Python's lifetime of temporaries.


class Scope:
    """Where names are looked up and bound. A function's ``local`` names are its own; None marks the top
    level."""

    __slots__ = ("label", "local", "parent", "path", "values")

    def __init__(
        self,
        values: Dict[str, Any],
        local: Optional[FrozenSet[str]],
        parent: Optional["Scope"],
        label: str,
        path: Any,
    ) -> None:
        self.values = values
        self.local = local
        self.parent = parent
        self.label = label
        self.path = path


class Function:
    """A function, hook or lambda of the program."""

    __slots__ = ("body", "local", "name", "params", "parent", "path", "rest")

    def __init__(
        self, name: str, params: Sequence[str], body: Any, local: FrozenSet[str], parent: Scope
    ) -> None:
        self.name = name
        self.rest = params[-1][1:] if params and params[-1].startswith("*") else None
        self.params = list(params[:-1] if self.rest is not None else params)
        self.body = body
        self.local = local
        self.parent = parent
        self.path = parent.path

    def bind(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, Any]:
        """The parameters' values. Raises TypeError in Python's words, the same under every Python."""
        params = self.params
        values = dict(zip(params, args))
        if len(args) > len(params) and self.rest is None:
            text = "%s() takes %d positional argument%s but %d %s given"
            given = len(args)
            raise TypeError(
                text
                % (
                    self.name,
                    len(params),
                    "" if len(params) == 1 else "s",
                    given,
                    "was" if given == 1 else "were",
                )
            )
        for key in kwargs:
            if key in values:
                raise TypeError("%s() got multiple values for argument '%s'" % (self.name, key))
            if key not in params:
                raise TypeError("%s() got an unexpected keyword argument '%s'" % (self.name, key))
            values[key] = kwargs[key]
        missing = ["'%s'" % name for name in params if name not in values]
        if missing:
            words = missing[0] if len(missing) == 1 else ", ".join(missing[:-1]) + " and " + missing[-1]
            if len(missing) > 2:
                words = ", ".join(missing[:-1]) + ", and " + missing[-1]
            plural = "" if len(missing) == 1 else "s"
            text = "%s() missing %d required positional argument%s: %s"
            raise TypeError(text % (self.name, len(missing), plural, words))
        if self.rest is not None:
            values[self.rest] = args[len(params) :]
        return values


def collect() -> None:
    """``gc.collect()`` without its count, which belongs to the process."""
    gc.collect()


BUILTINS: Dict[str, Callable[..., Any]] = {
    "len": len, "list": list, "tuple": tuple, "dict": dict, "isinstance": isinstance,
    "type": lambda value: type(value),
    "float": float, "int": int, "bool": bool, "str": str, "complex": complex, "range": range, "sum": sum,
    "min": min,
    "max": max, "abs": abs, "all": all, "any": any, "sorted": sorted, "zip": zip, "enumerate": enumerate,
    "reversed": reversed, "hasattr": hasattr, "callable": callable, "iter": iter, "next": next,
    "ref": Reference,
    "gc.collect": collect, "copy.copy": copy.copy, "copy.deepcopy": copy.deepcopy,
}  # fmt: skip
TYPES: Dict[str, type] = {
    "float": float, "int": int, "bool": bool, "str": str, "list": list, "tuple": tuple, "dict": dict,
    "complex": complex,
}  # fmt: skip
EXCEPTIONS: Dict[str, Callable[..., BaseException]] = {
    error.__name__: error
    for error in (
        RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError, NotImplementedError,
        AssertionError,
        ZeroDivisionError, StopIteration, ArithmeticError, OverflowError, MemoryError, NameError, Exception,
    )
}  # fmt: skip
EXCEPTIONS["KeyboardInterrupt"] = ProgramInterrupt
EXCEPTIONS["SystemExit"] = SystemExit

_UNKNOWN_KEYWORD = re.compile(
    r"unexpected keyword|invalid keyword|unrecognized keyword|got an unexpected|no keyword"
)


class Interpreter:
    """Evaluates one program on one engine."""

    def __init__(self, engine: Engine, schema: Dict[str, Any], shadow: bool) -> None:
        self.engine = engine
        self.functions = schema["functions"]
        self.methods = schema["methods"]
        self.observer = engine.observer(shadow)
        self.globals: Dict[str, Any] = {}
        self.top = Scope(self.globals, None, None, "<program>", ())
        self.lost: Set[str] = set()
        self.log: List[Dict[str, Any]] = []
        self.caught: List[Any] = []
        self.began: Optional[str] = None
        self.missing: Optional[str] = None
        self.depth = 0
        self.main = threading.get_ident()
        self.threads: Dict[int, Tuple[str, Optional[int]]] = {}
        self.workers: Dict[str, Worker] = {}

    # -- names

    def load(self, name: str, scope: Scope) -> Any:
        """A name's value, by Python's rules of scope."""
        at: Optional[Scope] = scope
        while at is not None:
            if name in at.values:
                return at.values[name]
            if at.local is not None and name in at.local:
                if at is scope:
                    raise UnboundLocalError(
                        "cannot access local variable '%s' where it is not associated with a value" % name
                    )
                raise NameError(
                    "cannot access free variable '%s' where it is not associated with a value in enclosing "
                    "scope" % name
                )
            at = at.parent
        if name in self.globals:
            return self.globals[name]
        raise NameError("name '%s' is not defined" % name)

    def bindings(self, name: str, scope: Scope) -> Dict[str, Any]:
        """Where a name is bound."""
        return scope.values if scope.local is None or name in scope.local else self.globals

    # -- expressions

    def eval(self, e: Any, scope: Scope) -> Any:
        """An expression's value."""
        if e.__class__ is list:
            return EVALUATE[e[0]](self, e, scope)
        return e

    def _name(self, e: List[Any], scope: Scope) -> Any:
        values = scope.values
        return values[e[1]] if e[1] in values else self.load(e[1], scope)

    def _float(self, e: List[Any], scope: Scope) -> Any:
        return float(e[1])

    def _complex(self, e: List[Any], scope: Scope) -> Any:
        return complex(float(e[1]), float(e[2]))

    def sequence(self, parts: Sequence[Any], scope: Scope) -> List[Any]:
        """The values of expressions, stars unpacked."""
        values: List[Any] = []
        for part in parts:
            if part.__class__ is list:
                if part[0] == "star":
                    values.extend(self.eval(part[1], scope))
                else:
                    values.append(EVALUATE[part[0]](self, part, scope))
            else:
                values.append(part)
        return values

    def keywords(self, kwargs: Dict[str, Any], scope: Scope) -> Dict[str, Any]:
        """The values of keyword arguments, in the order of their names."""
        return {key: self.eval(kwargs[key], scope) for key in sorted(kwargs)}

    def _list(self, e: List[Any], scope: Scope) -> Any:
        return self.sequence(e[1], scope)

    def _tuple(self, e: List[Any], scope: Scope) -> Any:
        return tuple(self.sequence(e[1], scope))

    def _dict(self, e: List[Any], scope: Scope) -> Any:
        return {self.eval(key, scope): self.eval(value, scope) for key, value in e[1]}

    def _slice(self, e: List[Any], scope: Scope) -> Any:
        return slice(self.eval(e[1], scope), self.eval(e[2], scope), self.eval(e[3], scope))

    def _ellipsis(self, e: List[Any], scope: Scope) -> Any:
        return Ellipsis

    def _dtype(self, e: List[Any], scope: Scope) -> Any:
        try:
            return self.engine.dtype(e[1])
        except Unsupported as lack:
            raise self.lack(lack.missing) from None

    def _device(self, e: List[Any], scope: Scope) -> Any:
        try:
            return self.engine.device(e[1])
        except Unsupported as lack:
            raise self.lack(lack.missing) from None

    def _const(self, e: List[Any], scope: Scope) -> Any:
        return TYPES[e[1]] if e[1] in TYPES else self.resolve(e[1])

    def _bits(self, e: List[Any], scope: Scope) -> Any:
        try:
            return self.engine.from_bits(e[1], bytes.fromhex(e[2]))
        except Unsupported as lack:
            raise self.lack(lack.missing) from None

    def _binary(self, e: List[Any], scope: Scope) -> Any:
        return self.engine.operators[e[1]](self.eval(e[2], scope), self.eval(e[3], scope))

    def _unary(self, e: List[Any], scope: Scope) -> Any:
        return self.engine.unary[e[1]](self.eval(e[2], scope))

    def _compare(self, e: List[Any], scope: Scope) -> Any:
        a, b = self.eval(e[2], scope), self.eval(e[3], scope)
        if e[1] in ("is", "is-not") and not self.engine.own_objects and a is not None and b is not None:
            raise self.lack("whether two tensors are one")
        return self.engine.comparisons[e[1]](a, b)

    def _item(self, e: List[Any], scope: Scope) -> Any:
        return self.eval(e[1], scope)[self.eval(e[2], scope)]

    def _attr(self, e: List[Any], scope: Scope) -> Any:
        target = self.eval(e[1], scope)
        try:
            return self.engine.attribute(target, e[2])
        except AttributeError:
            self.check_lack(target, e[2])
            raise

    def _lambda(self, e: List[Any], scope: Scope) -> Any:
        names = frozenset(name.lstrip("*") for name in e[1])
        return self.callable(Function("<lambda>", e[1], e[2], names, _frozen(scope)))

    def _call(self, e: List[Any], scope: Scope) -> Any:
        name = e[1]
        if "." not in name or name in BUILTINS:
            return self.builtin(name, e, scope)
        known = self.functions.get(name)
        if known is None:
            raise BadProgram("%s is no function of the table" % name)
        function = self.resolve(name)
        args = self.sequence(e[2], scope)
        kwargs = self.keywords(e[3], scope) if e[3] else {}
        if self.engine.main_device is not None and known["factory"]:
            self.place(args, kwargs)
        return self.invoke(
            function, args, kwargs, name, known, name in GRAD_FUNCTIONS or name in BACKWARD_FUNCTIONS
        )

    def _method(self, e: List[Any], scope: Scope) -> Any:
        target = self.eval(e[1], scope)
        name = e[2]
        try:
            method = self.engine.method(target, name)
        except AttributeError:
            self.check_lack(target, name)
            raise
        if self.engine.absent and "Tensor." + name in self.engine.absent:
            raise self.lack("Tensor." + name)
        if not e[4] and name != "backward":
            return method(*self.sequence(e[3], scope))
        args = self.sequence(e[3], scope)
        kwargs = self.keywords(e[4], scope)
        return self.invoke(method, args, kwargs, "Tensor." + name, self.methods.get(name), name == "backward")

    def _apply(self, e: List[Any], scope: Scope) -> Any:
        function = self.eval(e[1], scope)
        args = self.sequence(e[2], scope)
        return function(*args, **self.keywords(e[3], scope))

    def invoke(
        self, function: Any, args: List[Any], kwargs: Dict[str, Any], name: str, known: Any, is_backward: bool
    ) -> Any:
        """Call the engine; tell a keyword that it does not know from any other TypeError."""
        if self.engine.absent and kwargs:
            for key in kwargs:
                if "%s(%s=)" % (name, key) in self.engine.absent:
                    raise self.lack("%s(%s=)" % (name, key))
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            for key in kwargs:
                if known is not None and key in known["kwargs"] and rejects_keyword(text_of(error), key):
                    raise self.lack("%s(%s=)" % (name, key)) from None
            if is_backward and self.began is None:
                self.began = "backward"
            raise
        except BaseException:
            if is_backward and self.began is None:
                self.began = "backward"
            raise

    def place(self, args: List[Any], kwargs: Dict[str, Any]) -> None:
        """Tensors made without a device are made on ``main``."""
        if (
            "device" not in kwargs
            and "out" not in kwargs
            and not any(isinstance(arg, self.engine.tensor_type) for arg in args)
        ):
            kwargs["device"] = self.engine.main_device

    def builtin(self, name: str, e: List[Any], scope: Scope) -> Any:
        """A call of Python's own functions, and of the form's."""
        args = self.sequence(e[2], scope)
        if name == "log":
            self.note(args[0] if len(args) == 1 else tuple(args), scope)
            return None
        if name == "thread_name":
            ident = threading.get_ident()
            return (
                self.threads[ident][0] if ident in self.threads else "main" if ident == self.main else "other"
            )
        if name in ("ref", "copy.copy", "copy.deepcopy") and not self.engine.own_objects:
            raise self.lack(name)
        function = BUILTINS.get(name)
        if function is None:
            raise BadProgram("%s is no function of the table" % name)
        return function(*args, **self.keywords(e[3], scope))

    def resolve(self, name: str) -> Any:
        """A name of the engine's."""
        try:
            return self.engine.resolve(name)
        except Unsupported as lack:
            raise self.lack(lack.missing) from None

    def lack(self, missing: str) -> Unsupported:
        """Note what the engine lacks, whatever becomes of the exception on its way through the engine."""
        if self.missing is None:
            self.missing = missing
        return Unsupported(missing)

    def check_lack(self, target: Any, name: str) -> None:
        """Raise Unsupported if a missing attribute is a name of the table that this kind of object should
        have."""
        if hasattr(type(target), name) or hasattr(target, name):
            return
        if isinstance(target, self.engine.tensor_type):
            raise self.lack("Tensor." + name)
        if name in NODE_NAMES and self.engine.is_node(target):
            raise self.lack("node." + name)
        if name in CONTEXT_NAMES and hasattr(target, "save_for_backward"):
            raise self.lack("ctx." + name)

    # -- the program's own functions

    def callable(self, function: Function) -> Callable[..., Any]:
        """A real Python function that runs a function of the program."""

        def call(*args: Any, **kwargs: Any) -> Any:
            return self.run_function(function, args, kwargs)

        call.__name__ = function.name.rpartition(".")[2]
        call.__qualname__ = function.name
        call.__module__ = "__main__"
        return call

    def run_function(self, function: Function, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        """Run a function of the program; an exception that leaves it is noted as begun there."""
        self.depth += 1
        try:
            if self.depth > MAX_CALLS:
                raise RecursionError("maximum recursion depth exceeded")
            values = function.bind(args, kwargs)
            label = function.name.rpartition(".")[2]
            scope = Scope(values, function.local, function.parent, label, function.path)
            if function.body.__class__ is _Body:
                done = self.body(function.body.statements, scope, function.path)
                return None if done is None else done[0]
            return self.eval(function.body, scope)
        except BaseException:
            if self.began is None:
                self.began = "hook"
            raise
        finally:
            self.depth -= 1

    # -- statements

    def body(
        self, statements: Sequence[Dict[str, Any]], scope: Scope, path: Tuple[int, ...], start: int = 0
    ) -> Any:
        """Run statements one after the other; a tuple of one holds the value of a ``return``."""
        index = start
        for statement in statements:
            scope.path = (*path, index)
            done = EXECUTE[statement["do"]](self, statement, scope)
            if done is not None:
                return done
            index += 1
        return None

    def note(self, value: Any, scope: Scope) -> None:
        """Write a value into the log: bytes are copied at once, no tensor is kept."""
        before = len(self.caught)
        entry = {"in": scope.label, "at": list(scope.path), "value": self.observer.value(value, Group())}
        del self.caught[before:]
        thread = self.threads.get(threading.get_ident())
        if thread is not None and thread[1] is not None:
            entry["thread"] = thread[1]
        self.log.append(entry)

    def _expr(self, s: Dict[str, Any], scope: Scope) -> Any:
        e = s["value"]
        value = self.eval(e, scope)
        # A call that gives None shows nothing, as at the prompt; a name or an attribute that is None does.
        if value is not None or e.__class__ is not list or e[0] not in ("call", "method"):
            self.note(value, scope)

    def _return(self, s: Dict[str, Any], scope: Scope) -> Any:
        return (self.eval(s["value"], scope),)

    def _assign(self, s: Dict[str, Any], scope: Scope) -> Any:
        value = self.eval(s["value"], scope)
        for target in s["targets"]:
            self.store(target, value, scope)

    def store(self, target: List[Any], value: Any, scope: Scope) -> None:
        """Assign to a target."""
        sort = target[0]
        if sort == "name":
            self.bindings(target[1], scope)[target[1]] = value
        elif sort == "item":
            self.eval(target[1], scope)[self.eval(target[2], scope)] = value
        elif sort == "attr":
            self.set_attribute(self.eval(target[1], scope), target[2], value)
        else:
            for part, each in zip(target[1], unpacked(value, len(target[1]))):
                self.store(part, each, scope)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute; one that tensors of the engine do not have would be made up by Python."""
        if isinstance(owner, self.engine.tensor_type) and not hasattr(type(owner), name):
            self.check_lack(owner, name)
        self.engine.set_attribute(owner, name, value)

    def _augment(self, s: Dict[str, Any], scope: Scope) -> Any:
        apply = self.engine.in_place[s["op"]]
        target = s["target"]
        sort = target[0]
        if sort == "name":
            result = apply(self._name(target, scope), self.eval(s["value"], scope))
            self.bindings(target[1], scope)[target[1]] = result
        elif sort == "attr":
            owner = self.eval(target[1], scope)
            result = apply(self.engine.attribute(owner, target[2]), self.eval(s["value"], scope))
            self.set_attribute(owner, target[2], result)
        else:
            owner, index = self.eval(target[1], scope), self.eval(target[2], scope)
            owner[index] = apply(owner[index], self.eval(s["value"], scope))

    def _delete(self, s: Dict[str, Any], scope: Scope) -> Any:
        for target in s["targets"]:
            if target[0] == "name":
                values = self.bindings(target[1], scope)
                if target[1] not in values:
                    self.load(target[1], scope)  # raises
                del values[target[1]]
            elif target[0] == "attr":
                delattr(self.eval(target[1], scope), target[2])
            else:
                del self.eval(target[1], scope)[self.eval(target[2], scope)]

    def _define(self, s: Dict[str, Any], scope: Scope) -> Any:
        self.bindings(s["name"], scope)[s["name"]] = self.defined(s, s["name"], scope)

    def defined(self, s: Dict[str, Any], name: str, scope: Scope) -> Any:
        """The function that a definition makes, decorated."""
        local = local_names(s["params"], s["body"])
        made: Any = self.callable(Function(name, s["params"], _Body(s["body"]), local, _frozen(scope)))
        made.__signature__ = signature(s["params"])
        for decorator in reversed(s.get("decorators", ())):
            if decorator == "staticmethod":
                made = staticmethod(made)
            elif decorator == "once_differentiable":
                made = self.resolve("torch.autograd.function.once_differentiable")(made)
            elif decorator.endswith("()"):
                made = self.resolve(decorator[:-2])()(made)
            else:
                raise BadProgram("unknown decorator %r" % decorator)
        return made

    def _class(self, s: Dict[str, Any], scope: Scope) -> Any:
        base = self.resolve("torch.autograd.Function")
        path = scope.path
        space: Dict[str, Any] = {"__module__": "__main__", "__qualname__": s["name"]}
        for index, method in enumerate(s["methods"]):
            scope.path = (*path, index)
            space[method["name"]] = self.defined(method, s["name"] + "." + method["name"], scope)
        scope.path = path
        self.bindings(s["name"], scope)[s["name"]] = types.new_class(
            s["name"], (base,), {}, lambda ns: ns.update(space)
        )

    def _raise(self, s: Dict[str, Any], scope: Scope) -> Any:
        sort = EXCEPTIONS.get(s["type"])
        if sort is None:
            raise BadProgram("%s is no exception of the table" % s["type"])
        raise sort(s["text"])

    def _pass(self, s: Dict[str, Any], scope: Scope) -> Any:
        return None

    def _if(self, s: Dict[str, Any], scope: Scope) -> Any:
        path = scope.path
        with labelled(scope, "<block>" if scope.label == "<program>" else scope.label):
            if self.eval(s["test"], scope):
                return self.body(s["body"], scope, path)
            return self.body(s["orelse"], scope, path, len(s["body"]))

    def _repeat(self, s: Dict[str, Any], scope: Scope) -> Any:
        path, name, body = scope.path, s["var"], s["body"]
        values = None if name is None else self.bindings(name, scope)
        with labelled(scope, "<loop>"):
            for index in range(s["times"]):
                if values is not None:
                    values[name] = index
                done = self.body(body, scope, path)
                if done is not None:
                    return done
        return None

    def _with(self, s: Dict[str, Any], scope: Scope) -> Any:
        with labelled(scope, "<block>" if scope.label == "<program>" else scope.label):
            return self.enter(s, 0, scope, scope.path)

    def enter(self, s: Dict[str, Any], number: int, scope: Scope, path: Tuple[int, ...]) -> Any:
        """Enter the contexts of a ``with`` from one on, then run its body."""
        if number == len(s["items"]):
            return self.body(s["body"], scope, path)
        expression, name = s["items"][number]
        if expression[0] == "call" and expression[1] in ("thread", "threads", "warnings_once"):
            argument = self.sequence(expression[2], scope)
            if expression[1] == "thread":
                return self.in_thread(argument[0], lambda own: self.enter(s, number + 1, own, path), scope)
            if expression[1] == "threads":
                return self.in_threads(argument[0], lambda own: self.enter(s, number + 1, own, path), scope)
            with self.warnings_once():
                return self.enter(s, number + 1, scope, path)
        with self.eval(expression, scope) as value:
            if name is not None:
                self.bindings(name, scope)[name] = value
            del value
            return self.enter(s, number + 1, scope, path)

    # -- blocks of the form's own

    @contextlib.contextmanager
    def warnings_once(self) -> Iterator[None]:
        """Count equal warnings of the block once."""
        before = len(self.caught)
        try:
            yield
        finally:
            kept: Dict[Tuple[Any, str], Any] = {}
            for warning in self.caught[before:]:
                kept.setdefault((warning.category, str(warning.message)), warning)
            self.caught[before:] = list(kept.values())

    def in_thread(self, name: str, job: Callable[[Scope], Any], scope: Scope) -> Any:
        """Run a block on the program's thread of this name, and wait."""
        worker = self.workers.get(name)
        if worker is None:
            worker = self.workers[name] = Worker()
            worker.start()
            self.threads[worker.ident or 0] = (name, None)
        task = Task(job, _same_names(scope, "thread " + name))
        worker.jobs.put(task)
        task.done.wait()
        return task.result()

    def in_threads(self, count: int, job: Callable[[Scope], Any], scope: Scope) -> Any:
        """Run a block on fresh threads at once, let go together, and wait for all of them."""
        before = len(self.log)
        barrier = threading.Barrier(count)
        tasks = [Task(job, _same_names(scope, "threads"), barrier) for _ in range(count)]
        workers = [Worker() for _ in tasks]
        for number, (worker, task) in enumerate(zip(workers, tasks)):
            worker.start()
            self.threads[worker.ident or 0] = ("threads %d" % number, number)
            worker.jobs.put(task)
        for worker, task in zip(workers, tasks):
            task.done.wait()
            self.threads.pop(worker.ident or 0, None)
            worker.end()
        self.log[before:] = sorted(self.log[before:], key=lambda entry: int(entry.get("thread", -1)))
        error = next((task.error for task in tasks if task.error is not None), None)
        for task in tasks:
            task.error = None
        if error is not None:
            raise error
        return None

    # -- the program

    def step(self, at: int, s: Dict[str, Any]) -> Dict[str, Any]:
        """Run one top-level statement and observe."""
        facts = facts_of(s)
        values = self.globals
        step: Dict[str, Any] = {
            "at": at,
            "kind": facts.kind,
            "outcome": "ok",
            "log": [],
            "warnings": [],
            "seen": {},
        }
        if self.lost:
            needs = [name for name in facts.required if name in self.lost and name not in values]
            if needs:
                step["outcome"], step["needs"] = "skipped", needs
                self.lost.update(name for name in facts.binds if name not in values)
                self._mode(step)
                return step
        group = Group()
        caught = self.caught
        log: List[Dict[str, Any]] = []
        self.log = log
        self.began = self.missing = None
        self.depth = 0
        scope = self.top
        scope.path, scope.label = (at,), "<program>"
        shown = s["do"] in ("expr", "print")
        value = None
        try:
            if shown:
                value = self.eval(s["value"], scope)
            else:
                EXECUTE[s["do"]](self, s, scope)
        except BaseException as error:
            if isinstance(error, BadProgram) or (
                isinstance(error, KeyboardInterrupt) and not isinstance(error, ProgramInterrupt)
            ):
                raise
            if isinstance(error, Unsupported) and self.missing is None:
                self.missing = error.missing  # an adapter's word, from an operator or an attribute
            if self.missing is None:
                phase = self.began or "forward"
                step["outcome"] = "raised"
                step["error"] = {"type": type(error).__name__, "text": text_of(error), "phase": phase}
            release(error)
        if self.missing is not None:
            step["outcome"], step["missing"] = "unsupported", self.missing
        if step["outcome"] != "ok":
            self.lost.update(name for name in facts.binds if name not in values)
        if caught:
            step["warnings"] = [[w.category.__name__, plain_text(str(w.message))] for w in caught]
            del caught[:]
        step["log"] = log
        if shown and step["outcome"] == "ok":
            step["value"] = self.observer.value(value, group)
        step["seen"] = self.observer.names(list(values) if facts.sees_all else facts.touched, values, group)
        self._mode(step)
        if self.observer.shadow:
            self._shadow(step)
        del caught[:]
        return step

    def _mode(self, step: Dict[str, Any]) -> None:
        mode = self.engine.grad_mode()
        if mode is not None:
            step["grad_mode"] = mode

    def _shadow(self, step: Dict[str, Any]) -> None:
        ask = getattr(self.engine.module, "shadow_undecided", None)
        if callable(ask) and ask():
            step["undecided"] = True

    def end(self) -> Dict[str, Any]:
        """All names at the end."""
        seen = self.observer.names(list(self.globals), self.globals, Group())
        del self.caught[:]
        return seen

    def close(self) -> None:
        """End the program's threads and let go of everything it made."""
        for worker in self.workers.values():
            worker.end()
        self.workers.clear()
        self.globals.clear()
        self.log = []


class _Body:
    """The statements of a function, told apart from the expression of a lambda."""

    __slots__ = ("statements",)

    def __init__(self, statements: Sequence[Dict[str, Any]]) -> None:
        self.statements = statements


class labelled:
    """Log entries of a block carry a label of their own."""

    __slots__ = ("before", "label", "scope")

    def __init__(self, scope: Scope, label: str) -> None:
        self.scope, self.label, self.before = scope, label, scope.label

    def __enter__(self) -> None:
        self.scope.label = self.label

    def __exit__(self, *_: Any) -> None:
        self.scope.label = self.before


def _frozen(scope: Scope) -> Scope:
    """The scope in which a function is made: the same names, and the place where it stood."""
    return Scope(scope.values, scope.local, scope.parent, scope.label, scope.path)


def _same_names(scope: Scope, label: str) -> Scope:
    return Scope(scope.values, scope.local, scope.parent, label, scope.path)


def signature(params: Sequence[str]) -> inspect.Signature:
    """The signature that engines see when they bind arguments by name."""
    kinds = inspect.Parameter
    return inspect.Signature(
        [
            kinds(
                name.lstrip("*"),
                kinds.VAR_POSITIONAL if name.startswith("*") else kinds.POSITIONAL_OR_KEYWORD,
            )
            for name in params
        ]
    )


def unpacked(value: Any, count: int) -> List[Any]:
    """The parts of a value that is assigned to a tuple. Raises as Python does."""
    if not hasattr(type(value), "__iter__") and not hasattr(type(value), "__getitem__"):
        raise TypeError("cannot unpack non-iterable %s object" % type(value).__name__)
    parts: List[Any] = []
    for part in iter(value):
        if len(parts) == count:
            raise ValueError("too many values to unpack (expected %d)" % count)
        parts.append(part)
    if len(parts) < count:
        raise ValueError("not enough values to unpack (expected %d, got %d)" % (count, len(parts)))
    return parts


def rejects_keyword(text: str, key: str) -> bool:
    """True if a TypeError says that a function does not know this keyword."""
    word = re.compile(r"\b%s\b" % re.escape(key))
    if _UNKNOWN_KEYWORD.search(text):
        return word.search(text) is not None
    if "invalid combination of arguments" in text:
        got, _, expected = text.partition("but expected")
        return word.search(got) is not None and word.search(expected) is None
    if "incompatible function arguments" in text:
        return word.search(text.partition("Invoked with")[0]) is None  # the signatures that there are
    return False


class Table(Dict[str, Any]):
    """A dispatch table; what is not in it is no part of the form."""

    def __missing__(self, key: str) -> Any:
        raise BadProgram("%r is no part of the form" % (key,))


EVALUATE: Dict[str, Callable[[Interpreter, List[Any], Scope], Any]] = Table({
    "name": Interpreter._name, "float": Interpreter._float, "complex": Interpreter._complex,
    "list": Interpreter._list,
    "tuple": Interpreter._tuple, "dict": Interpreter._dict, "slice": Interpreter._slice,
    "ellipsis": Interpreter._ellipsis, "dtype": Interpreter._dtype, "device": Interpreter._device,
    "const": Interpreter._const, "bits": Interpreter._bits, "call": Interpreter._call,
    "method": Interpreter._method,
    "apply": Interpreter._apply, "attr": Interpreter._attr, "item": Interpreter._item,
    "binary": Interpreter._binary,
    "unary": Interpreter._unary, "compare": Interpreter._compare, "lambda": Interpreter._lambda,
})  # fmt: skip
EXECUTE: Dict[str, Callable[[Interpreter, Dict[str, Any], Scope], Any]] = Table({
    "assign": Interpreter._assign, "augment": Interpreter._augment, "expr": Interpreter._expr,
    "print": Interpreter._expr, "delete": Interpreter._delete, "with": Interpreter._with,
    "repeat": Interpreter._repeat, "if": Interpreter._if, "define": Interpreter._define,
    "class": Interpreter._class,
    "return": Interpreter._return, "raise": Interpreter._raise, "global": Interpreter._pass,
    "pass": Interpreter._pass,
})  # fmt: skip


# ----------------------------------------------------------------------------------------------------
# Threads of the program.


class Task:
    """A block to run on another thread, and what became of it."""

    def __init__(
        self, job: Callable[[Scope], Any], scope: Scope, barrier: Optional[threading.Barrier] = None
    ) -> None:
        self.job: Optional[Callable[[Scope], Any]] = job
        self.scope: Optional[Scope] = scope
        self.barrier = barrier
        self.done = threading.Event()
        self.value: Any = None
        self.error: Optional[BaseException] = None

    def run(self) -> None:
        """Run it; the exception is kept for the thread that waits."""
        try:
            if self.barrier is not None:
                self.barrier.wait()
            if self.job is not None and self.scope is not None:
                self.value = self.job(self.scope)
        except BaseException as error:
            release(error)
            self.error = error
        finally:
            self.job = self.scope = None
            self.done.set()

    def result(self) -> Any:
        """The block's value, or its exception."""
        error, self.error = self.error, None
        if error is not None:
            raise error
        return self.value


class Worker(threading.Thread):
    """A thread that runs tasks until it is ended."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.jobs: "queue.Queue[Optional[Task]]" = queue.Queue()

    def run(self) -> None:
        """Run tasks, holding none of them while waiting."""
        while True:
            task = self.jobs.get()
            if task is None:
                return
            task.run()
            del task

    def end(self) -> None:
        """Let the thread end, and wait; not for long, as an interrupted program may have left it busy."""
        self.jobs.put(None)
        self.join(5.0)


# ----------------------------------------------------------------------------------------------------
# Running a whole program.


def dumps(value: Any) -> str:
    """Canonical JSON: equal traces are equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def stack_depth() -> int:
    """How many frames are in use."""
    frame: Optional[types.FrameType] = sys._getframe()
    depth = 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def run(
    program: Dict[str, Any],
    engine: Engine,
    schema: Dict[str, Any],
    shadow: bool = False,
    digest: Optional[str] = None,
) -> Dict[str, Any]:
    """Run a program and return its trace. The same program on the same engine gives the same trace.

    ``digest`` is the program's hash, from a caller that has it already.

    What the program leaves changed in the engine is put back and stands in ``leaks``. Raises BadProgram for
    what is not a program; whatever the engine raises is an outcome in the trace.
    """
    if (
        not isinstance(program, dict)
        or program.get("form") != FORM
        or not isinstance(program.get("body"), list)
    ):
        raise BadProgram("not a program of form %d" % FORM)
    body = program["body"]
    if digest is None:
        digest = hashlib.sha256(dumps(body).encode("ascii")).hexdigest()
    trace: Dict[str, Any] = {"form": FORM, "program": digest}
    interpreter = Interpreter(engine, schema, shadow)
    before = engine.state()
    always = engine.warn_always(True)
    limit, collecting = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(stack_depth() + STACK)
    gc.disable()  # a collection at a random moment would show in weak references
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            interpreter.caught = caught if caught is not None else []
            try:
                trace["steps"] = [interpreter.step(at, statement) for at, statement in enumerate(body)]
                trace["end"] = interpreter.end()
            except (KeyError, IndexError, TypeError, AttributeError) as error:
                raise BadProgram("not a program: %s: %s" % (type(error).__name__, error)) from None
            finally:
                interpreter.close()
                trace["leaks"] = engine.reset(before)
    finally:
        sys.setrecursionlimit(limit)
        if always is not None:
            engine.warn_always(always)
        if collecting:
            gc.enable()
    return trace


# ----------------------------------------------------------------------------------------------------
# Talking: JSON lines on standard input and output.


def describe(engine: Engine) -> Dict[str, Any]:
    """What an engine says of itself in ``hello``."""
    return {
        "protocol": PROTOCOL,
        "name": engine.name,
        "version": engine.version,
        "python": "%s %s" % (platform.python_implementation(), platform.python_version()),
        "identity": engine.identity,
        "bytes": engine.bytes_rung,
        "device": engine.devices["main"],
        "build": build_of(engine.module),
        "capabilities": {
            "absent": sorted(engine.absent),
            "reads_absent": sorted(reads_absent(engine)),
            "dtypes": sorted(set(engine.dtype_names.values())),
        },
    }


def reads_absent(engine: Engine) -> Set[str]:
    """The fields of traces in which the engine has nothing of its own to show."""
    modes = set() if engine.grad_mode() is not None else {"grad_mode"}
    return modes | engine.lacks_reads | engine.unread


def serve(name: str, lines: Iterable[bytes], write: Callable[[Dict[str, Any]], None]) -> None:
    """Answer the host until it says bye or is gone."""
    engine: Optional[Engine] = None
    schema: Dict[str, Any] = {}
    shadow = False
    home, place = os.getpid(), os.getcwd()
    for line in lines:
        message = json.loads(line.decode("utf-8"))
        do = message.get("do")
        if do == "hello":
            try:
                engine = load(name, message.get("device", "cpu"), message.get("absent", ()))
            except EngineProblem as problem:
                write({"error": {"what": problem.what, "hint": problem.hint}})
                return
            schema, shadow = message["schema"], bool(message.get("shadow"))
            write({"hello": describe(engine)})
        elif do == "run" and engine is not None:
            for number, program in message["programs"]:
                reply: Dict[str, Any] = {"id": number}
                try:
                    reply["trace"] = run(program, engine, schema, shadow)
                except BadProgram as problem:
                    reply["error"] = str(problem)
                if os.getpid() != home:
                    os._exit(0)  # a process that the program forked has nothing to say
                if os.getcwd() != place:
                    os.chdir(place)
                write(reply)
            write({"done": message["batch"]})
        elif do == "undeclared" and engine is not None:
            write({"undeclared": engine.undeclared(message["names"])})
        elif do == "bye":
            write({"bye": True})
            return
        else:
            write({"error": {"what": "unknown message %r" % do, "hint": "see PROTOCOL.md"}})


def main(arguments: Sequence[str]) -> int:
    """``runner.py MODULE``: speak the protocol for a module. What the engine prints goes to standard
    error."""
    if len(arguments) != 1:
        sys.stderr.write("usage: runner.py MODULE\n")
        return 2
    lines = os.fdopen(os.dup(0), "rb")
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr

    def write(message: Dict[str, Any]) -> None:
        out.write(dumps(message).encode("ascii") + b"\n")
        out.flush()

    serve(arguments[0], iter(lines.readline, b""), write)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
