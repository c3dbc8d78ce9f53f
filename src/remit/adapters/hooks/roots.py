"""Which projects Remit was installed for: one list a host and user, outside of every project.

A hook in the user's or the machine's settings runs in every session. The list is a shell script, so that a session that
has nothing to do with Remit pays for a shell and no more: it finds the project by where the session was started, or by
the working directory, and starts the hook of that project. A linked worktree of git counts as the place in the project
that it mirrors. In any other session it only looks whether a call names one
of these projects; if so, Remit is asked whether the call would write there. A list that is gone, cut off or not ours
denies everything: whoever took it away shall not have gained by it.

    mind ROOT STATE PYTHON CLIENT        # one line for each project

The same list starts Remit's own MCP server, where a host has one list of servers for all projects (`serve`):
outside of every project it is a server without tools.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from remit.adapters.hooks.installed import Installed, InstallError
from remit.adapters.hosts.interface import PLAIN_REFUSAL, Host
from remit.store.files import write_whole
from remit.store.place import hosts_directory

_CLIENT = Path(__file__).with_name("client.py")
_HEAD = """\
# Written by `remit install`: the projects that Remit minds in HOST, and how it is asked about them.
refuse() {
  echo "Remit: $1; nothing may run. Tell the person who runs you." >&2
  exit 2
}
ask() {
  [ "$doing" != serve ] || exec "$3" -I -m remit mcp HOST "$2"
  [ -x "$3" ] && [ -r "$4" ] || refuse "the program that judges calls in $1 is gone"
  case $doing in
    agent) "$3" -I -S "$4" HOST "$2" --agent "$agent" ;;
    *) "$3" -I -S "$4" HOST "$2" ;;
  esac
  code=$?
  case $code in 1 | ???) refuse "the hook ended with $code" ;; esac
  exit $code
}
mind() {
  case $start/:$mirror/ in
    "$1"/* | *:"$1"/*) rank=2 ;;
    *) case $here/:$inside/ in "$1"/* | *:"$1"/*) rank=1 ;; *) return 0 ;; esac ;;
  esac
  if [ $rank -gt $best ] || { [ $rank -eq $best ] && [ ${#1} -gt ${#root} ]; }; then
    best=$rank root=$1 state=$2 python=$3 client=$4
  fi
}
mentions() {
  rest=${1#"$HOME"}
  case $said in
    *"$1"[!A-Za-z0-9_.-]* | *[~E}\\"]"$rest"[!A-Za-z0-9_.-]* | *../*"${1##*/}"[!A-Za-z0-9_.-]*) return 0 ;;
  esac
  case $1 in "$here"/*) case $said in *"${1#"$here"/}"[!A-Za-z0-9_.-]*) return 0 ;; esac ;; esac
  return 1
}
look() {
  mentions "$1" || return 0
  [ -x "$3" ] && [ -r "$4" ] || refuse "the program that judges calls in $1 is gone"
  printf '%s' "$said" | "$3" -I -S "$4" HOST "$2" elsewhere
  exit
}
serve_nothing() {
  while IFS= read -r said; do
    id=${said##*'"id":'}
    case $id in "$said") continue ;; [0-9\\"]*) id=${id%%[,\\}]*} ;; *) continue ;; esac
    version=${said#*'"protocolVersion":"'}
    case $said in
      *'"method":"initialize"'*)
        found='"capabilities":{"tools":{}},"serverInfo":{"name":"remit","version":"0"}'
        printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"%s",%s}}\\n' "$id" "${version%%\\"*}" "$found" ;;
      *'"method":"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}\\n' "$id" ;;
      *'"method":"ping"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{}}\\n' "$id" ;;
      *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"there is no such method"}}\\n' "$id" ;;
    esac
  done
  exit 0
}
mirrored() {
  mirror=$1 up=$1
  while [ -n "$up" ]; do
    [ ! -d "$up/.git" ] || return 0
    if [ -f "$up/.git" ]; then
      IFS= read -r line < "$up/.git"
      case $line in "gitdir: "*/worktrees/*) ;; *) return 0 ;; esac
      cd -P "$up" && cd -P "${line#gitdir: }/../../.." 2>/dev/null && [ -d .git/worktrees ] && mirror=$PWD${1#"$up"}
      return 0
    fi
    up=${up%/*}
  done
}
best=0 root= doing=$1 agent=$2
CDPATH=
cd -P . 2>/dev/null
here=$PWD start=STARTED
cd -P "$start" 2>/dev/null && start=$PWD
mirrored "$here" && inside=$mirror
mirrored "$start"
"""
_TAIL = """\
[ $best -eq 0 ] || ask "$root" "$state" "$python" "$client"
[ "$doing" != serve ] || serve_nothing
[ -z "$remit_shared" ] || refuse "Remit is not installed for this project; a person runs \\`remit install HOST\\`"
said=$(command -p cat)
case $said in QUESTIONS) ;; *) printf '%s' SILENCE; exit 0 ;; esac
"""
_END = "printf '%s' SILENCE\nexit 0\n"


class Root(NamedTuple):
    """One project that Remit was installed for."""

    root: str
    """Its directory, with symlinks followed."""
    state: str
    python: str
    client: str
    """The interpreter and the file that it runs: each project may have a Remit of its own."""


def roots_path(host: str) -> Path:
    """Where the list lies. Raises StoreError."""
    return hosts_directory() / f"{host}.sh"


def own_root(root: Path, state: Path) -> Root:
    """A project that this Remit minds."""
    return Root(str(root), str(state), sys.executable, str(_CLIENT))


def read_roots(host: str, path: Path | None = None) -> list[Root]:
    """The projects in the list; none if there is no list. Raises InstallError for one that can't be used."""
    path = path if path is not None else roots_path(host)
    try:
        about = os.lstat(path)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
            raise InstallError(f"{path}: not a file of its owner alone", code="roots-unreadable")
        text = path.read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InstallError(f"{path}: can't be read: {error.strerror}", code="roots-unreadable") from None
    found = []
    try:
        for line in text.splitlines():
            if line.startswith("mind "):
                _, root, state, python, client = shlex.split(line)
                found.append(Root(root, state, python, client))
    except ValueError:
        raise InstallError(f"{path}: a line of it can't be read", code="roots-unreadable") from None
    if not text.endswith(_END.splitlines(keepends=True)[-1]):
        raise InstallError(f"{path}: it is cut off", code="roots-unreadable")
    return found


def roots_file(host: Host, roots: list[Root]) -> bytes:
    """The list as the shell reads it."""

    def filled(text: str) -> str:
        started = f"${{{host.started_in}:-.}}" if host.started_in is not None else "."
        silence = shlex.quote(host.last_resort.silence.out.decode())
        questions = " | ".join(f"*{shlex.quote(mark)}*" for mark in host.last_resort.questions) or "*"
        for name, value in (("QUESTIONS", questions), ("SILENCE", silence), ("STARTED", started), ("HOST", host.name)):
            text = text.replace(name, value)
        return text

    lines = [" ".join(map(shlex.quote, one)) for one in roots]
    whole = filled(_HEAD) + "".join(f"mind {line}\n" for line in lines) + filled(_TAIL)
    return (whole + "".join(f"look {line}\n" for line in lines) + filled(_END)).encode("utf-8", "surrogateescape")


def change_roots(host: Host, change: Callable[[list[Root]], list[Root]]) -> None:
    """The list as `change` makes it of what it was, in one step; an empty one is no list. Raises RemitError."""
    path = roots_path(host.name)
    with _locked(path.parent):
        wanted = change(read_roots(host.name, path))
        try:
            if wanted:
                write_whole(path, roots_file(host, wanted))
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise InstallError(f"{path}: can't be written: {error.strerror}") from None


def with_root(roots: list[Root], own: Root) -> list[Root]:
    """The list with this project in it, once."""
    return sorted([*(one for one in roots if one.root != own.root), own])


def without_root(roots: list[Root], root: Path) -> list[Root]:
    """The list without this project."""
    return [one for one in roots if one.root != str(root)]


def roots_are_current(host: Host, own: Root) -> bool:
    """Whether the list is as this Remit writes it, and has this project in it."""
    try:
        roots = read_roots(host.name)
        return own in roots and roots_path(host.name).read_bytes() == roots_file(host, roots)
    except (InstallError, OSError):
        return False


def sealed_places(state: Path, installed: Installed) -> tuple[str, ...]:
    """What no call of one project may change: the lists, where our hooks stand, and the other projects in the lists.

    One around this project is left out, and one inside of it: that belongs to it.
    """
    folder, root = state.parent / "hosts", installed.root
    found = [str(folder), *(copy.path for copy in installed.outside)]
    for path in sorted(folder.glob("*.sh")):
        with suppress(InstallError):  # the shell denies everything then
            found += [one.root for one in read_roots(path.stem, path)]
    apart = (one for one in found if os.path.commonpath((one, root)) not in (one, root))
    return tuple(dict.fromkeys(apart))


def guard_command(host: str) -> str:
    """What stands in settings outside of the projects, for `sh -c`. Raises StoreError."""
    path = shlex.quote(str(roots_path(host)))
    why = shlex.quote(PLAIN_REFUSAL.err.decode().strip().replace("{why}", "the list of its projects can't be read"))
    return f"[ -r {path} ] && . {path}; echo {why} >&2; exit 2"


def server_command(host: str) -> tuple[str, ...]:
    """What stands in a list of MCP servers that belongs to all projects. Raises StoreError."""
    path = shlex.quote(str(roots_path(host)))
    return ("/bin/sh", "-c", f"[ -r {path} ] && . {path}; exit 1", "remit", "serve")


def shared_command(host: str) -> str:
    """What stands in settings that others share: a name, and no place on this machine."""
    return f"remit-hook {host}"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Nobody else changes a list meanwhile."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
