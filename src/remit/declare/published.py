"""The tools that programs publish: `remit.tools.yaml` beside `remit.yaml`, written by `remit publish`.

remit: 1
published_by: ["app.py:guard"]
tools:
  create_file:
    args: {path: path, content: text}
    does: {write: path}

It belongs to the policy like an included file, but holds nothing except tools. People review it and never edit it: a
guard compares it with its functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from remit.declare import format as shape
from remit.declare.nodes import has_hidden, parse
from remit.forms.shapes import Field, ListOf, Reader, Record, Text
from remit.model.errors import PolicyError, Problem
from remit.model.text import shown

PROGRAM = re.compile(r"(?!-)[A-Za-z0-9_./-]{1,200}:[A-Za-z_][A-Za-z0-9_.]{0,100}")
"""`app.py:guard` or `package.module:guard`. It stands in commands that people copy, so it has no room for others."""
_HEAD = """\
# Tools that Python programs declare at their functions. `remit publish` writes this file; do not edit it.
# A guard whose functions say something else does not start.
"""
_ORDER = ("about", "args", "optional", "defaults", "does")
_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$./ -]*(?<! )")

record = Record(
    {
        "remit": shape.SHARED["remit"],
        "published_by": Field(
            ListOf(Text(PROGRAM.pattern, "a program such as app.py:guard"), single=True, some=True),
            "the programs whose functions these are",
            required=True,
        ),
        "tools": Field(shape.SHARED["tools"].shape, "their tools", required=True),
    },
    what="a file of published tools",
)


def published_name(policy: str) -> str:
    """The name of the file beside a policy of this name: `remit.yaml` has `remit.tools.yaml`."""
    return f"{policy.removesuffix('.yaml').removesuffix('.yml')}.tools.yaml"


def published_text(programs: Sequence[str], tools: Mapping[str, Mapping[str, Any]]) -> str:
    """The file for these tools, in an order that does not depend on the program's. Raises PolicyError.

    Whatever it says can be read back: it was.
    """
    data = {"remit": 1, "published_by": list(programs), "tools": {name: _tool(tools[name]) for name in sorted(tools)}}
    text = _HEAD + _dumped(data, readable=True)
    if has_hidden(text):
        text = _HEAD + _dumped(data, readable=False)
    reader = Reader()
    record.read(parse(text, "published tools"), reader)
    reader.finish()
    return text


def _tool(told: Mapping[str, Any]) -> dict[str, Any]:
    keys = [*(key for key in _ORDER if key in told), *(key for key in told if key not in _ORDER)]
    found = {key: _plain(told[key]) for key in keys}
    if "about" in found:
        found["about"] = shown(found["about"], 500)
    if isinstance(found.get("does"), dict):
        found["does"] = {key: one[0] if len(one) == 1 else one for key, one in _lists(found["does"])}
    return found


def _lists(does: Mapping[str, Any]) -> list[tuple[str, list[Any]]]:
    return [(key, one if isinstance(one, list) else [one]) for key, one in does.items()]


def _plain(value: Any) -> Any:
    """Without subclasses, which YAML would write as what they are in Python."""
    if isinstance(value, Mapping):
        return {str.__str__(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str.__str__(value) if isinstance(value, str) else value


class _Dumper(yaml.SafeDumper):
    """Plain words bare, every other text quoted: what YAML 1.1 and 1.2 read differently never stands bare."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if _PLAIN.fullmatch(text) else '"')


_Dumper.add_representer(str, _text)


def _dumped(data: dict[str, Any], *, readable: bool) -> str:
    try:
        text: str = yaml.dump(
            data, Dumper=_Dumper, sort_keys=False, default_flow_style=None, allow_unicode=readable, width=120
        )
        text.encode()
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        what = f"can't be written as YAML: {shown(error, 200)}"
        raise PolicyError((Problem("bad-value", what, "published tools"),)) from None
    return text
