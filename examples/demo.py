"""Remit in a minute: agents' calls through two real policies, decisions printed as they fall and written to a ledger.

make demo
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from remit.compile import load_rulebook
from remit.decide import decide
from remit.model import Call, Context, Decision, Facts, Rulebook
from remit.model.facts import Capsule
from remit.record.audit import audit
from remit.record.open import Opened, open_ledger
from remit.record.writer import Ledger

HERE = Path(__file__).parent
COLOURS = {"allow": "32", "ask": "33", "deny": "31"}
SIGNS = {"allow": "✅", "ask": "✋", "deny": "❌"}
NOW = "2026-11-15T12:00:00Z"


def main() -> None:
    """Two teams, their calls, and what Remit says to each."""
    state = Path(tempfile.gettempdir()) / f"remit-demo-{os.getuid()}"
    shutil.rmtree(state, ignore_errors=True)
    with open_ledger(HERE, point="demo", state=state) as opened:
        _teams(opened.ledger)
        verified(opened)
    print(NEXT.replace("STATE", str(state)))


def _teams(ledger: Ledger) -> None:
    coding = load_rulebook(HERE / "forge-pipeline" / "remit.yaml")
    title("A coding pipeline: nine agents, one tool access matrix", coding)
    for agent, tool, args, mode in CODING:
        show(ledger, coding, Call(agent, tool, args, Context(mode=mode)), Facts(now=NOW))

    company = load_rulebook(HERE / "cortex" / "remit.yaml")
    title("A company of agents: layers, data tiers, locks and hand-overs", company)
    for call in COMPANY:
        show(ledger, company, call, Facts(now=NOW, capsules=CAPSULES))


def verified(opened: Opened) -> None:
    """Signs the log, and verifies all of it as an auditor would."""
    opened.ledger.flush()
    opened.checkpoint()
    found = audit(opened.log, opened.signer)
    report = found.report
    print(f"\n{paint('The ledger', '1')}")
    for fault in found.problems:
        print(f"❌ {fault.message}")
    if not found.verified:
        raise SystemExit(1)
    print(f"✅ verified: {report.size} entries, {found.values} values, signed by {opened.origin}")


def title(text: str, rulebook: Rulebook) -> None:
    """A heading with the policy's hash."""
    book = rulebook.book
    agents = sum(caller.kind == "agent" for caller in book.callers.values())
    print(f"\n{paint(text, '1')}")
    print(f"policy {book.name}: {agents} agents, {len(book.tools)} tools, {rulebook.hash[:19]}…\n")


def show(ledger: Ledger, rulebook: Rulebook, call: Call, facts: Facts) -> None:
    """One call, its decision, and both entries in the ledger; no tool runs in this demo."""
    decision: Decision = decide(rulebook, call, facts)
    receipt = ledger.intent(call, decision)
    if decision.allowed:
        ledger.outcome(receipt.call, "done")
    word = decision.verdict.word
    what = ", ".join(f"{name}={value!r}" for name, value in call.args.items() if value not in ("", False))
    chain = "".join(f"{name} → " for name in call.context.chain)
    print(f"{SIGNS[word]} {chain}{call.agent}: {call.tool}({what[:90]})")
    tail = f"  [{decision.rule}]" if decision.rule else ""
    reason = "" if decision.reason == "allowed" else f": {decision.reason}"
    print(f"   {paint(word, COLOURS[word])} tier {decision.tier}{reason}{tail}")
    if decision.remedy is not None:
        print(f"   to permit it: {decision.remedy.text}")


def paint(text: str, colour: str) -> str:
    """Colours on a terminal only."""
    return f"\033[{colour}m{text}\033[0m" if sys.stdout.isatty() else text


CODING = [
    ("researcher", "read_file", {"filePath": "src/app.py", "startLine": 1, "endLine": 40}, None),
    ("researcher", "create_file", {"filePath": "research/auth.yaml", "content": ""}, None),
    ("researcher", "create_file", {"filePath": "research/../src/app.py", "content": ""}, None),
    ("researcher", "create_file", {"filePath": "research/x.yaml", "content": "", "path": "/etc/x"}, None),
    ("spec", "ask_questions", {"questions": []}, "interactive"),
    ("spec", "ask_questions", {"questions": []}, "autonomous"),
    (
        "designer",
        "replace_string_in_file",
        {"filePath": "docs/design.md", "oldString": "a", "newString": "b"},
        None,
    ),
    ("implementer", "create_file", {"filePath": ".github/workflows/ci.yml", "content": ""}, None),
    ("implementer", "create_file", {"filePath": ".claude/settings.json", "content": ""}, None),
    ("implementer", "create_file", {"filePath": "remit.yaml", "content": ""}, None),
    ("orchestrator", "run_in_terminal", {"command": "git status && git log -3 --oneline"}, None),
    ("orchestrator", "run_in_terminal", {"command": "git -c core.pager=./x.sh log"}, None),
    ("orchestrator", "run_in_terminal", {"command": "git status; make deploy"}, None),
    ("adversarial-reviewer", "run_in_terminal", {"command": "git diff HEAD~1 -- src"}, None),
    ("knowledge", "run_in_terminal", {"command": 'sqlite3 verification-ledger.db "SELECT * FROM checks"'}, None),
    ("knowledge", "run_in_terminal", {"command": 'sqlite3 verification-ledger.db "SELECT 1; DROP TABLE t"'}, None),
    ("implementer", "run_in_terminal", {"command": "pip install left-pad"}, None),
    ("adversarial-reviewer", "run_in_terminal", {"command": "git dif''f --out\\put=src/app.py"}, None),
    ("intruder", "read_file", {"filePath": "README.md"}, None),
]

SPECIALIST = "backend-python-specialist"
CAPSULES = {"TASK-7": Capsule("TASK-7", SPECIALIST, data_tiers=(3,))}
COMPANY = [
    Call(SPECIALIST, "write_file", {"path": "src/api.py", "content": ""}),
    Call(SPECIALIST, "write_file", {"path": "docs/explanation/why.md", "content": ""}),
    Call(SPECIALIST, "http_get", {"url": "https://example.org/"}),
    Call(SPECIALIST, "read_file", {"path": "src/customers.py"}, Context(data_tier=3)),
    Call(SPECIALIST, "read_file", {"path": "src/customers.py"}, Context(data_tier=3, capsule="TASK-7")),
    Call(
        "code-writer-worker",
        "write_file",
        {"path": "src/api.py", "content": ""},
        Context(chain=(SPECIALIST,)),
    ),
    Call(SPECIALIST, "read_file", {"path": "README.md"}, Context(chain=("code-writer-worker",))),
]

NEXT = """
Where to go next
  .venv/bin/remit matrix --policy examples/forge-pipeline/remit.yaml    who may do what
  .venv/bin/remit check  --policy examples/cortex/remit.yaml            does the policy hold what it promises?
  .venv/bin/remit ledger show --state STATE    what the ledger says
  docs/tutorial.md                                                      write a policy of your own in ten minutes
"""

if __name__ == "__main__":
    main()
