"""`remit ledger check-proof`: does a receipt hold? Without the ledger, and without a network."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Annotated

from remit.cli.common import FINE, InputError
from remit.cli.ledger.lines import entry_text, out_ascii
from remit.cli.ledger.options import NOT_VERIFIED, StateOption, find_ledger
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import err, out, paint
from remit.cli.parameters import Argument, Option
from remit.model.text import shown
from remit.record.note import Verifier, open_note
from remit.record.proof import MAX_PROOF, Proof, ProofError, verify_proof
from remit.record.reader import Stored


def command(
    file: Annotated[Path, Argument(metavar="FILE", help="The receipt.")],
    key: Annotated[
        list[str] | None,
        Option("--key", metavar="VKEY", help="The log's key, or a witness's; default: the project's own keys."),
    ] = None,
    policy: PolicyOption = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> int:
    """Check a receipt offline. Exit code 1: it is not valid.

    Example: `remit ledger check-proof entry-42.proof --key ledger.vkey`
    """
    try:
        with file.open("rb") as opened_file:
            text = opened_file.read(MAX_PROOF + 1)
    except OSError as error:
        raise InputError(f"{shown(file, 300)}: {error.strerror}") from None
    if key:
        verifiers = [Verifier.parse(one) for one in key]
    else:
        with find_ledger(policy, state) as opened:
            verifiers = list(opened.log.verifiers)
    try:
        proof = Proof.parse(text)
        checkpoint = verify_proof(proof, verifiers)
        data = Stored(proof.index, b"", proof.entry or b"").data
    except ProofError as error:
        if json:
            out_ascii({"verified": False, "code": error.code, "message": str(error)})
        else:
            err(f"{paint('NOT VERIFIED', 'red')}: {shown(error, 500)}")
        return NOT_VERIFIED
    witnesses = [s.by.name for s in open_note(proof.note, verifiers).signatures if s.time is not None]
    if json:
        found = {
            "verified": True,
            "origin": checkpoint.origin,
            "seq": proof.index,
            "size": checkpoint.size,
            "root": base64.b64encode(checkpoint.root).decode(),
            "witnesses": witnesses,
            "entry": data,
        }
        out_ascii(found)
    else:
        under = f"{shown(checkpoint.origin, 255)}, entry {proof.index} of {checkpoint.size}"
        by = f", cosigned by {', '.join(shown(name, 255) for name in witnesses)}" if witnesses else ""
        out(f"{paint('verified', 'green')}: {under}{by}\n{entry_text(proof.index, data, None)}")
    return FINE
