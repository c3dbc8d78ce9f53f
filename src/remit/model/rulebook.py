"""The rulebook: a policy in compiled form, hashed and immutable."""

import msgspec

from remit.model.frozen import NOTHING, freeze_fields
from remit.model.policy import (
    Before,
    Caller,
    Enforce,
    Grant,
    Label,
    LedgerSettings,
    Never,
    Person,
    Question,
    Reserved,
    Scalar,
    Tool,
)

FORMAT = 2


class LabelTier(msgspec.Struct, frozen=True):
    """The tier that a label gives to a unit with one of these effects."""

    tier: int
    effects: tuple[str, ...]


class Protected(msgspec.Struct, frozen=True):
    """Paths that no agent may change, and those that it may not read either."""

    names: tuple[str, ...] = ()
    """Directory or file names, at any depth."""
    paths: tuple[str, ...] = ()
    """Globs below the root."""
    instructions: tuple[str, ...] = ()
    """Names of files that hosts read to their models unasked: only a rule that names one lets it be changed."""
    hidden: tuple[str, ...] = ()
    """Names that may not be read either."""
    programs: tuple[str, ...] = ()
    """Programs that only people may run."""
    words: dict[str, tuple[str, ...]] = NOTHING
    """By program, words by which no agent may change something."""
    above: tuple[str, ...] = ()
    """Files of the policy that lie outside the root, relative to it (`../remit.yaml`)."""
    lifted: tuple[str, ...] = ()
    """Globs taken out by `unsafe_unprotect`."""

    def __post_init__(self) -> None:
        freeze_fields(self, "words")


OPEN_QUESTIONS = 20
"""Per agent, and per task, unless the policy says otherwise."""


class Book(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a rulebook says, as data: every name resolved, every default filled in."""

    name: str
    tools: dict[str, Tool]
    aliases: dict[str, str]
    callers: dict[str, Caller]
    reserved: tuple[Reserved, ...] = ()
    never: tuple[Never, ...] = ()
    labels: tuple[Label, ...] = ()
    label_tiers: dict[str, LabelTier] = NOTHING
    effect_tiers: dict[str, int] = NOTHING
    grade_tiers: dict[str, int] = NOTHING
    environment_tiers: dict[str, LabelTier] = NOTHING
    """By the name of an environment, folded: the tier of these effects in a call that runs there."""
    tier_words: dict[str, str] = NOTHING
    """For people, why something has its tier: `effect install`, `grade not understood`, `label ci`."""
    tiers: dict[int, Question] = NOTHING
    gates: tuple[str, ...] = ()
    gate_terms: dict[str, Before] = NOTHING
    """By gate, what must wait for it; a gate without terms is only recorded."""
    grants: tuple[Grant, ...] = ()
    protected: Protected = Protected()
    hosts: dict[str, dict[str, str]] = NOTHING
    toolsets: dict[str, tuple[str, ...]] = NOTHING
    unsafe: tuple[str, ...] = ()
    """Keys of the policy that weaken enforcement, for `status`."""
    enforce: Enforce | None = None
    """As the policy says it for everybody; callers have it in their own records."""
    people: dict[str, Person] = NOTHING
    """Who may approve, operate, review and own; empty: one person, whose name nobody asks."""
    open_questions: int = OPEN_QUESTIONS
    ledger: LedgerSettings | None = None
    lists: dict[str, tuple[Scalar, ...]] = NOTHING
    """Lists of the policy by name, for the rules of tasks."""
    packs: tuple[str, ...] = ()
    published_by: tuple[str, ...] = ()
    """The programs whose tools are published: `app.py:guard`."""
    sources: tuple[str, ...] = ()
    root: str = "."
    notices: tuple[str, ...] = ()
    """What the author should know, though it is no error."""

    def __post_init__(self) -> None:
        freeze_fields(self, *_DICTIONARIES)


_DICTIONARIES = tuple(name for name, kind in Book.__annotations__.items() if getattr(kind, "__origin__", None) is dict)


class Rulebook(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """A book with its hash. Immutable; what is derived from it is kept elsewhere, and goes when it goes."""

    book: Book
    hash: str

    def __repr__(self) -> str:
        return f"Rulebook({self.book.name!r}, {self.hash[:19]}…)"
