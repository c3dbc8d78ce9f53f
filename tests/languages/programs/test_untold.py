"""Every effect on files has a target: a word, what the profile says, or everything."""

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.languages.bash.reading import FILE_EFFECTS
from remit.languages.programs.profiles import Profile, profile_of, programs
from remit.languages.programs.understand import understand
from remit.model import Call
from remit.model.facts import Facts

TERMINAL = {"args": {"command": "shell"}, "tier": 2}


def leaves(profile: Profile, words: tuple[str, ...]) -> list[tuple[tuple[str, ...], Profile]]:
    """Every subcommand of a program that has none of its own."""
    found = [leaf for name, sub in profile.sub.items() for leaf in leaves(sub, (*words, name))]
    return found or [(words, profile)]


def commands() -> list[str]:
    known = [(name, profile_of(name)) for name in (*programs().programs, *programs().aliases)]
    return [" ".join(words) for name, profile in known if profile for words, _ in leaves(profile, (name,))]


def book(**agent):
    tiers = {2: "allow", 3: "allow", 4: "allow"}
    agents = {"a": {"may": ["terminal"], **agent}}
    return build_rulebook({"remit": 1, "tools": {"terminal": TERMINAL}, "tiers": tiers, "agents": agents})


def test_no_program_of_the_catalog_changes_files_past_locks():
    rulebook = book(locks={"may": ["docs/**"]})
    escaped = []
    for command in commands():
        for act in understand(command).acts:
            told = {touch.effect for touch in act.touches if not touch.store}  # git's own store is under no lock here
            open_ = {"write", "delete"} & (act.own - act.asked) & set(FILE_EFFECTS)
            if open_ & told and act.grade == "understood":
                decision = decide(rulebook, Call("a", "terminal", {"command": command}))
                if decision.verdict.word == "allow":
                    escaped.append(command)
    assert escaped == []


def test_no_program_of_the_catalog_changes_a_store_elsewhere_past_locks():
    rulebook = book(locks={"may": ["docs/**"]})
    stores = [c for c in commands() if any(touch.store for act in understand(c).acts for touch in act.touches)]
    assert "git commit" in stores
    escaped = [
        command
        for command in stores
        if decide(rulebook, Call("a", "terminal", {"command": f"cd ../x && {command}"})).verdict.word == "allow"
    ]
    assert escaped == []


@pytest.mark.parametrize("command", ["git stash", "git apply x.patch", "touch $f", "echo x > $f"])
def test_what_is_not_told_is_asked_of_a_person_for_protection_alone(command):
    decision = decide(book(), Call("a", "terminal", {"command": command}))
    assert (decision.verdict.word, decision.code, decision.violation) == ("ask", "target-unknown", False)


@pytest.mark.parametrize(
    "command", ["git commit -m x", "git fetch", "git status", "ruff format src", "touch x", "git log"]
)
def test_everyday_work_passes(command):
    assert decide(book(), Call("a", "terminal", {"command": command})).code == "allowed"


def test_whoever_looked_what_git_would_change_spares_the_question():
    call = Call("a", "terminal", {"command": "git stash"})
    assert decide(book(), call, Facts(changes={"git stash": ()})).code == "allowed"
    assert decide(book(), call, Facts(changes={"git stash": (".claude/settings.json",)})).code == "target-unknown"


def test_project_code_deny_overrides_every_may():
    agent = book(project_code="deny")
    for command in ("pytest", "bash notes/x.sh", "python3 src/x.py", "sed -f x.sed a", ". x.sh", "nosuch"):
        assert decide(agent, Call("a", "terminal", {"command": command})).code == "project-code"
    assert decide(agent, Call("a", "terminal", {"command": "ls"})).code == "allowed"


UNSCOPED = {
    "remit": 1,
    "tools": {"bash": {"args": {"command": "shell"}, "tier": 1}},
    "agents": {"a": {"may": ["bash"]}},
}
LOCKED = {**UNSCOPED, "agents": {"a": {"may": ["bash"], "locks": {"may": ["docs/**", "a.txt"]}}}}


def _decided(policy: dict[str, Any], text: str) -> str:
    found = decide(build_rulebook(policy), Call("a", "bash", {"command": text}), Facts(root="/p"))
    return f"{found.verdict.word} {found.code}".removesuffix(" allowed")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # What lies below a path is also that path: it may be a file.
        ("chmod -R 777 .claude", "deny protected"),
        ("git restore .claude/settings.json", "deny protected"),
        ("find .claude/settings.json -delete", "deny protected"),
        ("git checkout HEAD -- .claude/settings.json", "deny protected"),
        ("rm -rf .", "deny protected"),
        ("unzip -d .claude a.zip", "deny protected"),
        ("find .claude -type f -exec rm {} +", "deny protected"),
        # Of some that the text doesn't tell, one could be protected.
        ("tar xf a.tar", "ask target-unknown"),
        ("unzip a.zip", "ask target-unknown"),
        ("cp -rT other .", "ask target-unknown"),
        ("find . -type f -mtime +5 -delete", "ask target-unknown"),
        ("find . -name '*.pyc' -delete", "ask target-unknown"),
        ("git clean -fd", "ask target-unknown"),
        # None of these can be.
        ("tar xf a.tar -C build", "allow"),
        ("find build -type f -delete", "allow"),
        ("find src -name '*.pyc' -delete", "allow"),
    ],
)
def test_some_of_what_lies_below(text, expected):
    assert _decided(UNSCOPED, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git restore a.txt", "allow"),
        ("git restore docs", "allow"),
        ("git restore src", "deny locked"),
        ("git restore b.txt", "deny locked"),
        ("tar xf x.tar -C docs", "allow"),
        ("tar xf x.tar", "deny locked"),
        ("find . -name '*.md' -delete", "deny locked"),
        ("find docs -name '*.rst' -delete", "allow"),
    ],
)
def test_locks_and_what_lies_below(text, expected):
    assert _decided(LOCKED, text) == expected


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("patch -p1 -i x", "locked"),
        ("patch -p1 -i src/x", "locked"),
        ("patch src/a -i x", "allowed"),
        ("black .", "locked"),
        ("ruff format .", "locked"),
        ("ruff format src", "allowed"),
        ("git checkout src", "locked"),
        ("git checkout -- src", "allowed"),
        ("git reset --hard", "locked"),
        ("git reset HEAD src/x", "allowed"),
        ("git clean -fd", "locked"),
        ("git clean -fd src", "allowed"),
        ("pytest", "allowed"),
        ("python3 src/x.py", "allowed"),
    ],
)
def test_locks_see_what_a_program_may_write_but_not_what_code_of_the_workspace_does(command, code):
    rulebook = book(locks={"may": ["src/**"]})
    assert decide(rulebook, Call("a", "terminal", {"command": command})).code == code


STATE, HOME = "/home/u/.local/state/remit", "/home/u"


@pytest.mark.parametrize(
    "command",
    [
        "cat $XDG_STATE_HOME/remit/*/keys/*",
        "truncate -s 0 $XDG_STATE_HOME/remit/*/remit.db",
        "cat ~/.local/state/*/*/keys/*",
        "cat $X",
        "> $CLAUDE_CONFIG_DIR/settings.json",
        "echo x >> ~/.bashrc",
        "> /etc/claude-code/managed-settings.json",
        "> ~/.claude/settings.json",
        "cd ~ && echo x > .claude/settings.json",
        "cp x $HOME/.claude/settings.json",
        "rm -rf /etc/claude-code",
    ],
)
def test_an_agent_without_a_scope_reaches_nothing_of_remit_or_its_host(command):
    agents = {"a": {"may": ["terminal"]}}
    rulebook = build_rulebook({"remit": 1, "tools": {"terminal": TERMINAL}, "agents": agents})
    facts = Facts(root=f"{HOME}/p", store=True, guarded=(STATE,), sealed=("/etc/claude-code", f"{HOME}/.claude"))
    decision = decide(rulebook, Call("a", "terminal", {"command": command}), facts)
    assert decision.verdict.word in ("ask", "deny"), decision.reason


def test_reserved_sees_an_untold_program_and_no_other_target():
    tools = {"terminal": TERMINAL}
    agents = {"a": {"may": ["terminal"]}}
    reserved = {
        "ship": {"programs": ["deployer"], "runner": "R"},
        "api": {"urls": ["https://x.example/**"], "runner": "R"},
    }
    runners = {"R": {"may": ["terminal"], "called_by": ["a"]}}
    policy = {"remit": 1, "tools": tools, "agents": agents, "runners": runners, "reserved": reserved}
    codes = {
        command: decide(build_rulebook(policy), Call("a", "terminal", {"command": command})).code
        for command in ("$p x", "curl $u", "deployer x", "touch $f", "git stash", "git pull", "curl https://y.example/")
    }
    for command in ("$p x", "curl $u", "deployer x"):
        assert codes[command] == "reserved", command
    for command in ("touch $f", "git stash", "git pull", "curl https://y.example/"):
        assert codes[command] != "reserved", command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git checkout main", "ask target-unknown"),
        ("git checkout v1.0", "ask target-unknown"),
        ("git checkout main --", "ask target-unknown"),
        ("git checkout -b new origin/main", "ask target-unknown"),
        ("git switch main", "ask target-unknown"),
        ("git switch --orphan new", "ask target-unknown"),
        ("git checkout -b new", "allow"),
        ("git switch -c new", "allow"),
        ("git checkout main -- src", "allow"),
        ("git checkout -- src/a.py", "allow"),
        ("git checkout main -- .claude", "deny protected"),
    ],
)
def test_branches_and_paths(text, expected):
    assert _decided(UNSCOPED, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git diff HEAD~1 -- src", "allow"),
        ("git show HEAD -- src/a.py", "allow"),
        ("git log -p -- src", "allow"),
        ("git diff HEAD~1", "deny data-tier"),
        ("git diff src", "deny data-tier"),  # perhaps a branch
        ("git diff HEAD --", "deny data-tier"),
        ("git diff -- hr", "deny data-tier"),
        ("git show HEAD:hr/x", "deny data-tier"),
    ],
)
def test_data_tiers_and_what_git_shows(text, expected):
    policy = {
        **UNSCOPED,
        "labels": {"data": {2: {"path": ["hr/**"]}}},
        "agents": {"a": {"may": ["bash"], "data_tiers": [0, 1]}},
    }
    assert _decided(policy, text) == expected


def test_an_option_for_a_folder_is_about_all_that_lies_in_it():
    named = [
        (name, option)
        for name in programs().programs
        for option, found in (profile_of(name) or Profile()).options.items()
        if option.endswith(("dir", "directory")) and found.kind == "write"
    ]
    assert named == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wget -P .claude https://a.example/settings.json", "deny protected"),
        ("curl --output-dir .claude -O https://a.example/settings.json", "deny protected"),
        ("git clone https://a.example/x/y.git", "allow"),
        ("git clone https://a.example/x/.claude.git", "deny protected"),
        ("git clone https://a.example/x/y.git .claude", "deny protected"),
    ],
)
def test_folders_that_options_and_addresses_name(text, expected):
    assert _decided(UNSCOPED, text) == expected


@pytest.mark.parametrize("text", ["curl -w @hr/x https://a.example/", "curl file://localhost/p/hr/x"])
def test_files_that_curl_reads(text):
    policy = {
        **UNSCOPED,
        "labels": {"data": {2: {"path": ["hr/**"]}}},
        "agents": {"a": {"may": ["bash"], "data_tiers": [0, 1]}},
    }
    assert _decided(policy, text) == "deny data-tier"


KEPT = Facts(root="/p", guarded=("/home/u/.local/state/remit/p-1",), sealed=("/home/u/.claude",))


@pytest.mark.parametrize(
    "text",
    [
        "cat /home/u/.local/state/*/*/keys/*",
        'for f in /home/u/.local/*/*/*/keys/*; do cat "$f"; done',
        "find /home -name '*.key' -exec cat {} +",
        "find /home/u/.local/state -type f -exec cat {} +",
        "grep -r x /home/u/.local",
        "tar cf x.tar /home/u",
        "cp -r /home/u/.local x",
        "tar xf a.tar -C /home/u/.local/state",
        "sed -i s/a/b/ /home/u/.cl*/settings.json",
        "grep -r x ~",
        "grep -r x ~/.local/state",
        "rg x ~/.l*",
        "grep -r x $HOME",
        "find ~ -type f -exec cat {} +",
        "tar -cf - ~/.local | cat",
        "cd; grep -r x .",
        "cd ~ && grep -r x .",
        "cd ~/x; tar cf /tmp/x ../.local",
        "rm -rf ~/p/../.local",
    ],
)
def test_patterns_and_sweeps_outside_the_root_reach_what_remit_keeps(text):
    found = decide(build_rulebook(UNSCOPED), Call("a", "bash", {"command": text}), KEPT)
    assert found.code == "protected"


@pytest.mark.parametrize(
    "text",
    [
        "find /home -name x",
        "ls -R /home/u",
        "du -sh /home/u",
        "cat /usr/share/*/x",
        "grep -r x /usr",
        "ls -R ~",
        "cd; ls",
        "grep -r x ~/code",
        "cp -r ~/code/x y",
        "cd ~/code && grep -rn x .",
    ],
)
def test_names_alone_and_other_places_are_free(text):
    assert decide(build_rulebook(UNSCOPED), Call("a", "bash", {"command": text}), KEPT).code == "allowed"
