"""`conformance xfail update FILE RESULTS`: make or update a list of expected failures from results."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from conformance.cli.errors import UsageError
from conformance.expected import Expected, Layer, load, read_layer
from conformance.results import Results, read

_MULTILINE = ("program",)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("action", choices=("update",), help="make the list, or bring it up to date")
    parser.add_argument("file", type=Path, metavar="FILE", help="the list: TOML, or JSON by its name")
    parser.add_argument("results", type=Path, metavar="RESULTS", help="a result file of `conformance run`")
    parser.add_argument("--reason", metavar="R", help="of new entries (what was found)")
    parser.add_argument("--link", default="", metavar="URL", help="of new entries")
    parser.add_argument(
        "--version", default="", metavar="V", help="condition of new entries, as '>=0.3,<0.5'"
    )
    parser.add_argument("--device", default="", metavar="D", help="condition of new entries")
    parser.add_argument(
        "--extends", action="append", metavar="F", help="a list that a new file stands on; may be repeated"
    )


def execute(args: argparse.Namespace) -> int:
    """Write the list and say what changed."""
    results = read(args.results)
    if not results.complete:
        raise UsageError(
            f"the run is incomplete: {results.problem}", str(args.results), "a whole run is needed"
        )
    layer = read_layer(args.file) if args.file.exists() else Layer({}, tuple(args.extends or ()))
    updated, added, gone = update(layer, _below(args.file, layer), results, args)
    text = to_json(updated) if args.file.suffix == ".json" else to_toml(updated)
    args.file.write_text(text, "utf-8")
    print(f"{args.file}: {len(updated.entries)} entries, {added} new, {gone} taken out")
    return 0


def _below(file: Path, layer: Layer) -> set[str]:
    """The cases that the extended lists hold already."""
    return {case for base in layer.extends for case in load(file.parent / base)} - set(layer.drop)


def update(
    layer: Layer, below: set[str], results: Results, args: argparse.Namespace
) -> tuple[Layer, int, int]:
    """The layer after a run: what fails newly is added, what passed or matches nothing is taken out."""
    stale = {
        entry["case"].removesuffix(":shortest") for entry in (results.footer.stale if results.footer else ())
    }
    entries = {case: entry for case, entry in layer.entries.items() if case not in stale}
    gone = len(layer.entries) - len(entries)
    added = 0
    for program in results.programs:
        name = program.id.removesuffix(":shortest")
        if not program.failing or program.expected is not None or name in entries:
            continue
        if name in below and name not in stale:
            continue
        source = program.failure.source if program.failure is not None else ""
        entries[name] = Expected(
            name,
            args.reason or (program.failure.group if program.failure else "") or program.verdict,
            args.link,
            args.version,
            args.device,
            source if program.origin == "generated" else "",
        )
        added += 1
    drop = sorted({*layer.drop, *(stale & below)})
    return Layer(dict(sorted(entries.items())), layer.extends, tuple(drop)), added, gone


def _row(entry: Expected) -> dict[str, str]:
    return {key: value for key, value in vars(entry).items() if value}


def to_json(layer: Layer) -> str:
    """The layer as JSON."""
    data: dict[str, object] = {
        key: list(getattr(layer, key)) for key in ("extends", "drop") if getattr(layer, key)
    }
    data["expected"] = [_row(entry) for entry in layer.entries.values()]
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def to_toml(layer: Layer) -> str:
    """The layer as TOML."""
    lines = [
        f"{key} = {_quoted(list(getattr(layer, key)))}" for key in ("extends", "drop") if getattr(layer, key)
    ]
    if not layer.entries:
        lines.append("expected = []")
    for entry in layer.entries.values():
        lines += ["", "[[expected]]"]
        for key, value in _row(entry).items():
            if key in _MULTILINE and "'''" not in value and value.isprintable() is False and _plain(value):
                lines.append(f"{key} = '''\n{value.rstrip()}\n'''")
            else:
                lines.append(f"{key} = {_quoted(value)}")
    return "\n".join(lines).lstrip("\n") + "\n"


def _plain(value: str) -> bool:
    """Whether a text can stand in a literal of several lines."""
    return all(char == "\n" or char.isprintable() for char in value)


def _quoted(value: object) -> str:
    """A text or a list of texts as TOML writes it: JSON's escapes are TOML's, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
