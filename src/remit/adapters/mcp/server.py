"""Remit's own tools for the agents of a host: who calls is taken from the hook's stamp, and from nothing else.

The store is opened for each call and closed after it, as a hook does: what is in force may have changed since the last.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from remit.adapters.hooks.grounds import Grounds
from remit.adapters.hooks.installed import read_installed
from remit.adapters.hooks.stamp import unstamped
from remit.adapters.hosts import registry
from remit.enforce.attempt import Enforcer
from remit.enforce.own import own_tool_in_host
from remit.enforce.own_names import ACKNOWLEDGE, OWN_IN_HOST
from remit.enforce.schema import tool_schema
from remit.model.call import Call
from remit.model.errors import RemitError
from remit.model.rulebook import Rulebook
from remit.record.open import open_for_hook
from remit.store.place import check_private

PATIENCE = 10.0
"""Seconds that the store may take."""
INSTRUCTIONS = (
    "Remit decides which tools you may use. When it asks for a statement, call remit_request with the tool and exactly "
    "the arguments of the call, then make that call again once it is approved. remit_why tells what would be decided."
)


class OwnTools:
    """The tools of one host of one project."""

    def __init__(self, host: str, state: Path) -> None:
        """Raises RemitError for a host that nobody knows, or that is not installed."""
        self._host, self._state = registry.find(host), state
        check_private(state)
        read_installed(state, host)

    def listed(self) -> list[dict[str, Any]]:
        """Those that the policy in force has; none in a host that can't be told who calls."""
        if not self._host.can_change_args:
            return []
        try:
            with _Opened(self._host.name, self._state) as enforcer:
                tools = enforcer.rulebook().book.tools
        except RemitError:
            return []  # each call says why nothing works
        here = OWN_IN_HOST if self._host.setup().catalog.names_agents else OWN_IN_HOST - {ACKNOWLEDGE}
        found = [tool_schema(tools[name]) for name in sorted(here & tools.keys())]
        return [
            {
                "name": one["name"],
                "description": one["description"],
                # Open: a hook adds its stamp. What the arguments are is checked against the policy.
                "inputSchema": {key: value for key, value in one["input_schema"].items() if key in _KEPT},
            }
            for one in found
        ]

    def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """What the tool answers, as JSON; or why not. Never raises."""
        try:
            if name not in OWN_IN_HOST:
                raise RemitError("there is no such tool", code="unknown-tool")
            stamp, args = unstamped(self._state, self._host.name, name, arguments)
            with _Opened(self._host.name, self._state, stamp.context.cwd) as enforcer:
                args = self._in_policy_words(enforcer.rulebook(), args)
                found = own_tool_in_host(enforcer, Call(stamp.agent, name, args, stamp.context))
            return msgspec.json.encode(found).decode(), False
        except RemitError as error:
            return f"Remit: {error}{f'; {error.help}' if error.help else ''} ({error.code})", True
        except Exception as error:
            return f"Remit: it failed ({type(error).__name__}); tell the person who runs you", True

    def _in_policy_words(self, rulebook: Rulebook, args: dict[str, Any]) -> dict[str, Any]:
        """The call that the arguments are about, in the words in which the hook will judge it."""
        meant, given = args.get("tool"), args.get("args", {})
        if type(meant) is not str or type(given) is not dict:
            return args
        known = rulebook.book.tools.keys() | rulebook.book.aliases.keys()
        tool = next((name for name in self._host.names_of(meant) if name in known), meant)
        return {**args, "tool": tool, "args": self._host.effective_args(meant, given)}


_KEPT = frozenset({"type", "properties", "required"})


class _Opened:
    """What is in force, and the store, for the length of a block. Raises RemitError."""

    def __init__(self, host: str, state: Path, cwd: str | None = None) -> None:
        installed = read_installed(state, host)
        self._opened = open_for_hook(state, point=host, url=installed.store, timeout=PATIENCE)
        enforcer = Enforcer.of_project(Path(installed.root), state, self._opened.store, self._opened.ledger)
        self._enforcer = Grounds(enforcer, state).at(installed, cwd)

    def __enter__(self) -> Enforcer:
        return self._enforcer

    def __exit__(self, *_: object) -> None:
        with suppress(RemitError):
            self._opened.sign_if_due(waited=True, ended=False)
        self._opened.store.close()
