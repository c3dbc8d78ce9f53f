"""`remit install claude-code`: what it writes, and what it leaves alone."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from remit.adapters.hosts.claude_code.setup import ClaudeSetup
from remit.compile import build_rulebook, load_rulebook
from remit.compile.file import rulebook_path, write_rulebook
from tests.cli.install_kit import INSTALL, POLICY, REVIEWER, SETTINGS, UNINSTALL, Project

EVENTS = ["PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project in which Remit is not installed yet."""
    found = Project(tmp_path)
    found.activate()
    found.put(".claude/settings.json", SETTINGS)
    found.put(".claude/agents/reviewer.md", REVIEWER)
    return found


def test_it_shows_the_change_and_writes_nothing_without_yes(project: Project):
    before = project.files()
    ran = project(*INSTALL)
    assert (ran.code, ran.err) == (
        2,
        "remit: nobody can be asked here, and nothing was written\n    write with --yes\n",
    )
    assert "--- a/.claude/settings.json\n+++ b/.claude/settings.json\n" in ran.out
    assert f"--- /dev/null\n+++ b/{project.hooked}\n" in ran.out
    assert '"onFailure": "block"' in ran.out
    assert "-tools: Read, Write\n+tools: Read, Edit, Bash\n" in ran.out
    assert project.files() == before
    assert project.kept() == []


def test_hooks_and_rules_stand_beside_what_was_there(project: Project):
    assert project(*INSTALL, "--yes").code == 0
    data = json.loads(project.settings.read_bytes())
    assert list(data) == ["model", "hooks", "permissions", "disableSkillShellExecution"]
    assert data["hooks"] == json.loads(SETTINGS)["hooks"]
    list_ = project.state / "remit" / "hosts" / "claude-code.sh"
    assert list(project.hooks()) == EVENTS
    for event in EVENTS:
        (group,) = project.hooks()[event]
        (entry,) = group["hooks"]
        assert group["matcher"] == "*"
        assert entry.pop("command").startswith(f"[ -r {list_} ] && . {list_}; echo ")
        assert entry == {"type": "command", "timeout": 30, "onFailure": "block"}
    assert f"mind {project.root} " in list_.read_text()
    assert data["permissions"]["deny"][0] == "Bash(rm:*)"
    assert {
        "WebFetch",
        "Grep",
        "Edit(/.remit/**)",
        "Edit(/.claude/**)",
        "Edit(/remit.yaml)",
        "Read(/.remit/**)",
    } <= set(data["permissions"]["deny"])
    assert not {"Read", "Write", "Edit", "Bash", "Agent", "Task"} & set(data["permissions"]["deny"])


def test_after_the_policy_changed_only_our_parts_change(project: Project):
    project(*INSTALL, "--yes")
    project.put(".claude/settings.json", project.settings.read_text().replace('"opus"', '"sonnet"'))
    project.activate(POLICY.replace("may: [Read, Task]", "may: [Read, Grep, Task]").replace("[Read, {Bash", "[{Bash"))
    assert project(*INSTALL, "--yes").code == 0
    assert "Grep" not in project.deny()
    assert project.deny()[0] == "Bash(rm:*)"
    assert '"sonnet"' in project.settings.read_text()
    assert "tools: Edit, Bash\n" in (project.root / ".claude/agents/reviewer.md").read_text()
    project(*UNINSTALL, "--yes")
    assert json.loads(project.settings.read_text()) == {**json.loads(SETTINGS), "model": "sonnet"}
    assert (project.root / ".claude/agents/reviewer.md").read_text() == REVIEWER


OLD = "/elsewhere/python -I -S /elsewhere/remit/adapters/hooks/client.py claude-code /elsewhere/state"


def hooked(text: str, command: str = OLD) -> str:
    """Settings with hooks of ours, as Remit wrote them into projects before."""
    data = json.loads(text)
    for event in EVENTS:
        entry = {"type": "command", "command": command, "timeout": 30, "onFailure": "block"}
        data["hooks"][event] = [{"matcher": "*", "hooks": [entry]}]
    return json.dumps(data, indent=4)


def test_hooks_of_before_in_the_project_go_and_are_not_put_back(project: Project):
    project.put(".claude/settings.json", hooked(SETTINGS))
    project(*INSTALL, "--yes")
    assert "client.py" not in project.settings.read_text()
    assert [len(project.hooks()[event]) for event in EVENTS] == [1, 1, 1, 1]
    project(*UNINSTALL, "--yes")
    assert json.loads(project.settings.read_text()) == json.loads(SETTINGS)
    assert not project.hooked.exists()


def test_hooks_of_the_user_that_are_out_of_date_are_replaced_and_never_doubled(project: Project):
    project.hooked.write_text(hooked('{"hooks": {}}'))
    project(*INSTALL, "--yes")
    assert "client.py" not in project.hooked.read_text()
    assert [len(project.hooks()[event]) for event in EVENTS] == [1, 1, 1, 1]


def test_hooks_of_another_installation_in_the_other_file_are_pointed_out(project: Project):
    committed = hooked(SETTINGS)
    project.put(".claude/settings.json", committed)
    ran = project(*INSTALL, "--yes", "--local")
    assert ".claude/settings.json: holds hooks of another installation" in ran.out
    assert project.settings.read_text() == committed


def test_shared_hooks_have_no_place_of_this_machine(project: Project):
    before = project.files()
    assert project(*INSTALL, "--yes", "--shared").code == 0
    shared = json.loads(project.settings.read_text())["hooks"]
    commands = {entry["command"] for event in EVENTS for group in shared[event] for entry in group["hooks"]}
    assert commands == {"remit-hook claude-code"}
    assert str(project.root.parent) not in project.settings.read_text()
    assert "nothing to do" in project(*INSTALL).out  # what was asked for once stays
    assert project("status", "--json").json["hosts"][0]["hooked"] is True
    project(*UNINSTALL, "--yes")
    assert project.files() == before


def test_managed_hooks_where_somebody_may_write_them(project: Project, monkeypatch: pytest.MonkeyPatch):
    managed = project.user.parent / "etc" / "managed-settings.json"
    monkeypatch.setattr(ClaudeSetup, "settings_path", _managed(ClaudeSetup.settings_path, managed))
    assert project(*INSTALL, "--yes", "--managed").code == 0
    assert list(json.loads(managed.read_text())["hooks"]) == EVENTS
    assert [one["where"] for one in project.record()["copies"]] == ["user", "managed"]
    project(*UNINSTALL, "--yes")
    assert not managed.parent.exists()


def _managed(before: Any, managed: Path) -> Any:
    return lambda self, root, where: managed if where == "managed" else before(self, root, where)


def test_one_hook_serves_all_projects_and_goes_with_the_last(project: Project, tmp_path: Path):
    project.hooked.write_text('{"theme": "dark"}\n')
    (tmp_path / "other").mkdir()
    other = Project(tmp_path / "other")
    other.state, other.user, other.hooked = project.state, project.user, project.hooked
    other.activate()
    project(*INSTALL, "--yes")
    once = project.hooked.read_bytes()
    other(*INSTALL, "--yes")
    assert project.hooked.read_bytes() == once
    listed = (project.state / "remit" / "hosts" / "claude-code.sh").read_text()
    assert [f"mind {one.root} " in listed for one in (project, other)] == [True, True]
    assert "stay, since other projects use them" in project(*UNINSTALL, "--yes").out
    assert project.hooked.read_bytes() == once
    assert project("uninstall", "claude-code", "--yes").code == 0
    other(*UNINSTALL, "--yes")
    assert project.hooked.read_text() == '{"theme": "dark"}\n'
    assert not (project.state / "remit" / "hosts" / "claude-code.sh").exists()


def test_local_settings_and_back(project: Project):
    project.put(".claude/settings.local.json", '{"a":1}')
    before = project.files()
    project(*INSTALL, "--yes", "--local")
    assert project.settings.read_text() == SETTINGS
    local = json.loads((project.root / ".claude/settings.local.json").read_bytes())
    assert list(local) == ["a", "disableSkillShellExecution", "permissions"]
    ran = project(*INSTALL, "--yes", "--json")
    words = {Path(one["path"]).name: one["change"] for one in ran.json["files"]}
    assert words == {"settings.local.json": "restore", "settings.json": "edit"}
    assert (project.root / ".claude/settings.local.json").read_text() == '{"a":1}'
    project(*UNINSTALL, "--yes")
    assert project.files() == before


def test_the_pins(project: Project):
    (project.user / "agents").mkdir()
    (project.user / "agents" / "mine.md").write_text("---\nname: writer\ndescription: x\n---\n")
    ran = project(*INSTALL, "--yes", "--json")
    record = project.record()
    reviewer = project.root / ".claude/agents/reviewer.md"
    assert record["agents"] == ran.json["pins"]
    assert record["agents"]["reviewer"] == {str(reviewer): hashlib.sha256(reviewer.read_bytes()).hexdigest()}
    assert list(record["agents"]["writer"]) == [str(project.user / "agents" / "mine.md")]
    assert "boss" not in record["agents"]  # nobody vouches for a name without a file
    assert record["definitions"][:2] == [str(project.root / ".claude/agents"), str(project.user / "agents")]
    assert (record["root"], record["policy"]) == (str(project.root), str(project.root / "remit.yaml"))
    assert record["settings"] == str(project.settings)


def test_an_agent_without_tools_gets_an_empty_list_and_odd_files_are_left(project: Project):
    project.put(".claude/agents/idle.md", "---\nname: idle\ndescription: x\n---\n")
    bare = project.put(".claude/agents/writer.md", "No head.\n")
    twice = project.put(".claude/agents/w2.md", "---\nname: writer\ndescription: a --- b\n---\n")
    texts = bare.read_bytes(), twice.read_bytes()
    ran = project(*INSTALL, "--yes")
    assert "tools: []\n" in (project.root / ".claude/agents/idle.md").read_text()
    assert (bare.read_bytes(), twice.read_bytes()) == texts
    assert "writer.md: left as it is: it has no head with a name that is certain; pinned for writer" in ran.out
    assert "w2.md: left as it is: it has no head with a name that is certain; pinned for writer" in ran.out


def test_observing_leaves_the_second_line_out_and_takes_it_back(project: Project):
    before = project.files()
    project(*INSTALL, "--yes")
    watched = POLICY.replace("  reviewer:\n", "  reviewer:\n    enforce: {observe: {until: 2099-01-01}}\n")
    project.activate(watched)
    ran = project(*INSTALL, "--yes")
    assert "no deny rules, since they would bind reviewer, who is only observed" in ran.out
    assert project.deny() == ["Bash(rm:*)"]
    assert (project.root / ".claude/agents/reviewer.md").read_text() == REVIEWER
    assert set(EVENTS) <= set(project.hooks())
    project(*UNINSTALL, "--yes")
    project.activate()
    assert project.files().keys() == before.keys()
    assert project.settings.read_text() == SETTINGS


def test_an_end_of_observing_that_has_passed_counts_as_none(project: Project):
    project.activate(POLICY + "enforce: {observe: {until: 2020-01-01}}\n")
    project(*INSTALL, "--yes")
    assert "WebFetch" in project.deny()


def test_what_the_policy_does_not_know_is_listed_with_lines_to_paste(project: Project):
    project.put(".claude/agents/stranger.md", "---\nname: stranger\ndescription: x\n---\n")
    project.put(".mcp.json", '{"mcpServers": {"git hub": {"command": "x"}}}')
    (project.user / ".claude.json").write_text(
        json.dumps({"projects": {str(project.root): {"mcpServers": {"own": {}}}, "/else": {"mcpServers": {"no": {}}}}})
    )
    ran = project(*INSTALL, "--dry-run")
    assert "that the policy does not know (their calls are denied): stranger, general-purpose, Explore, Plan" in ran.out
    assert "    agents:\n      stranger: {may: []}\n      general-purpose: {may: []}\n" in ran.out
    assert "that the policy does not know (they are denied): mcp__git_hub__*, mcp__own__*\n" in ran.out
    assert "      mcp__git_hub__NAME: {args: {ARGUMENT: KIND}, does: {EFFECT: ARGUMENT}}\n" in ran.out
    assert "does: nothing" not in ran.out  # of a tool that nobody knows, that would be a claim
    assert "agents of the policy that the host has no definition of: writer, idle\n" in ran.out
    found = project(*INSTALL, "--dry-run", "--json").json
    assert found["unknown_agents"][0] == "stranger"
    assert found["unknown_tools"] == ["mcp__git_hub__*", "mcp__own__*"]
    assert found["undefined_agents"] == ["writer", "idle"]


def test_settings_that_switch_hooks_off_are_pointed_out(project: Project):
    (project.user / "settings.json").write_text('{"disableAllHooks": true}')
    assert "`disableAllHooks` is true, so no hook runs" in project(*INSTALL, "--dry-run").out


def test_a_policy_that_is_not_the_activated_one_is_pointed_out(project: Project):
    project.put("remit.yaml", POLICY.replace("may: [Read, Write]", "may: [Read]"))
    assert "remit.yaml has changed since it was activated; run `remit activate`" in project(*INSTALL, "--dry-run").err
    project.put("remit.yaml", "nonsense: [")
    assert "remit.yaml does not load; what was activated counts" in project(*INSTALL, "--dry-run").err


class TestMain:
    """Who the main agent is."""

    LACKING = POLICY.replace("hosts: {claude-code: {main: boss}}\n", "")

    def test_somebody_must_say_it(self, project: Project):
        project.activate(self.LACKING)
        ran = project(*INSTALL, "--yes")
        assert ran.code == 2
        assert ran.err == (
            "remit: the policy does not say who claude-code's main agent is\n"
            "    name one with --main AGENT: boss, reviewer, writer, idle\n"
        )
        assert project.settings.read_text() == SETTINGS

    def test_a_policy_in_the_tools_of_another_host_is_refused(self, project: Project):
        """Otherwise every call would be denied, whoever the main agent is."""
        other = self.LACKING.replace("claude-code", "opencode").replace("Read", "read").replace("Write", "write")
        other = other.replace("Task", "task").replace("Bash", "bash").replace("Edit", "edit")
        project.activate(other + "hosts: {opencode: {main: boss}}\n")
        for words in ((), ("--main", "boss")):
            ran = project(*INSTALL, "--yes", *words)
            assert ran.code == 2
            assert "the policy is written in the tools of opencode; it knows none of claude-code's" in ran.err
            assert "remit init --host claude-code --output claude-code.yaml" in ran.err
        assert project.settings.read_text() == SETTINGS

    def test_an_unknown_one_is_refused_with_a_suggestion(self, project: Project):
        project.activate(self.LACKING)
        ran = project(*INSTALL, "--yes", "--main", "bos")
        assert (ran.code, ran.err) == (2, "remit: unknown agent `bos`; did you mean `boss`?\n")

    def test_it_is_appended_to_the_policy_and_must_be_activated(self, project: Project):
        project.activate(self.LACKING.rstrip("\n"))
        before = project.files()
        ran = project(*INSTALL, "--yes", "--main", "boss")
        assert ran.code == 0
        assert "+hosts: {claude-code: {main: boss}}\n" in ran.out
        assert (project.root / "remit.yaml").read_text() == POLICY
        assert "run `remit activate`; until then every call of the main agent is denied" in ran.out
        again = project(*INSTALL)
        assert "nothing to do" in again.out
        assert "run `remit activate`" in again.out
        project(*UNINSTALL, "--yes")
        assert project.files() == before

    def test_our_block_is_taken_out_of_a_policy_that_changed(self, project: Project):
        project.activate(self.LACKING)
        project(*INSTALL, "--yes", "--main", "boss")
        project.put("remit.yaml", (project.root / "remit.yaml").read_text() + "# more\n")
        project(*UNINSTALL, "--yes")
        assert (project.root / "remit.yaml").read_text() == self.LACKING + "# more\n"

    def test_a_policy_with_hosts_is_not_edited(self, project: Project):
        text = self.LACKING + "hosts:\n  codex: {main: boss}\n"
        project.activate(text)
        ran = project(*INSTALL, "--yes", "--main", "boss")
        assert ran.code == 0
        assert "the policy must say so; add to it:\n    hosts: {claude-code: {main: boss}}\n" in ran.out
        assert (project.root / "remit.yaml").read_text() == text

    def test_another_than_the_policy_says_is_refused(self, project: Project):
        ran = project(*INSTALL, "--yes", "--main", "writer")
        assert ran.code == 2
        assert "the policy says that the main agent is `boss`" in ran.err


class TestRefusals:
    """One clear line, and nothing is changed."""

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('{\n  "a": 1,\n}', 'line 3, column 1: expected `"`'),
            ('{\n  // mine\n  "a": 1}', "line 2, column 3: a comment, which JSON does not have"),
            ("", "line 1, column 1: expected a value"),
            ('{"hooks": []}', "`hooks` is not of type object, so the host would ignore the file"),
            (b'{"a": "\xff"}', "line 1: not UTF-8"),
        ],
    )
    def test_bad_settings(self, project: Project, text: str | bytes, message: str):
        project.put(".claude/settings.json", text)
        before = project.files()
        ran = project(*INSTALL, "--yes")
        assert ran.code == 2
        assert f"remit: {project.settings}: {message}\n" in ran.err
        assert project.files() == before
        assert project.kept() == []

    def test_no_policy_and_nothing_activated(self, project: Project, tmp_path: Path):
        (tmp_path / "fresh").mkdir()
        fresh = Project(tmp_path / "fresh")
        fresh.put("remit.yaml", POLICY)
        ran = fresh(*INSTALL, "--yes")
        assert (ran.code, ran.err) == (2, "remit: no policy is activated\n    a person runs `remit activate`\n")
        assert project(*INSTALL, "--yes", "--policy", "other.yaml").err == "remit: other.yaml: no such file\n"
        (project.root / "remit.yaml").unlink()
        assert project(*INSTALL, "--yes").code == 2

    def test_a_rulebook_that_nobody_activated(self, project: Project):
        """A program of the project wrote `.remit/rulebook`, with rules of its own."""
        other = build_rulebook({"remit": 1, "use": ["claude-code"], "agents": {"boss": {"may": ["Bash"]}}})
        write_rulebook(other, rulebook_path(project.root))
        before = project.files()
        for way in ("--dry-run", "--yes"):
            ran = project(*INSTALL, way)
            assert ran.code == 2
            assert "nothing is in force" in ran.err
            assert "not the rulebook that was activated last" in ran.err
        assert (project.files(), project.kept()) == (before, [])

    def test_a_rulebook_beside_a_store_that_knows_of_no_activation(self, project: Project, tmp_path: Path):
        (tmp_path / "fresh").mkdir()
        fresh = Project(tmp_path / "fresh")
        write_rulebook(load_rulebook(fresh.put("remit.yaml", POLICY)), rulebook_path(fresh.root))
        ran = fresh(*INSTALL, "--dry-run")
        assert (ran.code, ran.err) == (2, "remit: no policy is activated\n    a person runs `remit activate`\n")

    def test_an_editor_that_runs_the_hooks_of_a_host(self, project: Project):
        said = project("install", "vscode").err
        assert said == (
            "remit: `vscode` is not a host of its own\n"
            "    its agents run the hooks of copilot-cli: `remit install copilot-cli`\n"
        )

    def test_an_unknown_host(self, project: Project):
        assert project("install", "claude").err == "remit: unknown host `claude`; did you mean `claude-code`?\n"

    @pytest.mark.parametrize("what", [".claude/settings.json", ".claude"])
    def test_a_symlink(self, project: Project, what: str, tmp_path: Path):
        target = project.root / what
        target.rename(tmp_path / "real")
        target.symlink_to(tmp_path / "real")
        ran = project(*INSTALL, "--yes")
        assert ran.code == 2
        assert "is a symlink, or below one" in ran.err
        assert project.kept() == []

    def test_a_symlinked_definition_is_pinned_and_not_edited(self, project: Project, tmp_path: Path):
        path = project.root / ".claude/agents/reviewer.md"
        path.rename(tmp_path / "real.md")
        path.symlink_to(tmp_path / "real.md")
        ran = project(*INSTALL, "--yes")
        assert ran.code == 0
        assert "left as it is, since it is a symlink" in ran.out
        assert (tmp_path / "real.md").read_text() == REVIEWER
        assert str(path) in project.record()["agents"]["reviewer"]

    def test_something_that_is_no_file(self, project: Project):
        project.settings.unlink()
        os.mkfifo(project.settings)
        ran = project(*INSTALL, "--yes")
        assert ran.code == 2
        assert "not a plain file" in ran.err

    @pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
    def test_what_can_not_be_read(self, project: Project):
        project.settings.chmod(0)
        assert "can't be read: Permission denied" in project(*INSTALL, "--yes").err


def test_a_name_that_a_policy_can_not_have_is_said(project: Project):
    project.put(".claude/agents/odd.md", "---\nname: Code Reviewer\ndescription: Reviews\n---\nYou review.\n")
    ran = project(*INSTALL, "--dry-run")
    assert "a policy can't have these names; change `name:` in their definitions: Code Reviewer\n" in ran.out
