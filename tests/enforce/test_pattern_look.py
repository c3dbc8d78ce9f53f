"""A pattern that a command changes asks only if a file with instructions is among its matches on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.compile import build_rulebook, load_rulebook
from remit.decide import decide
from remit.enforce.paths import facts_at, look_up
from remit.model.call import Call
from remit.model.terms import Verdict

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


@pytest.mark.parametrize(
    ("command", "there", "missing"),
    [
        ("rm -rf build-*", "protected", "allowed"),
        ("mv build-* old/", "protected", "allowed"),
        ("chmod +x build-*", "protected", "allowed"),
        ("rm -rf dist build-*", "protected", "allowed"),
        ("rm rem*", "protected", "protected"),  # the policy itself
        ("rm -rf .cl*", "protected", "protected"),
        ("git checkout main -- 'build-*'", "target-unknown", "target-unknown"),  # brings what is not there yet
        ("rm -rf *", "protected", "protected"),
    ],
)
def test_a_wildcard_that_protects_counts_where_something_is_there(
    tmp_path: Path, command: str, there: str, missing: str
) -> None:
    root = tmp_path / "root"
    (root / "build-1").mkdir(parents=True)
    (root / "docs").mkdir()
    (root / "build-1" / "link").symlink_to(root / "docs")
    (root / "remit.yaml").write_text("remit: 1\nuse: [claude-code]\nagents: {a: {may: [Bash]}}\n")
    rules = load_rulebook(root / "remit.yaml")
    call = Call("a", "Bash", {"command": command})
    assert decide(rules, call, look_up(rules, call, facts_at(root, tmp_path / "state"))).code == missing
    for name in ("build-x.test.yaml", "build-X.TEST.yaml"):  # folded, as the disk may be
        (root / name).write_text("")
        assert decide(rules, call, look_up(rules, call, facts_at(root, tmp_path / "state"))).code == there
        (root / name).unlink()


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("rm src/*.py", "allowed"),
        ("cd src && sed -i s/a/b/ *.py", "allowed"),
        ("ruff format src/*.py", "allowed"),
        ("mv src/*.py docs/", "allowed"),
        ('for f in src/*.py; do sed -i s/a/b/ "$f"; done', "allowed"),
        ("rm lib/*.py", "tier-asks"),  # setup.py is there
        ("sed -i s/a/b/ to/*.py", "tier-asks"),  # a link to it
        ("sed -i s/a/b/ l*/*.py", "tier-asks"),
        ("cp lib/*.py src/; rm src/*.py", "tier-asks"),  # each brings some, or may
        ("mv lib src/n && rm src/n/*.py", "tier-asks"),
        ("make gen; rm src/*.py", "tier-asks"),
        ("git stash pop; rm src/*.py", "tier-asks"),
        ("for x in 1 2; do rm src/*.py; cp lib/x.py lib/setup.py src/; done", "tier-asks"),
        ("cp docs/a.md src/*.py", "tier-asks"),  # what is written may not be there yet
        ("git checkout main -- 'src/*.py'; rm src/*.py", "tier-asks"),
    ],
)
def test_a_label_counts_where_a_file_that_has_it_is_among_the_matches(tmp_path: Path, command: str, code: str) -> None:
    root = tmp_path / "root"
    for name in ("docs/a.md", "src/a.py", "lib/setup.py", "lib/x.py", "to/x.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    (root / "to" / "link.py").symlink_to(root / "lib" / "setup.py")
    call = Call("a", "Bash", {"command": command})
    facts = facts_at(root, tmp_path / "state")
    assert decide(RULES, call, look_up(RULES, call, facts)).code == code
    assert decide(RULES, call, facts).verdict is not Verdict.ALLOW  # nobody has looked


def test_what_a_pattern_could_reach_keeps_its_data_tier(tmp_path: Path) -> None:
    labels = {"data": {3: {"path": ["vault/**"]}}}
    rules = build_rulebook({"remit": 1, "use": ["claude-code"], "labels": labels, "agents": {"a": {"may": ["Bash"]}}})
    call = Call("a", "Bash", {"command": "rm vault/*.py"})
    (tmp_path / "root" / "vault").mkdir(parents=True)
    assert decide(rules, call, look_up(rules, call, facts_at(tmp_path / "root", tmp_path / "state"))).data_tier == 3


@pytest.mark.parametrize(
    ("command", "grade", "install"),
    [
        ("npx tsc --noEmit", "understood", False),
        ("npx tsc --noEmit -p tsconfig.json", "understood", False),
        ("npx -p other tsc --noEmit", "understood", True),
        ("npx --package=other tsc --noEmit -p tsconfig.json", "understood", True),
        ("npx eslint src", "project code", True),
        ("npx own --fix", "project code", False),
        ("npm exec -- own", "project code", False),
        ("pnpm exec own", "project code", False),
        ("yarn exec own", "project code", False),
        ("uv run fuzz --seed 1", "project code", False),
        ("poetry run fuzz", "project code", False),
        ("cd sub && npx own", "project code", False),
        ("cd sub && npx deep", "project code", False),
        ("rm -rf dist && npx own", "project code", False),
        ("npx deep", "not understood", True),
        ("npx outside", "not understood", True),
        ("npx nothing", "not understood", True),
        ("npx -p other own", "not understood", True),
        ("npx own@2", "not understood", True),
        ("npx $TOOL", "not understood", True),
        ("uv run --with x fuzz", "not understood", True),
        ("cd .. && npx tsc --noEmit", "understood", True),
        ('cd "$D" && npx own', "not understood", True),
        ("rm -rf node_modules && npx own", "not understood", True),
        ("rm -rf node_modules/.bin; npx own", "not understood", True),
        ("mv node_modules x; npx own", "not understood", True),
        ("git clean -fdx && npx own", "not understood", True),
        ("ln -sfn /tmp/x node_modules; npx own", "not understood", True),
        ("echo > node_modules/.bin/own; npx own", "not understood", True),
        ("cd sub && rm -rf ../node_modules && npx own", "not understood", True),
    ],
)
def test_a_program_of_the_project_is_taken_from_there(tmp_path: Path, command: str, grade: str, install: bool) -> None:
    root = tmp_path / "root"
    for name in ("node_modules/.bin/tsc", "node_modules/.bin/own", ".venv/bin/fuzz", "sub/node_modules/.bin/deep"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("#!/bin/sh\n")
        (root / name).chmod(0o755)
    (tmp_path / "elsewhere").write_text("#!/bin/sh\n")
    (tmp_path / "elsewhere").chmod(0o755)
    (root / "node_modules/.bin/outside").symlink_to(tmp_path / "elsewhere")
    call = Call("a", "Bash", {"command": command})
    found = decide(RULES, call, look_up(RULES, call, facts_at(root, tmp_path / "state")))
    assert found.grade == grade
    if "npx" in command:
        assert ("install" in found.effects) == install


def test_without_a_look_it_asks() -> None:
    from remit.model.facts import Facts

    call = Call("a", "Bash", {"command": "rm docs/*.md"})
    assert decide(RULES, call, Facts(root="/w")).code == "target-unknown"
