"""The packs of the other hosts against what the programs themselves offer to their models."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from remit.declare.load import read_pack
from tests.hosts.others import Copilot, Gemini, OpenCode, Other, other
from tests.hosts.test_pack import leaves

pytestmark = pytest.mark.hosts

# What the packs leave out on purpose; they say why there. `paths` may be one text or a list.
LEFT_OUT = {
    "opencode": {"bash": {"workdir"}},
    "gemini-cli": {"run_shell_command": {"dir_path"}},
    "copilot-cli": {"grep": {"paths", "paths[]"}, "glob": {"paths", "paths[]"}},
}


@pytest.mark.parametrize("kind", [Copilot, OpenCode, Gemini], ids=lambda kind: kind.name)
def test_every_tool_on_offer_is_declared_with_its_arguments(kind: type[Other], tmp_path: Path):
    host = other(kind, tmp_path)
    offered = host.run({"main": ["done"]}).model.of("main")[0].tools
    pack = read_pack(kind.name)
    assert len(offered) > 8
    assert set(offered) <= set(pack)
    for name, tool in offered.items():
        schema, declared = tool["input_schema"], pack[name].args
        whole = {key for key, argument in declared.items() if argument.kind == "json"}
        asked = {key for key, _ in leaves(schema) if re.split(r"[.[]", key)[0] not in whole}
        left_out = LEFT_OUT[kind.name].get(name, set())
        assert asked - left_out <= set(declared), name
        # What the schema lets the model leave out, the pack must too.
        needed = {re.split(r"[.[]", key)[0] for key, argument in declared.items() if not argument.optional}
        assert needed <= set(schema.get("required") or ()), name
