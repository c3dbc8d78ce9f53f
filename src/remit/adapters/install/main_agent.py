"""Who the host's main agent is. Only the policy can say it: here it is asked for, and the lines for the policy made."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from remit.adapters.install.files import EditError, read_file
from remit.adapters.install.originals import Original, text_of
from remit.adapters.install.place import Place
from remit.declare.nodes import parse
from remit.forms.nodes import MAP, SCALAR, Node
from remit.model.errors import PolicyError
from remit.model.rulebook import Rulebook
from remit.model.text import shown, suggestion


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


Ask = Callable[[list[str]], str]
"""Asks a person which of these agents it is."""


def find_main(place: Place, rulebook: Rulebook, option: str | None, ask: Ask | None) -> Main:
    """The main agent; `ask` where a person can be asked.

    Raises EditError for an unknown one, or if nobody says who it is, and PolicyError.
    """
    callers = rulebook.book.callers.values()
    agents = [c.name for c in callers if c.kind == "agent"] or [c.name for c in callers if c.kind == "role"]
    have = rulebook.book.hosts.get(place.name, {}).get("main")
    if option is not None:
        _known(option, agents)
    if have is not None:
        _check_same(place, have, option)
        return Main(have)
    data = read_file(place.policy, place.root) or b""
    node = parse(text_of(str(place.policy), data), shown(place.policy.name))
    said = _said(node, place.name)
    if said is not None:
        _check_same(place, said, option)
        return Main(said, _lines(place, said), written=True)
    _check_tools(place, rulebook)
    name = option if option is not None else _asked(place, agents, ask)
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
        raise EditError(
            f"the policy says that the main agent is `{shown(said)}`",
            help=f"change `hosts` in {shown(place.policy.name)}, then run `remit activate`",
        )


def _check_tools(place: Place, rulebook: Rulebook) -> None:
    """A policy in the tools of other hosts would deny every call here, whoever the main agent is."""
    catalog = place.setup.catalog
    others = [name for pack in rulebook.book.packs if (name := pack.partition(" ")[0]) != "remit"]
    if others and catalog.pack is not None and not {catalog.pack, *catalog.also} & {*others}:
        raise EditError(
            f"the policy is written in the tools of {shown(', '.join(others), 100)}; it knows none of {place.name}'s",
            help=f"draft it in those: `remit init --host {place.name} --output {place.name}.yaml`; or add"
            f" `use: [{catalog.pack}]`, rules for its tools, and `{_lines(place, 'NAME').strip()}`",
            code="other-tools",
        )


def _lines(place: Place, name: str) -> str:
    return f"hosts: {{{place.name}: {{main: {name}}}}}\n"


def _said(policy: Node, host: str) -> str | None:
    """Who the text of the policy says it is, activated or not."""
    found = policy
    for key in ("hosts", host, "main"):
        if found.kind is not MAP or key not in found.value:
            return None
        found = found.value[key]
    return str(found.value) if found.kind is SCALAR else None


def _asked(place: Place, agents: list[str], ask: Ask | None) -> str:
    if ask is None:
        raise EditError(
            f"the policy does not say who {place.name}'s main agent is",
            help=f"name one with --main AGENT: {shown(', '.join(agents), 300)}",
            code="no-main",
        )
    return _known(ask(agents), agents)


def _known(name: str, agents: list[str]) -> str:
    if name not in agents:
        raise EditError(f"unknown agent `{shown(name)}`{suggestion(name, agents)}", code="unknown-agent")
    return name


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
