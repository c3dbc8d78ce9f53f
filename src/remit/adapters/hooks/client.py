"""`remit-hook HOST STATE`: what a host runs before and after each tool call. It always answers, and never lets go.

It asks the daemon of the project over its socket; where none is listening, it decides by itself (`local.py`). Whatever
breaks, the answer is a deny that the host understands, within DEADLINE, which lies below the host's own limit.

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
_PRE = ('"hook_event_name":"PreToolUse"', '"hook_event_name": "PreToolUse"')
_POST = ('"hook_event_name":"PostToolUse', '"hook_event_name": "PostToolUse')

_answering = _thread.allocate_lock()
_stdout = 1


class DaemonFailed(Exception):
    """The daemon took the question and gave no answer."""


def main() -> None:
    """Reads the host's question from stdin, answers on stdout, and ends the process."""
    global _stdout
    data = bytearray()
    try:
        # A host may take an answer with anything beside it for no answer at all: nobody else writes to stdout.
        _stdout = posix.dup(1)
        posix.dup2(posix.open("/dev/null", posix.O_WRONLY), 1)
        _thread.start_new_thread(_watch, (data,))
        for number in (_signal.SIGTERM, _signal.SIGHUP):
            _signal.signal(number, lambda *_: None if _answering.locked() else _end(data, "the hook was told to stop"))
        import faulthandler

        # Where even the watch above can't run, this ends the process; the host blocks what it gets no answer for.
        faulthandler.dump_traceback_later(DEADLINE + 3, exit=True)
        if len(sys.argv) != 3:
            _end(data, "remit-hook is run by a host: `remit install` writes the command")
        host, state = sys.argv[1:]
        while chunk := posix.read(0, 1024 * 1024):
            data += chunk
            if len(data) > LIMIT:
                _end(data, "the call is too large to be judged")
        _say(_answer(host, state, bytes(data)))
    except BaseException as error:
        try:
            _end(data, f"the hook failed ({type(error).__name__})")
        finally:
            posix._exit(2)  # not even that can be said, as without memory: 2 blocks, and 1 would not


def _answer(host: str, state: str, data: bytes) -> bytes:
    failed = None
    alone = posix.environ.get(b"CLAUDE_CODE_SESSION_ATTENDED") == b"0"
    try:
        found = ask(host, state, data, alone=alone)
        if found is not None:
            return found
    except DaemonFailed as error:
        failed = str(error)
    import site

    site.main()  # -S left out where packages are
    # msgspec asks for it, does without it, and it brings half of the time that starting takes.
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    from remit.adapters.hooks.local import answer_alone

    del sys.modules["typing_extensions"]

    return answer_alone(host, state, data, alone=alone, failed=failed)


def ask(host: str, state: str, data: bytes, *, alone: bool = False) -> bytes | None:
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
    try:
        mark = posix.urandom(8).hex()
        who = b"alone" if alone else b"attended"
        link.sendall(b"remit-hook 1 %s %s %s %d\n" % (host.encode(), who, mark.encode(), len(data)) + data)
        opening = b"remit-hook 1 %s " % mark.encode()
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
    head, _, body = bytes(found).partition(b"\n")
    if head != opening + str(len(body)).encode() or body[:1] != b"{" or body[-1:] != b"}":
        raise DaemonFailed("it answers something else")
    return body


def _watch(data: bytearray) -> None:
    time.sleep(DEADLINE)
    _end(data, "the hook had no answer in time")


def _end(data: bytearray, why: str) -> None:
    """The answer when there is none: nothing runs before, and nothing changes after."""
    text = bytes(data[:LIMIT]).decode("utf-8", "replace")
    after = any(mark in text for mark in _POST) and not any(mark in text for mark in _PRE)
    _say(b"{}" if after else refusal(why))


def refusal(why: str) -> bytes:
    """A deny in the words of the host; `why` has nothing in it that JSON would escape."""
    reason = f"Remit: {why}; nothing may run. Tell the person who runs you."
    return (
        '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
        f'"permissionDecisionReason":"{reason}"}}}}'
    ).encode()


def _say(answer: bytes) -> None:
    """Writes the answer, once, and ends the process: with 2, which blocks, if it can't be written."""
    _answering.acquire()
    status = 0
    try:
        while answer:
            answer = answer[posix.write(_stdout, answer) :]
    except BaseException:
        status = 2
    posix._exit(status)


if __name__ == "__main__":
    main()
