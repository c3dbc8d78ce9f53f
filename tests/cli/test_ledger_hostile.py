"""Hostile entries and broken files: nothing steers the terminal, and whatever is wrong is one clear error."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from remit.model.call import Call, Context, Statement
from remit.model.decision import Decision
from remit.model.terms import ALLOW, DENY
from tests.cli.kit import Remit
from tests.record.project import Project

HOSTILE = "\x1b[2J\x1b]0;owned\x07\r\n\u202eevil\u2066\u200b\x9b31m\x7f\u2028\ufeff</script>%s{0}"
UNSAFE = ("\x1b", "\x07", "\r", "\u202e", "\u2066", "\u200b", "\x9b", "\x7f", "\u2028", "\ufeff")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = Project(tmp_path, monkeypatch)
    monkeypatch.chdir(found.root)
    return found


@pytest.fixture
def remit(project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Remit:
    return Remit(project.root, capsys, monkeypatch)


def write_hostile(project: Project) -> None:
    context = Context(session=HOSTILE, capsule=HOSTILE, chain=(HOSTILE,))
    call = Call(HOSTILE, HOSTILE, {HOSTILE: HOSTILE, "deep": {HOSTILE: [HOSTILE]}}, context, Statement(because=HOSTILE))
    said: dict[str, Any] = {"rule": HOSTILE, "effects": (HOSTILE,), "grade": HOSTILE, "policy": HOSTILE}
    with project.open() as opened:
        opened.ledger.intent(call, Decision(DENY, HOSTILE, HOSTILE, HOSTILE, HOSTILE, approval=HOSTILE, **said))
        allowed = Decision(ALLOW, HOSTILE, HOSTILE, HOSTILE, HOSTILE, would=HOSTILE, tier=2, **said)
        receipt = opened.ledger.intent(call, allowed)
        opened.ledger.outcome(receipt.call, "failed", error=HOSTILE)
        opened.ledger.event("halt", {"agent": HOSTILE, "why": {HOSTILE: HOSTILE}}, {"note": HOSTILE})
        opened.ledger.flush()
        opened.checkpoint()


SHOWN = [
    ("show",),
    ("show", "--json"),
    ("show", "--values"),
    ("show", "--values", "--json"),
    ("show", "0", "--values"),
    ("show", "0"),
    ("tail",),
    ("tail", "--json"),
    ("stats",),
    ("stats", "--json"),
    ("export", "jsonl", "-", "--values"),
    ("export", "ocsf", "-"),
    ("verify",),
    ("verify", "--json"),
    ("show", "--agent", HOSTILE),
    ("erase", "--call", HOSTILE, "--dry-run"),
]
REFUSED = [
    ("show", "--since", HOSTILE),
    ("show", "--type", HOSTILE),
    ("prove", HOSTILE),
    ("check-proof", HOSTILE),
    ("anchor", "add", f"file:/{HOSTILE}"),
    ("anchor", "remove", HOSTILE),
    ("verify", "--key", HOSTILE),
    ("verify", "--anchor", HOSTILE),
    ("verify", "--state", HOSTILE),
    ("export", "jsonl", f"/no/{HOSTILE}"),
    (HOSTILE,),
]


@pytest.mark.parametrize(
    "words", SHOWN + REFUSED, ids=lambda words: " ".join(words).encode("ascii", "replace").decode()[:40]
)
def test_nothing_steers_the_terminal(project: Project, remit: Remit, words: tuple[str, ...]):
    write_hostile(project)
    ran = remit("ledger", *words)
    assert ran.code == (2 if words in REFUSED else 0)
    assert "internal-error" not in ran.err
    for sign in UNSAFE:
        assert sign not in ran.out + ran.err, ascii(sign)


def test_each_entry_is_one_line(project: Project, remit: Remit):
    write_hostile(project)
    for command in ("show", "tail"):
        assert len(remit("ledger", command).out.splitlines()) == 4
    lines = remit("ledger", "show", "--values", "--json").lines
    assert [line["seq"] for line in lines] == [0, 1, 2, 3]
    assert lines[0]["entry"]["agent"] == HOSTILE, "for programs nothing is lost"
    assert lines[0]["values"][f"args.{HOSTILE}"] == HOSTILE


def test_hostile_names_of_anchors_in_the_store(project: Project, remit: Remit):
    project.fill(1)
    with project.log() as opened, opened.store.write() as change:
        value = json.dumps([f"file:/{HOSTILE}"], ensure_ascii=False).encode()
        change.run("INSERT INTO meta (name, value) VALUES (?, ?)", "anchors", value)
    for words in (("anchor", "list"), ("verify",), ("stats",), ("anchor", "push")):
        ran = remit("ledger", *words)
        assert "internal-error" not in ran.err
        assert not any(sign in ran.out + ran.err for sign in UNSAFE)


def test_a_receipt_with_hostile_text(project: Project, remit: Remit, tmp_path: Path):
    write_hostile(project)
    assert remit("ledger", "prove", "0", "--to", str(tmp_path / "receipt")).code == 0
    ran = remit("ledger", "check-proof", str(tmp_path / "receipt"))
    assert ran.code == 0
    assert not any(sign in ran.out for sign in UNSAFE)
    for text in (HOSTILE, "", "c2sp.org/tlog-proof@v1\n" + HOSTILE, "\0" * 700_000):
        (tmp_path / "receipt").write_text(text)
        ran = remit("ledger", "check-proof", str(tmp_path / "receipt"))
        assert ran.code == 1
        assert ran.err.count("\n") == 1
        assert not any(sign in ran.err for sign in UNSAFE)


def key(project: Project) -> Path:
    return project.state / "keys" / "ledger-0001.key"


BROKEN = {
    "no database": lambda p: (p.state / "remit.db").write_bytes(b"rubbish" * 1000),
    "an empty database": lambda p: (p.state / "remit.db").write_bytes(b""),
    "half a database": lambda p: (p.state / "remit.db").write_bytes((p.state / "remit.db").read_bytes()[:5000]),
    "a database of another program": lambda p: p.harm("PRAGMA application_id = 7"),
    "no head": lambda p: p.harm("DELETE FROM head"),
    "a head of nonsense": lambda p: p.harm("UPDATE head SET range = x'00'"),
    "a head of another size": lambda p: p.harm("UPDATE head SET size = 900"),
    "an entry of nonsense": lambda p: p.harm("UPDATE leaf SET body = x'ff' WHERE seq = 1"),
    "an entry that is a list": lambda p: p.harm("UPDATE leaf SET body = CAST('[]' AS BLOB) WHERE seq = 1"),
    "a commitment of nonsense": lambda p: p.harm(
        'UPDATE leaf SET body = CAST(replace(CAST(body AS TEXT), \'"$c":"\', \'"$c":"?\') AS BLOB) WHERE seq = 1'
    ),
    "a value of nonsense": lambda p: p.harm("UPDATE secret SET value = x'ff'"),
    "a value of nonsense without salt": lambda p: p.harm("UPDATE secret SET value = x'ff', salt = x''"),
    "a checkpoint of nonsense": lambda p: p.harm("UPDATE checkpoint SET note = x'ff00'"),
    "a public key of nonsense": lambda p: key(p).with_suffix(".vkey").write_bytes(b"\xff"),
    "anchors of nonsense": lambda p: p.harm("INSERT INTO meta VALUES ('anchors', x'ff')"),
    "a cosigned checkpoint of nonsense": lambda p: p.harm("INSERT INTO meta VALUES ('cosigned', x'ff')"),
    "the signer's memory": lambda p: (p.state / "keys" / "signed").write_bytes(b"\xff"),
}
EVERY = (
    ("verify",),
    ("verify", "--json"),
    ("show", "--values"),
    ("show", "1", "--values"),
    ("tail",),
    ("stats",),
    ("prove", "1"),
    ("export", "jsonl", "-", "--values"),
    ("export", "ocsf", "-"),
    ("export", "tiles", "tiles"),
    ("anchor", "list"),
    ("anchor", "push"),
    ("keys", "list"),
    ("erase", "--agent", "writer", "--yes"),
    ("keys", "rotate"),
)


@pytest.mark.sample(4)
@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_broken_is_one_clear_error(project: Project, remit: Remit, broken: str):
    project.fill(3)
    BROKEN[broken](project)
    for words in EVERY:
        ran = remit("ledger", *words)
        assert ran.code in (0, 1, 2), (words, ran)
        assert "internal-error" not in ran.err, (words, ran.err)
        assert "Traceback" not in ran.out + ran.err
        if ran.code == 2:
            first, *more = ran.err.splitlines()
            assert first.startswith("remit: "), words
            assert all(line.startswith("    ") for line in more), words
    # Some of these can be repaired by writing on, and none of them is verified before.


@pytest.mark.parametrize("broken", sorted(set(BROKEN) - {"a cosigned checkpoint of nonsense", "an empty database"}))
def test_what_is_broken_is_not_verified(project: Project, remit: Remit, broken: str):
    project.fill(3)
    BROKEN[broken](project)
    ran = remit("ledger", "verify")
    assert ran.code == 1
    assert ran.out.startswith("NOT VERIFIED" if ran.code else "verified")
    assert remit("ledger", "verify", "--json").json["verified"] is (ran.code == 0)


def test_nothing_in_the_page_of_counts_acts(remit: Remit, project: Project):
    write_hostile(project)
    assert remit("ledger", "stats", "--html", "stats.html").code == 0
    page = (project.root / "stats.html").read_text("utf-8")
    assert not [c for c in UNSAFE if c in page]
    assert "<script" not in page  # it has none of its own either
    assert page.count("</svg>") == 1
    parser = _Tags()
    parser.feed(page)
    assert parser.strange == set()
    assert "evil" in page


class _Tags(HTMLParser):
    """Tags and attributes that the page itself doesn't have."""

    _OWN = frozenset(
        [
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "main",
            "h1",
            "h2",
            "h3",
            "p",
            "ul",
            "li",
            "code",
            "span",
            "small",
            "section",
            "table",
            "tr",
            "th",
            "td",
            "div",
            "svg",
            "g",
            "rect",
            "line",
            "text",
        ]
    )

    def __init__(self) -> None:
        super().__init__()
        self.strange: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.strange |= {tag} - self._OWN
        self.strange |= {name for name, _ in attrs if name.startswith("on") or name in ("href", "src")}
