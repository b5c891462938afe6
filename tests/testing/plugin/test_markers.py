"""The marker `kafka_broker`: keywords of the fixture for a test, a class or a module."""

from pathlib import Path

from tests.testing.plugin.nested import run_pytest

MARKED = """
import pytest

pytestmark = pytest.mark.kafka_broker(kafka_version="3.9", topics={"orders": 2})


def test_of_the_module(kafka_broker):
    assert kafka_broker.state().release == "3.9"
    assert kafka_broker.topics.list()[0].partitions == 2


@pytest.mark.kafka_broker(kafka_version="2.8")
class TestOfTheClass:
    def test_the_nearest_marker_counts(self, kafka_broker):
        assert kafka_broker.state().release == "2.8"
        assert kafka_broker.topics.list()[0].partitions == 2

    @pytest.mark.parametrize("kafka_broker", ["2.7", {"brokers": 3}], indirect=True)
    def test_parameters_count_more(self, kafka_broker):
        many = len(kafka_broker.nodes.list()) == 3
        assert kafka_broker.state().release == ("2.8" if many else "2.7")

    @pytest.mark.kafka_acls(principal="alice", allow="Write", topic="orders")
    def test_acls_are_added(self, kafka_broker):
        assert kafka_broker.acls.list()[0].principal == "User:alice"
"""
WRONG = """
import pytest


@pytest.mark.kafka_broker(kafka_versoin="3.9")
def test_a_misspelt_keyword(kafka_broker):
    pass


@pytest.mark.kafka_broker("3.9")
def test_no_keyword(kafka_broker):
    pass
"""
INI = "[pytest]\nkafka_broker_in_process = true\n"


def test_a_marker_starts_the_broker_with_its_keywords(tmp_path: Path) -> None:
    (tmp_path / "test_marked.py").write_text(MARKED)
    (tmp_path / "pytest.ini").write_text(INI)
    assert "5 passed" in run_pytest(tmp_path, "--strict-markers").stdout


UNOBEYED = """
import pytest

pytestmark = pytest.mark.kafka_broker(kafka_version="3.9")


def test_a(): ...
"""


def test_a_marker_of_a_module_needs_a_test_that_obeys_it(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(INI)
    module = tmp_path / "test_module.py"
    module.write_text(UNOBEYED)
    done = run_pytest(tmp_path)
    assert done.returncode
    assert "the marker kafka_broker has no effect, since no test there uses" in done.stderr
    module.write_text(f"{UNOBEYED}\n\ndef test_b(kafka_broker): ...\n")
    for words in (), ("-k", "test_a"), ("test_module.py::test_a",):
        assert not run_pytest(tmp_path, *words).returncode


def test_mistakes_are_errors_that_say_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "test_wrong.py").write_text(WRONG)
    (tmp_path / "pytest.ini").write_text(INI)
    out = run_pytest(tmp_path).stdout
    assert "2 errors" in out
    assert "unknown keyword `kafka_versoin`; did you mean `kafka_version`?" in out
    assert "the marker kafka_broker takes keywords, as in tls=True" in out
