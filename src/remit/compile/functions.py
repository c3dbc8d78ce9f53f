"""Tools that a program declares at its functions, compared with a rulebook that is there already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from remit.declare.functions import with_functions
from remit.forms.shapes import Reader
from remit.model.rulebook import Rulebook


def check_functions(rulebook: Rulebook, functions: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises PolicyError if a function contradicts the tool of its name."""
    reader = Reader()
    with_functions(dict(rulebook.book.tools), functions, reader)
    reader.finish()
