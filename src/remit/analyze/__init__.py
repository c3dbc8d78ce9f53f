"""Questions about a whole rulebook: what can be proved about it, and with which counterexamples."""
