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
from remit.model import Call, Facts
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
        ["echo x > ~/bin/p/CLAUDE.md"],
        ["echo x > $HOME/bin/p/CLAUDE.md"],
        ["rm ~/bin/p/CLAUDE.md"],
        ["cp x ~/bin/p/remit.yaml"],
        ["cp -r d/. ~/bin/p"],
        ["echo x > ~/bin/above/project/CLAUDE.md"],
        ["cp -r d/. ~/bin/above"],
        ["touch x; cp x ~/bin/*/CLAUDE.md"],
        ["sed -i s/m/n/ ~/*/p/CLAUDE.md"],
        ["sed -i s/m/n/ ~/bin/p/*.md"],
        ["find -L ~/bin/p -name '*.md' -exec sed -i s/m/n/ {{}} +"],
        ["echo x > ../beside/settings.json"],
        ["sed -i s/{{/n/ ../*/settings.json"],
        ["sed -i s/m/n/ ../*/CLAUDE.md"],
        ["sed -i s/m/n/ ../pro?ect/CLAUDE.md"],
        ["sed -i s/m/n/ {above}/*/CLAUDE.md"],
        ["sed -i s/m/n/ ../../*/project/CLAUDE.md"],
        ["sed -i s/m/n/ ../d/../*/CLAUDE.md"],
        ["sed -i s/m/n/ ../*/../project/CLAUDE.md"],
        ["cd .. && sed -i s/m/n/ project/CLAUDE.md"],
        ["cd ../d && sed -i s/m/n/ ../*/CLAUDE.md"],
        ["cd $(dirname $PWD)/d && sed -i s/m/n/ ../project/CLAUDE.md"],
        ["find .. -name '*.md' -exec sed -i s/m/n/ {{}} +"],
        ["find {above} -name '*.md' -exec sed -i s/m/n/ {{}} +"],
        ["rsync -a ../d/ ../"],
        ["rsync -a ../d/ {above}"],
        ["cp -r ../d/. .."],
        ["cp -r ../d/. {above}/"],
        ["cp -r ../d/project .."],
        ["cp -rT ../d .."],
        ["rm -rf ../*"],
        ["mv ../p* ../q"],
        ["tar cf x.tar -C ../d project", "tar xf x.tar -C .."],
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
    (home / "bin").mkdir(parents=True)
    (home / "bin/p").symlink_to(root)
    (home / "bin/above").symlink_to(above)
    (above / "beside").symlink_to(root / ".claude")
    (root / "d/project").mkdir(parents=True)
    for name in ("d/CLAUDE.md", "d/project/CLAUDE.md"):
        (root / name).write_text("other\n")
    monkeypatch.setenv("HOME", str(home))
    answers = []
    for text in commands:
        command = text.format(root=root, above=above, name=above.name)
        call = Call("a", "terminal", {"command": command}, context=Context(cwd="."))
        answers.append(decide(BOOK, call, look_up(BOOK, call, facts_at(root, tmp_path / "state"))))
        if answers[-1].verdict.word == "allow" and (command.split()[0] != "rsync" or shutil.which("rsync")):
            subprocess.run(["bash", "-c", command], cwd=root, env={**os.environ, "HOME": str(home)}, check=False)
    assert {name: (root / name).read_text() if (root / name).exists() else None for name in KEPT} == KEPT
    assert any(answer.verdict.word != "allow" for answer in answers)


@pytest.mark.parametrize(
    "command",
    [
        "ln -s /opt/x ~/bin/y",
        "cp -l src/a src/b",
        "echo x > ../other/y",
        "ls .. ../*",
        "cat ../*/README.md",
        "grep -r x ..",
        "grep x ../*/x",
        "find .. -name x",
        "touch ../*/x",
        "touch ../other/*",
        "sed -i s/a/b/ ../other/*.py",
        "cp x ..",
        "cp -r src ..",
        "cp -r src {above}",
        "rsync -a src ../",
        "rsync -a src/ ../other/",
        "mkdir ../z",
        "git -C .. commit -m x",
        "cd ../other && echo x > ../y",
        "echo x > ~/notes/y",
        "touch ~/a ~/b",
        "cp x ~/notes/",
        "echo x > ~/bin/p/src/b",
        "cat ~/bin/p/CLAUDE.md",
        "chmod +x ~/bin/*.sh",
    ],
)
def test_everyday_work_goes_on(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path.resolve() / "above/project"
    (root / "src").mkdir(parents=True)
    (root / "src/a").write_text("a")
    home = tmp_path.resolve() / "home"
    (home / "bin").mkdir(parents=True)
    (home / "bin/p").symlink_to(root)
    monkeypatch.setenv("HOME", str(home))
    call = Call("a", "terminal", {"command": command.format(above=root.parent)}, context=Context(cwd="."))
    assert decide(BOOK, call, look_up(BOOK, call, facts_at(root, tmp_path / "state"))).code == "allowed"


@pytest.mark.parametrize(
    "command",
    [
        "tar -xf a.tar -C /tmp",
        "unzip a.zip -d /tmp/",
        "cd /tmp && tar xf a.tar",
        "mkdir /tmp/x",
        "cp a /tmp/",
        "cp -r src /tmp/",
        "rsync -a src/ /tmp/",
        "cat > /tmp/out.txt",
        "mktemp -d",
        "git clone https://x.example/y /tmp/y",
        "wget -P /tmp https://x.example/y",
        "pip wheel -w /tmp .",
        "chmod -R u+w /tmp/a",
    ],
)
def test_a_project_below_tmp_goes_on(command: str) -> None:
    facts = Facts(root="/tmp/p", store=True, guarded=("/home/me/.local/state/remit",))
    assert decide(BOOK, Call("a", "terminal", {"command": command}, context=Context(cwd=".")), facts).code == "allowed"


@pytest.mark.parametrize("command", ["rm -rf /tmp", "chmod -R a+w /tmp", "touch /tmp/*/CLAUDE.md", "cp -r x/p /tmp"])
def test_but_not_with_the_project_itself(command: str) -> None:
    facts = Facts(root="/tmp/p", store=True)
    assert (
        decide(BOOK, Call("a", "terminal", {"command": command}, context=Context(cwd=".")), facts).code == "protected"
    )
