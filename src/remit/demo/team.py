"""A team of four scripted agents behind Guard, on a scratch workspace with real files, git and SQLite.

One hands work on, one researches, one implements, one reviews. What it shows: scopes on paths, commands and SQL;
questions to a person, answered for one call; a task with limits and a budget that is handed on; a plan that a person
passes once; data that only a task opens.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from remit import CallDenied, CallPending, Guard, RemitError, audit, entries, open_log, task_from
from remit.demo.team_tools import Tools, declare, make_workspace
from remit.model.shipped import HOME
from remit.model.text import counted

POLICY = Path(HOME, "catalog", "demo", "remit.yaml")
COLOURS = {"allow": "32", "ask": "33", "deny": "31"}
SIGNS = {"allow": "✅", "ask": "✋", "deny": "❌"}
PERSON = "ann"
WIDTH = 79
INTRO = """\
Four scripted agents work on a real repository in a private folder.
Every call meets the policy first:
✅ it ran   ✋ a person is asked   ❌ denied: it did not run
"""


def play() -> None:
    """The team at work, then what the ledger says about it."""
    if shutil.which("git") is None or shutil.which("bash") is None:
        raise RemitError("the demo works on a real repository: it needs git and bash on PATH", code="no-git")
    place = Path(tempfile.mkdtemp(prefix="remit-demo-"))
    workspace, state = place / "workspace", place / "state"
    try:
        workspace.mkdir(parents=True)
        make_workspace(workspace, place / "remote.git")
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    prompts = Counter[str]()
    guard = Guard(
        POLICY,
        root=workspace,
        state=state,
        point="demo",
        on_question=lambda asked: prompts.update([asked.ask.capsule or "no task"]),
    )
    tools = declare(guard, workspace)
    with guard:
        print(INTRO)
        line("", f"policy team: {counted(len(guard.rulebook.book.callers), 'agent')}, {guard.rulebook.hash[:19]}…")
        Team(guard, tools).work()
        report(guard, prompts)
    verified(workspace, state)
    print(NEXT.replace("STATE", str(state)).replace("POLICY", str(POLICY)))
    if "MAKELEVEL" in os.environ:
        print('`make` started this. To have `remit` here: export PATH="$PWD/.venv/bin:$PATH"\n')


class Team:
    """Four agents whose next step stands here instead of in a model, and a person who answers them."""

    def __init__(self, guard: Guard, tools: Tools) -> None:
        self.guard, self.tools, self.authority = guard, tools, guard.authority

    def work(self) -> None:
        """Everything, one after the other."""
        self.research()
        self.release()
        self.delegate()
        self.plan()
        self.end()

    def research(self) -> None:
        """Scopes: files, commands and SQL are judged by what they are, not by how they look."""
        title("Allowed, and allowed within a scope")
        tools = self.tools
        with self.guard.agent("researcher"):
            show("researcher", tools.list_files, Path("src"))
            show("researcher", tools.write_file, Path("research/sessions.md"), "Sessions end at midnight.\n")
            show("researcher", tools.write_file, Path("research/../src/app.py"), "")
            show("researcher", tools.query, "INSERT INTO findings VALUES ('sessions', 'end at midnight')")
            show("researcher", tools.query, "SELECT topic, text FROM findings")
            title("Attacks that look harmless: judged by what they do, not by how they look")
            show("researcher", tools.query, "SELECT 1; DROP TABLE findings")
        with self.guard.agent("reviewer"):
            show("reviewer", tools.run, "git log --oneline -1 --format=%s")
            show("reviewer", tools.run, "git dif''f --out\\put=src/app.py")

    def release(self) -> None:
        """A question to a person: the answer is for exactly this call, once."""
        title("Asked of a person: ann answers here as `remit approve` and `refuse` do")
        push, run = "git push -q origin main", self.tools.run
        with self.guard.agent("implementer"):
            asked = show("implementer", run, push)
            self.says("approve", asked)
            show("implementer", run, push)
            asked = show("implementer", run, push)
            self.says("refuse", asked, because="one release a day")
            show("implementer", run, push)

    def delegate(self) -> None:
        """A task with limits: whoever it is handed to keeps them."""
        title("A task with limits, handed on")
        self.issue(
            id="TASK-1",
            agent="orchestrator",
            goal="sessions survive the night",
            may_not=[{"write_file": {"path": "src/legacy/**"}}],
            budget={"writes": 2},
        )
        write = self.tools.write_file
        with self.guard.agent("orchestrator", capsule="TASK-1"), self.guard.agent("implementer"):
            who = "orchestrator → implementer"
            show(who, write, Path("src/session.py"), "STORE = 'sqlite'\n")
            show(who, write, Path("src/legacy/billing.py"), "")
            show(who, write, Path("tests/test_session.py"), "def test_session(): ...\n")
            show(who, write, Path("src/more.py"), "")
        with self.guard.agent("orchestrator", capsule="TASK-1"):
            told = show("orchestrator", self.own("remit_delegate"), agent="reviewer", goal="review src/session.py")
        with self.guard.agent("reviewer", ticket=told["ticket"]):
            show("orchestrator → reviewer", self.tools.read_file, Path("src/session.py"))
            self.authority.end("TASK-1", by=PERSON)
            say(f"{PERSON} ends TASK-1; what was handed on from it ends with it")
            show("orchestrator → reviewer", self.tools.read_file, Path("src/session.py"))

    def plan(self) -> None:
        """A plan that a person passes once answers for every call that it covers; tier 3 is acknowledged besides."""
        title("A plan, approved once for many calls")
        self.issue(id="TASK-2", agent="orchestrator", goal="keep sessions in SQLite")
        self.issue(
            id="TASK-3",
            agent="implementer",
            parent="TASK-2",
            goal="write it, in small commits",
            scope=["src/**", "migrations/**"],
            plan=[
                {"run": {"shell": {"run": [{"git": ["add", "commit"]}]}}},
                {"write_file": {"path": "migrations/*.sql"}},
                {"write_file": {"path": "src/schema.py"}},
            ],
        )
        who, run, write = "orchestrator → implementer", self.tools.run, self.tools.write_file
        migration = (Path("migrations/001.sql"), "CREATE TABLE session (id TEXT);\n")
        with self.guard.agent("orchestrator", capsule="TASK-2"):
            with self.guard.agent("implementer", capsule="TASK-3"):
                show(who, run, "git add src && git commit -q -m 'sessions'")
                self.authority.pass_gate("TASK-3", "plan", by=PERSON)
                say(f"{PERSON} passes the plan of TASK-3, as `remit gate pass` does after showing how far it reaches")
                for folder, message in (("src", "sessions"), ("tests", "a test"), ("research", "notes")):
                    show(who, run, f"git add {folder} && git commit -q -m '{message}'")
                asked = show(who, write, *migration)
            show("orchestrator", self.own("remit_acknowledge"), approval=asked, answer="approve")
            with self.guard.agent("implementer", capsule="TASK-3"):
                show(who, write, *migration)

    def end(self) -> None:
        """Data that only a task opens; and what its end leaves behind."""
        title("Data that a task grants, until it ends")
        path = Path("data/customers/complaints.txt")
        self.issue(id="TASK-4", agent="reviewer", goal="are these complaints answered?", data_tiers=[2])
        with self.guard.agent("reviewer"):
            show("reviewer", self.tools.read_file, path)
        with self.guard.agent("reviewer", capsule="TASK-4"):
            show("reviewer in TASK-4", self.tools.read_file, path)
            self.authority.end("TASK-4", by=PERSON)
            say(f"{PERSON} ends TASK-4")
            show("reviewer in TASK-4", self.tools.read_file, path)
        for state in self.authority.end("TASK-2", by=PERSON).states:
            plan = self.authority.unused(state).plan
            left = ", ".join(f"plan[{i}], {_in_words(state.task.source['plan'][i])}" for i in plan) or "nothing"
            say(f"{state.task.capsule.id} ended; left unused: {left}")

    def issue(self, **data: Any) -> None:
        """A task from a person, as `remit capsule new` issues it."""
        task = task_from(self.guard.rulebook, data)
        self.authority.issue(self.guard.rulebook, msgspec.structs.replace(task, by=PERSON))
        limits = ", ".join(
            f"{key}: {_in_words(data[key])}" for key in ("may_not", "budget", "data_tiers") if key in data
        )
        say(f"{PERSON} hands {data['id']} to {data['agent']}: {data['goal']}" + (f" ({limits})" if limits else ""))

    def says(self, answer: Any, approval: str, because: str | None = None) -> None:
        """The person, at the inbox."""
        asked = self.authority.answer(approval, answer, by=PERSON, because=because)
        say(f"{PERSON} {asked.state} {approval}" + (f": {because}" if because else ""))

    def own(self, tool: str) -> Callable[..., Any]:
        """One of the agents' own tools, called by name as a model does."""

        def called(**args: Any) -> Any:
            return self.guard.call(tool, args)

        called.__name__ = tool
        return called


def show(who: str, tool: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """One call: what came back, or why it did not run; the approval's id if somebody has to answer."""
    shown = [repr(str(one)) for one in args if one != ""] + [f"{key}={value!r}" for key, value in named.items()]
    text = f"{who}: {tool.__name__}({', '.join(shown)[:96]})"
    try:
        result = tool(*args, **named)
    except CallPending as pending:
        put("ask", text, f"{pending.approval}: {pending}")
        return pending.approval
    except CallDenied as denied:
        put("deny", text, f"{denied.code}: {denied}")
        return None
    line(SIGNS["allow"], text + (f" → {brief(result)}" if result not in ("", []) else ""))
    return result


def put(word: str, call: str, why: str) -> None:
    """A call that did not run, and why."""
    line(SIGNS[word], call)
    first, *rest = textwrap.wrap(f"{word} {why}", WIDTH - 3, break_on_hyphens=False, break_long_words=False)
    print(f"   {paint(word, COLOURS[word])}{first.removeprefix(word)}")
    for text in rest:
        print(f"   {text}")


def line(sign: str, text: str) -> None:
    """A line behind its sign; what is too wide for a terminal goes on below it."""
    space = WIDTH - (3 if sign else 0)
    first, *rest = textwrap.wrap(text, space, break_on_hyphens=False, break_long_words=False)
    print(f"{sign} {first}" if sign else first)
    for more in rest:
        print(f"   {more}" if sign else more)


def brief(result: Any) -> str:
    """What came back, on one line; a ticket is a secret."""
    if isinstance(result, dict):
        return "a ticket" if "ticket" in result else ", ".join(f"{key} {value}" for key, value in result.items())
    return str(result).strip().replace("\n", " ")[:60]


def report(guard: Guard, prompts: Counter[str]) -> None:
    """What happened, from the ledger itself."""
    guard.flush()
    verdicts, codes = Counter[str](), Counter[str]()
    with guard.authority.store.read() as view:
        for data in (entry.data for entry in entries(view)):
            if data["type"] == "intent":
                verdicts[data["decision"]] += 1
                if data["decision"] == "deny":
                    codes[data["code"]] += 1
            elif data["type"] == "outcome" and data["result"] == "not-run":
                codes[data["error"]] += 1
    title("What happened")
    line(
        "",
        f"{counted(sum(verdicts.values()), 'call')}: " + ", ".join(f"{n} {word}" for word, n in verdicts.most_common()),
    )
    line("", "refused: " + ", ".join(f"{n} {code}" for code, n in sorted(codes.items())))
    line("", "prompts: " + ", ".join(f"{n} in {name}" for name, n in sorted(prompts.items())))


def verified(workspace: Path, state: Path) -> None:
    """Signs the log, and verifies all of it as an auditor would."""
    with open_log(workspace, state=state) as opened:
        opened.checkpoint()
        found = audit(opened.log, opened.signer)
    for fault in found.problems:
        print(f"❌ {fault.message}")
    if not found.verified:
        raise RemitError("the ledger of the demo does not verify", code="not-verified")
    print(f"✅ ledger verified: {counted(found.report.size, 'entry')}, {counted(found.values, 'value')}, signed")


def title(text: str) -> None:
    """A heading."""
    print(f"\n{paint(text, '1')}")


def _in_words(value: Any) -> str:
    """A part of a task without the signs of Python: `writes 2`."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(part)}" for key, part in value.items())
    return ", ".join(map(_in_words, value)) if isinstance(value, list) else str(value)


def say(text: str) -> None:
    """What people do."""
    line("👤", text)


def paint(text: str, colour: str) -> str:
    """Colours on a terminal only, and not with NO_COLOR."""
    plain = os.environ.get("NO_COLOR") or sys.stdout is None or not sys.stdout.isatty()
    return text if plain else f"\033[{colour}m{text}\033[0m"


NEXT = """
Where to go next
  remit scan                        what your repository says about its agents
  remit init                        a first policy from that
  remit matrix --policy POLICY
                                    who may do what in this demo
  remit ledger show --state STATE
                                    what its ledger says
  docs/tutorial.md                  write a policy of your own
  docs/guard.md                     put your own functions behind Guard
"""
