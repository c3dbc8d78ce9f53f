"""The picture of who hands work to whom: whole, and nothing on top of anything else."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from remit.explain.graph import Edge, Graph
from remit.explain.graph_drawing import as_svg

SVG = "{http://www.w3.org/2000/svg}"
NAMES = st.lists(st.text("abcdefgh-", min_size=1, max_size=40), min_size=1, max_size=12, unique=True)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    names = draw(NAMES)
    pairs = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names), st.booleans()), max_size=30))
    edges = {(giver, taker): Edge(giver, taker, bound) for giver, taker, bound in pairs if giver != taker}
    kinds = {name: draw(st.sampled_from(("agent", "runner"))) for name in names}
    return Graph(kinds, tuple(edges.values()))


@given(graphs())
def test_everybody_and_every_edge_once_and_no_box_on_another(graph: Graph) -> None:
    root = ElementTree.fromstring(as_svg(graph, "title"))  # noqa: S314  # a text of our own
    drawn = [box for box in root.iter(f"{SVG}rect") if "name" in box.get("class", "")]
    boxes = [[float(box.get(key, "0")) for key in ("x", "y", "width", "height")] for box in drawn]
    assert len(boxes) == len(graph.kinds)
    paths = [path for path in root.iter(f"{SVG}path") if "edge" in path.get("class", "")]
    assert len(paths) == len(graph.edges)
    for (x, y, w, h), (x2, y2, w2, h2) in itertools.combinations(boxes, 2):
        assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in boxes)
    for path in paths:
        numbers = [float(one) for one in re.findall(r"-?\d+", path.get("d", ""))]
        assert all(-20 <= one <= width + 20 for one in numbers[0::2])
        assert all(0 <= one <= height for one in numbers[1::2])


@given(graphs())
def test_givers_stand_left_of_their_takers(graph: Graph) -> None:
    root = ElementTree.fromstring(as_svg(graph, "title"))  # noqa: S314  # a text of our own
    at = {}
    for group in root.iter(f"{SVG}g"):
        title, box = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        if title is not None and box is not None:
            at[str(title.text).rpartition(" (")[0]] = float(box.get("x", "0"))
    back = {path.findtext(f"{SVG}title") for path in root.iter(f"{SVG}path") if "back" in path.get("class", "")}
    for edge in graph.edges:
        said = f"{edge.giver} hands work to {edge.taker}" + (", within its own limits" if edge.bound else "")
        assert said in back or at[edge.giver] < at[edge.taker]


def test_names_are_text() -> None:
    graph = Graph({"<script>": "agent", "a&b": "agent"}, (Edge("<script>", "a&b", False),))
    text = as_svg(graph, "<x>")
    assert "<script>" not in text
    ElementTree.fromstring(text)  # noqa: S314  # a text of our own
