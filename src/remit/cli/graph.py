"""`remit graph`: who hands work to whom."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from remit.cli.common import FINE, InputError, open_policy, write_file
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, out_json
from remit.cli.parameters import Option
from remit.explain.graph import FORMATS, graph_of
from remit.explain.graph_drawing import as_svg
from remit.model.text import did_you_mean, shown


def command(
    format: Annotated[
        str, Option("--format", metavar="FORMAT", help="text, mermaid (GitHub draws it) or dot (Graphviz).")
    ] = "text",
    svg: Annotated[Path | None, Option("--svg", metavar="FILE", help="Also draw it, into one SVG file.")] = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Show who hands work to whom, as text or as a graph for a document.

    Examples: `remit graph`, `remit graph --format mermaid`, `remit graph --svg graph.svg`
    """
    if format not in FORMATS:
        raise InputError(
            f"--format: no `{shown(format)}`{did_you_mean(format, FORMATS)}; there are {', '.join(FORMATS)}"
        )
    opened = open_policy(policy, machine=json or format != "text")
    graph = graph_of(opened.rulebook)
    if svg is not None:
        write_file("--svg", svg, as_svg(graph, f"Who hands work to whom in {shown(opened.rulebook.book.name)}"))
    if json:
        out_json(msgspec.to_builtins(graph))
    else:
        out(FORMATS[format](graph))
    return FINE
