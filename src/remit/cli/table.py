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
    """Commands under one name; `alone` is what the name does by itself, if not print help with these examples."""

    __slots__ = ("alone", "commands", "examples", "help")

    def __init__(
        self, help: str, commands: dict[str, Entry], alone: Command | None = None, examples: tuple[str, ...] = ()
    ) -> None:
        self.help, self.commands, self.alone, self.examples = help, commands, alone, examples


Entry = Command | Group


ALIASES = {"test": "check", "validate": "check", "lint": "check", "audit": "scan"}
"""What people type, and what it means; `remit --help` lists only the commands."""

MEANT = {
    **dict.fromkeys(("why", "trace", "debug"), "explain"),
    **dict.fromkeys(("can", "try", "simulate", "eval"), "decide"),
    **dict.fromkeys(("agents", "list", "show", "permissions", "dashboard", "ui", "web"), "matrix"),
    **dict.fromkeys(("log", "logs", "history", "events"), "ledger show"),
    **dict.fromkeys(("verify",), "ledger verify"),
    **dict.fromkeys(("stats", "metrics"), "ledger stats"),
    **dict.fromkeys(("allow", "yes", "accept", "confirm"), "approve"),
    **dict.fromkeys(("deny", "no", "reject"), "refuse"),
    **dict.fromkeys(("pending", "asks", "questions", "inbox"), "approvals"),
    **dict.fromkeys(("apply", "deploy", "enable", "load"), "activate"),
    **dict.fromkeys(("stop", "pause", "kill", "block"), "halt"),
    **dict.fromkeys(("new", "create", "generate", "setup", "start"), "init"),
    **dict.fromkeys(("hook", "hooks"), "install"),
    **dict.fromkeys(("remove", "disable"), "uninstall"),
    **dict.fromkeys(("passphrase", "password", "login"), "credential set"),
    **dict.fromkeys(("version",), "--version"),
    **dict.fromkeys(("completion",), "--install-completion"),
    **dict.fromkeys(("diff", "changes"), "activate --dry-run"),
    **dict.fromkeys(("parse", "analyze", "analyse"), "understand"),
    **dict.fromkeys(("doctor", "info", "state"), "status"),
    **dict.fromkeys(("task", "tasks", "capsules"), "capsule list"),
}
"""What people type who know other programs, and the command that they are told of."""

COMMANDS: dict[str, Entry] = {
    "scan": Command(
        "scan",
        "Scan a repository for what it says its agents may do: definitions, settings, matrices",
    ),
    "demo": Command(
        "demo",
        "Show Remit at work: agents on real files, git and SQLite, in a private folder",
    ),
    "init": Command(
        "init",
        "Write a first remit.yaml from the repository's own definitions and documents, never wider than they are",
    ),
    "check": Command(
        "check", "Check that a policy loads, its examples and `never` statements hold, and its tests pass"
    ),
    "activate": Command("activate", "Put the policy in force: check it, show what changes, and ask for confirmation"),
    "publish": Command(
        "publish",
        "Write the tools that a Python program declares to a file beside the policy; this imports and runs the program",
    ),
    "install": Command(
        "install.command",
        "Install Remit's hooks in a host's settings",
    ),
    "uninstall": Command(
        "install.uninstall",
        "Remove Remit from a host",
    ),
    "decide": Command("decide", "Decide one call (--agent, --tool, --args) or many (--calls FILE or -)"),
    "explain": Command(
        "explain", "Explain a decision: the steps, the rule, the tier, and what would make the call pass"
    ),
    "graph": Command("graph", "Show who hands work to whom, as text or as a graph for a document"),
    "docs": Command(
        "docs", "Write the policy into marked regions of documents: a matrix, sections for agents, the text of prompts"
    ),
    "matrix": Command("matrix", "Show who may use what: ✅ allowed, 🔒 allowed with a scope, ✋ must ask, ❌ denied"),
    "report": Command("report", "Report the tools that an agent can use, with totals by layer and scopes"),
    "tools": Command("tools", "Show the tools that an agent can see, with their arguments and limits"),
    "who-can": Command("who_can", "Show who may use a tool"),
    "record": Command(
        "record",
        "Show a team's permission record of an agent as an entry of `agents`, or compare it with the policy",
    ),
    "profile": Command(
        "profile",
        "Show what an agent's commands may write, read and reach when they run confined, by its rules alone",
    ),
    "reach": Command(
        "reach",
        "Show what an agent can cause by delegating: whom its work can reach, and what that adds to its own rights",
    ),
    "understand": Command(
        "understand",
        "Show what a text would do, regardless of who may run it: effects, targets, and its tier with the reason",
    ),
    "grant": Group(
        "Add a standing grant to the policy file, with an approver and an end date; `remit activate` puts it in force",
        {
            "approve": Command(
                "grant",
                "Approve a standing grant as the policy file has it, as the person whom it names (`approved_by`)",
                "approve",
            ),
        },
        alone=Command(
            "grant",
            "Add a standing grant to the policy file, with an approver and an end date; `remit activate` puts it in"
            " force",
        ),
    ),
    "people": Group(
        "List the people whom the policy in force names: their roles, and whether they have set a passphrase",
        {
            "invite": Command(
                "people",
                "Invite somebody to set their own passphrase, with a code that is valid once, for a week",
                "invite",
            ),
        },
        alone=Command(
            "people",
            "List the people whom the policy in force names: their roles, and whether they have set a passphrase",
            "list_",
        ),
    ),
    "suggest": Command(
        "suggest",
        "Suggest the policy that allows what was used and no more: a tightening proved to be within the present one",
    ),
    "usage": Command(
        "use", "Show how much of what the policy allows was used: never, only to read, denied, too coarse, too narrow"
    ),
    "replay": Command("replay", "Decide the ledger's past calls under the policy file, and list what it would change"),
    "schema": Command("schema", "Print the JSON Schema of a policy file, for editors"),
    "mcp": Command("mcp", "Serve Remit's own tools to the agents of a host over MCP (stdio)"),
    "serve": Command("serve", "Answer this project's hooks with the activated policy until interrupted"),
    "status": Command(
        "status",
        "Show what is in force, how strictly each agent is bound, and what gaps remain",
    ),
    "witness": Command(
        "witness", "Run a witness (C2SP tlog-witness): POST /add-checkpoint returns a cosignature or a refusal"
    ),
    "approve": Command("answer", "Approve one waiting call, exactly as shown, once", "approve"),
    "refuse": Command(
        "answer",
        "Refuse a call that is waiting, or one that was approved and has not run yet",
        "refuse",
    ),
    "halt": Command(
        "halt", "Halt an agent, a task or everybody at once: until a person resumes them, every call is denied", "halt"
    ),
    "resume": Command("halt", "Resume what is halted", "resume"),
    "incidents": Group(
        "List who is halted, and the incidents that are open",
        {
            "show": Command(
                "incidents", "Show an incident: the call, the rule, the task, and what the agent did before", "show"
            ),
            "close": Command("incidents", "Close an incident", "close"),
        },
        alone=Command("incidents", "List who is halted, and the incidents that are open", "list_"),
    ),
    "aside": Group(
        "List what was moved aside because a confined command made it in a protected place",
        {
            "restore": Command("aside", "Put something back that was moved aside", "restore"),
            "forget": Command("aside", "Delete something that was moved aside, for good", "forget"),
        },
        alone=Command(
            "aside", "List what was moved aside because a confined command made it in a protected place", "list_"
        ),
    ),
    "review": Group(
        "List the reviews that are due or overdue, with each agent's use according to the ledger",
        {"sign": Command("review", "Sign a review: it is recorded in the ledger, with your name", "sign")},
        alone=Command(
            "review",
            "List the reviews that are due or overdue, with each agent's use according to the ledger",
            "list_",
        ),
    ),
    "answer": Command(
        "elsewhere",
        "Answer a request of `remit approvals export` on any machine: show the call, ask for your passphrase, and sign",
        "answer",
    ),
    "approvals": Group(
        "List or watch the calls that wait for a person's answer",
        {
            "show": Command(
                "approvals.show",
                "Show one waiting call: all arguments, with hidden characters marked, and what its texts would do",
            ),
            "export": Command(
                "elsewhere",
                "Print a waiting call as a request that one person can answer on another machine, with `remit answer`",
                "export",
            ),
            "import": Command(
                "elsewhere",
                "Record an answer that somebody gave with `remit answer`, if they signed it for exactly this call",
                "import_",
            ),
        },
        alone=Command("approvals.inbox", "List or watch the calls that wait for a person's answer"),
    ),
    "capsule": Group(
        "Tasks given to agents: their extra permissions, their limits, and when they end",
        examples=("remit capsule new task.yaml", "remit capsule list"),
        commands={
            "new": Command(
                "capsule.new",
                "Give a task to an agent: show what it would allow and how far that reaches, then ask for confirmation",
            ),
            "show": Command(
                "capsule.show",
                "Show a task: what it allows and how far that reaches, its limits, and its state",
            ),
            "list": Command("capsule.list_", "List open tasks, or all tasks with --all"),
            "end": Command(
                "capsule.end",
                "End a task and all tasks delegated from it; show what was revoked and what was never used",
            ),
            "report": Command(
                "capsule.report",
                "Report on a task: calls, files written, commands, questions, denials, hand-overs, unused grants",
            ),
        },
    ),
    "gate": Group(
        "The gates of a task, which people pass",
        examples=("remit gate list TASK-12", "remit gate pass TASK-12 plan"),
        commands={
            "pass": Command(
                "gate",
                "Pass a gate of a task",
                "pass_",
            ),
            "list": Command("gate", "List the gates of a task and who has passed them", "list_"),
        },
    ),
    "clock": Group(
        "Show the clock that ends approvals, tickets and tasks: whether it is in doubt, and what happened to it",
        {"repair": Command("clock", "Confirm that the wall clock is correct", "repair")},
        alone=Command(
            "clock",
            "Show the clock that ends approvals, tickets and tasks: whether it is in doubt, and what happened to it",
            "look",
        ),
    ),
    "credential": Group(
        "The passphrase that people use to activate policies and answer questions",
        examples=("remit credential set", "remit credential status"),
        commands={
            "set": Command(
                "credential",
                "Set or change the passphrase: the project's, or with --as your own",
                "set_",
            ),
            "status": Command(
                "credential",
                "Show whether a passphrase is set, since when, and how many wrong attempts followed the last good one",
                "status",
            ),
        },
    ),
    "ledger": Group(
        "The ledger: a tamper-evident record of decisions",
        examples=("remit ledger show", "remit ledger tail -f", "remit ledger verify"),
        commands={
            "verify": Command(
                "ledger.verify",
                "Verify every entry, checkpoint and stored value, and compare with all anchors",
            ),
            "show": Command("ledger.show", "Show one entry in full, or the newest entries that match the options"),
            "tail": Command("ledger.tail", "Show the newest entries; with -f, keep showing new ones"),
            "prove": Command(
                "ledger.prove",
                "Write a receipt (tlog-proof) for entry N: its bytes, the path to the root, and a signed checkpoint",
            ),
            "check-proof": Command("ledger.check_proof", "Check a receipt offline"),
            "export": Command(
                "ledger.export", "Export the log: tiles (verifiable by others), JSON lines, or OCSF events"
            ),
            "archive": Command(
                "ledger.archive",
                "Move old entries into a folder that `remit ledger verify DIR` can verify without the log",
            ),
            "stream": Command(
                "ledger.stream",
                "Deliver events to the streams of the activated policy, or show the progress of each stream",
            ),
            "erase": Command(
                "ledger.erase",
                "Erase values permanently: arguments and statements",
            ),
            "resume": Command(
                "ledger.resume",
                "Resume a stopped ledger, with a recorded reason; needs a person's confirmation",
            ),
            "stats": Command(
                "ledger.stats",
                "Count entries by agent, tool, decision, code, rule and day; size, last checkpoint, anchors",
            ),
            "anchor": Group(
                "Anchors: where copies of the log's checkpoints are kept",
                examples=("remit ledger anchor list",),
                commands={
                    "add": Command(
                        "ledger.anchor",
                        "Add an anchor: compare what it already keeps with the log, and send it the newest checkpoint",
                        "add",
                    ),
                    "list": Command("ledger.anchor", "List the anchors and what each one keeps", "list_"),
                    "remove": Command("ledger.anchor", "Remove an anchor", "remove"),
                    "push": Command(
                        "ledger.anchor",
                        "Sign the head of the log and send it to every anchor",
                        "push",
                    ),
                },
            ),
            "keys": Group(
                "The keys that sign the log",
                examples=("remit ledger keys list",),
                commands={
                    "list": Command(
                        "ledger.keys", "List every public key that has signed the log, newest last", "list_"
                    ),
                    "show": Command(
                        "ledger.keys",
                        "Show the current public key, for people who check receipts and for witnesses",
                        "show",
                    ),
                    "rotate": Command(
                        "ledger.keys",
                        "Create a new key",
                        "rotate",
                    ),
                },
            ),
        },
    ),
}
