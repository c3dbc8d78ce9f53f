"""Secrets in what is recorded: found by the name of a field, by their shape, or by looking random; and redacted.

What they look like is data: `catalog/secrets.json`. A text that is JSON is read as such, and a list of texts also as
the command line that it could be, so that one rule serves all of them.
"""

from __future__ import annotations

import shlex
import unicodedata
from functools import cache, lru_cache, partial
from itertools import pairwise
from math import log2
from typing import Any

import msgspec

from remit.model.decoding import Decoding
from remit.model.pattern import compile_later
from remit.model.shipped import shipped

_SPACE = compile_later(r"\s")
_RUN = compile_later(r"[A-Za-z0-9+/=_-]{24,}")
_PLAIN = compile_later(r"[0-9a-f]{24,128}|[a-z_-]+|[A-Z_-]+|[0-9_-]+|[A-Za-z]+|sha(?:1|256|384|512)-[A-Za-z0-9+/=]+")
"""Runs that are no secret for being long: hashes, words, numbers."""
_PATH = compile_later(r"[A-Za-z0-9_-]*/[A-Za-z0-9_/-]*")
_CHANGE = compile_later(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_HUMP = compile_later(r"(?<=[a-z0-9])(?=[A-Z])")
_NAME = compile_later(r"-{0,2}[A-Za-z][A-Za-z0-9_.-]*:?")
_WORDS = compile_later(r"[^\W_]+")
_WORDS_OF_NAME = compile_later(r"[\w.-]+")
_CARD = compile_later(r"(?<![0-9.-])(?:\d[ -]?){14,15}\d(?![0-9.-])")
_SSN = compile_later(r"(?<![0-9-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![0-9-])")
_ISSUERS = compile_later(r"4\d{15}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|5\d\d)\d{12}")
_NAMES = frozenset(
    ("name", "key", "k", "header", "field", "variable", "var", "env", "option", "param", "type", "label")
)
_NAMES |= {"attribute", "id", "setting", "title", "question"}
"""Where a pair says what it is about."""
_PLACES = frozenset(("selector", "locator", "element", "placeholder", "target", "ref", "xpath"))
"""Where an action on a page says which field it fills in."""
_VALUES = frozenset(
    ("value", "val", "v", "content", "contents", "data", "text", "string", "stringvalue", "default", "answer", "to")
)
"""Where it says what that is."""
_COMMANDS = frozenset(("command", "cmd", "program", "executable", "binary", "entrypoint"))
_LISTS = frozenset(("args", "arguments", "argv", "parameters", "params"))
"""Where a program is named, and its arguments."""
_MANIFEST = compile_later(r"(?m)^kind:\s*[\"']?Secret\b")
_MANIFEST_BLOCK = compile_later(r"\s*(?:data|stringData):\s*")
_MANIFEST_LINE = compile_later(r"(\s+)([^:#]+:\s*)(\S.*)")
_COUNTED = frozenset(("max", "min", "num", "n", "total", "used", "prompt", "completion", "input", "output", "cached"))
"""Before `tokens`: those of a language model, which are counted."""
_WITH_DIGITS = compile_later(r"(?i)oauth2|s3(?=[_A-Z])|ec2|md5|sha[0-9]+|base64|b64|x509|k8s|p12|utf8|web3|h2|v[0-9]+")
_DIGIT_WITHIN = compile_later(r"[A-Za-z][0-9]+[A-Za-z]")
"""Digits within a word are in passwords (`Sup3rS3cret`), and in few names of variables."""
_REFERENCE = compile_later(r"\$?\{?[A-Za-z_][A-Za-z0-9_.]*(?:\(\))?\}?[;,]?|[*•.]+|[A-Za-z]+;?")
_EXPRESSION = compile_later(
    r"(?s)[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+[\[(].*"
    r"|(?:data|var|local|module|each|self|this|config|settings|process|os|env|req|request|args|params|props|ctx)"
    r"(?:\.[A-Za-z_]\w*)+[;,)]*"
)
"""Code that gets a secret from somewhere: `os.environ[`, `config.get(`, `data.aws_ssm_parameter.db.value`."""
_TYPES = frozenset(
    ("str", "string", "bytes", "None", "null", "undefined", "getpass.getpass(", "input(", "return", "raise")
)
"""What stands behind a name in code and is no value: types, and words that begin a line."""
_SIGN = "\ue000"
_OPEN_KEYS = frozenset(
    ("public", "primary", "sort", "foreign", "cache", "partition", "sub", "idempotency", "row", "axis")
)
_ENDINGS = ("password", "passwd", "passphrase", "secret", "token", "apikey", "pw", "storepass", "keypass")
"""`wgDBpassword`: words that nothing separates."""
_ARGUMENTS = 256
"""A list of more texts is not looked at as a command line."""
_FEW = 16
"""Texts that are looked through without loading re2, which takes longer than they do."""
_SHORT, _MANY = 200, 4_000
"""How long a text may be that is remembered as harmless, and how many are."""
_UNMARKED = (r"[A-Za-z0-9+/=_-]{24}", r"[0-9](?:[ -]?[0-9]){8}")
"""What texts have that look random, and numbers of cards and people."""
_MEMORY = 16 << 20
"""Bytes for the states of a search for all shapes at once: with less it takes longer, with more not much less."""
RESTLESS = 0.4
"""Random text changes between small letters, capitals and digits at 6 of 10 characters, a path at 1 or 2."""
MAX_TEXT = 262_144
MAX_DEPTH = 64


class _Entropy(msgspec.Struct, frozen=True):
    length: int
    bits: float


class _Secrets(msgspec.Struct, frozen=True):
    """The catalog's entries."""

    names: frozenset[str]
    within: frozenset[str]
    plain: frozenset[str]
    """At the end of a name: it is about a secret, and holds none."""
    parts: dict[str, str]
    """What several shapes have in common: stands in them as `<part>`."""
    shapes: dict[str, str]
    named: frozenset[str]
    """Shapes that count only if what stands before the secret names one."""
    keep: dict[str, str]
    """By shape, what stands before the secret and stays readable."""
    marks: dict[str, tuple[str, ...]]
    """By shape, texts of which whatever has it has one: without any there is no need to load what finds shapes."""
    spaced: frozenset[str]
    """Shapes that have white space in them, as no path has."""
    entropy: _Entropy


_SECRETS = Decoding(_Secrets)


@cache
def _known() -> _Secrets:
    """What secrets look like, with the parts of shapes put in their places."""
    known = _SECRETS.decode(shipped("catalog/secrets.json"))
    shapes = dict(known.shapes)
    for _ in range(2):  # parts have parts
        for part, text in known.parts.items():
            shapes = {kind: shape.replace(f"<{part}>", text) for kind, shape in shapes.items()}
    return msgspec.structs.replace(known, shapes=shapes)


@cache
def _shape(kind: str) -> Any:
    """Finds texts of one shape. In linear time, however long the text is."""
    import re2  # here: a process that writes nothing doesn't need it

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    return re2.compile(_known().shapes[kind], options)


@cache
def _suspect() -> Any:
    """Finds something in every ASCII text that `_text` could change: a mark of a shape, a long run, or nine digits."""
    import re2

    options = re2.Options()
    options.never_capture = True
    marks = sorted({re2.escape(mark) for every in _known().marks.values() for mark in every})
    return re2.compile("|".join([f"(?i:{'|'.join(marks)})", *_UNMARKED]), options).search


@cache
def _matches() -> Any:
    """Finds something in every ASCII text that has any of the shapes, or what `_suspect` finds but for marks."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MEMORY
    return re2.compile("|".join([*(f"(?:{shape})" for shape in _known().shapes.values()), *_UNMARKED]), options).search


@cache
def _kept(kind: str) -> Any:
    """Matches what stays of a text of this shape; None if nothing does."""
    import re2

    text = _known().keep.get(kind)
    return re2.compile(text) if text is not None else None


def without_secrets(path: str, value: Any, depth: int = 0) -> Any:
    """The value with every secret redacted; the very same object where there was none."""
    if type(value) is str:
        return {"$secret": "by name"} if value and _names_a_secret(path[-100:]) else _text(value, depth)
    if value not in (None, "", True, False) and _names_a_secret(path[-100:]) and not _is_count(path, value):
        return {"$secret": "by name"}
    if isinstance(value, str):
        return _text(value, depth)
    if isinstance(value, (dict, list, tuple)) and depth >= MAX_DEPTH:
        return f"[nested deeper than {MAX_DEPTH}, not looked through]"
    if isinstance(value, dict):
        named = _pair(value)
        clean = {_text(key): without_secrets(named.get(key) or key, item, depth + 1) for key, item in value.items()}
        _arguments(value, clean)
        if len(clean) < len(value):  # several keys that were secrets
            return list(clean.values())
        return value if all(clean.get(key) is value[key] for key in value) else clean
    if isinstance(value, (list, tuple)):
        before = ("", *value)
        many = len(value) > 2
        names = [_announced(last, many=many) for last in before[: len(value)]]
        items = [without_secrets(name, item, depth + 1) for name, item in zip(names, value, strict=True)]
        items = _as_command(value, items)
        return value if all(one is other for one, other in zip(items, value, strict=True)) else items
    return value


def _is_count(path: str, value: Any) -> bool:
    """`tokens: 512`."""
    return type(value) in (int, float) and path.lower().endswith("tokens")


def _pair(value: dict[Any, Any]) -> dict[Any, str]:
    """Of `{name: DB_PASSWORD, value: x}`, that `value` is called DB_PASSWORD."""
    if value.get("kind") == "Secret":
        return {key: "secret" for key in ("data", "stringData") if key in value}
    names = [item for key, item in value.items() if isinstance(item, str) and _is_key(key, _NAMES)]
    if "op" in value and isinstance(value.get("path"), str):  # a patch of a document
        names.append(value["path"].rpartition("/")[2])
    fields = [item for key, item in value.items() if isinstance(item, str) and _is_key(key, _PLACES)]
    told = any(_names_a_secret(name[-100:]) for name in names) or any(_fills_in_a_secret(name) for name in fields)
    return {key: "secret" for key in value if _is_key(key, _VALUES)} if told else {}


def _is_key(key: Any, known: frozenset[str]) -> bool:
    """Whether a key is one of these, or ends like one: `value`, `ParameterValue`, `header_value`."""
    return isinstance(key, str) and (key.lower() in known or _last_word(key) in known)


@lru_cache(4096)
def _last_word(key: str) -> str:
    return _HUMP.sub("_", key[-100:]).rpartition("_")[2].lower()


def _fills_in_a_secret(selector: str) -> bool:
    """`#password`, `input[name=token]`."""
    return len(selector) <= 200 and any(map(_names_a_secret, _WORDS.findall(selector)))


def _announced(before: Any, *, many: bool) -> str:
    """The name that an item of a list gives the next: `--password`, `Authorization:`."""
    if not isinstance(before, str) or len(before) > 100 or not _NAME.fullmatch(before):
        return ""
    if many and "-" not in before[:1] and before.islower() and not before.endswith(":"):
        return ""  # a plain word of a command line, such as `sshpass`, is no option
    return before.strip("-:").rpartition("=")[0] or before.strip("-:")


def _as_command(texts: Any, items: list[Any]) -> list[Any]:
    """The items, and of texts that make up a command line those redacted that hold a secret in it."""
    if not 2 <= len(texts) <= _ARGUMENTS or not all(isinstance(one, str) for one in texts):
        return items
    words = [shlex.quote(one) if one else "''" for one in texts]
    line = " ".join(words)
    shown = _text(line) if len(line) <= MAX_TEXT else line
    if shown == line:
        return items
    left = f" {shown} "
    return [
        item if f" {word} " in left or item is not text else "[secret: in a command]"
        for item, text, word in zip(items, texts, words, strict=True)
    ]


def _arguments(value: dict[Any, Any], clean: dict[Any, Any]) -> None:
    """Of `{command: sshpass, args: [-p, x]}`, the arguments as those of the command, in what is clean so far."""
    programs = [item for key, item in value.items() if isinstance(item, str) and _is_key(key, _COMMANDS)]
    if len(programs) != 1 or not programs[0]:
        return
    for key, items in value.items():
        if _is_key(key, _LISTS) and isinstance(items, (list, tuple)) and isinstance(clean.get(key), (list, tuple)):
            found = _as_command([programs[0], *items], [programs[0], *clean[key]])[1:]
            if any(one is not other for one, other in zip(found, clean[key], strict=True)):
                clean[key] = found


@lru_cache(4096)
def _names_a_secret(path: str) -> bool:
    """`password`, and also `dbPassword`, `X-Api-Key`, `TOKEN_GITHUB` or `password1`, but not `token_count`."""
    known = _known()
    last = path.rpartition(".")[2] if not path.endswith(".") else path
    words = [word.rstrip("0123456789") or word for word in _WORDS.findall(_HUMP.sub("_", last).lower())]
    ends = range(1, len(words) + 1)
    if len(words) > 8 or (words[-1:] == ["tokens"] and words[-2:-1] and words[-2] in _COUNTED):
        return False
    ways = ["_".join(words[start:]) for start in range(max(0, len(words) - 3), len(words))]
    if any(way in known.names or ("_" in way and way.removesuffix("s") in known.names) for way in ways):
        return True
    if not words or words[-1] in known.plain:
        return False
    named = last.isupper() or words[0] == "x"  # a setting, a header
    if len(words) > 1 and named and words[-1] == "key" and words[-2] not in _OPEN_KEYS:
        return True
    if words[-1].endswith(_ENDINGS) and words[-1] not in known.plain:
        return True
    return any("_".join(words[max(0, end - size) : end]) in known.within for end in ends for size in (1, 2))


def _text(text: str, depth: int = 0) -> str:
    if len(text) < 8:
        return text
    if len(text) > MAX_TEXT:
        return f"[{len(text)} characters, not looked through]"
    if text[0] not in "{[ \n" and text.isascii() and "Secret" not in text and _looks_harmless(text):
        return text
    found = _in_json(text, depth) if text[0] in "{[ \n" else text
    found = _in_manifest(found) if "Secret" in found else found
    if not found.isascii():
        found = _shaped(found) if (plain := _plain(found)) == found else _if_other(found, plain)
    else:
        found = _shaped(found)
    found = _RUN.sub(lambda match: "[secret: random]" if _random(match[0]) else match[0], found)
    found = _CARD.sub(lambda match: "[secret: card number]" if _is_card(match[0]) else match[0], found)
    found = _SSN.sub("[secret: social security number]", found)
    return text if found == text else found


_looked = [0]
_harmless: set[str] = set()
"""Short texts in which a first look found nothing: paths come again and again."""


def _looks_harmless(text: str) -> bool:
    """Whether a first look finds nothing: no mark, or no shape. It needs re2, and compiling takes a while,
    so a process that looks at few texts does without."""
    if text in _harmless:
        return True
    _looked[0] += 1
    if _looked[0] <= _FEW or not (_suspect()(text) is None or _matches()(text) is None):
        return False
    if len(text) <= _SHORT:
        if len(_harmless) >= _MANY:
            _harmless.clear()
        _harmless.add(text)
    return True


def _shaped(text: str) -> str:
    """The text without what has one of the shapes. What was redacted is a sign of its own meanwhile, so that no other
    shape takes the words in its place for a secret."""
    known = _known()
    low, left, kinds = text.lower() if text.isascii() else None, text.replace(_SIGN, ""), list[str]()

    def hide(kind: str, match: Any) -> str:
        before = _before(kind, match[0])
        if kind in known.named and before and not _tells(before, match[0][len(before) :]):
            return before + _shaped(match[0][len(before) :])
        kinds.append(kind)
        return f"{before}{_SIGN}{len(kinds) - 1}{_SIGN}"

    for kind in known.shapes:
        if _is_marked(kind, low) and _shape(kind).search(left) is not None:
            left = _shape(kind).sub(partial(hide, kind), left)
    parts = left.split(_SIGN)
    parts[1::2] = [f"[secret: {kinds[int(part)]}]" for part in parts[1::2]]
    return "".join(parts)


def _is_marked(kind: str, low: str | None) -> bool:
    """False only for a text, in small letters, that does not have this shape; None: it is not ASCII."""
    if low is None:
        return True
    known = _known()
    for mark in known.marks[kind]:
        if mark in low:
            return kind not in known.spaced or _SPACE.search(low) is not None
    return False


def _plain(text: str) -> str:
    """Without characters that nobody sees, and with those that look alike made one."""
    return "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")


def _if_other(text: str, plain: str) -> str:
    found = _shaped(plain)
    return text if found == plain else found


def _in_json(text: str, depth: int) -> str:
    """A text that is JSON, read as such: whatever is a secret there is one here."""
    if text.lstrip()[:1] not in ("{", "[") or depth >= MAX_DEPTH:
        return text
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text
    clean = without_secrets("", value, depth + 1)
    if clean is value:
        return text
    import json  # here: few texts have a secret in them

    return json.dumps(clean, ensure_ascii=False)


def _in_manifest(text: str) -> str:
    """A Secret of Kubernetes as YAML: all that it holds."""
    if _MANIFEST.search(text) is None:
        return text
    inside, lines = -1, []
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if _MANIFEST_BLOCK.fullmatch(line):
            inside = indent
        elif line.strip() and indent <= inside:
            inside = -1
        elif inside >= 0 and line.strip():
            found = _MANIFEST_LINE.fullmatch(line)
            line = f"{found[1]}{found[2]}[secret: manifest]" if found else f"{' ' * indent}[secret: manifest]"
        lines.append(line)
    return "\n".join(lines)


def _before(kind: str, text: str) -> str:
    """What stays readable of a text of this shape."""
    kept = _kept(kind)
    start = kept.match(text) if kept is not None else None
    return start[1] if start is not None else ""


def _tells(before: str, value: str) -> bool:
    """Whether what stands before a value names a secret, and the value could be one."""
    names = _WORDS_OF_NAME.findall(before)
    bare = value.strip("\"' ,;)")
    if bare.isdigit() and any("token" in name.lower() for name in names):
        return False  # they are counted
    if before[-1:] not in ("'", '"') and _EXPRESSION.fullmatch(value):
        return False
    if before[-1:] not in ("'", '"') and _REFERENCE.fullmatch(value) and _is_reference(bare):
        return False
    names += [name[2:] for name in names if name.startswith(("-D", "-P"))]
    names += [f"{one}_{other}" for one, other in pairwise(names[-2:])]  # `the API key: `
    return not names or any(_names_a_secret(name.strip(".-")) for name in names)


def _is_reference(value: str) -> bool:
    """A variable that holds a secret, a type, or what is shown in place of one: `$DB_PASSWORD`, `req.body.password`."""
    name = value.strip("${}()")
    shown = not any(char.isalpha() for char in name) or (value[:1] == "$" and name.isupper())
    return shown or value in _TYPES or (_names_a_secret(name) and not _DIGIT_WITHIN.search(_WITH_DIGITS.sub("", name)))


def _is_card(text: str) -> bool:
    """A number that a card could have: of a known issuer, and with the right check digit."""
    digits = text.replace(" ", "").replace("-", "")
    if _ISSUERS.fullmatch(digits) is None:
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _random(text: str) -> bool:
    """Long, of mixed characters, and with about as much surprise as random text has."""
    known = _known().entropy
    if len(text) < known.length or _PLAIN.fullmatch(text):
        return False
    if _PATH.fullmatch(text) and len(_CHANGE.findall(text)) < RESTLESS * len(text):
        return False
    counts = [text.count(char) for char in set(text)]
    bits = -sum(count / len(text) * log2(count / len(text)) for count in counts)
    return bits >= known.bits
