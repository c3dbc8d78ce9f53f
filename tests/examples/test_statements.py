"""Each example says of every statement of its document where it is enforced, or why it can't be; a test tries each."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from tests.examples.kit import EXAMPLES

MODULES = {
    "forge-pipeline": "test_forge_statements",
    "srs-writer": "test_srs_statements",
    "maverick": "test_maverick_statements",
    "nexus": "test_nexus_statements",
    "cortex": "test_cortex_statements",
}
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
UNENFORCEABLE = "Not enforceable, because "


def rows(name: str) -> dict[int, str]:
    text = (EXAMPLES / name / "README.md").read_text("utf-8")
    return {int(number): where for number, _, where in ROW.findall(text)}


def tried(name: str) -> set[int]:
    found = vars(import_module(f"tests.examples.{MODULES[name]}"))
    return {int(match[1]) for test in found if (match := re.match(r"test_(\d\d)_", test))}


@pytest.mark.parametrize("name", MODULES)
def test_every_statement_is_tried_or_says_why_it_cant_be_enforced(name):
    found = rows(name)
    assert list(found) == list(range(1, len(found) + 1))
    unenforceable = {number for number, where in found.items() if where.startswith(UNENFORCEABLE)}
    assert all(len(found[number]) > len(UNENFORCEABLE) + 15 for number in unenforceable)
    assert tried(name) == set(found) - unenforceable


def test_all_five_documents_are_gone_through():
    assert {name: len(rows(name)) for name in MODULES} == {
        "forge-pipeline": 22,
        "srs-writer": 24,
        "maverick": 13,
        "nexus": 21,
        "cortex": 15,
    }
    assert sum(len(rows(name)) for name in MODULES) == 95
