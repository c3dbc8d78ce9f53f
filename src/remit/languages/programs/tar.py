"""Reads tar's command line: the archive, what goes into it or comes out of it, and where.

Follows GNU tar: options bundled in the first word (`tar czf x.tgz src`), clustered, long, abbreviated, and anywhere
among the names. Each `-C` holds for the names behind it, and is relative to the one before.
"""

from __future__ import annotations

import posixpath
import re

from remit.languages.bash.reading import Reading, Word
from remit.model.pattern import compile_later

# All options that GNU tar 1.35 has, so that an abbreviation means what tar takes it for.
# fmt: off
_FLAGS = [
    # operations
    "create", "extract", "list", "append", "update", "delete", "diff", "concatenate", "test-label",
    # compression
    "auto-compress", "no-auto-compress", "bzip2", "xz", "lzip", "lzma", "lzop", "zstd", "gzip", "compress",
    # what is taken up
    "absolute-names", "acls", "anchored", "check-device", "check-links", "clamp-mtime", "dereference",
    "exclude-backups", "exclude-caches", "exclude-caches-all", "exclude-caches-under", "exclude-vcs",
    "exclude-vcs-ignores", "hard-dereference", "ignore-case", "ignore-failed-read", "incremental", "no-acls",
    "no-anchored", "no-check-device", "no-ignore-case", "no-null", "no-recursion", "no-seek", "no-selinux",
    "no-unquote", "no-verbatim-files-from", "no-wildcards", "no-wildcards-match-slash", "no-xattrs", "null",
    "numeric-owner", "one-file-system", "recursion", "remove-files", "seek", "selinux", "sparse", "unquote",
    "verbatim-files-from", "verify", "wildcards", "wildcards-match-slash", "xattrs",
    # what comes out
    "delay-directory-restore", "ignore-command-error", "keep-directory-symlink", "keep-newer-files",
    "keep-old-files", "no-delay-directory-restore", "no-ignore-command-error", "no-overwrite-dir", "no-same-owner",
    "no-same-permissions", "overwrite", "overwrite-dir", "preserve-order", "preserve-permissions",
    "recursive-unlink", "same-owner", "skip-old-files", "to-stdout", "touch", "unlink-first",
    # devices, formats, messages
    "block-number", "force-local", "full-time", "help", "ignore-zeros", "interactive", "multi-volume",
    "old-archive", "portability", "posix", "read-full-records", "restrict", "show-defaults", "show-omitted-dirs",
    "show-snapshot-field-ranges", "show-stored-names", "show-transformed-names", "usage", "utc", "verbose",
    "version",
]
_TEXTS = [
    "blocking-factor", "exclude", "exclude-ignore", "exclude-ignore-recursive", "exclude-tag", "exclude-tag-all",
    "exclude-tag-under", "format", "group", "hole-detection", "label", "level", "mode", "no-quote-chars", "owner",
    "pax-option", "quote-chars", "quoting-style", "record-size", "set-mtime-format", "sort", "sparse-version",
    "starting-file", "strip-components", "suffix", "tape-length", "transform", "warning", "xattrs-exclude",
    "xattrs-include", "newer-mtime",
]
_OPTIONAL = ["atime-preserve", "backup", "checkpoint", "occurrence", "one-top-level", "totals"]
_SPECIAL = {
    "file": "path", "directory": "path", "add-file": "path", "files-from": "path", "listed-incremental": "path",
    "exclude-from": "read", "group-map": "read", "owner-map": "read",
    "index-file": "write", "volno-file": "write",
    "mtime": "date", "newer": "date",               # a date, or a file whose date counts
    "to-command": "refuse", "use-compress-program": "refuse", "info-script": "refuse", "rmt-command": "refuse",
    "rsh-command": "refuse", "checkpoint-action": "refuse", "set-mtime-command": "refuse",
}
ABBREVIATED = {
    "after-date": "newer", "catenate": "concatenate", "compare": "diff", "confirmation": "interactive",
    "get": "extract", "gunzip": "gzip", "ungzip": "gzip", "uncompress": "compress", "same-order": "preserve-order",
    "same-permissions": "preserve-permissions", "new-volume-script": "info-script", "xform": "transform",
}
"""Other names for the same options."""
LONG: dict[str, str] = {
    **dict.fromkeys(_FLAGS, "flag"), **dict.fromkeys(_TEXTS, "text"), **dict.fromkeys(_OPTIONAL, "optional"),
    **_SPECIAL,
}
"""Long options, with what becomes of their value."""
LONG.update({other: LONG[name] for other, name in ABBREVIATED.items()})
SHORT = {
    "A": "concatenate", "B": "read-full-records", "C": "directory", "F": "info-script", "G": "incremental",
    "H": "format", "I": "use-compress-program", "J": "xz", "K": "starting-file", "L": "tape-length",
    "M": "multi-volume", "N": "newer", "O": "to-stdout", "P": "absolute-names", "R": "block-number", "S": "sparse",
    "T": "files-from", "U": "unlink-first", "V": "label", "W": "verify", "X": "exclude-from", "Z": "compress",
    "a": "auto-compress", "b": "blocking-factor", "c": "create", "d": "diff", "f": "file",
    "g": "listed-incremental", "h": "dereference", "i": "ignore-zeros", "j": "bzip2", "k": "keep-old-files",
    "l": "check-links", "m": "touch", "n": "seek", "o": "no-same-owner", "p": "preserve-permissions",
    "r": "append", "s": "preserve-order", "t": "list", "u": "update", "v": "verbose", "w": "interactive",
    "x": "extract", "z": "gzip", "?": "help",
}
# fmt: on

_REMOTE = compile_later(r"([^/:]+):.*", re.DOTALL)
"""`host:file`, unless a slash comes first."""
_COMPRESSORS = frozenset(
    {"gzip", "pigz", "bzip2", "pbzip2", "lbzip2", "xz", "pixz", "pxz", "zstd", "zstdmt", "lz4", "lzip", "plzip", "lzop"}
)
_LEVEL = compile_later(r"-[0-9]{1,2}|-T[0-9]{1,3}|--long(=[0-9]+)?|--fast|--best|--ultra|-e|-q|-d|-dc|-c")
_CHECKPOINTS = compile_later(r"dot|\.|echo(=.*)?|bell|totals|ttyout=.*|sleep=[0-9]+", re.DOTALL)
_CREATING = frozenset({"create", "append", "update"})
_OPERATIONS = _CREATING | {"extract", "list", "delete", "diff", "concatenate", "test-label"}
_HERE = Word(".", ".")


def read_tar(words: list[Word], out: Reading) -> None:
    """Add what the command does; `words` are all after the program's name."""
    _Tar(out).read(words)


_LISTS = frozenset(("no-null", "no-verbatim-files-from"))
"""With these, lines of a list of names that begin with `-` are options."""


class _Tar:
    def __init__(self, out: Reading) -> None:
        self.out = out
        self.operation = ""
        self.archives: list[Word] = []
        self.names: list[tuple[Word, Word]] = []
        """What is named, each with the directory that holds for it."""
        self.directory = _HERE
        self.directories: list[Word] = []
        self.below: list[Word] = []
        """Values of `--one-top-level`."""
        self.flags: set[str] = set()
        self.snapshots: list[Word] = []
        self.lists: list[tuple[Word, Word, bool]] = []
        """Names in a file, each with the directory that holds for them and whether all of its lines are names."""

    def read(self, words: list[Word]) -> None:
        """All words, then what they come to."""
        at, ended = self._bundle(words), False
        while at < len(words):
            word = words[at]
            at += 1
            text = word.text
            if text is None and word.start and word.start[0] != "-":
                self.out.dynamic.append(word.raw)
                self.names.append((word, self.directory))
            elif text is None or (word.glob and text[:1] in "*?[" and not ended):
                # It could turn into an option, and tar has options that run programs.
                self._doubtful(word, ended)
                self.names.append((word, self.directory))
            elif ended or len(text) < 2 or text[0] != "-":
                self.names.append((word, self.directory))
            elif text == "--":
                ended = True
            elif text.startswith("--"):
                at = self._long(text, words, at)
            else:
                at = self._cluster(text, words, at)
        self._conclude()

    def _bundle(self, words: list[Word]) -> int:
        """A first word without a dash: letters, whose values follow as words in their order."""
        first = words[0].text if words else None
        if first is None or first.startswith("-") or words[0].glob:
            return 0
        at = 1
        for letter in first:
            at = self._letter(letter, None, words, at)
        return at

    def _cluster(self, text: str, words: list[Word], at: int) -> int:
        for index, letter in enumerate(text[1:], start=2):
            takes = SHORT.get(letter, "")
            if LONG.get(takes, "flag") != "flag":
                return self._letter(letter, text[index:] or None, words, at)
            at = self._letter(letter, None, words, at)
        return at

    def _letter(self, letter: str, glued: str | None, words: list[Word], at: int) -> int:
        name = SHORT.get(letter)
        if name is None:
            self._unknown(f"the option `-{letter}` isn't known")
            return at
        return self._option(name, glued, words, at)

    def _long(self, text: str, words: list[Word], at: int) -> int:
        name, equals, value = text[2:].partition("=")
        if name not in LONG:
            matches = {ABBREVIATED.get(known, known) for known in LONG if known.startswith(name)} if name else set()
            if len(matches) != 1:
                self._unknown(f"the option `--{name}` " + ("could be several" if matches else "isn't known"))
                for match in matches:
                    if LONG[match] == "refuse":
                        self.out.refused.append(f"`--{match}`: runs a program")
                return at
            name = matches.pop()
        return self._option(ABBREVIATED.get(name, name), value if equals else None, words, at)

    def _option(self, name: str, value: str | None, words: list[Word], at: int) -> int:
        kind = LONG[name]
        if kind == "flag":
            if value is not None:
                self._unknown(f"a value for `--{name}`")
            self._flag(name)
            return at
        if kind == "optional":
            self._value(name, None if value is None else Word(value, value))
            return at
        if value is not None:
            word = Word(value, value)
        elif at < len(words):
            word = words[at]
            at += 1
        else:
            self._unknown(f"`--{name}` without its value")
            return at
        self._value(name, word)
        return at

    def _flag(self, name: str) -> None:
        if name in _OPERATIONS:
            if self.operation not in ("", name):
                self._unknown("more than one operation")
            self.operation = name
        elif name == "absolute-names":
            self.out.refused.append("`--absolute-names`: archives then reach any path")
        else:
            self.flags.add(name)

    def _value(self, name: str, word: Word | None) -> None:
        kind = LONG[name]
        if word is None:
            self.flags.add(name)
        elif word.text is None and kind != "refuse":
            self.out.dynamic.append(word.raw)
        if kind == "refuse":
            self._program(name, word)
        elif word is None:
            return
        elif name == "file":
            self.archives.append(word)
        elif name == "directory":
            self.directory = _join(self.directory, word)
            self.directories.append(self.directory)
            self.out.touch("read", self.directory)
        elif name == "files-from":
            verbatim = self.flags & {"null", "verbatim-files-from"} and self.flags.isdisjoint(_LISTS)
            self.lists.append((Word(None, word.raw, start=""), self.directory, bool(verbatim)))
            if word.text != "-":
                self.out.touch("read", word)
        elif name == "add-file":
            self.names.append((word, self.directory))
        elif name == "one-top-level":
            self.below.append(word)
        elif name == "listed-incremental":
            self.snapshots.append(word)
        elif kind in ("read", "write"):
            self.out.touch(kind, word)
        elif kind == "date" and (word.text is None or word.text[:1] in ("/", ".")):
            self.out.touch("read", word)

    def _program(self, name: str, word: Word | None) -> None:
        """An option whose value is a program, unless it is a compressor or merely shows progress."""
        text = word.text if word is not None else None
        if text is not None and name == "use-compress-program":
            program, *rest = text.split() or [""]
            if program in _COMPRESSORS and all(_LEVEL.fullmatch(part) for part in rest):
                return
        if text is not None and name == "checkpoint-action" and _CHECKPOINTS.fullmatch(text):
            return
        self.out.refused.append(f"`--{name}`: runs a program")

    def _conclude(self) -> None:
        """What the options and names come to, once all are known."""
        operation = self.operation
        for names, directory, verbatim in self.lists:
            if verbatim and operation in _CREATING:
                self.names.append((names, directory))
            else:
                self._unknown("the names, and options among them, come from a file")
        if operation in _CREATING:
            if "dereference" in self.flags:
                self.out.links = "all"
            self._created()
        elif operation == "concatenate":
            for name, _ in self.names:
                self._archive(name, "read")
        elif operation == "diff":
            for name, directory in self.names or [(_HERE, self.directory)]:
                self.out.touch("read", _join(directory, name), deep=True)
        elif operation == "extract":
            self._extracted()
        elif not operation and not self.flags & {"help", "version", "usage", "show-defaults"}:
            self._unknown("no operation")
        writes = operation in _CREATING or operation in ("concatenate", "delete")
        for archive in self.archives:
            self._archive(archive, "write" if writes else "read")
        for snapshot in self.snapshots:
            self.out.touch("write" if operation in _CREATING else "read", snapshot)

    def _created(self) -> None:
        for name, directory in self.names:
            path = _join(directory, name)
            self.out.touch("read", path, deep=True)
            if "remove-files" in self.flags:
                self.out.touch("delete", path, deep=True)

    def _extracted(self) -> None:
        if "to-stdout" in self.flags:
            return
        self.out.brings = True
        targets = list(self.directories)
        if not targets or any(directory is _HERE for _, directory in self.names):
            targets.append(_HERE)
        targets += [_join(target, below) for target in targets for below in self.below]
        for target in targets:
            self.out.touch("write", target, deep=True, some=True)
            # Restoring an incremental archive removes what wasn't there when it was made.
            if self.snapshots or self.flags & {"incremental", "recursive-unlink"}:
                self.out.touch("delete", target, deep=True, some=True)

    def _archive(self, word: Word, effect: str) -> None:
        text = word.text
        if text == "-":
            return
        remote = _REMOTE.fullmatch(text) if text is not None else None
        if remote is not None and "force-local" not in self.flags:
            self.out.host(Word(remote.group(1).rpartition("@")[2], word.raw))
            return
        if text is None:
            self._unknown(f"the archive `{word.raw}` is not literal, and could be on another host")
        self.out.touch(effect, word)

    def _doubtful(self, word: Word, ended: bool) -> None:
        self.out.dynamic.append(word.raw)
        if not ended:
            self._unknown(f"`{word.raw}` could turn into an option; put it behind `--`")

    def _unknown(self, what: str) -> None:
        self.out.unknown.append(f"tar: {what}")


def _join(directory: Word, word: Word) -> Word:
    """A path as seen from a directory."""
    if directory.text == "." or (word.text is not None and word.text.startswith("/")):
        return word
    if directory.text is None or word.text is None:
        return Word(None, f"{directory.raw}/{word.raw}")
    path = posixpath.join(directory.text, word.text)
    return Word(path, path, word.glob)
