"""Data files that lie among our code. (`importlib.resources` would bring readers of archives along, at each start.)"""

from __future__ import annotations

import os

HOME = os.path.dirname(os.path.dirname(__file__))


def shipped(name: str) -> bytes:
    """What one of them holds, such as `catalog/programs.jsonl`."""
    with open(os.path.join(HOME, name), "rb") as file:
        return file.read()
