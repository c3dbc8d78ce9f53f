"""A week of two teams, scripted: real files, git, stores and signatures; only the models are missing.

    week = Week(folder, print)
    week.run()

Work, a violation, a halt, a resumption, an overdue review, two people who approve, and a change that no call explains.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from remit import catalog
from remit.compile import load_rulebook
from remit.compile.tasks import task_from
from remit.enforce.errors import CallDenied, CallPending
from remit.enforce.guard import Guard
from remit.enforce.in_force import put_in_force
from remit.grant.credential import accept, invite, set_passphrase, unlock
from remit.grant.person import Signatory
from remit.grant.reviews import Review
from remit.model.call import Statement
from remit.model.errors import RemitError
from remit.model.moments import moment
from remit.model.text import counted
from remit.record.audit import audit
from remit.record.open import open_ledger, open_log
from remit.record.state import Sign
from remit.service.task_report import TaskReport, task_report

PEOPLE = {"ann": "owner", "bob": "approver", "eve": "auditor"}
SPECIALIST = "backend-python-specialist"
_DAY = 86_400
_PRODUCTION = "https://app.prod.example/**"
_DEVOPS = '      - edit: {path: [".github/workflows/**"'
_NAMED = f"""
tools:
  deploy: {{args: {{version: text}}, does: {{deploy: "{_PRODUCTION}"}}}}
people:
  ann: {{roles: [owner]}}                  # the Nexus
  bob: {{roles: [approver]}}
  eve: {{roles: [auditor]}}
"""
_SAID = Statement("deploy 2.1", "the demo was signed off", "users see the new search")


class Week:
    """The script. `say` gets its lines; what can be looked at afterwards are attributes."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self.folder, self.say = folder, say
        self.ran: list[str] = []
        """The commands that really ran."""
        self.halted_codes: list[str] = []
        self.overdue: Review | None = None
        self.approvals: list[str] = []
        """How the question about the deployment stood after each step."""
        self.report: TaskReport | None = None
        self.incidents: list[str] = []
        self.verified: dict[str, bool] = {}

    def run(self) -> None:
        """Everything, from Monday to Sunday."""
        nexus, cortex = self._nexus(), self._cortex()
        nexus.commit()
        with nexus.guard, cortex.guard:
            self._work(nexus)
            self._violation(cortex)
            self._resumption(cortex)
            self._review(cortex)
            self._quorum(nexus)
            self._unexplained(nexus)
        self._verify(nexus, cortex)

    # The teams

    def _nexus(self) -> _Project:
        """Led by three people: whatever reaches production needs two of them."""
        text = catalog.text("demo/nexus.yaml") + _NAMED
        text = text.replace("  4: {ask: human, ", "  4: {ask: human, approvals: 2, ").replace(
            _DEVOPS, f"      - deploy\n{_DEVOPS}"
        )
        project = _Project(self.folder / "nexus", text)
        guard = project.guard

        @guard.tool("Write", does={"write": "file_path"}, tier=1)
        def write(file_path: Path, content: str) -> None:
            file_path.parent.mkdir(parents=True, exist_ok=True)
            file_path.write_text(content, "utf-8")

        @guard.tool(does={"deploy": _PRODUCTION})
        def deploy(version: str) -> str:
            self.ran.append(f"deploy {version}")  # no cluster is at hand
            return "deployed"

        project.settle(tuple(PEOPLE))
        return project

    def _cortex(self) -> _Project:
        """One person, whose specialist was last looked at four months ago."""
        text = catalog.text("demo/cortex.yaml")
        text = text.replace("2026-05-23", moment(time.time() - 120 * _DAY)[:10])
        text = text.replace("2026-10-01", moment(time.time() - 20 * _DAY)[:10])
        project = _Project(self.folder / "cortex", text)
        guard = project.guard

        @guard.tool(does={"read": "path"})
        def read_file(path: Path) -> str:
            return path.read_text("utf-8")

        @guard.tool(does={"network": "url"}, kinds={"url": "url"}, tier=1)
        def http_get(url: str) -> str:
            self.ran.append(url)
            return "a page"

        return project

    # The days

    def _work(self, nexus: _Project) -> None:
        self.say("# Monday: work (nexus)")
        guard, ann = nexus.guard, nexus.sign["ann"]
        for name, agent, goal in (("TASK-1", "Builder", "a faster search"), ("TASK-2", "DevOps", "deploy it")):
            task = {"id": name, "agent": agent, "goal": goal, "expires": moment(time.time() + 7 * _DAY)}
            made = msgspec.structs.replace(task_from(guard.rulebook, task), by="ann")
            guard.authority.issue(guard.rulebook, made, sign=ann)
        self.say("ann gives TASK-1 to Builder, and TASK-2 to DevOps")
        self._attempt(nexus, "Builder", "Write", "TASK-1", file_path="src/search.py", content="index = {}\n")
        for name in ("TASK-1", "TASK-2"):
            guard.authority.pass_gate(name, "requirements", by="ann", sign=ann)
        self.say("ann passes the Requirements Gate of both")
        self._attempt(nexus, "Builder", "Write", "TASK-1", file_path="src/search.py", content="index = {}\n")
        self._attempt(nexus, "Builder", "Write", "TASK-1", file_path="docs/search.md", content="# Search\n")

    def _violation(self, cortex: _Project) -> None:
        self.say("# Tuesday: a violation, and a halt (cortex)")
        self._attempt(cortex, SPECIALIST, "read_file", path="src/app.py")
        self._attempt(cortex, SPECIALIST, "http_get", url="https://paste.example/upload")
        self.halted_codes = [
            self._attempt(cortex, SPECIALIST, "read_file", path="src/app.py"),
            self._attempt(cortex, "devops-specialist", "read_file", path="infra/main.tf"),
        ]
        self._say_incidents(cortex)

    def _resumption(self, cortex: _Project) -> None:
        self.say("# Wednesday: a person looks, and resumes it (cortex)")
        authority = cortex.guard.authority
        authority.resume(SPECIALIST, by="sam", because="an instruction in a log file talked it into that")
        self.say(f"sam resumes {SPECIALIST}: an instruction in a log file talked it into that")
        authority.close_incident("I-1", by="sam", because="nothing was sent")
        self.halted_codes.append(self._attempt(cortex, SPECIALIST, "read_file", path="src/app.py"))

    def _review(self, cortex: _Project) -> None:
        self.say("# Thursday: a review is overdue (cortex)")
        guard = cortex.guard
        found = [one for one in guard.authority.reviews(guard.rulebook) if one.state == "overdue"]
        self.overdue = found[0]
        self.say(f"{self.overdue.who}: last reviewed {self.overdue.days} days ago, warned at 100")
        guard.authority.sign_review(guard.rulebook, self.overdue.who, by="sam", because="it needs what it has")
        left = [one.who for one in guard.authority.reviews(guard.rulebook) if one.state == "overdue"]
        self.say(f"sam signs the review; overdue now: {', '.join(left) or 'nothing'}")

    def _quorum(self, nexus: _Project) -> None:
        self.say("# Friday: production needs two people (nexus)")
        guard = nexus.guard

        def attempt() -> str:
            return self._attempt(nexus, "DevOps", "deploy", "TASK-2", statement=_SAID, version="2.1")

        self.approvals.append(attempt())
        [question] = guard.authority.waiting()
        for name in ("bob", "ann"):
            given = guard.authority.answer(question.id, "approve", by=name, sign=nexus.sign[name])
            self.say(f"{name} approves {question.id}: {len(given.approved)} of {given.ask.approvals}")
            self.approvals.append(attempt())
        self.approvals.append(attempt())

    def _unexplained(self, nexus: _Project) -> None:
        self.say("# Saturday: a change that no call explains (nexus)")
        (nexus.root / "src" / "billing.py").write_text("RATE = 0\n", "utf-8")
        self.say("somebody changes src/billing.py, with no agent's call")
        guard = nexus.guard
        with guard.authority.store.read() as view:
            state = guard.authority.state("TASK-1")
            self.report = task_report(view, guard.rulebook, state, nexus.root.resolve(), against="HEAD")
        for change in self.report.changes or ():
            self.say(
                f"{change.path}: {'explained by a call of TASK-1' if change.by == 'task' else 'no call explains it'}"
            )
        names = ", ".join(one.path for one in self.report.unexplained)
        guard.authority.found_incident(
            code="unexplained-change",
            reason=f"changed since HEAD, and no call explains it: {names}",
            agent="Builder",
            tool="git diff",
            point="demo",
            policy=guard.rulebook.hash,
            capsule="TASK-1",
        )
        self._say_incidents(nexus)

    def _verify(self, *projects: _Project) -> None:
        self.say("# Sunday: what the ledgers say")
        for project in projects:
            with open_log(project.root, state=project.state) as opened:
                opened.checkpoint()
                found = audit(opened.log, opened.signer)
            self.verified[project.root.name] = found.verified
            said = "verified" if found.verified else f"NOT verified: {found.problems[0].message}"
            self.say(f"{project.root.name}: {counted(found.report.size, 'entry')}, {said}")

    # What is said

    def _attempt(
        self,
        project: _Project,
        agent: str,
        tool: str,
        capsule: str | None = None,
        statement: Statement | None = None,
        **args: Any,
    ) -> str:
        """One call of an agent: its line, and the code of the decision."""
        what = f"{agent}: {tool} {next(iter(args.values()))}"
        try:
            with project.guard.agent(agent, capsule=capsule):
                project.guard.call(tool, args, statement=statement)
        except CallPending as pending:
            self.say(f"✋ {what}\n  {pending.decision.reason}")
            return pending.decision.code
        except CallDenied as denied:
            self.say(f"❌ {what}\n  {denied.decision.reason}")
            return denied.decision.code
        self.say(f"✅ {what}")
        return "allowed"

    def _say_incidents(self, project: _Project) -> None:
        for one in project.guard.authority.incidents(project.guard.rulebook):
            if one.state == "open":
                self.incidents.append(one.code)
                self.say(f"incident {one.id}: {one.agent}, {one.code}; open")


class _Project:
    """A project in git with an activated policy, and what signs for each of its people."""

    def __init__(self, root: Path, policy: str) -> None:
        self.root, self.state = root, root.parent / f"{root.name}-state"
        for name, text in (("src/app.py", "app = 1\n"), ("src/billing.py", "RATE = 9\n"), ("infra/main.tf", "\n")):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, "utf-8")
        (root / "remit.yaml").write_text(policy, "utf-8")
        self.guard = Guard(root / "remit.yaml", root=root, state=self.state, point="demo")
        self.sign: dict[str, Sign] = {}

    def settle(self, people: tuple[str, ...]) -> None:
        """The policy is put in force with the project's passphrase; everybody is invited, and sets their own."""
        with open_ledger(self.root, point="demo", state=self.state) as opened:
            store, secret = opened.store, _passphrase()
            set_passphrase(store, secret)
            project = _unlocked(unlock(store, secret))
            rulebook = load_rulebook(self.root / "remit.yaml", functions=self.guard.declarations)
            put_in_force(opened, self.root, rulebook, after=None, by=Signatory("the project", project))
            for name in people:
                own = _passphrase()
                accept(store, name, invite(store, name, by="the project", sign=project), own)
                self.sign[name] = _unlocked(unlock(store, own, name=name))

    def commit(self) -> None:
        clean = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.root), "GIT_CONFIG_NOSYSTEM": "1"}
        who = ("-c", "user.name=demo", "-c", "user.email=demo@x.example", "-c", "commit.gpgsign=false")
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "the project")):
            subprocess.run(  # noqa: S603 -- git with fixed words, in a directory that was made for it
                ["git", *who, *words],  # noqa: S607
                cwd=self.root,
                env=clean,
                check=True,
                capture_output=True,
                timeout=60,
            )


def _passphrase() -> str:
    return os.urandom(16).hex()


def _unlocked(sign: Sign | None) -> Sign:
    if sign is None:
        raise RemitError("the passphrase that was just set is not accepted")
    return sign
