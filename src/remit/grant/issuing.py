"""Who may hand which task to whom: checked when a capsule is issued, from the policy and the capsule it comes from.

A person may grant what the recipient's record leaves open to grants. An agent needs the right to issue (`may_issue`),
never issues for itself, and passes on at most what a person put into its own capsule, and what the policy lets it grant
by itself (`alone`).
"""

from __future__ import annotations

import msgspec

from remit.decide.steps import hands_to
from remit.grant.errors import GrantError
from remit.grant.sums import argument_of
from remit.model.pattern import compile_later
from remit.model.policy import Alone, Caller, Rule
from remit.model.rulebook import Book
from remit.model.task import Task
from remit.model.terms import MAX_CHAIN
from remit.model.text import shown, suggestion
from remit.scopes.glob import Glob
from remit.scopes.globset import GlobSet

_ID = compile_later(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def is_capsule_id(text: str) -> bool:
    """Whether a capsule can be called so."""
    return _ID.fullmatch(text) is not None


def check_issue(book: Book, task: Task, ancestors: tuple[Task, ...], now: str) -> None:
    """Raises GrantError unless the task may be issued. `ancestors` begins with its parent."""
    capsule = task.capsule
    if not is_capsule_id(capsule.id):
        raise GrantError("the id of a capsule has up to 100 letters, digits and . _ -", code="bad-capsule")
    recipient = book.callers.get(capsule.agent)
    if recipient is None or recipient.kind == "role" or not recipient.enabled:
        able = [name for name, caller in book.callers.items() if caller.kind != "role" and caller.enabled]
        what = f"the policy has no agent `{shown(capsule.agent)}` that could be handed a task"
        raise GrantError(f"{what}{suggestion(capsule.agent, able)}", code="unknown-agent")
    if capsule.expires is not None and capsule.expires <= now:
        raise GrantError(f"the capsule would have ended at {capsule.expires}, before it began", code="bad-capsule")
    if any(most < 1 for most in task.budget.limits.values()):
        raise GrantError("a budget is at least 1", code="bad-capsule")
    strange = [name for name in task.budget.tools if name not in book.tools]
    if strange:
        known = book.aliases.get(strange[0])
        help_ = f"call it by its own name, {known}" if known is not None else None
        raise GrantError(
            f"the policy has no tool `{shown(strange[0])}` to count{suggestion(strange[0], book.tools)}",
            code="unknown-tool",
            help=help_,
        )
    for what in task.budget.sum:
        if not any(argument_of(what, tool) is not None for tool in book.tools.values()):
            raise GrantError(
                f"`{what[:120]}` is not an argument of a tool that could be summed",
                code="unknown-argument",
                help="write tool.argument, such as send_money.amount",
            )
    unknown = [gate for gate in task.gates if gate not in book.gates and gate != "plan"]
    if unknown:
        raise GrantError(
            f"the policy has no gate `{shown(unknown[0])}`{suggestion(unknown[0], book.gates)}", code="unknown-gate"
        )
    _within_record(recipient, task)
    if len(ancestors) > MAX_CHAIN:
        raise GrantError(f"tasks are handed on at most {MAX_CHAIN} times", code="chain-too-long")
    if any(other.capsule.agent == capsule.agent for other in ancestors):
        raise GrantError(
            f"{capsule.agent} has already handed this task on: it would come back to it", code="chain-cycle"
        )
    if task.issuer == "agent":
        _by_agent(book, task, ancestors)
    elif ancestors:
        _handed(book, ancestors[0].capsule.agent, recipient)
        check_within(task, ancestors[0])
        _same_parameters(task, ancestors[0])


def _within_record(recipient: Caller, task: Task) -> None:
    """Data tiers that the recipient's record doesn't open to grants can't be granted by anybody."""
    own = recipient.data_tiers
    open_ = recipient.data_tiers_with_grant or ()
    for tier in task.capsule.data_tiers:
        if own is not None and tier not in own and tier not in open_:
            what = f"the record of {recipient.name} does not open data tier {tier} to grants"
            raise GrantError(what, code="beyond-record", help="data_tiers_with_grant says which it does")


def _by_agent(book: Book, task: Task, ancestors: tuple[Task, ...]) -> None:
    """Handing work on needs `delegates_to` alone; granting something with it needs `may_issue` besides."""
    issuer = book.callers.get(task.by)
    if issuer is None or not issuer.enabled:
        raise GrantError(
            f"the policy has no agent `{shown(task.by)}` that could hand work on{suggestion(task.by, book.callers)}",
            code="unknown-agent",
        )
    if task.by == task.capsule.agent:
        raise GrantError("nobody issues a capsule for itself", code="self-issue")
    _handed(book, task.by, book.callers[task.capsule.agent])
    parent = ancestors[0] if ancestors else None
    if parent is not None and parent.capsule.agent != task.by:
        raise GrantError(f"the capsule {parent.capsule.id} was not handed to {task.by}", code="unknown-capsule")
    if task.capsule.parameters and parent is None:
        raise GrantError(f"{task.by} has no capsule whose parameters it could hand on", code="beyond-issuer")
    if parent is not None:
        _same_parameters(task, parent)
    if not task.capsule.grants and not task.capsule.data_tiers:
        return
    rights = issuer.may_issue or {}
    if rights.get("capsules") is not True:
        raise GrantError(f"{task.by} may not issue grants", code="may-not-issue", help="may_issue says who may")
    alone = issuer.issues_alone
    if parent is None and alone is None:
        raise GrantError(f"{task.by} has no capsule from which it could grant", code="beyond-issuer")
    check_within(task, parent, alone)
    issuable = {*(rights.get("data_tiers") or ()), *(alone.data_tiers if alone is not None else ())}
    beyond = [tier for tier in task.capsule.data_tiers if tier not in issuable]
    if beyond:
        raise GrantError(f"{task.by} may not grant data tier {beyond[0]}", code="beyond-issuer")


def is_alone(task: Task, parent: Task | None) -> bool:
    """Whether an agent grants something by itself, beyond what its own capsule grants it."""
    if task.issuer != "agent":
        return False
    try:
        check_within(task, parent)
    except GrantError:
        return True
    return False


def check_alone(book: Book, task: Task, parent: Task | None) -> None:
    """That the policy still lets the agent grant that. Raises GrantError."""
    issuer = book.callers.get(task.by)
    if issuer is None or not issuer.enabled or (issuer.may_issue or {}).get("capsules") is not True:
        raise GrantError(f"{task.by} may not issue grants", code="may-not-issue")
    check_within(task, parent, issuer.issues_alone or Alone())


def _same_parameters(task: Task, parent: Task) -> None:
    """What the child's task is about is what its parent's is about."""
    theirs = parent.capsule.parameters
    for name, value in task.capsule.parameters.items():
        if name not in theirs or type(theirs[name]) is not type(value) or theirs[name] != value:
            what = f"the capsule {parent.capsule.id} has no such parameter `{name[:80]}`"
            raise GrantError(what, code="beyond-parent")


def _handed(book: Book, giver: str, taker: Caller) -> None:
    if giver not in book.callers or not hands_to(book.callers[giver], taker):
        raise GrantError(f"{giver} may not hand work to {taker.name}", code="delegation-not-allowed")


def check_within(task: Task, parent: Task | None, alone: Alone | None = None) -> None:
    """That the child's grants are among its parent's, or what its issuer may grant alone. Raises GrantError."""
    tiers = {
        *(parent.capsule.data_tiers if parent is not None else ()),
        *(alone.data_tiers if alone is not None else ()),
    }
    whose = f"the capsule {parent.capsule.id} has" if parent is not None else "it is not part of another one: there is"
    beyond = [tier for tier in task.capsule.data_tiers if tier not in tiers]
    if beyond:
        raise GrantError(f"{whose} no grant of data tier {beyond[0]}", code="beyond-parent")
    wide = (*(parent.capsule.grants if parent is not None else ()), *(alone.grants if alone is not None else ()))
    for rule in task.capsule.grants:
        if not any(_includes(one, rule) for one in wide):
            what = ", ".join(rule.tools or ("any tool",))
            raise GrantError(f"{whose} no such grant of {what}", code="beyond-parent")


def _includes(wide: Rule, narrow: Rule) -> bool:
    """Certainly: the same scope, or fewer of the same paths, for the same tools or fewer of them."""
    if wide.tools is not None and (narrow.tools is None or not set(narrow.tools) <= set(wide.tools)):
        return False
    if msgspec.json.encode(wide.scope) == msgspec.json.encode(narrow.scope):
        return True
    mine, theirs = (msgspec.to_builtins(one.scope) for one in (narrow, wide))
    paths, within = (scope.get("parts", {}).pop("path", None) for scope in (mine, theirs))
    if paths is None or within is None or mine != theirs:
        return False
    globs = GlobSet(Glob.parse(text) for text in within.pop("allow", ()))
    allowed = [Glob.parse(text) for text in paths.pop("allow", ())]
    return paths == within and bool(allowed) and all(globs.includes(glob) for glob in allowed)
