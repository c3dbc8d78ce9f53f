"""A process whose threads all begin at the same moment, with nothing built yet: `crowd.py URL FOLDER THREADS`.

Each looks at the task, judges a call of each kind and begins one in it. What went wrong is counted on stdout.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from remit.compile.file import read_rulebook
from remit.decide import decide
from remit.grant.authority import Authority
from remit.model.call import Call, Context
from remit.model.errors import RemitError
from remit.model.facts import Facts
from remit.model.wire import decode_call
from remit.record.vault import Vault
from remit.store import open_store

LINE = json.dumps({"agent": "a", "tool": "look", "args": {"path": "x"}, "context": {"capsule": "T"}}).encode()


def main(url: str, folder: Path, threads: int) -> None:
    store = open_store(None if url == "-" else url, folder, timeout=120)
    authority = Authority(store, Vault(store, folder / "keys"))
    start = threading.Barrier(threads)
    found: Counter[str] = Counter()

    def run() -> None:
        start.wait()
        try:
            rulebook = read_rulebook(folder / "rulebook")
            facts = authority.facts("T", Facts(store=True))
            for tool, args in (("term", {"command": "git log -p | sort"}), ("query", {"sql": "SELECT a FROM t"})):
                decide(rulebook, Call("a", tool, args, Context(capsule="T")), facts)
            call = decode_call(LINE)
            authority.begin(call, decide(rulebook, call, facts), rulebook, facts)
            found["ran"] += 1
        except RemitError as error:
            found[error.code] += 1
        except BaseException as error:
            found[repr(error)[:200]] += 1

    crowd = [threading.Thread(target=run) for _ in range(threads)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    store.close()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
