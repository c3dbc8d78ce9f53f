"""Program profiles: the catalog's YAML → its compiled form, every key checked.

python -m remit.declare.profiles      # writes catalog/programs.jsonl
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from remit.declare.nodes import parse
from remit.forms.texts import plain
from remit.languages.bash.reading import FILE_EFFECTS
from remit.languages.programs.profiles import Declared, Meta, Option, Profile, Programs
from remit.model.decoding import Decoding
from remit.model.errors import PolicyError, Problem
from remit.model.terms import EFFECTS

KINDS = frozenset(
    {
        "text",
        "read",
        "write",
        "delete",
        "move",
        "directory",
        "folder",
        "tree",
        "url",
        "host",
        "remote",
        "program",
        "command",
        "shell",
        "joined",
        "code",
        "script",
        "module",
        "sql",
        "db",
        "assignment",
        "none",
        "sed",
        "awk",
        "target",
        "into",
        "copy_from",
        "copy_to",
        "data",
        "branch",
        "context",
        "attributes",
        "edit",
        "git_format",
        "revision",
        "format",
        "made",
        "new_folder",
        "item",
        "page",
        "method",
        "jq",
        "paths_in",
        "toml_setting",
        "plugin",
        "mount",
        "prefix",
        "resource",
        "object",
        "rename",
        "perl",
        "report",
        "setting",
        "shell_option",
        "ssh_setting",
        "transport",
        "suffix",
        "target_dir",
        "write_tree",
        "write_out",
        "source",
        "filter",
        "listed",
        "named",
        "yq",
    }
)
META_KINDS = frozenset(("show", "data", "shell", "script", "output", "write", "copy", "import", "refuse"))
_KEYS = frozenset(
    {
        "effects",
        "flags",
        "options",
        "optional",
        "changes",
        "refuse",
        "args",
        "args_with",
        "sub",
        "bare",
        "grade",
        "same",
        "special",
        "stdin",
        "abbreviates",
        "dashes",
        "plus",
        "numbers",
        "about",
        "any",
        "modules",
        "shared",
        "alone",
        "reaches",
        "touches",
        "words",
        "at_files",
        "pathspecs",
        "revisions",
        "writes",
        "settings",
        "edits",
        "looks",
        "verb",
        "helps",
        "ends",
        "links",
        "besides",
        "finds",
    }
)

_OPTION_KEYS = frozenset(
    ("kind", "adds", "sets", "refuse", "because", "apart", "values", "touches", "links", "next", "beyond")
)
_PLAIN = (
    "grade",
    "special",
    "stdin",
    "abbreviates",
    "dashes",
    "plus",
    "numbers",
    "shared",
    "at_files",
    "pathspecs",
    "revisions",
    "verb",
    "ends",
    "edits",
    "finds",
)
"""Keys whose values are taken as they are."""

_DOES = {
    "read": {"read"},
    "tree": {"read"},
    "directory": {"read"},
    "folder": {"read"},
    "paths_in": {"read"},
    "write": {"write"},
    "write_tree": {"write"},
    "attributes": {"write"},
    "into": {"write"},
    "made": {"write"},
    "new_folder": {"write"},
    "suffix": {"write"},
    "target_dir": {"write"},
    "delete": {"delete"},
    "move": {"read", "delete"},
    "git_format": {"execute"},
    "revision": {"read"},
    "format": {"read"},
    "item": {"read", "network"},
    "page": {"read", "network"},
    "method": set(),
    "branch": set(),
    "context": set(),
    "jq": {"read"},
    "url": {"read", "network"},
    "remote": {"read", "network"},
    "host": {"network"},
}
"""What words of a kind do, as far as that is only to files, or to connect somewhere."""

_PROFILE = Decoding(Profile)


class _Compiler:
    """Turns the data of all files into profiles."""

    def __init__(
        self,
        raw: dict[str, dict[str, Any]],
        implied: list[dict[str, Any]],
        at_most: list[dict[str, Any]],
        declared: list[dict[str, Any]],
        reports: list[str],
        folders: list[dict[str, Any]],
        code: list[dict[str, Any]],
        in_place: list[dict[str, Any]],
    ) -> None:
        self.raw = raw
        self.problems: list[Problem] = []
        self.folders = {str(name): self._below(str(name), entry) for entry in folders for name in entry["programs"]}
        self.strange = set(self.folders)
        """Entries of folders.yaml that no program has met."""
        self.code = {str(name) for entry in code for name in entry["programs"]}
        self.idle = set(self.code)
        """Likewise of code.yaml."""
        self.in_place = {str(name) for entry in in_place for name in entry["programs"]}
        self.unplaced = set(self.in_place)
        """Likewise of in_place.yaml."""
        self.reports = {str(name) for name in reports}
        self.unreported = set(self.reports)
        """Entries of reports.yaml that no program has met."""
        self.implied: dict[str, dict[str, tuple[str, ...] | None]] = {}
        for entry in implied:
            for name in entry["programs"]:
                touches = self._touches(f"implied.yaml {name}", entry["touches"])
                self.implied[name] = {**self.implied.get(name, {}), **touches}
        self.unused = set(self.implied)
        """Entries of implied.yaml that no program has met."""
        self.at_most = {
            str(name): self._effects(f"at_most.yaml {name}", entry["effects"])
            for entry in at_most
            for name in entry["programs"]
        }
        self.unmet = set(self.at_most)
        """Likewise of at_most.yaml."""
        self.declared = {
            str(name): Declared(entry["arguments"], tuple(entry.get("unless", ())))
            for entry in declared
            for name in entry["programs"]
        }
        self.undeclared = set(self.declared)
        """Likewise of declared.yaml."""

    def fail(self, where: str, message: str) -> None:
        self.problems.append(Problem("bad-profile", message, where))

    def program(self, name: str) -> Profile:
        return self.profile(name, self.raw[name], (name,))

    def profile(self, where: str, data: Any, above: tuple[str, ...]) -> Profile:
        if not isinstance(data, dict):
            self.fail(where, "expected a mapping")
            return Profile()
        for key in set(data) - _KEYS:
            self.fail(where, f"unknown key `{key}`")
        base = Profile()
        if "same" in data:
            base = self._same(where, str(data["same"]), above)
        fields: dict[str, Any] = {f: getattr(base, f) for f in base.__struct_fields__}
        if "effects" in data:
            fields["effects"] = self._effects(where, data["effects"])
        elif "same" not in data and "sub" not in data:
            self.fail(where, "`effects` is missing")
        fields["options"] = {**base.options, **self._options(where, data)}
        if "args" in data:
            fields["args"] = self._args(where, data["args"])
        if "args_with" in data:
            fields["args_with"] = tuple(
                (_names(key), self._args(where, value)) for key, value in data["args_with"].items()
            )
        if "alone" in data:
            fields["alone"] = self._effects(where, data["alone"])
        if "words" in data:
            fields["words"] = {str(word): self._effects(where, value) for word, value in data["words"].items()}
        if "besides" in data:
            fields["besides"] = self._effects(where, data["besides"])
        if "looks" in data:
            fields["looks"] = {
                str(word): None if value is None else self._effects(where, value)
                for word, value in data["looks"].items()
            }
        if "helps" in data:
            fields["helps"] = tuple(str(word) for word in data["helps"])
        if "reaches" in data:
            fields["reaches"] = self._reaches(where, data["reaches"])
        fields["touches"] = {**base.touches, **self._implied(where)}
        if "touches" in data:
            fields["touches"] |= self._touches(where, data["touches"])
        for name in self._entries(where):
            fields["folders"] = self.folders.get(name, fields["folders"])
            self.strange.discard(name)
        fields["in_place"] = where in self.in_place
        self.unplaced.discard(where)
        if where in self.reports:
            fields["reports"] = True
            self.unreported.discard(where)
        if where in self.at_most:
            fields["at_most"] = self.at_most[where]
            self.unmet.discard(where)
        own = where.removesuffix(" (bare)")
        fields["declared"] = self.declared.get(own)
        self.undeclared.discard(own)
        if "any" in data:
            fields["any"] = self._kind(where, data["any"])
        for key in ("sub", "modules"):
            if key in data:
                mine = {str(n): self.profile(f"{where} {n}", value, above) for n, value in data[key].items()}
                fields[key] = {**getattr(base, key), **mine}
        if "bare" in data:
            fields["bare"] = self.profile(f"{where} (bare)", data["bare"], above)
        for key in _PLAIN:
            if key in data:
                fields[key] = data[key]
        fields["lends"] = self._runs_code(where)
        if "links" in data:
            fields["links"] = self._links(where, data)
        if "writes" in data:
            fields["writes"] = tuple(str(path) for path in data["writes"])
        if "settings" in data:
            fields["settings"] = tuple(str(text) for text in data["settings"])
        try:
            found = _PROFILE.convert(fields)
            self._bounded(where, found)
            self._declares(where, found)
            return found
        except msgspec.ValidationError as error:
            self.fail(where, str(error))
            return Profile()

    def _bounded(self, where: str, profile: Profile) -> None:
        """What a program does at most includes all that its profile says of it."""
        if profile.at_most is None:
            return
        options = profile.options.values()
        effects = {*profile.effects, *(effect for option in options for effect in (*option.adds, *(option.sets or ())))}
        kinds = {*profile.args, *(kind for _, args in profile.args_with for kind in args)}
        kinds |= {option.kind for option in options if option.kind is not None}
        for kind in {kind.removesuffix("...") for kind in kinds} - {"text"}:
            effects |= _DOES.get(kind, {f"the kind `{kind}`"})
        beyond = effects - set(profile.at_most)
        if beyond or profile.sub or profile.any is not None:
            self.fail(where, f"at_most.yaml leaves out {', '.join(sorted(beyond)) or 'its subcommands'}")

    def _declares(self, where: str, profile: Profile) -> None:
        """Only what installs can install as declared, with options that it has."""
        declared = profile.declared
        if declared is None or profile.sub:
            return
        effects = {*profile.effects, *(profile.alone or ()), *(profile.bare.effects if profile.bare else ())}
        if "install" not in effects or declared.arguments not in ("none", "paths", "any"):
            self.fail(where, "declared.yaml: it does not install, or its `arguments` are not none, paths or any")

    def _same(self, where: str, name: str, above: tuple[str, ...]) -> Profile:
        """The profile that another program, subcommand (`pip install`) or module (`python -m venv`) has."""
        head, *rest = name.split()
        data = self.raw.get(head)
        group = "sub"
        for part in rest:
            if part == "-m":
                group = "modules"
                continue
            data = (data or {}).get(group, {}).get(part) if isinstance(data, dict) else None
            group = "sub"
        if data is None or name in above:
            self.fail(where, f"`same: {name}` names nothing")
            return Profile()
        return self.profile(name, data, (*above, name))

    def _effects(self, where: str, value: Any) -> tuple[str, ...]:
        effects = tuple(value or ())
        for effect in effects:
            if effect not in EFFECTS:
                self.fail(where, f"unknown effect `{effect}`")
        return effects

    def _reaches(self, where: str, value: Any) -> tuple[str, ...]:
        found = tuple(value if isinstance(value, list) else [value])
        for kind in found:
            if kind not in ("branch", "context"):
                self.fail(where, f"`reaches` names `{kind}`, not branch or context")
        return found

    def _implied(self, where: str) -> dict[str, tuple[str, ...] | None]:
        """What implied.yaml says about a program or subcommand: by its name, else by `… *`."""
        found: dict[str, tuple[str, ...] | None] = {}
        for name in self._entries(where):
            found.update(self.implied.get(name, {}))
            self.unused.discard(name)
        return found

    @staticmethod
    def _entries(where: str) -> tuple[str, str]:
        """The names by which a list speaks of a program or subcommand."""
        own = where.removesuffix(" (bare)")
        return f"{own.rpartition(' ')[0]} *", own

    def _runs_code(self, where: str) -> bool:
        """code.yaml has it, or all subcommands of something that it belongs to."""
        words = where.removesuffix(" (bare)").split()
        names = {" ".join(words), *(f"{' '.join(words[:count])} *" for count in range(1, len(words) + 1))}
        self.idle -= names
        return not names.isdisjoint(self.code)

    def _below(self, name: str, entry: dict[str, Any]) -> str:
        if entry["below"] not in ("none", "names", "itself"):
            self.fail(f"folders.yaml {name}", "`below` is `none`, `names` or `itself`")
        return str(entry["below"])

    def _touches(self, where: str, value: Any) -> dict[str, tuple[str, ...] | None]:
        """By effect: `none`, `any` (the text doesn't tell), or paths and `DIR/**` from the working directory."""
        if not isinstance(value, dict):
            self.fail(where, "`touches` is a mapping from effects to `none`, `any` or paths")
            return {}
        found: dict[str, tuple[str, ...] | None] = {}
        for effect, places in value.items():
            paths = places if isinstance(places, list) else []
            if effect not in FILE_EFFECTS or (places not in ("none", "any") and not paths):
                self.fail(where, f"`touches: {{{effect}: {places}}}`: read, write or delete; `none`, `any` or paths")
            if any("*" in str(path).removesuffix("/**").removesuffix("/*") for path in paths):
                self.fail(where, "`touches`: a path, `DIR/**` or `DIR/*`")
            found[str(effect)] = None if places == "any" else tuple(str(path) for path in paths)
        return found

    def _kind(self, where: str, value: Any) -> str:
        if str(value).removesuffix("...") not in KINDS:
            self.fail(where, f"unknown kind `{value}`")
        return str(value)

    def _args(self, where: str, value: Any) -> tuple[str, ...]:
        kinds = value if isinstance(value, list) else [value]
        return () if kinds == ["none"] else tuple(self._kind(where, kind) for kind in kinds)

    def _options(self, where: str, data: dict[str, Any]) -> dict[str, Option]:
        found: dict[str, Option] = {}

        def put(names: str, option: Option) -> None:
            for name in _names(names):
                found[name] = option

        for name in data.get("flags", ()):
            put(str(name), Option())
        for section, glued in (("options", False), ("optional", True)):
            for names, value in (data.get(section) or {}).items():
                put(str(names), self._option(f"{where} {names}", value, glued))
        for names, value in (data.get("changes") or {}).items():
            option = self._option(f"{where} {names}", {**value}, False)
            put(str(names), option)
        for names, reason in (data.get("refuse") or {}).items():
            for name in _names(str(names)):
                kind = found[name].kind if name in found else None
                found[name] = Option(kind, refuse=str(reason))
        return found

    def _option(self, where: str, value: Any, glued: bool) -> Option:
        if not isinstance(value, dict):
            return Option(self._kind(where, value), glued)
        for key in set(value) - {
            "kind",
            "adds",
            "sets",
            "refuse",
            "because",
            "apart",
            "values",
            "touches",
            "links",
            "next",
            "beyond",
        }:
            self.fail(where, f"unknown key `{key}`")
        kind = self._kind(where, value["kind"]) if "kind" in value else None
        sets = self._effects(where, value["sets"]) if "sets" in value else None
        adds = self._effects(where, value.get("adds"))
        refuse = value.get("refuse")
        apart = bool(value.get("apart"))
        values = tuple(str(known) for known in value.get("values", ()))
        touches = self._touches(where, value["touches"]) if "touches" in value else {}
        links = self._links(where, value)
        refuse = str(refuse) if refuse is not None else None
        maybe = bool(value.get("next"))
        beyond = bool(value.get("beyond"))
        return Option(kind, glued, apart, adds, sets, refuse, values, touches, links, maybe, beyond)

    def _links(self, where: str, data: dict[str, Any]) -> str:
        found = str(data.get("links", ""))
        if found not in ("", "all", "copy", "none"):
            self.fail(where, f"`links: {found}`: all, copy or none")
        return found


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


LISTS = ("implied", "at_most", "declared", "folders", "code", "in_place")
TABLES = frozenset({*LISTS, "reports", "sets", "environment", "meta"})
"""The files that hold no profiles."""


def compile_programs() -> tuple[Programs, list[bytes]]:
    """The programs of the catalog's YAML, and their profiles as lines. Raises PolicyError with all that is wrong."""
    raw: dict[str, dict[str, Any]] = {}
    problems: list[Problem] = []
    tables: dict[str, Any] = {}
    for entry in sorted((files("remit.catalog") / "programs").iterdir(), key=lambda e: e.name):
        if not entry.name.endswith(".yaml"):
            continue
        data = plain(parse(entry.read_text("utf-8"), entry.name))
        if entry.name.removesuffix(".yaml") in TABLES:
            tables[entry.name.removesuffix(".yaml")] = data
            continue
        for name, profile in data.items():
            if name in raw:
                problems.append(Problem("duplicate-name", f"`{name}` has two profiles", entry.name))
            raw[name] = profile
    implied, at_most, declared, folders, code, in_place = (tables[name][name] for name in LISTS)
    ends = tuple(str(end) for entry in tables["folders"]["files"] for end in entry["names"])
    reports, environment = tables["reports"], tables["environment"]
    harmless = {str(name): tuple(values) for name, values in environment["harmless"].items()}
    outside = {str(name): str(place) for name, place in environment["places"].items()}
    metas = {str(client): _metas(str(client), commands, problems) for client, commands in tables["meta"].items()}
    compiler = _Compiler(raw, implied, at_most, declared, reports["programs"], folders, code, in_place)
    found = {name: compiler.program(name) for name in raw}
    for file, left in (
        ("implied.yaml", compiler.unused),
        ("at_most.yaml", compiler.unmet),
        ("reports.yaml", compiler.unreported),
        ("code.yaml", compiler.idle),
        ("folders.yaml", compiler.strange),
        ("in_place.yaml", compiler.unplaced),
        ("declared.yaml", compiler.undeclared),
    ):
        for name in sorted(left):
            compiler.fail(file, f"`{name}` names no program")
    problems.extend(compiler.problems)
    if problems:
        raise PolicyError(tuple(problems))
    first: dict[bytes, str] = {}
    aliases: dict[str, str] = {}
    for name in sorted(found):
        data = msgspec.json.encode(found[name], order="sorted")
        if first.setdefault(data, name) != name:
            aliases[name] = first[data]
    places = {name: line for line, name in enumerate(first.values(), start=1)}
    names = tuple(environment["names"]), harmless, tuple(environment["plain"])
    known = Programs(places, aliases, tables["sets"], *names, metas, tuple(reports["places"]), outside, ends)
    return known, list(first)


def _metas(client: str, commands: dict[str, Any], problems: list[Problem]) -> dict[str, Meta]:
    """The meta-commands of one client: each a word, or a mapping with the reason why some are refused."""
    found: dict[str, Meta] = {}
    for names, value in commands.items():
        data = value if isinstance(value, dict) else {"does": value}
        does = str(data.get("does", "refuse"))
        if does not in META_KINDS or not set(data) <= {"does", "only", "except", "words", "refuse"}:
            problems.append(Problem("bad-profile", f"`{value}` is no way of a meta-command", f"{client} {names}"))
        only, without = (tuple(str(word) for word in data.get(key, ())) for key in ("only", "except"))
        meta = Meta(does, only, without, data.get("words"), str(data.get("refuse", "")))
        found.update((name, meta) for name in _names(str(names)))
    return found


def encoded() -> bytes:
    """The compiled form, as it is written."""
    known, lines = compile_programs()
    return b"\n".join((msgspec.json.encode(known, order="sorted"), *lines, b""))


def main() -> None:
    """Writes the compiled form beside the YAML."""
    Path(str(files("remit.catalog") / "programs.jsonl")).write_bytes(encoded())


if __name__ == "__main__":
    main()
