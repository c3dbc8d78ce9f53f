"""What a database does with random texts, beside what we understand of them."""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, Protocol

from remit.languages.sql.statement import VERBS, SqlStatement, SqlUnderstanding
from remit.languages.sql.understand import understand_sql
from tests.languages.sql.generator import Generator
from tests.languages.sql.mutator import mutated

_ROWID = frozenset(("rowid", "oid", "_rowid_"))


class Touch(NamedTuple):
    """One thing that the database did, or would do."""

    verb: str
    """`select`, `insert`, `update`, `delete`, `write` (one of those three), `ddl`; `call` of a function, `pragma`,
    another `verb`; `catalog` is a read of the system's own tables."""
    name: str
    column: str = ""
    """Where the database tells it."""


class Truth(NamedTuple):
    """What the database says of a text."""

    pieces: tuple[frozenset[Touch], ...] = ()
    """For each statement that it accepts, up to the first that it doesn't; or all of them in one, if it can't tell."""
    valid: bool = False
    """It accepts the whole text."""
    statements: int | None = None
    """How many statements there are, if it can tell."""
    error: str = ""


class Oracle(Protocol):
    """A database that can be asked."""

    dialect: str

    def look(self, text: str) -> Truth: ...


class Finding(NamedTuple):
    """A text that does more than we understand."""

    text: str
    why: str


class Tally:
    """What came out of many texts."""

    def __init__(self) -> None:
        self.texts = self.valid = self.understood = self.both = 0
        self.refused: Counter[str] = Counter()
        self.examples: dict[str, str] = {}
        self.findings: list[Finding] = []

    def report(self) -> str:
        rate = 100 * (self.valid - self.both) / max(1, self.valid)
        lines = [
            f"{self.texts} texts: {self.valid} valid for the database, {self.understood} understood, {self.both} both",
            f"valid but not understood: {rate:.1f} %",
        ]
        for reason, number in self.refused.most_common(15):
            lines.append(f"  {number:5} {reason}    {self.examples[reason][:160]!r}")
        lines.append(f"{len(self.findings)} differences")
        lines += [f"  {finding.why}\n      {finding.text!r}" for finding in self.findings[:40]]
        return "\n".join(lines)


def problems(found: SqlUnderstanding) -> list[str]:
    """Why a text is not understood; empty if it is, and some scope could admit it."""
    if found.problem is not None:
        return [found.problem]
    why = [reason for statement in found.statements for reason in statement.unknown]
    why += [f"the function {name}" for statement in found.statements for name in statement.strange]
    why += [f"the verb {each.verb}" for each in found.statements if not {each.verb, *each.verbs} <= set(VERBS)]
    return why + [f"reaches {reach.kind}" for statement in found.statements for reach in statement.reaches]


def differences(found: SqlUnderstanding, truth: Truth) -> list[str]:
    """What the database does and we don't see, of a text that we say we understand."""
    if problems(found):
        return []
    if truth.valid and truth.statements is not None and truth.statements != len(found.statements):
        return [f"{truth.statements} statements, not {len(found.statements)}"]
    aligned = truth.statements is not None and len(truth.pieces) == truth.statements == len(found.statements)
    why: list[str] = []
    for number, piece in enumerate(truth.pieces):
        statements = found.statements[number : number + 1] if aligned else found.statements
        for touch in sorted(piece):
            if not any(_covers(statement, touch) for statement in statements):
                why.append(f"{touch.verb} {touch.name} {touch.column}".strip())
    return why


def _covers(statement: SqlStatement, touch: Touch) -> bool:
    if touch.verb == "call":
        return touch.name in statement.functions
    if touch.verb == "catalog":  # its views read other parts of it
        return any(use.table.startswith(("pg_", "information_schema.")) for use in statement.uses)
    if touch.verb == "pragma":
        return touch.name in statement.pragmas
    if touch.verb == "verb":
        return touch.name in {statement.verb, *statement.verbs}
    if touch.verb == "select" and touch.name in statement.functions:
        return True
    if touch.verb == "select" and touch.name.startswith("pragma_"):
        return touch.name.removeprefix("pragma_") in statement.pragmas
    uses = [use for use in statement.uses if use.table in (touch.name, "*") and _allows(statement, use.verb, touch)]
    columns = {column for use in uses for column in use.columns or ()} | _ROWID
    told = all(use.columns is not None and use.verb == touch.verb for use in uses)
    return bool(uses) and (not touch.column or not told or touch.column in columns)


def _allows(statement: SqlStatement, verb: str, touch: Touch) -> bool:
    changes = ("insert", "update", "delete", "merge")
    if touch.verb == "select":
        return verb != "insert" or statement.returning or statement.conflict == "update"
    if touch.verb == "write":
        return verb in changes or (verb == "ddl" and statement.drops)
    if touch.verb == "update" and statement.conflict == "update" and verb == "insert":
        return True
    if touch.verb == "delete" and statement.drops and verb == "ddl":
        return True
    if touch.verb == "ddl":
        return verb == "ddl" or (verb == "delete" and statement.drops)
    return verb in (touch.verb, "merge")


def texts(seed: int, count: int, dialect: str) -> list[str]:
    """Two of five are mutated."""
    made = []
    for number in range(count):
        generator = Generator(seed * 1_000_003 + number, dialect)
        text = generator.text()
        made.append(mutated(text, generator.random) if number % 5 >= 3 else text)
    return made


def fuzz(oracle: Oracle, seed: int, count: int, progress: Callable[[int, Tally], None] | None = None) -> Tally:
    tally = Tally()
    for number, text in enumerate(texts(seed, count, oracle.dialect), 1):
        examine(oracle, text, tally)
        if progress is not None and number % 500 == 0:
            progress(number, tally)
    return tally


def examine(oracle: Oracle, text: str, tally: Tally) -> None:
    truth = oracle.look(text)
    found = understand_sql(text, oracle.dialect)
    reasons = problems(found)
    tally.texts += 1
    tally.valid += truth.valid
    tally.understood += not reasons
    tally.both += truth.valid and not reasons
    if truth.valid and reasons:
        tally.refused[reasons[0]] += 1
        known = tally.examples.get(reasons[0], text)
        tally.examples[reasons[0]] = min(known, text, key=len)
    why = differences(found, truth)
    if why:
        kept = set(why)

        def differs(shorter: str) -> bool:
            return not kept.isdisjoint(differences(understand_sql(shorter, oracle.dialect), oracle.look(shorter)))

        tally.findings.append(Finding(shrunk(text, differs), "; ".join(why)))


def shrunk(text: str, differs: Callable[[str], bool], tries: int = 600) -> str:
    """A shorter text that still differs: pieces are cut out as long as it does."""
    size = max(1, len(text) // 2)
    while size:
        spot = 0
        while spot < len(text) and tries:
            shorter = text[:spot] + text[spot + size :]
            tries -= 1
            if shorter.strip() and differs(shorter):
                text = shorter
            else:
                spot += size
        size //= 2
    return text


def main(oracle: Oracle) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))  # noqa: S311
    options = parser.parse_args()

    def progress(number: int, tally: Tally) -> None:
        print(f"\r{number}/{options.count}, {len(tally.findings)} differences", end="", file=sys.stderr, flush=True)

    tally = fuzz(oracle, options.seed, options.count, progress)
    print(f"\n{oracle.dialect}, seed {options.seed}: {tally.report()}")
    return 1 if tally.findings else 0
