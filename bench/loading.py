"""The time from YAML text to a rulebook, beside libyaml's own for the same text."""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

import yaml
from yaml._yaml import CParser

from bench.policies import long_yaml
from bench.subject import declare, load
from bench.timing import alternate, ratio_of

RULES = 5_000
TARGET = 4.0


@dataclass(frozen=True, slots=True)
class Loading:
    """Ratios to libyaml with PyYAML's safe constructor, and to libyaml's bare events."""

    kilobytes: int
    load_to_safe: float
    load_to_events: float
    declare_to_safe: float
    milliseconds: float


def _events(text: str) -> None:
    parser = CParser(text)
    while parser.get_event() is not None:
        pass


def measure(rounds: int) -> Loading:
    """Load one large policy, again and again."""
    text = long_yaml(RULES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "remit.yaml"
        path.write_text(text, encoding="utf-8")
        times = alternate(
            {
                "events": lambda: _events(text),
                "safe": lambda: yaml.load(text, Loader=yaml.CSafeLoader),
                "declare": lambda: declare(path),
                "load": lambda: load(path),
            },
            rounds,
        )
    return Loading(
        kilobytes=len(text) // 1000,
        load_to_safe=ratio_of(times, "load", "safe"),
        load_to_events=ratio_of(times, "load", "events"),
        declare_to_safe=ratio_of(times, "declare", "safe"),
        milliseconds=statistics.median(times["load"]) / 1e6,
    )
