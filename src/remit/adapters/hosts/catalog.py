"""What ships as data about a host: one YAML file each, read strictly."""

from __future__ import annotations

from typing import Literal, TypeVar

import msgspec

from remit import catalog
from remit.declare.nodes import parse
from remit.forms.texts import plain
from remit.model.decoding import Decoding
from remit.model.errors import RemitError


class CatalogError(RemitError):
    """A host's catalog file that is not as it must be."""

    code = "bad-catalog"


class Gap(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Something that a host lets through although the hook is installed."""

    what: str
    because: str
    do: str
    """What people can do about it."""
    key: str | None = None
    """The setting that closes it: once that is set, nobody is told any more."""


class HostCatalog(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every host's file has; a host that needs more extends it."""

    agents: dict[str, str] = {}
    """The agents that need no definition, with what each is for."""
    names_agents: bool = True
    """It says which agent calls; otherwise every call is the main agent's."""
    checked: Literal["run", "documented"] = "run"
    """How `passes` was found: by running the host, or from its documentation alone."""
    pack: str | None = None
    """The tool pack that declares its tools by the names that it has for them."""
    also: tuple[str, ...] = ()
    """Packs of other programs that run the same hooks."""
    tools: tuple[str, ...] = ()
    """The names of its tools, if there is no pack."""
    server_tools: str | None = None
    """How it names the tools of an MCP server: what precedes the tool, with `{server}` in it."""
    reads: dict[str, str] = {}
    """What it reads to its model or runs without a call, by path below a project: agents can't write there, unless a
    rule names a file of instructions (`protected.yaml`)."""
    passes: tuple[Gap, ...]


C = TypeVar("C", bound=HostCatalog)


def load_catalog(text: str, name: str, type_: type[C]) -> C:
    """The data in a host's file. Raises CatalogError, and PolicyError for what is no YAML."""
    try:
        found = Decoding(type_).convert(plain(parse(text, f"catalog {name}")))
    except msgspec.ValidationError as error:
        raise CatalogError(f"catalog {name}: {error}") from None
    if found.server_tools is not None and found.server_tools.count("{server}") != 1:
        raise CatalogError(f"catalog {name}: `server_tools` must have `{{server}}` in it once")
    return found


def built_in_catalog(name: str, type_: type[C]) -> C:
    """The same for a host that ships with Remit."""
    return load_catalog(catalog.text(f"hosts/{name}.yaml"), name, type_)
