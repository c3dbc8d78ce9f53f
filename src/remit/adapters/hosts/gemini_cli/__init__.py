"""Gemini CLI: checked against version 0.61.0."""

from remit.adapters.hosts.gemini_cli.hook import GeminiCli

HOST = GeminiCli()
