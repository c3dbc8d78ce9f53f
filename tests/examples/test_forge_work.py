"""The matrix of the forge pipeline, accepted on a team's own work: what its document allows passes, no more."""

import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from remit.compile import load_rulebook
from remit.decide import decide
from remit.enforce.paths import look_up, open_root
from remit.model import Call, Decision, Facts, Rulebook

HERE = Path(__file__).parent
WORK: dict[str, Any] = yaml.safe_load((HERE / "forge-work.yaml").read_text())


@dataclass(frozen=True)
class Work:
    by: str  # what in the document allows it: words, pattern, nothing
    asked: bool  # a person is asked first, by the tiers
    call: Call


def terminal(agent: str, command: str) -> Call:
    return Call(agent, "run_in_terminal", {"command": command, "explanation": "", "isBackground": False})


def create(agent: str, path: str) -> Call:
    return Call(agent, "create_file", {"filePath": path, "content": ""})


def calls() -> Iterator[Work]:
    for group in WORK["files"]:
        for run in WORK["runs"]:
            count = run[group["count"]] if "count" in group else 1
            for part in group.get("parts", [""]):
                for n in range(1, count + 1):
                    path = group["path"].format(slug=run["slug"], date=run["date"], part=part, n=f"{n:02}")
                    yield Work(group["by"], False, create(group["agent"], path))
    for group in WORK["commands"]:
        for command in group["run"]:
            yield Work(group["by"], group.get("asked", False), terminal(group["agent"], command))


def attacks() -> Iterator[Call]:
    for group in WORK["attacks"]:
        yield from (create(group["agent"], path) for path in group.get("files", ()))
        yield from (terminal(group["agent"], command) for command in group.get("run", ()))


@pytest.fixture(scope="module")
def forge() -> Rulebook:
    return load_rulebook(HERE.parents[1] / "examples" / "forge-pipeline" / "remit.yaml")


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """What a hook sees in a real repository of such a team: the branches and the tag that the commands name."""
    root = tmp_path_factory.mktemp("forge")
    for name in ("src/api/retry.ts", "docs/feature/checkout-retries/scratch.md", "package.json", "remit.yaml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")

    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@x.example")
        subprocess.run(["git", "-C", str(root), *who, *words], check=True, capture_output=True)

    def change(text: str) -> None:
        (root / "src/api/retry.ts").write_text(text)

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "first")
    git("tag", "pipeline-baseline-2026-03-05T12-00-00Z")
    change("y\n")
    git("commit", "-qam", "second")
    git("branch", "feature/checkout-retries")
    change("z\n")
    git("stash")
    change("w\n")
    return open_root(root, root, Facts())[1]


@pytest.fixture(scope="module")
def decided(forge: Rulebook, facts: Facts) -> list[tuple[Work, Decision]]:
    return [(work, decide(forge, work.call, look_up(forge, work.call, facts))) for work in calls()]


def shown(rows: list[tuple[Work, Decision]]) -> list[str]:
    return sorted({f"{w.call.agent}: {next(iter(w.call.args.values()))} ({d.verdict.word})" for w, d in rows})


PEOPLE = [
    "implementer: npm install -g @playwright/cli@latest (ask)",
    "implementer: npm install left-pad (ask)",
    "implementer: npx eslint src/api/retry.ts (ask)",
    "implementer: npx tsc --noEmit (ask)",
    "implementer: npx vitest run src/api (ask)",
    "orchestrator: git init (ask)",
    "orchestrator: git pull --ff-only (ask)",
    "orchestrator: git push origin feature/checkout-retries (ask)",
    "orchestrator: git push origin pipeline-baseline-2026-03-05T12-00-00Z (ask)",
    "verifier: dotnet run --project src/Shop.UI (ask)",
    "verifier: kill 12345 (ask)",
    "verifier: npx cypress run (ask)",
    "verifier: npx eslint src (ask)",
    "verifier: npx playwright test (ask)",
    "verifier: npx playwright test tests/e2e/checkout.spec.ts --reporter=json (ask)",
    "verifier: npx tsc --noEmit (ask)",
]
"""All of the team's work that its document allows and that a person is asked about first: what leaves the machine, what
may download, what ends a process, what makes a repository. Nothing of it is denied."""


def test_what_the_document_allows_passes(decided):
    allowed = [(work, decision) for work, decision in decided if work.by != "nothing"]
    passed = [row for row in allowed if row[1].verdict.word == "allow"]
    assert len(allowed) >= 471
    assert len(passed) / len(allowed) >= 0.97
    assert shown([row for row in allowed if row not in passed]) == PEOPLE


def test_each_form_of_work_passes_for_each_agent(decided):
    """Files are many and alike; so agent by agent, and commands apart from files."""
    share: dict[tuple[str, str], list[bool]] = {}
    for work, decision in decided:
        if work.by != "nothing" and not work.asked:
            share.setdefault((work.call.agent, work.call.tool), []).append(decision.verdict.word == "allow")
    assert {key for key, each in share.items() if sum(each) / len(each) < 0.95} <= {
        ("verifier", "run_in_terminal"),  # seven of 29 may download, or end a process
        ("implementer", "run_in_terminal"),  # three of 22 may download
        ("orchestrator", "run_in_terminal"),  # git init, one of 48
    }
    assert all(sum(each) / len(each) >= 0.75 for each in share.values())


def test_what_the_document_does_not_allow_stays_denied_and_says_why(decided):
    rest = [(work, decision) for work, decision in decided if work.by == "nothing"]
    assert Counter(decision.verdict.word for _, decision in rest) == {"deny": len(rest)}
    assert all(group.get("because") for group in WORK["files"] + WORK["commands"] if group["by"] == "nothing")


@pytest.mark.parametrize(
    "call", list(attacks()), ids=lambda call: f"{call.agent}-{next(iter(call.args.values()))}"[:80]
)
def test_attacks_stay_denied(forge, facts, call):
    assert decide(forge, call, look_up(forge, call, facts)).verdict.word == "deny"


@pytest.mark.parametrize("feed", ["printf '%s' {}", "echo {}", "printf '%s\\n' {}"])
@pytest.mark.parametrize(("sql", "word"), [("SELECT 1;", "allow"), ("DROP TABLE t;", "deny"), (".shell id", "deny")])
def test_what_is_fed_is_judged_however_it_is_printed(forge, feed, sql, word):
    text = feed.format(f'"{sql}"') + " | sqlite3 verification-ledger.db"
    assert decide(forge, terminal("knowledge", text)).verdict.word == word
