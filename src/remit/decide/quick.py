"""The quick way: answers of the full procedure, kept where nothing that they depend on can differ.

INVARIANT: a quick answer is an object that `procedure` itself gave for a call of the same kind. What is checked
here is only that the new call is of that kind: same caller and tool, arguments well typed, a context that
bears on nothing, and a path that no label, protected path, lock or prohibition could concern. That the facts
bear on nothing and halt nobody who calls has been checked by `decide`. Everything else takes the full procedure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from remit.decide.grid import Bound, Cell
from remit.decide.labels import Paths
from remit.model.call import Call, Context
from remit.model.decision import Decision
from remit.model.facts import NO_FACTS, Facts
from remit.model.terms import ALLOW, ASK
from remit.scopes.glob import Glob
from remit.scopes.glob_syntax import ANY, Wild
from remit.scopes.path import MAX_PATH

Procedure = Callable[[Cell, Call, Facts], Decision]
Accepts = Callable[[str], object]
Concerned = Callable[[str], bool]
_TYPES: dict[str, type] = {"text": str, "path": str, "flag": bool, "number": int}
_MEMORY = 256


def prepare(cell: Cell, procedure: Procedure) -> None:
    """Gives the cell its quick way, if it can have one."""
    tool, caller = cell.tool, cell.caller
    kinds = {name: argument.kind for name, argument in tool.args.items()}
    if not all(kind in _TYPES for kind in kinds.values()) or any("[" in n or "." in n for n in kinds):
        return
    if any(a.one_of or a.default is not None for a in tool.args.values()):
        return
    if caller.enforce is not None and caller.enforce.observe_until is not None:
        return
    if cell.grants or any(bound.judge.where for bound in cell.rules):
        return
    if caller.data_tiers is not None and 0 not in caller.data_tiers:
        return
    paths = [name for name, kind in kinds.items() if kind == "path"]
    if not paths:
        _prepare_fixed(cell, procedure)
    elif len(paths) == 1 and not tool.args[paths[0]].optional and not _is_placed(cell):
        _prepare_path(cell, procedure, paths[0])


def _is_placed(cell: Cell) -> bool:
    """The tool has effects whose tier depends on the environment that the call runs in."""
    rules = cell.index.environment_tiers.values()
    return any(does.effect in rule.effects for rule in rules for does in cell.tool.does)


def _context_key(cell: Cell) -> Callable[[Context, Facts], Any]:
    """A key for contexts that differ in what the cell looks at; None where the full procedure must look."""
    found = {key for bound in cell.rules for key, _ in bound.judge.when}
    keys = sorted(found | {"environment"} if _is_placed(cell) else found)

    def key(context: Context, facts: Facts) -> Any:
        if context.capsule is not None or context.capsule_grants:
            return None
        chain = context.chain
        if chain and facts.halts and not facts.halts.isdisjoint(chain):
            return None
        return (chain, context.data_tier, *[getattr(context, name) for name in keys])

    return key


def _prepare_fixed(cell: Cell, procedure: Procedure) -> None:
    """Without a path among the arguments the answer depends on the context alone."""
    types = {name: _TYPES[argument.kind] for name, argument in cell.tool.args.items()}
    required, total = cell.intake.required, len(types)
    key_of = _context_key(cell)
    conditional = _is_placed(cell) or any(bound.judge.when for bound in cell.rules)
    answers: dict[Any, Decision] = {}
    usual: Decision | None = None
    if not cell.tool.args and not conditional:
        decision = procedure(cell, Call(cell.caller.name, cell.tool.name), NO_FACTS)
        if decision.verdict is not ASK:
            cell.quick = decision

    def fast(call: Call, facts: Facts) -> Decision | None:
        nonlocal usual
        args, context = call.args, call.context
        for name, value in args.items():
            if types[name] is not type(value):
                return None
        if len(args) != total and not required <= args.keys():
            return None
        if not (conditional or context.chain or context.data_tier or context.capsule):
            if usual is None:
                answer = procedure(cell, call, facts)
                if answer.verdict is ASK:
                    return answer
                usual = answer
            return usual
        key = key_of(context, facts)
        if key is None:
            return None
        found = answers.get(key)
        if found is None:
            found = procedure(cell, call, facts)
            if found.verdict is not ASK and len(answers) < _MEMORY:
                answers[key] = found
        return found

    cell.fast = fast


def _prepare_path(cell: Cell, procedure: Procedure, name: str) -> None:
    """One path among the arguments: the rule that covers it settles the answer, where nothing else concerns it."""
    below = any(arg.below for arg, _ in cell.intake.declared if arg.name == name)
    if cell.intake.fixed or below or cell.locks is not None:
        return
    nots = [bound for bound in cell.nots if _could_act(cell, bound)]
    if cell.asks or nots or not all(_only_path(bound) for bound in cell.may):
        return
    types = {other: _TYPES[argument.kind] for other, argument in cell.tool.args.items()}
    required, total = cell.intake.required, len(types)
    key_of = _context_key(cell)
    rules = _covering(cell)
    if rules is None:
        return
    answers: dict[Any, Decision] = {}

    def fast(call: Call, facts: Facts) -> Decision | None:
        args, context = call.args, call.context
        for other, value in args.items():
            if types[other] is not type(value):
                return None
        if len(args) != total and not required <= args.keys():
            return None
        text: str = args[name]
        for index, accepts, concerned in rules:  # noqa: B007 (the index of the covering rule is used below)
            if accepts(text):
                if concerned is not None and concerned(text):
                    return None
                break
        else:
            return None
        if context.cwd is not None or len(text) > MAX_PATH:
            return None
        resolved = facts.resolved
        if resolved is not None and resolved.get(text) != f"{facts.root}/{text}":
            return None
        key: Any = index
        if context.chain or context.data_tier or context.capsule:
            if _binds(cell, context):
                return None
            key = key_of(context, facts)
            if key is None:
                return None
            key = (index, key)
        answer = answers.get(key)
        if answer is None:
            answer = procedure(cell, call, facts)
            if answer.verdict is ALLOW and not answer.obligations and len(answers) < _MEMORY:
                answers[key] = answer
        return answer

    cell.fast = fast


def _covering(cell: Cell) -> tuple[tuple[int, Accepts, Concerned | None], ...] | None:
    """For each rule, a test for plain texts that name a normal path which it covers, and one for those that
    something else concerns."""
    matchers: list[Any] = [bound.judge.parts.get("path") for bound in cell.may]
    scopes = [matcher.scope.allow if matcher is not None else ("**",) for matcher in matchers]
    if cell.access:
        scopes.append(("**",))
    concerns = list(_concerns(cell))
    labelled = [things.paths for things in cell.index.labels.things if things.paths]
    found: list[tuple[int, Accepts, Concerned | None]] = []
    for index, texts in enumerate(scopes):
        globs = [Glob.parse(text) for text in texts]
        patterns = [pattern for glob in globs for pattern in plain_patterns(glob)]
        if None in patterns:
            return None
        accepts = re.compile("|".join(str(pattern) for pattern in patterns) or "(?!)").fullmatch
        mine = [other for other in concerns if any(other.intersects(glob) for glob in globs)]
        concern = Concern(mine)
        for paths in labelled:
            concern.add(*_simple(paths, globs))
        if concern.always:
            return None
        found.append((index, accepts, concern.test() if concern else None))
    return tuple(found)


def _binds(cell: Cell, context: Context) -> bool:
    callers = cell.rulebook.book.callers
    return any(name not in callers or callers[name].delegate_within == "chain" for name in context.chain)


def _could_act(cell: Cell, bound: Bound) -> bool:
    """False for a prohibition of effects that the tool never has."""
    effects = bound.judge.effects
    return effects is None or any(does.effect in effects for does in cell.tool.does)


def _only_path(bound: Bound) -> bool:
    judge = bound.judge
    if judge.free:
        return True
    if judge.when or judge.effects is not None or set(judge.parts) != {"path"}:
        return False
    path: Any = judge.parts["path"]
    return not (path.scope.except_ or path.scope.outside or path.obliges)


def _concerns(cell: Cell) -> Iterable[Glob]:
    """Every glob by which a path could matter beyond the rule that covers it."""
    book = cell.rulebook.book
    yield from (Glob.parse(text).folded() for text in book.protected.paths)
    for hidden in (*book.protected.names, *book.protected.hidden):
        yield Glob.parse(f"**/{hidden}").folded()
    for things in cell.index.labels.things:
        yield from things.paths.rest
    for text in book.protected.paths:
        base = Glob.parse(text).folded().base
        while base != ".":
            yield Glob.literal(base).folded()
            base = base.rpartition("/")[0] or "."


def _simple(paths: Paths, globs: list[Glob]) -> tuple[set[str], set[str]]:
    """The names and the ends by which a label's simple globs could concern a path of these globs."""
    alternatives = [alternative for glob in globs for alternative in glob.folded().alternatives]
    last = [alternative[-1] for alternative in alternatives if alternative]
    fixed = [element for element in last if isinstance(element, str)]
    known = paths.names | {path.rpartition("/")[2] for path in (*paths.exact, *paths.tails, *paths.above)}
    if len(fixed) == len(last):
        names = {name for name in known if name in fixed}
        ends = {end for end in paths.ends if any(text.endswith(end) for text in fixed)}
    else:
        stops = tuple(stop for element in last for stop in _stops(element))
        names = {name for name in known if name.endswith(stops)}
        ends = {end for end in paths.ends if any(end.endswith(stop) or stop.endswith(end) for stop in stops)}
    deep = [Wild.DEEP for alternative in alternatives if Wild.DEEP in alternative]
    segments = [*deep, *(element for alternative in alternatives for element in alternative[:-1])]
    folders = paths.folders | {base.strip("/").partition("/")[0] for base in (*paths.bases, *paths.inner)}
    if all(isinstance(element, str) for element in segments):
        return names | {name for name in folders if name in segments}, ends
    return names | folders, ends


def _stops(element: Any) -> Iterable[str]:
    """The literal text in which a segment ends, perhaps none."""
    if isinstance(element, str):
        yield element
        return
    text = ""
    for atom in reversed(element if isinstance(element, tuple) else ()):
        if not isinstance(atom, str):
            break
        text = atom + text
    yield text


_SAFE = r"[ !\"#%&'()*+,.0-9;<=>?@A-Z\[\]^_`a-z{|}-]"
_PART = rf"(?!\.\.?(?:/|\Z)){_SAFE}+"


def plain_patterns(glob: Glob) -> list[str | None]:
    """For each alternative a pattern of the plain texts it matches; None where that isn't simple.

    Plain texts are printable ASCII without `\\`, `:`, `~` and `$`, in normal form. At most one `**`, and one `*`
    a segment, so that matching stays linear.
    """
    return [_plain_pattern(alternative) for alternative in glob.alternatives]


def _plain_pattern(alternative: tuple[Any, ...]) -> str | None:
    if alternative.count(Wild.DEEP) > 1:
        return None
    out, joint = "", ""
    for element in alternative:
        if element is Wild.DEEP:
            if element is alternative[-1]:
                return out + (rf"(?:/{_PART})*" if out else rf"{_PART}(?:/{_PART})*")
            out, joint = out + joint + rf"(?:{_PART}/)*", ""
            continue
        part = _plain_segment(element)
        if part is None:
            return None
        out, joint = out + joint + part, "/"
    return out or None


def _plain_segment(element: Any) -> str | None:
    if isinstance(element, str):
        return re.escape(element) if re.fullmatch(f"{_SAFE}+", element) else None
    if element.count(Wild.STAR) > 1:
        return None
    out = r"(?!\.\.?(?:/|\Z))"
    for atom in element:
        if atom is Wild.STAR:
            out += f"{_SAFE}*"
        elif atom == ANY:
            out += _SAFE
        elif isinstance(atom, str):
            out += re.escape(atom)
        else:
            return None
    return out


class Concern:
    """What a path must have before any of these globs could match it: a segment, a beginning, an end.

    A path with none of them is no concern of theirs; one that has some may still be none.
    """

    __slots__ = ("always", "heads", "segments", "tails")

    def __init__(self, globs: Iterable[Glob]) -> None:
        names, prefixes, suffixes = set[str](), set[str](), set[str]()
        self.always = False
        for glob in globs:
            for literal, prefix, suffix in glob.marks():
                if literal:
                    names.add(literal)
                elif prefix:
                    prefixes.add(prefix)
                elif suffix:
                    suffixes.add(suffix)
                else:
                    self.always = True
        self.segments = frozenset(names)
        self.heads, self.tails = tuple(prefixes), tuple(suffixes)

    def __bool__(self) -> bool:
        return bool(self.segments or self.heads or self.tails)

    def add(self, names: set[str], ends: set[str]) -> None:
        """Further segments and ends."""
        self.segments |= names
        self.tails = (*self.tails, *ends)

    def test(self) -> Concerned:
        """True for every text that a glob matches, whatever its case; also for some others."""
        segments, heads, tails = self.segments, self.heads, self.tails
        if 0 < len(segments) <= 2 and not heads and not tails:
            texts = tuple(segments)
            one, other = texts[0], texts[-1]
            return lambda text: one in (low := text.lower()) or other in low
        initial, final = frozenset(head[0] for head in heads), frozenset(tail[-1] for tail in tails)

        def concerned(text: str) -> bool:
            low = text.lower()
            parts = low.split("/")
            last = parts[-1]
            return (
                not segments.isdisjoint(parts)
                or (low[-1] in final and low.endswith(tails))
                or (last[0] in initial and last.startswith(heads))
            )

        return concerned
