"""Other ways to govern a function call: a wrapper that decides, runs and records. Each in its usual form.

One that doesn't import or doesn't decide rightly is reported as absent, and the bench goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers import Absent

Search = Callable[[str], str]
"""The tool that is governed: it takes a text and gives it back."""

AGT_POLICY = """
apiVersion: governance.toolkit/v1
name: bench
default_action: deny
rules:
  - {name: reads, condition: "action.type in ['search']", action: allow}
  - {name: writes, condition: "action.type in ['drop', 'delete']", action: deny}
"""
CTRLRUN_POLICY = """
schema: ctrlrun.policy/v2
actions:
  search: {rules: [{decision: allow}]}
"""


@dataclass(frozen=True, slots=True)
class Governed:
    """One peer's governed call, and how it keeps what it records."""

    name: str
    keeps: str
    written: bool
    """What it records is in a file before the call returns, so that it outlives the process."""
    search: Search


@contextmanager
def _agt(folder: Path) -> Iterator[Governed]:
    from agentmesh.governance.govern import GovernanceDenied, govern

    def work(action: str, query: str) -> str:
        return query

    governed = govern(work, policy=AGT_POLICY, agent_id="researcher")
    _must_refuse(lambda: governed(action="drop", query="x"), GovernanceDenied)
    yield Governed("AGT", "in memory", False, lambda query: governed(action="search", query=query))


@contextmanager
def _ctrlrun(folder: Path) -> Iterator[Governed]:
    import ctrlrun

    policy = folder / "ctrlrun.yaml"
    policy.write_text(CTRLRUN_POLICY, encoding="utf-8")
    control = ctrlrun.Control.from_file(policy)

    @ctrlrun.protect("search", control=control)
    def search(query: str) -> str:
        return query

    @ctrlrun.protect("drop", control=control)
    def drop(query: str) -> str:
        return query

    with ctrlrun.context(agent="researcher"):
        _must_refuse(lambda: drop(query="x"), ctrlrun.ActionDenied)
        yield Governed(
            "CTRLRun", "written before it returns, not flushed to the disk", True, lambda query: search(query=query)
        )


def _must_refuse(call: Callable[[], object], refusal: type[Exception]) -> None:
    try:
        call()
    except refusal:
        return
    raise RuntimeError("it runs what it should refuse")


_PEERS: dict[str, Any] = {"AGT": _agt, "CTRLRun": _ctrlrun}


@contextmanager
def all_of_them(folder: Path) -> Iterator[tuple[list[Governed], list[Absent]]]:
    """Those that work here, and those that don't."""
    found: list[Governed] = []
    absent: list[Absent] = []
    with ExitStack() as stack:
        for name, make in _PEERS.items():
            try:
                peer = stack.enter_context(make(folder))
                if peer.search("x") != "x":
                    raise RuntimeError("it does not give the result back")
            except Exception as error:  # whatever a foreign package raises, the bench goes on
                absent.append(Absent(name, f"{type(error).__name__}: {error}"))
            else:
                found.append(peer)
        yield found, absent
