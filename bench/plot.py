"""A line plot with logarithmic axes as SVG text, without a plotting library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 860, 480
LEFT, RIGHT, TOP, BOTTOM = 88, 200, 64, 58
GAP = 17
"""The least distance between two labels, in pixels."""
COLOURS = ("#b45309", "#7c3aed", "#047857", "#be185d", "#4d7c0f", "#0e7490", "#9a3412")
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: x → y, and how it is drawn."""

    name: str
    points: Mapping[int, float]
    colour: str
    width: float = 1.6
    dash: str = ""


class Axes:
    """Where a value lies on the picture."""

    def __init__(self, lines: Sequence[Line]) -> None:
        xs = [x for line in lines for x in line.points]
        ys = [y for line in lines for y in line.points.values()]
        self.first = math.floor(math.log10(min(xs)))
        self.last = max(self.first + 1, math.ceil(math.log10(max(xs))))
        self.bottom = math.floor(math.log10(min(ys)) + 1e-9)
        self.top = math.ceil(math.log10(max(ys)))

    def x(self, value: float) -> float:
        """Pixels from the left."""
        share = (math.log10(value) - self.first) / (self.last - self.first)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Pixels from the top."""
        share = (math.log10(value) - self.bottom) / (self.top - self.bottom)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def plot(lines: Sequence[Line], *, title: str, note: str, x_label: str, y_label: str) -> str:
    """The whole picture as SVG text."""
    axes = Axes(lines)
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="system-ui, sans-serif" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>',
        _text(LEFT, 28, title, size=17, weight=600),
        _text(LEFT, 48, note, fill="#6b7280"),
        *_grid(axes, x_label, y_label),
        *(_curve(line, axes) for line in sorted(lines, key=lambda line: line.width)),
        *_labels(lines, axes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _grid(axes: Axes, x_label: str, y_label: str) -> list[str]:
    right, floor = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = []
    for power in range(axes.bottom, axes.top + 1):
        at = axes.y(10**power)
        parts.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}" stroke="#e5e7eb"/>')
        parts.append(_text(LEFT - 10, at + 4, f"{10**power:,} ×", anchor="end", fill="#4b5563"))
    for power in range(axes.first, axes.last + 1):
        at = axes.x(10**power)
        parts.append(f'<line x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{floor}" stroke="#f3f4f6"/>')
        power_of_ten = "10" + str(power).translate(SUPERSCRIPT)
        parts.append(_text(at, floor + 20, power_of_ten, anchor="middle", fill="#4b5563"))
    parts.append(f'<line x1="{LEFT}" y1="{floor}" x2="{right}" y2="{floor}" stroke="#9ca3af"/>')
    parts.append(_text((LEFT + right) / 2, HEIGHT - 14, x_label, anchor="middle", fill="#4b5563"))
    middle = (TOP + floor) / 2
    turned = _text(0, 0, y_label, anchor="middle", fill="#4b5563")
    parts.append(f'<g transform="translate(18 {middle:.0f}) rotate(-90)">{turned}</g>')
    return parts


def _curve(line: Line, axes: Axes) -> str:
    places = [(axes.x(x), axes.y(y)) for x, y in sorted(line.points.items())]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{line.width + 1.4:.1f}"/>' for x, y in places)
    stroke = f'fill="none" stroke="{line.colour}" stroke-width="{line.width}" stroke-linejoin="round"{dash}'
    return f'<g fill="{line.colour}"><polyline points="{path}" {stroke}/>{dots}</g>'


def _labels(lines: Sequence[Line], axes: Axes) -> list[str]:
    """Each curve's name to the right of the picture, near its last point, pushed apart where they meet."""
    ends = []
    for line in lines:
        last = max(line.points)
        ends.append((axes.y(line.points[last]), axes.x(last), line))
    ends.sort(key=lambda end: end[0])
    places = [end[0] for end in ends]
    for n in range(1, len(places)):
        places[n] = max(places[n], places[n - 1] + GAP)
    over = max(0.0, places[-1] - (HEIGHT - BOTTOM)) if places else 0.0
    for n in reversed(range(len(places))):
        limit = places[n] - over if n == len(places) - 1 else places[n + 1] - GAP
        places[n] = min(places[n], limit)
    edge = WIDTH - RIGHT + 14
    parts = []
    for place, (at, x, line) in zip(places, ends, strict=True):
        parts.append(
            f'<line x1="{x + 6:.1f}" y1="{at:.1f}" x2="{edge - 4}" y2="{place:.1f}" '
            f'stroke="{line.colour}" stroke-width="0.7" stroke-dasharray="2 3" opacity="0.5"/>'
        )
        weight = 700 if line.width > 2 else 400
        parts.append(_text(edge, place + 4, line.name, fill=line.colour, weight=weight))
    return parts


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    fill: str = "#1f2937",
    size: int = 13,
    weight: int = 400,
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}" '
        f'font-size="{size}" font-weight="{weight}">{escape(text)}</text>'
    )
