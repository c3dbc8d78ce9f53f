"""Codex CLI: checked against version 0.166.0."""

from remit.adapters.hosts.codex.hook import Codex

HOST = Codex()
