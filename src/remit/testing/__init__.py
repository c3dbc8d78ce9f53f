"""Helpers for users' tests and for adapters: policy tests, a guard for tests, and later the conformance suite."""

from remit.testing.scratch import guard

__all__ = ["guard"]
