"""Reads find's command line: where it looks, what it writes and deletes, and the commands it runs.

Follows GNU find, with the leading options of the BSDs. The expression is a small language of its own: a word that
isn't a known test or action makes the command not understood.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from remit.languages.bash.reading import Reading, Word

_LEADING = frozenset({"-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x"})
_OPERATORS = frozenset({"(", ")", "!", ",", "-a", "-and", "-o", "-or", "-not"})
# fmt: off
_PLAIN = frozenset({
    "-daystart", "-depth", "-d", "-empty", "-executable", "-false", "-follow", "-help", "--help",
    "-ignore_readdir_race", "-ls", "-mount", "-noignore_readdir_race", "-nogroup", "-noleaf", "-nouser", "-nowarn",
    "-print", "-print0", "-prune", "-quit", "-readable", "-true", "-version", "--version", "-warn", "-writable",
    "-xdev",
})
"""Tests and actions without a value."""
_VALUED = frozenset({
    "-amin", "-atime", "-cmin", "-context", "-ctime", "-flags", "-fstype", "-gid", "-group", "-ilname", "-iname",
    "-inum", "-ipath", "-iregex", "-iwholename", "-links", "-lname", "-maxdepth", "-mindepth", "-mmin", "-mtime",
    "-name", "-path", "-perm", "-printf", "-regex", "-regextype", "-size", "-type", "-uid", "-used", "-user",
    "-wholename", "-xattrname", "-xtype",
})
"""With a value that is mere text."""
# fmt: on
_READS = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})
_WRITES = frozenset({"-fprint", "-fprint0", "-fls", "-fprintf"})
_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_ACTIONS = _OPERATORS | _PLAIN | _VALUED | _READS | _WRITES | _RUNS | {"-delete", "-files0-from"}
_TIMES = "aBcm"
"""The letters of `-newerXY`; a reference of kind `t` is a time, any other a file."""
_STREAMS = frozenset({"/dev/stdout", "/dev/stderr"})


def read_find(words: list[Word], out: Reading) -> None:
    """Add what the command does; `words` are all after the program's name."""
    _Find(words, out).read()


class _Find:
    def __init__(self, words: list[Word], out: Reading) -> None:
        self.words = words
        self.out = out
        self.at = 0
        self.deletes = False

    def read(self) -> None:
        self._leading()
        starts = self._starts()
        while self.at < len(self.words):
            self._primary()
        for start in starts or [Word(".", ".")]:
            self.out.touch("read", start, deep=True)
            if self.deletes:
                self.out.touch("delete", start, deep=True)

    def _leading(self) -> None:
        """The options that stand before the start paths."""
        while self.at < len(self.words):
            text = self.words[self.at].text
            if text == "--":
                self.at += 1
                return
            if text == "-D":
                self.at += 1
                self._value("-D")
            elif text in _LEADING or (text is not None and text.startswith("-O") and text[2:].isdigit()):
                self.at += 1
            elif text == "-f":
                # A start path on the BSDs, and nothing on GNU.
                self._unknown("`-f`")
                self.at += 2
            else:
                return

    def _starts(self) -> list[Word]:
        """The paths before the expression."""
        starts: list[Word] = []
        while self.at < len(self.words):
            word = self.words[self.at]
            text = word.text
            if text is not None and ((text.startswith("-") and text != "-") or text in ("!", "(")):
                break
            if text in (")", ",") and starts:
                break
            self.at += 1
            starts.append(word)
            if text is None and not _surely_path(word):
                self._unknown(f"`{word.raw}` is not literal, and could be an action")
            elif word.glob and _could_be(word, _ACTIONS):
                self._unknown(f"`{word.raw}` could match a file that is named like an action; write `./{word.raw}`")
        return starts

    def _primary(self) -> None:
        """One test, action or operator with its values."""
        word = self.words[self.at]
        self.at += 1
        text = word.text
        if text is None or word.glob:
            self._unknown(f"`{word.raw}` is not literal")
        elif text in _OPERATORS or text in _PLAIN:
            pass
        elif text == "-delete":
            self.deletes = True
        elif text in _RUNS:
            self._run(text)
        elif text in _VALUED:
            self._value(text)
        elif text in _READS or _newer(text):
            value = self._value(text)
            if value is not None and text[-1] != "t":
                self.out.touch("read", value)
        elif text in _WRITES:
            self._write(text)
        elif text == "-files0-from":
            value = self._value(text)
            if value is not None and value.text != "-":
                self.out.touch("read", value)
            self._unknown("the start paths come from a file")
        else:
            self._unknown(f"`{text}` is no known test or action")

    def _value(self, name: str) -> Word | None:
        if self.at >= len(self.words):
            self._unknown(f"`{name}` without its value")
            return None
        word = self.words[self.at]
        self.at += 1
        if word.text is None and not (word.raw.startswith('"') and _one_word(word.raw)):
            self._unknown(f"`{word.raw}` is not literal")
        elif word.text is None:
            self.out.dynamic.append(word.raw)
        elif word.glob and _could_be(word, _ACTIONS):
            self._unknown(f"`{word.raw}` is not quoted, and could match a file that is named like an action")
        return word

    def _write(self, name: str) -> None:
        value = self._value(name)
        if value is not None and value.text not in _STREAMS:
            self.out.touch("write", value)
        if name == "-fprintf":
            self._value(name)

    def _run(self, name: str) -> None:
        """The command up to `;`, or up to `+` behind `{}`."""
        command: list[Word] = []
        batches = name in ("-exec", "-execdir")
        while self.at < len(self.words):
            word = self.words[self.at]
            self.at += 1
            if word.text == ";" or (batches and word.text == "+" and command and command[-1].raw == "{}"):
                break
            if word.text is None and not _one_word(word.raw):
                self._unknown(f"`{word.raw}` is not literal")
            elif word.glob and _could_be(word, frozenset({";", "+"})):
                self._unknown(f"`{word.raw}` could match a file named `;`, and so end the command")
            if word.text is not None and "{}" in word.text:
                word = Word(None, "{}" if word.text == "{}" else word.raw)
            command.append(word)
        else:
            self._unknown(f"`{name}` without its `;` or `+`")
        if not command:
            self._unknown(f"`{name}` without a command")
            return
        if name.endswith("dir"):
            command = [command[0], *(self._elsewhere(word) for word in command[1:])]
        self.out.commands.append(command)

    def _elsewhere(self, word: Word) -> Word:
        """A word of a command that runs in each file's own directory, where a relative path is another file."""
        text = word.text
        if text is None or text.startswith("/") or (text[:1] == "-" and (len(text) == 2 or text[1:].isdigit())):
            return word
        if text.startswith("--") and "=" not in text:
            return word
        return Word(None, word.raw)

    def _unknown(self, what: str) -> None:
        self.out.unknown.append(f"find: {what}")


def _newer(text: str) -> bool:
    return len(text) == 8 and text.startswith("-newer") and text[6] in _TIMES and text[7] in _TIMES + "t"


def _could_be(word: Word, names: frozenset[str]) -> bool:
    """True if a file that the glob matches could have one of these names."""
    pattern = word.text or ""
    # fnmatch and the shell differ on `[^…]` and on classes; a leading bracket could be anything.
    return pattern.startswith("[") or any(fnmatchcase(name, pattern) for name in names)


def _one_word(raw: str) -> bool:
    """True if the word stays one word, whatever its variables hold."""
    return raw == "{}" or (len(raw) > 1 and raw[0] == raw[-1] == '"' and not set(raw[1:-1]) & set('"@*`('))


def _surely_path(word: Word) -> bool:
    """True if a word with variables starts with a literal that no action starts with: `"src/$name"`."""
    return _one_word(word.raw) and (word.raw[1:2].isalnum() or word.raw[1:2] in ("/", ".", "_"))
