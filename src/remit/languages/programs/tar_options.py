"""tar's options: all that GNU tar 1.35 has, so that an abbreviation means what tar takes it for."""

from __future__ import annotations

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
