"""Policy files on disk: what is read, and what is refused before a single line counts."""

import os
import threading

import pytest

from remit.declare import load_policy
from remit.declare.files import read_text
from remit.declare.nodes import MAX_SIZE
from remit.model import PolicyError, Problem

GOOD = "remit: 1\nname: small\nagents: {a: {may: []}}\n"


def problems(path) -> list[Problem]:
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    return list(caught.value.problems)


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "remit.yaml"
    path.write_text(GOOD)
    path.chmod(0o644)
    return path


def test_a_plain_file_is_read(policy):
    assert load_policy(policy).name == "small"


def test_a_file_that_everybody_may_write(policy):
    policy.chmod(0o666)
    assert problems(policy) == [
        Problem("world-writable", "everybody may write this file", "remit.yaml", "chmod o-w remit.yaml")
    ]


def test_a_symlink(policy):
    link = policy.with_name("link.yaml")
    link.symlink_to(policy)
    assert problems(link) == [
        Problem("policy-symlink", "the file is a symlink", "link.yaml", "name the file that it points to")
    ]


def test_a_symlink_that_leads_nowhere(tmp_path):
    link = tmp_path / "remit.yaml"
    link.symlink_to("nowhere")
    assert [problem.code for problem in problems(link)] == ["policy-symlink"]


def test_a_file_that_is_not_there(tmp_path):
    assert problems(tmp_path / "remit.yaml") == [Problem("no-policy", "no such file", "remit.yaml")]


def test_a_directory(tmp_path):
    path = tmp_path / "remit.yaml"
    path.mkdir()
    assert problems(path) == [Problem("unreadable", "not a regular file", "remit.yaml")]


def test_a_fifo_is_refused_at_once(tmp_path):
    path = tmp_path / "remit.yaml"
    os.mkfifo(path)
    assert problems(path) == [Problem("unreadable", "not a regular file", "remit.yaml")]  # or it would wait for ever


def test_a_name_with_a_nul(tmp_path):
    assert [problem.code for problem in problems(tmp_path / "a\0b")] == ["unreadable"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(policy):
    policy.chmod(0o000)
    assert problems(policy) == [Problem("unreadable", "can't be read: Permission denied", "remit.yaml")]


def test_a_file_that_is_too_large(policy):
    with policy.open("r+b") as file:
        file.truncate(MAX_SIZE + 1)  # sparse: no disk is used
    assert problems(policy) == [Problem("too-large", "larger than 16 MiB", "remit.yaml")]


def test_bytes_that_are_not_utf8(policy):
    policy.write_bytes(b"remit: 1\nname: caf\xe9\n")
    assert problems(policy) == [Problem("not-utf8", "not UTF-8 at line 2", "remit.yaml", "save it as UTF-8")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_other_encodings(policy, encoding):
    policy.write_bytes(GOOD.encode(encoding))
    assert [problem.code for problem in problems(policy)] == ["not-utf8"]


def test_a_byte_order_mark_is_skipped(policy):
    policy.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert load_policy(policy).name == "small"


def test_positions_behind_a_byte_order_mark(policy):
    policy.write_bytes(b"\xef\xbb\xbfremitt: 1\n")
    assert [problem.at for problem in problems(policy)][-1] == "remit.yaml:1:1"


@pytest.mark.parametrize("character", ["\u200b", "\u202e", "\u2066", "\u200f", "\u2060", "\ufeff", "\u061c"])
def test_hidden_characters(policy, character):
    policy.write_text(GOOD + f"# na{character}me\n")
    code = f"U+{ord(character):04X}"
    assert problems(policy) == [Problem("hidden-character", f"hidden character {code}", "remit.yaml:4", "remove it")]


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "just words\n", "[1, 2]\n", "null\n"])
def test_what_is_no_mapping(policy, text):
    policy.write_text(text)
    (problem,) = problems(policy)
    assert (problem.code, problem.at.split(":")[0]) == ("bad-yaml", "remit.yaml")
    assert problem.message == "expected a mapping: keys with values, such as `remit: 1`"


def test_control_characters(policy):
    policy.write_bytes(b"remit: 1\nname: a\x00b\n")
    (problem,) = problems(policy)
    assert (problem.code, problem.at) == ("bad-yaml", "remit.yaml:2:8")
    assert "\x00" not in str(problem)


# --- changed while it is read ---


class _Stat:
    """A status that differs from the real one in one field."""

    def __init__(self, real, **fields):
        self._real, self._fields = real, fields

    def __getattr__(self, name):
        return self._fields.get(name, getattr(self._real, name))


@pytest.fixture
def second_look(monkeypatch):
    """`second_look(times, field)`: that many times the second fstat of a reading sees a changed file."""
    real, calls = os.fstat, [0]

    def install(times: int, field: str) -> None:
        def fstat(descriptor):
            calls[0] += 1
            found = real(descriptor)
            attempt, second = divmod(calls[0] - 1, 2)
            return _Stat(found, **{field: getattr(found, field) + 1}) if second and attempt < times else found

        monkeypatch.setattr(os, "fstat", fstat)

    return install


@pytest.mark.parametrize("field", ["st_size", "st_mtime_ns", "st_ino"])
def test_a_file_that_changes_each_time(policy, second_look, field):
    second_look(100, field)
    assert problems(policy) == [Problem("policy-changing", "the file changes while it is read", "remit.yaml")]


def test_a_file_that_settles_is_read_again(policy, second_look):
    second_look(2, "st_mtime_ns")
    assert load_policy(policy).name == "small"


def test_a_file_that_is_replaced_after_it_was_opened(policy, monkeypatch):
    real = os.fstat

    def fstat(descriptor):
        fresh = policy.with_name("fresh")
        fresh.write_text(GOOD)
        fresh.replace(policy)  # another file under the same name: the one that is open is no longer it
        return real(descriptor)

    monkeypatch.setattr(os, "fstat", fstat)
    assert problems(policy) == [Problem("policy-changing", "the file changes while it is read", "remit.yaml")]


def test_a_writer_never_makes_a_mixture(policy):
    """While another thread rewrites the file, what is read is one whole version, or a refusal."""
    versions = [f"remit: 1\nname: {letter * 3000}\n" for letter in "ab"]
    policy.write_text(versions[0])
    stop = threading.Event()

    def write():
        while not stop.is_set():
            for text in versions:
                policy.write_text(text)

    writer = threading.Thread(target=write)
    writer.start()
    read: set[str] = set()
    refused: list[str] = []
    try:
        for _ in range(300):
            try:
                read.add(read_text(policy))
            except PolicyError as error:
                refused.extend(problem.code for problem in error.problems)
    finally:
        stop.set()
        writer.join()
    assert read <= {*versions, ""}  # a plain writer truncates first; that moment is a file of its own
    assert set(refused) <= {"policy-changing"}
    assert read or refused


# --- includes ---


def test_includes_are_merged(policy):
    (policy.parent / "team").mkdir()
    (policy.parent / "team" / "b.yaml").write_text("remit: 1\ninclude: c.yaml\nagents: {b: {may: []}}\n")
    (policy.parent / "team" / "c.yaml").write_text("remit: 1\nagents: {c: {may: []}}\n")
    policy.write_text("remit: 1\ninclude: [team/b.yaml]\nagents: {a: {may: []}}\n")
    found = load_policy(policy)
    assert sorted(found.callers) == ["a", "b", "c"]
    assert found.sources == ("remit.yaml", "team/b.yaml", "team/c.yaml")


def test_a_file_included_twice_counts_once(policy):
    (policy.parent / "b.yaml").write_text("remit: 1\ninclude: c.yaml\n")
    (policy.parent / "c.yaml").write_text("remit: 1\nagents: {c: {may: []}}\n")
    policy.write_text("remit: 1\ninclude: [b.yaml, c.yaml]\n")
    assert sorted(load_policy(policy).callers) == ["c"]


@pytest.mark.parametrize("entry", ["../outside.yaml", "sub/../../outside.yaml", "/etc/hostname"])
def test_an_include_outside_the_root(policy, entry):
    (policy.parent.parent / "outside.yaml").write_text("remit: 1\n")
    policy.write_text(f"remit: 1\ninclude:\n  - {entry}\n")
    assert problems(policy) == [Problem("bad-include", f"`{entry}` lies outside the root", "remit.yaml:3:5")]


def test_a_symlink_does_not_lead_an_include_out_of_the_root(policy):
    (policy.parent.parent / "outside.yaml").write_text("remit: 1\n")
    (policy.parent / "b.yaml").symlink_to("../outside.yaml")
    policy.write_text("remit: 1\ninclude:\n  - b.yaml\n")
    assert problems(policy) == [Problem("bad-include", "`b.yaml` lies outside the root", "remit.yaml:3:5")]


def test_an_included_symlink_inside_the_root(policy):
    (policy.parent / "c.yaml").write_text("remit: 1\n")
    (policy.parent / "b.yaml").symlink_to("c.yaml")
    policy.write_text("remit: 1\ninclude: b.yaml\n")
    assert [problem.code for problem in problems(policy)] == ["policy-symlink"]


def test_an_include_of_a_missing_file(policy):
    policy.write_text("remit: 1\ninclude: [b.yaml]\n")
    assert problems(policy) == [
        Problem(
            "no-policy",
            "no file `b.yaml`",
            "remit.yaml:2:11",
            "it is looked for beside the file that includes it",
        )
    ]


def test_an_included_file_that_everybody_may_write(policy):
    other = policy.parent / "b.yaml"
    other.write_text("remit: 1\n")
    other.chmod(0o666)
    policy.write_text("remit: 1\ninclude: [b.yaml]\n")
    assert [(problem.code, problem.at) for problem in problems(policy)] == [("world-writable", "b.yaml")]


def test_an_include_cycle(policy):
    (policy.parent / "b.yaml").write_text("remit: 1\ninclude: [c.yaml]\n")
    (policy.parent / "c.yaml").write_text("remit: 1\ninclude: [remit.yaml]\n")
    policy.write_text("remit: 1\ninclude: [b.yaml]\n")
    assert problems(policy) == [Problem("include-cycle", "`remit.yaml` includes itself", "c.yaml:2:11")]


def test_a_file_that_includes_itself(policy):
    policy.write_text("remit: 1\ninclude: [remit.yaml]\n")
    assert problems(policy) == [Problem("include-cycle", "`remit.yaml` includes itself", "remit.yaml:2:11")]


def test_one_agent_in_two_files(policy):
    (policy.parent / "b.yaml").write_text("remit: 1\nagents:\n  a: {may: []}\n")
    policy.write_text("remit: 1\ninclude: [b.yaml]\nagents:\n  a: {may: []}\n")
    message = "agent `a` is declared twice, first at remit.yaml:4:6; agents, roles and runners share one namespace"
    assert problems(policy) == [Problem("duplicate-name", message, "b.yaml:3:6")]


def test_what_belongs_in_the_main_file(policy):
    (policy.parent / "b.yaml").write_text("remit: 1\nenforce: always\nunsafe_unprotect: ['**']\n")
    policy.write_text("remit: 1\ninclude: [b.yaml]\n")
    assert problems(policy) == [
        Problem("misplaced-key", "`enforce` belongs in the main file", "b.yaml:2:1"),
        Problem("misplaced-key", "`unsafe_unprotect` belongs in the main file", "b.yaml:3:1"),
    ]


@pytest.mark.parametrize(
    "line", ['include: ["a\\0b"]', "include: [loop]", 'root: "a\\0b"'], ids=["nul", "loop", "root"]
)
def test_names_that_the_system_refuses(policy, line):
    (policy.parent / "loop").symlink_to("loop")
    policy.write_text(f"remit: 1\n{line}\n")
    problems(policy)


@pytest.mark.parametrize("entry", ["sub", '""', "."])
def test_an_included_directory(policy, entry):
    (policy.parent / "sub").mkdir()
    policy.write_text(f"remit: 1\ninclude: [{entry}]\n")
    problems(policy)


def test_a_file_name_is_escaped(policy):
    (policy.parent / "a\nb.yaml").write_text("remit: 1\nbad: 1\n")
    policy.write_text('remit: 1\ninclude: ["a\\nb.yaml"]\n')
    assert all("\n" not in problem.at for problem in problems(policy))
