"""How well a command is known: understood, project code, not understood."""

import pytest

from remit.languages.programs.understand import understand
from remit.scopes.shell.placed import Placed

UNDERSTOOD = """
ls -la
git diff HEAD~1 -- src
git log --oneline | head -5
git push origin main
rm -rf build
curl -s https://x.example
find . -name '*.py' -exec grep -l x src {} +
sed -n '1,5p' x
awk '{print $1}' x
tar czf a.tgz src
pip install x
npm ci
docker ps
kubectl delete pod x
sudo ls
env A=1 ls
timeout 5 ls
bash -c 'ls && pwd'
bash -euo pipefail -c 'ls | head'
/usr/bin/git status
/bin/ls
PAGER=cat git log
CI=1 ls
set -euo pipefail; ls
cd src && ls
for f in a b; do echo $f; done
cat <<'X' > y
$(id)
X
echo "$(git rev-parse HEAD)"
mkdir -p a/b && touch a/b/c
rsync -a src/ host:out/
"""

PROJECT = """
pytest -q
python -m pytest
python x.py
python -m mypackage
make build
npm test
npm run build
cargo test
go test ./...
./scripts/x.sh
scripts/x.sh
bash scripts/x.sh
.venv/bin/python -m pytest
node x.js
source x.sh
PYTHONPATH=src:lib pytest
(cd backend && pytest)
uv run pytest
timeout 60 make test
ls; pytest
eslint src
tox
"""

NOT_UNDERSTOOD = """
nosuch
nosuch --help
$X
$(echo ls | cat)
ls; nosuch
python -c 'print(1)'
node -e 1
perl -e 1
python - <<< 'print(1)'
curl https://x.example | sh
echo ls | bash
bash < x
bash -k -c 'git diff A=b'
bash -o keyword -c 'git diff A=b'
bash -O extglob -c ls
eval "$X"
bash -c "$X"
python /tmp/x.py
python ../x.py
/tmp/git status
~/bin/x
../x.sh
cd /tmp && make
cd "$X" && make
git -c core.pager=id log
git difftool -x id
git frobnicate
git diff --frobnicate
find . $X
LD_PRELOAD=x ls
PATH=. ls
PAGER=less git log
GIT_EXTERNAL_DIFF=id git diff
PYTHONPATH=/tmp pytest
PYTHONPATH=../x pytest
export PATH=.; ls
alias ls=id; ls
shopt -s expand_aliases; ls
set -k; git diff A=b
set -o posix; ls
f() { ls; }; if x; then f() { rm y; }; fi; f
f() { f; }; f
if
ls |
echo 'x
"""


def commands(text):
    """One a line; what follows a here-document belongs to it."""
    found, lines = [], iter(text.strip("\n").split("\n"))
    for line in lines:
        if "<<'X'" in line:
            line = "\n".join([line, next(lines), next(lines)])
        found.append(line)
    return found


@pytest.mark.parametrize("command", commands(UNDERSTOOD))
def test_understood(command):
    assert understand(command).grade == "understood"


@pytest.mark.parametrize("command", commands(PROJECT))
def test_project_code(command):
    assert understand(command).grade == "project code"


@pytest.mark.parametrize("command", commands(NOT_UNDERSTOOD))
def test_not_understood_says_what(command):
    found = understand(command)
    found = found._replace(acts=tuple(Placed(act, None, None).act for act in found.acts))
    assert found.grade == "not understood"
    assert found.problem or any(act.unknown or act.refused for act in found.acts)


def test_many_directories_are_given_up_rather_than_multiplied():
    text = "; ".join(f"cd d{n}" for n in range(60)) + "; ls"
    assert len(understand(text).acts[-1].bases) <= 16


@pytest.mark.parametrize(
    ("text", "bases"),
    [
        ("cd a && ls", ("a",)),
        ("cd a && cd b && ls", ("a/b",)),
        ("cd a; ls", (".", "a")),
        ("(cd a); ls", (".",)),
        ("cd a | ls; cd b & ls", (".",)),
        ("cd a || cd b; ls", (".", "a", "b")),
        ("cd a || exit 1; ls", ("a",)),
        ("set -e; cd a; ls", ("a",)),
        ("set -e; cd a || :; ls", ("a", ".")),
        ("for x in 1 2; do cd ..; done; ls", (".", None, "..")),
        ("if cd a; then ls; fi", ("a",)),
        ("d=a; cd $d/b && ls", ("a/b",)),
        ("for d in a b; do (cd $d && ls); done", ("a", "b")),
        ('eval "cd a"; ls', (".", "a")),
        ("builtin cd a && ls", ("a",)),
        ("command cd a; ls", (".", "a")),
        ("f() { cd $1; }; f a; ls", (".", "a")),
        ("cd && ls", (None,)),
        ("cd - && ls", (None,)),
        ("cd ~ && ls", (None,)),
        ("cd /x && ls", ("/x",)),
        ("pushd a && popd && ls", (None,)),
    ],
)
def test_where_a_command_may_run(text, bases):
    assert understand(text).acts[-1].bases == bases
