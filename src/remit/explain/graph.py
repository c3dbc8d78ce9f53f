"""Who hands work to whom, as a graph: for a terminal, for Mermaid, for Graphviz."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from remit.analyze.reach import direct_takers
from remit.model.rulebook import Rulebook
from remit.model.text import shown

_SHAPES = {"agent": ('["', '"]'), "runner": ('[/"', '"/]'), "role": ('(["', '"])')}


class Edge(msgspec.Struct, frozen=True):
    """One who may hand work to another; `bound` if its own limits go along."""

    giver: str
    taker: str
    bound: bool


class Graph(msgspec.Struct, frozen=True):
    """Agents and runners with their kinds, and the edges between them."""

    kinds: dict[str, str]
    edges: tuple[Edge, ...]


def graph_of(rulebook: Rulebook) -> Graph:
    """The graph of a policy; roles are resolved to those who have them."""
    book = rulebook.book
    kinds = {caller.name: str(caller.kind) for caller in book.callers.values() if caller.kind != "role"}
    edges = [
        Edge(giver, taker, book.callers[giver].delegate_within == "chain")
        for giver, takers in direct_takers(book).items()
        for taker in takers
        if giver in kinds and taker in kinds
    ]
    return Graph(kinds, tuple(edges))


def as_text(graph: Graph) -> str:
    """A line for each who hands work on, then those who don't."""
    lines = []
    for name in graph.kinds:
        takers = [edge.taker for edge in graph.edges if edge.giver == name]
        if takers:
            bound = (
                " (its own limits go along)" if any(edge.bound for edge in graph.edges if edge.giver == name) else ""
            )
            lines.append(f"{shown(name)} → {', '.join(map(shown, takers))}{bound}")
    rest = [shown(name) for name in graph.kinds if all(edge.giver != name for edge in graph.edges)]
    if rest:
        lines.append(f"hand nothing on: {', '.join(rest)}")
    return "\n".join(lines) + "\n"


def as_mermaid(graph: Graph) -> str:
    """A flowchart that GitHub draws."""
    ids = {name: f"n{number}" for number, name in enumerate(graph.kinds)}
    lines = ["flowchart LR"]
    for name, kind in graph.kinds.items():
        left, right = _SHAPES[kind]
        lines.append(f"  {ids[name]}{left}{_label(name)}{right}")
    lines += [f"  {ids[e.giver]} {'==>' if e.bound else '-->'} {ids[e.taker]}" for e in graph.edges]
    return "\n".join(lines) + "\n"


def as_dot(graph: Graph) -> str:
    """A graph for Graphviz."""
    lines = ["digraph remit {", "  rankdir=LR;"]
    for name, kind in graph.kinds.items():
        lines.append(f'  "{_label(name)}" [shape={"box" if kind == "agent" else "parallelogram"}];')
    lines += [f'  "{_label(e.giver)}" -> "{_label(e.taker)}"{" [style=bold]" if e.bound else ""};' for e in graph.edges]
    return "\n".join([*lines, "}"]) + "\n"


def _label(name: str) -> str:
    return shown(name).replace("\\", "/").replace('"', "'")


FORMATS: dict[str, Callable[[Graph], str]] = {"text": as_text, "mermaid": as_mermaid, "dot": as_dot}
