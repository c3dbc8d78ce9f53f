"""Helpers for users' tests and for adapters: policy tests, and later the conformance suite."""
