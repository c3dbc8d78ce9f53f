"""The tiers that the shipped labels and profiles give to everyday and to dangerous calls."""

from __future__ import annotations

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model import Call

BOOK = build_rulebook(
    {
        "remit": 1,
        "name": "tiers",
        "tools": {"terminal": {"args": {"command": "shell"}, "tier": 2}},
        "agents": {"a": {"may": ["terminal"]}},
    }
)

TIERS = """
rm -rf secrets                      | 4
rm -rf config/secrets               | 4
rm -rf .ssh                         | 4
mv .ssh old                         | 4
git rm -r secrets                   | 4
git rm -r config/secrets            | 4
rm -rf app/migrations               | 3
mv app/migrations old               | 3
rm -rf app/db                       | 3
rm -rf .github                      | 3
rm -rf build                        | 2
mv src/app lib                      | 2
touch requirements.lock             | 3
touch schema.prisma                 | 3
touch drizzle/0001_a.sql            | 3
touch pip.conf                      | 3
touch renovate.json                 | 3
touch vercel.json                   | 3
touch k8s/secret.yaml               | 4
touch certs/server.crt              | 4
touch src/auth/login.py             | 4
bash deploy.sh                      | 4
./deploy.sh                         | 4
python3 scripts/release.py          | 4
make release                        | 4
pg_restore dump                     | 3
redis-cli FLUSHALL                  | 4
redis-cli flushdb                   | 4
chmod -R 777 /                      | 4
chmod -R 777 /etc                   | 4
chmod -R 755 src                    | 2
echo x >> ~/.bashrc                 | 4
touch .env                          | 4
touch .env.local                    | 4
touch .env.example                  | 2
touch src/migration/utils.py        | 2
touch changelog.yaml                | 2
aws s3 ls                           | 2
aws ec2 describe-instances          | 2
aws ec2 terminate-instances         | 4
aws secretsmanager get-secret-value | 4
gcloud projects list                | 2
gcloud projects delete list         | 4
az vm list                          | 2
az vm delete --name list            | 4
"""


@pytest.mark.parametrize("row", TIERS.strip().splitlines())
def test_tier(row: str) -> None:
    text, tier = (part.strip() for part in row.split("|"))
    assert decide(BOOK, Call("a", "terminal", {"command": text})).tier == int(tier)
