"""A program that is asked for help does nothing else, if the question is surely meant for it."""

import pytest

from remit.languages.programs.understand import understand


@pytest.mark.parametrize(
    ("text", "effects"),
    [
        ("gh pr merge --help", set()),
        ("npm publish --help", set()),
        ("npm publish --help x", set()),
        ("docker run --help", set()),
        ("kubectl delete --help", set()),
        ("git push --help", set()),
        # it may be meant for something else
        ("docker run alpine --help", None),
        ("npm publish x --help", None),
        ("git push -- --help", None),
        ("git push -h", None),
        # what is written is written
        ("npm publish --help > a", {"write"}),
        ("grep -h x a", {"read"}),
    ],
)
def test_help(text: str, effects: set[str] | None) -> None:
    [act] = understand(text).acts
    without = understand(text.replace("--help ", "").replace(" --help", "")).acts[0]
    assert act.effects == (without.effects if effects is None else effects)


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("npm publish --dry-run", "publish"),
        ("brew install -n wget", "system"),
        ("brew upgrade --dry-run", "install"),
        ("brew cleanup -n", "system"),
        ("apt-mark showhold", "system"),
        ("apt-key list", "system"),
        ("ssh-add -l", "system"),
        ("aws dynamodb update-table --generate-cli-skeleton", "deploy"),
        ("kubectl annotate po x --list", "deploy"),
        ("pulumi refresh --preview-only", "deploy"),
        ("ansible-galaxy role list", "install"),
        ("pyenv install --list", "install"),
        ("yarn dedupe --check", "install"),
        ("bun publish --dry-run", "publish"),
        ("npm unpublish x --dry-run", "publish"),
        ("poetry update --dry-run", "install"),
        ("poetry config cache-dir", "system"),
        ("poetry self show", "system"),
        ("cargo update --workspace --locked", "install"),
        ("rustup override list", "system"),
        ("go clean -n", "delete"),
        ("kill -l", "system"),
        ("kill -0 1234", "system"),
        ("kill -s 0 1234", "system"),
        ("kill %1", "system"),
        ("kill -9 $!", "system"),
        ("losetup -l", "system"),
        ("rename -n 's/a/b/' x.txt", "delete"),
        ("wrangler --version", "deploy"),
        ("gcc --version", "write"),
        ("systemctl --help", "system"),
        ("cargo publish -n", "publish"),
        ("uv publish --dry-run", "publish"),
        ("poetry publish --dry-run", "publish"),
        ("mount", "system"),
        ("mount -l", "system"),
        ("conda config --show", "system"),
        ("poetry config --list", "system"),
        ("brew services", "system"),
        ("brew services list", "system"),
        ("brew tap", "system"),
        ("npm access list packages", "publish"),
        ("az group exists -n x", "deploy"),
        ("gcloud compute instances get-serial-port-output x", "deploy"),
        ("pulumi up -h", "deploy"),
        ("pulumi destroy -s a --help", "deploy"),
        ("aws s3 rm help", "publish"),
        ("aws ec2 terminate-instances help", "deploy"),
        ("aws dynamodb scan --table-name x", "deploy"),
        ("aws pricing get-products --service-code x", "deploy"),
        ("az bicep build -f x.bicep", "deploy"),
        ("az config get", "system"),
        ("vagrant up", "system"),
        ("docker buildx create --name a --use", "system"),
    ],
)
def test_what_only_looks(text: str, effect: str) -> None:
    [act] = understand(text).acts
    assert effect not in act.effects
    assert act.grade != "not understood"


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("npm publish", "publish"),
        ("brew install --foo -n", "system"),
        ("brew install wget", "system"),
        ("apt-mark hold x", "system"),
        ("ssh-add key", "system"),
        ("ssh-add -d -l", "system"),
        ("aws dynamodb update-table --table-name --generate-cli-skeleton", "deploy"),
        ("kubectl annotate po x a=b", "deploy"),
        ("pulumi refresh", "deploy"),
        ("ansible-galaxy role install list", "install"),
        ("pyenv install 3.12", "install"),
        ("bun publish", "publish"),
        ("poetry config cache-dir x", "system"),
        ("poetry config cache-dir --unset", "system"),
        ("poetry self add show", "system"),
        ("cargo update", "install"),
        ("rustup override set list", "system"),
        ("go clean", "delete"),
        ("kill 1234", "system"),
        ("kill %1 1234", "system"),
        ("kill -9 $x", "system"),
        ("kill -1", "system"),
        ("kill -9 -1", "system"),
        ("kill", "system"),
        ("losetup -l -d /dev/loop0", "system"),
        ("rename 's/a/b/' x.txt", "delete"),
        ("wrangler deploy --version", "deploy"),
        ("gcc --version x.c", "write"),
        ("systemctl stop --version", "system"),
        ("mount -a", "system"),
        ("mount -L disk", "system"),
        ("mount /dev/sda /mnt", "system"),
        ("conda config --set a b", "system"),
        ("brew services start x", "system"),
        ("brew tap a/b", "system"),
        ("npm access set status=public x", "publish"),
        ("az container exec -n x", "deploy"),
        ("az aks get-credentials -n x", "deploy"),
        ("vagrant destroy list", "system"),
        ("vagrant box add up", "system"),
        ("pulumi up -m -h", "deploy"),
        ("pulumi destroy -- -h", "deploy"),
        ("pulumi up $x -h", "deploy"),
        ("aws s3 rm help --recursive", "publish"),
        ("aws s3 rm s3://x help", "publish"),
        ("aws ec2 terminate-instances --instance-ids help", "deploy"),
        ("aws dynamodb delete-item --table-name scan", "deploy"),
        ("aws dynamodb delete-table scan", "deploy"),
        ("az bicep install build", "install"),
        ("az config set get", "system"),
        ("docker buildx create --driver remote", "system"),
        ("docker buildx create ssh://x.example", "system"),
        ("docker buildx create --append --name a", "system"),
    ],
)
def test_what_does_more(text: str, effect: str) -> None:
    [act] = understand(text).acts
    assert effect in act.effects
