"""The pure function: rulebook, call and facts in, decision out.

decision = decide(rulebook, Call("researcher", "read_file", {"filePath": "README.md"}))
"""

from remit.decide.engine import decide

__all__ = ["decide"]
