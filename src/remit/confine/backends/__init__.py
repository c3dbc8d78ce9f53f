"""The ways to confine, one module each."""
