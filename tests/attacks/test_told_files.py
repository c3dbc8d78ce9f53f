"""A prohibition of names anywhere (`**/.env`) stops what names or sweeps over such files, and no run of tests."""

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.enforce.paths import MAX_THERE, look_up, open_root
from remit.model import Call
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook

BOOK = build_rulebook(
    {
        "remit": 1,
        "tools": {"terminal": {"args": {"command": "shell"}, "tier": 2}},
        "agents": {"a": {"may": ["terminal"], "may_not": [{"path": ["**/.env", "private/**"]}]}},
    }
)


def code(command: str, links: dict[str, str] | None = None) -> str:
    facts = Facts(root="/work/project", links=links or {})
    return str(decide(BOOK, Call("a", "terminal", {"command": command}), facts).code)


@pytest.fixture
def looked(tmp_path):
    """Decides with what stands on a disk: a folder that is called like a file, and a file that is not."""
    for path in ("three.js/.env", "src/a.py", "src/Makefile", "src/b.py", "conf.d/x", "private/k"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    _, facts = open_root(tmp_path, tmp_path / "remit.yaml", Facts())

    def decided(command: str, book: Rulebook = BOOK) -> str:
        call = Call("a", "terminal", {"command": command})
        return str(decide(book, call, look_up(book, call, facts)).code)

    return decided


@pytest.mark.parametrize(
    "command",
    [
        "rg x src/a.py",
        "rg x src/Makefile",
        "rg x src/a.py src/b.py",
        "grep -r x src/a.py",
        "rm -rf src/a.py",
        "black src/a.py",
        "black src/a.py && rg x src/a.py",
        "rm src/b.py && rg x src/a.py",
    ],
)
def test_the_disk_says_that_it_is_a_file(looked, command):
    assert looked(command) == "allowed"


@pytest.mark.parametrize(
    "command",
    [
        "rg x three.js",
        "rg x src/a.py three.js",
        "grep -r x three.js",
        "rm src/a.py && cp -r three.js src/a.py && rg x src/a.py",
        "rm src/a.py; unzip -d src z.zip; rg x src/a.py",
        "mv three.js src/a.py; rg x src/a.py",
        "tar -C src -xf x.tar; rg x src/a.py",
        "rm -f $f; rg x src/a.py",
    ],
)
def test_the_disk_says_that_it_is_a_folder_or_the_text_may_make_it_one(looked, command):
    assert looked(command) == "may-not"


@pytest.mark.parametrize("command", ["rg x three.js", "python3 x.py three.js", "pytest three.js"])
def test_a_prohibition_that_names_what_lies_in_it_knows_that_it_is_a_folder(command):
    tools = {"terminal": {"args": {"command": "shell"}, "tier": 2}}
    agent = {"may": ["terminal"], "may_not": [{"path": ["three.js/keys/**"]}]}
    book = build_rulebook({"remit": 1, "tools": tools, "agents": {"a": agent}})
    facts = Facts(root="/work/project")
    assert decide(book, Call("a", "terminal", {"command": command}), facts).code == "may-not"


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests",
        "pytest tests/test_a.py",
        "pytest tests/test_a.py::test_b",
        "pytest tests/test_*.py",
        "python3 x.py",
        "python3 src/x.py src",
        "bash scripts/run.sh",
        "npm run lint -- src/a.ts",
        "rg x src/a.py",
        "ruff check src/a.py",
        "grep -n x src/a.py",
    ],
)
def test_everyday_work_beside_it(command):
    assert code(command) == "allowed"


@pytest.mark.parametrize(
    "command",
    [
        "cat .env",
        "pytest src/.env",
        "python3 .env",
        "python3 x.py src/.env",
        "pytest **/.env",
        "pytest tests/.e*",
        "pytest tests/*",
        "bash **/*",
        "pytest p*",
        "grep -r x src",
        "rg x src",
        "rg x conf.d",
        "rg x three.js/",
        "rm -r x.py",
        "mv x.py y",
        "cp -r x.py y",
        "pytest private",
        "pytest private/a.py",
        "pytest src private",
        "python3 private",
    ],
)
def test_what_names_it_or_sweeps_over_it(command):
    assert code(command) == "may-not"


@pytest.mark.parametrize("command", ["pytest src/l.py", "rg x src/l.py", "python3 src/l.py", "rg x src/l.py src/b.py"])
def test_a_link_with_the_name_of_a_file(command):
    assert code(command, {"src/l.py": "private"}) == "may-not"
    assert code(command, {"src/l.py": "src/a.py"}) == "allowed"


@pytest.mark.parametrize(
    "command",
    [
        "rg x src",
        "grep -rn x src",
        "grep -rn x src conf.d | head",
        "find src -name '*.py' | xargs grep -l x",
        "find src -type f -exec grep -n x {} +",
        "tar czf x.tgz src",
        "black src",
        "ruff check src",
        "rm -rf src",
        "rm -rf missing",
        "git fetch origin",
        "git rev-parse HEAD",
        "ls",
        "ls -la src",
        "cd src && rg x .",
        "rg x src; echo y > src/c.py; rg y src/b.py",
        "rg x src/new.py",
        "rg x src/*.py",
    ],
)
def test_a_folder_is_what_is_there(looked, command):
    assert looked(command) == "allowed"


@pytest.mark.parametrize(
    "command",
    [
        "rg x keys",
        "rg x .",
        "rm -rf keys",
        "tar czf x.tgz src keys",
        "mv keys src/keys",
        "cp -r keys src && rg x src",
        "git checkout other && rg x src",
        "unzip -d src x.zip && rg x src",
        "unzip -d src x.zip; find src -type f | xargs cat",
        "python3 gen.py; rg x src",
        "make & rg x src",
        "rg x src; tar -C src -xf x.tar; rg x src",
        "for i in 1 2; do rg x src; tar -C src -xf x.tar; done",
        "f() { tar -C src -xf x.tar; }; f; rg x src",
        "rg x linked",
        "rg x src linked",
        "grep -R x src",
    ],
)
def test_what_is_there_or_what_the_text_may_bring(looked, tmp_path, command):
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/.env").write_text("x")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/to").symlink_to("../keys")
    if command.startswith("grep -R"):
        (tmp_path / "src/to").symlink_to("../keys/.env")
    assert looked(command) == "may-not"


def test_a_folder_of_more_than_anybody_looks_at_may_have_it(looked, tmp_path):
    for name in range(MAX_THERE):
        (tmp_path / "src" / f"{name}.txt").touch()
    assert looked("rg x src") == "may-not"
