"""`remit approvals export`, `remit answer` and `remit approvals import`: answering on a machine without the project."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec

from remit.cli import stdin
from remit.cli.answer import check_reason, told
from remit.cli.approvals.show import AskArgument, FullOption, call_lines, seen_json
from remit.cli.common import FINE, InputError
from remit.cli.living import must_look, out_data, to_change, to_look
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import err, out
from remit.cli.parameters import Argument, Option
from remit.cli.person import read_secret
from remit.grant.elsewhere import MOST, make_request, read_answer, read_request, sign_answer, take_answer
from remit.grant.person import known_person, named_people
from remit.model.moments import moment
from remit.model.text import shown

FileArgument = Annotated[str, Argument(metavar="FILE", help="A file, or - for stdin.")]


class Verdict(StrEnum):
    """An answer."""

    approve = "approve"
    refuse = "refuse"


def export(
    name: AskArgument,
    person: Annotated[str, Option("--for", metavar="NAME", help="The person who will answer.")],
    policy: PolicyOption = None,
) -> int:
    """Print a waiting call as a request that one person can answer on another machine, with `remit answer`.

    It contains the arguments of the call, but nothing that would let anybody else answer.

    Example: `remit approvals export A-17 --for ann > request.json`
    """
    with to_look(policy) as found:
        living = must_look(found, "approval", name)
        known_person(named_people(living.opened.store) or {}, person)
        request = make_request(living.authority, name, person)
    out(msgspec.json.encode(request).decode() + "\n")
    return FINE


def answer(
    file: FileArgument,
    verdict: Annotated[Verdict, Argument(metavar="approve|refuse", help="Your answer.")],
    because: Annotated[
        str | None, Option("--because", metavar="TEXT", help="The reason; the agent may see it.")
    ] = None,
    full: FullOption = False,
) -> int:
    """Answer a request of `remit approvals export` on any machine: show the call, ask for your passphrase, and sign.

    Needs no project, no store and no key. Prints the answer, for `remit approvals import` in the project; what is shown
    goes to stderr.

    Example: `remit answer request.json approve > answer.json`
    """
    if because is not None:
        check_reason(because)
    request = read_request(_data(file))
    now = moment(time.time())
    err("".join(f"{line}\n" for line in call_lines(request.asked, now, request.sealed, full=full)).rstrip("\n"))
    err(f"  bound to {shown(request.digest)}")
    typed = read_secret(f"passphrase of {shown(request.person)}, to {verdict.value} {shown(request.id)}: ")
    signed = sign_answer(request, verdict.value, typed, at=now, because=because)
    out(msgspec.json.encode(signed).decode() + "\n")
    return FINE


def import_(file: FileArgument, policy: PolicyOption = None, json: JsonOption = False) -> int:
    """Record an answer that somebody gave with `remit answer`, if they signed it for exactly this call.

    Example: `remit approvals import answer.json`
    """
    answer = read_answer(_data(file))
    with to_change(policy) as living:
        answered = take_answer(living.authority, answer)
        if json:
            out_data(seen_json(living, answered))
        else:
            out(told(answered))
    return FINE


def _data(file: str) -> bytes:
    try:
        data = stdin.stream("-").read(MOST + 1) if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{shown(file, 300)}: {error.strerror}", code="no-file") from None
    if len(data) > MOST:
        raise InputError(f"{shown(file, 300)}: too large", code="too-large")
    return data
