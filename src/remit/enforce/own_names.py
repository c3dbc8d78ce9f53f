"""The names of the tools by which agents turn to Remit itself (`own.py`); a policy has them by `use: [remit]`."""

from __future__ import annotations

REQUEST = "remit_request"
TASK = "remit_task"
"""By it an agent in a host says which of its tasks it works on."""
ACKNOWLEDGE = "remit_acknowledge"
OWN = frozenset(("remit_why", REQUEST, "remit_delegate", ACKNOWLEDGE, "remit_waiting"))
OWN_IN_HOST = OWN | {TASK}
