"""Builtins that evaluate what they are given: bash runs the commands in `a[$(id)]` wherever it takes a name.

`unset 'a[$(id)]'`, `test -v 'a[$(id)]'`, `declare -a 'a=($(id))'` and `let` run `id`, however well it is quoted. So
names given to such a builtin must be literal and plain.
"""

from __future__ import annotations

from collections.abc import Sequence

from remit.languages.bash.numbers import Numbers
from remit.languages.bash.reading import Word
from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later

DECLARES = frozenset({"export", "declare", "typeset", "local", "readonly"})
OF_FILES = frozenset(f"-{letter}" for letter in "bcdefghkprsuwxGLNOS")
"""Operators of a test that ask something of the file behind them; `-a` does so only where it can't mean `and`."""
BETWEEN_FILES = frozenset(("-nt", "-ot", "-ef"))
_NAME = compile_later(r"[A-Za-z_]\w*(?:\[\d{1,6}\])?")
_ARITHMETIC = compile_later(r"[\w \t+*/%=!&|^~?:,<>()-]*")
_VALUED = frozenset({"-p", "-t", "-d", "-n", "-N", "-u", "-i", "-c", "-s", "-O"})
_FORMAT = compile_later(r'"(?:[^-"$`\\]|\\[a-z])')
"""What a format begins with that is no option, and one word with all that follows it in the quotes."""
_COUNTS = compile_later(r"%[^A-Za-z\\]*[hjlLqtz]*n")
_COUNT = compile_later(r"\$[?#$!]|\$\{#\w+(?:\[[@*]\])?\}")


def check_builtin(words: Sequence[Word], numbers: Numbers) -> None:
    """Raises NotUnderstood if a command is a builtin that may evaluate more than the text shows."""
    at = 0
    while at < len(words) and words[at].text in ("command", "builtin"):
        at += 1
    name = words[at].text if at < len(words) else None
    arguments = words[at + 1 :]
    if name in ("test", "["):
        _test(arguments, numbers)
    elif name in DECLARES:
        _declare(str(name), arguments)
    elif name in ("unset", "read", "mapfile", "readarray"):
        _names(str(name), arguments)
    elif name == "printf":
        _printf(arguments)
    elif name == "let":
        _let(arguments, numbers)


def _refused(name: str) -> NotUnderstood:
    return NotUnderstood("shell", f"`{name}` of something that it could evaluate")


def _plain(word: Word) -> bool:
    return word.text is not None and bool(_NAME.fullmatch(word.text))


def _test(words: Sequence[Word], numbers: Numbers) -> None:
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else None
        if word.text is None:
            count = _COUNT.fullmatch(word.raw.strip('"'))
            if not (_one_word(word.raw) or count or numbers.output(word.raw)):
                raise NotUnderstood("shell", f"`{word.raw}` in a test without quotes around it")
            if following is not None and (following.text is None or "[" in following.text):
                raise _refused("test")
        elif word.text in ("-v", "-R") and following is not None and not _plain(following):
            raise _refused(f"test {word.text}")


def _one_word(raw: str) -> bool:
    """True if all of it stands in one pair of double quotes, so that it can't become several words."""
    quoted = [False]
    """Whether double quotes are open, in the word itself and in each substitution in it."""
    at, end = 0, len(raw)
    while at < end:
        char = raw[at]
        if char == '"':
            quoted[-1] = not quoted[-1]
        elif len(quoted) == 1 and (not quoted[0] or char == "@"):
            return False
        elif char == "`":
            close = raw.find("`", at + 1)
            if close < 0 or not set(raw[at:close]).isdisjoint('"\\'):
                return False
            at = close
        elif char == "\\":
            at += 1
        elif raw.startswith("$(", at):
            quoted.append(False)
            at += 1
        elif not quoted[-1] and char == ")":
            quoted.pop()
        elif not quoted[-1] and char == "(":
            quoted.append(False)
        elif not quoted[-1] and char == "'":
            at = raw.find("'", at + 1) % end
        at += 1
    return len(quoted) == 1 and not quoted[0]


def _declare(name: str, words: Sequence[Word]) -> None:
    for word in words:
        if word.text is None:
            raise _refused(name)
        if word.text.startswith(("-", "+")):
            if name in ("declare", "typeset", "local") and set(word.text) & set("in"):
                raise NotUnderstood("shell", f"`{name} {word.text}`, which evaluates values")
        elif not _plain(word):
            raise _refused(name)


def _names(name: str, words: Sequence[Word]) -> None:
    before: str | None = ""
    for word in words:
        given = name != "unset" and _takes_value(before)
        option = word.text is not None and word.text.startswith("-") and "[" not in word.text
        if not (given or option or _plain(word)):
            raise _refused(name)
        before = word.text


def _takes_value(option: str | None) -> bool:
    """True for `-p`, and for `-rp`: the value of the last letter is the next word."""
    letters = (option or "")[1:]
    flags = set(letters[:-1]) <= set("rseEt")
    return (option or "")[:1] == "-" and flags and f"-{letters[-1:]}" in _VALUED


def _printf(words: Sequence[Word]) -> None:
    if not words:
        return
    first = words[0].text
    if first is None and ((words[0].start or "-")[0] != "-" or _FORMAT.match(words[0].raw)):
        return
    if first is None or (first.startswith("-v") and not (first == "-v" and len(words) > 1 and _plain(words[1]))):
        raise _refused("printf")


def counted(words: Sequence[Word]) -> set[str] | None:
    """The variables in which `printf` with these arguments may count what it has printed (`%n`); None: any."""
    start = 0 if not words or (words[0].text or "")[:2] != "-v" else 2 if words[0].text == "-v" else 1
    start += bool(words[start:] and words[start].text == "--")
    form, *rest = words[start:] or [Word("", "")]
    if form.text is not None and not _COUNTS.search(form.text.replace("%%", "")):
        return set()
    if any(word.text is None or word.glob for word in rest):
        return None
    return {word.text for word in rest if word.text is not None and _NAME.fullmatch(word.text)}


def _let(words: Sequence[Word], numbers: Numbers) -> None:
    for word in words:
        if word.text is None or not _ARITHMETIC.fullmatch(word.text):
            raise _refused("let")
        numbers.use(word.text)
