"""Words of a command and a profile → what the command does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from posixpath import normpath

from remit.languages.bash.follow import HARMLESS_OPTIONS
from remit.languages.bash.reading import FILE_EFFECTS, PIPE, Reading, Word
from remit.languages.programs.awk import read_awk
from remit.languages.programs.derived import (
    HERE,
    UNTOLD,
    of_curl,
    pathspec,
    read_filter,
    read_git_config,
    read_jq,
    read_kill,
    read_listed,
    read_named,
    read_perl,
    read_rename,
    read_setting,
    read_source,
    read_ssh_setting,
    read_toml_setting,
    read_transport,
    read_write_out,
    read_yq,
    resources,
    touch_backups,
    touch_edited,
    touch_into,
    touch_linked,
    touch_mounted,
    touch_numbered,
    touch_pathspec,
    touch_pieces,
    touch_reports,
    touch_tested,
    touch_unnamed,
)
from remit.languages.programs.find import read_find
from remit.languages.programs.profiles import Finds, Option, Profile, profile_of
from remit.languages.programs.sed import read_sed
from remit.languages.programs.tar import read_tar
from remit.model.pattern import compile_later

_RECURSIVE = frozenset(("-r", "-R", "--recursive"))
_STREAMS = frozenset(("-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"))
_PATHS = frozenset(
    (
        "read",
        "write",
        "delete",
        "into",
        "copy_from",
        "copy_to",
        "move",
        "tree",
        "directory",
        "folder",
        "script",
        "command",
        "edit",
        "write_tree",
        "attributes",
    )
)
"""Kinds of words that are paths, or whose readers look at that themselves."""
_REACHED = frozenset(("url", "host", "copy_from", "copy_to"))
"""Kinds of words that name where a program connects to; of the last two, perhaps a path."""
NEW_BRANCH = frozenset(("-b", "-B", "-c", "--create", "-C", "--force-create"))
QUIET = frozenset(("-q", "--quiet", "--no-track"))
_MAGIC = (":!", ":^", ":(")
"""What patterns of git begin with that are no names of objects."""
_AIMS = frozenset(("branch", "context"))
_CODE = frozenset(("read", "tree", "edit", "remote"))
"""Kinds of arguments by which a program is told which code of the workspace it runs."""
_REMOTE = compile_later(r"[A-Za-z][A-Za-z0-9+.-]*://|[^/\s]+:|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}/\S")
"""A URL, `host:path`, or a path that begins with a host name (`example.com/x`)."""
_HELPER = compile_later(r"[A-Za-z0-9_-]+::")
_CURRENT = frozenset(("", "HEAD", "@"))
_FOLDER = compile_later(r"(?:\.|(?:\.|[A-Za-z0-9_-]+)(?:/[A-Za-z0-9_-]+)+)/?(?:\[[A-Za-z0-9_,. -]*\])?")
"""A folder of the workspace, perhaps with extras, as `.[dev]`: the project itself or a part of it. No archive."""
AT_HOST = compile_later(r"https?://(?:(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}|localhost)(?::[0-9]+)?/")
"""What a URL begins with whose host is told; no number, which could be written in many ways."""
_ON_NETWORK = compile_later(r"(?:https?|ftps?|wss?)://")
"""What a URL begins with that is no file."""
_OUTPUTS = frozenset(
    "out output outfile outputfile outdir log logs logfile logdir dump save export record download".split()  # noqa: SIM905
)
_INPUTS = ("file", "files", "filename", "dir", "directory", "folder", "path", "root", "config", "input")
"""What is at the end of an option's name that say that its value is a file or a folder."""
_CHANGES = frozenset(("write", "system", "install"))
_FORMATS = frozenset(
    """
    json yaml yml text table wide name tsv csv xml none plain pretty jsonc yamlc true false auto always never short
    """.split()  # noqa: SIM905
)
"""Values of `--output` that are no file."""
_SWITCH = compile_later(r"(?!MAKE|SHELL|VPATH|PATH=|CC=)[A-Z][A-Z0-9_]*=(?:[0-9]*|true|false|yes|no|on|off)")
"""An assignment to a variable of a makefile that switches something on or off, or counts; it names no program."""
_GOES_ON = frozenset(("-i", "-s", "-a", "--interactive", "--login", "-l"))
"""Options with which a shell or an interpreter takes code from its standard input even if a script is named."""
_ISOLATED = frozenset(("-I", "-P"))
"""Options with which Python does not look for modules in the working directory."""
_ABOUT_ITSELF = frozenset(("--help", "--version"))
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_QUERY = compile_later(r"query=\s*[{a-z]")
"""A field with a GraphQL document, and not the name of a file with one."""
_HEADER = compile_later(r'"[A-Za-z-]+: ')


class Interpreter:
    """Reads the words after the program's name; afterwards `out` holds what was found."""

    def __init__(self, out: Reading) -> None:
        self.out = out
        self.sub: tuple[str, ...] = ()
        self.base: frozenset[str] = frozenset()
        self.stdin = "data"
        self.moduled = False
        self.seen: set[str] = set()
        """Every option that was given."""
        self.besides: frozenset[str] = frozenset()
        """Effects that every subcommand has besides its own."""
        self.replaced: frozenset[str] | None = None
        self.reaches: tuple[str, ...] = ()
        """What it works on, whether or not a word names it: a branch, a context."""
        self.implied: dict[str, tuple[str, ...] | None] = {}
        """Where effects on files go that no word of the command tells, as the profile says."""
        self.opted: dict[str, tuple[str, ...] | None] = {}
        """The same as options say it, which counts for more."""
        self.written = False
        """An option such as `-i` makes the files that are read written too."""
        self.profile = Profile()
        """The innermost one, with what its program has for all subcommands."""
        self.pathspecs = False
        """Its paths are git's patterns."""
        self.settings: tuple[str, ...] = ()
        """Settings of git that are harmless."""
        self.into: Word | None = None
        """The directory that `-t` names."""
        self.has_paths = False
        """Words stand behind `--`: to git these are certainly paths."""
        self.after: int | None = None
        """How many arguments stand before `--`, if it is there."""
        self.suffix: Word | None = None
        """What is added to the names of copies that are kept."""
        self.declared: tuple[str, ...] | None = None
        """It installs what files of the project say, these among them; None: something else, or nothing."""
        self.helps = False
        """It is asked for help: it says how it is used, and does nothing else."""
        self.asking: tuple[str, ...] = ()
        """What asks for help, as the profile or one above it says."""
        self.single = False
        """Its long options have one dash; with two they are the same."""
        self.perl: list[Word] = []
        """Programs for perl."""
        self.finds: Finds | None = None
        """Where it looks for the program that it runs."""
        self.finding: frozenset[str] | None = None
        """The options before that program's name, where a profile stands for it: `-p` of `npx tsc -p x` is tsc's."""
        self.named: list[tuple[str, Word]] = []
        """Values of options that could name what is installed, or where it comes from, each with its kind."""

    def run(self, profile: Profile, words: Sequence[Word]) -> None:
        """The whole command."""
        self._profile(profile, list(words), {})
        base = self.base if self.replaced is None else self.replaced
        if not self.out.project:
            self.base, base = self.base | self.besides, base | self.besides
        if self.helps:
            self.out.effects -= base
            # What the workspace configures is loaded first: `pytest --version` runs conftest.py.
            loads = not self.sub and (self.out.project or profile.grade == "project")
            base = base & {"execute"} if loads else frozenset()
        self.out.effects |= base
        _aim_unnamed(self.out, self.reaches)

    def _profile(self, profile: Profile, words: list[Word], inherited: dict[str, Option]) -> None:
        if profile.reaches is not None:
            self.reaches = profile.reaches
        self.implied = {**self.implied, **profile.touches}
        self.out.links = profile.links or self.out.links
        self.profile = profile
        self.asking = profile.helps or self.asking
        self.single = self.single or profile.dashes == "one"
        self.pathspecs = self.pathspecs or profile.pathspecs
        self.settings = profile.settings or self.settings
        self.finds = profile.finds or self.finds
        if not self.sub and len(words) == 1 and words[0].text in _ABOUT_ITSELF and profile.dashes != "none":
            self.helps = True  # whatever it does otherwise, it says which it is, or how it is used
        if profile.at_files:
            self._options_in_files(words)
        if not profile.sub:
            self._enter(profile)
        if profile.special == "find":
            read_find([_told(word) for word in words], self.out)
            return
        if profile.special == "tar":
            read_tar([_told(word) for word in words], self.out)
            return
        if profile.any is not None:
            self._any(profile, words)
            return
        options = {**inherited, **profile.options}
        plain: list[Word] = []
        seen: set[str] = set()
        at, ended = 0, False
        stops = _stops(profile)
        while at < len(words):
            word = words[at]
            at += 1
            text = PIPE if word.is_pipe else word.text
            if text is None and not ended and self._assigned(profile, options, word, seen):
                continue
            if text is None or (word.glob and text[:1] in "*?[" and not ended):
                self._unsure(profile, word, ended)
                plain.append(word)
            elif not ended and text == "--" and profile.dashes != "none":
                ended = True
                self.after = len(plain)
            elif not ended and _is_option(text, profile):
                # Behind an argument it may be meant for something else: `docker run image --help`.
                asks = text == "--help" and profile.dashes == "gnu"
                self.helps = self.helps or ((asks or text in self.asking) and not plain)
                at = self._option(profile, options, words, at, text, seen)
            elif profile.sub and not ended and word.deep:
                self._unsure(profile, _told(word), ended)
                plain.append(_told(word))
            elif profile.sub and not ended:
                self.seen |= seen
                if self.finds is not None and self.finding is None:
                    self.finding = frozenset(self.seen)
                if plain:  # that one is the subcommand, or the first argument of what has none
                    self.out.unknown.append(f"`{plain[0].raw}` is not literal")
                self._subcommand(profile, text, words[at:], options if profile.shared else {})
                return
            else:
                plain.append(word)
                self.has_paths = self.has_paths or ended
                if stops is not None and len(plain) > stops:
                    plain.extend(words[at:])
                    break
        self.seen |= seen
        if profile.sub and plain and profile.bare is not None:
            self._profile(profile.bare, [Word("--", "--"), *plain], options if profile.shared else {})
        elif profile.sub and plain:
            self.out.unknown.append(f"an argument `{plain[0].raw}`")
        elif profile.sub:
            self._bare(profile)
        elif not self.moduled:
            self.helps = self.helps or (not self.seen and len(plain) == 1 and plain[0].text in self.asking)
            self._arguments(profile, plain, seen)

    def _options_in_files(self, words: list[Word]) -> None:
        """`@file` is replaced by what stands in the file, options included."""
        for word in words:
            if word.text is not None and word.text[:1] == "@" and len(word.text) > 1:
                self.out.unknown.append(f"`{word.raw}` reads options from a file")
                self.out.touch("read", Word(word.text[1:], word.raw))

    def _enter(self, profile: Profile) -> None:
        self.base = frozenset(profile.effects)
        self.stdin = profile.stdin
        if profile.grade == "project":
            self.out.project = True
        self.out.lends = self.out.lends or profile.lends

    def _bare(self, profile: Profile) -> None:
        if profile.bare is not None:
            self._enter(profile.bare)
            if profile.bare.alone is not None:
                self.base = frozenset(profile.bare.alone)
            self._declare(profile.bare, [])
            self.implied = {**self.implied, **profile.bare.touches}
        elif profile.effects or any(name in ("--version", "--help") for name in profile.options):
            self.base = frozenset(profile.effects)
            self.out.lends = self.out.lends or profile.lends
        else:
            self.out.unknown.append("no subcommand")

    def _subcommand(self, profile: Profile, name: str, rest: list[Word], inherited: dict[str, Option]) -> None:
        found = profile.sub.get(name)
        if found is None:
            if profile.bare is not None:
                self._profile(profile.bare, [Word(name, name), *rest], inherited)
                return
            self.out.unknown.append(f"the subcommand `{name}` isn't known")
            return
        self.sub = (*self.sub, name)
        self.besides |= frozenset(profile.besides)
        self._profile(found, rest, inherited)

    def _unsure(self, profile: Profile, word: Word, ended: bool) -> None:
        """A word that is not literal, or a glob that could turn into an option.

        INVARIANT: here alone it is decided what a word could do that could be an option, or several words. Either the
        profile says what the program does at most, and it counts as doing all of that to files that nobody knows; or
        the command is not understood.
        """
        self.out.dynamic.append(word.raw)
        if (
            word.text is not None
            or _is_argument(word, profile)
            or (ended and (word.start is not None or _alike(profile)))
        ):
            return
        if profile.at_most is None:
            self.out.unknown.append(f"`{word.raw}` is not literal")
            return
        aims = [kind for kind in _AIMS if any(option.kind == kind for option in profile.options.values())]
        _aim_unnamed(self.out, (*self.reaches, *aims), word.raw)  # it could be an option that names one
        if "network" in profile.at_most:
            self.out.url(Word(None, word.raw))
        for effect in profile.at_most:
            self.out.effects.add(effect)
            if effect in FILE_EFFECTS:
                self.out.touch(effect, Word(None, word.raw))

    def _assigned(self, profile: Profile, options: dict[str, Option], word: Word, seen: set[str]) -> bool:
        """True if it is `--name="$value"` or `-j"$n"`: an option whose value is not literal."""
        name, equals, _ = (word.start or "").partition("=")
        option = options.get(name)
        if (
            option is not None
            and option.kind == "text"
            and (option.glued or option.next)
            and len(name) == 2
            and not equals
        ):
            self._apply(profile, name, option, None, [Word(None, word.raw, start="")], 0, seen)
            return True  # whatever the value, if there is none the next word isn't surely it
        if not equals or name[:2] != "--" or option is None or option.kind in (None, "module", "command"):
            return False
        self._apply(profile, name, option, None, [Word(None, word.raw, start="")], 0, seen)
        return True

    def _any(self, profile: Profile, words: list[Word]) -> None:
        kind = profile.any or "text"
        if profile.special == "test":
            touch_tested(self.out, words)
        self.helps = self.helps or _asks(words, self.asking)
        if profile.special == "kill":
            self.replaced = read_kill(words)
        self.base |= _aim_words(self.out, profile.words, words)
        looked = _looked(profile, words)
        if looked is not None:
            self.replaced = looked
        less = {name: option.sets for name, option in profile.options.items() if option.sets is not None}
        for name, effects in less.items() if not _takes_back(words, less) else ():
            if name[:1] == "-" and _asks(words, (name,)):
                self.replaced = frozenset(effects)  # `brew install -n x`
        self._declare(profile, [word for word in words if word.text is None or word.text[:1] != "-"])
        for at, word in enumerate(words):
            if word.text is None and kind == "text" and not profile.options:
                self.out.loose.append(word.raw)  # `echo $x`: no word of it matters
                continue
            if word.text is None:
                self.out.dynamic.append(word.raw)
                refuses = any(option.refuse for option in profile.options.values())
                if refuses and profile.special not in ("checked", "test") and not _is_argument(word, profile):
                    self.out.unknown.append(f"`{word.raw}` is not literal")
                self._value(kind, word)
                continue
            name, equals, value = word.text.partition("=")
            refused = next((o.refuse for n, o in profile.options.items() if o.refuse and _names(n, word.text)), None)
            if refused:
                self.out.refused.append(f"`{name}`: {refused}")
            address = value if equals else word.text
            if kind == "text" and address.startswith(("file://", "fileb://")):
                self.out.touch("read", Word(address.partition("//")[2], word.raw))
                self.out.effects.add("read")
            if word.text.startswith("-") and word.text != "-":
                if equals and value and kind != "text":
                    self._value(kind, Word(value, word.raw, word.glob))
                self._any_option(profile, word, words[at + 1 : at + 2])
            else:
                self._value(kind, word)

    def _any_option(self, profile: Profile, word: Word, after: list[Word]) -> None:
        """The file that an option names where `any` are taken: one that the profile lists, or whose name says so."""
        text = word.text or ""
        name, equals, value = text.partition("=")
        listed = [(n, option) for n, option in profile.options.items() if _names(n, text)]
        if any(option.refuse for _, option in listed):
            return
        kinds = [(n, option.kind) for n, option in listed if option.kind is not None]
        says = _says_file(name, profile)
        for option, kind in kinds or ([(name, says)] if says is not None else []):
            glued = value if equals else "" if option.startswith("--") else text.partition(option[1:])[2]
            named = Word(glued, word.raw, word.glob) if glued else next(iter(after), None)
            if named is not None and (named.text is None or (named.text[:1] != "-" and named.text not in _FORMATS)):
                self._option_value(kind, named)

    def _option(
        self, profile: Profile, options: dict[str, Option], words: list[Word], at: int, text: str, seen: set[str]
    ) -> int:
        """One word of options; returns where the next word is."""
        name, equals, value = text.partition("=")
        if self.single and name not in options and name[:2] == "--" and name[2:3] != "-" and name[1:] in options:
            text, name = text[1:], name[1:]  # the same to these programs, or an error
        if (text in ("--help", "--version") or text in self.asking) and text not in options:
            return at  # every program takes these for a question about itself
        if name in options and (equals == "" or len(name) > 2 or profile.dashes == "one"):
            return self._apply(profile, name, options[name], value if equals else None, words, at, seen)
        if text.startswith("--"):
            matches = [n for n in options if n.startswith(name)] if profile.abbreviates and len(name) > 2 else []
            if not matches:
                self.out.unknown.append(f"the option `{name}` isn't known")
                return at
            after = at
            for match in matches:
                after = max(
                    after, self._apply(profile, match, options[match], value if equals else None, words, at, seen)
                )
            return after
        if profile.numbers and text[1:].isdigit():
            return at
        if profile.special == "make" and text in ("-j", "-l") and at < len(words):
            return at + (words[at].text or "").isdigit()
        if profile.dashes == "one":
            glued = [n for n, o in options.items() if o.kind is not None and len(n) > 1 and text.startswith(n)]
            if glued:
                name = max(glued, key=len)
                return self._apply(profile, name, options[name], text[len(name) :], words, at, seen)
            self.out.unknown.append(f"the option `{name}` isn't known")
            return at
        return self._cluster(profile, options, text, words, at, seen)

    def _cluster(
        self, profile: Profile, options: dict[str, Option], text: str, words: list[Word], at: int, seen: set[str]
    ) -> int:
        for index in range(1, len(text)):
            name = "-" + text[index]
            option = options.get(name)
            if option is None:
                self.out.unknown.append(f"the option `{name}` isn't known")
                return at
            rest = text[index + 1 :]
            if option.apart and rest:
                self.out.unknown.append(f"`{name}` inside `{text}`")
                return at
            if option.kind is not None and rest[:1] == "=" and len(rest) > 1:
                if option.kind in ("module", "command"):
                    self.out.unknown.append(f"`{text}` means one thing to some programs, another to others")
                    return at
                self._apply(profile, name, option, rest, words, at, seen)
                return self._apply(profile, name, option, rest[1:], words, at, seen)
            if option.kind is not None or (option.refuse and rest):
                return self._apply(profile, name, option, rest if rest else None, words, at, seen)
            self._apply(profile, name, option, None, words, at, seen)
        return at

    def _apply(
        self,
        profile: Profile,
        name: str,
        option: Option,
        value: str | None,
        words: list[Word],
        at: int,
        seen: set[str],
    ) -> int:
        seen.add(name)
        if option.refuse:
            self.out.refused.append(f"`{name}`: {option.refuse}")
        self.out.effects |= set(option.adds)
        self.out.beyond = self.out.beyond or option.beyond
        anywhere = {effect: None for effect, places in self.opted.items() if places is None}
        self.opted = {**self.opted, **option.touches, **anywhere}
        if "write" in option.adds:
            self.written = True
        if option.sets is not None:
            self.replaced = frozenset(option.sets)
        if self.out.links != "all" or self.profile.links == "all":
            self.out.links = option.links or self.out.links
        if option.kind is None:
            if value is not None and not option.refuse:
                self.out.unknown.append(f"a value for `{name}`")
            return at
        if value is None and option.next and (at >= len(words) or (words[at].text or "")[:1] == "-"):
            return at
        if value is None and not option.glued:
            if at >= len(words):
                if name[:2] != "--":  # of a long option, every program says that its value is missing, and ends
                    self.out.unknown.append(f"`{name}` without its value")
                return at
            word = words[at]
            at += 1
            if word.text is None and word.start is None:
                self._unsure(profile, word, ended=False)  # what follows its first word is no longer the value
            if option.kind == "command":
                self.out.commands.append([word, *words[at:]])
                return len(words)
            if option.kind == "module":
                self._module(profile, _told(word), words[at:], seen)
                return len(words)
            self._known(name, option, _told(word).text)
            self.named.append((option.kind, word))
            self._option_value(option.kind, word)
        elif value is not None:
            if option.kind == "module":
                self._module(profile, Word(value, value), words[at:], seen)
                return len(words)
            self._known(name, option, value)
            self.named.append((option.kind, Word(value, value)))
            self._option_value(option.kind, Word(value, value))
        return at

    def _known(self, name: str, option: Option, value: str | None) -> None:
        if option.values and (value or "").removeprefix("=") not in option.values:
            self.out.unknown.append(f"`{name}` with another value than {', '.join(option.values)}")

    def _declare(self, profile: Profile, plain: list[Word]) -> None:
        """Whether all that is installed is what files of the project say."""
        declared = profile.declared
        if declared is None or not self.seen.isdisjoint(declared.unless) or any(k == "url" for k, _ in self.named):
            return
        folders = [word for kind, word in self.named if kind == "remote"]
        if declared.arguments == "none" and (plain or folders):
            return
        if declared.arguments == "paths":
            folders += plain
        files = [word.text for kind, word in self.named if kind in ("read", "script")]
        if declared.arguments == "paths" and not (folders or files):
            return
        if None in files or any(word.text is None or not _FOLDER.fullmatch(word.text) for word in folders):
            return
        self.declared = tuple(text for text in files if text is not None)

    def _arguments(self, profile: Profile, plain: list[Word], seen: set[str]) -> None:
        kinds = profile.args
        self._declare(profile, plain)
        self.base |= _aim_words(self.out, profile.words, plain)
        for names, other in profile.args_with:
            if seen & set(names):
                kinds = other
        if not plain and profile.alone is not None:
            self.replaced = frozenset(profile.alone)
        if kinds[-1:] == ("joined...",) and len(plain) >= len(kinds):
            before = len(kinds) - 1
            self._joined(plain[before:])
            kinds, plain = kinds[:-1], plain[:before]
            if not kinds:
                return
        pairs = _assign(kinds, plain, self.out)
        self._code(profile, pairs)
        sure = len(plain) if self.after is None else self.after
        for at, (word, kind) in enumerate(pairs):
            if profile.revisions and kind in ("read", "write") and at < sure and self._names_revision(word):
                continue
            if kind == "command":
                self.out.commands.append(plain[plain.index(word) :])
                break
            if kind == "module" and word.text is not None:
                self._module(profile, _told(word), plain[plain.index(word) + 1 :], seen)
                break
            if kind in ("into", "copy_to"):
                self._into(word, [source for source, _ in pairs if source is not word], seen)
            self._value(kind, word)
            if kind == "script" and self.stdin == "code" and self.seen.isdisjoint(_GOES_ON):
                self.stdin = "data"  # the code is in that file, and reads it as it likes
        if self.into is not None:
            self._into(self.into, plain, seen)
        if profile.edits and not plain and self._writes():
            touch_edited(self.out, HERE)
        if self.pathspecs and _all_but(plain, self.after or 0):
            self._value(kinds[-1].removesuffix("..."), HERE)  # all but what is excluded
        if profile.special == "git config" and not read_git_config(
            self.out, plain, self.seen, self.sub[-1] if self.sub else "", self.settings
        ):
            self.replaced = frozenset(("read",))
        if self.suffix is None and "--backup" in profile.options and seen & {"-b", "--backup"}:
            self.suffix = Word("~", "~")
        if self.suffix is not None:
            written = [touch.path for touch in self.out.touches if touch.effect == "write" and not touch.deep]
            touch_backups(self.out, self.suffix, written)
            if "--backup" in seen:
                touch_numbered(self.out, written)
        if self.perl:
            self.stdin = "data"
            read_perl(self.out, self.perl, seen, plain)
        if profile.special == "git branch switch":
            self._switch(plain, seen)
        if profile.special == "ln":
            symbolic = not seen.isdisjoint(("-s", "--symbolic")) and seen.isdisjoint(("-r", "--relative"))
            touch_linked(self.out, plain, self.into, symbolic=symbolic)
        if profile.special == "gh api" and self._posts(asks=self._asks_graph(plain)):
            self.out.effects.add("publish")
        told = [_told(word) for word in plain]
        self.replaced = touch_unnamed(self.out, profile.special, told, seen, self.replaced)

    def _posts(self, *, asks: bool) -> bool:
        """True if a request changes something: by its method, or because there is something to send."""
        methods = [(word.text or "").upper() for kind, word in self.named if kind == "method"]
        sent = not self.seen.isdisjoint(("-f", "--raw-field", "-F", "--field", "--input"))
        return (sent and not asks) if not methods else not set(methods) <= {"GET", "HEAD"}

    def _asks_graph(self, plain: list[Word]) -> bool:
        """True if `gh api graphql` sends one document that the text shows; one with changes says `mutation`."""
        fields = [word.text for kind, word in self.named if kind in ("text", "data")]
        documents = [text for text in fields if text is None or text.startswith("query")]
        return (
            [word.text for word in plain] == ["graphql"]
            and "--input" not in self.seen
            and len(documents) == 1
            and _QUERY.match(documents[0] or "") is not None
            and "mutation" not in (documents[0] or "")
        )

    def _code(self, profile: Profile, pairs: list[tuple[Word, str]]) -> None:
        """Where the code of the workspace lies, as the first arguments tell: `pytest tests`, `go run ./x`."""
        for word, kind in pairs if profile.grade == "project" else ():
            if kind not in _CODE and not (kind == "target" and "/" in (word.text or "")):  # `bun run src/x.ts`
                return  # what follows the name of a script is the script's
            if kind == "remote" and word.text is not None and _is_remote(word.text) and set(word.text) & set("@:"):
                self.out.unknown.append(f"runs code from elsewhere: `{word.raw}`")
            elif word.text is not None:
                self.out.code.append(word)

    def _names_revision(self, word: Word) -> bool:
        """A word that git takes for a revision, if it is one; true if it is nothing else, as `--` follows."""
        if word.text is None or word.glob or word.deep or word.text.startswith(_MAGIC):
            return False
        self.out.revision(word)
        return self.after is not None

    def _switch(self, plain: list[Word], seen: set[str]) -> None:
        """A new branch at the commit that is checked out changes no file; any other one, what is different there."""
        if not plain and seen & NEW_BRANCH and seen <= NEW_BRANCH | QUIET:
            self.opted = {**self.opted, "write": ()}
        elif plain and not self.has_paths:
            self.out.touch("write", UNTOLD)

    def _into(self, target: Word, sources: list[Word], seen: set[str]) -> None:
        """Sources that go to a target: below it, unless `-T` says that it is no directory."""
        deep = not seen.isdisjoint(("-r", "-R", "-a", "--recursive", "--archive"))
        below = seen.isdisjoint(("-T", "--no-target-directory"))
        if below:
            touch_into(self.out, target, sources, deep=deep)
            whole = deep and target.text is not None and normpath(target.text) != "."  # it may not be there yet
        else:
            whole = deep
        if whole or "--parents" in seen:
            self.out.touch("write", target, deep=True, some=True)
            if below and "--parents" not in seen and not any(source.glob for source in sources):
                self.out.as_new()
        for source in sources if "--parents" in seen else ():
            told = None not in (source.text, target.text)
            place = normpath(f"{target.text}/{(source.text or '').lstrip('/')}") if told else None
            self.out.touch("write", Word(place, source.raw, source.glob), deep=deep)

    def _writes(self) -> bool:
        """True if it writes, by the options that were given."""
        return self.written or "write" in (self.profile.effects if self.replaced is None else self.replaced)

    def _joined(self, plain: list[Word]) -> None:
        """Words that are joined by blanks into one shell text, as `eval` does."""
        texts = [_told(word, glob=True).text for word in plain]
        literal = None if None in texts else " ".join(str(text) for text in texts)
        self._value("shell", Word(literal, " ".join(word.raw for word in plain)))

    def _module(self, profile: Profile, word: Word, rest: list[Word], seen: set[str]) -> None:
        self.out.modules.append(word)
        found = profile.modules.get(word.text or "")
        # The working directory comes first where Python looks for this module, and for all that it imports.
        self.out.lends = self.out.lends or seen.isdisjoint(_ISOLATED)
        if word.text is None:
            self.out.unknown.append(f"`{word.raw}` is not literal")
        elif found is None:
            self.out.project = True
            place = word.text.replace(".", "/")
            self._code_in(Word(place, word.raw))
            self.out.touch("read", Word(f"{place}.py", word.raw))
        else:
            self._profile(found, rest, {})
        self.moduled = True

    def _option_value(self, kind: str, word: Word) -> None:
        mark = len(self.out.touches)
        self._value(kind, word, option=True)
        if self.profile.reports:
            named = [touch._replace(report=touch.effect != "read") for touch in self.out.touches[mark:]]
            self.out.touches[mark:] = named

    def _value(self, kind: str, word: Word, *, option: bool = False) -> None:
        out = self.out
        if kind == "db" and "PWD" in word.raw:
            word = Word(None, word.raw)  # a database must be named by itself
        if kind not in _PATHS:
            word = _told(word, glob=kind == "shell")
        streams = word.text in _STREAMS and (kind, word.text) != ("write", "/dev/stdin")
        if kind in ("read", "write", "tree") and (streams or word.is_pipe):
            if kind == "write" and ((not option and word.text != "-") or self.profile.special == "wget"):
                self.opted = {"write": (), **self.opted}  # `tee /dev/stderr` writes no file
            return  # who writes to /dev/stdin opens what was opened for reading once more, to write it
        if kind == "write_out":
            read_write_out(out, word)
            kind = "data"
        if kind == "data":
            kind = _sent(out, word)
        if option and self.profile.special == "curl":
            word = of_curl(kind, word)
        if self.pathspecs and option and kind == "read":
            out.beside.append(word)
        if self.pathspecs and not option and kind in ("read", "write", "delete", "move", "tree"):
            found = pathspec(word)
            if found is None:
                return
            if kind in ("write", "delete"):
                touch_pathspec(out, kind, found)
                return
            self.has_paths = self.has_paths or kind == "tree"
            if kind == "read":
                kind = "tree"  # of a folder, all that lies in it; but it may be a revision
            word = found
        if kind == "url" and word.text is None and AT_HOST.match(word.start or ""):
            out.dynamic.append(word.raw)
            out.url(word)  # which page it is doesn't tell, but on which host
            return
        if word.text is None and (kind in _REACHED or (kind == "remote" and "install" in self.base)):
            out.dynamic.append(word.raw)
            _aim_untold(out, kind, word)
            return
        if word.text is None:
            (out.loose if option and kind == "text" and word.start is not None else out.dynamic).append(word.raw)
            if kind in ("text", "method", "assignment", "branch", "context"):
                if kind in _AIMS:
                    _aim(out, kind, Word("", word.raw))  # any
                return
            if kind not in (
                "read",
                "write",
                "delete",
                "move",
                "tree",
                "directory",
                "folder",
                "db",
                "into",
                "made",
                "new_folder",
                "edit",
                "write_tree",
                "attributes",
            ) and not (kind == "jq" and self.profile.at_most is not None):
                out.unknown.append(f"`{word.raw}` is not literal")
        if kind == "read":
            self._read(word)
            if self.written and not option:
                out.touch("write", word)
        elif kind == "delete":
            out.touch("delete", word)
            if not self.seen.isdisjoint(_RECURSIVE):
                out.as_folder()
                out.touch("delete", word._replace(through="none"), deep=True)  # links below it go themselves
        elif kind in ("write", "into", "made", "new_folder"):
            out.touch("write", word)
            if kind != "write" or (word.text or "")[1:].endswith("/"):
                out.as_folder("new_folder" if kind == "new_folder" else "")
        elif kind in ("copy_from", "copy_to"):
            if word.text is not None and ":" in word.text.split("/")[0]:
                out.url(word)
            elif kind == "copy_to":
                out.touch("write", word)
                if (word.text or "")[1:].endswith("/"):
                    out.as_folder()
            else:
                out.touch("read", word, deep=True)
        elif kind == "move":
            out.touch("read", word, deep=True)
            out.touch("delete", word, deep=True)  # a folder goes with all that is in it
        elif kind == "tree":
            out.touch("read", word, deep=True)
        elif kind == "attributes":
            recursive = word.deep or not self.seen.isdisjoint(("-R", "--recursive"))
            out.touch("write", word, deep=recursive)
            if (
                recursive
                and word.text is not None
                and (word.text in ("~", "/") or (word.text[:1] == "/" and word.text.rstrip("/*").count("/") <= 1))
            ):
                out.effects.add("system")  # the machine's own folders
        elif kind == "write_tree":
            out.touch("write", word, deep=True, some=True)
        elif kind == "edit":
            out.touch("read", word, deep=True)
            if self._writes():
                touch_edited(out, word)
        elif kind == "target_dir":
            out.touch("write", word)
            out.as_folder()
            self.into = word
        elif kind == "revision":
            out.revision(word)
        elif kind == "suffix":
            self.suffix = word
        elif kind == "setting":
            read_setting(out, (word.text or "").partition("=")[0], self.settings)
        elif kind == "shell_option":
            if word.text not in HARMLESS_OPTIONS:
                out.refused.append(f"`{word.raw}`: changes how the text itself is read")
        elif kind == "perl":
            self.perl.append(word)
        elif kind == "rename":
            read_rename(out, word, tries="-n" in self.seen or "--no-act" in self.seen or "--nono" in self.seen)
        elif kind == "plugin":
            if word.text is None or not word.text.startswith("no:"):
                out.refused.append(f"`{word.raw}`: loads a plugin")
        elif kind == "page":
            out.url(word)
            if word.text is None or "://" not in word.text:
                out.touch("read", word)  # a file, if there is one
        elif kind == "git_format":
            if word.text is None or "%G" in word.text:
                out.effects.add("execute")  # it runs gpg
        elif kind in _READERS:
            _READERS[kind](out, word)
        elif kind == "paths_in":
            self._paths_in(word)
        elif kind == "toml_setting":
            self.written = read_toml_setting(out, word) or self.written
        elif kind in ("directory", "folder"):
            out.show(word, "itself")
            # Of several, some programs take the last, others each from the one before (git(1), make(1)).
            out.directory = word if out.directory is None else Word(None, word.raw)
            out.stays = kind == "folder"
        elif kind == "url":
            out.url(word)
        elif kind == "host":
            out.host(word)
        elif kind in _AIMS:
            _aim(out, kind, word)
        elif kind == "program":
            out.unknown.append(f"runs `{word.raw}`")
        elif kind == "command":
            out.commands.append([word])
        elif kind == "shell":
            out.shells.append(word)
        elif kind == "code":
            out.unknown.append("code in the text")
        elif kind == "script":
            self._script(word)
        elif kind == "module":
            out.modules.append(word)
        elif kind == "sql":
            out.sqls.append(word)
        elif kind == "db":
            out.databases.append(word)
        elif kind == "target":
            out.targets.append(word)
            if word.text is not None and "/" in word.text and "=" not in word.text:
                self._code_in(word)
                if self.profile.special == "make":
                    out.touch("write", word)
            if word.text is not None and "=" in word.text and not _SWITCH.fullmatch(word.text):
                out.refused.append(f"`{word.text}`: an assignment changes what runs")
        elif kind == "sed" and word.text is not None:
            read_sed(word.text, extended=True, out=out)
        elif kind == "awk" and word.text is not None:
            read_awk(word.text, out)

    def _read(self, word: Word) -> None:
        """A path that is read; of a folder, what the profile says."""
        below = self.profile.folders
        if below in ("names", "itself"):
            self.out.show(word, below)
        elif self.profile.grade == "project":
            self._code_in(word)
        else:
            self.out.touch("read", word, deep=not below)

    def _code_in(self, word: Word) -> None:
        """A place that code of the workspace is told: it works on all below it."""
        self.out.touch("read", word, deep=True)
        if not word.is_pipe:
            self.out.touches[-1] = self.out.touches[-1]._replace(taken="workplace")

    def _paths_in(self, word: Word) -> None:
        """A file with paths in it, which count as the arguments do."""
        self.out.touch("read", word)
        for kind in {kind.removesuffix("...") for kind in self.profile.args}:
            for effect in FILE_EFFECTS if kind in _PATHS else ():
                if effect in ("read", kind) or (kind == "move" and effect == "delete"):
                    self.out.touch(effect, UNTOLD)

    def _script(self, word: Word) -> None:
        text = word.text
        if text is None or text == "-" or text.startswith(("/dev/", "/proc/")):
            self.out.unknown.append(f"runs `{word.raw}`")
        else:
            self.out.project = True
            self.out.code.append(word)
            self.script_named(word)
        if text is not None and text != "-":
            self._code_in(word)

    def script_named(self, word: Word) -> None:
        """A script does what its name says: `deploy.sh` deploys."""
        shell = profile_of("bash")
        if shell is not None:
            self.base |= _aim_words(self.out, shell.words, [word])


def _told(word: Word, *, glob: bool = False) -> Word:
    """A word that stands for all below a path is no text to be read; nor is a pattern, where `glob` says so."""
    if not word.deep and not (glob and word.glob):
        return word
    return Word(None, word.raw, start=None if word.glob else word.text)


def _is_argument(word: Word, profile: Profile) -> bool:
    """True if a word that is not literal is surely one argument, and no option: `"src/$x"`."""
    signs = "-" + ("+" if profile.plus else "") + ("@" if profile.at_files else "")
    return word.start is not None and word.start[:1] not in ("", *signs)


def _alike(profile: Profile) -> bool:
    """True if its arguments are all of one kind, so that it doesn't matter how many there are."""
    return not profile.sub and len(profile.args) == 1 and profile.args[0].endswith("...") and not profile.args_with


def _read_template(out: Reading, word: Word) -> None:
    """A format of kubectl's output, which may stand in a file: `jsonpath-file=F`."""
    name, equals, path = (word.text or "").partition("=")
    if not name.endswith("-file"):
        return
    if equals:
        out.touch("read", Word(path, word.raw))
    else:
        out.unknown.append(f"`{word.raw}` without its file")


def _read_item(out: Reading, word: Word) -> None:
    """A word of HTTPie: an address, a field, or a file that is sent (`@F`, `name@F`, `name=@F`, `name:=@F`)."""
    text = word.text or ""
    said = [url.text or "" for url in out.urls]
    address = not said or (len(said) == 1 and said[0].upper() in _METHODS)  # `[METHOD] URL [ITEM...]`
    for at, char in enumerate(text):
        if char == "@" and not (address and "/" in text[:at]):
            out.touch("read", Word(text[at + 1 :], word.raw))
    out.url(word)


def _says_file(name: str, profile: Profile) -> str | None:
    """The kind of the value of a long option whose own name says that this is a file that is written, or read."""
    parts = name.removeprefix("--").split("-")
    last = parts[-1]
    if not name.startswith("--") or last == "profile" or not (last in _OUTPUTS or last.endswith(_INPUTS)):
        return None
    return "write" if not _OUTPUTS.isdisjoint(parts) or not _CHANGES.isdisjoint(profile.effects) else "read"


def _names(option: str, text: str) -> bool:
    """True if the word is this option, alone, with a value, abbreviated, or in a cluster."""
    head = text.partition("=")[0]
    if option.startswith("--"):
        return len(head) > 2 and option.startswith(head)
    return text.startswith(option) or (text[:1] == "-" and text[1:2] != "-" and option[1:] in text[1:])


def _is_option(text: str, profile: Profile) -> bool:
    if profile.dashes == "none":
        return False
    if profile.plus and len(text) > 1 and text[0] == "+":
        return True
    return len(text) > 1 and text[0] == "-"


def _stops(profile: Profile) -> int | None:
    """How many plain words there are before a command begins, where options are no longer this program's."""
    if profile.ends:
        return 0
    for index, kind in enumerate(profile.args):
        if kind in ("command", "module", "script", "joined..."):
            return index
    return None


def _assign(kinds: tuple[str, ...], plain: list[Word], out: Reading) -> list[tuple[Word, str]]:
    """Each word with its kind; a kind that ends in `...` takes as many as the rest leaves."""
    if not kinds:
        if plain:
            out.unknown.append(f"an argument `{plain[0].raw}`")
        return []
    many = next((index for index, kind in enumerate(kinds) if kind.endswith("...")), None)
    if many is None:
        if len(plain) > len(kinds) and kinds[-1] not in ("command", "module", "script"):
            out.unknown.append(f"an argument `{plain[len(kinds)].raw}`")
        return list(zip(plain, kinds, strict=False))
    before, after = kinds[:many], kinds[many + 1 :]
    tail = len(after) if len(plain) > len(before) + len(after) - 1 else 0
    pairs = list(zip(plain[: len(before)], before, strict=False))
    middle = plain[len(before) : len(plain) - tail]
    pairs.extend((word, kinds[many].removesuffix("...")) for word in middle)
    if tail:
        pairs.extend(zip(plain[-tail:], after, strict=True))
    return pairs


def _aim(out: Reading, kind: str, word: Word) -> None:
    """A word that names a branch, perhaps as the destination of a refspec, or a context."""
    if kind == "context":
        out.contexts.append(word if word.text else Word(None, word.raw))
        return
    name = _destination(word.text or "")
    if not name.startswith("refs/tags/"):
        out.branches.append(Word(None if name in _CURRENT or "*" in name else name, word.raw))


def _aim_unnamed(out: Reading, reaches: tuple[str, ...], by: str = "") -> None:
    """What a program works on that no word named, or that a word that is not literal could name: it could be any."""
    if "branch" in reaches and (by or not out.branches):
        out.branches.append(Word(None, by or "the current branch"))
    if "context" in reaches and (by or not out.contexts):
        out.contexts.append(Word(None, by or "the current context"))


def _aim_words(out: Reading, words: dict[str, tuple[str, ...]], plain: list[Word]) -> frozenset[str]:
    """The effects that words in a row add, such as `manage.py migrate`; options between them don't count."""
    if not words:
        return frozenset()
    texts = [word.text.rpartition("/")[2] for word in plain if word.text and word.text[0] != "-"]
    found: set[str] = set()
    for pattern, effects in words.items():
        parts = pattern.split()
        rows = zip(*(texts[index:] for index in range(len(parts))), strict=False)
        if any(all(map(fnmatchcase, row, parts)) for row in rows):
            found.update(effects)
    out.effects |= found
    return frozenset(found)


def _asks(words: list[Word], asking: tuple[str, ...]) -> bool:
    """True if they surely ask for help: by an option that is no value of the one before it, or by the last word."""
    texts = [word.text for word in words if not (word.glob or word.deep)]
    if not asking or None in texts or len(texts) < len(words) or "--" in texts:
        return False
    told = [text for text in texts if text is not None]
    if told and told[-1] in asking and not any(text.startswith("-") for text in told):
        return True
    return any(
        text in asking and text.startswith("-") and not (at and told[at - 1].startswith("-"))
        for at, text in enumerate(told)
    )


def _takes_back(words: list[Word], options: Iterable[str]) -> bool:
    """True if one of them may switch such an option off again: `--list=false`, `--no-list`."""
    ways = tuple(way for name in options for way in (f"{name}=", f"--no-{name.lstrip('-')}"))
    return any((word.text or "").startswith(ways) for word in words)


def _looked(profile: Profile, words: list[Word]) -> frozenset[str] | None:
    """The effects by the words before the options; None if the program's own hold."""
    texts: list[str] = []
    for word in words if profile.looks else ():
        if word.text is None or word.text[:1] == "-":
            break
        texts.append(word.text)
    if profile.verb is not None:
        texts = texts[profile.verb : profile.verb + 1]
    found = [effects for pattern, effects in profile.looks.items() if any(fnmatchcase(t, pattern) for t in texts)]
    if None in found or not found:
        return None
    return frozenset(effect for effects in found for effect in effects or ())


def _aim_untold(out: Reading, kind: str, word: Word) -> None:
    """An address that is not literal: any host there is, or any file."""
    if kind == "host":
        out.host(word)
        return
    out.url(word)
    if not _ON_NETWORK.match(word.start or ""):
        out.touch("read", Word(None, word.raw), deep=kind != "url")  # `file:///x`, or a path
    if kind == "copy_to":
        out.touch("write", Word(None, word.raw))


def _aim_remote(out: Reading, word: Word) -> None:
    """A path, or a URL, or `host:path`: network unless it is clearly a local path."""
    text = word.text
    if text is not None and _HELPER.match(text):
        out.unknown.append(f"`{text}` names a helper")
    elif text is not None and _is_remote(text):
        out.url(word)
    else:
        out.touch("read", word, deep=True)


def _is_remote(text: str) -> bool:
    return _REMOTE.match(text) is not None and not text.startswith(("./", "/", "../"))


def _resource(out: Reading, word: Word) -> None:
    """The kinds of things that kubectl is asked for; secrets are credentials."""
    if word.text is None:
        return
    for name in resources(word.text):
        out.targets.append(Word(name, word.raw))
        if name == "secret":
            out.refused.append(f"`{word.raw}`: gives out credentials; name the whole command to admit it")


def _object(out: Reading, word: Word) -> None:
    """A name, or another thing with its kind: `pod/a secret/b`."""
    if word.text is not None and "/" in word.text:
        _resource(out, word)


def _destination(refspec: str) -> str:
    """The branch that a refspec changes: `x`, `+x:main`, `HEAD:refs/heads/main`, `:gone`."""
    name = refspec.removeprefix("+").rpartition(":")[2]
    return name.removeprefix("refs/heads/").removeprefix("heads/")


_HEADERS = compile_later(r";\s*headers=[\"']?[@<]([^;]*)")


def _sent(out: Reading, word: Word) -> str:
    """Text, or with `@path`, `name=@path`, `name=<path`, `name@path` a file that is sent; the kind that it has."""
    text = word.text
    if text is None:
        if _HEADER.match(word.raw) and word.start is not None:  # a header is text behind its name
            return "text"
        out.touch("read", Word(None, word.raw))  # `$x`, `name=$x`: with `@` it is a file
        return "text"
    name, equals, value = text.partition("=")
    sent = value[1:] if equals and value[:1] in ("@", "<") else name.partition("@")[2]
    if text.startswith("@"):
        sent = text[1:]
    for part in (*sent.split(","), *_HEADERS.findall(text)):
        path = part.partition(";")[0].strip("\"'")
        if path and path != "-":
            out.touch("read", Word(path, word.raw))
    return "text"


def _all_but(plain: list[Word], after: int) -> bool:
    """Pathspecs that only exclude stand for all the rest; what stands before `--` may be a revision."""
    named = plain[after:]
    return bool(named) and all(pathspec(word) is None for word in named)


_READERS = {
    "source": read_source,
    "listed": read_listed,
    "named": read_named,
    "filter": read_filter,
    "ssh_setting": read_ssh_setting,
    "transport": read_transport,
    "report": touch_reports,
    "format": _read_template,
    "item": _read_item,
    "jq": read_jq,
    "yq": read_yq,
    "resource": _resource,
    "object": _object,
    "remote": _aim_remote,
    "prefix": touch_pieces,
    "mount": touch_mounted,
}
"""By kind, what reads a word that is one, and needs nothing else."""
