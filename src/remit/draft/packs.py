"""From names that people write to the tools of a pack: itself, an alias, or a word for all tools of a kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache

from remit import catalog
from remit.declare.nodes import parse
from remit.forms.nodes import MAP
from remit.forms.texts import plain
from remit.scan.vocabulary import capability, capability_word, pack_of_host, tool_key, words


@cache
def names_of(pack: str) -> dict[str, str]:
    """Every tool of a pack by the form of each of its names."""
    found: dict[str, str] = {}
    tools = parse(catalog.text(f"packs/{pack}.yaml"), pack).value["tools"].value
    for name, node in tools.items():
        found.setdefault(tool_key(name), name)
        aliases = node.value.get("aliases") if node.kind == MAP else None
        for alias in aliases.value if aliases is not None else ():
            found.setdefault(tool_key(alias.value), name)
    return found


def pack_for(hosts: Iterable[str], tools: Iterable[str]) -> str | None:
    """The pack of the host that most definitions are for; without one, the pack that knows most of the tools."""
    known = [name for name in catalog.packs() if name != "remit"]
    counted: dict[str, int] = {}
    for host in hosts:
        name = pack_of_host(host)
        if name in known:
            counted[name] = counted.get(name, 0) + 1
    if counted:
        return max(sorted(counted), key=lambda name: counted[name])
    keys = {tool_key(tool) for tool in tools}
    best = max(known, key=lambda name: len(keys & names_of(name).keys()))
    return best if keys & names_of(best).keys() else None


def of_kind(pack: str, *kinds: str) -> list[str]:
    """The tools of a pack that can do something of these kinds."""
    return sorted({name for name in names_of(pack).values() if capability(name) in kinds})


def tools_for(token: str, pack: str) -> Sequence[str]:
    """The tools of a pack that a written name means; none if it means no tool there. `edit/createFile` is one of the
    toolset `edit`, and no more than that one; `server/edit` is a tool of a server."""
    names = names_of(pack)
    key = tool_key(token)
    if key in names:
        return [names[key]]
    before, slash, after = key.partition("/")
    if slash:
        if before not in words("toolsets", ""):
            return []
        return [names[after]] if after in names else _group(after, pack)
    if capability(token) in ("read", "search") and capability_word(token):
        return of_kind(pack, capability(token))
    return _group(key, pack) or sorted({tool for name, tool in names.items() if name.rpartition("/")[2] == key})


def _group(key: str, pack: str) -> list[str]:
    """The tools that a word for all of a kind means: without those that delete."""
    if key not in words("groups", ""):
        return []
    return [name for name in of_kind(pack, capability(key)) if not _deletes(name, pack)]


def is_alias(token: str, pack: str) -> bool:
    """Whether a written name is another name of a tool of a pack."""
    name = names_of(pack).get(tool_key(token))
    return name is not None and tool_key(name) != tool_key(token)


@cache
def _deletes(tool: str, pack: str) -> bool:
    """Whether a tool deletes files: a word such as `edit` grants none that does."""
    does = parse(catalog.text(f"packs/{pack}.yaml"), pack).value["tools"].value[tool].value.get("does")
    return does is not None and does.kind == MAP and "delete" in does.value


def shell_argument(tool: str, pack: str) -> str | None:
    """The argument of a tool that is a command for a shell."""
    return _argument(tool, pack, "shell") or _argument(tool, pack, {"shell": "new"})


def skill_argument(tool: str, pack: str) -> str | None:
    """The argument of a tool that names a skill."""
    return _argument(tool, pack, "skill")


def _argument(tool: str, pack: str, kind: object) -> str | None:
    return next((name for name, given in _arguments(tool, pack).items() if given == kind), None)


@cache
def _arguments(tool: str, pack: str) -> dict[str, object]:
    """The arguments of a tool with their kinds."""
    node = parse(catalog.text(f"packs/{pack}.yaml"), pack).value["tools"].value[tool].value.get("args")
    return {name: plain(kind) for name, kind in node.value.items()} if node is not None else {}


@cache
def host_of(pack: str) -> str | None:
    """The host whose hooks carry calls of these tools: of the same name, or one that lists the pack under `also`."""
    if pack in catalog.hosts():
        return pack
    found = (
        name
        for name in catalog.hosts()
        if pack in plain(parse(catalog.text(f"hosts/{name}.yaml"), name)).get("also", ())
    )
    return next(found, None)


def writing_call(pack: str, path: str, held: Collection[str]) -> tuple[str, dict[str, str]] | None:
    """A call of a pack that writes a file, of a held tool if one does: the tool and its arguments, as YAML."""
    tools = parse(catalog.text(f"packs/{pack}.yaml"), pack).value["tools"].value
    for name in sorted(of_kind(pack, "write"), key=lambda name: name not in held):
        arguments = tools[name].value["args"].value
        optional = (
            {item.value for item in node.value} if (node := tools[name].value.get("optional")) is not None else set()
        )
        needed = {key: kind.value for key, kind in arguments.items() if key not in optional}
        if sorted(needed.values()) == ["path", "text"] and all("[" not in key for key in needed):
            return name, {key: path if kind == "path" else "x" for key, kind in needed.items()}
    return None
