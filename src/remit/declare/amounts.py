"""Amounts in budgets: `500`, `12.50`."""

from __future__ import annotations

import re
from typing import Any

from remit.forms.nodes import SCALAR, Node
from remit.forms.shapes import JSON, Reader, Shape
from remit.model.task import LARGEST_SUM, UNIT

_AMOUNT = re.compile(r"[0-9]{1,13}(?:\.[0-9]{1,6})?", re.ASCII)


class Amount(Shape):
    """A positive number as it is written, in millionths."""

    expects = f"a number above 0 and up to {LARGEST_SUM}, with at most 6 decimals"

    def read(self, node: Node, reader: Reader) -> Any:
        text = str(node.value) if node.kind is SCALAR and node.plain else ""
        if not _AMOUNT.fullmatch(text):
            return self.wrong(node, reader)
        whole, _, part = text.partition(".")
        found = int(whole) * UNIT + int(part.ljust(6, "0") or 0)
        return found if 0 < found <= LARGEST_SUM * UNIT else self.wrong(node, reader)

    def schema(self) -> JSON:
        return {"type": "number", "exclusiveMinimum": 0}
