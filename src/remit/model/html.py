"""Every page that Remit writes as HTML: one file that loads nothing from anywhere, and runs only its own script.

html_file("scan", title="Agents", summary=text("3 agents"), …)

A page is a template in `catalog/pages/`: its body with `<!--name-->` where a part goes, and perhaps a script. The frame
around all of them has the styles that they share. The browser is told which script may run, by its hash: markup that
came from outside could not run one even if it were not escaped.

INVARIANT: text from outside enters a part only through `text`.
"""

from __future__ import annotations

import re
from html import escape

from remit.model.shipped import shipped
from remit.model.text import shown

LONGEST = 400
_PART = re.compile(r"<!--([a-z_]+)-->")
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def html_file(page: str, *, title: str, **parts: str) -> str:
    """The whole file. Every part that the template has is given, and none besides. Raises KeyError."""
    body = shipped(f"catalog/pages/{page}.html").decode()
    scripts = " ".join(f"'sha256-{_hash(script)}'" for script in _SCRIPT.findall(body))
    frame = shipped("catalog/pages/frame.html").decode()
    whole = {"title": text(title), "scripts": scripts or "'none'", "body": _filled(body, parts)}
    return _filled(frame, whole)


def text(value: object, longest: int = LONGEST) -> str:
    """Text from outside as markup that shows it: escaped, bounded, and with all that can't be seen named."""
    return escape(shown(value, longest), quote=True)


def _filled(template: str, parts: dict[str, str]) -> str:
    """The template with its parts; what a part holds is not looked at again."""
    pieces = _PART.split(template)
    unused = parts.keys() - set(pieces[1::2])
    if unused:
        raise KeyError(*sorted(unused))
    pieces[1::2] = [parts[name] for name in pieces[1::2]]
    return "".join(pieces)


def _hash(script: str) -> str:
    from base64 import b64encode  # here: only pages need them
    from hashlib import sha256

    return b64encode(sha256(script.encode()).digest()).decode()
