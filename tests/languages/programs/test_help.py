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
