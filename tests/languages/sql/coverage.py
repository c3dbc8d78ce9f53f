"""How much of a folder of `.sql` files is understood: `python -m tests.languages.sql.coverage DIALECT FOLDER`."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from remit.languages.sql.understand import understand_sql


def reasons(text: str, dialect: str) -> list[str]:
    """Why statements of a text are not understood; empty if all are."""
    found = understand_sql(text, dialect)
    if found.problem is not None:
        return [found.problem]
    unknown = [reason for statement in found.statements for reason in statement.unknown]
    return unknown + [f"the function {name}" for statement in found.statements for name in statement.strange]


def main() -> None:
    dialect, folder = sys.argv[1:]
    counts: Counter[str] = Counter()
    files = sorted(Path(folder).rglob("*.sql"))
    understood = 0
    for file in files:
        why = reasons(file.read_text("utf-8", "replace"), dialect)
        understood += not why
        counts.update(set(why))
    print(f"{dialect}: {understood} of {len(files)} files are understood")
    for reason, number in counts.most_common(20):
        print(f"  {number:4} {reason}")


if __name__ == "__main__":
    main()
