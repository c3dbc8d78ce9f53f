"""The shape of the code: which folder may import which, and what may not appear at all.

The tables are the rules; docs/architecture.md says why. A folder of src/remit that is not in LAYERS fails.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from remit.compile import build_rulebook
from remit.compile.file import rulebook_path, write_rulebook

SRC = Path(__file__).parents[1] / "src" / "remit"

# Each may import itself, `model`, and what is listed.
LAYERS: dict[str, set[str]] = {
    "model": set(),
    "catalog": set(),
    "forms": set(),
    "languages": set(),
    "scopes": {"forms", "languages"},
    "decide": {"scopes"},
    "declare": {"catalog", "forms", "languages", "scopes"},
    "analyze": {"scopes", "decide"},
    "compile": {"catalog", "forms", "scopes", "declare", "decide", "analyze", "store"},
    "explain": {"languages", "scopes", "decide", "analyze"},
    "store": set(),
    "record": {"store", "catalog"},
    "grant": {"scopes", "decide", "store", "record"},
    "confine": {"catalog", "scopes", "decide", "store"},
    "enforce": {"scopes", "decide", "grant", "record", "store", "compile", "explain", "confine"},
    "exchange": {"declare", "forms"},
    "scan": {"catalog", "declare", "forms", "languages"},
    "draft": {"catalog", "compile", "declare", "forms", "languages", "scan", "scopes"},
    "adapters": {
        "catalog",
        "declare",
        "forms",
        "compile",
        "confine",
        "decide",
        "explain",
        "exchange",
        "enforce",
        "grant",
        "record",
        "store",
    },
}
LAYERS["runners"] = {"catalog", "confine", "declare", "forms", "languages", "enforce"}
LAYERS["demo"] = set()  # and what users import: the names of the entrance
LAYERS["testing"] = set(LAYERS) - {"demo", "adapters", "runners"}
LAYERS["service"] = set(LAYERS)
LAYERS["cli"] = set(LAYERS)

# Modules outside every folder: they only pass on what the folders offer.
ENTRANCES = {"__init__", "__main__"}

# Packages from elsewhere, and the only folders that may import them.
ONLY_IN: dict[str, set[str]] = {
    "yaml": {"declare", "catalog"},
    "typer": {"cli"},
    "rich": {"cli"},
    "psycopg": {"store"},
    # languages: only in memory, as a second opinion; enforce: the schemas of the databases that are asked about
    "sqlite3": {"store", "languages", "enforce", "demo"},
    "pickle": set(),
    "marshal": set(),
    "shelve": set(),
}
# A decision knows no clock, disk, network or chance: everything it needs is handed in.
PURE = {"decide", "scopes", "languages"}
IMPURE = {"asyncio", "io", "os", "pathlib", "random", "secrets", "socket", "subprocess", "threading", "time"}
EXEMPT = {"languages": {"threading"}}  # a lock around SQLite in memory, and what a thread is reading

# What reading a rulebook and deciding a call with a path must not load: a hook pays for it on each call.
HEAVY = {
    *("asyncio", "cryptography", "jinja2", "psycopg", "re2", "rich", "sqlglot", "typer", "yaml"),
    *("_hashlib", "dataclasses", "email", "hashlib", "http", "importlib.resources", "ipaddress", "json", "logging"),
    *("pathlib", "random", "shlex", "shutil", "socket", "sqlite3", "ssl", "subprocess", "tempfile", "threading"),
    *("urllib.parse", "zipfile"),
    *(
        "remit.analyze",
        "remit.catalog",
        "remit.declare",
        "remit.forms",
        "remit.languages",
        "remit.record",
        "remit.scopes.shell",
        "remit.scopes.sql",
        "remit.scopes.url",
    ),
    *("remit.store",),
}
MOST = 121
"""Modules, of which msgspec brings half: with what it imports, and that can't be changed here."""

FILES = sorted(SRC.rglob("*.py"))


def layer_of(file: Path) -> str:
    """The folder directly under src/remit, or the module's own name if it lies there itself."""
    return file.relative_to(SRC).with_suffix("").parts[0]


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_bytes())


def called(node: ast.Call) -> str:
    """The last name of what is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything imported, wherever it stands: `if TYPE_CHECKING` counts too."""
    package = ("remit", *file.relative_to(SRC).parent.parts)
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            origin = ".".join((*base, *filter(None, [node.module])))
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and called(node).endswith(("import_module", "__import__")):
            yield from ((node.lineno, str(a.value)) for a in node.args[:1] if isinstance(a, ast.Constant))


def wrong_imports(file: Path) -> Iterator[str]:
    layer = layer_of(file)
    for line, name in imports(file):
        top, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if top == "remit":
            if layer in ENTRANCES or target in {layer, "model", "__version__"}:
                continue
            if layer == "demo" and target not in LAYERS:
                continue  # what users import too: the names of the entrance
            if target not in LAYERS[layer]:
                yield f"{file.relative_to(SRC)}:{line}: {layer} may not import {name}"
        elif layer not in ONLY_IN.get(top, {layer}):
            yield f"{file.relative_to(SRC)}:{line}: {top} may not be imported in {layer}"
        elif layer in PURE and top in IMPURE - EXEMPT.get(layer, set()):
            yield f"{file.relative_to(SRC)}:{line}: a decision is pure and does without {top}"


def test_every_part_has_its_place_in_the_table():
    parts = {layer_of(file) for file in FILES}
    assert parts - ENTRANCES == set(LAYERS)


def test_imports_point_one_way():
    assert [fault for file in FILES for fault in wrong_imports(file)] == []


def test_who_explains_looks_at_decide_from_outside():
    """`decide` itself and the preview: what else is in that folder can change without anybody's leave."""
    files = [file for file in FILES if layer_of(file) == "explain"]
    inside = {name for file in files for _, name in imports(file) if name.startswith("remit.decide.")}
    assert {name for name in inside if not name.startswith(("remit.decide.decide", "remit.decide.preview."))} == set()


def test_a_module_says_what_it_is_for():
    silent = [file for file in FILES if not ast.get_docstring(parsed(file))]
    assert silent == [], "no docstring at the top of these modules"


def test_nothing_rests_on_assert():
    asserts = ((file, node) for file in FILES for node in ast.walk(parsed(file)) if isinstance(node, ast.Assert))
    assert [f"{file.relative_to(SRC)}:{node.lineno}" for file, node in asserts] == []


# Where a host's name may stand: its own module and catalog files, and what lists all hosts or all protected paths.
NAMES_OF_HOSTS = ("claude", "anthropic", "copilot", "opencode", "codex", "gemini", "openai")
THEIR_OWN = ("catalog/hosts/", "catalog/packs/")  # and a folder each: adapters/hosts/NAME/
LISTS = {
    "adapters/hosts/registry.py": "the table of hosts",
    "catalog/equivalents.yaml": "tools of different hosts that do the same",
    "catalog/python.yaml": "frameworks whose tools and agents are found in programs",
    "catalog/scan.yaml": "where every program keeps its definitions and settings, hosts of ours or not",
    "catalog/teams/coding.yaml": "a policy for a team in one host",
    "catalog/demo/nexus.yaml": "the policy of a team in one host, as the example has it",
    "catalog/protected.yaml": "the configuration of every host is protected, installed or not",
    "catalog/programs/environment.yaml": "their makers' variables hold secrets",
    "catalog/programs/gh.yaml": "a program's own subcommands",
    "scopes/shell/placed.py": "an example in a docstring",
    "cli/install/command.py": "an example in its help",
    "cli/install/uninstall.py": "an example in its help",
    "cli/mcp.py": "an example in its help",
    "scan/answers.py": "the form of one host's settings",
}


def test_nothing_outside_the_family_names_a_host():
    naming = set()
    for file in sorted(path for path in SRC.rglob("*") if path.suffix in (".py", ".yaml")):
        name = file.relative_to(SRC).as_posix()
        if name.startswith("adapters/hosts/") and name.count("/") > 2:
            continue
        if any(word in file.read_text("utf-8").lower() for word in NAMES_OF_HOSTS) and not name.startswith(THEIR_OWN):
            naming.add(name)
    assert naming == set(LISTS)


def test_only_the_registry_knows_the_module_of_a_host():
    """Everybody else takes it from there, so that a second host is found wherever the first one is."""
    outside = [file for file in FILES if "adapters/hosts/claude_code/" not in file.as_posix()]
    assert [
        f"{file.relative_to(SRC)}:{line}: {name}"
        for file in outside
        for line, name in imports(file)
        if name.startswith("remit.adapters.hosts.claude_code")
    ] == []


def test_a_hook_loads_only_the_half_of_a_host_that_it_needs():
    """What installing and probing need would be paid for on each call."""
    code = (
        "import sys; from remit.adapters.hooks import local; from remit.adapters.hosts import registry; "
        "registry.find('claude-code'); print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "remit.adapters.hosts.claude_code.hook" in loaded
    heavy = {"yaml", "typer", "rich", "subprocess", "importlib.metadata", "importlib.resources"}
    ours = {"declare", "catalog", "exchange", "explain", "adapters.hosts.setup", "adapters.install", "cli"}
    assert loaded & (heavy | {f"remit.{name}" for name in ours}) == set()


ONE_CALL = """
import sys
old = set(sys.modules)
from remit.compile.file import read_rulebook
from remit.decide import decide
from remit.enforce.paths import look_up
from remit.model.call import Call
from remit.model.facts import Facts
root, tool, args = sys.argv[1], sys.argv[2], dict([sys.argv[3].split("=")])
rulebook = read_rulebook(root + "/.remit/rulebook")
call = Call("a", tool, args)
found = decide(rulebook, call, look_up(rulebook, call, Facts(root=root, resolved={})))
print(found.verdict.word, *sorted(set(sys.modules) - old))
"""


def loaded_by(root: Path, tool: str, arg: str) -> tuple[str, set[str]]:
    """The verdict on a call in an interpreter of its own, and the modules that came with it."""
    ran = subprocess.run([sys.executable, "-I", "-c", ONE_CALL, root, tool, arg], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    verdict, *modules = ran.stdout.split()
    return verdict, set(modules)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A policy with a shell, SQL and URLs, of which a call with a path needs nothing."""
    tools = {
        "read": {"args": {"path": "path"}, "does": {"read": "path"}},
        "bash": {"args": {"command": "shell"}},
        "query": {"args": {"sql": "sql"}, "dialect": "sqlite"},
        "fetch": {"args": {"url": "url"}, "does": {"network": "url"}},
    }
    rules = [
        {"read": {"path": "docs/**"}},
        {"bash": {"shell": {"run": ["git status"]}}},
        {"query": {"sql": {"select": ["t"]}}},
        {"fetch": {"url": "https://example.com/**"}},
    ]
    rulebook = build_rulebook({"remit": 1, "tools": tools, "agents": {"a": {"may": rules}}})
    write_rulebook(rulebook, rulebook_path(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("path", "verdict"), [("docs/a.md", "allow"), ("src/a.py", "deny")])
def test_deciding_loads_little(project: Path, path: str, verdict: str):
    found, modules = loaded_by(project, "read", f"path={path}")
    assert found == verdict
    refused = {"json", "json.decoder", "json.encoder", "json.scanner"} if verdict == "deny" else set()  # for a remedy
    assert modules & (HEAVY - refused) == set()
    assert len(modules) <= MOST


def test_a_command_loads_no_sql(project: Path):
    found, modules = loaded_by(project, "bash", "command=git status")
    assert found == "allow"
    assert "remit.scopes.shell" in modules
    assert not {"sqlglot", "sqlite3", "importlib.resources", "hashlib", "pathlib"} & modules


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("decide/x.py", "from remit.declare import load", "decide may not import remit.declare.load"),
        ("decide/x.py", "from ..declare.load import f", "decide may not import remit.declare.load.f"),
        ("decide/x.py", "from .. import cli", "decide may not import remit.cli"),
        ("decide/x.py", "import remit", "decide may not import remit"),
        ("model/x.py", "if TYPE_CHECKING:\n    import remit.scopes", "model may not import remit.scopes"),
        ("scopes/x.py", "def f():\n    import_module('remit.cli')", "scopes may not import remit.cli"),
        ("compile/x.py", "import yaml.events", "yaml may not be imported in compile"),
        ("cli/x.py", "from pickle import loads", "pickle may not be imported in cli"),
        ("decide/x.py", "import os.path", "a decision is pure and does without os"),
        ("scopes/x.py", "from time import time", "a decision is pure and does without time"),
        ("languages/x.py", "import threading\nimport random", "a decision is pure and does without random"),
        ("decide/x.py", "from . import y\nfrom ..model import Call\nfrom remit import scopes", None),
        ("__init__.py", "from .decide import decide", None),
        ("cli/x.py", "from remit import __version__\nimport rich, typer", None),
    ],
)
def test_a_wrong_import_is_found(
    path: str, text: str, fault: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys.modules[__name__], "SRC", tmp_path)
    file = tmp_path / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    found = [message.split(": ", 1)[1] for message in wrong_imports(file)]
    assert found == ([fault] if fault else [])


def test_programs_are_not_found_by_the_path_that_somebody_left():
    """`PATH` may lead into a project, where agents write programs: model/system_programs.py knows the system's places.

    What people start themselves, and what asks whether they have a program, may ask `PATH`.
    """
    own = {SRC / "model/system_programs.py", SRC / "cli/week.py", SRC / "service/week.py", *(SRC / "demo").iterdir()}
    wrong = []
    for path in set(SRC.rglob("*.py")) - own:
        nodes = list(ast.walk(parsed(path)))
        named = {ast.unparse(one.targets[0]): one.value for one in nodes if isinstance(one, ast.Assign)}
        for node in (one for one in nodes if isinstance(one, ast.Call)):
            function = ast.unparse(node.func)
            if function == "shutil.which" and all(word.arg != "path" for word in node.keywords):
                wrong.append(f"{path.relative_to(SRC)}:{node.lineno}: which")
            if not function.startswith("subprocess.") or not node.args:
                continue
            words = node.args[0]
            words = named.get(words.id, words) if isinstance(words, ast.Name) else words
            first = words.elts[0] if isinstance(words, ast.List | ast.Tuple) and words.elts else None
            if isinstance(first, ast.Constant) and "/" not in str(first.value):
                wrong.append(f"{path.relative_to(SRC)}:{node.lineno}: {first.value!r}")
    assert wrong == []


def test_types_are_decoded_by_decodings():
    """msgspec crashes when threads have it look at one type for the first time together: model/decoding.py waits."""
    wrong = []
    for path in SRC.rglob("*.py"):
        if path == SRC / "model" / "decoding.py":
            continue
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.Call) or not called(node).endswith(("convert", "decode", "Decoder")):
                continue
            name = ast.unparse(node.func)
            typed = any(word.arg == "type" for word in node.keywords) or len(node.args) > 1
            struct = bool(node.args) and isinstance(node.args[0], ast.Name)
            if (
                name == "msgspec.convert"
                or (name.startswith("msgspec.") and name.endswith(".decode") and typed)
                or (name.startswith("msgspec.") and name.endswith("Decoder") and struct)
            ):
                wrong.append(f"{path.relative_to(SRC)}:{node.lineno}: {name}")
    assert wrong == []
