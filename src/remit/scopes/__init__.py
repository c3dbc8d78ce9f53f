"""Scopes: what the arguments of a call must be, by kind."""
