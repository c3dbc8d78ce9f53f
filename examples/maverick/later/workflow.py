"""Agents that can't be made with a wrong tool, and a workflow that leaves git and validation to runners.

Run it with `python examples/maverick/later/workflow.py`: it works in a temporary directory.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from remit import CallDenied, GitRunner, Guard, InvalidToolError, ValidationRunner

POLICY = Path(__file__).with_name("remit.yaml")


class MaverickAgent:
    """An agent of the workflow: its tools are checked when it is made."""

    def __init__(self, guard: Guard, name: str, allowed_tools: list[str]) -> None:
        guard.check_tools(name, allowed_tools)
        self.name, self.allowed_tools = name, allowed_tools


def refused(guard: Guard, name: str, *tools: str) -> str:
    """Why an agent can't be made."""
    try:
        MaverickAgent(guard, name, list(tools))
    except InvalidToolError as error:
        return str(error)
    return "made"


def main() -> None:
    """Makes agents, then a commit."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "project")
        root.mkdir()
        (root / "remit.yaml").write_text(POLICY.read_text("utf-8"), "utf-8")
        guard = Guard(root / "remit.yaml", state=Path(folder, "state"))
        git = GitRunner(guard, author=("Maverick", "maverick@example.com"))
        validation = ValidationRunner(guard, {"lint": ["ruff", "check", "src"]})
        with guard:
            print("ImplementerAgent:", refused(guard, "ImplementerAgent", "Read", "Write", "Edit", "Glob", "Grep"))
            print("with Bash:", refused(guard, "ImplementerAgent", "Read", "Bash"))
            print("with UnknownTool:", refused(guard, "ImplementerAgent", "UnknownTool")[:60], "…")
            subprocess.run(["git", "init", "--quiet", "--initial-branch=main", root], check=True)
            (root / "app.py").write_text("print('hello')\n", "utf-8")
            git.add("app.py")
            print(git.commit("it's a start").out.splitlines()[0])
            try:
                with guard.agent("ImplementerAgent"):
                    git.commit("by an agent")
            except CallDenied as denied:
                print("denied:", denied)
            print("stages:", *validation.stages)


if __name__ == "__main__":
    main()
