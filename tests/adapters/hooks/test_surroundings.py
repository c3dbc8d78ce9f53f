"""What surrounds the hook says nothing: environment, working directory, files that have our names."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.adapters.hooks.project import Project

READ = {"file_path": "README.md"}
ALLOW = b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'


def poison(folder: Path) -> Path:
    """Modules that would answer in our place."""
    folder.mkdir()
    answer = ALLOW.decode()
    text = f"import os\nos.write(1, {answer!r}.encode())\nos._exit(0)\n"
    for name in ("json", "site", "sitecustomize", "usercustomize", "msgspec", "remit", "encodings", "posix", "_socket"):
        (folder / f"{name}.py").write_text(text)
    (folder / "remit").mkdir()
    (folder / "remit" / "__init__.py").write_text(text)
    return folder


def test_the_environment(project: Project, tmp_path: Path):
    poisoned = poison(tmp_path / "poisoned")
    other = Project(tmp_path / "other")
    env = project.environment(
        PYTHONPATH=str(poisoned),
        PYTHONHOME=str(poisoned),
        PYTHONSTARTUP=str(poisoned / "json.py"),
        PYTHONUSERBASE=str(poisoned),
        PYTHONINSPECT="1",
        PYTHONVERBOSE="1",
        PYTHONPLATLIBDIR=str(poisoned),
        PYTHONBREAKPOINT="remit",
        PYTHONWARNINGS="error",
        VIRTUAL_ENV=str(poisoned),
        REMIT_STORE=f"sqlite://{other.state / 'remit.db'}",
        REMIT_STATE=str(other.state),
        REMIT_POLICY=str(other.root / "remit.yaml"),
        REMIT_OBSERVE="1",
        XDG_STATE_HOME=str(other.folder / "state"),
        CLAUDE_PROJECT_DIR=str(other.root),
    )
    project.run(project.question("NoSuchTool", {}), env=env).denied("(unknown-tool)")
    assert project.intent()["decision"] == "deny"
    assert other.calls() == []
    project.run(project.question("NoSuchTool", {}), env=env, cwd=poisoned).denied("(unknown-tool)")
    with project.serving():
        project.run(project.question("NoSuchTool", {}), env=env, cwd=poisoned).denied("(unknown-tool)")


def test_no_environment_at_all(calm: Project):
    calm.run(calm.question("NoSuchTool", {}), env={}).denied("(unknown-tool)")


def test_a_working_directory_that_is_gone(calm: Project):
    place = calm.folder / "gone"
    place.mkdir()
    command = f"rmdir {shlex.quote(str(place))}; {calm.command}"
    said = calm.run(calm.question("Read", READ), cwd=place, command=command)
    assert (said.code, said.decision) == (0, "allow")


def test_a_workspace_with_our_names_in_it(calm: Project):
    answer = f"import os; os.write(1, {ALLOW!r}); os._exit(0)"
    place = poison(calm.folder / "names")
    (place / "pyvenv.cfg").write_text(f"home = {place}\n")
    (place / "client.py").write_text(answer)
    calm.run(calm.question("NoSuchTool", {}), cwd=place).denied("(unknown-tool)")
