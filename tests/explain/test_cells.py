"""Cells say what is written, and never less than what `decide` would let through."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.analyze.candidates import candidates
from remit.compile import load_rulebook
from remit.decide import decide
from remit.decide.grid import grid_of
from remit.explain.cells import ALLOWED, ASKED, DENIED, SCOPED, matrix_cell
from remit.explain.matrix import callers_of, cell_for, make_matrix, tools_of
from remit.model.rulebook import Rulebook
from tests.drawn import rulebook_of
from tests.explain.kit import POLICY

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/remit.yaml"))
EARLY = "0001-01-01T00:00:00Z"
# What a single call can meet although the cell is ✅: what it touches, not what is written about the tool.
BY_ARGUMENT = {"protected", "tier-asks", "data-tier", "delegation-not-allowed", "reserved", "outside-root", "bad-path"}


def book(tmp_path: Path, text: str) -> Rulebook:
    path = tmp_path / "remit.yaml"
    path.write_text(text, "utf-8")
    return load_rulebook(path)


def test_every_kind_of_cell(tmp_path: Path):
    matrix = make_matrix(book(tmp_path, POLICY), callers=["reader", "writer", "boss", "keeper", "Shipper"])
    symbols = {tool: "".join(cell.symbol for cell in row.values()) for tool, row in matrix.cells.items()}
    assert symbols == {
        "read": "✅✅🔒❌❌",
        "write": "❌🔒✋❌❌",
        "fetch": "❌❌✅❌❌",
        "term": "❌🔒✅❌❌",
        "ship": "❌❌❌❌✋",
        "wipe": "❌❌❌✋❌",
        "log": "✅✅✅❌❌",
    }


def test_what_a_cell_says(tmp_path: Path):
    rulebook = book(tmp_path, POLICY)
    said = {
        (caller, tool): cell_for(rulebook, caller, tool).scopes or cell_for(rulebook, caller, tool).why
        for caller, tool in [
            ("writer", "write"),
            ("writer", "term"),
            ("writer", "fetch"),
            ("boss", "read"),
            ("boss", "write"),
            ("boss", "ship"),
            ("keeper", "wipe"),
            ("keeper", "read"),
            ("reader", "wipe"),
            ("Shipper", "ship"),
            ("nobody", "read"),
        ]
    }
    assert said == {
        ("writer", "write"): ("path docs/**",),
        ("writer", "term"): ("shell git, sqlite3 (of x.db)", "not effect network"),
        ("writer", "fetch"): "may not: effect network",
        ("boss", "read"): ("not path secrets/**",),
        ("boss", "write"): ("ask human: path docs/**",),
        ("boss", "ship"): "reserved to Shipper",
        ("keeper", "wipe"): ("ask human: confirmed each time",),
        ("keeper", "read"): "no rule of keeper permits it",
        ("reader", "wipe"): "accessible_by does not name reader",
        ("Shipper", "ship"): ("ask human: tier 4 or higher",),
        ("nobody", "read"): "not declared",
    }


def test_a_cell_names_its_rules(tmp_path: Path):
    cell = cell_for(book(tmp_path, POLICY), "boss", "write")
    assert cell.rules == ("remit.yaml:32:11", "remit.yaml:33:17")


PATHS = {"find": {"args": {"dir": "path"}, "optional": ["dir"], "does": {"read": "dir"}}}
SWEEP = {"sweep": {"does": {"read": "**"}}}
BELOW = {"list": {"args": {"dir": "path"}, "does": {"read": {"below": "dir"}, "write": "dir"}}}
NET = {"get": {"args": {"url": "url"}, "does": {"network": "url"}}}
SKILL = {"use": {"args": {"name": "skill"}, "does": "nothing"}}
HAND = {"hand": {"args": {"to": "agent"}, "does": {"delegate": "to"}}}
PUT = {"put": {"args": {"file": "path"}, "does": {"write": "file"}}}
RUN = {"run": {"args": {"command": "shell"}, "tier": 2}}
LS = {"run": {"shell": {"run": ["ls"]}}}


@pytest.mark.parametrize(
    ("tools", "record", "more", "symbol"),
    [
        pytest.param(PATHS, {"may": [{"effect": "read"}]}, {}, SCOPED, id="without its argument it has no effect"),
        pytest.param(SWEEP, {"may": [{"effect": "read"}]}, {}, ALLOWED, id="an effect that is all of the tool"),
        pytest.param(PUT, {"may": [{"effect": "read"}]}, {}, DENIED, id="another effect"),
        pytest.param(BELOW, {"may": [{"effect": "read"}, {"effect": "write"}]}, {}, ALLOWED, id="two effects"),
        pytest.param(BELOW, {"may": [{"effect": "read"}]}, {}, DENIED, id="one of two effects"),
        pytest.param(SWEEP, {"may": ["sweep"], "may_not": [{"path": "secrets/**"}]}, {}, DENIED, id="it sweeps there"),
        pytest.param(NET, {"may": ["get"], "may_not": [{"path": "secrets/**"}]}, {}, ALLOWED, id="no path to forbid"),
        pytest.param(NET, {"may": ["get"], "may_not": [{"effect": "write"}]}, {}, ALLOWED, id="it doesn't write"),
        pytest.param(
            NET,
            {"may": ["get"], "may_not": [{"effect": "network", "except": {"url": "https://a.example/**"}}]},
            {},
            SCOPED,
            id="an exception",
        ),
        pytest.param(NET, {"may": [], "must_ask": [{"path": "x"}]}, {}, DENIED, id="a question about something else"),
        pytest.param(NET, {"may": ["get"], "apis": []}, {}, DENIED, id="no apis"),
        pytest.param(NET, {"may": ["get"], "apis": ["https://a.example/**"]}, {}, SCOPED, id="some apis"),
        pytest.param(SKILL, {"may": ["use"], "skills": []}, {}, DENIED, id="no skills"),
        pytest.param(SKILL, {"may": ["use"], "skills": ["x"]}, {}, SCOPED, id="some skills"),
        pytest.param(HAND, {"may": ["hand"]}, {}, DENIED, id="nobody to hand work to"),
        pytest.param(HAND, {"may": ["hand"], "delegates_to": ["b"]}, {}, ALLOWED, id="somebody to hand work to"),
        pytest.param(PUT, {"may": ["put"], "locks": {"may": []}}, {}, DENIED, id="everything locked"),
        pytest.param(PUT, {"may": ["put"], "locks": {"may": ["src/**"]}}, {}, SCOPED, id="locks"),
        pytest.param(PUT, {"may": ["put"], "enabled": False}, {}, DENIED, id="disabled"),
        pytest.param(PUT, {"may": ["put"]}, {"tiers": {"1": "deny"}}, ASKED, id="higher tiers are asked about"),
        pytest.param(
            PUT,
            {"may": ["put"]},
            {"tiers": dict.fromkeys("1234", "deny")},
            DENIED,
            id="every tier that it can have is denied",
        ),
        pytest.param(
            {"sweep": {"does": {"write": "**"}}}, {"may": ["sweep"]}, {}, DENIED, id="it would write protected paths"
        ),
        pytest.param(
            SWEEP,
            {"may": ["sweep"], "data_tiers": [0]},
            {"labels": {"data": {"3": {"path": "secrets/**"}}}},
            DENIED,
            id="it would read data of a tier that is closed",
        ),
        pytest.param(
            SWEEP,
            {"may": ["sweep"], "data_tiers": [0], "data_tiers_with_grant": [3]},
            {"labels": {"data": {"3": {"path": "secrets/**"}}}},
            ALLOWED,
            id="a capsule can grant the data tier",
        ),
        pytest.param(RUN, {"may": ["run"]}, {}, ALLOWED, id="any command"),
        pytest.param(RUN, {"may": [LS]}, {}, SCOPED, id="some commands"),
        pytest.param(RUN, {"may": []}, {}, DENIED, id="no command"),
        pytest.param(RUN, {"may": [{"effect": "read"}]}, {}, SCOPED, id="commands with an effect"),
        pytest.param(RUN, {"may": ["run"], "may_not": [{"effect": "network"}]}, {}, SCOPED, id="not every effect"),
        pytest.param(RUN, {"may": ["run"], "may_not": [{"path": "secrets/**"}]}, {}, SCOPED, id="not every path"),
        pytest.param(RUN, {"may": ["run"], "may_not": [LS]}, {}, SCOPED, id="not every command"),
        pytest.param(RUN, {"may": ["run"], "may_not": [{"agent": "b"}]}, {}, ALLOWED, id="commands name no agents"),
        pytest.param(RUN, {"may": ["run"], "may_not": ["run"]}, {}, DENIED, id="no command, by a prohibition"),
        pytest.param(RUN, {"may": ["run"], "locks": {"may": ["src/**"]}}, {}, SCOPED, id="commands under locks"),
        pytest.param(RUN, {"may": ["run"], "locks": {"may": []}}, {}, SCOPED, id="commands that only read"),
        pytest.param(RUN, {"may": ["run"], "apis": ["https://a.example/**"]}, {}, SCOPED, id="commands with apis"),
        pytest.param(RUN, {"may": ["run"], "apis": []}, {}, SCOPED, id="commands that stay at home"),
        pytest.param(RUN, {"may": ["run"], "data_tiers": [0]}, {}, SCOPED, id="only commands that are understood"),
        pytest.param(RUN, {"may": ["run"], "must_ask": [{"effect": "network"}]}, {}, ASKED, id="some commands ask"),
        pytest.param(
            {"run": {"args": {"command": "shell"}}},
            {"may": ["run"]},
            {"tiers": {"2": {"ask": "human"}}},
            ASKED,
            id="every command asks",
        ),
    ],
)
def test_a_cell_is_effective(tools: dict, record: dict, more: dict, symbol: str):
    policy = {"remit": 1, "tools": tools, "agents": {"a": record, "b": {"may": []}}, **more}
    rulebook = rulebook_of(policy)
    assert cell_for(rulebook, "a", next(iter(tools))).symbol == symbol


def test_a_standing_grant_counts_until_its_end():
    grant = {"agent": "a", "may": ["put"], "adr": "ADR-1", "approved_by": "x", "until": "2027-01-01"}
    policy = {"remit": 1, "tools": PUT, "agents": {"a": {"may": []}}, "grants": [grant]}
    rulebook = rulebook_of(policy)
    cells = [cell_for(rulebook, "a", "put", now) for now in (None, "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z")]
    assert [cell.symbol for cell in cells] == [DENIED, SCOPED, DENIED]
    assert cells[1].scopes == ("(granted until 2027-01-01T00:00:00Z)",)


def test_observing_is_said():
    policy = {
        "remit": 1,
        "tools": PUT,
        "agents": {"a": {"may": [], "enforce": {"observe": {"until": "2027-01-01"}}}, "b": {"may": []}},
    }
    rulebook = rulebook_of(policy)
    said = "a is only observed until 2027-01-01T00:00:00Z: what is denied here is let through"
    assert make_matrix(rulebook, now="2026-12-01T00:00:00Z").notes == (said,)
    assert make_matrix(rulebook, now="2027-12-01T00:00:00Z").notes == ()


@pytest.mark.parametrize("path", [*EXAMPLES, None], ids=lambda path: path.parent.name if path else "small")
def test_cells_agree_with_decisions(path: Path | None, tmp_path: Path):
    """❌ is never let through, and ✅ is refused only for what a single call touches."""
    rulebook = load_rulebook(path) if path is not None else book(tmp_path, POLICY)
    grid = grid_of(rulebook)
    tried = 0
    for name in callers_of(rulebook, everyone=True):
        row = grid.row(name)
        for tool in [row.tool(tool) for tool in tools_of(rulebook)] if row is not None else []:
            if row is None or tool is None:
                continue
            cell = grid.cell(row, tool)
            shown = matrix_cell(cell, EARLY)
            for call, facts in candidates(cell):
                decision = decide(rulebook, call, facts)
                where = (name, tool.name, call.args, decision.code)
                tried += 1
                if shown.symbol == DENIED:
                    assert decision.verdict.word == "deny", where
                elif shown.symbol == ALLOWED:
                    assert decision.allowed or decision.code in BY_ARGUMENT, where
                elif shown.symbol == ASKED:
                    assert shown.scopes, where
                elif not decision.allowed:
                    assert shown.symbol != SCOPED or shown.scopes, where
    assert tried > 20
