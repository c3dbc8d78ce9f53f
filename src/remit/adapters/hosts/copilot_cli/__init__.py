"""GitHub Copilot CLI: checked against version 1.0.102."""

from remit.adapters.hosts.copilot_cli.hook import CopilotCli

HOST = CopilotCli()
