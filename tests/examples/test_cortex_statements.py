"""The per-agent permission matrix, statement by statement, numbered as in the example's README."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from remit import CallDenied, Guard, PolicyError, build_rulebook, decide_call, entries, open_log
from remit.compile.facts import read_facts
from remit.exchange.agent_record import read_record
from remit.explain.record import differences
from remit.grant.reviews import reviews
from remit.model import Call, Context, Decision
from tests.cli.kit import Remit
from tests.examples.kit import EXAMPLES, Asked

CORTEX = Asked("cortex")
SPECIALIST = "backend-python-specialist"
RECORD = EXAMPLES / "cortex/records/backend-python-specialist.yaml"
SKILLS = ["refactor", "write-unit-tests", "query-catalog"]
NOW = "2026-11-15T12:00:00Z"


def data() -> dict[str, Any]:
    text = (EXAMPLES / "cortex/remit.yaml").read_text("utf-8").replace("{on: ", "{'on': ")  # YAML 1.1 has a word `on`
    found = json.loads(json.dumps(yaml.safe_load(text), default=str))
    assert isinstance(found, dict)
    return found


def under(agent: str, tool: str, args: dict[str, Any], now: str = NOW, **task: Any) -> Decision:
    facts = read_facts(CORTEX.rulebook, json.dumps({"now": now, "capsules": {"T": {"agent": agent, **task}}}), "facts")
    return decide_call(CORTEX.rulebook, Call(agent, tool, args, Context(capsule="T")), facts)


def test_01_data_tiers():
    assert CORTEX(SPECIALIST, "read_file", path="data/internal/a.csv") == "allow"  # tier 2
    assert CORTEX.decision(SPECIALIST, "read_file", {"path": "secrets/key"}).code == "data-tier"
    assert under(SPECIALIST, "read_file", {"path": "secrets/key"}, data_tiers=[3]).verdict.word == "allow"
    assert under("code-writer-worker", "read_file", {"path": "secrets/key"}, data_tiers=[3]).verdict.word == "deny"


def test_02_tools_allowed_and_forbidden():
    allowed = {"read_file", "edit_file", "write_file", "run_command", "query_skill_catalog", "invoke_skill"}
    assert CORTEX.may(SPECIALIST) - {"delegate"} == allowed
    for tool in ("http_get", "http_post", "git_push"):
        assert under(SPECIALIST, tool, {}, grants=[tool]).verdict.word == "deny"  # no grant overrides it


def test_03_skills():
    assert CORTEX(SPECIALIST, "invoke_skill", name="refactor") == "allow"
    assert CORTEX(SPECIALIST, "invoke_skill", name="deploy") == "deny"


def test_04_locks():
    for path, word in (
        ("src/a.py", "allow"),
        ("tests/a.py", "allow"),
        ("docs/explanation/a.md", "deny"),
        ("a", "deny"),
    ):
        assert CORTEX(SPECIALIST, "write_file", path=path, content="") == word, path
    assert CORTEX(SPECIALIST, "write_file", path="migrations/1.py", content="") == "ask"
    assert CORTEX(SPECIALIST, "run_command", command="echo x > docs/explanation/a.md") == "deny"


def test_05_external_apis():
    assert CORTEX(SPECIALIST, "run_command", command="curl https://api.osv.dev/v1") == "deny"
    assert CORTEX("devops-specialist", "http_get", url="https://api.osv.dev/v1/query") == "allow"
    assert CORTEX("devops-specialist", "http_get", url="https://evil.example/") == "deny"


def test_06_delegation():
    for worker in ("code-writer-worker", "file-operator-worker", "test-runner-worker"):
        assert CORTEX(SPECIALIST, "delegate", to=worker) == "allow"
    assert CORTEX(SPECIALIST, "delegate", to="devops-specialist") == "deny"
    chained = CORTEX.decision("code-writer-worker", "read_file", {"path": "src/a.py"}, chain=("cortex",))
    assert chained.code == "broken-chain"


def test_07_the_record_in_its_own_form():
    text = RECORD.read_text("utf-8")
    record = read_record(text, "record", SKILLS)
    assert record.name == SPECIALIST
    assert differences(CORTEX.rulebook, record.name, record.agent) == []
    flat = "\n".join(line.removeprefix("  ") for line in text.splitlines())
    assert yaml.safe_load(flat)["permissions"] is None  # as the document has it
    assert read_record(flat, "record", SKILLS) == record
    with pytest.raises(PolicyError, match="are elsewhere"):
        read_record(text, "record")
    for old, new, found in (
        ("query_skill_catalog, ", "", "query_skill_catalog: only the policy allows it"),
        ("tools_allowed: [", "tools_allowed: [git_push, ", "git_push: only the record allows it"),
        ("[0, 1, 2]", "[0, 1]", "data_tiers: the policy says [0, 1, 2], the record [0, 1]"),
        ("migrations/**", "db/**", "locks.may: the policy says"),
        ("file-operator-worker, ", "", "delegates_to: the policy says"),
        ("external_apis_allowed: []", "external_apis_allowed: ['https://x.example/**']", "apis: the policy says []"),
        ("'2026-05-23'", "'2026-11-01'", "reviewed: the policy says 2026-05-23"),
    ):
        assert old in text
        other = read_record(text.replace(old, new, 1), "record", SKILLS)
        [line] = differences(CORTEX.rulebook, other.name, other.agent)
        assert line.startswith(found)
    with pytest.raises(PolicyError, match="unknown key `tools_alowed`"):
        read_record(text.replace("tools_allowed", "tools_alowed"), "record", SKILLS)
    # And it loads as an agent as it stands.
    policy = data()
    policy["agents"][SPECIALIST] = {**record.agent, "roles": [], "may": [*record.agent["may"], "delegate"]}
    policy["never"] = []
    build_rulebook(policy)


def test_08_layers():
    assert CORTEX.may("cortex") == {"query_metrics", "query_traces", "query_skill_catalog", "delegate"}
    assert CORTEX.may("backend-orch") - CORTEX.may("cortex") == {"write_capsule"}
    assert CORTEX.may("backend-task-orch") - CORTEX.may("backend-orch") == {"write_memory"}
    assert {"read_file", "run_command", "invoke_skill"} <= CORTEX.may(SPECIALIST)
    assert CORTEX.may("file-operator-worker") == {"read_file", "move_file"}
    for agent, rule in (("cortex", "read_file"), ("backend-orch", "write_file"), ("backend-task-orch", "invoke_skill")):
        policy = data()
        policy["agents"][agent]["may"] = [rule]
        with pytest.raises(PolicyError, match="does not hold"):
            build_rulebook(policy)


def test_09_a_grant_for_one_capsule():
    args = {"key": "k", "value": "v"}
    assert CORTEX("cortex", "write_memory", **args) == "deny"
    assert under("cortex", "write_memory", args, grants=["write_memory"]).verdict.word == "allow"
    assert CORTEX.rulebook.book.callers["backend-orch"].may_issue == {"capsules": True, "data_tiers": (3,)}
    assert CORTEX.rulebook.book.callers[SPECIALIST].may_issue == {"capsules": False}


def test_10_a_standing_grant():
    call = Call("test-runner-worker", "write_file", {"path": "reports/a.xml", "content": ""})
    for now, word in ((NOW, "allow"), ("2027-02-01T00:00:00Z", "deny")):
        facts = read_facts(CORTEX.rulebook, json.dumps({"now": now}), "facts")
        assert decide_call(CORTEX.rulebook, call, facts).verdict.word == word
    for missing in ("adr", "approved_by", "until"):
        policy = data()
        del policy["grants"][0][missing]
        with pytest.raises(PolicyError, match=missing):
            build_rulebook(policy)


def guard_of(folder: Path) -> Guard:
    folder.mkdir(exist_ok=True)
    (folder / "remit.yaml").write_text((EXAMPLES / "cortex/remit.yaml").read_text("utf-8"), "utf-8")
    guard = Guard(folder / "remit.yaml", state=folder.parent / "state")

    @guard.tool(does={"read": "path"})
    def read_file(path: Path) -> str:
        return "text"

    @guard.tool(does={"network": "url"}, kinds={"url": "url"}, tier=1)
    def http_get(url: str) -> str:
        return "page"

    return guard


def test_11_every_access_to_tiers_2_and_3_is_recorded(tmp_path):
    guard = guard_of(tmp_path / "p")
    with guard, guard.agent(SPECIALIST):
        guard.call("read_file", {"path": "data/internal/a.csv"})
        with pytest.raises(CallDenied):
            guard.call("read_file", {"path": "secrets/key"})
    with open_log(None, state=tmp_path / "state") as opened, opened.store.read() as view:
        found = [stored.body.decode("utf-8", "replace") for stored in entries(view)]
    assert sum("read_file" in body and '"deny"' in body for body in found) >= 1
    assert sum("read_file" in body and '"allow"' in body for body in found) >= 1


def test_13_an_unauthorized_access_halts_and_opens_an_incident(tmp_path):
    guard = guard_of(tmp_path / "p")
    with guard:
        with guard.agent(SPECIALIST):
            assert guard.call("read_file", {"path": "src/a.py"}) == "text"
            with pytest.raises(CallDenied) as first:
                guard.call("http_get", {"url": "https://evil.example/"})
            assert first.value.decision.violation
            with pytest.raises(CallDenied) as second:
                guard.call("read_file", {"path": "src/a.py"})
            assert second.value.decision.code == "halted"
        with guard.agent("devops-specialist"):
            assert guard.call("read_file", {"path": "infra/a.tf"}) == "text"
        [incident] = guard.authority.incidents()
        assert (incident.agent, incident.state) == (SPECIALIST, "open")
    again = guard_of(tmp_path / "p")  # it survives the process
    with again:
        with again.agent(SPECIALIST), pytest.raises(CallDenied) as still:
            again.call("read_file", {"path": "src/a.py"})
        assert still.value.decision.code == "halted"
        again.authority.resume(SPECIALIST, by="sam", because="a wrong address in its task")
        with again.agent(SPECIALIST):
            assert again.call("read_file", {"path": "src/a.py"}) == "text"


def test_14_too_coarse_and_too_narrow():
    """Too coarse: a scope down to rows. Too narrow: a grant for one capsule, or a standing one."""
    policy = data()
    policy["tools"]["query"] = {"args": {"sql": "sql"}, "dialect": "sqlite", "does": {"read": "**"}}
    del policy["tools"]["query"]["does"]
    policy["agents"]["devops-specialist"]["may"].append(
        {"query": {"sql": {"select": ["orders"], "rows": {"orders": {"id": 7}}}}}
    )
    book = build_rulebook(policy)

    def asked(sql: str) -> str:
        return decide_call(book, Call("devops-specialist", "query", {"sql": sql})).verdict.word

    assert asked("SELECT total FROM orders WHERE id = 7") == "allow"
    assert asked("SELECT total FROM orders") == asked("SELECT total FROM orders WHERE id = 8") == "deny"
    blocked = {"path": "docs/a.md", "content": ""}
    assert under("test-runner-worker", "write_file", blocked).verdict.word == "deny"
    granted = under("test-runner-worker", "write_file", blocked, grants=[{"write_file": {"path": "docs/**"}}])
    assert granted.verdict.word == "allow"


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Remit:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    remit = Remit(folder, capsys, monkeypatch)
    text = (EXAMPLES / "cortex/remit.yaml").read_text("utf-8")
    remit.policy(text + "unsafe_no_credential: true\n")
    ran = remit("activate", "--yes")
    assert ran.code == 0, ran.err
    return remit


def test_12_a_change_of_defaults_needs_a_document_and_cascades(project):
    text = (project.folder / "remit.yaml").read_text()
    project.policy(
        text.replace("may: [files, run_command, invoke_skill]", "may: [files, run_command, invoke_skill, move_file]")
    )
    assert project("activate", "--yes").code == 2
    assert project("activate", "--yes", "--ref", "PRD-9").code == 0
    due = project("review").out
    assert "devops-specialist: due" in due or "devops-specialist: overdue" in due
    assert due.count("the role L4 was changed (PRD-9)") == 2


def test_15_a_skipped_review_is_overdue_at_100_days(project):
    def state(now: str) -> str:
        [found] = [one for one in reviews(CORTEX.rulebook.book, now, {}) if one.who == SPECIALIST]
        return found.state

    days = [state(f"2026-{day}T12:00:00Z") for day in ("08-20", "08-30", "09-01")]  # 89, 99 and 101 days
    assert days == ["fine", "due", "overdue"]
    ran = project("check", "--strict")
    assert ran.code == 1
    assert any(SPECIALIST in line for line in ran.out.splitlines() if line.startswith("overdue"))
    project("review", "sign", SPECIALIST, "--because", "it needs all of it", "--yes")
    assert SPECIALIST not in project("review").out
