"""Names that a program derives from its words: `cp a/x dir` writes `dir/x`, `gunzip x.gz` writes `x`, …."""

from __future__ import annotations

from fnmatch import fnmatchcase
from posixpath import normpath

from remit.languages.bash.builtins import BETWEEN_FILES, OF_FILES
from remit.languages.bash.reading import Reading, Word
from remit.model.pattern import compile_later

HERE = Word(".", ".")
_MAGIC = frozenset("*?[")
_PACKED = {
    ".tgz": ".tar", ".taz": ".tar", ".txz": ".tar", ".tlz": ".tar", ".tbz2": ".tar", ".tbz": ".tar", ".tzst": ".tar",
    ".gz": "", ".z": "", ".Z": "", "-gz": "", "-z": "", "_z": "", ".xz": "", ".lzma": "", ".zst": "", ".bz2": "",
    ".bz": "", ".lz4": "", ".br": "",
}  # fmt: skip
"""What the compressors take off a name, or put in its place."""
_ENDINGS = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst", "lz4": ".lz4", "brotli": ".br"}
_BRINGS = frozenset(("unzip", "git clone"))
"""What they write below a folder comes from elsewhere, links and all."""
_MANY_FILES = frozenset(("-r", "--recursive", "-m", "--mirror", "--content-disposition", "--trust-server-names", "-p",
    "--page-requisites", "-x", "--force-directories", "-E", "--adjust-extension", "-i"))  # fmt: skip
"""Options of wget with which other files are written than one named as the address ends."""
_UNPACKS = frozenset(("-d", "--decompress", "--uncompress"))
_ENDS_PLAINLY = compile_later(r"(?s:.*)\.[A-Za-z0-9]+")
"""A pattern all of whose matches end in the same few letters."""
_SHORT_KINDS = {
    "po": "pod", "svc": "service", "deploy": "deployment", "rs": "replicaset", "sts": "statefulset", "ds": "daemonset",
    "cm": "configmap", "ns": "namespace", "no": "node", "pv": "persistentvolume", "pvc": "persistentvolumeclaim",
    "sa": "serviceaccount", "ing": "ingress", "ep": "endpoints", "ev": "event", "cj": "cronjob", "crd":
    "customresourcedefinition", "hpa": "horizontalpodautoscaler", "netpol": "networkpolicy", "sc": "storageclass",
}  # fmt: skip
CLUSTER_KINDS = frozenset((*_SHORT_KINDS.values(), "all", "secret", "job", "role", "clusterrole", "rolebinding",
    "clusterrolebinding", "resourcequota", "limitrange", "replicationcontroller", "poddisruptionbudget", "lease",
    "priorityclass", "ingressclass"))  # fmt: skip
"""The kinds that every cluster has."""
_ENVIRONMENT_JQ = compile_later(r"\$ENV\b|\$__loc__|(?<![.\w$\"-])env\b")
_MODULES_JQ = compile_later(r"\b(?:import|include|modulemeta|get_search_list)\b")
_FILES_YQ = compile_later(r"\b(?:load|strload|load_\w+)\s*\(")
_ENVIRONMENT_YQ = compile_later(r"\b(?:strenv|envsubst)\b")
_STRINGS_JQ = compile_later(r'"(?:[^"\\]|\\[^(])*"')


_PLAIN_NAME = compile_later(r"[A-Za-z0-9._+-]+")
UNTOLD = Word(None, "")
"""A path that the text does not tell."""


def touch_into(out: Reading, target: Word, sources: list[Word], *, deep: bool = False) -> None:
    """Where the target is a directory, files of the sources' names are written below it."""
    if target.text is None or (":" in target.text.split("/")[0] and not target.glob):
        return
    for source in sources:
        name = (source.text or "").rstrip("/").rpartition("/")[2]
        if source.deep or name in ("", ".", "..") or (source.text or "").endswith("/"):
            out.touch("write", target, deep=True, some=True)  # what the source contains
            continue
        # Without dotglob, `*` matches no hidden name: only in the root itself could it hit something protected.
        if source.glob and name[0] in _MAGIC and normpath(target.text) != ".":
            continue
        text = f"{target.text.rstrip('/') or '/'}/{name}"
        out.touch("write", Word(text, target.raw, target.glob or source.glob), deep=deep, nested=not deep)


def touch_linked(out: Reading, plain: list[Word], into: Word | None, *, symbolic: bool) -> None:
    """A link is another name for all that lies below its target, through which it can be written.

    The target of a symbolic link is seen from where the link lies: in the folder that is named, or beside the name."""
    targets, link = (plain, into) if into is not None or len(plain) < 2 else (plain[:-1], plain[-1])
    folders = {"."}
    told = link is not None and link.text is not None and not link.glob
    if told and link is not None and link.text is not None:
        folders = {link.text.rstrip("/") or "/", link.text.rstrip("/").rpartition("/")[0] or "."}
        folders |= set() if symbolic and into is None else {"."}
    for target in targets:
        text = target.text
        from_here = text is None or text.startswith(("/", "~"))
        filled = {"."} if "$" in target.raw or "`" in target.raw else set()  # `$PWD/x` is no relative path
        for folder in sorted({"."} if from_here else folders | filled):
            path = target._replace(text=text if text is None or folder == "." else f"{folder}/{text}")
            out.touch("read", path, deep=True)
            if symbolic:
                out.touch("write", path)


def touch_mounted(out: Reading, word: Word) -> None:
    """`SOURCE:TARGET:OPTIONS`: a container does what it likes to a folder that it is given, or reads it."""
    if word.text is None:
        out.touch("read", UNTOLD)
        out.touch("write", UNTOLD)
        return
    source, given, rest = word.text.partition(":")
    if not given or not source.startswith((".", "/", "~")):
        return  # a place in the container, or a volume that the engine keeps
    path = Word(source, word.raw)
    out.touch("read", path, deep=True)
    if "ro" not in rest.partition(":")[2].split(","):
        for effect in ("write", "delete"):
            out.touch(effect, path, deep=True, some=True)


def touch_reports(out: Reading, word: Word) -> None:
    """`xml:FILE`, `output=FILE`: what stands behind the sign is written; without one nothing is named."""
    if word.text is None:
        out.touch("write", UNTOLD)
        return
    for part in word.text.split(","):
        _, sign, path = part.replace("=", ":").partition(":")
        if sign and path and path not in ("stdout", "stderr"):
            out.touch("write", Word(path, word.raw), deep=True, some=True)


_OF_TESTS = frozenset(
    (
        "!",
        "(",
        ")",
        "]",
        "=",
        "==",
        "!=",
        "<",
        ">",
        "-eq",
        "-ne",
        "-lt",
        "-le",
        "-gt",
        "-ge",
        "-a",
        "-o",
        "-n",
        "-z",
        "-t",
    )
)
_BEGINS = frozenset(("!", "(", "-a", "-o"))
"""What stands before a test of one file; there, `-a` is one itself."""


def touch_tested(out: Reading, words: list[Word]) -> None:
    """The files that a test asks about: behind `-f` and its like, and beside `-nt`. A word that is not literal may be
    such an operator."""
    texts = [word.text for word in words]
    for at, word in enumerate(words):
        before, after = ["", *texts][at], [*texts, ""][at + 1]
        asks = before in OF_FILES or (before == "-a" and (at == 1 or texts[at - 2] in _BEGINS))
        could = at > 0 and before is None and word.text not in _OF_TESTS
        if asks or could or before in BETWEEN_FILES or after in BETWEEN_FILES:
            out.show(word, "itself")


def touch_backups(out: Reading, suffix: Word, paths: list[Word]) -> None:
    """Copies that are kept beside files that are written: `x~`, `x.bak`; of sed, `dir/*` and `old-*` too."""
    for path in paths:
        if suffix.text is None or path.text is None:
            out.touch("write", UNTOLD)
            continue
        folder, slash, name = path.text.rpartition("/")
        copy = suffix.text.replace("*", name) if "*" in suffix.text else name + suffix.text
        text = copy if "/" in copy else f"{folder}{slash}{copy}"
        out.touch("write", Word(text, path.raw, path.glob), some=path.some or path.found)


def touch_numbered(out: Reading, paths: list[Word]) -> None:
    """Numbered copies: `x.~1~` and so on."""
    for path in paths:
        odd = path.text is None or _MAGIC & set(path.text)
        out.touch("write", UNTOLD if odd else Word(f"{path.text}.~*~", path.raw, glob=True))


def touch_edited(out: Reading, path: Word) -> None:
    """A formatter writes the file or the folder that is named; below the root, hidden folders too, it could be any."""
    if path.text is not None and not path.glob and normpath(path.text) == ".":
        out.touch("write", UNTOLD)
    else:
        out.touch("write", path, deep=True, some=True)


def pathspec(word: Word) -> Word | None:
    """Git's own pattern as a path: one with magic is untold, an exclusion is nothing, `*` matches at any depth."""
    text = word.text
    if text is None:
        return word
    if text.startswith((":!", ":^")) or (text.startswith(":(") and "exclude" in text.partition(")")[0]):
        return None
    if text.startswith((":/", ":(")):
        return UNTOLD
    at = min((text.find(sign) for sign in _MAGIC if sign in text), default=-1)
    if at >= 0:
        folder = text[:at].rpartition("/")[0]
        return Word(folder or ".", word.raw)
    return word


def touch_pathspec(out: Reading, effect: str, word: Word) -> None:
    """What git changes for a pathspec: all below it; of the whole tree it doesn't tell which files."""
    whole = word.text is not None and normpath(word.text) == "." and not (effect == "delete" and out.directory)
    out.touch(effect, UNTOLD if whole else word, deep=not whole)


def touch_unnamed(
    out: Reading, special: str | None, plain: list[Word], seen: set[str], replaced: frozenset[str] | None
) -> frozenset[str] | None:
    """What is written or deleted without a word of its own; the effects that replace the base ones."""
    out.brings = out.brings or special in _BRINGS
    if special == "unzip" and replaced is None and "-d" not in seen:
        out.touch("write", HERE, deep=True, some=True)
    elif special == "git clean" and not plain and replaced is None:
        touch_pathspec(out, "delete", HERE)
    elif special == "git clone" and len(plain) == 1:
        _cloned(out, plain[0], bare=not seen.isdisjoint(("--bare", "--mirror")))
    elif special == "cargo fmt" and any(word.text == "--check" for word in plain):
        return frozenset(("read",))  # behind `--`: an option of rustfmt
    elif special == "shows one" and len(plain) == 1 and seen.isdisjoint(("--local", "--unset", "--migrate")):
        return frozenset(("read",))
    elif special == "go clean" and plain and replaced is None:
        out.touch("delete", UNTOLD)
    elif special == "shred":
        for word in plain:
            out.touch("write", word)
    elif special == "dd":
        for word in plain:
            name, _, value = (word.text or "").partition("=")
            if name in ("if", "of") and value != "/dev/null":
                out.touch("read" if name == "if" else "write", Word(value, word.raw))
    elif special == "curl" and not seen.isdisjoint(("-O", "--remote-name", "--remote-name-all")):
        _downloads(out, sure=seen.isdisjoint(("-J", "--remote-header-name")))
    elif special == "wget" and seen.isdisjoint(("-O", "--output-document", "-P", "--directory-prefix", "--spider")):
        _downloads(out, sure=seen.isdisjoint(_MANY_FILES), unnamed="index.html")
    elif (
        special == "wget"
        and not seen.isdisjoint(_MANY_FILES)
        and seen.isdisjoint(("-P", "--directory-prefix", "--spider"))
    ):
        out.touch("write", HERE, deep=True, some=True)
    elif special in _ENDINGS and (replaced is None or "write" in replaced):
        _packed(out, special, plain, seen)
    elif special == "py_compile":
        for word in plain or [HERE]:
            _compiled_python(out, word, beside="-b" in seen)
    elif special == "cd" and not plain:
        out.touch("read", Word("~", "cd"))
    elif special == "split":
        prefix = plain[1] if len(plain) > 1 else Word("x", "x")
        touch_pieces(out, prefix)
        if seen & {"-a", "--suffix-length", "--additional-suffix"}:
            _pieces_ending_otherwise(out, prefix)
    elif special == "csplit":
        if seen.isdisjoint(("-f", "--prefix")):
            touch_pieces(out, Word("xx", "xx"))
        if seen & {"-b", "--suffix-format", "-n", "--digits"}:
            out.touch("write", UNTOLD)
    elif special == "compiler":
        _compiled(out, plain, seen)
    elif special == "ar" and _extracts(plain, seen):
        out.touch("write", UNTOLD)
    elif special == "ln" and len(plain) == 1 and seen.isdisjoint(("-t", "--target-directory")):
        touch_into(out, HERE, plain)
    elif special == "format-patch" and seen.isdisjoint(("-o", "--output-directory", "--stdout", "--output")):
        named = seen & {"-v", "--reroll-count", "--suffix", "--numbered-files", "--start-number"}
        out.touch("write", UNTOLD if named else Word("0001-x.patch", "patches"))
    return replaced


def _packed(out: Reading, special: str, plain: list[Word], seen: set[str]) -> None:
    """The file beside each that is named, packed or unpacked."""
    names = ("-o", "-O", "--output", "--output-dir-flat", "--output-dir-mirror")
    if not seen.isdisjoint(names):
        return
    odd = not seen.isdisjoint(("-N", "--name", "-S", "--suffix", "-F", "--format"))
    for word in plain:
        if word.text is None or odd or word.deep or (word.glob and not _ENDS_PLAINLY.fullmatch(word.text)):
            out.touch("write", UNTOLD)
            continue
        unpacked = [word.text.removesuffix(end) + new for end, new in _PACKED.items() if word.text.endswith(end)]
        if word.glob and unpacked:
            out.touch("write", UNTOLD)  # any name there is
            continue
        some = word.some or word.found
        for text in unpacked or [f"{word.text}.out"]:
            out.touch("write", Word(text, word.raw, word.glob), some=some)
        if seen.isdisjoint(_UNPACKS):
            out.touch("write", Word(word.text + _ENDINGS[special], word.raw, word.glob), some=some)


def touch_pieces(out: Reading, prefix: Word) -> None:
    """Files whose names begin with the prefix, and end in a few letters or digits."""
    if prefix.text is None or _MAGIC & set(prefix.text):
        out.touch("write", UNTOLD)
    elif "/" in prefix.text:
        out.touch("write", Word(f"{prefix.text}*", prefix.raw, glob=True))
    else:  # a pattern here would count at any depth
        out.touch("write", Word(f"{prefix.text}aa", prefix.raw))


def _pieces_ending_otherwise(out: Reading, prefix: Word) -> None:
    """The same where options say what they end in: any name in that folder that begins so."""
    if prefix.text is None or _MAGIC & set(prefix.text):
        out.touch("write", UNTOLD)
    else:
        text = prefix.text if prefix.text.startswith("/") else f"./{prefix.text}"
        out.touch("write", Word(f"{text}*", prefix.raw, glob=True), some=True)


def _compiled_python(out: Reading, word: Word, *, beside: bool) -> None:
    """Python's own cache: beside the file that is named, or below the folder."""
    if word.text is None or word.glob or beside or _MAGIC & set(word.text):
        out.touch("write", UNTOLD if word.text is None or word.glob else word, deep=True, some=True)
        return
    folder = word.text.rpartition("/")[0] or "."
    cache = f"{folder}/__pycache__".removeprefix("./")
    out.touch("write", Word(cache, cache), deep=True)
    if not word.text.endswith(".py"):
        below = f"{word.text.rstrip('/')}/**/__pycache__/**"
        out.touch("write", Word(below, below, glob=True, through="none"))


def _compiled(out: Reading, plain: list[Word], seen: set[str]) -> None:
    """Without `-o`: `a.out`, or with `-c` and `-S` files named as the sources, in the working directory."""
    if not seen.isdisjoint(("-o", "-E", "-fsyntax-only", "--version", "-M", "-MM")) or not plain:
        return
    if seen.isdisjoint(("-c", "-S")):
        out.touch("write", Word("a.out", "a.out"))
        return
    for word in plain:
        name = (word.text or "").rpartition("/")[2]
        if not name or word.glob:
            out.touch("write", UNTOLD)
            continue
        stem = name.rpartition(".")[0] or name
        for end in ("o", "s"):
            out.touch("write", Word(f"{stem}.{end}", word.raw))


def _extracts(plain: list[Word], seen: set[str]) -> bool:
    keys = plain[0].text if plain and "-x" not in seen else "x"
    return keys is None or "x" in keys


def _cloned(out: Reading, source: Word, *, bare: bool) -> None:
    """The folder that git names after a repository: `y` of `https://host/x/y.git`."""
    name = (source.text or "").rstrip("/").removesuffix("/.git").rpartition("/")[2].rpartition(":")[2]
    name = name.removesuffix(".git").removesuffix(".bundle")
    if _PLAIN_NAME.fullmatch(name) and name.strip("."):
        out.touch("write", Word(f"{name}.git" if bare else name, source.raw), deep=True)
    else:
        out.touch("write", UNTOLD)


def _downloads(out: Reading, *, sure: bool, unnamed: str = "") -> None:
    """Files named as the last part of each URL, or as the other side says; `unnamed`: where there is no such part."""
    for url in out.urls:
        name = (url.text or "").partition("?")[0].rpartition("/")[2] or unnamed
        if sure and name and url.text is not None:
            out.touch("write", Word(name, url.raw))
        else:
            out.touch("write", HERE, deep=True, some=True)


def read_setting(out: Reading, key: str, harmless: tuple[str, ...]) -> None:
    """A setting of git: most name a program, a file or an address somewhere, so only listed ones are harmless."""
    name = key.casefold()
    if not any(fnmatchcase(name, pattern) for pattern in harmless):
        out.refused.append(f"`{key}`: a setting can name programs that git runs")


def read_git_config(out: Reading, plain: list[Word], seen: set[str], sub: str, harmless: tuple[str, ...]) -> bool:
    """What `git config` sets; False if it only looks."""
    looks = {"-l", "--list", "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool"}
    if sub in ("list", "get") or seen & looks:
        return False
    if sub == "config" and len(plain) == 1 and not seen & {"--unset", "--unset-all", "--remove-section"}:
        return False
    for word in plain[:1]:
        if sub in ("rename-section", "remove-section") or seen & {"--rename-section", "--remove-section"}:
            out.refused.append("a section of settings: a setting can name programs that git runs")
        elif word.text is not None:
            read_setting(out, word.text, harmless)
        else:
            out.unknown.append(f"`{word.raw}` is not literal")
    return True


_CONFIGURATIONS = frozenset(("pyproject.toml", "ruff.toml", ".ruff.toml"))
_HARMLESS_TOML = compile_later(
    r"\s*(?:line-length|indent-width|target-version|preview|exclude|extend-exclude|include|respect-gitignore|src|builtins"
    r"|output-format|show-fixes|required-version|namespace-packages|(?:lint|format|analyze)\.[\w.-]+)\s*=[^\n]*"
)


def read_toml_setting(out: Reading, word: Word) -> bool:
    """A configuration file, or one setting of ruff; True if it may have files fixed.

    The project's own configuration is read without being named, so naming it changes nothing."""
    text = word.text
    if text is not None and "=" in text:
        if not _HARMLESS_TOML.fullmatch(text):
            out.refused.append(f"`{word.raw}`: a setting can have files changed, or say where to write")
        return False
    out.touch("read", word)
    if text is not None and text.removeprefix("./") in _CONFIGURATIONS:
        return False
    out.effects.add("write")
    return True


def read_jq(out: Reading, word: Word) -> None:
    """A filter of jq: it can read modules and the environment."""
    text = _STRINGS_JQ.sub('""', word.text or "")
    if _MODULES_JQ.search(text):
        out.unknown.append("a jq program that reads modules")
    if _ENVIRONMENT_JQ.search(text):
        out.dynamic.append("the environment")


def read_yq(out: Reading, word: Word) -> None:
    """An expression of yq, of either program of that name: jq's, or one with operators that read files."""
    read_jq(out, word)
    text = _STRINGS_JQ.sub('""', word.text or "")
    if _FILES_YQ.search(text):
        out.unknown.append("an expression of yq that reads files")
    if _ENVIRONMENT_YQ.search(text):
        out.dynamic.append("the environment")


def resources(text: str) -> list[str]:
    """The kinds that kubectl is asked for: `po,secrets/x` → pod, secret."""
    found = []
    for part in text.split(","):
        name = part.partition("/")[0].partition(".")[0].casefold()
        name = _SHORT_KINDS.get(name, name)
        if name.endswith(("sses", "ies")):
            name = name[:-2] if name.endswith("sses") else name[:-3] + "y"
        elif name.endswith("s") and not name.endswith(("ss", "endpoints")):
            name = name[:-1]
        found.append(name)
    return found


_SSH_SETTING = compile_later(
    r"(?i:StrictHostKeyChecking|ConnectTimeout|ConnectionAttempts|BatchMode|ServerAliveInterval|ServerAliveCountMax|Port"
    r"|User|LogLevel|PasswordAuthentication|PubkeyAuthentication|PreferredAuthentications|IdentitiesOnly|Compression"
    r"|NumberOfPasswordPrompts|CheckHostIP|TCPKeepAlive|RequestTTY)[= ][\w.,@-]+"
    r"|(?i:UserKnownHostsFile)[= ]/dev/null"
)
"""Settings of ssh that run nothing, and name no file."""
_SSH = compile_later(r"(?:/usr/bin/)?ssh(?: +(?:-p ?\d+|-l ?\w[\w.-]*|-[46CTaqvx]+|-o ?(\S+)))*")


def read_ssh_setting(out: Reading, word: Word) -> None:
    """`-o` of ssh: some of its settings run programs here."""
    if word.text is None or not _SSH_SETTING.fullmatch(word.text):
        out.refused.append(f"`{word.raw}`: settings such as ProxyCommand and LocalCommand run programs here")


def read_transport(out: Reading, word: Word) -> None:
    """The command that connects to the other side: ssh with harmless options, or any program."""
    text = word.text or ""
    found = _SSH.fullmatch(text)
    settings = [part.removeprefix("-o") for part in text.replace("-o ", "-o").split() if part.startswith("-o")]
    if found is None or not all(_SSH_SETTING.fullmatch(setting) for setting in settings):
        out.refused.append(f"`{word.raw}`: runs a program in place of ssh")


_OUTPUT_FILE = compile_later(r"%output\{(?:>>)?([^}]*)(?:\}|$)")
_FROM_ADDRESS = compile_later(r"#[0-9]")


def read_write_out(out: Reading, word: Word) -> None:
    """`-w` of curl: a format that can have files written; one that lies in a file is code like any other."""
    for name in _OUTPUT_FILE.findall(word.text or ""):
        out.touch("write", Word(name or None, word.raw))
    if (word.text or "").startswith("@"):
        out.project = True
        out.code.append(Word((word.text or "")[1:], word.raw))


def of_curl(kind: str, word: Word) -> Word:
    """A path as curl takes it: `#1` in a name that is written stands for a part of the address, and braces and brackets
    in one that is sent for several names."""
    text = word.text or ""
    several = (kind == "write" and _FROM_ADDRESS.search(text)) or (kind == "read" and not {"{", "["}.isdisjoint(text))
    return Word(None, word.raw, start=word.start) if several else word


def read_source(out: Reading, word: Word) -> None:
    """Where a password comes from, as openssl is told: `file:path`, or `pass:…`, `env:…`, `fd:…`."""
    if word.text is None or word.text.startswith("file:"):
        out.touch("read", Word(word.text and word.text.removeprefix("file:"), word.raw))


def read_listed(out: Reading, word: Word) -> None:
    """Names, or `@path` for a file with names, as zip and 7z take them."""
    _, at, path = (word.text or "").partition("@")
    if word.text is None or at:
        out.touch("read", Word(path or None, word.raw))


def read_named(out: Reading, word: Word) -> None:
    """Files with a name for each: `a=path,b=path`, or `path` alone."""
    for part in (word.text or "").split(","):
        out.touch("read", Word(part.rpartition("=")[2] or None, word.raw), deep=True)


def read_filter(out: Reading, word: Word) -> None:
    """A rule of rsync; some name a file with more rules."""
    name, _, value = (word.text or "").partition(" ") if " " in (word.text or "") else (word.text or "").partition("_")
    if word.text is None or name.partition(",")[0] in ("merge", "dir-merge") or name[:1] in (".", ":"):
        out.touch("read", Word(value or None, word.raw))


_PERL_TEXT = r"(?:[^\\SIGN$@\n]|\\[^NpP\n]|\$(?=[)|SIGN]))*"
_PERL_RESULT = r"(?:[^\\SIGN$@\n]|\\[^NpP\n]|\$(?:[1-9]|&)(?![\[{0-9-]))*"
_CHANGE = "|".join(
    f"(?:s{sign}{_PERL_TEXT}{sign}{_PERL_RESULT}{sign}[gimsx]*|(?:y|tr){sign}{_PERL_TEXT}{sign}{_PERL_TEXT}{sign}[cds]*)".replace(
        "SIGN", sign
    )
    for sign in ("/", "#", "!", ",", r"\|", "%", ":")
)
_SUBSTITUTION = compile_later(_CHANGE)
_MATCH = f"m?/{_PERL_TEXT}/[gimsx]*".replace("SIGN", "/")
_SHOWN = r"""(?:\$[1-9_&.]|"(?:[^"\\$@]|\\[nt"\\]|\$(?:[1-9]|&|_(?!\w)|\.)(?![\[{0-9-]))*")"""
_CONDITION = rf"\s+(?:if|unless)\s*(?:\(\s*)?(?:!?\s*eof|!?\s*(?:{_MATCH})|\$\.\s*[<>=]=?\s*[0-9]+)(?:\s*\))?"
_STATEMENT = (
    rf"(?:(?:{_CHANGE}|(?:print|say)(?:\s+{_SHOWN}(?:\s*,\s*{_SHOWN})*)?|chomp|next|last)(?:{_CONDITION})?|"
    rf"(?:{_MATCH})\s*(?:&&|and)\s*print(?:\s+{_SHOWN})?)"
)
_PERL = compile_later(rf"\s*(?:{_STATEMENT}\s*(?:;\s*|\Z))*")
_PERL_OPTIONS = frozenset(("-e", "-E", "-n", "-p", "-i", "-l", "-0", "-a", "-w", "-W", "-X"))
_PERL_FILE = compile_later(r"[\w./@%+,=~-](?:[^|<>&\n]*[\w./@%+,=~-])?")
_CODE_IN_PATTERN = compile_later(r"\(\?(?![:=!]|<[=!]|[imsx]+\))|\(\*")


def read_kill(words: list[Word]) -> frozenset[str] | None:
    """What `kill` does if the text shows more than a number: lists signals, asks whether a process is there, or ends
    jobs of the shell itself (`%1`, `$!`); None for other processes."""
    texts = [word.text for word in words]
    signal, at = None, 0
    while at < len(words) and (texts[at] or "")[:1] == "-" and signal is None:
        if texts[at] in ("-l", "-L", "--list", "--table"):
            return frozenset()
        valued = texts[at] in ("-s", "-n", "--signal")
        signal = texts[at + 1 : at + 2] if valued else [(texts[at] or "")[1:]]
        at += 2 if valued else 1
    ended = texts[at : at + 1] == ["--"]
    rest = words[at + 1 :] if ended else words[at:]
    if not ended and any((word.text or "").startswith("-") for word in rest):
        return None  # another signal, which counts: `kill -0 -s 9 1234`
    own = [word.raw.strip('"') == "$!" or (word.text or "").startswith("%") for word in rest]
    told = [mine or (word.text is not None and not word.glob) for mine, word in zip(own, rest, strict=True)]
    if signal == ["0"] and rest and all(told):
        return frozenset()
    return frozenset(("execute",)) if own and all(own) else None


def read_rename(out: Reading, word: Word, *, tries: bool) -> None:
    """What rename does to names: Perl code, unless it only substitutes; nobody knows the names that come out.

    `tries`: it only says what it would do."""
    text = word.text or ""
    parts = [part.strip() for part in text.split(";")]
    if not all(_SUBSTITUTION.fullmatch(part) for part in parts) or _CODE_IN_PATTERN.search(text):
        out.unknown.append("code in the text")
    elif not tries:
        out.touch("write", UNTOLD)


def read_perl(out: Reading, programs: list[Word], options: set[str], files: list[Word]) -> None:
    """A program in the text that only changes or picks lines (`perl -pe 's/a/b/'`) is as harmless as sed's.

    Perl takes a file's name for a command if it ends or begins with `|`, so names have to show how they begin and end.
    """
    texts = [word.text for word in programs]
    text = "\n;".join(text or "" for text in texts)
    plain = None not in texts and _PERL.fullmatch(text) is not None and not _CODE_IN_PATTERN.search(text)
    if not plain or not options <= _PERL_OPTIONS or options.isdisjoint(("-n", "-p")):
        out.unknown.append("code in the text")
        out.effects.add("execute")
    for word in files:
        if word.deep or word.text is None or not _PERL_FILE.fullmatch(word.text):
            out.unknown.append(f"`{word.raw}` could be a command to perl, by its name")
