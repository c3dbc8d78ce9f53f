"""`remit serve`: the daemon that hooks ask. Without it each hook decides by itself, which takes longer to start."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from queue import Full, Queue
from threading import Thread
from typing import Annotated

from remit.adapters.hooks.carrier import Answer
from remit.cli.common import FINE, find_policy
from remit.cli.ledger.lines import out_ascii
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import OutputClosed, err, out, paint
from remit.cli.parameters import Option
from remit.explain.why import headline
from remit.model.decision import Decision
from remit.model.moments import moment
from remit.model.text import shown
from remit.service.daemon import Daemon


def command(
    policy: PolicyOption = None,
    quiet: Annotated[bool, Option("--quiet", help="Print only what was refused or asked.")] = False,
    json: JsonOption = False,
) -> int:
    """Answer this project's hooks with the activated policy until interrupted.

    Examples: `remit serve`, `remit serve --quiet`
    """
    lines: Queue[tuple[str, Decision] | None] = Queue(1000)

    def on_answer(host: str, answer: Answer) -> None:
        decision = answer.decision
        if decision is None or (quiet and decision.allowed and decision.would is None):
            return
        with suppress(Full):  # nobody reads what is printed: no answer waits for that, and the ledger has it all
            lines.put_nowait((host, decision))

    def print_lines() -> None:
        while (line := lines.get()) is not None:
            tell(*line)

    def tell(host: str, decision: Decision) -> None:
        try:
            if json:
                out_ascii({"host": host, "decision": decision.verdict.word, **_said(decision)})
            else:
                line = f"{host} {shown(decision.agent)} {shown(decision.tool)}  {headline(decision)}"
                out(paint(line, decision.verdict.word) + "\n")
        except OutputClosed:
            pass  # nobody looks; the answers go on

    root = find_policy(policy).parent.absolute()
    printer = Thread(target=print_lines, name="remit-lines", daemon=True)

    def on_fault(fault: str) -> None:
        err(f"remit: {moment(time.time())} {fault}")

    with Daemon(root, on_answer, on_fault=on_fault) as daemon:
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(name, lambda *_: daemon.stop())
        if json:
            out_ascii({"serving": str(daemon.server.path), "policy": daemon.rulebook.hash})
        else:
            out(f"serving {shown(daemon.rulebook.book.name)} ({daemon.rulebook.hash[:19]}…) on {daemon.server.path}\n")
        printer.start()
        daemon.serve()
    with suppress(Full):
        lines.put_nowait(None)
    printer.join(1)
    return FINE


def _said(decision: Decision) -> dict[str, object]:
    return {
        "agent": decision.agent,
        "tool": decision.tool,
        "code": decision.code,
        "reason": decision.reason,
        "would": decision.would,
        "tier": decision.tier,
    }
