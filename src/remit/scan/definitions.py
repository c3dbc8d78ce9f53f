"""Agent definitions of hosts: which file is one, whose it is, and what it lets the agent use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from remit.scan.answers import ASK, answers, settled
from remit.scan.claims import all_tools_claim, read_only_claim, writes_reports
from remit.scan.files import Text
from remit.scan.front_matter import Head, read_head
from remit.scan.handovers import listed_in
from remit.scan.model import Account, Command, Entry, Extent, Kind, Mark, Place
from remit.scan.names import is_blank
from remit.scan.vocabulary import Layout, capability, layouts, split_scope, tokens, words

_NAMED_FOR_IT = re.compile(r"(?:^|/)\.github/(?:.+/)?[^/]+\.(?:agent|chatmode)\.md$")
_HIDDEN = "|".join(sorted(re.escape(one) for one in words("team_folders", "") if one.startswith(".")))
_ARCHIVED = re.compile(
    r"/(?:agents?|chatmodes)/(?:[^/]+/)*[_.]?(?:archived?|archives|deprecated|backup|old)/"
    rf"|/[_.]?(?:archived?|archives|deprecated|legacy|backups?|old)/(?:[^/]+/)*(?:{_HIDDEN})/",
    re.IGNORECASE,
)
_EVERYTHING = frozenset({"*", "all", "inherit"})


def is_archived(path: str) -> bool:
    """Whether a file lies in a folder of agents that were put away, or in a program's folder that was."""
    return _ARCHIVED.search(f"/{path}") is not None


def layout_of(path: str) -> Layout | None:
    """The layout of a definition at this path; None if it can't be one."""
    if _is_never(path):
        return None
    return next((layout for layout in layouts("definitions") if layout.path.search(f"/{path}")), None)


def _is_never(path: str) -> bool:
    return any(re.search(pattern, f"/{path}", re.IGNORECASE) for pattern in words("never_definitions", ""))


def is_headless(text: Text) -> bool:
    """Whether a file lies where a host looks for definitions, and has no head."""
    layout = layout_of(text.path)
    return (
        layout is not None
        and layout.certain
        and not text.link
        and not is_archived(text.path)
        and not _needs_no_head(text.path)
        and read_head(text.text) is None
    )


def _needs_no_head(path: str) -> bool:
    """Whether a file at this path is an agent for its host, whatever is in it."""
    layout = layout_of(path)
    return layout is not None and (layout.headless or _NAMED_FOR_IT.search(path) is not None)


def read_definition(text: Text) -> Account | None:
    """What a definition says; None if the file is none."""
    head = read_head(text.text) if text.path.endswith(".md") and text.text.startswith(("---", "\ufeff---")) else None
    if head is None and _needs_no_head(text.path):
        head = Head({}, {}, text.text, 1)  # the name of the file is enough: an agent without a list
    if head is None:
        return None
    layout = _by_head(head) if text.path.endswith(".md") and not _is_never(text.path) else None
    layout = layout or layout_of(text.path)
    if layout is None:
        if text.link:
            return None  # no host looks here, and what it leads to is read where it lies
        # a collection: any folder, but a head that no other file has
        named = {"name", "description", "tools"} <= set(head.values) and not _is_never(text.path)
        listed = _names(head.values.get("tools")) or []
        if not named or not any(capability(name) != "unknown" for name, _ in listed):
            return None
    elif is_archived(text.path) or (
        not layout.certain and (not {"name", "description"} <= set(head.values) or _is_kept_away(text.path))
    ):
        return None
    if isinstance(head.values.get("name"), (dict, list)) or is_blank(str(head.values.get("name"))):
        return None  # `name: {agent-name}`: a template
    if head.values and not {"name", "description", "tools"} & set(head.values) and not head.recovered:
        return None  # a page with a head of its own
    host = layout.host if layout is not None else next(iter(words("collections", "")))
    form = layout.form if layout is not None else "list"
    name = head.values.get("name")
    stem = re.sub(r"\.(agent|chatmode)$", "", text.path.rpartition("/")[2].removesuffix(".md"))
    shown = str(name).strip() if isinstance(name, str) and name.strip() else stem
    extent, entries = _tools(head, text.path, form)
    return Account(
        agent=shown,
        kind=Kind.DEFINITION,
        place=Place(text.path, head.line("name")),
        extent=extent,
        entries=tuple(entries),
        host=host,
        read_only=read_only_claim(head, text.path),
        all_tools=all_tools_claim(head, text.path),
        reports=writes_reports(head),
        gated=head.values.get("permissionMode") == "plan",
        taken=_taken(head, entries),
        hands_to=_hands_to(head, text.path, entries),
        lists=listed_in(head.body[:200_000], text.path, head.body_line),
        offers=_named(head, text.path, "handoffs"),
        commands=_commands(head, text, entries),
        mode=mode if isinstance(mode := head.values.get("mode"), str) and form == "takes away" else None,
        recovered=head.recovered,
    )


def _by_head(head: Head) -> Layout | None:
    """The layout that only one program has, wherever the file lies: its own words for `mode`."""
    switches, mode = head.values.get("tools"), head.values.get("mode")
    own = isinstance(head.values.get("permission"), dict) or (
        isinstance(switches, dict) and bool(switches) and all(isinstance(one, bool) for one in switches.values())
    )
    own = own or (mode in ("subagent", "primary") and switches is None)
    if mode not in ("subagent", "primary", "all") or not own or "description" not in head.values:
        return None
    return next(layout for layout in layouts("definitions") if layout.form == "takes away")


def _tools(head: Head, path: str, form: str) -> tuple[Extent, list[Entry]]:
    key = next((key for key in ("tools", "allowed-tools", "allowedTools", "allowed_tools") if key in head.values), None)
    denied = [
        Entry(tool, Mark.NO, Place(path, head.line(name)), scope)
        for name in ("disallowedTools", "disallowed-tools", "disallowed_tools")
        for tool, scope in _names(head.values.get(name)) or []
    ]
    if form == "takes away":
        return _takes_away(head, path, denied)
    if head.values.get("readonly") is True:
        return Extent.LIST, [Entry("read", Mark.YES, Place(path, head.line("readonly"))), *denied]
    if key is None:
        return (Extent.UNCLEAR if head.recovered and _mentions_tools(head) else Extent.EVERYTHING), denied
    place = Place(path, head.line(key))
    value = head.values[key]
    if value is None:
        return Extent.EVERYTHING, denied  # `tools:` with nothing behind it; hosts take it for absent
    names = _names(value)
    if names is None:
        return Extent.UNCLEAR, denied
    if any(name.lower() in _EVERYTHING for name, _ in names):
        return Extent.EVERYTHING, denied
    refused = {entry.tool for entry in denied if entry.scope is None}
    return Extent.LIST, [
        *(
            Entry(name, Mark.YES if scope is None else Mark.SCOPED, place, scope)
            for name, scope in dict.fromkeys(names)
            if name not in refused
        ),
        *denied,
    ]


def _taken(head: Head, entries: list[Entry]) -> tuple[str, ...]:
    listed = {
        name for key in ("tools", "allowed-tools", "allowedTools") for name, _ in _names(head.values.get(key)) or []
    }
    return tuple(
        entry.tool for entry in entries if entry.mark is Mark.NO and entry.scope is None and entry.tool in listed
    )


def _is_kept_away(path: str) -> bool:
    """Whether a file lies in a folder of agents that holds no agents: an archive, templates."""
    parts = path.lower().split("/")[:-1]
    if any(part in words("not_agents_at_all", "") for part in parts):
        return True
    below = parts[len(parts) - parts[::-1].index("agents") :] if "agents" in parts else ()
    return any(part in words("not_agents", "") for part in below)


def _hands_to(head: Head, path: str, entries: list[Entry]) -> tuple[tuple[str, Place], ...]:
    """The agents that an agent can start: `agents: […]`, `Task(a, b)`, `permission: {task: {…}}`."""
    found = list(_named(head, path, "agents"))
    permission = head.values.get("permission")
    task = permission.get("task") if isinstance(permission, dict) else None
    if isinstance(task, dict) and task.get("*") == "deny":
        may = [str(name) for name, answer in task.items() if answer in ("allow", "ask") and "*" not in str(name)]
        found += [(name, Place(path, head.line("permission"))) for name in may]
    for entry in entries:
        if entry.scope not in (None, ASK) and entry.mark is Mark.SCOPED and capability(entry.tool) == "delegate":
            found += [(name, entry.place) for name in tokens(entry.scope or "")]
    return tuple(dict.fromkeys(found))


def _named(head: Head, path: str, key: str) -> tuple[tuple[str, Place], ...]:
    """The agents in a list of names, or of `{agent: …}`."""
    value = head.values.get(key)
    items = [one for one in value if isinstance(one, dict) or not head.recovered] if isinstance(value, list) else []
    names = (item.get("agent") if isinstance(item, dict) else item for item in items)
    return tuple(
        (name.strip(), Place(path, head.line(key))) for name in names if isinstance(name, str) and name.strip()
    )


def _mentions_tools(head: Head) -> bool:
    return any("tools" in key.lower() for key in head.values)


def _takes_away(head: Head, path: str, denied: list[Entry]) -> tuple[Extent, list[Entry]]:
    """The agent has everything but what `tools: {x: false}` or `permission: {x: deny}` takes away."""
    found: list[Entry] = []
    permission = head.values.get("permission")
    ruled = set(permission) if isinstance(permission, dict) else set()  # what it says wins over `tools: {x: true}`
    ruled |= {"write", "patch", "multiedit"} if "edit" in ruled else set()
    for key in ("tools", "permission"):
        value = head.values.get(key)
        if isinstance(value, dict):
            for tool, setting in value.items():
                if key == "tools" and setting in (True, "allow") and tool in ruled:
                    continue
                found += answers(str(tool), setting, Place(path, head.line(key)))
    found = [*denied, *settled(found)]
    nothing = [one for one in found if one.tool == "*" and one.mark is Mark.NO]
    if nothing:  # everything is taken away but what is named
        return Extent.LIST, [one for one in found if one not in nothing]
    return Extent.EVERYTHING, found


def _commands(head: Head, text: Text, entries: list[Entry]) -> tuple[Command, ...]:
    """The patterns of commands: `permission: {bash: {"git log*": allow}}`, `Bash(git log:*)`."""
    permission = head.values.get("permission")
    shell = permission.get("bash") if isinstance(permission, dict) else None
    ruled = []
    for pattern, answer in shell.items() if isinstance(shell, dict) else ():
        line = text.text.count("\n", 0, max(0, text.text.find(str(pattern)))) + 1
        ruled.append(Command(str(pattern), str(answer), Place(text.path, line)))
    scoped = [
        Command(one.strip(), "allow" if entry.mark is Mark.SCOPED else "deny", entry.place)
        for entry in entries
        if entry.scope not in (None, "ask", "by pattern") and capability(entry.tool) == "shell"
        for one in (entry.scope or "").split(",")
    ]
    return (*ruled, *sorted(scoped, key=lambda one: one.answer == "deny"))


def _names(value: Any) -> list[tuple[str, str | None]] | None:
    """The tools of a value in any of its forms; None for one that can't be read."""
    if value is None:
        return []
    return [split_scope(token) for token in found] if (found := _flat(value, 0)) is not None else None


def _flat(value: Any, depth: int) -> list[str] | None:
    if depth > 4:
        return None
    if isinstance(value, str):
        words = tokens(value.strip().strip("[]"))
        # "Read Write Bash": blanks alone between names of tools
        if len(words) == 1 and re.fullmatch(r"[A-Z]\w+(?: [A-Z]\w+)+", words[0]):
            return words[0].split(" ")
        return words
    if isinstance(value, list):
        found: list[str] = []
        for item in value:
            part = _flat(item["name"] if isinstance(item, dict) and "name" in item else item, depth + 1)
            if part is None:
                return None
            found += part
        return found
    if isinstance(value, dict):
        if value and all(isinstance(item, bool) for item in value.values()):
            return [str(tool) for tool, on in value.items() if on]
        if all(isinstance(item, (list, str)) for item in value.values()):
            return _flat(
                [item for items in value.values() for item in (items if isinstance(items, list) else [items])],
                depth + 1,
            )
    return None


def definitions(texts: list[Text]) -> Iterator[Account]:
    """The definitions among the texts."""
    for text in texts:
        found = read_definition(text)
        if found is not None:
            yield found
