"""A rulebook is shared: many threads, one answer."""

import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from remit.compile import load_rulebook
from remit.decide import decide
from remit.model import Call, Facts
from tests.compile.test_file import calls

EXAMPLES = Path(__file__).parents[2] / "examples"
FACTS = Facts(now="2026-11-15T12:00:00Z")


def test_many_threads_get_the_same_decisions():
    expected = {}
    reference = load_rulebook(EXAMPLES / "cortex" / "remit.yaml")
    batch = list(calls(reference))
    for index, call in enumerate(batch):
        expected[index] = decide(reference, call, FACTS)
    shared = load_rulebook(EXAMPLES / "cortex" / "remit.yaml")  # nothing planned yet: threads race to do it
    start = threading.Barrier(8)

    def work(seed: int) -> int:
        order = list(range(len(batch)))
        random.Random(seed).shuffle(order)  # noqa: S311 - the same order on every run
        start.wait()
        return sum(decide(shared, batch[index], FACTS) != expected[index] for index in order)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            wrong = list(pool.map(work, range(8)))
    finally:
        sys.setswitchinterval(before)
    assert wrong == [0] * 8
    assert len({decision.code for decision in expected.values()}) >= 4


def test_a_decision_leaves_the_call_and_the_facts_alone():
    rulebook = load_rulebook(EXAMPLES / "forge-pipeline" / "remit.yaml")
    args = {"filePath": "src/app.py"}
    call = Call("researcher", "read_file", args)
    first = decide(rulebook, call, FACTS)
    assert args == {"filePath": "src/app.py"}
    assert Facts(now="2026-11-15T12:00:00Z") == FACTS
    assert decide(rulebook, call, FACTS) == first
