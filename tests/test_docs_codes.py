"""Every code that a person can meet has its line on docs/codes.md, and no line there is of a code that is gone.

A code is a word with hyphens in the source that isn't named below as something else, or a single word where only a
code can stand. So a new code fails here until it has its line, and so does a new word with hyphens until it is sorted.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "remit"
PAGE = ROOT / "docs" / "codes.md"
WORDS = re.compile(r"(?!remit-)[a-z][a-z0-9]*(?:-[a-z0-9]+)+")  # Remit's own programs and threads begin with its name
WORD = re.compile(r"[a-z]+")
PART = re.compile(r"-?[a-z]+(?:-[a-z]+)*-?")
LINE = re.compile(r"^\| `([a-z0-9-]+)` \| (.+?) \| (.+?) \|$", re.MULTILINE)

PLACES = {
    "Problem": 0,
    "NotUnderstood": 0,
    "Fault": 0,
    "LedgerFault": 0,
    "_refused": 0,
    "Refused": 0,
    "deny": 0,
    "_fault": 0,
}
PLACES |= {"fail": 1, "Finding": 1, "AskReason": 1, "refusal": 1, "Shadow": 1, "_refusal": 2, "Parsed": 2, "_unread": 2}
"""Which argument of these is a code."""

MADE = {
    "unknown-": {"unknown-agent", "unknown-approval", "unknown-capsule", "unknown-incident", "unknown-tool"},
    "missing-": {"missing-dialect"},
    "bad-": {"bad-request", "bad-answer"},
    "-malformed": {"checkpoint-malformed", "anchor-malformed"},
    "-signature": {"checkpoint-signature", "anchor-signature"},
    "shorter-than-": {"shorter-than-checkpoint", "shorter-than-anchor"},
}
"""Codes that the source puts together, by the part that it has."""

LANGUAGES = ("languages/", "confine/messages.py", "confine/addresses.py")
"""What holds the words of others: options, commands, headers, kinds of networks."""

NO_CODES = {
    "hosts and teams": {
        *("claude-code", "copilot-cli", "gemini-cli", "backend-python-specialist", "devops-specialist", "main-session"),
        *("site-packages", "git-read"),
    },
    "commands and options": {
        *("cat-file", "check-proof", "cherry-pick", "commit-tree", "diff-files", "diff-index", "diff-tree", "dry-run"),
        *("for-each-ref", "hash-object", "ls-files", "ls-tree", "merge-base", "pre-commit", "rev-list", "rev-parse"),
        *("extend-exclude", "extend-ignore", "extend-per-file-ignores", "extend-select", "update-ref", "who-can"),
        *("commit-graph", "multi-pack-index", "update-index", "verify-pack", "show-index"),
        *("fast-import", "symbolic-ref"),
        *("post-index-change", "pre-auto-gc", "reference-transaction"),
    },
    "settings and values of other programs": {
        *("allowed-tools", "disallowed-tools", "danger-full-access", "read-only", "workspace-write", "date-time"),
        *(
            "rebase-apply",
            "rebase-merge",
            "spec-fixtures",
            "test-data",
            "latin-1",
            "utf-16",
            "utf-16-be",
            "utf-8",
            "utf-8-sig",
        ),
    },
    "what a decision obliges to, and what became of a call": {
        *("create-exclusively", "use-resolved-path", "not-run", "only-broken", "not-anticipated", "proved"),
    },
    "what an entry of the ledger is about": {
        *("clock-repaired", "in-doubt", "jumped-forwards", "not-entered", "offer-expired", "offer-moved"),
        *("unsafe-no-activation", "and-more"),
    },
    "parts of the format, and of /proc": {
        "dot-command",
        "path-scope",
        "shell-scope",
        "sql-scope",
        "client-file",
    },
}


@cache
def source() -> list[ast.AST]:
    """What could hold a code, of every file."""
    return [
        node
        for file in sorted(SOURCE.rglob("*.py"))
        if not file.relative_to(SOURCE).as_posix().startswith(LANGUAGES)
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, (ast.Constant, ast.keyword, ast.ClassDef, ast.Call))
    ]


def texts(node: ast.AST | None) -> Iterator[str]:
    """The texts that an expression can be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from texts(node.body)
        yield from texts(node.orelse)


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def single_words() -> set[str]:
    """Where only a code can stand: `code=`, a class's `code`, the arguments above."""
    found: set[str] = set()
    for node in source():
        if isinstance(node, ast.keyword) and node.arg == "code":
            found.update(texts(node.value))
        elif isinstance(node, ast.ClassDef):
            for line in node.body:
                if isinstance(line, ast.Assign) and [getattr(one, "id", "") for one in line.targets] == ["code"]:
                    found.update(texts(line.value))
        elif isinstance(node, ast.Call) and (place := PLACES.get(called(node), -1)) in range(len(node.args)):
            found.update(texts(node.args[place]))
    catalog = (ROOT / "src/remit/catalog/findings.yaml").read_text("utf-8")
    found.update(re.findall(r"^([a-z-]+)(?:/[a-z0-9-]+)?:$", catalog, re.MULTILINE))
    return {word for word in found if WORD.fullmatch(word) or "-" in word}


def hyphenated() -> set[str]:
    return {
        node.value
        for node in source()
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and WORDS.fullmatch(node.value)
    }


def put_together() -> set[str]:
    """The parts of codes that are not whole in the source."""
    found: set[object] = set()
    for node in source():
        if isinstance(node, ast.keyword) and node.arg == "code" and isinstance(node.value, ast.JoinedStr):
            found.update(part.value for part in node.value.values if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Call) and (place := PLACES.get(called(node), -1)) in range(len(node.args)):
            given = node.args[place]
            if isinstance(given, ast.JoinedStr):
                found.update(part.value for part in given.values if isinstance(part, ast.Constant))
    return {part for part in map(str, found) if PART.fullmatch(part)}


def codes() -> set[str]:
    made = set().union(*MADE.values())
    return (hyphenated() | single_words() | made | {"allowed"}) - set().union(*NO_CODES.values())


def on_the_page() -> list[str]:
    return [code for code, _, _ in LINE.findall(PAGE.read_text("utf-8"))]


def test_every_code_has_its_line() -> None:
    missing = sorted(codes() - set(on_the_page()))
    assert missing == [], "each needs a line in docs/codes.md, or a place among NO_CODES"


def test_every_line_has_its_code() -> None:
    assert sorted(set(on_the_page()) - codes()) == []


def test_no_code_has_two_lines() -> None:
    found = on_the_page()
    assert len(found) > 300
    assert sorted(found) == sorted(set(found))


def test_codes_that_are_put_together_are_known() -> None:
    assert put_together() == set(MADE)


def test_what_is_no_code_is_still_there() -> None:
    everything = {node.value for node in source() if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    for words in NO_CODES.values():
        assert sorted(words - everything) == []


def test_the_table_has_no_line_that_is_not_read() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert len(rows) == len(on_the_page())
