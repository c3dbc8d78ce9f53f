"""What a command touches beyond the words that name it: copies into directories, downloads, files that are sent."""

from __future__ import annotations

from posixpath import normpath

from remit.languages.bash.reading import Reading, Word
from remit.model.pattern import compile_later

_HEADER = compile_later(r'"[A-Za-z-]+: ')


def touch_into(out: Reading, target: Word, sources: list[Word]) -> None:
    """Where the target is a directory, files of the sources' names are written below it."""
    if target.text is None or (":" in target.text.split("/")[0] and not target.glob):
        return
    for source in sources:
        name = (source.text or "").rstrip("/").rpartition("/")[2]
        if name in ("", ".", "..") or (source.text or "").endswith("/"):
            out.touch("write", target, deep=True)  # what the source contains
            continue
        # Without dotglob, `*` matches no hidden name: only in the root itself could it hit something protected.
        if source.glob and name[0] in "*?[" and normpath(target.text) != ".":
            continue
        text = f"{target.text.rstrip('/') or '/'}/{name}"
        out.touch("write", Word(text, target.raw, target.glob or source.glob))


def touch_unnamed(
    out: Reading, special: str | None, plain: list[Word], seen: set[str], replaced: frozenset[str] | None
) -> frozenset[str] | None:
    """What is written or deleted without a word of its own; the effects that replace the base ones."""
    here = Word(".", ".")
    if special == "unzip" and replaced is None and "-d" not in seen:
        out.touch("write", here, deep=True)
    elif special == "git clean" and not plain and replaced is None:
        out.touch("delete", here, deep=True)
    elif special == "cargo fmt" and any(word.text == "--check" for word in plain):
        return frozenset(("read",))  # behind `--`: an option of rustfmt
    elif special == "dd":
        for word in plain:
            name, _, value = (word.text or "").partition("=")
            if name in ("if", "of") and value != "/dev/null":
                out.touch("read" if name == "if" else "write", Word(value, word.raw))
    elif special == "curl" and not seen.isdisjoint(("-O", "--remote-name", "--remote-name-all")):
        _downloads(out, sure=seen.isdisjoint(("-J", "--remote-header-name")))
    elif special == "wget" and seen.isdisjoint(("-O", "--output-document", "-P", "--directory-prefix", "--spider")):
        _downloads(out, sure=seen.isdisjoint(("-r", "--recursive", "-m", "--mirror", "--content-disposition")))
    return replaced


def _downloads(out: Reading, *, sure: bool) -> None:
    """Files named as the last part of each URL, or as the other side says."""
    for url in out.urls:
        name = (url.text or "").partition("?")[0].rpartition("/")[2]
        if sure and name and url.text is not None:
            out.touch("write", Word(name, url.raw))
        else:
            out.touch("write", Word(".", "."), deep=True)


def sent(out: Reading, word: Word) -> str:
    """Text, or with `@path`, `name=@path`, `name=<path`, `name@path` a file that is sent; the kind that it has."""
    text = word.text
    if text is None:  # a header is text behind its name
        return "text" if _HEADER.match(word.raw) and one_word(word.raw) else "code"
    name, equals, value = text.partition("=")
    sent = value[1:] if equals and value[:1] in ("@", "<") else name.partition("@")[2]
    if text.startswith("@"):
        sent = text[1:]
    for part in sent.split(","):
        path = part.partition(";")[0].strip("\"'")
        if path and path != "-":
            out.touch("read", Word(path, word.raw))
    return "text"


def one_word(raw: str) -> bool:
    """True if the word stays one word, whatever its variables and substitutions give."""
    if len(raw) < 2 or raw[0] != '"' or raw[-1] != '"':
        return False
    if not set(raw[1:-1]) & set('"@'):
        return True
    head, *lines = raw.split("\n")  # "$(cat <<'EOF' … EOF)", in which quotes are text
    name = head.removeprefix("\"$(cat <<'").removesuffix("'")
    return (
        head == f"\"$(cat <<'{name}'"
        and name.isalpha()
        and [*lines, name].index(name) == len(lines) - 2
        and (lines[-1].strip() == ')"')
    )
