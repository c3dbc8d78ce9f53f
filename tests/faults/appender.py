"""A program that appends until it is killed: `appender.py PROJECT`. It prints each receipt that it was given.

ack SEQ CALL        a durable intent that was acknowledged
done CALL           an outcome that was acknowledged
"""

from __future__ import annotations

import os
import random
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from remit.record.open import open_ledger
from tests.record.project import allow, deny


def main(root: str, seed: str) -> None:
    opened = open_ledger(Path(root), point="appender", full=False)
    say("ready")

    def work(number: int) -> None:
        chance = random.Random(f"{seed}-{number}")  # noqa: S311
        while True:
            receipt = allow(opened, tier=chance.choice((1, 2, 3)), args={"n": chance.random()})
            say(f"ack {receipt.seq} {receipt.call}")
            if chance.random() < 0.6:
                opened.ledger.outcome(receipt.call, "failed")
                say(f"done {receipt.call}")
            if chance.random() < 0.3:
                denied = deny(opened)
                say(f"ack {denied.seq} {denied.call}")
            if chance.random() < 0.3:
                allow(opened, tier=0)
            if number == 0 and chance.random() < 0.05:
                opened.checkpoint()

    for number in range(3):
        threading.Thread(target=work, args=(number,), daemon=True).start()
    threading.Event().wait()


def say(line: str) -> None:
    """One write: a line is whole, or not there."""
    os.write(1, f"{line}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
