"""Entries for people and programs. INVARIANT: whatever an entry says is escaped and bounded before it is shown."""

from __future__ import annotations

import json
from typing import Any

from remit.cli.output import out, paint, write
from remit.model.text import shown

_HIDDEN_KEYS = frozenset({"v", "type", "at", "args", "writer", "statement", "effects", "chain"})


def out_ascii(value: Any) -> None:
    """A value for programs, in ASCII, so that a terminal is not steered by what it holds."""
    text = json.dumps(value, ensure_ascii=True, indent=2).replace("\x7f", "\\u007f")
    write(text.encode("ascii") + b"\n")


def out_line(seq: int, data: dict[str, Any]) -> None:
    """One entry in one line."""
    out(entry_line(seq, data) + "\n")


def entry_line(seq: int, data: dict[str, Any]) -> str:
    """`   12  2026-11-16 00:40:12  deny   researcher  write  out-of-scope  [remit.yaml:3:5]`."""
    kind = data.get("type")
    at = shown(data.get("at", ""), 24).replace("T", " ")[:19]
    place = f"{seq:>7}  {paint(at, 'dim')}"
    if kind == "intent":
        decision = str(data.get("decision"))
        word = paint(f"{shown(decision, 8):<7}", decision if decision in ("allow", "ask", "deny") else "bold")
        rule = f"  [{shown(data['rule'], 60)}]" if data.get("rule") else ""
        would = f"  would {shown(data['would'], 8)}" if data.get("would") else ""
        who = f"{shown(data.get('agent'), 40)}  {shown(data.get('tool'), 60)}  {shown(data.get('code'), 40)}"
        return f"{place}  {word}  {who}{would}{rule}"
    if kind == "outcome":
        error = f"  {shown(data['error'], 60)}" if data.get("error") else ""
        of = f"of {shown(data.get('intent'), 20)} ({shown(data.get('call'), 40)})"
        return f"{place}  {'outcome':<7}  {shown(data.get('result'), 12)}{error}  {of}"
    rest = "  ".join(f"{shown(name, 20)}={shown(_plain(value), 60)}" for name, value in _rest(data))
    return f"{place}  {shown(kind, 12):<7}  {rest}".rstrip()


def entry_text(seq: int, data: dict[str, Any], values: dict[str, Any] | None) -> str:
    """Everything that one entry says, a line for each field; with its values where they are handed over."""
    lines = [paint(f"entry {seq}", "bold")]
    for name, value in data.items():
        if name != "args" or not isinstance(value, dict) or isinstance(value.get("$c"), str):
            lines.append(f"  {shown(name, 40)}: {_value(name, value, values)}")
            continue
        lines.append("  args:")
        lines += [f"    {shown(arg, 60)}: {_value(f'args.{arg}', item, values)}" for arg, item in value.items()]
    return "".join(f"{line}\n" for line in lines)


def _value(path: str, value: Any, values: dict[str, Any] | None) -> str:
    if not isinstance(value, dict) or not isinstance(value.get("$c"), str):
        return shown(_plain(value), 2000)
    if values is None:
        return paint(f"committed to ({shown(value['$c'], 60)})", "dim")
    if path not in values:
        return paint("erased", "dim")
    return shown(_plain(values[path]), 2000)


def _rest(data: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in data.items() if name not in _HIDDEN_KEYS and value is not None]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
