"""Installing Remit in a host: our hooks in its settings, and everything back as it was when it is uninstalled."""
