"""`remit schema`: the JSON Schema of a policy file, for editors."""

from __future__ import annotations

from remit.cli.common import FINE
from remit.cli.output import out_json
from remit.declare.format import schema


def command() -> int:
    """Print the JSON Schema of a policy file, for editors."""
    out_json(schema())
    return FINE
