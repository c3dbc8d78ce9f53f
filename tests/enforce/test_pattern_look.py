"""A pattern that a command changes asks only if a file with instructions is among its matches on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.enforce.paths import facts_at, look_up
from remit.model.call import Call

RULES = build_rulebook({"remit": 1, "use": ["claude-code"], "agents": {"a": {"may": ["Bash"]}}})


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("rm docs/*.md", "allowed"),
        ("sed -i s/a/b/ docs/*.md", "allowed"),
        ("prettier --write 'docs/**/*.md'", "allowed"),
        ("rm none/*.md", "allowed"),
        ("sed -i s/a/b/ sub/*.md", "target-unknown"),
        ("rm */*.md", "protected"),  # of hidden folders too
        ("sed -i s/a/b/ lower/*.md", "target-unknown"),  # folded, as the disk may be
        ("mv docs/a.md docs/CLAUDE.md; sed -i s/x/y/ docs/*.md", "protected"),
        ("cd sub; rm *.md", "target-unknown"),
    ],
)
def test_the_disk_tells(tmp_path: Path, command: str, code: str) -> None:
    root = tmp_path / "root"
    for name in ("docs/a.md", "sub/CLAUDE.md", "sub/b.md", "lower/claude.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    call = Call("a", "Bash", {"command": command})
    assert decide(RULES, call, look_up(RULES, call, facts_at(root, tmp_path / "state"))).code == code


def test_without_a_look_it_asks() -> None:
    from remit.model.facts import Facts

    call = Call("a", "Bash", {"command": "rm docs/*.md"})
    assert decide(RULES, call, Facts(root="/w")).code == "target-unknown"
