"""Code of the workspace is code that lies in the workspace, however a command says where it is."""

from collections.abc import Iterator

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.languages.programs.profiles import Profile, profile_of, programs
from remit.languages.programs.understand import understand
from remit.model.call import Call
from remit.model.facts import Facts
from remit.model.terms import PROJECT, UNKNOWN
from remit.scopes.shell.placed import Placed

ROOT = "/w/project"
ELSEWHERE = ("../other", "/opt/other", "~/other", "sub/../../other")


def grades(text: str) -> set[str]:
    return {Placed(act, ROOT, ROOT).act.grade for act in understand(text, new_shell=True).acts}


@pytest.mark.parametrize(
    "text",
    [
        "cd /w/project && make",
        "cd /w/project/src && pytest ../tests",
        "make -C /w/project/src",
        "bash /w/project/x.sh",
        "/w/project/scripts/x.sh --all",
        "/w/project/.venv/bin/python -m pytest",
        "cd src && bash ../x.sh",
        "mkdir -p build && cd build && cmake .. && make",
        "cmake --build build",
        "npm --prefix sub test",
        "go run ./cmd/x --all ../data.csv",
        "go run golang.org/x/tools/cmd/stringer",
        "node x.js /tmp/in.json",
        "yarn foo --bar /tmp/x",
        "pnpm turbo run lint --concurrency=3",
        "yarn test --coverage",
    ],
)
def test_in_the_workspace(text: str) -> None:
    assert PROJECT in grades(text)
    assert UNKNOWN not in grades(text)


@pytest.mark.parametrize(
    "text",
    [
        "cd .. && make",
        "cd src/../.. && make",
        "make -C ../x",
        "bash ../x.sh",
        "cd src && bash ../../x.sh",
        "/opt/venv/bin/python -m pytest",
        "~/x.sh",
        ". ~/.bashrc",
        "go run example.com/x@v1",
        "deno run https://x.example/a.ts",
        "deno run npm:x",
        "bun run ../x.ts",
        "pytest tests ../other",
        "pnpm test --dir ../x",
        "go run -C ../x .",
    ],
)
def test_elsewhere(text: str) -> None:
    assert UNKNOWN in grades(text)


@pytest.mark.parametrize("text", ["pnpm build --dir ../x", "yarn foo --cwd ../x", "pnpm x --script-shell=/bin/false"])
def test_behind_the_name_of_a_script_options_are_the_scripts(text: str) -> None:
    assert grades(text) == {PROJECT}


def leaves(
    words: tuple[str, ...], profile: Profile, above: dict[str, str]
) -> Iterator[tuple[str, Profile, dict[str, str]]]:
    folders = {
        name: option.kind
        for name, option in profile.options.items()
        if option.kind in ("directory", "script") and not option.refuse
    }
    for name, sub in profile.sub.items():
        yield from leaves((*words, name), sub, {**above, **folders} if profile.shared else {})
    if not profile.sub:
        yield " ".join(words), profile, {**above, **folders}


def every_place() -> Iterator[str]:
    """Each program of the catalog that runs code of the project, with each way of its profile to say where that is."""
    for name in programs().programs:
        profile = profile_of(name)
        for command, leaf, options in leaves((name,), profile, {}) if profile is not None else ():
            if leaf.grade != "project" or leaf.any is not None:
                continue
            for option in options:
                joined = "=" if option.startswith("--") or leaf.dashes == "one" else " "
                yield f"{command} {option}{joined}ELSEWHERE"
            if leaf.args and leaf.args[0].removesuffix("...") in ("read", "tree", "edit"):
                yield f"{command} ELSEWHERE"


def test_every_profile_says_where_its_code_lies() -> None:
    texts = sorted(set(every_place()))
    assert len(texts) > 150
    wrong = [
        said
        for text in texts
        for place in ELSEWHERE
        if PROJECT in grades(said := text.replace("ELSEWHERE", place)) and UNKNOWN not in grades(said)
    ]
    assert wrong == []


LOCKED = build_rulebook(
    {
        "remit": 1,
        "tools": {"terminal": {"args": {"command": {"shell": "new"}}}},
        "agents": {"a": {"may": ["terminal"], "locks": {"may": ["src/**"]}}},
    }
)


@pytest.mark.parametrize("where", ["", "-C src ", "-C /w/project "])
@pytest.mark.parametrize("what", ["commit -m a", "add src/x", "branch new", "fetch", "tag v1", "reset --soft HEAD~1"])
def test_the_store_of_the_projects_repository_is_no_file_of_it(where: str, what: str) -> None:
    call = Call("a", "terminal", {"command": f"git {where}{what}"})
    assert decide(LOCKED, call, Facts(root=ROOT)).code == "allowed"


@pytest.mark.parametrize(
    "git", ["git -C ../x", "git -C /opt/x", "cd .. && git", "cd ~/x && git", 'cd "$D" && git', "/usr/bin/git -C ../x"]
)
@pytest.mark.parametrize("what", ["commit -m a", "branch new", "fetch", "tag v1", "reset --soft HEAD~1", "gc"])
def test_that_of_another_repository_lies_outside(git: str, what: str) -> None:
    call = Call("a", "terminal", {"command": f"{git} {what}"})
    assert decide(LOCKED, call, Facts(root=ROOT)).code in ("locked", "protected")
