"""`remit-hook HOST STATE`: what a host runs before and after each tool call. It always answers, and never lets go.

    remit-hook HOST STATE elsewhere      # of a session outside of the project: only whether a call would write into it
    remit-hook HOST                      # by name, in settings that are shared: the project is found as `roots.py` does
    remit-hook HOST --agent NAME         # the same in an agent's definition, where the host does not say who calls

It asks the daemon of the project over its socket; where none is listening, it decides by itself (`local.py`). Whatever
breaks, the answer is a deny that the host understands, within DEADLINE, which lies below the host's own limit. A child
does the work, and its parent only waits: a child that is killed, crashes or hangs ends the hook with 2. How the
host is refused stands in a file of the state directory that `remit install` wrote (`installed.py`); without that file
the hook ends with 2, which every known host takes for a deny.

A host starts this file by itself, with `python -I -S`: so it imports nothing but what an interpreter has in it, until
it must decide alone.
"""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, without `enum`
import _socket
import _thread
import posix
import sys
import time

DEADLINE = 15.0
"""Seconds for everything."""
PATIENCE = 6.0
"""Seconds for the daemon."""
LIMIT = 32 * 1024 * 1024
SOCKET = "serve.sock"
PING = "ping"
"""In the place of a host: whether the daemon answers at all."""
AGENT = "remit_agent"
"""Beside what the host said: the agent whose definition names this hook."""
SIDECAR = "hooks/%s.client"
MAGIC = b"remit-client 2"
_MANY = (b"question", b"report")

Reply = tuple[bytes, bytes, int]
"""What goes to stdout, what goes to stderr, and the exit code."""

_answering = _thread.allocate_lock()
_stdout, _stderr = 1, 2


class DaemonFailed(Exception):
    """The daemon took the question and gave no answer."""


class LastResort:
    """How the host is refused when nothing else works: until its file is read, in the way that every host obeys."""

    def __init__(self) -> None:
        self.known = False
        self.refusal: Reply = (b"", b"Remit: {why}; nothing may run. Tell the person who runs you.\n", 2)
        self.silence: Reply = (b"", b"", 0)
        self.questions: list[bytes] = []
        self.reports: list[bytes] = []
        self.unattended: tuple[bytes, bytes] | None = None

    def read(self, path: str) -> None:
        """Takes over what the file says, all of it or nothing."""
        try:
            descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK)
            try:
                about = posix.fstat(descriptor)
                if about.st_uid != posix.geteuid() or about.st_mode & 0o077:
                    return
                data = posix.read(descriptor, 64 * 1024)
            finally:
                posix.close(descriptor)
            head, *lines = data.split(b"\n")
            if head != MAGIC or lines[-2:] != [b"end %d" % len(lines), b""]:
                return
            found: dict[bytes, list[bytes]] = {}
            for line in lines[:-2]:
                key, _, value = line.partition(b" ")
                if key not in _MANY and key in found:
                    return
                found.setdefault(key, []).append(value.replace(b"%0A", b"\n").replace(b"%25", b"%"))
            refusal, silence = _reply(found, b"refusal"), _reply(found, b"silence")
            unattended = found.get(b"unattended")
            if refusal[2] == 0 and b"{why}" not in refusal[0]:
                return  # it would refuse nothing
            if b"" in found.get(b"question", []) or b"" in found.get(b"report", []):
                return  # every text contains it
        except (OSError, KeyError, ValueError):
            return
        self.refusal, self.silence = refusal, silence
        self.questions, self.reports = found.get(b"question", []), found.get(b"report", [])
        if unattended is not None:
            name, _, value = unattended[0].partition(b"=")
            self.unattended = (name, value)
        self.known = True

    @property
    def alone(self) -> bool:
        """Whether nobody attends the host, as far as anybody knows."""
        if self.unattended is None:
            return not self.known
        name, value = self.unattended
        return posix.environ.get(name, b"") == value

    def answer(self, data: bytes, why: str) -> Reply:
        """A deny; for a report, which changes nothing any more, silence."""
        if self._is_report(data):
            return self.silence
        out, err, code = self.refusal
        reason = why.encode()  # it has nothing in it that JSON would escape
        return out.replace(b"{why}", reason), err.replace(b"{why}", reason), code

    def _is_report(self, data: bytes) -> bool:
        """Only what is surely one: its own fields say so, not what an agent could have put into its arguments."""
        if any(mark in data for mark in self.questions):
            return False
        own = _own_fields(data[: 64 * 1024])
        return any(mark in own for mark in self.reports)


def _own_fields(data: bytes) -> bytes:
    """What of an object in JSON stands in none that is inside of it."""
    depth, text, escaped, kept = 0, False, False, bytearray()
    for byte in data:
        if text:
            text, escaped = escaped or byte != 0x22, byte == 0x5C and not escaped
        elif byte == 0x22:
            text = True
        elif byte in b"{[":
            depth += 1
        elif byte in b"}]":
            depth -= 1
        if depth == 1:
            kept.append(byte)
    return bytes(kept)


def _reply(found: dict[bytes, list[bytes]], name: bytes) -> Reply:
    """Raises KeyError and ValueError."""
    code = found[name + b".code"][0]
    if not code.isdigit() or not 0 <= int(code) <= 255:
        raise ValueError
    return found[name + b".out"][0], found[name + b".err"][0], int(code)


_host = LastResort()


def main() -> None:
    """Reads the host's question from stdin, answers on stdout and stderr, and ends the process."""
    global _stdout, _stderr
    data = bytearray()
    try:
        # A host may take an answer with anything beside it for no answer at all: nobody else writes there.
        _ensure_open()
        _stdout, _stderr = posix.dup(1), posix.dup(2)
        nowhere = posix.open("/dev/null", posix.O_WRONLY)
        posix.dup2(nowhere, 1)
        posix.dup2(nowhere, 2)
        posix.close(nowhere)
        if len(sys.argv) == 2:
            _find_project(sys.argv[1], [])
        elif sys.argv[2] == "--agent":
            _find_project(sys.argv[1], [b"agent", " ".join(sys.argv[3:]).encode()])
        if len(sys.argv) == 3 or sys.argv[3] in ("elsewhere", "--agent"):
            _host.read(f"{sys.argv[2]}/{SIDECAR % sys.argv[1]}")
        _wait_for_child()
        _thread.start_new_thread(_watch, (data,))
        for number in (_signal.SIGTERM, _signal.SIGHUP):
            _signal.signal(number, lambda *_: None if _answering.locked() else _end(data, "the hook was told to stop"))
        host, state, *more = sys.argv[1:]
        agent = more[1] if len(more) == 2 and more[0] == "--agent" and _is_name(more[1]) else None
        if more not in ([], ["elsewhere"]) and agent is None:
            _end(data, "remit-hook is run by a host: `remit install` writes the command")
        while chunk := posix.read(0, 1024 * 1024):
            data += chunk
            if len(data) > LIMIT:
                _end(data, "the call is too large to be judged")
        said = bytes(data)
        if agent is not None:
            said = b'{"%s":"%s","said":%s}' % (AGENT.encode(), agent.encode(), said)
        _say(_answer(host, state, said, more == ["elsewhere"]))
    except BaseException as error:
        try:
            _end(data, f"the hook failed ({type(error).__name__})")
        finally:
            _block()  # not even that can be said, as without memory


def _is_name(text: str) -> bool:
    return text.isascii() and 0 < len(text) <= 100 and text.replace("-", "").replace("_", "").replace(".", "").isalnum()


def _find_project(host: str, more: list[bytes]) -> None:
    """Goes on as the shell that finds the project; a session in one that Remit was not installed for is refused."""
    home = posix.environ.get(b"XDG_STATE_HOME", b"")
    if not home.startswith(b"/"):
        home = posix.environ.get(b"HOME", b"") + b"/.local/state"
    if not home.startswith(b"/") or "/" in host:
        return
    script = b'[ -r "$0" ] && . "$0"; echo "Remit is not installed here: nothing may run" >&2; exit 2'
    words = [b"sh", b"-c", b"remit_shared=1; " + script, home + b"/remit/hosts/" + host.encode() + b".sh"]
    posix.dup2(_stdout, 1)
    posix.dup2(_stderr, 2)
    posix.execv("/bin/sh", words + more)


def _wait_for_child() -> None:
    """Goes on in a child. Its parent ends as the child does, and with 2, which blocks, if that gave no answer in time.

    The parent runs nothing that could keep it from hearing a signal: where the child's own watch can't run, as in C
    code that never lets go of the interpreter, it kills the child.
    """
    passed_on = (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGINT)
    _signal.pthread_sigmask(_signal.SIG_BLOCK, passed_on)  # none is lost before somebody waits for it
    child = posix.fork()
    if child == 0:
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, passed_on)
        return
    try:
        _signal.signal(_signal.SIGALRM, lambda *_: posix.kill(child, _signal.SIGKILL))
        _signal.setitimer(_signal.ITIMER_REAL, DEADLINE + 2)
        for number in passed_on:
            _signal.signal(number, lambda number, _: posix.kill(child, number))
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, passed_on)
        _, status = posix.waitpid(child, 0)
        if posix.WIFEXITED(status):
            posix._exit(posix.WEXITSTATUS(status))
    finally:
        _block()


def _ensure_open() -> None:
    """No other file becomes stdin, stdout or stderr. Raises OSError where there is no stdout."""
    posix.fstat(1)
    for number in (0, 2):
        try:
            posix.fstat(number)
        except OSError:
            posix.open("/dev/null", posix.O_RDWR)  # it takes the lowest number that is free, which is this one


def _answer(host: str, state: str, data: bytes, elsewhere: bool) -> Reply:
    failed = None
    alone = _host.alone
    try:
        found = ask(host, state, data, alone=alone) if not elsewhere else None
        if found is not None:
            return found
    except DaemonFailed as error:
        failed = str(error)
    import gc  # here: a hook that finds the daemon needs none of this
    import site

    gc.disable()  # one call, and the process ends: looking for garbage would take longer than all of it lives
    site.main()  # -S left out where packages are
    # msgspec asks for the first one, does without it, and it brings half of the time that starting takes; of the other
    # one it needs, by way of `uuid`, nothing but the name of the system.
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    sys.modules["platform"] = _Platform  # type: ignore[assignment]
    from remit.adapters.hooks.local import answer_alone, answer_elsewhere

    del sys.modules["typing_extensions"], sys.modules["platform"]

    if elsewhere:
        return answer_elsewhere(host, state, data)
    return answer_alone(host, state, data, alone=alone, failed=failed)


def _is_ours(link: _socket.socket) -> bool:
    """Whether this user's daemon answers, where the system tells."""
    option = getattr(_socket, "SO_PEERCRED", None)
    if option is None:
        return True  # the folder lets nobody else in
    about = link.getsockopt(_socket.SOL_SOCKET, option, 12)  # process, user and group, four bytes each
    return int.from_bytes(about[4:8], sys.byteorder) == posix.geteuid()


class _Platform:
    """All that is needed of the module `platform`."""

    @staticmethod
    def system() -> str:
        return posix.uname().sysname


def ask(host: str, state: str, data: bytes, *, alone: bool = False) -> Reply | None:
    """What the daemon answers; None where none is listening. Raises DaemonFailed."""
    end = time.monotonic() + PATIENCE
    try:
        about = posix.stat(state)
        if about.st_uid != posix.geteuid() or about.st_mode & 0o077:
            return None  # deciding alone tells what is wrong with it
        posix.chdir(state)  # the path of a socket may have no more than some 100 characters
        link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        link.settimeout(PATIENCE)
        link.connect(SOCKET)
    except OSError:
        return None
    if not _is_ours(link):
        raise DaemonFailed("it is another user's")
    try:
        mark = posix.urandom(8).hex()
        who = b"alone" if alone else b"attended"
        link.sendall(b"remit-hook 2 %s %s %s %d\n" % (host.encode(), who, mark.encode(), len(data)) + data)
        opening = b"remit-hook 2 %s " % mark.encode()
        found = bytearray()
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise DaemonFailed("it does not answer")
            link.settimeout(left)
            chunk = link.recv(1024 * 1024)
            if not chunk:
                break
            found += chunk
            if len(found) > LIMIT:
                raise DaemonFailed("its answer is too long")
    except OSError:
        raise DaemonFailed("it does not answer") from None
    finally:
        link.close()
    head, _, body = bytes(found).partition(b"\n")
    try:
        code, out, err = map(int, head.removeprefix(opening).split(b" "))
    except ValueError:
        raise DaemonFailed("it answers something else") from None
    exact = b"%s%d %d %d" % (opening, code, out, err)
    if head != exact or not 0 <= code < 128 or min(out, err) < 0 or out + err != len(body):
        raise DaemonFailed("it answers something else")
    return body[:out], body[out:], code


def _watch(data: bytearray) -> None:
    time.sleep(DEADLINE)
    _end(data, "the hook had no answer in time")


def _end(data: bytearray, why: str) -> None:
    """The answer when there is none: nothing runs before, and nothing changes after."""
    _say(_host.answer(bytes(data[:LIMIT]), why))


def _say(reply: Reply) -> None:
    """Writes the answer, once, and ends the process: with 2, which blocks, if it can't be written."""
    _answering.acquire()
    out, err, status = reply
    try:
        for where, text in ((_stdout, out), (_stderr, err)):
            while text:
                text = text[posix.write(where, text) :]
    except BaseException:
        _block()
    posix._exit(status)


def _block() -> None:
    """Ends the process with 2, which blocks, and 1 would not; some hosts want a reason beside it."""
    try:
        posix.write(_stderr, b"Remit: the hook was ended; nothing may run. Tell the person who runs you.\n")
    finally:
        posix._exit(2)


if __name__ == "__main__":
    main()
