"""A timeline as SVG, for a page: bars for all calls, and below them one lane for each agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from remit.model.html import text
from remit.model.text import counted

DECISIONS = {"allow": "var(--good)", "ask": "var(--ask)", "deny": "var(--bad)"}
WORDS = {"allow": "allowed", "ask": "asked", "deny": "denied"}
_LEFT, _WIDTH, _TOP, _HIGH, _LANE = 190, 960, 24, 130, 30
_LABELS = 5


def svg(
    calls: Mapping[tuple[int, str, str], int],
    *,
    spans: int,
    lanes: Sequence[str],
    when: Callable[[int], str],
    marks: Mapping[int, Sequence[str]],
) -> str:
    """The drawing: `calls` by span, lane and decision; `when` names a span, `marks` what happened in one besides."""
    wide = (_WIDTH - _LEFT) / max(1, spans)
    below = _TOP + _HIGH + 34
    parts = [_axis(spans, wide, when)]
    total: dict[tuple[int, str], int] = {}
    for (span, _, decision), number in calls.items():
        total[span, decision] = total.get((span, decision), 0) + number
    most = max((_sum(total, span) for span, _ in total), default=1)
    if total:
        parts.append(f'<text x="{_LEFT - 8}" y="{_TOP + 10}" text-anchor="end">{counted(most, "call")}</text>')
    parts.append(_bars(total, most, wide, _TOP + _HIGH, _HIGH, when))
    for number, lane in enumerate(lanes):
        mine = {(span, decision): n for (span, name, decision), n in calls.items() if name == lane}
        bottom = below + (number + 1) * _LANE
        highest = max((_sum(mine, span) for span, _ in mine), default=1)
        parts.append(f'<text x="{_LEFT - 8}" y="{bottom - 6}" text-anchor="end">{text(lane or "no agent", 26)}</text>')
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{bottom}" y2="{bottom}" class="line"/>')
        parts.append(_bars(mine, highest, wide, bottom, _LANE - 8, when))
    end = below + len(lanes) * _LANE
    for span, texts in marks.items():
        x = _LEFT + (span + 0.5) * wide
        words = "; ".join(text(one, 120) for one in list(texts)[:8])
        line = f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{end}" class="mark"/>'
        parts.append(
            f'<g><title>{words}</title>{line}<text x="{x:.1f}" y="{_TOP - 9}" text-anchor="middle">▾</text></g>'
        )
    label = f"{counted(sum(calls.values()), 'call')} of {counted(len(lanes), 'agent')} from {text(when(0), 40)} on"
    return f'<svg viewBox="0 0 {_WIDTH} {end + 12}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _sum(counted: Mapping[tuple[int, str], int], span: int) -> int:
    return sum(counted.get((span, decision), 0) for decision in DECISIONS)


def _bars(
    counted: Mapping[tuple[int, str], int],
    most: int,
    wide: float,
    bottom: float,
    high: float,
    when: Callable[[int], str],
) -> str:
    """Stacked bars, each with its numbers as a tooltip."""
    parts = []
    for span in sorted({span for span, _ in counted}):
        y = float(bottom)
        numbers = {decision: counted.get((span, decision), 0) for decision in DECISIONS}
        said = ", ".join(f"{number} {WORDS[decision]}" for decision, number in numbers.items() if number)
        bars = []
        for decision, number in numbers.items():
            size = high * number / max(1, most)
            y -= size
            if number:
                place = f'x="{_LEFT + span * wide:.1f}" y="{y:.1f}"'
                shape = f'{place} width="{max(1.0, wide - 1):.1f}" height="{max(1.0, size):.1f}"'
                bars.append(f'<rect {shape} fill="{DECISIONS[decision]}"/>')
        parts.append(f"<g><title>{text(when(span), 40)}: {said}</title>{''.join(bars)}</g>")
    return "".join(parts)


def _axis(spans: int, wide: float, when: Callable[[int], str]) -> str:
    bottom = _TOP + _HIGH
    parts = [f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{bottom}" y2="{bottom}" class="line"/>']
    for span in sorted({round(step * (spans - 1) / (_LABELS - 1)) for step in range(_LABELS)}):
        x = _LEFT + (span + 0.5) * wide
        anchor = "start" if span == 0 else "end" if span == spans - 1 else "middle"
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="{anchor}">{text(when(span), 40)}</text>')
    return "".join(parts)
