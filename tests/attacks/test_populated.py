"""Commands that go round a limit in a repository where their effects are real: found by running what was allowed.

Each row was run by bash in a copy of such a repository, and changed or printed what the policy keeps from the agent."""

import pytest

from remit import Call, build_rulebook, decide_call
from remit.enforce.paths import look_up, open_root
from remit.model import Facts

BASH = {"args": {"command": "shell"}}
POLICY = {
    "remit": 1,
    "tools": {"Bash": BASH},
    "labels": {"data": {3: {"path": ["private/**"]}}},
    "agents": {
        "open": {"may": ["Bash"]},
        "codeless": {"may": ["Bash"], "project_code": "deny"},
        "offline": {"may": ["Bash"], "may_not": [{"effect": "network"}]},
        "locked": {"may": ["Bash"], "locks": {"may": ["docs/**"]}},
        "kept_out": {"may": ["Bash"], "may_not": [{"path": ["private/**"]}]},
        "tiered": {"may": ["Bash"], "data_tiers": [0, 1, 2]},
        "builder": {"may": [{"Bash": {"shell": {"sets": ["build", "test", "lint"]}}}]},
        "git_reader": {"may": [{"Bash": {"shell": {"sets": ["inspect", "git-read"]}}}]},
        "reader": {"may": [{"Bash": {"shell": {"run": "any", "path": {"read": ["src/**"], "write": []}}}}]},
    },
}

PROTECTED = [
    # what lies below a folder that is a link lies elsewhere
    "cp -r docs/evil/. docs/up",
    "cp -r docs/evil/. docs/up/",
    "tar -xf docs/evil.tar -C docs/up",
    "unzip -oq docs/evil.zip -d docs/up",
    "find docs/up/ -name .claude -delete",
    "chmod -R 000 docs/up/.claude",
    # what a process has open, or works in
    "exec 5<.; echo x > /dev/fd/5/.claude/settings.json",
    "exec 5<.claude; echo x > /dev/fd/5/settings.json",
    "echo x > /proc/self/cwd/.claude/settings.json",
    "cd .claude; echo x > /proc/self/cwd/settings.json",
    "exec 5<.claude/settings.json; echo x > /dev/fd/5",
    "exec 5<.claude/settings.json; echo x > /proc/self/fd/5",
    "cp docs/a.md /dev/stdin < .claude/settings.json",
    "tee /dev/stdin < .claude/settings.json",
    "dd if=docs/a.md of=/dev/stdin < .claude/settings.json",
    "cp docs/a.md /dev/fd/7 7< .claude/settings.json",
    "tee /dev/stdout 1< .claude/settings.json <<< x",
    # links among what a pattern matches, or find finds, or lies below a folder that is gone through
    "tee docs/t? <<< x",
    "truncate -s 0 docs/*",
    "chmod 000 docs/*",
    "cp docs/a.md docs/t?",
    "sort -o docs/t? docs/a.md",
    "echo x > docs/t?",
    "rm docs/u?/remit.yaml",
    "find docs -name to -exec truncate -s0 {} +",
    "find docs -type l -exec cp docs/a.md {} \\;",
    "find -L docs -name 'remit*' -delete",
    "find docs -follow -name settings.json -delete",
    # links that a command of the text makes, or brings, for another one
    "cp -a docs/to docs/h; echo x > docs/h",
    "cp -P docs/to docs/h && echo x > docs/h",
    "cp -R docs/up docs/h && echo x > docs/h/src/a.txt",
    "cp -r docs docs2; echo x > docs2/up/remit.yaml",
    "mkdir d2; mv docs/sub d2; echo x > d2/sub/up/remit.yaml",
    "for i in 1 2; do echo x > docs/h/remit.yaml; cp -a docs/up docs/h; done",
    "tar -xf docs/links.tar -C docs; echo x > docs/q/remit.yaml",
    "unzip -q docs/links.zip -d docs/n && rm docs/n/q/remit.yaml",
    "git clone x docs/n; echo x > docs/n/q/remit.yaml",
    # what is above a link is not what the text says
    "echo x > docs/agents/../settings.json",
    "cp docs/a.md docs/agents/../settings.json",
    "cd docs/agents; echo x > ../settings.json",
    "cd -P docs/agents/.. && echo x > settings.json",
    "env -C docs/agents tee ../settings.json",
    "rm docs/agents/.././settings.json",
    "ln -s $PWD/.claude docs/q; echo x > docs/q/settings.json",
    # names that a program derives
    "python3 -m gzip -d remit.yaml.gz",
    "python3 -m compileall .claude",
    "git rm --pathspec-from-file=docs/list.txt",
    "pytest --debug remit.yaml",
    "pigz -dkf remit.yaml.gz",
    "unpigz -kf remit.yaml.gz",
    "cp --parents -t docs .claude/settings.json",
    "cp -r --parents .claude docs",
    "rsync -R .claude/settings.json docs/",
    "rsync --remove-source-files remit.yaml docs/",
    "jar xf docs/evil.zip",
    "uudecode docs/evil.uu",
    "jar -c -f remit.yaml docs/a.md",
    "jar --create --file=.claude/settings.json docs/a.md",
    "jar xf docs/evil.zip --dir .",
    "objcopy --dump-section .text=remit.yaml docs/b.o",
    # options of programs that otherwise only look
    "pkg-config --libs x --log-file=CLAUDE.md",
    "pkg-config --libs x --log-file CLAUDE.md",
    "iperf3 --logfile .claude/settings.json -c 127.0.0.1",
    "iperf3 -I remit.yaml -c 127.0.0.1",
    "docker scout cves --output remit.yaml app",
    "telnet -n remit.yaml localhost",
    # exclusions stand for all the rest, whatever revision is named before
    "git checkout HEAD~2 -- ':!docs'",
    "git checkout HEAD~2 -- ':(exclude)docs'",
    "git checkout HEAD~2 ':!docs'",
    # instructions for agents that lie in a folder go, or come, with it
    "rm -rf lib",
    "rm -r ./lib/",
    "git rm -r lib",
    "git mv lib lib2",
    "mv lib docs/lib2",
    "cp -r docs/evil/. docs/sub",
    "cp -r docs/evil docs/n",
    "cp -rT docs/evil docs/n",
    "rsync -a docs/evil/ docs/n/",
    "git clone . docs/n",
    # what a container is given
    "docker run --rm -v .:/app app rm -rf /app/.claude",
    "docker run --rm -v ./.claude:/x app touch /x/y",
    "docker run --rm --mount type=bind,source=.,target=/app app ls",
    "docker run --rm --volumes-from dev app ls",
    # names that the address, or a format, makes
    "curl -s -o '#1.yaml' 'http://localhost/{remit,x}'",
    "curl -s -o 'remit.#1' 'http://localhost/{yaml,x}'",
    "curl -s -w '%output{remit.yaml}x' http://localhost/",
    "curl -s -w '%{http_code} %output{>>.claude/settings.json}x' http://localhost/",
    # hooks and configuration under a name that nothing protects
    "git init --separate-git-dir=docs/g",
    "git clone --separate-git-dir docs/g x docs/n",
    "docker exec dev touch /app/x",
]
PRIVATE = [
    "cat docs/deep/../p.txt",
    "cd docs/deep && cat ../p.txt",
    "cat < docs/deep/../p.txt",
    "grep -r . docs/deep/..",
    "cat docs/*/p.txt",
    "head -1 docs/l*/p*",
    "for f in docs/*; do cat $f/p.txt; done",
    "grep -R . docs",
    "rg -L . docs",
    "find -L docs -type f -exec cat {} +",
    "find docs -type l -exec grep -r . {} +",
    "cp -rL docs d2",
    "tar -chf d.tar docs",
    "zip -r d.zip docs",
    "rsync -aL docs/ d2/",
    "tar -xf docs/links.tar -C docs; cat docs/q/p.txt",
    # a folder goes with all that is in it
    "rm -r private",
    "rm -Rf ./private/",
    "mv private docs/x",
    "git mv -k private docs/",
    "git rm -r private",
    "rm -rf docs/link/",
    "find docs/link -exec cat {} +",
    "find docs/up/private -exec cat {} +",
    "grep -r . docs/link",
    "exec 5<private; cat /dev/fd/5/p.txt",
    "exec 5<.; cat /proc/self/fd/5/private/p.txt",
    "git reflog -p",
    "git reflog --patch -1",
    "git diff HEAD~1 -- ':!docs'",
    "git diff HEAD~1 -- .",
    "git diff HEAD~1 -- private",
    "git diff HEAD~1 private",
    "git show HEAD -- private",
    "git log -p -- private",
    "git archive HEAD private",
    "git grep -h . -- private",
    # names of branches and tags look like those of files
    "git -C . diff",
    "git -C ./ show HEAD",
    "git diff v1.0",
    "git show feature/x.y",
    "git log -p release/1.2",
    "git grep secret v1.0",
    "git grep secret HEAD",
    "git grep secret main",
    # options that show what is in files
    "git diff --stat -p HEAD~1",
    "git diff -p --stat HEAD~1",
    "git diff -U3 --name-only",
    "git diff -S secret --name-only",
    "git log --binary",
    "git log --check -3",
    "git status -v",
    "git status -sbv",
    "git commit -a --dry-run -v",
    "git stash list -p",
    "git config --blob HEAD:private/p.txt -l",
    "grep --directories=recurse secret",
    "grep -drecurse secret",
    "npm diff --diff=.",
    # it is put where no rule is about it
    "git worktree add docs/w",
    "git bundle create docs/b.bundle HEAD",
    # what a file says is read too
    "gcc docs/main.c -o docs/main",
    "clang -fsyntax-only docs/main.c",
    "xmllint --xinclude docs/in.xml",
    "xmllint --noent docs/in.xml",
    "shellcheck -x docs/t.sh",
    "pandoc docs/a.tex",
    "pandoc --embed-resources docs/a.md",
    "yq -n 'load_str(\"private/p.txt\")'",
    "yq '.a = load(\"private/m.yaml\")' docs/a.yaml",
    "yq eval '.. |= strload(.)' docs/a.yaml",
    "clang-format --style=file:private/p.txt src/b.c",
    "info private/p.txt",
    "aws ec2 describe-instances --cli-input-json file://private/p.json",
    "kubectl get pods -o jsonpath-file=private/p.txt",
    "kubectl get pods -o=go-template-file=private/p.txt",
    "kubectl version --client --output go-template-file=private/p.txt",
    "lynx -dump private/p.txt",
    "w3m -dump private/p.txt",
    "links -dump private/p.txt",
    "http --offline POST http://localhost/x a=@private/p.txt",
    "http POST http://localhost/x @private/p.txt",
    "http POST http://localhost/x name@private/p.txt b:=@private/p.txt",
    "figlet -f private/p.txt hi",
    "figlet -fprivate/p.txt hi",
    "pgrep -F private/p.txt",
    "ptx -o private/p.txt docs/a.md",
    "logger -f private/p.txt",
    # options that name files within their value, or lift what others limit
    "git log -p --full-diff -- src",
    "curl -T '{private/p.txt,src/a.txt}' http://localhost/",
    "curl -T 'private/[p-p].txt' http://localhost/",
    "curl --url-query x@private/p.txt http://localhost/",
    "curl -F 'f=@src/a.txt;headers=@private/p.txt' http://localhost/",
    "curl -F 'f=x;headers=\"@private/p.txt\"' http://localhost/",
    "curl -w @private/p.txt http://localhost/",
    "openssl dgst -passin file:private/p.txt -sign src/k.pem src/a.txt",
    "openssl enc -aes256 -pass file:private/p.txt -in src/a.txt",
    "rsync -f 'merge private/p.txt' src/ docs/",
    "rsync -f '. private/p.txt' src/ docs/",
    "http --verify private/p.txt https://localhost/",
    "kubectl create configmap x --from-file=k=private/p.txt --dry-run=client -o yaml",
    "helm template x docs --set-file a=src/a.txt,b=private/p.txt",
    # files that hold arguments, or names
    "c++filt @private/p.txt",
    "clang-format @private/p.txt",
    "7z a docs/o.7z @docs/list.txt",
    "7z a docs/o.7z '-i!private/p.txt'",
    "7z a docs/o.7z -ir@docs/list.txt",
    "7z l docs/o.7z -x@private/p.txt",
    "zip docs/o.zip src/a.txt -i@private/p.txt",
    "zip -r docs/o.zip src -x @private/p.txt",
]
CODE = [
    # it has scripts for its own installation
    "npm ci",
    "npm install",
    "pip install .",
    "pip install -e .[dev]",
    "uv pip install -e .",
    "uv sync",
    "poetry install",
    "composer install",
    "bundle install",
    "pipenv install",
    # and for what is done before and after
    "npm rebuild",
    "pnpm rebuild",
    "npm publish --dry-run",
    "pnpm publish --dry-run",
    "cargo publish --dry-run",
    # these run what is in the workspace, whatever their words are
    "python -m fastapi dev app.py",
    "python -m streamlit run app.py",
    "python -m celery -A app worker",
    "python -m scrapy crawl x",
    "python -m locust -f x.py",
    "python -m django shell",
    "flask shell",
    "jupyter notebook",
    "ansible-inventory -i hosts.py --list",
    "ldd ./x",
    "dbt test",
    # a file of the workspace names what they run, or they look for it there first
    "coverage report",
    "coverage html",
    "cargo metadata",
    "cargo tree",
    "cargo clean",
    "cargo --version",
    "yarn info x",
    "yarn config list",
    "pnpm ls",
    "pnpm store path",
    "bundle list",
    "composer show",
    "python -m json.tool x.json",
    "python3 -m venv .venv",
    # the configuration of a repository that is not called .git names programs
    "git -C docs/bare status",
    "cd docs/bare && git log",
    "cd docs/bare/refs; git status",
    "cd docs/linked && git status",
    "env git -C docs/to_bare log",
    "mkdir -p docs/g/refs docs/g/objects; cp docs/a.md docs/g/HEAD; git -C docs/g status",
    "cp -r docs/evil docs/g; cd docs/g && git status",
    "tar -xf docs/a.tar -C docs; cd docs/g && git status",
    # what they are told to run
    "git instaweb --httpd=./x",
    "curl -s -w @docs/a.md http://localhost/",
]
CONNECTS = [
    # npm asks the registry, which a file of the workspace names, for a newer npm
    "npm ls",
    "npm config ls",
    "npm pkg get name",
    "npm help install",
    # what a document shows is fetched
    "pandoc docs/a.md -o docs/a.docx",
]
ELSEWHERE = [
    # an option says where they work, but their words count from where the shell is
    "npm --prefix docs pack --pack-destination src",
    "npm -C docs pack --pack-destination=src",
    "python -m build -o src docs",
    "uv build --out-dir src docs",
    "vite build docs --outDir src",
    "ctest --test-dir docs --output-junit src/x.xml",
    # what they do themselves counts beside the code that they may run
    "composer install",
    "pnpm install",
    "python -m venv .venv",
]
OVERWRITTEN = [
    "pytest --junitxml=src/a.py",
    "pytest --junit-xml src/a.py",
    "python -m pytest --junitxml=src/a.py",
    "pytest --log-file=src/a.py",
    "pytest --debug src/a.py",
    "pytest --debug=docs/a.md",
    "pytest --cov-report=html:src",
    "pytest --cov=src --cov-report xml:README.md",
    "pytest --junitxml=package.json",
    "mypy --cache-dir=src src",
    "python3 -m mypy --cache-dir src/c src",
    "mypy --junit-xml src/a.py src",
    "mypy --linecoverage-report src src",
    "coverage xml -o src/a.py",
    "coverage html -d src",
    "coverage json -o=src/a.py",
    "ruff check --config fix=true src",
    "ruff check --config 'fix = true' src",
    "ruff --config fix=true check src",
    "ruff check --config 'cache-dir=\"src\"' src",
    "ruff check --config $'line-length=9\nfix=true' src",
    "ruff check --config docs/ruff.toml src",
    "pylint --output-format=text:src/a.py src",
    "pylint -f json,text:src/a.py src",
    "vitest run --outputFile=src/a.py",
    "deno test --junit-path=src/a.xml",
    "bun test --reporter-outfile=src/a.xml",
    "mvn -l src/a.py test",
    "gradle --project-cache-dir src test",
    "npm test --logs-dir=src",
    "npm --cache src test",
    "cargo test --target-dir src",
    "turbo run build --graph=src/a.html",
]
EVERYDAY = [
    ("builder", "pytest -q --junitxml=junit.xml"),
    ("builder", "pytest --junitxml=reports/unit.xml --cov=src --cov-report=html --cov-report=xml:coverage.xml"),
    ("builder", "pytest --debug -q"),
    ("builder", "mypy --cache-dir=.mypy_cache src"),
    ("builder", "mypy --junit-xml reports/mypy.xml src"),
    ("builder", "coverage xml -o build/coverage.xml"),
    ("builder", "vitest run --outputFile=reports/a.xml"),
    ("builder", "mvn -l build.log test"),
    ("builder", "cargo test --target-dir target"),
    ("builder", "pylint -f colorized src"),
    ("builder", "dotnet test --no-build --results-directory TestResults"),
    ("builder", "ruff check --config pyproject.toml --config line-length=100 src"),
    ("kept_out", "git diff docs/a.md"),
    ("kept_out", "git diff v1.0 docs/a.md"),
    ("kept_out", "git diff HEAD~1 -- docs"),
    ("kept_out", "git grep -n hello docs/"),
    ("kept_out", "git grep -n hello -- docs"),
    ("kept_out", "git log --stat v1.0"),
    ("kept_out", "git status -sb"),
    ("kept_out", "git diff --stat HEAD~1"),
    ("kept_out", "git diff --name-only main...HEAD"),
    ("kept_out", "crontab -l"),
    ("kept_out", "git commit -m x"),
    ("kept_out", "shellcheck docs/t.sh"),
    ("kept_out", "pandoc --sandbox docs/a.md -o docs/a.html"),
    ("kept_out", "yq '.a.load' docs/a.yaml"),
    ("kept_out", "grep -d skip hello docs/a.md"),
    ("offline", "npm test"),
    ("offline", "pandoc --sandbox docs/a.md -o docs/a.docx"),
    ("codeless", "npm ls"),
    ("codeless", "git -C docs status"),
    ("codeless", "cd src && git log -p"),
    ("codeless", "touch src/x; cd src; git add x"),
    ("kept_out", "curl -s -o /dev/null -w '%{http_code}' http://localhost/"),
    ("kept_out", "curl -s --url-query q=1 http://localhost/"),
    ("kept_out", "curl -F 'f=@docs/a.md;type=text/plain' http://localhost/"),
    ("kept_out", "curl -F 'f=@docs/a.md' -o 'docs/#x' http://localhost/"),
    ("kept_out", "openssl dgst -passin pass:x -sign docs/k.pem docs/a.md"),
    ("kept_out", "rsync -a --filter='- *.pyc' --filter=':- .gitignore' src/ docs/"),
    ("kept_out", "zip -r docs/o.zip src -x '*.pyc'"),
    ("kept_out", "7z a docs/o.7z src"),
    ("open", "curl -w @docs/a.md -o /dev/null -s http://localhost/"),
    ("codeless", "python -I -m json.tool x.json"),
    ("locked", "npm --prefix docs install"),
    ("locked", "mkdir -p docs"),
    ("locked", "cp src/a.py docs"),
    ("locked", "cp -t docs src/a.py"),
    ("locked", "install -t docs src/a.py"),
    ("locked", "cp src/a.py docs/"),
    ("locked", "rsync -a src/ docs/"),
    ("locked", "npm pack --pack-destination docs"),
    ("locked", "javac -d docs src/A.java"),
    ("locked", "rm -rf docs/sub"),
    ("reader", "wc -l < src/a.py"),
    ("open", "pgrep -fl node"),
    ("open", "docker scout cves --output json app"),
    ("open", "kubectl get pods -o wide"),
    ("open", "jar tf docs/x.jar"),
    ("kept_out", "ls"),
    ("kept_out", "pytest tests"),
    ("kept_out", 'for f in src/*.py; do wc -l "$f"; done'),
    ("reader", "ls src"),
    ("reader", "cd src && ls"),
    ("reader", "[ -d src ] && ls src/*"),
    ("codeless", "pip list"),
    ("open", "docker run --rm app:dev pytest"),
    ("open", "docker run --rm -v ./src:/app app:dev ls /app"),
    ("open", "dbt run --select orders"),
    ("open", "rm docs/to"),
    ("locked", "unlink docs/to"),
    ("kept_out", "rm docs/link"),
    ("open", "mv src src2"),
    ("open", "cp -r docs/sub docs/n"),
    ("open", "rm -rf build"),
    ("open", "rm -rf *.egg-info dist/*"),
    ("open", "mv src/a.py tests/"),
    ("open", "git reflog -5"),
    ("open", "cp -r src src2 && sed -i s/a/b/ src2/x.py"),
    ("open", "rm -rf docs/sub/*"),
    ("open", "chmod +x src/*"),
    ("open", "tar -xf docs/a.tar -C build && ls build && rm -rf build"),
    ("kept_out", "cat src/*.py"),
    ("kept_out", "cd src && cat ../docs/a.md ../src/../docs/a.md"),
    ("kept_out", "grep -rn x docs"),
    ("kept_out", "zip -ry d.zip docs"),
    ("kept_out", "find docs -type f -exec cat {} +"),
    ("kept_out", "find src -name '*.py' -exec wc -l {} +"),
    ("reader", "cat src/*.py"),
    ("locked", "chmod 644 docs/*.rst"),
    ("open", "echo x | tee /dev/stderr"),
    ("open", "cat /dev/stdin <<< x"),
    ("open", "cat /proc/self/status"),
    ("locked", "echo x > /dev/stderr"),
    ("locked", "echo x | tee /dev/stderr"),
    ("locked", "mv docs/a.md docs/c.md"),
    ("locked", "rm -rf docs/old"),
    ("kept_out", "rm -rf build"),
    ("kept_out", "mv docs/a.md docs/b.md"),
    ("tiered", "rm -r docs/old"),
    ("reader", "cat src/a.py > /dev/stderr"),
]


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    root = tmp_path_factory.mktemp("populated")
    for name in (".claude/agents", "docs/evil", "docs/sub", "lib", "private/deep", "src", "tests"):
        (root / name).mkdir(parents=True)
    for name in ("docs/a.md", "docs/evil/CLAUDE.md", "lib/CLAUDE.md"):
        (root / name).touch()
    (root / ".claude/settings.json").write_text("{}")
    (root / "private/p.txt").write_text("secret")
    (root / "docs/up").symlink_to("..")
    (root / "docs/link").symlink_to("../private")
    (root / "docs/to").symlink_to("../remit.yaml")
    (root / "docs/sub/up").symlink_to("../..")
    (root / "remit.yaml").touch()
    (root / "docs/agents").symlink_to("../.claude/agents")
    (root / "docs/deep").symlink_to("../private/deep")
    (root / ".git").mkdir()
    for name in ("docs/bare/objects", "docs/bare/refs", "docs/linked"):
        (root / name).mkdir(parents=True)
    for name in ("docs/bare/HEAD", "docs/linked/HEAD", "docs/linked/commondir"):
        (root / name).touch()
    (root / "docs/to_bare").symlink_to("bare")
    rulebook = build_rulebook(POLICY)
    _, facts = open_root(root, root / "remit.yaml", Facts(now="2026-11-16T12:00:00Z"))

    def verdict(agent: str, command: str) -> str:
        call = Call(agent, "Bash", {"command": command})
        return decide_call(rulebook, call, look_up(rulebook, call, facts)).verdict.word

    return verdict


FOLDERS = ["docs", "docs/bare", "docs/bare/refs", "docs/linked", "docs/to_bare", "..", "/etc", '"$x"']


@pytest.mark.parametrize("rest", ["status", "log -1", "diff", "commit -m x", "push", "show HEAD"])
@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("agent", ["open", "locked", "kept_out", "codeless", "reader", "git_reader"])
def test_git_in_another_folder_is_judged_like_after_cd(ask, agent, folder, rest):
    assert ask(agent, f"git -C {folder} {rest}") == ask(agent, f"cd {folder} && git {rest}")


@pytest.mark.parametrize("folders", ["docs/bare -C refs", "docs -C bare", "docs/sub -C ../bare"])
def test_one_folder_from_another(ask, folders):
    assert ask("git_reader", f"git -C {folders} status") == "deny"


@pytest.mark.parametrize("command", PROTECTED)
@pytest.mark.parametrize("agent", ["open", "locked", "kept_out"])
def test_what_is_protected(ask, agent, command):
    assert ask(agent, command) in ("deny", "ask")


@pytest.mark.parametrize("command", PRIVATE)
@pytest.mark.parametrize("agent", ["kept_out", "tiered", "reader"])
def test_what_is_kept_from_an_agent(ask, agent, command):
    assert ask(agent, command) == "deny"


@pytest.mark.parametrize("command", CODE)
def test_code_of_the_project(ask, command):
    assert ask("codeless", command) == "deny"


@pytest.mark.parametrize("command", ELSEWHERE)
def test_what_goes_elsewhere_than_the_program(ask, command):
    assert ask("locked", command) == "deny"


@pytest.mark.parametrize("command", CONNECTS)
def test_what_connects_somewhere(ask, command):
    assert ask("offline", command) == "deny"


@pytest.mark.parametrize("command", OVERWRITTEN)
def test_what_a_tool_that_tests_or_checks_would_overwrite(ask, command):
    assert ask("builder", command) == "deny"


@pytest.mark.parametrize(("agent", "command"), EVERYDAY)
def test_everyday_work(ask, agent, command):
    assert ask(agent, command) == "allow"
