"""Every command: where it lives, and its line of help, which is the first sentence of its docstring.

This table is all that `remit --help` loads. A command's module is imported when it runs.
"""

from __future__ import annotations


class Command:
    """One command: the module and name of its function."""

    __slots__ = ("function", "help", "module")

    def __init__(self, module: str, help: str, function: str = "command") -> None:
        self.module, self.function, self.help = f"remit.cli.{module}", function, help


class Group:
    """Commands under one name; `alone` is what the name does by itself, if not print help."""

    __slots__ = ("alone", "commands", "help")

    def __init__(self, help: str, commands: dict[str, Entry], alone: Command | None = None) -> None:
        self.help, self.commands, self.alone = help, commands, alone


Entry = Command | Group


COMMANDS: dict[str, Entry] = {
    "check": Command("check", "Check a policy: it loads, its examples and `never` statements hold, its tests pass"),
    "activate": Command("activate", "Put the policy in force: check it, show what changes, and ask a person"),
    "publish": Command(
        "publish",
        "Write the tools that a program declares in Python beside the policy; importing the program runs its code",
    ),
    "install": Command(
        "install.command",
        "Put Remit's hooks into a host's settings",
    ),
    "uninstall": Command(
        "install.uninstall",
        "Take Remit out of a host",
    ),
    "decide": Command("decide", "Decide one call (--agent, --tool, --args) or many (--calls FILE or -)"),
    "explain": Command(
        "explain", "Explain a decision: the steps, the rule, the tier, and what would make the call pass"
    ),
    "matrix": Command("matrix", "Show who may use what: ✅ allowed, 🔒 allowed with a scope, ✋ must ask, ❌ denied"),
    "report": Command("report", "Report what an agent can use: how many tools, by layer, and which, with their scopes"),
    "who-can": Command("who_can", "Show who may use a tool"),
    "reach": Command(
        "reach",
        "Show what an agent can cause through others: whom its work can come to, and what that adds to its own",
    ),
    "understand": Command(
        "understand",
        "Show what a text would do, without asking whether anybody may: effects, targets, and its tier with the reason",
    ),
    "grant": Command(
        "grant",
        "Add a standing grant to the policy file, with a reason, an approver and an end; `remit activate` enforces it",
    ),
    "schema": Command("schema", "Print the JSON Schema of a policy file, for editors"),
    "serve": Command("serve", "Answer the hooks of this project, with the activated policy, until interrupted"),
    "status": Command(
        "status",
        "Say what is in force, how strongly each agent is bound, and what gets past",
    ),
    "witness": Command(
        "witness", "Run a witness (C2SP tlog-witness): POST /add-checkpoint gets a cosignature, or a refusal"
    ),
    "approve": Command("answer", "Approve one call that waits: exactly this one, once", "approve"),
    "refuse": Command(
        "answer",
        "Refuse one call that waits, or that was approved and has not run yet",
        "refuse",
    ),
    "approvals": Group(
        "What waits for a person's answer: list it, watch it, look at one in full",
        {
            "show": Command(
                "approvals.show",
                "Show one call that waits: all its arguments, hidden characters marked, and what its texts would do",
            ),
        },
        alone=Command("approvals.inbox", "What waits for a person's answer: list it, watch it, look at one in full"),
    ),
    "capsule": Group(
        "Tasks handed to agents: what they may besides, what binds them, and when they end",
        {
            "new": Command(
                "capsule.new",
                "Hand a task to an agent: show what it would allow and how far that reaches, then ask a person",
            ),
            "show": Command(
                "capsule.show",
                "Show a task: what it allows and how far that reaches, what binds it, and where it stands",
            ),
            "list": Command("capsule.list_", "List tasks: those that are open, or with --all every one"),
            "end": Command(
                "capsule.end",
                "End a task and all that were handed on from it; say what was revoked, and what was left unused",
            ),
            "report": Command(
                "capsule.report",
                "Report a task: who, when, calls by tool, questions and how long answers took, denials, hand-overs",
            ),
        },
    ),
    "gate": Group(
        "Gates of a task, which people pass",
        {
            "pass": Command(
                "gate",
                "Pass a gate of a task",
                "pass_",
            ),
            "list": Command("gate", "List the gates of a task, and who has passed them", "list_"),
        },
    ),
    "clock": Group(
        "Show the clock by which approvals, tickets and tasks end: whether it is in doubt, and what happened to it",
        {"repair": Command("clock", "Say that the wall clock is right", "repair")},
        alone=Command(
            "clock",
            "Show the clock by which approvals, tickets and tasks end: whether it is in doubt, and what happened to it",
            "look",
        ),
    ),
    "credential": Group(
        "The passphrase that people prove themselves with: to activate, and to answer",
        {
            "set": Command(
                "credential",
                "Set the passphrase, or change it",
                "set_",
            ),
            "status": Command(
                "credential",
                "Say whether a passphrase is set, since when, and how many wrong ones followed the last right one",
                "status",
            ),
        },
    ),
    "ledger": Group(
        "The ledger: what was decided, written so that nobody can change it unnoticed",
        {
            "verify": Command(
                "ledger.verify",
                "Verify every entry, checkpoint and stored value, and compare with all anchors",
            ),
            "show": Command("ledger.show", "Show entries: one in full, or the newest of those that fit the options"),
            "tail": Command("ledger.tail", "Show the newest entries; with -f, go on as they are written"),
            "prove": Command(
                "ledger.prove",
                "Write a receipt (tlog-proof) for entry N: its bytes, the way to the root, and a signed checkpoint",
            ),
            "check-proof": Command("ledger.check_proof", "Check a receipt offline"),
            "export": Command(
                "ledger.export", "Export the log: tiles (verifiable by others), JSON lines, or OCSF events"
            ),
            "erase": Command(
                "ledger.erase",
                "Erase values for good: arguments and statements",
            ),
            "stats": Command(
                "ledger.stats",
                "Count entries by agent, tool, decision, code, rule and day; size, last checkpoint, anchors",
            ),
            "anchor": Group(
                "Anchors: where copies of the log's checkpoints are kept",
                {
                    "add": Command(
                        "ledger.anchor",
                        "Add an anchor: compare what it keeps already with the log, and give it the newest checkpoint",
                        "add",
                    ),
                    "list": Command("ledger.anchor", "List the anchors, and what each of them keeps", "list_"),
                    "remove": Command("ledger.anchor", "Remove an anchor", "remove"),
                    "push": Command(
                        "ledger.anchor",
                        "Sign the head of the log, and hand it to every anchor",
                        "push",
                    ),
                },
            ),
            "keys": Group(
                "The keys that sign the log",
                {
                    "list": Command("ledger.keys", "List the public keys that ever signed, the newest last", "list_"),
                    "show": Command(
                        "ledger.keys",
                        "Show the public key that signs now: for those who check receipts, and for witnesses",
                        "show",
                    ),
                    "rotate": Command(
                        "ledger.keys",
                        "Make a new key",
                        "rotate",
                    ),
                },
            ),
        },
    ),
}
