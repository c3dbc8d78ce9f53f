"""What is no rulebook, call or path is refused where it is given."""

from __future__ import annotations

from typing import Any

import pytest

from remit import Call, SafePath, build_rulebook, decide_call
from remit.model.arguments import ArgumentError

BOOK = build_rulebook({"remit": 1, "use": ["claude-code"], "agents": {"a": {"may": ["Read"]}}})
CALL = Call("a", "Read", {"file_path": "x"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("remit.yaml", CALL), "decide_call: `rulebook` must be a Rulebook, not str 'remit.yaml'"),
        ((None, CALL), "decide_call: `rulebook` must be a Rulebook, not None"),
        ((BOOK, {"agent": "a"}), "decide_call: `call` must be a Call, not dict {'agent': 'a'}"),
        ((BOOK, None), "decide_call: `call` must be a Call, not None"),
        ((BOOK, CALL, "now"), "decide_call: `facts` must be Facts, not str 'now'"),
    ],
)
@pytest.mark.parametrize("warm", [False, True])
def test_a_decision_on_something_else(given: tuple[Any, ...], said: str, *, warm: bool) -> None:
    if warm:
        decide_call(BOOK, CALL)
    with pytest.raises(ArgumentError) as caught:
        decide_call(*given)
    assert str(caught.value) == said


@pytest.mark.parametrize("path", [None, 5, b"/x", ["x"]])
def test_a_path_that_is_none(path: Any) -> None:
    with pytest.raises(ArgumentError, match="SafePath: `path` must be a path"):
        SafePath(path)


def test_a_mode_that_is_none() -> None:
    with pytest.raises(ArgumentError, match=r"SafePath\.open: `mode` must be text"):
        SafePath("/x").open(5)  # type: ignore[arg-type]
