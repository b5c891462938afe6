"""`kafka-shim run --mutate-acls` and `pytest --kafka-mutate-acls` on suites of known quality."""

import subprocess
from pathlib import Path

import pytest

from tests.support.commands import environment
from tests.testing.mutation.suites import (
    PYTEST,
    mutate,
    mutate_as_json,
    outcomes,
    write_suite,
)

pytestmark = pytest.mark.timeout(300, func_only=True)

ACLS = """
- {principal: User:shop, allow: Write, topic: orders}
- {principal: User:shop, deny: Write, topic: orders-old}
- {principal: User:shop, allow: Write, topic: orders-, pattern: prefixed}
"""
SHOP, OLD, PREFIX = (line[2:] for line in ACLS.strip().splitlines())
OPTIONS = (
    *("--topic", "orders", "--topic", "orders-old", "--topic", "orders-new"),
    *("--user", "shop:shop-secret"),
)


def options(folder: Path) -> tuple[str, ...]:
    (folder / "acls.yaml").write_text(ACLS)
    return (*OPTIONS, "--acls", str(folder / "acls.yaml"))


USES = """
def test_shop_writes():
    for topic in ("orders", "orders-old", "orders-new"):
        can_write(config("shop"), topic)
"""


def test_a_suite_that_asserts_nothing_has_score_0(tmp_path: Path) -> None:
    write_suite(tmp_path, USES)
    done = mutate(tmp_path, options=(*options(tmp_path), "--min-score", "0.1"))
    assert done.returncode == 3, done.stderr
    assert done.stdout.splitlines()[-1] == "score: 0.00 (0 of 10 mutants noticed)"
    assert f"{SHOP}\n    is missing                   by none\n" in done.stdout
    assert "the score 0.00 is below 0.1" in done.stderr


ASSERTS = """
def test_shop_writes_orders():
    assert can_write(config("shop"), "orders")

def test_shop_writes_new_orders():
    assert can_write(config("shop"), "orders-new")

def test_shop_does_not_write_old_orders():
    assert not can_write(config("shop"), "orders-old")
"""


def test_the_tests_that_notice_are_named(tmp_path: Path) -> None:
    write_suite(tmp_path, ASSERTS)
    found = outcomes(mutate_as_json(tmp_path, options=options(tmp_path)))
    assert found[SHOP, "missing"] == ["test_it.py::test_shop_writes_orders"]
    assert found[PREFIX, "missing"] == ["test_it.py::test_shop_writes_new_orders"]
    assert found[OLD, "missing"] == ["test_it.py::test_shop_does_not_write_old_orders"]
    assert found[OLD, "any-suffix"] == ["not requested"]
    assert found[SHOP, "any-principal"] == ["not requested"]


CATCHES_ALL = """
import pytest

@pytest.mark.parametrize("user, operation, topic, allowed", [
    ("shop", "Write", "orders", True),
    ("shop", "Delete", "orders", False),
    ("shop", "Write", "orders2", False),
    ("eve", "Write", "orders", False),
])
def test_decisions(kafka_broker, user, operation, topic, allowed):
    kafka_broker.acls.add(principal="shop", allow="Write", topic="orders")
    for name in ("orders", "orders2"):
        kafka_broker.topics.create(name)
    check = can_write if operation == "Write" else can_delete
    assert check(kafka_broker.config(user), topic) is allowed
    assert [acl.operation for acl in kafka_broker.acls.list()] == ["WRITE"]
"""


def test_a_suite_that_catches_everything_has_score_1(tmp_path: Path) -> None:
    """The broker is that of the fixture, whose tests create their ACLs themselves and still see
    them.
    """
    write_suite(tmp_path, CATCHES_ALL)
    words = ["--kafka-mutate-acls", "--kafka-min-score", "1"]
    done = subprocess.run(
        [*PYTEST, *words], cwd=tmp_path, env=environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        "{principal: User:shop, allow: Write, topic: orders}",
        "    is missing                   test_it.py::test_decisions[shop-Write-orders-True]",
        "    for all operations           test_it.py::test_decisions[shop-Delete-orders-False]",
        "    prefixed instead of literal  test_it.py::test_decisions[shop-Write-orders2-False]",
        "    for User:*                   test_it.py::test_decisions[eve-Write-orders-False]",
        "score: 1.00 (4 of 4 mutants noticed)",
    ]
