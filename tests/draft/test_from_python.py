"""`remit init --python`: the tools and agents of programs in the idioms of the frameworks, read and never run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.declare.nodes import parse
from remit.draft.from_python import draft_from_python, policy_name
from remit.draft.python_program import read_program
from remit.forms.texts import plain
from remit.model.errors import InputError

LANGGRAPH = '''
from langchain_core.tools import tool, StructuredTool
from langgraph.prebuilt import create_react_agent, ToolNode
from typing import Annotated, Literal
from langgraph.prebuilt import InjectedState

@tool
def multiply(a: int, b: int) -> int:
    """Multiply."""
    return a * b

@tool("read_notes", return_direct=True)
def notes(path: str, lines: int = 10, state: Annotated[dict, InjectedState] = None) -> str:
    with open(path) as file:
        return file.read()[:lines]

def weather(city: str, unit: Literal["c", "f"] = "c") -> str:
    return client.lookup(city, unit)

extra = StructuredTool.from_function(func=weather, name="get_weather")
base = [multiply, notes]
agent = create_react_agent("model", [*base, extra], name="helper")
'''
OPENAI = """
from agents import Agent as Worker, Runner, RunContextWrapper, function_tool, handoff

@function_tool
async def fetch(ctx: RunContextWrapper[None], url: str) -> str:
    return requests.get(url).text

@function_tool(name_override="refund_order")
def refund(order: str, amount: float, tags: list[str] | None = None) -> str:
    return api.refund(order, amount)

support = Worker(name="Support Agent", instructions="x", tools=[refund, fetch])
triage = Worker(name="Triage", handoffs=[handoff(support)])
"""
PYDANTIC = """
from pydantic_ai import Agent, RunContext
dice = Agent("openai:x", deps_type=str, system_prompt="x")

@dice.tool_plain
def roll() -> str:
    import random
    return str(random.randint(1, 6))

@dice.tool
async def player(ctx: RunContext[str], upper: bool) -> str:
    return ctx.deps
"""
CREWAI = """
from crewai import Agent
from crewai.tools import BaseTool

class Lookup(BaseTool):
    name: str = "lookup_word"
    def _run(self, word: str) -> str:
        return word.upper()

researcher = Agent(role="Senior Researcher", tools=[Lookup()])
"""
PLAIN = """
def search(query: str, limit: int = 5) -> list[str]:
    return index.find(query, limit)

def remove(path: str) -> None:
    import os
    os.remove(path)

agent = Agent(name="bot", model="x", tools=[search, remove])
"""


def drafted(tmp_path: Path, text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The draft as data, which loads, and what a person has to decide."""
    (tmp_path / "app.py").write_text(text)
    draft = draft_from_python(tmp_path / "app.py")
    data: dict[str, Any] = plain(parse(draft.policy, "remit.yaml"))
    build_rulebook(data)
    return data, draft.decisions


OPEN = {"does": {"write": {"records": "program"}}, "tier": 3}


def test_langgraph(tmp_path: Path) -> None:
    data, decide = drafted(tmp_path, LANGGRAPH)
    assert data["tools"] == {
        "multiply": {"args": {"a": "number", "b": "number"}, "does": "nothing"},
        "read_notes": {"args": {"path": "path", "lines": "number"}, "optional": ["lines"], "does": {"read": "path"}},
        "get_weather": {"args": {"city": "text", "unit": {"one_of": ["c", "f"]}}, "optional": ["unit"], **OPEN},
    }
    assert data["agents"] == {
        "helper": {"may": ["multiply", "read_notes", "get_weather"], "must_ask": ["get_weather"]},
    }
    assert decide == (
        "`read_notes` (app.py:13): annotate `path: FilePath` at the function",
        "`get_weather` (app.py:17): what it does; its text leaves open what `client.lookup(city, unit)` does",
    )


def test_openai_agents(tmp_path: Path) -> None:
    data, decide = drafted(tmp_path, OPENAI)
    assert data["tools"]["fetch"] == {"args": {"url": "url"}, "does": {"network": "url"}}
    assert data["tools"]["refund_order"]["args"] == {"order": "text", "amount": "number", "tags[]": "text"}
    assert data["agents"] == {
        "support-agent": {"may": ["refund_order", "fetch"], "must_ask": ["refund_order"]},
        "Triage": {"may": [], "delegates_to": ["support-agent"]},
    }
    assert '`Support Agent` is `support-agent` in the policy: with guard.agent("support-agent")' in decide


def test_pydantic_ai(tmp_path: Path) -> None:
    data, _ = drafted(tmp_path, PYDANTIC)
    assert data["tools"] == {
        "roll": {"args": {}, "does": "nothing"},
        "player": {"args": {"upper": "flag"}, **OPEN},
    }
    assert data["agents"] == {"dice": {"may": ["roll", "player"], "must_ask": ["player"]}}


def test_classes(tmp_path: Path) -> None:
    data, _ = drafted(tmp_path, CREWAI)
    assert data["tools"] == {"lookup_word": {"args": {"word": "text"}, "does": "nothing"}}
    assert data["agents"] == {"senior-researcher": {"may": ["lookup_word"]}}


def test_plain_functions(tmp_path: Path) -> None:
    data, _ = drafted(tmp_path, PLAIN)
    assert data["tools"]["remove"] == {"args": {"path": "path"}, "does": {"delete": "path"}}
    assert data["tools"]["search"] == {"args": {"query": "text", "limit": "number"}, "optional": ["limit"], **OPEN}
    assert data["agents"] == {"bot": {"may": ["search", "remove"], "must_ask": ["search"]}}


def test_no_agent_is_one_agent(tmp_path: Path) -> None:
    data, decide = drafted(tmp_path, "@mcp.tool()\ndef add(a: int, b: int) -> int:\n    return a + b\n")
    assert data["agents"] == {"agent": {"may": ["add"]}}
    assert decide == ("the agent's name: none was found, so the draft has one agent with every tool",)


NOT_NOTHING = {
    "a global": "return TABLE[x]",
    "a call": "return lookup(x)",
    "an import": "import evil\n    return evil.run(x)",
    "eval": "return eval(x)",
    "getattr": "return getattr(x, 'y')()",
    "an argument called": "return x()",
    "a shadowed builtin": "return len(x)",
    "an attribute set": "x.y = 1",
    "global": "global COUNT\n    COUNT = 1",
    "a rename of a path": "return Path(x).replace('y')",
    "a rename through a name": "p = Path(x)\n    return p.replace('y')",
    "a path below": "(Path(x) / 'a').write_text('b')",
    "open of another": "return open('/etc/passwd').read()",
    "open in a mode of its own": "return open(x, x).read()",
    "await": "await x",
    "the object": "return self.client.get(x)",
    "a comprehension": "return [send(y) for y in x]",
    "a lambda": "return (lambda: send(x))()",
    "an f-string": "return f'{send(x)}'",
    "a default of a call": "return sorted(x, key=send)",
    "with": "with lock: return x",
}


@pytest.mark.parametrize("body", NOT_NOTHING)
def test_only_what_the_text_proves_does_nothing(body: str) -> None:
    text = f"from pathlib import Path\nfrom evil import len\n@tool\nasync def f(x: str):\n    {NOT_NOTHING[body]}\n"
    effects = read_program([("a.py", text)]).tools["f"].effects
    assert not effects.told, effects


@pytest.mark.parametrize(
    "body",
    [
        "return x + y",
        "return f'{x}: {len(y)}'",
        "words = x.split()\n    return ' '.join(sorted(words))",
        "return [one.upper() for one in x if one]",
        "if x: return str(y)\n    return json.dumps({'x': x})",
        "print(x)",
    ],
)
def test_what_only_computes(body: str) -> None:
    found = read_program([("a.py", f"import json\n@tool\ndef f(x: str, y: str):\n    {body}\n")])
    assert found.tools["f"].effects.told
    assert found.tools["f"].effects.on == {}


def test_another_decorator_could_do_anything() -> None:
    found = read_program([("a.py", "@tool\n@logged('db')\ndef f(x: int):\n    return x\n")])
    assert found.tools["f"].effects.unknown == ("@logged",)


def test_nothing_runs(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    text = f"open({str(mark)!r}, 'w')\n@tool\ndef f(x: int = open({str(mark)!r}, 'w')):\n    return x\n"
    drafted(tmp_path, text)
    assert not mark.exists()


def test_files_of_a_folder_are_read_together(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("@tool\ndef add(a: int) -> int:\n    return a\n\nall_tools = [add]\n")
    (tmp_path / "main.py").write_text("from tools import all_tools\na = Agent(name='adder', tools=all_tools)\n")
    (tmp_path / "bad.py").write_text("def (:\n")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "x.py").write_text("@tool\ndef never(a: int): ...\n")
    draft = draft_from_python(tmp_path)
    assert plain(parse(draft.policy, "p"))["agents"] == {"adder": {"may": ["add"]}}
    assert draft.decisions == ("bad.py: not read: invalid syntax",)


def test_what_a_policy_can_not_hold_is_left_out_and_said(tmp_path: Path) -> None:
    text = "@tool\ndef ok(a: int): return a\n@tool('sök')\ndef b(a: int): return a\n@tool\ndef c(*args): return 1\n"
    data, decide = drafted(tmp_path, text + "@tool\ndef d(ö: int): return 1\n@tool\ndef e(a, b=1): return a\n")
    assert list(data["tools"]) == ["ok", "e"]
    assert [one.partition(")")[0] for one in decide[:3]] == ["`sök` (app.py:4", "`c` (app.py:6", "`d` (app.py:8"]
    assert "`e` (app.py:10): `a` has no annotation; drafted as json" in decide


@pytest.mark.parametrize("text", ["", "x = 1\n", "def f(a: int): ...\n", "\0", "(" * 5000])
def test_no_tools(text: str, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(text)
    with pytest.raises(InputError, match="no tools found"):
        draft_from_python(tmp_path / "app.py")


def test_the_draft_is_what_a_guard_takes_the_functions_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever puts `@guard.tool()` on the functions finds no contradiction between them and the draft."""
    text = (
        "from typing import Literal, Optional, Annotated\nfrom pathlib import Path\nfrom remit import FilePath, Guard\n"
        "guard = Guard({policy})\n"
        "@guard.tool()\ndef one(a: str, b: int = 1, c: Optional[float] = None, d: Literal['x', 'y'] = 'x') -> str:\n"
        "    return a\n"
        "@guard.tool()\ndef two(p: FilePath, q: list[str], r: dict[str, int] | None = None,\n"
        "        s: Annotated[bool, 'z'] = True):\n"
        "    p.write_text('x')\n"
        "@guard.tool()\ndef three(x: Path, y: list[dict[str, str]], z: 'str' = ''):\n    return anything(x)\n"
    )
    data, _ = drafted(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    exec(text.replace("{policy}", repr(data)), space)  # noqa: S102  # a program of our own
    with space["guard"] as guard:
        assert sorted(guard.declarations) == ["one", "three", "two"]


@pytest.mark.parametrize(
    ("name", "kept"), [("Support Agent", "support-agent"), ("a.b", "a.b"), ("ü", "agent"), ("human", "human-agent")]
)
def test_names_of_agents(name: str, kept: str) -> None:
    assert policy_name(name) == kept
