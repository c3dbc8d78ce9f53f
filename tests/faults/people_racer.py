"""A process of somebody who races with others: `people_racer.py URL FOLDER FILE`, URL `-` for SQLite.

It reads lines of JSON, `{"do", "who", "at", …}`, does that at that moment of the clock that all processes share, and
answers each with a line, `{"began", "ended", "error", "state"}`. What runs leaves a line in FILE.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from remit.grant import credential
from remit.model.errors import RemitError
from tests.grant.people_world import QUICK, named_rules, sign_of
from tests.grant.world import authority, call, judge, open_world

credential.NOW = QUICK
RULES = named_rules()


class Racer:
    def __init__(self, url: str, folder: str, file: str) -> None:
        self.store = open_world(None if url == "-" else url, Path(folder))
        self.one = authority(self.store, Path(folder))
        self.file = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def do(self, order: dict[str, Any]) -> dict[str, Any]:
        told: dict[str, Any] = {"error": None}
        sign = sign_of(self.store, order["who"]) if "who" in order else None
        while (left := order["at"] - time.monotonic()) > 0:
            time.sleep(min(left, 0.01) if left > 0.02 else 0)
        told["began"] = time.monotonic()
        try:
            match order["do"]:
                case "approve" | "refuse" as verdict:
                    told["state"] = self.one.answer(order["ask"], verdict, by=order["who"], sign=sign).state
                case "resume":
                    self.one.resume(order["agent"], by=order["who"], because="fine", sign=sign)
                case "halt":
                    told["state"] = self.one.halt(order["agent"], by="racer", because="odd")
                case "review":
                    self.one.sign_review(RULES, order["agent"], by=order["who"], because="fine", sign=sign)
                case "run":
                    self._run(order, told)
                case "answer-on":
                    self._answer_on(order, sign)
        except RemitError as error:
            told["error"] = error.code
        told["ended"] = time.monotonic()
        return told

    def _run(self, order: dict[str, Any], told: dict[str, Any]) -> None:
        """As an enforcement point: decide and begin, again and again for a time."""
        until = time.monotonic() + order["for"]
        while time.monotonic() < until:
            made = call("boss", "push", {"to": "x"}, order["capsule"])
            decision, facts = judge(self.one, RULES, made)
            if decision.allowed:
                began = time.monotonic()
                try:
                    self.one.begin(made, decision, RULES, facts)
                except RemitError as error:
                    told["error"] = error.code
                    continue
                os.write(self.file, f"{order['capsule']} {began!r}\n".encode())

    def _answer_on(self, order: dict[str, Any], sign: Any) -> None:
        """Answers one question after the other until somebody ends the process."""
        for name in order["asks"]:
            self.one.answer(name, "approve", by=order["who"], sign=sign)
            os.write(self.file, f"{name}\n".encode())


def main(url: str, folder: str, file: str) -> None:
    racer = Racer(url, folder, file)
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(racer.do(json.loads(line))), flush=True)
    racer.store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
