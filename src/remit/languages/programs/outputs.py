"""What a command feeds to the next one of a pipe: the literal output of `echo`, `printf` and `cat`, names of files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from remit.languages.bash.reading import Names, Word
from remit.languages.bash.script import Command
from remit.languages.bash.values import Piece, below
from remit.languages.programs.client import Input
from remit.languages.programs.find import found_names
from remit.model.pattern import compile_later

_ESCAPE = compile_later(r"\\(.?)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'"}
_PLACE = compile_later(r"%(.?)", re.DOTALL)
_PLAIN_PATH = compile_later(r"[A-Za-z0-9._]+(?:/[A-Za-z0-9._-]+)*|(?:/[A-Za-z0-9._-]+){2,}")
"""A path whose directory and name nobody could take for anything else."""
MAX_OUTPUT = 65_536
MAX_ITEMS = 16
"""More items than these are not told one by one."""
HERE = Word("*", "what is here", glob=True, deep=True, some=True)
"""Any path below the working directory, whose name could look like an option."""
_FILTERS = {"sort": "rnuzfhVR", "uniq": "zuid", "grep": "viEFwxPz", "egrep": "viwxz", "head": "z", "tail": "z",
            "shuf": "z", "tac": ""}  # fmt: skip
"""Programs that give lines on as they are, with the options that change nothing about that."""
_LISTING = frozenset(
    ("-z", "-c", "--cached", "-o", "--others", "-m", "--modified", "-d", "--deleted", "--exclude-standard", "-i")
)
_LISTS_MATCHES = {
    "grep": "EFGHILPZahilnorsvwx",
    "egrep": "HILZahilnorsvwx",
    "fgrep": "HILZahilnorsvwx",
    "rg": "0FHPSUailnsuvwx",
}
"""Programs that list the files in which they find something, with the options that change nothing else about that."""
_LIMITS = re.compile(
    r"--(?:include|exclude|exclude-dir|glob|iglob|type|type-not|color|colour)=.*|--hidden|--no-ignore", re.DOTALL
)
_BATCHES = frozenset(("-n", "--max-args", "-L", "--max-lines", "-l", "-s", "--max-chars", "-E", "-e", "--eof", "-x"))
_MARK = compile_later(r"-I(.*)|-[0rtpx]*i(.*)|--replace(?:=(.*))?", re.DOTALL)
_VALUED = frozenset(("-n", "-L", "-P", "-s", "-d", "-a", "-E"))
_GLUED = compile_later(r"-[0rtpx]+|-[nLlPs][0-9]+|-l|-d.|--max-(?:procs|args|lines)=[0-9]+|--null|--no-run-if-empty")
_NEED_NAMES = frozenset(
    """
    basename bunzip2 bzip2 cat chgrp chmod chown cp cut dirname echo egrep fgrep file grep gunzip gzip head install kill
    ln md5sum mkdir mv perl printf readlink realpath rename rm rmdir sed sha1sum sha256sum shred sort stat tac tail tar
    tee touch truncate uniq unlink unxz wc xz zcat zip
    """.split()  # noqa: SIM905  a list of names reads better so
)
"""Programs that do nothing to files, or fail, if no name follows. xargs runs the others even if it reads none."""
_ENDING = compile_later(r"[A-Za-z0-9._~-]+")
_QUOTING = frozenset("'\"\\")


def output_of(command: Command, *, posix: bool = False) -> str | None:
    """What the command prints, to the letter; None where that isn't certain. `posix`: a shell other than bash."""
    texts = [word.text for word in command.words]
    known = [text for text in texts if text is not None]
    if len(known) != len(texts) or any(word.glob for word in command.words) or command.assigns:
        return None
    inputs = [r for r in command.redirects if r.op in ("<<", "<<<") and r.fd in ("", "0")]
    if len(inputs) != len(command.redirects):
        return None
    if known[:1] == ["echo"] and not inputs:
        return _echo(known[1:], posix)
    if known[:1] == ["printf"] and len(known) > 1 and not inputs:
        return _printf(known[1:])
    if known == ["cat"] and inputs:
        return inputs[-1].body
    if known[:1] == ["dirname"] and len(known) == 2 and _PLAIN_PATH.fullmatch(known[1]):
        return f"{known[1].rpartition('/')[0] or '.'}\n"
    if known[:1] == ["basename"] and len(known) == 2 and _PLAIN_PATH.fullmatch(known[1]):
        return f"{known[1].rpartition('/')[2]}\n"
    return None


def _echo(words: list[str], posix: bool) -> str | None:
    newline, escapes = "\n", False
    while words and re.fullmatch("-[neE]+", words[0]):
        if posix:
            return None
        for letter in words[0][1:]:
            newline = "" if letter == "n" else newline
            escapes = escapes if letter == "n" else letter == "e"
        words = words[1:]
    text = " ".join(words) + newline
    if not escapes:
        return None if posix and "\\" in text else text
    return _unescaped(text) if _named(text).isdisjoint("'\"") else None


def _named(text: str) -> set[str]:
    """The characters behind backslashes."""
    return {found[1] for found in _ESCAPE.finditer(text)}


def _printf(words: list[str]) -> str | None:
    """A format of text, `%s` and `%%`, used again until the arguments are used up."""
    if words[0] == "--":
        words = words[1:]
    if not words or words[0].startswith("-"):
        return None
    form = _unescaped(words[0])
    if form is None or "\\" in _named(words[0]):
        return None
    places = {found[1] for found in _PLACE.finditer(form)}
    if not places <= {"s", "%"}:
        return None
    rest = words[1:]
    if "s" not in places:
        return form.replace("%%", "%") if not rest else None
    found, step = "", form.replace("%%", "").count("%s")
    for start in range(0, max(len(rest), 1), step):
        words = rest[start : start + step]
        found += _filled(form, iter(words))
        if len(found) > MAX_OUTPUT:
            return None
    return found


def _filled(form: str, words: Iterator[str]) -> str:
    return _PLACE.sub(lambda place: "%" if place[1] == "%" else next(words, ""), form)


def _unescaped(text: str) -> str | None:
    if not _named(text) <= set(_SIMPLE):
        return None
    return _ESCAPE.sub(lambda found: _SIMPLE[found[1]], text)


# ------------------------------------------------------------------------------------------------------- names of files


def names_of(command: Command, given: Input) -> Names | None:
    """The files whose names a command prints, one after the other; None where that isn't certain."""
    words = command.words
    texts = [word.text for word in words]
    if not texts or None in texts or command.assigns or any(r.op != ">" or r.fd != "2" for r in command.redirects):
        return None
    program, rest = texts[0], [text or "" for text in texts[1:]]
    if program == "find":
        return found_names(list(words[1:]))
    if program == "git" and rest[:1] == ["ls-files"] and all(t in _LISTING or t[:1] != "-" for t in rest[1:]):
        return Names((HERE,), "nul" if "-z" in rest else "line")
    if program == "ls":
        return _listed(words[1:])
    if program in _LISTS_MATCHES:
        found = _with_matches(program, words[1:])
        if found is not None:
            return found
    letters = _FILTERS.get(program or "")
    if letters is None or given.names is None:
        return None
    options = "".join(text[1:] for text in rest if text[:1] == "-" and not text[1:].isdigit())
    plain = [text for text in rest if text[:1] != "-"]
    if program in ("head", "tail"):
        if rest[:1] == ["-n"] and len(rest) == 2:
            return given.names if given.names.ends == "line" else None
        plain = [text for text in rest if not text[1:].isdigit() or text[:1] != "-"]
    if len(plain) > (program in ("grep", "egrep")) or not set(options) <= set(letters):
        return None
    return given.names if ("z" in options) == (given.names.ends == "nul") else None


def _with_matches(program: str, words: Sequence[Word]) -> Names | None:
    """The files that `grep -rl TODO src` lists; None if it prints lines, or where that isn't certain."""
    given: list[Word] = []
    letters, patterns, at = "", 0, 0
    while at < len(words):
        text = words[at].text or ""
        at += 1
        if text in ("-e", "--regexp") or (program == "rg" and text in ("-g", "-t", "-T")):
            patterns += text in ("-e", "--regexp")
            at += 1
        elif text in ("--files-with-matches", "--files-without-match"):
            letters += "l"
        elif text in ("--null", "--recursive"):
            letters += "Z" if text == "--null" else "r"
        elif text[:2] == "--" and not _LIMITS.fullmatch(text):
            return None
        elif text[:1] == "-" and text != "-":
            letters += text[1:] if text[:2] != "--" else ""
        else:
            given.append(words[at - 1])
    places = given if patterns else given[1:]
    if (
        not set(letters) <= set(_LISTS_MATCHES[program])
        or set(letters).isdisjoint("lL")
        or "-" in [w.text for w in places]
    ):
        return None
    deep = program == "rg" or "r" in letters
    if not places:
        return Names((HERE,), "line" if set(letters).isdisjoint("Z0") else "nul") if deep else None
    named = found_names(list(places)) if deep else Names(tuple(places))
    found = named and named._replace(words=tuple(word._replace(some=True, through="all") for word in named.words))
    return found and found._replace(ends="line" if set(letters).isdisjoint("Z0") else "nul")


def _listed(words: Sequence[Word]) -> Names | None:
    """What `ls` lists: names without their directory."""
    options = "".join((word.text or "")[1:] for word in words if (word.text or "").startswith("-"))
    plain = [word for word in words if not (word.text or "").startswith("-")]
    if not set(options) <= set("1AtrSUXd") or any("-" in (word.text or "")[1:2] for word in words):
        return None
    here = Word("*", "names of files", glob=True, some=True)
    if not plain:
        return Names((here._replace(found=True),))
    if "d" in options:
        return Names(tuple(plain))
    return Names((here, plain[0])) if len(plain) == 1 and not plain[0].glob else None


# ---------------------------------------------------------------------------------------------------------------- xargs


def fed_commands(commands: list[list[Word]], command: Command, seen: set[str], given: Input) -> list[list[Word]]:
    """The commands that xargs runs, with what it reads in its place."""
    replaced = not seen.isdisjoint(("-I", "-i", "-J", "--replace"))
    mark = _mark(command) if replaced and "-J" not in seen else None
    batches = not seen.isdisjoint(_BATCHES)
    several = "-J" in seen
    unknown = [[_replaced(word, mark, several) for word in inner] for inner in commands] if replaced else []
    if not replaced or batches:  # of `-I` and `-n`, the later one counts, or both
        unknown.extend([*inner, Word(None, "…")] for inner in commands)
    alone = seen.isdisjoint(("-a", "--arg-file", "-d", "--delimiter", "-J", "-i", "--replace", "-E", "-e", "--eof"))
    if not alone or (replaced and (not mark or batches)):
        return unknown
    nul = not seen.isdisjoint(("-0", "--null"))
    found: list[list[Word]] = []
    if given.text is not None:
        items = _items(given.text, nul=nul, lines=replaced)
        if items is None or len(items) > MAX_ITEMS or batches:
            return unknown
        for inner in commands:
            if mark:
                found.extend([_put(word, mark, item) for word in inner] for item in items)
            else:
                found.append([*inner, *(Word(item, item) for item in items)])
        return found
    names = given.names
    if names is None or nul != (names.ends == "nul"):
        return unknown
    for inner in commands:
        for name in names.words:
            if mark:
                found.append([_below(word, mark, name) for word in inner])
            elif not batches:
                found.append([*inner, name, name])  # several: of `mv` the last is the target
            else:
                found.extend(([*inner, name], [*inner, name, name]))
    if not mark and seen.isdisjoint(("-r", "--no-run-if-empty")):
        found.extend(list(inner) for inner in commands if inner and not _needs_names(inner[0].text or ""))
    if not nul:  # a name with a blank or a newline in it makes other words
        found.extend([word._replace(found=True) if word.text is None else word for word in inner] for inner in unknown)
    return found


def _needs_names(program: str) -> bool:
    place, _, name = program.rpartition("/")
    return name in _NEED_NAMES and place in ("", "/bin", "/usr/bin")


def _replaced(word: Word, mark: str | None, several: bool) -> Word:
    """A word of the command in which the mark, if it is known, becomes something that nobody knows."""
    if word.text is None or (mark and mark not in word.text):
        return word
    if several:
        return Word(None, word.raw)
    return Word(None, word.raw, start=word.text.partition(mark)[0] if mark else "")


def _mark(command: Command) -> str | None:
    """The text that `-I`, `-i` or `--replace` names; None if that isn't certain."""
    texts = iter([word.text for word in command.words[1:]])
    mark = None
    for text in texts:
        if text is None or not text.startswith("-"):
            return mark
        named = _MARK.fullmatch(text)
        if named is not None:
            if mark is not None:
                return None
            mark = next(texts, None) if text == "-I" else named[1] or named[2] or named[3] or "{}"
        elif text in _VALUED:
            next(texts, None)
        elif not _GLUED.fullmatch(text):
            return None
    return mark


def _items(text: str, *, nul: bool, lines: bool) -> list[str] | None:
    if nul:
        return text.removesuffix("\0").split("\0") if text else []
    if not _QUOTING.isdisjoint(text) or "\0" in text:
        return None
    if lines:
        return [line.lstrip(" \t") for line in text.split("\n") if line.strip(" \t")]
    return re.split(r"[ \t\n]+", text.strip(" \t\n")) if text.strip(" \t\n") else []


def _put(word: Word, mark: str, item: str) -> Word:
    """A word of the command with an item in the place of the mark."""
    if word.text is None or mark not in word.text:
        return word
    return Word(word.text.replace(mark, item), word.raw) if not word.glob else Word(None, word.raw)


def _below(word: Word, mark: str, name: Word) -> Word:
    """The same with something that stands for many names."""
    if word.text is None or mark not in word.text:
        return word
    return put_below(word, mark, name)


def put_below(word: Word, mark: str, name: Word) -> Word:
    """The word with `name`, which may be a pattern or all below a path, in the place of the mark."""
    before, _, after = (word.text or "").partition(mark)
    if word.text == mark:
        return Word(name.text, mark, name.glob, name.deep, name.some, found=name.found, through=name.through)
    if name.text is not None and name.glob and not name.deep and not before and _ENDING.fullmatch(after):
        return Word(name.text + after, word.raw, glob=True, some=True)
    if mark in after or not name.deep or name.text is None or word.glob or name.glob:
        return Word(None, word.raw)
    piece = below(before, Piece(name.text, name.glob, name.deep), after)
    return Word(None, word.raw) if piece is None else Word(piece.text, word.raw, piece.glob, piece.deep, name.some)
