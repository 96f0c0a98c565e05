"""Reports: one self-contained HTML page made from result files alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from conformance import __version__
from conformance.reports.inert import bounded, inert
from conformance.reports.steps import step_lines
from conformance.reports.summary import summarize
from conformance.results import Results

__all__ = ["html", "write"]


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("conformance.reports", "templates"),
        autoescape=True,
        finalize=inert,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["bounded"] = bounded
    environment.filters["percent"] = lambda share: f"{share:.1%}"
    environment.filters["count"] = lambda number: f"{number:,}"
    environment.filters["step_lines"] = step_lines
    environment.filters["as_json"] = _as_json
    return environment


def _as_json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)


def html(runs: Sequence[Results]) -> str:
    """The page. It holds no script and loads nothing; everything that comes from an engine is text."""
    page = _environment().get_template("report.html").render(summary=summarize(runs), suite=__version__)
    return page + "\n"


def write(runs: Sequence[Results], path: Path) -> None:
    """Write the page to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html(runs), encoding="utf-8", errors="backslashreplace")
