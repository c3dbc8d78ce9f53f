"""Protected files under another name: by a link to what lies above, by copies that are links, by `..` and back.

Each command runs, in a real shell, if it is allowed; then nothing that is protected may be other than before.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.enforce.paths import facts_at, look_up
from remit.model import Call
from remit.model.call import Context

BOOK = build_rulebook(
    {
        "remit": 1,
        "tools": {"terminal": {"args": {"command": {"shell": "new"}}, "tier": 2}},
        "agents": {"a": {"may": ["terminal"]}},
    }
)
KEPT = {"remit.yaml": "remit: 1\n", "CLAUDE.md": "memory\n", ".claude/settings.json": "{}\n"}


@pytest.mark.parametrize(
    "commands",
    [
        ["echo x > ../project/CLAUDE.md"],
        ["cp x ../project/./CLAUDE.md"],
        ["mkdir -p a/b", "echo x > a/b/../../../project/CLAUDE.md"],
        ["ln -s {above} ~/l", "echo x > ~/l/project/CLAUDE.md"],
        ["ln -s / ~/l", "echo x > ~/l{root}/CLAUDE.md"],
        ["ln -s {root}/ ~/l", "echo x > ~/l/CLAUDE.md"],
        ["ln -s -t ~ {above}/", "echo x > ~/{name}/project/CLAUDE.md"],
        ["/bin/ln -s {root} ~/l", "echo x > ~/l/CLAUDE.md"],
        ["/usr/bin/ln -s {above} ~/l", "echo x > ~/l/project/CLAUDE.md"],
        ["cp -rl . ~/l", "echo x > ~/l/CLAUDE.md"],
        ["cp -al {root} ~/l", "echo x > ~/l/CLAUDE.md"],
        ["cp -as {above} ~/l", "echo x > ~/l/project/CLAUDE.md"],
        ["rsync -a --link-dest={root} {root}/ ~/l/", "echo x > ~/l/CLAUDE.md"],
        ["tar cf x.tar -C {above} project/x", "tar xf x.tar -C {above}", "cp -r ../d {above}"],
    ],
    ids=" then ".join,
)
def test_nothing_protected_changes(commands: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    above, home = tmp_path.resolve() / "above", tmp_path.resolve() / "home"
    root = above / "project"
    for name, text in {**KEPT, "x": "x\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (above / "d/project").mkdir(parents=True)
    (above / "d/project/CLAUDE.md").write_text("other\n")
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    answers = []
    for text in commands:
        command = text.format(root=root, above=above, name=above.name)
        call = Call("a", "terminal", {"command": command}, context=Context(cwd="."))
        answers.append(decide(BOOK, call, look_up(BOOK, call, facts_at(root, tmp_path / "state"))))
        if answers[-1].verdict.word == "allow" and (command.split()[0] != "rsync" or shutil.which("rsync")):
            subprocess.run(["bash", "-c", command], cwd=root, env={**os.environ, "HOME": str(home)}, check=False)
    assert {name: (root / name).read_text() for name in KEPT} == KEPT
    assert any(answer.verdict.word != "allow" for answer in answers)


@pytest.mark.parametrize("command", ["ln -s /opt/x ~/bin/y", "cp -l src/a src/b", "echo x > ../other/y", "ls .. ../*"])
def test_everyday_work_goes_on(command: str, tmp_path: Path) -> None:
    root = tmp_path.resolve() / "above/project"
    (root / "src").mkdir(parents=True)
    (root / "src/a").write_text("a")
    call = Call("a", "terminal", {"command": command}, context=Context(cwd="."))
    assert decide(BOOK, call, look_up(BOOK, call, facts_at(root, tmp_path / "state"))).code == "allowed"
