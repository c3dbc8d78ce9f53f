"""A team's own settings, which no host reads: rights below the names of known agents in YAML, JSON or TOML.

```yaml
agents:
  scout: {tools: [Read, Grep], can_write: false, memory: {read: [notes/], write: [notes/scout/]}}
```

Keys are read as the headings of a document are. So are keys in the head of a definition that its host doesn't know.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

from remit.declare.nodes import from_python, parse
from remit.forms.nodes import LIST, MAP, SCALAR, Node
from remit.model.errors import PolicyError
from remit.scan.files import Text
from remit.scan.front_matter import LARGEST
from remit.scan.grids import Paths, is_path, path_label
from remit.scan.model import Account, Place
from remit.scan.names import Names, key_of
from remit.scan.phrases import topic
from remit.scan.statements import ELSEWHERE, Statements
from remit.scan.vocabulary import words

_DEEPEST = 6
_MOST = 500
_NAMED = ("id", "agent_id", "agent", "name", "role", "key")
"""Keys whose value names the agent in a list of agents."""


def read_config(text: Text, statements: Statements) -> tuple[list[Account], list[Paths]]:
    """What a file of settings says of known agents, as accounts and as lists of paths."""
    root = _parsed(text)
    accounts: list[Account] = []
    paths: list[Paths] = []
    for agent, node in list(_members(root, statements, 0))[:_MOST] if root is not None else ():
        for one in _rights(agent, node, statements, Text(text.path, ""), 0, elsewhere=False):
            if isinstance(one, Paths):
                paths.append(one)
            else:
                accounts.append(one)
    return accounts, paths


def own_keys(account: Account, text: Text) -> Iterator[Account]:
    """What the head of a definition says of its own agent's rights under keys that no host reads."""
    head = text.text[:LARGEST].lstrip("\ufeff").removeprefix("---\n").partition("\n---")[0]
    try:
        node = parse(head, "head") if account.recovered is None else None
    except (PolicyError, RecursionError):
        return
    reader = Statements(Names([account.agent]))
    if node is None or not isinstance(node.value, dict):
        return
    for key, value in node.value.items():
        if key not in words("host_keys", ""):
            found = _right(account.agent, key, value, Place(text.path, node.keys[key][0] + 1), reader)
            yield from (one for one in found if isinstance(one, Account))


def _parsed(text: Text) -> Node | None:
    try:
        if text.path.endswith(".toml"):
            return from_python(tomllib.loads(text.text), text.path)
        return parse(text.text, text.path)
    except (PolicyError, RecursionError, tomllib.TOMLDecodeError):
        return None


def _members(node: Node, statements: Statements, depth: int) -> Iterator[tuple[str, Node]]:
    """The known agents of a mapping by their names, or of a list of mappings that name them."""
    if depth > _DEEPEST:
        return
    if node.kind is MAP:
        inner = [(statements.known.by_key.get(_key(key)), value) for key, value in node.value.items()]
    elif node.kind is LIST:
        inner = [(_name(item, statements), item) for item in node.value[:_MOST]]
    else:
        return
    found = [(name, value) for name, value in inner if name is not None and value.kind is MAP]
    if len(found) > 1 and 2 * len(found) >= len(inner):
        yield from found
    else:
        for _, value in inner[:_MOST]:
            yield from _members(value, statements, depth + 1)


def _key(written: str) -> str:
    return key_of(written.replace("_", "-"))


def _name(node: Node, statements: Statements) -> str | None:
    named = [node.value.get(key) for key in _NAMED] if node.kind is MAP else []
    texts = [one.value for one in named if one is not None and one.kind is SCALAR]
    return next((name for one in texts if (name := statements.known.by_key.get(_key(one))) is not None), None)


def _rights(
    agent: str, node: Node, statements: Statements, text: Text, depth: int, *, elsewhere: bool
) -> Iterator[Account | Paths]:
    for key, value in node.value.items():
        place = Place(text.path, max(1, node.keys.get(key, (1, 1))[0]))
        if value.kind is MAP and depth < 3:
            other = elsewhere or ELSEWHERE.search(_spaced(key)) is not None
            yield from _rights(agent, value, statements, text, depth + 1, elsewhere=other)
        else:
            found = _right(agent, key, value, place, statements)
            yield from (one for one in found if not elsewhere or isinstance(one, Paths))


def _right(agent: str, key: str, value: Node, place: Place, statements: Statements) -> Iterator[Account | Paths]:
    """What one key says: a list of paths, or what a heading with these words would say."""
    label = _spaced(key)
    items = value.value if value.kind is LIST else [value]
    if not items or any(one.kind is not SCALAR for one in items):
        return
    told = [str(one.value) for one in items]
    right = path_label(label)
    if right is not None and value.kind is LIST and all(is_path(one) for one in told):
        yield Paths(agent, *right, tuple(told[:_MOST]), place)
        return
    yes = value.scalar() if value.kind is SCALAR else None
    about = topic(label)
    if isinstance(yes, bool):
        yield from statements.switched(agent, label, about, yes, place)
    elif about in ("tools", "denied", "posture") or label in words("config_keys", "posture"):
        yield from statements.interpreted(agent, label, about or "posture", ", ".join(told), place)


def _spaced(key: str) -> str:
    return re.sub(r"[_\s-]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key)).strip().lower()
