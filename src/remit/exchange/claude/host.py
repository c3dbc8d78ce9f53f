"""What ships as data about Claude Code itself."""

from __future__ import annotations

from functools import cache
from typing import Any

from remit import catalog
from remit.declare.nodes import parse
from remit.forms.texts import plain

HOST = "claude-code"


@cache
def host_data() -> dict[str, Any]:
    """Its own agents, and what its settings must be."""
    found: dict[str, Any] = plain(parse(catalog.text(f"hosts/{HOST}.yaml"), f"catalog {HOST}"))
    return found
