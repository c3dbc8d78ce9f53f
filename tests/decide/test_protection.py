"""What governs the agents stays out of their reach, however a command spells it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from remit.compile import load_rulebook
from remit.decide import decide
from remit.enforce.paths import look_up, open_root
from remit.model import Call, Context, Decision, Facts, Rulebook
from tests.decide.kit import TOOLS, book, outcome

STATE = "/home/ann/.local/state/remit/project-12ab"
POLICY = """\
remit: 1
use: [claude-code]
agents:
  coder: {may: [Bash, Read, Write]}
  observed: {may: [Bash, Read, Write], enforce: {observe: {until: 2027-01-01}}}
  reader: {may: [Bash: {shell: {run: [cat], path: {read: ["docs/**"]}}}]}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for folder in (".claude", "docs", ".venv/lib"):
        (root / folder).mkdir(parents=True)
    (root / "remit.yaml").write_text(POLICY)
    (root / "neutral").symlink_to(".claude")
    (root / "docs" / "l.md").symlink_to("../remit.yaml")
    (root / "docs" / "etc").symlink_to("/etc")
    return root


def judged(project: Path, command: str, agent: str = "coder") -> Decision:
    rulebook = load_rulebook(project / "remit.yaml")
    known = Facts(now="2026-11-15T12:00:00Z", guarded=(STATE,), sealed=(f"{project}/.venv", "/opt/remit"))
    facts = open_root(None, project / "remit.yaml", known)[1]
    call = Call(agent, "Bash", {"command": command}, Context(cwd=str(project)))
    return decide(rulebook, call, look_up(rulebook, call, facts))


@pytest.mark.parametrize(
    "command",
    [
        # where the text alone does not tell the place
        "cd $HOME/project && echo x > .remit/rulebook",
        "cd ~/project && rm remit.yaml",
        "echo x > ../project/remit.yaml",
        "cp x ~/project/.claude/settings.json",
        "cp x $DIR/.claude/settings.json",
        "cd ..; cp x project/.claude/x",
        "cd ~/project/.claude && echo x > settings.json",
        "echo x > ~/project/.github/x/../hooks/evil.json",
        "echo x > ~/project/" + "x/../" * 70 + "remit.yaml",
        "echo x > ~/" + "x/" * 100 + "remit.yaml",
        "echo x > ~/project/.claude/" + "x/" * 100 + "y",
        # Remit's own state
        f"cat {STATE}/remit.db",
        "cat ~/.local/state/remit/project-12ab/remit.db",
        "cat $HOME/.local/state/remit/project-12ab/remit.db",
        "cat ~/.local/state/remit/*/remit.db",
        "cd ~ && cat .local/state/remit/project-12ab/x",
        "cp -r ~/.local/state/remit /tmp/x",
        f"cd {STATE} && cat x",
        "cd .. && cat project-12ab/remit.db",
        "cd ../.. && cat state/remit/project/x",
        "rm -rf /home/ann/.local/state",
        "sqlite3 ~/.local/state/remit/project-12ab/remit.db 'DELETE FROM ask'",
        # the program that enforces
        "cp -r /home/a*/.local /tmp/x",
        "mv /home/ann/.lo* /tmp/x",
        "rm -rf .venv",
        "echo x > .ve*/x",
        "rm .VENV/lib/*",
        "rm .ve*/lib/x",
        "cp x /opt/remi[t]/client.py",
        "rm -rf .venv/lib",
        "echo x > .venv/lib/a.pth",
        "cp x /opt/remit/client.py",
        # through links that are there
        "echo x > neutral/settings.json",
        "echo x > docs/l.md",
        # links that would make a second way
        "ln -s . n",
        "ln -s ../project n",
        "ln -s $X n",
        "rm -rf *",
        # git's hooks, by another way
        "git config core.hooksPath docs",
        "git config --local CORE.hookspath docs",
        "git config set core.hooksPath docs",
        "git config core.hooksPath$X docs",
        "git config include.path evil",
    ],
)
def test_out_of_reach(project: Path, command: str):
    for agent in ("coder", "observed"):
        decision = judged(project, command, agent)
        assert (decision.verdict.word, decision.code) == ("deny", "protected"), decision.reason


@pytest.mark.parametrize(
    "command",
    [
        "cat .venv/lib/x",
        "cat neutral/settings.json",
        "ls ~/.local",
        "ls /home/*/.local",
        "cat /home/ann/.lo*",
        "cp -r /home/a*/.other /tmp/x",
        "rm -rf .vene*/x",
        "rm -rf build/.ve*/x",
        "cat ~/notes.txt",
        "ln -s docs n",
        "touch docs/new.md",
        "rm -rf docs",
        "find / -name x",
        "cd ~/other && cat README.md",
        "git -C ~/other status",
        "git config --get core.hooksPath",
        "git config user.name Ann",
        "git commit -m 'about core.hooksPath'",
    ],
)
def test_what_is_none_of_this_is_judged_as_usual(project: Path, command: str):
    assert judged(project, command).code == "allowed"


def test_a_scope_sees_where_a_link_leads(project: Path):
    assert judged(project, "cat docs/a.md", "reader").allowed
    refused = judged(project, "cat docs/etc/passwd", "reader")
    assert (refused.verdict.word, refused.code) == ("deny", "not-permitted")


def test_facts_with_links_bind_an_approval(project: Path):
    """What was approved for one file does not hold once the name leads to another."""
    from remit.decide.questions import call_digest

    call = Call("coder", "Bash", {"command": "echo x > docs/l.md"}, Context(cwd=str(project)))
    rulebook = load_rulebook(project / "remit.yaml")
    facts = open_root(None, project / "remit.yaml", Facts())[1]
    before = call_digest(call, rulebook.hash, look_up(rulebook, call, facts))
    (project / "docs" / "l.md").unlink()
    (project / "docs" / "l.md").symlink_to("other.md")
    assert call_digest(call, rulebook.hash, look_up(rulebook, call, facts)) != before


@pytest.mark.parametrize(
    ("tool", "path", "expected"),
    [
        ("Write", "{above}/remit.yaml", "protected"),
        ("Read", "{above}/remit.yaml", "allowed"),  # it may be read where a rule says so
        ("Write", "{above}/other.yaml", "allowed"),
        ("Read", "{above}/other.yaml", "allowed"),
        ("Write", "x.yaml", "allowed"),
    ],
)
def test_the_policy_above_its_root_may_be_read_and_not_changed(tmp_path: Path, tool: str, path: str, expected: str):
    (tmp_path / "project").mkdir()
    scope = f'{{path: {{allow: "**", outside: "{tmp_path}/**"}}}}'
    policy = (
        f"remit: 1\nroot: project\nuse: [claude-code]\nagents: {{coder: {{may: [Read: {scope}, Write: {scope}]}}}}\n"
    )
    (tmp_path / "remit.yaml").write_text(policy)
    rulebook = load_rulebook(tmp_path / "remit.yaml")
    facts = Facts(now="2026-11-15T12:00:00Z", root=str(tmp_path / "project"))
    args = {"file_path": path.format(above=tmp_path), **({"content": "x"} if tool == "Write" else {})}
    call = Call("coder", tool, args, Context())
    decision = decide(rulebook, call, look_up(rulebook, call, facts))
    assert decision.code == expected, decision.reason


@pytest.mark.parametrize(
    ("tool", "path", "expected"),
    [
        ("delete", "/w/shared/remit.yaml", "deny protected"),
        ("delete", "/w/shared", "deny protected"),
        ("delete", "/w/share", "allow"),
        ("delete", "/w/shared/other.yaml", "allow"),
        ("delete", "/w/shared/remit.yaml/x", "allow"),
        ("write", "/w/shared/remit.yaml", "deny protected"),
        ("read", "/w/shared/remit.yaml", "allow"),
        ("wipe", "/w/shared", "deny protected"),
        ("wipe", "/w/share", "allow"),
    ],
)
def test_a_file_of_the_policy_outside_the_root(tool: str, path: str, expected: str) -> None:
    tools = {**TOOLS, "wipe": {"args": {"path": "path"}, "does": {"write": {"below": "path"}}}}
    outside = {"path": {"allow": "**", "outside": "/**"}}
    policy = book(tools=tools, agents={"a": {"may": [{name: outside} for name in ("read", "write", "delete", "wipe")]}})
    own = msgspec.structs.replace(policy.book.protected, above=("../shared/remit.yaml",))
    tiers = {tier: msgspec.structs.replace(rule, verdict="allow") for tier, rule in policy.book.tiers.items()}
    rulebook = Rulebook(msgspec.structs.replace(policy.book, protected=own, tiers=tiers), "sha256:0")
    assert outcome(rulebook, tool, {"path": path}, facts=Facts(root="/w/p")) == expected
    assert outcome(rulebook, tool, {"path": path}).partition(" ")[0] == "allow"
