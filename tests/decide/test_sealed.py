"""What is sealed is changed by nobody: not itself, not what is in it, not a directory that it is in."""

from __future__ import annotations

import itertools

import pytest

from remit.model import Facts
from tests.decide.kit import book, outcome

TOOLS = {
    "write": {"args": {"path": "path"}, "does": {"write": "path"}},
    "delete": {"args": {"path": "path"}, "does": {"delete": "path"}},
    "fill": {"args": {"path": "path"}, "does": {"write": {"below": "path"}}},
    "wipe": {"args": {"path": "path"}, "does": {"delete": {"below": "path"}}},
    "read": {"args": {"path": "path"}, "does": {"read": "path"}},
    "sweep": {"args": {"path": "path"}, "does": {"read": {"below": "path"}}},
}
RULEBOOK = book(tools=TOOLS, agents={"a": {"may": list(TOOLS)}}, tiers={4: "allow", 3: "allow"})
SEALED = ("env/lib/tool", "opt")
PATHS = ("env", "env/lib", "env/lib/tool", "env/lib/tool/a", "env/lib/tool/a/b", "opt", "opt/x", "OPT/x", "Env/Lib")
OTHERS = ("envy", "env/libs", "env/lib/tools/a", "optional/x", "docs/opt", "tool")


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("order", list(itertools.permutations(SEALED)), ids=" ".join)
def test_what_is_sealed_is_not_changed(tool: str, order: tuple[str, ...]) -> None:
    known = Facts(root="/p", sealed=tuple(f"/p/{name}" for name in order))
    changes = tool not in ("read", "sweep")
    for path in PATHS:
        assert outcome(RULEBOOK, tool, {"path": path}, facts=known) == ("deny protected" if changes else "allow"), path
    for path in OTHERS:
        assert outcome(RULEBOOK, tool, {"path": path}, facts=known) == "allow", path


@pytest.mark.parametrize("order", list(itertools.permutations(("/s/one", "/t/two"))), ids=" ".join)
def test_every_directory_that_nobody_may_look_into_counts(order: tuple[str, ...]) -> None:
    known = Facts(root="/p", guarded=order)
    for tool in ("write", "delete", "fill", "wipe"):
        for path in ("/s", "/s/one", "/s/one/x", "/t", "/t/two", "/t/two/x"):
            assert outcome(RULEBOOK, tool, {"path": path}, facts=known) == "deny protected", (tool, path)
