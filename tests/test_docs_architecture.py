"""docs/architecture.md and docs/glossary.md say what is there: folders, files, how long they are, and names.

python -m tests.test_docs_architecture          # writes the counts of the reading guide anew
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.test_architecture import LAYERS

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "remit"
PAGE = ROOT / "docs" / "architecture.md"
GLOSSARY = ROOT / "docs" / "glossary.md"

ROW = re.compile(r"^\| `([\w./]+)` \| ([\d,]+) \|", re.MULTILINE)
PART = re.compile(r"^\*\*(.+): ([\d,]+) lines\*\*$", re.MULTILINE)
WHOLE = re.compile(r"^### (.+): ([\d,]+) lines in (\d+) files$", re.MULTILINE)
SLACK = 0.1
"""A page that is off by a tenth still tells how much there is to read; and ten lines are nothing."""


def section(name: str) -> str:
    """The part of the page below a heading of the second level."""
    return PAGE.read_text("utf-8").partition(f"\n## {name}\n")[2].partition("\n## ")[0]


def modules(path: str) -> list[Path]:
    found = sorted((SRC / path).rglob("*.py")) if path.endswith("/") else [SRC / path]
    assert found, path
    return found


def count(path: str) -> int:
    return sum(len(file.read_text("utf-8").splitlines()) for file in modules(path))


def recounted(guide: str) -> str:
    """The same guide with the counts of today."""
    guide = ROW.sub(lambda row: f"| `{row[1]}` | {count(row[1]):,} |", guide)
    parts = re.split(r"(?m)^(?=\*\*)", guide)
    guide = "".join(PART.sub(lambda head, part=part: f"**{head[1]}: {_sum(part):,} lines**", part) for part in parts)
    wholes = re.split(r"(?m)^(?=### )", guide)
    return "".join(WHOLE.sub(lambda head, whole=whole: _heading(head[1], whole), whole) for whole in wholes)


def _sum(text: str) -> int:
    return sum(int(row[2].replace(",", "")) for row in ROW.finditer(text))


def _heading(name: str, whole: str) -> str:
    files = sum(len(modules(row[1])) for row in ROW.finditer(whole))
    return f"### {name}: {_sum(whole):,} lines in {files} files"


def numbers(guide: str) -> list[tuple[str, int]]:
    found = [*ROW.findall(guide), *PART.findall(guide), *(one[:2] for one in WHOLE.findall(guide))]
    return [(name, int(lines.replace(",", ""))) for name, lines in found]


def test_the_reading_guide_counts_right() -> None:
    guide = section("Reading guide")
    said, true = numbers(guide), numbers(recounted(guide))
    assert len(said) > 80
    off = [(one, now) for one, now in zip(said, true, strict=True) if abs(one[1] - now[1]) > max(10, SLACK * now[1])]
    assert off == [], "run: .venv/bin/python -m tests.test_docs_architecture"


def test_the_reading_guide_names_each_file_once() -> None:
    """And leaves out nothing of the folders that a decision rests on, but for what only makes words."""
    named = [file for row in ROW.findall(section("Reading guide")) for file in modules(row[0])]
    assert len(named) == len(set(named))
    words = {"preview", "reasons", "selection"}
    rest = {file for folder in ("decide", "scopes", "languages") for file in modules(f"{folder}/")} - set(named)
    assert {file.stem for file in rest if file.stem != "__init__"} <= words


def test_every_place_to_look_exists() -> None:
    named = re.findall(r"`([a-z_]+/[\w./]*)`", section("Where do I look") + section("A new host"))
    assert len(named) > 25
    assert [one for one in named if "NAME" not in one and not any((top / one).exists() for top in (SRC, ROOT))] == []


def test_the_first_place_to_look_has_the_answer() -> None:
    """The questions of a newcomer: the first file that the table names, and what to find there."""
    answers = [
        ("adapters/hosts/interface.py", r"^class Host\b"),
        ("scopes/interface.py", r"^class Kind\b"),
        ("decide/engine.py", r"^def procedure\b"),
        ("enforce/attempt.py", r'"store-unavailable"'),
        ("enforce/attempt.py", r'"ledger-unavailable"'),
        ("enforce/in_force.py", r"^class InForce\b"),
    ]
    page = section("Where do I look")
    for path, answer in answers:
        assert f"`{path}`" in page
        assert re.search(answer, (SRC / path).read_text("utf-8"), re.MULTILINE), (path, answer)


def test_the_table_of_folders_is_the_one_that_is_tested() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .+ \| (.+) \|$", section("Folders"), re.MULTILINE)
    said = {name: set() if imports == "–" else set(imports.split(", ")) for name, imports in rows[: len(LAYERS)]}
    assert list(said) == list(LAYERS)
    wide = {
        "testing": {"everything but adapters", "demo", "runners", "service and cli"},
        "service": {"everything but cli"},
        "cli": {"everything"},
    }
    for name, imports in said.items():
        assert imports == wide.get(name, LAYERS[name]), name


def test_the_words_of_the_glossary_are_used() -> None:
    """A word that the code does not use is not a word of this project."""
    page = GLOSSARY.read_text("utf-8")
    heads = re.findall(r"^((?:\*\*[^*]+\*\*(?:, )?)+):", page, re.MULTILINE)
    words = [word.strip("*").lower() for head in heads for word in head.split(", ")]
    assert len(words) > 50
    code = " ".join(path.read_text("utf-8").lower() for path in SRC.rglob("*.py"))
    patterns = {word: r"\b" + re.sub("[ -]", "[ _-]?", word) for word in words}
    assert [word for word, pattern in patterns.items() if not re.search(pattern, code)] == []


def test_the_names_of_the_glossary_are_in_the_code() -> None:
    names = re.findall(r"^\| `(\w+)` \| `([\w/]+\.py)` \|", GLOSSARY.read_text("utf-8"), re.MULTILINE)
    assert len(names) > 12
    for name, path in names:
        text = (SRC / path).read_text("utf-8")
        defined = re.search(rf"^(class|def) {name}\b", text, re.MULTILINE)
        assert defined, f"{name} is not in {path}"


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    old = section("Reading guide")
    PAGE.write_text(text.replace(old, recounted(old)), "utf-8")
