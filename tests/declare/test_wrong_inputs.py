"""What people get wrong when they write a policy: each is refused, and the message says what to write."""

from typing import Any

import pytest

from remit.compile import build_rulebook, load_rulebook
from remit.model import PolicyError

BASE = "remit: 1\nuse: [claude-code]\n"
DEV = "agents:\n  dev:\n    may: [Read, Write, Edit, Bash]\n"
NOT_A_GLOB = {
    "C:/x/**": "is a path of Windows",
    "C:\\x\\**": "is a path of Windows",
    "c:": "is a path of Windows",
    "//server/share/**": "is a path of Windows",
    "\\\\server\\share\\**": "is a path of Windows",
    "src\\**": "backslash in glob",
    "file:///x/**": "is a URL",
    "~/x/**": "nothing expands `~` and variables",
    "~": "nothing expands",
    "$HOME/x/**": "nothing expands",
    "${workspaceFolder}/x": "nothing expands",
    "%USERPROFILE%/x": "nothing expands",
    "/etc/**": "absolute glob `/etc/**`",
    "../x/**": "leaves the root",
    "./src/**": "write `src/**`",
    "!secret/**": "would exclude nothing",
    " src/**": "begins or ends with a space",
    "src/** ": "begins or ends with a space",
    "\u201csrc/**\u201d": "typographic quotation marks",
    "src/": "for all below it write `/**`",
    "": "can't be empty",
}
PLACES: dict[str, Any] = {
    "path": lambda glob: {"agents": {"dev": {"may": [{"Read": {"path": glob}}]}}},
    "path except": lambda glob: {"agents": {"dev": {"may": [{"Read": {"path": {"allow": "src/**", "except": glob}}}]}}},
    "locks": lambda glob: {"agents": {"dev": {"may": ["Write"], "locks": {"may": [glob]}}}},
    "locks except": lambda glob: {
        "agents": {"dev": {"may": ["Write"], "locks": {"may": ["src/**"], "except": [glob]}}}
    },
    "protect": lambda glob: {"protect": [glob], "agents": {"dev": {"may": ["Read"]}}},
    "label": lambda glob: {"labels": {"production": {"path": glob}}, "agents": {"dev": {"may": ["Read"]}}},
    "data": lambda glob: {"labels": {"data": {"2": {"path": glob}}}, "agents": {"dev": {"may": ["Read"]}}},
    "shell": lambda glob: {"agents": {"dev": {"may": [{"Bash": {"shell": {"run": ["cat"], "path": {"read": glob}}}}]}}},
    "hide": lambda glob: {"confine": "required", "sandbox": {"hide": glob}, "agents": {"dev": {"may": ["Bash"]}}},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("glob", NOT_A_GLOB)
def test_what_could_never_match_is_no_glob(glob, place):
    with pytest.raises(PolicyError) as error:
        build_rulebook({"remit": 1, "use": ["claude-code"], **PLACES[place](glob)})
    [problem] = error.value.problems
    assert problem.code == "bad-glob"
    assert NOT_A_GLOB[glob] in problem.message


@pytest.mark.parametrize(
    "glob", ["src/**", "routes/$id.tsx", "a:b/c", "docs/~draft.md", "a b/*.md", "{a,b}/**", "**/!x"]
)
def test_names_that_only_look_odd_are_globs(glob):
    build_rulebook({"remit": 1, "use": ["claude-code"], **PLACES["path"](glob)})


WRONG = {
    # a name that belongs to a closed set
    "hosts: {claude-cod: {main: dev}}": ("unknown-host", "did you mean `claude-code`?"),
    "hosts: {emacs: {main: dev}}": ("unknown-host", "there is claude-code, codex, copilot-cli"),
    "hosts: {claude-code: {main: deb}}": ("unknown-agent", "did you mean `dev`?"),
    "defaults: {accessible_by: {layer: {nope: [dev]}}}": ("matches-nothing", "no tool has the layer `nope`"),
    "never: [{agent: dve, effect: write}]": ("unknown-agent", "did you mean `dev`?"),
    "never: [{agent: dev, tool: [WebSearch, Brows]}]": (
        "matches-nothing",
        "`Brows` matches no declared tool; there",
    ),
    "never: [{agent: dev, toolset: [x]}]": ("matches-nothing", "no toolset is `x`; there is none"),
    "never: [{agent: dev, layer: upper}]": ("matches-nothing", "no tool has the layer `upper`"),
    "never: [{agent: dev, category: upper}]": ("matches-nothing", "no tool has the category `upper`"),
    "reserved: {deploy: {programs: [kubectl], runner: ci}}": ("unknown-runner", "there is none"),
    "runners: {ci: {may: [Bash]}}\nreserved: {deploy: {runner: ci}}": (
        "empty-rule",
        "programs, modules, tools or",
    ),
    "runners: {ci: {may: [Bash]}}\nreserved: {d: {programs: [kubctl], runner: ci}}": ("unknown-name", "`kubectl`?"),
    "runners: {ci: {may: [Bash]}}\nreserved: {d: {tools: [Bassh], runner: ci}}": ("matches-nothing", "`Bash`?"),
    "tiers: {3: {ask: humn}}": ("unknown-agent", "did you mean `human`?"),
    "tiers: {tools: {Bsh: 3}}": ("undeclared-tool", "did you mean `Bash`?"),
    "tiers: {labels: {produktion: 4}}": ("unknown-label", "did you mean `production`?"),
    "tiers: {5: allow}": ("unknown-key", "its keys are 0, 1, 2, 3, 4, effects"),
    "roles: {r: {may: [Read]}}\ngrants: [{agent: dve, may: [Read], adr: a, approved_by: b, until: 2030-01-01}]": (
        "unknown-agent",
        "did you mean `dev`?",
    ),
    "people: {ann: {roles: [owner, approver], approves: {labels: [x]}}}": (
        "unknown-label",
        "there is ci, dependen",
    ),
    "sandbox: {caches: [pipp]}": ("bad-value", "did you mean `pip`?"),
    "root: nowhere": ("bad-root", "`nowhere` is no directory"),
    "include: [.]": ("bad-include", "`.` is a folder"),
    # words of other formats
    "agents2: {}": ("unknown-key", "did you mean `agents`?"),
    "packs: [vscode]": ("unknown-key", "did you mean `use`?"),
    "enforce: obsrve": ("bad-value", "a mapping with observe"),
    "tiers: {3: alow}": ("bad-value", "did you mean `allow`?"),
}


@pytest.mark.parametrize("line", WRONG)
def test_the_message_says_what_there_is(line, tmp_path):
    (tmp_path / "remit.yaml").write_text(BASE + line + "\n" + DEV)
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    code, text = WRONG[line]
    assert (code, True) in [(one.code, text in str(one)) for one in error.value.problems], str(error.value)


OF_AN_AGENT = {
    "allow: [Read]": "did you mean `may`?",
    "may: [Read], deny: [Write]": "did you mean `may_not`?",
    "may: [Read], ask: [Write]": "did you mean `must_ask`?",
    "may: [Read], zzz: 1": "its keys are roles, may, must_ask, may_not",
    "may: ['Bash(git diff:*)']": "Bash: {shell: {run: [git diff]}}",
    "may: [Bash: 'git status']": "expected the limits of `Bash`, got `git status`",
    "may: [Bash: {run: [git]}]": "did you mean `shell`?",
    "may: [WebFetch: {domain: x.org}]": "did you mean `url`?",
    "may: [WebFetch: {url: x.org}]": "did you mean `https://x.org/**`?",
    "may: [WebFetch: {url: '*'}]": "to admit every URL leave `url` out",
    "may: all": 'for every declared tool write "*"',
    "may: [mcp__github__get_issue]": "remit init --tools FILE --server github",
    "may: ['mcp__github__*']": "remit init --tools FILE --server github",
    "may: [frobnicate]": "frobnicate: {args: {…}, does: {…}}",
    "may: [Read], roles: [raeder]": "unknown role `raeder`; there is none",
    "may: [Agent], delegates_to: [dve]": "did you mean `dev`?",
    "may: ": "write the value behind the colon",
}


@pytest.mark.parametrize("said", OF_AN_AGENT)
def test_what_is_said_of_an_agent(said, tmp_path):
    (tmp_path / "remit.yaml").write_text(f"{BASE}agents: {{dev: {{{said}}}}}\n")
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert OF_AN_AGENT[said] in str(error.value)


def test_no_help_says_that_an_unknown_tool_does_nothing(tmp_path):
    (tmp_path / "remit.yaml").write_text(f"{BASE}agents: {{dev: {{may: [frobnicate, Reed, mcp__a__b]}}}}\n")
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert len(error.value.problems) == 3
    assert "does: nothing" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("remit: 1\nagents:\n\u00a0\u00a0dev:\n    may: []\n", "U+00A0) in the indentation"),
        ('remit: 1\nname: "C:\\x"\nagents: {}\n', "between double quotes a backslash begins an escape"),
        ("", "`remit init` writes a first policy"),
        ("agents: {}\n", "write `remit: 1`"),
        ("remit: 1\nagents: {my dev: {may: []}}\n", "`my-dev`"),
    ],
    ids=["blank", "escape", "empty", "version", "name"],
)
def test_what_is_wrong_with_the_text(text, said, tmp_path):
    (tmp_path / "remit.yaml").write_text(text)
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert said in str(error.value)


def test_long_lists_are_cut():
    tools = {f"tool_{number}": {"args": {}, "does": "nothing"} for number in range(300)}
    policy = {"remit": 1, "tools": tools, "agents": {"a": {"may": ["tool_1"]}}, "never": [{"tool": "zz", "agent": "a"}]}
    with pytest.raises(PolicyError, match="and 292 more") as error:
        build_rulebook(policy)
    assert len(str(error.value)) < 300
