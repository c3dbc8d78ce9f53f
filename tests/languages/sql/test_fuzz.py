"""Random SQL against real databases: what they do must be among what we understand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from remit.languages.sql.understand import understand_sql
from tests.languages.sql.fuzz import Finding, Tally, examine, fuzz, problems, shrunk, texts
from tests.languages.sql.fuzz_postgres import Pg
from tests.languages.sql.fuzz_sqlite import Sqlite, split
from tests.postgres import Postgres

CASES = yaml.safe_load((Path(__file__).parent / "fuzz_cases.yaml").read_text())


@pytest.fixture(scope="module")
def sqlite() -> Iterator[Sqlite]:
    made = Sqlite()
    yield made
    made.close()


@pytest.fixture(scope="module")
def pg(postgres: Postgres) -> Iterator[Pg]:
    made = Pg(postgres)
    yield made
    made.close()


def check(oracle: Sqlite | Pg, seed: int, count: int, most_refused: float) -> None:
    tally = fuzz(oracle, seed, count)
    assert tally.findings == [], tally.report()
    assert tally.both > tally.texts / 4, tally.report()  # otherwise it shows little
    assert tally.valid - tally.both < most_refused * tally.valid, tally.report()


def test_sqlite(sqlite):
    check(sqlite, 101, 400, 0.15)


def test_postgres(pg):
    check(pg, 102, 400, 0.25)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_sqlite_long(sqlite, seed):
    check(sqlite, 1000 + seed, 3000, 0.15)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_postgres_long(pg, seed):
    check(pg, 2000 + seed, 3000, 0.25)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:60])
def test_cases(case, request):
    found = understand_sql(case["text"], case["dialect"])
    if "uses" not in case:
        assert problems(found)
        return
    assert problems(found) == []
    uses = [use for statement in found.statements for use in statement.uses]
    for wanted in case["uses"]:
        verb, table = wanted.partition(":")[0].split(" ", 1)
        columns = {name.strip() for name in wanted.partition(":")[2].split(",") if name.strip()}
        fitting = [use for use in uses if (use.verb, use.table) == (verb, table)]
        assert fitting, uses
        assert any(use.columns is None or (columns and columns <= use.columns) for use in fitting), uses


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:60])
def test_databases_agree_with_the_cases(case, request):
    oracle = request.getfixturevalue("sqlite" if case["dialect"] == "sqlite" else "pg")
    tally = Tally()
    examine(oracle, case["text"], tally)
    assert tally.findings == []
    assert tally.valid


def test_the_fuzz_finds_what_is_missing(sqlite, pg, monkeypatch):
    """A reader that overlooks a table is found out, by either database."""

    def careless(text: str, dialect: str):
        found = understand_sql(text, dialect)
        blind = [
            each._replace(uses=tuple(use for use in each.uses if use.table != "people")) for each in found.statements
        ]
        return found._replace(statements=tuple(blind))

    monkeypatch.setattr("tests.languages.sql.fuzz.understand_sql", careless)
    for oracle, why in ((sqlite, "select people id"), (pg, "select people")):
        tally = Tally()
        examine(oracle, "SELECT total FROM orders WHERE person IN (SELECT id FROM people)", tally)
        assert [finding.why for finding in tally.findings] == [why]
        assert "people" in tally.findings[0].text
        tally = Tally()
        examine(oracle, "DELETE FROM people", tally)
        assert isinstance(tally.findings[0], Finding)


def test_texts_are_the_same_for_the_same_seed():
    assert texts(5, 50, "sqlite") == texts(5, 50, "sqlite")
    assert texts(5, 50, "postgres") != texts(6, 50, "postgres")


def test_where_statements_end():
    assert list(split("SELECT ';' ; -- ;\n/* ; */ SELECT 2;;")) == ["SELECT ';' ;", " -- ;\n/* ; */ SELECT 2;"]
    trigger = "CREATE TRIGGER t AFTER INSERT ON log BEGIN SELECT 1; SELECT 2; END;"
    assert list(split(f"{trigger} SELECT 3")) == [trigger, " SELECT 3"]


def test_shrinking_keeps_what_matters():
    assert shrunk("aaaaXaaaa", lambda text: "X" in text) == "X"
