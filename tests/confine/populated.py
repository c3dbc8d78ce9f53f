"""A populated repository for tests of confinement, and a profile of an agent that may write it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from remit.confine.interface import Place
from remit.model.profile import Profile

NAMES = (".remit", ".claude", ".codex", ".cursor", ".git", ".mcp.json", ".opencode", "CLAUDE.md", "AGENTS.md")
PATHS = ("remit.yaml", ".github/hooks/**", ".vscode/mcp.json")
FILES = {
    "README.md": "# Shop\n\nSells things.\n",
    "remit.yaml": "remit: 1\n",
    ".claude/settings.json": '{"hooks": {"PreToolUse": []}}\n',
    ".claude/agents/builder.md": "---\nname: builder\n---\nBuilds.\n",
    ".mcp.json": "{}\n",
    "CLAUDE.md": "Be kind.\n",
    ".github/hooks/pre.json": "{}\n",
    ".github/workflows/ci.yml": "on: push\n",
    "src/shop/__init__.py": "",
    "src/shop/cart.py": "def total(prices):\n    return sum(prices)\n",
    "src/shop/tax.py": "RATE = 0.2\n\n\ndef tax(amount):\n    return amount * RATE\n",
    "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
    "docs/guide.md": "# Guide\n\none\ntwo\nthree\n",
    "docs/data.csv": "name,price\ntea,3\ncake,4\n",
    "docs/data.json": '{"tea": 3, "cake": [4, 5]}\n',
    "scripts/build.sh": "#!/bin/sh\nmkdir -p out && echo built > out/app\n",
    "Makefile": "all: out/app\nout/app:\n\tsh scripts/build.sh\nclean:\n\trm -rf out\ntest:\n\techo tested\n",
    "hello.c": '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n',
    "package.json": '{"name": "shop", "version": "1.0.0", "scripts": {"build": "node -e 1"}}\n',
    ".gitignore": "out/\n__pycache__/\n.venv/\n",
    "with space/a b.txt": "blank\n",
}
GIT = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def environment(home: Path) -> dict[str, str]:
    """What commands get, confined or not."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", **GIT}


def git(root: Path, *words: str, more: Mapping[str, str] | None = None) -> str:
    """What git prints; it must end with 0."""
    env = {**environment(root.parent), **(more or {})}
    done = subprocess.run(["git", *words], cwd=root, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def populate(root: Path) -> Path:
    """The repository: two commits, a branch from before the settings, a tag, an ignored file."""
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    for name, text in FILES.items():
        if not name.startswith(".claude"):
            _write(root / name, text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    git(root, "branch", "old")
    git(root, "tag", "v1")
    for name, text in FILES.items():
        if name.startswith(".claude"):
            _write(root / name, text)
    _write(root / "docs/guide.md", FILES["docs/guide.md"] + "four\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "second")
    git(root, "checkout", "-q", "-b", "feature")
    _write(root / "src/shop/ship.py", "COST = 5\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "shipping")
    git(root, "checkout", "-q", "main")
    (root / "scripts/build.sh").chmod(0o755)
    git(root, "commit", "-q", "-am", "executable")
    _write(root / "out/old", "built before\n")
    return root


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def profile(**more: object) -> Profile:
    """An agent that may write all of it, git included."""
    said = {"agent": "builder", "write": (), "read": (), "protected_names": NAMES, "protected_paths": PATHS}
    return Profile(**{**said, "git": True, **more})  # type: ignore[arg-type]


def place(root: Path, cwd: str = ".") -> Place:
    """With the state beside the root, as it is kept outside of it."""
    state = root.parent / "state"
    state.mkdir(mode=0o700, exist_ok=True)
    return Place(root=root, cwd=root if cwd == "." else root / cwd, state=state, unseen=(state,))
