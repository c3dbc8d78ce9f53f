"""A ticket in a shell as hosts have them: what the command does, says and leaves behind is as without one.

The words before the command are those of `env` here, so that no backend is needed: what is held is tested elsewhere.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from remit.adapters.hooks.tickets import About, Ticket, Tickets
from remit.confine.interface import Launch, Place
from remit.model.profile import Profile

SHELLS = [pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=name)) for name in ("bash", "zsh")]
WORDS = ("env",)
OWN = {
    "bash": "shopt -s expand_aliases\ngreet() { echo hello-$1; }\nalias ll='echo listed'\n"
    "alias cd=false read=false printf=false kill=false test=false\nread() { false; }\n",
    "zsh": "greet() { echo hello-$1; }\nalias ll='echo listed'\nalias -g L='| cat'\n"
    "alias cd=false read=false printf=false kill=false test=false\nread() { false; }\nsetopt NO_EXTENDED_GLOB\n",
}


def a_ticket(
    tmp_path: Path,
    command: str,
    *,
    words: tuple[str, ...] = WORDS,
    call: str = "s/1",
    until: float | None = None,
    passed: tuple[str, ...] = ("PATH",),
    given: dict[str, str] | None = None,
    kept: str = "",
    root: Path | None = None,
) -> Ticket:
    place = Place(root=root or tmp_path, cwd=root or tmp_path, state=tmp_path)
    launch = Launch(words=words, environment=given or {}, directory=tmp_path / "launch")
    until = time.time() + 100 if until is None else until
    about = About(call, "s", Profile("lead", (), ()), "none", place, launch, until, kept)
    return Tickets(tmp_path / "state").write(about, command, passed)


class Ran:
    """One run as a host does it: the exit code, what came out, and where the shell stood afterwards."""

    def __init__(self, shell: str, ticket: Ticket, cwd: Path, before: str = "", **env: str) -> None:
        told = f"{before}\neval '{ticket.text}' < /dev/null; echo \"$? $(pwd -P)\" > {cwd}/told"
        done = subprocess.run(
            [shell, "-c", told],
            cwd=cwd,
            env={"PATH": os.environ["PATH"], **env},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        code, _, self.there = (cwd / "told").read_text().rstrip("\n").partition(" ")
        self.code, self.out, self.err = int(code), done.stdout, done.stderr


def plainly(shell: str, command: str, cwd: Path) -> tuple[int, str]:
    """The same without a ticket, as the host does it: exit code and output."""
    told = f"eval {shlex.quote(command)} < /dev/null && pwd -P > /dev/null"
    done = subprocess.run([shell, "-c", told], cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode, done.stdout


COMMANDS = [
    "echo out; echo err >&2",
    "exit 7",
    "false",
    "nonesuch-program",
    "kill -9 $$",
    "cat <<'EOF'\na 'quoted' \"line\"\n$HOME `no` \\\nEOF",
    "cat <<EOF\n$((1 + 2))\nEOF",
    "seq 1 200000",
    "printf '%s\\n' 'it'\"'\"'s' '$x' \"`echo y`\"",
    "set -e; false; echo not reached because of the and",
    "for i in 1 2 3; do echo $i; done | tail -1",
    "x=1; (x=2; echo $x); echo $x $#",
    "cat; echo nothing came in",
    "echo 'remit_ticket=$1 remit_command' # a comment",
    'if true; then echo "unfinished',
    "printf 'no newline at the end'",
    "true &&\n\n  echo 'two\n lines'",
    "trap 'echo bye' EXIT; echo hi",
    "echo $'tab\\there' ü € 😀",
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("shell", SHELLS)
def test_exit_code_and_output_are_as_without_it(tmp_path: Path, shell: str, command: str):
    ran = Ran(shell, a_ticket(tmp_path, command), tmp_path)
    assert (ran.code, ran.out) == plainly(shell, command, tmp_path)


@pytest.mark.parametrize("shell", SHELLS)
def test_functions_aliases_and_options_of_the_hosts_shell_are_there(tmp_path: Path, shell: str):
    ran = Ran(shell, a_ticket(tmp_path, "greet you; ll"), tmp_path, OWN[shell])
    assert (ran.code, ran.out, ran.err) == (0, "hello-you\nlisted\n", "")
    ran = Ran(shell, a_ticket(tmp_path, "echo *", call="s/2"), tmp_path, "set -o noglob")
    assert ran.out == "*\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_stands_where_the_command_stood(tmp_path: Path, shell: str):
    (tmp_path / "a b'c").mkdir()
    ran = Ran(shell, a_ticket(tmp_path, 'cd "a b\'c" && pwd', call="s/1"), tmp_path)
    assert (ran.code, ran.there) == (0, str(tmp_path / "a b'c"))
    ran = Ran(shell, a_ticket(tmp_path, "cd /; exit 3", call="s/2"), tmp_path)
    assert (ran.code, ran.there) == (3, str(tmp_path))  # as hosts do: they ask only after a command that went well
    ran = Ran(shell, a_ticket(tmp_path, "mkdir gone; cd gone; rmdir ../gone", call="s/3"), tmp_path)
    assert ran.there == str(tmp_path)


FORGED = ("/", "/etc", "{out}", "{root}/../out", "{root}/link", "{root}/link/deep", "{root}x", "relative", "", "-")


@pytest.mark.parametrize(
    "said", [*FORGED, "{root}/a\x1b]0;x", "{root}/\tb", "{out}\n{root}/a", "~", "$HOME", "{root}/./link"]
)
@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_leads_the_hosts_shell_nowhere_outside(tmp_path: Path, shell: str, said: str):
    """It gets at the file by the shell that runs it, and writes what it likes."""
    root, out = tmp_path / "root", tmp_path / "out"
    for folder in (root / "a", root / "a\x1b]0;x", root / "\tb", out / "deep", tmp_path / "rootx"):
        folder.mkdir(parents=True)
    (root / "link").symlink_to(out)
    text = said.format(root=root, out=out)
    ticket = a_ticket(
        tmp_path, f"printf '%s\\n' {shlex.quote(text)} > {tmp_path}/state/tickets/*/stood; exit 0", root=root
    )
    assert Ran(shell, ticket, root).there == str(root)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_that_stands_outside_leaves_the_shell_where_it_was(tmp_path: Path, shell: str):
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    ticket = a_ticket(tmp_path, "cd / && ls > /dev/null", root=root)
    assert Ran(shell, ticket, root / "src").there == str(root / "src")


@pytest.mark.parametrize("shell", SHELLS)
def test_variables_are_those_that_pass(tmp_path: Path, shell: str):
    ticket = a_ticket(tmp_path, "env", passed=("PATH", "LC_*", "UNSET"), given={"HOME": "/inside", "LC_ALL": "X"})
    ran = Ran(shell, ticket, tmp_path, LC_ALL="C", LC_TIME="it's; $x", TOKEN="secret", HOME="/outside")
    lines = ran.out.splitlines()
    assert {"HOME=/inside", "LC_ALL=C", "LC_TIME=it's; $x"} <= set(lines)
    assert not any(line.startswith(("TOKEN", "UNSET", "remit")) for line in lines)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_ticket_is_good_for_one_use_and_for_a_while(tmp_path: Path, shell: str):
    ticket = a_ticket(tmp_path, "echo x >> ran")
    assert ticket.state() == "unused"
    assert Ran(shell, ticket, tmp_path).code == 0
    assert ticket.state() == "over"
    again = Ran(shell, ticket, tmp_path)
    assert (again.code, "was used before" in again.err) == (126, True)
    late = Ran(shell, a_ticket(tmp_path, "echo x >> ran", call="s/2", until=time.time() - 1), tmp_path)
    assert (late.code, "has expired" in late.err) == (126, True)
    void = a_ticket(tmp_path, "echo x >> ran", call="s/3")
    void.void()
    assert Ran(shell, void, tmp_path).code == 126
    void.remove()
    assert "is gone" in Ran(shell, void, tmp_path).err
    assert (tmp_path / "ran").read_text() == "x\n"
    with pytest.raises(FileExistsError):
        a_ticket(tmp_path, "echo other")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("words", [("false",), ("nonesuch-program",), ("true",)])
def test_what_does_not_begin_confined_does_not_run(tmp_path: Path, shell: str, words: tuple[str, ...]):
    ran = Ran(shell, a_ticket(tmp_path, "touch ran", words=words), tmp_path, SANDBOX_RUNTIME="1")
    assert (ran.code, (tmp_path / "ran").exists()) == (126, False)
    assert "could not be confined" in ran.err
    assert "a sandbox of its own" in ran.err


@pytest.mark.parametrize("shell", SHELLS)
def test_nothing_outlives_a_host_that_is_killed(tmp_path: Path, shell: str):
    """The script watches the host, and what is confined ends with the script's shell."""
    ticket = a_ticket(tmp_path, "echo $$ > inner; exec sleep 1000", words=("setpriv", "--pdeathsig", "KILL"))
    host = subprocess.Popen(["sh", "-c", f"{shell} -c '{ticket.text}'; echo"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    _until(lambda: (tmp_path / "inner").exists() and (tmp_path / "inner").read_text().strip() != "")
    inner = int((tmp_path / "inner").read_text())
    assert ticket.state() == "running"
    os.kill(host.pid, signal.SIGKILL)
    host.wait(60)
    _until(lambda: not _runs(inner))
    _until(lambda: ticket.state() == "over")


def test_a_run_is_killed(tmp_path: Path):
    ticket = a_ticket(tmp_path, "echo $$ > inner; exec sleep 1000", words=("setpriv", "--pdeathsig", "KILL"))
    host = subprocess.Popen(["sh", "-c", f"bash -c '{ticket.text}'; echo"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    _until(lambda: (tmp_path / "inner").exists() and (tmp_path / "inner").read_text().strip() != "")
    ticket.kill()
    _until(lambda: not _runs(int((tmp_path / "inner").read_text())))
    host.wait(60)
    assert ticket.state() == "over"


def test_a_run_goes_on_until_its_shell_ends_whenever_somebody_first_looks(tmp_path: Path):
    """What `/proc/PID` has as its times is when somebody first looked there, not when the process began."""
    ticket = a_ticket(tmp_path, "echo $$ > inner; exec sleep 1000", words=("setpriv", "--pdeathsig", "KILL"))
    host = subprocess.Popen(["sh", "-c", f"bash -c '{ticket.text}'; echo"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        _until(lambda: (tmp_path / "inner").exists() and (tmp_path / "inner").read_text().strip() != "")
        os.utime(ticket.path / "pid", (1, 1))
        assert ticket.state() == "running"
        taken = (ticket.path / "pid").read_text()
        before, _, status = taken.rpartition(") ")
        fields = status.split()
        (ticket.path / "pid").write_text(
            f"{before}) {' '.join([*fields[:19], str(int(fields[19]) - 1), *fields[20:]])}"
        )
        assert ticket.state() == "over"  # another process has got its number
        (ticket.path / "pid").write_text(taken)
    finally:
        ticket.kill()
        host.wait(60)
    assert ticket.state() == "over"


@pytest.mark.parametrize("shell", SHELLS)
def test_where_nobody_can_write_down_that_it_began_it_does_not_run(tmp_path: Path, shell: str):
    """A disk that became full after the ticket was written."""
    ticket = a_ticket(tmp_path, "touch made", words=("bash", "-c", 'exec "$@" 5> /dev/full', "bash"))
    ran = Ran(shell, ticket, tmp_path)
    assert (ran.code, (tmp_path / "made").exists()) == (126, False)


@pytest.mark.parametrize("shell", SHELLS)
def test_of_shells_that_race_for_a_ticket_one_runs_it(tmp_path: Path, shell: str):
    for number in range(5):
        ticket = a_ticket(tmp_path, "echo x >> ran", call=f"s/{number}")
        told = f"sleep 0.2; {ticket.text}"
        racing = [subprocess.Popen([shell, "-c", told], cwd=tmp_path, stderr=subprocess.PIPE) for _ in range(6)]
        said = [process.communicate()[1] for process in racing]
        assert sorted(process.returncode for process in racing) == [0, *[126] * 5]
        assert sum(b"was used before" in text for text in said) == 5
        assert (tmp_path / "ran").read_text() == "x\n" * (number + 1)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_has_no_handle_of_what_says_that_it_began(tmp_path: Path, shell: str):
    """Otherwise it could claim that it never ran: nothing would be told or recorded of what it did."""
    command = "for f in /proc/$$/fd/*; do if test -f $f; then readlink $f >> found; : > $f; fi; done; echo ran"
    ticket = a_ticket(tmp_path, command)
    ran = Ran(shell, ticket, tmp_path)
    assert (ran.code, ran.out, ticket.has_begun()) == (0, "ran\n", True)
    assert "said" not in {Path(line).name for line in (tmp_path / "found").read_text().splitlines()}


def test_what_is_on_disk_is_private_and_reads_back(tmp_path: Path):
    ticket = a_ticket(tmp_path, "echo hi")
    assert {oct(path.stat().st_mode & 0o777) for path in (ticket.path, *ticket.path.iterdir())} == {"0o700", "0o600"}
    about = ticket.about()
    assert about is not None
    assert (about.call, about.place.root, about.launch.words) == ("s/1", tmp_path, WORDS)
    assert [one.path for one in Tickets(tmp_path / "state").of_session("s")] == [ticket.path]
    assert list(Tickets(tmp_path / "state").of_session("t")) == []
    with pytest.raises(ValueError, match="NUL"):
        a_ticket(tmp_path, "echo \0", call="s/2")


def _until(holds: object) -> None:
    end = time.monotonic() + 60
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
