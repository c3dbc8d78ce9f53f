"""The overlay, by the kernel and util-linux alone: exact globs, all or nothing, and nobody's work overwritten."""

from __future__ import annotations

import os
import platform
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.confine import commit, journal
from remit.confine.backends.overlay import Overlay
from remit.confine.interface import Unconfinable
from remit.confine.trial import Trial
from remit.confine.upper import NotCommitted
from remit.model.profile import HOLDS, Limits, Network, Region
from tests.confine.places import CAPABLE, KEYS, NOBODY, OWN_NAMESPACE, Site, as_user, profile, run, told


@pytest.fixture
def site(tmp_path: Path) -> Site:
    found = Site(tmp_path, Overlay)
    if not found.backend.holds():
        pytest.skip(f"the kernel lets no overlay be mounted here: {found.backend.lacking()}")
    return found


@pytest.fixture
def unfiltered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a filter that lets everything through: commands do what ours would stop before it comes to a commit."""
    monkeypatch.setattr("remit.confine.backends.overlay.program", lambda: struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000))


def test_it_holds_everything(site: Site) -> None:
    assert site.backend.holds() == frozenset(HOLDS)


def test_changes_are_told_and_made(site: Site) -> None:
    text = (
        "echo x > src/new; echo more >> docs/a.md; rm src/a.py; ln -s a.md docs/link; mkdir -p deep/er;"
        "echo y > deep/er/f; chmod 755 docs/a.md; mkfifo pipe; chmod 700 docs"
    )
    done = site.bash(text, profile())
    assert (done.returncode, done.stderr) == (0, "")
    assert told(site.changes) == {
        "src/a.py": "deleted",
        "deep": "written",
        "deep/er": "written",
        "deep/er/f": "written",
        "docs": "written",
        "docs/a.md": "written",
        "docs/link": "linked",
        "pipe": "written",
        "src/new": "written",
    }
    files = site.root
    assert (files / "src/new").read_text() == "x\n"
    assert not (files / "src/a.py").exists()
    assert (files / "docs/a.md").read_text() == "# a\nmore\n"
    assert stat.S_IMODE((files / "docs/a.md").stat().st_mode) == 0o755
    assert stat.S_IMODE((files / "docs").stat().st_mode) == 0o700
    assert os.readlink(files / "docs/link") == "a.md"
    assert (files / "pipe").is_fifo()
    assert not list((site.state / "launches").iterdir())


def test_a_project_below_tmp_with_a_tmp_that_a_session_keeps(site: Site) -> None:
    """Pytest's folders are below `/tmp`: the places for the project's mounts are not in the session's."""
    scratch = site.state / "scratch"
    scratch.mkdir(mode=0o777)
    scratch.chmod(0o777)
    for text in ("touch src/new; echo kept > /tmp/x", "grep -q kept /tmp/x && touch src/newer"):
        launch = site.prepare(profile(), site.place(scratch=scratch))
        done = site.start(launch, text)
        assert (done.returncode, done.stderr) == (0, "")
        site.backend.finish(profile(), site.place(scratch=scratch), launch)
    assert (site.root / "src/new").exists()
    assert (site.root / "src/newer").exists()


def test_what_only_reads_changes_nothing(site: Site) -> None:
    before = site.files()
    assert (
        site.bash("cat docs/a.md; git status; touch -r docs/a.md docs/a.md; ln src/a.py s; rm s", profile()).returncode
        == 0
    )
    assert [change for change in site.changes if not change.path.startswith(".git/")] == []
    assert site.files() == before


@pytest.mark.parametrize("glob", ["docs/*.md", "docs/**/*.md", "{docs,src}/*.md"])
def test_globs_are_exact(site: Site, glob: str) -> None:
    site.bash("echo x > docs/new.md; sed -i s/a/b/ docs/a.md", profile(glob))
    assert told(site.changes) == {"docs/new.md": "written", "docs/a.md": "written"}
    with pytest.raises(NotCommitted, match=r"`docs/new.txt` may not be written; none"):
        site.bash("echo x > docs/other.md; echo x > docs/new.txt", profile(glob))
    assert not (site.root / "docs/other.md").exists()


def test_exceptions_hold_for_what_does_not_exist_yet(site: Site) -> None:
    chosen = profile("docs/**", avoid=("docs/**/*.lock",))
    with pytest.raises(NotCommitted, match=r"docs/x/a\.lock"):
        site.bash("mkdir docs/x; echo x > docs/x/a.lock", chosen)
    assert not (site.root / "docs/x").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("touch .mcp.json a b c d e f g", "`.mcp.json` is protected; none"),
        ("mkdir x; touch x/.mcp.json .mcp.json a", "`.mcp.json`, `x/.mcp.json` are protected; none"),
        ("mkdir x/; touch x/{1..7}", ", `x/4` and 3 more may not be written; none"),
    ],
)
def test_the_reason_counts_what_it_is_about(site: Site, text: str, words: str) -> None:
    with pytest.raises(NotCommitted) as raised:
        site.bash(text, profile("**", avoid=("[a-gx]", "x/*")))
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "mv docs d2",
        "cp -r docs d2",
        "rm -rf docs",
        "mv docs/in d2",
        "mkdir d2 && mv docs/in/a.lock d2",
        "find docs -delete",
        "mkdir -p d2; cp -al docs/in d2/; mv d2/in/a.lock d2/b",
        "rm -rf docs; mkdir -p docs/in; echo y > docs/in/a.lock",
    ],
)
def test_what_is_excepted_stays_whatever_is_done_to_its_folder(site: Site, text: str) -> None:
    """So a decision need not be about what lies in a folder."""
    (site.root / "docs/in").mkdir()
    (site.root / "docs/in/a.lock").write_text("mine")
    with suppress(NotCommitted):
        site.bash(text, profile("**", avoid=("**/*.lock",)))
    assert [str(path.relative_to(site.root)) for path in site.root.rglob("*.lock")] == ["docs/in/a.lock"]
    assert (site.root / "docs/in/a.lock").read_text() == "mine"


def test_elsewhere_a_write_fails_at_once(site: Site) -> None:
    """So that a cache that a program writes beside its sources does not cost the whole run."""
    done = site.bash("echo x > src/new; echo x > docs/new", profile("docs/**"))
    assert "Read-only file system" in done.stderr
    assert told(site.changes) == {"docs/new": "written"}


def test_a_folder_that_is_not_there_yet(site: Site) -> None:
    site.bash("true", profile("build/out/**"))
    assert not (site.root / "build").exists()
    site.bash("echo x > build/out/x; mkdir build/out/y", profile("build/out/**"))
    assert told(site.changes) == {
        "build": "written",
        "build/out": "written",
        "build/out/x": "written",
        "build/out/y": "written",
    }
    assert (site.root / "build/out/x").read_text() == "x\n"


PROTECTED = [
    "echo x > .claude/settings.json",
    "rm -rf .claude",
    "mv .claude c; mkdir .claude; echo x > .claude/settings.json",
    "ln -sf /tmp/x .claude/settings.json",
    "chmod 777 .claude/settings.json",
    "echo x > .git/hooks/pre-commit",
    "git config core.hooksPath /tmp",
    "mv .git g; cp -r g .git; echo x > .git/hooks/pre-commit",
    "echo /tmp > .git/commondir",
    "mkdir -p .git/modules/x/hooks; echo x > .git/modules/x/hooks/h",
    "echo x > remit.yaml",
    "cp /etc/passwd n; mv n remit.yaml",
    "mkdir .codex; echo x > .codex/config.toml",
    "mkdir -p .github/hooks; echo x > .github/hooks/h.json",
    "mkdir -p src/deep/.claude; echo x > src/deep/.claude/settings.json",
    "echo '{}' > .MCP.json",
    "ln -s src CLAUDE.md",
    "git init -q sub",
]
CHOSEN = [pytest.param(text, marks=pytest.mark.more if at % 4 else ()) for at, text in enumerate(PROTECTED)]


@pytest.mark.parametrize("text", CHOSEN)
def test_what_is_protected_stays_as_it_is(site: Site, text: str) -> None:
    before = site.files()
    try:
        site.bash(f"echo x > src/new; {text}", profile())
    except NotCommitted as error:
        assert re.search("(is|are) protected", str(error))  # noqa: PT017 (it may also be refused at once)
        assert site.files() == before
    else:
        after = site.files()
        for name in ("src/new", "n"):
            after.pop(name, None)
        assert after == before
    assert (site.root / ".git/hooks/pre-commit").read_text() == "#!/bin/sh\ntrue\n"
    assert not (site.root / ".git/commondir").exists()
    assert "hooksPath" not in (site.root / ".git/config").read_text()


def test_a_folder_with_something_protected_in_it_is_not_deleted(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    nested = site.root / "packages/one/.claude"
    nested.mkdir(parents=True)
    (nested / "s").write_text("{}")
    site.bash("rm -rf packages; mkdir packages; echo x > packages/x", profile())
    assert (nested / "s").read_text() == "{}"
    monkeypatch.setattr("remit.confine.backends.overlay.MOST_KEPT", 0)  # what no mount keeps is judged afterwards
    with pytest.raises(NotCommitted, match=r"`packages/one/.claude"):
        site.bash("rm -rf packages; mkdir packages; echo x > packages/x", profile())
    assert (nested / "s").read_text() == "{}"


def test_git_works(site: Site) -> None:
    text = "git switch -qc topic && echo b > b && git add -A && git commit -qm two && git status --short"
    done = site.bash(text, profile())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert run("git", "log", "--format=%s %an", cwd=site.root).stdout == "two A\none A\n"
    assert run("git", "fsck", "--strict", cwd=site.root).returncode == 0


def test_git_is_not_written_without_a_rule(site: Site) -> None:
    assert site.bash("git commit -q --allow-empty -m two", profile(git=False)).returncode != 0
    assert site.bash("touch src/a.py; git status", profile(git=False)).returncode == 0


@pytest.mark.parametrize(
    ("theirs", "mine"),
    [
        (lambda root: (root / "docs/a.md").write_text("person\n"), "echo agent > docs/a.md"),
        (lambda root: (root / "docs/a.md").write_text("person\n"), "rm docs/a.md"),
        (lambda root: (root / "docs/a.md").write_text("person\n"), "rm -r docs"),
        (lambda root: (root / "docs/new").write_text("person\n"), "echo agent > docs/new"),
        (lambda root: (root / "docs/new").write_text("person\n"), "rm -r docs; mkdir docs; echo agent > docs/a.md"),
        (lambda root: os.replace(root / "src/a.py", root / "docs/a.md"), "echo agent > docs/a.md"),
        (lambda root: (root / "docs/a.md").chmod(0o600), "echo agent > docs/a.md"),
    ],
)
def test_what_somebody_changes_meanwhile_is_not_overwritten(
    site: Site, theirs: Callable[[Path], object], mine: str
) -> None:
    launch = site.prepare(profile())
    done = site.start(launch, f"echo x > src/new; {mine}")
    assert done.returncode == 0, done.stderr
    theirs(site.root)
    after = site.files()
    with pytest.raises(NotCommitted, match="changed by somebody else meanwhile"):
        site.backend.finish(profile(), site.place(), launch)
    assert site.files() == after


def test_what_somebody_changes_elsewhere_does_not_matter(site: Site) -> None:
    launch = site.prepare(profile())
    (site.root / "src/a.py").write_text("person\n")
    site.start(launch, "echo x > docs/new")
    site.backend.finish(profile(), site.place(), launch)
    assert (site.root / "src/a.py").read_text() == "person\n"
    assert (site.root / "docs/new").exists()


def test_a_protected_file_that_is_replaced_meanwhile_is_still_not_written(site: Site) -> None:
    """The trap of file mounts, which bubblewrap has."""
    launch = site.prepare(profile())
    command = subprocess.Popen(
        [*launch.words, "bash", "-c", "echo up; read; echo agent > remit.yaml"],
        cwd=site.root,
        env=dict(launch.environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert command.stdout is not None
    assert command.stdout.readline() == b"up\n"
    (site.root / "n").write_text("person\n")
    os.replace(site.root / "n", site.root / "remit.yaml")
    command.communicate(b"\n", timeout=60)
    try:
        site.backend.finish(profile(), site.place(), launch)
    except NotCommitted as error:
        assert "remit.yaml" in str(error)  # noqa: PT017
    assert (site.root / "remit.yaml").read_text() == "person\n"


def test_a_link_that_is_put_in_the_way_is_not_followed(site: Site) -> None:
    outside = site.folder / "outside"
    outside.mkdir()
    launch = site.prepare(profile())
    site.start(launch, "echo x > docs/new")
    os.rename(site.root / "docs", site.root / "d")
    (site.root / "docs").symlink_to(outside)
    with pytest.raises(NotCommitted):
        site.backend.finish(profile(), site.place(), launch)
    assert list(outside.iterdir()) == []


def test_a_failure_half_way_leaves_nothing_half_done(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    import remit.confine.commit as module

    launch = site.prepare(profile())
    site.start(launch, "rm -r docs; echo more >> src/a.py; mkdir a; echo x > a/x; echo y > z-last; chmod 700 src")
    before = site.files()
    put = module._put

    def failing(source: str, name: str, folder: int) -> None:
        if name == "z-last":
            raise OSError(28, "No space left on device")
        put(source, name, folder)

    monkeypatch.setattr(module, "_put", failing)
    with pytest.raises(NotCommitted, match="none was"):
        site.backend.finish(profile(), site.place(), launch)
    assert site.files() == before
    assert not (site.root / "a").exists()
    assert stat.S_IMODE((site.root / "src").stat().st_mode) == 0o755


def test_an_existing_hard_link_does_no_harm(site: Site) -> None:
    os.link(site.root / ".claude/settings.json", site.root / "src/alias.json")
    site.bash("echo x > src/alias.json", profile())
    assert (site.root / ".claude/settings.json").read_text() == "{}\n"
    assert (site.root / "src/alias.json").read_text() == "x\n"


def test_hard_links_stay_links(site: Site) -> None:
    site.bash("echo x > one; ln one two", profile())
    assert (site.root / "one").stat().st_ino == (site.root / "two").stat().st_ino
    assert (site.root / "one").stat().st_nlink == 2


@pytest.mark.usefixtures("unfiltered")
def test_no_setuid_file_is_left(site: Site) -> None:
    with pytest.raises(NotCommitted, match="setuid"):
        site.bash("cp /bin/true t; chmod u+s t", profile())
    assert not (site.root / "t").exists()


@pytest.mark.usefixtures("unfiltered")
def test_no_file_with_capabilities_is_left(site: Site) -> None:
    (site.root / "src/capable.py").write_text(CAPABLE)
    with pytest.raises(NotCommitted, match="capabilities"):
        site.bash("python3 src/capable.py", profile())
    assert not (site.root / "src/capable").exists()


@pytest.mark.usefixtures("unfiltered")
def test_what_is_kept_can_not_be_renamed_from_a_namespace_of_its_own(site: Site) -> None:
    (site.root / "src/own.py").write_text(OWN_NAMESPACE)
    with pytest.raises(NotCommitted, match=r"\.git/config"):
        site.bash("python3 src/own.py .git config", profile())
    assert not list(site.root.rglob("*.was"))


def test_setuid_files_and_namespaces_are_refused_at_once(site: Site) -> None:
    (site.root / "src/own.py").write_text(OWN_NAMESPACE)
    done = site.bash("cp /bin/true t; chmod u+s t || echo no; python3 src/own.py .git config || echo no", profile())
    assert (done.returncode, done.stdout) == (0, "no\nno\n")
    assert not (site.root / "t").stat().st_mode & 0o6000
    assert not list(site.root.rglob("*.was"))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of a system call")
def test_keys_of_the_user_are_out_of_reach(site: Site) -> None:
    assert site.bash(f'python3 -c "{KEYS}"', profile()).stdout == "-1\n"


def test_sockets_are_only_those_that_a_namespace_separates(site: Site) -> None:
    text = (
        "import socket\n"
        "for family in range(46):\n"
        "    try: socket.socket(family, socket.SOCK_STREAM); print(family)\n"
        "    except OSError as error: assert error.errno == 97 or family == 16, (family, error)\n"
    )
    done = site.bash(f"python3 - <<'END'\n{text}END", profile())
    assert (done.stdout.split(), done.stderr) == (["1", "2", "10"], "")


def test_the_filter_leaves_nothing_behind(site: Site) -> None:
    """Neither the descriptor that it is read from, nor a variable, nor a word of Perl about the locale; codes stay."""
    done = site.bash("ls /proc/self/fd/8; env | grep PERL; exit 7", profile(), LANG="xx_XX.UTF-8")
    assert (done.returncode, done.stdout) == (7, "")
    assert "perl" not in done.stderr
    assert "/proc/self/fd/8" in done.stderr


def test_nothing_is_left_outside(site: Site) -> None:
    outside = site.folder / "outside"
    outside.mkdir()
    done = site.bash(
        f"echo x > {outside}/x; echo x > /etc/remit-x; echo x > ~/x; echo x > /usr/x; echo x > /x; ls ~", profile()
    )
    assert list(outside.iterdir()) == []
    assert list(site.home.iterdir()) == []
    assert not os.path.exists("/etc/remit-x")
    assert done.stdout == "x\n"


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
            done = site.bash(f'python3 -c "{script}" {path}', profile())
            assert done.stdout.strip() in ("Connection refused", "No such file or directory"), (path, done)


def test_hidden_files_are_empty(site: Site) -> None:
    (site.root / "prod.env").write_text("TOKEN=1")
    (site.root / "keys").mkdir()
    (site.root / "keys/k").write_text("TOKEN=2")
    chosen = profile(hidden=("*.env", "keys"))
    done = site.bash("grep -r TOKEN . ; cat prod.env; ls keys; git status --short", chosen)
    assert (done.stdout, done.stderr) == ("", "")
    with pytest.raises(NotCommitted, match="keys"):
        site.bash("echo x > keys/k", chosen)
    assert (site.root / "keys/k").read_text() == "TOKEN=2"


def test_limited_reads_are_exact(site: Site) -> None:
    (site.root / "docs/b.txt").write_text("secret")
    chosen = profile("docs/**", read=(Region(("docs/*.md",)),), git=False)
    done = site.bash("cat docs/a.md docs/b.txt src/a.py", chosen)
    assert done.stdout == "# a\n"


def test_nothing_of_the_state_is_seen(site: Site) -> None:
    (site.root / ".remit").mkdir()
    (site.root / ".remit/key").write_text("secret")
    place = site.place(state=site.root / ".remit", unseen=(site.root / ".remit",))
    done = site.bash("cat .remit/key; ls -A .remit; find / -name launches 2>/dev/null", profile(), place)
    assert done.stdout == ""


def test_it_has_a_loopback_of_its_own(site: Site) -> None:
    text = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname()); print(1)"
    )
    assert site.bash(f'python3 -c "{text}"', profile()).stdout == "1\n"


@pytest.mark.more
def test_network_processes_and_limits(site: Site) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        text = f"(exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}) 2>/dev/null && echo connected"
        assert site.bash(text, profile()).stdout == ""
        assert site.bash(text, profile(network=Network("open"))).stdout == "connected\n"
    done = site.bash(f"kill -0 {os.getpid()} && echo there; ls -d /proc/[0-9]* | wc -l", profile())
    assert "there" not in done.stdout
    assert int(done.stdout) < 9
    assert site.bash("sleep 60", profile(limits=Limits(seconds=1))).returncode == 137
    site.bash("head -c 4096 /dev/zero > big", profile(limits=Limits(file_size=1024)))
    assert (site.root / "big").stat().st_size == 1024


@pytest.mark.parametrize("text", ["exit 7", "kill -9 $$", "true", "false | true", "sh -c 'kill -TERM $$'"])
def test_exit_codes_are_those_of_bash(site: Site, text: str) -> None:
    plain = subprocess.run(["bash", "-c", text], check=False).returncode
    assert site.bash(text, profile()).returncode == (128 - plain if plain < 0 else plain)


def test_files_on_another_file_system(site: Site) -> None:
    """A state that lies on another file system than the project: everything is copied."""
    other = Path("/dev/shm")
    if not os.access(other, os.W_OK) or other.stat().st_dev == site.root.stat().st_dev:
        pytest.skip("there is no other file system to write to")
    state = other / f"remit-{os.getpid()}"
    state.mkdir(mode=0o700)
    try:
        backend = Overlay(state)
        if not backend.holds():
            pytest.skip("no overlay there")
        place = site.place(state=state)
        launch = backend.prepare(profile(), place, site.environment())
        site.start(launch, "echo more >> docs/a.md; ln -s x l; rm src/a.py; mkdir d; echo x > d/x; chmod 750 d/x")
        backend.finish(profile(), place, launch)
        assert (site.root / "docs/a.md").read_text() == "# a\nmore\n"
        assert stat.S_IMODE((site.root / "d/x").stat().st_mode) == 0o750
        assert not (site.root / "src/a.py").exists()
    finally:
        shutil.rmtree(state)


def _as_an_ordinary_user(site: Site) -> list[object]:
    done = site.bash("id -u; git commit -q --allow-empty -m two && echo ok; echo x > src/n; chmod 000 src/n", profile())
    try:
        site.bash("echo x > src/m; echo x > .codex", profile())
    except NotCommitted as error:
        return [done.stdout, (site.root / "src/n").exists(), (site.root / "src/m").exists(), str(error)]
    return []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become another user")
def test_it_is_the_same_for_an_ordinary_user(site: Site) -> None:
    with as_user(NOBODY, Overlay) as call:
        said, written, refused, why = call(_as_an_ordinary_user)
    assert (said, written, refused) == ("65534\nok\n", True, False)
    assert "`.codex` is protected" in why


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be refused or dropped")
def test_root_is_nobody_inside(site: Site) -> None:
    text = "id -u; grep Cap[EP] /proc/self/status; cat /etc/shadow; cd /proc/sys/kernel"
    text += "; cat core_pattern > core_pattern"
    done = site.bash(text, profile())
    lines = done.stdout.splitlines()
    assert lines[0] == "65534"
    assert all(line.endswith("\t0000000000000000") for line in lines[1:]), lines
    assert "Read-only file system" in done.stderr
    os.chown(site.root, NOBODY, NOBODY)
    with pytest.raises(Unconfinable, match="root does not run"):
        site.prepare(profile())


NAMES = st.sampled_from(["a", "b", "d", "d/a", "d/e", "d/e/f", "docs", "docs/a.md", "src/a.py", "src"])
OPERATIONS = st.one_of(
    st.tuples(st.sampled_from(["rm -rf", "mkdir -p", "touch", "chmod 700"]), NAMES).map(" ".join),
    st.tuples(NAMES, NAMES).map(lambda two: f"mv -T {two[0]} {two[1]}"),
    st.tuples(NAMES, NAMES).map(lambda two: f"cp -rT {two[0]} {two[1]}"),
    st.tuples(NAMES, NAMES).map(lambda two: f"ln -snf {two[0]} {two[1]}"),
    st.tuples(NAMES, NAMES).map(lambda two: f"ln -f {two[0]} {two[1]}"),
    st.tuples(st.integers(0, 3), NAMES).map(lambda two: f"echo {two[0]} > {two[1]}"),
)


@pytest.mark.more
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(OPERATIONS, min_size=1, max_size=8))
def test_a_committed_run_leaves_what_a_plain_run_leaves(site: Site, operations: list[str]) -> None:
    text = "\n".join(operations)
    plain = site.folder / "plain"
    shutil.copytree(site.root, plain, symlinks=True)
    try:
        run("bash", "-c", text, cwd=plain)
        site.bash(text, profile())
        assert tree(site.root) == tree(plain)
    finally:
        shutil.rmtree(site.root)
        shutil.rmtree(plain)
        from tests.confine.places import populate

        populate(site.root)


def tree(root: Path) -> dict[str, tuple[int, str]]:
    found = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if not name.startswith(".git"):
            mode = path.lstat().st_mode
            content = os.readlink(path) if path.is_symlink() else path.read_text() if path.is_file() else ""
            found[name] = (mode, content)
    return found


ODD = (b"new\nline", b"\xff\xfe", b"\xc3\x28", b"sp ace'\"\\", b"-rf", b"a,b:c", b"\r\x1b[2J")


def test_names_may_have_any_bytes(site: Site) -> None:
    escaped = ["".join(rf"\x{byte:02x}" for byte in name) for name in ODD]
    names = " ".join(f"$'src/{name}'" for name in escaped)
    text = f'for f in {names}; do mkdir "$f" && echo x > "$f/in" && ln -s in "$f/link"; done; rm src/a.py'
    done = site.bash(text, profile())
    assert (done.returncode, done.stderr) == (0, "")
    assert {os.fsencode(name) for name in os.listdir(site.root / "src")} == set(ODD)
    for name in ODD:
        assert (site.root / "src" / os.fsdecode(name) / "link").read_text() == "x\n"


def test_a_file_with_holes_is_committed_as_it_is(site: Site) -> None:
    assert site.bash("truncate -s 1T src/big; echo x > src/new", profile()).returncode == 0
    status = os.stat(site.root / "src/big")
    assert (status.st_size, status.st_blocks < 1000) == (1 << 40, True)


def test_holes_stay_holes_on_another_file_system_and_are_quickly_undone(tmp_path: Path) -> None:
    source, place = tmp_path / "source", tmp_path / "place"
    with open(source, "wb") as file:
        for at in (0, 1 << 20, 1 << 30):
            file.seek(at)
            file.write(b"x" * 5000)
        file.truncate(1 << 40)
    commit._copy(str(source), None, str(place), None)
    copied, made = os.stat(place), os.stat(source)
    assert (copied.st_size, copied.st_blocks <= made.st_blocks + 64) == (1 << 40, True)
    with open(place, "rb") as file:
        for at in (0, 1 << 20, 1 << 30):
            file.seek(at)
            assert file.read(5001) == b"x" * 5000 + b"\0"
    assert journal._begins_with(str(source), str(place))
    with open(place, "r+b") as file:
        file.seek(1 << 20)
        file.write(b"y")
    assert not journal._begins_with(str(source), str(place))


def test_a_trial_is_for_one_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """State of another project may lie where no overlay can have its layers."""
    if not os.path.isdir("/dev/shm") or os.stat("/dev/shm").st_dev == os.stat(tmp_path).st_dev:
        pytest.skip("there is no second file system")
    tried: list[Path] = []
    monkeypatch.setattr("remit.confine.trial._known", {})

    def trying(self: Overlay) -> Trial:
        tried.append(self.state)
        return Trial(works=True)

    monkeypatch.setattr(Overlay, "_try", trying)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        states = [tmp_path / "one", tmp_path / "two", Path(folder, "three")]
        for state in states:
            assert Overlay(state).trial().works
    assert tried == [states[0], states[2]]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk that is nearly full")
@pytest.mark.parametrize("small", ["project", "state"])
def test_a_full_disk_leaves_nothing_half_done(tmp_path: Path, small: str) -> None:
    """In a mount namespace of its own."""
    words = ["unshare", "-m", sys.executable, "-m", "tests.confine.backends.full_disk", str(tmp_path), small]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stderr
