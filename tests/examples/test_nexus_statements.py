"""The decision record on tool access tiers, statement by statement, numbered as in the example's README."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from remit.compile import build_rulebook
from remit.compile.facts import read_facts
from remit.model import Decision, PolicyError
from tests.examples.kit import EXAMPLES, Asked

NEXUS = Asked("nexus")
WORKERS = ("Builder", "Scaffolder", "Verifier", "Scribe", "Sentinel", "DevOps", "Architect")
PLAN = [{"edit": {"path": ["migrations/**", "pyproject.toml"]}}, {"Bash": {"shell": {"run": [{"npm": ["install"]}]}}}]
SAID = ("add it", "the plan says so", "one more of it")


def decided(
    agent: str, tool: str, args: dict[str, Any], *gates: str, plan: Any = None, chain: tuple[str, ...] = ()
) -> Decision:
    """Under a task of the agent's own, in which these gates were passed."""
    from remit.decide import decide
    from remit.model import Call, Context, Statement

    task: dict[str, Any] = {"agent": agent, "gates": list(gates)}
    if plan is not None:
        task["plan"] = plan
    facts = read_facts(NEXUS.rulebook, json.dumps({"capsules": {"T": task}}), "facts")
    call = Call(agent, tool, args, Context(capsule="T", chain=chain), Statement(*SAID))
    return decide(NEXUS.rulebook, call, facts)


def write(agent: str, path: str, *gates: str, **more: Any) -> Decision:
    return decided(agent, "Write", {"file_path": path, "content": ""}, *(gates or ("requirements",)), **more)


def run(agent: str, command: str, *gates: str, **more: Any) -> Decision:
    return decided(agent, "Bash", {"command": command}, *(gates or ("requirements",)), **more)


def verdicts(agent: str, **paths: str) -> None:
    for word, texts in paths.items():
        for path in texts.split():
            assert write(agent, path).verdict.word == word, (agent, path, write(agent, path).reason)


def test_01_everybody_reads():
    for agent in (*WORKERS, "Orchestrator"):
        assert NEXUS(agent, "Read", file_path="src/app.py") == "allow"


def test_02_reading_is_all_that_nobody_needs_a_task_for():
    for agent in WORKERS:
        decision = NEXUS.decision(agent, "Write", {"file_path": "docs/a.md", "content": ""})
        assert decision.verdict.word == "deny"
    assert NEXUS("Orchestrator", "Write", file_path="a.md", content="") == "deny"


def test_03_builder_writes_the_tasks_source_and_unit_tests():
    verdicts("Builder", allow="src/a.py config/a.toml tests/unit/test_a.py", deny="docs/a.md tests/system/a.py ../a")


def test_04_scaffolder_writes_new_files_only():
    """The decision obliges whoever runs it to create the file: `tests/adapters` and `tests/enforce` break that."""
    decision = write("Scaffolder", "src/new.py")
    assert (decision.verdict.word, [duty.do for duty in decision.obligations]) == ("allow", ["create-exclusively"])
    assert "Edit" not in NEXUS.may("Scaffolder")


def test_05_verifier_writes_tests():
    kinds = ("integration", "system", "acceptance", "performance")
    verdicts("Verifier", allow=" ".join(f"tests/{kind}/a.py" for kind in kinds), deny="src/a.py tests/unit/a.py")


def test_06_scribe_writes_documentation():
    verdicts("Scribe", allow="docs/a.md CHANGELOG.md RELEASE_NOTES_1.md", deny="src/a.py docsx/a.md")


def test_07_devops_writes_infrastructure():
    verdicts("DevOps", allow="infra/a.tf k8s/a.yaml", ask=".github/workflows/a.yml .gitlab-ci.yml", deny="src/a.py")


def test_09_builder_builds_tests_lints():
    for command in ("npm test", "make build", "ruff check src", "pytest -q", "git status"):
        assert run("Builder", command).verdict.word == "allow", command
    assert run("Builder", "curl https://example.com").verdict.word == "deny"


def test_10_verifier_runs_the_suite():
    assert run("Verifier", "pytest").verdict.word == "allow"
    assert run("Verifier", "make build").verdict.word == "deny"


def test_11_sentinel_probes_staging():
    assert run("Sentinel", "curl -s https://staging.example/login").verdict.word == "allow"
    assert run("Sentinel", "curl -s https://api.prod.example/").verdict.word == "deny"
    assert run("Sentinel", "curl -s https://staging.example/x -o src/a.py").verdict.word == "deny"


def test_12_devops_deploys_to_staging():
    decision = run("DevOps", "kubectl --context staging apply -f k8s/app.yaml")
    assert (decision.verdict.word, decision.tier) == ("allow", 2)


def test_13_spikes_stay_in_their_directory():
    assert run("Architect", "cd spikes/SPIKE-001 && python3 run.py").verdict.word == "allow"
    assert run("Architect", "cd spikes/SPIKE-001-title && python3 run.py").verdict.word == "allow"
    for command in ("cd src && python3 run.py", "cd spikes/SPIKE-001 && cd ../../src && python3 x.py", "python3 x.py"):
        assert run("Architect", command).verdict.word == "deny", command


def test_14_no_production_no_machine_no_other_directory():
    assert run("Builder", "sudo apt-get install jq").verdict.word == "deny"
    assert run("Builder", "cat ../other/secret").verdict.word == "deny"
    assert run("DevOps", "kubectl --context prod get pods").tier == 4


def test_15_tier_3_states_its_intent_and_is_anticipated():
    planned = write("Builder", "migrations/1.py", "requirements", "plan", plan=PLAN, chain=("Orchestrator",))
    assert (planned.verdict.word, planned.tier, planned.needs is not None) == ("ask", 3, True)
    assert planned.needs is not None
    assert planned.needs.of == "Orchestrator"
    unplanned = write("Builder", "migrations/1.py", "requirements", chain=("Orchestrator",))
    assert unplanned.needs is not None
    assert unplanned.needs.of == "human"
    assert NEXUS.rulebook.book.callers["Orchestrator"].acknowledges


def test_16_tier_4_waits_for_the_nexus():
    for agent, command in (("DevOps", "kubectl --context prod apply -f k8s/a.yaml"), ("DevOps", "terraform apply")):
        decision = run(agent, command)
        assert decision.verdict.word == "ask"
        assert decision.needs is not None
        assert decision.needs.of == "human"
    assert write("Builder", "src/auth/login.py").tier == 4


def test_18_the_gates_bind():
    assert write("Builder", "src/a.py", "plan").code == "gate-open"
    assert write("Builder", "src/a.py", "requirements").code == "allowed"
    assert run("DevOps", "gh workflow run release.yml", "requirements").code == "gate-open"
    assert run("DevOps", "gh workflow run release.yml", "requirements", "demo").code == "tier-asks"


def test_19_the_text_for_each_agents_file():
    from remit.explain.access import instructions_text, make_report

    for agent in (*WORKERS, "Orchestrator"):
        text = instructions_text(make_report(NEXUS.rulebook, agent))
        assert "**You MAY use**" in text
        assert "**You MAY NOT use**" in text


@pytest.mark.parametrize(
    ("agent", "rule"),
    [
        ("Sentinel", {"Write": {"path": "src/**"}}),
        ("Orchestrator", "Write"),
        ("Scribe", "Bash"),
        ("Architect", "Edit"),
        ("Builder", "WebFetch"),
    ],
)
def test_17_one_agent_is_not_another(agent, rule):
    """Five tiers and a scope for each: what only some may have is proved, and a wider policy doesn't load."""
    data = yaml.safe_load((EXAMPLES / "nexus/remit.yaml").read_text("utf-8"))
    data["agents"][agent].pop("may_not", None)
    data["agents"][agent]["may"].append(rule)
    with pytest.raises(PolicyError, match="does not hold"):
        build_rulebook(data)


def test_08_what_was_written_is_listed_by_the_ledger(tmp_path, capsys, monkeypatch):
    """Not by the agent: `remit capsule report` says what was called under a task."""
    from pathlib import Path

    from remit import Guard, task_from
    from tests.cli.kit import Remit

    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    remit = Remit(folder, capsys, monkeypatch)
    remit.policy((EXAMPLES / "nexus/remit.yaml").read_text("utf-8") + "unsafe_no_credential: true\n")
    assert remit("activate", "--yes").code == 0
    guard = Guard(folder / "remit.yaml")

    @guard.tool("Write", does={"write": "file_path"}, tier=1)
    def write_file(file_path: Path, content: str) -> None:
        file_path.parent.mkdir(exist_ok=True)
        file_path.write_text(content)

    with guard:
        task = {"id": "TASK-1", "agent": "Builder", "goal": "two files", "expires": "2099-01-01"}
        guard.authority.issue(guard.rulebook, task_from(guard.rulebook, task))
        guard.authority.pass_gate("TASK-1", "requirements", by="ann")
        with guard.agent("Builder", capsule="TASK-1"):
            for name in ("src/a.py", "src/b.py"):
                guard.call("Write", {"file_path": name, "content": "x"})
    report = remit("capsule", "report", "TASK-1", "--json")
    assert report.code == 0, report.err
    assert [one["path"] for one in report.json["files"]] == ["src/a.py", "src/b.py"]
