"""The real bubblewrap: what it holds, and each trap of mounts."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from remit.confine.backends.bubblewrap import Bubblewrap
from remit.confine.interface import Unconfinable
from remit.confine.sweep import Before
from remit.model.profile import HOLDS, Limits, Network, Region
from tests.confine.places import CAPABLE, KEYS, NOBODY, OWN_NAMESPACE, Site, as_user, profile, run

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    found = Site(tmp_path, Bubblewrap)
    if not found.backend.holds():
        pytest.skip(f"bubblewrap does not work here: {found.backend.lacking()}")
    return found


def test_it_holds_everything(site: Site) -> None:
    assert site.backend.holds() == frozenset(HOLDS)


def test_writes_stay_in_the_project(site: Site) -> None:
    outside = site.folder / "outside"
    outside.mkdir()
    text = f"echo x > src/new; echo x > {outside}/x; echo x > /etc/remit-x; echo x > ~/x; echo x > /x; ls ~"
    done = site.bash(text, profile())
    assert (site.root / "src/new").read_text() == "x\n"
    assert not list(outside.iterdir())
    assert not os.path.exists("/etc/remit-x")
    assert not list(site.home.iterdir())
    assert done.stdout == "x\n"  # a home of its own


def test_only_what_a_scope_names_is_written(site: Site) -> None:
    done = site.bash("echo x > docs/b.md; echo x > src/b.py; echo x > top", profile("docs/**"))
    assert (site.root / "docs/b.md").exists()
    assert not (site.root / "src/b.py").exists()
    assert not (site.root / "top").exists()
    assert done.stderr.count("Read-only file system") == 2


def test_a_folder_of_a_scope_that_is_not_there_is_made_and_goes_again(site: Site) -> None:
    assert site.bash("true", profile("build/out/**")).returncode == 0
    assert not (site.root / "build").exists()
    assert site.bash("echo x > build/out/x", profile("build/out/**")).returncode == 0
    assert (site.root / "build/out/x").exists()


def test_a_glob_of_files_is_narrower(site: Site) -> None:
    chosen = profile("docs/*.md")
    launch = site.prepare(chosen)
    assert launch.narrower == ("docs/*.md",)
    site.backend.finish(chosen, site.place(), launch)
    done = site.bash("echo more >> docs/a.md; echo x > docs/b.md", chosen)
    assert (site.root / "docs/a.md").read_text() == "# a\nmore\n"
    assert not (site.root / "docs/b.md").exists()
    assert done.returncode != 0


def test_an_exception_that_mounts_cannot_hold_is_refused(site: Site) -> None:
    with pytest.raises(Unconfinable, match=r"docs/\*\*/\*\.lock"):
        site.prepare(profile("docs/**", avoid=("docs/**/*.lock",)))
    assert not list((site.state / "launches").iterdir())


@pytest.mark.parametrize(
    "text",
    [
        "echo x > .claude/settings.json",
        "rm -rf .claude",
        "mv .claude c",
        "ln -sf /tmp/x .claude/settings.json",
        "chmod 777 .claude/settings.json",
        "mkdir .claude/hooks",
        "echo x > .git/hooks/pre-commit",
        "git config core.hooksPath /tmp",
        "mv .git g; cp -r g .git; echo x > .git/hooks/pre-commit",
        "rm -rf .git/hooks; mkdir .git/hooks",
        "echo /tmp > .git/commondir",
        "mkdir -p .git/worktrees/x; echo /tmp > .git/worktrees/x/commondir",
        "mkdir -p .git/modules/x/hooks",
        "echo x > remit.yaml",
        "mv remit.yaml y; echo x > remit.yaml",
        "cp /etc/passwd n; mv n remit.yaml",
        "mkdir .codex; echo x > .codex/config.toml",
        "echo x > .codex/config.toml",
        "rmdir .codex; mkdir .codex; echo x > .codex/c",
        "mkdir -p .github/hooks; echo x > .github/hooks/h.json",
        "mv .github g; mkdir -p .github/hooks; echo x > .github/hooks/h.json",
    ],
)
def test_what_is_protected_stays_as_it_is(site: Site, text: str) -> None:
    before = site.files(), git_files(site.root)
    site.bash(text, profile())
    after = site.files(), git_files(site.root)
    for name in ("y", "n"):
        after[0].pop(name, None)
    assert after == before
    assert not (site.root / ".github").exists()
    assert not (site.root / ".codex").exists()


@pytest.mark.parametrize(
    "text",
    [
        "echo '{}' > .mcp.json",
        "mkdir .mcp.json; echo x > .mcp.json/x",
        "echo x > CLAUDE.md",
        "ln -s src CLAUDE.md",
        "mkdir -p .vscode; echo x > .vscode/settings.json",
        "mkdir -p n; echo x > n/CLAUDE.md; mv n/CLAUDE.md .",
    ],
)
def test_a_protected_file_that_is_not_there_is_taken_away_by_the_sweep(site: Site, text: str) -> None:
    """Nothing lies in its place while the command runs: `find` and git would stumble over it."""
    before = site.files()
    look = Before.take(profile(), site.place())
    done = site.bash(f"ls -d *.md .*.json 2> /dev/null; {text}", profile())
    assert done.stdout == ""
    assert [one.by_run for one in look.sweep().findings] == [True]
    assert site.files() == before


def test_git_does_not_stumble_over_placeholders(site: Site) -> None:
    (site.home / ".config/git").mkdir(parents=True)
    (site.home / ".config/git/ignore").write_text("*.mine")
    text = "echo x > new && touch a.mine && git status --short && git stash -q -u && git clean -fdq"
    done = site.bash(f"{text} && git stash pop -q > out.mine && ls -d .codex new a.mine", profile())
    assert (done.returncode, done.stdout) == (0, "?? new\n.codex\na.mine\nnew\n"), done.stderr


def git_files(root: Path) -> dict[str, object]:
    chosen = ("hooks", "config", "commondir", "worktrees", "modules")
    return {
        str(path.relative_to(root)): path.read_text() if path.is_file() else None
        for name in chosen
        for path in (root / ".git" / name, *(root / ".git" / name).glob("**/*"))
        if path.exists()
    }


def test_what_is_protected_deep_inside_is_pinned(site: Site) -> None:
    nested = site.root / "packages/one/.claude"
    nested.mkdir(parents=True)
    (nested / "settings.json").write_text("{}")
    site.bash(
        "mv packages p; cp -r p packages; echo x > packages/one/.claude/settings.json; echo x > packages/new", profile()
    )
    assert (nested / "settings.json").read_text() == "{}"
    assert (site.root / "packages/new").exists()
    assert not (site.root / "p").exists()


def test_git_works(site: Site) -> None:
    text = "git switch -qc topic && echo b > b && git add -A && git commit -qm two && git status --short"
    done = site.bash(f"{text} && git log --format=%an", profile())
    assert (done.returncode, done.stdout, done.stderr) == (0, "A\nA\n", "")
    assert run("git", "log", "--format=%s", cwd=site.root).stdout == "two\none\n"
    assert run("git", "status", "--short", cwd=site.root).stdout == ""


def test_git_is_not_written_without_a_rule(site: Site) -> None:
    assert site.bash("git commit -q --allow-empty -m two", profile(git=False)).returncode != 0
    assert site.bash("git status", profile(git=False)).returncode == 0


def test_git_works_while_a_command_runs(site: Site) -> None:
    """The placeholders, `commondir` among them, neither show nor disturb on the host."""
    chosen = profile()
    launch = site.prepare(chosen)
    assert (site.root / ".git/commondir").read_text() == ".\n"
    assert run("git", "status", "--short", cwd=site.root).stdout == ""
    assert run("git", "commit", "-q", "--allow-empty", "-m", "mine", cwd=site.root).returncode == 0
    site.backend.finish(chosen, site.place(), launch)
    assert not (site.root / ".git/commondir").exists()


def test_a_commit_in_a_worktree(site: Site, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    assert run("git", "worktree", "add", "-q", str(tree), "-b", "side", cwd=site.root).returncode == 0
    place = site.place(root=tree, cwd=tree)
    launch = site.backend.prepare(profile(), place, site.environment())
    text = "echo c > c && git add c && git commit -qm three"
    text += f"; echo x > {site.root}/.git/hooks/pre-commit; echo x > {site.root}/x"
    done = run(*launch.words, "bash", "-c", text, cwd=tree, env=launch.environment)
    site.backend.finish(profile(), place, launch)
    assert run("git", "log", "--format=%s", "-1", cwd=tree).stdout == "three\n", done.stderr
    assert not (site.root / "x").exists()
    assert (site.root / ".git/hooks/pre-commit").read_text() == "#!/bin/sh\ntrue\n"


def test_placeholders_stay_until_the_last_user(site: Site) -> None:
    chosen = profile()
    first, second = site.prepare(chosen), site.prepare(chosen)
    site.backend.finish(chosen, site.place(), first)
    assert (site.root / ".codex").is_dir()
    site.start(second, "echo x > .codex/x; rm -rf .codex; mkdir .codex; echo y > .codex/x")
    assert list((site.root / ".codex").iterdir()) == []
    site.backend.finish(chosen, site.place(), second)
    assert not (site.root / ".codex").exists()


def test_runs_at_the_same_time_without_a_repository_do_not_take_each_other_for_an_attack(site: Site) -> None:
    """The `.git` that one puts there as a place for a mount is no repository to the other."""
    shutil.rmtree(site.root / ".git")
    runs = []
    for _ in range(3):
        before = Before.take(profile(), site.place())
        runs.append((before, site.prepare(profile())))
    assert [before.alarm() for before, _ in runs] == [None] * 3
    done = site.start(runs[1][1], "echo x > .git/config; git init -q; ls -A .git; echo x > src/new")
    assert (done.returncode, done.stdout) == (0, "")
    for before, launch in runs:
        site.backend.finish(profile(), site.place(), launch)
        assert before.sweep(None).findings == ()
    assert not (site.root / ".git").exists()


def test_a_placeholder_of_a_run_that_nobody_ended_goes_with_the_next(site: Site) -> None:
    chosen = profile()
    lost = site.prepare(chosen)
    shutil.rmtree(lost.directory)
    site.bash("true", chosen)
    assert not (site.root / ".codex").exists()


def test_a_person_may_put_something_where_a_placeholder_is(site: Site) -> None:
    chosen = profile()
    launch = site.prepare(chosen)
    (site.root / ".codex/config.toml").write_text("mine")
    site.backend.finish(chosen, site.place(), launch)
    assert (site.root / ".codex/config.toml").read_text() == "mine"


def test_a_file_mount_that_somebody_replaces_is_told_beforehand(site: Site) -> None:
    """The trap itself: the mount is gone when the host replaces the file. So whoever runs watches these."""
    chosen = profile()
    launch = site.prepare(chosen)
    assert str(site.root / "remit.yaml") in launch.fragile
    command = subprocess.Popen(
        [*launch.words, "bash", "-c", "until [ -e go ]; do sleep 0.05; done; echo agent > remit.yaml"],
        cwd=site.root,
        env=dict(launch.environment),
    )
    wait_for_mounts(command.pid, str(site.root / "remit.yaml"))
    (site.root / "n").write_text("person\n")
    os.replace(site.root / "n", site.root / "remit.yaml")
    (site.root / "go").touch()
    assert command.wait(60) == 0  # the overlay holds here: see its tests
    site.backend.finish(chosen, site.place(), launch)
    assert (site.root / "remit.yaml").read_text() == "agent\n"


def wait_for_mounts(pid: int, path: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                if (
                    "sleep" in Path("/proc", process, "comm").read_text()
                    and path in Path("/proc", process, "mountinfo").read_text()
                ):
                    return
            except OSError:
                continue
        time.sleep(0.05)
    raise AssertionError(f"{pid} never got its mounts")


def test_a_hard_link_to_a_protected_file_is_refused(site: Site) -> None:
    os.link(site.root / ".claude/settings.json", site.root / "src/alias.json")
    with pytest.raises(Unconfinable, match=r"`src/alias.json` is another name .* of `.claude/settings.json`"):
        site.prepare(profile())
    assert not (site.root / ".codex").exists()


def test_a_hard_link_from_elsewhere_does_no_harm(site: Site) -> None:
    os.link(site.root / ".claude/settings.json", site.folder / "store")
    assert site.bash("true", profile()).returncode == 0


def test_a_protected_name_that_is_a_link_keeps_what_it_leads_to(site: Site) -> None:
    (site.root / "AGENTS.md").write_text("one")
    (site.root / "CLAUDE.md").symlink_to("AGENTS.md")
    site.bash("echo x > CLAUDE.md; echo x > AGENTS.md", profile())
    assert (site.root / "AGENTS.md").read_text() == "one"


def test_sockets_are_out_of_reach(site: Site) -> None:
    script = (
        "import socket,sys\ns=socket.socket(socket.AF_UNIX)\n"
        "try: s.connect(sys.argv[1]); print('connected')\nexcept OSError as e: print(e.strerror)"
    )
    with socket.socket(socket.AF_UNIX) as inside, socket.socket(socket.AF_UNIX) as outside:
        inside.bind(str(site.root / "agent.sock"))
        outside.bind(str(site.state / "remit.sock"))
        inside.listen()
        outside.listen()
        for path in ("agent.sock", str(site.state / "remit.sock"), "/run/docker.sock"):
            done = site.bash(f'/usr/bin/env python3 -c "{script}" {path}', profile())
            assert done.stdout.strip() in ("Connection refused", "No such file or directory"), (path, done)
        assert (site.root / "agent.sock").is_socket()


def test_nothing_of_the_state_is_seen(site: Site) -> None:
    place = site.place(state=site.root / ".remit", unseen=(site.root / ".remit",))
    (site.root / ".remit").mkdir()
    (site.root / ".remit/key").write_text("secret")
    done = site.bash("cat .remit/key; ls -A .remit; find / -name launches 2>/dev/null", profile(), place)
    assert "secret" not in done.stdout
    assert done.stdout == ""


def test_hidden_files_are_empty_and_do_not_break_a_search(site: Site) -> None:
    (site.root / "prod.env").write_text("TOKEN=1")
    (site.root / "keys").mkdir()
    (site.root / "keys/k").write_text("TOKEN=2")
    done = site.bash(
        "grep -r TOKEN . ; cat prod.env; ls keys; git status --short", profile(hidden=("*.env", "keys/**", "keys"))
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_a_hidden_file_that_git_tracks_is_not_emptied(site: Site) -> None:
    """Its content is in git's objects anyway; hidden, `git add -A` would stage it empty."""
    done = site.bash("git add -A && git status --short", profile(hidden=("docs/**",)))
    assert (done.stdout, done.stderr) == ("", "")


def test_limited_reads(site: Site) -> None:
    chosen = profile("docs/**", read=(Region(("docs/**",)),), git=False)
    done = site.bash("cat docs/a.md; cat src/a.py; ls; echo x > docs/new", chosen)
    assert done.stdout == "# a\ndocs\n"
    assert (site.root / "docs/new").exists()


def test_other_projects_and_the_home_are_not_seen(site: Site) -> None:
    other = site.folder / "other"
    other.mkdir()
    (other / "secret").write_text("x")
    (site.home / ".ssh").mkdir()
    (site.home / ".ssh/id").write_text("x")
    done = site.bash(f"ls {other} ~/.ssh {site.folder}", profile())
    assert "secret" not in done.stdout
    assert "id" not in done.stdout


def test_a_home_that_is_read_hides_secrets(site: Site) -> None:
    (site.home / ".ssh").mkdir()
    (site.home / ".ssh/id").write_text("x")
    (site.home / ".bashrc").write_text("alias x=y\n")
    done = site.bash("cat ~/.bashrc; ls ~/.ssh; echo x > ~/new", profile(home="read"))
    assert done.stdout == "alias x=y\n"
    assert not (site.home / "new").exists()


def test_a_named_cache_is_shared(site: Site) -> None:
    (site.home / ".cache/pip").mkdir(parents=True)
    site.bash("echo x > ~/.cache/pip/x; echo x > ~/.cache/y", profile(caches=("pip",)))
    assert (site.home / ".cache/pip/x").exists()
    assert not (site.home / ".cache/y").exists()


def test_variables(site: Site) -> None:
    chosen = profile(environment=("MY_FLAG", "SSH_AUTH_SOCK", "REMIT_STATE"))
    given = {
        "GITHUB_TOKEN": "t",
        "SSH_AUTH_SOCK": "/s",
        "MY_FLAG": "1",
        "REMIT_STATE": "/x",
        "LC_ALL": "C",
        "GIT_DIR": "/x",
    }
    done = site.bash("env", chosen, None, **given)
    names = {line.partition("=")[0] for line in done.stdout.splitlines()}
    assert {"MY_FLAG", "LC_ALL", "GIT_AUTHOR_NAME", "GIT_COMMITTER_EMAIL"} <= names
    assert names.isdisjoint({"GITHUB_TOKEN", "SSH_AUTH_SOCK", "REMIT_STATE", "GIT_DIR"})


def test_no_network(site: Site) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        text = f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo connected"
        assert site.bash(text, profile()).stdout == ""
        assert site.bash(text, profile(network=Network("open"))).stdout == "connected\n"
    with pytest.raises(Unconfinable, match="no session"):
        site.prepare(profile(network=Network("hosts", ("https://a.example/**",))))


def test_nothing_outlives_the_command(site: Site) -> None:
    site.bash("(setsid sh -c 'sleep 1; echo late > late') & disown; exit 0", profile())
    time.sleep(2)
    assert not (site.root / "late").exists()


def test_processes_outside_are_not_seen(site: Site) -> None:
    done = site.bash(f"ls -d /proc/[0-9]* | wc -l; kill -0 {os.getpid()} && echo there", profile())
    assert int(done.stdout.split()[0]) < 8
    assert "there" not in done.stdout


def test_limits(site: Site) -> None:
    chosen = profile(limits=Limits(seconds=1))
    assert site.bash("sleep 60", chosen).returncode == 137
    chosen = profile(limits=Limits(file_size=1024, memory=64 << 20))
    done = site.bash("head -c 4096 /dev/zero > big; head -c 100000000 /dev/zero | tail -c 90000000 | wc -c", chosen)
    assert (site.root / "big").stat().st_size == 1024
    assert "90000000" not in done.stdout


def test_a_scratch_folder_is_kept_between_runs(site: Site) -> None:
    scratch = site.folder / "scratch"
    scratch.mkdir()
    place = site.place(scratch=scratch)
    site.bash("echo one > /tmp/x", profile(), place)
    assert site.bash("cat /tmp/x", profile(), place).stdout == "one\n"
    assert site.bash("cat /tmp/x", profile()).stdout == ""


def test_a_folder_that_is_swapped_for_a_link_meanwhile_is_noticed(site: Site) -> None:
    nested = site.root / "packages/.claude"
    nested.mkdir(parents=True)
    chosen = profile()
    launch = site.prepare(chosen)
    (site.home / ".claude").mkdir()
    os.rename(site.root / "packages", site.root / "p")
    (site.root / "packages").symlink_to(site.home)
    done = site.start(launch, "echo x > packages/x")
    assert done.returncode != 0
    assert not (site.home / "x").exists()
    os.unlink(site.root / "packages")
    os.rename(site.root / "p", site.root / "packages")
    site.backend.finish(chosen, site.place(), launch)


def test_too_many_mounts_are_refused(site: Site) -> None:
    for number in range(150):
        (site.root / f"packages/{number}/.claude").mkdir(parents=True)
    with pytest.raises(Unconfinable, match="mounts would be needed"):
        site.prepare(profile())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be refused or dropped")
def test_root_is_nobody_inside_and_leaves_no_setuid_file(site: Site) -> None:
    text = (
        "id -u; cp /bin/true src/t; chmod u+s src/t; chmod 4755 src/t; chmod g+s src/t;"
        "install -m 4755 /bin/true src/u; python3 -c \"import os; os.open('src/v', os.O_CREAT|os.O_WRONLY, 0o4755)\";"
        "cat /etc/shadow; grep Cap /proc/self/status"
    )
    done = site.bash(text, profile())
    lines = done.stdout.splitlines()
    assert lines[0] == "65534"
    assert all(line.endswith("\t0000000000000000") for line in lines[1:]), lines
    for path in (site.root / "src").iterdir():
        assert not path.stat().st_mode & 0o6000, path


def _own_namespace(site: Site) -> list[str]:
    (site.root / "src/own.py").write_text(OWN_NAMESPACE)
    done = site.bash("python3 src/own.py .git hooks config; python3 src/own.py . .claude; echo $?", profile())
    return [done.stdout, *sorted(path.name for path in site.root.rglob("*.was"))]


def test_what_is_kept_can_not_be_renamed_from_a_namespace_of_its_own(site: Site) -> None:
    assert _own_namespace(site) == ["1\n"]


@pytest.mark.skipif(os.geteuid() != 0, reason="root acts as another user")
def test_nor_by_an_ordinary_user() -> None:
    with as_user(NOBODY, Bubblewrap) as call:
        assert call(_own_namespace) == ["1\n"]


def test_no_file_gets_capabilities(site: Site) -> None:
    (site.root / "src/capable.py").write_text(CAPABLE)
    done = site.bash("python3 src/capable.py", profile())
    assert "Operation not permitted" in done.stderr
    assert "security.capability" not in os.listxattr(site.root / "src/capable")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of a system call")
def test_keys_of_the_user_are_out_of_reach(site: Site) -> None:
    assert site.bash(f'python3 -c "{KEYS}"', profile()).stdout == "-1\n"


def test_sockets_are_only_those_that_a_namespace_separates(site: Site) -> None:
    text = (
        "import socket\n"
        "for family in range(46):\n"
        "    try: socket.socket(family, socket.SOCK_STREAM); print(family)\n"
        "    except OSError as error: assert error.errno == 97 or family == 16, (family, error)\n"
        "socket.socket(16, socket.SOCK_RAW); socket.socketpair()\n"
    )
    done = site.bash(f"python3 - <<'END'\n{text}END", profile())
    assert (done.stdout.split(), done.stderr) == (["1", "2", "10"], "")


def test_threads_and_processes_start_as_ever(site: Site) -> None:
    text = (
        "import subprocess, threading; t = threading.Thread(target=lambda: print(1)); t.start(); t.join();"
        "subprocess.run(['echo', '2'], close_fds=False); subprocess.run('echo 3', shell=True, start_new_session=True)"
    )
    assert site.bash(f'python3 -u -c "{text}"', profile()).stdout == "1\n2\n3\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be refused or dropped")
def test_root_changes_nothing_of_the_machine(site: Site) -> None:
    text = "cd /proc/sys/kernel; cat core_pattern > core_pattern; cat hostname > hostname"
    done = site.bash(
        f"{text}; find /proc -maxdepth 3 -path '/proc/[0-9]*' -prune -o -type f -writable -print", profile()
    )
    assert done.stderr.count("Read-only file system") >= 2
    assert [line for line in done.stdout.split() if not line.startswith(("/proc/self", "/proc/thread-self"))] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be refused or dropped")
def test_root_runs_nothing_in_the_project_of_another(site: Site) -> None:
    os.chown(site.root, NOBODY, NOBODY)
    with pytest.raises(Unconfinable, match="root does not run"):
        site.prepare(profile())


def _closed_folders(site: Site) -> list[list[str]]:
    found = []
    for closed in ("docs/.claude", "docs/.claude/agents"):
        look = Before.take(profile(), site.place(), modes=False)
        text = "mkdir -p docs/.claude/agents && cp .claude/settings.json docs/.claude && echo x > docs/.claude/agents/x"
        site.bash(f"{text} && chmod 000 {closed}", profile())
        found.append([one.code for one in look.sweep().findings if one.aside])
        found[-1] += [path for path in ("docs/.claude",) if os.path.lexists(site.root / path)]
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become another user")
def test_a_closed_folder_hides_nothing_from_the_sweep() -> None:
    with as_user(NOBODY, Bubblewrap) as call:
        assert call(_closed_folders) == [["protected-made"], ["protected-made"]]


def _as_an_ordinary_user(site: Site) -> list[object]:
    done = site.bash(
        "id -u; git commit -q --allow-empty -m two && echo ok; echo x > .claude/settings.json; echo x > src/n",
        profile(limits=Limits(processes=64)),
    )
    fork = site.bash("for i in $(seq 100); do sleep 2 & done; wait; echo end", profile(limits=Limits(processes=32)))
    site.bash("touch s && chmod u+s s; cp s t; chmod 2755 t; install -m 4755 s u", profile())
    lent = [path.name for path in site.root.iterdir() if path.stat().st_mode & 0o6000 and path.is_file()]
    settings, written = (site.root / ".claude/settings.json").read_text(), (site.root / "src/n").exists()
    return [done.stdout, settings, written, fork.stderr, lent]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become another user")
def test_it_is_the_same_for_an_ordinary_user(site: Site) -> None:
    with as_user(NOBODY, Bubblewrap) as call:
        said, settings, written, fork, lent = call(_as_an_ordinary_user)
    assert (said, settings, written, lent) == ("65534\nok\n", "{}\n", True, [])
    assert "Resource temporarily unavailable" in fork


def test_a_program_that_is_replaced_or_gone_after_its_trial_confines_nothing(site: Site, tmp_path: Path) -> None:
    """What was tried is the very file: another one is tried anew, and a launch that was prepared before fails."""
    backend = site.backend
    assert isinstance(backend, Bubblewrap)
    assert backend.binary is not None
    backend.binary = str(shutil.copy(backend.binary, tmp_path / "bwrap"))
    launch = site.prepare(profile())
    Path(backend.binary).unlink()
    Path(backend.binary).write_text("#!/bin/sh\nexit 0\n")
    Path(backend.binary).chmod(0o755)
    assert site.start(launch, "touch made").returncode == 0  # it ran nothing
    Path(backend.binary).write_text("#!/bin/sh\nexit 9\n")
    with pytest.raises(Unconfinable, match="exit code 9"):
        site.prepare(profile())
    Path(backend.binary).unlink()
    assert site.start(launch, "touch made").returncode not in (0, 126)
    with pytest.raises(Unconfinable):
        site.prepare(profile())
    assert not (site.root / "made").exists()
