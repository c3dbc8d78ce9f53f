"""The nouns of a policy, as declared: tools, scopes, rules, callers, and the policy itself."""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from remit.model.frozen import NOTHING, freeze_fields
from remit.model.pattern import compile_later

# Annotations are evaluated where they stand: msgspec reads them at each start, and would compile those that are texts.
Scalar = str | int | float | bool
Verb = Literal["may", "must_ask", "may_not"]
ARGUMENT = compile_later(r"-?[A-Za-z_$][A-Za-z0-9_$-]{0,63}(?:\[\])?(?:\.[A-Za-z_$][A-Za-z0-9_$-]{0,63}(?:\[\])?){0,4}")
"""The name of a declared argument: `path`, `tags[]`, `edits[].file`."""


class Argument(msgspec.Struct, frozen=True, omit_defaults=True):
    """One declared argument: its kind, or the values that it may take."""

    kind: str
    one_of: tuple[Scalar, ...] = ()
    optional: bool = False
    default: Scalar | None = None
    base: str | None = None
    """For a glob: the path argument that it is relative to."""
    new_shell: bool = False
    """For a shell text: each runs in a shell of its own, whose variables no call before it has set."""


class Does(msgspec.Struct, frozen=True, omit_defaults=True):
    """One effect of a tool: on an argument, on all below it, on a fixed reach, or on records."""

    effect: str
    arg: str | None = None
    below: bool = False
    reach: str | None = None
    records: str | None = None
    """What it works on that is no file: `tickets`."""


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something callable with named arguments. The list of arguments is closed."""

    name: str
    args: dict[str, Argument] = NOTHING
    does: tuple[Does, ...] = ()
    tier: int = 0
    effect_tier: int | None = None
    """The tier that the policy gives to its effects, in the place of its own floor and the usual tiers."""
    aliases: tuple[str, ...] = ()
    dialect: str | None = None
    schema: str | None = None
    """The CREATE statements of its database: SQLite itself is asked what a statement does there."""
    accessible_by: tuple[str, ...] | None = None
    layer: str | None = None
    category: str | None = None
    risk: str | None = None
    confirm: bool = False
    interaction: str | None = None
    about: str | None = None
    version: str | None = None
    """Of whatever it runs: an approval of a call counts only for the version that it was given for."""
    pack: str | None = None
    published: bool = False
    """A program declares it, and published that: the two must not differ."""
    at: str = ""

    def __post_init__(self) -> None:
        freeze_fields(self, "args")

    def does_nothing_else(self, effects: Iterable[str]) -> bool:
        """It declares none of these effects: only a text that it runs could have them."""
        return {does.effect for does in self.does}.isdisjoint(effects)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of its arguments."""
        return frozenset(argument.kind for argument in self.args.values())


# INVARIANT: a limit that nobody knows is refused, never left out: what is read back is at least as narrow as it was.
class Condition(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What one named argument must be: all parts must hold."""

    equals: Scalar | None = None
    one_of: tuple[Scalar, ...] | None = None
    regex: str | None = None
    min: int | float | None = None
    max: int | float | None = None
    min_length: int | None = None
    max_length: int | None = None
    parts: dict[str, Any] = NOTHING
    """By kind: what such an argument must be, as the kind's form has read it."""
    optional: bool = False
    """True if it holds where the argument is absent."""
    same_as: str | None = None
    """What it must be equal to, that only the call's task or context tells: `task:customer`, `context:session`."""
    each: "tuple[dict[str, Condition], ...]" = ()
    """Of a list of objects: each of them passes one of these alternatives, by the names of its fields."""

    def __post_init__(self) -> None:
        freeze_fields(self, "parts", "one_of", "each")

    def written(self) -> dict[str, Any]:
        """Plain data, as a policy has it."""
        found = _written(self)
        if self.same_as is not None:
            whose, _, name = found.pop("same_as").partition(":")
            found["equals"] = {whose: name}
        lengths = {end: found.pop(f"{end}_length") for end in ("min", "max") if f"{end}_length" in found}
        if lengths:
            found["length"] = lengths
        if self.each:
            found["each"] = [{name: one.written() for name, one in fields.items()} for fields in self.each]
        return found


class Scope(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the arguments, the effects and the context of a call must be. Parts are joined by and."""

    parts: dict[str, Any] = NOTHING
    """By kind (`path`, `shell` …): what arguments of that kind must be, as the kind's form has read it."""
    where: dict[str, Condition] = NOTHING
    when: dict[str, tuple[Scalar, ...]] = NOTHING
    effect: tuple[str, ...] = ()
    except_: "Scope | None" = msgspec.field(default=None, name="except")

    def __post_init__(self) -> None:
        freeze_fields(self, "parts", "where", "when")

    @property
    def on_arguments(self) -> bool:
        """True when it limits arguments, so that every dangerous one must be mentioned."""
        return bool(self.parts or self.where)

    def conditions(self) -> "list[tuple[str, Condition]]":
        """Each condition on a single argument with the argument's name, also those within `each`."""
        found = [(name, condition) for name, condition in self.where.items() if not condition.each]
        for list_, condition in self.where.items():
            found += [(f"{list_}.{name}", one) for fields in condition.each for name, one in fields.items()]
        return found

    def written(self) -> dict[str, Any]:
        """Plain data, as a policy has it: each part under its kind."""
        found = _written(self)
        if self.where:
            found["where"] = {name: condition.written() for name, condition in self.where.items()}
        if self.except_ is not None:
            found["except"] = self.except_.written()
        return found


def _written(value: "Scope | Condition") -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(value)
    return {**data.pop("parts", {}), **data}


ANY = Scope()


class Examples(msgspec.Struct, frozen=True, omit_defaults=True):
    """Calls that a rule's author expects to be allowed or denied, decided when the policy loads."""

    allow: tuple[Any, ...] = ()
    ask: tuple[Any, ...] = ()
    deny: tuple[Any, ...] = ()


class Rule(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """`may`, `must_ask` or `may_not`, for some tools (none named: any tool), with a scope."""

    verb: Verb
    tools: tuple[str, ...] | None
    scope: Scope = ANY
    ask: str | None = None
    examples: Examples | None = None
    at: str = ""
    approvals: int = 1
    """Of a must_ask: how many people have to approve."""
    separate: bool = False
    """Of a must_ask: whoever issued the task can't approve."""
    places: dict[str, str] = NOTHING
    """Where the names in its scope stand, so that a slip is shown where it is."""

    def __post_init__(self) -> None:
        freeze_fields(self, "places")


class Locks(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where an agent may write and delete at all."""

    may: tuple[str, ...]
    except_: tuple[str, ...] = msgspec.field(default=(), name="except")


class Halting(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a violation does: only denied (`after` 0), or the agent is halted."""

    after: int = 0
    within: str | None = None
    reasons: tuple[str, ...] = msgspec.field(default=(), name="for")


class Before(msgspec.Struct, frozen=True, omit_defaults=True):
    """What must wait until a gate is passed: calls from a tier on, or with one of these effects."""

    tier: int | None = None
    effects: tuple[str, ...] = ()

    def concerns(self, tier: int, effects: Iterable[str]) -> bool:
        """Whether such a call must wait."""
        return (self.tier is not None and tier >= self.tier) or not set(self.effects).isdisjoint(effects)


class Enforce(msgspec.Struct, frozen=True, omit_defaults=True):
    """Always, or observing until a moment (ISO 8601, UTC)."""

    observe_until: str | None = None


Confine = Literal["required", "preferred", "off"]
"""Whether commands run inside limits that the kernel holds."""


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """How much one run may use. None: not limited."""

    seconds: int | None = None
    memory: int | None = None
    """Bytes."""
    processes: int | None = None
    file_size: int | None = None
    """Bytes."""


class Sandbox(msgspec.Struct, frozen=True, omit_defaults=True):
    """What confined commands get beside what the rules say. None: not said."""

    network: Literal["none", "policy", "open"] | None = None
    """Nothing, the places that the URL rules name, or everything."""
    home: Literal["private", "read"] | None = None
    caches: tuple[str, ...] | None = None
    hide: tuple[str, ...] = ()
    limits: Limits | None = None


class Alone(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an agent may grant in the tasks that it issues, though nobody granted it to the agent itself."""

    grants: tuple[Rule, ...] = ()
    data_tiers: tuple[int, ...] = ()


class Caller(msgspec.Struct, frozen=True, omit_defaults=True):
    """An agent, a role or a runner, with its record. Absent (None) means not limited."""

    name: str
    kind: Literal["agent", "role", "runner"]
    roles: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    says_may: bool = False
    enabled: bool = True
    tools: dict[str, Tool] = NOTHING
    delegates_to: tuple[str, ...] | None = None
    delegate_within: Literal["own", "chain"] | None = None
    called_by: tuple[str, ...] | None = None
    acknowledges: bool | None = None
    may_issue: dict[str, Any] | None = None
    issues_alone: Alone | None = None
    locks: Locks | None = None
    skills: tuple[str, ...] | None = None
    apis: tuple[str, ...] | None = None
    data_tiers: tuple[int, ...] | None = None
    data_tiers_with_grant: tuple[int, ...] | None = None
    capsule: Literal["required", "optional"] | None = None
    daily_sum: dict[str, int] = NOTHING
    """By tool and argument, in millionths: what it may add up to in one UTC day."""
    reviewed: dict[str, str] | None = None
    review: dict[str, str] | None = None
    on_violation: Halting | None = None
    enforce: Enforce | None = None
    project_code: Literal["allow", "deny"] | None = None
    confine: Confine | None = None
    sandbox: Sandbox | None = None
    at: str = ""
    places: dict[str, str] = NOTHING
    """Where each caller stands that it names, and under `.KEY` each of its own keys."""

    def __post_init__(self) -> None:
        freeze_fields(self, "tools", "may_issue", "daily_sum", "reviewed", "review", "places")

    def at_key(self, key: str) -> str:
        """Where one of its own keys stands; of one that a role brings, where the caller itself begins."""
        return self.places.get(f".{key}", self.at)


class Reserved(msgspec.Struct, frozen=True, omit_defaults=True):
    """An operation that only its runner may perform, wherever it hides in a call."""

    name: str
    runner: str
    programs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    at: str = ""


class Never(msgspec.Struct, frozen=True, omit_defaults=True):
    """A statement about the policy, proved when it loads: no allow and no ask, whatever the grant."""

    agent: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    toolset: tuple[str, ...] = ()
    layer: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    risk: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    effect: tuple[str, ...] = ()
    because: str | None = None
    assuming: tuple[str, ...] = ()
    at: str = ""


class Label(msgspec.Struct, frozen=True, omit_defaults=True):
    """What things are: by path, table, URL, host, kube context or branch."""

    name: str
    tier: int | None = None
    path: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    url: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    kube_context: tuple[str, ...] = ()
    branch: tuple[str, ...] = ()
    at: str = ""
    shipped: bool = False
    """It comes with Remit: of what a text doesn't tell, only the policy's own labels count."""


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a tier does: allow, deny, or ask somebody."""

    verdict: Literal["allow", "ask", "deny"] = "allow"
    ask: str | None = None
    planned: bool = False
    statement: bool = False
    approvals: int = 1
    """How many people have to approve."""
    separate: bool = False
    """Whoever issued the task can't approve."""


class TierOf(msgspec.Struct, frozen=True, omit_defaults=True):
    """The tier that a policy gives to an effect or a label; without effects those that it had."""

    tier: int
    effects: tuple[str, ...] = ()
    because: str | None = None
    at: str = ""


class Approves(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person may approve. All parts must hold; None: not limited."""

    tiers: tuple[int, ...] | None = None
    agents: tuple[str, ...] | None = None
    """Agents or roles."""
    labels: tuple[str, ...] | None = None
    """What the call touches has labels, and all of them are among these."""
    amount: dict[str, int] = NOTHING
    """By tool and argument, in millionths: the most that a call may have there."""

    def __post_init__(self) -> None:
        freeze_fields(self, "amount")


class Person(msgspec.Struct, frozen=True, omit_defaults=True):
    """Somebody who acts under their own name, with a credential of their own."""

    name: str
    roles: tuple[str, ...]
    approves: tuple[Approves, ...] = ()
    """What they may approve if one of their roles lets them: any of these; none said: everything."""
    contact: str | None = None
    at: str = ""


class Grant(msgspec.Struct, frozen=True, omit_defaults=True):
    """A standing grant: extra permission that ends."""

    agent: str
    rules: tuple[Rule, ...]
    until: str
    adr: str | None = None
    approved_by: str | None = None
    reviewed: dict[str, str] | None = None
    at: str = ""

    def __post_init__(self) -> None:
        freeze_fields(self, "reviewed")


class Stream(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the ledger's events go as they fall."""

    name: str
    to: str
    token: str | None = None
    """The environment variable that holds the bearer token of an HTTP collector."""
    form: Literal["ndjson", "json"] = "ndjson"
    ca: str | None = None
    rotate: int = 100
    """Megabytes after which a new file is begun."""
    keep: int | None = None
    """How many finished files are kept; None: all."""
    at: str = ""


class Witnesses(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the witnesses among the anchors have to do."""

    quorum: int
    """So many of them must have cosigned each entry."""
    grace: int = 10
    """Minutes that they have for it."""
    clock: int = 5
    """Minutes that the clock here may differ from theirs."""


class LedgerSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a policy says about its ledger."""

    streams: tuple[Stream, ...] = ()
    anchors: tuple[str, ...] = ()
    """Where its checkpoints are kept, besides the places that the store names."""
    witnesses: Witnesses | None = None


class Policy(msgspec.Struct, frozen=True, omit_defaults=True):
    """The policy as declared: includes and packs merged, names not yet resolved."""

    name: str
    tools: dict[str, Tool] = {}
    toolsets: dict[str, tuple[str, ...]] = {}
    callers: dict[str, Caller] = {}
    reserved: tuple[Reserved, ...] = ()
    never: tuple[Never, ...] = ()
    labels: tuple[Label, ...] = ()
    tiers: dict[int, Question] = {}
    effect_tiers: dict[str, TierOf] = {}
    label_tiers: dict[str, TierOf] = {}
    tool_tiers: dict[str, TierOf] = {}
    gates: tuple[str, ...] = ()
    gate_terms: dict[str, Before] = {}
    grants: tuple[Grant, ...] = ()
    layer_access: dict[str, tuple[str, ...]] = {}
    on_violation: Halting | None = None
    review: dict[str, str] | None = None
    enforce: Enforce | None = None
    project_code: Literal["allow", "deny"] | None = None
    confine: Confine | None = None
    sandbox: Sandbox | None = None
    hosts: dict[str, dict[str, str]] = {}
    protect: tuple[str, ...] = ()
    unprotect: tuple[str, ...] = ()
    unsafe_no_credential: bool = False
    people: dict[str, Person] = {}
    open_questions: int | None = None
    ledger: LedgerSettings | None = None
    lists: dict[str, tuple[Scalar, ...]] = {}
    unused_lists: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()
    published_by: tuple[str, ...] = ()
    """The programs whose tools are published: `app.py:guard`."""
    places: dict[str, str] = {}
    """Where names were declared that carry no position of their own: `toolsets.look`, `tiers.4`."""
    root: str = "."
    sources: tuple[str, ...] = ()
    """The files it came from, relative to the root: the policy, its includes, its tests."""
