"""`remit review`: what people must look at again, what the ledger says of its use, and that they did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from remit.cli.answer import YesOption, check_reason
from remit.cli.common import FINE, InputError
from remit.cli.living import find_project, out_data, to_change, to_look
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument, Option
from remit.compile.load import load_file
from remit.explain.visible import bounded
from remit.grant.reviews import Review
from remit.model.people import AUDITOR
from remit.record.stats import Use, use_by_agent
from remit.service.review_mark import mark_reviewed
from remit.service.reviews import standing_reviews

MARKS = {"fine": ("✅", "green"), "due": ("⏳", "yellow"), "overdue": ("❌", "red")}
OVERDUE = 1
OFTEN = 5
"""Denials, if they are a fifth of the calls at least."""


def list_(
    all: Annotated[bool, Option("--all", help="Include those that are not due.")] = False,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """List the reviews that are due or overdue, with each agent's use according to the ledger.

    Exit code 1: one is overdue.

    Examples: `remit review`, `remit review --all`
    """
    with to_look(policy) as living:
        if living is None:
            path, _ = find_project(policy)
            found, used = standing_reviews(path, load_file(path)), dict[str, Use]()
        else:
            rulebook, _ = living.rulebook(machine=True)
            found = living.authority.reviews(rulebook)
            with living.opened.store.read() as view:
                used = use_by_agent(view, {one.agent: one.on for one in found})
    shown = [one for one in found if all or one.state != "fine"]
    code = OVERDUE if any(one.state == "overdue" for one in found) else FINE
    if json:
        out_data([{**msgspec.to_builtins(one), "use": _data(used.get(one.agent))} for one in shown])
        return code
    for one in shown:
        out("".join(f"{line}\n" for line in _lines(one, used.get(one.agent))))
    if not found:
        out("the policy demands no reviews: say `review: {every: 90d}` in it\n")
    elif not shown:
        out(f"{paint('✅', 'green')} nothing is due; {len(found)} reviewed (--all lists them)\n")
    return code


def sign(
    who: Annotated[str, Argument(metavar="WHAT", help="An agent, or a grant as `remit review` names it.")],
    because: Annotated[str, Option("--because", metavar="TEXT", help="What was reviewed, and the result.")],
    ref: Annotated[str | None, Option("--ref", metavar="ID", help="The document that holds the review.")] = None,
    write: Annotated[bool, Option("--write", help="Also set `reviewed` of the agent in the policy file.")] = False,
    yes: YesOption = False,
    who_: AsOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Sign a review: it is recorded in the ledger, with your name. It changes no decision, and no approval lapses.

    Example: `remit review sign builder --because 'still needs all of it'`
    """
    check_reason(because)
    if ref is not None and (not ref.strip() or len(ref) > 200):
        raise InputError("--ref: the name of a document, in up to 200 characters")
    with to_change(policy) as living:
        rulebook, book = living.rulebook(machine=json)
        edit = mark_reviewed(living.path, who) if write else None
        by, signer = living.person(book, f"sign the review of {who}", may=AUDITOR, who=who_, yes=yes)
        made = living.authority.sign_review(rulebook, who, by=by, because=because, ref=ref, sign=signer)
        if edit is not None:
            edit.write(made.at, made.by)
    if json:
        out_data({"signed": who, **msgspec.to_builtins(made), "written": write})
    else:
        more = f"; {bounded(str(living.path), 200)} says so too" if write else ""
        out(f"{paint('✅', 'green')} {bounded(who, 100)}: reviewed, by {made.by}{more}\n")
    return FINE


def _lines(one: Review, use: Use | None) -> Iterator[str]:
    mark, colour = MARKS[one.state]
    when = f"last reviewed {one.on} by {bounded(one.by or '', 80)}, {one.days} days ago" if one.on else one.why
    yield f"{paint(mark, colour)} {bounded(one.who, 100)}: {one.state}; {when}"
    if one.why and one.on:
        yield f"   {bounded(one.why, 300)}"
    if use is not None:
        yield f"   {'since then' if one.on else 'so far'}: {_use(use)}"


def _use(use: Use) -> str:
    if not use.calls:
        return "never used"
    parts = [f"{use.allowed} of {use.calls} calls allowed", f"{use.denied} denied"]
    if use.allowed and not use.changes:
        parts.append("only read")
    if use.denied >= OFTEN and use.denied * 5 >= use.calls:
        parts.append("denied often")
    top = ", ".join(f"{bounded(name, 40)} {count}" for name, count in use.tools.most_common(3))
    codes = ", ".join(f"{name} {count}" for name, count in use.codes.most_common(3))
    return f"{', '.join(parts)}; tools: {top}" + (f"; denied for {codes}" if codes else "")


def _data(use: Use | None) -> dict[str, Any] | None:
    if use is None:
        return None
    counted = {"calls": use.calls, "allowed": use.allowed, "denied": use.denied, "changes": use.changes}
    return {**counted, "last": use.last, "tools": dict(use.tools), "codes": dict(use.codes)}
