"""A program as a plain script to paste: it needs only PyTorch, and goes on after a statement that raises."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from conformance.programs.edit import expression_places, get, statement_places
from conformance.programs.model import Program, Statement
from conformance.programs.scope import block_names, bound_names, global_names
from conformance.programs.source import Printer, header

DEVICES: Mapping[str, str] = {"main": "cpu", "other": "cpu", "host": "cpu", "meta": "meta"}

After = Callable[[int, str, str], Sequence[str]]
"""Lines to append after a top-level statement: (index, name of its value, name of its error).

The index after the last one stands for the end. Value and error are None where there is none."""

_CREATIONS = ("torch.tensor", "torch.zeros", "torch.ones", "torch.full")

_BITS = '''
def bits(kind, digits):
    """A tensor of these little-endian bytes."""
    kinds = {"f": "float", "bf": "bfloat", "c": "complex", "u": "uint", "i": "int"}
    name = "bool" if kind == "b8" else kinds[kind.rstrip("0123456789")] + kind.lstrip("bfcui")
    dtype = getattr(torch, name)
    data = bytearray.fromhex(digits)
    return torch.frombuffer(data, dtype=dtype).clone() if data else torch.zeros(0, dtype=dtype)
'''
_LOG = """
def log(*values):
    print("log:", *values)
"""
_THREAD_NAME = """
def thread_name():
    import threading

    name, _, number = threading.current_thread().name.rpartition("_")
    return f"threads {number}" if name == "threads" else name or "main"
"""
_WARNINGS_ONCE = '''
@contextlib.contextmanager
def warnings_once():
    """Warnings as a fresh process shows them: each once."""
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(False)
    try:
        yield
    finally:
        torch.set_warn_always(always)
'''
_ON_THREAD = '''
__workers = {}

def __on_thread(name, block):
    """Runs the block on the thread of this name, waits, and raises what it raised."""
    import concurrent.futures

    if name not in __workers:
        __workers[name] = concurrent.futures.ThreadPoolExecutor(1, name)
    __workers[name].submit(block).result()
'''
_ON_THREADS = '''
def __on_threads(count, block):
    """Runs the block on fresh threads at once, and raises what one of them raised."""
    import concurrent.futures
    import threading

    barrier = threading.Barrier(count)

    def start():
        barrier.wait()
        block()

    with concurrent.futures.ThreadPoolExecutor(count, "threads") as pool:
        for running in [pool.submit(start) for _ in range(count)]:
            running.result()
'''

_HELPERS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "bits": ((), _BITS),
    "log": ((), _LOG),
    "warnings_once": (("import contextlib",), _WARNINGS_ONCE),
    "thread_name": ((), _THREAD_NAME),
    "thread": ((), _ON_THREAD),
    "threads": ((), _ON_THREADS),
    "ref": (("from weakref import ref",), ""),
    "gc": (("import gc",), ""),
    "copy": (("import copy",), ""),
    "once_differentiable": (("from torch.autograd.function import once_differentiable",), ""),
}


class _ScriptPrinter(Printer):
    """Prints programs for a module: inner observations with print, thread blocks as functions."""

    def _do_expr(self, s: Statement) -> list[str]:
        value = s["value"]
        is_call = isinstance(value, list) and value[0] in ("call", "method", "apply")
        return super()._do_expr(s) if is_call else self._do_print(s)

    def _do_with(self, s: Statement) -> list[str]:
        call = s["items"][0][0]
        if call[1] not in ("thread", "threads"):
            return super()._do_with(s)
        names = sorted(block_names(s["body"]) | global_names(s["body"]))
        lines = ["def __block():"]
        if names:
            lines.append(f"    global {', '.join(names)}")
        run = "__on_thread" if call[1] == "thread" else "__on_threads"
        return [*lines, *self.block(s["body"]), f"{run}({self.expression(call[2][0])}, __block)"]


def standalone_script(
    program: Program,
    *,
    after: After | None = None,
    raising: Collection[int] | None = None,
    devices: Mapping[str, str] = DEVICES,
) -> str:
    """The script of a program.

    ``raising`` are the indices of the top-level statements whose exception is caught and printed; None stands
    for all that may raise. ``after`` appends lines, such as assertions.
    """
    printer = _ScriptPrinter(lambda name: f'torch.device("{devices[name]}")')
    names = (_free_name(program, "value"), _free_name(program, "error"), _free_name(program, "raised"))
    value, error, _ = names
    lines = [*header(program), *_prelude(program)]
    if devices["main"] != "cpu":
        lines += [f'torch.set_default_device("{devices["main"]}")', ""]
    for index, statement in enumerate(program.body):
        caught = _may_raise(statement) if raising is None else index in raising
        extra = after(index, value, error) if after is not None else ()
        lines += _statement(printer, statement, index, caught, names, keep=bool(extra))
        lines += extra
    lines += after(len(program.body), value, error) if after is not None else ()
    return "\n".join(lines) + "\n"


def _statement(
    printer: Printer, s: Statement, index: int, caught: bool, names: tuple[str, str, str], *, keep: bool
) -> list[str]:
    value, error, raised = names
    is_shown = s["do"] in ("expr", "print")
    if is_shown and keep:
        inner = [f"{value} = {printer.bare(s['value'])}", f"print({value})"]
    elif is_shown and not _returns_nothing(s):
        inner = [f"print({printer.expression(s['value'])})"]
    elif is_shown:
        inner = [printer.bare(s["value"])]
    else:
        inner = printer.statement(s)
    before = [f"{value} = {error} = None"] if keep else []
    if not caught:
        return [*before, *inner]
    handler = [
        f"except Exception as {raised}:",
        *([f"    {error} = {raised}"] if keep else []),
        f'    print("statement {index}:", type({raised}).__name__ + ":", {raised})',
    ]
    return [*before, "try:", *("    " + line for line in inner), *handler]


def _returns_nothing(s: Statement) -> bool:
    value = s["value"]
    return isinstance(value, list) and (value[:1] + value[2:3] == ["method", "backward"])


def _may_raise(s: Statement) -> bool:
    """False for definitions and for creations from literals."""
    if s["do"] in ("define", "class", "pass", "global"):
        return False
    value = s.get("value")
    is_creation = isinstance(value, list) and value[0] == "call" and value[1] in _CREATIONS
    return not (s["do"] == "assign" and [t[0] for t in s["targets"]] == ["name"] and is_creation)


def _free_name(program: Program, wanted: str) -> str:
    body = list(program.body)
    taken = {name for place in statement_places(body) for name in bound_names(get(body, place))}
    while wanted in taken:
        wanted += "_"
    return wanted


def _prelude(program: Program) -> list[str]:
    used = _used(program)
    imports = sorted({line for name in used for line in _HELPERS[name][0]} | {"import torch"})
    imports.sort(key=lambda line: ("torch" in line, line.startswith("from"), line))
    helpers = [line for name in used for line in _HELPERS[name][1].splitlines()]
    return [*imports, *helpers, ""]


def _used(program: Program) -> list[str]:
    """The helpers that the program needs, in the order of the table."""
    body = list(program.body)
    found: set[str] = set()
    for place in statement_places(body):
        statement = get(body, place)
        found.update(statement.get("decorators", ()))
        if statement["do"] == "with":
            found.update(item[0][1] for item in statement["items"])
    for place in expression_places(body):
        expression = get(body, place)
        if isinstance(expression, list) and expression[0] == "call":
            found.add(expression[1].partition(".")[0])
        elif isinstance(expression, list) and expression[0] == "bits":
            found.add("bits")
    return [name for name in _HELPERS if name in found]
