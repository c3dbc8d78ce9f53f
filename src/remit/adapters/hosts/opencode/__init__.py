"""OpenCode: checked against version 1.18.33."""

from remit.adapters.hosts.opencode.hook import OpenCode

HOST = OpenCode()
