"""Words that are code to the program: what only substitutes, connects or names a place is told from what runs."""

import pytest

from remit.languages.programs.understand import understand
from remit.model.terms import UNDERSTOOD, UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "rename 's/a/b/' x",
        r"rename 's/\.html$/.txt/' x.html",
        "rename 'y/A-Z/a-z/' x",
        r"rename 's|(\d+)|v$1|g; s/ /_/' x",
        "rename 's/(?:a|b)$/c/i' x",
        "rsync -e ssh a host:b",
        "rsync --rsh='ssh -p 2222 -o StrictHostKeyChecking=no' a host:b",
        "ssh -o BatchMode=yes -o UserKnownHostsFile=/dev/null host",
        "awk '{print $1}' \"$file\"",
        "watch -n 1 ps -C java -o pid",
    ],
)
def test_harmless(text):
    assert understand(text).grade == UNDERSTOOD


@pytest.mark.parametrize(
    "text",
    [
        "rename 's/a/system(1)/e' x",
        "rename 's/a/$x[`id`]/' x",
        "rename 's/a/$x{1}/' x",
        "rename 's/a/$1[0]/' x",
        "rename 's/a/@{[`id`]}/' x",
        "rename 's/@{[`id`]}/a/' x",
        "rename 's/(?{`id`})//' x",
        "rename 's/(??{`id`})//' x",
        r"rename 's/\N{x}//' x",
        "rename 's/a/b/; system(1)' x",
        "rename 's{a}{b}' x",
        'rename "s/a/$x/" x',
        "rsync -e 'ssh -o ProxyCommand=x' a host:b",
        "rsync -e 'ssh -oProxyCommand=x' a host:b",
        "rsync -e 'sh -c x' a host:b",
        'rsync -e "$x" a host:b',
        "ssh -o ProxyCommand=x host",
        "ssh -o 'BatchMode=yes\nProxyCommand=x' host",
        "ssh -o UserKnownHostsFile=/etc/passwd host",
        'ssh -o "$x" host',
        'awk "$x" file',
    ],
)
def test_code(text):
    assert understand(text).grade == UNKNOWN


def test_a_place_of_the_runner_may_be_unset():
    found = understand("rm -rf .claude$RUNNER_TEMP")
    assert {touch.path.text for act in found.acts for touch in act.touches} == {
        ".claude",
        ".claude/home/runner/work/_temp",
    }


def test_a_place_of_the_runner_outside_the_workspace():
    found = understand('echo a >> "$GITHUB_OUTPUT"')
    written = [touch.path.text or "" for act in found.acts for touch in act.redirected]
    assert len(written) == 1
    assert written[0].startswith("/home/runner/")


@pytest.mark.parametrize(
    "text",
    [
        "GITHUB_OUTPUT=remit.yaml; echo a > $GITHUB_OUTPUT",
        "read GITHUB_OUTPUT <<< remit.yaml; echo a > $GITHUB_OUTPUT",
        "export RUNNER_TEMP=.; echo a > $RUNNER_TEMP/remit.yaml",
        "for RUNNER_TEMP in .; do echo a > $RUNNER_TEMP/remit.yaml; done",
    ],
)
def test_who_sets_such_a_variable_is_not_understood(text):
    assert understand(text).grade == UNKNOWN


@pytest.mark.parametrize("text", ["echo a > $GITHUB_WORKSPACE", ". x; echo a > $GITHUB_ENV"])
def test_other_places_are_not_told(text):
    assert [touch.path.text for act in understand(text).acts for touch in act.redirected] == [None]
