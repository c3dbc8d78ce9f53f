"""What a policy says about labels, and which tiers effects and labels have."""

from __future__ import annotations

from typing import Any

from remit.declare.rules import globs, urls
from remit.forms.nodes import MAP, Node
from remit.forms.shapes import (
    BAD,
    JSON,
    NAME,
    Choice,
    Either,
    Field,
    ListOf,
    MapOf,
    Number,
    Reader,
    Record,
    Shape,
    Text,
)
from remit.model.policy import Label, TierOf
from remit.model.terms import EFFECTS

_texts = ListOf(Text(r"[^\x00-\x1f]+", "text"), single=True)
_hosts = ListOf(Text(r"(?:\*\.)?[^*\s/]+", "a host such as db.prod.example or *.prod.example"), single=True)
_things = {
    "path": Field(globs, "files and folders with this label"),
    "table": Field(_texts, "names with * and ?; one without a schema means the table in any"),
    "url": Field(urls, "URLs with this label"),
    "host": Field(_hosts, "hosts with this label, such as *.prod.example"),
    "kube_context": Field(_texts, "contexts of clusters, and profiles and projects of clouds"),
    "branch": Field(_texts, "git branches with this label"),
}


def _label(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    return Label(name="", at=node.at, **values)


_label_shape = Record(_things, _label, what="a label")
_data_shape = Record({key: _things[key] for key in ("path", "table", "url")}, _label, what="a data label")
_data = Record({str(tier): Field(_data_shape, f"data of tier {tier}") for tier in range(4)}, what="data labels")


class _Labels(Shape):
    """`data` with its tiers, and any other label by its name."""

    expects = "a mapping of labels"
    _named = MapOf(_label_shape, keys=NAME, what="label")

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is not MAP:
            return self.wrong(node, reader)
        found: dict[str, Any] = {}
        for key, item in node.value.items():
            if key == "data":
                value = _data.read(item, reader)
            elif not NAME.fullmatch(key):
                value = reader.fail(
                    node.at_key(key), "bad-name", "a label's name is ASCII letters, digits and . _ : / -"
                )
            else:
                value = _label_shape.read(item, reader)
            if value is not BAD:
                found[key] = value
        return found

    def schema(self) -> JSON:
        return {
            **self._named.schema(),
            "properties": {"data": {**_data.schema(), "description": "which data is of which tier, from 0 to 3"}},
        }


labels = _Labels()


def _tier_of(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    return TierOf(at=node.at, **values)


class _JustTier(Number):
    """A tier, without more."""

    def read(self, node: Node, reader: Reader) -> Any:
        tier = super().read(node, reader)
        return BAD if tier is BAD else TierOf(tier, at=node.at)


_tier = Field(Number(0, 4), "the tier, from 0 to 4", required=True)
_because = Field(Text(), "for people who are asked")
_effects = Field(ListOf(Choice(*EFFECTS), single=True, some=True), "the effects on such things that it is about")
effect_tiers = Record(
    {
        effect: Field(
            Either(scalar=_JustTier(0, 4), map=Record({"tier": _tier, "because": _because}, _tier_of, what="a tier")),
            f"the tier of {effect}",
        )
        for effect in EFFECTS
    },
    what="the tiers of effects",
)
tool_tiers = MapOf(
    Either(scalar=_JustTier(0, 4), map=Record({"tier": _tier, "because": _because}, _tier_of, what="a tier")),
    keys=NAME,
    what="tool",
)
label_tiers = MapOf(
    Either(
        scalar=_JustTier(0, 4),
        map=Record({"tier": _tier, "effects": _effects, "because": _because}, _tier_of, what="a tier"),
    ),
    keys=NAME,
    what="label",
)
