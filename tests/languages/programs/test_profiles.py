"""The catalog's programs: compiled as they are written, and the effects of the options that matter."""

from importlib.resources import files

import pytest

from remit.declare.profiles import compile_programs, encoded
from remit.languages.programs.profiles import profile_of, programs
from remit.languages.programs.understand import understand
from remit.scopes.shell.scope import ShellMatcher


def test_the_compiled_form_is_in_step():
    """If this fails: `python -m remit.declare.profiles`."""
    assert (files("remit.catalog") / "programs.jsonl").read_bytes() == encoded()


def test_every_profile_can_be_read():
    known = programs()
    names = [*known.programs, *known.aliases]
    assert len(names) >= 400
    assert [name for name in names if profile_of(name) is None] == []
    assert compile_programs()[0].aliases == known.aliases


def test_the_sets_name_programs_that_have_profiles():
    assert programs().sets
    for name, entries in programs().sets.items():
        matcher = ShellMatcher({"sets": [name]})
        exact = [run.program for runs in matcher.runs.values() for run in runs if run.exact is not None]
        assert entries
        assert exact == [], name


def effects(command):
    found = understand(command)
    shown = sorted(frozenset[str]().union(*(act.effects for act in found.acts)))
    return " ".join(shown) + {"understood": "", "project code": " (project)"}.get(found.grade, " (?)")


TABLE = """
git status                                  | read
git diff --stat                             | read
git diff --output=x                         | read write
git diff --ext-diff                         | read (?)
git diff --no-index a b                     | read (?)
git log --show-signature                    | read (?)
git -C sub log                              | read
git --git-dir=x log                         | read (?)
git --exec-path=x log                       | read (?)
git grep -O x                               | read (?)
git branch                                  | read
git branch -vv                              | read
git branch --sort=-committerdate            | read
git branch x                                | read write
git branch -D x                             | delete read write
git branch -u origin/x                      | read write
git branch $X                               | read write (?)
git tag                                     | read
git tag -l 'v*'                             | read
git tag v1                                  | read write
git tag -d v1                               | delete read write
git tag -s v1                               | read write (?)
git stash                                   | read write
git stash list                              | read
git config --get x.y                        | read
git config user.name Ann                    | read write
git config x.y z                            | read write (?)
git config --global user.name Ann           | execute read system write
git push                                    | network publish read
git fetch                                   | network read write
git clean -fd                               | delete read
git clean -n                                | read
git rebase --exec 'rm x' main               | delete read write
git commit -m x                             | read write
find . -name x                              | read
find . -delete                              | delete read
find . -fprint x                            | read write
find . -exec rm {} +                        | delete read
sort x                                      | read
sort -o y x                                 | read write
sort --compress-program=x y                 | read (?)
sed -n 1p x                                 | read
sed -i s/a/b/ x                             | read write
sed 'w y' x                                 | read write
sed 's/a/id/e' x                            | execute read (?)
tar tf x                                    | read
tar xf x                                    | read write
tar cf x y                                  | read write
tar xf x --to-command=id                    | read write (?)
tar cf x y --checkpoint-action=exec=id      | read write (?)
unzip -l x                                  | read
unzip x                                     | read write
unzip x -d y                                | read write
curl https://x.example                      | network
curl -o y https://x.example                 | network write
curl -O https://x.example/y                 | network write
curl -T y https://x.example                 | network
curl -d @y https://x.example                | network
curl -K y https://x.example                 | network (?)
wget https://x.example/y                    | network write
rsync -a a/ b/                              | read write
rsync -a a/ h:b/                            | network read write
rsync -a --delete a/ b/                     | delete read write
rsync -e id a h:b                           | network read write (?)
rsync -M--log-file=x a b                    | read write (?)
scp a b                                     | read write
scp a h:b                                   | network read write
scp -S id a h:b                             | network read write (?)
cp a b                                      | read write
mv a b                                      | delete read write
dd if=a of=b                                | read system write
pytest                                      | execute read write (project)
pytest --junitxml=x                         | execute read write (project)
pytest -p /tmp/x                            | execute read write (?)
ruff check .                                | read
ruff check --fix .                          | read write
ruff format .                               | read write
ruff format --check .                       | read
black --check .                             | read
black .                                     | read write
eslint .                                    | execute read (project)
eslint --fix .                              | execute read write (project)
prettier --check .                          | read (project)
prettier --write .                          | read write (project)
tsc --noEmit                                | read
tsc                                         | read write
npm test                                    | execute read write (project)
npm install x                               | install network write
npm publish                                 | execute network publish (project)
npm ls                                      | network read
go build ./...                              | execute read write (project)
go vet ./...                                | execute read (project)
go mod tidy                                 | install network write
go build -toolexec=id                       | execute read write (?)
cargo build                                 | execute read write (project)
cargo fmt                                   | read write (project)
cargo fmt --check                           | read (project)
cargo fmt -- --check                        | read (project)
cargo publish                               | execute network publish (project)
cargo build --config x.y=1                  | execute read write (?)
make build                                  | execute read write (project)
make -n build                               | execute read write (project)
make build SHELL=id                         | execute read write (?)
docker ps                                   | read
docker rm x                                 | delete
docker push x                               | network publish
kubectl get pods                            | network read
kubectl delete pod x                        | delete deploy network read
kubectl apply -f x                          | deploy network read
terraform plan                              | execute network read (project)
helm upgrade x y                            | deploy network read
jq . x                                      | read
xargs rm                                    | delete
bash -c ls                                  | execute read
bash -n x                                   | execute (project)
python -m json.tool a b                     | read write (project)
python -m http.server                       | network read (project)
tee x                                       | write
chmod +x x                                  | write
"""
ROWS = [tuple(part.strip() for part in line.split(" | ")) for line in TABLE.strip().split("\n")]


@pytest.mark.parametrize(("command", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_effects(command, expected):
    assert effects(command) == expected


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cp a/b .", {"read a/b", "write .", "write ./b"}),
        ("cp -r a/.x out", {"read a/.x", "write out", "write out/.x"}),
        ("mv a b", {"read a", "delete a", "write b", "write b/a"}),
        ("cp -r a/. b", {"read a/.", "write b"}),
        ("python -m json.tool a b", {"read a", "write b"}),
        ("curl -O https://x.example/a/b?c", {"write b"}),
        ("wget https://x.example/a/b", {"write b"}),
        ("curl -OJ https://x.example/a", {"write ."}),
        ("curl -T a https://x.example", {"read a"}),
        ("curl -d @a https://x.example", {"read a"}),
        ("curl --data-binary @a https://x.example", {"read a"}),
        ("curl -F 'f=@a;type=x' -F 'g=<b' https://x.example", {"read a", "read b"}),
        ("curl --data-urlencode n@a https://x.example", {"read a"}),
        ("curl -d a=b -H 'A: b' https://x.example", set()),
        ("dd if=a of=b", {"read a", "write b"}),
        ("unzip a", {"read a", "write ."}),
        ("unzip a -d b", {"read a", "write b"}),
        ("git clean -f", {"delete None"}),
        ("rsync a h:b", {"read a"}),
        ("rsync h:a b", {"write b", "write b/h:a"}),
        (".venv/bin/python -m json.tool a b", {"read .", "read .venv/bin/python", "read a", "write b"}),
    ],
)
def test_paths(command, paths):
    (act,) = understand(command).acts
    assert {f"{touch.effect} {touch.path.text}" for touch in act.touches} == paths
