"""The graph of who hands work to whom as a picture: columns from those who give to those who take, in one SVG.

Each giver stands left of its takers where that is possible; an edge that leads back goes around below. An edge over
several columns gets a place of its own in each, so that it passes between names and not through them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

import msgspec

from remit.explain.graph import Edge, Graph
from remit.model.text import brief, shown

_CHARACTER, _HEIGHT, _ROW, _GAP, _EDGE = 7.6, 30, 46, 90, 24
_LONGEST, _TURN = 30, 40
_SWEEPS = 8
_STYLE = """\
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; }
.name { fill: #f6f8fa; stroke: #59636e; } .runner { fill: #fff8c5; } .edge { fill: none; stroke: #59636e; }
.bound { stroke-width: 2.5; stroke: #0969da; } .back { stroke-dasharray: 5 3; }
.note { fill: #59636e; font-size: 12px; }
.paper { fill: #ffffff; } marker path { fill: #59636e; } .strong path { fill: #0969da; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .name { fill: #161b22; stroke: #8b949e; } .runner { fill: #3b3000; }
  .edge { stroke: #8b949e; }
  .bound { stroke: #58a6ff; } .note { fill: #8b949e; } .paper { fill: #0d1117; } marker path { fill: #8b949e; }
  .strong path { fill: #58a6ff; }
}"""


class _Node(msgspec.Struct, eq=False):
    """A name, or a place where an edge passes a column."""

    name: str | None
    column: int
    y: float = 0.0
    x: float = 0.0
    width: float = 0.0


def as_svg(graph: Graph, title: str) -> str:
    """The picture; readable in light and dark, without anything from elsewhere."""
    linked = {name for edge in graph.edges for name in (edge.giver, edge.taker)}
    back = _backward([name for name in graph.kinds if name in linked], graph.edges)
    columns = _columns([name for name in graph.kinds if name in linked], [e for e in graph.edges if e not in back])
    alone = [name for name in graph.kinds if name not in linked]
    nodes, routes = _placed(columns, [edge for edge in graph.edges if edge not in back])
    drawn = [node for node in nodes if node.name is not None]
    bottom = max((node.y for node in nodes), default=_EDGE) + _HEIGHT + _EDGE
    parts = [_path(_through(route), edge) for edge, route in routes]
    by_name = {node.name: node for node in drawn}
    for edge in back:
        parts.append(_around(by_name[edge.giver], by_name[edge.taker], bottom, edge))
        bottom += 14
    width = max((node.x + node.width for node in drawn), default=0.0) + (_TURN if back else _EDGE)
    width = max(width, 420.0)
    top = bottom + (0 if not drawn else 10)
    rest, x = [], float(_EDGE)
    for name in alone:
        node = _Node(name, 0, width=_width(name), x=x, y=top + 24)
        if node.x + node.width > max(width, 900) - _EDGE and node.x > _EDGE:
            top, node.x, node.y = top + _ROW, float(_EDGE), top + _ROW + 24
        rest.append(node)
        x = node.x + node.width + 16
    width = max([width, *(node.x + node.width + _EDGE for node in rest)])
    if rest:
        parts.append(f'<text class="note" x="{_EDGE}" y="{rest[0].y - 10:.0f}">neither hand work on nor get any</text>')
        bottom = rest[-1].y + _HEIGHT + _EDGE
    parts += [_box(node, graph) for node in (*drawn, *rest)]
    parts.append(_legend(graph, back, bottom))
    height = bottom + 30
    return _whole(title, width, height, parts)


def _backward(names: Sequence[str], edges: Sequence[Edge]) -> list[Edge]:
    """Edges that close a circle, looked for from whoever hands on most."""
    takers = {name: [edge for edge in edges if edge.giver == name] for name in names}
    taken = {edge.taker for edge in edges}
    found: list[Edge] = []
    state: dict[str, int] = {}
    for start in sorted(names, key=lambda name: (name in taken, -len(takers[name]))):
        if start in state:
            continue
        stack = [(start, iter(takers[start]))]
        state[start] = 1
        while stack:
            name, left = stack[-1]
            edge = next(left, None)
            if edge is None:
                state[name] = 2
                stack.pop()
            elif state.get(edge.taker) == 1:
                found.append(edge)
            elif edge.taker not in state:
                state[edge.taker] = 1
                stack.append((edge.taker, iter(takers[edge.taker])))
    return found


def _columns(names: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """By name, its column: one to the right of the last who hands it work."""
    column = dict.fromkeys(names, 0)
    for _ in names:
        changed = False
        for edge in edges:
            if column[edge.taker] <= column[edge.giver]:
                column[edge.taker], changed = column[edge.giver] + 1, True
        if not changed:
            break
    return column


def _placed(columns: dict[str, int], edges: Sequence[Edge]) -> tuple[list[_Node], list[tuple[Edge, list[_Node]]]]:
    """Every node with its place, and by edge the nodes that it passes."""
    named = {name: _Node(name, column, width=_width(name)) for name, column in columns.items()}
    nodes: list[_Node] = list(named.values())
    routes = []
    for edge in edges:
        first, last = named[edge.giver], named[edge.taker]
        between = [_Node(None, column) for column in range(first.column + 1, last.column)]
        nodes += between
        routes.append((edge, [first, *between, last]))
    layers: list[list[_Node]] = [[] for _ in range(max(columns.values(), default=-1) + 1)]
    for node in nodes:
        layers[node.column].append(node)
    near: dict[int, list[_Node]] = {id(node): [] for node in nodes}
    for _, route in routes:
        for one, other in pairwise(route):
            near[id(one)].append(other)
            near[id(other)].append(one)
    _ordered(layers, near)
    x = float(_EDGE + 24)
    for layer in layers:
        wide = max((node.width for node in layer), default=0.0)
        for node in layer:
            node.x = x
            node.width = wide  # all alike, so that no edge of one runs below another
        x += wide + _GAP
    return nodes, routes


def _ordered(layers: Sequence[list[_Node]], near: dict[int, list[_Node]]) -> None:
    """Within each column, everybody beside those whom they are joined to; columns are centred on one another."""
    for layer in layers:
        for number, node in enumerate(layer):
            node.y = float(number)
    for sweep in range(_SWEEPS):
        order = layers if sweep % 2 == 0 else layers[::-1]
        step = -1 if sweep % 2 == 0 else 1
        for layer in order:
            weight = {id(node): _mean(near[id(node)], node.column + step, node.y) for node in layer}
            layer.sort(key=lambda node: weight[id(node)])
            for number, node in enumerate(layer):
                node.y = number - (len(layer) - 1) / 2
    top = min((node.y for layer in layers for node in layer), default=0.0)
    for layer in layers:
        for node in layer:
            node.y = _EDGE + 16 + (node.y - top) * _ROW


def _mean(nodes: Iterable[_Node], column: int, otherwise: float) -> float:
    ys = [node.y for node in nodes if node.column == column]
    return sum(ys) / len(ys) if ys else otherwise


def _width(name: str) -> float:
    return max(64.0, len(_label(name)) * _CHARACTER + 22)


def _label(name: str) -> str:
    return brief(name, _LONGEST)


def _through(route: Sequence[_Node]) -> list[tuple[float, float]]:
    """The points of an edge: out at the right of the giver, level through each column, in at the left of the taker."""
    first, last = route[0], route[-1]
    points = [(first.x + first.width, first.y + _HEIGHT / 2)]
    for node in route[1:-1]:
        points += [(node.x, node.y + _HEIGHT / 2), (node.x + node.width, node.y + _HEIGHT / 2)]
    return [*points, (last.x - 7, last.y + _HEIGHT / 2)]


def _path(points: Sequence[tuple[float, float]], edge: Edge) -> str:
    text = f"M{points[0][0]:.0f} {points[0][1]:.0f}"
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (x + to_x) / 2
        text += f" C{middle:.0f} {y:.0f} {middle:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}"
    return _edge(text, edge, "")


def _around(giver: _Node, taker: _Node, bottom: float, edge: Edge) -> str:
    """Back below everything: out at the right of the giver, in at the left of the taker."""
    start, end = giver.x + giver.width, taker.x - 7
    high, low = giver.y + _HEIGHT / 2, taker.y + _HEIGHT / 2
    out = f"M{start:.0f} {high:.0f} C{start + _TURN:.0f} {high:.0f} {start + _TURN:.0f} {bottom:.0f}"
    into = f"C{end - _TURN:.0f} {bottom:.0f} {end - _TURN:.0f} {low:.0f} {end:.0f} {low:.0f}"
    text = f"{out} {start - 10:.0f} {bottom:.0f} L{end + 10:.0f} {bottom:.0f} {into}"
    return _edge(text, edge, " back")


def _edge(path: str, edge: Edge, more: str) -> str:
    bound, tip = (" bound", "strong") if edge.bound else ("", "tip")
    said = escape(
        f"{shown(edge.giver)} hands work to {shown(edge.taker)}" + (", within its own limits" if edge.bound else "")
    )
    return f'<path class="edge{bound}{more}" d="{path}" marker-end="url(#{tip})"><title>{said}</title></path>'


def _box(node: _Node, graph: Graph) -> str:
    name = str(node.name)
    runner = graph.kinds[name] == "runner"
    kind = " runner" if runner else ""
    middle = node.y + _HEIGHT / 2 + 4.5
    return (
        f'<g><title>{escape(shown(name))} ({graph.kinds[name]})</title><rect class="name{kind}" x="{node.x:.0f}" '
        f'y="{node.y:.0f}" width="{node.width:.0f}" height="{_HEIGHT}" rx="{2 if runner else 8}"/>'
        f'<text x="{node.x + node.width / 2:.0f}" y="{middle:.0f}" text-anchor="middle">'
        f"{escape(_label(name))}</text></g>"
    )


def _legend(graph: Graph, back: Sequence[Edge], y: float) -> str:
    notes = ["→ hands work to"] if graph.edges else ["nobody hands work on"]
    notes += ["blue: within its own limits"] if any(edge.bound for edge in graph.edges) else []
    notes += ["dashed: back to one who gave it"] if back else []
    notes += ["square: a runner"] if "runner" in graph.kinds.values() else []
    return f'<text class="note" x="{_EDGE}" y="{y + 12:.0f}">{escape(" · ".join(notes))}</text>'


def _whole(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img">'
    )
    tips = "".join(
        f'<marker id="{name}" class="{name}" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker>'
        for name in ("tip", "strong")
    )
    lines = [head, f"<title>{escape(title)}</title>", f"<style>{_STYLE}</style>", f"<defs>{tips}</defs>"]
    return "\n".join([*lines, '<rect class="paper" width="100%" height="100%"/>', *parts, "</svg>"]) + "\n"
