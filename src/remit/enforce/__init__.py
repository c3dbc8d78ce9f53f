"""Carrying decisions out: looking up facts before a decision. Guard comes later."""
