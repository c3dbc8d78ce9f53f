"""Who the host's main agent is. Only the policy can say it: here it is asked for, and the lines for the policy made."""

from __future__ import annotations

import msgspec

from remit.cli.common import InputError, known_name
from remit.cli.install.files import read_file
from remit.cli.install.originals import Original, text_of
from remit.cli.install.place import Place
from remit.cli.install.prompt import answer
from remit.cli.output import out
from remit.declare.nodes import parse
from remit.forms.nodes import MAP, SCALAR, Node
from remit.model.errors import PolicyError
from remit.model.rulebook import Rulebook
from remit.model.text import shown


class Main(msgspec.Struct, frozen=True):
    """The main agent, and what the policy still lacks."""

    name: str
    lines: str = ""
    """What the policy must say, if the activated one doesn't."""
    wanted: bytes | None = None
    """The policy file with these lines, if they can be appended."""
    now: bytes | None = None
    written: bool = False
    """True if the policy file says it already and only has to be activated."""


def find_main(place: Place, rulebook: Rulebook, option: str | None, *, asking: bool) -> Main:
    """The main agent. Raises InputError for an unknown one, or if nobody says who it is; PolicyError."""
    callers = rulebook.book.callers.values()
    agents = [c.name for c in callers if c.kind == "agent"] or [c.name for c in callers if c.kind == "role"]
    have = rulebook.book.hosts.get(place.host, {}).get("main")
    if option is not None:
        known_name(option, agents, "agent")
    if have is not None:
        _check_same(place, have, option)
        return Main(have)
    data = read_file(place.policy, place.root) or b""
    node = parse(text_of(str(place.policy), data), shown(place.policy.name))
    said = _said(node, place.host)
    if said is not None:
        _check_same(place, said, option)
        return Main(said, _lines(place, said), written=True)
    name = option if option is not None else _asked(place, agents, asking)
    return _with_policy(Main(name, _lines(place, name), now=data), node)


def block_of(main: Main) -> tuple[str, ...]:
    """What was appended to the policy, for its original."""
    added = (main.wanted or b"")[len(main.now or b"") :]
    return (added.decode("utf-8", "replace"),)


def policy_original(main: Main, digest: str) -> Original:
    """What is kept of the policy file."""
    return Original("policy", main.now, (digest,), block_of(main))


def _check_same(place: Place, said: str, option: str | None) -> None:
    if option not in (None, said):
        raise InputError(
            f"the policy says that the main agent is `{shown(said)}`",
            help=f"change `hosts` in {shown(place.policy.name)}, then run `remit activate`",
        )


def _lines(place: Place, name: str) -> str:
    return f"hosts: {{{place.host}: {{main: {name}}}}}\n"


def _said(policy: Node, host: str) -> str | None:
    """Who the text of the policy says it is, activated or not."""
    found = policy
    for key in ("hosts", host, "main"):
        if found.kind is not MAP or key not in found.value:
            return None
        found = found.value[key]
    return str(found.value) if found.kind is SCALAR else None


def _asked(place: Place, agents: list[str], asking: bool) -> str:
    if not asking:
        raise InputError(
            f"the policy does not say who {place.host}'s main agent is",
            help=f"name one with --main AGENT: {shown(', '.join(agents), 300)}",
            code="no-main",
        )
    out(f"The policy does not say who {place.host}'s main agent is: the one that people talk to.\n")
    return known_name(answer(f"main agent ({shown(', '.join(agents), 300)}): "), agents, "agent")


def _with_policy(main: Main, before: Node) -> Main:
    """With the policy file as it would be, where a block at its end says just that and nothing else changes."""
    text = (main.now or b"").decode("utf-8")
    newline = "\r\n" if "\r\n" in text else "\n"
    added = ("" if text.endswith("\n") else newline) + main.lines.replace("\n", newline)
    try:
        after = parse(text + added, "policy")
    except PolicyError:
        return main
    if list(after.value) != [*before.value, "hosts"]:
        return main
    return msgspec.structs.replace(main, wanted=(text + added).encode())
