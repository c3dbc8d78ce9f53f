"""What `remit check` says of the project's documents: loaded only where there are any."""

from __future__ import annotations

from collections.abc import Sequence

from remit.cli.output import paint
from remit.explain.visible import bounded
from remit.scan.model import Finding, Weight

_SHOWN = 12


def findings_text(findings: Sequence[Finding], *, strict: bool, quiet: bool) -> str:
    """Contradictions and risks for people: code, places, why, a fix. Notes are left to `remit scan`."""
    told = [one for one in findings if one.weight is Weight.ERROR or (one.weight is Weight.WARNING and not quiet)]
    lines = []
    for one in told[:_SHOWN]:
        red = strict and one.weight is Weight.ERROR
        who = f"{bounded(one.agent, 60)}: " if one.agent else ""
        places = ", ".join(bounded(str(place), 100) for place in one.places[:3])
        lines.append(
            f"{paint('document', 'red' if red else 'yellow')}: {who}{bounded(one.text, 300)} [{one.code}]\n"
            f"  {places}\n  {bounded(one.why, 200)}; fix: {bounded(one.fix, 200)}\n"
        )
    if len(told) > _SHOWN:
        lines.append(f"… and {len(told) - _SHOWN} more findings in documents (`remit check --json` has all)\n")
    return "".join(lines)
