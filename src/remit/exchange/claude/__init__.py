"""Claude Code's own files: its settings and the definitions of its agents."""
