"""The site that `make docs` builds of these pages, to read offline. Nothing on it comes from another host."""

from __future__ import annotations

import re
from typing import Any

project = "Remit"
html_title = "Remit"

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["conf.py"]
myst_heading_anchors = 4  # as links name headings here, and as code hosts do
suppress_warnings = ["misc.highlighting_failure"]  # `…` in an example stands for what varies

# From a console, a click copies what is typed, without the prompt and the output.
copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False
html_show_copyright = False
html_show_sphinx = False

_OUT = re.compile(r"\[([^]]+)\]\((?:\.\./)+((?:\w+\.md|examples|src|cases)\b[^)#]*)[^)]*\)")


def _name_files(app: Any, page: str, text: list[str]) -> None:
    """A link that leads out of docs/ is not part of the site: it names the file of the repository."""
    text[0] = _OUT.sub(lambda link: link[1] if link[1] in link[2] else f"{link[1]} (`{link[2]}`)", text[0])


def setup(app: Any) -> None:
    app.connect("source-read", _name_files)
