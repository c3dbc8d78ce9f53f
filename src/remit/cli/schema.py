"""`remit schema`: the JSON Schemas of a policy file and of its tests, for editors."""

from __future__ import annotations

from typing import Annotated

from remit.cli.common import FINE
from remit.cli.output import out_json
from remit.cli.parameters import Option
from remit.declare.format import schema, schema_of_tests


def command(
    tests: Annotated[bool, Option("--tests", help="The schema of a *.test.yaml instead.")] = False,
) -> int:
    """Print the JSON Schema of a policy file, for editors.

    Examples: `remit schema > policy.schema.json`, `remit schema --tests`
    """
    out_json(schema_of_tests() if tests else schema())
    return FINE
