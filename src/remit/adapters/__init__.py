"""Where hosts and frameworks meet Remit: each adapter is thin, and carries one decision."""
