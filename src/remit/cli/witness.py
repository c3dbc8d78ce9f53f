"""`remit witness`: a second host that remembers the heads of logs, and cosigns only what goes on from them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from remit.cli.common import FINE, InputError
from remit.cli.ledger.lines import out_ascii
from remit.cli.options import JsonOption
from remit.cli.output import out
from remit.cli.parameters import Option
from remit.record.witness import Witness
from remit.record.witness_server import WitnessServer


def command(
    state: Annotated[Path, Option("--state", metavar="DIR", help="Its directory: key, logs, and what it has seen.")],
    listen: Annotated[str, Option("--listen", metavar="HOST:PORT", help="Where it listens.")] = "127.0.0.1:7380",
    log: Annotated[
        list[str] | None, Option("--log", metavar="VKEY", help="A log to watch from now on; can be repeated.")
    ] = None,
    name: Annotated[
        str | None, Option("--name", metavar="NAME", help="The name of its key, if the key is created.")
    ] = None,
    cert: Annotated[Path | None, Option("--cert", metavar="FILE", help="A certificate (PEM), for https.")] = None,
    cert_key: Annotated[Path | None, Option("--cert-key", metavar="FILE", help="The certificate's key.")] = None,
    once: Annotated[bool, Option("--print-key", help="Print the key, created if necessary, and exit.")] = False,
    json: JsonOption = False,
) -> int:
    """Run a witness (C2SP tlog-witness): POST /add-checkpoint returns a cosignature or a refusal.

    Example: `remit witness --state /var/lib/witness --log ledger.vkey --listen 127.0.0.1:8080`
    """
    place = re.fullmatch(r"\[?([0-9A-Za-z.:-]+?)\]?:([0-9]{1,5})", listen)
    if place is None or int(place[2]) > 65_535:
        raise InputError("--listen: not HOST:PORT")
    witness = Witness(state.absolute(), name)
    try:
        if log:
            witness.watch(log)
        if once:
            if json:
                out_ascii({"vkey": witness.vkey})
            else:
                out(f"{witness.vkey}\n")
            return FINE
        server = WitnessServer((place[1], int(place[2])), witness, cert=cert, cert_key=cert_key)
        scheme = "https" if cert is not None else "http"
        host = f"[{place[1]}]" if ":" in place[1] else place[1]
        address = f"{scheme}://{host}:{server.server_port}"
        anchor = f"witness:{address}+{witness.vkey}"
        if json:
            out_ascii({"vkey": witness.vkey, "address": address, "anchor": anchor, "logs": sorted(witness.logs)})
        else:
            out(f"listening on {address}, watching {len(witness.logs)} logs\nanchor: {anchor}\n")
        try:
            server.serve_forever()
        finally:
            server.server_close()
    finally:
        witness.close()
    return FINE
