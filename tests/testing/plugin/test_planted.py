"""Tests that should not pass quietly fail, or are warned about, each by its name; right ones pass.

A judge that is fooled is worse than none: `planted.py` has one test for each kind of mistake.
"""

import re
import textwrap
import xml.etree.ElementTree as ET

import pytest

from tests.testing.plugin.nested import run_pytest
from tests.testing.plugin.planted import PLANTED, RIGHT

HEAD = '''
import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType


def ask(broker, topic="orders"):
    """Send a request for metadata."""
    AdminClient(broker.config()).list_topics(topic=topic, timeout=10)


def describe(broker, topic):
    resource = ConfigResource(ResourceType.TOPIC, topic)
    admin = AdminClient(broker.config())
    [future] = admin.describe_configs([resource]).values()
    future.result(timeout=10)
'''
INI = """
[pytest]
asyncio_mode = strict
kafka_broker_in_process = true
kafka_policy_acls = acls.yaml
"""
BODY = """
def test_NAME(kafka_broker):
    kafka_broker.topics.create("orders")
    kafka_broker.users.add("alice")
"""


def planted_test(name: str, text: str) -> str:
    """Return the source of a planted test."""
    if not text.startswith(("@", "def", "class")):
        text = BODY + textwrap.indent(text.replace("ask()", "ask(kafka_broker)"), "    ")
    return text.replace("NAME", name)


def name_of_test(lines: list[str], number: int) -> str:
    """Return the name of the test with this line, or with the decorator there."""
    above = lines[number - 1 :: -1]
    if lines[number - 1].startswith("@"):
        above = lines[number - 1 :]
    name = next(name for line in above if (name := re.match(r"\s*def (test_\w+)", line)))
    of_class = next(kind for line in above if (kind := re.match(r"(class|def) (\w+)", line)))
    return f"{of_class[2] if of_class[1] == 'class' else 'test_all'}.{name[1]}"


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Run all tests; return what was reported of each: its failure, error and warnings at it."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "pytest.ini").write_text(INI)
    acls = "acls:\n- {principal: User:alice, allow: Write, topic: orders}\n"
    (folder / "acls.yaml").write_text(acls)
    planted = "\n\n".join(planted_test(name, text) for name, text in PLANTED.items())
    (folder / "test_all.py").write_text(f"{HEAD}\n{planted}\n{RIGHT}")
    done = run_pytest(folder, "--junit-xml=report.xml", "-rA")
    cases = ET.parse(folder / "report.xml").getroot().iter("testcase")
    reported = {
        f"{case.get('classname', '').rpartition('.')[2]}.{case.get('name')}": "".join(
            f"{child.get('message')}\n{child.text}" for child in case if "out" not in child.tag
        )
        for case in cases
    }
    lines = (folder / "test_all.py").read_text().splitlines()
    for number, warning in re.findall(r"test_all\.py:(\d+): (\w+Warning: .*)", done.stdout):
        reported[name_of_test(lines, int(number))] += warning
    assert f"test_all.test_{next(iter(PLANTED))}" in reported, done.stdout[-3000:]
    return reported


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_reported(outcome: dict[str, str], name: str) -> None:
    reports = [text for test, text in outcome.items() if name in test and "right" not in test]
    assert "".join(reports).strip()


def test_right_tests_are_not_reported(outcome: dict[str, str]) -> None:
    right = {test: text for test, text in outcome.items() if "right" in test}
    assert len(right) == RIGHT.count("def test_") + 1
    assert {test: text for test, text in right.items() if text.strip()} == {}
