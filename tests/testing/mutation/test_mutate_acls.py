"""`kafka-shim run --mutate-acls` and `pytest --kafka-mutate-acls` on suites of known quality."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import SHIM, environment
from tests.testing.mutation.suites import (
    PYTEST,
    mutate,
    mutate_as_json,
    outcomes,
    write_suite,
)

pytestmark = [
    pytest.mark.folders("src/kafka_shim/testing/mutation", "tests/testing/mutation"),
    pytest.mark.timeout(300, func_only=True),
]

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


FAULTY = """
import pytest

def write(user, topic):
    assert can_write(config(user), topic)

def test_catches_all():
    try:
        write("shop", "caught")
    except BaseException:
        pass

@pytest.mark.skip("fails elsewhere")
def test_is_skipped():
    write("shop", "skipped")

@pytest.mark.xfail
def test_is_expected_to_fail():
    write("eve", "expected")

@pytest.mark.xfail(strict=True)
def test_must_fail():
    write("eve", "strict")

def test_retries_as_another_user():
    assert any(can_write(config(user), "retried") for user in ("shop", "admin"))

def test_asserts_before_the_broker_answers():
    errors = []
    producer = Producer({"linger.ms": 0, **config("shop")})
    producer.produce("early", b"x", on_delivery=lambda error, _: errors.append(error))
    assert not any(errors)
    producer.flush(10)

SEEN = []

def test_comes_first():
    SEEN.append("shop")

def test_needs_the_first_one():
    can_write(config(SEEN[0]), "ordered")
"""
NOTICED_OF_FAULTY = {"strict": {"any-principal": ["test_it.py::test_must_fail"]}}


def test_faulty_tests_notice_nothing(tmp_path: Path) -> None:
    write_suite(tmp_path, FAULTY)
    topics = ("caught", "skipped", "expected", "strict", "retried", "early", "ordered")
    acls = {name: f"{{principal: User:shop, allow: Write, topic: {name}}}" for name in topics}
    (tmp_path / "acls.yaml").write_text("".join(f"- {acl}\n" for acl in acls.values()))
    words = [word for name in topics for word in ("--topic", name)]
    words += [
        word for user in ("shop", "eve", "admin") for word in ("--user", f"{user}:{user}-secret")
    ]
    result = mutate_as_json(tmp_path, options=(*words, "--acls", str(tmp_path / "acls.yaml")))
    noticed = {
        name: {each["mutant"]: each["noticed_by"] for each in result["results"]
               if each["acl"] == acl and each["noticed_by"]}
        for name, acl in acls.items()
    }  # fmt: skip
    assert {name: mutants for name, mutants in noticed.items() if mutants} == NOTICED_OF_FAULTY
    assert result["unused_acls"] == [acls["skipped"]]


UNITTEST = """
import unittest
from client import *

class Shop(unittest.TestCase):
    def test_writes(self):
        self.assertTrue(can_write(config("shop"), "orders"))

    def test_hangs_without_the_grant(self):
        while not can_write(config("shop"), "orders-new"):
            pass
"""
JUNIT = """
import sys, unittest
from xml.sax.saxutils import quoteattr
result = unittest.TestResult()
unittest.defaultTestLoader.loadTestsFromName("unit").run(result)
failed = {test.id() for test, _ in (*result.failures, *result.errors)}
with open(sys.argv[1], "w") as file:
    rows = "".join(f"<testcase name={quoteattr(name)}><failure/></testcase>" for name in failed)
    file.write(f"<testsuite>{rows}</testsuite>")
sys.exit(bool(failed))
"""


def test_another_framework_is_judged_by_junit_xml_its_exit_code_and_its_time(
    tmp_path: Path,
) -> None:
    write_suite(tmp_path, "")
    (tmp_path / "unit.py").write_text(UNITTEST)
    (tmp_path / "run_tests.py").write_text(JUNIT)
    command = (sys.executable, "run_tests.py", "{results}/tests.xml")
    given = (*options(tmp_path), "--run-timeout", "12")
    found = outcomes(mutate_as_json(tmp_path, options=given, command=command))
    assert found[SHOP, "missing"] == ["unit.Shop.test_writes"]
    assert found[PREFIX, "missing"] == ["time-out"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--min-score", "0.5"], "--min-score requires --mutate-acls"),
        (["--mutate-acls", "--min-score", "2"], "invalid score `2`: expected 0 to 1"),
        (["--mutate-acls", "--data-dir", "d"], "cannot be combined with --data-dir"),
    ],
)
def test_options_that_do_not_fit_are_refused(words: list[str], message: str) -> None:
    done = subprocess.run(
        [*SHIM, "run", *words, "--", "true"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert message in done.stderr
