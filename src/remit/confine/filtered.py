"""Starts a command behind the filter of system calls where no program of its own does that: by Perl, which starts fast.

Perl is part of every Debian and of most other systems; Python would take longer to start than all the rest of a launch.
"""

from __future__ import annotations

import platform
import shlex

from remit.confine.call_filter import PRCTL, program
from remit.confine.interface import Unconfinable
from remit.confine.trial import system_program

DESCRIPTOR = 8
"""Where the filter is read from: the file itself can't be seen any more."""
FAILED = 125
_SET_SECCOMP, _WITH_FILTER = 22, 2
_SCRIPT = """
delete $ENV{{PERL_BADLANG}};
open(my $in, "<&={descriptor}") or exit {failed};
binmode $in; local $/; my $filter = <$in>; close $in;
my $program = pack("Sx6P", length($filter) / 8, $filter);
if (!length($filter) or syscall({prctl}, {operation}, {mode}, $program) != 0) {{
    print STDERR "remit: system calls could not be filtered, and the command did not run\\n"; exit {failed};
}}
exec {{$ARGV[0]}} @ARGV; exit {failed};
"""


def filter_bytes() -> bytes | None:
    """The filter; None where nothing here can set it, or this machine's system calls are not known."""
    try:
        system_program("perl")
        return program()
    except Unconfinable:
        return None


def filtered() -> str:
    """Words of a shell that start what stands behind them filtered. Raises Unconfinable where `filter_bytes` is None.

    No new privileges must be possible by then."""
    script = _SCRIPT.format(
        descriptor=DESCRIPTOR,
        failed=FAILED,
        prctl=PRCTL[platform.machine()],
        operation=_SET_SECCOMP,
        mode=_WITH_FILTER,
    )
    return f"{system_program('perl')} -e {shlex.quote(script)}"
