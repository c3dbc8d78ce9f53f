"""A fixed reach of a tool, such as `docs/**` or `https://api.example/**`: what every one of its calls touches."""

from __future__ import annotations

from remit.scopes.glob import Glob
from remit.scopes.interface import Unit


def reach_unit(text: str, effects: frozenset[str]) -> Unit:
    """The wide unit of a reach: URLs by their scheme, everything else is paths. Raises ValueError."""
    if "://" in text:
        from remit.scopes.url import UrlPattern  # here: most reaches are paths

        return Unit("url", "", UrlPattern.parse(text), effects, wide=True, text=text)
    return Unit("path", "", Glob.parse(text, absolute=True), effects, wide=True, text=text)
