"""`remit mcp HOST STATE`: Remit's own tools for the agents of a host, over stdin and stdout."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from remit import __version__
from remit.adapters.mcp.protocol import Conversation, serve
from remit.adapters.mcp.server import INSTRUCTIONS, OwnTools
from remit.cli.common import FINE
from remit.cli.parameters import Argument


def command(
    host: Annotated[str, Argument(metavar="HOST", help="The host whose agents call.")],
    state: Annotated[Path, Argument(metavar="STATE", help="The state directory of the project.")],
) -> int:
    """Serve Remit's own tools to the agents of a host over MCP (stdio). Hosts run it; `remit install` registers it.

    Example: `remit mcp claude-code ~/.local/state/remit/project`
    """
    with os.fdopen(os.dup(0), "rb") as incoming, os.fdopen(os.dup(1), "wb") as outgoing:
        os.dup2(2, 1)  # nothing else writes where the client reads
        tools = OwnTools(host, state)
        serve(Conversation(tools, version=__version__, instructions=INSTRUCTIONS), incoming, outgoing)
    return FINE
