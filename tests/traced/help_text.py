"""Reads in a program's own help which options take a file or a folder, and says which its profile does not see."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from remit.languages.programs.profiles import Profile, profile_of, programs
from remit.languages.programs.understand import understand
from remit.model.terms import UNDERSTOOD

VALUE = "zz/named.q"
"""A path that no program has by itself."""
NOT_RUN = frozenset(
    """
    bash dash fish rbash sh zsh ksh mksh tcsh csh sudo su reboot shutdown halt poweroff init telinit login passwd vi vim
    view ex nvim nano emacs top screen tmux yes read kill killall killall5 pkill skill snice newgrp sg vipw vigr vimdiff
    ipython ipython3 irb tzselect mc lynx links w3m ssh-copy-id crontab wall write gvim mutt at batch reset tset tload
    slabtop ncdu mtr
    """.split()  # noqa: SIM905  a list of names reads better so
)
"""Programs that wait for a person, or do something whatever they are asked."""
WIDE = frozenset(
    """
    npm cargo pip docker kubectl terraform go uv gh helm openssl podman git rclone gcloud hg svn bundle gem
    """.split()  # noqa: SIM905  a list of names reads better so
)
"""Programs each of whose subcommands has a help of its own."""
_OPTION = re.compile(
    r"^\s{0,14}(?P<names>-{1,2}[A-Za-z][\w-]*(?:(?:,\s*|\s*\|\s*|, or |\s+or\s+)-{1,2}[A-Za-z][\w-]*)*)"
    r"(?:,?\s*(?:\[=?|=|\s)\s*(?P<value><[^>]+>|\{[^}]+\}|[A-Za-z_][\w.|/:-]*)\]?)?(?P<rest>.*)$"
)
_FILE = re.compile(
    r"file(name|path)?s?|path(name)?s?|dir(ectory|ectories|s)?|folders?|out(put|file)?|log(file)?|dest(ination)?"
    r"|archive|script|config",
    re.I,
)
_SAYS = re.compile(r"\b(file|files|filename|path|directory|folder|dir)\b", re.I)


def installed() -> Iterator[tuple[str, ...]]:
    """Every program of the catalog that is here and can be asked, and the subcommands that have a help of their own."""
    for name in sorted({*programs().programs, *programs().aliases}):
        profile = profile_of(name)
        if name in NOT_RUN or "/" in name or profile is None or shutil.which(name) is None:
            continue
        yield from _leaves(profile, (name,), 3 if name in WIDE else 1)


def _leaves(profile: Profile, words: tuple[str, ...], deep: int) -> Iterator[tuple[str, ...]]:
    if not profile.sub or profile.bare is not None or len(words) == 1:
        yield words
    if len(words) < deep:
        for name, sub in profile.sub.items():
            if name == "reference":
                continue  # gh prints the help of all others
            yield from _leaves(sub, (*words, name), deep)


def help_of(words: tuple[str, ...], folder: Path) -> str:
    """What it prints about its options; nothing if it prints none."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C"}
    env |= {"PAGER": "cat", "MANPAGER": "cat", "GIT_PAGER": "cat"}
    for asked in ([*words, "--help"], [*words, "-h"]) if words[0] != "git" else ([*words, "-h"],):
        try:
            ran = subprocess.run(
                asked, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        text = (ran.stdout + ran.stderr).decode("utf-8", "replace")
        if len(re.findall(r"^\s*-", text, re.M)) > 1:
            return text
    return ""


def file_options(text: str) -> Iterator[tuple[str, str]]:
    """Each option whose value is a file or a folder, as far as its line tells, and the line."""
    for line in text.splitlines():
        parts = _OPTION.match(line)
        if parts is None or (parts["value"] is None and "=" not in line[:60]):
            continue
        names = re.findall(r"-{1,2}[A-Za-z][\w-]*", parts["names"])
        if not {"--help", "--version"}.isdisjoint(names):
            continue
        value, rest = (parts["value"] or "").strip("<>"), parts["rest"]
        if value.islower() and line[parts.start("value") - 2 : parts.start("value")] == "  ":
            continue  # the beginning of what it does: it takes no value
        told = _FILE.fullmatch(value) or any(_FILE.fullmatch(part) for part in re.split(r"[-_ ]", value))
        named = any(_FILE.fullmatch(part) for name in names for part in name.strip("-").split("-"))
        if told or (named and (_SAYS.search(rest) or not rest.strip())) or (_SAYS.search(rest[:60]) and named):
            yield from ((name, line.strip()) for name in names)


def unseen(words: tuple[str, ...], option: str) -> bool:
    """True if a command with a file for this option is understood, and the file does not show in what it touches."""
    glued = () if option.startswith("--") else (f"{option}{VALUE}",)
    for form in (f"{option}={VALUE}", f"{option} {VALUE}", *glued):
        found = understand(" ".join((*words, form)))
        if found.grade != UNDERSTOOD or any("system" in act.effects for act in found.acts):
            continue  # whoever is asked about it sees the whole command
        touched = [touch for act in found.acts for touch in (*act.touches, *act.redirected)]
        if not any(touch.path.text is None or "named.q" in touch.path.text for touch in touched):
            return True
    return False
