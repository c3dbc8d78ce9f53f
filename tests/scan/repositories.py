"""Invented repositories that imitate what teams keep: written by hand for these tests."""

from __future__ import annotations

from pathlib import Path

REVIEWER = """---
name: code-reviewer
description: Reviews code. You are strictly read-only.
tools: Read, Grep, Glob, Bash
---
You are a read-only reviewer.
"""


def write(root: Path, files: dict[str, str]) -> Path:
    """The files below a root."""
    for path, text in files.items():
        full = root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, "utf-8")
    return root


def definition(name: str, tools: str | None, body: str = "Do the work.", description: str = "Works") -> str:
    line = "" if tools is None else f"tools: {tools}\n"
    return f"---\nname: {name}\ndescription: {description}\n{line}---\n{body}\n"


MATRIX = """# Access matrix

What each of all four agents may use.

| Tool | Lead | Dig | Build | CheckRep |
|---|---|---|---|---|
| read_file | ✅ | ✅ | ✅ | ✅ |
| create_file | ❌ | 🔒 | ✅ | 🔒 |
| run_in_terminal | ❌ | ❌ | ✅ | ✅ |
| memory | ✅ | ❌ | ❌ | ❌ |

## Lead

- **3 allowed:** read_file, memory, agent/runSubagent

## Digger

- **2 allowed:** read_file, create_file 🔒
- **create_file 🔒** — `notes/*.md` only

## Builder

- **3 allowed:** read_file, create_file, run_in_terminal
- Full tool access. No limits.

## Check Reporter

- **4 allowed:** read_file, create_file 🔒, run_in_terminal
- **create_file 🔒** — `reports/*.md` only
"""

CALLERS = """# Who calls what

```typescript
export enum Caller {
    LEAD = 'lead',
    WORKER = 'worker',
}
```

```typescript
writeDisk: {
    accessibleBy: [Caller.LEAD, Caller.HELPER]
}
```

| Tool Name | Access Permissions | Description |
|---|---|---|
| **readDisk** | `LEAD`<br/>`WORKER` | reads |
| **writeDisk** | `WORKER` | writes |
| **search** | | finds |

| Caller Type | Tool Count | Percentage |
|---|---|---|
| **LEAD** | 2 | 67% |
| **WORKER** | 2 | 67% |
"""

RECORD = """# Records

agent_id: night-shift
permissions:
tools_allowed: [read_file, write_file]
tools_forbidden: [git_push]
skills_allowed: [from the preferred list]
last_reviewed: '2026-01-01'
"""
