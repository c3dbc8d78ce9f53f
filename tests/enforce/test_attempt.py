"""One attempt, carried by a third carrier: a queue of messages. And nobody else takes the steps of an attempt."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

import remit
from remit.compile import build_rulebook
from remit.enforce.attempt import Enforcer, Passage, wait
from remit.enforce.carrier import Carried, Carrier, Judged, copied
from remit.enforce.errors import CallDenied, GuardError
from remit.enforce.paths import facts_at
from remit.grant.authority import Authority
from remit.model.call import Call, Context
from remit.model.decision import Decision
from remit.model.rulebook import Rulebook
from remit.record.open import Opened, open_ledger
from remit.record.reader import entries
from tests.enforce.team import Team

POLICY: dict[str, Any] = {
    "remit": 1,
    "tools": {
        "read": {"args": {"path": "path"}, "does": {"read": "path"}},
        "create": {"args": {"path": "path"}, "does": {"write": "path"}, "tier": 1},
        "deploy": {"args": {"version": "text"}, "does": {"deploy": "https://prod.example/**"}},
    },
    "agents": {
        "worker": {"may": ["read", {"create": {"path": {"allow": ["new/**"], "new_only": True}}}, "deploy"]},
        "lead": {"may": ["read"], "delegates_to": ["worker"]},
        "stranger": {"may": ["read"], "delegates_to": []},
    },
}


class Message(NamedTuple):
    """What somebody put into the queue."""

    sender: str
    tool: str
    args: dict[str, Any]
    id: str | None = None


class Queued(Carrier):
    """The whole of a third carrier: it can carry out nothing, and asks through the inbox."""

    def __init__(self, message: Message) -> None:
        self.call = Call(message.sender, message.tool, copied(message.args))
        self.call_id = message.id


class Queue:
    """Takes messages, runs what may run, and keeps the answers."""

    def __init__(self, enforcer: Enforcer) -> None:
        self.enforcer = enforcer
        self.ran: list[dict[str, Any]] = []

    def take(self, message: Message) -> str:
        return self.carry(Queued(message))

    def carry(self, carrier: Carrier) -> str:
        found = wait(self.enforcer.attempt(carrier))
        if isinstance(found, Decision):
            return found.code
        return found.run(self._run)

    def _run(self, args: dict[str, Any]) -> str:
        self.ran.append(args)
        if args.get("version") == "broken":
            raise RuntimeError("it does not deploy")
        return "ran"


class Setting(NamedTuple):
    """A queue over a ledger of its own."""

    queue: Queue
    opened: Opened
    root: Path
    books: list[Rulebook]

    def said(self, kind: str) -> list[dict[str, Any]]:
        self.opened.ledger.flush()
        with self.opened.store.read() as view:
            found = [msgspec.json.decode(entry.body) for entry in entries(view)]
        return [entry for entry in found if entry["type"] == kind]

    def outcomes(self) -> list[str]:
        return [entry["result"] for entry in self.said("outcome")]


@pytest.fixture
def setting(tmp_path: Path) -> Iterator[Setting]:
    root = tmp_path / "root"
    root.mkdir()
    books = [build_rulebook(POLICY)]
    with open_ledger(root, point="queue", state=tmp_path / "state") as opened:
        authority = Authority(opened.store, opened.vault)
        facts = facts_at(root, opened.state)
        yield Setting(
            Queue(Enforcer(authority, opened.ledger, lambda: books[-1], lambda _: facts)), opened, root, books
        )


def test_what_may_run_runs_and_is_recorded_under_its_own_id(setting: Setting):
    queue = setting.queue
    assert queue.take(Message("worker", "read", {"path": "a"}, "m-1")) == "ran"
    assert queue.take(Message("worker", "create", {"path": "elsewhere"}, "m-2")) == "not-permitted"
    assert queue.take(Message("nobody", "read", {"path": "a"})) == "unknown-agent"
    assert queue.ran == [{"path": "a"}]
    assert [entry["call"] for entry in setting.said("intent")][:2] == ["m-1", "m-2"]
    assert setting.outcomes() == ["done"]


def test_an_obligation_that_it_can_not_carry_out_is_a_deny(setting: Setting):
    assert setting.queue.take(Message("worker", "create", {"path": "new/a"})) == "obligation-unsupported"
    [intent] = setting.said("intent")
    assert (intent["decision"], intent["code"]) == ("deny", "obligation-unsupported")
    assert setting.queue.ran == []


def test_a_question_waits_in_the_inbox_and_its_answer_is_used_once(setting: Setting):
    queue, authority = setting.queue, setting.queue.enforcer.authority
    message = Message("worker", "deploy", {"version": "1"})
    first = queue.take(message)
    [question] = authority.waiting()
    assert queue.ran == []
    authority.answer(question.id, "approve", by="ann")
    assert [queue.take(message), queue.take(message)] == ["ran", first]
    assert queue.ran == [{"version": "1"}]


def test_a_tool_that_raises(setting: Setting):
    authority = setting.queue.enforcer.authority
    message = Message("worker", "deploy", {"version": "broken"})
    setting.queue.take(message)
    authority.answer(authority.waiting()[0].id, "approve", by="ann")
    with pytest.raises(RuntimeError):
        setting.queue.take(message)
    assert setting.outcomes() == ["failed"]


class Broken(Queued):
    """A carrier with a defect in one of its parts."""

    def __init__(self, part: str) -> None:
        super().__init__(Message("worker", "read", {"path": "a"}))
        setattr(self, part, self._fail)

    def _fail(self, *_: Any) -> Any:
        raise ZeroDivisionError("a defect")


@pytest.mark.parametrize("part", ["calls", "check", "carry_out"])
def test_a_carrier_that_fails_denies(setting: Setting, part: str):
    assert setting.queue.carry(Broken(part)) == "point-failed"
    assert setting.queue.ran == []
    assert setting.outcomes() == (["not-run"] if part == "carry_out" else [])
    assert len(setting.said("intent")) == 1


def test_a_carrier_without_a_call_denies(setting: Setting):
    class Nothing(Queued):
        def calls(self, rulebook: Rulebook) -> list[Call]:
            return []

    assert setting.queue.carry(Nothing(Message("worker", "read", {"path": "a"}))) == "point-failed"


def test_what_was_carried_out_is_undone_if_the_call_does_not_begin(setting: Setting, monkeypatch: pytest.MonkeyPatch):
    made: list[str] = []

    class Making(Queued):
        can = frozenset(("create-exclusively",))

        def carry_out(self, judged: Judged) -> Carried:
            made.append("file")
            return Carried(judged.call.args, made.clear)

    def late(*_: Any) -> None:
        assert made == ["file"]
        raise OSError("the disk is gone")

    monkeypatch.setattr(setting.queue.enforcer.authority, "begin", late)
    assert setting.queue.carry(Making(Message("worker", "create", {"path": "new/a"}))) == "point-failed"
    assert made == []
    assert setting.outcomes() == ["not-run"]


def test_the_strictest_of_several_chains_counts(setting: Setting):
    class Several(Queued):
        chains = ((), ("lead",), ("stranger",))

        def calls(self, rulebook: Rulebook) -> list[Call]:
            return [msgspec.structs.replace(self.call, context=Context(chain=chain)) for chain in self.chains]

    message = Message("worker", "read", {"path": "a"})
    assert setting.queue.carry(Several(message)) == "broken-chain"
    Several.chains = ((), ("lead",))  # type: ignore[assignment]
    assert setting.queue.carry(Several(message)) == "ran"


def test_of_several_chains_all_obligations_hold_and_each_begins(setting: Setting, monkeypatch: pytest.MonkeyPatch):
    """Whichever chain comes first: one of them lets the call create new files only."""
    agents = {
        "free": {"may": ["create"], "delegates_to": ["maker"], "delegate_within": "chain"},
        "careful": {
            "may": [{"create": {"path": {"allow": ["new/**"], "new_only": True}}}],
            "delegates_to": ["maker"],
            "delegate_within": "chain",
        },
        "maker": {"may": ["create"]},
    }
    setting.books.append(build_rulebook({**POLICY, "agents": agents}))
    begun: list[tuple[str, ...]] = []
    begin = setting.queue.enforcer.authority.begin

    def counted(call: Call, *rest: Any) -> None:
        begun.append(call.context.chain)
        begin(call, *rest)

    monkeypatch.setattr(setting.queue.enforcer.authority, "begin", counted)

    class Several(Queued):
        can = frozenset(("create-exclusively",))
        chains: tuple[tuple[str, ...], ...] = ()
        seen: tuple[str, ...] = ()

        def calls(self, rulebook: Rulebook) -> list[Call]:
            return [msgspec.structs.replace(self.call, context=Context(chain=chain)) for chain in self.chains]

        def carry_out(self, judged: Judged) -> Carried:
            self.seen = tuple(duty.do for duty in judged.decision.obligations)
            return Carried(judged.call.args)

    for chains in ((("free",), ("careful",)), (("careful",), ("free",))):
        carrier = Several(Message("maker", "create", {"path": "new/a"}))
        carrier.chains = chains
        assert setting.queue.carry(carrier) == "ran"
        assert carrier.seen == ("create-exclusively",)
        assert set(begun) == set(chains)
        begun.clear()


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interruption_while_it_begins_is_recorded(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, interruption: type[BaseException]
):
    begin = setting.queue.enforcer.authority.begin

    def interrupted(*given: Any) -> None:
        begin(*given)
        raise interruption

    monkeypatch.setattr(setting.queue.enforcer.authority, "begin", interrupted)
    with pytest.raises(interruption):
        setting.queue.take(Message("worker", "read", {"path": "a"}))
    assert setting.queue.ran == []
    assert setting.outcomes() == ["not-run"]


def test_what_was_harmless_under_another_rulebook_is_begun_like_any_call(setting: Setting):
    """A sum a day is counted when a call begins, also for the first call after the policy has changed."""
    tools = {"pay": {"args": {"amount": "number"}, "does": "nothing"}}
    before = {"remit": 1, "tools": tools, "agents": {"worker": {"may": ["pay"]}}}
    after = {"remit": 1, "tools": tools, "agents": {"worker": {"may": ["pay"], "daily_sum": {"pay.amount": 100}}}}
    setting.books.append(build_rulebook(before))
    for _ in range(3):
        assert setting.queue.take(Message("worker", "pay", {"amount": 5000})) == "ran"
    setting.books.append(build_rulebook(after))
    assert setting.queue.take(Message("worker", "pay", {"amount": 5000})) == "budget-spent"


def test_a_malformed_call_spoils_nothing_for_the_next(setting: Setting):
    (setting.root / "a").touch()
    faulty: list[Any] = [[], "x", None]
    for wrong in faulty:
        carrier = Queued(Message("worker", "read", {}))
        carrier.call = msgspec.structs.replace(carrier.call, args=wrong)
        assert setting.queue.carry(carrier) == "malformed-call"
    assert setting.queue.take(Message("worker", "read", {"path": "a"})) == "ran"
    nobody: list[Any] = [[], {}, None, 1]
    for agent in nobody:
        carrier = Queued(Message(agent, "read", {"path": "a"}))
        assert setting.queue.carry(carrier) == "malformed-call"


def test_what_is_in_force_is_asked_again_after_an_answer(setting: Setting):
    """Another policy was activated while the call waited: the answer was given under the old one."""
    authority = setting.queue.enforcer.authority

    class Waiting(Queued):
        wait = 5.0

        def on_question(self, question: Any, call: Call) -> None:
            setting.books.append(build_rulebook({**POLICY, "agents": {"worker": {"may": ["read"]}}}))
            authority.answer(question.id, "approve", by="ann")

    assert setting.queue.carry(Waiting(Message("worker", "deploy", {"version": "1"}))) == "not-permitted"
    assert setting.queue.ran == []


def test_a_passage_ends_once(setting: Setting):
    found = wait(setting.queue.enforcer.attempt(Queued(Message("worker", "read", {"path": "a"}))))
    assert isinstance(found, Passage)
    found.done()
    found.failed(ValueError())
    found.not_run("cancelled")
    with pytest.raises(GuardError):
        found.run(setting.queue.ran.append)
    assert setting.queue.ran == []
    assert setting.outcomes() == ["done"]


def test_an_attempt_that_is_left_alone_has_begun_nothing(setting: Setting):
    attempt = setting.queue.enforcer.attempt(Queued(Message("worker", "read", {"path": "a"})))
    next(attempt)
    attempt.close()
    assert setting.said("intent") == []


# What was judged is what runs


def test_the_caller_can_not_change_arguments_that_wait(tmp_path: Path):
    """An approved call runs with what was approved, though the caller still holds the dict."""
    held: dict[str, Any] = {"version": "1", "extra": {"notes": ["good"]}}

    def approve(*_: Any) -> Any:
        held["version"] = "2"
        held["extra"]["notes"].append("evil")
        return "approve"

    team = Team(tmp_path, answer=approve)
    ran: list[Any] = []

    @team.guard.tool(does={"deploy": "https://prod.example/**"})
    def publish(version: str, extra: dict[str, Any]) -> None:
        ran.append((version, extra))

    policy = msgspec.json.decode(msgspec.json.encode(team.guard._policy))
    policy["agents"]["worker"]["may"].append("publish")
    team.guard._policy = policy
    with team.guard, team.guard.agent("worker"):
        team.guard.call("publish", held)
    assert ran == [("1", {"notes": ["good"]})]


def test_arguments_that_contain_themselves_are_refused(team: Team):
    circle: dict[str, Any] = {}
    circle["version"] = circle
    with team.guard.agent("worker"), pytest.raises(CallDenied) as caught:
        team.guard.call("deploy", circle)
    assert caught.value.code == "mistyped-argument"
    assert team.ran == []


# Nobody else takes these steps

STEPS = {"begin", "intent", "outcome", "queue_intent", "queue_done"}
"""Of Authority and of the ledger: what enforcing is made of, besides `decide`."""
SRC = Path(remit.__file__).parent


def steps_taken(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr in STEPS:
            yield f"line {node.lineno}: .{node.attr}"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("remit.decide"):
            yield from (f"line {node.lineno}: {one.name}" for one in node.names if one.name in ("decide", "procedure"))
        elif isinstance(node, ast.Import):
            yield from (f"line {node.lineno}: {one.name}" for one in node.names if one.name.startswith("remit.decide"))


def test_only_the_attempt_decides_records_and_begins():
    folders = ("enforce", "adapters", "service")
    files = [file for folder in folders for file in sorted((SRC / folder).rglob("*.py"))]
    found = {str(file.relative_to(SRC)): list(steps_taken(file.read_text("utf-8"))) for file in files}
    assert [one.split(": ")[1] for one in found.pop("enforce/answering.py")] == ["decide"]  # it only prints decisions
    assert [name for name, taken in found.items() if taken] == ["enforce/attempt.py"]
    assert len(found["enforce/attempt.py"]) >= len(STEPS) + 1


@pytest.mark.parametrize(
    "text",
    [
        "from remit.decide import decide",
        "from remit.decide.engine import decide as d",
        "import remit.decide.engine as engine",
        "ledger.intent(call, decision)",
        "begin = authority.begin",
        "self.ledger.outcome(name, 'done')",
    ],
)
def test_a_step_that_is_taken_elsewhere_is_found(text: str):
    assert len(list(steps_taken(text))) == 1
