"""A second, naive statement of confinement (docs/semantics.md §7): plain loops over texts that are explained by hand.

    answer = naive_confined(book, ("touch $f", "frobnicate"), facts, environment)

Nothing is shared with the engine: not the reading of commands, not the profile. Of codes that the page ranks equally
`codes` has all.
"""

from __future__ import annotations

from typing import NamedTuple

from remit.model.facts import Facts
from remit.model.policy import Caller, Rule
from remit.model.rulebook import Book
from tests.oracle.naive_globs import matches, matches_folded


class Told(NamedTuple):
    """What a command does, as a person reads it."""

    effects: frozenset[str]
    grade: str = "understood"
    path: str | None = None
    """The one file that it names."""
    untold: str | None = None
    """The effect on files that it doesn't name."""
    host: str | None = None
    """The one host that it names."""
    outside: str | None = None
    """The one place outside the root that it names: `private`, one that commands have for themselves, or `home`."""
    folder: str | None = None
    """The one folder that it names, with all that lies in it; with a `path`, it makes the folder."""

    def below(self) -> list[str]:
        """Some of what could lie in the folder: what the globs here tell apart."""
        return [f"{self.folder}/{name}" for name in ("x", "x.zz", "gen/x", "gen/x.zz")]


def _does(*effects: str) -> frozenset[str]:
    return frozenset(effects)


TEXTS = {
    "cat src/a": Told(_does("read"), path="src/a"),
    "cat people/x": Told(_does("read"), path="people/x"),
    "touch src/a": Told(_does("write"), path="src/a"),
    "touch src/gen/a": Told(_does("write"), path="src/gen/a"),
    "touch docs/b": Told(_does("write"), path="docs/b"),
    "rm src/a": Told(_does("delete"), path="src/a"),
    "rm docs/b": Told(_does("delete"), path="docs/b"),
    "mkdir src": Told(_does("write"), path="src", folder="src"),
    "mkdir src/gen": Told(_does("write"), path="src/gen", folder="src/gen"),
    "rm -r src": Told(_does("delete"), folder="src"),
    "touch $f": Told(_does("write"), untold="write"),
    "cat $f": Told(_does("read"), untold="read"),
    "rm -r $f": Told(_does("delete"), untold="delete"),
    "touch /tmp/x": Told(_does("write"), outside="private"),
    "rm /tmp/x": Told(_does("delete"), outside="private"),
    "rm /srv/x": Told(_does("delete"), outside="elsewhere"),
    "rm -r ~": Told(_does("delete"), untold="delete", outside="home"),
    "systemctl restart nginx": Told(_does("system")),
    "apt-get upgrade": Told(_does("install", "network", "system")),
    "frobnicate": Told(_does(), grade="not understood"),
    "make": Told(_does("execute", "read", "write"), grade="project code"),
    "git fetch": Told(_does("network", "read", "write")),
    "curl https://a.example/x": Told(_does("network"), host="a.example"),
    "curl https://b.example/x": Told(_does("network"), host="b.example"),
}
TIERS = {"read": 0, "write": 1, "delete": 1, "network": 1, "execute": 2, "install": 3, "system": 4}
FILES = frozenset(("read", "write", "delete"))


class Answer(NamedTuple):
    """The verdict, the codes that the page ranks equally, the tier, and whether the command runs confined."""

    verdict: str
    codes: frozenset[str]
    tier: int
    confined: bool


def naive_confined(book: Book, texts: tuple[str, ...], facts: Facts, environment: str | None) -> Answer:
    """The decision about these commands in one text, of the agent `dev` in its task `T`, if there is one."""
    return _Confined(book, [TEXTS[text] for text in texts], facts, environment).answer()


class _Confined:
    def __init__(self, book: Book, acts: list[Told], facts: Facts, environment: str | None) -> None:
        self.book, self.acts, self.facts, self.environment = book, acts, facts, environment
        self.caller: Caller = book.callers["dev"]
        self.task = facts.capsules.get("T")
        self.network, self.hosts = self.network_of_profile()
        mode = self.caller.confine or "off"
        self.held = mode != "off" and self.needs() <= facts.confined
        self.lifts = self.held and mode == "required"
        self.unavailable = mode == "required" and not self.held
        self.reads_held = "read" in facts.confined
        self.tier = self.tier_of_call()

    # The profile

    def nots(self) -> list[Rule]:
        own = [rule for rule in self.caller.rules if rule.verb == "may_not"]
        return own + (list(self.task.may_not) if self.task is not None else [])

    def network_of_profile(self) -> tuple[str, set[str]]:
        said = self.caller.sandbox.network if self.caller.sandbox is not None else None
        for rule in self.nots():
            if not rule.scope.parts and (not rule.scope.effect or "network" in rule.scope.effect):
                return "none", set()
        if said in ("none", "open"):
            return said, set()
        patterns = list(self.caller.apis or ())
        if self.caller.apis is None:
            patterns = [
                text for rule in self.caller.rules if rule.verb == "may" for text in rule.scope.parts.get("url", ())
            ]
        hosts = {host_of(text) for text in patterns}
        for rule in self.nots():
            hosts -= {host_of(text) for text in rule.scope.parts.get("url", ())}
        for tier, _, urls, _ in self.data_labels():
            if self.barred(tier):
                hosts -= {host_of(text) for text in urls}
        return ("hosts", hosts) if hosts else ("none", hosts)

    def needs(self) -> set[str]:
        found = {"write"}
        if self.network != "open":
            found.add("hosts" if self.network == "hosts" else "network")
        if self.caller.sandbox is not None and self.caller.sandbox.hide:
            found.add("read")
        if any(paths and self.barred(tier) for tier, paths, _, _ in self.data_labels()):
            found.add("read")
        for rule in self.nots():
            if set(rule.scope.parts) == {"path"} and (not rule.scope.effect or "read" in rule.scope.effect):
                found.add("read")
        scopes = [self.scope(rule) for rule in self.shell_rules()]
        if not any("**" in (*admitted(scope, "read"), *admitted(scope, "write")) for scope in scopes):
            found.add("read")
        return found

    def shell_rules(self) -> list[Rule]:
        """The rules that can permit a command."""
        mine = [rule for rule in self.caller.rules if rule.verb == "may" and rule.tools == ("Bash",)]
        return [rule for rule in mine if not rule.scope.parts or "shell" in rule.scope.parts]

    def scope(self, rule: Rule) -> dict[str, dict[str, tuple[str, ...]]]:
        found: dict[str, dict[str, tuple[str, ...]]] = rule.scope.parts.get("shell", {})
        return found

    def data_labels(self) -> list[tuple[int, tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
        return [(one.tier, one.path, one.url, one.table) for one in self.book.labels if one.tier is not None]

    def barred(self, tier: int) -> bool:
        return self.caller.data_tiers is not None and tier not in self.caller.data_tiers

    # The steps

    def answer(self) -> Answer:
        codes = self.prohibited() or self.permitted() or self.bound_by_task() or self.limited()
        if not codes and self.unavailable:
            codes = {"confine-unavailable"}
        if codes:
            return Answer("deny", frozenset(codes), self.tier, False)
        asked = self.asked()
        if asked is None:
            return Answer("allow", frozenset({"allowed"}), self.tier, self.held)
        return Answer("ask", frozenset({asked}), self.tier, self.held)

    def unknown(self) -> bool:
        return any(act.grade == "not understood" for act in self.acts)

    def touches(self, rule: Rule) -> tuple[bool, bool]:
        """Whether a prohibition or a question touches the call: at all, and by what the text surely says."""
        effects = set(rule.scope.effect) or None
        sure = might = False
        for act in self.acts:
            if "path" in rule.scope.parts:
                if act.path is not None and (effects is None or act.effects & effects):
                    sure |= any(matches_folded(glob, act.path) for glob in rule.scope.parts["path"]["allow"])
                if act.folder is not None and act.path is None and (effects is None or act.effects & effects):
                    globs = rule.scope.parts["path"]["allow"]
                    sure |= any(matches_folded(glob, path) for glob in globs for path in act.below())
                might |= act.untold is not None and (effects is None or act.untold in effects)
            elif "url" in rule.scope.parts:
                sure |= act.host is not None and act.host in {host_of(text) for text in rule.scope.parts["url"]}
            else:
                sure |= effects is None or bool(act.effects & effects)
            might |= act.grade == "not understood"
        return sure or might, sure

    def falls_away(self, rule: Rule) -> bool:
        """The kernel holds what the prohibition is about."""
        if not self.lifts:
            return False
        effects = set(rule.scope.effect)
        if "path" in rule.scope.parts:
            return self.reads_held or bool(effects and effects <= {"write", "delete"})
        if "url" in rule.scope.parts:
            return self.network != "open"
        about = {"write", "delete", "network"} if self.network != "open" else {"write", "delete"}
        return bool(effects) and effects <= about

    def refused(self, rules: list[Rule]) -> bool:
        for rule in rules:
            touched, surely = self.touches(rule)
            if touched and (surely or not self.falls_away(rule)):
                return True
        return False

    def prohibited(self) -> set[str]:
        if self.caller.project_code == "deny" and any(act.grade != "understood" for act in self.acts):
            return {"project-code"}
        mine = [rule for rule in self.caller.rules if rule.verb == "may_not"]
        return {"may-not"} if self.refused(mine) else set()

    def permitted(self) -> set[str]:
        covered = all(any(self.covers(self.scope(rule), act) for rule in self.shell_rules()) for act in self.acts)
        return set() if covered else {"not-permitted"}

    def covers(self, scope: dict[str, dict[str, tuple[str, ...]]], act: Told) -> bool:
        """A scope here has `run: any`, perhaps with `project_code`, and perhaps paths; without one all is covered."""
        if not scope:
            return True
        project = "project_code" in scope["run"]
        if act.grade == "not understood":
            return self.lifts and project
        if act.grade == "project code" and not project:
            return False
        paths = scope.get("path")
        if act.outside in ("private", "elsewhere"):
            return False
        if act.untold is not None:
            kept = self.lifts and act.outside is None and (act.untold != "read" or self.reads_held)
            if not kept:
                return False
            return paths is None or act.untold == "read" or bool(paths.get(act.untold))
        if act.folder is not None:
            [effect] = act.effects
            return paths is None or within(paths.get(effect, ()), act)
        if act.path is not None:
            [effect] = act.effects
            return paths is None or any(matches(glob, act.path) for glob in paths.get(effect, ()))
        return paths is None or all(paths.get(effect) for effect in act.effects & {"write", "delete"})

    def bound_by_task(self) -> set[str]:
        return {"capsule-constraint"} if self.task is not None and self.refused(list(self.task.may_not)) else set()

    def limited(self) -> set[str]:
        codes: set[str] = set()
        caller, net_held = self.caller, self.lifts and self.network != "open"
        if caller.data_tiers is not None:
            tables = any(table and self.barred(tier) for tier, _, _, table in self.data_labels())
            kept = net_held and self.reads_held and not tables
            if self.unknown() and not kept:
                codes.add("not-understood")
            if self.barred(self.data_tier(untold=not kept)):
                codes.add("data-tier")
        if caller.locks is not None:
            if self.unknown() and not self.lifts:
                codes.add("not-understood")
            for act in self.acts:
                if act.untold in ("write", "delete") and not (self.lifts and act.outside is None):
                    codes.add("locked")
                if act.outside == "elsewhere" or (act.outside == "private" and not self.lifts):
                    codes.add("locked")
                if act.folder is not None:
                    if not within(caller.locks.may, act) or self.excepted(caller.locks.except_, act):
                        codes.add("locked")
                elif act.path is not None and act.effects & {"write", "delete"}:
                    inside = any(matches(glob, act.path) for glob in caller.locks.may)
                    if not inside or any(matches_folded(glob, act.path) for glob in caller.locks.except_):
                        codes.add("locked")
        if caller.apis is not None:
            if self.unknown() and not net_held:
                codes.add("not-understood")
            for act in self.acts:
                if act.host is not None and act.host not in {host_of(text) for text in caller.apis}:
                    codes.add("api-not-allowed")
                if "network" in act.effects and act.host is None and not net_held:
                    codes.add("api-not-allowed")
        return codes

    def excepted(self, globs: tuple[str, ...], act: Told) -> bool:
        """A lock excepts something in the folder; of one that is made, all or itself. `**/*.zz` names nothing in it."""
        if act.path is not None:
            all_of_it = all(any(matches_folded(glob, path) for glob in globs) for path in act.below())
            return all_of_it or any(matches_folded(glob, act.path) for glob in globs)
        said = [glob for glob in globs if not (self.lifts and glob.startswith("**/"))]
        return any(matches_folded(glob, path) for glob in said for path in act.below())

    def data_tier(self, *, untold: bool) -> int:
        found = 0
        for tier, paths, urls, _ in self.data_labels():
            for act in self.acts:
                named = act.path is not None and any(matches_folded(glob, act.path) for glob in paths)
                placed = act.host is not None and act.host in {host_of(text) for text in urls}
                if named or placed or (untold and act.untold is not None and paths):
                    found = max(found, tier)
        return found

    # Tiers and questions

    def quiet(self) -> bool:
        """Confined, with no network, or only with places that need no question."""
        if not self.held or self.network == "open":
            return False
        if self.network == "none":
            return True
        if self.environment is not None:
            return False
        marked = [one for one in self.book.labels if one.name == "production"]
        return not any(host_of(text) in self.hosts for one in marked for text in one.url)

    def keeps_machine(self) -> bool:
        """Confined, without network, with a home and processes of its own."""
        read = self.caller.sandbox is not None and self.caller.sandbox.home == "read"
        return self.held and self.network == "none" and not read and "processes" in self.facts.confined

    def tier_of_call(self) -> int:
        tiers = [2]
        for act in self.acts:
            if act.grade == "not understood":
                tiers.append(2 if self.quiet() else 4)
            tiers += [TIERS[effect] for effect in act.effects if effect != "system" or not self.keeps_machine()]
            if self.environment is not None and act.effects & {"network", "install", "system"}:
                tiers.append(4)
            for one in self.book.labels:
                if one.name == "production" and act.host is not None and act.host in set(map(host_of, one.url)):
                    tiers.append(4)
            scope = self.task.scope if self.task is not None else None
            if act.untold == "delete" and not (self.lifts and act.outside is None):
                tiers.append(4)
            if "delete" in act.effects and (act.outside == "elsewhere" or (act.outside and not self.lifts)):
                tiers.append(4)
            if act.path is not None and "delete" in act.effects and scope is not None:
                tiers.append(0 if any(matches(glob, act.path) for glob in scope) else 4)
            if act.folder is not None and "delete" in act.effects and scope is not None:
                itself = any(matches(glob, act.folder) for glob in scope)
                tiers.append(0 if itself and within(scope, act) else 4)
        return max(tiers)

    def asked(self) -> str | None:
        if self.tier >= 3:
            return "tier-asks"
        if any(self.touches(rule)[0] for rule in self.caller.rules if rule.verb == "must_ask"):
            return "must-ask"
        for act in self.acts:
            if act.untold in ("write", "delete") and not (self.lifts and act.outside is None):
                return "target-unknown"
        return None


def within(globs: tuple[str, ...], act: Told) -> bool:
    """All that could lie in its folder is."""
    return all(any(matches(glob, path) for glob in globs) for path in act.below())


def admitted(scope: dict[str, dict[str, tuple[str, ...]]], effect: str) -> tuple[str, ...]:
    """Where a scope admits the effect; what may be written can be read too."""
    return scope["path"].get(effect, ()) if "path" in scope else ("**",)


def host_of(pattern: str) -> str:
    """`https://a.example/**` → `a.example`."""
    return pattern.split("/")[2]
