"""Reads find's command line: where it looks, what it writes and deletes, and the commands it runs.

Follows GNU find, with the leading options of the BSDs. The expression is a small language of its own: a word that
isn't a known test or action makes the command not understood.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from remit.languages.bash.reading import Names, Reading, Word
from remit.languages.bash.values import Piece, below

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
MAX_STARTS = 16
_NEGATIONS = frozenset({"!", "-not"})
_ALTERNATIVES = _NEGATIONS | {"-o", "-or"}
_AGES = frozenset({"-amin", "-atime", "-cmin", "-ctime", "-mmin", "-mtime", "-used", "-newer", "-anewer", "-cnewer"})
# fmt: off
_TESTS = frozenset({
    "-gid", "-group", "-iname", "-inum", "-ipath", "-iregex", "-iwholename", "-links", "-lname", "-maxdepth",
    "-mindepth", "-name", "-path", "-perm", "-regex", "-regextype", "-samefile", "-size", "-type", "-uid", "-user",
    "-wholename", "-xtype",
})
_PLAIN_TESTS = frozenset({
    "-daystart", "-depth", "-empty", "-executable", "-false", "-mount", "-noleaf", "-nogroup", "-nouser", "-prune",
    "-readable", "-true", "-writable", "-xdev",
})
# fmt: on
"""Tests that can be tried without doing anything, with and without a value."""
_SPECIAL = frozenset("[]{}\\")
_STREAMS = frozenset({"/dev/stdout", "/dev/stderr"})


def read_find(words: list[Word], out: Reading) -> None:
    """Add what the command does; `words` are all after the program's name."""
    _Find(words, out).read()


def found_names(words: list[Word]) -> Names | None:
    """What find prints: names of what lies at or below its start paths; None if it prints something else."""
    found = _Find(words, Reading())
    found.read()
    if found.out.unknown or found.out.commands or not found.prints <= {"-print", "-print0"} or len(found.prints) > 1:
        return None
    names = tuple(found.matches(start, found.name) for start in found.starts)
    if any(name.text is None for name in names):
        return None
    return Names(names, "nul" if "-print0" in found.prints else "line")


def as_look(words: list[Word]) -> tuple[str, ...] | None:
    """Words after `find` with which it only prints, each followed by NUL, at least all names that these words have it
    print or act on; None where that can't be said.

    Ages pass and are left out. What an action leaves to chance (whether a command succeeds) must not choose what
    follows, so nothing may be an alternative to an action, or its opposite.
    """
    if any(word.text is None or word.glob or word.deep for word in words):
        return None
    texts = [word.text or "" for word in words]
    at = 1 if texts[:1] in (["-P"], ["-H"]) else 0
    out, tests, acted = texts[:at], False, False
    while at < len(texts):
        text = texts[at]
        at += 1
        if text in _AGES or _newer(text):
            at += 1
            if _NEGATIONS & set(texts):
                return None
            out.append("-true")
        elif text in _TESTS:
            if at >= len(texts) or ("[" in texts[at] and "-" in texts[at]):
                return None  # what lies between two letters depends on the language
            out += (text, texts[at])
            at += 1
        elif text in ("(", ")", "-a", "-and") or text in _PLAIN_TESTS:
            out.append(text)
        elif text in _ALTERNATIVES:
            if acted:
                return None
            out.append(text)
        elif text in ("-print", "-print0", "-delete") or text in _RUNS:
            if out[-1:] and out[-1] in _NEGATIONS:
                return None
            acted = acted or text not in ("-print", "-print0")
            while text in _RUNS and at <= len(texts):
                if at == len(texts):
                    return None
                at += 1
                if texts[at - 1] == ";" or texts[at - 2 : at] == ["{}", "+"]:
                    break
            out.append("-print0")
        elif text[:1] != "-" and not tests and text not in (",",):
            out.append(text)
            continue
        else:
            return None
        tests = True
    depth = ["-depth"] if "-delete" in texts else []
    starts = next((index for index, text in enumerate(out) if text[:1] in ("-", "(", "!") and index), len(out))
    if "-print0" not in out:
        out = [*out[:starts], "(", *(out[starts:] or ["-true"]), ")", "-print0"]
    return (*out[:starts], *depth, *out[starts:])


class _Find:
    def __init__(self, words: list[Word], out: Reading) -> None:
        self.words = words
        self.out = out
        self.at = 0
        self.deletes: list[str | None] = []
        self.starts: list[Word] = []
        self.prints: set[str] = set()
        """Actions that print."""
        self.name: str | None = None
        """The pattern of the first `-name`: what comes behind it has such a name, if all tests must hold."""
        self.runs: list[tuple[str, list[Word], bool, str | None]] = []
        """The commands: the action, the words, whether it takes many names at once, and what `name` was there."""
        self.alternatives = False
        self.failures: list[str] = []
        """Why find ends before it looks at anything."""
        self.follows = False
        """It goes through links (`-L`)."""
        self.files = False
        """All that it finds are files, no links (`-type f`), if all tests must hold."""
        self.depth: int | None = None
        """The largest `-maxdepth`: 1, or 2 for more."""

    def read(self) -> None:
        self._leading()
        self.starts = self._starts() or [Word(".", ".")]
        while self.at < len(self.words):
            self._primary()
        if self.alternatives:
            self.name = None
        if self.failures and not self.out.unknown:
            # It reads its whole expression first; only files of `-fprint` are opened while it does.
            self.deletes, self.runs, self.failures = [], [], []
        for failure in self.failures:
            self._unknown(failure)
        for start in self.starts:
            self.out.touch("read", start, deep=True)
            for name in self.deletes:
                self.out.touch("delete", self.matches(start, name))
        for action, command, several, name in self.runs:
            self._hand_on(action, command, several, name)

    def matches(self, start: Word, name: str | None) -> Word:
        """What is found: the start path or something below it, of that name if there is one."""
        if start.text is None:
            return Word(None, "{}", start="")
        if name is None or self.alternatives or start.glob or _SPECIAL & set(name + start.text):
            return Word(start.text, "{}", start.glob, deep=True, some=True, through=self.through, found=True)
        own = start.text.rstrip("/").rpartition("/")[2]
        if fnmatchcase(own, name):  # the start path is found too
            return Word(start.text, "{}", deep=True, some=True, through=self.through, found=True)
        between = "/" if self.depth == 1 else "/**/"
        text = f"{start.text.rstrip('/')}{between}{name}"
        return Word(text, "{}", glob=True, some=True, through=self.through, found=True)

    @property
    def through(self) -> str:
        """Which links are followed by whoever opens what is found."""
        return "all" if self.follows else "none" if self.files and not self.alternatives else "last"

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
                self.follows = self.follows or text == "-L"
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
            if text is None and word.start is None:
                self._unknown(f"`{word.raw}` is not literal, and could be several words, actions among them")
            elif text is None and (not word.start or word.start[0] in "-!(),"):
                self._any_action(word)
            elif word.glob and _could_be(word, _ACTIONS):
                self._unknown(f"`{word.raw}` could match a file that is named like an action; write `./{word.raw}`")
        return starts

    def _primary(self) -> None:
        """One test, action or operator with its values."""
        word = self.words[self.at]
        self.at += 1
        text = word.text
        if text is None and word.start is not None:
            self._any_action(word)
        elif text is None or word.glob:
            self._unknown(f"`{word.raw}` is not literal")
        elif text in _OPERATORS or text in _PLAIN:
            if text in ("-print", "-print0", "-ls", "-help", "--help", "-version", "--version"):
                self.prints.add(text)
            self.follows = self.follows or text == "-follow"
            self.alternatives = self.alternatives or text in ("!", ",", "-o", "-or", "-not")
        elif text == "-delete":
            self.deletes.append(self.name)
        elif text in _RUNS:
            self._run(text)
        elif text in _VALUED:
            value = self._value(text)
            if text == "-printf":
                self.prints.add(text)
            if text == "-maxdepth":
                self.depth = max(self.depth or 0, 1 if value is not None and value.text in ("0", "1") else 2)
            if text == "-type" and value is not None and value.text == "f":
                self.files = True
            if text == "-name" and self.name is None and value is not None and not value.glob:
                self.name = value.text
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
        elif text[:1] != "-":
            self.failures.append(f"`{text}` is not a known test or action")
        else:
            self._unknown(f"`{text}` is not a known test or action")

    def _any_action(self, word: Word) -> None:
        """One word that could be any action: `-delete`, or one that writes to a file, or runs the words behind it."""
        behind = self.words[self.at].text if self.at < len(self.words) else "-"
        if any(other.text in (";", "+") for other in self.words) and (behind is None or behind[:1] != "-"):
            self._unknown(f"`{word.raw}` is not literal, and could run what follows it")
            return
        self.out.dynamic.append(word.raw)
        for effect in ("read", "write", "delete"):
            self.out.touch(effect, Word(None, word.raw))

    def _value(self, name: str) -> Word | None:
        if self.at >= len(self.words):
            self.failures.append(f"`{name}` without its value")
            return None
        word = self.words[self.at]
        self.at += 1
        if word.text is None and word.start is None:
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
            if word.text == ";" or (batches and word.text == "+" and command and command[-1].text == "{}"):
                break
            if word.text is None and word.start is None:
                self._unknown(f"`{word.raw}` is not literal")
            elif word.glob and _could_be(word, frozenset({";", "+"})):
                self._unknown(f"`{word.raw}` could match a file named `;`, and so end the command")
            command.append(word)
        else:
            said = f"`{name}` without its `;` or `+`"
            self._unknown(said) if any(word.text == "+" for word in command) else self.failures.append(said)
        if not command:
            self.failures.append(f"`{name}` without a command")
            return
        several = batches and self.words[self.at - 1].text == "+"
        self.runs.append((name, command, several, self.name))

    def _hand_on(self, action: str, command: list[Word], several: bool, name: str | None) -> None:
        """The command with what is found in the place of `{}`, once for each start path."""
        starts = self.starts if len(self.starts) <= MAX_STARTS else [Word(None, "{}", start="")]
        own = action.endswith("dir")
        for start in starts if any("{}" in (word.text or "") for word in command) else starts[:1]:
            found = Word(None, "{}", start="") if own else self.matches(start, name)
            words = [_filled(word, found) for word in command]
            if several:
                words.append(words[-1])  # any number of names: of `mv` the last is the target
            if own:
                words = [words[0], *(self._elsewhere(word) for word in words[1:])]
            self.out.commands.append(words)

    def _elsewhere(self, word: Word) -> Word:
        """A word of a command that runs in each file's own directory, where a relative path is another file."""
        text = word.text
        if text is None or text.startswith("/") or (text[:1] == "-" and (len(text) == 2 or text[1:].isdigit())):
            return word
        if text.startswith("--") and "=" not in text:
            return word
        return Word(None, word.raw, start="")

    def _unknown(self, what: str) -> None:
        self.out.unknown.append(f"find: {what}")


def _filled(word: Word, found: Word) -> Word:
    """A word of a command with what is found in the place of `{}`."""
    if word.text is None or "{}" not in word.text:
        return word
    if word.text == "{}":
        return found
    before, _, after = word.text.partition("{}")
    if found.text is None or "{}" in after or word.glob or (found.glob and found.deep):
        return Word(None, word.raw)
    if found.glob:
        plain = not before and ".." not in after.split("/") and not set(after) & (_SPECIAL | set("*?"))
        return Word(found.text + after, word.raw, glob=True, some=True) if plain else Word(None, word.raw)
    piece = below(before, Piece(found.text, deep=True), after)
    return Word(None, word.raw) if piece is None else Word(piece.text, word.raw, piece.glob, piece.deep, found.some)


def _newer(text: str) -> bool:
    return len(text) == 8 and text.startswith("-newer") and text[6] in _TIMES and text[7] in _TIMES + "t"


def _could_be(word: Word, names: frozenset[str]) -> bool:
    """True if a file that the glob matches could have one of these names."""
    pattern = word.text or ""
    # fnmatch and the shell differ on `[^…]` and on classes; a leading bracket could be anything.
    return pattern.startswith("[") or any(fnmatchcase(name, pattern) for name in names)
