"""A process that races with others for one ask or one task: `racer.py URL FOLDER FILE`, URL `-` for SQLite.

It reads lines of JSON, `{"do", "at", "capsule", "ask", "to"}`, does that at that moment of the clock that all processes
share, and answers each with a line, `{"began", "ended", "error"}`. What runs leaves a line in FILE.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from remit.grant.authority import Authority
from remit.model.errors import RemitError
from tests.grant.world import Wall, authority, call, judge, open_world, rules

DAY = 24 * 3600.0


class Racer:
    def __init__(self, url: str, folder: str, file: str) -> None:
        self.rulebook, self.folder = rules(), Path(folder)
        self.store = open_world(None if url == "-" else url, self.folder)
        self.one: Authority = authority(self.store, self.folder)
        self.path = Path(file)
        self.file = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def do(self, order: dict[str, Any]) -> dict[str, Any]:
        told: dict[str, Any] = {"error": None}
        while (left := order["at"] - time.monotonic()) > 0:
            time.sleep(min(left, 0.01) if left > 0.02 else 0)
        told["began"] = time.monotonic()
        try:
            self._do(order, told)
        except RemitError as error:
            told["error"] = error.code
        told["ended"] = time.monotonic()
        return told

    def _do(self, order: dict[str, Any], told: dict[str, Any]) -> None:
        match order["do"]:
            case "approve" | "refuse":
                self.one.answer(order["ask"], order["do"], by=f"p{os.getpid()}")
            case "cancel":
                self.one.cancel(order["ask"], by="racer")
            case "end":
                if order.get("after_some"):
                    self._wait_for(order["capsule"])
                self.one.end(order["capsule"], by="racer")
            case "expire":
                # Somebody whose clock is two days ahead.
                wall = Wall(time.time() + order["ahead"] * DAY)
                authority(self.store, self.folder, wall).waiting()
            case "ask":
                made = call("boss", order["tool"], order["args"], order["capsule"])
                decision, facts = judge(self.one, self.rulebook, made)
                told["ask"] = self.one.ask(made, decision, self.rulebook, facts, point="racer").id
            case "run":
                self._run(order, told)

    def _run(self, order: dict[str, Any], told: dict[str, Any]) -> None:
        """As an enforcement point: decide, begin, run; again and again, for a time, some tries, or until the end."""
        until = time.monotonic() + order.get("for", 30.0)
        left = order.get("tries", 10**6)
        while left and time.monotonic() < until:
            left -= 1
            made = call("boss", order["tool"], order["args"], order["capsule"])
            decision, facts = judge(self.one, self.rulebook, made)
            if not decision.allowed:
                if decision.code == "capsule-ended" and "for" not in order:
                    return
                continue
            began = time.monotonic()
            try:
                self.one.begin(made, decision, self.rulebook, facts)
            except RemitError as error:
                told["error"] = error.code
                continue
            os.write(self.file, f"{order['capsule']} {began!r}\n".encode())

    def _wait_for(self, capsule: str) -> None:
        """Until something has run in the capsule."""
        until = time.monotonic() + 30.0
        while time.monotonic() < until and f"{capsule} " not in self.path.read_text():
            time.sleep(0.005)


def main(url: str, folder: str, file: str) -> None:
    racer = Racer(url, folder, file)
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(racer.do(json.loads(line))), flush=True)
    racer.store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
