"""Repositories that run programs. Each trap is sprung by plain git, so it is live; by the runner it is not."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from remit.enforce.guard import Guard
from remit.runners.errors import RunnerError
from remit.runners.git import GitRunner
from remit.runners.runner import quoted
from tests.runners.conftest import plain_git

EVERYTHING = (
    ("status",),
    ("diff", "HEAD"),
    ("log", "-p", "-1"),
    ("add", "--", "."),
    ("commit", "--allow-empty", "--message=x"),
    ("switch", "--create", "other"),
    ("merge", "--no-edit", "side"),
    ("fetch", "origin"),
    ("push", "origin", "main"),
    ("stash",),
    ("show", "HEAD"),
)


class Trap(NamedTuple):
    """How it is laid, and the words with which plain git springs it."""

    lay: Callable[[Path, str], None]
    words: tuple[str, ...]
    protocols: tuple[str, ...] = ("https", "ssh")


def setting(key: str, value: str = "{evil}") -> Callable[[Path, str], None]:
    return lambda root, evil: put(root, key, value.format(evil=evil))


def put(root: Path, key: str, value: str) -> None:
    plain_git(root, "config", "--local", key, value)


def attribute(text: str, *settings: tuple[str, str]) -> Callable[[Path, str], None]:
    def lay(root: Path, evil: str) -> None:
        (root / ".gitattributes").write_text(f"*.py {text}\n")
        for key, value in settings:
            put(root, key, value.format(evil=evil))

    return lay


def hook(name: str, path: str | None = None) -> Callable[[Path, str], None]:
    def lay(root: Path, evil: str) -> None:
        folder = root / (path or ".git/hooks")
        folder.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(f"#!/bin/sh\nexec {evil}\n")
        (folder / name).chmod(0o755)
        if path is not None:
            put(root, "core.hooksPath", path)

    return lay


def both(*lays: Callable[[Path, str], None]) -> Callable[[Path, str], None]:
    def lay(root: Path, evil: str) -> None:
        for one in lays:
            one(root, evil)

    return lay


def included(root: Path, evil: str) -> None:
    (root / "more.ini").write_text(f"[core]\n\tfsmonitor = {evil}\n")
    put(root, "include.path", "../more.ini")


def included_by_condition(root: Path, evil: str) -> None:
    (root / "more.ini").write_text(f"[core]\n\tfsmonitor = {evil}\n")
    put(root, "includeIf.onbranch:main.path", "../more.ini")


def of_the_worktree(root: Path, evil: str) -> None:
    put(root, "extensions.worktreeConfig", "true")
    (root / ".git" / "config.worktree").write_text(f"[core]\n\tfsmonitor = {evil}\n")


def in_a_submodule(root: Path, evil: str) -> None:
    inner = root / "inner"
    inner.mkdir()
    plain_git(inner, "init", "--quiet")
    plain_git(inner, "commit", "--quiet", "--allow-empty", "--message=x")
    plain_git(root, "add", "inner")
    (root / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n')
    put(inner, "core.fsmonitor", evil)


def another_side(root: Path, evil: str) -> None:
    other = root / "other.git"
    plain_git(root, "init", "--quiet", "--bare", str(other))
    put(root, "remote.origin.url", str(other))


def hooks_of_the_other_side(root: Path, evil: str) -> None:
    another_side(root, evil)
    other = root / "other.git"
    (other / "hooks").mkdir(exist_ok=True)
    (other / "hooks" / "pre-receive").write_text(f"#!/bin/sh\nexec {evil}\n")
    (other / "hooks" / "pre-receive").chmod(0o755)


def remote(url: str, *settings: tuple[str, str]) -> Callable[[Path, str], None]:
    def lay(root: Path, evil: str) -> None:
        put(root, "remote.origin.url", url.format(evil=evil))
        put(root, "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
        for key, value in settings:
            put(root, key.format(evil=evil), value.format(evil=evil))

    return lay


def changed(root: Path) -> None:
    (root / "a.py").write_text("x = 2\n")


TRAPS = {
    "a hook of the repository": Trap(hook("pre-commit"), ("commit", "--allow-empty", "--message=x")),
    "a hook at every reference": Trap(hook("reference-transaction"), ("commit", "--allow-empty", "--message=x")),
    "a hook after checkout": Trap(hook("post-checkout"), ("checkout", "--force", "side")),
    "hooks elsewhere": Trap(hook("pre-commit", ".husky"), ("commit", "--allow-empty", "--message=x")),
    "a hook before a push": Trap(both(hook("pre-push"), another_side), ("push", "origin", "main"), ("file",)),
    "fsmonitor": Trap(setting("core.fsmonitor"), ("status",)),
    "fsmonitor of this work tree": Trap(of_the_worktree, ("status",)),
    "fsmonitor in an included file": Trap(included, ("status",)),
    "fsmonitor in a file included by a condition": Trap(included_by_condition, ("status",)),
    "fsmonitor of a submodule": Trap(in_a_submodule, ("status",)),
    "an external diff": Trap(setting("diff.external"), ("diff",)),
    "a driver for diffs": Trap(attribute("diff=x", ("diff.x.command", "{evil}")), ("diff",)),
    "a conversion to text": Trap(attribute("diff=x", ("diff.x.textconv", "{evil}")), ("diff",)),
    "a filter": Trap(attribute("filter=x", ("filter.x.clean", "{evil}")), ("add", ".")),
    "a filter that is a process": Trap(attribute("filter=x", ("filter.x.process", "{evil}")), ("add", ".")),
    "a filter at checkout": Trap(attribute("filter=x", ("filter.x.smudge", "{evil}")), ("checkout", "--", ".")),
    "a driver for merges": Trap(attribute("merge=x", ("merge.x.driver", "{evil} %A")), ("merge", "side")),
    "an alias": Trap(setting("alias.st", "!{evil}"), ("st",)),
    "an editor": Trap(setting("core.editor"), ("commit", "--allow-empty")),
    "a program that signs": Trap(
        both(setting("gpg.program"), setting("commit.gpgSign", "true")), ("commit", "--allow-empty", "--message=x")
    ),
    "a program for trailers": Trap(
        both(setting("trailer.x.cmd"), setting("trailer.x.key", "X")),
        ("commit", "--allow-empty", "--message=x", "--trailer=x=1"),
    ),
    "ssh": Trap(remote("ssh://127.0.0.1:1/x", ("core.sshCommand", "{evil}")), ("fetch", "origin")),
    "an address that is a program": Trap(
        remote("ext::{evil}", ("protocol.ext.allow", "always")), ("fetch", "origin"), ("https", "ssh", "file")
    ),
    "an address that stands for a program": Trap(
        remote(
            "https://github.com/x/y",
            ("url.ext::{evil}.insteadOf", "https://github.com/x/y"),
            ("protocol.ext.allow", "always"),
        ),
        ("fetch", "origin"),
    ),
    "the other side's program": Trap(
        remote("../other", ("remote.origin.uploadpack", "{evil}")), ("fetch", "origin"), ("file",)
    ),
    "the other side's hooks": Trap(hooks_of_the_other_side, ("push", "origin", "main")),
}


@pytest.fixture
def sprung(tmp_path: Path) -> tuple[str, Path]:
    """A program that leaves a mark, and the mark."""
    program, mark = tmp_path / "evil", tmp_path / "sprung"
    program.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    program.chmod(0o755)
    return str(program), mark


@pytest.fixture
def branched(repository: Path) -> Path:
    """A second branch that conflicts, and a change that is not staged."""
    plain_git(repository, "switch", "--quiet", "--create", "side")
    (repository / "a.py").write_text("x = 3\n")
    plain_git(repository, "commit", "--quiet", "--all", "--message=side")
    plain_git(repository, "switch", "--quiet", "main")
    (repository / "a.py").write_text("x = 4\n")
    plain_git(repository, "commit", "--quiet", "--all", "--message=main")
    return repository


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", TRAPS)
def test_a_repository_runs_no_program(guard: Guard, branched: Path, sprung: tuple[str, Path], name: str) -> None:
    trap, (evil, mark) = TRAPS[name], sprung
    git = laid(guard, branched, trap, evil)
    run(git, trap.words)
    assert not mark.exists(), "sprung by the runner"
    plain_git(branched, *trap.words, check=False)
    assert mark.exists(), "the trap is not live: this test proves nothing"


@pytest.mark.more
@pytest.mark.parametrize("name", TRAPS)
def test_whatever_git_does(guard: Guard, branched: Path, sprung: tuple[str, Path], name: str) -> None:
    evil, mark = sprung
    git = laid(guard, branched, TRAPS[name], evil)
    for words in EVERYTHING:
        run(git, words)
        assert not mark.exists(), words


def laid(guard: Guard, root: Path, trap: Trap, evil: str) -> GitRunner:
    """The runner, in a repository with the trap."""
    trap.lay(root, evil)
    if trap.words[:1] != ("merge",):
        changed(root)
    git = GitRunner(guard, author=("r", "r@example.com"), protocols=trap.protocols)
    guard.start()
    return git


def run(git: GitRunner, words: tuple[str, ...]) -> None:
    """As if a person had approved it, if the policy would ask."""
    with git.guard.agent(git.name), suppress(RunnerError):
        git._passed(quoted(("git", *words)))


ODD = (
    "core.worktree",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.https://x.username",
    "gc.recentObjectsHook",
    "http.proxy",
    "http.sslVerify",
    "http.https://x.extraHeader",
    "includeIf.gitdir:/x.path",
    "interactive.diffFilter",
    "pager.log",
    "remote.x.vcs",
    "remote.x.proxy",
    "remote.x.receivepack",
    "remote.x.promisor",
    "sendemail.smtpserver",
    "submodule.x.update",
    "difftool.x.cmd",
    "mergetool.x.cmd",
    "browser.x.cmd",
    "uploadpack.packObjectsHook",
    "url.x.pushInsteadOf",
    "extensions.partialClone",
    "core.noSuchSetting",
    "guitool.x.cmd",
    "man.x.cmd",
    "http.cookieFile",
)


@pytest.mark.sample(5)
@pytest.mark.parametrize("key", ODD)
def test_a_setting_that_nobody_knows_to_be_harmless_is_refused(guard: Guard, repository: Path, key: str) -> None:
    put(repository, key, "1" if key == "extensions.partialClone" else "x")
    found = GitRunner(guard)
    with pytest.raises(RunnerError) as refused:
        found.status()
    if key == "core.worktree":  # there is no such directory
        assert refused.value.code == "no-repository"
        return
    assert refused.value.code == "repository-refused"
    assert key.casefold() in str(refused.value).casefold()


def test_files_that_can_not_be_listed_are_no_reason_to_go_on(guard: Guard, repository: Path) -> None:
    (repository / ".git" / "index").write_bytes(b"no index")
    with pytest.raises(RunnerError, match="can't be listed"):
        GitRunner(guard).head()


def test_a_setting_is_admitted_by_name(guard: Guard, repository: Path) -> None:
    put(repository, "filter.lfs.clean", "git-lfs clean -- %f")
    put(repository, "merge.ours.driver", "true")
    with pytest.raises(RunnerError, match=r"`merge\.ours\.driver`"):
        GitRunner(guard, unsafe_settings=["filter.lfs.*"]).status()


def test_ordinary_settings_are_no_obstacle(guard: Guard, repository: Path) -> None:
    for key, value in (
        ("remote.origin.url", "https://github.com/x/y.git"),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
        ("branch.main.remote", "origin"),
        ("branch.main.merge", "refs/heads/main"),
        ("core.hooksPath", ".husky"),
        ("credential.https://github.com.helper", "store"),
        ("user.name", "somebody"),
        ("pull.rebase", "true"),
        ("core.autocrlf", "input"),
    ):
        put(repository, key, value)
    assert GitRunner(guard).status().ok


def test_a_submodule_is_no_obstacle(guard: Guard, repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    plain_git(other, "init", "--quiet")
    plain_git(other, "commit", "--quiet", "--allow-empty", "--message=x")
    plain_git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "inner")
    plain_git(repository, "commit", "--quiet", "--message=submodule")
    git = GitRunner(guard)
    assert git.status().out == "## main\n"
    put(repository / "inner", "core.hooksPath", "x")  # harmless where it is overridden, not here
    with pytest.raises(RunnerError, match="of the submodule inner"):
        git.status()


def test_a_repository_hidden_among_files_is_not_used(guard: Guard, repository: Path, sprung: tuple[str, Path]) -> None:
    evil, mark = sprung
    hidden = repository / "vendor"
    plain_git(repository, "init", "--quiet", "--bare", "vendor")
    put(hidden, "core.bare", "false")
    put(hidden, "core.worktree", str(repository))
    put(hidden, "core.fsmonitor", evil)
    plain_git(hidden, "status", check=False)
    assert mark.exists(), "the trap is not live"
    mark.unlink()
    with pytest.raises(RunnerError):
        GitRunner(guard).run("status", cwd="vendor")
    assert not mark.exists()


def test_no_repository_above_the_root_counts(guard: Guard, repository: Path) -> None:
    (repository / ".git").rename(repository.parent / ".git")
    with pytest.raises(RunnerError, match="not a git repository"):
        GitRunner(guard).status()


def test_a_new_repository_has_no_hooks_of_a_template(guard: Guard, repository: Path) -> None:
    git = GitRunner(guard)
    assert git.run("init", "--quiet", "new").ok
    assert git.run("status", "--short", cwd="new").ok


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_EXTERNAL_DIFF", "{evil}"),
        ("GIT_CONFIG_PARAMETERS", "'core.fsmonitor={evil}'"),
        ("GIT_PAGER", "{evil}"),
        ("GIT_EXEC_PATH", "{folder}"),
        ("PATH", "{folder}:/usr/bin:/bin"),
        ("HOME", "{folder}"),
        ("GIT_DIR", "{folder}"),
        ("GIT_TEMPLATE_DIR", "{folder}"),
    ],
)
def test_the_environment_of_the_program_does_not_reach_git(
    guard: Guard, repository: Path, sprung: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    evil, mark = sprung
    changed(repository)
    folder = Path(evil).parent / "folder"
    folder.mkdir()
    (folder / "git").symlink_to(evil)
    (folder / ".gitconfig").write_text(f"[core]\n\tfsmonitor = {evil}\n")
    monkeypatch.setenv(name, value.format(evil=evil, folder=folder))
    git = GitRunner(guard)
    assert git.diff("HEAD").splitlines()[-1] == "+x = 2"
    assert git.status().ok
    assert not mark.exists()


@contextmanager
def asking(seen: list[str | None] | None = None, to: str | None = None) -> Iterator[int]:
    """A server that wants a password, or sends whoever comes somewhere else; `seen` gets what they log in with."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if seen is not None:
                seen.append(self.headers.get("Authorization"))
            self.send_response(401 if to is None else 302)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            if to is not None:
                self.send_header("Location", f"{to}{self.path}")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.sample(1)
@pytest.mark.parametrize("key", ["credential.helper", "credential.http://127.0.0.1.helper", "core.askPass"])
def test_no_helper_is_asked_for_a_password(guard: Guard, repository: Path, sprung: tuple[str, Path], key: str) -> None:
    evil, mark = sprung
    with asking() as port:
        put(repository, "remote.origin.url", f"http://127.0.0.1:{port}/x.git")
        put(repository, key.replace("127.0.0.1", f"127.0.0.1:{port}"), evil)
        found = GitRunner(guard, protocols=["http"]).fetch()
        assert not found.ok
        assert not mark.exists()
        plain_git(repository, "fetch", "origin", check=False)
        assert mark.exists(), "the trap is not live"


def test_a_token_goes_to_its_own_address_only(guard: Guard, repository: Path) -> None:
    mine: list[str | None] = []
    other: list[str | None] = []
    with asking(other) as elsewhere, asking(mine, f"http://127.0.0.1:{elsewhere}") as port:
        put(repository, "remote.origin.url", f"http://127.0.0.1:{port}/x.git")
        put(repository, "remote.other.url", f"http://127.0.0.1:{elsewhere}/x.git")
        tokens = {f"http://127.0.0.1:{port}/": "not-a-token"}
        git = GitRunner(guard, protocols=["http"], tokens=tokens)
        assert not git.fetch().ok
        assert mine[0] == "Basic eC1hY2Nlc3MtdG9rZW46bm90LWEtdG9rZW4="
        assert other == []  # where it was sent to
        assert not git.fetch("other").ok
        assert set(other) == {None}


@pytest.mark.parametrize("address", ["github.com", "https://github.com", "ssh://x/", "https://x/ y", "https://x/\n"])
def test_a_token_is_for_an_address(guard: Guard, address: str) -> None:
    with pytest.raises(RunnerError, match="a token is for the beginning of an address"):
        GitRunner(guard, tokens={address: "x"})
