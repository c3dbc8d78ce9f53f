"""What people get wrong when they write a policy: each is refused, and the message says what to write."""

from typing import Any

import pytest
import yaml

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
    "root: nowhere": ("bad-root", "`nowhere` is not a directory"),
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
    "may: ": "write the value after the colon",
    "may: ['Read(src/**)']": 'Read: {path: "src/**"}',
    "may: ['WebFetch(domain:x.org)']": 'WebFetch: {url: "https://x.org/**"}',
    "may: [Bash: [git]]": "expected the limits of `Bash`, got a list",
    "may: [WebSearch: {query: {max: 5}}]": "limits of single arguments belong in `where`: {where: {query: {max: …}}}",
    "may: [WebSearch: {max: 5}]": "belong in `where`: {where: {ARGUMENT: {max: …}}}",
    "may: [Read: {url: 'https://x.org/**'}]": "`Read` can be limited by `path`, `where`",
    "may: [WebFetch: {url: 'https://*/**'}]": "to admit every URL leave `url` out",
    "may: [WebSearch: {where: {query: {contains: x}}}]": "did you mean `regex`?",
    "may: [Read: {where: {limit: {lte: 9}}}]": "did you mean `max`?",
    # a value with which the rule would do nothing
    "may: [Bash: {shell: {run: ['git *']}}]": "write `git` for all that is understood of it",
    "may: [Bash: {shell: {run: ['make && ls']}}]": "name each in `run`, and in `joined_by`",
    "may: [Bash: {shell: {run: [ls], env: [DEBUG=1]}}]": "expected the name of a variable",
    "may: [Read: {when: {mode: interacive}}]": "did you mean `interactive`?",
    "may_not: [Read: {when: {mode: [autonomus]}}]": "did you mean `autonomous`?",
    "may: [Read: {path: []}]": "`path` names nothing, so it covers no call",
    "may_not: [Read: {path: {allow: []}}]": "`path` names nothing",
    "may: [WebFetch: {url: []}]": "`url` names nothing",
    "may: [Bash: {shell: {sets: [], run: []}}]": "`shell` names nothing",
    "may_not: [Read: {except: {path: []}}]": "`path` names nothing",
    "may: [Bash: {shell: {run: [kubectl: [delete pds]]}}]": "kubectl knows no kind `pds`; did you mean `pods`?",
    "may: [Bash: {shell: {run: [kubectl: ['get po,nods']]}}]": "kubectl knows no kind `nods`; did you mean `nodes`?",
}


@pytest.mark.parametrize("said", OF_AN_AGENT)
def test_what_is_said_of_an_agent(said, tmp_path):
    (tmp_path / "remit.yaml").write_text(f"{BASE}agents: {{dev: {{{said}}}}}\n")
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert OF_AN_AGENT[said] in str(error.value)


def test_kinds_of_a_cluster_and_modes_of_a_program_are_free(tmp_path):
    kinds = "ksvc, certs, po, 'svc,pvc', cm, ns, pv, deploy, pods/web, vs, hpa, crd"
    subs = ", ".join(f"'get {kind.strip(chr(39))}'" for kind in kinds.split(", "))
    rules = f"Bash: {{shell: {{run: [kubectl: [{subs}]]}}}}, Read: {{when: {{mode: plan}}}}"
    (tmp_path / "remit.yaml").write_text(f"{BASE}agents: {{dev: {{may: [{rules}]}}}}\n")
    notices = load_rulebook(tmp_path / "remit.yaml").book.notices
    assert any("no host says the mode `plan`, only interactive or autonomous" in text for text in notices)


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


SHELL = {
    "sets: [git-wrte]": "no set of commands `git-wrte`; did you mean `git-read`?",
    "sets: [zzz]": "no set of commands `zzz`",
    "run: any, path: {wirte: [src/**]}": "no effect `wirte`; did you mean `write`?",
    "run: [docker: [rn]]": "the catalog has no `docker rn`; did you mean `run`?",
    "run: [aws: [s3 rmm]]": "the catalog has no `aws s3 rmm`; did you mean `rm`?",
    "run: [gitt]": "no program `gitt` is known; did you mean `git`?",
    "run: [kubectl: [delete scerets]]": "kubectl knows no kind `scerets`; did you mean `secret`?",
    "run: [sqlite3: {meta: [talbes]}]": "sqlite3 has no command `talbes`; did you mean `tables`?",
}


@pytest.mark.parametrize("verb", ["may", "may_not", "must_ask"])
@pytest.mark.parametrize("scope", SHELL)
def test_a_misspelt_name_in_a_shell_scope_does_not_load(verb, scope, tmp_path):
    rules = f"agents:\n  dev:\n    may: [Read, Bash]\n    {verb}: [Bash: {{shell: {{{scope}}}}}]\n"
    text = rules.replace("    may: [Read, Bash]\n", "") if verb == "may" else rules
    (tmp_path / "remit.yaml").write_text(BASE + text)
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert SHELL[scope] in str(error.value)


@pytest.mark.parametrize(
    "scope",
    [
        "run: [kubectl: [get mycrds]]",
        "run: [kubectl: [get pods]]",
        "run: [kubectl: [delete deploy/x]]",
        "sets: [git-read]",
    ],
)
def test_names_of_a_cluster_of_ones_own_load(scope, tmp_path):
    (tmp_path / "remit.yaml").write_text(BASE + f"agents:\n  dev:\n    may: [Bash: {{shell: {{{scope}}}}}]\n")
    load_rulebook(tmp_path / "remit.yaml")


VALUES = {
    'n: "50"': '"50" is not a number: write the number without quotation marks: 50',
    'n: "<= 50"': '"<= 50" is not a number: write {max: 50}',
    'n: ">50"': '">50" is not a number: write {min: 50}',
    'n: {one_of: [1, "2"]}': '"2" is not a number',
    "n: true": "true is not a number",
    'f: "true"': '"true" is not true or false',
    "f: 1": "1 is not true or false",
    "t: 5": '5 is not text: write it as text: "5"',
    "m: fsat": '"fsat" is not among fast, slow',
    "m: {one_of: [fast, solw]}": '"solw" is not among fast, slow',
    "m: {regex: fsat}": "its regex matches none of fast, slow",
}
ORDER = (
    "remit: 1\ntools: {order: {args: {n: number, f: flag, t: text, m: {one_of: [fast, slow]}}, optional: [n, f, t, m],"
    " does: {write: {records: orders}}}}\n"
)


@pytest.mark.parametrize("verb", ["may", "may_not", "must_ask"])
@pytest.mark.parametrize("condition", VALUES)
def test_a_value_that_the_argument_never_has_does_not_load(verb, condition, tmp_path):
    """In a prohibition it would prohibit nothing."""
    may = "" if verb == "may" else "may: [order], "
    rules = f"agents: {{dev: {{{may}{verb}: [order: {{where: {{{condition}}}}}]}}}}\n"
    (tmp_path / "remit.yaml").write_text(ORDER + rules)
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert VALUES[condition] in str(error.value).replace("\n    ", ": ").replace("(kind-mismatch)", "").replace(
        " : ", ": "
    )


@pytest.mark.parametrize("condition", ["n: 50", "f: true", 't: "5"', "m: fast", "m: {regex: f.*}", "n: {max: 5}"])
def test_a_value_that_the_argument_may_have_loads(condition, tmp_path):
    (tmp_path / "remit.yaml").write_text(ORDER + f"agents: {{dev: {{may: [order: {{where: {{{condition}}}}}]}}}}\n")
    load_rulebook(tmp_path / "remit.yaml")


SHORT = {
    "agents:\n  dev: [Read, Grep]": "write {may: [Read, Grep]}",
    "agents:\n  dev: Read": "write {may: Read}",
    "agents:\n  dev:\n    may: [Bash: {shell: git}]": "write {run: [git]}",
    "agents:\n  dev:\n    may: [Bash: {shell: [git, ls]}]": "write {run: [git, ls]}",
    "agents:\n  dev:\n    may: [Bash: {shell: {run: git}}]": "or a list, such as [git]",
    "agents:\n  dev:\n    may: [Write]\n    locks: [src/**]": "write {may: [src/**]}",
    "agents:\n  dev:\n    may: [Write]\nhosts: {claude-code: dev}": "write {main: dev}",
    "agents\n  dev: {may: [Read]}": "write `agents:`",
    "agents:\n  dev:\n   may: [Read]\n  may_not: [Write]": "indent it further, below the agent",
    'agents:\n  dev:\n    may: ["Read, Write"]': "write several as a list: [Read, Write]",
    'agents:\n  dev:\n    may: [WebFetch: {url: "docs.example.org/3/**"}]': "`https://docs.example.org/3/**`",
}


@pytest.mark.parametrize("text", SHORT)
def test_the_way_out_of_a_form_that_is_too_short(text, tmp_path):
    (tmp_path / "remit.yaml").write_text(f"{BASE}{text}\n")
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert SHORT[text] in str(error.value)


KINDS = {
    "string": "did you mean `text`?",
    "int": "did you mean `number`?",
    "Boolean": "did you mean `flag`?",
    "filename": "did you mean `path`?",
    "object": "did you mean `json`?",
    "{type: string}": "write the kind itself: text",
    "{type: path}": "write the kind itself: path",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_by_the_word_of_another_format(kind, tmp_path):
    (tmp_path / "remit.yaml").write_text(f"remit: 1\ntools: {{t: {{args: {{x: {kind}}}, does: nothing}}}}\n")
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert KINDS[kind] in str(error.value)


NOT_YAML = {
    "agents:\n  dev:\n    may: [Read], may_not: [Write]\n": ("5:16", "write each key on a line of its own"),
    "agents:\n  dev:\n    may: [Read]\n   locks: {}\n": ("6:4", "indent it like line 4"),
}


@pytest.mark.parametrize("text", NOT_YAML)
def test_what_is_no_yaml_says_what_to_write(text, tmp_path):
    (tmp_path / "remit.yaml").write_text(BASE + text)
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    [problem] = error.value.problems
    at, help = NOT_YAML[text]
    assert (problem.at.partition(":")[2], help in (problem.help or "")) == (at, True), str(problem)


def test_a_slip_is_shown_where_it_stands(tmp_path):
    """In a rule of many lines, the line of the word; of a role, the line that names it."""
    lines = [
        "- Bash:",
        "    shell:",
        "      run:",
        "        - git:",
        "            - log",
        "            - stauts",
        "        - crul",
    ]
    text = "\n".join(f"      {line}" for line in lines)
    (tmp_path / "remit.yaml").write_text(f"{BASE}agents:\n  dev:\n    roles: [redaer]\n    may:\n{text}\n")
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert [(one.at.partition(":")[2], one.code) for one in error.value.problems] == [
        ("5:13", "unknown-role"),
        ("12:21", "unknown-name"),
        ("13:17", "unknown-name"),
    ]


def test_a_program_without_subcommands_is_noticed(tmp_path):
    (tmp_path / "remit.yaml").write_text(BASE + "agents: {dev: {may: [Bash: {shell: {run: [ls: [src]]}}]}}\n")
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert "ls has no subcommands" in str(error.value)
    assert 'write "ls src" for exactly that' in str(error.value)


@pytest.mark.parametrize("verb", ["may", "may_not"])
@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("git: [push --force]", "`git push` is a subcommand; `--force` behind it is compared with nothing"),
        ("git: [push origin]", "`origin` behind it is compared with nothing"),
        ("docker: [run alpine]", "`alpine` behind it is compared with nothing"),
        ("kubectl: [label pod]", "`pod` behind it is compared with nothing"),
        ("python3: [-m pytest]", "write python3: {module: [pytest]}"),
        ('"git push --forse"', "did you mean `--force`?"),
        ('curl: {url: "htps://x.example/**"}', "did you mean `https`?"),
    ],
)
def test_words_that_nothing_compares_do_not_load(verb, run, said):
    with pytest.raises(PolicyError) as error:
        build_rulebook(
            {
                "remit": 1,
                "use": ["claude-code"],
                "agents": {
                    "dev": {
                        "may": ["Bash"] if verb != "may" else [],
                        verb: [{"Bash": {"shell": {"run": [yaml.safe_load(run)]}}}],
                    }
                },
            }
        )
    assert said in str(error.value)


@pytest.mark.parametrize(
    "run", ["npm: [run build]", "kubectl: [delete pod]", "docker: [compose up]", "uv: [pip install]"]
)
def test_words_that_are_compared_load(run):
    scope = {"shell": {"run": [yaml.safe_load(run)]}}
    build_rulebook({"remit": 1, "use": ["claude-code"], "agents": {"dev": {"may": [{"Bash": scope}]}}})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("    apis: ['htps://x.example/**']", "5:5: no scheme `htps` is known; did you mean `https`?"),
        ("    must_ask: [Read: {ask: humn}]", "5:28: unknown agent, role or runner `humn`; did you mean `human`?"),
        (
            "    daily_sum: {Read.limt: 5}",
            "5:5: `Read.limt` is not an argument of a tool that could be summed; did you",
        ),
    ],
)
def test_a_slip_points_at_its_word(line, said, tmp_path):
    (tmp_path / "remit.yaml").write_text(f"{BASE}agents:\n  dev:\n    may: [Read]\n{line}\n".replace("\n\n", "\n"))
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert said.split(": ", 1)[1] in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"remit": 1, "use": ["claude-code"] "agents": {}}', "1:37: a comma is missing before this"),
        ("```yaml\nremit: 1\n```\n", "1:1: a fence of Markdown"),
    ],
)
def test_the_fix_of_a_broken_text_is_the_right_one(text, said, tmp_path):
    (tmp_path / "remit.yaml").write_text(text)
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert said in str(error.value)


def test_a_text_in_another_encoding_says_which(tmp_path):
    (tmp_path / "remit.yaml").write_bytes(BASE.encode("utf-16"))
    with pytest.raises(PolicyError) as error:
        load_rulebook(tmp_path / "remit.yaml")
    assert "UTF-16, not UTF-8" in str(error.value)
    assert "save it as UTF-8" in str(error.value)
