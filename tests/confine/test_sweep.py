"""What a sweep finds after a run, and what it does about it. The tests play the run: nothing confines."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from remit.confine.aside import Aside, AsideError
from remit.confine.interface import Change, Unconfinable
from remit.confine.sweep import Before, Finding
from remit.model.profile import Network, Region
from tests.confine.populated import git, place, populate, profile


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return populate(tmp_path_factory.mktemp("template") / "project")


@pytest.fixture
def root(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "project", symlinks=True))


def swept(root: Path, did: Callable[[], object], **more: object) -> list[Finding]:
    before = Before.take(profile(**more), place(root))
    did()
    return list(before.sweep().findings)


def summary(found: list[Finding]) -> list[tuple[str, str, bool, bool]]:
    return [(one.code, one.path, one.by_run, one.aside is not None) for one in found]


def put(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_run_that_does_its_work_is_not_disturbed(root: Path):
    def work() -> None:
        put(root / "src/new.py")
        put(root / "docs/deep/er/a.md")
        (root / "src/shop/tax.py").unlink()
        os.symlink("guide.md", root / "docs/link.md")
        os.link(root / "README.md", root / "README.copy")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "work")
        git(root, "checkout", "-q", "-b", "another")
        git(root, "stash", "list")
        git(root, "tag", "v2")
        git(root, "gc", "-q")

    assert swept(root, work) == []


NEW = [".claude/settings.json", ".Claude/x", ".mcp.json", "AGENTS.md", ".remit/rulebook", ".codex/config.toml"]


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("at", ["docs", "src/shop/deep/er"])
def test_a_protected_name_at_a_new_depth_is_moved_aside_and_can_be_put_back(root: Path, name: str, at: str):
    found = swept(root, lambda: put(root / at / name, "mine"))
    top = f"{at}/{name.partition('/')[0]}"
    assert summary(found) == [("protected-made", top, True, True)]
    assert not (root / top).exists()
    assert found[0].message.startswith(f"Remit: `{top}` is protected, and the command made it; it was moved aside")
    aside = Aside(root.parent / "state")
    (kept,) = aside.kept()
    assert (kept.id, kept.path, kept.agent, kept.root) == (found[0].aside, top, "builder", str(root))
    aside.restore(kept)
    assert (root / at / name).read_text() == "mine"
    assert aside.kept() == []


def test_nothing_is_put_back_over_something_else(root: Path):
    swept(root, lambda: put(root / "docs/.mcp.json", "mine"))
    put(root / "docs/.mcp.json", "a person's")
    aside = Aside(root.parent / "state")
    with pytest.raises(AsideError, match="there is something at"):
        aside.restore(aside.kept()[0])
    assert (root / "docs/.mcp.json").read_text() == "a person's"
    with pytest.raises(AsideError, match="nothing was moved aside as `Q-0`"):
        aside.find("Q-0")


def test_a_name_that_is_no_utf_8_is_moved_and_put_back(root: Path):
    odd = os.fsdecode(b"docs/\xff\xfe/.mcp.json")
    found = swept(root, lambda: put(root / odd, "mine"))
    assert [(one.code, one.path) for one in found] == [("protected-made", "docs/\\xff\\xfe/.mcp.json")]
    aside = Aside(root.parent / "state")
    aside.restore(aside.kept()[0])
    assert (root / odd).read_text() == "mine"


def test_a_folder_that_cant_be_written_is_moved_too(root: Path):
    def closed() -> None:
        put(root / "docs/.claude/settings.json")
        os.chmod(root / "docs/.claude", 0o500)

    assert summary(swept(root, closed)) == [("protected-made", "docs/.claude", True, True)]
    assert not (root / "docs/.claude").exists()


def test_what_a_person_does_meanwhile_is_reported_and_stays(root: Path):
    def person() -> None:
        (root / ".claude/settings.json").write_text("edited")
        put(root / ".claude/agents/new.md")
        (root / "remit.yaml").unlink()
        put(root / ".vscode/mcp.json")
        put(root / ".codex/config.toml")

    found = swept(root, person)
    assert summary(sorted(found, key=lambda one: one.path)) == [
        ("protected-changed", ".claude/agents/new.md", False, False),
        ("protected-changed", ".claude/settings.json", False, False),
        ("protected-changed", ".codex", False, False),
        ("protected-made", ".vscode/mcp.json", True, True),  # nothing holds a file that was not there
        ("protected-changed", "remit.yaml", False, False),
    ]
    assert (root / ".claude/settings.json").read_text() == "edited"
    assert (root / ".codex/config.toml").exists()


def test_where_the_run_could_not_write_it_made_nothing(root: Path):
    write = (Region(("docs/**",)),)

    def both() -> None:
        put(root / "src/.claude/x")
        put(root / "docs/.claude/x")

    found = swept(root, both, write=write)
    assert sorted(summary(found)) == [
        ("protected-made", "docs/.claude", True, True),
        ("protected-made", "src/.claude", False, False),
    ]
    assert (root / "src/.claude/x").exists()


def test_a_list_of_changes_says_what_the_run_made(root: Path):
    before = Before.take(profile(), place(root))
    put(root / "docs/.claude/x")
    put(root / "src/.claude/x")
    found = before.sweep([Change("src/.claude/x", "written")]).findings
    assert sorted(summary(list(found))) == [
        ("protected-made", "docs/.claude", False, False),
        ("protected-made", "src/.claude", True, True),
    ]


def test_a_mount_point_of_another_run_is_nothing(root: Path):
    put(root / ".git/commondir", ".\n")
    (root / ".codex").mkdir()

    def other() -> None:
        (root / ".git/commondir").unlink()
        (root / ".codex").rmdir()
        (root / ".cursor").mkdir()

    assert swept(root, other) == []


def test_a_commondir_is_moved_aside(root: Path):
    found = swept(root, lambda: put(root / ".git/commondir", "../evil\n"))
    assert ("protected-made", ".git/commondir", True, True) in summary(found)
    assert not (root / ".git/commondir").exists()


def test_a_hard_link_to_a_protected_file_is_refused_before_and_found_after(root: Path):
    found = swept(root, lambda: os.link(root / "remit.yaml", root / "docs/alias"))
    assert ("hard-link", "docs/alias", True, True) in summary(found)
    assert not (root / "docs/alias").exists()
    os.link(root / ".claude/settings.json", root / "docs/alias")
    with pytest.raises(Unconfinable, match=r"`.claude/settings.json` is protected and has another name, `docs/alias`"):
        Before.take(profile(), place(root))


def test_two_protected_names_of_one_file_are_fine(root: Path):
    os.link(root / ".claude/settings.json", root / ".claude/copy.json")
    assert swept(root, lambda: None) == []


def test_a_link_to_something_protected_is_moved_aside(root: Path):
    def link() -> None:
        (root / "docs/guide.md").unlink()
        os.symlink("../.claude/settings.json", root / "docs/guide.md")
        os.symlink("../../etc", root / "docs/etc")

    assert summary(swept(root, link)) == [("link", "docs/guide.md", True, True)]


def test_a_directory_above_something_protected_that_was_replaced_is_reported(root: Path):
    def replace() -> None:
        os.rename(root / ".github", root / "g")
        shutil.copytree(root / "g", root / ".github")

    assert ("protected-moved", ".github", False, False) in summary(swept(root, replace))


def test_a_setuid_file_loses_its_bit(root: Path):
    for folder in (root, *root.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:  # never those of others, such as /tmp
            folder.chmod(0o755)
    found = swept(root, lambda: (root / "scripts/build.sh").chmod(0o4755))
    assert [(one.code, one.path) for one in found] == [("setuid", "scripts/build.sh")]
    assert stat.S_IMODE(os.stat(root / "scripts/build.sh").st_mode) == 0o755


# Repositories


def test_repositories_as_git_makes_them_stay(root: Path):
    def make() -> None:
        git(root, "init", "-q", "docs/sub")
        git(root, "clone", "-q", ".", "vendor/copy")
        git(root, "clone", "-q", "--bare", ".", "vendor/copy.git")
        git(root, "worktree", "add", "-q", "wt", "feature")

    assert swept(root, make) == []


BAD = {
    "fsmonitor": lambda root: git(root, "-C", "docs/sub", "config", "core.fsmonitor", "sh x.sh"),
    "include": lambda root: git(root, "-C", "docs/sub", "config", "include.path", "../x"),
    "alias": lambda root: git(root, "-C", "docs/sub", "config", "alias.st", "!sh x"),
    "filter": lambda root: git(root, "-C", "docs/sub", "config", "filter.x.clean", "sh x"),
    "worktree": lambda root: git(root, "-C", "docs/sub", "config", "core.worktree", "/"),
    "url": lambda root: git(root, "-C", "docs/sub", "config", "remote.o.url", "ext::sh -c x"),
    "hook": lambda root: put(root / "docs/sub/.git/hooks/post-checkout", "#!/bin/sh\n"),
    "commondir": lambda root: put(root / "docs/sub/.git/commondir", "../../x"),
    "odd": lambda root: put(root / "docs/sub/.git/config", "[core]\n fsmonitor = \\\n sh x\n"),
    "same line": lambda root: put(root / "docs/sub/.git/config", '[core] fsmonitor = "sh x"\n'),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("how", BAD)
def test_a_new_repository_that_may_run_programs_is_moved_aside(root: Path, how: str):
    def make() -> None:
        git(root, "init", "-q", "docs/sub")
        BAD[how](root)

    assert summary(swept(root, make)) == [("git-repository", "docs/sub/.git", True, True)]


def test_a_repository_of_another_name_and_a_file_that_leads_to_it_are_moved_aside(root: Path):
    def make() -> None:
        git(root, "init", "-q", "--bare", "docs/plain")
        git(root, "-C", "docs/plain", "config", "core.fsmonitor", "sh x.sh")
        put(root / "src/.git", "gitdir: ../docs/plain\n")

    assert sorted(summary(swept(root, make))) == [
        ("git-repository", "docs/plain", True, True),
        ("git-repository", "src/.git", True, True),
    ]


# git's trees

EVIL = '{"hooks": {}}\n'


def blob(root: Path, text: str = EVIL) -> str:
    put(root / "docs/evil", text)
    return git(root, "hash-object", "-w", "docs/evil")


def stage(root: Path, path: str = ".claude/settings.json") -> str:
    return git(root, "update-index", "--add", "--cacheinfo", f"100644,{blob(root)},{path}")


def launder(root: Path) -> str:
    stage(root)
    return git(root, "commit", "-q", "-m", "harmless")


def settings_after_checkout(root: Path) -> str:
    """What a person gets who puts the tree in order."""
    git(root, "checkout", "-f", "HEAD", "--", ".")
    return (root / ".claude/settings.json").read_text()


def test_a_commit_that_changes_something_protected_is_taken_from_its_branch(root: Path):
    head = git(root, "rev-parse", "HEAD")
    found = swept(root, lambda: launder(root))
    assert [(one.code, one.path) for one in found] == [
        ("git-commit", ".claude/settings.json"),
        ("git-index", ".claude/settings.json"),
    ]
    assert git(root, "rev-parse", "HEAD") == head
    assert "PreToolUse" in settings_after_checkout(root)
    kept = Aside(root.parent / "state").find(found[0].aside or "")
    assert (kept.kind, kept.path, kept.before) == ("reference", "refs/heads/main", head)
    assert git(root, "rev-parse", f"refs/remit/aside/{kept.id}") == kept.after


def test_work_beside_it_is_not_lost(root: Path):
    def both() -> None:
        put(root / "src/work.py", "work")
        git(root, "add", "src/work.py")
        launder(root)

    swept(root, both)
    assert (root / "src/work.py").read_text() == "work"
    assert git(root, "diff", "--cached", "--name-only") == "src/work.py"


LAUNDERINGS: dict[str, Callable[[Path], object]] = {
    "index only": stage,
    "removed from the index": lambda root: git(root, "rm", "-q", "--cached", "remit.yaml"),
    "a new name in the index": lambda root: stage(root, "docs/.mcp.json"),
    "another branch": lambda root: (
        git(root, "checkout", "-q", "-b", "side"),
        launder(root),
        git(root, "symbolic-ref", "HEAD", "refs/heads/main"),
        git(root, "read-tree", "HEAD"),
    ),
    "two commits, the second in order again": lambda root: (
        launder(root),
        git(root, "update-index", "--cacheinfo", f"100644,{git(root, 'rev-parse', 'v1:remit.yaml')},remit.yaml"),
        git(root, "commit", "-q", "--allow-empty", "-m", "more"),
    ),
    "commit-tree and update-ref": lambda root: (
        stage(root),
        git(root, "update-ref", "refs/heads/main", _tree_commit(root)),
    ),
    "a tag": lambda root: (stage(root), git(root, "update-ref", "refs/tags/v9", _tree_commit(root))),
    "an evil merge": lambda root: (
        git(root, "update-ref", "refs/heads/main", _tree_commit(root, "old^{tree}", "HEAD", "old")),
    ),
    "a detached head": lambda root: (git(root, "checkout", "-q", "--detach"), launder(root)),
    "the list of stashes": lambda root: (stage(root), _stash(root)),
    "stash store": lambda root: (stage(root), git(root, "stash", "store", "-m", "x", _tree_commit(root))),
    "a replaced object": lambda root: (
        stage(root),
        git(root, "replace", git(root, "rev-parse", "HEAD"), _tree_commit(root)),
    ),
    "a soft reset to before": lambda root: git(root, "update-ref", "refs/heads/main", "old"),
    "an older index": lambda root: git(root, "read-tree", "old"),
    "a false loose object": lambda root: _false_object(root),
    "other objects": lambda root: put(root / ".git/objects/info/alternates", f"{root}/docs/objects\n"),
    "grafts": lambda root: put(root / ".git/info/grafts", f"{git(root, 'rev-parse', 'HEAD')}\n"),
    "a false commit graph": lambda root: put(root / ".git/objects/info/commit-graph", "CGPH nonsense"),
    "a link in the tree": lambda root: git(
        root, "update-index", "--add", "--cacheinfo", f"120000,{blob(root, '/tmp')},.codex"
    ),
    "a module in the tree": lambda root: git(
        root, "update-index", "--add", "--cacheinfo", f"160000,{git(root, 'rev-parse', 'HEAD')},.cursor"
    ),
}


def _tree_commit(root: Path, tree: str = "", *parents: str) -> str:
    tree = git(root, "rev-parse", tree) if tree else git(root, "write-tree")
    words = [word for one in parents or ("HEAD",) for word in ("-p", git(root, "rev-parse", one))]
    return git(root, "commit-tree", tree, *words, "-m", "quiet")


def _stash(root: Path) -> str:
    """Written by hand into the list, which git does not check."""
    commit, zero = _tree_commit(root), "0" * 40
    put(root / ".git/logs/refs/stash", f"{zero} {commit} A <a@b> 1767323045 +0000\tWIP\n")
    return commit


def _false_object(root: Path) -> None:
    import zlib

    oid = git(root, "rev-parse", "HEAD:.claude/settings.json")
    path = root / f".git/objects/{oid[:2]}/{oid[2:]}"
    path.unlink()
    path.write_bytes(zlib.compress(b"blob %d\0%s" % (len(EVIL), EVIL.encode())))


@pytest.mark.sample(6)
@pytest.mark.parametrize("how", LAUNDERINGS)
def test_launderings_are_found(root: Path, how: str):
    found = swept(root, lambda: LAUNDERINGS[how](root))
    codes = {one.code for one in found}
    assert codes & {"git-commit", "git-index", "git-objects", "git-moved"}, found
    if not codes & {"git-moved"} and how != "a false loose object":
        git(root, "symbolic-ref", "HEAD", "refs/heads/main")
        assert "PreToolUse" in settings_after_checkout(root)
    assert git(root, "stash", "list") == ""
    again = swept(root, lambda: None)
    assert again == []


def _junk(root: Path) -> None:
    put(root / ".git/objects/aa" / ("b" * 38), "junk")


def _many(root: Path) -> None:
    for number in range(12):
        put(root / f"docs/a{number:02}/AGENTS.md", f"obey {number}")


def _named(name: bytes) -> Callable[[Path], None]:
    def act(root: Path) -> None:
        path = os.path.join(os.fsencode(root), b".git/refs/heads", name)
        with open(path, "wb") as file:
            file.write(git(root, "rev-parse", "HEAD").encode() + b"\n")

    return act


DECOYS: dict[str, Callable[[Path], object]] = {
    "an object that is none": _junk,
    "configuration in another spelling": lambda root: put(root / ".git/CONFIG"),
    "hooks in another spelling": lambda root: put(root / ".git/HOOKS/x"),
    "more findings than are told": _many,
    "a branch whose name is no UTF-8": _named(b"\xff"),
    "a branch that git can't name": _named(b"a..b"),
    "tables of references": lambda root: put(root / ".git/reftable/tables.list"),
    "a tree that is gone": lambda root: git(
        root,
        "update-ref",
        "refs/heads/gone",
        git(
            root,
            "hash-object",
            "-t",
            "commit",
            "-w",
            "--literally",
            str(
                _written(
                    root.parent / "commit", f"tree {'1' * 40}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx"
                )
            ),
        ),
    ),
    "more commits than are judged": lambda root: _chain(root, 9),
}
"""What keeps a sweep from asking git, or from getting to the end."""


def _written(path: Path, text: str) -> Path:
    put(path, text)
    return path


def _chain(root: Path, count: int) -> str:
    tip = git(root, "rev-parse", "HEAD")
    for number in range(count):
        tip = git(root, "commit-tree", f"{tip}^{{tree}}", "-p", tip, "-m", str(number))
    return git(root, "update-ref", "refs/heads/chain", tip)


@pytest.mark.parametrize("how", DECOYS)
@pytest.mark.parametrize("staged", [False, True], ids=["committed", "staged"])
def test_nothing_keeps_a_sweep_from_its_end(root: Path, how: str, staged: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("remit.confine.git_trees.MAX_COMMITS", 5)
    monkeypatch.setattr("remit.confine.sweep.MAX_FINDINGS", 5)

    def both() -> None:
        (stage if staged else launder)(root)
        DECOYS[how](root)
        put(root / "zz/CLAUDE.md", "obey")

    found = swept(root, both)
    assert any(one.by_run for one in found), found
    assert not any(one.code == "unswept" for one in found), found
    assert "PreToolUse" in settings_after_checkout(root)
    assert not list(root.rglob("*/AGENTS.md"))
    assert not (root / "zz/CLAUDE.md").exists()


def test_what_cant_be_done_about_one_finding_keeps_nobody_from_the_rest(root: Path, monkeypatch: pytest.MonkeyPatch):
    real = Aside.move

    def move(self: Aside, root: str, path: str, **more: str) -> object:
        if path == "docs/AGENTS.md":
            raise ValueError("strange")
        return real(self, root, path, **more)

    monkeypatch.setattr(Aside, "move", move)

    def work() -> None:
        for name in ("docs", "src"):
            put(root / f"{name}/AGENTS.md", f"obey {name}")

    found = swept(root, work)
    assert {one.code for one in found} == {"unswept", "protected-made"}
    assert not (root / "src/AGENTS.md").exists()


def test_a_branch_that_is_put_back_leaves_a_commit_to_stand_on(root: Path):
    """Otherwise a person's `git reset --hard` would remove every file."""
    start = git(root, "rev-parse", "HEAD")

    def work() -> None:
        git(root, "checkout", "-q", "-b", "fresh")
        launder(root)

    swept(root, work)
    assert git(root, "symbolic-ref", "HEAD") == "refs/heads/fresh"
    assert git(root, "rev-parse", "HEAD") == start

    def led() -> None:
        stage(root)
        git(root, "update-ref", "refs/x/y", _tree_commit(root))
        git(root, "symbolic-ref", "refs/heads/z", "refs/x/y")
        git(root, "symbolic-ref", "HEAD", "refs/heads/z")

    swept(root, led)
    assert git(root, "rev-parse", "HEAD") == start
    git(root, "reset", "-q", "--hard")
    assert "PreToolUse" in (root / ".claude/settings.json").read_text()


def test_a_tag_that_names_a_tree_is_judged(root: Path):
    def work() -> None:
        stage(root)
        tree = git(root, "write-tree")
        git(root, "read-tree", "HEAD")
        git(root, "tag", "quiet", tree)
        git(root, "tag", "harmless", "HEAD^{tree}")

    found = swept(root, work)
    assert [(one.code, one.aside is not None) for one in found] == [("git-commit", True)], found
    assert "quiet" not in git(root, "tag")
    assert "harmless" in git(root, "tag")


PATCH = """\
From {oid} Mon Sep 17 00:00:00 2001
From: A <a@b>
Subject: x
{head}
{body}
"""
CHANGE = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -0,0 +1 @@\n+evil\n"
RENAME = "diff --git a/{0} b/docs/c\nsimilarity index 100%\nrename from {0}\nrename to docs/c\n"


def mail(body: str, head: str = "") -> str:
    return PATCH.format(oid="1" * 40, head=head, body=body)


def encoded(body: str) -> str:
    import base64

    head = "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n"
    return mail(base64.b64encode(body.encode()).decode(), head)


MAILS = {
    "in the clear": ({"0002": mail(CHANGE.format(".claude/settings.json"))}, True),
    "in another coding": ({"0002": encoded(CHANGE.format(".claude/settings.json"))}, True),
    "away": ({"0002": mail(RENAME.format(".claude/settings.json"))}, True),
    "in a folder that an option names": (
        {"0002": mail(CHANGE.format("x.json")), "apply-opt": " '--directory=.claude'"},
        True,
    ),
    "already taken out of its mail": ({"patch": CHANGE.format("remit.yaml")}, True),
    "that nobody can read": ({"0002": mail("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n")}, True),
    "of work": ({"0001": mail(CHANGE.format("docs/x")), "patch": CHANGE.format("docs/x"), "apply-opt": ""}, False),
    "of nothing": ({"0001": mail("only words")}, False),
}


@pytest.mark.parametrize("how", MAILS)
def test_patches_that_wait_are_read_as_git_reads_them(root: Path, how: str):
    files, wrong = MAILS[how]

    def work() -> None:
        for name, text in files.items():
            put(root / f".git/rebase-apply/{name}", text)

    found = swept(root, work)
    assert [(one.code, one.by_run, one.aside is not None) for one in found] == [("git-objects", True, True)] * wrong
    assert swept(root, lambda: None) == []


def test_commits_that_git_packs_anew_are_not_new(root: Path):
    """A person amended a commit that changed the policy: the first version of it is in the log only."""
    (root / "remit.yaml").write_text("remit: 1\n# edited\n")
    git(root, "commit", "-q", "-am", "policy")
    (root / "remit.yaml").write_text("remit: 1\n# edited again\n")
    git(root, "commit", "-q", "-a", "--amend", "-m", "policy")
    git(root, "repack", "-qadk")
    assert swept(root, lambda: git(root, "repack", "-qadf")) == []
    git(root, "reflog", "expire", "--expire=now", "--all")
    assert not any(one.by_run for one in swept(root, lambda: git(root, "repack", "-qadkf")))


LEADING = {
    "attributes that nobody sees": lambda root: put(root / ".git/info/attributes", "* working-tree-encoding=UTF-16\n"),
    "a linked list of stores": lambda root: (root / ".git/objects/info/alternates").symlink_to("../../../docs/list"),
    "linked grafts": lambda root: (root / ".git/info/grafts").symlink_to("../../docs/list"),
    "a rebase that runs something": lambda root: put(
        root / ".git/rebase-merge/git-rebase-todo", "pick 1234567 one\n\tx touch y\n"
    ),
    "a linked rebase": lambda root: (
        (root / ".git/rebase-merge").mkdir(),
        (root / ".git/rebase-merge/git-rebase-todo").symlink_to("../../docs/list"),
    ),
}


@pytest.mark.parametrize("how", LEADING)
def test_what_leads_git_elsewhere_is_moved_aside(root: Path, how: str):
    put(root / "docs/list", "exec touch y\n")
    found = swept(root, lambda: LEADING[how](root))
    assert [(one.code, one.by_run, one.aside is not None) for one in found] == [("git-objects", True, True)], found
    assert swept(root, lambda: None) == []


def test_a_rebase_that_waits_for_a_person_stays(root: Path):
    todo = root / ".git/rebase-merge/git-rebase-todo"
    assert swept(root, lambda: put(todo, "pick 1234567 exec x one\n# exec is explained here\n")) == []
    assert todo.exists()


def test_what_others_did_is_not_laundering(root: Path):
    """A person's own edit, staged and committed by the run; a branch of teammates that is fetched."""
    (root / "remit.yaml").write_text("remit: 1\n# edited\n")

    def work() -> None:
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "all")

    assert swept(root, work) == []
    other = root.parent / "other"
    git(root, "clone", "-q", str(root), str(other))
    put(other / ".claude/settings.json", "theirs")
    git(other, "commit", "-q", "-am", "theirs")
    git(root, "remote", "add", "origin", str(other))
    fetched = swept(root, lambda: git(root, "fetch", "-q", "origin"), network=Network("open"))
    assert fetched == []


def test_a_repository_whose_settings_changed_is_not_asked(root: Path):
    def both() -> None:
        git(root, "config", "core.fsmonitor", "touch /nonexistent/x")
        launder(root)

    assert ("git-unknown", ".git", False, False) in summary(swept(root, both))


def test_an_alarm_is_raised_for_what_detaches_a_mount(root: Path):
    before = Before.take(profile(), place(root))
    (root / ".claude/settings.json").write_text("edited in place")
    assert before.alarm() is None
    put(root / "new.json")
    os.replace(root / "new.json", root / ".claude/settings.json")
    found = before.alarm()
    assert found is not None
    assert (found.code, found.path) == ("protected-changed", ".claude/settings.json")
    assert Aside(root.parent / "state").kept() == []


def test_an_alarm_touches_nothing(root: Path):
    before = Before.take(profile(), place(root))
    put(root / "docs/.claude/x")
    found = before.alarm()
    assert found is not None
    assert (found.code, found.aside) == ("protected-made", None)
    assert (root / "docs/.claude/x").exists()


def test_too_deep_to_look_at_is_said(root: Path):
    def dig() -> None:
        here = os.open(root / "docs", os.O_RDONLY)
        for _ in range(30):
            os.mkdir("d" * 200, dir_fd=here)
            below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)

    assert [one.code for one in swept(root, dig)] == ["unreadable"]
