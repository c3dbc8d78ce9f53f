"""The table of tiers: each entry by its own example, and what a policy makes of it."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.compile.defaults import data
from remit.compile.tiers import RULES
from remit.explain.why import tier_reason
from remit.model import Call, Context, Facts, PolicyError, Rulebook
from tests.decide.kit import TOOLS, ask, book, facts, may, outcome

PLAIN = {name: {key: value for key, value in tool.items() if key != "tier"} for name, tool in TOOLS.items()}
"""The tools without a floor: what they do alone gives the tier."""
ARGUMENT = {
    "run": "command",
    "read": "path",
    "write": "path",
    "delete": "path",
    "fetch": "url",
    "delegate": "to",
    "invoke": "name",
    "pay": "amount",
    "message": "to",
    "query": "sql",
}
LABELS = {"production": {"host": ["*.prod.example"]}}


def rulebook(**sections: Any) -> Rulebook:
    """One agent that may use every tool."""
    agents = {"a": {"may": list(PLAIN), "delegates_to": ["helper"]}, "helper": {"may": ["read"]}}
    return build_rulebook({"remit": 1, "tools": PLAIN, "agents": agents, **sections})


def measured(policy: Rulebook, tool: str, value: str, environment: str | None = None) -> tuple[int, str]:
    """The tier of one call, and why."""
    call = Call("a", tool, {ARGUMENT[tool]: value}, Context(environment=environment))
    decision = ask(policy, tool, call.args, environment=environment)
    return decision.tier, tier_reason(policy, call, Facts())


def entries() -> list[tuple[str, str, dict[str, Any]]]:
    """Every entry of the table: its section, its name, what it says."""
    table = data("tiers.yaml")
    found = [
        (section, name, entry)
        for section in ("effects", "grades", "labels", "environments")
        for name, entry in table[section].items()
    ]
    return [*found, *((name, name, table[name]) for name in RULES)]


@pytest.mark.parametrize(("section", "name", "entry"), entries(), ids=lambda value: value if type(value) is str else "")
def test_each_entry_by_its_example(section: str, name: str, entry: dict[str, Any]) -> None:
    example = dict(entry["example"])
    environment = example.pop("environment", None)
    [(tool, value)] = example.items()
    tier, why = measured(rulebook(labels=LABELS), tool, value, environment)
    assert tier == entry["tier"]
    if name == "declared_install":  # every command has that tier
        assert why == f"`{value}` is a command: what it does is known"
        return
    assert why.endswith(entry["because"])
    says = {"labels": f"labelled {name}: ", "environments": f"in {name}: ", "outside_scope": "outside the root: "}
    says |= {"whole_table": "all of orders: ", "own_branch": "publishes: "}
    assert says.get(section) or entry["does"] in why
    assert says.get(section, "") in why


def test_every_part_of_the_table_has_its_words() -> None:
    for _, name, entry in entries():
        assert entry["because"], name
        assert entry["example"], name
    assert set(data("labels.yaml")) < set(data("tiers.yaml")["labels"])


@pytest.mark.parametrize(
    ("environment", "tier"),
    [(None, 1), ("dev", 1), ("production", 4), ("prod", 4), ("PRODUCTION", 4), ("preprod", 1)],
)
def test_an_api_in_production(environment: str | None, tier: int) -> None:
    policy = may("fetch", "search_web", "read", "write")
    assert ask(policy, "fetch", {"url": "https://api.example/x"}, environment=environment).tier == tier
    assert ask(policy, "search_web", {"query": "x"}, environment=environment).tier == tier
    assert ask(policy, "write", {"path": "docs/a"}, environment=environment).tier == 1
    assert ask(policy, "read", {"path": "docs/a"}, environment=environment).tier == 0


def test_a_directory_above_what_is_labelled_is_not_answered_from_memory() -> None:
    policy = book(agents={"a": {"may": ["delete"]}}, labels={"security": {"path": ["a/b/c.yml"]}})
    tiers = [ask(policy, "delete", {"path": path}).tier for path in ("x", "a", "a/b", "a/b/c.yml", "a/x")]
    assert tiers == [1, 4, 4, 4, 1]


def test_an_answer_for_one_environment_is_not_kept_for_another() -> None:
    policy = book(
        tools={"ping": {"args": {}, "does": {"network": "https://a.example/**"}}}, agents={"a": {"may": ["ping"]}}
    )
    outcomes = [outcome(policy, "ping", environment=e) for e in (None, "prod", "dev", "prod", None)]
    assert outcomes == ["allow", "ask tier-asks", "allow", "ask tier-asks", "allow"]


@pytest.mark.parametrize(
    ("label", "tool", "value", "hit"),
    [
        ({"branch": ["main"]}, "run", "git push origin main", True),
        ({"branch": ["main"]}, "run", "git push origin x:Main", True),
        ({"branch": ["main"]}, "run", "git push", True),
        ({"branch": ["main"]}, "run", "git push origin maintenance", False),
        ({"branch": ["release/*"]}, "run", "git push origin release/1", True),
        ({"branch": ["refs/heads/main"]}, "run", "git branch -D main", True),
        ({"branch": ["main"]}, "run", "git branch -d topic", False),
        ({"branch": ["main"]}, "run", "git diff main", False),
        ({"kube_context": ["prod*"]}, "run", "kubectl --context PROD-eu get pods", True),
        ({"kube_context": ["prod*"]}, "run", "kubectl get pods", True),
        ({"kube_context": ["prod*"]}, "run", "kubectl get pods --context dev", False),
        ({"kube_context": ["prod*"]}, "run", "kubectl config get-contexts", False),
        ({"kube_context": ["prod*"]}, "run", "helm list --kube-context prod", True),
        ({"kube_context": ["prod*"]}, "run", "aws --profile dev s3 ls", False),
        ({"host": ["*.prod.example"]}, "run", "ssh me@DB.prod.example uptime", True),
        ({"host": ["*.prod.example"]}, "run", "ssh me@db.dev.example uptime", False),
        ({"host": ["*.prod.example"]}, "fetch", "https://db.prod.example/x", True),
        ({"host": ["db.prod.example"]}, "fetch", "https://db.prod.example.evil/x", False),
        ({"path": ["Deploy/**"]}, "write", "deploy/a", True),
        ({"path": ["deploy/prod/**"]}, "delete", "deploy", True),
        ({"path": ["deploy/prod/**"]}, "write", "deploy", False),
        ({"path": ["**/x.conf"]}, "run", "cp a ~/etc/x.conf", True),
        ({"path": ["**/x.conf"]}, "write", "/etc/x.conf", True),
        ({"url": ["https://a.example/pay/**"]}, "fetch", "https://a.example/pay/1", True),
        ({"table": ["invoices"]}, "query", "DELETE FROM Invoices", True),
        ({"table": ["hr.*"]}, "query", "UPDATE people SET a = 1", True),
        ({"table": ["inv*"]}, "query", "INSERT INTO orders VALUES (1)", False),
        ({"table": ["invoices"]}, "query", "SELECT * FROM invoices", False),
        ({"table": ["invoices"]}, "run", "sqlite3 a.db 'DELETE FROM invoices'", True),
    ],
)
def test_a_label_of_ones_own(label: dict[str, Any], tool: str, value: str, hit: bool) -> None:
    tiers = {"effects": {"publish": 1, "system": 1}, "labels": {"mine": {"tier": 4, "because": "we say so"}}}
    tier, why = measured(rulebook(labels={"mine": label}, tiers=tiers), tool, value)
    assert ("labelled mine: we say so" in why) == hit, why
    assert (tier == 4) == hit


@pytest.mark.parametrize(
    ("sql", "tier"),
    [
        ("SELECT 1", 0),
        ("SELECT * FROM people", 3),
        ("SELECT * FROM PEOPLE", 3),
        ("SELECT * FROM orders", 2),
        ("SELECT * FROM orders JOIN people USING (id)", 3),
        ("SELECT * FROM log", 0),
    ],
)
def test_the_data_tier_of_tables(sql: str, tier: int) -> None:
    labels = {"data": {"3": {"table": ["hr.people"]}, "2": {"table": ["orders*"]}}}
    assert ask(rulebook(labels=labels), "query", {"sql": sql}).data_tier == tier


def test_a_path_that_the_text_does_not_tell_could_hold_any_data() -> None:
    policy = rulebook(labels={"data": {"3": {"path": ["secrets/**"]}}})
    assert ask(policy, "run", {"command": "cat README.md"}).data_tier == 0
    assert ask(policy, "run", {"command": "cat ../project/secrets/a"}).data_tier == 3


def test_a_policy_refines_the_table() -> None:
    tiers = {"effects": {"network": 2, "install": {"tier": 4, "because": "we vet each"}}, "labels": {"migrations": 1}}
    policy = rulebook(tiers=tiers)
    assert measured(policy, "fetch", "https://a.example/")[0] == 2
    assert measured(policy, "run", "npm i x") == (4, "installs dependencies: we vet each")
    assert measured(policy, "write", "db/migrate/1.rb")[0] == 1
    assert [notice.partition(": ")[2] for notice in policy.book.notices] == [
        "label migrations is lowered from tier 3 to 1"
    ]


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"labels": {"produktion": {"branch": ["main"]}}}, "has no tier; did you mean `production`?"),
        ({"tiers": {"labels": {"cii": 4}}}, "no label is named `cii`; did you mean `ci`?"),
        ({"tiers": {"effects": {"instal": 4}}}, "did you mean `install`?"),
        ({"tiers": {"effects": {"install": 5}}}, "from 0 to 4"),
        ({"labels": {"production": {"host": ["prod-*"]}}}, "a host such as"),
    ],
)
def test_what_names_nothing_is_said(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError) as error:
        rulebook(**sections)
    assert any(message in problem.message for problem in error.value.problems), error.value.problems


def test_deleting_inside_and_outside_the_scope_of_a_capsule() -> None:
    policy = may("delete")
    known = facts(policy, capsules={"C": {"agent": "a", "scope": ["src/**"]}})
    assert ask(policy, "delete", {"path": "src/a"}, facts=known, capsule="C").tier == 1
    assert ask(policy, "delete", {"path": "docs/a"}, facts=known, capsule="C").tier == 4
    assert ask(policy, "delete", {"path": "docs/a"}).tier == 1
    assert ask(policy, "delete", {"path": "/etc/a"}).tier == 4


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        ("git push origin feature/x", 3),
        ("git push -u origin feature/x", 3),
        ("git push --set-upstream origin fix-12 --quiet", 3),
        ("git push origin HEAD:feature/x", 3),
        ("git push origin a:refs/heads/b c", 3),
        ("git push origin maintain", 3),
        ("git commit -m x && git push origin feature/x", 3),
        # what others build on, or what could be that
        ("git push", 4),
        ("git push origin", 4),
        ("git push origin HEAD", 4),
        ("git push origin @", 4),
        ("git push origin $b", 4),
        ("git push origin 'feature/*'", 4),
        ("git push origin main", 4),
        ("git push origin Main", 4),
        ("git push origin feature/x:master", 4),
        ("git push origin refs/heads/main", 4),
        ("git push origin feature/x release/1.2", 4),
        ("git push origin develop", 4),
        # tags
        ("git push origin v1.2.0", 4),
        ("git push origin tag v1", 4),
        ("git push origin refs/tags/x feature/x", 4),
        ("git push origin feature/x --tags", 4),
        ("git push --follow-tags origin feature/x", 4),
        # what overwrites or deletes
        ("git push -f origin feature/x", 4),
        ("git push origin feature/x --force-with-lease", 4),
        ("git push origin +feature/x", 4),
        ("git push origin :feature/x", 4),
        ("git push origin --delete feature/x", 4),
        ("git push --mirror origin", 4),
        ("git push --all origin", 4),
        ("git push --prune origin feature/x", 4),
        # elsewhere, or with other settings
        ("git push upstream feature/x", 4),
        ("git push https://x.example/y feature/x", 4),
        ("git push . feature/x", 4),
        ("git -C sub push origin feature/x", 4),
        ("git -c push.default=current push origin feature/x", 4),
        ("GIT_DIR=x git push origin feature/x", 4),
        ("sudo git push origin feature/x", 4),
        ("npm publish", 4),
    ],
)
def test_a_push_of_an_own_branch(text: str, tier: int) -> None:
    assert measured(rulebook(), "run", text)[0] == tier


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        ("npm ci", 2),
        ("npm install", 2),
        ("npm --prefix web ci", 2),
        ("pnpm install --frozen-lockfile", 2),
        ("yarn", 2),
        ("uv sync --locked", 2),
        ("poetry install --with dev", 2),
        ("pip install -r requirements.txt", 2),
        ("python -m pip install -r requirements/dev.txt -e .", 2),
        ("pip install '.[dev]'", 2),
        ("pip install ./packages/a", 2),
        ("bundle install", 2),
        ("tox -e lint", 2),
        ("terraform init", 2),
        # something is named
        ("npm install left-pad", 3),
        ("npm update", 3),
        ("npm link", 3),
        ("uv sync --upgrade", 3),
        ("uv sync -P requests", 3),
        ("poetry update", 3),
        ("pip install requests", 3),
        ("pip install -r requirements.txt requests", 3),
        ("pip install -e git+https://x.example/y", 3),
        ("pip install -U pip", 3),
        ("pip install dist/x.whl", 3),
        ("go mod download x.example/y", 3),
        ("terraform init -upgrade", 3),
        # a file that anybody may have written, or that lies elsewhere
        ("pip install -r todo.txt", 3),
        ("pip install -r requirements.txt -r todo.txt", 3),
        ("pip install -r /tmp/requirements.txt", 3),
        ("pip install -r ../requirements.txt", 3),
        ("pip install -r https://x.example/requirements.txt", 3),
        ("pip install /tmp/x", 3),
        ("pip install ../x", 3),
        ("cd /tmp && npm ci", 3),
        ("cd ~/x && npm ci", 3),
        ("npm --prefix /tmp/x ci", 3),
        # from another place
        ("pip install -r requirements.txt -i https://x.example", 3),
        ("pip install -r requirements.txt --find-links wheels/x", 3),
        ("npm ci --registry https://x.example", 3),
        # what it writes besides
        ("npm ci > package.json", 3),
        ("npm install -g", 4),
        ("sudo npm ci", 4),
    ],
)
def test_an_installation_of_what_the_project_declares(text: str, tier: int) -> None:
    assert measured(rulebook(), "run", text)[0] == tier


def test_an_installation_stays_one_for_rules() -> None:
    policy = may("run", may_not=[{"effect": "install"}])
    assert outcome(policy, "run", {"command": "npm ci"}) == "deny may-not"


def test_a_policy_says_which_branches_are_shared() -> None:
    policy = rulebook(labels={"shared": {"branch": ["team/*"]}})
    assert measured(policy, "run", "git push origin team/x")[0] == 4
    assert measured(policy, "run", "git push origin main")[0] == 4
    assert measured(policy, "run", "git push origin feature/x")[0] == 3
    lowered = rulebook(tiers={"effects": {"publish": 2}})
    assert measured(lowered, "run", "git push origin feature/x")[0] == 2
    assert measured(lowered, "run", "git push origin main")[0] == 2
    raised = rulebook(tiers={"effects": {"publish": 2}, "labels": {"shared": 4}})
    assert measured(raised, "run", "git push origin main")[0] == 4
    assert measured(rulebook(), "run", "git push origin feature/x", "production")[0] == 4


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        ("DELETE FROM t", 3),
        ("DELETE FROM t AS x", 3),
        ("DELETE FROM t WHERE true", 3),
        ("DELETE FROM t WHERE 1 = 1", 3),
        ("DELETE FROM t WHERE (id = 3) OR 1 = 1", 3),
        ("DELETE FROM t WHERE NOT (1 = 2)", 3),
        ("DELETE FROM t WHERE id = id", 3),
        ("DELETE FROM t WHERE 1 = 1 AND 'a' < 'b'", 3),
        ("DELETE FROM t WHERE EXISTS (SELECT 1)", 3),
        ("UPDATE t SET a = 1", 3),
        ("UPDATE t SET a = 1 WHERE 1", 3),
        ("WITH x AS (SELECT 1) DELETE FROM t", 3),
        ("EXPLAIN DELETE FROM t", 3),
        ("SELECT 1; DELETE FROM t", 3),
        ("DELETE FROM t WHERE id = 3", 1),
        ("DELETE FROM t WHERE 1 = 1 AND id = 3", 1),
        ("DELETE FROM t WHERE id = 3 OR id = 4", 1),
        ("UPDATE t SET a = 1 WHERE id IN (SELECT id FROM u)", 1),
        ("INSERT INTO t VALUES (1)", 1),
        ("INSERT INTO t SELECT * FROM u", 1),
        ("SELECT * FROM t", 0),
        ("DROP TABLE t", 3),
    ],
)
def test_all_rows_of_a_table_at_once(text: str, tier: int) -> None:
    assert measured(rulebook(), "query", text)[0] == tier
    command = f"sqlite3 app.db {shlex.quote(text)}"
    assert measured(rulebook(), "run", command)[0] == max(2, tier)


def test_truncate() -> None:
    assert measured(rulebook(), "run", "psql -c 'TRUNCATE t'")[0] == 3
    assert measured(rulebook(), "run", "psql -c 'TRUNCATE TABLE t, u CASCADE'")[0] == 3
    assert measured(rulebook(), "run", "mysql -e 'TRUNCATE t'")[0] == 3


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        ("rm -rf secrets", 4),
        ("rm -r ./secrets/", 4),
        ("mv .ssh old", 4),
        ("git rm -r secrets", 4),
        ("rm -rf app/migrations", 3),
        ("rm -rf src/notes", 2),
        ("bash deploy.sh", 4),
        ("./deploy.sh", 4),
        ("make release", 4),
        ("make test", 2),
        ("psql -f migration.sql", 3),
        ("pg_restore -d app dump", 3),
        ("redis-cli FLUSHALL", 4),
        ("redis-cli -h x flushdb", 4),
        ("redis-cli GET x", 2),
        ("chmod -R 777 /", 4),
        ("chmod 644 README.md", 2),
        ("echo x >> ~/.bashrc", 4),
        ("aws s3 ls", 2),
        ("aws s3 ls s3://bucket", 2),
        ("aws s3 rm s3://bucket/x", 4),
        ("gcloud projects list", 2),
        ("gcloud projects delete x", 4),
        ("cp a .env.example", 2),
        ("cp a .env", 4),
    ],
)
def test_commands_that_were_too_low_or_too_high(text: str, tier: int) -> None:
    assert measured(rulebook(), "run", text)[0] == tier


@pytest.mark.parametrize(
    ("path", "tier"),
    [
        *[
            (name, 3)
            for name in ("requirements.lock", "uv.lock", "api/poetry.lock", "Cargo.lock", "go.sum", "pip.conf")
        ],
        *[(name, 3) for name in ("schema.prisma", "db/schema.prisma", "drizzle/0001.sql", "drizzle/meta/x.json")],
        *[(name, 3) for name in ("renovate.json", "vercel.json")],
        *[(name, 4) for name in ("k8s/secret.yaml", "certs/server.crt", "server.pem", "src/auth/login.py", ".env")],
        *[(name, 1) for name in ("k8s/deployment.yaml", "src/authors.py", ".env.example", ".env.sample")],
        *[(name, 1) for name in ("src/migration/utils.py", "changelog.yaml", "CHANGELOG.md", "docs/locks.md")],
    ],
)
def test_files_that_were_too_low_or_too_high(path: str, tier: int) -> None:
    assert measured(rulebook(), "write", path)[0] == tier
