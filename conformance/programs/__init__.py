"""Programs: the value, its JSON, its torch source, its limits (see FORM.md)."""

from conformance.programs.model import Expression, Program, ProgramError, Statement, canonical, loads
from conformance.programs.parse import parse
from conformance.programs.reduce import reduce
from conformance.programs.script import standalone_script
from conformance.programs.source import to_source
from conformance.programs.validate import validate
from conformance.runner import kind, required_names, sees_all, touched

__all__ = [
    "Expression",
    "Program",
    "ProgramError",
    "Statement",
    "canonical",
    "kind",
    "loads",
    "parse",
    "reduce",
    "required_names",
    "sees_all",
    "standalone_script",
    "to_source",
    "touched",
    "validate",
]
