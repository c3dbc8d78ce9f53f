"""What is refused when authority is given, used or taken back."""

from __future__ import annotations

from remit.model.errors import RemitError


class GrantError(RemitError):
    """Authority that can't be given, or no longer exists."""

    code = "not-granted"
