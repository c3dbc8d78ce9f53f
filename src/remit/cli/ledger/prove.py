"""`remit ledger prove`: a receipt for one entry, that anybody can check without the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from remit.cli.common import FINE
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.options import StateOption, ledger_to_look
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import err, write
from remit.cli.parameters import Argument, Option
from remit.record.archive import archived_entry
from remit.record.errors import LedgerError
from remit.record.export import export_file
from remit.record.log import prove
from remit.record.reader import entry_at


def command(
    seq: Annotated[int, Argument(metavar="N", min=0, help="The entry.")],
    archive: Annotated[
        Path | None, Option("--archive", metavar="DIR", help="The folder with archives, for an entry that is in one.")
    ] = None,
    to: Annotated[Path | None, Option("--to", metavar="FILE", help="Where to write it; default: stdout.")] = None,
    policy: PolicyOption = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> int:
    """Write a receipt (tlog-proof) for entry N: its bytes, the path to the root, and a signed checkpoint.

    Example: `remit ledger prove 42 > entry-42.proof`
    """
    with ledger_to_look(policy, state) as opened:
        with opened.store.read() as view:
            entry = archived_entry(view, archive, seq) if archive is not None else entry_at(view, seq)
        try:
            with opened.store.read() as view:
                proof = prove(view, opened.log, seq, entry)
        except LedgerError as error:
            if error.code != "not-signed":
                raise
            opened.checkpoint()
            with opened.store.read() as view:
                proof = prove(view, opened.log, seq, entry)
        keys = [verifier.vkey for verifier in opened.log.verifiers]
    text = proof.text.encode()
    if to is not None:
        export_file(to, iter([text]))
    if json:
        out_ascii({"seq": seq, "proof": proof.text, "keys": keys, "file": str(to) if to is not None else None})
    elif to is None:
        write(text)
    else:
        err(f"written; check it with: remit ledger check-proof FILE --key {keys[-1]}")
    return FINE
