"""A suite of ten seconds with forty ACLs is tested in less than two minutes on two cores."""

import time
from pathlib import Path

import pytest

from tests.testing.mutation.suites import mutate_as_json, write_suite

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600, func_only=True)]

ACLS = 40
SUITE = f"""
import time
import pytest

@pytest.mark.parametrize("number", range({ACLS}))
def test_shop_writes(number):
    time.sleep(0.15)  # what else a test does
    assert can_write(config("shop"), f"topic-{{number}}")
"""
MINUTES = 2


def test_forty_acls_take_less_than_two_minutes(tmp_path: Path) -> None:
    write_suite(tmp_path, SUITE)
    rules = [
        f"- {{principal: User:shop, allow: Write, topic: topic-{number}}}" for number in range(ACLS)
    ]
    (tmp_path / "acls.yaml").write_text("\n".join(rules))
    topics = [word for number in range(ACLS) for word in ("--topic", f"topic-{number}")]
    options = ("--user", "shop:shop-secret", "--acls", str(tmp_path / "acls.yaml"), *topics)
    start = time.monotonic()
    result = mutate_as_json(tmp_path, options=options)
    seconds = time.monotonic() - start
    assert result["suite_seconds"] > 5
    noticed = [each for each in result["results"] if each["outcome"] == "noticed"]
    assert {(each["mutant"], len(each["noticed_by"])) for each in noticed} == {("missing", 1)}
    assert len(noticed) == ACLS
    assert seconds < 60 * MINUTES, result["runs"]
