"""The toy host itself: it reads its settings, runs its hooks before and after each tool, and obeys them.

    python program.py ROOT < calls.jsonl

A line is a call, `{"tool": "Write", "args": {…}, "who": null}`, and each is answered by a line that says what became of
it. As most hosts do, it runs the tool if the hook fails.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    root = Path(sys.argv[1])
    for number, line in enumerate(sys.stdin):
        call = json.loads(line)
        told = {"run": f"run-{os.getpid()}", "step": f"step-{number}", "who": call.get("who"), "dir": str(root)}
        told["call"] = {"name": call["tool"], "with": call["args"]}
        code, said = hook(root, "before", {"event": "tool.before", **told})
        if code in (2, 3):
            print(json.dumps({"ran": False, "code": code, "said": said}))
            continue
        try:
            result = run(root, call["tool"], call["args"])
            hook(root, "after", {"event": "tool.after", **told})
            print(json.dumps({"ran": True, "code": code, "result": result}))
        except OSError as error:
            hook(root, "failed", {"event": "tool.failed", **told})
            print(json.dumps({"ran": False, "code": code, "said": str(error)}))


def hook(root: Path, when: str, event: dict[str, Any]) -> tuple[int, str]:
    """The strictest of all hooks for an event: its exit code and what it wrote to stderr."""
    found = (0, "")
    files = [Path(os.environ.get("TOY_HOME", "/nonexistent")) / "toyrc", root / "toyrc"]
    lines = [line for path in files if path.is_file() for line in path.read_text("utf-8").splitlines()]
    for line in lines if "hooks off" not in lines else []:
        word, _, command = line.partition(" ")
        if word == when:
            words = ["/bin/sh", "-c", command]
            done = subprocess.run(words, input=json.dumps(event).encode(), capture_output=True, cwd=root, check=False)
            found = max(found, (done.returncode, done.stderr.decode("utf-8", "replace")))
    return found


def run(root: Path, tool: str, args: dict[str, Any]) -> str:
    """The tools. Raises OSError."""
    if tool == "Read":
        return (root / args["file_path"]).read_text("utf-8")
    if tool == "Write":
        (root / args["file_path"]).write_text(args["content"], "utf-8")
        return "written"
    if tool == "Bash":
        words = ["/bin/sh", "-c", args["command"]]
        return subprocess.run(words, cwd=root, capture_output=True, text=True, check=False).stdout
    raise OSError(f"no tool {tool}")


if __name__ == "__main__":
    main()
