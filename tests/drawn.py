"""Policies that a test draws at random: two of their rules may be at odds, which a person's policy may not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from remit.compile.book import make_rulebook
from remit.compile.prove import prove
from remit.declare import build_policy
from remit.model.rulebook import Rulebook


def rulebook_of(data: Mapping[str, Any]) -> Rulebook:
    """The rulebook of a drawn policy, proved as any other. Raises PolicyError."""
    return prove(make_rulebook(build_policy(data)))
