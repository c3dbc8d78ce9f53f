"""`remit install` and `remit uninstall`: our hooks in a host's settings, and everything back as it was."""
