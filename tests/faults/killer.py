"""Starts programs of one kind, kills each at some moment, and prints what they were told: `killer.py < PLAN`.

It is a program of its own, so that it can fork without a thread beside it. Forked children have everything imported, so
that hundreds of them can be killed; each opens the log by itself. It prints one JSON document:

ran         numbers of the calls whose tool has begun
told        numbers of the calls that came back, and commands that said they were done
hooks       calls that a hook let run
kills       how many were killed before they ended
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from remit import Guard
from remit.cli.main import run as command
from remit.service.daemon import Daemon

DIRECT = {"remit": 1, "name": "direct", "agents": {"a": {"may": ["ping"]}}}
FAILED = 70
STEP = 1_000_000
"""Numbers of calls: this for each process, and one for each call."""


class Plan:
    """What is to be killed, how often, and where it works."""

    def __init__(self, said: dict[str, Any]) -> None:
        self.point: str = said["point"]
        self.count: int = said["count"]
        self.folder, self.state = Path(said["folder"]), Path(said["state"])
        self.policy: str = said["policy"]
        self.hook: str = said["hook"]
        self.seqs: list[int] = said["seqs"]
        """Entries that have values."""
        self.questions: list[dict[str, Any]] = said["questions"]
        self.environment: dict[str, str] = said["environment"]
        self.chance = random.Random(said["seed"])  # noqa: S311
        self.ran_file = self.folder / f"ran-{self.point}"
        self.ran = os.open(self.ran_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.first = said["seed"] * 1_000 * STEP


def say(line: str) -> None:
    """One write: a line is whole, or not there."""
    os.write(1, f"{line}\n".encode())


def guard(plan: Plan, number: int, *, later: bool = False) -> None:
    """Calls until it is killed. The tool says that it runs before anything else."""
    (plan.folder / "elsewhere").mkdir(exist_ok=True)
    found = Guard(DIRECT, root=plan.folder / "elsewhere", state=plan.state)

    def ping(n: int) -> int:
        os.write(plan.ran, f"{n}\n".encode())
        return n

    async def ping_later(n: int) -> int:
        os.write(plan.ran, f"{n}\n".encode())
        await asyncio.sleep(0)
        return n

    declare = partial(found.tool, "ping", does={"network": "https://a.example/**"}, tier=1)
    numbers = iter(range(plan.first + number * STEP, plan.first + (number + 1) * STEP))
    if later:
        call_later = declare()(ping_later)

        async def one() -> None:
            for n in numbers:
                say(f"told {await call_later(n)}")

        async def several() -> None:
            with found.start().agent("a"):
                say("ready")
                await asyncio.gather(*(one() for _ in range(4)))

        asyncio.run(several())
        return
    call = declare()(ping)
    with found.start().agent("a"):
        say("ready")
        for n in numbers:
            say(f"told {call(n)}")


def erase(plan: Plan, number: int) -> None:
    """A command that writes to the log, and changes it: the values of one entry go."""
    seq = plan.seqs[number]
    code = command(["ledger", "erase", "--policy", plan.policy, "--seq", str(seq), "--yes", "--who", "somebody"])
    if code:
        raise RuntimeError(f"`erase` ended with {code}")
    say(f"told {seq}")


def serve(plan: Plan, number: int) -> None:
    daemon = Daemon(
        plan.folder / "proj", state=plan.state, on_answer=lambda host, answer: None, on_fault=lambda text: None
    )
    say("ready")
    daemon.serve()


ACTS: dict[str, Callable[[Plan, int], None]] = {
    "guard": guard,
    "async guard": partial(guard, later=True),
    "command": erase,
    "daemon": serve,
}


def fork(act: Callable[[], None]) -> tuple[int, int]:
    """A child that does this and nothing else: its process number, and what to read its lines from."""
    here, there = os.pipe()
    child = os.fork()
    if child:
        os.close(there)
        return child, here
    code = FAILED
    try:
        os.dup2(there, 1)
        act()
        code = 0
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def lines_until_killed(plan: Plan, child: int, here: int) -> tuple[list[str], bool]:
    """Kills it at some moment: before it has said anything, or a while after one of its first lines."""
    wanted = plan.chance.choice((0, 0, 1, 1, 2, 4, 12))
    rest = plan.chance.uniform(0.0, 0.2 if wanted == 0 else 0.01)
    data, end = b"", time.monotonic() + 60
    while data.count(b"\n") < wanted and time.monotonic() < end:
        if select.select([here], [], [], 1)[0]:
            more = os.read(here, 65536)
            if not more:
                break
            data += more
    time.sleep(rest)
    os.kill(child, signal.SIGKILL)
    while more := os.read(here, 65536):
        data += more
    os.close(here)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code != FAILED, "nobody but the killer ends it"
    return [line.decode() for line in data.split(b"\n")[:-1]], code == -signal.SIGKILL


def ask(plan: Plan, question: dict[str, Any], wait: float | None) -> tuple[str | None, bool]:
    """The call that a hook let run, if it did so before it was killed."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", f"exec {plan.hook}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=plan.environment,
        cwd=plan.folder / "proj",
        start_new_session=True,  # the process that answers is a child of the one that the host starts
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(question).encode())
    process.stdin.close()
    process.stdin = None
    if wait is not None:
        time.sleep(wait)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    out, _ = process.communicate(timeout=120)
    allowed = b'"allow"' in out
    return (f"{question['session_id']}/{question['tool_use_id']}" if allowed else None), process.returncode != 0


def main() -> None:
    plan = Plan(json.load(sys.stdin))
    told: list[int] = []
    hooks: list[str] = []
    kills = 0
    asked = iter(plan.questions)
    began = time.monotonic()
    ask(plan, next(asked), None)
    typical = time.monotonic() - began
    for number in itertools.count():
        if kills == plan.count:
            break
        if plan.point == "hook":
            found, killed = ask(plan, next(asked), plan.chance.uniform(0.0, 1.5 * typical))
            hooks += [found] if found else []
            kills += killed
            continue
        child, here = fork(partial(ACTS[plan.point], plan, number))
        if plan.point == "daemon":
            assert os.read(here, 6) == b"ready\n"
            waiting = [ask(plan, next(asked), None) for _ in range(plan.chance.choice((0, 1)))]
            last = subprocess_ask(plan, next(asked))
            time.sleep(plan.chance.uniform(0.0, 0.15))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(here)
            hooks += [name for name, _ in [*waiting, last()] if name]
            kills += 1
            continue
        lines, killed = lines_until_killed(plan, child, here)
        told += [int(line.split()[1]) for line in lines if line.startswith("told ")]
        kills += killed
    ran = [int(line) for line in plan.ran_file.read_text().splitlines()]
    print(json.dumps({"ran": ran, "told": told, "hooks": hooks, "kills": kills}))


def subprocess_ask(plan: Plan, question: dict[str, Any]) -> Callable[[], tuple[str | None, bool]]:
    """A hook that asks while the daemon is killed; what it was told is there when this is called."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        found, _ = ask(plan, question, None)
        os.write(there, (found or "").encode())
        os._exit(0)
    os.close(there)

    def answer() -> tuple[str | None, bool]:
        data = b""
        while more := os.read(here, 4096):
            data += more
        os.waitpid(child, 0)
        return data.decode() or None, False

    return answer


if __name__ == "__main__":
    main()
