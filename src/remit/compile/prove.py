"""What is proved when a policy loads: the examples in its rules, and its `never` statements."""

from __future__ import annotations

from typing import Any

import msgspec

from remit.analyze.candidates import favourable, nest, plain_value
from remit.analyze.confined import notices as confined
from remit.analyze.idle import idle
from remit.analyze.never import describe, examine
from remit.analyze.shadowed import shadows
from remit.analyze.widening import widening
from remit.decide import decide
from remit.decide.grid import Cell, grid_of
from remit.forms.shapes import Reader
from remit.model.call import Call, Context
from remit.model.policy import Caller, Rule
from remit.model.rulebook import Rulebook
from remit.model.text import shown
from remit.scopes.kinds import kind_of


def prove(rulebook: Rulebook) -> Rulebook:
    """The rulebook itself, or with notices about what a proof assumes. Raises PolicyError."""
    reader = Reader()
    for caller in rulebook.book.callers.values():
        for rule in caller.rules:
            if rule.examples is not None:
                _examples(rulebook, caller, rule, reader)
    notices = list(rulebook.book.notices)
    for statement in rulebook.book.never:
        finding = examine(rulebook, statement)
        if finding.cells == 0:
            reader.fail(statement.at, "matches-nothing", f"`{describe(statement)}` matches nothing")
        elif finding.answer != "proved":
            where = f"{finding.caller} and {finding.tool}"
            if finding.call is not None:
                args = msgspec.json.encode(finding.call.args).decode()
                what = f"{finding.because} for {finding.caller}: {finding.tool} {shown(args, 160)}"
            else:
                what = f"not proved for {where}: {finding.because}"
            code = "never-violated" if finding.answer == "violated" else "never-unknown"
            reader.fail(statement.at, code, f"`{describe(statement)}` does not hold: {what}")
        else:
            notices.extend(f"{statement.at}: proved, assuming that {text}" for text in finding.assumptions)
    reader.finish()
    notices.extend(widening(rulebook))
    notices.extend(confined(rulebook))
    if len(notices) == len(rulebook.book.notices):
        return rulebook
    return Rulebook(msgspec.structs.replace(rulebook.book, notices=tuple(notices)), rulebook.hash)


def without_dead_rules(rulebook: Rulebook) -> Rulebook:
    """The rulebook with notices about rules that do nothing. Raises PolicyError where two in one list are at odds."""
    reader = Reader()
    notices = []
    for shadow in shadows(rulebook):
        if shadow.own:
            reader.fail(shadow.at, shadow.code, shadow.text, shadow.help)
        else:
            notices.append(f"{shadow.at}: {shadow.text}")
    notices.extend(idle(rulebook))
    reader.finish()
    if not notices:
        return rulebook
    book = msgspec.structs.replace(rulebook.book, notices=(*rulebook.book.notices, *notices))
    return Rulebook(book, rulebook.hash)


def _examples(rulebook: Rulebook, caller: Caller, rule: Rule, reader: Reader) -> None:
    """Decides the examples of one rule for one caller."""
    grid = grid_of(rulebook)
    row = grid.row(caller.name)
    examples = rule.examples
    if row is None or examples is None or not caller.enabled:
        return
    for name in rule.tools or ():
        tool = row.tool(name)
        if tool is None:
            continue
        cell = grid.cell(row, tool)
        for expected, entries in (("allow", examples.allow), ("ask", examples.ask), ("deny", examples.deny)):
            for entry in entries:
                args = _arguments(cell, entry, rule, reader)
                if args is None:
                    continue
                facts, capsule = favourable(cell)
                wanted = {key: str(values[0]) for key, values in rule.scope.when.items()}
                context = Context(**{"capsule": capsule, **wanted})  # type: ignore[arg-type]
                decision = decide(rulebook, Call(caller.name, name, args, context), facts)
                if decision.verdict.word != expected:
                    reader.fail(
                        rule.at,
                        "example-fails",
                        f"the example `{shown(entry)}` of {caller.name} is expected to be {expected}, "
                        f"but is {decision.verdict.word}: {decision.reason}",
                    )


def _arguments(cell: Cell, entry: Any, rule: Rule, reader: Reader) -> dict[str, Any] | None:
    """The arguments of an example: a mapping, or the value of the one argument that matters."""
    declared = cell.tool.args
    kinds = {name: kind_of(argument.kind) for name, argument in declared.items()}
    needed = [name for name, argument in declared.items() if not argument.optional]
    filled = {name: plain_value(declared[name]) for name in needed if not kinds[name].must_be_mentioned}
    if isinstance(entry, dict):
        return {**{k: v for k, v in nest(filled).items() if k not in entry}, **entry}
    main = [name for name in needed if kinds[name].unit] or needed
    if len(main) != 1:
        reader.fail(rule.at, "bad-example", f"give the arguments of the example `{shown(entry)}` as a mapping")
        return None
    return nest({**filled, main[0]: entry})
