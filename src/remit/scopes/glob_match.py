"""Matching globs fast: a plain string test for the everyday shapes, one compiled pattern for the rest.

Patterns never backtrack over what a wildcard took: after a wildcard the leftmost place where the next
literal stretch fits is as good as any, so each stretch is an atomic group, and matching stays about
linear in the path whatever an attacker writes. (Repeated groups are never possessive: Python before
3.11.5 gets those wrong.)
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Sequence

from remit.model.pattern import compile_later
from remit.scopes.glob_algebra import ANY_SEGMENT, Alternative, Atom, Segment
from remit.scopes.glob_syntax import ANY, CharSet, Wild

Matcher = Callable[[str], bool]

_DISPATCH_FROM = 9


def matcher(alternatives: Sequence[Alternative], *, lead: str) -> Matcher:
    """A function that says whether a normalised path is one of these; `lead` is "/" for absolute ones."""
    return (_dispatched if len(alternatives) >= _DISPATCH_FROM else _union)(alternatives, lead)


def _union(alternatives: Sequence[Alternative], lead: str) -> Matcher:
    """Texts in one set, directories in one `startswith`, and the others in one pattern."""
    exact: list[str] = []
    directories: list[str] = []
    others: list[Alternative] = []
    for alternative in alternatives:
        texts = _leading(alternative)
        rest = alternative[len(texts) :]
        if not rest:
            exact.append(lead + "/".join(texts) or ".")
        elif texts and rest == (ANY_SEGMENT, Wild.DEEP):
            directories.append(lead + "/".join(texts) + "/")
        else:
            others.append(alternative)
    tests: list[Matcher] = [frozenset(exact).__contains__] if exact else []
    if directories:
        tests.append(_inside(tuple(directories)))
    if others:
        tests.append(_single(others[0], lead) if len(others) == 1 else _guarded(others, lead))
    return functools.reduce(_either, tests) if tests else _nothing


def _either(one: Matcher, other: Matcher) -> Matcher:
    return lambda path: one(path) or other(path)


def _nothing(path: str) -> bool:
    return False


def _inside(directories: tuple[str, ...]) -> Matcher:
    return lambda path: path.startswith(directories) and path[-1] != "/"


def _guarded(alternatives: Sequence[Alternative], lead: str) -> Matcher:
    """One pattern, and not even that for a path that ends, or whose last segment begins, as none of them does."""
    test = _pattern(alternatives, lead)
    tails = tuple({tail for alternative in alternatives if (tail := _tail(alternative))})
    heads = tuple({_head(alternative) for alternative in alternatives if not _tail(alternative)})
    return lambda path: (path.endswith(tails) or path.startswith(heads, path.rfind("/") + 1)) and test(path)


def _dispatched(alternatives: Sequence[Alternative], lead: str) -> Matcher:
    """Only those whose first segment is that of the path, and those that begin with a wildcard."""
    groups: dict[str, list[Alternative]] = {}
    loose: list[Alternative] = []
    for alternative in alternatives:
        texts = _leading(alternative)
        if texts:
            groups.setdefault(lead + texts[0], []).append(alternative)
        else:
            loose.append(alternative)
    by_first = {first: _union(group, lead) for first, group in groups.items()}
    other = _union(loose, lead)
    cut = re.compile(re.escape(lead) + r"[^/]*").match

    def test(path: str) -> bool:
        head = cut(path)
        group = by_first.get(head[0]) if head else None
        return (group is not None and group(path)) or other(path)

    return test


def _single(alternative: Alternative, lead: str) -> Matcher:
    """The test for one alternative with wildcards: by comparing texts if it has an everyday shape."""
    texts = _leading(alternative)
    rest = alternative[len(texts) :]
    if alternative == (Wild.DEEP,):
        return (lambda path: path[:1] == "/") if lead else (lambda path: "" < path[:1] != "/")
    prefix = lead + "".join(text + "/" for text in texts)
    deep, last = rest[:-1], rest[-1]
    if deep == (Wild.DEEP,) and isinstance(last, str):
        return _deep_name(prefix, last)
    ends = _around_star(last)
    if ends == ("", "") or ends is None or deep not in ((), (Wild.DEEP,)):
        return _pattern([alternative], lead)
    return _deep_star(prefix, *ends) if deep else _one_star(prefix + ends[0], ends[1])


def _one_star(prefix: str, suffix: str) -> Matcher:
    """`dir/a*.ext`. (Comparing slices is quicker than asking `startswith`.)"""
    skip, least = len(prefix), len(prefix) + len(suffix)
    return lambda path: path[:skip] == prefix and path.endswith(suffix) and len(path) > least and "/" not in path[skip:]


def _deep_star(prefix: str, before: str, after: str) -> Matcher:
    """`dir/**/a*.ext`, `**/a*`, `**/*.ext`."""
    least = len(before) + len(after)

    def test(path: str) -> bool:
        if not path.endswith(after):
            return False
        name = path.rfind("/") + 1
        return path.startswith(before, name) and len(path) - name > least and _below(path, prefix)

    return test


def _deep_name(prefix: str, name: str) -> Matcher:
    """`dir/**/name`, `**/name`; the slash before the name may be that of the prefix, for a name has none."""
    own, tail = prefix + name, "/" + name
    return lambda path: path == own or (path.endswith(tail) and _below(path, prefix))


def _below(path: str, prefix: str) -> bool:
    """In this directory at any depth; without one, in the root."""
    return path.startswith(prefix) if prefix else path[0] != "/"


def _leading(alternative: Alternative) -> list[str]:
    """The literal segments that it begins with."""
    texts: list[str] = []
    for element in alternative:
        if not isinstance(element, str):
            break
        texts.append(element)
    return texts


def _tail(alternative: Alternative) -> str:
    """The literal text that every path of it ends in."""
    last = alternative[-1]
    if isinstance(last, Wild):
        return ""
    atoms = itertools.takewhile(lambda atom: isinstance(atom, str), reversed(last))
    return "".join(map(str, atoms))[::-1]


def _head(alternative: Alternative) -> str:
    """The literal text that the last segment of every path of it begins with."""
    last = alternative[-1]
    if isinstance(last, Wild):
        return ""
    return "".join(map(str, itertools.takewhile(lambda atom: isinstance(atom, str), last)))


def _around_star(element: object) -> tuple[str, str] | None:
    """What stands before and after the star, if the segment is one star in literal text."""
    if not isinstance(element, tuple) or Wild.STAR not in element:
        return None
    star = element.index(Wild.STAR)  # in the normal form it stands behind an ANY
    before, after = element[: star - 1], element[star + 1 :]
    if not all(isinstance(atom, str) for atom in before + after):
        return None
    return "".join(before), "".join(after)


def _pattern(alternatives: Sequence[Alternative], lead: str) -> Matcher:
    """One compiled pattern for all of them."""
    bodies = "|".join(_alternative(alternative) for alternative in alternatives)
    # The root is no entry of itself: `*` is not `.`
    root = "" if lead or (Wild.DEEP,) in alternatives else r"(?!\.\Z)"
    compiled = compile_later(f"{lead}{root}(?:{bodies})")
    return lambda path: compiled.fullmatch(path) is not None


def _alternative(alternative: Alternative) -> str:
    """Stretches of segments; each but the first may lie any number of segments further on."""
    if alternative == (Wild.DEEP,):
        return r"(?:[^/][\s\S]*)?"
    stretches: list[list[str]] = [[]]
    for element in alternative:
        if isinstance(element, Wild):
            stretches.append([])
        else:
            stretches[-1].append(_segment(element))
    open_end = not stretches[-1]
    if open_end:
        stretches.pop()
    parts = []
    for index, stretch in enumerate(stretches):
        end = "" if open_end and index == len(stretches) - 1 else "/" if index < len(stretches) - 1 else r"\Z"
        body = "/".join(stretch) + end
        if index:
            parts.append(rf"(?>(?:[^/]++/)*?{body})")
        elif stretch:
            parts.append(body)
    return "".join(parts) + (r"(?:/[\s\S]+)?" if open_end else "")


def _segment(segment: Segment) -> str:
    """One whole segment: the first and last stretch at its ends, the others leftmost in between."""
    if isinstance(segment, str):
        return re.escape(segment)
    stretches: list[str] = [""]
    for atom in segment:
        if atom is Wild.STAR:
            stretches.append("")
        else:
            stretches[-1] += _atom(atom)
    first, *middle = stretches
    if not middle:
        return first
    last = middle.pop()
    inner = "".join(f"(?>[^/]*?{stretch})" for stretch in middle)
    return first + inner + (f"(?>[^/]*?{last}(?![^/]))" if last else "[^/]*+")


def _atom(atom: Atom) -> str:
    if isinstance(atom, CharSet):
        if atom == ANY:
            return "[^/]"
        return "[" + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in atom.ranges) + "]"
    return re.escape(str(atom))
