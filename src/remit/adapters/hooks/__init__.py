"""The hooks of coding agents: a host asks before each tool call, and obeys the answer."""
