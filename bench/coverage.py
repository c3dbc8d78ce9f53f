"""How many real commands are understood, and why the others are not.

    python -m bench.coverage --tldr TLDR --nl2bash NL2BASH --actions REPOSITORY --actions REPOSITORY …

Each source is a git repository, bare or not: tldr-pages/tldr, TellinaTool/nl2bash, and any repositories with GitHub
Actions. `--held-out`: repositories with Actions that nobody looked at while profiles were written. `--causes N` lists
the N most frequent causes of what is not understood, `--questions` why commands are asked about, `--list GRADE` prints
the commands of one grade. Commands are decided in a small repository that is made for it.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from remit.compile import build_rulebook
from remit.decide import decide
from remit.enforce import find_look, format_look, git_look
from remit.enforce.paths import look_up, open_root
from remit.languages.programs.understand import understand
from remit.model import Call, Decision, Facts, Verdict
from remit.model.profile import HOLDS
from remit.model.terms import PROJECT, UNDERSTOOD, UNKNOWN

GRADES = (UNDERSTOOD, PROJECT, UNKNOWN)
POLICY = {
    "remit": 1,
    "name": "coverage",
    "tools": {"terminal": {"args": {"command": {"shell": "new"}}, "tier": 2}},
    "agents": {"agent": {"may": ["terminal"]}},
}
"""An agent with a terminal and no limits of its own: only tiers, grades and protection decide."""

DEVELOPER = frozenset(
    """
    ansible apt awk aws az bash black brew bun bundle cargo cat chmod clang cmake composer conda cp curl cut
    deno diff docker dotnet du echo env eslint find flake8 flask gcc gcloud gem gh git glab go gofmt gpg
    gradle grep gunzip gzip head helm http isort jest jq kill kubectl ln ls make mkdir mv mvn mypy mysql
    mysqldump nc ninja node npm npx nvm openssl patch perl pg pip pipenv pipx pnpm podman poetry pre prettier
    ps psql pulumi pyenv pylint pytest python python3 rails rake redis rename rg rm rsync ruby ruff rustc
    rustup scp sed sh sort split sqlite3 ssh stat systemctl tail tar tee terraform tmux touch tox tr tree tsc
    twine uniq unzip uv vagrant vim wc wget which xargs yarn yq zip
    """.split()  # noqa: SIM905  a list of names reads better so
)
"""First parts of the names of tldr's pages that are about a developer's work."""

_COMMAND = re.compile(r"^`([^`].*)`$", re.MULTILINE)
_PLACE = re.compile(r"\{\{(.*?)\}\}")
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)
_SHELLS = frozenset(("", "bash", "sh"))


@dataclass(slots=True)
class Count:
    """What came out for one source."""

    grades: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    """Why commands are asked about or denied."""
    texts: dict[str, list[str]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.grades.values())

    @property
    def meant(self) -> int:
        """Commands that are asked about for an effect or a place that tiers 3 and 4 name, by their first reason."""
        return sum(n for why, n in self.reasons.items() if why.startswith("tier-asks") and "not understood" not in why)

    def share(self, count: int) -> str:
        return f"{100 * count / max(self.total, 1):.1f}"

    def row(self, name: str) -> str:
        """One row of the table."""
        shares = [self.share(self.grades[grade]) for grade in GRADES]
        verdicts = [self.share(self.verdicts[verdict]) for verdict in ("allow", "ask", "deny")]
        return f"| {name} | {self.total:,} | " + " | ".join((*shares, self.share(self.refused), *verdicts)) + " |"


def main() -> None:
    """Prints the table, and what was asked for besides."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tldr", type=Path)
    parser.add_argument("--nl2bash", type=Path)
    parser.add_argument("--actions", type=Path, action="append", default=[])
    parser.add_argument("--held-out", type=Path, action="append", default=[])
    parser.add_argument("--causes", type=int, default=0)
    parser.add_argument("--questions", action="store_true", help="why commands are asked about or denied, in percent")
    parser.add_argument("--list", choices=GRADES)
    parser.add_argument("--leave-out", default="", help="workflows to leave out, such as `*.lock.yml`")
    parser.add_argument("--every", type=int, default=1, help="take only every n-th command")
    parser.add_argument("--confined", action="store_true", help="for an agent with `confine: required`")
    parser.add_argument("--at-two", action="append", default=[], help="an effect that the policy puts at tier 2")
    asked = parser.parse_args()
    sources: list[tuple[str, Iterator[str]]] = []
    if asked.tldr:
        sources.append(("tldr, developer pages", tldr_commands(asked.tldr)))
    if asked.nl2bash:
        sources.append(("NL2Bash", nl2bash_commands(asked.nl2bash)))
    if asked.actions:
        sources.append(("GitHub Actions `run:`", all_commands(asked.actions, asked.leave_out)))
    if asked.held_out:
        sources.append(("GitHub Actions, held out", all_commands(asked.held_out, asked.leave_out)))
    with TemporaryDirectory() as root:
        make_repository(Path(root))
        counts = [
            (name, measure(itertools.islice(texts, 0, None, asked.every), Path(root), asked.confined, asked.at_two))
            for name, texts in sources
        ]
    print("| source | commands | understood | project code | not understood | of these refused | allow | ask | deny |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, count in counts:
        print(count.row(name))
    for name, count in counts if asked.causes else ():
        print(f"\n{name}\n" + "\n".join(f"{n:6} {cause}" for cause, n in count.causes.most_common(asked.causes)))
    for name, count in counts if asked.questions else ():
        print(f"\n{name}\n" + "\n".join(f"{count.share(n):>6} {why}" for why, n in count.reasons.most_common()))
        print(f"{count.share(count.meant):>6} of these are meant: tiers 3 and 4 ask about what the text shows")
    for name, count in counts if asked.list else ():
        print(f"\n{name}", *count.texts.get(asked.list, ()), sep="\n")


FILES = """
    README.md Makefile package.json package-lock.json pyproject.toml requirements.txt src/app.py src/util.c src/index.js
    tests/test_app.py docs/index.md docs/notes.txt scripts/build.sh .gitignore .env.example .github/workflows/test.yml
    .claude/settings.json remit.yaml
"""
"""What the repository has in it that the commands are decided in."""


def make_repository(root: Path) -> None:
    """A small project under git, with one commit and a second branch."""
    for name in FILES.split():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", "-A")
    _git(root, "-c", "user.name=a", "-c", "user.email=a@x.example", "commit", "-qm", "first")
    _git(root, "branch", "feature")


def measure(texts: Iterator[str], root: Path, confined: bool = False, at_two: Sequence[str] = ()) -> Count:
    """Each text understood, and decided below the root for an agent without limits of its own, looking as hooks do."""
    tiers = {effect: {"tier": 2, "because": "confined, it can't have that effect"} for effect in at_two}
    more = {"confine": "required" if confined else "off", "tiers": {"effects": tiers}}
    rulebook = build_rulebook({**POLICY, **more})
    find_look.SECONDS = git_look.SECONDS = format_look.SECONDS = 60.0  # no figure depends on how busy the machine is
    _, facts = open_root(root, root, Facts(confined=frozenset(HOLDS) if confined else frozenset()))
    count = Count()
    for text in texts:
        found = understand(text, new_shell=True)
        count.refused += found.problem is not None
        call = Call("agent", "terminal", {"command": text})
        decision = decide(rulebook, call, look_up(rulebook, call, facts))
        count.grades[decision.grade] += 1
        count.verdicts[decision.verdict.name.lower()] += 1
        if decision.verdict is not Verdict.ALLOW:
            count.reasons[_why(decision)] += 1
        reason = ""
        if decision.grade == UNKNOWN:
            reason = _cause(text) if found.grade == UNKNOWN else "an address that is none"
            count.causes[reason] += 1
        count.texts.setdefault(decision.grade, []).append(f"{text!r}  # {reason}")
    return count


def _why(decision: Decision) -> str:
    """The code, the tier, and what gives it."""
    because = _BECAUSE.search(decision.reason)
    what = because[1].rpartition(": ")[0] if because else ""
    for kind, words in _KINDS.items():
        if kind in what:
            what = words
    return f"{decision.code}, tier {decision.tier}: {what}" if what else decision.code


_BECAUSE = re.compile(r"\((.*)\)", re.DOTALL)
_KINDS = {
    "is not understood": "not understood",
    "outside the root": "deletes outside the root, or something unknown",
    "labelled security": "touches the user's keys and settings",
    "labelled dependencies": "manifests and lock files",
    "labelled ci": "pipelines",
    "labelled migrations": "migrations",
    "labelled shared": "shared branches",
}


def _cause(text: str) -> str:
    """The first thing that is not understood, with the program that it belongs to."""
    found = understand(text, new_shell=True)
    if found.problem is not None:
        return f"refused: {re.sub(r'[0-9]+', 'N', found.problem)}"
    act = next(act for act in found.acts if act.grade == UNKNOWN)
    program = (act.program or "$program").rpartition("/")[2]
    doubt = (*act.refused, *act.unknown)[0]
    if "is not literal" in doubt:
        doubt = "a word is not literal"
    return " ".join((program, *act.sub, "·", doubt))


def tldr_commands(repository: Path) -> Iterator[str]:
    """Examples of the developer pages, with short options and the placeholders filled in by their own names."""
    for path in _paths(repository, "pages/common/", "pages/linux/"):
        if Path(path).stem.partition("-")[0].partition(".")[0] in DEVELOPER:
            for command in _COMMAND.findall(_show(repository, path)):
                if not command.startswith("tldr "):  # a page that only points to another
                    yield _PLACE.sub(_filled, command)


def _filled(found: re.Match[str]) -> str:
    text = found[1]
    if text.startswith("[") and text.endswith("]") and "|" in text:
        return text[1:-1].partition("|")[0]
    return text.partition("|")[0].replace("path/to", "some").removesuffix(" ...")


def nl2bash_commands(repository: Path) -> Iterator[str]:
    """The commands of NL2Bash, one a line, each once."""
    yield from dict.fromkeys(filter(None, map(str.strip, _show(repository, "data/bash/all.cm").splitlines())))


def all_commands(repositories: Sequence[Path], leave_out: str) -> Iterator[str]:
    """The `run:` blocks of several repositories."""
    for repository in repositories:
        yield from action_commands(repository, leave_out)


def action_commands(repository: Path, leave_out: str = "") -> Iterator[str]:
    """The `run:` blocks of a repository's workflows and actions that bash runs; expressions become a word."""
    for path in _paths(repository, ".github/"):
        if fnmatchcase(path, leave_out):
            continue
        if path.endswith((".yml", ".yaml")) and ("/workflows/" in path or "/actions/" in path):
            try:
                data = yaml.safe_load(_show(repository, path))
            except yaml.YAMLError:
                continue
            for text in _runs(data):
                yield _EXPRESSION.sub("value", text)


def _runs(data: object) -> Iterator[str]:
    if isinstance(data, dict):
        if isinstance(data.get("run"), str) and str(data.get("shell", "")).partition(" ")[0] in _SHELLS:
            yield data["run"]
        for value in data.values():
            yield from _runs(value)
    elif isinstance(data, list):
        for value in data:
            yield from _runs(value)


def _paths(repository: Path, *folders: str) -> list[str]:
    return _git(repository, "ls-tree", "-r", "--name-only", "HEAD", *folders).splitlines()


def _show(repository: Path, path: str) -> str:
    return _git(repository, "show", f"HEAD:{path}")


def _git(repository: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=True)
    return done.stdout.decode(errors="replace")


if __name__ == "__main__":
    main()
