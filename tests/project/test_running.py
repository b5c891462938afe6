"""The distribution of tests over processes, and their order."""

import re

import pytest

from tests import conftest
from tests.project.test_tidy import ROOT


def test_all_files_on_spark_are_run_by_one_process() -> None:
    """A file that is missing in the list would start another JVM."""
    with_session = {
        path.name
        for path in (ROOT / "tests" / "pipeline").glob("test_*.py")
        if not re.search(r"^pytestmark = .*heavy", path.read_text(), re.MULTILINE)
        and re.search(
            r"^def .*\bspark: |(getfixturevalue|usefixtures)\(.spark",
            path.read_text().replace("(\n    ", "("),
            re.MULTILINE,
        )
    }
    assert with_session == set(conftest.ON_SPARK)


@pytest.mark.parametrize(
    ("node_id", "unit"),
    [
        ("tests/pipeline/test_commands.py::test_it[a::b]", conftest.SPARK),
        ("tests/pipeline/test_twins.py::test_it", "tests/pipeline/test_twins.py"),
        ("tests/docs/test_commands.py::test_it", "tests/docs/test_commands.py"),
    ],
)
def test_a_process_gets_whole_files(node_id: str, unit: str) -> None:
    assert conftest.unit_of(node_id) == unit


def test_the_longest_tests_begin_first() -> None:
    files = [
        "tests/protocol/test_codecs.py",
        "tests/cli/test_acls.py",
        "tests/pipeline/test_commands.py",
    ]
    assert sorted(files, key=conftest.order_of) == files[::-1]
