"""The rulebook on disk: what comes back is what was written, or nothing does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from remit.analyze.changes import compare
from remit.compile import load_rulebook
from remit.compile.file import read_rulebook, rulebook_path, stage_rulebook, write_rulebook
from remit.decide import decide
from remit.model import Call, Context, Facts, RulebookError
from remit.model.rulebook import FORMAT

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/remit.yaml"))
FORGE = next(path for path in EXAMPLES if path.parent.name == "forge-pipeline")


@pytest.fixture(scope="module")
def rulebook():
    return load_rulebook(FORGE)


@pytest.fixture
def path(rulebook, tmp_path):
    path = rulebook_path(tmp_path)
    write_rulebook(rulebook, path)
    return path


def test_git_passes_over_it(rulebook, path):
    """Otherwise every `git add -A` would read it, which no agent may."""
    root = path.parent.parent
    for words in (["init", "-q"], ["status", "--porcelain"]):
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    (path.parent / ".gitignore").write_text("# mine\n")
    write_rulebook(rulebook, path)
    assert (path.parent / ".gitignore").read_text() == "# mine\n"


def refused(path) -> RulebookError:
    with pytest.raises(RulebookError) as caught:
        read_rulebook(path)
    return caught.value


def calls(rulebook):
    """One call for every caller and tool, with plausible arguments."""
    values = {"number": 1, "flag": True, "json": {}, "url": "https://x.example/", "agent": "researcher"}
    for caller in rulebook.book.callers:
        for name, tool in rulebook.book.tools.items():
            args = {
                arg: (declared.one_of[0] if declared.one_of else values.get(declared.kind, "research/x.yaml"))
                for arg, declared in tool.args.items()
                if "[" not in arg and not declared.optional
            }
            yield Call(caller, name, args, Context(mode="interactive"))


@pytest.mark.parametrize("policy", EXAMPLES, ids=lambda path: path.parent.name)
@pytest.mark.sample(2)
def test_a_rulebook_comes_back_as_it_was(policy, tmp_path):
    written = load_rulebook(policy)
    write_rulebook(written, tmp_path / ".remit" / "rulebook")
    read = read_rulebook(tmp_path / ".remit" / "rulebook")
    assert read.hash == written.hash
    assert msgspec.json.encode(read.book) == msgspec.json.encode(written.book)
    facts = Facts(now="2026-11-15T12:00:00Z")
    verdicts = set()
    for call in calls(written):
        decision = decide(written, call, facts)
        verdicts.add(decision.verdict)
        assert decide(read, call, facts) == decision
    assert len(verdicts) > 1  # the comparison saw more than refusals


def test_only_its_owner_may_look(path):
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_nothing_else_is_left_behind(path):
    assert sorted(entry.name for entry in path.parent.iterdir()) == [".gitignore", "rulebook"]


def test_the_file_is_json(path):
    header, body = path.read_bytes().split(b"\n", 1)
    assert sorted(json.loads(header)) == ["hash", "remit_rulebook", "sum"]
    assert json.loads(body)["name"] == "forge-pipeline"


def test_writing_replaces_what_was_there(path, rulebook):
    path.write_bytes(b"broken")
    write_rulebook(rulebook, path)
    assert read_rulebook(path).hash == rulebook.hash


def test_it_can_not_be_written_where_a_file_is_in_the_way(rulebook, tmp_path):
    (tmp_path / ".remit").write_text("a file")
    with pytest.raises(RulebookError):
        write_rulebook(rulebook, rulebook_path(tmp_path))


def test_missing(tmp_path):
    error = refused(rulebook_path(tmp_path))
    assert error.code == "no-rulebook"
    assert str(error) == f"{rulebook_path(tmp_path)}: no rulebook is activated"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("which", ["file", "folder"])
def test_another_owner(path, which):
    victim = path if which == "file" else path.parent
    os.chown(victim, 4711, -1)
    try:
        euid = os.geteuid()
        assert euid == 0
        error = refused(path)
    finally:
        os.chown(victim, 0, -1)
    assert str(error) == f"{victim}: belongs to another user"


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write(path, mode):
    path.chmod(mode)
    error = refused(path)
    assert (str(error), error.help) == (f"{path}: others may write it", f"chmod go-w {path}")


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_may_write(path, mode):
    path.parent.chmod(mode)
    assert str(refused(path)) == f"{path.parent}: others may write it"


def test_a_symlink(path, tmp_path):
    link = path.with_name("link")
    link.symlink_to(path)
    refused(link)


def test_a_directory(path):
    path.unlink()
    path.mkdir()
    refused(path)


def test_a_fifo(path):
    path.unlink()
    os.mkfifo(path, 0o600)
    assert str(refused(path)) == f"{path}: not a rulebook"


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_truncated(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    refused(path)


def test_longer(path):
    path.write_bytes(path.read_bytes() + b" ")
    assert str(refused(path)) == f"{path}: changed since it was written"


def test_any_flipped_bit(path):
    data = path.read_bytes()
    step = max(1, len(data) // 200)
    for position in [*range(150), *range(150, len(data), step)]:
        for bit in (0, 5):
            broken = bytearray(data)
            broken[position] ^= 1 << bit
            path.write_bytes(broken)
            refused(path)
    path.write_bytes(data)
    read_rulebook(path)  # only the flipping was at fault


def test_another_hash_in_the_header(path):
    first, body = path.read_bytes().split(b"\n", 1)
    header = json.loads(first)
    header["hash"] = "sha256:" + "0" * 64
    path.write_bytes(json.dumps(header).encode() + b"\n" + body)
    assert str(refused(path)) == f"{path}: changed since it was written"


@pytest.mark.parametrize("number", [0, 1, 99])
def test_another_format(path, number):
    first, body = path.read_bytes().split(b"\n", 1)
    header = {**json.loads(first), "remit_rulebook": number}
    path.write_bytes(json.dumps(header).encode() + b"\n" + body)
    error = refused(path)
    assert (str(error), error.help) == (f"{path}: written by another version of Remit", "run `remit activate` again")


@pytest.mark.parametrize("data", [b"", b"\n", b"{}", b"null\n{}", b"\xff\xfe\n", b"[]\n[]", b"\x80\x04K\x01."])
def test_what_is_no_rulebook(path, data):
    path.write_bytes(data)
    assert str(refused(path)) == f"{path}: not a rulebook"


def test_a_body_that_is_no_book(path):
    """Somebody with the right to write, and the right sum, still can't make it say nonsense."""
    from remit.compile.file import _sum

    body = msgspec.json.encode({"name": 1})
    header = {"remit_rulebook": FORMAT, "hash": "sha256:0", "sum": _sum("sha256:0", body)}
    path.write_bytes(msgspec.json.encode(header) + b"\n" + body)
    assert str(refused(path)).startswith(f"{path}: can't be read: ")


def test_a_limit_that_nobody_knows_is_not_left_out(path):
    """A scope of another version must not become one without limits."""
    from remit.compile.file import _sum

    first, body = path.read_bytes().split(b"\n", 1)
    changed = body.replace(b'"parts":{"path"', b'"part":{"path"', 1)
    assert changed != body
    header = {**json.loads(first), "sum": _sum(json.loads(first)["hash"], changed)}
    path.write_bytes(json.dumps(header).encode() + b"\n" + changed)
    assert "unknown field `part`" in str(refused(path))


def test_reading_and_deciding_loads_no_yaml(path):
    code = """
import sys
from pathlib import Path
from remit.compile.file import read_rulebook
from remit.decide import decide
from remit.model import Call
rulebook = read_rulebook(Path(sys.argv[1]))
print(decide(rulebook, Call("researcher", "read_file", {"filePath": "README.md"})).verdict.word)
print(sorted(name for name in ("yaml", "_yaml", "typer", "rich", "re2", "pickle") if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-I", "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["allow", "[]"]


def test_a_link_in_the_place_of_the_folder(tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    elsewhere.chmod(0o755)
    (tmp_path / ".remit").symlink_to(elsewhere)
    with pytest.raises(RulebookError, match="symlink"):
        stage_rulebook(b"x", rulebook_path(tmp_path))
    assert elsewhere.stat().st_mode & 0o777 == 0o755
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("most", [50, 50.5, 2**53 + 1])
def test_numbers_come_back_as_they_were(most, tmp_path):
    tools = "tools: {refund: {args: {amount: number}, does: nothing}}"
    rule = f"refund: {{where: {{amount: {{max: {most}}}}}}}"
    (tmp_path / "remit.yaml").write_text(f"remit: 1\n{tools}\nagents: {{bot: {{may: [{rule}]}}}}\n")
    rulebook = load_rulebook(tmp_path / "remit.yaml")
    write_rulebook(rulebook, rulebook_path(tmp_path))
    back = read_rulebook(rulebook_path(tmp_path))
    assert compare(back.book, rulebook.book) == ()  # else `remit status` says for ever that it was changed
    for amount in (most, most + 1):
        call = Call("bot", "refund", {"amount": amount})
        assert decide(back, call, Facts()) == decide(rulebook, call, Facts())
