"""`remit ledger export`: the log for others."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from remit.cli.common import FINE, InputError
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.options import StateOption, ledger_to_look
from remit.cli.ledger.progress import progress_bar
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import err, write
from remit.cli.parameters import Argument, Option
from remit.model.text import counted
from remit.record.append import head_of
from remit.record.export import export_file, export_tiles, jsonl, ocsf


class Form(StrEnum):
    """What is written."""

    tiles = "tiles"
    jsonl = "jsonl"
    ocsf = "ocsf"


def command(
    form: Annotated[Form, Argument(metavar="tiles|jsonl|ocsf", help="What is written.")],
    to: Annotated[str, Argument(metavar="PATH", help="A folder for tiles, else a file; - is stdout.")],
    values: Annotated[bool, Option("--values", help="jsonl: include the values, which are stored separately.")] = False,
    first: Annotated[int, Option("--from", metavar="N", min=0, help="jsonl, ocsf: from this entry on.")] = 0,
    policy: PolicyOption = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> int:
    """Export the log: tiles (verifiable by others), JSON lines, or OCSF events.

    Examples: `remit ledger export jsonl ledger.jsonl`, `remit ledger export ocsf -`
    """
    if form is Form.tiles and (to == "-" or values or first):
        raise InputError("tiles go into a folder, whole and without values: leave out -, --values and --from")
    if form is Form.ocsf and values:
        raise InputError("--values goes with jsonl")
    if to == "-" and json:
        raise InputError("--json says what was written to a file; - writes to stdout itself")
    with ledger_to_look(policy, state) as opened:
        if form is Form.tiles:
            opened.checkpoint()
        with opened.store.read() as view:
            size = head_of(view).size
            with progress_bar("exporting", max(0, size - first), quiet=json) as progress:
                if form is Form.tiles:
                    count = export_tiles(view, opened.log, Path(to), progress)
                else:
                    if form is Form.jsonl:
                        lines = jsonl(view, first, size, values=values)
                    else:
                        lines = ocsf(view, first, size, opened.origin)
                    if to == "-":
                        for line in lines:
                            write(line)
                        return FINE
                    count = export_file(Path(to), lines, progress)
    if json:
        out_ascii({"format": form.value, "path": to, "entries": count})
    else:
        err(f"{counted(count, 'entry')} written")
    return FINE
