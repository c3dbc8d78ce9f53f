"""Claude Code: checked against version 2.1.325."""

from remit.adapters.hosts.claude_code.hook import ClaudeCode

HOST = ClaudeCode()
