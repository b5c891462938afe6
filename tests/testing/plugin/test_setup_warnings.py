"""ACLs of tests that can neither allow nor deny anything are warnings at the test's line."""

from pathlib import Path

import pytest

from kafka_shim.testing import SetupWarning, start
from tests.testing.plugin.nested import run_pytest

TEXT = "the ACL of `User:alice` for Write on Group `g` has no effect: Group has no such operation"
RULE = {"principal": "alice", "allow": ["Read", "Write"], "group": "g"}


@pytest.mark.parametrize("in_process", [True, False])
def test_an_ineffective_rule_is_a_warning_at_the_caller(in_process: bool) -> None:
    with pytest.warns(SetupWarning) as caught:
        broker = start(in_process=in_process, acls=[RULE])
    broker.users.add("alice")
    with broker, pytest.warns(SetupWarning) as caught_later:
        broker.acls.add(principal="alice", allow="Write", group="h")
    for warning in (*caught, *caught_later):
        assert TEXT in str(warning.message).replace("`h`", "`g`")
        assert warning.filename == __file__
    assert len(caught) == len(caught_later) == 1


def test_an_ineffective_acl_of_a_file_is_a_warning_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "acls.yaml"
    path.write_text("acls:\n  - {principal: User:alice, allow: Write, group: g}\n")
    with pytest.warns(SetupWarning) as caught:
        start(in_process=True, acls=path).stop()
    assert f"{path}, line 2: {TEXT}" in str(caught[0].message)


MARKED = """
import pytest

@pytest.mark.kafka_acls(principal="alice", allow="Write", group="g")
def test_marked(kafka_broker):
    kafka_broker.config("alice")

@pytest.mark.kafka_acls(principal="alice", allow="Write", topic="t")
def test_without_mistake(kafka_broker):
    kafka_broker.config("alice")
"""


def test_the_warning_names_the_line_of_a_test_with_a_marker(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(MARKED)
    ini = "[pytest]\nasyncio_mode = strict\nkafka_broker_in_process = true\n"
    (tmp_path / "pytest.ini").write_text(ini)
    done = run_pytest(tmp_path)
    assert "2 passed, 1 warning" in done.stdout
    assert f"test_it.py:4: SetupWarning: {TEXT}" in done.stdout
