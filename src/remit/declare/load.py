"""Policy files → Policy: includes merged, packs brought in, every problem reported at once."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from remit import catalog
from remit.declare import format as shape
from remit.declare.callers import enforcement, halting
from remit.declare.files import read_text
from remit.declare.functions import update, with_functions
from remit.declare.gates import gate_terms
from remit.declare.nodes import from_python, parse
from remit.declare.people import named
from remit.declare.published import published_name
from remit.declare.published import record as published
from remit.declare.rules import rule_keys
from remit.forms.nodes import LIST, MAP, Node
from remit.forms.shapes import BAD, Reader
from remit.model.errors import PolicyError
from remit.model.policy import Caller, Policy, Question, Tool
from remit.model.text import as_text, did_you_mean, shown

_QUESTIONS = {"allow": Question("allow"), "deny": Question("deny")}


Functions = Mapping[str, Mapping[str, Any]]
"""Tools that a program declares at its functions, in the format of `tools`."""


def load_policy(
    path: str | os.PathLike[str],
    *,
    functions: Functions | None = None,
    published: str | None = None,
    more: Mapping[str, Any] | None = None,
) -> Policy:
    """The policy of a file with its includes and published tools. Raises PolicyError with everything that is wrong.

    `published` is read in the place of the file of published tools; empty, there are none. `more` is added like an
    included file.
    """
    file = Path(path)
    loading = _Loading(file.parent, functions)
    loading.file(file, as_text(file.name))
    loading.publication(file, published)
    loading.more(more)
    return loading.finish(default_name=as_text(file.absolute().parent.name))


def build_policy(
    data: Mapping[str, Any],
    *,
    name: str = "policy",
    functions: Functions | None = None,
    more: Mapping[str, Any] | None = None,
) -> Policy:
    """A policy built in Python, in the same format; `more` is added as above. Raises PolicyError."""
    loading = _Loading(None, functions)
    loading.document(from_python(dict(data), name), main=True)
    loading.more(more)
    return loading.finish(default_name=name)


def read_pack(name: str) -> dict[str, Tool]:
    """The tools of one pack, by name."""
    return dict(_read_pack(name, catalog.text(f"packs/{name}.yaml")))


@functools.lru_cache(maxsize=32)
def _read_pack(name: str, text: str) -> dict[str, Tool]:
    reader = Reader()
    data = shape.pack.read(parse(text, f"pack {name}"), reader)
    reader.finish()
    label = f"{data['pack']} {data['version']}"
    return {n: msgspec.structs.replace(tool, name=n, pack=label) for n, tool in data["tools"].items()}


class _Loading:
    """Collects the documents of one policy."""

    def __init__(self, directory: Path | None, functions: Functions | None = None) -> None:
        self.directory, self.functions = directory, functions or {}
        self.root: Path | None = None
        self.reader = Reader()
        self.main: dict[str, Any] = {}
        self.merged: dict[str, dict[str, Any]] = {k: {} for k in ("tools", "toolsets", "reserved", "callers")}
        self.lists: dict[str, list[Any]] = {k: [] for k in ("never", "grants", "protect", "labels", "use")}
        self.where: dict[tuple[str, str], str] = {}
        self.sources: list[str] = []
        self.published: dict[str, Tool] = {}
        self.published_by: tuple[str, ...] = ()
        self.stack: list[Path] = []

    def file(self, path: Path, name: str) -> None:
        """Read one file and those that it includes."""
        self.sources.append(name)
        try:
            node = parse(read_text(path, shown(name)), shown(name))
        except PolicyError as error:
            self.reader.problems.extend(error.problems)
            return
        self.stack.append(path.resolve())
        self.document(node, main=len(self.stack) == 1)
        self.stack.pop()

    def publication(self, policy: Path, text: str | None) -> None:
        """Read the tools that programs published beside the policy, if there are any."""
        name = published_name(policy.name)
        if text == "" or (text is None and not os.path.lexists(policy.with_name(name))):
            return
        self.sources.append(name)
        try:
            found = text if text is not None else read_text(policy.with_name(name), shown(name))
            values = published.read(parse(found, shown(name)), self.reader)
        except PolicyError as error:
            self.reader.problems.extend(error.problems)
            return
        if values is not BAD:
            self.published_by = values["published_by"]
            tools = values["tools"].items()
            self.published = {n: msgspec.structs.replace(tool, name=n, published=True) for n, tool in tools}

    def more(self, data: Mapping[str, Any] | None) -> None:
        """Read what a program adds while it runs."""
        if data:
            self.document(from_python({"remit": 1, **data}, "registered"), main=False)

    def document(self, node: Node, *, main: bool) -> None:
        """Read one document into what has been collected."""
        if "remit" in node.value and node.value["remit"].value != "1":
            self.reader.fail(node.value["remit"].at, "unknown-format", "this Remit reads `remit: 1` only")
            return
        if not main:
            for key in [key for key in node.value if key in shape.policy.fields and key not in shape.SHARED]:
                self.reader.fail(node.at_key(key), "misplaced-key", f"`{key}` belongs in the main file")
                del node.value[key]
        if main and "lists" in node.value and node.value["lists"].kind is MAP:
            self.reader.lists = dict(node.value["lists"].value)
        record = shape.policy if main else shape.included
        before = len(self.reader.problems)
        found = record.read(node, self.reader)
        if found is BAD:
            if len(self.reader.problems) == before:
                self.reader.fail(node.at, "bad-policy", "can't be read")
            return
        values: dict[str, Any] = found
        if main:
            self.main = values
            self._set_root(node)
        self._merge(values, node)
        for entry in values.get("include", ()):
            self._include(entry, _item_at(node.value["include"], entry))

    def _set_root(self, node: Node) -> None:
        if self.directory is None:
            if "include" in self.main:
                self.reader.fail(node.at, "bad-include", "a policy built in Python can't include files")
            return
        try:
            self.root = (self.directory / self.main.get("root", ".")).resolve()
            written = Path(self.main.get("root", "."))
            if not self.root.is_dir() and (self.root.exists() or not written.is_absolute()):
                raise NotADirectoryError  # an absolute one that is not there may be another machine's
        except (OSError, ValueError, RuntimeError):
            at = node.value["root"].at if "root" in node.value else node.at
            what = f"`{shown(self.main.get('root', '.'))}` is not a directory, so it can't be a root"
            self.reader.fail(at, "bad-root", what, "it is relative to the policy's own folder, such as `..`")

    def _merge(self, values: dict[str, Any], node: Node) -> None:
        for key, kind in (("agents", "agent"), ("roles", "role"), ("runners", "runner")):
            for name, caller in values.get(key, {}).items():
                tools = {n: self._with_schema(msgspec.structs.replace(t, name=n)) for n, t in caller.tools.items()}
                self._put("callers", name, msgspec.structs.replace(caller, name=name, tools=tools), kind)
        for key in ("tools", "reserved"):
            for name, item in values.get(key, {}).items():
                found = msgspec.structs.replace(item, name=name)
                found = self._with_schema(found) if key == "tools" else found
                self._put(key, name, found, key.removesuffix("s"))
        for name, members in values.get("toolsets", {}).items():
            self._put("toolsets", name, members, "toolset", node.value["toolsets"].at_key(name))
        for key in ("never", "grants", "protect", "use"):
            self.lists[key].extend(values.get(key, ()))
        for name in values.get("use", ()):
            self.where.setdefault(("use", name), _item_at(node.value["use"], name))
        for name in values.get("tiers", {}):
            self.where["tiers", str(name)] = node.value["tiers"].value[str(name)].at
        for name in values.get("hosts", {}):
            self.where["hosts", name] = node.value["hosts"].at_key(name)
        if "defaults" in values:
            self.where["defaults", "accessible_by"] = node.value["defaults"].at
        labels = values.get("labels", {})
        for tier, label in labels.pop("data", {}).items():
            self.lists["labels"].append(msgspec.structs.replace(label, name="data", tier=int(tier)))
        for name, label in labels.items():
            self.lists["labels"].append(msgspec.structs.replace(label, name=name))

    def _with_schema(self, tool: Tool) -> Tool:
        """The tool with the text of its schema in the place of the file's name; what is wrong with it is noted."""
        if tool.schema is None:
            return tool
        from remit.scopes.sql.units import schema_problem  # here: few tools have a schema

        text = tool.schema
        if tool.dialect not in ("sqlite", "postgres"):
            self.reader.fail(tool.at, "bad-schema", "`schema` is for tools with `dialect: sqlite` or `postgres`")
            return tool
        if "(" not in text:
            if self.directory is None:
                self.reader.fail(tool.at, "bad-schema", "a policy built in Python has the schema itself, not a file")
                return tool
            self.sources.append(text)
            try:
                text = read_text(self.directory / text, shown(text))
            except PolicyError as error:
                self.reader.problems.extend(error.problems)
                return tool
        problem = schema_problem(text, tool.dialect)
        if problem is not None:
            self.reader.fail(tool.at, "bad-schema", f"the schema of `{shown(tool.name)}` can't be used: {problem}")
        return msgspec.structs.replace(tool, schema=text)

    def _put(self, group: str, name: str, item: Any, kind: str, at: str | None = None) -> None:
        place = at or item.at
        if group == "callers" and name in ("human", "chain", "system"):
            self.reader.fail(place, "bad-name", f"`{name}` means somebody else and can't name {_article(kind)}")
            return
        if group in ("tools", "toolsets") and name in rule_keys():
            self.reader.fail(place, "bad-name", f"`{name}` is a word of scopes and can't name a {kind}")
            return
        if name in self.merged[group]:
            first = self.where[group, name]
            shared = "; agents, roles and runners share one namespace" if group == "callers" else ""
            self.reader.fail(place, "duplicate-name", f"{kind} `{name}` is declared twice, first at {first}{shared}")
            return
        self.merged[group][name] = item
        self.where[group, name] = place

    def _include(self, entry: str, at: str) -> None:
        if self.root is None or self.directory is None:
            return
        path = self.stack[-1].parent / entry
        try:
            real = path.resolve()
        except (OSError, ValueError, RuntimeError):
            self.reader.fail(at, "bad-include", f"`{shown(entry)}` can't be a file")
            return
        if not real.is_relative_to(self.root) or os.path.isabs(entry):
            self.reader.fail(at, "bad-include", f"`{shown(entry)}` lies outside the root")
            return
        if any(real == opened for opened in self.stack):
            self.reader.fail(at, "include-cycle", f"`{shown(entry)}` includes itself")
            return
        if not os.path.lexists(path):
            self.reader.fail(
                at, "no-policy", f"no file `{shown(entry)}`", "it is looked for beside the file that includes it"
            )
            return
        if real.is_dir():
            self.reader.fail(
                at, "bad-include", f"`{shown(entry)}` is a folder", "name the files that are to be included"
            )
            return
        name = os.path.relpath(real, self.directory.resolve()).replace(os.sep, "/")
        if name not in self.sources:
            self.file(path, name)

    def _packs(self) -> tuple[dict[str, Tool], tuple[str, ...]]:
        tools: dict[str, Tool] = {}
        labels: list[str] = []
        for name in dict.fromkeys(self.lists["use"]):
            if name not in catalog.packs():
                known = ", ".join(catalog.packs())
                hint = did_you_mean(name, catalog.packs())
                message = f"unknown tool pack `{shown(name)}`{hint}"
                self.reader.fail(self.where["use", name], "unknown-pack", message, f"there is: {known}")
                continue
            for tool in read_pack(name).values():
                other = tools.get(tool.name)
                if other is not None and tool.name not in self.merged["tools"]:
                    self.reader.fail(
                        "use",
                        "duplicate-name",
                        f"tool `{tool.name}` is in {other.pack} and in {tool.pack}",
                        "declare it under `tools:` to settle which one counts",
                    )
                tools[tool.name] = tool
                if tool.pack not in labels:
                    labels.append(str(tool.pack))
        return tools, tuple(sorted(labels))

    def finish(self, default_name: str) -> Policy:
        """The policy. Raises PolicyError with every problem."""
        tools, packs = self._packs()
        tools = self._with_published({**tools, **self.merged["tools"]})
        tools = with_functions(tools, self.functions, self.reader, self.published_by)
        self.reader.finish()
        main = self.main
        callers: dict[str, Caller] = self.merged["callers"]
        table = main.get("tiers", {})
        asks = {int(k): v for k, v in table.items() if k.isdigit()}
        tiers = {tier: _QUESTIONS[v] if isinstance(v, str) else v for tier, v in asks.items()}
        return Policy(
            name=main.get("name", default_name),
            tools=tools,
            toolsets=self.merged["toolsets"],
            callers=callers,
            reserved=tuple(self.merged["reserved"].values()),
            never=tuple(self.lists["never"]),
            labels=tuple(self.lists["labels"]),
            tiers=tiers,
            effect_tiers=table.get("effects", {}),
            label_tiers=table.get("labels", {}),
            tool_tiers=table.get("tools", {}),
            gates=tuple(main.get("gates", ())),
            gate_terms=gate_terms(main.get("gates", ())),
            grants=tuple(self.lists["grants"]),
            layer_access=main.get("defaults", {}).get("accessible_by", {}).get("layer", {}),
            on_violation=halting(main.get("on_violation")),
            review=main.get("review"),
            enforce=enforcement(main.get("enforce")),
            project_code=main.get("project_code"),
            confine=main.get("confine"),
            sandbox=main.get("sandbox"),
            hosts=main.get("hosts", {}),
            protect=tuple(self.lists["protect"]),
            unprotect=main.get("unsafe_unprotect", ()),
            people=named(main.get("people", {})),
            open_questions=main.get("open_questions"),
            ledger=main.get("ledger"),
            lists=main.get("lists", {}),
            unused_lists=tuple(sorted(self.reader.lists.keys() - self.reader.used_lists)),
            unsafe_no_credential=main.get("unsafe_no_credential", False),
            packs=packs,
            published_by=self.published_by,
            places={f"{group}.{name}": at for (group, name), at in self.where.items()},
            root=main.get("root", "."),
            sources=self._relative_sources(),
        )

    def _with_published(self, tools: dict[str, Tool]) -> dict[str, Tool]:
        for name, tool in self.published.items():
            if name in rule_keys():
                self.reader.fail(tool.at, "bad-name", f"`{name}` is a word of scopes and can't name a tool")
            elif name in tools:
                first = tools[name].at if tools[name].pack is None else f"pack {tools[name].pack}"
                message = f"tool `{name}` is declared twice, first at {first}"
                self.reader.fail(tool.at, "duplicate-name", message, update(self.published_by))
        return {**self.published, **tools}

    def _relative_sources(self) -> tuple[str, ...]:
        if self.directory is None or self.root is None:
            return ()
        base = self.directory.resolve()
        paths = [os.path.relpath(base / source, self.root).replace(os.sep, "/") for source in self.sources]
        return tuple(paths)


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _item_at(node: Node, text: str) -> str:
    """The position of one item of a list, or of the only value."""
    items = node.value if node.kind is LIST else [node]
    return next((item.at for item in items if item.value == text), node.at)


def known_pack(name: str) -> str:
    """Words for a tool that no declaration names, if one of the packs has it."""
    found = [pack for pack in catalog.packs() if name in read_pack(pack)]
    if len(found) == 1:
        return f"the pack `{found[0]}` has it: use: [{found[0]}]"
    if found:
        return f"the packs {', '.join(f'`{pack}`' for pack in found)} have it: `use` one of them"
    return did_you_mean(name, ())
