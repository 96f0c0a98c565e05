"""What a program has of Python beside torch, and the names of dtypes, constants and devices."""

from conformance.operations.schema import op, words

BUILTINS = (
    *(
        op(f"python.{name}", name, arguments, "builtin", arity=0, flags="sizes" if name == "range" else "")
        for name, arguments in (
            ("len", ""),
            ("list", ""),
            ("tuple", ""),
            ("dict", ""),
            ("isinstance", ""),
            ("type", ""),
            ("float", ""),
            ("int", ""),
            ("bool", ""),
            ("str", ""),
            ("range", ""),
            ("sum", "start"),
            ("min", "key default"),
            ("max", "key default"),
            ("abs", ""),
            ("all", ""),
            ("any", ""),
            ("sorted", "reverse"),
            ("zip", ""),
            ("enumerate", "start"),
            ("reversed", ""),
            ("hasattr", ""),
            ("callable", ""),
        )
    ),
    op("python.log", "log", "", "builtin", arity=0),
    op("python.ref", "ref", "", "builtin", arity=0),
    op("python.thread_name", "thread_name", "", "builtin", arity=0),
    op("gc.collect", "gc.collect", "", "builtin", arity=0),
    op("copy.copy", "copy.copy", "", "builtin", arity=0),
    op("copy.deepcopy", "copy.deepcopy", "", "builtin", arity=0),
)

CONTAINER_METHODS = tuple(
    op(f"list.{name}", f"Tensor.{name}", "", "builtin container", arity=0)
    for name in ("append", "extend", "pop", "clear", "insert", "reverse", "items", "keys")
)

ROWS = (*BUILTINS, *CONTAINER_METHODS)

EXCEPTIONS = words(
    """
    RuntimeError ValueError TypeError IndexError KeyError AttributeError NotImplementedError
    AssertionError ZeroDivisionError StopIteration KeyboardInterrupt Exception
    """
)

DTYPES = words(
    """
    bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex32 complex64
    complex128 half float double short int long cfloat cdouble
    """
)

CONSTANTS = words(
    """
    torch.contiguous_format torch.channels_last torch.preserve_format torch.strided
    torch.sparse_coo torch.Tensor torch.Size torch.nn.Parameter torch.autograd.Variable
    torch.autograd.Function torch.autograd.graph.Node torch.autograd.graph.GradientEdge
    torch.dtype torch.device float int bool str list tuple dict complex
    """
)

DEVICES = ("main", "other", "host", "meta")

BITS = {
    "f16": 2,
    "bf16": 2,
    "f32": 4,
    "f64": 8,
    "c64": 8,
    "c128": 16,
    "u8": 1,
    "i8": 1,
    "i16": 2,
    "i32": 4,
    "i64": 8,
    "b8": 1,
}
"""Element types of ``bits("f32", "…")`` and their width in bytes."""
