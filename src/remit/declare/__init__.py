"""Policy text → Policy, with source positions; the only place that parses YAML."""

from remit.declare.load import build_policy, load_policy, read_pack

__all__ = ["build_policy", "load_policy", "read_pack"]
